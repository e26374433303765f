"""How an input flows through a program for Keras, the batch first.

A layer's final states are a list; those of both directions stand one after the other in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.network.flow import Input
from rnncalc.questions.program import FedBack, LastStep, Module, ModuleCall, Move, OneStep, Zeros
from rnncalc.sources.expressions import Spelling
from rnncalc.sources.flow import Arrays, passed
from rnncalc.sources.layout import Call, Chain, Code, statement
from rnncalc.sources.written import Writing, call_of, recurrent, shape_of, ties

SPELLING = Spelling(
    {word: (f"ops.{word}",) for word in ("tanh", "relu", "sigmoid", "softmax")},
    half="ops.split(x, 2, axis=-1)[self.second]",
    library="ops",
    transposed="ops.transpose({})",
)


ARRAYS = Arrays("ops.concatenate", "axis", "{0}[:, None]", "ops.zeros((ops.shape({0})[0], steps - 1, {1}))")


def moved(move: Move, x: str, writing: Writing) -> Iterator[str]:
    """Yield the lines of a move; `x` is the name of what it reads."""
    match move:
        case OneStep() | Zeros() | Input() | LastStep():
            yield from passed(move, x, writing, ARRAYS)
        case FedBack():
            yield from _looped(move, x, writing)
        case ModuleCall() if recurrent(move.module):
            yield from _recurred(move, x, writing)
        case ModuleCall(module=module) if ties(module):
            own = f"self.{writing.of(module)}"
            product = f"{x} @ ops.transpose(self.{writing.table(module)}.embeddings)"
            total: Code = Chain((product, f"+ {own}_bias")) if module.params else product
            code = SPELLING.activated(module.layer.values()["activation"], total)
            yield from statement(code, before="x = ", depth=2, note=shape_of(move.shape))
        case ModuleCall():
            code = Call(f"self.{writing.of(move.module)}", (x,))
            yield from statement(code, before="x = ", depth=writing.depth, note=shape_of(move.shape))


def _looped(move: FedBack, x: str, writing: Writing) -> Iterator[str]:
    """Yield the lines that begin a loop over steps, each recurrent layer at its learned state or at none."""
    for module in move.recurrent:
        own = f"{writing.of(module)}_end"
        if module.layer.values()["learned_state"]:
            yield from _learned(module, writing.of(module), x, own)
        else:
            yield f"        {own} = None"
    yield from writing.looped(move)


def _recurred(move: ModuleCall, x: str, writing: Writing) -> Iterator[str]:
    """Yield the lines that apply a recurrent layer."""
    layer, name = recurrent(move.module), writing.of(move.module)
    assert layer
    start = None
    if move.looped:
        call = Call(f"self.{name}", (x, f"initial_state={name}_end"))
        yield from statement(call, before=f"x, *{name}_end = ", depth=writing.depth, note=shape_of(move.shape))
        return
    if move.start:
        start = f"{writing.of(move.start)}_end"
        if (gives := recurrent(move.start)) and gives.directions != layer.directions:
            yield from _carried(start, len(move.module.states), gives.directions)
            start = "start"
    elif layer.learned_state:
        yield from _learned(move.module, name, x, "start")
        start = "start"
    call = call_of(f"self.{name}", x, f"initial_state={start}" if start else None)
    before = "_" if move.unread else "x"
    if move.kept:
        before = f"{before}, *{name}_end"
    yield from statement(call, before=f"{before} = ", depth=2, note="" if move.unread else shape_of(move.shape))


def _carried(end: str, states: int, directions: int) -> Iterator[str]:
    """Yield how the encoder's final states become a decoder's that has the other number of directions."""
    if directions == 2 and states == 1:
        yield from statement(Call("ops.concatenate", (end, "axis=-1")), before="state = ", depth=2)
        yield "        start = [state]"
        return
    if directions == 2:
        yield from statement(Call("zip", (f"{end}[:{states}]", f"{end}[{states}:]")), before="pairs = ", depth=2)
        yield "        start = [ops.concatenate(pair, axis=-1) for pair in pairs]"
        return
    yield f"        states = {end}"
    yield "        halves = [ops.split(state, 2, axis=-1) for state in states]"
    yield "        start = [half[way] for way in (0, 1) for half in halves]"


def _learned(module: Module, name: str, x: str, start: str) -> Iterator[str]:
    """Yield the learned states as a batch has them, both directions one after the other."""
    names = []
    directions = recurrent(module)
    assert directions
    for way in ["[0]", "[1]"] if directions.bidirectional else [""]:
        names += [(f"self.{name}_{letter}_0{way}", width) for letter, width in module.states]
    yield f"        batch = ops.shape({x})[0]"
    states = tuple(Call("ops.broadcast_to", (state, f"(batch, {width})")) for state, width in names)
    yield from statement(Call("", states, "[", "]"), before=f"{start} = ", depth=2)
