"""`count`: rows, totals and formulas."""

import json
from typing import Any

import by_hand
from conftest import Call
from hypothesis import given
from strategies import Spec, flags, network, network_of, part

from rnncalc import LSTM, RNN, Network
from rnncalc.questions.count import count
from rnncalc.spec import spec_in_flags


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
    assert spec_in_flags(**given_flags).network.stack == network_of(spec).stack


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


def test_several_specs_are_reported_in_order(call: Call) -> None:
    """One call, several specs: one report each, one CSV header."""
    result = call("specs/lstm.yaml", "specs/gru.yaml", "-f", "json")
    assert [report["params"] for report in json.loads(result.out)["reports"]] == [1600, 1200]
    assert call("specs/lstm.yaml", "specs/gru.yaml", "-f", "csv").out.count("network,name") == 1


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
