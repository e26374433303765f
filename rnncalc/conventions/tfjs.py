"""TensorFlow.js: the weights of tf.layers' simpleRNN, gru, lstm, dense and embedding, as seen in its version 4.22.0.

They are Keras's layers; a GRU resets before the recurrent product, and gates have a hard sigmoid by default.
"""

from rnncalc.conventions import keras, rules

_KERAS = keras.CONVENTION
_GATED = {"usual": {"recurrent_activation": "hard_sigmoid_0.2"}}
_ONLY = {"recurrent_activation": (None, "sigmoid", "hard_sigmoid_0.2"), "reset_after": (None, False)}

CONVENTION = _KERAS.replace(
    name="tfjs",
    title="TensorFlow.js",
    former={},
    note="one bias vector per gate",
    why="the two products are summed, so one bias serves both",
    cells={
        "rnn": keras.CELLS["rnn"],
        "gru": keras.CELLS["rnn"].replace(order="zrn", **_GATED, only=rules.restricted(**_ONLY)),
        "lstm": keras.CELLS["lstm"].replace(**_GATED, only=rules.restricted(**_ONLY)),
    },
    transforms={
        **{kind: _KERAS.transforms[kind] for kind in ("dense", "embedding", "layer_norm", "batch_norm")},
        "conv1d": _KERAS.transforms["conv1d"].replace(only={"padding": ("valid", "same"), "groups": (1,)}),
        **rules.attention_of_dense("{}/kernel", "{}/bias", (1, 0)),
    },
    returns=_KERAS.returns
    and _KERAS.returns.replace(note="With returnState: true, and returnSequences: true where every step is used."),
)
