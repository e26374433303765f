"""What a layer is: its kind, its options, its gates and its equations.

A new cell is named in the list KINDS alone. A kind's module is imported when the kind is first used.
"""

from __future__ import annotations

from rnncalc.layers.layer import Layer
from rnncalc.records import loaded

KINDS: dict[str, str | type[Layer]] = {
    "rnn": "rnncalc.layers.rnn:RNN",
    "gru": "rnncalc.layers.gru:GRU",
    "lstm": "rnncalc.layers.lstm:LSTM",
    "mgu": "rnncalc.layers.mgu:MGU",
    "mingru": "rnncalc.layers.mingru:MinGRU",
    "minlstm": "rnncalc.layers.minlstm:MinLSTM",
    "sru": "rnncalc.layers.sru:SRU",
    "fastgrnn": "rnncalc.layers.fastgrnn:FastGRNN",
    "conv_lstm": "rnncalc.layers.conv_lstm:ConvLSTM",
    "dense": "rnncalc.layers.layer:Dense",
    "embedding": "rnncalc.layers.layer:Embedding",
    "dropout": "rnncalc.layers.layer:Dropout",
    "external": "rnncalc.layers.layer:External",
    "conv1d": "rnncalc.layers.convolution:Conv1D",
    "pool1d": "rnncalc.layers.convolution:Pool1D",
    "layer_norm": "rnncalc.layers.normalisation:LayerNorm",
    "batch_norm": "rnncalc.layers.normalisation:BatchNorm",
    "flatten": "rnncalc.layers.reshaping:Flatten",
    "repeat_vector": "rnncalc.layers.reshaping:RepeatVector",
    "last": "rnncalc.layers.reshaping:LastStep",
    "attention": "rnncalc.layers.attention:Attention",
    "multi_head_attention": "rnncalc.layers.attention:MultiHeadAttention",
    "transformer": "rnncalc.layers.attention:Transformer",
}
"""The module and class of each kind, or the class itself; recurrent cells first."""


def kind(name: str) -> type[Layer]:
    """Return the class of a kind. Raises KeyError for a name that is not in the list."""
    return loaded(KINDS, name)
