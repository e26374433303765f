#!/usr/bin/env bash
# Keras 3.15.1: quantize("int8") adds parameters to a model, and quantize("int4") takes some away, in its dense layer
# alone.
#
# Seen with jax 0.10.2 in November 2026. One expects count_params() to stay, or to grow by the scales, and an LSTM's
# matrices to be quantised as a Dense's are. Of LSTM(16) on 8 and Dense(6), 1,600 + 102, the LSTM is left in float32.
# int8 adds the Dense's 6 scales, 1,708. int4 packs two weights in one number and counts it as one, so that 96 weights
# are 48; 6 scales, 6 zero points and an index in float32 for each of the 16 inputs are added: 82 for the Dense, 1,682
# in all. The kernel is no longer trainable, and so the trainable parameters are 1,606.
#
# Output:
#   none: 1702 parameters, 1702 trainable; the Dense has 102
#   int8: 1708 parameters, 1606 trainable; the Dense has 108
#   int4: 1682 parameters, 1606 trainable; the Dense has 82
#   the LSTM's types: float32
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet keras==3.15.1 jax==0.10.2 jaxlib==0.10.2
cat > "$folder/quantised.py" << 'PYTHON'
from math import prod

import keras

for mode in (None, "int8", "int4"):
    lstm, dense = keras.layers.LSTM(16), keras.layers.Dense(6)
    model = keras.Sequential([keras.Input((10, 8)), lstm, dense])
    if mode:
        model.quantize(mode)
    trainable = sum(prod(weight.shape) for weight in model.trainable_weights)
    print(f"{mode or 'none'}: {model.count_params()} parameters, {trainable} trainable;", end=" ")
    print(f"the Dense has {dense.count_params()}")
print(f"the LSTM's types: {' '.join({weight.dtype for weight in lstm.weights})}")
PYTHON
expected="none: 1702 parameters, 1702 trainable; the Dense has 102
int8: 1708 parameters, 1606 trainable; the Dense has 108
int4: 1682 parameters, 1606 trainable; the Dense has 82
the LSTM's types: float32"
[ "$(KERAS_BACKEND=jax JAX_PLATFORMS=cpu "$folder/venv/bin/python" "$folder/quantised.py" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
