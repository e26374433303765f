#!/usr/bin/env bash
# onnx 1.23.2's own ReferenceEvaluator computes an LSTM or GRU with its defaults, whatever clip, activations and
# sequence_lens say.
#
# Seen beside onnxruntime 1.32.0 in November 2026. One expects the reference implementation to do what the operator's
# documentation says, or to refuse. Direction, peepholes and linear_before_reset are computed, and agree with
# onnxruntime to 1e-6. clip, input_forget, sequence_lens and the activations change nothing: the outputs are those of
# the same operator without the option. An RNN's clip and sequence_lens are ignored too; its activations are not, and
# Relu is refused.
#
# Output (largest difference above 1e-3):
#   LSTM reverse: from onnxruntime False
#   LSTM clip: from onnxruntime True, from the operator without it False
#   LSTM input_forget: from onnxruntime True, from the operator without it False
#   LSTM activations: from onnxruntime True, from the operator without it False
#   LSTM sequence_lens: from onnxruntime True, from the operator without it False
#   GRU reverse: from onnxruntime False
#   GRU linear_before_reset: from onnxruntime False
#   GRU clip: from onnxruntime True, from the operator without it False
#   GRU activations: from onnxruntime True, from the operator without it False
#   GRU sequence_lens: from onnxruntime True, from the operator without it False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
cat > "$folder/options.py" << 'PYTHON'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

STEPS, BATCH, INPUTS, UNITS = 5, 2, 3, 4


def model(kind, lengths=False, **options):
    gates, generator = {"LSTM": 4, "GRU": 3}[kind], np.random.default_rng(0)
    shapes = {"W": (INPUTS,), "R": (UNITS,), "B": ()}
    sizes = {"B": 2 * gates * UNITS}
    arrays = {
        name: generator.normal(size=(1, sizes.get(name, gates * UNITS), *rest)).astype("float32")
        for name, rest in shapes.items()
    }
    if lengths:
        arrays["lengths"] = np.array([5, 3], "int32")
    node = helper.make_node(kind, ["X", *arrays], ["Y", "Y_h"], hidden_size=UNITS, **options)
    shape = {"X": (STEPS, BATCH, INPUTS), "Y": (STEPS, 1, BATCH, UNITS), "Y_h": (1, BATCH, UNITS)}
    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, each) for name, each in shape.items()}
    initial = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph([node], "one", [values["X"]], [values["Y"], values["Y_h"]], initial)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    return made


x = np.random.default_rng(1).normal(size=(STEPS, BATCH, INPUTS)).astype("float32")


def reference(made):
    return ReferenceEvaluator(made).run(None, {"X": x})


def differ(one, other):
    return any(np.abs(first - second).max() > 1e-3 for first, second in zip(one, other))


cases = {
    "reverse": {"direction": "reverse"},
    "linear_before_reset": {"linear_before_reset": 1},
    "clip": {"clip": 0.3},
    "input_forget": {"input_forget": 1},
    "activations": {"activations": ["HardSigmoid", "Relu", "Relu"]},
    "sequence_lens": {"lengths": True},
}
for kind, other in (("LSTM", "linear_before_reset"), ("GRU", "input_forget")):
    for title, options in cases.items():
        if title == other:
            continue
        if kind == "GRU" and title == "activations":
            options = {"activations": options["activations"][:2]}
        made = model(kind, **options)
        outputs = reference(made)
        truth = onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"X": x})
        line = f"{kind} {title}: from onnxruntime {differ(outputs, truth)}"
        if differ(outputs, truth):
            line += f", from the operator without it {differ(outputs, reference(model(kind)))}"
        print(line)
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$("$folder/venv/bin/python" "$folder/options.py" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
