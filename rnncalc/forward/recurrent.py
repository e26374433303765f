"""A recurrent layer over a sequence: both directions, their states and their joining, with the cell's own equations."""

from __future__ import annotations

from typing import NamedTuple

from rnncalc.forward.arrays import Arrays, Matrix, Meter, Weight
from rnncalc.forward.binding import EQUATIONS, Bound, bind
from rnncalc.forward.vectors import ACTIVATIONS, Vector, plus, times
from rnncalc.layers.cell import Cell

State = tuple[Vector, ...]
Trace = list[dict[str, Vector]]
"""For each step the states after it and the gates in it, by letter."""


class CellRun(NamedTuple):
    """What a recurrent layer did.

    outputs: a vector a step, the directions joined; final: the last state h of each direction, joined.
    state: every final state, the directions one after the other, as a decoder takes it.
    """

    outputs: list[Vector]
    final: Vector
    state: State
    traces: tuple[Trace, ...]


class BoundGates:
    """The gates of one direction: `cells.Gates` on the arrays of a layer, under its meter."""

    def __init__(self, layer: Cell, bound: Bound, meter: Meter, convention: str) -> None:
        equations = EQUATIONS[convention]
        chosen = getattr(layer, "reset_after", None)
        self.reset_after = equations.reset_after if chosen is None else bool(chosen)
        self.gate_keeps = equations.gate_keeps
        self.bound = bound
        self.meter = meter
        self.shape = ACTIVATIONS[layer.activation]
        self.through = {gate.letter: ACTIVATIONS[gate.activation or layer.activation] for gate in layer.gates}
        self.seen: dict[str, Vector] = {}

    def __call__(self, letter: str, x: Vector, h: Vector, peek: Vector | None = None) -> Vector:
        total = plus(self.input(letter, x), self.recurrent(letter, h))
        if peek is not None and letter in self.bound.peepholes:
            total = plus(total, self.meter.element_wise(self.bound.peepholes[letter], peek))
        return self.activate(letter, total)

    def input(self, letter: str, x: Vector) -> Vector:
        return self._biased(self.meter.product(self.bound.input[letter], x), self.bound.input_bias.get(letter))

    def recurrent(self, letter: str, h: Vector) -> Vector:
        weights = self.bound.recurrent[letter]
        done = self.meter.product(weights, h) if isinstance(weights, Matrix) else self.meter.element_wise(weights, h)
        return self._biased(done, self.bound.recurrent_bias.get(letter))

    def activate(self, letter: str, vector: Vector) -> Vector:
        self.seen[letter] = done = self.through[letter](vector)
        return done

    def project(self, h: Vector) -> Vector:
        return h if self.bound.projection is None else self.meter.product(self.bound.projection, h)

    def _biased(self, vector: Vector, bias: Weight | None) -> Vector:
        return vector if bias is None else plus(vector, self.meter.vector(bias))


def run_cell(
    layer: Cell,
    arrays: Arrays,
    meter: Meter,
    sequence: list[Vector],
    start: State | None,
    convention: str,
    *,
    traced: bool = False,
) -> CellRun:
    """Run a recurrent layer over a sequence of vectors, from a start state or the layer's own."""
    ways, finals, traces = [], [], []
    for number in range(layer.directions):
        backward = number == 1
        bound = bind(arrays, layer, convention, backward=backward)
        state = _start(layer, bound, meter, start, number)
        gates = BoundGates(layer, bound, meter, convention)
        outputs: list[Vector] = []
        trace: Trace = []
        for x in reversed(sequence) if backward else sequence:
            state = layer.step(gates, x, state)
            outputs.append(state[0])
            if traced:
                trace.append({**dict(zip(layer.states, state, strict=True)), **gates.seen})
        ways.append(outputs[::-1] if backward else outputs)
        finals.append(state)
        traces.append(trace)
    return CellRun(
        outputs=[_merged(layer, vectors) for vectors in zip(*ways, strict=True)],
        final=_merged(layer, tuple(state[0] for state in finals)),
        state=tuple([number for part in parts for number in part] for parts in zip(*finals, strict=True)),
        traces=tuple(traces),
    )


def _start(layer: Cell, bound: Bound, meter: Meter, start: State | None, number: int) -> State:
    """Return the state before the first step: this direction's share of the encoder's, or a learned one, or zeros."""
    if start is not None:
        shares = [len(vector) // layer.directions for vector in start]
        return tuple(vector[number * share : (number + 1) * share] for vector, share in zip(start, shares, strict=True))
    if bound.states:
        return tuple(meter.vector(weights) for weights in bound.states)
    units, projection = layer.units, getattr(layer, "projection", None)
    widths = (projection or units, units) if layer.kind == "lstm" else (units,)
    return tuple([0.0] * width for width in widths)


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
