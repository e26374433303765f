"""A recurrent layer over a sequence: both directions, their states and their joining, with the cell's own equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, cast

from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings.binding import Binding, Bound
from rnncalc.forward.floats import Value, Vectors
from rnncalc.forward.steps import Steps, trace_of
from rnncalc.layers.cell import Cell, Habits
from rnncalc.step.operations import OPERATIONS, part

StartStates = Sequence[tuple[Value, ...]]
"""For each direction the states before its first step, in the order of the cell's."""


class History(NamedTuple, Generic[Value]):
    """What one direction of a layer went through.

    start: the states before the first step that was read, by letter. steps: for each step in the order of time, also
    where it was read backwards, what was read (x), the states after it, what was handed on (h) and the gates.
    """

    start: dict[str, Value]
    steps: list[dict[str, Value]]

    def numbers(self, vectors: Vectors[Value]) -> History[list[float]]:
        """Return the same in numbers; floats are numbers, and are not copied."""
        if all(vectors.numbers(vector) is vector for vector in self.start.values()):
            return cast("History[list[float]]", self)
        of = vectors.numbers
        steps = [{letter: of(vector) for letter, vector in step.items()} for step in self.steps]
        return History({letter: of(vector) for letter, vector in self.start.items()}, steps)


class CellRun(NamedTuple, Generic[Value]):
    """What a recurrent layer did.

    outputs: a vector a step, the directions joined; final: what the last step of each direction hands on, joined.
    state: every final state, the directions one after the other, as a decoder takes it.
    """

    outputs: list[Value]
    final: Value
    state: tuple[Value, ...]


class DirectionPass(Generic[Value]):
    """One direction of a recurrent layer, taken step by step; `state` is what the last step left."""

    def __init__(
        self, layer: Cell, steps: Steps[Value], state: tuple[Value, ...], *, backward: bool, traced: bool
    ) -> None:
        self.layer = layer
        self.steps = steps
        self.state = self.start = state
        self.backward = backward
        self.traced = traced
        self.taken: list[dict[str, Value]] = []
        self.begun = False

    def take(self, step: int, x: Value) -> Value:
        """Take a step, the one of this number in time, and return what it hands on."""
        vectors, trace = self.steps.vectors, self.steps.trace
        vectors.at(step)
        if self.begun:  # a state that a step has left, not the one before them all
            self.state = tuple(vectors.carry(each, step + self.backward) for each in self.state)
        self.begun = True
        values = self.steps.take(x, self.state)
        self.state = tuple([values[place] for place in trace.after.values()])
        if self.traced:
            named = {**trace.after, "h": trace.output, **trace.gates}
            self.taken.append({"x": x, **{letter: values[place] for letter, place in named.items()}})
        return values[trace.output]

    @property
    def trace(self) -> History[Value]:
        """What was seen on the way, nothing but the start where it is not traced."""
        start = dict(zip(self.layer.states, self.start, strict=True))
        return History(start, self.taken[::-1] if self.backward else self.taken)


def ways(
    layer: Cell,
    arrays: Arrays,
    vectors: Vectors[Value],
    inputs: int,
    binding: Binding,
    habits: Habits,
    *,
    start: StartStates[Value] | None = None,
    traced: bool = False,
) -> list[DirectionPass[Value]]:
    """Return the directions of a layer that reads `inputs` features, from a start state or the layer's own."""
    found = []
    for number in range(layer.directions):
        bound = binding.cell(arrays, layer, inputs, number == 1)
        state = _start(layer, bound, vectors) if start is None else start[number]
        steps = Steps(trace_of(layer, inputs, habits, bound), bound, vectors, number)
        found.append(DirectionPass(layer, steps, state, backward=number == 1, traced=traced))
    return found


def run_ways(layer: Cell, directions: Sequence[DirectionPass[Value]], sequence: Sequence[Value]) -> CellRun[Value]:
    """Run a recurrent layer over a sequence of vectors, in each direction."""
    vectors = directions[0].steps.vectors
    order = range(len(sequence))
    outputs, finals = [], []
    for way in directions:
        handed = [way.take(step, sequence[step]) for step in (reversed(order) if way.backward else order)]
        finals.append(handed[-1])
        outputs.append(handed[::-1] if way.backward else handed)
    states = zip(*(way.state for way in directions), strict=True)
    join = vectors.operation(OPERATIONS["join"])
    return CellRun(
        outputs=[_merged(layer, vectors, each, step) for step, each in enumerate(zip(*outputs, strict=True))],
        final=_merged(layer, vectors, tuple(finals), len(sequence) - 1),
        state=tuple(join(*both) if len(both) > 1 else both[0] for both in states),
    )


def shares(layer: Cell, vectors: Vectors[Value], joined: tuple[Value, ...]) -> StartStates[Value]:
    """Return each direction's share of states in which the directions stand one after the other."""
    widths = [len(vectors.numbers(vector)) // layer.directions for vector in joined]
    return [
        tuple(
            vectors.operation(part(number * width, (number + 1) * width))(vector)
            for vector, width in zip(joined, widths, strict=True)
        )
        for number in range(layer.directions)
    ]


def given_start(layer: Cell, vectors: Vectors[Value], given: dict[str, Any]) -> StartStates[Value]:
    """Return the states that data give, by letter, a list a direction where there are two; others are zeros."""
    found = []
    for number in range(layer.directions):
        states = dict(zip(layer.states, _zeros(layer, vectors), strict=True))
        for letter, numbers in given.items():
            states[letter] = vectors.constant(numbers[number] if layer.bidirectional else numbers)
        found.append(tuple(states.values()))
    return found


def _start(layer: Cell, bound: Bound, vectors: Vectors[Value]) -> tuple[Value, ...]:
    """Return a direction's own state before the first step: a learned one, or zeros."""
    if layer.learned_state:
        return tuple(vectors.state(bound.state(letter)) for letter in layer.states)
    return _zeros(layer, vectors)


def _zeros(layer: Cell, vectors: Vectors[Value]) -> tuple[Value, ...]:
    by_hand = {"h": layer.units, "p": getattr(layer, "projection", None) or layer.units}
    widths = layer.sizes(0) | by_hand  # the layer's own word for widths that no cell of the package has
    return tuple(vectors.constant([0.0] * widths[width]) for width in layer.states.values())


def _merged(layer: Cell, vectors: Vectors[Value], handed: tuple[Value, ...], step: int) -> Value:
    """Join the directions as the layer says."""
    if len(handed) == 1:
        return handed[0]
    vectors.at(step)
    return vectors.operation(MERGES[layer.merge or "concat"])(*handed)


MERGES = {
    "concat": OPERATIONS["join"],
    "sum": OPERATIONS["plus"],
    "mul": OPERATIONS["times"],
    "ave": OPERATIONS["mean"],
}
"""How the two directions are joined."""
