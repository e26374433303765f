"""Keras: one keras.Model that holds layers.SimpleRNN, GRU, LSTM, Dense and Embedding; Bidirectional runs two ways.

A cell that Keras lacks is a layer of its own, which layers.RNN runs as any other.
"""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Dropout, Embedding, External
from rnncalc.questions.program import Module, ModuleCall, OwnCell, Program
from rnncalc.sources.expressions import step_of
from rnncalc.sources.keras_flow import SPELLING, moved
from rnncalc.sources.layout import Call, Code, statement
from rnncalc.sources.names import docstring
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

LAYERS = {"rnn": "layers.SimpleRNN", "gru": "layers.GRU", "lstm": "layers.LSTM"}

EXTERNAL = '''

class External(layers.Layer):
    """Stands in for a part described elsewhere: so many parameters, and zeros."""

    def __init__(self, number: int, outputs: int, **options) -> None:
        super().__init__(**options)
        self.number = number
        self.outputs = outputs

    def build(self, input_shape) -> None:
        self.external = self.add_weight((self.number,), name="external")

    def call(self, x):
        return ops.repeat(ops.zeros_like(x[..., :1]), self.outputs, axis=-1)
'''

MAIN = """

def main() -> None:
    model = {name}()
{built}
    for weight in model.weights:
        shape = tuple(weight.shape)
        print(f"{{weight.path:60}}{{shape!s:>20}}{{math.prod(shape):>16,}}")
    print(f"{{'total':60}}{{model.count_params():>36,}}")


if __name__ == "__main__":
    main()
"""


def write(program: Program) -> str:
    """Return the source of a program."""
    writing = Writing(program, {"External"}, reserved={"output"})
    lines = ["import math", "", "import keras", "from keras import layers, ops"]
    lines += writing.classes(_cell, EXTERNAL)
    lines += ["", "", f"class {writing.name}(keras.Model):", *docstring(*writing.paragraphs()), ""]
    lines += ["    def __init__(self) -> None:", "        super().__init__()"]
    ways = {move.module.name: move for move in program.moves if isinstance(move, ModuleCall)}
    for module in program.modules:
        lines += _made(module, ways[module.name], writing)
    arguments = [each.name if each.shape is not None else each.typed("") for each in writing.arguments()]
    lines += ["", *statement(Call("def call", ("self", *arguments), after=":"), depth=1)]
    for move, reads in writing.flows():
        lines += moved(move, reads, writing)
    sample = writing.sample("ops.zeros({})", 'ops.zeros({}, "int32")')
    built = "\n".join(statement(Call("model", sample), depth=1))
    return (
        "\n".join(writing.ended(lines, "ops.concatenate(outputs, axis=1)"))
        + "\n"
        + MAIN.format(name=writing.name, built=built)
    )


def _cell(cell: OwnCell, name: str) -> Iterator[str]:
    """Yield the class of a cell that Keras lacks."""
    step = step_of(cell, SPELLING)
    letters = [letter for letter, _ in cell.states]
    widths = [width_name(width) for width in widths_of(cell) if width != "m"]
    sizes = dict(zip(widths_of(cell), map(width_name, widths_of(cell)), strict=True))
    yield "@keras.saving.register_keras_serializable()"
    yield f"class {name}(layers.Layer):"
    yield from docstring(title_of(cell))
    yield ""
    yield f"    def __init__(self, {', '.join(arguments_of(cell, widths))}, **options) -> None:"
    yield "        super().__init__(**options)"
    if cell.half:
        yield "        self.second = second"
    yield from (f"        self.{width} = {width}" for width in widths)
    yield f"        self.state_size = [{', '.join(sizes[width] for _, width in cell.states)}]"
    yield f"        self.output_size = {sizes[cell.output]}"
    yield ""
    yield "    def build(self, input_shape) -> None:"
    for number, tensor in enumerate(cell.weights):
        shape = [_size(size) for size in dims(cell, number)]
        code = Call("self.add_weight", (f"({', '.join(shape)}{',' * (len(shape) == 1)})", f'name="{tensor.name}"'))
        yield from statement(code, before=f"self.{tensor.name} = ", depth=2)
    yield ""
    yield "    def call(self, x, states):"
    yield f"        {f'({letters[0]},)' if len(letters) == 1 else ', '.join(letters)} = states"
    for line in step.lines:
        yield from statement(line.code, before=f"{line.name} = ", depth=2)
    yield f"        return {step.output}, [{', '.join(step.states)}]"


def _size(width: str) -> str:
    if width.isdigit():
        return width
    return "input_shape[-1]" if width == width_name("m") else f"self.{width}"


def _made(module: Module, move: ModuleCall, writing: Writing) -> Iterator[str]:
    """Yield the lines that make a layer and what belongs to it."""
    layer, name, note = module.layer, writing.of(module), writing.note(module)
    if not ties(module):
        yield from statement(_layer(module, move, writing), before=f"self.{name} = ", depth=2, note=note)
    elif module.params:
        yield from _weight(f"{name}_bias", f"({module.outputs},)", module, note)
    if freezing(module) and not ties(module):
        yield f"        self.{name}.trainable = False"
    if isinstance(layer, Cell) and layer.learned_state:
        for letter, width in module.states:
            shape = f"(2, {width})" if layer.bidirectional else f"({width},)"
            yield from _weight(f"{name}_{letter}_0", shape, module)


def _weight(name: str, shape: str, module: Module, note: str = "") -> Iterator[str]:
    """Yield the lines that make a weight of the model's own."""
    trained = "trainable=False" if module.layer.frozen else None
    code = call_of("self.add_weight", shape, 'initializer="zeros"', trained, f'name="{name}"')
    yield from statement(code, before=f"self.{name} = ", depth=2, note=note)


def _layer(module: Module, move: ModuleCall, writing: Writing) -> Code:
    name = f'name="{writing.of(module)}"'
    match layer := module.layer:
        case Cell():
            return _recurrent(module, move, layer, writing, name)
        case Dense():
            activation = None if layer.activation == "linear" else f'activation="{layer.activation}"'
            bias = None if layer.bias else "use_bias=False"
            return call_of("layers.Dense", str(layer.units), activation, bias, name)
        case Embedding():
            return Call("layers.Embedding", (str(module.inputs), str(layer.units), name))
        case Dropout():
            return Call("layers.Dropout", (str(layer.rate), name))
        case External():
            return Call("External", (str(layer.params), str(module.outputs), name))
        case _:
            raise TypeError(layer)


def _recurrent(module: Module, move: ModuleCall, layer: Cell, writing: Writing, name: str) -> Code:
    given: list[Code] = []
    cells: list[Code] = []
    if module.cell:
        sizes = tuple(str(module.places[0].sizes[letter]) for letter in widths_of(module.cell) if letter != "m")
        head = "layers.RNN"
        cells = [Call(writing.cells[module.cell], (*sizes, *second(module.cell, way))) for way in (0, 1)]
    else:
        head = LAYERS[layer.kind]
        cells = [str(layer.units)] * 2
        given += _options(layer)
    given += [] if move.last else ["return_sequences=True"]
    given += ["return_state=True"] if move.kept or move.looped else []
    if not layer.bidirectional:
        return Call(head, (cells[0], *given, name))
    merge = None if layer.merge in (None, "concat") else f'merge_mode="{layer.merge}"'
    back = None
    if module.cell and module.cell.half:  # else it is a copy of the forward layer
        back = Call("backward_layer=layers.RNN", (cells[1], *given, "go_backwards=True", 'name="backward_rnn"'))
    return call_of("layers.Bidirectional", Call(head, (cells[0], *given)), back, merge, name)


def _options(layer: Cell) -> Iterator[str]:
    options = layer.values()
    if options["activation"] != "tanh":
        yield f'activation="{options["activation"]}"'
    if not layer.bias:
        yield "use_bias=False"
    if options.get("reset_after") is False:
        yield "reset_after=False"
