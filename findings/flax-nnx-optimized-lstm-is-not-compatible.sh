#!/usr/bin/env bash
# flax 0.12.8 (jax 0.10.2), November 2026: the documentation of nnx.OptimizedLSTMCell says "The parameters are
# compatible with ``LSTMCell``", and they are not. nnx.LSTMCell has twelve arrays, a kernel for each gate and side and a
# bias for each gate; nnx.OptimizedLSTMCell has three, with the gates side by side in the order i, f, g, o. The weights
# of one are refused by the other. In linen, where the sentence comes from, both cells do have the same twelve arrays.
# Between linen and nnx one more name differs: linen's `if` is `if_` in nnx. The counts are equal everywhere (1,600).
#
# Output:
#   linen LSTMCell: 12 arrays, 1600 numbers
#   linen OptimizedLSTMCell: 12 arrays, 1600 numbers, the same names as LSTMCell's: True
#   nnx LSTMCell: 12 arrays, 1600 numbers, the same names as linen's: False (if, if_)
#   nnx OptimizedLSTMCell: 3 arrays, 1600 numbers, the same names as LSTMCell's: False
#   its documentation: The parameters are compatible with ``LSTMCell``.
#   nnx.merge of LSTMCell's weights: ValueError: Incorrect number of leaves, expected 3 leaves, but got 12.
#   after joining the gates i, f, g, o side by side, the two agree: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q flax==0.12.8 jax==0.10.2 jaxlib==0.10.2
cat > "$folder/compare.py" <<'PYTHON'
import sys

import jax
import jax.numpy as jnp
from flax import linen, nnx
from flax.traverse_util import flatten_dict

x = jnp.linspace(-1.0, 1.0, 8)[None]
key = jax.random.key(0)
trees = {}
for cell in (linen.LSTMCell, linen.OptimizedLSTMCell):
    module = cell(16)
    carry = module.initialize_carry(key, x.shape)
    trees["linen", cell.__name__] = flatten_dict(module.init(key, carry, x)["params"], sep="/")
cells = {cell.__name__: cell(8, 16, rngs=nnx.Rngs(0)) for cell in (nnx.LSTMCell, nnx.OptimizedLSTMCell)}
for name, cell in cells.items():
    trees["nnx", name] = {"/".join(path): each[...] for path, each in nnx.to_flat_state(nnx.state(cell, nnx.Param))}


def described(library, name):
    tree = trees[library, name]
    return f"{library} {name}: {len(tree)} arrays, {sum(each.size for each in tree.values())} numbers"


plain, fused = trees["nnx", "LSTMCell"], trees["nnx", "OptimizedLSTMCell"]
in_linen = trees["linen", "LSTMCell"].keys()
same = in_linen == trees["linen", "OptimizedLSTMCell"].keys()
differing = ", ".join(sorted({name.split("/")[0] for name in in_linen ^ plain.keys()}))
sentence = next(line.strip() for line in nnx.OptimizedLSTMCell.__doc__.splitlines() if "compatible" in line)
print(described("linen", "LSTMCell"))
print(f"{described('linen', 'OptimizedLSTMCell')}, the same names as LSTMCell's: {same}")
print(f"{described('nnx', 'LSTMCell')}, the same names as linen's: {plain.keys() == in_linen} ({differing})")
print(f"{described('nnx', 'OptimizedLSTMCell')}, the same names as LSTMCell's: {plain.keys() == fused.keys()}")
print("its documentation:", sentence.split(" Note")[0])
graph, _ = nnx.split(cells["OptimizedLSTMCell"])
try:
    nnx.merge(graph, nnx.state(cells["LSTMCell"]))
    refused = False
except ValueError as error:
    print(f"nnx.merge of LSTMCell's weights: ValueError: {str(error).splitlines()[0]}")
    refused = True
optimized = cells["OptimizedLSTMCell"]
optimized.dense_i.kernel[...] = jnp.concatenate([plain[f"{gate}/kernel"] for gate in ("ii", "if_", "ig", "io")], 1)
optimized.dense_h.kernel[...] = jnp.concatenate([plain[f"h{gate}/kernel"] for gate in "ifgo"], 1)
optimized.dense_h.bias[...] = jnp.concatenate([plain[f"h{gate}/bias"] for gate in "ifgo"])
carry = (jnp.full((1, 16), 0.3), jnp.full((1, 16), -0.2))
agree = bool(jnp.allclose(cells["LSTMCell"](carry, x)[1], optimized(carry, x)[1], atol=1e-6))
print("after joining the gates i, f, g, o side by side, the two agree:", agree)
sys.exit(0 if same and refused and agree and len(plain) == 12 and len(fused) == 3 and "are compatible" in sentence else 1)
PYTHON
JAX_PLATFORMS=cpu "$folder/env/bin/python" "$folder/compare.py"
