#!/usr/bin/env bash
# The sLSTMCell of pytorch-forecasting 1.8.0 has no normalizer state, and its gates are a softmax over the units.
#
# Seen with torch 2.13.0 in November 2026. One expects of "the stabilized LSTM cell" of xLSTM (Beck et al., 2024) an input
# gate exp(i) for each unit by itself, and a state n beside c by which c is divided. The cell has h and c alone. Its
# input gate of a unit is exp(i) divided by the sum over all units, its forget gate likewise, and the two are then divided
# by their sum: a unit's gates are one number and one minus it, as in a coupled cell, and depend on the sums of all
# other units. So a bias that is equal for all input gates does nothing; in the paper's cell it changes what is written.
# The count is that of PyTorch's LSTM, two biases, and 20h for four layer norms unless use_layer_norm=False.
#
# Output:
#   states: 2; parameters: 1984, without layer norm 1664
#   1 added to the bias of all input gates changes the output: False
#   1 added to the bias of the input gate of unit 0: changes units 0-15
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 pytorch-forecasting==1.8.0
cat > "$folder/cell.py" << 'PYTHON'
import torch
from pytorch_forecasting.layers import sLSTMCell

UNITS = 16
torch.manual_seed(0)
x, h, c = torch.randn(3, 8), torch.randn(3, UNITS), torch.randn(3, UNITS)


def changed(*units):
    """Return which units another bias of these units' input gates changes."""
    before = cell(x, h, c)[0]
    with torch.no_grad():
        cell.input_weights.bias[list(units)] += 1
    after = cell(x, h, c)[0]
    with torch.no_grad():
        cell.input_weights.bias[list(units)] -= 1
    return [unit for unit in range(UNITS) if not torch.allclose(before[:, unit], after[:, unit], rtol=0, atol=1e-6)]


def count(module):
    return sum(each.numel() for each in module.parameters())


cell = sLSTMCell(8, UNITS, use_layer_norm=False).eval()
print(f"states: {len(cell(x, h, c))}; parameters: {count(sLSTMCell(8, UNITS))}, without layer norm {count(cell)}")
print(f"1 added to the bias of all input gates changes the output: {bool(changed(*range(UNITS)))}")
units = changed(0)
print(f"1 added to the bias of the input gate of unit 0: changes units {units[0]}-{units[-1]}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$("$folder/venv/bin/python" -W ignore "$folder/cell.py" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
