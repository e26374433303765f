#!/usr/bin/env bash
# DeepChem 2.8.0: the LSTM layers for PyTorch have no parameters, or parameters without a gradient.
#
# Seen with torch 2.13.0 in November 2026. One expects LSTMStep, which says that it is the Keras layer in torch, to have
# its matrices and its bias as parameters, 4·16·(8 + 16 + 1) = 1,600 of 16 units on 8 inputs. They are plain tensors:
# parameters() and state_dict() are empty, so that no optimizer moves them, no file keeps them and .to() leaves them
# where they are. Its forward pass copies the input and the states apart from what they were computed from, and so
# nothing below it learns either. SetGather has the matrix and the bias of its LSTM as parameters, and reads them
# detached: its output has no gradient at all.
#
# Output:
#   LSTMStep: 0 parameters, 0 numbers in the state dict, 1600 numbers in plain tensors; output with a gradient: False
#   after .double(): W is torch.float32
#   SetGather: 144 parameters; output with a gradient: False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
    torch==2.13.0 numpy==2.4.6 scipy==1.17.1 pandas==3.0.1 scikit-learn==1.9.1 joblib==1.6.0 \
    sympy==1.14.0 rdkit==2026.9.1 torch-geometric==2.8.1
"$folder/venv/bin/pip" install --quiet --no-deps deepchem==2.8.0
cat > "$folder/seen.py" << 'PYTHON'
import sys

import numpy as np
import torch

output, sys.stdout = sys.stdout, sys.stderr  # the package prints what it lacks
from deepchem.models.torch_models.layers import LSTMStep, SetGather

sys.stdout = output
torch.manual_seed(0)
step = LSTMStep(16, 8)
h, _ = step([torch.randn(2, 8, requires_grad=True), *step.get_initial_states((2, 16))])
print(
    f"LSTMStep: {sum(each.numel() for each in step.parameters())} parameters,",
    f"{sum(each.numel() for each in step.state_dict().values())} numbers in the state dict,",
    f"{sum(each.numel() for each in vars(step).values() if isinstance(each, torch.Tensor))} numbers in plain tensors;",
    f"output with a gradient: {h.requires_grad}",
)
print(f"after .double(): W is {step.double().W.dtype}")
gather = SetGather(2, 2, n_hidden=4)
q = gather([np.random.default_rng(0).random((4, 4)), np.array([0, 0, 1, 1], dtype=np.int32)])
print(
    f"SetGather: {sum(each.numel() for each in gather.parameters())} parameters;",
    f"output with a gradient: {q.requires_grad}",
)
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
