#!/usr/bin/env bash
# In a compact method of Flax linen, a bidirectional layer and two stacked layers have the same tree of parameters.
#
# Seen in flax 0.12.8 (jax 0.10.2) in November 2026. One expects the weights of nn.Bidirectional below a name of its own,
# as they are if it is an attribute made in setup: `both/forward_rnn/cell`, `both/backward_rnn/cell`. But a cell that is
# made in a compact method belongs to the module of that method, and nn.RNN and nn.Bidirectional around it leave no name:
# the directions are GRUCell_0 and GRUCell_1, as two layers one above the other are. Where the directions are summed and
# the input is as wide as the cell, names and shapes are all equal, so that the weights of one network load into the
# other without a word, and whoever reads the file cannot tell which it is.
#
# Output:
#   bidirectional, compact: GRUCell_0 GRUCell_1
#   two layers, compact: GRUCell_0 GRUCell_1
#   bidirectional, setup: both
#   the first two have the same names and shapes: True; the same output from the same weights: False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet flax==0.12.8 jax==0.10.2 jaxlib==0.10.2
cat > "$folder/trees.py" << 'PYTHON'
import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.traverse_util import flatten_dict


def both():
    return nn.Bidirectional(nn.RNN(nn.GRUCell(8)), nn.RNN(nn.GRUCell(8)), merge_fn=lambda one, other: one + other)


class Directions(nn.Module):
    @nn.compact
    def __call__(self, x):
        return both()(x)


class Layers(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.RNN(nn.GRUCell(8))(nn.RNN(nn.GRUCell(8))(x))


class Named(nn.Module):
    def setup(self):
        self.both = both()

    def __call__(self, x):
        return self.both(x)


x = jnp.linspace(-1.0, 1.0, 5 * 8).reshape(1, 5, 8)
trees = [module.init(jax.random.key(0), x) for module in (Directions(), Layers(), Named())]
for title, tree in zip(("bidirectional, compact", "two layers, compact", "bidirectional, setup"), trees):
    print(f"{title}: {' '.join(sorted(tree['params']))}")
shapes = [{name: each.shape for name, each in flatten_dict(tree["params"], sep="/").items()} for tree in trees]
equal = bool(jnp.allclose(Directions().apply(trees[0], x), Layers().apply(trees[0], x), atol=0.01))
print(f"the first two have the same names and shapes: {shapes[0] == shapes[1]};", end=" ")
print(f"the same output from the same weights: {equal}")
PYTHON
expected="bidirectional, compact: GRUCell_0 GRUCell_1
two layers, compact: GRUCell_0 GRUCell_1
bidirectional, setup: both
the first two have the same names and shapes: True; the same output from the same weights: False"
[ "$(JAX_PLATFORMS=cpu "$folder/venv/bin/python" "$folder/trees.py" | tee /dev/stderr)" = "$expected" ]
