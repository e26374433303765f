"""PaddlePaddle: what `state_dict()` of paddle.nn's SimpleRNN, GRU, LSTM, Linear and Embedding holds, as in 3.3.1.

That has each array of a recurrent layer twice; the other name is its cell's, such as `0.cell.weight_ih`, which is the
only one of a projection.
"""

from rnncalc.conventions import pytorch, rules

_TORCH = pytorch.CONVENTION
_ONLY = {"bias": (True,)}
"""Without its attributes a bias is still there, as zeros that are not trained."""

CONVENTION = _TORCH.replace(
    name="paddle",
    title="PaddlePaddle",
    why="its layers are cuDNN's, whose kernels add a bias to each of the two products",
    cells={kind: arrays.replace(only={**arrays.only, **_ONLY}) for kind, arrays in pytorch.CELLS.items()}
    | {
        "lstm": pytorch.CELLS["lstm"].replace(
            projection=rules.Array("{copy}.cell{direction}.weight_ho", "h p", marks=("_fw", "_bw")),
            only={**pytorch.CELLS["lstm"].only, **_ONLY},
        )
    },
    transforms={
        **{kind: _TORCH.transforms[kind] for kind in ("embedding", "conv1d", "pool1d", "layer_norm")},
        "dense": _TORCH.transforms["dense"].replace(order=(1, 0)),
        "batch_norm": rules.TransformArrays(
            {"scale": "weight", "bias": "bias", "running_mean": "_mean", "running_variance": "_variance"},
            only={"scale": (True,), "center": (True,)},
            steps_last=True,
        ),
        **rules.attention_of_dense("{}.weight", "{}.bias", (1, 0)),
    },
    returns=rules.Returns(
        output="outputs",
        state="{}",
        state_axes="LBW",
        note="Sequences as time_major=False, the default, has them; states do not follow it.",
        note_time_first="Recurrent layers with time_major=True.",
        stacks=True,
    ),
)
