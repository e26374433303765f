#!/usr/bin/env bash
# torch.jit.freeze stores equal weights of different layers once, and a frozen module has no parameters.
#
# Seen in torch 2.13.0 (CPU) in November 2026. An LSTM(8, 16) of two layers whose biases are zeros has 3,840 parameters:
# 64·(8 + 16) + 64·(16 + 16) of its matrices and 4·64 of its biases. One expects the archive of the frozen module to hold
# the same 3,840 numbers. It holds 3,648, because the four biases are one constant of 64; parameters() and state_dict()
# of the frozen module are empty, so that a count of its parameters is 0. Whoever counts from the file must count such a
# constant once for each operator that reads it.
#
# Output: 3840 parameters, frozen: 0 parameters, 0 in its state dict, 3648 numbers in 5 constants
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6
cat > "$folder/frozen.py" << 'PYTHON'
import io
import zipfile

import torch
from torch import nn


class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(8, 16, 2)

    def forward(self, x):
        return self.rnn(x)[0]


model = Steps().eval()
for name, tensor in model.named_parameters():
    if "bias" in name:
        nn.init.zeros_(tensor)
frozen = torch.jit.freeze(torch.jit.script(model))
data = io.BytesIO()
torch.jit.save(frozen, data)
with zipfile.ZipFile(data) as archive:
    sizes = [entry.file_size // 4 for entry in archive.infolist() if "/constants/" in entry.filename]
before, after = (sum(tensor.numel() for tensor in each.parameters()) for each in (model, frozen))
print(f"{before} parameters, frozen: {after} parameters, {len(frozen.state_dict())} in its state dict,", end=" ")
print(f"{sum(sizes)} numbers in {len(sizes)} constants")
PYTHON
expected="3840 parameters, frozen: 0 parameters, 0 in its state dict, 3648 numbers in 5 constants"
[ "$("$folder/venv/bin/python" -W ignore "$folder/frozen.py" | tee /dev/stderr)" = "$expected" ]
