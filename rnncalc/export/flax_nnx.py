"""Flax nnx: one nnx.Module that holds nnx.RNN of nnx's cells, nnx.Linear and nnx.Embed; all else as linen has it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rnncalc.export import flax_linen
from rnncalc.export.program import OwnCell, is_gain
from rnncalc.export.writer import Around, Writer, arguments_of, shape_in, tuple_of, width_name

EXTERNAL = '''class External(nnx.Module):
    """Replaces a part described elsewhere: its parameters, and zeros as output."""

    def __init__(self, params: int, outputs: int) -> None:
        self.external = nnx.Param(jnp.zeros((params,)))
        self.outputs = outputs

    def __call__(self, x: jax.Array) -> jax.Array:
        return jnp.zeros((*x.shape[:-1], self.outputs))
'''
MAIN = """def main() -> None:
    model = {name}(rngs=nnx.Rngs(0))
    total = 0
    for path, param in nnx.to_flat_state(nnx.state(model, nnx.Param)):
        name = "/".join(map(str, path))
        print(f"{{name:40}}{{param.shape!s:>20}}{{param.size:>16,}}")
        total += param.size
    print(f"{{'total':40}}{{total:>36,}}")
"""


def cell(own: OwnCell, writer: Writer) -> Iterator[str]:
    """Yield the body of the class of a cell that nnx lacks."""
    yield f"def __init__({', '.join(['self', *arguments_of(own), '*', 'rngs: nnx.Rngs'])}) -> None:"
    widths = [width_name(width) for _, width in own.states]
    yield from (f"    self.{width} = {width}" for width in dict.fromkeys(widths))
    if own.half:
        yield "    self.second = second"
    if any(len(tensor.axes) > 1 for tensor in own.weights):
        yield "    matrix = nnx.initializers.lecun_normal()"
    for tensor in own.weights:
        shape = tuple_of(shape_in(tensor))
        made = f"jnp.{'ones' if is_gain(tensor) else 'zeros'}({shape})"
        made = f"matrix(rngs.params(), {shape})" if len(tensor.axes) > 1 else made
        yield f"    self.{tensor.name} = nnx.Param({made})"
    yield from ("", *flax_linen.step(own, writer), "")
    yield "def initialize_carry(self, input_shape, rngs=None, carry_init=None):"
    yield from flax_linen.initial(own)


SPELLING = flax_linen.SPELLING.replace(
    imports=("import jax", "import jax.numpy as jnp", "from flax import nnx"),
    base="nnx.Module",
    setup=("def __init__(self, *, rngs: nnx.Rngs) -> None:",),
    in_training=("", ""),
    layers={
        "dense": "nnx.Linear({inputs}, {units}{bias}, rngs=rngs)",
        "embedding": "nnx.Embed({inputs}, {units}, rngs=rngs)",
        "dropout": "nnx.Dropout({rate}, rngs=rngs)",
        "external": "External({params}, {outputs})",
    },
    transforms={
        **flax_linen.FUNCTIONS,
        "conv1d": Around(
            'nnx.Conv({inputs}, {filters}, ({kernel},), padding="{padding}"{options}{bias}, rngs=rngs)',
            options=flax_linen.CONVOLVED,
            words=flax_linen.PADDINGS,
        ),
        "pool1d": Around(applied="nnx.{mode}_pool({x}, ({window},), ({stride},))", words={"average": "avg"}),
        "layer_norm": Around("nnx.LayerNorm({inputs}{options}, rngs=rngs)", options=flax_linen.SCALED),
        "batch_norm": Around("nnx.BatchNorm({inputs}{options}, rngs=rngs)", options=flax_linen.SCALED),
    },
    cells={kind: name for kind, name in flax_linen.SPELLING.cells.items() if kind != "mgu"},
    recurrent=partial(flax_linen.recurrent, api="nnx"),
    parameter="nnx.Param(jnp.zeros({shape}))",
    own_class="class {name}(nnx.RNNCellBase):",
    cell=cell,
    external=EXTERNAL,
    main=MAIN,
    functions=flax_linen.STANDARDISED | {name: (f"nnx.{name}",) for name in ("tanh", "relu", "sigmoid", "softmax")},
    number="{parameter}[...]",
)
