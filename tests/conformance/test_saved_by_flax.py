"""Networks of Flax as safetensors and msgpack: every tensor is listed, each layer recognised, and a run is Flax's."""

import re
from pathlib import Path
from typing import Any

import flax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.flax
import safetensors.numpy
from conformance import with_linen, with_nnx
from conformance.drawing import networks
from conformance.saved import external_params, hold, refused, runs_to, spec_of
from conformance.spread import held_by_all, in_parts
from flax import linen as nn
from flax import nnx
from flax.serialization import to_bytes
from flax.traverse_util import flatten_dict, unflatten_dict
from hypothesis import strategies as st

from rnncalc import Dropout, Embedding, Network, load
from rnncalc.models.files import read
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


RECURRENT = {*with_linen.CELLS}
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
    tree = unflatten_dict({("params", *name.split(".")): array for name, array in arrays.items()})
    (folder / "c.msgpack").write_bytes(to_bytes(tree))
    with pytest.MonkeyPatch.context() as patch:  # chunks are for arrays of a gigabyte
        patch.setattr(flax.serialization, "MAX_CHUNK_SIZE", 100)
        (folder / "d.msgpack").write_bytes(to_bytes(tree))
    known = len({place.layer.kind for place in network.stack} & RECURRENT) > 0  # else the file may be linen's or nnx's
    for path in map(folder.joinpath, ("a.safetensors", "b.safetensors", "c.msgpack", "d.msgpack")):
        tensors = read(str(path)).tensors
        listed = {tensor.name.removeprefix("params/").replace("/", "."): tensor for tensor in tensors}
        assert {name: tensor.shape for name, tensor in listed.items()} == shapes
        for name, tensor in listed.items():
            np.testing.assert_array_equal(tensor.read(), arrays[name])
        draft = hold(path, network.params)
        assert f"convention: {network.convention if known else 'flax-linen'}" in draft
        assert external_params(path) == 0
    name = [*shapes][number % len(shapes)]
    longer = np.zeros((shapes[name][0] + 1, *shapes[name][1:]), np.float32)
    safetensors.numpy.save_file(arrays | {name: longer}, folder / "changed.safetensors")
    refused(spec_of(folder / "b.safetensors"), folder / "changed.safetensors", name, (shapes[name], longer.shape))


class Directions(nn.Module):  # type: ignore[misc]
    """Cells that are made in a call, whose names are those of their classes: two layers of two directions."""

    @nn.compact  # type: ignore[untyped-decorator]
    def __call__(self, x: Any) -> Any:
        x = nn.BatchNorm(use_running_average=True)(nn.Dense(64)(x))
        for _ in range(2):
            x = nn.Bidirectional(nn.RNN(nn.OptimizedLSTMCell(128)), nn.RNN(nn.OptimizedLSTMCell(128)))(x)
        return nn.Dense(10)(x)


class Attributes(nn.Module):  # type: ignore[misc]
    """Layers that are named, among them an output whose name is first in the alphabet."""

    def setup(self) -> None:
        self.table = nn.Embed(1_000, 48)
        self.gru = nn.RNN(nn.GRUCell(128))
        self.both = nn.Bidirectional(nn.RNN(nn.MGUCell(80)), nn.RNN(nn.MGUCell(80)))
        self.attention = nn.MultiHeadDotProductAttention(num_heads=4)
        self.norm = nn.LayerNorm()
        self.simple = nn.RNN(nn.SimpleCell(96))
        self.answer = nn.Dense(10)

    def __call__(self, x: Any) -> Any:
        x = self.norm(self.attention(self.both(self.gru(self.table(x)))))
        return self.answer(self.simple(x))


class Sequence(nnx.Module):  # type: ignore[misc]
    """The layers of nnx, two LSTMs of which have their gates side by side."""

    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.conv = nnx.Conv(16, 64, (3,), padding="VALID", rngs=rngs)
        self.bn = nnx.BatchNorm(64, use_running_average=True, rngs=rngs)
        self.layers = nnx.List([nnx.RNN(nnx.OptimizedLSTMCell(*sizes, rngs=rngs)) for sizes in ((64, 128), (128, 104))])
        self.gru = nnx.Bidirectional(*[nnx.RNN(nnx.GRUCell(104, 48, rngs=rngs)) for _ in range(2)])
        self.other = nnx.RNN(nnx.LSTMCell(96, 72, rngs=rngs))
        self.answer = nnx.Linear(72, 10, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        x = self.bn(self.conv(x))
        for layer in (*self.layers, self.gru, self.other):
            x = layer(x)
        return self.answer(x)


def of_linen(model: Any, x: Any) -> tuple[dict[str, Any], Any]:
    """Return the collections of a module of linen with random numbers, and its output."""
    variables = random_like(jax.eval_shape(model.init, jax.random.key(0), x))
    return variables, jax.jit(model.apply)(variables, x)


def of_nnx_(model: Any, x: Any) -> tuple[dict[str, Any], Any]:
    """Return the parameters and statistics of a module of nnx with random numbers, and its output."""
    nnx.update(model, random_like(nnx.state(model, (nnx.Param, nnx.BatchStat))))
    flat = nnx.to_flat_state(nnx.state(model, (nnx.Param, nnx.BatchStat, nnx.RngCount)))
    return {"/".join(map(str, path)): each[...] for path, each in flat}, nnx.jit(lambda model, x: model(x))(model, x)


def random_like(tree: Any) -> Any:
    """Return a tree of random numbers; vectors are above zero, because a variance is."""
    random = np.random.default_rng(0)

    def drawn(each: Any) -> Any:
        return jnp.asarray(random.uniform(0.02 if each.ndim == 1 else -0.1, 0.1, each.shape), jnp.float32)

    return jax.tree.map(drawn, tree)


@pytest.mark.parametrize(
    ("made", "model", "inputs", "layers"),
    [
        (of_linen, Directions, 32, ["dense", "batch_norm", "lstm", "lstm"]),
        (of_linen, Attributes, 0, ["embedding", "gru", "mgu", "multi_head_attention", "layer_norm", "rnn"]),
        (of_nnx_, Sequence, 16, ["conv1d", "batch_norm", "lstm", "lstm", "gru", "lstm"]),
    ],
)
def test_a_network_of_real_size(made: Any, model: Any, inputs: int, layers: list[str], tmp_path: Path) -> None:
    """Drafted whole, in the order of its widths; its total is Flax's, and a run of the draft gives Flax's output.

    With slashes or points in its names, and of linen with the names of its collections or without.
    """
    random, steps = np.random.default_rng(1), 4
    flow = random.uniform(-1, 1, (steps, inputs)).astype(np.float32) if inputs else random.integers(1_000, size=steps)
    with jax.enable_x64(False):
        tree, theirs = made(model(), jnp.asarray(flow)[None])
    whole = flatten_dict(tree, sep="/")
    params = sum(array.size for name, array in whole.items() if not re.search("batch_stats|/mean|/var|rngs", name))
    alone = {name.removeprefix("params/"): array for name, array in whole.items() if "batch_stats" not in name}
    points = {name.replace("/", "."): array for name, array in alone.items()}
    for stem, arrays in (("points", points), ("whole", whole)):
        path = tmp_path / f"{stem}.safetensors"
        safetensors.flax.save_file(arrays, path)
        draft = hold(path, params)
        assert [placed.layer.kind for placed in load(str(spec_of(path))).stack] == [*layers, "dense"], draft
    spec_of(path).write_text(f"topology: many-to-many\n{draft}")
    runs_to(spec_of(path), path, flow, np.asarray(theirs)[0], within=1e-5)


class Heads(nn.Module):  # type: ignore[misc]
    """A cell, a batch norm, and two layers that read its output."""

    @nn.compact  # type: ignore[untyped-decorator]
    def __call__(self, x: Any) -> Any:
        x = nn.BatchNorm(use_running_average=True, name="bn1")(nn.RNN(nn.GRUCell(6))(x))
        return nn.Dense(3, name="policy")(x), nn.Dense(1, name="value")(x)


@pytest.mark.parametrize("collections", [("params", "batch_stats"), ("params",)])
def test_heads_are_networks(tmp_path: Path, collections: tuple[str, ...]) -> None:
    """Behind a batch norm whose name alone tells it, if its statistics are not in the file."""
    tree = Heads().init(jax.random.key(0), jnp.ones((1, 5, 4), jnp.float32))
    (tmp_path / "a.msgpack").write_bytes(to_bytes({name: tree[name] for name in collections}))
    text = hold(tmp_path / "a.msgpack", sum(each.size for each in jax.tree.leaves(tree["params"])))
    assert "- batch_norm:\n        path: bn1\n" in text
    assert all(f"  {head}:\n    input: 6\n" in text for head in ("policy", "value"))
    assert "external" not in text
