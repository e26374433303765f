#!/usr/bin/env bash
# OpenVINO 2026.4.1 reads an ONNX LSTM with peepholes as one without.
#
# Seen with onnx 1.23.2 beside onnxruntime 1.32.0 in November 2026. One expects what OpenVINO cannot compute to be
# refused, as Softsign and HardSigmoid are: the peepholes are an array of the file, 3h numbers for each direction. They
# are left out without a word, and so is input_forget. A bidirectional layer has activations for each direction; the
# first direction's are used for both. Each time the outputs are those of the layer without the option. Lengths, clip,
# reverse, the states and another activation for both directions are right.
#
# Output, = if it is what onnxruntime computes, "plain" if it is the layer without the option:
#   LSTM: =; peepholes plain; input_forget plain; clip =; reverse, lengths =; softsign refused
#   LSTM, bidirectional: =; relu in both =; relu in the second plain; peepholes plain
#   GRU, bidirectional: =; relu in both =; relu in the second plain
#   RNN, bidirectional: =; relu in both =; relu in the second plain
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet numpy==2.2.6 onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1
cat > "$folder/seen.py" << 'PYTHON'
import numpy as np
import onnx
import onnxruntime
import openvino
from onnx import TensorProto, helper, numpy_helper

STEPS, BATCH, INPUTS, UNITS = 5, 2, 3, 4
ACTIVATIONS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
BLOCKS = {"LSTM": 4, "GRU": 3, "RNN": 1}
x = np.random.default_rng(2).normal(0, 1, (STEPS, BATCH, INPUTS)).astype(np.float32)


def file(kind, peepholes=False, lengths=None, **attributes):
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    blocks, rng = BLOCKS[kind], np.random.default_rng(1)
    shapes = {"W": (blocks * UNITS, INPUTS), "R": (blocks * UNITS, UNITS), "B": (2 * blocks * UNITS,)}
    if peepholes:
        shapes["P"] = (3 * UNITS,)
    arrays = {name: rng.normal(0, 0.8, (directions, *shape)).astype(np.float32) for name, shape in shapes.items()}
    names = ["x", "W", "R", "B"]
    if lengths:
        arrays["lengths"] = np.array(lengths, np.int32)
        names.append("lengths")
    if peepholes:
        names += ["", "", "", "P"]
    node = helper.make_node(kind, names, ["y"], hidden_size=UNITS, **attributes)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    result = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [STEPS, directions, BATCH, UNITS])]
    initializers = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph([node], "network", inputs, result, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def by_onnxruntime(model):
    return onnxruntime.InferenceSession(model).run(None, {"x": x})[0]


def verdict(kind, direction="forward", **options):
    plain, model = file(kind, direction=direction), file(kind, **{"direction": direction} | options)
    core, settings = openvino.Core(), {"INFERENCE_PRECISION_HINT": "f32"}
    try:
        output = core.compile_model(core.read_model(model), "CPU", settings)({"x": x})[0]
    except RuntimeError:
        return "refused"
    if np.allclose(output, by_onnxruntime(model), atol=1e-4):
        return "="
    return "plain" if np.allclose(output, by_onnxruntime(plain), atol=1e-4) else "other"


OPTIONS = {
    "": {},
    "peepholes": {"peepholes": True},
    "input_forget": {"input_forget": 1},
    "clip": {"clip": 0.5},
    "reverse, lengths": {"direction": "reverse", "lengths": [5, 3]},
    "softsign": {"activations": ["Sigmoid", "Softsign", "Tanh"]},
}
print("LSTM:", "; ".join(f"{name} {verdict('LSTM', **options)}".strip() for name, options in OPTIONS.items()))
for kind, tanh in ACTIVATIONS.items():
    relu = [*tanh[:-1], "Relu"]
    options = {
        "": {},
        "relu in both": {"activations": relu + relu},
        "relu in the second": {"activations": tanh + relu},
    }
    if kind == "LSTM":
        options["peepholes"] = {"peepholes": True}
    answers = [f"{name} {verdict(kind, 'bidirectional', **each)}".strip() for name, each in options.items()]
    print(f"{kind}, bidirectional: {'; '.join(answers)}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
