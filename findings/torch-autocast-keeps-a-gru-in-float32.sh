#!/usr/bin/env bash
# Under torch.autocast on the CPU an nn.LSTM and an nn.RNN output bfloat16, an nn.GRU float32, and so do two of the cells.
#
# Seen with torch 2.13.0 in November 2026. One expects the layers of one module to be treated alike: all in bfloat16, or
# all in float32. An LSTM is one operation that autocast casts whole. A GRU is made of products, which are cast, and of
# element-wise operations, which promote the products to the type of its state, float32 zeros; so its states and what is
# saved of them have four bytes a number. nn.RNN is tanh or relu of cast sums, and stays in bfloat16. An LSTM with a
# projection, which is not that one operation, has h in bfloat16 and c in float32.
#
# Output:
#   LSTM: bfloat16, state bfloat16 bfloat16
#   LSTM with proj_size: bfloat16, state bfloat16 float32
#   GRU: float32, state float32
#   RNN: bfloat16, state bfloat16
#   LSTMCell: state float32 float32
#   GRUCell: state float32
#   RNNCell: state bfloat16
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6
cat > "$folder/casts.py" << 'PYTHON'
import torch
from torch import nn


def types(states):
    states = states if isinstance(states, tuple) else (states,)
    return " ".join(str(each.dtype).removeprefix("torch.") for each in states)


x = torch.randn(5, 2, 8)
layers = {
    "LSTM": nn.LSTM(8, 16),
    "LSTM with proj_size": nn.LSTM(8, 16, proj_size=4),
    "GRU": nn.GRU(8, 16),
    "RNN": nn.RNN(8, 16),
}
with torch.autocast("cpu", dtype=torch.bfloat16):
    for name, layer in layers.items():
        output, states = layer(x)
        print(f"{name}: {types(output)}, state {types(states)}")
    for kind in (nn.LSTMCell, nn.GRUCell, nn.RNNCell):
        print(f"{kind.__name__}: state {types(kind(8, 16)(x[0]))}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$("$folder/venv/bin/python" "$folder/casts.py" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
