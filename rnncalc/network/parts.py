"""The pieces a network is described with: its parts, and what is known or asked of its counts."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, Layer, Output

TOPOLOGIES = ("one-to-one", "one-to-many", "many-to-one", "many-to-many")


class Join(NamedTuple):
    """A layer where it joins the one below: its place in `layers`, which copy of a repeated one, and the widths."""

    layer: Layer
    place: int
    copy: int
    inputs: int
    outputs: int


class Part(NamedTuple):
    """A stack of layers: a whole network, or one half of an encoder-decoder.

    input: features per step, or the vocabulary when an embedding comes first.
    steps: the sequence length T, None when it is not known.
    """

    input: int
    layers: tuple[Layer, ...]
    output: Output | None = None
    steps: int | None = None

    def joins(self) -> Iterator[Join]:
        """Yield every layer, each repeated one on its own, with the width it reads and the width it hands on."""
        width = self.input
        for place, layer in enumerate(self.layers):
            for copy in range(layer.repeat):
                inputs = width + layer.extra_inputs
                width = layer.hands_on(inputs)
                yield Join(layer, place, copy, inputs, width)

    def turn(self, topology: str) -> tuple[int, int]:
        """Return the place and copy of the layer where a sequence becomes one vector, or one vector a sequence.

        That is the last recurrent layer in many-to-one and the first in one-to-many; without a recurrent layer, the
        last layer, and the first that is no embedding.
        """
        places = [place for place, layer in enumerate(self.layers) if isinstance(layer, Cell)]
        if topology == "one-to-many":
            others = (place for place, layer in enumerate(self.layers) if not isinstance(layer, Embedding))
            return (places[0] if places else next(others, 0)), 0
        last = places[-1] if places else len(self.layers) - 1
        return last, self.layers[last].repeat - 1


class Expect(NamedTuple):
    """The known counts of an exercise: the total, and each layer's, the output layer last."""

    total: int | None = None
    layers: tuple[int, ...] | None = None


def name_of(layer: Layer, copy: int, numbers: Counter[str]) -> str:
    """Return the name of the next layer: its own, numbered if it is repeated, or its kind and a running number."""
    numbers[layer.kind] += 1
    if layer.name is None:
        return f"{layer.kind}_{numbers[layer.kind]}"
    return layer.name if layer.repeat == 1 else f"{layer.name}_{copy + 1}"
