#!/usr/bin/env bash
# A .keras file, and .weights.h5, of a SpectralNormalization hold the kernel of its layer twice.
#
# Seen in keras 3.15.1 (jax 0.10.2, h5py 3.16.0) in November 2026. One expects a file to hold each weight once: an
# embedding that two layers share is. But SpectralNormalization assigns the kernel of its layer to an attribute of its
# own, so that both track the one variable, and each writes it: layers/spectral_normalization/vars/0 and
# layers/spectral_normalization/layer/vars/0 have the same numbers. A sum over the file's arrays is larger than
# count_params() by the kernel.
#
# Output:
#   count_params: 116; numbers in the file: 180
#   layers/spectral_normalization/layer/vars/0 (8, 8)
#   layers/spectral_normalization/layer/vars/1 (8,)
#   layers/spectral_normalization/vars/0 (8, 8)
#   layers/spectral_normalization/vars/1 (1, 8)
#   both are the kernel: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet keras==3.15.1 jax==0.10.2 jaxlib==0.10.2 h5py==3.16.0
cat > "$folder/twice.py" << 'PYTHON'
import sys
from math import prod

import h5py
import keras

layers = [keras.Input((8,)), keras.layers.SpectralNormalization(keras.layers.Dense(8)), keras.layers.Dense(4)]
model = keras.Sequential(layers)
model.save_weights(f"{sys.argv[1]}/a.weights.h5")
with h5py.File(f"{sys.argv[1]}/a.weights.h5") as file:
    arrays = {}
    file.visititems(lambda path, item: arrays.update({path: item[()]} if isinstance(item, h5py.Dataset) else {}))
params = model.count_params()
numbers = sum(prod(array.shape) for array in arrays.values())
print(f"count_params: {params}; numbers in the file: {numbers}")
own = {path: array for path, array in arrays.items() if "spectral" in path}
for path, array in own.items():
    print(path, array.shape)
first, second = own["layers/spectral_normalization/vars/0"], own["layers/spectral_normalization/layer/vars/0"]
print("both are the kernel:", bool((first == second).all()))
sys.exit(0 if numbers == params + 64 and (first == second).all() else 1)
PYTHON
KERAS_BACKEND=jax "$folder/venv/bin/python" "$folder/twice.py" "$folder"
