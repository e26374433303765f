#!/usr/bin/env bash
# PyTorch's default ONNX exporter stores the recurrent matrix of an nn.RNN once for each step, if it is small.
#
# Seen in torch 2.13.0 with onnx 1.23.2 and onnxscript 0.7.2 in November 2026. nn.LSTM and nn.GRU become one operator each.
# nn.RNN has an operator in ONNX too, but is written out step by step, and the exporter folds the transpose of the
# recurrent matrix for each step apart: of 20 steps the file has 19 equal matrices (the first step has a state of
# zeros). Constants are folded up to 8,192 numbers, so RNN(8, 90) is stored with 19 matrices and RNN(8, 91) with one:
# the network with more units makes the smaller file, by a factor of sixteen.
#
# Output:
#   RNN(8, 90): 9,000 parameters, 19 square matrices, 154,890 numbers in the file
#   RNN(8, 91): 9,191 parameters, 1 square matrix, 9,282 numbers in the file
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 onnx==1.23.2 onnxscript==0.7.2
cat > "$folder/steps.py" << 'PYTHON'
import sys
import warnings

import onnx
import torch

warnings.filterwarnings("ignore")
for units in (90, 91):
    model = torch.nn.RNN(8, units, batch_first=True).eval()
    path = f"{sys.argv[1]}/{units}.onnx"
    torch.onnx.export(model, (torch.zeros(1, 20, 8),), path, verbose=False)
    tensors = [each for each in onnx.load(path).graph.initializer if each.data_type == onnx.TensorProto.FLOAT]
    arrays = [onnx.numpy_helper.to_array(each) for each in tensors]
    square = sum(array.shape == (units, units) for array in arrays)
    params = sum(each.numel() for each in model.parameters())
    matrices = f"{square} square {'matrix' if square == 1 else 'matrices'}"
    numbers = sum(array.size for array in arrays)
    print(f"RNN(8, {units}): {params:,} parameters, {matrices}, {numbers:,} numbers in the file")
PYTHON
expected="RNN(8, 90): 9,000 parameters, 19 square matrices, 154,890 numbers in the file
RNN(8, 91): 9,191 parameters, 1 square matrix, 9,282 numbers in the file"
[ "$("$folder/venv/bin/python" "$folder/steps.py" "$folder" 2> "$folder/errors" | tee /dev/stderr)" = "$expected" ]
