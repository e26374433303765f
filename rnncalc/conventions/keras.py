"""Keras: the weights of SimpleRNN, GRU, LSTM, ConvLSTM1D, ConvLSTM2D, Dense and Embedding, as seen in keras 3.15.1.

Matrices are input by output, with the places of a kernel before that.
"""

from rnncalc.conventions.rules import (
    Array,
    CellArrays,
    Convention,
    DenseArrays,
    Returns,
    Side,
    TransformArrays,
    attention_of_dense,
    restricted,
    with_heads,
)
from rnncalc.layers.cell import Habits
from rnncalc.layers.layer import CROSS

_CELL = CellArrays(
    input=Array("kernel", "m gates"),
    recurrent=Array("recurrent_kernel", "reads gates"),
    bias=Array("bias", "gates"),
    only=restricted(),
)

CONVENTION = Convention(
    name="keras",
    title="Keras",
    note="one bias vector per gate, but two in a GRU unless reset_after is false",
    why="a GRU that resets after the recurrent product needs a bias of its own inside that product",
    cells={
        "rnn": _CELL,
        "gru": _CELL.replace(
            order="zrn",
            both_biases=Array("bias", "2 gates"),
            side=Side.BOTH,
            side_before=Side.INPUT,
            habits=Habits(reset_after=True),
        ),
        "lstm": _CELL.replace(order="ifgo"),
        "conv_lstm": _CELL.replace(order="ifgo"),
    },
    dense=DenseArrays(Array("kernel", "m n"), Array("bias", "n")),
    transforms={
        "embedding": TransformArrays({"embedding": "embeddings", "position_embedding": "positions"}),
        "conv1d": TransformArrays({"kernel": "kernel", "bias": "bias"}, order=(2, 1, 0), one_of=("stride", "dilation")),
        "layer_norm": TransformArrays({"scale": "gamma", "bias": "beta"}, epsilon=1e-3),
        "multi_head_attention": with_heads("attention_output"),
        "batch_norm": TransformArrays(
            {"scale": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_variance": "moving_variance"},
            epsilon=1e-3,
        ),
        "decoder_attention": attention_of_dense("{}/kernel", "{}/bias", (1, 0)),
        **dict.fromkeys(CROSS, with_heads("attention_output", "q", "k", "d")),
    },
    returns=Returns(
        sequence="BTW",
        output="output",
        axes="BTW",
        state="state_{}",
        state_axes="BW",
        note="With return_state=True, and return_sequences=True where every step is used.",
        merges=True,
        last=True,
    ),
    untrained="non-trainable",
)
