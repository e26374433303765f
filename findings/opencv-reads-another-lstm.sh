#!/usr/bin/env bash
# OpenCV 5.0.0 loads an ONNX LSTM with options and computes another; of a GRU it outputs the last step as all steps.
#
# Seen with onnx 1.23.2 beside onnxruntime 1.32.0 in November 2026. One expects cv2.dnn to compute what the operator's
# documentation says, or to refuse, as it does a node of kind RNN. A plain LSTM agrees to 1e-6. clip and input_forget
# change nothing. Peepholes are used, but in the order i, f, o: ONNX's is i, o, f, so that forget and output gates have
# each other's. The output Y of a GRU should be (steps, directions, batch, units); it has one step, the last one. That
# is right for both values of linear_before_reset.
#
# Output (equal: to 1e-5):
#   LSTM: equal True
#   LSTM clip: equal False, to the LSTM without it True
#   LSTM input_forget: equal False, to the LSTM without it True
#   LSTM peepholes: equal False, with those of o and f exchanged True
#   GRU, linear_before_reset 0: (1, 2, 6) for (5, 1, 2, 6), equal to the last step True
#   GRU, linear_before_reset 1: (1, 2, 6) for (5, 1, 2, 6), equal to the last step True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet opencv-python-headless==5.0.0.93 numpy==2.4.6 onnx==1.23.2 onnxruntime==1.32.0
cat > "$folder/seen.py" << 'PYTHON'
import cv2
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(0)
x = random.normal(size=(5, 2, 4)).astype("float32")
arrays = {"W": (1, 24, 4), "R": (1, 24, 6), "B": (1, 48), "P": (1, 18)}
arrays = {name: random.normal(size=shape).astype("float32") for name, shape in arrays.items()}
swapped = arrays["P"].reshape(1, 3, 6)[:, [0, 2, 1]].reshape(1, 18)


def outputs(kind, peepholes=None, **options):
    gates = 4 if kind == "LSTM" else 3
    stored = {"W": arrays["W"][:, : gates * 6], "R": arrays["R"][:, : gates * 6], "B": arrays["B"][:, : gates * 12]}
    names = ["X", *stored]
    if peepholes is not None:
        state = np.zeros((1, 2, 6), "float32")
        stored |= {"h": state, "c": state, "P": peepholes}
        names += ["", "h", "c", "P"]
    node = helper.make_node(kind, names, ["Y"], hidden_size=6, **options)
    ends = [helper.make_tensor_value_info("X", TensorProto.FLOAT, [5, 2, 4])]
    ends += [helper.make_tensor_value_info("Y", TensorProto.FLOAT, [5, 1, 2, 6])]
    weights = [numpy_helper.from_array(array, name) for name, array in stored.items()]
    graph = helper.make_graph([node], "graph", ends[:1], ends[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    data = model.SerializeToString()
    net = cv2.dnn.readNetFromONNX(np.frombuffer(data, np.uint8))
    net.setInput(x, "X")
    return net.forward("Y"), onnxruntime.InferenceSession(data).run(None, {"X": x})[0]


def same(one, other):
    return bool(abs(one - other).max() < 1e-5)


seen, plain = outputs("LSTM")
print("LSTM: equal", same(seen, plain))
for options in ({"clip": 0.5}, {"input_forget": 1}):
    seen, right = outputs("LSTM", **options)
    print(f"LSTM {next(iter(options))}: equal {same(seen, right)}, to the LSTM without it {same(seen, plain)}")
seen, right = outputs("LSTM", arrays["P"])
other = outputs("LSTM", swapped)[1]
print(f"LSTM peepholes: equal {same(seen, right)}, with those of o and f exchanged {same(seen, other)}")
for option in (0, 1):
    seen, right = outputs("GRU", linear_before_reset=option)
    last = same(seen, right[-1])
    print(f"GRU, linear_before_reset {option}: {seen.shape} for {right.shape}, equal to the last step {last}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
