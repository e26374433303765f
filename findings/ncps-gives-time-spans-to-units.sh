#!/usr/bin/env bash
# ncps 1.0.1: in a batch as large as the layer, the time spans of a sequence go to one unit of every sequence.
#
# Seen with torch 2.13.0 in November 2026. One expects CfC(inputs, units) and LTC to read timespans of the shape (batch,
# steps) as the time since the step before, for each sequence, and each sequence to have the same outputs in a batch as
# alone. The spans of a step are a vector as long as the batch, and are multiplied with an array of batch × units, so
# that the vector lies along the units: unit j has the time of sequence j, in every sequence. With a batch of any other
# size PyTorch refuses it, so the layer works, and is right, for one sequence alone. A last axis of one is cut off, and
# changes nothing; spans of the shape (batch, steps, units) are right.
#
# Output, of 4 sequences and 4 units:
#   CfC default: as alone False, times of the units instead True, with a span for each unit as alone True
#   CfC pure: as alone False, times of the units instead True, with a span for each unit as alone True
#   LTC: as alone False, times of the units instead True, with a span for each unit as alone True
#   CfC, 3 sequences: RuntimeError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 ncps==1.0.1
cat > "$folder/seen.py" << 'PYTHON'
import torch
from ncps.torch import LTC, CfC

torch.manual_seed(0)
x = torch.randn(4, 5, 3)
spans = torch.rand(4, 5) + 0.5
layers = {"CfC default": CfC(3, 4), "CfC pure": CfC(3, 4, mode="pure"), "LTC": LTC(3, 4)}
with torch.no_grad():
    for name, layer in layers.items():
        alone = torch.cat([layer(x[each, None], timespans=spans[each, None])[0] for each in range(4)])
        exchanged = torch.cat([layer(x[each, None], timespans=spans.T[None])[0] for each in range(4)])
        batch = layer(x, timespans=spans)[0]
        assert torch.equal(batch, layer(x, timespans=spans[:, :, None])[0])
        units = layer(x, timespans=spans[:, :, None].expand(-1, -1, 4))[0]
        answers = [torch.allclose(*pair, atol=1e-5) for pair in ((batch, alone), (batch, exchanged), (units, alone))]
        line = f"{name}: as alone {answers[0]}, times of the units instead {answers[1]}"
        print(f"{line}, with a span for each unit as alone {answers[2]}")
    try:
        layers["CfC default"](x[:3], timespans=spans[:3])
    except RuntimeError as error:
        print(f"CfC, 3 sequences: {type(error).__name__}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
