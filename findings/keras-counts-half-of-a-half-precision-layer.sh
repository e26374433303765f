#!/usr/bin/env bash
# Keras 3.15.1 counts and saves the input matrix alone of a GRU or LSTM in float16 or bfloat16, inside a Sequential
# model.
#
# Seen with jax 0.10.2 in November 2026, and the same on torch 2.13.0. One expects the type of the weights not to change
# their number: 168 of a GRU of 4 units on 8 inputs, 208 of an LSTM. The default initializer of the recurrent matrix,
# orthogonal, needs a decomposition that neither backend has on the CPU for 16 bits, and raises NotImplementedError;
# Sequential takes that for a layer that cannot tell its shapes, and goes on with the weights made until then. So the
# model says that it is built, count_params() is 96 and 128, and save_weights writes one array. A functional model ends
# in the error. With mixed_float16, or another recurrent_initializer, all is there.
#
# Output:
#   float32: GRU 168, LSTM 208
#   mixed_float16: GRU 168, LSTM 208
#   float16: GRU 96, LSTM 128
#   bfloat16: GRU 96, LSTM 128
#   bfloat16, glorot_uniform: GRU 168, LSTM 208
#   arrays of the GRU in bfloat16: built True, 1 in the model, 1 in the file
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet keras==3.15.1 jax==0.10.2 jaxlib==0.10.2 h5py==3.16.0
cat > "$folder/half.py" << 'PYTHON'
import sys

import h5py
import keras


def model(layer, **options):
    return keras.Sequential([keras.Input((5, 8)), layer(4, **options)])


kinds = {"GRU": keras.layers.GRU, "LSTM": keras.layers.LSTM}
for dtype in ("float32", "mixed_float16", "float16", "bfloat16"):
    counts = (f"{name} {model(layer, dtype=dtype).count_params()}" for name, layer in kinds.items())
    print(f"{dtype}: {', '.join(counts)}")
options = {"dtype": "bfloat16", "recurrent_initializer": "glorot_uniform"}
counts = (f"{name} {model(layer, **options).count_params()}" for name, layer in kinds.items())
print(f"bfloat16, glorot_uniform: {', '.join(counts)}")
gru = model(keras.layers.GRU, dtype="bfloat16")
gru.save_weights(f"{sys.argv[1]}/a.weights.h5")
with h5py.File(f"{sys.argv[1]}/a.weights.h5") as file:
    arrays = []
    file.visititems(lambda name, item: arrays.append(name) if isinstance(item, h5py.Dataset) else None)
print(f"arrays of the GRU in bfloat16: built {gru.built}, {len(gru.weights)} in the model, {len(arrays)} in the file")
PYTHON
expected="float32: GRU 168, LSTM 208
mixed_float16: GRU 168, LSTM 208
float16: GRU 96, LSTM 128
bfloat16: GRU 96, LSTM 128
bfloat16, glorot_uniform: GRU 168, LSTM 208
arrays of the GRU in bfloat16: built True, 1 in the model, 1 in the file"
[ "$(KERAS_BACKEND=jax JAX_PLATFORMS=cpu "$folder/venv/bin/python" "$folder/half.py" "$folder" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
