#!/usr/bin/env bash
# In a .weights.h5 of a Keras model, where a layer's weights are depends on the first letter of its attribute.
#
# Seen in keras 3.15.1 (jax 0.10.2) in November 2026. One expects the attribute's name, or the layer's, for every layer of
# a subclassed model. But save_weights walks the attributes in alphabetical order, and every model has one more, the list
# `layers`, in which it finds all that it has not met yet: attributes before the word `layers` are saved under their
# names, and those after it in the list, under the name of their class with a number that counts the others too. So
# renaming `head` to `output_` moves its weights from head/ to layers/dense_1/, and the earlier file no longer loads.
# One file serves both, and a Sequential of the same layers, if it has each array under both names, as links.
#
# Output:
#   encoder, head: encoder/vars/0 head/vars/0
#   encoder, output_: encoder/vars/0 layers/dense_1/vars/0
#   Sequential: layers/dense/vars/0 layers/dense_1/vars/0
#   head's file loaded with output_: ValueError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet keras==3.15.1 jax==0.10.2 jaxlib==0.10.2 h5py
cat > "$folder/saved.py" << 'PYTHON'
import sys

import h5py
import keras
import numpy as np

x = np.zeros((1, 4), "float32")


class Head(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.layers.Dense(3, use_bias=False)
        self.head = keras.layers.Dense(2, use_bias=False)

    def call(self, x):
        return self.head(self.encoder(x))


class Output(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.layers.Dense(3, use_bias=False)
        self.output_ = keras.layers.Dense(2, use_bias=False)

    def call(self, x):
        return self.output_(self.encoder(x))


def arrays(model, path):
    model(x)
    model.save_weights(path)
    names = []
    with h5py.File(path) as file:
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return " ".join(names)


folder, layers = sys.argv[1], [keras.layers.Dense(3, use_bias=False), keras.layers.Dense(2, use_bias=False)]
print(f"encoder, head: {arrays(Head(), f'{folder}/a.weights.h5')}")
print(f"encoder, output_: {arrays(Output(), f'{folder}/b.weights.h5')}")
print(f"Sequential: {arrays(keras.Sequential(layers), f'{folder}/c.weights.h5')}")
try:
    model = Output()
    model(x)
    model.load_weights(f"{folder}/a.weights.h5")
    print("head's file loaded with output_: no error")
except ValueError as error:
    print(f"head's file loaded with output_: {type(error).__name__}")
PYTHON
expected="encoder, head: encoder/vars/0 head/vars/0
encoder, output_: encoder/vars/0 layers/dense_1/vars/0
Sequential: layers/dense/vars/0 layers/dense_1/vars/0
head's file loaded with output_: ValueError"
[ "$(KERAS_BACKEND=jax JAX_PLATFORMS=cpu "$folder/venv/bin/python" "$folder/saved.py" "$folder" 2> /dev/null | tee /dev/stderr)" = "$expected" ]
