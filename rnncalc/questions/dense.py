"""The dense equivalent: a network without recurrence or shared weights that reads the same T steps at once.

Its input is T·m numbers; each recurrent or dense layer of width w becomes a dense layer of T·w units; the output keeps
its p units, or has T·p where it speaks at every step. An embedding stays what it is, one table.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rnncalc.conventions.formula import Expression, Plus, Times
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Dropout, Output
from rnncalc.network.network import Network
from rnncalc.network.parts import Topology
from rnncalc.network.stack import Placed


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
    widths: in numbers, from its input through its dense layers to its output; layers that stay tables are left out.
    """

    params: int
    ratio: float | None
    layers: tuple[DenseLayer, ...]
    widths: tuple[int, ...]


def dense_equivalent(network: Network) -> DenseEquivalent | None:
    """Return the dense equivalent, or None when the number of steps is not known."""
    layers: list[DenseLayer] = []
    widths: list[int] = []
    flow = 0  # how many numbers the layer below hands on, all steps at once
    for name, part in network.parts.items():
        if part.steps is None:
            return None
        found = _of_part(network, name, part.input, part.steps, flow)
        layers += found.layers
        widths += found.widths
        flow = found.flow
    params = sum(layer.params for layer in layers)
    ratio = params / network.params if network.params else None
    return DenseEquivalent(params, ratio, tuple(layers), tuple(widths))


class _Dense(NamedTuple):
    """The dense equivalent of a part, and how many numbers it hands on, all steps at once."""

    layers: list[DenseLayer]
    widths: list[int]
    flow: int


def _of_part(network: Network, name: str | None, width: int, steps: int, encoded: int) -> _Dense:
    """Return the dense equivalent of a part that reads so many numbers of an encoder's beside its own."""
    topology = network.topology_of(name)
    times = 1 if topology == Topology.ONE_TO_MANY else steps  # how often the part reads its input
    flow, beside = times * width, encoded
    layers: list[DenseLayer] = []
    widths: list[int] = []
    for placed in (each for entry in network.stack if entry.part == name for each in _copies(entry)):
        match layer := placed.layer:
            case Output():
                units = (steps if topology.endswith("many") else 1) * placed.outputs
                layers.append(_dense(layer, placed.name, flow, units))
                widths.append(units)
            case Cell() | Dense():
                inputs = beside + flow + steps * layer.extra_inputs
                flow, times, beside = steps * placed.outputs, steps, 0
                layers.append(_dense(layer, placed.name, inputs, flow))
                widths += [flow] if widths or encoded else [inputs, flow]
            case Dropout():
                flow += steps * layer.extra_inputs
            case _:
                flow = times * placed.outputs
                layers.append(_kept(placed))
    return _Dense(layers, widths, flow)


def _copies(entry: Placed) -> Iterator[Placed]:
    return (entry.one(copy) for copy in range(entry.copies))


def _dense(layer: Cell | Dense, name: str, inputs: int, units: int) -> DenseLayer:
    expression = Times((units, Plus((inputs, 1)) if layer.bias else inputs))
    return DenseLayer(name, inputs, units, units * (inputs + layer.bias), expression, {}, units * inputs)


def _kept(placed: Placed) -> DenseLayer:
    """Return a layer that stays what it is: a table, or a part counted elsewhere."""
    widths, params = (placed.inputs, placed.outputs), placed.params
    return DenseLayer(placed.name, *widths, params, placed.layout.params, placed.sizes, placed.multiply_adds_per_step)
