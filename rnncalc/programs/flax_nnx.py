"""Flax nnx: one nnx.Module that holds nnx.RNN of nnx's cells, nnx.Linear and nnx.Embed; all else as linen has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rnncalc.layers.layer import CROSS
from rnncalc.programs.flax_linen import FUNCTIONS, POOLED, SCALED, FlaxLinen, functions, initial
from rnncalc.programs.program import OwnCell, is_gain
from rnncalc.programs.writer import Around, arguments_of, shape_in, tuple_of, width_name

EXTERNAL = '''class External(nnx.Module):
    """Replaces a part described elsewhere: its parameters, and zeros as output."""

    def __init__(self, outputs: int, shapes: dict[str, tuple[int, ...]]) -> None:
        self.outputs = outputs
        for name, shape in shapes.items():
            setattr(self, name, nnx.Param(jnp.zeros(shape)))

    def __call__(self, x: jax.Array) -> jax.Array:
        return jnp.zeros((*x.shape[:-1], self.outputs))
'''
CROSS_ATTENTION = (
    "nnx.MultiHeadAttention({h}, {q}, qkv_features={hd}, in_kv_features={k}{bias}, decode=False, rngs=rngs)"
)
MAIN = """def main() -> None:
    model = {name}(rngs=nnx.Rngs(0))
    total = 0
    for path, param in nnx.to_flat_state(nnx.state(model, nnx.Param)):
        name = "/".join(map(str, path))
        print(f"{{name:40}}{{param.shape!s:>20}}{{param.size:>16,}}")
        total += param.size
    print(f"{{'total':40}}{{total:>36,}}")
"""


class FlaxNNX(FlaxLinen):
    """Writes a program for Flax nnx."""

    api = "nnx"
    imports = ("import jax", "import jax.numpy as jnp", "from flax import nnx")
    base = "nnx.Module"
    setup = ("def __init__(self, *, rngs: nnx.Rngs) -> None:",)
    in_training = ("", "")
    made_with = "rngs=rngs"
    layers: ClassVar = {
        "dense": "nnx.Linear({inputs}, {units}{bias}, rngs=rngs)",
        "embedding": "nnx.Embed({inputs}, {units}, rngs=rngs)",
        "dropout": "nnx.Dropout({rate}, rngs=rngs)",
        "external": "External({outputs}, {shapes})",
    }
    transforms: ClassVar = {
        **FUNCTIONS,
        "conv1d": FlaxLinen.transforms["conv1d"].replace(
            module='nnx.Conv({inputs}, {filters}, ({kernel},), padding="{padding}"{options}{bias}, rngs=rngs)'
        ),
        "pool1d": POOLED.replace(applied=POOLED.applied.replace("nn.", "nnx.")),
        "multi_head_attention": Around(
            "nnx.MultiHeadAttention({heads}, {inputs}, qkv_features={hk}{bias}, decode=False, rngs=rngs)",
            "{module}({x}{calls})",
            calls={"causal": ", mask=nnx.make_causal_mask({x}[..., 0])"},
        ),
        **dict.fromkeys(CROSS, Around(CROSS_ATTENTION)),
        "layer_norm": Around("nnx.LayerNorm({inputs}{options}, rngs=rngs)", options=SCALED),
        "batch_norm": Around("nnx.BatchNorm({inputs}{options}, rngs=rngs)", options=SCALED),
    }
    cells: ClassVar = {kind: name for kind, name in FlaxLinen.cells.items() if kind != "mgu"}
    parameter = "nnx.Param(jnp.{start}({shape}))"
    matrix = "nnx.Param(nnx.initializers.lecun_normal()(rngs.params(), {shape}))"
    own_class = "class {name}(nnx.RNNCellBase):"
    external = EXTERNAL
    main = MAIN
    functions: ClassVar = functions("nnx")
    number = "{parameter}[...]"

    def cell(self, cell: OwnCell) -> Iterator[str]:
        yield f"def __init__({', '.join(['self', *arguments_of(cell), '*', 'rngs: nnx.Rngs'])}) -> None:"
        widths = [width_name(width) for _, width in cell.states]
        yield from (f"    self.{width} = {width}" for width in dict.fromkeys(widths))
        if cell.half:
            yield "    self.second = second"
        if any(len(tensor.axes) > 1 for tensor in cell.weights):
            yield "    matrix = nnx.initializers.lecun_normal()"
        for tensor in cell.weights:
            shape = tuple_of(shape_in(tensor))
            array = f"jnp.{'ones' if is_gain(tensor) else 'zeros'}({shape})"
            array = f"matrix(rngs.params(), {shape})" if len(tensor.axes) > 1 else array
            yield f"    self.{tensor.name} = nnx.Param({array})"
        yield from ("", *self._step(cell), "")
        yield "def initialize_carry(self, input_shape, rngs=None, carry_init=None):"
        yield from initial(cell)
