#!/usr/bin/env bash
# torch-pruning 1.6.1 counts the operations of an LSTM by its inputs, and fewer of them the larger the batch.
#
# Seen with torch 2.13.0 in November 2026. One expects count_ops_and_params to give for (1, 10, 8), one sequence of 10
# steps of 8 numbers, the 18,240 operations of ptflops, whose hook it has, and the same for each sequence of a batch: its
# number is that of one example. The hook takes the sizes of the first sequence, (10, 8), for batch and steps. So the
# number is 8 times too large for one sequence, and as it is then divided by the batch, a quarter of what it should be
# for 32. A loop over an LSTMCell is counted right, and so are the parameters.
#
# Output:
#   LSTM(8, 16), 10 steps: batch of 1 145920, batch of 32 4560
#   LSTMCell in a loop:    batch of 1 18240, batch of 32 18240
#   parameters: 1664 and 1664
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 torch-pruning==1.6.1
cat > "$folder/count.py" << 'PYTHON'
import torch
import torch_pruning
from torch import nn


class Loop(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(8, 16)

    def forward(self, x):
        state = None
        for step in range(x.shape[1]):
            state = self.cell(x[:, step], state)
        return state


def counts(model, batch):
    return [int(each) for each in torch_pruning.utils.count_ops_and_params(model, torch.zeros(batch, 10, 8))]


layer, loop = nn.LSTM(8, 16, batch_first=True), Loop()
print(f"LSTM(8, 16), 10 steps: batch of 1 {counts(layer, 1)[0]}, batch of 32 {counts(layer, 32)[0]}")
print(f"LSTMCell in a loop:    batch of 1 {counts(loop, 1)[0]}, batch of 32 {counts(loop, 32)[0]}")
print(f"parameters: {counts(layer, 1)[1]} and {counts(loop, 1)[1]}")
PYTHON
expected="LSTM(8, 16), 10 steps: batch of 1 145920, batch of 32 4560
LSTMCell in a loop:    batch of 1 18240, batch of 32 18240
parameters: 1664 and 1664"
[ "$("$folder/venv/bin/python" -W ignore "$folder/count.py" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
