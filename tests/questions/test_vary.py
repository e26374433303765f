"""`--vary`: a row for each value of a size, a grid for two, and curves."""

import json
import re
from pathlib import Path
from typing import Any, Literal

import pytest
from conftest import Call, file_at
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncalc import GRU, DecoderAttention, Dense, Network, Output, Part, SpecError, count, load
from rnncalc.questions.vary import varied

LSTM_FLAGS = ("-i", 40, "-l", "lstm:64", "-o", 10)


def rows(call: Call, *args: object) -> list[dict[str, Any]]:
    done = call(*args, "-f", "json")
    assert (done.code, done.err) == (0, "")
    (report,) = json.loads(done.out)["reports"]
    found: list[dict[str, Any]] = report["rows"]
    return found


def test_a_row_for_each_value(call: Call) -> None:
    """By hand: 4h(m + h + 1) + 10(h + 1) parameters of four bytes; a step multiplies each weight, without biases."""
    assert rows(call, "count", *LSTM_FLAGS, "--vary", "lstm_1=16..64:24") == [
        {
            "lstm_1": h,
            "compared": "",
            "params": 4 * h * (40 + h + 1) + 10 * (h + 1),
            "multiply_adds": None,
            "multiply_adds_per_step": 4 * h * (40 + h) + 10 * h,
            "bytes": 4 * (4 * h * (40 + h + 1) + 10 * (h + 1)),
        }
        for h in (16, 40, 64)
    ]


def test_each_kind_is_a_column(call: Call) -> None:
    """By hand: b blocks of h(m + h + 1); a dense network reads all steps at once. The network itself is its kind."""
    done = call("compare", "-i", 3, "-l", "lstm:5", "-T", 4, "--vary", "lstm_1=2..4:2", "-f", "csv")
    assert done.out.splitlines()[0] == "network,lstm_1,compared,params,multiply_adds,multiply_adds_per_step,bytes"
    table = call("compare", "-i", 3, "-l", "lstm:5", "-T", 4, "--vary", "lstm_1=2..4:2", "--kinds", "mgu,lstm").out
    numbers = [line.split() for line in table.splitlines()]
    assert ["lstm_1", "mgu", "lstm", "dense"] in numbers
    for h in (2, 4):
        recurrent = [blocks * h * (3 + h + 1) for blocks in (2, 4)]
        assert [*map(str, (h, *recurrent, 4 * h * (4 * 3 + 1)))] in numbers


@pytest.mark.parametrize("query", ["before", "after"])
def test_a_decoder_with_attention(query: Literal["before", "after"]) -> None:
    """A unit more of a dense layer of 6 inputs is 7 parameters, and 2 of the output; of an additive score 4 + 4 + 1."""
    decoder = Part(5, (GRU(3), Dense(4)), Output(2), attention=DecoderAttention("dot", query=query, context="output"))
    net = Network(encoder=Part(4, (GRU(3),)), decoder=decoder)
    params = [count(changed).params for _, (changed,) in varied([net], {"dense_1": [1, 2]})]
    assert params[1] - params[0] == (3 + 3 + 1) + 2
    additive = net.replace(decoder=decoder._replace(attention=DecoderAttention(query=query, context="output")))
    params = [count(changed).params for _, (changed,) in varied([additive], {"attention.units": [1, 2]})]
    assert params[1] - params[0] == (3 + 1) + (3 + 1) + 1


def test_two_sizes_are_a_grid(call: Call) -> None:
    """Rows and columns are the values; a size that several layers share is written once."""
    args = ("-i", 2, "-l", "gru:3", "-l", "gru:3", "--vary", "gru_1,gru_2=1..3", "--vary", "input=2..6:2")
    lines = [line.split() for line in call("count", *args).out.splitlines()]
    assert ["gru_1,gru_2", "2", "4", "6"] in lines
    for h in (1, 2, 3):
        assert [str(h), *(str(3 * h * (m + h + 1) + 3 * h * (2 * h + 1)) for m in (2, 4, 6))] in lines
    assert len(rows(call, "count", *args)) == 9
    vary = ("--vary", "rnn_1=1..2", "--vary", "input=1..2")
    grids = call("compare", "-i", 2, "-l", "rnn:3", *vary, "-f", "markdown").out
    assert [line for line in grids.splitlines() if line.startswith("### ")] == ["### rnn ?, rnn", "### gru", "### lstm"]


def test_networks_of_one_name_are_told_apart(call: Call) -> None:
    """By hand: h(m + h + 1) parameters in a textbook, a second bias vector in PyTorch; the heading names neither."""
    networks = ("--network", "-i 2 -l rnn:3", "--network", "-i 2 -l rnn:3 -c pytorch")
    shown = call("compare", *networks, "--vary", "rnn_1=3..4").out
    assert "convention" not in shown
    lines = [*map(str.split, shown.splitlines())]
    assert ["3", str(3 * 6), str(3 * 7)] in lines
    assert ["4", str(4 * 7), str(4 * 8)] in lines


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 5), st.booleans())
@settings(max_examples=30)
def test_each_is_the_network_of_that_size(low: int, high: int, step: int, two: bool) -> None:
    """As if it were written down."""
    sizes = range(low, max(low, high) + 1, step)
    base = Network(input=7, layers=(GRU(3), Dense(4)), output=Output(2))
    vary = {"gru_1": sizes} | ({"output": [1, 5]} if two else {})
    for values, (network,) in varied([base], vary):
        units, *output = values
        written = Network(input=7, layers=(GRU(units), Dense(4)), output=Output(output[0] if output else 2))
        assert count(network).params == count(written).params


def test_curves_are_drawn(call: Call) -> None:
    """Below the table, as SVG with each name, and on a page; a grid has a picture for each kind."""
    flags = (*LSTM_FLAGS, "--vary", "lstm_1=16..64:8")
    assert "┼─► lstm_1" in call("count", *flags).out.replace("┼┼", "┼")
    svg = call("compare", *flags, "-f", "svg").out
    assert svg.startswith("<svg")
    assert all(f">{kind}<" in svg for kind in ("rnn", "gru", "lstm"))
    assert call("compare", *flags, "-f", "html").out.count("<figure") == 1
    assert call("compare", *flags, "--vary", "input=1..2", "-f", "html").out.count("<figure") == 3


def test_names_in_one_key_may_have_spaces_between(tmp_path: Path) -> None:
    """Half of an odd D is not whole, which is said with the key as it was written; of 3 to 9, half of 4, 6, 8 is."""
    net = load(file_at(tmp_path / "net.yaml", "sizes: {D: 4}\ninput: D\nlayers: [lstm: D/2, gru: 5]\n"))
    with pytest.raises(SpecError, match=re.escape("; write D, gru_1=4..8:2")):
        list(varied([net], {"D, gru_1": range(3, 10)}))


def test_one_value_is_a_point(call: Call) -> None:
    one = ("count", "-i", 8, "-l", "lstm:16", "--vary", "lstm_1=5..5")
    assert "● parameters" in call(*one).out
    assert "<circle" in call(*one, "-f", "svg").out
