#!/usr/bin/env bash
# Equinox 0.13.8: to load weights is to load the rate of a dropout, and whether it is on.
#
# Seen with jax 0.10.2 in November 2026. One expects eqx.tree_serialise_leaves of a module with an LSTMCell and a
# Dropout to store the cell's three arrays, as a state dict does, and a model that is made with a rate of 0.1 to keep it
# when it loads them. The rate and `inference` are leaves of the tree too, so the file has five, and loading replaces
# both: weights that were saved in inference mode turn the dropout of the model being trained off, without a word. The
# options of other layers, such as `use_bias`, are no leaves and are kept.
#
# Output:
#   leaves: 5, of which arrays: 3 with 1600 numbers
#   made with p=0.1, after loading the weights of p=0.5: p=0.5, inference=False
#   made for training, after loading weights saved in inference mode: inference=True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet equinox==0.13.8 jax==0.10.2 jaxlib==0.10.2
cat > "$folder/dropout.py" << 'PYTHON'
import io

import equinox as eqx
import jax


class Network(eqx.Module):
    cell: eqx.nn.LSTMCell
    dropout: eqx.nn.Dropout


def network(rate):
    return Network(eqx.nn.LSTMCell(8, 16, key=jax.random.key(0)), eqx.nn.Dropout(rate))


def loaded(saved, into):
    file = io.BytesIO()
    eqx.tree_serialise_leaves(file, saved)
    file.seek(0)
    return eqx.tree_deserialise_leaves(file, into)


arrays = [leaf for leaf in jax.tree.leaves(network(0.5)) if eqx.is_array(leaf)]
numbers = sum(array.size for array in arrays)
print(f"leaves: {len(jax.tree.leaves(network(0.5)))}, of which arrays: {len(arrays)} with {numbers} numbers")
dropout = loaded(network(0.5), network(0.1)).dropout
print(f"made with p=0.1, after loading the weights of p=0.5: p={dropout.p}, inference={dropout.inference}")
dropout = loaded(eqx.nn.inference_mode(network(0.1)), network(0.1)).dropout
print(f"made for training, after loading weights saved in inference mode: inference={dropout.inference}")
PYTHON
expected="leaves: 5, of which arrays: 3 with 1600 numbers
made with p=0.1, after loading the weights of p=0.5: p=0.5, inference=False
made for training, after loading weights saved in inference mode: inference=True"
[ "$(JAX_PLATFORMS=cpu "$folder/venv/bin/python" "$folder/dropout.py" 2> "$folder/log" | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
