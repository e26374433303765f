"""Flax nnx: one nnx.Module that holds nnx.RNN of nnx's cells, nnx.Linear and nnx.Embed."""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Dropout, Embedding, External
from rnncalc.questions.program import Module, OwnCell, Program
from rnncalc.sources.flax_flow import CELLS, frozen_lines, initial, moved, options_of, spelling, step_lines, ways_of
from rnncalc.sources.layout import Call, Code, statement
from rnncalc.sources.names import docstring
from rnncalc.sources.written import Writing, arguments_of, call_of, dims, second, ties, title_of, width_name, widths_of

EXTERNAL = '''

class External(nnx.Module):
    """Stands in for a part described elsewhere: so many parameters, and zeros."""

    def __init__(self, params: int, outputs: int) -> None:
        self.external = nnx.Param(jnp.zeros((params,)))
        self.outputs = outputs

    def __call__(self, x: jax.Array) -> jax.Array:
        return jnp.zeros((*x.shape[:-1], self.outputs))
'''

MAIN = """

def main() -> None:
    model = {name}(rngs=nnx.Rngs(0))
    total = 0
    for path, param in nnx.to_flat_state(nnx.state(model, nnx.Param)):
        name = "/".join(map(str, path))
        print(f"{{name:40}}{{param.shape!s:>20}}{{param.size:>16,}}")
        total += param.size
    print(f"{{'total':40}}{{total:>36,}}")


if __name__ == "__main__":
    main()
"""
RNGS = "rngs=rngs"


def write(program: Program) -> str:
    """Return the source of a program."""
    writing = Writing(program, {"External"})
    lines = [*writing.classes(_cell, EXTERNAL)]
    lines += ["", "", f"class {writing.name}(nnx.Module):", *docstring(*writing.paragraphs()), ""]
    lines += ["    def __init__(self, *, rngs: nnx.Rngs) -> None:"]
    for module in program.modules:
        lines += _made(module, writing)
    arguments = [each.typed("jax.Array") for each in writing.arguments()]
    lines += ["", *statement(Call("def __call__", ("self", *arguments), after=" -> jax.Array:"), depth=1)]
    for move, reads in writing.flows():
        lines += moved(move, reads, writing, "nnx")
    body = writing.ended(lines, "jnp.concatenate(outputs, axis=1)")
    imports = ["import jax", "import jax.numpy as jnp", "from flax import nnx", *frozen_lines(writing)]
    if not any("jnp." in line for line in body):
        imports.remove("import jax.numpy as jnp")
    return "\n".join([*imports, *body]) + "\n" + MAIN.format(name=writing.name)


def _cell(cell: OwnCell, name: str) -> Iterator[str]:
    """Yield the class of a cell that nnx lacks."""
    widths = [width_name(width) for _, width in cell.states]
    yield f"class {name}(nnx.RNNCellBase):"
    yield from docstring(title_of(cell))
    yield ""
    arguments = (*arguments_of(cell, map(width_name, widths_of(cell))), "*", "rngs: nnx.Rngs")
    yield from statement(Call("def __init__", ("self", *arguments), after=" -> None:"), depth=1)
    yield from (f"        self.{width} = {width}" for width in dict.fromkeys(widths))
    if cell.half:
        yield "        self.second = second"
    if any(len(tensor.axes) > 1 for tensor in cell.weights):
        yield "        matrix = nnx.initializers.lecun_normal()"
    for number, tensor in enumerate(cell.weights):
        shape = dims(cell, number)
        made = f"matrix(rngs.params(), ({', '.join(shape)}))" if len(shape) > 1 else f"jnp.zeros(({shape[0]},))"
        yield from statement(Call("nnx.Param", (made,)), before=f"self.{tensor.name} = ", depth=2)
    yield ""
    yield "    def __call__(self, carry, x: jax.Array):"
    yield from step_lines(cell, spelling("nnx"))
    yield ""
    yield "    def initialize_carry(self, input_shape, rngs=None, carry_init=None):"
    zeros = [f"jnp.zeros((*input_shape[:-1], self.{width}))" for width in widths]
    yield from statement(initial(zeros), before="return ", depth=2)
    yield ""
    yield "    @property"
    yield "    def num_feature_axes(self) -> int:"
    yield "        return 1"


def _made(module: Module, writing: Writing) -> Iterator[str]:
    """Yield the lines that make a module and what belongs to it."""
    layer, name, note = module.layer, writing.of(module), writing.note(module)
    match layer:
        case Cell():
            for number, own in enumerate(ways_of(layer, name)):
                way: tuple[Code, ...] = ("reverse=True", "keep_order=True") if number else ()
                code = Call("nnx.RNN", (_cell_of(module, layer, writing, number), *way))
                yield from statement(code, before=f"self.{own} = ", depth=2, note="" if number else note)
            for letter, width in module.states if layer.learned_state else ():
                shape = f"(2, {width})" if layer.bidirectional else f"({width},)"
                state = Call("nnx.Param", (f"jnp.zeros({shape})",))
                yield from statement(state, before=f"self.{name}_{letter}_0 = ", depth=2)
        case Dense() if ties(module):
            if module.params:
                zeros = Call("nnx.Param", (f"jnp.zeros(({layer.units},))",))
                yield from statement(zeros, before=f"self.{name}_bias = ", depth=2, note=note)
        case _:
            yield from statement(_module(module), before=f"self.{name} = ", depth=2, note=note)


def _cell_of(module: Module, layer: Cell, writing: Writing, direction: int) -> Code:
    if module.cell is None:
        sizes: tuple[str, ...] = (str(module.inputs), str(layer.units), *options_of(layer, "nnx"))
        return Call(f"nnx.{CELLS[layer.kind]}", (*sizes, RNGS))
    sizes = tuple(str(module.places[0].sizes[letter]) for letter in widths_of(module.cell))
    return Call(writing.cells[module.cell], (*sizes, *second(module.cell, direction), RNGS))


def _module(module: Module) -> Code:
    match layer := module.layer:
        case Dense():
            bias = None if layer.bias else "use_bias=False"
            return call_of("nnx.Linear", str(module.inputs), str(layer.units), bias, RNGS)
        case Embedding():
            return Call("nnx.Embed", (str(module.inputs), str(layer.units), RNGS))
        case Dropout():
            return Call("nnx.Dropout", (str(layer.rate), RNGS))
        case External():
            return Call("External", (str(layer.params), str(module.outputs)))
        case _:
            raise TypeError(layer)
