"""PyTorch: one nn.Module that holds nn.RNN, nn.GRU, nn.LSTM, nn.Linear and nn.Embedding, the batch first.

Directions are merged, and starting states learned, outside the modules, which can do neither. A state has the
directions of all its layers in front.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import CROSS
from rnncalc.programs.code import with_comment
from rnncalc.programs.program import Module, OwnCell, is_gain
from rnncalc.programs.writer import Around, Writer, arguments_of, shape_in, shape_of, tuple_of, width_name

RECURRENT = '''class Recurrent(nn.Module):
    """Runs a cell along (batch, steps, features), and a second one backwards.

    As in nn.LSTM, a state has the directions in front, (directions, batch, units), and
    the outputs of both directions are side by side.
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
HARD_SIGMOID = '''def hard_sigmoid_0_2(x: torch.Tensor) -> torch.Tensor:
    """Return x/5 + 1/2, cut at 0 and 1."""
    return torch.clamp(x / 5 + 0.5, 0, 1)
'''
NORMALISED = '''def normalised(x: torch.Tensor, epsilon: float = 1e-3) -> torch.Tensor:
    """Return vectors with mean 0 and variance 1."""
    return nn.functional.layer_norm(x, x.shape[-1:], eps=epsilon)
'''
EXTERNAL = '''class External(nn.Module):
    """Replaces a part described elsewhere: its parameters, and zeros as output."""

    def __init__(self, outputs: int, shapes: dict, frozen: tuple = ()) -> None:
        super().__init__()
        self.outputs = outputs
        for name, shape in shapes.items():
            module, (*above, last) = self, name.split(".")
            for part in above:
                if part not in dict(module.named_children()):
                    module.add_module(part, nn.Module())
                module = module.get_submodule(part)
            zeros, trainable = torch.zeros(shape), name not in frozen
            module.register_parameter(last, nn.Parameter(zeros, trainable))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.new_zeros(*x.shape[:-1], self.outputs)
'''
MAIN = """def main() -> None:
    model = {name}()
    for name, parameter in model.named_parameters():
        print(f"{{name:40}}{{tuple(parameter.shape)!s:>20}}{{parameter.numel():>16,}}")
    total = sum(parameter.numel() for parameter in model.parameters())
    print(f"{{'total':40}}{{total:>36,}}")
"""


MASK = "nn.Transformer.generate_square_subsequent_mask({x}.shape[1])"


def _options(layer: Cell, module: Module) -> Iterator[str]:
    options = layer.values()
    if len(module.places) > 1:
        yield f"num_layers={len(module.places)}"
    if options["activation"] not in (None, "tanh"):
        yield f'nonlinearity="{options["activation"]}"'
    if not layer.bias:
        yield "bias=False"
    yield "batch_first=True"
    if layer.bidirectional:
        yield "bidirectional=True"
    if options.get("projection") is not None:
        yield f"proj_size={options['projection']}"


def _state(module: Module, names: list[str]) -> str:
    """Return states as a module takes and gives them: nn.RNN and nn.GRU have one, all others a tuple."""
    return names[0] if len(names) == 1 and not module.cell else tuple_of(names)


def _carried(names: list[str], gives: Module, takes: Module) -> Iterator[str]:
    """Yield how the encoder's final states become a decoder's, if they differ in their directions."""
    for name in names:
        if gives.two_way and not takes.two_way:
            yield with_comment(f"{name} = torch.cat([{name}[0::2], {name}[1::2]], dim=-1)", "joined")
        elif takes.two_way and not gives.two_way:
            yield with_comment(f"{name} = torch.stack({name}.chunk(2, dim=-1), dim=1).flatten(0, 1)", "parted")


class PyTorch(Writer):
    """Writes a program for PyTorch."""

    imports = ("import torch", "from torch import nn")
    base = "nn.Module"
    setup = ("def __init__(self) -> None:", "    super().__init__()")
    forward = "forward"
    array = "torch.Tensor"
    returns = " -> torch.Tensor"
    layers: ClassVar = {
        "dense": "nn.Linear({inputs}, {units}{bias})",
        "embedding": "nn.Embedding({inputs}, {units})",
        "dropout": "nn.Dropout({rate})",
        "external": "External({outputs}, {shapes}{untrained})",
    }
    transforms: ClassVar = {
        "conv1d": Around(
            "nn.Conv1d({inputs}, {filters}, {kernel}{options}{bias})",
            "{module}({x}.transpose(1, 2)).transpose(1, 2)",
            padded="{module}(nn.functional.pad({x}.transpose(1, 2), ({before}, {after}))).transpose(1, 2)",
            options={option: f"{option}={{0}}" for option in ("stride", "dilation", "groups")},
        ),
        "pool1d": Around(
            applied="nn.functional.{mode}_pool1d({x}.transpose(1, 2), {window}, {stride}).transpose(1, 2)",
            words={"average": "avg"},
        ),
        "layer_norm": Around("nn.LayerNorm({inputs}{bias})"),
        "multi_head_attention": Around(
            "nn.MultiheadAttention({inputs}, {heads}{bias}, batch_first=True)",
            "{module}({x}, {x}, {x}, need_weights=False{calls})[0]",
            calls={"causal": f", attn_mask={MASK}"},
        ),
        **dict.fromkeys(
            CROSS,
            Around(
                "nn.MultiheadAttention({q}, {h}{bias}, kdim={k}, vdim={k}, batch_first=True)",
                "{module}({x}, memory, need_weights=False)[0]",
            ),
        ),
        "transformer": Around(
            "nn.TransformerEncoderLayer({inputs}, {heads}, {feed_forward}, 0.0{options}{bias}, batch_first=True)",
            "{module}({x}{calls})",
            options={"norm": "norm_first=True", "activation": 'activation="{0}"'},
            calls={"causal": f", src_mask={MASK}"},
            activates=True,
        ),
        "batch_norm": Around(
            "nn.BatchNorm1d({inputs}{options})",
            "{module}({x}.transpose(1, 2)).transpose(1, 2)",
            "{module}({x})",
            options={"scale": "affine=False"},
        ),
        "flatten": Around(applied="{x}.flatten(1)", vector="{x}"),
        "repeat_vector": Around(applied="{x}.unsqueeze(1).expand(-1, {times}, -1)"),
        "last": Around(applied="{x}[:, -1]", vector="{x}"),
    }
    separator = "."
    without_bias = ", bias=False"
    cells: ClassVar = {"rnn": "nn.RNN", "gru": "nn.GRU", "lstm": "nn.LSTM"}
    stacks = True
    parameter = "nn.Parameter(torch.{start}({sizes}){frozen})"
    matrix = "nn.Parameter(nn.init.xavier_uniform_(torch.empty({sizes})))"
    frozen = ", requires_grad=False"
    tie = "self.{module}.weight = self.{table}.weight"
    freeze = "self.{module}.requires_grad_(False)"
    own_class = "class {name}(nn.Module):"
    runner = RECURRENT
    external = EXTERNAL
    main = MAIN
    library = "torch"
    functions: ClassVar = {
        "softmax": ("torch.softmax", "dim=-1"),
        "gelu": ("nn.functional.gelu",),
        "normalise": ("normalised",),
        "hard_sigmoid": ("nn.functional.hardsigmoid",),
        "hard_sigmoid_0.2": ("hard_sigmoid_0_2",),
    }
    helpers: ClassVar = {"normalise": NORMALISED, "hard_sigmoid_0.2": HARD_SIGMOID}
    half = "x.chunk(2, dim=-1)[self.second]"
    join = "torch.cat"
    axis = "dim"
    one_step = "{x}.unsqueeze(1)"
    zeros = "{x}.new_zeros(len({x}), {steps}, {width})"
    looped = "x, {module}_end = self.{module}({x}, {module}_end)"

    def recurrent(self, module: Module, _: int) -> str:
        layer = module.recurrent
        assert layer
        if module.cell:
            return f"Recurrent({', '.join(self.own_cell(module, way) for way in range(layer.directions))})"
        arguments = ", ".join([str(module.inputs), str(layer.units), *_options(layer, module)])
        return f"{self.cells[layer.kind]}({arguments})"

    def state_shape(self, module: Module, width: int) -> str:
        return f"({(1 + module.two_way) * len(module.places)}, 1, {width})"

    def cell(self, cell: OwnCell) -> Iterator[str]:
        lines, states, output = self.step_of(cell)
        letters = [letter for letter, _ in cell.states]
        yield f"def __init__(self, {', '.join(arguments_of(cell))}) -> None:"
        yield "    super().__init__()"
        if cell.half:
            yield "    self.second = second"
        yield f"    self.widths = {tuple_of([width_name(width) for _, width in cell.states])}"
        for tensor in cell.weights:
            yield f"    self.{tensor.name} = nn.Parameter(torch.empty({', '.join(shape_in(tensor))}))"
        yield "    bound = units**-0.5"
        yield "    for parameter in self.parameters():"
        yield "        nn.init.uniform_(parameter, -bound, bound)"
        yield from (f"    nn.init.ones_(self.{tensor.name})" for tensor in cell.weights if is_gain(tensor))
        yield ""
        yield "def forward("
        yield "    self, x: torch.Tensor, state: tuple[torch.Tensor, ...]"
        yield ") -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:"
        yield f"    {', '.join(letters) if len(letters) > 1 else tuple_of(letters)} = state"
        yield from (f"    {line}" for line in lines)
        yield f"    return {output}, {tuple_of(states)}"

    def final_state(self, start: Module, name: str, letter: str) -> str:
        return f"torch.cat([*{name}_{letter}], dim=-1)" if start.two_way else f"{name}_{letter}[0]"

    def start_from(self, module: Module, start: Module) -> Iterator[str]:
        states = [f"{self.identifier(start)}_{letter}" for letter, _ in module.states]
        yield from _carried(states, start, module)
        yield f"{self.identifier(module)}_end = {_state(module, states)}"

    def first_state(self, module: Module) -> str:
        several = len(module.states) > 1 or module.cell
        return f"{self.identifier(module)}_end{'[0]' if several else ''}[-1]"

    def learned(self, module: Module, x: str, name: str) -> Iterator[str]:
        yield from self._initial(module, x)
        yield f"{name} = {_state(module, [f'{letter}_0' for letter, _ in module.states])}"

    def _initial(self, module: Module, x: str) -> Iterator[str]:
        for letter, code in self.dense_states(module):
            parts = f"torch.stack({code}.chunk(2, dim=-1))" if module.two_way else f"{code}.unsqueeze(0)"
            yield f"{letter}_0 = {parts}"
        for letter, _ in module.learned:
            yield f"{letter}_0 = self.{self.identifier(module)}_{letter}_0.expand(-1, len({x}), -1).contiguous()"

    def recur(self, module: Module, x: str) -> Iterator[str]:
        name, letters = self.identifier(module), [letter for letter, _ in module.states]
        starts: list[str] = []
        if module.starts_itself:
            starts = [f"{letter}_0" for letter in letters]
            yield from self._initial(module, x)
        elif module.start:
            starts = [f"{self.identifier(module.start)}_{letter}" for letter in letters]
            yield from _carried(starts, module.start, module)
        start = f", {_state(module, starts)}" if starts else ""
        ends = _state(module, [f"{name}_{letter}" for letter in letters]) if module.kept else "_"
        merged = module.two_way and (module.last or module.layer.values()["merge"] not in (None, "concat"))
        note = "" if merged or module.last else shape_of(module.shape)
        yield with_comment(f"{'_' if module.unread else 'x'}, {ends} = self.{name}({x}{start})", note)
        if module.unread:
            return
        if merged:
            yield "forward, backward = x.chunk(2, dim=-1)"
        if merged or module.last:
            yield from self.merged(module)
