"""ONNX: the inputs of the operators RNN, GRU, LSTM, Gemm and Gather of opset 22, as seen in onnxruntime 1.31.1.

The operators concatenate the two directions; any other `merge` is an operator after them, as exporters write it.
"""

from rnncalc.conventions import rules

_LACKS = {"activation": (None, "tanh", "relu", "sigmoid", "linear")}

_CELL = rules.CellArrays(
    input=rules.Array("W", "directions gates m"),
    recurrent=rules.Array("R", "directions gates reads"),
    both_biases=rules.Array("B", "directions 2gates"),
    state=rules.Array("initial_{read}", "directions 1 reads"),
    side=rules.Side.BOTH,
    only=rules.restricted("learned_state", **_LACKS),
)

CONVENTION = rules.Convention(
    name="onnx",
    title="ONNX",
    note="two bias vectors per gate, one after the other in B",
    why="the operator takes the biases of both products",
    cells={
        "rnn": _CELL,
        "gru": _CELL.replace(order="zrn"),
        "lstm": _CELL.replace(
            order="iofg",
            peephole=rules.Array("P", "directions gates"),
            only=rules.restricted("learned_state", "peepholes", **_LACKS),
        ),
    },
    transforms={
        "dense": rules.TransformArrays({"kernel": "B", "bias": "C"}, order=(1, 0)),
        "embedding": rules.TransformArrays({"embedding": "data", "position_embedding": "positions"}),
        "conv1d": rules.TransformArrays({"kernel": "W", "bias": "B"}, steps_last=True),
        "pool1d": rules.TransformArrays(steps_last=True),
        "layer_norm": rules.TransformArrays({"scale": "Scale", "bias": "B"}),
        "batch_norm": rules.TransformArrays(
            {"scale": "scale", "bias": "B", "running_mean": "input_mean", "running_variance": "input_var"},
            buffers=("running_mean", "running_variance"),
            only={"scale": (True,), "center": (True,)},
            steps_last=True,
        ),
        **rules.attention_of_dense("{}/B", "{}/C", (1, 0), ("{}/W", "{}/B")),
    },
    returns=rules.Returns(
        sequence="TBW",
        output="Y",
        axes="TDBW",
        state="Y_{}",
        state_axes="DBW",
        note="With layout 0, the default: steps first. Between layers Y is transposed and reshaped.",
        note_time_first="With layout 0, the default: steps first. Between layers Y is transposed and reshaped.",
    ),
    directions=None,
)
