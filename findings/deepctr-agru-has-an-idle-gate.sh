#!/usr/bin/env bash
# deepctr-torch 0.3.0: DIEN's AGRU has the parameters of a gate that it does not compute, and its AUGRU one bias under
# two names.
#
# Seen with torch 2.13.0 in November 2026. One expects an AGRU (Zhou et al., 2019), whose update gate is the score of
# the attention, to have the reset gate and the candidate: 2·16·(8 + 16 + 2) = 832 parameters of 16 units on 8 inputs
# with two biases; and an AUGRU, which multiplies the update gate by the score, those of a GRU, 1,248. The AGRU has
# 1,248: the middle third of each array is never read. The AUGRU has 1,200: its second bias is registered under the name
# of the first, so that both are one array, added twice. Its state dict has it twice, and loading two different ones
# keeps the second.
#
# Output:
#   AGRUCell: 1248 parameters, 1248 numbers in the state dict; blocks that change the output: 1 3
#   AUGRUCell: 1200 parameters, 1248 numbers in the state dict; blocks that change the output: 1 2 3
#   AUGRUCell, after loading biases of 1 and of 2: bias_ih 2, bias_hh 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
    torch==2.13.0 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 requests==2.34.2 deepctr-torch==0.3.0
cat > "$folder/seen.py" << 'PYTHON'
import sys

import torch

output, sys.stdout = sys.stdout, sys.stderr  # the package prints about its versions
from deepctr_torch.layers.sequence import AGRUCell, AUGRUCell

torch.manual_seed(0)
x, state, score = torch.randn(2, 8), torch.randn(2, 16), torch.rand(2, 1)
for kind in (AGRUCell, AUGRUCell):
    cell = kind(8, 16)
    for each in cell.parameters():
        torch.nn.init.normal_(each)
    blocks = []
    with torch.no_grad():
        before = cell(x, state, score)
        for block in range(3):
            arrays = [each.clone() for each in cell.parameters()]
            for each in cell.parameters():
                each[16 * block : 16 * block + 16] += 1
            blocks += [block + 1] if not torch.equal(cell(x, state, score), before) else []
            for each, array in zip(cell.parameters(), arrays):
                each.copy_(array)
    print(
        f"{kind.__name__}: {sum(each.numel() for each in cell.parameters())} parameters,",
        f"{sum(each.numel() for each in cell.state_dict().values())} numbers in the state dict;",
        "blocks that change the output:",
        *blocks,
        file=output,
    )
arrays = cell.state_dict()
cell.load_state_dict({**arrays, "bias_ih": torch.ones(48), "bias_hh": 2 * torch.ones(48)})
print(
    f"AUGRUCell, after loading biases of 1 and of 2: bias_ih {cell.bias_ih.mean().item():.0f},",
    f"bias_hh {cell.bias_hh.mean().item():.0f}",
    file=output,
)
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
