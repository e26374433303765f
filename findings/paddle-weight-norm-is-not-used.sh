#!/usr/bin/env bash
# PaddlePaddle 3.3.1 (28 November 2026): weight_norm on the cell of an nn.LSTM has no effect on the layer.
#
# One expects paddle.nn.utils.weight_norm to do to the cell of an LSTM what it does to a Linear: the layer computes with
# the matrix that lengths and directions give, and training moves these two. But the layer has a list of its arrays,
# made once, and computes with that. With lengths of 0 its output is what it was, the old matrix has a gradient and the
# two parts have none. All three are parameters: LSTM(3, 4) has 144, and 209 afterwards, 144 + 64 + 1. nn.RNN, given the
# same cell, does use the parts.
#
# Output:
#   parameters: 144 before, 209 after
#   lengths of 0 change the output of nn.LSTM: False; have gradients: weight_ih_l0 weight_hh_l0 bias_ih_l0 bias_hh_l0
#   lengths of 0 change the output of nn.RNN of its cell: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q paddlepaddle==3.3.1 numpy==2.2.6
cat > "$folder/norm.py" << 'END'
import numpy as np
import paddle
from paddle import nn

x = paddle.to_tensor(np.linspace(-1, 1, 15, dtype="float32").reshape(1, 5, 3))
layer = nn.LSTM(3, 4)
cell = layer[0].cell
before = sum(each.size for each in layer.parameters())
nn.utils.weight_norm(cell, "weight_hh", dim=None)
print(f"parameters: {before} before, {sum(each.size for each in layer.parameters())} after")
wrapped = nn.RNN(cell)
outputs = [module(x)[0].numpy() for module in (layer, wrapped)]
layer(x)[0].sum().backward()
moved = [name for name, each in layer.named_parameters() if each.grad is not None]
cell.weight_hh_g.set_value(cell.weight_hh_g * 0)
changed = [not np.allclose(module(x)[0].numpy(), old, atol=1e-4) for module, old in zip((layer, wrapped), outputs)]
print(f"lengths of 0 change the output of nn.LSTM: {changed[0]}; have gradients: {' '.join(moved)}")
print(f"lengths of 0 change the output of nn.RNN of its cell: {changed[1]}")
END
expected="parameters: 144 before, 209 after
lengths of 0 change the output of nn.LSTM: False; have gradients: weight_ih_l0 weight_hh_l0 bias_ih_l0 bias_hh_l0
lengths of 0 change the output of nn.RNN of its cell: True"
cd "$folder"
[ "$(venv/bin/python -W ignore norm.py 2> log | tee /dev/stderr)" = "$expected" ] || { tail -n 5 log; exit 1; }
