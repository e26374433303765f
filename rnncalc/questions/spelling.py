"""The weights of a layer in a notation: cut out of the convention's tensors gate by gate, and transposed.

The bindings of the forward pass tell which piece of a tensor belongs to a gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rnncalc.conventions.catalogue import convention
from rnncalc.conventions.tensor import Role
from rnncalc.forward.arrays import Arrays, Matrix, Nested, WeightVector
from rnncalc.forward.bindings import BoundWeights, binding
from rnncalc.layers.cell import Cell
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.step.equations import Letter, letters_of, stacks
from rnncalc.step.trace import Weights, trace


def spelled_weights(network: Network, placed: Placed, weights: Mapping[str, Nested]) -> Mapping[str, Nested]:
    """Return the weights of a layer under the names and in the shapes of the network's notation.

    placed: the layer with the convention's own tensors. weights: their numbers by name.
    """
    spelled = next(each for each in network.spelled if each.name == placed.name).tensors
    layer = placed.layer
    if not isinstance(layer, Cell):
        of_each = zip(spelled, placed.tensors, strict=True)
        return {
            one.name: weights[own.name] if one.axes == own.axes else _turned(weights[own.name]) for one, own in of_each
        }
    arrays = Arrays({**weights}, placed.tensors, placed.copy)
    bound = binding(network.convention).cell
    found: dict[str, Nested] = {}
    for mark in dict.fromkeys(tensor.name.rpartition("/")[0] for tensor in spelled):
        numbers = dict(_of_cell(network, placed, layer, bound(arrays, layer, placed.inputs, mark == "backward")))
        for tensor in spelled:
            of, _, name = tensor.name.rpartition("/")
            if of == mark:
                found[tensor.name] = numbers[name]
    return found


def _of_cell(network: Network, placed: Placed, layer: Cell, bound: BoundWeights) -> Iterator[tuple[str, Nested]]:
    """Yield the weights of one direction with their names, both stacked and apart."""
    notation = network.spelling
    step = trace(layer, placed.inputs, convention(network.convention))
    letters = letters_of(step, notation)
    products: dict[tuple[str, str], Nested] = {}
    biases: dict[tuple[str, Role], tuple[Nested, str]] = {}
    for node in step.nodes:
        if node.weights is None:
            continue
        nested = _numbers(bound, node.weights)
        if notation.rows and node.weights.role is not Role.SCALAR:
            nested = _turned(nested)
        if node.weights.role in (Role.BIAS, Role.RECURRENT_BIAS):
            biases[node.weights.letter, node.weights.role] = (nested, node.weights.of)
        else:
            products[node.weights.matrix, node.weights.of] = nested
        yield _name(letters.weights(node.weights)), nested
    for stack in stacks(step, notation):
        name = stack.letters(len(step.gates))
        blocks = [[row for of in stack.reads for row in products[matrix, of]] for matrix in stack.matrices]
        yield _name(letters.named("stacked", name)), _side_by_side(blocks)
        for role in stack.biases:
            of = biases[stack.matrices[0], role][1]
            yield (
                _name(letters.named(role, name, of)),
                _side_by_side([biases[gate, role][0] for gate in stack.matrices]),
            )
    for state in layer.states if layer.learned_state else ():
        nested = [*bound.state(state).numbers]
        yield _name(letters.named("state", "", state)), _turned(nested) if notation.rows else nested


def _numbers(bound: BoundWeights, of: Weights) -> Nested:
    """Return the numbers of some weights; a matrix is output by input."""
    match of.role:
        case Role.VECTOR | Role.SCALAR:
            return [*bound.vector(of.letter).numbers]
        case Role.GAIN:
            return [*bound.gain(of.letter).numbers]
        case Role.MATRIX:
            return bound.matrix(of.letter).rows
        case Role.BIAS | Role.RECURRENT_BIAS:
            vector = bound.bias(of.letter, "input" if of.role is Role.BIAS else "recurrent")
            assert vector is not None  # the step has it
            return [*vector.numbers]
    found: Matrix | WeightVector = bound.product(of.letter, of.of)
    return found.rows if isinstance(found, Matrix) else [*found.numbers]


def _side_by_side(blocks: list[Any]) -> Nested:
    """Return matrices of equally many rows as one."""
    return [[number for row in rows for number in row] for rows in zip(*blocks, strict=True)]


def _turned(nested: Nested) -> Nested:
    """Transpose a matrix; make a vector one row."""
    return [[*column] for column in zip(*nested, strict=True)] if isinstance(nested[0], list) else [nested]


def _name(letter: Letter) -> str:
    return "_".join(filter(None, letter))
