"""Flax linen: one nn.Module whose setup() makes nn.RNN of linen's cells, nn.Dense and nn.Embed."""

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

class External(nn.Module):
    """Stands in for a part described elsewhere: so many parameters, and zeros."""

    number: int
    outputs: int

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        self.param("external", nn.initializers.zeros, (self.number,))
        return jnp.zeros((*x.shape[:-1], self.outputs))
'''

MAIN = """

def main() -> None:
    model = {name}()
{variables}
    total = 0
    for path, array in jax.tree.leaves_with_path(variables{params}):
        name = "/".join(key.key for key in path)
        print(f"{{name:40}}{{array.shape!s:>20}}{{array.size:>16,}}")
        total += array.size
    print(f"{{'total':40}}{{total:>36,}}")


if __name__ == "__main__":
    main()
"""


def write(program: Program) -> str:
    """Return the source of a program."""
    writing = Writing(program, {"External"})
    lines = [*writing.classes(_cell, EXTERNAL)]
    lines += ["", "", f"class {writing.name}(nn.Module):", *docstring(*writing.paragraphs()), ""]
    lines += ["    def setup(self) -> None:"]
    for module in program.modules:
        lines += _made(module, writing)
    arguments = [each.typed("jax.Array") for each in writing.arguments()]
    if any(isinstance(module.layer, Dropout) for module in program.modules):
        arguments += ["*", "train: bool = False"]
    lines += ["", *statement(Call("def __call__", ("self", *arguments), after=" -> jax.Array:"), depth=1)]
    for move, reads in writing.flows():
        lines += moved(move, reads, writing, "nn")
    sample = writing.sample("jnp.zeros({})", "jnp.zeros({}, jnp.int32)")
    variables = statement(Call("model.init", ("jax.random.key(0)", *sample)), before="variables = ", depth=1)
    params = '["params"]' if program.params else '.get("params", {})'
    main = MAIN.format(name=writing.name, variables="\n".join(variables), params=params)
    imports = ["import jax", "import jax.numpy as jnp", "from flax import linen as nn", *frozen_lines(writing)]
    return "\n".join([*imports, *writing.ended(lines, "jnp.concatenate(outputs, axis=1)")]) + "\n" + main


def _cell(cell: OwnCell, name: str) -> Iterator[str]:
    """Yield the class of a cell that linen lacks."""
    widths = [width for _, width in cell.states]
    yield f"class {name}(nn.RNNCellBase):"
    yield from docstring(title_of(cell))
    yield ""
    yield from (f"    {argument}" for argument in arguments_of(cell, map(width_name, widths_of(cell))))
    yield ""
    yield "    def setup(self) -> None:"
    if any(len(tensor.axes) > 1 for tensor in cell.weights):
        yield "        matrix = nn.initializers.lecun_normal()"
    if any(len(tensor.axes) == 1 for tensor in cell.weights):
        yield "        vector = nn.initializers.zeros"
    for number, tensor in enumerate(cell.weights):
        shape = [size if size.isdigit() else f"self.{size}" for size in dims(cell, number)]
        kind, sizes = ("matrix", ", ".join(shape)) if len(shape) > 1 else ("vector", f"{shape[0]},")
        yield from statement(
            Call("self.param", (f'"{tensor.name}"', kind, f"({sizes})")), before=f"self.{tensor.name} = ", depth=2
        )
    yield ""
    yield "    def __call__(self, carry, x: jax.Array):"
    yield from step_lines(cell, spelling("nn"))
    yield ""
    yield "    @nn.nowrap"
    yield "    def initialize_carry(self, rng: jax.Array, input_shape: tuple[int, ...]):"
    zeros = [f"jnp.zeros((*input_shape[:-1], self.{width_name(width)}))" for width in widths]
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
                code = Call("nn.RNN", (_cell_of(module, layer, writing, number), *way))
                yield from statement(code, before=f"self.{own} = ", depth=2, note="" if number else note)
            for letter, width in module.states if layer.learned_state else ():
                shape = f"(2, {width})" if layer.bidirectional else f"({width},)"
                state = Call("self.param", (f'"{name}_{letter}_0"', "nn.initializers.zeros", shape))
                yield from statement(state, before=f"self.{name}_{letter}_0 = ", depth=2)
        case Dense() if ties(module):
            if module.params:
                bias = Call("self.param", (f'"{name}_bias"', "nn.initializers.zeros", f"({layer.units},)"))
                yield from statement(bias, before=f"self.{name}_bias = ", depth=2, note=note)
        case _:
            yield from statement(_module(module), before=f"self.{name} = ", depth=2, note=note)


def _cell_of(module: Module, layer: Cell, writing: Writing, direction: int) -> Code:
    if module.cell is None:
        return Call(f"nn.{CELLS[layer.kind]}", (str(layer.units), *options_of(layer, "nn")))
    sizes = tuple(str(module.places[0].sizes[letter]) for letter in widths_of(module.cell))
    return Call(writing.cells[module.cell], (*sizes, *second(module.cell, direction)))


def _module(module: Module) -> Code:
    match layer := module.layer:
        case Dense():
            return call_of("nn.Dense", str(layer.units), None if layer.bias else "use_bias=False")
        case Embedding():
            return Call("nn.Embed", (str(module.inputs), str(layer.units)))
        case Dropout():
            return Call("nn.Dropout", (str(layer.rate),))
        case External():
            return Call("External", (str(layer.params), str(module.outputs)))
        case _:
            raise TypeError(layer)
