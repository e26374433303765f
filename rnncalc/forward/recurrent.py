"""A recurrent layer over a sequence: both directions, their states and their joining, with the cell's own equations."""

from __future__ import annotations

from typing import Generic, NamedTuple

from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings.binding import Binding, Bound
from rnncalc.forward.steps import Steps, Vectors
from rnncalc.layers.cell import Cell
from rnncalc.layers.operations import Value

Trace = list[dict[str, Value]]
"""For each step the states after it and the gates in it, by letter."""


class CellRun(NamedTuple, Generic[Value]):
    """What a recurrent layer did.

    outputs: a vector a step, the directions joined; final: what the last step of each direction hands on, joined.
    state: every final state, the directions one after the other, as a decoder takes it.
    traces: in numbers, kept: as the vectors that they were; a list a direction.
    """

    outputs: list[Value]
    final: Value
    state: tuple[Value, ...]
    traces: tuple[Trace[list[float]], ...]
    kept: tuple[Trace[Value], ...]


def run_cell(
    layer: Cell,
    arrays: Arrays,
    vectors: Vectors[Value],
    sequence: list[Value],
    binding: Binding,
    *,
    start: tuple[Value, ...] | None = None,
    traced: bool = False,
    keeps: bool = False,
) -> CellRun[Value]:
    """Run a recurrent layer over a sequence of vectors, from a start state or the layer's own."""
    ways: list[list[Value]] = []
    finals: list[tuple[Value, tuple[Value, ...]]] = []
    traces: list[Trace[list[float]]] = []
    kept: list[Trace[Value]] = []
    for number in range(layer.directions):
        backward = number == 1
        inputs = len(vectors.numbers(sequence[0]))
        bound = binding.cell(arrays, layer, inputs, backward)
        state = _start(layer, bound, vectors, start, number)
        steps = Steps(layer, inputs, bound, vectors, binding.habits)
        outputs: list[Value] = []
        traces.append([])
        kept.append([])
        order = range(len(sequence))
        for step in reversed(order) if backward else order:
            steps.begin()
            vectors.at(step)
            x = sequence[step]
            if outputs:  # a state that a step has left, not the one before them all
                state = tuple(vectors.carry(each, step + backward) for each in state)
            output, state = layer.step(steps, x, state)
            outputs.append(output)
            if traced or keeps:
                seen = {**dict(zip(layer.states, state, strict=True)), **steps.seen}
            if traced:
                traces[-1].append({letter: vectors.numbers(vector) for letter, vector in seen.items()})
            if keeps:
                kept[-1].append(seen)
        ways.append(outputs[::-1] if backward else outputs)
        finals.append((outputs[-1], state))
    states = zip(*(state for _, state in finals), strict=True)
    return CellRun(
        outputs=[_merged(layer, vectors, handed, step) for step, handed in enumerate(zip(*ways, strict=True))],
        final=_merged(layer, vectors, tuple(output for output, _ in finals), len(sequence) - 1),
        state=tuple(vectors.join(*both) if len(both) > 1 else both[0] for both in states),
        traces=tuple(traces),
        kept=tuple(kept),
    )


def _start(
    layer: Cell, bound: Bound, vectors: Vectors[Value], start: tuple[Value, ...] | None, number: int
) -> tuple[Value, ...]:
    """Return the state before the first step: this direction's share of the encoder's, or a learned one, or zeros."""
    if start is not None:
        if layer.directions == 1:
            return start
        shares = [len(vectors.numbers(vector)) // 2 for vector in start]
        return tuple(
            vectors.part(vector, number * share, (number + 1) * share)
            for vector, share in zip(start, shares, strict=True)
        )
    if layer.learned_state:
        return tuple(vectors.weight(bound.state(letter)) for letter in layer.states)
    projection = getattr(layer, "projection", None)
    widths = {"h": layer.units, "p": projection}  # by hand, not the layer's own word for the numbers
    return tuple(vectors.constant([0.0] * (widths[width] or layer.units)) for width in layer.states.values())


def _merged(layer: Cell, vectors: Vectors[Value], handed: tuple[Value, ...], step: int) -> Value:
    """Join the directions as the layer says."""
    if len(handed) == 1:
        return handed[0]
    vectors.at(step)
    forward, backward = handed
    match layer.merge:
        case "sum":
            return vectors.plus(forward, backward)
        case "mul":
            return vectors.times(forward, backward)
        case "ave":
            return vectors.mean(forward, backward)
        case _:
            return vectors.join(forward, backward)
