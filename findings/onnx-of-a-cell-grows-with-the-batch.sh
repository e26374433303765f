#!/usr/bin/env bash
# The more sequences PyTorch's default ONNX exporter is shown at once, the more numbers are in the file of a GRUCell.
#
# Seen in torch 2.13.0 with onnx 1.23.2 and onnxscript 0.7.2 in November 2026. A loop over a cell that starts from zeros
# is written out step by step, and what does not depend on the input is folded: at the first step that is the product of
# the zeros with the recurrent matrix, plus its bias. It is stored once for each sequence of the example, beside the
# zeros, though all of its rows are that bias, which the file has too. Of 32 sequences more than half of the numbers are
# such rows; an LSTMCell has as many for its four blocks.
#
# Output:
#   1 sequence: 1,248 parameters, 1,312 numbers in the file
#   4 sequences: 1,248 parameters, 1,504 numbers in the file
#   32 sequences: 1,248 parameters, 3,296 numbers in the file, of which 32 rows are the bias
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 onnx==1.23.2 onnxscript==0.7.2
cat > "$folder/batches.py" << 'PYTHON'
import sys
import warnings

import onnx
import torch

warnings.filterwarnings("ignore")


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(8, 16)

    def forward(self, sequences):
        state = torch.zeros(sequences.shape[0], 16)
        for step in range(sequences.shape[1]):
            state = self.cell(sequences[:, step], state)
        return state


encoder = Encoder().eval()
params = sum(each.numel() for each in encoder.parameters())
for batch in (1, 4, 32):
    path = f"{sys.argv[1]}/{batch}.onnx"
    torch.onnx.export(encoder, (torch.zeros(batch, 5, 8),), path, verbose=False)
    stored = onnx.load(path).graph.initializer
    arrays = {each.name: onnx.numpy_helper.to_array(each) for each in stored if each.data_type == onnx.TensorProto.FLOAT}
    bias = arrays["cell.bias_hh"]
    rows = sum((row == bias).all() for array in arrays.values() if array.shape == (batch, 48) for row in array)
    text = f"{batch} sequence{'s' * (batch > 1)}: {params:,} parameters"
    text += f", {sum(array.size for array in arrays.values()):,} numbers in the file"
    print(text + f", of which {rows} rows are the bias" * (batch == 32))
PYTHON
expected="1 sequence: 1,248 parameters, 1,312 numbers in the file
4 sequences: 1,248 parameters, 1,504 numbers in the file
32 sequences: 1,248 parameters, 3,296 numbers in the file, of which 32 rows are the bias"
[ "$("$folder/venv/bin/python" "$folder/batches.py" "$folder" 2> "$folder/errors" | tee /dev/stderr)" = "$expected" ]
