"""The dense equivalent: a network without recurrence or shared weights that reads all T steps at once.

Its input has T·m numbers. Each recurrent or dense layer or convolution of width w becomes a dense layer of T·w units,
where T is its number of output steps; before the sequence of a one-to-many network begins, it has w units. A
normalisation has parameters for each of its T·w numbers. Pooling has no weights. A layer that ends or begins a
sequence changes T for the layers after it. The output layer has p units, or T·p with an output at every step. An
embedding stays one table. A decoder's attention becomes a dense layer from all encoder outputs, and the queries if
these are outputs, to all contexts. A part counted elsewhere is unchanged: the layer after it reads T·w numbers, or w
if the part is applied once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from rnncalc.conventions.formula import Expression, Plus, Times
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Dropout, Output, Transform
from rnncalc.network.flow import Attend, Begin, Delay, InitialState, Input, Merge, Placement
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed

if TYPE_CHECKING:
    from rnncalc.network.model import Described


class DenseLayer(NamedTuple):
    """A layer of the dense equivalent, under the name of the layer that it replaces.

    inputs, units: its input and output widths over all steps; an embedding and a part counted elsewhere keep theirs.
    params: its parameters. expression: their formula. sizes: the values of the letters in the formula.
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

    params: the sum over its layers. ratio: `params` divided by the network's parameters; None if those are 0.
    chains: the widths from its input through its dense layers to its output. A layer that does not read just the layer
    below begins another chain with its input width. Tables are left out.
    """

    params: int
    ratio: float | None
    layers: tuple[DenseLayer, ...]
    chains: tuple[tuple[int, ...], ...]


def dense_equivalent(network: Described) -> DenseEquivalent | None:
    """Return the dense equivalent, or None when the number of steps is not known, or sizes are letters.

    That of a model is the sum of those of its networks.
    """
    if not isinstance(network, Network):
        each = {name: dense_equivalent(member.network) for name, member in network.networks.items()}
        several = {name: dense for name, dense in each.items() if dense}
        if len(several) < len(each):
            return None
        params = sum(dense.params for dense in several.values())
        named = [(name, layer, layer.multiply_adds) for name, dense in several.items() for layer in dense.layers]
        layers = tuple(
            layer._replace(name=f"{name}.{layer.name}", multiply_adds=work and work * network.networks[name].calls)
            for name, layer, work in named
        )
        chains = tuple(chain for dense in several.values() for chain in dense.chains)
        ratio = params / network.params if network.params else None
        return DenseEquivalent(params, ratio, layers, chains)
    steps = {name: part.steps for name, part in network.parts.items() if part.steps is not None}
    if len(steps) < len(network.parts) or network.letters:
        return None
    layers = tuple(_replacements(network, steps))
    widths: list[list[int]] = []
    for one in layers:
        if not one.sizes:  # only a layer that is kept has letters
            if not widths or widths[-1][-1] != one.inputs:
                widths.append([one.inputs])
            widths[-1].append(one.units)
    params = sum(one.params for one in layers)
    ratio = params / network.params if network.params else None
    return DenseEquivalent(params, ratio, layers, tuple(map(tuple, widths)))


def dense_params(network: Network, steps: int) -> int:
    """Return the parameters of the dense equivalent for another number of steps, the same in both halves."""
    if network.topology == "one-to-one":
        steps = 1
    return sum(one.params for one in _replacements(network, dict.fromkeys(network.parts, steps)))


def _dense(placed: Placed, inputs: int, units: int) -> DenseLayer:
    """Return the dense layer that replaces a layer."""
    biased = bool(placed.layer.values().get("bias"))
    expression = Times((units, Plus((inputs, 1)) if biased else inputs))
    return DenseLayer(placed.name, inputs, units, units * (inputs + biased), expression, {}, units * inputs)


def _kept(placed: Placed, inputs: int, units: int, times: int = 1) -> DenseLayer:
    """Return a layer that no dense layer replaces, or a number of copies of it."""
    formula, work = placed.layout.params, placed.multiply_adds_per_step
    expression = formula if times == 1 else Times((times, formula))
    return DenseLayer(placed.name, inputs, units, times * placed.params, expression, placed.sizes, work)


def _replacements(network: Network, steps: Mapping[str | None, int]) -> Iterator[DenseLayer]:
    """Yield the replacement of each layer in order.

    Only the output layer may read fewer steps than there are. Later steps without an input have no numbers. A decoder's
    first layer reads the encoder's output beside its own input.
    """
    values: list[tuple[int, int]] = []  # the width and the number of steps of each move's value
    part: str | None = None
    first = 0  # the numbers of a recurrent layer's states before the first step, made from a vector
    encoder = giving = 0
    layers = iter(network.stack)
    for move in network.flow:
        numbers, times = values[move.reads[0]] if move.reads else (0, 0)
        half = "decoder" if isinstance(move, Delay) and not move.reads else getattr(move, "part", part)
        if half != part:
            part, encoder = half, values[-1][0] if values else 0
        match move:
            case Input(shape=(*length, width)):
                if move.extra_of is None:
                    times = steps[part] if length else 1
                    numbers = times * width
                else:  # at each step of what it is joined to
                    numbers, times = width, 0 if length else 1
            case Begin():
                times = steps[part]
            case Delay():  # its numbers are made by a later layer, from what reaches this one anyway
                numbers, times = 0, steps[part]
            case Attend():
                placed, times = next(layers), steps[part]
                read, numbers, encoder = numbers + values[move.reads[1]][0], times * placed.outputs, 0
                yield _dense(placed, read, numbers)
            case Merge(reads=(_, beside), how="concat"):
                more, counted = values[beside]
                if not times:  # extra inputs, of a decoder without an input of its own
                    numbers, times = numbers * counted, counted
                numbers += more if counted else times * more
            case InitialState():
                placed = next(layers)
                giving, encoder = giving or encoder, 0  # what an encoder outputs reaches its decoder through this layer
                yield _dense(placed, giving or placed.inputs, placed.outputs)
                numbers, times = placed.outputs, 1
                first += placed.outputs
            case Placement(layer=layer):
                placed = next(layers)
                if isinstance(layer, Output) and not placed.sequence:
                    times = 1
                if isinstance(layer, Transform) and not placed.multiply_adds_per_step:
                    read = numbers
                    if layer.time.ends:
                        times = 1
                    elif layer.time.begins or layer.time.along:
                        times = layer.output_shape((times, placed.inputs))[0]
                        numbers = numbers if layer.time.begins else times * placed.outputs
                    if layer.arrays:
                        yield _kept(placed, read, numbers, times * placed.places)
                elif isinstance(layer, Cell | Dense | Transform):
                    times = layer.output_shape((times, 1))[0]
                    units = times * placed.outputs
                    if isinstance(layer, Cell):
                        numbers, first = numbers + first, 0
                    yield _dense(placed, numbers + encoder, units)
                    numbers, encoder = units, 0
                elif not isinstance(layer, Dropout):
                    yield _kept(placed, placed.inputs, placed.outputs)
                    numbers = times * placed.outputs
        values.append((numbers, times))
