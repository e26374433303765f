#!/usr/bin/env bash
# PaddlePaddle 3.3.1 (28 November 2026): an LSTM with a projection gives the arrays of its second layer the names of
# others.
#
# One would expect `weight_ih_l1` of paddle.nn.LSTM(3, 4, num_layers=2, proj_size=2) to be the input matrix of the second
# layer, 16 × 2, as in torch, and each layer's projection to have a name beside it. A layer has five arrays with a
# projection, but the names are made for four. So from the first projection on each array has the name of the next: the
# projection of layer 0 is called weight_ih_l1, the second layer's input matrix weight_hh_l1, its recurrent matrix
# bias_ih_l1, and its last two have their cell's names alone. The second direction of a bidirectional layer is named like
# that too. Outputs are right, and so is a state dict that the same program loads. Who copies weights by these names, or
# freezes a bias by its name, takes other arrays; those of the cells, `1.cell.weight_ih`, are right.
#
# Seen: weight_ih_l1 (4, 2) is 0.cell.weight_ho; weight_hh_l1 (16, 2) is 1.cell.weight_ih; bias_ih_l1 (16, 2) is
# 1.cell.weight_hh; bias_hh_l1 (16,) is 1.cell.bias_ih.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q paddlepaddle==3.3.1 numpy==2.2.6
cat > "$folder/names.py" << 'END'
from paddle import nn

state = nn.LSTM(3, 4, num_layers=2, proj_size=2).state_dict()
cells = {id(array): name for name, array in state.items() if ".cell." in name}
names = {name: cells[id(array)] for name, array in state.items() if name.endswith("_l1")}
for name, cell in names.items():
    print(name, tuple(state[name].shape), "is", cell)
expected = ["0.cell.weight_ho", "1.cell.weight_ih", "1.cell.weight_hh", "1.cell.bias_ih"]
raise SystemExit([*names.values()] != expected)
END
cd "$folder" && venv/bin/python -W ignore names.py
