#!/usr/bin/env bash
# minGRU-pytorch 0.2.1: a minLSTM that goes on from a state computes something else in several steps than in one by one.
#
# Seen with torch 2.13.0 in November 2026. One expects a sequence that is given in two halves, with the state of the
# first passed to the second, to come out as the whole does, as it does of minGRU (Feng et al., 2024). Of minLSTM it
# does if the second half is given step by step. Given as several steps it does not: the state, already an output of the
# function g, which adds a half to what is positive, is put through g once more, so that each state grows by 0.5. The
# difference fades with the product of the forget gates. No error, no warning. A state of zeros is taken for 0.5 too, so
# that it is not the same as none.
#
# Output:
#   minGRU: second half as the whole, step by step: True, in one call: True; a state of zeros as none: True
#   minLSTM: second half as the whole, step by step: True, in one call: False; a state of zeros as none: False
#   minLSTM, one call, computes with its state plus 0.5: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 einops==0.8.2 minGRU-pytorch==0.2.1
cat > "$folder/seen.py" << 'PYTHON'
import torch
from minGRU_pytorch.minGRU import minGRU
from minGRU_pytorch.minLSTM import minLSTM

torch.manual_seed(0)
x = torch.randn(2, 6, 8)
first, second = x[:, :3], x[:, 3:]


def equal(one, other):
    return torch.allclose(one, other, atol=1e-5)


for kind in (minGRU, minLSTM):
    layer = kind(8)
    whole = layer(x)[:, 3:]
    _, state = layer(first, return_next_prev_hidden=True)
    steps, reached = [], state
    for step in range(3):
        output, reached = layer(second[:, step : step + 1], reached, return_next_prev_hidden=True)
        steps.append(output)
    print(
        f"{kind.__name__}: second half as the whole, step by step: {equal(torch.cat(steps, 1), whole)},",
        f"in one call: {equal(layer(second, state), whole)};",
        f"a state of zeros as none: {equal(layer(second, torch.zeros(2, 1, 8)), layer(second))}",
    )
steps, reached = [], state + 0.5
for step in range(3):
    output, reached = layer(second[:, step : step + 1], reached, return_next_prev_hidden=True)
    steps.append(output)
print("minLSTM, one call, computes with its state plus 0.5:", equal(torch.cat(steps, 1), layer(second, state)))
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
