"""Models of several networks in PyTorch and Keras: modules of modules, and functional models with several inputs."""

import os
from pathlib import Path
from typing import Any

import keras
import pytest
import torch
from conformance import with_keras, with_torch
from conformance.drawing import networks
from conftest import written
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from rnncalc import Member, Model, count, load_model, training
from rnncalc.cli.models import matched_with
from rnncalc.models.files import read
from rnncalc.models.read import read_model
from rnncalc.programs import source
from rnncalc.reports.read import ReadReport
from rnncalc.spec import parse

pytestmark = pytest.mark.conformance

EXAMPLES = int(os.environ.get("MODELS", "6"))  # 500 of each were compared once


def models(convention: str) -> st.SearchStrategy[Model]:
    """Return models of one to three networks of a framework's own layers, called once to three times."""
    named = st.sampled_from(["actor", "critic", "encoder", "class", "a-b", "A_b", "forward"])
    members = st.builds(Member, networks(convention, running=True), st.integers(1, 3))
    return st.dictionaries(named, members, min_size=1, max_size=3).map(lambda each: Model(each, name="The model"))


def exported(model: Model, target: str) -> Any:
    """Return the module of modules that the exported program makes."""
    names: dict[str, Any] = {"__name__": "exported"}
    exec(source(model, target), names)
    made = [each for each in names.values() if isinstance(each, type) and each.__module__ == "exported"]
    return made[-1]()


@settings(max_examples=EXAMPLES, deadline=None)
@given(models("pytorch"))
def test_pytorch_has_as_many_parameters(model: Model) -> None:
    """In a ModuleDict, and in the exported program: of each network, and of all."""
    modules: Any = torch.nn.ModuleDict()
    for place, member in enumerate(model.networks.values()):
        modules[str(place)] = with_torch.Stack(member.network)
    for built in (modules, exported(model, "pytorch")):
        sums = [sum(each.numel() for each in child.parameters()) for child in built.children()]
        assert sums == [member.network.params for member in model.networks.values()]
        assert sum(each.numel() for each in built.parameters()) == model.params == count(model).params


@settings(max_examples=EXAMPLES // 2, deadline=None, phases=[Phase.generate])
@given(models("keras"))
def test_keras_has_as_many_parameters(model: Model) -> None:
    """In a functional model that calls each network on several inputs."""
    stacks = [(with_keras.stack(member.network, random=False), member) for member in model.networks.values()]
    inputs, outputs = [], []
    for built, member in stacks:
        for _ in range(member.calls):
            inputs.append(keras.Input(built.input_shape[1:], dtype=built.inputs[0].dtype))
            outputs.append(built(inputs[-1]))
    whole = keras.Model(inputs, outputs)
    assert [built.count_params() for built, _ in stacks] == [member.network.params for _, member in stacks]
    assert whole.count_params() == model.params
    assert sum(map(_size, whole.trainable_weights)) == model.trainable == training(model).gradients
    assert len(exported(model, "keras").layers) == len(stacks)


def _size(weight: Any) -> int:
    return int(keras.ops.size(weight))


def test_a_model_of_networks_with_branches() -> None:
    """LSTM-FCN as its authors' program has it: 276,717 parameters, of which 1,024 are not trained."""
    layers = keras.layers
    series, steps = keras.Input((176, 1)), keras.Input((1, 176))
    x: Any = series
    for filters, kernel in ((128, 8), (256, 5), (128, 3)):
        x = layers.Activation("relu")(layers.BatchNormalization()(layers.Conv1D(filters, kernel, padding="same")(x)))
    joined = layers.concatenate([layers.Dropout(0.8)(layers.LSTM(8)(steps)), layers.GlobalAveragePooling1D()(x)])
    built = keras.Model([steps, series], layers.Dense(37, activation="softmax")(joined))
    model = load_model("specs/several/lstm-fcn.yaml")
    assert built.count_params() == model.params == 276717
    assert sum(map(_size, built.trainable_weights)) == model.trainable == 275693


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_functional_model_is_drafted_as_its_branches(tmp_path: Path) -> None:
    """Two sentences through one table and one LSTM, and a picture's branch: each row of layers is a network."""
    layers = keras.layers
    sentences = [keras.Input((10,)) for _ in range(2)]
    table, lstm = layers.Embedding(50, 8), layers.LSTM(6, name="lstm")
    frames = keras.Input((7, 3))
    branch = layers.GRU(4, name="gru")(layers.Conv1D(5, 3, name="conv")(frames))
    joined = layers.concatenate([*(lstm(table(each)) for each in sentences), branch])
    built = keras.Model([*sentences, frames], layers.Dense(2, name="head")(layers.Dense(9, name="hidden")(joined)))
    path = tmp_path / "branches.keras"
    built.save(path)
    reading = read_model(path)
    drafts = {name: (draft.network.params, calls) for name, (draft, calls) in reading.networks.items()}
    sums = {"conv": 5 * (3 * 3 + 1) + 3 * 4 * (5 + 4 + 2), "lstm": 4 * 6 * 15, "hidden": 9 * 17 + 2 * 10}
    assert drafts == {
        table.name: (400, 2),
        "lstm": (sums["lstm"], 2),
        "conv": (sums["conv"], 1),
        "hidden": (sums["hidden"], 1),
    }
    spec = tmp_path / "spec.yaml"
    spec.write_text(written(ReadReport(reading), "yaml"), encoding="utf-8")
    assert load_model(spec).params == built.count_params() == sum(params for params, _ in drafts.values())
    assert matched_with(parse(spec.read_bytes(), str(spec)), read(str(path), "")).kept
