"""Networks of Flax saved as safetensors: every tensor is listed, and what its names do not tell is external.

Flax has no format of its own that is read; its parameters are saved flat, under dotted names.
"""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.flax
import safetensors.numpy
from conformance import with_linen, with_nnx
from conformance.drawing import networks
from conformance.saved import external_params, hold, refused_by_size, spec_of
from conformance.spread import held_by_all, in_parts
from flax import nnx
from flax.traverse_util import flatten_dict
from hypothesis import strategies as st

from rnncalc import Dropout, Embedding, Network
from rnncalc.modelfiles import read
from rnncalc.network.stack import Placed

pytestmark = pytest.mark.conformance


def linen(place: Placed) -> dict[str, Any]:
    """Return the shapes of a layer's parameters under linen's own paths."""
    looks_up = isinstance(place.layer, Embedding)
    flow = jax.ShapeDtypeStruct((1, 2) if looks_up else (1, 2, place.inputs), jnp.int32 if looks_up else jnp.float32)
    tree = jax.eval_shape(with_linen.module(place.layer, place.inputs).init, jax.random.key(0), flow)
    return {name: each.shape for name, each in flatten_dict(tree.get("params", {}), sep=".").items()}


def of_nnx(place: Placed) -> dict[str, Any]:
    """Return the same under nnx's."""
    params = with_nnx.params(nnx.eval_shape(lambda: with_nnx.module(place.layer, place.inputs)))
    return {name.replace("/", "."): param.shape for name, param in params.items()}


SHAPES = {"flax-linen": linen, "flax-nnx": of_nnx}


@in_parts
@pytest.mark.parametrize("convention", SHAPES)
def test_any_network(tmp_path_factory: pytest.TempPathFactory, convention: str, part: int) -> None:
    """All numbers, external under their names; the spec counts them and passes, and with one tensor longer it fails."""
    drawn = st.tuples(networks(convention), st.integers(0, 10**6)).filter(lambda pair: bool(pair[0].params))
    held_by_all(part, drawn, lambda pair: saved_and_read(pair[0], pair[1], tmp_path_factory.mktemp("flax")))


def saved_and_read(network: Network, number: int, folder: Path) -> None:
    """Hold a network as the package for Flax writes it, and as that for NumPy does."""
    shapes = {
        f"layers_{place_number}.{name}": shape
        for place_number, place in enumerate(network.stack)
        if not isinstance(place.layer, Dropout)
        for name, shape in SHAPES[network.convention](place).items()
    }
    random = np.random.default_rng(number)
    arrays = {name: random.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    safetensors.flax.save_file({name: jnp.asarray(array) for name, array in arrays.items()}, folder / "a.safetensors")
    safetensors.numpy.save_file(arrays, folder / "b.safetensors")
    for path in (folder / "a.safetensors", folder / "b.safetensors"):
        listed = {tensor.name: tensor for tensor in read(str(path)).tensors}
        assert {name: tensor.shape for name, tensor in listed.items()} == shapes
        for name, tensor in listed.items():
            np.testing.assert_array_equal(tensor.read(), arrays[name])
        hold(path, network.params)
        assert external_params(path) == network.params
    name = [*shapes][number % len(shapes)]
    longer = np.zeros((shapes[name][0] + 1, *shapes[name][1:]), np.float32)
    safetensors.numpy.save_file(arrays | {name: longer}, folder / "changed.safetensors")
    refused_by_size(spec_of(folder / "b.safetensors"), folder / "changed.safetensors", longer.size - arrays[name].size)
