"""What a Python caller gives is taken where it is natural, else refused with the place and the cure."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Call, report_of
from verified import backward

import rnncalc
from rnncalc import (
    GRU,
    LSTM,
    RNN,
    CallError,
    Dropout,
    Embedding,
    Network,
    Part,
    SpecError,
    answer,
    compare,
    count,
    explain,
    load,
    load_data,
    run,
    solve,
)
from rnncalc.layers.fastgrnn import FastGRNN

NETWORK = Network(input=2, layers=[RNN(1)], steps=2)
WEIGHTS = {"rnn_1": {"W_xh": [[1, -0.25]], "W_hh": [[0.5]], "b_h": [0]}}
QUESTIONS: dict[str, Callable[[Any], object]] = {
    "count": count,
    "run": run,
    "explain": explain,
    "compare": compare,
    "answer": lambda network: answer(network, 7),
    "solve": lambda network: solve(lambda size: network, 7),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_no_network_is_refused(question: str) -> None:
    """By every question, with the way to a network; a path with the call that reads it."""
    everything: list[Any] = ["specs/gru.yaml", Path("specs/gru.yaml"), None, 7, Network, [NETWORK], RNN(3), {}]
    for given in everything:
        with pytest.raises(CallError, match="expected a Network") as refused:
            QUESTIONS[question](given)
        assert ("load('specs/gru.yaml')" in str(refused.value)) == ("gru" in str(given))


def test_a_spec_s_own_numbers_are_had_from_python_too(call: Call) -> None:
    """What `run` and `run --backward` do with a file, `run` and `backward` do with what was read of it."""
    path = "specs/gru-by-hand.yaml"
    data = load_data(path)
    done = run(load(path), weights=data.weights, inputs=data.inputs, start=data.start)
    report = report_of(call, "run", path)
    assert done.outputs == report["outputs"]
    assert data.inputs == {None: [[1.0], [2.0]]}
    path = "specs/one-unit.yaml"
    data = load_data(path)
    back = backward(load(path), **data._asdict())
    report = report_of(call, "run", path, "--backward", "--verify")
    assert back.loss == report["loss"]
    assert data.targets == [0.0]
    assert set(load_data("specs/lstm.yaml")) == {None}


def test_a_size_that_changes_nothing_is_told_in_the_words_of_the_call(call: Call) -> None:
    """From Python there is no `?`; refusals/python has that one."""
    err = call("solve", "-i", 8, "-l", "lstm:3", "-T", "?", "--params", "1M").err
    assert "the size does not change the number of parameters; write a number for it, and ? for a width" in err


class Rows:
    """An array as numpy's, as far as `tolist` goes."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def tolist(self) -> list[Any]:
        return self.rows


LISTS = [[1, 2], [0, 0]]


@pytest.mark.parametrize("inputs", [LISTS, ((1, 2), (0, 0)), Rows(LISTS), {None: LISTS}])
def test_inputs_are_the_list_that_the_command_takes(inputs: Any) -> None:
    """tanh(0.5 tanh(0.5)), from lists, tuples and arrays."""
    assert run(NETWORK, weights=WEIGHTS, inputs=inputs).outputs == pytest.approx([math.tanh(0.5 * math.tanh(0.5))])
    assert run(Network(input=4, layers=[FastGRNN(5)], steps=3), inputs=[[1, 2, 3, 4]] * 3).agrees


def test_inputs_of_halves_and_of_an_embedding() -> None:
    """A list a half, and a token per step; their number is T where the network does not say it."""
    halves = Network(encoder=Part(2, (GRU(3),)), decoder=Part(1, (GRU(3),)))
    done = run(halves, inputs={"encoder": [[1, 2]] * 4, "decoder": [[1]] * 2})
    assert [part.steps for part in done.network.parts.values()] == [4, 2]
    assert done.assumed_steps is None
    assert run(Network(input=9, layers=[Embedding(2), RNN(1)]), inputs=[0, 8]).agrees


def test_names_and_shapes_may_be_given_in_the_natural_way() -> None:
    """One name without a tuple, a shape in a list, steps as a number."""
    assert [each.placed.name for each in explain(NETWORK, only="rnn_1").layers] == ["rnn_1"]
    assert answer(NETWORK, [1, 2], [1, 1], [1]).right
    assert load("specs/gru.yaml", steps=9).steps == 9
    assert rnncalc.count(NETWORK).params == 4


def test_a_layer_without_weights_may_stand_among_weights() -> None:
    """A dict made of all layers has an empty one for a dropout."""
    network = Network(input=1, layers=[Dropout(0.5), RNN(1)], steps=1)
    weights: dict[str, Any] = {
        place.name: {tensor.name: [[0.5]] for tensor in place.tensors} for place in network.stack
    }
    weights["rnn_1"]["b_h"] = [0.5]
    assert run(network, weights=weights).agrees


def test_of_very_many_problems_the_first_are_told_and_that_there_are_more() -> None:
    """As those of a spec are."""
    with pytest.raises(SpecError) as refused:
        run(NETWORK, inputs=[["x"]] * 300)
    assert len(refused.value.problems) == 101
    assert str(refused.value).endswith("\nand more problems than these 100")


def test_a_limit_may_have_a_suffix() -> None:
    """As in a spec, of parameters and of bytes."""
    net = Network(input=8, layers=[LSTM(16)])
    limits = [rnncalc.check(net, max_params=limit).limits[0].limit.value for limit in ("1.5k", "4M", "1_000", 7)]
    assert limits == [1_500, 4_000_000, 1_000, 7]
    assert rnncalc.check(net, max_bytes="6.25kiB").status.value == "passed"
