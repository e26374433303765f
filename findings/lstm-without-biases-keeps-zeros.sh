#!/usr/bin/env bash
# nn.LSTM of torch 2.13.0 keeps more for the backward pass without biases than with them: zeros as large as its weights.
#
# Expected: bias=False leaves two vectors out, so on the CPU autograd saves as much as with them, or less.
# Seen on 28 November 2026 (torch 2.13.0 on the CPU, Python 3.11), in float32, one sequence of 10 steps, in bytes beside
# the parameters:
#
#   LSTM(8, 16)       with biases     29888  without     36032, 4 * 16 * (8 + 16) numbers of 4 bytes more
#   LSTM(512, 1024)   with biases    753664  without  25919488, 4 * 1024 * (512 + 1024) numbers of 4 bytes more
#
# The LSTM runs in oneDNN, which is given biases in any case; PyTorch makes them with the shapes of the two matrices.
# Exit code 0: it is still so; 1: it changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/env/bin/python" - << 'END'
import sys

import torch


def kept(inputs, units, bias):
    layer = torch.nn.LSTM(inputs, units, bias=bias)
    own = {each.untyped_storage().data_ptr() for each in layer.parameters()}
    storages = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        layer(torch.zeros(10, 1, inputs))
    return sum(storage.nbytes() for storage in storages.values())


same = True
for inputs, units in ((8, 16), (512, 1024)):
    with_biases, without = kept(inputs, units, True), kept(inputs, units, False)
    print(f"LSTM({inputs}, {units}): with biases {with_biases}, without {without}")
    same = same and without - with_biases == 4 * 4 * units * (inputs + units)
sys.exit(not same)
END
