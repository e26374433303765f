#!/usr/bin/env bash
# torch 2.13.0: which derivatives of an nn.LSTM there are depends on its type of number.
#
# Seen on the CPU in November 2026. One expects a layer to have a forward-mode derivative (torch.func.jvp) and gradients
# for each example (vmap of grad) or not, whether its numbers are float32 or float64, and a GRU as an LSTM. An LSTM in
# float32 is one operation of oneDNN: it has no forward mode, and is repeated for each example, so that vmap of grad
# works. In float64 it is made of products and sums, as a GRU always is: forward mode works, and vmap of grad does not,
# because biases are added in place. A plain vmap of the layer, without grad, is refused for all.
#
# Output:
#   LSTM float32: jvp False, vmap of grad True, vmap False
#   LSTM float64: jvp True, vmap of grad False, vmap False
#   GRU float32: jvp True, vmap of grad False, vmap False
#   GRU float64: jvp True, vmap of grad False, vmap False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6
cat > "$folder/seen.py" << 'PYTHON'
import torch
from torch import nn
from torch.func import functional_call, grad, jvp, vmap


def works(function, *arguments):
    try:
        function(*arguments)
    except RuntimeError:
        return False
    return True


for kind in (nn.LSTM, nn.GRU):
    for dtype in (torch.float32, torch.float64):
        layer = kind(8, 16, dtype=dtype)
        x = torch.randn(5, 3, 8, dtype=dtype)
        params = dict(layer.named_parameters())
        gradient = grad(lambda params, x: functional_call(layer, params, (x,))[0].sum())
        print(
            f"{kind.__name__} {str(dtype).removeprefix('torch.')}:",
            f"jvp {works(jvp, lambda x: layer(x)[0], (x,), (torch.ones_like(x),))},",
            f"vmap of grad {works(vmap(gradient, in_dims=(None, 1)), params, x)},",
            f"vmap {works(vmap(lambda x: layer(x)[0], in_dims=1), x)}",
        )
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
