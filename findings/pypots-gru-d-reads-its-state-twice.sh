#!/usr/bin/env bash
# PyPOTS 1.5: the cell of a GRU-D has its own state among its inputs, and a matrix whose diagonal alone is used.
#
# Seen with torch 2.13.0 in November 2026. One expects a GRU-D of 16 units on 8 values and their 8 masks (Che et al.,
# 2018) to have a GRU cell on 16 inputs, 3·16·(16 + 16 + 2) = 1,632 parameters, and 8 weights for the decay of the inputs,
# one each. The cell reads the decayed state too, beside the state itself: 32 inputs and 2,400 parameters. In its gates
# the two matrices on the one state are only ever added. The decay of the inputs has a matrix of 64; a mask keeps
# its diagonal, and the other 56 do nothing. So 824 of 2,616 parameters are beyond the paper's.
#
# Output:
#   rnn_cell: GRUCell(32, 16), 2400 parameters
#   adding to one state matrix of the gates and subtracting from the other changes the output: False
#   temp_decay_x: W (8, 8); other numbers off its diagonal change the output: False, on it: True
#   all: 2616
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 pypots==1.5
cat > "$folder/grud.py" << 'PYTHON'
import torch
from pypots.nn.modules.grud import BackboneGRUD


def count(module):
    return sum(each.numel() for each in module.parameters())


torch.manual_seed(0)
STEPS, INPUTS, UNITS = 5, 8, 16
model = BackboneGRUD(STEPS, INPUTS, UNITS)
x, deltas, locf = (torch.rand(4, STEPS, INPUTS) for _ in range(3))
mask = (torch.rand(4, STEPS, INPUTS) > 0.5).float()
arguments = x, mask, deltas, torch.rand(INPUTS), locf
cell, decay = model.rnn_cell, model.temp_decay_x
print(f"rnn_cell: {cell}, {count(cell)} parameters")
before = model(*arguments)[1]
with torch.no_grad():  # rows of r and z, which are the first two of three blocks; columns of the state
    change = torch.randn(2 * UNITS, UNITS)
    cell.weight_ih[: 2 * UNITS, INPUTS : INPUTS + UNITS] += change
    cell.weight_hh[: 2 * UNITS] -= change
changed = not torch.allclose(model(*arguments)[1], before, atol=1e-4)
print(f"adding to one state matrix of the gates and subtracting from the other changes the output: {changed}")
answers = []
for part in (1 - torch.eye(INPUTS), torch.eye(INPUTS)):
    before = model(*arguments)[1]
    with torch.no_grad():
        decay.W += part
    answers.append(not torch.allclose(model(*arguments)[1], before, atol=1e-4))
print(f"temp_decay_x: W {tuple(decay.W.shape)}; other numbers off its diagonal change the output: {answers[0]}, on it: {answers[1]}")
print(f"all: {count(model)}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$("$folder/venv/bin/python" -W ignore "$folder/grud.py" 2> "$folder/log" | grep -E '^(rnn_cell|adding|temp|all)' |
    tee /dev/stderr)" = "$expected" ] || { tail -n 5 "$folder/log"; exit 1; }
