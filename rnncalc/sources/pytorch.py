"""PyTorch: one nn.Module that holds nn.RNN, nn.GRU, nn.LSTM, nn.Linear and nn.Embedding, the batch first.

Directions are merged, and starting states learned, outside the modules, which can do neither.
"""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Dropout, Embedding, External
from rnncalc.questions.program import Module, OwnCell, Program
from rnncalc.sources.expressions import step_of
from rnncalc.sources.layout import Call, Code, statement
from rnncalc.sources.names import docstring
from rnncalc.sources.pytorch_flow import SPELLING, moved, tuple_of
from rnncalc.sources.written import (
    Writing,
    arguments_of,
    call_of,
    dims,
    freezing,
    second,
    ties,
    title_of,
    width_name,
    widths_of,
)

MODULES = {"rnn": "nn.RNN", "gru": "nn.GRU", "lstm": "nn.LSTM"}

RECURRENT = '''
class Recurrent(nn.Module):
    """Runs a cell along (batch, steps, features), and a second one backwards.

    As in nn.LSTM, a state has the directions in front, (directions, batch, units), and
    the outputs of both directions stand side by side.
    """

    def __init__(self, *cells: nn.Module) -> None:
        super().__init__()
        self.cells = nn.ModuleList(cells)

    def forward(
        self, x: torch.Tensor, start: tuple[torch.Tensor, ...] | None = None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        ways, ends = [], []
        for way, cell in enumerate(self.cells):
            if start is None:
                state = tuple(x.new_zeros(len(x), width) for width in cell.widths)
            else:
                state = tuple(each[way] for each in start)
            outputs = []
            for step in x.flip(1).unbind(1) if way else x.unbind(1):
                output, state = cell(step, state)
                outputs.append(output)
            ways.append(torch.stack(outputs[::-1] if way else outputs, dim=1))
            ends.append(state)
        return torch.cat(ways, dim=-1), tuple(torch.stack(each) for each in zip(*ends))
'''

EXTERNAL = '''
class External(nn.Module):
    """Stands in for a part described elsewhere: so many parameters, and zeros."""

    def __init__(self, params: int, outputs: int) -> None:
        super().__init__()
        self.external = nn.Parameter(torch.zeros(params))
        self.outputs = outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.new_zeros(*x.shape[:-1], self.outputs)
'''

MAIN = """


def main() -> None:
    model = {name}()
    for name, parameter in model.named_parameters():
        print(f"{{name:40}}{{tuple(parameter.shape)!s:>20}}{{parameter.numel():>16,}}")
    total = sum(parameter.numel() for parameter in model.parameters())
    print(f"{{'total':40}}{{total:>36,}}")


if __name__ == "__main__":
    main()
"""


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
    lines += ["", f"class {writing.name}(nn.Module):", *docstring(*writing.paragraphs()), ""]
    lines += ["    def __init__(self) -> None:", "        super().__init__()"]
    for module in program.modules:
        lines += _made(module, writing)
    arguments = [each.typed("torch.Tensor") for each in writing.arguments()]
    lines += ["", *statement(Call("def forward", ("self", *arguments), after=" -> torch.Tensor:"), depth=1)]
    for move, reads in writing.flows():
        lines += moved(move, reads, writing)
    return "\n".join(writing.ended(lines, "torch.cat(outputs, dim=1)")) + MAIN.format(name=writing.name)


def _cell(cell: OwnCell, name: str) -> Iterator[str]:
    """Yield the class of a cell that PyTorch lacks."""
    step = step_of(cell, SPELLING)
    letters = [letter for letter, _ in cell.states]
    widths = "".join(f"{width_name(width)}, " for _, width in cell.states)
    yield f"class {name}(nn.Module):"
    yield from docstring(title_of(cell))
    yield ""
    arguments = arguments_of(cell, map(width_name, widths_of(cell)))
    yield f"    def __init__(self, {', '.join(arguments)}) -> None:"
    yield "        super().__init__()"
    if cell.half:
        yield "        self.second = second"
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
    yield f"        {tuple_of(letters, bare=True)} = state"
    for line in step.lines:
        yield from statement(line.code, before=f"{line.name} = ", depth=2)
    yield f"        return {step.output}, {tuple_of(step.states)}"


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
            sizes = [str(module.places[0].sizes[letter]) for letter in widths_of(module.cell)]
            own = writing.cells[module.cell]
            ways = (f"{own}({', '.join([*sizes, *second(module.cell, way)])})" for way in range(layer.directions))
            return Call("Recurrent", tuple(ways))
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
    if options.get("activation", "tanh") != "tanh":
        yield f'nonlinearity="{options["activation"]}"'
    if not layer.bias:
        yield "bias=False"
    yield "batch_first=True"
    if layer.bidirectional:
        yield "bidirectional=True"
    if options.get("projection") is not None:
        yield f"proj_size={options['projection']}"
