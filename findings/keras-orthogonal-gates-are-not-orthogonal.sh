#!/usr/bin/env bash
# Keras 3.15.1: the recurrent matrix of a fresh LSTM is orthogonal, and the matrix of none of its gates is.
#
# Seen with jax 0.10.2 and flax 0.12.8 in November 2026. One expects recurrent_initializer="orthogonal", the default, to
# give each gate a square orthogonal matrix, whose singular values are all 1: that is what keeps a state's length over
# many steps, and what Flax's LSTMCell does with its orthogonal kernels. Keras draws one matrix of h × 4h with
# orthonormal rows. Its four blocks share that length: each has about a quarter of the squares, the largest singular
# value is below 1, and the smallest is nearly 0. A GRU's three blocks have a third each.
#
# Output for 256 units; squares are the sum of all squares for each unit:
#   Keras LSTM: whole matrix orthonormal True; singular values of a gate 0.00 to 0.86; squares 0.25
#   Keras GRU: whole matrix orthonormal True; singular values of a gate 0.00 to 0.94; squares 0.33
#   Flax LSTMCell: singular values of a gate 1.00 to 1.00; squares 1.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet keras==3.15.1 jax==0.10.2 jaxlib==0.10.2 flax==0.12.8
cat > "$folder/seen.py" << 'PYTHON'
import flax.linen as nn
import jax
import keras
import numpy as np

UNITS = 256


def described(gate):
    values = np.linalg.svd(gate, compute_uv=False)
    return f"singular values of a gate {values.min():.2f} to {values.max():.2f}; squares {(gate**2).sum() / UNITS:.2f}"


keras.utils.set_random_seed(0)
for kind in (keras.layers.LSTM, keras.layers.GRU):
    layer = kind(UNITS)
    layer.build((1, 10, 8))
    matrix = keras.ops.convert_to_numpy(layer.cell.recurrent_kernel)
    whole = np.allclose(matrix @ matrix.T, np.eye(UNITS), atol=1e-4)
    print(f"Keras {kind.__name__}: whole matrix orthonormal {whole}; {described(matrix[:, :UNITS])}")
cell = nn.LSTMCell(UNITS)
x = np.zeros((1, 8), "float32")
params = cell.init(jax.random.key(0), cell.initialize_carry(jax.random.key(1), x.shape), x)["params"]
print(f"Flax LSTMCell: {described(np.array(params['hi']['kernel']))}")
PYTHON
expected=$(sed -n '/^# Output/,/^set/s/^#   //p' "$0")
[ "$(cd "$folder" && KERAS_BACKEND=jax venv/bin/python -W ignore seen.py 2> log | tee /dev/stderr)" = "$expected" ] ||
    { tail -n 5 "$folder/log"; exit 1; }
