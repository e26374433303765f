#!/usr/bin/env bash
# snntorch 1.0.0: an SLSTM begins each step from zeros, unless it has as many units as inputs.
#
# Seen with torch 2.13.0 in November 2026. One expects a spiking LSTM cell that is called step by step to go on from the
# states that it is given, or that it keeps with init_hidden=True. The cell compares the shape of its states with that
# of its input, and makes them anew, as zeros, where they differ: a state of 16 units for 8 inputs always does. No
# error, no warning. So the cell has no memory, and its recurrent matrix, 1,024 of 1,664 parameters, is counted, saved
# and never used: its gradient is zero. With 16 inputs for 16 units, or in the convolutional SConv2dLSTM, states are
# kept. The option inhibition, which should leave the spike of the unit with the highest state alone, does nothing
# either.
#
# Output:
#   8 inputs, 16 units: the same state after each of 4 steps: True; gradient of the recurrent matrix zero: True
#   16 inputs, 16 units: the same state after each of 4 steps: False; gradient of the recurrent matrix zero: False
#   8 inputs, 16 units, init_hidden=True: the same state after each of 4 steps: True
#   inhibition=True: spikes of one sequence in a step: 16
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 snntorch==1.0.0
cat > "$folder/seen.py" << 'PYTHON'
import torch
from snntorch import SLSTM

torch.manual_seed(0)
for inputs in (8, 16):
    cell, x, states = SLSTM(inputs, 16), torch.randn(2, inputs), []
    syn, mem = cell.reset_mem()
    for _ in range(4):
        _, syn, mem = cell(x, syn, mem)
        states.append(mem)
    gradient, = torch.autograd.grad(mem.sum(), cell.lstm_cell.weight_hh)
    print(
        f"{inputs} inputs, 16 units: the same state after each of 4 steps:",
        f"{all(torch.equal(states[0], each) for each in states)};",
        f"gradient of the recurrent matrix zero: {not gradient.any()}",
    )
cell, x = SLSTM(8, 16, init_hidden=True, output=True), torch.randn(2, 8)
states = [cell(x)[2] for _ in range(4)]
print("8 inputs, 16 units, init_hidden=True: the same state after each of 4 steps:", all(
    torch.equal(states[0], each) for each in states
))
cell = SLSTM(8, 16, threshold=-1.0, inhibition=True)
spikes = cell(torch.randn(1, 8), *cell.reset_mem())[0]
print(f"inhibition=True: spikes of one sequence in a step: {int(spikes.sum())}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
