"""Equinox: the arrays of eqx.nn's GRUCell, LSTMCell, Linear and Embedding, as seen in equinox 0.13.8.

It has cells alone: users run one along a sequence with jax.lax.scan, and two for two directions. Their gates are MLX's.
"""

from rnncalc.conventions import mlx, rules

_MLX = mlx.CONVENTION
_ARRAYS = {
    "input": rules.Array("weight_ih", "gates m"),
    "recurrent": rules.Array("weight_hh", "gates reads"),
    "bias": rules.Array("bias", "gates"),
}

CONVENTION = _MLX.replace(
    name="equinox",
    title="Equinox",
    cells={
        "gru": mlx.CELLS["gru"].replace(**_ARRAYS, recurrent_bias=rules.Array("bias_n", "gates")),
        "lstm": mlx.CELLS["lstm"].replace(**_ARRAYS),
    },
    transforms={kind: arrays for kind, arrays in _MLX.transforms.items() if kind != "batch_norm"},
    returns=rules.Returns(
        sequence="BW",
        output="h_t",
        axes="BW",
        state="{}_t",
        note="At one step t, under jax.vmap: a GRUCell returns h_t, an LSTMCell the pair (h_t, c_t).",
    ),
)
