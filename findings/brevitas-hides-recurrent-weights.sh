#!/usr/bin/env bash
# Brevitas 0.13.4: the recurrent weights of a QuantLSTM have the name of a parameter of the input weights' scale.
#
# Seen with torch 2.13.0 in November 2026. One expects named_parameters() of QuantLSTM(8, 16) to name an input and a
# hidden weight for each gate, and the numbers of nn.LSTM, 1,664, and some scales. Both matrices of a gate share a
# scale, which keeps the hidden one in a list of what it looks at; modules are walked in that order, and a parameter is
# named once. So the four hidden matrices end in `input_weight.weight_quant.….extra_tracked_params_list.0.parameter`,
# and no name has `hidden`: whoever freezes, regularises or counts by names takes them for scales. A gate has one bias,
# the sum of nn.LSTM's two, whose state dict it loads: 1,600, and 11 scales.
#
# Output:
#   1611 parameters: 11 scales, 1600 others
#   names with hidden_weight: 0
#   (16, 16): 4, all below input_weight.weight_quant: True, and the gate's hidden weight: True
#   biases: 4, the sum of the two loaded: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 brevitas==0.13.4
cat > "$folder/seen.py" << 'PYTHON'
import torch
from brevitas.nn import QuantLSTM
from torch import nn

layer, source = QuantLSTM(8, 16), nn.LSTM(8, 16)
layer.load_state_dict(source.state_dict(), strict=False)
params = dict(layer.named_parameters())
scales = [each for each in params.values() if not each.dim()]
total = sum(each.numel() for each in params.values())
print(f"{total} parameters: {len(scales)} scales, {total - len(scales)} others")
print("names with hidden_weight:", sum("hidden_weight" in name for name in params))
square = {name: each for name, each in params.items() if each.shape == (16, 16)}
below = all("input_weight.weight_quant" in name and "extra_tracked_params_list" in name for name in square)
hidden = all(any(torch.equal(each, part) for part in source.weight_hh_l0.split(16)) for each in square.values())
print(f"(16, 16): {len(square)}, all below input_weight.weight_quant: {below}, and the gate's hidden weight: {hidden}")
biases = [each for name, each in params.items() if name.endswith("bias")]
sums = (source.bias_ih_l0 + source.bias_hh_l0).split(16)
print(f"biases: {len(biases)}, the sum of the two loaded: {all(any(torch.allclose(a, b) for b in sums) for a in biases)}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
