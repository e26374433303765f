"""Weights of one framework, converted and loaded in another, give the same numbers there."""

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from conformance.drawing import kinds_of, numbers
from conformance.frameworks import FRAMEWORKS
from flax import nnx
from flax.traverse_util import unflatten_dict
from safetensors.numpy import load_file

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    BatchNorm,
    Conv1D,
    Dense,
    Layer,
    MultiHeadAttention,
    Network,
    Output,
    SpecError,
    convert,
    export,
    read,
    run,
)
from rnncalc.cli import call
from rnncalc.conventions import convention as row
from rnncalc.conventions import lacks
from rnncalc.conventions.tensor import Role
from rnncalc.formats.yaml import weights_text
from rnncalc.network.writer import spec_of
from rnncalc.questions.convert import Converted

pytestmark = pytest.mark.conformance

PAIRS = [(one, other) for one in FRAMEWORKS for other in FRAMEWORKS if one != other]
CELLS: tuple[Layer, ...] = (RNN(3), GRU(4), LSTM(3, bidirectional=True), LSTM(2, bias=False))
WITHIN = 1e-5


def drawn(network: Network, *, zeros: bool) -> tuple[dict[str, Any], Any]:
    """Return random weights and inputs; zeros: of biases that have no place in some frameworks."""
    weights, inputs = numbers(network, 0)
    for placed in network.stack if zeros else ():
        for tensor in placed.tensors:
            array = np.array(weights[placed.name][tensor.name])
            for part in tensor.blocks:
                if part.role is Role.RECURRENT_BIAS:
                    start = [axis.size(placed.sizes) for axis in part.starts]
                    array[tuple(slice(at, at + placed.sizes["h"]) for at in start)] = 0
            weights[placed.name][tensor.name] = array.tolist()
    return weights, inputs


def converted(layer: Layer, one: str, other: str) -> tuple[Converted, dict[str, Any], Any] | None:
    """Return a layer of a framework as another has it, with its weights and inputs; None if it is refused."""
    network = Network(input=2, layers=[layer], steps=3, topology="many-to-many", convention=one)
    for zeros in (False, True):
        weights, inputs = drawn(network, zeros=zeros)
        try:
            return convert(network, other, weights=weights), weights, inputs
        except SpecError:
            continue
    return None


def same(one: str, other: str, layer: Layer) -> None:
    """Compare a layer in two frameworks, unless one resets a GRU before the product and the other after it."""
    if {one, other} - {name for name in FRAMEWORKS if layer.kind in kinds_of(name)}:
        return
    if any(lacks(layer, one)):  # a layer without biases
        return
    done = converted(layer, one, other)
    if done is None:
        assert isinstance(layer, GRU)
        assert row(one).habits("gru").reset_after != row(other).habits("gru").reset_after
        return
    result, weights, inputs = done
    (ours,), (theirs,) = result.source.stack, result.target.stack
    assert result.arrays
    x = np.array(inputs)
    first = FRAMEWORKS[one].apply(ours, weights[ours.name], x, final=False)
    second = FRAMEWORKS[other].apply(theirs, result.arrays[theirs.name], x, final=False)
    np.testing.assert_allclose(second, first, rtol=WITHIN, atol=WITHIN, err_msg=str(layer))


SAMPLED = [(*pair, CELLS[(place + place // len(CELLS)) % len(CELLS)]) for place, pair in enumerate(PAIRS)]


@pytest.mark.parametrize(("one", "other", "layer"), SAMPLED)
def test_the_other_framework_gives_what_the_first_does(one: str, other: str, layer: Layer) -> None:
    """Of each pair one kind of cell; test_world_convert.py has them all."""
    same(one, other, layer)


def built(network: Network, to: str) -> Any:
    """Return the class of the program that `export` writes."""
    namespace: dict[str, Any] = {"__name__": "exported"}
    exec(compile(export(network, to), "exported", "exec"), namespace)
    *_, made = (each for each in namespace.values() if isinstance(each, type))
    return made


def of_pytorch(network: Network, path: str, x: Any) -> Any:
    model = built(network, "pytorch")()
    model.load_state_dict({name: torch.tensor(array) for name, array in load_file(path).items()}, strict=False)
    return model.eval()(torch.tensor(x)).detach().numpy()


def of_keras(network: Network, path: str, x: Any) -> Any:
    with jax.enable_x64(False):
        model = built(network, "keras")()
        model(x)
        model.load_weights(path)
        return np.asarray(model(x))


def of_linen(network: Network, path: str, x: Any) -> Any:
    flat = load_file(path)
    stored = {name: flat.pop(name) for name in [*flat] if name.endswith(("/mean", "/var"))}
    variables = {"params": unflatten_dict(flat, sep="/"), "batch_stats": unflatten_dict(stored, sep="/")}
    return np.asarray(built(network, "flax-linen")().apply(variables, x))


def of_nnx(network: Network, path: str, x: Any) -> Any:
    arrays = load_file(path)
    model = built(network, "flax-nnx")(rngs=nnx.Rngs(0))
    model.eval()
    flat = nnx.to_flat_state(nnx.state(model, (nnx.Param, nnx.BatchStat)))
    assert {"/".join(map(str, name)) for name, _ in flat} == {*arrays}
    nnx.update(model, nnx.from_flat_state([(name, jnp.asarray(arrays["/".join(map(str, name))])) for name, _ in flat]))
    return np.asarray(model(x))


PROGRAMS = {
    "pytorch": (of_pytorch, ".safetensors"),
    "keras": (of_keras, ".weights.h5"),
    "flax-linen": (of_linen, ".safetensors"),
    "flax-nnx": (of_nnx, ".safetensors"),
}
AROUND: tuple[Layer, ...] = (Conv1D(4, kernel=2), MultiHeadAttention(2), Dense(3))


@pytest.mark.parametrize("to", PROGRAMS)
def test_the_file_that_is_written_is_read_by_the_frameworks_own_call(to: str, tmp_path: Path) -> None:
    """By the program of `export`; recurrent layers of each kind, stacked and in two directions, and others around."""
    norms = (BatchNorm(),) if to != "keras" else ()
    layers = (*AROUND, *norms, GRU(3, repeat=2, reset_after=True), LSTM(3, bidirectional=True))
    network = Network(
        input=3, layers=layers, output=Output(2), steps=4, convention="keras" if to != "keras" else "pytorch"
    )
    if to != "keras":
        network = network.replace(convention="textbook")
    weights, inputs = numbers(network, 0)
    for placed in network.stack:
        for tensor in placed.buffers:
            weights[placed.name][tensor.name] = np.linspace(0.5, 1, tensor.params).tolist()
    arrays = tmp_path / f"converted{PROGRAMS[to][1]}"
    (tmp_path / "weights.yaml").write_text(weights_text(weights.items()), "utf-8")
    (tmp_path / "spec.json").write_text(json.dumps(spec_of(network)), "utf-8")
    files = {name: str(tmp_path / name) for name in ("spec.json", "weights.yaml", "recipe.json")}
    words = ["convert", files["spec.json"], "--to", to, "--weights", files["weights.yaml"]]
    assert call([*words, "--save-weights", str(arrays), "--out", files["recipe.json"]]) == 0
    assert json.loads((tmp_path / "recipe.json").read_text())["largest_difference"] < 1e-6
    load, _ = PROGRAMS[to]
    done = load(convert(network, to).target, str(arrays), np.array([inputs], np.float32))
    np.testing.assert_allclose(done[0], run(network, weights=weights, inputs=inputs).outputs, rtol=WITHIN, atol=WITHIN)
    draft = read(arrays).draft
    assert draft
    assert draft.network.params == convert(network, to).target.params
