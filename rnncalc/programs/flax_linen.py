"""Flax linen: one nn.Module whose setup() makes nn.RNN of linen's cells, nn.Dense and nn.Embed.

Each direction is an nn.RNN of its own, so that its last output and its carry can be taken. A carry has the states the
last one first, as an LSTM's (c, h).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from rnncalc.layers.layer import CROSS, External
from rnncalc.programs.code import quoted, tensors_of, with_comment
from rnncalc.programs.program import Module, OwnCell, is_gain
from rnncalc.programs.writer import Around, Writer, arguments_of, shape_in, shape_of, tuple_of, width_name

EXTERNAL = '''class External(nn.Module):
    """Replaces a part described elsewhere: its parameters, and zeros as output."""

    outputs: int
    shapes: dict[str, tuple[int, ...]]

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        for name, shape in self.shapes.items():
            self.param(name, nn.initializers.zeros, shape)
        return jnp.zeros((*x.shape[:-1], self.outputs))
'''
MAIN = """def main() -> None:
    model = {name}()
    variables = model.init(jax.random.key(0), {sample})
    total = 0
    for path, array in jax.tree.leaves_with_path(variables{params}):
        name = "/".join(key.key for key in path)
        print(f"{{name:40}}{{array.shape!s:>20}}{{array.size:>16,}}")
        total += array.size
    print(f"{{'total':40}}{{total:>36,}}")
"""


def carry(names: Sequence[str]) -> str:
    """Return states as a carry: one by itself, or several, the last first."""
    return names[0] if len(names) == 1 else f"({', '.join(reversed(names))})"


def initial(cell: OwnCell) -> Iterator[str]:
    """Yield the end of a cell: its carry of zeros, and how many axes of features it has."""
    zeros = [f"jnp.zeros((*input_shape[:-1], self.{width_name(width)}))" for _, width in cell.states]
    yield f"    return {carry(zeros)}"
    yield from ("", "@property", "def num_feature_axes(self) -> int:", "    return 1")


def _carried(end: str, gives: bool, takes: bool) -> Iterator[str]:
    """Yield how the encoder's carry becomes a decoder's, if one of them alone is bidirectional."""
    if gives and not takes:
        concatenated = "lambda ahead, back: jnp.concatenate([ahead, back], axis=-1)"
        yield f"{end} = jax.tree.map({concatenated}, *{end})"
    elif takes and not gives:
        for number, way in enumerate(("ahead", "back")):
            yield f"{way} = jax.tree.map(lambda state: jnp.split(state, 2, axis=-1)[{number}], {end})"


HARD_SIGMOID = '''def hard_sigmoid_0_2(x: jax.Array) -> jax.Array:
    """Return x/5 + 1/2, cut at 0 and 1."""
    return jnp.clip(x / 5 + 0.5, 0, 1)
'''

POOLED = Around(
    applied="nn.{mode}_pool({x}, ({window},), ({stride},){padding})",
    words={"average": "avg", "valid": "", "same": ', padding="SAME"'},
)
PADDINGS = {"valid": "VALID", "same": "SAME", "causal": "CAUSAL"}
CONVOLVED = {"stride": "strides={0}", "dilation": "kernel_dilation={0}", "groups": "feature_group_count={0}"}
SCALED = {"bias": "use_bias=False", "scale": "use_scale=False", "center": "use_bias=False"}

FUNCTIONS = {
    "flatten": Around(applied="{x}.reshape(len({x}), -1)", vector="{x}"),
    "repeat_vector": Around(applied="jnp.repeat({x}[:, None], {times}, axis=1)"),
    "last": Around(applied="{x}[:, -1]", vector="{x}"),
}
"""The layers around the cells that are no modules."""


def functions(api: str) -> dict[str, tuple[str, ...]]:
    """Return the functions of a module of Flax, with their further arguments."""
    named = {name: (f"{api}.{name}",) for name in ("tanh", "relu", "sigmoid", "softmax", "hard_sigmoid")}
    named["hard_sigmoid_0.2"] = ("hard_sigmoid_0_2",)
    return {**named, "gelu": (f"{api}.gelu", "approximate=False"), "normalise": ("jax.nn.standardize", "epsilon=1e-3")}


class FlaxLinen(Writer):
    """Writes a program for Flax linen."""

    api = "nn"
    imports = ("import jax", "import jax.numpy as jnp", "from flax import linen as nn")
    base = "nn.Module"
    setup = ("def setup(self) -> None:",)
    forward = "__call__"
    array = "jax.Array"
    returns = " -> jax.Array"
    in_training = ("*, train: bool = False", ", deterministic=not train")
    layers: ClassVar = {
        "dense": "nn.Dense({units}{bias})",
        "embedding": "nn.Embed({inputs}, {units})",
        "dropout": "nn.Dropout({rate})",
        "external": "External({outputs}, {shapes})",
    }
    transforms: ClassVar = {
        **FUNCTIONS,
        "conv1d": Around(
            'nn.Conv({filters}, ({kernel},), padding="{padding}"{options}{bias})', options=CONVOLVED, words=PADDINGS
        ),
        "pool1d": POOLED,
        "multi_head_attention": Around(
            "nn.MultiHeadDotProductAttention({heads}, qkv_features={hk}, out_features={inputs}{bias})",
            "{module}({x}{calls})",
            calls={"causal": ", mask=nn.make_causal_mask({x}[..., 0])"},
        ),
        **dict.fromkeys(
            CROSS, Around("nn.MultiHeadDotProductAttention({h}, qkv_features={hd}, out_features={q}{bias})")
        ),
        "layer_norm": Around("nn.LayerNorm({only})", options=SCALED),
        "batch_norm": Around(
            "nn.BatchNorm({only})", "{module}({x}, use_running_average=not train)", options=SCALED, trained=True
        ),
    }
    without_bias = ", use_bias=False"
    cells: ClassVar = {"rnn": "SimpleCell", "gru": "GRUCell", "lstm": "LSTMCell", "mgu": "MGUCell"}
    two_modules = True
    parameter = 'self.param("{name}", nn.initializers.{start}, {shape})'
    matrix = 'self.param("{name}", nn.initializers.lecun_normal(), {shape})'
    tied = "self.{table}.attend({x})"
    own_class = "class {name}(nn.RNNCellBase):"
    external = EXTERNAL
    main = MAIN
    samples = ("jnp.zeros({})", "jnp.zeros({}, jnp.int32)")
    library = "jnp"
    functions: ClassVar = functions("nn")
    helpers: ClassVar = {"hard_sigmoid_0.2": HARD_SIGMOID}
    half = "jnp.split(x, 2, axis=-1)[self.second]"
    join = "jnp.concatenate"
    axis = "axis"
    one_step = "{x}[:, None]"
    zeros = "jnp.zeros((len({x}), {steps}, {width}), {x}.dtype)"
    looped = "{module}_end, x = self.{module}({x}, initial_carry={module}_end, return_carry=True)"

    def saved_as(self, module: Module, tensor: str) -> str:
        if not module.recurrent:
            return super().saved_as(module, tensor)
        way, name = tensor.split("/", 1) if module.two_way else ("forward", tensor)
        return f"{self.names(module)[way == 'backward']}/cell/{name}"

    def constants(self) -> Iterator[str]:
        """Yield the constant with the names, from the top of the tree of parameters, of those that are not trained."""
        names = []
        for module in self.program.modules:
            if module.layer.frozen and module.params:
                names += [f"{self.identifier(module)}_bias"] if module.tied else self.names(module)
                names += [f"{self.identifier(module)}_{letter}_0" for letter, _ in module.learned]
            elif isinstance(module.layer, External):
                untrained = [name for name, _, trained in tensors_of(module.layer) if not trained]
                names += [f"{self.identifier(module)}/{name}" for name in untrained]
        if names:
            yield ""
            note = "not to be trained: hand the optimizer all parameters but these"
            yield with_comment(f"FROZEN = {{{', '.join(map(quoted, names))}}}", note)

    def recurrent(self, module: Module, direction: int) -> str:
        layer, api, rngs = module.recurrent, self.api, ["rngs=rngs"] * (self.api == "nnx")
        assert layer
        if module.cell:
            module_code = self.own_cell(module, direction, *rngs)
        else:
            sizes = [str(module.inputs)] * (api == "nnx") + [str(layer.units)]
            options = [*self._functions(layer.values())]
            module_code = f"{api}.{self.cells[layer.kind]}({', '.join([*sizes, *options, *rngs])})"
        return f"{api}.RNN({module_code}{', reverse=True, keep_order=True' if direction else ''})"

    def _values(self, module: Module) -> dict[str, object]:
        """Return the options of a layer; an average is not one of the zeros of a padding."""
        values = super()._values(module)
        if values.get("mode") == "avg" and values["padding"]:
            values["padding"] = f"{values['padding']}, count_include_pad=False"
        return values

    def _functions(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Yield the arguments of a cell for functions that are not its defaults."""
        words = (("activation", "activation_fn", "tanh"), ("recurrent_activation", "gate_fn", "sigmoid"))
        for option, argument, usual in words:
            if (name := options.get(option)) in (None, usual):
                continue
            function, *others = self.functions.get(name, ("",))
            alone = function and not others
            code = "x" if name == "linear" else self.called(name, ("x",))
            yield f"{argument}={function if alone else f'lambda x: {code}'}"

    def cell(self, cell: OwnCell) -> Iterator[str]:
        yield from (*arguments_of(cell), "")
        yield "def setup(self) -> None:"
        if any(len(tensor.axes) > 1 for tensor in cell.weights):
            yield "    matrix = nn.initializers.lecun_normal()"
        if any(len(tensor.axes) == 1 and not is_gain(tensor) for tensor in cell.weights):
            yield "    vector = nn.initializers.zeros"
        for tensor in cell.weights:
            kind = "nn.initializers.ones" if is_gain(tensor) else "matrix" if len(tensor.axes) > 1 else "vector"
            shape = tuple_of(shape_in(tensor, "self."))
            yield f'    self.{tensor.name} = self.param("{tensor.name}", {kind}, {shape})'
        yield from ("", *self._step(cell), "")
        yield "@nn.nowrap"
        yield "def initialize_carry(self, rng: jax.Array, input_shape: tuple[int, ...]):"
        yield from initial(cell)

    def _step(self, cell: OwnCell) -> Iterator[str]:
        """Yield the method that takes a carry and x."""
        lines, states, output = self.step_of(cell)
        yield "def __call__(self, carry, x: jax.Array):"
        yield f"    {carry([letter for letter, _ in cell.states]).strip('()')} = carry"
        yield from (f"    {line}" for line in lines)
        yield f"    return {carry(states)}, {output}"

    def final_state(self, start: Module, name: str, letter: str) -> str:
        letters = [each for each, _ in start.states]
        at = f"[{letters[::-1].index(letter)}]" if len(letters) > 1 else ""
        ways = f"[way{at} for way in {name}_end]" if at else f"{name}_end"
        return f"jnp.concatenate({ways}, axis=-1)" if start.two_way else f"{name}_end{at}"

    def start_from(self, module: Module, start: Module) -> Iterator[str]:
        end = f"{self.identifier(start)}_end"
        yield from _carried(end, start.two_way, False)
        yield f"{self.identifier(module)}_end = {end}"

    def first_state(self, module: Module) -> str:
        return f"{self.identifier(module)}_end{'[-1]' if len(module.states) > 1 else ''}"

    def learned(self, module: Module, x: str, name: str) -> Iterator[str]:
        yield from self._initial(module, x)
        yield f"{name} = {carry([f'{letter}_0' for letter, _ in module.states])}"

    def _initial(self, module: Module, x: str) -> Iterator[str]:
        for letter, code in self.dense_states(module):
            yield f"{letter}_0 = {f'jnp.split({code}, 2, axis=-1)' if module.two_way else code}"
        for letter, width in module.learned:
            state = f"self.{self.identifier(module)}_{letter}_0"
            state = f"{state}[:, None]" if module.two_way else self.number.format(parameter=state)
            yield f"{letter}_0 = jnp.broadcast_to({state}, ({'2, ' * module.two_way}len({x}), {width}))"

    def recur(self, module: Module, x: str) -> Iterator[str]:
        name, two = self.identifier(module), module.two_way
        starts: list[str] = []
        if module.starts_itself:
            yield from self._initial(module, x)
            ways = ["[0]", "[1]"] if two else [""]
            starts = [carry([f"{letter}_0{way}" for letter, _ in module.states]) for way in ways]
        elif module.start:
            end, gives = f"{self.identifier(module.start)}_end", module.start.two_way
            yield from _carried(end, gives, two)
            starts = [end] if not two else [f"{end}[0]", f"{end}[1]"] if gives else ["ahead", "back"]
        outputs, ends = (["forward", "backward"], ["ahead", "back"]) if two else (["x"], [f"{name}_end"])
        note = "" if two or module.last else shape_of(module.shape)
        for way, run in enumerate(self.names(module)):
            arguments = [x, *([f"initial_carry={starts[way]}"] if starts else []), *["return_carry=True"] * module.kept]
            output = "_" if module.unread else outputs[way]
            into = f"{ends[way]}, {output}" if module.kept else output
            yield with_comment(f"{into} = self.{run}({', '.join(arguments)})", note)
        if module.kept and two:
            yield f"{name}_end = ahead, back"
        if not module.unread:
            yield from self.merged(module)
