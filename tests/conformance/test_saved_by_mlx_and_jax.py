"""Networks of MLX, Equinox and Haiku as arrays under their names: the draft counts the same, a run gives the same."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import mlx.core as mx
import numpy as np
import pytest
import safetensors.numpy
from conformance.saved import external_params, hold, runs_to, spec_of
from mlx import nn
from mlx.utils import tree_flatten

pytestmark = pytest.mark.conformance

FLOW = np.random.default_rng(1).standard_normal((5, 8), np.float32)


def held(path: Path, params: int, theirs: Any) -> str:
    """Hold a file, every layer recognised, and a run with its weights at each step; return its draft."""
    text = hold(path, params)
    assert external_params(path) == 0, text
    spec = spec_of(path)
    spec.write_text(f"{text}topology: many-to-many\n")
    runs_to(spec, path, FLOW, np.asarray(theirs), "--steps", "5")
    return text


def both(folder: Path, arrays: Mapping[str, Any], theirs: Any) -> str:
    """Hold arrays as safetensors and as an archive of NumPy's; return the draft."""
    plain = {name: np.asarray(array) for name, array in arrays.items()}
    params = sum(array.size for array in plain.values())
    np.savez(folder / "a.npz", **plain)
    held(folder / "a.npz", params, theirs)
    safetensors.numpy.save_file(plain, folder / "a.safetensors")
    return held(folder / "a.safetensors", params, theirs)


class OfMLX(nn.Module):  # type: ignore[misc]  # mlx has no types
    """A cell of each kind, behind one another, and a head; without biases too."""

    def __init__(self, *, bias: bool) -> None:
        super().__init__()
        self.l1, self.l2 = nn.GRU(8, 16, bias=bias), nn.LSTM(16, 12, bias=bias)
        self.l3, self.l4 = nn.RNN(12, 128, bias=bias), nn.Linear(128, 3)

    def __call__(self, x: mx.array) -> mx.array:
        return self.l4(self.l3(self.l2(self.l1(x))[0]))


@pytest.mark.parametrize("bias", [True, False])
def test_mlx(tmp_path: Path, bias: bool) -> None:
    """As its own save_weights writes them, in both of its formats."""
    model = OfMLX(bias=bias)
    theirs = np.array(model(mx.array(FLOW)[None])[0])
    arrays = {name: np.array(array) for name, array in tree_flatten(model.parameters())}
    for name in ("a.safetensors", "a.npz"):
        model.save_weights(str(tmp_path / name))
        text = held(tmp_path / name, sum(array.size for array in arrays.values()), theirs)
        assert "convention: mlx\n" in text


def test_what_mlx_quantises(tmp_path: Path) -> None:
    """The cells stay as they are; scales and biases of groups are no parameters, and the bias of the layer is one."""
    model = OfMLX(bias=True)
    kept = sum(array.size for name, array in tree_flatten(model.parameters()) if name != "l4.weight")
    nn.quantize(model)
    model.save_weights(str(tmp_path / "a.safetensors"))
    assert "because they are quantised: l4.weight; a run differs" in hold(tmp_path / "a.safetensors", kept)


@pytest.mark.parametrize("bias", [True, False])
def test_equinox(tmp_path: Path, bias: bool) -> None:
    """Cells, by the paths of their tree; without biases they are PyTorch's cells."""
    key = jax.random.key(0)
    cells = {
        "l1": eqx.nn.LSTMCell(8, 16, use_bias=bias, key=key),
        "l2": eqx.nn.GRUCell(16, 128, use_bias=bias, key=key),
    }
    head = eqx.nn.Linear(128, 3, key=key)
    _, hidden = jax.lax.scan(lambda state, x: 2 * (cells["l1"](x, state),), (jnp.zeros(16), jnp.zeros(16)), FLOW)
    _, hidden = jax.lax.scan(lambda state, x: 2 * (cells["l2"](x, state),), jnp.zeros(128), hidden[0])
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter({**cells, "l3": head}, eqx.is_array))
    arrays = {jax.tree_util.keystr(path, simple=True, separator="."): array for path, array in leaves}
    text = both(tmp_path, arrays, jax.vmap(head)(hidden))
    assert f"convention: {'equinox' if bias else 'pytorch'}\n" in text


def test_haiku(tmp_path: Path) -> None:
    """A cell of each kind; its forget gate has 1 added, its plain RNN a relu, its GRU's z replaces."""

    def network(x: jax.Array) -> jax.Array:
        for cell in (hk.LSTM(16, name="l1_lstm"), hk.GRU(12, name="l2"), hk.VanillaRNN(128, name="l3_rnn")):
            x, _ = hk.dynamic_unroll(cell, x, cell.initial_state(None))
        return hk.Linear(3, name="l4")(x)

    model = hk.without_apply_rng(hk.transform(network))
    params = model.init(jax.random.key(0), jnp.asarray(FLOW))
    params = jax.tree.map(lambda array: array + 0.1, params)  # biases begin as zeros
    arrays = {f"{module}/{name}": array for module, each in params.items() for name, array in each.items()}
    text = both(tmp_path, arrays, model.apply(params, jnp.asarray(FLOW)))
    assert "convention: haiku\n" in text
