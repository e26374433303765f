#!/usr/bin/env bash
# PaddlePaddle 3.3.1 (28 November 2026): beyond the end of a sequence nn.GRU outputs zeros, and nn.RNN of its cell does
# not.
#
# One expects nn.RNN(cell) to output what the layer of that cell does, with sequence_length too. The last states are
# equal: both stop at the end of each sequence. But after it the layer outputs zeros, and nn.RNN what the cell makes of
# the padding. A mean or a maximum over the outputs takes those in.
#
# Output for two sequences; the second has 3 steps of 5:
#   the same last state: True; the same outputs within the sequences: True
#   nn.GRU, beyond the end: zeros
#   nn.RNN(GRUCell), beyond the end: other numbers
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q paddlepaddle==3.3.1 numpy==2.2.6
cat > "$folder/lengths.py" << 'END'
import numpy as np
import paddle
from paddle import nn

x = paddle.to_tensor(np.linspace(-1, 1, 30, dtype="float32").reshape(2, 5, 3))
lengths = paddle.to_tensor([5, 3])
layer = nn.GRU(3, 4)
(outputs, state), (others, last) = (module(x, sequence_length=lengths) for module in (layer, nn.RNN(layer[0].cell)))
outputs, others = outputs.numpy(), others.numpy()
within = np.allclose(outputs[0], others[0], atol=1e-5) and np.allclose(outputs[1, :3], others[1, :3], atol=1e-5)
same = np.allclose(state.numpy(), last.numpy(), atol=1e-5)
print(f"the same last state: {same}; the same outputs within the sequences: {within}")
for title, array in (("nn.GRU", outputs), ("nn.RNN(GRUCell)", others)):
    print(f"{title}, beyond the end: {'other numbers' if array[1, 3:].any() else 'zeros'}")
END
expected="the same last state: True; the same outputs within the sequences: True
nn.GRU, beyond the end: zeros
nn.RNN(GRUCell), beyond the end: other numbers"
cd "$folder"
[ "$(venv/bin/python -W ignore lengths.py 2> log | tee /dev/stderr)" = "$expected" ] || { tail -n 5 log; exit 1; }
