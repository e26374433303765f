#!/usr/bin/env bash
# MNN 3.6.1 and tract 0.23.9 load a reversed ONNX layer and compute it forward.
#
# Seen with onnx 1.23.2 beside onnxruntime 1.32.0 in November 2026. One expects a runtime that computes bidirectional
# layers to compute a layer of their second direction alone, or to refuse it. Both compute the same weights forward,
# without a word. relu and clip are left out too: what both compute is the layer with tanh, and only MNN's LSTM has relu.
# MNN ignores lengths, tract refuses them. A GRU is right in MNN if linear_before_reset is 1, as PyTorch's exporter
# writes it; of one with 0, ONNX's default, the reset gate is applied after the product all the same.
#
# Output, = if it is what onnxruntime computes, "plain" if it is the layer without the option:
#   MNN LSTM: plain =, bidirectional =, reverse plain, relu =, clip plain, lengths plain
#   MNN GRU: plain =, bidirectional =, reverse plain, relu plain, clip plain, lengths plain
#   MNN RNN: plain =, bidirectional =, reverse plain, relu plain, clip plain, lengths plain
#   MNN GRU, linear_before_reset 0: other
#   tract LSTM: plain =, bidirectional =, reverse plain, relu plain, clip plain, lengths refused
#   tract GRU: plain =, bidirectional =, reverse plain, relu plain, clip plain, lengths refused
#   tract RNN: plain =, bidirectional =, reverse plain, relu plain, clip plain, lengths refused
#   tract GRU, linear_before_reset 0: =
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet numpy==2.2.6 onnx==1.23.2 onnxruntime==1.32.0 mnn==3.6.1 tract==0.23.9
cat > "$folder/seen.py" << 'PYTHON'
import subprocess
import sys

import MNN
import numpy as np
import onnx
import onnxruntime
import tract
from onnx import TensorProto, helper, numpy_helper

STEPS, BATCH, INPUTS, UNITS = 5, 2, 3, 4
BLOCKS = {"LSTM": 4, "GRU": 3, "RNN": 1}
RELU = {"LSTM": ["Sigmoid", "Relu", "Tanh"], "GRU": ["Sigmoid", "Relu"], "RNN": ["Relu"]}
x = np.random.default_rng(2).normal(0, 1, (STEPS, BATCH, INPUTS)).astype(np.float32)


def outputs(kind, runtime, lengths=None, **attributes):
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    blocks, rng = BLOCKS[kind], np.random.default_rng(1)
    shapes = {"W": (blocks * UNITS, INPUTS), "R": (blocks * UNITS, UNITS), "B": (2 * blocks * UNITS,)}
    arrays = {name: rng.normal(0, 0.8, (directions, *shape)).astype(np.float32) for name, shape in shapes.items()}
    names = ["x", *arrays]
    if lengths:
        names.append("lengths")
        arrays["lengths"] = np.array(lengths, np.int32)
    states = ["h", "c"] if kind == "LSTM" and runtime is not by_tract else ["h"]  # MNN needs all, tract cannot have c
    node = helper.make_node(kind, names, ["y", *states], hidden_size=UNITS, **attributes)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    shape = [STEPS, directions, BATCH, UNITS]
    result = [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)]
    result += [helper.make_tensor_value_info(state, TensorProto.FLOAT, shape[1:]) for state in states]
    initializers = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph([node], "network", inputs, result, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, "network.onnx")
    return runtime().reshape(shape)


def by_onnxruntime():
    return onnxruntime.InferenceSession("network.onnx").run(None, {"x": x})[0]


def by_tract():
    model = tract.onnx().load("network.onnx")
    model.set_input_fact(0, f"{STEPS},{BATCH},{INPUTS},f32")
    return model.into_model().into_runnable().run([x])[0].to_numpy()


def by_mnn():
    options = ["mnnconvert", "-f", "ONNX", "--modelFile", "network.onnx", "--MNNModel", "network.mnn", "--bizCode", "x"]
    converter = f"import _tools; _tools.mnnconvert({options})"  # the command mnnconvert installs a package on the way
    subprocess.run([sys.executable, "-c", converter], check=True, capture_output=True)
    network = MNN.nn.load_module_from_file("network.mnn", ["x"], ["y"])
    tensor = MNN.expr.placeholder(list(x.shape), MNN.expr.NCHW)
    tensor.write(x)
    return np.array(MNN.expr.convert(network.forward([tensor])[0], MNN.expr.NCHW).read())


def verdict(kind, runtime, **options):
    try:
        output = outputs(kind, runtime, **options)
    except tract.TractError:
        return "refused"
    if np.allclose(output, outputs(kind, by_onnxruntime, **options), atol=1e-4):
        return "="
    plain = outputs(kind, by_onnxruntime, **{name: options[name] for name in options if name == "linear_before_reset"})
    return "plain" if np.allclose(output, plain, atol=1e-4) else "other"


for name, runtime in (("MNN", by_mnn), ("tract", by_tract)):
    for kind in BLOCKS:
        reset = {"linear_before_reset": 1} if kind == "GRU" else {}
        options = {
            "plain": {},
            "bidirectional": {"direction": "bidirectional"},
            "reverse": {"direction": "reverse"},
            "relu": {"activations": RELU[kind]},
            "clip": {"clip": 0.5},
            "lengths": {"lengths": [5, 3]},
        }
        answers = [f"{option} {verdict(kind, runtime, **reset, **each)}" for option, each in options.items()]
        print(f"{name} {kind}: {', '.join(answers)}")
    print(f"{name} GRU, linear_before_reset 0: {verdict('GRU', runtime)}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | grep -v '^The device' | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
