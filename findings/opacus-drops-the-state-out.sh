#!/usr/bin/env bash
# Opacus 1.6.0: the dropout of a DPLSTM drops half of the state at every step, and half of the output of the last layer.
#
# Seen with torch 2.13.0 in November 2026. One expects dropout=0.5 of DPLSTM, a drop-in replacement of nn.LSTM, to drop
# out what one layer outputs to the next, and to do nothing in a single layer, as its own warning says. Each new h is
# dropped out before it is kept, in each layer, with another mask at each step: the next step reads the dropped one, and
# outputs and last states have zeros too, of one layer as of two. The cell state c is kept whole. DPGRU and DPRNN do the
# same; of a GRU the part of the state that the update gate keeps is so halved or doubled at every step. Without
# dropout, and in evaluation mode, outputs and parameters are those of torch.
#
# Output:
#   DPLSTM, 1 layer: zeros in the output 0.5, in the last state 0.5; nn.LSTM: 0.0 and 0.0
#   DPLSTM, 2 layers: zeros in the output 0.5, in the last state 0.5; nn.LSTM: 0.0 and 0.0
#   DPGRU, 1 layer: zeros in the output 0.5, in the last state 0.5; nn.GRU: 0.0 and 0.0
#   DPGRU, 2 layers: zeros in the output 0.5, in the last state 0.5; nn.GRU: 0.0 and 0.0
#   the second step reads the dropped state of the first: True
#   without dropout, equal to nn.LSTM: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 scipy==1.17.1 opt-einsum==3.4.0
"$folder/venv/bin/pip" install --quiet --no-deps opacus==1.6.0
cat > "$folder/seen.py" << 'PYTHON'
import torch
from opacus.layers import DPGRU, DPLSTM
from torch import nn

torch.manual_seed(0)
x = torch.randn(32, 10, 8)


def zeros(layer):
    output, state = layer(x)
    state = state[0] if isinstance(state, tuple) else state
    return [f"{(each == 0).float().mean().item():.1f}" for each in (output, state)]


for ours, theirs in ((DPLSTM, nn.LSTM), (DPGRU, nn.GRU)):
    for layers in (1, 2):
        options = {"num_layers": layers, "batch_first": True, "dropout": 0.5}
        output, state = zeros(ours(8, 64, **options))
        print(
            f"{ours.__name__}, {layers} layer{'s' * (layers > 1)}: zeros in the output {output}, in the last state",
            f"{state}; nn.{theirs.__name__}:",
            " and ".join(zeros(theirs(8, 64, **options))),
        )
layer, cell = DPLSTM(8, 64, batch_first=True, dropout=0.5), nn.LSTMCell(8, 64)
cell.load_state_dict({name.removesuffix("_l0"): array for name, array in layer.state_dict().items()})
output = layer(x)[0]
_, c = cell(x[:, 0])
h, _ = cell(x[:, 1], (output[:, 0], c))
kept = output[:, 1] != 0
same = torch.allclose(output[:, 1][kept], 2 * h[kept], atol=1e-5)
print("the second step reads the dropped state of the first:", same)
layer, same = DPLSTM(8, 64, 2, batch_first=True), nn.LSTM(8, 64, 2, batch_first=True)
same.load_state_dict(layer.state_dict())
print("without dropout, equal to nn.LSTM:", torch.allclose(layer(x)[0], same(x)[0], atol=1e-5))
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
