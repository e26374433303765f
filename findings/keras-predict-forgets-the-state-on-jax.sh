#!/usr/bin/env bash
# Keras 3.15.1: a stateful LSTM keeps its state on JAX when the model is called, and neither in predict nor in fit.
#
# Seen with jax 0.10.2 and torch 2.13.0 in November 2026. One expects LSTM(stateful=True) to begin each batch where the
# last one ended, in every method and on every backend. On torch it does in a call and in predict. On JAX a call of the
# model does, but predict computes each time from the state that was there before, and after fit the state is still
# zeros: those functions are compiled, and the states are not among the variables that they give back. No error, no
# warning. The states are in no list of variables and in no file, so no count shows them.
#
# Output; whether the second time differs from the first:
#   torch: call True, predict True
#   jax: call True, predict False; state after fit: zeros
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet keras==3.15.1 jax==0.10.2 jaxlib==0.10.2 torch==2.13.0
cat > "$folder/seen.py" << 'PYTHON'
import os
import subprocess
import sys

if len(sys.argv) == 1:
    for backend in ("torch", "jax"):
        subprocess.run([sys.executable, "-W", "ignore", __file__, backend], env={**os.environ, "KERAS_BACKEND": backend}, check=True)
    sys.exit()
import keras
import numpy as np

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((10, 8), batch_size=4), keras.layers.LSTM(16, stateful=True)])
numbers = np.random.rand(4, 10, 8).astype("float32")


def differs(method):
    model.layers[0].reset_states()
    first, second = (keras.ops.convert_to_numpy(method(numbers)) for _ in range(2))
    return bool(abs(first - second).max() > 1e-4)


line = f"{sys.argv[1]}: call {differs(model)}, predict {differs(lambda x: model.predict(x, verbose=0))}"
if sys.argv[1] == "jax":
    model.layers[0].reset_states()
    model.compile("sgd", "mse")
    model.fit(numbers, np.zeros((4, 16)), batch_size=4, verbose=0)
    states = [keras.ops.convert_to_numpy(state) for state in model.layers[0].states]
    line += f"; state after fit: {'other numbers' if any(state.any() for state in states) else 'zeros'}"
print(line, flush=True)
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
