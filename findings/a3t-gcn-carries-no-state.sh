#!/usr/bin/env bash
# torch-geometric-temporal 0.56.2: an A3TGCN begins each period from the same state, and the order of periods is lost.
#
# Seen with torch-geometric 2.8.1 and torch 2.13.0 in November 2026. One expects of A3T-GCN (Bai et al., 2021) a gated
# recurrent unit over the periods, whose states an attention then weighs, as T-GCN's states follow from each other. The
# layer calls its T-GCN cell on each period with the state that it was given itself, zeros by default, and adds what
# comes out. So no period knows of another: with equal attention, periods in reverse give the same output. From zeros
# the reset gate changes nothing, and neither do the columns of the other two matrices that a state would meet: 84 of
# the 161 parameters of A3TGCN(3, 4, 5) do nothing. They are counted and saved, and have gradients of zero. A3TGCN2 is
# the same for batches. torch-sparse, which two other layers name as a type alone, is an empty stand-in here.
#
# Output:
#   A3TGCN: 161 parameters, gradient zero for 84; reverse order of periods, equal attention: the same output True
#   A3TGCN2: 161 parameters, gradient zero for 84; reverse order of periods, equal attention: the same output True
#   TGCN, called in a loop with its state: 156 parameters, gradient zero for 0; reverse order: the same output False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 torch-geometric==2.8.1
"$folder/venv/bin/pip" install --quiet --no-deps torch-geometric-temporal==0.56.2
echo "class SparseTensor: pass" > "$folder/torch_sparse.py"
cat > "$folder/seen.py" << 'PYTHON'
import torch
from torch_geometric_temporal.nn.recurrent import A3TGCN, A3TGCN2, TGCN

torch.manual_seed(0)
edges = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
x = torch.randn(6, 3, 5)


def loop(cell, x):
    state = None
    for period in range(5):
        state = cell(x[..., period], edges, None, state)
    return state


def judge(module, call):
    for each in module.parameters():
        torch.nn.init.normal_(each)
    if hasattr(module, "_attention"):
        torch.nn.init.zeros_(module._attention)
    output = call(module, x)
    (output * torch.randn_like(output)).sum().backward()
    parameters = list(module.parameters())
    zero = sum(int((each.grad == 0).sum()) for each in parameters)
    same = torch.allclose(output, call(module, x.flip(-1)), atol=1e-5)
    return f"{sum(each.numel() for each in parameters)} parameters, gradient zero for {zero}", same


count, same = judge(A3TGCN(3, 4, 5), lambda layer, x: layer(x, edges))
print(f"A3TGCN: {count}; reverse order of periods, equal attention: the same output {same}")
count, same = judge(A3TGCN2(3, 4, 5, 1), lambda layer, x: layer(x[None], edges))
print(f"A3TGCN2: {count}; reverse order of periods, equal attention: the same output {same}")
count, same = judge(TGCN(3, 4), loop)
print(f"TGCN, called in a loop with its state: {count}; reverse order: the same output {same}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
