#!/usr/bin/env bash
# torch.profiler with_flops of torch 2.13.0 counts one sum of two biases for an LSTM, whatever the number of steps.
#
# Expected: for an LSTM, GRU and RNN of 16 units on 8 inputs two FLOPs for each multiply-add of each step, 2 * 4 * 16 *
# 24 = 3,072, 2,304 and 768 per step, as for a Linear; or nothing for what it does not know.
# Seen on 28 November 2026 (torch 2.13.0 on the CPU, Python 3.11):
#
#          1 step   10 steps   100 steps
#   LSTM       64         64          64
#   GRU      2320      23200      232000
#   RNN       768       7680       76800
#
# An LSTM in float32 runs in oneDNN as one operation, which the profiler's table has not; what is left of it is the sum
# of its two bias vectors, 4 * 16, made once. To a GRU's products it adds one of the element-wise operations, 16 per step.
# Exit code 0: it is still so; 1: it changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/env/bin/python" - << 'END'
import sys

import torch

seen = {}
for name in ("LSTM", "GRU", "RNN"):
    layer = getattr(torch.nn, name)(8, 16).eval()
    for steps in (1, 10, 100):
        with torch.no_grad(), torch.profiler.profile(with_flops=True) as profiled:
            layer(torch.zeros(steps, 1, 8))
        seen[name, steps] = sum(event.flops for event in profiled.key_averages())
    print(name, *(seen[name, steps] for steps in (1, 10, 100)))
per_step = {"LSTM": 0, "GRU": 2320, "RNN": 768}
expected = {(name, steps): per_step[name] * steps or 64 for name, steps in seen}
sys.exit(seen != expected)
END
