"""The textbook: one matrix per gate, output by input, one bias vector per gate, every cell and every option."""

from rnncalc.conventions.rules import Array, CellArrays, Convention, Returns, TransformArrays
from rnncalc.layers.layer import CROSS

_HEADS = {"query": "W_q", "key": "W_k", "value": "W_v", "output": "W_o"}
_HEADS |= {"query_bias": "b_q", "key_bias": "b_k", "value_bias": "b_v", "output_bias": "b_o"}

CELL = CellArrays(
    input=Array("W_{read}{gate}", "h m"),
    recurrent=Array("W_{read}{gate}", "h reads"),
    left=Array("A_{read}{gate}", "h r"),
    right=Array("B_{read}{gate}", "r reads"),
    bias=Array("b_{gate}", "h"),
    gain=Array("gamma_{gate}", "h"),
    peephole=Array("w_{read}{gate}", "h"),
    projection=Array("W_h{gate}", "p h"),
    vector=Array("{gate}", "h"),
    scalar=Array("{gate}", "1"),
    state=Array("{read}_0", "reads"),
)

CONVENTION = Convention(
    name="textbook",
    title="textbook",
    note="one bias vector per gate",
    why="the two products are summed, so one bias serves both",
    cells=CELL,
    transforms={
        "dense": TransformArrays({"kernel": "W", "bias": "b"}),
        "output": TransformArrays({"kernel": "W_hy", "bias": "b_y"}),
        "embedding": TransformArrays({"embedding": "E", "position_embedding": "P"}),
        "conv1d": TransformArrays({"kernel": "W", "bias": "b"}, order=(2, 0, 1)),
        "layer_norm": TransformArrays({"scale": "g", "bias": "b"}),
        "transformer": TransformArrays(
            _HEADS
            | {"up": "W_1", "up_bias": "b_1", "down": "W_2", "down_bias": "b_2"}
            | {"norm_1_scale": "gamma_1", "norm_1_bias": "beta_1", "norm_2_scale": "gamma_2", "norm_2_bias": "beta_2"}
        ),
        "attention": TransformArrays(
            {"kernel": "W", "bias": "b", "score": "v", "score_bias": "c", "step_bias": "beta"}
        ),
        "batch_norm": TransformArrays(
            {"scale": "g", "bias": "b", "running_mean": "mean", "running_variance": "variance"},
            buffers=("running_mean", "running_variance"),
        ),
        "decoder_attention": TransformArrays(
            {"query": "W_q", "keys": "W_k", "kernel": "W", "convolution": "F", "location": "W_f", "score": "v"}
            | {"query_bias": "b_q", "keys_bias": "b_k", "bias": "b", "score_bias": "b_v"}
            | {"convolution_bias": "b_F", "location_bias": "b_f"},
            order=(2, 0, 1),
        ),
        **dict.fromkeys(("multi_head_attention", *CROSS), TransformArrays(_HEADS)),
    },
    other_transforms=TransformArrays({"kernel": "W", "bias": "b", "scale": "g"}, order=(2, 0, 1)),
    returns=Returns(
        sequence="BW",
        output="h_t",
        axes="BW",
        state="{}_t",
        note="At one step t, unless a layer changes the number of steps.",
    ),
    symbols=True,
)
