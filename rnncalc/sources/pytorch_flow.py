"""How an input flows through a program for PyTorch, the batch first.

A state has the directions of all its layers in front; what modules do not do, merge directions and learn where they
start, is done here between them.
"""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense
from rnncalc.network.flow import Input
from rnncalc.questions.program import FedBack, LastStep, Module, ModuleCall, Move, OneStep, Zeros
from rnncalc.sources.expressions import Spelling
from rnncalc.sources.flow import Arrays, passed
from rnncalc.sources.layout import Call, Code, statement
from rnncalc.sources.written import Writing, call_of, joined, recurrent, shape_of

SPELLING = Spelling(
    {
        "tanh": ("torch.tanh",),
        "relu": ("torch.relu",),
        "sigmoid": ("torch.sigmoid",),
        "softmax": ("torch.softmax", "dim=-1"),
    },
    half="x.chunk(2, dim=-1)[self.second]",
    library="torch",
)


def tuple_of(names: list[str] | tuple[str, ...], *, bare: bool = False) -> str:
    """Return names as a tuple, its brackets left out where it can be."""
    if len(names) == 1:
        return f"({names[0]},)"
    return ", ".join(names) if bare else f"({', '.join(names)})"


ARRAYS = Arrays("torch.cat", "dim", "{0}.unsqueeze(1)", "{0}.new_zeros(len({0}), steps - 1, {1})")


def moved(move: Move, x: str, writing: Writing) -> Iterator[str]:
    """Yield the lines of a move; `x` is the name of what it reads."""
    match move:
        case OneStep() | Zeros() | Input() | LastStep():
            yield from passed(move, x, writing, ARRAYS)
        case FedBack():
            yield from _looped(move, x, writing)
        case ModuleCall() if recurrent(move.module):
            yield from _recurred(move, x, writing)
        case ModuleCall():
            layer = move.module.layer
            code: Code = Call(f"self.{writing.of(move.module)}", (x,))
            if isinstance(layer, Dense):
                code = SPELLING.activated(layer.activation, code)
            yield from statement(code, before="x = ", depth=writing.depth, note=shape_of(move.shape))


def _looped(move: FedBack, x: str, writing: Writing) -> Iterator[str]:
    """Yield the lines that begin a loop over steps, each recurrent module at its learned state or at none."""
    for module in move.recurrent:
        start = "None"
        if module.layer.values()["learned_state"]:
            yield from _learned(module, x, writing)
            start = _state(module, [f"{letter}_0" for letter, _ in module.states])
        yield from statement(start, before=f"{writing.of(module)}_end = ", depth=2)
    yield from writing.looped(move)


def _learned(module: Module, x: str, writing: Writing) -> Iterator[str]:
    """Yield the learned states as a batch has them."""
    for letter, _ in module.states:
        state = f"self.{writing.of(module)}_{letter}_0"
        expanded = Call(f"{state}.expand", ("-1", f"len({x})", "-1"), after=".contiguous()")
        yield from statement(expanded, before=f"{letter}_0 = ", depth=2)


def _recurred(move: ModuleCall, x: str, writing: Writing) -> Iterator[str]:
    """Yield the lines that apply a recurrent module, from its start to its merge."""
    layer, own = recurrent(move.module), writing.of(move.module)
    assert layer
    letters = [letter for letter, _ in move.module.states]
    starts: list[str] = []
    if move.looped:
        call = Call(f"self.{own}", (x, f"{own}_end"))
        yield from statement(call, before=f"x, {own}_end = ", depth=writing.depth, note=shape_of(move.shape))
        return
    if move.start:
        starts = [f"{writing.of(move.start)}_{letter}" for letter in letters]
        yield from _carried(starts, move.start.layer, layer)
    elif layer.learned_state:
        starts = [f"{letter}_0" for letter in letters]
        yield from _learned(move.module, x, writing)
    call = call_of(f"self.{own}", x, _state(move.module, starts) if starts else None)
    ends = _state(move.module, [f"{own}_{letter}" for letter in letters]) if move.kept else "_"
    merged = layer.bidirectional and (move.last or layer.merge not in (None, "concat"))
    note = "" if merged or move.last else shape_of(move.shape)
    yield from statement(call, before=f"{'_' if move.unread else 'x'}, {ends} = ", depth=2, note=note)
    if move.unread:
        return
    if merged:
        yield "        forward, backward = x.chunk(2, dim=-1)"
        ways = ("forward[:, -1]", "backward[:, 0]") if move.last else ("forward", "backward")
        code = joined(layer.merge, *ways, "torch.cat([{}], dim=-1)")
        yield from statement(code, before="x = ", depth=2, note=shape_of(move.shape))
    elif move.last:
        yield from statement("x = x[:, -1]", depth=2, note=shape_of(move.shape))


def _state(module: Module, names: list[str]) -> str:
    """Return states as a module takes and gives them: nn.RNN and nn.GRU have one, all others a tuple."""
    return names[0] if len(names) == 1 and not module.cell else tuple_of(names)


def _carried(names: list[str], gives: object, takes: Cell) -> Iterator[str]:
    """Yield how the encoder's final states become a decoder's, where they differ in their directions."""
    assert isinstance(gives, Cell)
    for name in names:
        if gives.directions > takes.directions:
            both = Call("", (f"{name}[0::2]", f"{name}[1::2]"), "[", "]")
            yield from statement(Call("torch.cat", (both, "dim=-1")), before=f"{name} = ", depth=2, note="joined")
        elif gives.directions < takes.directions:
            code = Call("torch.stack", (f"{name}.chunk(2, dim=-1)", "dim=1"), after=".flatten(0, 1)")
            yield from statement(code, before=f"{name} = ", depth=2, note="parted")
