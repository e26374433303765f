#!/usr/bin/env bash
# FlopCounterMode of torch 2.13.0 has three numbers for one attention layer: all its products, a part, and 0.
#
# Seen on the CPU in November 2026. One expects the same FLOPs whenever the same layer computes the same outputs from the
# same 10 steps: MultiheadAttention(16, 4) has 4·16·16 multiply-adds per step and 2·16 per pair of steps, 13,440, twice as
# many FLOPs, 26,880. That is the number while weights are returned. With need_weights=False the pairs, 6,400, are not
# counted: they are then one operation of the CPU, which is not in the counter's table. In evaluation mode without
# gradients the whole layer is one such operation, and the number is 0. So whoever measures a Transformer under no_grad,
# as one does for inference, loses every layer of an encoder; a layer with dropout counts more while it trains, because
# dropout takes the slower path.
#
# Output, with gradients and without:
#   MultiheadAttention: train 26880 26880, eval 26880 0
#   MultiheadAttention, need_weights=False: train 20480 20480, eval 20480 0
#   TransformerEncoderLayer, dropout 0.1: train 47360 47360, eval 40960 0
#   TransformerEncoderLayer, dropout 0: train 40960 40960, eval 40960 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6
cat > "$folder/seen.py" << 'PYTHON'
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

x = torch.randn(1, 10, 16)
attention = nn.MultiheadAttention(16, 4, batch_first=True)
calls = {"MultiheadAttention": lambda: attention(x, x, x)[0]}
calls["MultiheadAttention, need_weights=False"] = lambda: attention(x, x, x, need_weights=False)[0]
layers = [attention]
for rate in (0.1, 0):
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=rate, batch_first=True)
    layers.append(layer)
    calls[f"TransformerEncoderLayer, dropout {rate}"] = lambda layer=layer: layer(x)
for name, call in calls.items():
    answers, outputs = [], []
    for training in (True, False):
        for layer in layers:
            layer.train(training)
        numbers = []
        for gradients in (True, False):
            with torch.set_grad_enabled(gradients), FlopCounterMode(display=False) as counter:
                outputs.append(call())
            numbers.append(str(counter.get_total_flops()))
        answers.append(f"{'train' if training else 'eval'} {' '.join(numbers)}")
    assert all(torch.allclose(outputs[2], output, atol=1e-5) for output in outputs[2:])
    print(f"{name}: {', '.join(answers)}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
