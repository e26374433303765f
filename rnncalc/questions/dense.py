"""The dense equivalent: a network without recurrence or shared weights that reads the same T steps at once.

Its input is T·m numbers; each recurrent or dense layer of width w becomes a dense layer of T·w units, or of w where it
stands before the sequence of a one-to-many network begins; the output keeps its p units, or has T·p where it speaks at
every step. An embedding stays what it is, one table.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rnncalc.conventions.formula import Expression, Plus, Times
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Dropout, Output
from rnncalc.network.network import Network
from rnncalc.network.parts import Topology, hands_on_many
from rnncalc.network.stack import Placed

StepsOfParts = Mapping[str | None, int]
"""The number of steps of each part."""


class DenseLayer(NamedTuple):
    """A layer of the dense equivalent, under the name of the layer that it stands for.

    inputs, units: the numbers that it reads and hands on, of all steps together; of an embedding, or of a part counted
        elsewhere, the widths it has anyway.
    params: its parameters; expression: their formula; sizes: what the letters in that stand for.
    multiply_adds: multiplications of one pass, one for each weight of a matrix; None where a part is counted elsewhere.
    """

    name: str
    inputs: int
    units: int
    params: int
    expression: Expression
    sizes: Mapping[str, int]
    multiply_adds: int | None


class DenseEquivalent(NamedTuple):
    """The dense equivalent of a network.

    params: the sum of its layers'; ratio: that over the network's own, None where those are 0.
    chains: the numbers that flow from its input through its dense layers to its output; where other numbers join, or
        stand in for, those of the layer below, another chain begins with what the layer reads. Tables are left out.
    """

    params: int
    ratio: float | None
    layers: tuple[DenseLayer, ...]
    chains: tuple[tuple[int, ...], ...]


def dense_equivalent(network: Network) -> DenseEquivalent | None:
    """Return the dense equivalent, or None when the number of steps is not known."""
    known = _own_steps(network)
    if known is None:
        return None
    made = [*_made(network, known)]
    params = sum(one.params for one in made)
    ratio = params / network.params if network.params else None
    return DenseEquivalent(params, ratio, tuple(one.layer() for one in made), _chains(made))


def dense_params(network: Network, steps: int) -> int:
    """Return the parameters of the dense equivalent for another number of steps, in both halves where there are two."""
    if network.topology == "one-to-one":
        steps = 1
    return sum(one.params for one in _made(network, dict.fromkeys(network.parts, steps)))


def own_dense_params(network: Network) -> int | None:
    """Return the parameters of the dense equivalent alone, or None when the number of steps is not known."""
    known = _own_steps(network)
    return None if known is None else sum(one.params for one in _made(network, known))


def _own_steps(network: Network) -> StepsOfParts | None:
    steps = {name: part.steps for name, part in network.parts.items()}
    known = {name: number for name, number in steps.items() if number is not None}
    return known if len(known) == len(steps) else None


class _Made(NamedTuple):
    """What stands for a layer.

    dense: whether it is a dense layer; a table stays what it is.
    """

    placed: Placed
    inputs: int
    units: int
    dense: bool

    @property
    def params(self) -> int:
        """The parameters."""
        return self.units * (self.inputs + self._biased) if self.dense else self.placed.params

    @property
    def _biased(self) -> bool:
        layer = self.placed.layer
        return isinstance(layer, Cell | Dense) and layer.bias

    def layer(self) -> DenseLayer:
        """Return the layer of the dense equivalent."""
        placed, name, widths = self.placed, self.placed.name, (self.inputs, self.units)
        if not self.dense:
            per_step = placed.multiply_adds_per_step
            return DenseLayer(name, *widths, self.params, placed.layout.params, placed.sizes, per_step)
        expression = Times((self.units, Plus((self.inputs, 1)) if self._biased else self.inputs))
        return DenseLayer(name, *widths, self.params, expression, {}, self.units * self.inputs)


def _made(network: Network, steps: StepsOfParts) -> Iterator[_Made]:
    """Yield what stands for each layer in order; a decoder reads what its encoder hands on beside its own."""
    part: str | None = None
    flow = beside = 0  # how many numbers the layer below hands on, all steps at once, and how many an encoder does
    times = 0  # for how many steps it does
    topology = ""
    for placed in network.stack:
        if not times or placed.part != part:
            part, beside, topology = placed.part, flow, network.topology_of(placed.part)
            times = 1 if topology == Topology.ONE_TO_MANY else steps[part]
            flow = times * network.parts[part].input
        waiting = topology == Topology.ONE_TO_MANY and not placed.sequence  # for the sequence to begin
        at = 1 if waiting else steps[part]
        match layer := placed.layer:
            case Output():
                units = (at if hands_on_many(topology) else 1) * placed.outputs
                yield _Made(placed, flow + beside, units, dense=True)
            case Cell() | Dense():
                inputs, flow, times = beside + flow + at * layer.extra_inputs, at * placed.outputs, at
                yield _Made(placed, inputs, flow, dense=True)
                beside = 0
            case Dropout():
                flow += at * layer.extra_inputs
            case _:
                flow = times * placed.outputs
                yield _Made(placed, placed.inputs, placed.outputs, dense=False)


def _chains(made: list[_Made]) -> tuple[tuple[int, ...], ...]:
    chains: list[list[int]] = []
    for one in made:
        if one.dense:
            if not chains or chains[-1][-1] != one.inputs:
                chains.append([one.inputs])
            chains[-1].append(one.units)
    return tuple(map(tuple, chains))
