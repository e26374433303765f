"""A network, and its layers placed in it with their widths, shapes and tensors.

Knows nothing of files or of what is asked about a network. What can be wrong with one is `faults.py`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from rnncalc.conventions.layout import Weights, weights
from rnncalc.errors import SpecError
from rnncalc.layers.layer import External, Layer, Output
from rnncalc.network.budget import Budget
from rnncalc.network.parts import Expect, Part, name_of
from rnncalc.network.validation import faults


class Placed(NamedTuple):
    """A layer in its place.

    name: unique in the network; part: encoder, decoder or None.
    inputs, outputs: the widths it reads (extra inputs included) and hands on.
    output_shape: (steps, width) where a sequence leaves it, (width,) where one vector does; an unknown T is None.
    uses: how many times one pass applies it; None when T is not known.
    """

    layer: Layer
    name: str
    part: str | None
    inputs: int
    outputs: int
    output_shape: tuple[int | None, ...]
    uses: int | None
    weights: Weights

    @property
    def params(self) -> int:
        """The number of its parameters."""
        return self.weights.params

    @property
    def trainable(self) -> int:
        """The number of its parameters that training changes."""
        return 0 if self.layer.frozen else self.weights.params

    @property
    def multiply_adds_per_step(self) -> int | None:
        """Multiplications in matrix products when the layer is applied once; None where a part is counted elsewhere."""
        return None if isinstance(self.layer, External) else self.weights.multiply_adds

    @property
    def multiply_adds(self) -> int | None:
        """Multiplications in matrix products in a whole pass; None when they, or T, are not known."""
        once = self.multiply_adds_per_step
        if not once:
            return once
        return None if self.uses is None else once * self.uses


@dataclass(frozen=True)
class Network:
    """A recurrent network, as a spec file describes it: `Network(input=4, layers=(RNN(3),), output=Output(1))`.

    Holds either `input`, `layers`, `output` and `steps`, or an `encoder` and a `decoder` that hold those.
    Raises SpecError naming everything that is wrong with it.
    """

    input: int | None = None
    layers: tuple[Layer, ...] = ()
    output: Output | None = None
    steps: int | None = None
    topology: str | None = None
    encoder: Part | None = None
    decoder: Part | None = None
    convention: str = "textbook"
    name: str = "network"
    source: str | None = None
    expect: Expect | None = None
    budget: Budget | None = None

    def __post_init__(self) -> None:
        if found := tuple(faults(self)):
            raise SpecError(found)

    @property
    def parts(self) -> dict[str | None, Part]:
        """The parts by name: `None` for a whole network, or `encoder` and `decoder`."""
        if self.encoder and self.decoder:
            return {"encoder": self.encoder, "decoder": self.decoder}
        steps = 1 if self.topology == "one-to-one" else self.steps
        return {None: Part(self.input or 0, self.layers, self.output, steps)}

    def with_parts(self, parts: Mapping[str | None, Part]) -> "Network":
        """Return the network with other parts under the same names; what is expected of its counts stays behind.

        Raises SpecError when they do not fit.
        """
        keys = parts[None]._asdict() if None in parts else {str(name): part for name, part in parts.items()}
        return replace(self, **keys, expect=None, budget=None)

    def topology_of(self, part: str | None) -> str:
        """Return how a part reads and hands on: an encoder gives its final state, a decoder a sequence."""
        return {"encoder": "many-to-one", "decoder": "many-to-many"}.get(part or "", self.topology or "many-to-one")

    @property
    def topology_name(self) -> str:
        """The topology as reports name it; an encoder-decoder is one of its own."""
        return "encoder-decoder" if self.encoder else self.topology_of(None)

    @cached_property
    def placed(self) -> tuple[Placed, ...]:
        """Every layer in its place, each repeated one on its own, a part's output layer last."""
        numbers: Counter[str] = Counter()
        return tuple(placed for name in self.parts for placed in self._place(name, numbers))

    def _place(self, part_name: str | None, numbers: Counter[str]) -> Iterator[Placed]:
        part = self.parts[part_name]
        topology = self.topology_of(part_name)
        many_in, many_out = topology.startswith("many"), topology.endswith("many")
        turn = part.turn(topology)
        steps = part.steps
        width = part.input
        for layer, place, copy, inputs, width in part.joins():
            at = (place, copy)
            many = many_in if at < turn else many_out
            yield Placed(
                layer,
                name_of(layer, copy, numbers),
                part_name,
                inputs,
                width,
                (steps, width) if many else (width,),
                steps if many or (many_in and at == turn) else 1,
                weights(layer, inputs, self.convention),
            )
        if part.output:
            yield Placed(
                part.output,
                "output",
                part_name,
                width,
                part.output.units,
                (steps, part.output.units) if many_out else (part.output.units,),
                steps if many_out else 1,
                weights(part.output, width, self.convention),
            )

    @property
    def params(self) -> int:
        """The number of parameters."""
        return sum(placed.params for placed in self.placed)

    @property
    def trainable(self) -> int:
        """The number of parameters that training changes."""
        return sum(placed.trainable for placed in self.placed)
