#!/usr/bin/env bash
# A MultiHeadAttention that is frozen before it is built is trained by Keras 3.15.1, inside a model.
#
# Expected: layer.trainable = False, or trainable=False to its constructor, keeps its weights as they are, as of a Dense.
# Seen on 28 November 2026 (Keras 3.15.1 on torch 2.13.0, Python 3.11):
#
#   layer    its own trainable weights   of the model's, beside Dense's 2   moved by one step of fit
#   Dense                            0                                  0                      False
#   MHA                              0                                  8                       True
#
# The sublayers that it makes while it is built do not know that it is frozen, and the model lists their weights.
# Exit code 0: it is still so; 1: it changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q keras==3.15.1 torch==2.13.0 numpy==2.4.6
KERAS_BACKEND=torch "$folder/env/bin/python" - << 'END'
import sys

import keras
import numpy as np
from keras import layers


class Network(keras.Model):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.out = layer, layers.Dense(1)
        self.layer.trainable = False

    def call(self, x):
        return self.out(self.layer(x, x) if isinstance(self.layer, layers.MultiHeadAttention) else self.layer(x))


seen = {}
for name, layer in {"Dense": layers.Dense(2), "MHA": layers.MultiHeadAttention(1, 2)}.items():
    model = Network(layer)
    x = np.random.default_rng(0).normal(size=(4, 3, 2)).astype("float32")
    model(x)
    before = [keras.ops.convert_to_numpy(weight).copy() for weight in layer.weights]
    model.compile("sgd", "mse")
    model.fit(x, np.ones((4, 3, 1), "float32"), epochs=1, verbose=0)
    after = [keras.ops.convert_to_numpy(weight) for weight in layer.weights]
    moved = not all(np.array_equal(one, other) for one, other in zip(before, after))
    seen[name] = len(layer.trainable_weights), len(model.trainable_weights) - 2, moved
    print(name, *seen[name])
sys.exit(seen != {"Dense": (0, 0, False), "MHA": (0, 8, True)})
END
