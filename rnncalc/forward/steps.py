"""The nodes of a cell's step, run on the weights that are bound to one direction of a layer.

What a vector is, floats or values on a tape, is not known here: that is the `Vectors` they are run with. On which side
of a gate there are biases is the binding's word, not the conventions'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Generic, TypeVar

from rnncalc.conventions.rules import Side
from rnncalc.conventions.tensor import Role
from rnncalc.forward.arrays import BindingError, Matrix, WeightVector
from rnncalc.forward.bindings.binding import Bound
from rnncalc.forward.floats import Value, Vectors
from rnncalc.layers.cell import Cell, Habits
from rnncalc.step.operations import HALVES, OPERATIONS
from rnncalc.step.trace import WEIGHTS, Node, Trace, Weights, traced

Taken = TypeVar("Taken", Matrix, WeightVector)
_FORMS: dict[type, str] = {Matrix: "matrix", WeightVector: "vector"}


def trace_of(layer: Cell, inputs: int, habits: Habits, bound: Bound) -> Trace:
    """Return the trace of a cell's step with the biases that are bound."""
    biases: list[tuple[str, Side]] = []
    for gate in layer.gates(inputs):
        sides = [side for side in (Side.INPUT, Side.RECURRENT) if bound.bias(gate.letter, side.value) is not None]
        biases += [(gate.letter, Side.BOTH if len(sides) > 1 else sides[0])] if sides else []
    return _trace(layer, inputs, habits, tuple(biases))


@lru_cache(maxsize=64)
def _trace(layer: Cell, inputs: int, habits: Habits, biases: tuple[tuple[str, Side], ...]) -> Trace:
    """Return the same, made once: finite differences run a layer hundreds of times."""
    return traced(layer, inputs, habits, dict(biases))


Run = tuple[int, Callable[..., Any], Sequence[int]]
"""An operation to be run: the place of what it gives, what does it, and the places of its operands."""


class Steps(Generic[Value]):
    """The steps of one direction of a layer."""

    def __init__(self, trace: Trace, bound: Bound, vectors: Vectors[Value], direction: int = 0) -> None:
        self.trace = trace
        self.bound = bound
        self.vectors = vectors
        self.weights: dict[int, Value] = {}
        self.once: list[Run] = []  # of weights alone
        self.each: list[Run] = []
        for place, node in enumerate(trace.nodes):
            if node.operation == WEIGHTS and len(node.axes) < 2:
                self.weights[place] = vectors.weight(self._taken(node, WeightVector))
            elif node.operation == "matrix":
                weights, vector = node.operands
                self.each.append(
                    (place, partial(vectors.product, self._taken(trace.nodes[weights], Matrix)), (vector,))
                )
            elif node.operation in OPERATIONS:
                of_weights = all(operand in self.weights for operand in node.operands)
                row = HALVES[direction] if node.operation == "half" else OPERATIONS[node.operation]
                run = place, vectors.operation(row), node.operands
                (self.once if of_weights else self.each).append(run)
        self.chunk: int | None = None
        self.values: dict[int, Value] = {}

    def take(self, x: Value, state: Sequence[Value]) -> dict[int, Value]:
        """Return the values of a step, by the places of its nodes."""
        if self.vectors.chunk != self.chunk:
            self.chunk = self.vectors.chunk
            self.values = {**self.weights}
            _run(self.once, self.values)
        values = {**self.values, self.trace.x: x, **dict(zip(self.trace.before.values(), state, strict=True))}
        _run(self.each, values)
        return values

    def _taken(self, node: Node, wanted: type[Taken]) -> Taken:
        """Return the weights of a node. Raises BindingError where a vector is bound for a matrix, or the reverse."""
        weights = _weights(node)
        found = self._bound(weights)
        if not isinstance(found, wanted):
            of = f"gate {weights.letter}'s product of {weights.of}"
            raise BindingError(f"{of}: a {_FORMS[wanted]} is needed, a {_FORMS[type(found)]} is bound")
        return found

    def _bound(self, weights: Weights) -> Matrix | WeightVector:
        """Return weights as the binding has them."""
        match weights.role:
            case Role.MATRIX:
                return self.bound.matrix(weights.letter)
            case Role.SCALAR:
                return self.bound.scalar(weights.letter)
            case Role.BIAS | Role.RECURRENT_BIAS:
                side = Side.INPUT if weights.role is Role.BIAS else Side.RECURRENT
                bias = self.bound.bias(weights.letter, side.value)
                assert bias is not None  # the trace has those that are bound
                return bias
            case _:
                return self.bound.product(weights.letter, weights.of)


def _weights(node: Node) -> Weights:
    assert node.weights is not None  # said by its operation
    return node.weights


def _run(runs: Sequence[Run], values: dict[int, Any]) -> None:
    """Run operations, each of which adds a value."""
    for place, do, operands in runs:
        values[place] = do(*[values[operand] for operand in operands])
