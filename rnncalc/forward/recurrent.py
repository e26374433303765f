"""A recurrent layer over a sequence: both directions, their states and their joining, with the cell's own equations."""

from __future__ import annotations

from typing import NamedTuple

from rnncalc.forward.arrays import Arrays, Meter
from rnncalc.forward.bindings.binding import Binding, Bound
from rnncalc.forward.floats import Floats
from rnncalc.forward.vectors import Vector, plus, times
from rnncalc.layers.cell import Cell

State = tuple[Vector, ...]
Trace = list[dict[str, Vector]]
"""For each step the states after it and the gates in it, by letter."""


class CellRun(NamedTuple):
    """What a recurrent layer did.

    outputs: a vector a step, the directions joined; final: what the last step of each direction hands on, joined.
    state: every final state, the directions one after the other, as a decoder takes it.
    """

    outputs: list[Vector]
    final: Vector
    state: State
    traces: tuple[Trace, ...]


def run_cell(
    layer: Cell,
    arrays: Arrays,
    meter: Meter,
    sequence: list[Vector],
    binding: Binding,
    *,
    start: State | None = None,
    traced: bool = False,
) -> CellRun:
    """Run a recurrent layer over a sequence of vectors, from a start state or the layer's own."""
    ways, finals, traces = [], [], []
    for number in range(layer.directions):
        backward = number == 1
        inputs = len(sequence[0])
        bound = binding.cell(arrays, layer, inputs, backward)
        state = _start(layer, bound, meter, start, number)
        floats = Floats(layer, inputs, bound, meter, binding.habits)
        outputs: list[Vector] = []
        trace: Trace = []
        for x in reversed(sequence) if backward else sequence:
            floats.begin()
            output, state = layer.step(floats, x, state)
            outputs.append(output)
            if traced:
                trace.append({**dict(zip(layer.states, state, strict=True)), **floats.seen})
        ways.append(outputs[::-1] if backward else outputs)
        finals.append((outputs[-1], state))
        traces.append(trace)
    return CellRun(
        outputs=[_merged(layer, vectors) for vectors in zip(*ways, strict=True)],
        final=_merged(layer, tuple(output for output, _ in finals)),
        state=tuple(
            [number for part in parts for number in part] for parts in zip(*(state for _, state in finals), strict=True)
        ),
        traces=tuple(traces),
    )


def _start(layer: Cell, bound: Bound, meter: Meter, start: State | None, number: int) -> State:
    """Return the state before the first step: this direction's share of the encoder's, or a learned one, or zeros."""
    if start is not None:
        shares = [len(vector) // layer.directions for vector in start]
        return tuple(vector[number * share : (number + 1) * share] for vector, share in zip(start, shares, strict=True))
    if layer.learned_state:
        return tuple(meter.vector(bound.state(letter)) for letter in layer.states)
    projection = getattr(layer, "projection", None)
    widths = {"h": layer.units, "p": projection}  # by hand, not the layer's own word for the numbers
    return tuple([0.0] * (widths[width] or layer.units) for width in layer.states.values())


def _merged(layer: Cell, vectors: tuple[Vector, ...]) -> Vector:
    """Join the directions as the layer says."""
    if len(vectors) == 1:
        return vectors[0]
    forward, backward = vectors
    match layer.merge:
        case "sum":
            return plus(forward, backward)
        case "mul":
            return times(forward, backward)
        case "ave":
            return [(a + b) / 2.0 for a, b in zip(forward, backward, strict=True)]
        case _:
            return forward + backward
