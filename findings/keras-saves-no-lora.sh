#!/usr/bin/env bash
# Keras 3.15.1: the file of a model with LoRA has no LoRA in it, but its sum, and fewer numbers than the model.
#
# Seen with jax 0.10.2 and h5py 3.16.0 in November 2026. One expects a file with the two small matrices beside the
# frozen kernel, as peft's adapters are. Keras adds their product to the kernel when it saves: of Dense(16 to 6) with
# rank 2, count_params() is 146, 16·6 + 6 + 16·2 + 2·6, and the file has 102. The frozen kernel of the file is another
# than the model's, so the original weights cannot be had from it. The model itself, when it loads its own file, outputs
# the same with its second small matrix at zero.
#
# Output:
#   count_params: 146; numbers in the file: 102
#   the kernel in the file is the model's frozen one: False; it has the product added: True
#   after loading, the output is the same: True; the second small matrix is zero: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet keras==3.15.1 jax==0.10.2 jaxlib==0.10.2 h5py==3.16.0
cat > "$folder/lora.py" << 'PYTHON'
import sys

import h5py
import keras
import numpy as np

model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(6)])
dense = model.layers[0]
dense.enable_lora(2)
rows = np.linspace(-1, 1, 12, dtype="float32").reshape(2, 6)
dense.lora_kernel_b.assign(rows)
array = keras.ops.convert_to_numpy
frozen, product = array(dense._kernel), array(dense.lora_kernel_a) @ rows
x = np.linspace(-1, 1, 32, dtype="float32").reshape(2, 16)
before = array(model(x))
path = f"{sys.argv[1]}/a.weights.h5"
model.save_weights(path)
with h5py.File(path) as file:
    arrays = {}
    file.visititems(lambda name, item: arrays.update({name: item[()]} if isinstance(item, h5py.Dataset) else {}))
print(f"count_params: {model.count_params()}; numbers in the file: {sum(each.size for each in arrays.values())}")
kernel = next(each for each in arrays.values() if each.shape == frozen.shape)
added = np.allclose(kernel, frozen + product, atol=1e-5)
print(f"the kernel in the file is the model's frozen one: {np.allclose(kernel, frozen, atol=1e-5)};", end=" ")
print(f"it has the product added: {added}")
model.load_weights(path)
same, zero = np.allclose(array(model(x)), before, atol=1e-4), not array(dense.lora_kernel_b).any()
print(f"after loading, the output is the same: {same}; the second small matrix is zero: {zero}")
PYTHON
expected="count_params: 146; numbers in the file: 102
the kernel in the file is the model's frozen one: False; it has the product added: True
after loading, the output is the same: True; the second small matrix is zero: True"
[ "$(KERAS_BACKEND=jax JAX_PLATFORMS=cpu "$folder/venv/bin/python" "$folder/lora.py" "$folder" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
