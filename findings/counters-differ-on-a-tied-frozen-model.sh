#!/usr/bin/env bash
# torchinfo 1.8.0, ptflops 0.7.5 and torchsummary 1.5.1 print three numbers of parameters for one tagger, none the right
# one.
#
# Seen with torch 2.13.0 in November 2026. One expects counters to differ in operations, and to agree on parameters,
# which sum(p.numel() for p in model.parameters()) gives: 655, of an Embedding(20, 8) 160, a GRU(8, 8) 432, an output
# that is tied to the embedding 0, and a frozen Linear(20, 3) 63. torchinfo counts the tied table a second time, 815.
# ptflops leaves the frozen layer out, 592: its number of parameters is that of the trainable ones. torchsummary counts
# the tied table twice and the GRU as 0, because it looks for `weight` and `bias`, 383.
#
# Output: parameters() 655, torchinfo 815, ptflops 592, torchsummary 383
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 torchinfo==1.8.0 ptflops==0.7.5 torchsummary==1.5.1
cat > "$folder/tagger.py" << 'PYTHON'
import contextlib
import io
import re

import torch
import torchinfo
import torchsummary
from ptflops import get_model_complexity_info
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 8)
        self.gru = nn.GRU(8, 8, batch_first=True)
        self.output = nn.Linear(8, 20, bias=False)
        self.output.weight = self.words.weight
        self.classes = nn.Linear(20, 3).requires_grad_(False)

    def forward(self, x):
        return self.classes(self.output(self.gru(self.words(x.long()))[0]))


model = Tagger().eval()
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    torchsummary.summary(model, (10,), device="cpu")
x = torch.zeros(1, 10)
options = {"as_strings": False, "print_per_layer_stat": False, "input_constructor": lambda shape: x}
counts = {
    "parameters()": sum(each.numel() for each in model.parameters()),
    "torchinfo": torchinfo.summary(model, input_data=x, verbose=0).total_params,
    "ptflops": get_model_complexity_info(model, (10,), **options)[1],
    "torchsummary": re.search(r"Total params: ([\d,]+)", printed.getvalue())[1],
}
print(", ".join(f"{name} {count}" for name, count in counts.items()))
PYTHON
expected="parameters() 655, torchinfo 815, ptflops 592, torchsummary 383"
[ "$("$folder/venv/bin/python" -W ignore "$folder/tagger.py" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
