"""What counters print, on numbers that were seen; tests/conformance has the counters themselves."""

import json
from typing import Any

import pytest
from conftest import Call

from rnncalc import GRU, LSTM, MGU, RNN, Dense, Layer, Network
from rnncalc.questions.counters import COUNTERS, counters


def printed(*layers: Layer, batch: int = 1, **others: Any) -> dict[str, int | None]:
    """Return what each counter prints, by its name, and its quantity if it has several."""
    network = Network(layers=layers, **others)
    return {f"{each.name} {each.version} {each.quantity}": each.value for each in counters(network, batch).printed}


SEEN: dict[str, tuple[int, int, int]] = {
    "FlopCounterMode 2.13.0 FLOPs": (0, 26_880_000, 0),
    "ptflops 0.7.5 MACs": (18_496_000, 13_856_000, 18_240),
    "ptflops (aten) 0.7.5 MACs": (0, 13_632_000, 0),
    "THOP 0.1.1 MACs": (18_432_000, 13_856_000, 17_920),
    "ultralytics-thop 2.2.3 MACs": (18_432_000, 13_856_000, 17_920),
    "torchinfo 1.8.0 mult-adds": (18_176_000, 13_632_000, 16_640),
    "torchprofile 0.1.0 MACs": (17_920_000, 0, 15_360),
    "DeepSpeed 0.19.8 FLOPs": (36_160_000, 27_104_000, 32_320),
    "DeepSpeed 0.19.8 MACs": (0, 0, 0),
    "calflops 0.3.2 FLOPs": (36_160_000, 27_104_000, 32_320),
    "calflops 0.3.2 MACs": (0, 0, 0),
    "onnx-tool 1.0.1 MACs": (23_936_000, 17_152_000, 45_440),
    "onnx-tool 0.8.0 MACs": (72_704, 54_528, 1_664),
    "fvcore 0.1.5 FLOPs": (0, 0, 0),
    "paddle.flops 3.3.1 FLOPs": (0, 0, 0),
}
"""An LSTM and a GRU of 128 units on 12 inputs over 250 steps, and an LSTM of 16 on 8 over 10."""


def test_numbers_that_were_seen() -> None:
    sizes = {"input": 12, "steps": 250}
    lstm, gru = printed(LSTM(128), **sizes), printed(GRU(128), **sizes)
    small = printed(LSTM(16), input=8, steps=10)
    for name, numbers in SEEN.items():
        assert (lstm[name], gru[name], small[name]) == numbers, name


def test_a_reason_says_all_that_a_counter_adds() -> None:
    """An LSTM of 16 and a dense layer of 3 on 8 inputs over 10 steps; h is 16, and a loop one direction of the LSTM."""
    rows = {each.name: each for each in counters(Network(input=8, layers=(LSTM(16), Dense(3)), steps=10)).printed}
    step, dense = 4 * 16 * (8 + 16), 3 * 16
    flax, frozen, info = (rows[name] for name in ("Flax tabulate", "TensorFlow, frozen", "torchinfo"))
    assert flax.value == 2 * step + 21 * 16 + 2 + 2 * dense + 3
    assert flax.reason.endswith("adds 21h, and 2 for each loop; adds biases")
    assert frozen.value == 2 * 4 * 16 * 8 + 5 * 16 + 4 * 16 + 2 * dense + 3
    assert frozen.reason.endswith("without the recurrent products; adds 5h; adds biases")
    assert info.value == 10 * (step + 2 * 4 * 16) + dense + 3
    assert info.reason.endswith("; counts the parameters of a dense layer once for each sequence")


def test_what_no_rule_knows_is_unknown() -> None:
    """A layer, an option, and a network that a framework cannot express; a dropout and a dense layer are known."""
    dense = printed(Dense(3), input=4, steps=2, topology="many-to-many")
    assert dense["FlopCounterMode 2.13.0 FLOPs"] == 2 * 2 * 3 * 4
    for layer in (LSTM(4, peepholes=True), MGU(4), RNN(4, bidirectional=True, merge="sum")):
        values = printed(layer, input=4, steps=2)
        assert {*values.values()} == {None}
    assert {*printed(LSTM(4), input=4, steps=2, topology="one-to-many").values()} == {None}
    tanh = [
        printed(each, input=4, steps=2) for each in (GRU(4), GRU(4, reset_after=True, merge=None, activation="tanh"))
    ]
    assert tanh[0] == tanh[1]


def test_a_batch_and_the_ratio(call: Call) -> None:
    """The ratio is to twice the multiply-adds for FLOPs; unknown is null; every row has a reason."""
    flags = ("-i", 8, "-l", "lstm:16", "-T", 10, "--counters", "-f", "json")
    (one,), (two,) = (json.loads(call(*flags, *more).out)["reports"] for more in ((), ("--batch", 2)))
    rows = {(row["name"], row["version"], row["quantity"]): row for row in two["counters"]}
    assert len(rows) == len(COUNTERS)
    assert all(row["reason"] and [*row] == [*one["counters"][0]] for row in rows.values())
    assert rows["THOP", "0.1.1", "MACs"]["value"] == 2 * 17_920
    assert rows["DeepSpeed", "0.19.8", "FLOPs"]["ratio"] == pytest.approx(32_320 / 30_720)
    (external,) = json.loads(call("-i", 8, "-l", "external:9", "-T", 10, "--counters", "-f", "json").out)["reports"]
    assert {(row["value"], row["ratio"]) for row in external["counters"]} == {(None, None)}


def test_an_answer_names_the_counters_that_print_it(call: Call) -> None:
    """Before any mistake; without the reason where it is right, and not at all in a hint."""
    flags = ("answer", "-i", 12, "-l", "lstm:128", "-T", 250, "--of")
    out = call(*flags, "multiply-adds", "18496000").out
    assert "ptflops 0.7.5 prints this as MACs: it adds 10h per step; adds biases.\nNo known mistake" in out
    assert call(*flags, "flops", "0").out.count(" prints this as ") == 7
    assert "torchprofile 0.1.0 prints this as MACs.\n" in call(*flags, "multiply-adds", "17920000").out
    assert "prints" not in call(*flags, "multiply-adds", "18496000", "--hint").out
