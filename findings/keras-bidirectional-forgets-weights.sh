#!/usr/bin/env bash
# Keras 3.15.1: Bidirectional makes a new layer of the one that it is given, and the weights of that are lost.
#
# Seen with jax 0.10.2 in November 2026. One expects Bidirectional(lstm) of a trained LSTM to have that LSTM as its
# forward direction, as TimeDistributed(dense) has the Dense, and the backward one to be made beside it. Both directions
# are made from its configuration, the forward one too, with weights of their own, and what the layer had learned is
# lost without a word. A layer passed as backward_layer, though, is kept as it is: of two trained layers one loses its
# weights.
#
# Output:
#   TimeDistributed holds the layer itself: True, with its weights: True
#   Bidirectional, forward: the layer itself: False, with its weights: False
#   Bidirectional, backward_layer: the layer itself: True, with its weights: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet keras==3.15.1 jax==0.10.2 jaxlib==0.10.2
cat > "$folder/given.py" << 'PYTHON'
import keras
import numpy as np


def built(layer):
    layer.build((None, 10, 8))
    return layer


def same(held, given, before):
    weights = (keras.ops.convert_to_numpy(weight) for weight in held.weights)
    return f"{held is given}, with its weights: {all(np.array_equal(*pair) for pair in zip(weights, before))}"


def arrays(layer):
    return [keras.ops.convert_to_numpy(weight).copy() for weight in layer.weights]


dense = built(keras.layers.Dense(16))
before = arrays(dense)
print(f"TimeDistributed holds the layer itself: {same(built(keras.layers.TimeDistributed(dense)).layer, dense, before)}")
ahead, back = built(keras.layers.LSTM(16)), built(keras.layers.LSTM(16, go_backwards=True))
weights = arrays(ahead), arrays(back)
both = built(keras.layers.Bidirectional(ahead, backward_layer=back))
print(f"Bidirectional, forward: the layer itself: {same(both.forward_layer, ahead, weights[0])}")
print(f"Bidirectional, backward_layer: the layer itself: {same(both.backward_layer, back, weights[1])}")
PYTHON
expected="TimeDistributed holds the layer itself: True, with its weights: True
Bidirectional, forward: the layer itself: False, with its weights: False
Bidirectional, backward_layer: the layer itself: True, with its weights: True"
[ "$(KERAS_BACKEND=jax JAX_PLATFORMS=cpu "$folder/venv/bin/python" "$folder/given.py" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
