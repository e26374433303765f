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
    RefusedError,
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

UNTYPED: Any = rnncalc
"""The same without types: what a caller without a type checker may write."""

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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: UNTYPED.count(NETWORK, 3), "dtype: expected float64"),
        (lambda: UNTYPED.count(NETWORK, ["float32"]), "dtype: expected float64"),
        (
            lambda: explain(NETWORK, notation="row"),
            "notation: expected w, uvw, rows, stacked, stacked-gates or pytorch, got 'row'; did you mean 'rows'?",
        ),
        (lambda: UNTYPED.explain(NETWORK, notation=3), "notation: expected w, uvw, rows, stacked, stacked-gates or"),
        (lambda: UNTYPED.compare(NETWORK, dtype=None), "dtype: expected float64"),
        (
            lambda: UNTYPED.solve(lambda units: NETWORK, 100, bytes_each=-4),
            "bytes_each: expected a whole number, 0 or more, got -4",
        ),
        (lambda: UNTYPED.solve(lambda units: NETWORK, 100, bytes_each="4"), "bytes_each: expected a whole number"),
        (
            lambda: answer(Network(input=3, layers=[Dropout(0.5)]), (5,)),
            "there is no tensor whose shape could be given; give a number",
        ),
        (lambda: UNTYPED.run(NETWORK, seed="x"), "seed: expected a whole number, got 'x'"),
        (
            lambda: UNTYPED.run(NETWORK, most_multiply_adds="1G"),
            "most_multiply_adds: expected a whole number, 0 or more",
        ),
        (
            lambda: UNTYPED.explain(NETWORK, only=("rnn1", "nix")),
            "only: expected rnn_1, got 'rnn1' and 'nix'; did",
        ),
        (lambda: UNTYPED.explain(NETWORK, only=3), "only: expected the names of layers"),
        (
            lambda: UNTYPED.solve(NETWORK, 7),
            "sized: expected a function from a size to a network, such as lambda size: Network(input=4, "
            "layers=[LSTM(size)]), got a Network",
        ),
        (lambda: UNTYPED.solve(lambda size: NETWORK, "1M"), "budget: expected a whole number, 0 or more, got '1M'"),
        (
            lambda: UNTYPED.solve(lambda size: NETWORK, 7, multiple=0),
            "multiple: expected a whole number, 1 or more",
        ),
        (lambda: UNTYPED.answer(NETWORK), "give an answer"),
        (
            lambda: UNTYPED.answer(NETWORK, [3, 4]),  # of three tensors: W_xh, W_hh and b_h
            "expected numbers, or a shape for each of 3 tensors, got one list; give each by itself, as in answer("
            "network, 3, 4)",
        ),
        (lambda: UNTYPED.answer(NETWORK, [1] * 5), "expected numbers, or a shape for each of 3 tensors, got one list"),
        (lambda: UNTYPED.LSTM(), "LSTM() needs 'units'; give units=..."),
        (
            lambda: UNTYPED.LSTM(20, bidirectionl=True),
            "LSTM() has no 'bidirectionl'; did you mean 'bidirectional'?",
        ),
        (lambda: UNTYPED.Dense(20, hidden=3), "Dense() has no 'hidden'; it has name, frozen, repeat, extra_inputs"),
        (lambda: UNTYPED.Network(input=2, layers=[RNN(1)], outputs=5), "Network() has no 'outputs'; did you mean 'ou"),
        (lambda: UNTYPED.Dense(1, True, "tanh", 4), "Dense() takes at most 3 values without names (units, bias and"),
        (lambda: NETWORK.replace(stesp=3), "Network() has no 'stesp'; did you mean 'steps'?"),
        (
            lambda: UNTYPED.backward(NETWORK, most_multiply_adds="1G"),
            "most_multiply_adds: expected a whole number, 0 or more, got '1G'",
        ),
        (lambda: UNTYPED.count([NETWORK]), "expected a Network, such as load('spec.yaml'), got a list; give each by"),
        (lambda: UNTYPED.run(RNN), "expected a Network, such as load('spec.yaml'), got the class RNN"),
        (lambda: UNTYPED.answer(NETWORK, (2, 0), (1, 1), (1,)), "expected a shape, such as (20, 10), got (2, 0)"),
        (lambda: UNTYPED.answer(NETWORK, None), "expected a whole number, such as 1600"),
        (lambda: UNTYPED.answer(NETWORK, (1, "x"), (1, 1), (1,)), "expected a shape, such as"),
        (lambda: UNTYPED.load(3), "path: expected the path of a spec file, got a int"),
        (
            lambda: UNTYPED.load("specs/gru.yaml", step=3),
            "load: expected steps, topology, convention, notation, feedback or rate, got 'step'",
        ),
    ],
)
def test_plain_misuse_is_told_with_its_place(call: Callable[[], object], message: str) -> None:
    """What is not of the type that it must be."""
    with pytest.raises(CallError) as refused:
        call()
    assert str(refused.value).startswith(message)


def test_a_word_of_an_option_is_guessed() -> None:
    """As in a spec."""
    with pytest.raises(SpecError, match=r"^convention: expected .*, got 'torch'; did you mean 'pytorch'\?$"):
        NETWORK.replace(convention="torch")
    with pytest.raises(SpecError, match=r"^layers\[0\].activation: expected .*, got 'tahn'; did you mean 'tanh'\?$"):
        UNTYPED.Network(input=2, layers=[UNTYPED.RNN(1, activation="tahn")])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: run(NETWORK, inputs=[[1, 10**400], [1, 2]]),
            "inputs[0][1]: expected a number up to 1.8e308, got one of over 40 digits",
        ),
        (
            lambda: run(NETWORK, start={"rnn_1": {"h": [10**5000]}}),
            "start.rnn_1.h[0]: expected a number up to 1.8e308, got one of over 40 digits",
        ),
        (
            lambda: run(NETWORK, inputs=[[1, math.inf], [1, 2]]),
            "inputs[0][1]: expected a number up to 1.8e308, got inf",
        ),
        (
            lambda: Network(input=10**5000, layers=[RNN(1)]),
            "input: expected at most 10^12, got one of over 40 digits",
        ),
        (
            lambda: Network(input=-(10**5000), layers=[RNN(1)]),
            "input: expected a positive whole number, got one of over 40 digits",
        ),
        (
            lambda: UNTYPED.Network(input=Index(), layers=[RNN(1)]),
            "input: expected a positive whole number, got int64(3); give int(...) of it",
        ),
        (lambda: load("specs/lstm.yaml", steps=-5), "steps: expected a positive whole number, got '-5'"),
    ],
)
def test_numbers_that_are_too_large_or_of_another_kind(call: Callable[[], object], message: str) -> None:
    """No float has them, nor would anybody read them; another library's are told how to be given."""
    with pytest.raises(SpecError) as refused:
        call()
    assert str(refused.value) == message


def test_a_spec_s_own_numbers_are_had_from_python_too(call: Call) -> None:
    """What `run` and `run --backward` do with a file, `run` and `backward` do with what was read of it."""
    path = "specs/gru-by-hand.yaml"
    data = load_data(path)
    done = run(load(path), weights=data.weights, inputs=data.inputs, start=data.start)
    told = report_of(call, "run", path)
    assert done.outputs == told["outputs"]
    assert data.inputs == {None: [[1.0], [2.0]]}
    path = "specs/one-unit.yaml"
    data = load_data(path)
    back = backward(load(path), **data._asdict())
    told = report_of(call, "run", path, "--backward", "--verify")
    assert back.loss == told["loss"]
    assert data.targets == [0.0]
    assert set(load_data("specs/lstm.yaml")) == {None}
    with pytest.raises(SpecError, match=r"^steps: expected a positive whole number, got 0$"):
        load_data(path, steps=0)


class Index:
    """A whole number that is no int, as NumPy's are."""

    def __index__(self) -> int:
        return 3

    def __repr__(self) -> str:
        return "int64(3)"


def test_a_size_that_changes_nothing_is_told_in_the_words_of_the_call(call: Call) -> None:
    """From Python there is no `?`."""
    with pytest.raises(RefusedError) as refused:
        solve(lambda size: NETWORK, 1000)
    assert str(refused.value) == "the size does not change the number of parameters; let it be another width"
    err = call("solve", "-i", 8, "-l", "lstm:3", "-T", "?", "--params", "1M").err
    assert err == "rnncalc: the size does not change the number of parameters; write ? instead of another\n"


def test_a_guess_is_made_at_words_alone() -> None:
    """A number stands for no notation, and none is suggested."""
    with pytest.raises(CallError, match=r"^notation: expected w, uvw, .* or pytorch, got 3; give its name as text$"):
        UNTYPED.explain(NETWORK, notation=3)


def test_a_question_mark_names_solve() -> None:
    """A size to be looked for is not written so in Python."""
    with pytest.raises(SpecError, match=r"solve\(lambda size: Network"):
        Network(input=4, layers=[LSTM("?")])  # type: ignore[arg-type]


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


@pytest.mark.parametrize(
    ("weights", "inputs", "problems"),
    [
        ({"x": 1}, None, ["weights.x: unknown key", "weights.rnn_1: missing"]),
        ("rnn_1", None, ["weights: expected a dict with rnn_1, got 'rnn_1'", "weights.rnn_1: missing"]),
        ({"rnn_1": [1]}, None, ["weights.rnn_1: expected a dict with W_xh, W_hh or b_h, got a list"]),
        (
            {"rnn_1": {"W_xh": [[1, 2], [3, 4]], "W_hh": 1, "c": 2}},
            None,
            [
                "weights.rnn_1.c: unknown key",
                "weights.rnn_1.W_xh: expected shape (1, 2), got 2 rows",
                "weights.rnn_1.W_hh: expected shape (1, 1), got the number 1",
                "weights.rnn_1.b_h: missing; expected shape (1)",
            ],
        ),
        (
            {"rnn_1": {**WEIGHTS["rnn_1"], "b_h": ["x"]}},
            [[1, 2]],
            ["weights.rnn_1.b_h[0]: expected a number, got 'x'", "inputs: expected 2 steps, got 1"],
        ),
        (None, [[1, 2], [1, float("nan")]], ["inputs[1][1]: expected a number, got nan"]),
        (None, "ab", ["inputs: expected a list of 2 steps, got 'ab'"]),
        (None, 5, ["inputs: expected a list of 2 steps, got the number 5"]),
    ],
)
def test_numbers_that_do_not_fit_are_all_told(weights: Any, inputs: Any, problems: list[str]) -> None:
    """Names and shapes, of weights and of inputs, at once."""
    with pytest.raises(SpecError) as refused:
        run(NETWORK, weights=weights, inputs=inputs)
    told = [str(problem) for problem in refused.value.problems]
    assert len(told) == len(problems)
    assert all(one.startswith(start) for one, start in zip(told, problems, strict=True)), told


def test_names_and_shapes_may_be_given_in_the_natural_way() -> None:
    """One name without a tuple, a shape in a list, steps as a number."""
    assert [each.placed.name for each in explain(NETWORK, only="rnn_1").layers] == ["rnn_1"]
    assert answer(NETWORK, [1, 2], [1, 1], [1]).right
    assert load("specs/gru.yaml", steps=9).steps == 9
    assert rnncalc.count(NETWORK).params == 4


def test_a_layer_without_weights_may_stand_among_weights() -> None:
    """A dict made of all layers has an empty one for a dropout; what is no layer at all is still refused."""
    network = Network(input=1, layers=[Dropout(0.5), RNN(1)], steps=1)
    weights: dict[str, Any] = {
        place.name: {tensor.name: [[0.5]] for tensor in place.tensors} for place in network.stack
    }
    weights["rnn_1"]["b_h"] = [0.5]
    assert run(network, weights=weights).agrees
    with pytest.raises(SpecError, match=r"weights\.dropout_2: unknown key"):
        run(network, weights={**weights, "dropout_2": {}})


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
    with pytest.raises(CallError, match=r"^max_params: expected a whole number, or one such as 4M, got '4MB'$"):
        rnncalc.check(net, max_params="4MB")
