#!/usr/bin/env bash
# Keras 3.15.1: after one step of training, summary() prints three times as many "Total params" as before.
#
# Seen with jax 0.10.2 in November 2026. One expects the total of a summary to be count_params(), and to stay when a
# model is trained: 1,600 of LSTM(16) on 8 and 51 of Dense(3). The total takes in the optimizer's variables as soon as
# they are made: with Adam a mean and a square for each weight, the number of the step and the learning rate, 3,304
# more. count_params() stays at 1,651. A total that was copied from a summary means nothing without "Optimizer params".
#
# Output:
#   before: count_params 1651; Total params: 1,651 Trainable params: 1,651 Non-trainable params: 0
#   after: count_params 1651; Total params: 4,955 Trainable params: 1,651 Non-trainable params: 0 Optimizer params: 3,304
#   after, with SGD: count_params 1651; Total params: 1,653 Trainable params: 1,651 Non-trainable params: 0 Optimizer params: 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet keras==3.15.1 jax==0.10.2 jaxlib==0.10.2
cat > "$folder/seen.py" << 'PYTHON'
import re

import keras
import numpy as np


def described(model):
    lines = []
    model.summary(print_fn=lambda line, **_: lines.append(line), line_length=80)
    return f"count_params {model.count_params()}; {' '.join(re.findall(r'[A-Z][-a-z]+ params: [0-9,]+', ' '.join(lines)))}"


for optimizer in ("adam", "sgd"):
    model = keras.Sequential([keras.Input((10, 8)), keras.layers.LSTM(16), keras.layers.Dense(3)])
    model.compile(optimizer, "mse")
    if optimizer == "adam":
        print(f"before: {described(model)}")
    model.fit(np.zeros((4, 10, 8)), np.zeros((4, 3)), verbose=0)
    print(f"after{', with SGD' if optimizer == 'sgd' else ''}: {described(model)}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && KERAS_BACKEND=jax venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
