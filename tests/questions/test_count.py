"""`count`: rows, totals and formulas."""

import json
from typing import Any

import by_hand
import pytest
from conftest import Call, report_of, written
from hypothesis import given
from strategies import Spec, flags, network, network_of, part

from rnncalc import LSTM, MGU, RNN, Dense, Embedding, External, Network, Output
from rnncalc.network.network import Network as Placing
from rnncalc.questions.count import count
from rnncalc.reports.count import CountReport
from rnncalc.spec import from_flags


def rendered(network: Placing, form: str, **options: Any) -> str:
    return written(CountReport(count(network), **options), form)


@given(network())
def test_every_layer_has_the_textbook_count(spec: Spec) -> None:
    """The tensors sum to the formulas, written down independently."""
    for placed in network_of(spec).stack:
        assert placed.params == by_hand.params(placed.layer, placed.inputs)


@given(network())
def test_the_formula_evaluates_to_the_count(spec: Spec) -> None:
    """With the numbers in, each formula is arithmetic that gives the layer's parameters."""
    for row in count(network_of(spec)).layers:
        assert eval(row.substituted.replace("×", "*")) == row.params == sum(t.params for t in row.tensors)


@given(network())
def test_flags_and_yaml_describe_the_same_network(spec: Spec) -> None:
    """What a spec says in YAML it says in flags."""
    words = iter(flags(spec))
    given_flags: dict[str, Any] = {"input": None, "layers": (), "output": None}
    for flag in words:
        key = flag.removeprefix("--")
        value = next(words)
        given_flags["layers"] += (value,) if key == "layer" else ()
        given_flags |= {key: value} if key != "layer" else {}
    assert from_flags(**given_flags).network.stack == network_of(spec).stack


@given(network())
def test_repeat_is_the_layer_written_again(spec: Spec) -> None:
    """`repeat: 2` counts what two layers count."""
    written = {**spec, "layers": []}
    for layer in spec["layers"]:
        once = {key: value for key, value in layer.items() if key != "repeat"}
        written["layers"] += [once] * layer.get("repeat", 1)
    rows = [
        [(row.name, row.params, row.output_shape, row.multiply_adds) for row in count(network_of(of)).layers]
        for of in (spec, written)
    ]
    assert rows[0] == rows[1]


@given(part(steps=True))
def test_both_directions_are_twice_one(spec: Spec) -> None:
    """A bidirectional layer has exactly the parameters of two that read one way."""
    for placed in network_of(spec).stack:
        if getattr(placed.layer, "bidirectional", False):
            halves = {"forward": 0, "backward": 0}
            for tensor in placed.tensors:
                halves[str(tensor.direction)] += tensor.params
            assert halves["forward"] == halves["backward"] == placed.params // 2


@pytest.mark.parametrize(
    ("layer", "letters", "numbers"),
    [
        (RNN(3), "h(m + h + 1)", "3 × (4 + 3 + 1)"),
        (LSTM(3), "4h(m + h + 1)", "4 × 3 × (4 + 3 + 1)"),
        (LSTM(3, bias=False), "4h(m + h)", "4 × 3 × (4 + 3)"),
        (LSTM(3, bidirectional=True), "2 × 4h(m + h + 1)", "2 × 4 × 3 × (4 + 3 + 1)"),
        (MGU(3, recurrence="diagonal"), "2h(m + 1 + 1)", "2 × 3 × (4 + 1 + 1)"),
        (
            LSTM(3, projection=2, peepholes=True, learned_state=True),
            "4h(m + p + 1) + 3h + h·p + p + h",
            "4 × 3 × (4 + 2 + 1) + 3 × 3 + 3 × 2 + 2 + 3",
        ),
        (Dense(3), "n(m + 1)", "3 × (4 + 1)"),
        (Dense(3, bias=False), "n·m", "3 × 4"),
        (Embedding(3), "m·d", "4 × 3"),
        (External(7), "N", "7"),
    ],
)
def test_formulas_are_written_as_in_the_textbook(layer: Any, letters: str, numbers: str) -> None:
    """The letters are those people know, the numbers are where the letters was."""
    (row,) = count(Network(input=4, layers=(layer,))).layers
    assert (row.formula, row.substituted) == (letters, numbers)


def test_what_is_not_known_is_null() -> None:
    """Without steps there is no dense equivalent and no whole cost; the cost of a step is told instead."""
    report = json.loads(rendered(Network(input=4, layers=(RNN(3),), output=Output(1)), "json"))["reports"][0]
    assert report["dense"] is None
    assert report["steps"] is None
    assert report["multiply_adds"] is None
    assert report["multiply_adds_per_step"] == 4 * 3 + 3 * 3 + 3
    assert report["layers"][0]["multiply_adds"] is None
    external = json.loads(rendered(Network(input=4, layers=(External(9), RNN(3)), steps=2), "json"))["reports"][0]
    assert [layer["multiply_adds"] for layer in external["layers"]] == [None, 42]
    assert [(tensor["name"], tensor["shape"]) for tensor in external["layers"][0]["tensors"]] == [("external", [9])]
    assert external["multiply_adds"] is None


def test_counts_are_exact_at_any_size() -> None:
    """A layer of 10^12 units on 10^12 features has 4·10^12·(2·10^12 + 1) parameters to the last digit."""
    network = Network(input=10**12, layers=(LSTM(10**12),))
    report = json.loads(rendered(network, "json"))["reports"][0]
    assert report["params"] == 8_000_000_000_004_000_000_000_000


def test_matrices_are_as_the_classroom_writes_them(call: Call) -> None:
    """Input 10, hidden 20, output 5 without biases: (20, 10), (20, 20) and (5, 20)."""
    report = report_of(call, "specs/no-biases.yaml")
    shapes = {tensor["name"]: tensor["shape"] for layer in report["layers"] for tensor in layer["tensors"]}
    assert shapes == {"W_xh": [20, 10], "W_hh": [20, 20], "W_hy": [5, 20]}


def test_a_frozen_layer_is_counted_apart(call: Call) -> None:
    """Frozen parameters are in the total, not in the trainable; both have a column of their own."""
    flags_ = ["-i", 2, "-l", "rnn:3,frozen", "-o", 1]
    report = report_of(call, *flags_)
    assert (report["params"], report["trainable"]) == (22, 4)
    (total,) = (line.split() for line in call(*flags_).out.splitlines() if line.startswith("Total"))
    assert total == ["Total", "22", "4", "18"]


def test_a_tied_output_counts_its_matrix_once() -> None:
    """Vocabulary 10, width 4: the table has 40, the output its 10 biases and still 40 multiply-adds per step."""
    network = Network(input=10, layers=(Embedding(4), RNN(4)), output=Output(10, tied=True), steps=1)
    embedding, rnn, output = count(network).layers
    assert (embedding.params, rnn.params, output.params) == (40, 36, 10)
    assert (embedding.multiply_adds, output.multiply_adds) == (0, 40)


def test_several_specs_are_reported_in_order(call: Call) -> None:
    """One call, several specs: one report each, one CSV header."""
    result = call("specs/lstm.yaml", "specs/gru.yaml", "-f", "json")
    assert [report["params"] for report in json.loads(result.out)["reports"]] == [1600, 1200]
    assert call("specs/lstm.yaml", "specs/gru.yaml", "-f", "csv").out.count("network,name") == 1


@pytest.mark.parametrize(("dtype", "size"), [("float64", 8), ("float32", 4), ("bfloat16", 2), ("int8", 1)])
def test_bytes_follow_the_dtype(call: Call, dtype: str, size: int) -> None:
    """Bytes are parameters times the size of one."""
    report = report_of(call, "specs/lstm.yaml", "--dtype", dtype)
    assert report["bytes"] == 1600 * size


def test_a_count_is_a_value() -> None:
    """Named numbers of the network and of its layers, each by itself; None is not known."""
    network = Network(input=4, layers=(RNN(4, repeat=3, frozen=True), LSTM(2)))
    counted = count(network, "float16")
    assert (counted.params, counted.trainable, counted.bytes) == (3 * 36 + 56, 56, 2 * (3 * 36 + 56))
    assert (counted.multiply_adds, counted.multiply_adds_per_step, counted.dense) == (None, 3 * 32 + 48, None)
    assert [(layer.name, layer.params) for layer in counted.layers] == [
        *(("rnn_1", 36), ("rnn_2", 36), ("rnn_3", 36)),
        ("lstm_1", 56),
    ]
    first = counted.layers[0]
    assert (first.kind, first.part, first.inputs, first.units, first.outputs) == ("rnn", None, 4, 4, 4)
    assert (first.output_shape, first.trainable, first.params) == ((None, 4), 0, 36)
    assert [(tensor.name, tensor.shape) for tensor in first.tensors] == [
        *(("W_xh", (4, 4)), ("W_hh", (4, 4))),
        ("b_h", (4,)),
    ]
    assert count(network, "float16") == counted != count(network)
