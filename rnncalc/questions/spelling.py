"""The weights of a network in its notation, and back in the tensors of its convention.

The weights of each gate are cut out of the convention's tensors and transposed. The bindings define which piece belongs
to which gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from rnncalc.conventions import convention
from rnncalc.conventions.tensor import Role
from rnncalc.forward.arrays import Arrays, Convolution, Matrix, flat, shape_of
from rnncalc.forward.bindings import BoundWeights, Product, binding
from rnncalc.forward.layer_pass import bound_weights
from rnncalc.layers.cell import Cell
from rnncalc.network.data import Nested, Weights
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.step.equations import Letter, joined_arrays, letters_of
from rnncalc.step.trace import trace


def stored_weights(network: Network, weights: Weights) -> Weights:
    """Return weights under the names and in the shapes of the convention, of layers whose are those of the notation.

    Those that fit both are the convention's. Each number is where a running number is that goes from the convention to
    the notation.
    """
    stored: Weights = {}
    for placed in network.stack:
        numbers = weights.get(placed.name, {})
        shapes = {name: shape_of(nested) for name, nested in numbers.items()}
        if not numbers or shapes == {each.name: each.shape for each in placed.stored}:
            continue
        places = count()
        numbered = {each.name: _shaped(each.shape, places) for each in placed.tensors}
        shown = spelled_weights(network, placed, numbered)
        pairs = [pair for name in shown for pair in zip(flat(shown[name]), flat(numbers[name]), strict=True)]
        in_order = (number for _, number in sorted(pairs))
        stored[placed.name] = {each.name: _shaped(each.shape, in_order) for each in placed.tensors}
    return weights | stored


def _shaped(shape: tuple[int, ...], numbers: Iterator[float]) -> Nested:
    """Return an array of a shape with the next numbers."""
    return [_shaped(shape[1:], numbers) for _ in range(shape[0])] if shape else next(numbers)


def spelled_weights(network: Network, placed: Placed, weights: Mapping[str, Nested]) -> Mapping[str, Nested]:
    """Return the weights of a layer under the names and in the shapes of the network's notation.

    placed: the layer with the convention's own tensors. weights: their numbers by name.
    """
    spelled = next(each for each in network.spelled if each.name == placed.name).tensors
    layer = placed.layer
    if not isinstance(layer, Cell):
        numbers: dict[str, Nested] = {}
        for one, stored in zip(spelled, placed.tensors, strict=True):
            if stored.name in weights:  # an external layer has none
                nested: Any = weights[stored.name]
                if one.axes != stored.axes:
                    nested = [*map(turned, nested)] if stored.axes[2:] else turned(nested)
                numbers[one.name] = nested
        return numbers
    arrays = Arrays({**weights}, placed.tensors, placed.copy)
    bound = binding(network.convention).cell
    weights_of_tensors: dict[str, Nested] = {}
    for mark in dict.fromkeys(tensor.name.rpartition("/")[0] for tensor in spelled):
        numbers = dict(_of_cell(network, placed, layer, bound(arrays, layer, placed.inputs, mark == "backward")))
        for tensor in spelled:
            before, _, name = tensor.name.rpartition("/")
            if before == mark:
                weights_of_tensors[tensor.name] = numbers[name]
    return weights_of_tensors


def _of_cell(network: Network, placed: Placed, layer: Cell, bound: BoundWeights) -> Iterator[tuple[str, Nested]]:
    """Yield the weights of one direction with their names, stacked and gate by gate."""
    notation = network.spelling
    step = trace(layer, placed.inputs, convention(network.convention))
    letters = letters_of(step, notation)
    numbers = {each: numbers_of(bound_weights(bound, each)) for node in step.nodes if (each := node.weights)}
    arrays = {letters.weights(each): [[each]] for each in numbers} | joined_arrays(step, notation)
    for letter, blocks in arrays.items():
        nested = joined([[numbers[each] for each in gate] for gate in blocks])
        in_rows = notation.rows and blocks[0][0].role is not Role.SCALAR
        yield _name(letter), turned(nested) if in_rows else nested
    for state in layer.states if layer.learned_state else ():
        nested = [*bound.state(state).numbers]
        yield _name(letters.of_part("state", "", state)), turned(nested) if notation.rows else nested


def numbers_of(array: Product) -> Nested:
    """Return the rows of a matrix, of the blocks along a diagonal, a kernel of a convolution, or a vector's numbers."""
    if isinstance(array, tuple):
        return [row for block in array for row in block.rows]
    if isinstance(array, Convolution):
        return array.kernel(array.rows)
    return array.rows if isinstance(array, Matrix) else [*array.numbers]


def joined(blocks: Sequence[Sequence[Any]]) -> Any:
    """Return an array of blocks: matrices of one gate side by side, and the gates one above the other."""
    if not isinstance(blocks[0][0][0], list):
        return [number for gate in blocks for vector in gate for number in vector]
    return [[number for row in rows for number in row] for gate in blocks for rows in zip(*gate, strict=True)]


def turned(nested: Nested) -> Nested:
    """Transpose a matrix; of a kernel put the places first, of each the transposed matrix; make a vector one row."""
    if not isinstance(nested[0], list):
        return [nested]
    if isinstance(nested[0][0], list):
        places = range(len(nested[0][0]))
        return [turned([[cell[place] for cell in row] for row in nested]) for place in places]
    return [[*column] for column in zip(*nested, strict=True)]


def _name(letter: Letter) -> str:
    return "_".join(filter(None, letter))
