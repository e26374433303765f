"""Haiku: the parameters of hk.VanillaRNN, GRU, LSTM, Linear and Embed, as seen in dm-haiku 0.0.17.

Two directions are two cores, which users run and join. Parameters of a module are named by the path in it.
"""

from rnncalc.conventions import rules
from rnncalc.layers.cell import Habits

_ONLY = {"bias": (True,), "recurrent_activation": (None, "sigmoid")}
_WEIGHTS = {"kernel": "w", "bias": "b"}

CONVENTION = rules.Convention(
    name="haiku",
    title="Haiku",
    note="one bias vector per gate, but two in an RNN",
    why="an RNN is the sum of two linear layers, each with a bias",
    cells={
        "rnn": rules.CellArrays(
            input=rules.Array("linear/w", "m gates"),
            recurrent=rules.Array("linear_1/w", "reads gates"),
            bias=rules.Array("linear/b", "gates"),
            recurrent_bias=rules.Array("linear_1/b", "gates"),
            side=rules.Side.BOTH,
            usual={"activation": "relu"},
            only=rules.restricted(**_ONLY | {"activation": (None, "relu")}),
        ),
        "gru": rules.CellArrays(
            input=rules.Array("w_i", "m gates"),
            recurrent=rules.Array("w_h", "reads gates"),
            bias=rules.Array("b", "gates"),
            order="zrn",
            usual={"update_gate": "replaces"},
            only=rules.restricted(
                **_ONLY, activation=("tanh",), reset_after=(None, False), update_gate=(None, "replaces")
            ),
        ),
        "lstm": rules.CellArrays(
            stacked=rules.Array("linear/w", "stacked h"),
            joins=("x", "h"),
            bias=rules.Array("linear/b", "gates"),
            order="igfo",
            habits=Habits(plus_one="f"),
            only=rules.restricted(**_ONLY, activation=("tanh",)),
        ),
    },
    transforms={
        "dense": rules.TransformArrays(_WEIGHTS, order=(1, 0)),
        "embedding": rules.TransformArrays({"embedding": "embeddings", "position_embedding": "positions"}),
        "conv1d": rules.TransformArrays(_WEIGHTS, order=(2, 1, 0)),
        "layer_norm": rules.TransformArrays({"scale": "scale", "bias": "offset"}),
        **rules.attention_of_dense("{}/w", "{}/b", (1, 0)),
    },
    returns=rules.Returns(
        output="output",
        state="state_{}",
        note="hk.dynamic_unroll with time_major=False; an LSTM's state is LSTMState(hidden, cell).",
        note_time_first="hk.dynamic_unroll with time_major=True, its default; an LSTM's state is "
        "LSTMState(hidden, cell).",
    ),
)
