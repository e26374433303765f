#!/usr/bin/env bash
# torchprofile 0.1.0 counts one recurrent layer as two numbers: as a layer, and as a loop over its cell.
#
# Expected: an LSTM, GRU or RNN of 16 units on 8 inputs over 10 steps has the multiply-adds of its matrices,
# 10 × 4 × 16 × 24 = 15,360, 11,520 and 3,840, whether it is nn.LSTM or nn.LSTMCell in a Python loop.
# Seen on 28 November 2026 (torch 2.13.0 on the CPU, Python 3.11):
#
#   LSTM  layer 15360  cell in a loop 15840
#   GRU   layer 0      cell in a loop 11840
#   RNN   layer 0      cell in a loop 3840
#
# aten::lstm is in its table; aten::gru and aten::rnn_tanh are not, and count 0 with a warning. A cell is traced as the
# operations it is made of, whose element-wise products count too: 3h in each step of an LSTM, 2h in a GRU.
# Exit code 0: it is still so; 1: it changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q torch==2.13.0 numpy==2.4.6 torchprofile==0.1.0
"$folder/env/bin/python" -W ignore - << 'END'
import sys

import torch
from torch import nn
from torchprofile import profile_macs


class Loop(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x):
        state = None
        for step in range(x.shape[1]):
            state = self.cell(x[:, step], state)
        return state


seen = {}
for name in ("LSTM", "GRU", "RNN"):
    layer = getattr(nn, name)(8, 16, batch_first=True).eval()
    cell = Loop(getattr(nn, f"{name}Cell")(8, 16)).eval()
    seen[name] = profile_macs(layer, torch.zeros(1, 10, 8)), profile_macs(cell, torch.zeros(1, 10, 8))
    print(f"{name:5} layer {seen[name][0]:<6} cell in a loop {seen[name][1]}")
sys.exit(seen != {"LSTM": (15_360, 15_840), "GRU": (0, 11_840), "RNN": (0, 3_840)})
END
