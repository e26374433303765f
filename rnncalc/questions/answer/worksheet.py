"""A count as a learner puts it down: a few numbers in a formula for each layer.

This is a third way to the counts, beside the tensors and the forward pass; tests hold it against both.
"""

from __future__ import annotations

from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, Layer, Output
from rnncalc.network.network import Network, Placed


class Sum(NamedTuple):
    """One layer's count: times · directions · (gates · h · (m + r) + biases · bias_size + the rest).

    h: the height of every matrix; m: the width of the input matrix; r: that of the recurrent one, 0 if there is none.
    biases: bias vectors in all, each of `bias_size` numbers, for one direction.
    rest: terms with nothing to multiply, each a name and a number. packed: read the gates' height as the count.
    one_way: the width one direction hands on.
    """

    name: str
    role: str
    gates: int
    h: int
    m: int
    r: int
    biases: int
    bias_size: int
    rest: tuple[tuple[str, int], ...]
    directions: int = 1
    times: int = 1
    one_way: int = 0
    layer: Layer | None = None
    place: Placed | None = None
    packed: bool = False

    @property
    def params(self) -> int:
        """What the sum comes to."""
        if self.packed:
            return self.gates * self.h
        inside = self.gates * self.h * (self.m + self.r) + self.biases * self.bias_size
        return self.times * self.directions * (inside + sum(number for _, number in self.rest))

    @property
    def arithmetic(self) -> str:
        """The sum with its numbers, as it would stand on paper."""
        if self.packed:
            return f"{self.gates} × {self.h}"
        if self.role == "embedding" and self.params:
            return f"{self.times} × {self.m} × {self.h}" if self.times > 1 else f"{self.m} × {self.h}"
        whole = self.gates and self.biases % self.gates == 0 and self.bias_size == self.h
        terms = [str(width) for width in (self.m, self.r) if width]
        if whole and self.biases:
            terms.append(str(self.biases // self.gates))
        parts = []
        if terms and self.gates * self.h:
            factors = [str(factor) for factor in (self.gates, self.h) if factor != 1] or ["1"]
            parts.append(" × ".join([*factors, f"({' + '.join(terms)})" if len(terms) > 1 else terms[0]]))
        if not whole and self.biases:
            parts.append(f"{self.biases} × {self.bias_size}" if self.biases > 1 else str(self.bias_size))
        parts += [str(number) for _, number in self.rest if number]
        if not parts:
            return "0"
        text = " + ".join(parts)
        factor = self.times * self.directions
        if factor == 1:
            return text
        return f"{factor} × ({text})" if len(parts) > 1 else f"{factor} × {text}"


Sums = tuple[Sum, ...]


def sums_of(network: Network) -> Sums:
    """Return the right sums of a network, a layer each."""
    return tuple(
        _sum(placed)._replace(layer=placed.layer, place=placed, one_way=_one_way(placed)) for placed in network.placed
    )


def _one_way(placed: Placed) -> int:
    layer = placed.layer
    return layer.words(placed.inputs)[layer.states["h"]] if isinstance(layer, Cell) else placed.outputs


def _sum(placed: Placed) -> Sum:
    layer = placed.layer
    match layer:
        case Cell():
            return _cell(placed, layer)
        case Output(tied=True):
            return Sum(placed.name, "output", 1, layer.units, 0, 0, int(layer.bias), layer.units, ())
        case Dense():
            role = "output" if isinstance(layer, Output) else "dense"
            return Sum(placed.name, role, 1, layer.units, placed.inputs, 0, int(layer.bias), layer.units, ())
        case Embedding():
            return Sum(placed.name, "embedding", 1, layer.units, placed.inputs, 0, 0, 0, ())
        case _:
            return Sum(placed.name, layer.kind, 0, 0, 0, 0, 0, 0, (("external", placed.params),))


def _cell(placed: Placed, layer: Cell) -> Sum:
    words = layer.words(placed.inputs)
    biases = [tensor for tensor in placed.weights.own if tensor.role in ("bias", "recurrent_bias")]
    vectors = sum(tensor.params for tensor in biases) // layer.units // layer.directions
    rest = []
    if "p" in words:
        rest.append(("projection", layer.units * words["p"]))
    if layer.peepholes_of:
        rest.append(("peepholes", len(layer.peepholes_of) * layer.units))
    if layer.learned_state:
        rest.append(("state", sum(words[width] for width in layer.states.values())))
    reads = 1 if layer.recurrence == "diagonal" else words[layer.states["h"]]
    return Sum(
        name=placed.name,
        role="cell",
        gates=len(layer.gates),
        h=layer.units,
        m=placed.inputs,
        r=reads,
        biases=vectors,
        bias_size=layer.units,
        rest=tuple(rest),
        directions=layer.directions,
    )
