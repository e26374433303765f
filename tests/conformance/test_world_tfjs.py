"""TensorFlow.js, through Node and npm: 200 random layers, in two directions too, and what is read of them."""

import json
import shutil
import subprocess
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conformance.drawing import CELLS, numbers
from conformance.one_layer import drawn, of

from rnncalc import Dense, Embedding, LayerNorm, Network
from rnncalc.layers.layer import Layer
from rnncalc.questions.run import run

pytestmark = [pytest.mark.world, pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node and npm")]

NAMES = {"rnn": "simpleRNN", "layer_norm": "layerNormalization"}
GATES = {"hard_sigmoid_0.2": "hardSigmoid", "sigmoid": "sigmoid"}
Run = tuple[dict[str, Any], Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the package."""
    folder = tmp_path_factory.mktemp("tfjs")
    npm = shutil.which("npm") or "npm"
    subprocess.run(
        [npm, "install", "--prefix", str(folder), "@tensorflow/tfjs@4.22.0"], check=True, capture_output=True
    )
    shutil.copy(Path(__file__).with_name("tfjs.js"), folder)
    return folder


def case(layer: Layer, inputs: int, steps: int, runs: list[Run]) -> dict[str, Any]:
    """Return what the script reads of a layer; weights are in the order of the convention."""
    values = layer.values()
    options: dict[str, Any] = {"units": values.get("units"), "useBias": values.get("bias", True)}
    if layer.kind in CELLS:
        options |= {"activation": values["activation"] or "tanh", "returnSequences": True}
        if "recurrent_activation" in values:
            options["recurrentActivation"] = GATES[values["recurrent_activation"]]
    if isinstance(layer, Embedding):
        options = {"inputDim": inputs, "outputDim": layer.units}
    merge = values["merge"] or "concat" if values.get("bidirectional") else None
    weights = [([*arrays.values()], np.asarray(flow).tolist()) for arrays, flow in runs]
    shape = [steps] if isinstance(layer, Embedding) else [steps, inputs]
    name = NAMES.get(layer.kind, layer.kind)
    return {"layer": name, "options": options, "merge": merge, "shape": shape, "runs": weights}


def called(folder: Path, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what TensorFlow.js makes of cases."""
    done = subprocess.run(
        ["node", str(folder / "tfjs.js")],
        input=json.dumps(cases),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    results: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return results


def hold(folder: Path, networks: list[Network]) -> None:
    """Assert that each layer has the arrays of TensorFlow.js in their order, its count, and its outputs."""
    cases, places = [], []
    for seed, network in enumerate(networks):
        weights, flow = numbers(network, seed)
        done = run(network, weights=weights, inputs={None: flow})
        for place, ran in zip(network.stack, done.layers, strict=True):
            cases.append(case(place.layer, place.inputs, 4, [(weights[place.name], flow)]))
            places.append((place, ran.output))
            flow = ran.output
    for (place, output), theirs in zip(places, called(folder, cases), strict=True):
        arrays = [(name.rpartition("/")[2], tuple(shape)) for name, shape in theirs["arrays"]]
        assert [(each.name.rpartition("/")[2], each.shape) for each in place.tensors] == arrays
        assert place.params == theirs["params"] == sum(prod(shape) for _, shape in arrays)
        np.testing.assert_allclose(output, theirs["outputs"][0], rtol=1e-5, atol=1e-5, err_msg=str(place))


def test_random_layers(folder: Path) -> None:
    hold(folder, [*drawn("tfjs")])


def test_layers_one_after_another(folder: Path) -> None:
    layers = [Embedding(4), *[CELLS[kind](units=3) for kind in ("rnn", "gru", "lstm")], LayerNorm(), Dense(2)]
    hold(folder, [of("tfjs", *layers, inputs=7)])


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_every_number_is_read(folder: Path, kind: str) -> None:
    (place,) = of("tfjs", CELLS[kind](units=2), inputs=2).stack
    random = np.random.default_rng(0)
    weights = {tensor.name: random.uniform(0.1, 0.5, tensor.shape).tolist() for tensor in place.tensors}
    flow = random.uniform(0.1, 1, (3, 2))
    runs: list[Run] = [(weights, flow)]
    for tensor in place.tensors:
        for index in np.ndindex(tensor.shape):
            moved = np.array(weights[tensor.name])
            moved[index] += 0.1
            runs.append(({**weights, tensor.name: moved.tolist()}, flow))
    (theirs,) = called(folder, [case(place.layer, 2, 3, runs)])
    first, *others = np.array(theirs["outputs"])
    assert all(abs(each - first).max() > 1e-5 for each in others)
