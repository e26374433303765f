#!/usr/bin/env bash
# torch.export keeps an nn.LSTM as one operation, and yet for the steps of its example alone.
#
# Seen in torch 2.13.0 in November 2026. One expects a program in which aten.lstm is a single node to take any number of
# steps, as it takes any batch if that is declared: nothing in it depends on the steps. The operation is traced through
# its equations, a Python loop over the steps, and so their number becomes a constant. Dim.AUTO for that axis is taken
# without a word and gives a fixed 10; a named Dim is refused. The file, a .pt2, is larger by nothing: one node, the
# weights once. Without the guards the same program computes 12 steps as the module does.
#
# Output:
#   LSTM: aten.lstm once, of 10 steps; Dim.AUTO for steps: (2, 10, 8); for the batch: (s, 10, 8)
#   12 steps: refused, x.size()[1] == 10; its graph alone: as the module
#   GRU: aten.gru once, of 10 steps; Dim.AUTO for steps: (2, 10, 8); for the batch: (s, 10, 8)
#   12 steps: refused, x.size()[1] == 10; its graph alone: as the module
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6
cat > "$folder/steps.py" << 'PYTHON'
import re

import torch
from torch import nn


class Network(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layer = kind(8, 16, batch_first=True)

    def forward(self, x):
        return self.layer(x)[0]


def shape(program):
    sizes = next(node.meta["val"].shape for node in program.graph.nodes if node.name == "x")
    return f"({', '.join(str(each) if str(each).isdigit() else 's' for each in sizes)})"


torch.manual_seed(0)
x, longer = torch.randn(2, 10, 8), torch.randn(2, 12, 8)
for kind in (nn.LSTM, nn.GRU):
    model = Network(kind).eval()
    by_axis = [
        torch.export.export(model, (x,), dynamic_shapes={"x": {axis: torch.export.Dim.AUTO}}) for axis in (1, 0)
    ]
    name = f"aten.{kind.__name__.lower()}"
    count = sum(str(node.target).startswith(name) for node in by_axis[0].graph.nodes)
    print(f"{kind.__name__}: {name} {'once' if count == 1 else count}, of 10 steps;", end=" ")
    print(f"Dim.AUTO for steps: {shape(by_axis[0])}; for the batch: {shape(by_axis[1])}")
    try:
        by_axis[0].module()(longer)
        answer = "taken"
    except AssertionError as error:
        answer = f"refused, {re.search(r'x[.]size.*', str(error))[0]}"
    placeholders = dict(zip(by_axis[0].graph_signature.parameters, by_axis[0].parameters()))
    output = by_axis[0].graph_module(*placeholders.values(), longer)[0]
    same = torch.allclose(output, model(longer), atol=1e-5)
    print(f"12 steps: {answer}; its graph alone: {'as the module' if same else 'other numbers'}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$("$folder/venv/bin/python" -W ignore "$folder/steps.py" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
