"""Models of several networks: whatever the networks, the model is their sum."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Call, file_at, written
from hypothesis import given
from hypothesis import strategies as st
from reports.test_totals import FOR_PEOPLE, READERS, check
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc import LSTM, Member, Model, Network, Output, SpecError, count, training
from rnncalc.questions.operations import pass_operations
from rnncalc.questions.stream import stream
from rnncalc.reports.beside import StreamReport
from rnncalc.reports.count import CountReport
from rnncalc.reports.training import TrainingReport
from rnncalc.spec import parse

MEMBERS = st.lists(st.tuples(st.one_of(network(), encoder_decoder()), st.integers(1, 3)), min_size=1, max_size=3)
PPO = Path("specs/several/recurrent-ppo.yaml")


def model_of(members: list[tuple[Spec, int]]) -> Model:
    networks = {f"n{place}": {**spec, "calls": calls} for place, (spec, calls) in enumerate(members)}
    model = parse(yaml.safe_dump({"networks": networks}).encode(), "model.yaml").described
    assert isinstance(model, Model)
    return model


def added(amounts: list[Any], calls: list[int]) -> int | None:
    return None if None in amounts else sum(each * number for each, number in zip(amounts, calls, strict=True))


@given(MEMBERS)
def test_a_model_is_the_sum_of_its_networks(members: list[tuple[Spec, int]]) -> None:
    """Parameters and gradients once; work, states and saved activations as often as a network is called."""
    model, networks = model_of(members), [network_of(spec) for spec, _ in members]
    calls, once = [number for _, number in members], [1] * len(members)
    whole, counts = count(model), [count(each) for each in networks]
    for key in ("params", "trainable", "bytes"):
        assert getattr(whole, key) == added([getattr(each, key) for each in counts], once)
    for key in ("multiply_adds", "multiply_adds_per_step"):
        assert getattr(whole, key) == added([getattr(each, key) for each in counts], calls)
    trained, trainings = training(model, batch=2), [training(each, batch=2) for each in networks]
    assert trained.gradients == added([each.gradients for each in trainings], once)
    for key in ("saved", "backward_multiply_adds", "states_carried"):
        assert getattr(trained, key) == added([getattr(each, key) for each in trainings], calls)
    in_batch = [training(each, batch=2 * number).bytes for each, number in zip(networks, calls, strict=True)]
    assert trained.bytes == added(in_batch, once)
    assert stream(model).state == added([stream(each).state for each in networks], calls)
    flops = [total and total.flops for total in (pass_operations(each).total for each in networks)]
    assert (total := pass_operations(model).total) is None or total.flops == added(flops, calls)
    dense = [each.dense and each.dense.params for each in counts]
    assert (whole.dense and whole.dense.params) == added(dense, once)


@pytest.mark.broad
@pytest.mark.parametrize("form", READERS)
@given(MEMBERS)
def test_rows_sum_to_the_model(form: str, members: list[tuple[Spec, int]]) -> None:
    """In every format, and the networks of JSON and of the last table to the same total."""
    model = model_of(members)
    reader, first, _ = READERS[form]
    halves = any("encoder" in spec for spec, _ in members)
    report = CountReport(count(model), cost=True)
    text = written(report, form)
    found, *_ = reader(
        text.partition("\nNetworks")[0] if form == "table" else text, first + (form in FOR_PEOPLE) * (1 + halves)
    )
    check(found)
    assert (
        next(total for title, (_, total) in found.items() if title.lower() in ("params", "parameters")) == model.params
    )
    if form == "json":
        (data,) = json.loads(text)["reports"]
        for key in ("params", "multiply_adds", "bytes"):
            amounts = [each[key] for each in data["networks"]]
            assert data[key] == added(amounts, [1] * len(amounts))


def test_networks_beside_one_another_are_told_apart(call: Call) -> None:
    """256 units on 4 numbers, two layers of 64, and 2 or 1 outputs: 289,026 and 288,961 (sb3-contrib's defaults)."""
    (data,) = json.loads(call(PPO, "-f", "json", "--training").out)["reports"]
    assert {each["name"]: each["params"] for each in data["networks"]} == {"actor": 289026, "critic": 288961}
    assert data["params"] == data["training"]["gradients"] == 577987
    assert [each["network"] for each in data["layers"]] == ["actor"] * 4 + ["critic"] * 4
    rows = [*csv.DictReader(io.StringIO(call(PPO, "-f", "csv").out))]
    assert [row["network"] for row in rows] == ["actor"] * 4 + ["critic"] * 4 + ["Recurrent PPO"]
    assert sum(int(row["params"]) for row in rows[:-1]) == int(rows[-1]["params"]) == 577987


def test_a_file_gives_what_its_text_gives_in_place(call: Call, tmp_path: Path) -> None:
    """With sizes, convention and flags of the model; the network's own keys win."""
    inner = {"input": 4, "layers": [{"lstm": "2*H"}], "output": 3}
    top = {"convention": "pytorch", "sizes": {"H": 5}}
    file_at(tmp_path / "inner.yaml", yaml.safe_dump(inner))
    in_file = file_at(
        tmp_path / "a.yaml", yaml.safe_dump({**top, "networks": {"x": {"file": "inner.yaml", "calls": 2}}})
    )
    inline = file_at(tmp_path / "b.yaml", yaml.safe_dump({**top, "networks": {"x": {**inner, "calls": 2}}}))
    for flags in ((), ("-c", "keras"), ("--set", "H=7")):
        one, other = (
            json.loads(call(spec, "--stream", "-f", "json", *flags).out)["reports"][0] for spec in (in_file, inline)
        )
        assert {**one, "name": ""} == {**other, "name": ""}
        convention, units = dict([flags or ("", "")]).get("-c", "pytorch"), 14 if "H=7" in flags else 10
        biases = 2 if convention == "pytorch" else 1
        assert one["params"] == 4 * units * (4 + units + biases) + 3 * (units + 1)
        assert one["stream"]["state"] == 2 * 2 * units
    assert (
        call(in_file, "-T", 3).err
        == "--steps: each network of a model has its own; write steps: 3 in it, under networks\n"
    )
    twice = file_at(tmp_path / "c.yaml", yaml.safe_dump({**top, "networks": {"x": "inner.yaml", "y": "inner.yaml"}}))
    for model in (in_file, twice):
        error = call("exercise", model).err
        assert error.endswith(f"and this takes one; give {tmp_path / 'inner.yaml'}\n"), error
    message = f"a model of several networks, and this takes one; give {tmp_path / 'inner.yaml'}"
    assert call("exercise", in_file).err == f"{in_file}:3:3: networks: {message}\n"


def test_a_model_in_python() -> None:
    """A network alone is called once; what is wrong is said all at once."""
    actor = Network(input=4, layers=[LSTM(3)], output=Output(2))
    model = Model({"actor": Member(actor), "critic": Member(actor, 2)})
    assert (model.params, count(model).multiply_adds_per_step) == (2 * actor.params, 3 * (4 * 3 * 7 + 6))
    with pytest.raises(SpecError, match=r"networks\.a b: expected a name"):
        Model({"a b": Member(actor)})
    assert str(TrainingReport(CountReport(count(model)), training(model)).sheets()[1].title) == "Networks"
    assert StreamReport(CountReport(count(model)), stream(model)).data()["networks"][1]["state"] == 12


def test_commands_take_the_networks_one_after_the_other(call: Call, tmp_path: Path) -> None:
    """`--only` names one of them, or a layer of one; what takes a single network says so."""
    (explained,) = json.loads(call("explain", PPO, "--only", "critic.output", "-f", "json").out)["reports"]
    assert (explained["network"], [layer["params"] for layer in explained["layers"]]) == ("critic", [65])
    drawn = call("draw", PPO).out
    assert [name in drawn for name in ("Recurrent PPO: actor", "Recurrent PPO: critic")] == [True, True]
    program = call("export", PPO, "--to", "pytorch").out
    assert [line for line in program.splitlines() if line.startswith("class ")] == [
        f"class {name}(nn.Module):" for name in ("Actor", "Critic", "RecurrentPPO")
    ]
    assert "self.critic = Critic()  # 288,961 parameters" in program
    small: dict[str, Any] = {
        "input": 2,
        "steps": 1,
        "layers": [{"rnn": 1}],
        "weights": {"rnn_1": {"W_xh": [[1, 0]], "W_hh": [[1]]}},
    }
    small["weights"]["rnn_1"]["b_h"], small["inputs"] = [0], [[0.5, 0]]
    spec = file_at(
        tmp_path / "m.yaml", yaml.safe_dump({"networks": {"a": small, "b": {"input": 1, "layers": [{"rnn": 1}]}}})
    )
    (done,) = json.loads(call("run", spec, "--only", "a", "-f", "json").out)["reports"]
    assert done["outputs"] == [pytest.approx(0.46211715726)]  # tanh(0.5)
    assert call("run", spec).err.endswith("a model of several networks runs one of them; name a or b with --only\n")
    assert call("run", spec, "--only", "c").err == "rnncalc: --only: expected a or b, got 'c'\n"
    rows = json.loads(call("convert", spec, "--to", "pytorch", "-f", "json").out)["conversions"]
    assert [row["network"] for row in rows] == ["a"] * 4 + ["b"] * 4
    saved = call("convert", spec, "--to", "pytorch", "--save-weights", tmp_path / "w.safetensors").err
    assert saved == "rnncalc: --save-weights: a file has the arrays of one network; name it with --only\n"
    compared = json.loads(call("compare", PPO, spec, "-f", "json").out)["reports"][0]["layers"]
    networks = [next(each["network"] for each in row["networks"] if each) for row in compared]
    assert networks == ["actor"] * 4 + ["critic"] * 4 + ["a", "b"]
