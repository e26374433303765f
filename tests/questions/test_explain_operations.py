"""Where the operations of a pass come from: equation by equation, they are those of `count --operations`."""

import json
import re

import pytest
from conftest import Call, report_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc.conventions.formula import numbers
from rnncalc.questions.operations import explain_operations, pass_operations
from rnncalc.step.costs import OperationCounts


@given(spec=st.one_of(network(), encoder_decoder()), batch=st.integers(1, 3))
def test_the_lines_come_to_the_counts(spec: Spec, batch: int) -> None:
    """Of every layer; each line of arithmetic is true, and every operation has an equation."""
    net = network_of(spec)
    counted = pass_operations(net, batch)
    for each, counts in zip(explain_operations(counted), counted.layers, strict=True):
        for line in each.step:
            text = numbers(line.expression, each.derivation.placed.sizes).replace("×", "*")
            assert eval(text) == line.number
            assert all(left.letter for left in line.lefts)
        assert each.counts == counts
        if counts is None:
            assert each.sequence == ()
            continue
        of_kind = {line.kind: line for line in each.sequence}
        for kind in (*OperationCounts._fields, "flops"):
            assert getattr(counts, kind) == (of_kind[kind].number if kind in of_kind else 0)
        for over in each.sequence:
            assert eval(numbers(over.expression, {}).replace("×", "*")) == over.number


FLAGS = ("explain", "-i", 5, "-l", "lstm:3", "-o", 2, "-T", 7, "--operations")


def test_an_lstm_by_hand(call: Call) -> None:
    """Four blocks of h(m + h) and h biases, 3h in c_t, h in h_t, and five activations of h numbers."""
    report = report_of(call, *FLAGS, "--batch", 2)
    lstm, output = report["layers"]
    assert [(row["label"], row["what"], row["formula"], row["number"]) for row in lstm["step"]] == [
        ("i_t, f_t, g_t and o_t", "multiply-adds", "4 × (h·m + h·h)", 96),
        ("i_t, f_t, g_t and o_t", "bias additions", "4 × h", 12),
        ("c_t", "element-wise", "3h", 9),
        ("h_t", "element-wise", "h", 3),
        ("i_t, f_t, g_t, h_t and o_t", "activations", "5 × h", 15),
    ]
    assert report["operations"]["flops"] == lstm["operations"]["flops"] + output["operations"]["flops"]
    counted = report_of(call, "-i", 5, "-l", "lstm:3", "-o", 2, "-T", 7, "--operations", "--batch", 2)
    assert report["operations"] == counted["operations"]


@pytest.mark.parametrize("format_", ["table", "markdown", "latex", "html"])
def test_every_format_says_the_same(call: Call, format_: str) -> None:
    """The number of the network's FLOPs, without tags."""
    text = call(*FLAGS, "-f", format_).out
    assert f"{2 * (7 * 96 + 6) + 7 * (12 + 12 + 15) + 2:,}" in re.sub(r"<[^>]*>", "", text) or "$= 1631$" in text


def test_what_does_not_go_together(call: Call) -> None:
    """One derivation at a time; a batch is a size; one layer can be explained alone, also without steps."""
    both = "rnncalc: --training and --operations each have a table of their own; keep one\n"
    assert call(*FLAGS, "--training") == (2, "", both)
    assert call(*FLAGS, "--batch", 0).err == "--batch: expected a positive whole number, got 0\n"
    assert "--chunk: goes with --training" in call(*FLAGS, "--chunk", 2).err
    alone = call("explain", "-i", 5, "-l", "lstm:3", "-o", 2, "--operations", "--only", "lstm_1").out
    assert "Not known without the number of steps" in alone
    assert "Over the sequence" not in alone
    assert "output" not in alone


@pytest.mark.parametrize(("activation", "applied"), [("relu", [("activations", 12)]), ("linear", [])])
def test_a_convolution_by_hand(activation: str, applied: list[tuple[str, int]], call: Call) -> None:
    """Four windows of 2 × 2 numbers for 3 filters: 12 multiply-adds, 3 biases and 3 activations each."""
    flags = ("-i", 2, "-l", f"conv1d:3,kernel=2,activation={activation}", "-T", 5, "--operations", "-f", "json")
    (report,) = json.loads(call("explain", *flags).out)["reports"]
    (layer,) = report["layers"]
    flops = 2 * 48 + 12 + sum(number for _, number in applied)
    assert [(row["what"].lower(), row["number"]) for row in layer["sequence"]] == [
        ("multiply-adds", 48),
        ("bias additions", 12),
        *applied,
        ("flops", flops),
    ]


@pytest.mark.parametrize(
    ("flags", "derived"),
    [
        # q, k, v and y of one number at each of two steps; a score, its division and a product at each of three pairs
        (
            ("-i", 1, "-T", 2, "-l", "multi_head_attention:1,causal"),
            {
                "Multiply-adds": ("2 × 4 + 3 × 2", 14),
                "Bias additions": ("2 × 4", 8),
                "Element-wise": ("3", 3),
                "Activations": ("3", 3),
                "FLOPs": ("2 × 14 + 8 + 3 + 3", 42),
            },
        ),
        # each of three steps: a 2 × 4 matrix, 2 biases, 2 tanh, a score of 2 weights, a softmax and 4 products
        (
            ("-i", 4, "-T", 3, "-l", "attention:2,score_bias=false"),
            {
                "Multiply-adds": ("3 × 14", 42),
                "Bias additions": ("3 × 2", 6),
                "Activations": ("3 × 3", 9),
                "FLOPs": ("2 × 42 + 6 + 9", 99),
            },
        ),
        (("-i", 4, "-l", "multi_head_attention:2"), {}),
    ],
)
def test_attention_by_hand(flags: tuple[object, ...], derived: dict[str, tuple[str, int]], call: Call) -> None:
    """How often times how many: some is computed for each step, some for each pair of steps."""
    (report,) = json.loads(call("explain", *flags, "--operations", "-f", "json").out)["reports"]
    (layer,) = report["layers"]
    assert {row["what"]: (row["formula"], row["number"]) for row in layer["sequence"]} == derived
    assert ("not known without the number of steps" in call("explain", *flags, "--operations").out) is (not derived)
