"""Keras: the weights of SimpleRNN, GRU, LSTM, ConvLSTM1D, ConvLSTM2D, Dense and Embedding, as seen in keras 3.15.1.

Matrices are input by output, with the places of a kernel before that.
"""

from rnncalc.conventions import rules
from rnncalc.layers.cell import Habits
from rnncalc.layers.layer import CROSS

_CELL = rules.CellArrays(
    input=rules.Array("kernel", "m gates"),
    recurrent=rules.Array("recurrent_kernel", "reads gates"),
    bias=rules.Array("bias", "gates"),
    only=rules.restricted(),
)

CELLS = {
    "rnn": _CELL,
    "gru": _CELL.replace(
        order="zrn",
        both_biases=rules.Array("bias", "2 gates"),
        side=rules.Side.BOTH,
        side_before=rules.Side.INPUT,
        habits=Habits(reset_after=True),
    ),
    "lstm": _CELL.replace(order="ifgo"),
    "conv_lstm": _CELL.replace(order="ifgo"),
}

CONVENTION = rules.Convention(
    name="keras",
    title="Keras",
    note="one bias vector per gate, but two in a GRU unless reset_after is false",
    why="a GRU that resets after the recurrent product has a bias of its own inside that product",
    cells=CELLS,
    transforms={
        "dense": rules.TransformArrays({"kernel": "kernel", "bias": "bias"}, order=(1, 0)),
        "embedding": rules.TransformArrays({"embedding": "embeddings", "position_embedding": "positions"}),
        "conv1d": rules.TransformArrays(
            {"kernel": "kernel", "bias": "bias"}, order=(2, 1, 0), one_of=("stride", "dilation")
        ),
        "layer_norm": rules.TransformArrays({"scale": "gamma", "bias": "beta"}, epsilon=1e-3),
        "multi_head_attention": rules.with_heads("attention_output"),
        "batch_norm": rules.TransformArrays(
            {"scale": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_variance": "moving_variance"},
            epsilon=1e-3,
        ),
        **rules.attention_of_dense("{}/kernel", "{}/bias", (1, 0)),
        **dict.fromkeys(CROSS, rules.with_heads("attention_output", "q", "k", "d")),
    },
    returns=rules.Returns(
        output="output",
        state="state_{}",
        note="With return_state=True, and return_sequences=True where every step is used.",
        merges=True,
        last=True,
    ),
    untrained="non-trainable",
    former={"recurrent_activation": ("hard_sigmoid_0.2",)},
)
