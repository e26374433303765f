"""PyTorch: one nn.Module that holds nn.RNN, nn.GRU, nn.LSTM, nn.Linear and nn.Embedding, the batch first.

Directions are merged, and starting states learned, outside the modules, which can do neither.
"""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Dropout, Embedding, External
from rnncalc.questions.program import Apply, Extra, Last, Module, Move, OneStep, OwnCell, Program, Zeros
from rnncalc.sources.expressions import Spelling, step_of
from rnncalc.sources.layout import Call, Code, statement
from rnncalc.sources.names import docstring
from rnncalc.sources.parts_of_pytorch import EXTERNAL, MAIN, RECURRENT
from rnncalc.sources.written import (
    Writing,
    call_of,
    dims,
    freezing,
    joined,
    recurrent,
    returned,
    shape_of,
    ties,
    title_of,
    width_name,
    widths_of,
)

SPELLING = Spelling(
    {
        "tanh": ("torch.tanh",),
        "relu": ("torch.relu",),
        "sigmoid": ("torch.sigmoid",),
        "softmax": ("torch.softmax", "dim=-1"),
    }
)
MODULES = {"rnn": "nn.RNN", "gru": "nn.GRU", "lstm": "nn.LSTM"}
LACKING = (
    "has no module for every layer of it; the cells above are written from their equations, a matrix for each gate."
)


def write(program: Program) -> str:
    """Return the source of a program."""
    writing = Writing(program, {"External", "Recurrent"})
    lines = ["import torch", "from torch import nn", ""]
    if program.cells:
        lines += RECURRENT.split("\n")
    for cell in program.cells:
        lines += ["", *_cell(cell, writing.cells[cell]), ""]
    if any(isinstance(module.layer, External) for module in program.modules):
        lines += EXTERNAL.split("\n")
    lines += ["", f"class {writing.name}(nn.Module):", *docstring(*writing.paragraphs("PyTorch", LACKING)), ""]
    lines += ["    def __init__(self) -> None:", "        super().__init__()"]
    for module in program.modules:
        lines += _made(module, writing)
    arguments = [each.typed("torch.Tensor") for each in writing.arguments()]
    lines += ["", *statement(Call("def forward", ("self", *arguments), after=" -> torch.Tensor:"), depth=1)]
    for move, reads in writing.flows():
        lines += _moved(move, reads, writing)
    return "\n".join(returned(lines)) + MAIN.format(name=writing.name)


def _cell(cell: OwnCell, name: str) -> Iterator[str]:
    """Yield the class of a cell that PyTorch lacks."""
    step = step_of(cell, SPELLING)
    letters = [letter for letter, _ in cell.states]
    widths = "".join(f"{width_name(width)}, " for _, width in cell.states)
    yield f"class {name}(nn.Module):"
    yield from docstring(title_of(cell))
    yield ""
    yield f"    def __init__(self, {', '.join(f'{width_name(each)}: int' for each in widths_of(cell))}) -> None:"
    yield "        super().__init__()"
    yield f"        self.widths = ({widths.strip() if len(letters) == 1 else widths.removesuffix(', ')})"
    for number, tensor in enumerate(cell.weights):
        yield f"        self.{tensor.name} = nn.Parameter(torch.empty({', '.join(dims(cell, number))}))"
    yield "        bound = units**-0.5"
    yield "        for parameter in self.parameters():"
    yield "            nn.init.uniform_(parameter, -bound, bound)"
    yield ""
    yield "    def forward("
    yield "        self, x: torch.Tensor, state: tuple[torch.Tensor, ...]"
    yield "    ) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:"
    yield f"        {_tuple(letters, bare=True)} = state"
    for line in step.lines:
        yield from statement(line.code, before=f"{line.name} = ", depth=2)
    yield f"        return {step.output}, {_tuple(step.states)}"


def _tuple(names: list[str] | tuple[str, ...], *, bare: bool = False) -> str:
    if len(names) == 1:
        return f"({names[0]},)"
    return ", ".join(names) if bare else f"({', '.join(names)})"


def _made(module: Module, writing: Writing) -> Iterator[str]:
    """Yield the lines that make a module and what belongs to it."""
    layer, own = module.layer, f"self.{writing.of(module)}"
    yield from statement(_module(module, writing), before=f"{own} = ", depth=2, note=writing.note(module))
    if ties(module):
        yield from statement(f"self.{writing.table(module)}.weight", before=f"{own}.weight = ", depth=2, note="tied")
    if freezing(module):
        yield f"        {own}{'.bias' * ties(module)}.requires_grad_(False)"
    if isinstance(layer, Cell) and layer.learned_state:
        for letter, width in module.states:
            zeros = f"torch.zeros({layer.directions * len(module.places)}, 1, {width})"
            code = call_of("nn.Parameter", zeros, "requires_grad=False" if layer.frozen else None)
            yield from statement(code, before=f"{own}_{letter}_0 = ", depth=2)


def _module(module: Module, writing: Writing) -> Code:
    layer, inputs = module.layer, str(module.inputs)
    match layer:
        case Cell() if module.cell:
            sizes = ", ".join(str(module.places[0].sizes[letter]) for letter in widths_of(module.cell))
            return Call("Recurrent", (f"{writing.cells[module.cell]}({sizes})",) * layer.directions)
        case Cell():
            return Call(MODULES[layer.kind], (inputs, str(layer.units), *_options(layer, len(module.places))))
        case Dense():
            return call_of("nn.Linear", inputs, str(layer.units), None if layer.bias else "bias=False")
        case Embedding():
            return Call("nn.Embedding", (inputs, str(layer.units)))
        case Dropout():
            return Call("nn.Dropout", (str(layer.rate),))
        case External():
            return Call("External", (str(layer.params), str(module.outputs)))
        case _:
            raise TypeError(layer)


def _options(layer: Cell, copies: int) -> Iterator[str]:
    options = layer.values()
    if copies > 1:
        yield f"num_layers={copies}"
    if layer.kind == "rnn" and options["activation"] != "tanh":
        yield f'nonlinearity="{options["activation"]}"'
    if not layer.bias:
        yield "bias=False"
    yield "batch_first=True"
    if layer.bidirectional:
        yield "bidirectional=True"
    if options.get("projection") is not None:
        yield f"proj_size={options['projection']}"


def _moved(move: Move, x: str, writing: Writing) -> Iterator[str]:
    """Yield the lines of a move; `x` is the name of what it reads."""
    match move:
        case OneStep():
            yield from statement(f"x = {x}.unsqueeze(1)", depth=2, note="one step")
        case Zeros():
            yield f"        zeros = {x}.new_zeros(len({x}), steps - 1, {move.width})"
            note = f"{shape_of((move.steps, move.width))}, zeros after the input"
            yield from statement(f"x = torch.cat([{x}.unsqueeze(1), zeros], dim=1)", depth=2, note=note)
        case Extra():
            extra = f"{writing.of(move.module)}_extra"
            yield from statement(Call("x = torch.cat", (f"[{x}, {extra}]", "dim=-1")), depth=2)
        case Last():
            yield from statement(f"x = {x}[:, -1]", depth=2, note=shape_of(move.shape))
        case Apply() if recurrent(move.module):
            yield from _recurred(move, x, writing)
        case Apply():
            layer = move.module.layer
            code: Code = Call(f"self.{writing.of(move.module)}", (x,))
            if isinstance(layer, Dense):
                code = SPELLING.activated(layer.activation, code)
            yield from statement(code, before="x = ", depth=2, note=shape_of(move.shape))


def _recurred(move: Apply, x: str, writing: Writing) -> Iterator[str]:
    """Yield the lines that apply a recurrent module, from its start to its merge."""
    layer, own = recurrent(move.module), writing.of(move.module)
    assert layer
    letters = [letter for letter, _ in move.module.states]
    starts: list[str] = []
    if move.start:
        starts = [f"{writing.of(move.start)}_{letter}" for letter in letters]
        yield from _carried(starts, move.start.layer, layer)
    elif layer.learned_state:
        starts = [f"{letter}_0" for letter in letters]
        for each in starts:
            expanded = Call(f"self.{own}_{each}.expand", ("-1", f"len({x})", "-1"), after=".contiguous()")
            yield from statement(expanded, before=f"{each} = ", depth=2)
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
    return names[0] if len(names) == 1 and not module.cell else _tuple(names)


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
