"""A chunk of a recurrent layer's steps, gone back through: what that reads and multiplies, for any number of steps.

A few steps say all, since every further one adds the same. Knows no sequence and no network: how a chunk stands in them
is handed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple, TypeVar

from rnncalc.layers.cell import Cell, Habits
from rnncalc.questions.held import ForwardValue, HeldSteps, Tally
from rnncalc.step.equations import Formula as Node
from rnncalc.step.equations import Symbol


class Outputs(StrEnum):
    """Where a loss depends on what a layer hands on: at every step, at the end (where a direction stops), or nowhere.

    Of a layer that has no end, the end is the last step.
    """

    ALL = "all"
    END = "end"
    NONE = "none"


class Chunk(NamedTuple):
    """Some steps of a recurrent layer that are gone back through together.

    inputs_need: whether a gradient is asked for of the input at the first step in time, and of those at the others.
    starts_need: for each direction, whether one is of the state before the step that it reads first.
    ends: for each direction, whether it stops in this chunk. final_states: whether a loss depends on its states there.
    other_end_needs: where the directions are multiplied and stop in different chunks, whether a gradient is asked for
        of what the backward one hands on.
    fed_itself: whether the layer reads what it has handed on, no other standing between. At the first step of a chunk
        that is a state that is held anyway; it is counted as an input there, as the first chunk, which holds the most,
        has one.
    """

    steps: int
    outputs: Outputs
    inputs_need: tuple[bool, bool]
    starts_need: tuple[bool, ...]
    ends: tuple[bool, ...]
    final_states: bool = False
    other_end_needs: bool = False
    fed_itself: bool = False


What = TypeVar("What")

X = Symbol("x", time="t", axes=("m",))


def tally(layer: Cell, inputs: int, habits: Habits, chunk: Chunk) -> Tally:
    """Return what going back through a chunk of a layer that reads `inputs` features reads and multiplies."""
    # After a step for each state, whatever can ask for a gradient does; so many before the end, all is reached.
    enough = 2 * len(layer.states) + 2
    if chunk.steps <= enough:
        return _read(layer, inputs, habits, chunk)
    few, more = (_read(layer, inputs, habits, chunk._replace(steps=steps)) for steps in (enough - 1, enough))
    further = chunk.steps - enough
    return Tally(_further(few.held, more.held, further), _further(few.work, more.work, further))


def _further(few: Mapping[What, int], more: Mapping[What, int], steps: int) -> dict[What, int]:
    """Return the counts after so many further steps, each of which adds what the last one did."""
    return {what: count + steps * (count - few.get(what, 0)) for what, count in more.items()}


def _read(layer: Cell, inputs: int, habits: Habits, chunk: Chunk) -> Tally:
    """Return the same, read off every step of the chunk."""
    steps = HeldSteps(layer, inputs, habits, _names(layer, inputs, habits))
    first, others = chunk.inputs_need
    sequence = [ForwardValue("m", X, needs=others if step else first) for step in range(chunk.steps)]
    ways: list[list[ForwardValue]] = []
    for direction, start_needs in enumerate(chunk.starts_need):
        start = tuple(ForwardValue(symbol.axes[0], symbol, needs=start_needs) for symbol in _states(layer, "t−1"))
        in_order = sequence[::-1] if direction else sequence
        outputs, states = _direction(steps, in_order, start, fed_itself=chunk.fed_itself)
        ways.append(outputs[::-1] if direction else outputs)
        for state in states if chunk.final_states and chunk.ends[direction] else ():
            state.reached = True
    match chunk.outputs:
        case Outputs.ALL:
            for handed in zip(*ways, strict=True):
                _reach(steps, handed)
        case Outputs.END:
            ends = [way[0 if direction else -1] for direction, way in enumerate(ways) if chunk.ends[direction]]
            _reach(steps, tuple(ends))
            if layer.merge == "mul" and chunk.ends == (True, False):
                _hold_ends(steps, ends[0], other_needs=chunk.other_end_needs)
    return steps.back()


def _direction(
    steps: HeldSteps, sequence: list[ForwardValue], state: tuple[ForwardValue, ...], *, fed_itself: bool
) -> tuple[list[ForwardValue], tuple[ForwardValue, ...]]:
    """Take the steps of one direction in its order; return what each hands on, and the states after the last."""
    before, after = _states(steps.layer, "t−1"), _states(steps.layer, "t")
    outputs: list[ForwardValue] = []
    for x in sequence:
        _call(state, before)
        for vector in state:
            vector.complements = None  # a state that goes on is kept as it is
        steps.begin()
        output, state = steps.layer.step(steps, outputs[-1] if fed_itself and outputs else x, state)
        outputs.append(output)
    _call(state, after)
    return outputs, state


def _states(layer: Cell, time: str) -> list[Symbol]:
    return [Symbol(letter, time=time, axes=(width,)) for letter, width in layer.states.items()]


def _names(layer: Cell, inputs: int, habits: Habits) -> dict[Node, Symbol]:
    """Return the symbols of the states that a step makes and of what it hands on."""
    steps, before, after = HeldSteps(layer, inputs, habits), _states(layer, "t−1"), _states(layer, "t")
    state = tuple(ForwardValue(symbol.axes[0], symbol, needs=False) for symbol in before)
    output, state = layer.step(steps, ForwardValue("m", X, needs=False), state)
    names: dict[Node, Symbol] = {output.node: Symbol("h", time="t", axes=(layer.output,))}
    return names | {vector.node: symbol for vector, symbol in zip(state, after, strict=True)}


def _call(state: tuple[ForwardValue, ...], symbols: list[Symbol]) -> None:
    """Have the vectors of a state be called by symbols."""
    for vector, symbol in zip(state, symbols, strict=True):
        vector.node = symbol


def _reach(steps: HeldSteps, handed: tuple[ForwardValue, ...]) -> None:
    """Have a loss depend on what the directions hand on together; where they are multiplied, each reads the other."""
    if len(handed) == 2 and steps.layer.merge == "mul":
        handed = (steps.times(*handed),)
    for vector in handed:
        vector.reached = True


def _hold_ends(steps: HeldSteps, end: ForwardValue, *, other_needs: bool) -> None:
    """Hold what the directions hand on where they stop, in the chunk where they are multiplied: the forward one's."""
    if end.needs:
        steps.hold(ForwardValue(end.width, end.node, needs=other_needs))
    if other_needs:
        steps.hold(end)
