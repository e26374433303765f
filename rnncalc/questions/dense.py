"""The dense equivalent: a network without recurrence or shared weights that reads the same T steps at once.

Its input is T·m numbers; each recurrent or dense layer of width w becomes a dense layer of T·w units; the output keeps
its p units, or has T·p where it speaks at every step. An embedding stays what it is, one table.
"""

from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Dropout, Output
from rnncalc.network.network import Network


class DenseLayer(NamedTuple):
    """A layer of the dense equivalent, under the name of the layer that it stands for.

    inputs, units: the numbers that it reads and hands on, of all steps together; of an embedding, or of a part counted
        elsewhere, the widths it has anyway.
    params: its parameters; substituted: their arithmetic.
    multiply_adds: multiplications of one pass, one for each weight of a matrix; None where a part is counted elsewhere.
    """

    name: str
    inputs: int
    units: int
    params: int
    substituted: str
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
    for part_name, part in network.parts.items():
        steps = part.steps
        if steps is None:
            return None
        topology = network.topology_of(part_name)
        from_encoder = flow
        times = 1 if topology == "one-to-many" else steps  # how often the part reads its input
        flow = times * part.input
        for placed in (placed for placed in network.placed if placed.part == part_name):
            match layer := placed.layer:
                case Output():
                    units = (steps if topology.endswith("many") else 1) * placed.outputs
                    layers.append(_dense(layer, placed.name, flow, units))
                    widths.append(units)
                case Cell() | Dense():
                    inputs = from_encoder + flow + steps * layer.extra_inputs
                    flow, times, from_encoder = steps * placed.outputs, steps, 0
                    layers.append(_dense(layer, placed.name, inputs, flow))
                    widths += [flow] if widths else [inputs, flow]
                case Dropout():
                    flow += steps * layer.extra_inputs
                case _:
                    flow = times * placed.outputs
                    sizes = (placed.inputs, placed.outputs, placed.params)
                    layers.append(
                        DenseLayer(placed.name, *sizes, placed.weights.formula[1], placed.multiply_adds_per_step)
                    )
    params = sum(layer.params for layer in layers)
    ratio = params / network.params if network.params else None
    return DenseEquivalent(params, ratio, tuple(layers), tuple(widths))


def _dense(layer: Cell | Dense, name: str, inputs: int, units: int) -> DenseLayer:
    arithmetic = f"{units} × ({inputs} + 1)" if layer.bias else f"{units} × {inputs}"
    return DenseLayer(name, inputs, units, units * (inputs + layer.bias), arithmetic, units * inputs)
