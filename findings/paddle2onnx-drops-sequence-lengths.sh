#!/usr/bin/env bash
# paddle2onnx 2.1.0 leaves out the sequence_length of an LSTM or GRU, and writes no node for an RNN.
#
# Seen with paddlepaddle 3.3.1, onnx 1.17.0 and onnxruntime 1.32.0 in November 2026. One expects the lengths to become the
# operator's sequence_lens, as ONNX has it, or a refusal. The file still has an input for them, which no node reads, so
# that the caller passes lengths without any effect: last states and the outputs beyond the end are those of the padding.
# Of a SimpleRNN, for which ONNX has an operator too, the export ends well, and its file lacks the node whose output it
# uses.
#
# Output:
#   LSTM: inputs x lengths; read by a node: x; within the lengths equal: True; last state equal: False
#   GRU: inputs x lengths; read by a node: x; within the lengths equal: True; last state equal: False
#   SimpleRNN: valid: False; nodes that compute: 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet paddlepaddle==3.3.1 paddle2onnx==2.1.0 numpy==2.2.6 onnx==1.17.0 \
    onnxruntime==1.32.0
cat > "$folder/lengths.py" << 'PYTHON'
import os

import numpy as np
import onnx
import onnxruntime
import paddle
import paddle2onnx
from paddle import nn

KINDS = {"LSTM", "GRU", "RNN"}


class Network(nn.Layer):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x, lengths):
        outputs, state = self.layer(x, sequence_length=lengths)
        return outputs, state[0] if isinstance(state, tuple) else state


class Plain(Network):
    def forward(self, x):
        return self.layer(x)[0]


def exported(model, name, specs):
    model.eval()
    paddle.jit.save(model, name, input_spec=specs)
    program = f"{name}.json" if os.path.exists(f"{name}.json") else f"{name}.pdmodel"
    paddle2onnx.export(program, f"{name}.pdiparams", f"{name}.onnx", opset_version=15)
    return onnx.load(f"{name}.onnx").graph


x = np.random.default_rng(0).normal(size=(2, 5, 8)).astype("float32")
lengths = np.array([5, 3], "int32")
specs = [paddle.static.InputSpec([2, 5, 8], "float32", "x"), paddle.static.InputSpec([2], "int32", "lengths")]
for kind in (nn.LSTM, nn.GRU):
    name = kind.__name__
    model = Network(kind(8, 16))
    graph = exported(model, name, specs)
    read = {each for node in graph.node for each in node.input}
    inputs = [each.name for each in graph.input]
    truth = [each.numpy() for each in model(paddle.to_tensor(x), paddle.to_tensor(lengths))]
    seen = onnxruntime.InferenceSession(f"{name}.onnx").run(None, {"x": x, "lengths": lengths})
    within = all(np.allclose(truth[0][row, :end], seen[0][row, :end], atol=1e-5) for row, end in enumerate(lengths))
    last = np.allclose(truth[1].ravel(), seen[1].ravel(), atol=1e-3)
    print(f"{name}: inputs {' '.join(inputs)}; read by a node: {' '.join(each for each in inputs if each in read)};", end=" ")
    print(f"within the lengths equal: {within}; last state equal: {last}")
graph = exported(Plain(nn.SimpleRNN(8, 16)), "RNN", specs[:1])
try:
    onnx.checker.check_model("RNN.onnx")
    valid = True
except onnx.checker.ValidationError:
    valid = False
print(f"SimpleRNN: valid: {valid}; nodes that compute: {sum(node.op_type in KINDS | {'MatMul', 'Gemm'} for node in graph.node)}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
cd "$folder"
[ "$(venv/bin/python -W ignore lengths.py 2> log | grep -E '^(LSTM|GRU|SimpleRNN):' | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 log; exit 1; }
