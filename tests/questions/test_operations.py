"""The operations of a forward pass: those of each step, times the steps, the directions and the batch."""

import json

import pytest
import yaml
from conftest import Call
from hypothesis import given
from strategies import Spec, network

from rnncalc import GRU, LSTM, RNN, Dense, Dropout, Embedding, External, Network
from rnncalc.errors import CallError
from rnncalc.layers.cell import Merge
from rnncalc.questions.operations import pass_operations
from rnncalc.spec import parse
from rnncalc.step.costs import OperationCounts

M, H, N, T = 5, 3, 2, 7


def test_a_pass_by_hand() -> None:
    """An embedding and a dropout do none; the output layer is applied once."""
    net = Network(input=M, layers=[Embedding(4), Dropout(0.5), GRU(H)], output=N, steps=T)
    found = pass_operations(net, batch=10)
    gru = OperationCounts(10 * T * 3 * H * (4 + H), 10 * T * 3 * H, 10 * T * 5 * H, 10 * T * 3 * H)
    output = OperationCounts(10 * N * H, 10 * N, 0, 0)
    none = OperationCounts(0, 0, 0, 0)
    assert found.layers == (none, none, gru, output)
    assert found.total == OperationCounts(*(one + other for one, other in zip(gru, output, strict=True)))


@pytest.mark.parametrize(("merge", "each"), [("concat", 0), ("sum", 1), ("mul", 1), ("ave", 2)])
@pytest.mark.parametrize(("topology", "merged"), [("many-to-many", T), ("many-to-one", 1)])
def test_two_directions_and_their_merge(merge: Merge, each: int, topology: str, merged: int) -> None:
    """Joined at every step, or at the end alone; a mean is a sum and a division."""
    net = Network(input=M, layers=[LSTM(H, bidirectional=True, merge=merge)], steps=T, topology=topology)  # type: ignore[arg-type]  # a word of the table above
    (counts,) = pass_operations(net).layers
    assert counts == OperationCounts(
        2 * T * 4 * H * (M + H), 2 * T * 4 * H, 2 * T * 4 * H + each * merged * H, 2 * T * 5 * H
    )


def test_what_is_not_known() -> None:
    """A layer whose steps nobody says, a part that is counted elsewhere, and a sum with either of them."""
    found = pass_operations(Network(input=M, layers=[RNN(H)], output=N))
    assert (found.layers[0], found.total) == (None, None)
    assert found.layers[1] is not None
    assert pass_operations(Network(input=M, layers=[External(9), Dense(N)], steps=T)).layers[0] is None
    with pytest.raises(CallError, match="batch: expected a whole number, 1 or more, got 0"):
        pass_operations(Network(input=M, layers=[RNN(H)]), batch=0)


@given(network())
def test_multiply_adds_are_those_of_the_count(of: Spec) -> None:
    """Of every layer, under every convention; a batch multiplies each number."""
    net = parse(yaml.safe_dump(of).encode(), "spec").network
    one, three = pass_operations(net), pass_operations(net, batch=3)
    for placed, counts, more in zip(net.stack, one.layers, three.layers, strict=True):
        assert (counts and counts.multiply_adds) == placed.multiply_adds or counts is None
        assert more == (counts and OperationCounts(*(3 * number for number in counts)))


FLAGS = ("-i", M, "-l", f"lstm:{H}", "-o", N)


def test_every_format_says_the_same(call: Call) -> None:
    """The object of programs, a row for each layer, a table; null where nothing is known."""
    (report,) = json.loads(call(*FLAGS, "-T", T, "--operations", "--batch", 2, "-f", "json").out)["reports"]
    macs, biases = 2 * (T * 4 * H * (M + H) + N * H), 2 * (T * 4 * H + N)
    elementwise, activations = 2 * T * 4 * H, 2 * T * 5 * H
    flops = 2 * macs + biases + elementwise + activations
    numbers = {"multiply_adds": macs, "bias_additions": biases, "elementwise": elementwise}
    assert report["operations"] == numbers | {"activations": activations, "flops": flops}
    assert sum(layer["operations"]["flops"] for layer in report["layers"]) == flops
    rows = call(*FLAGS, "-T", T, "--operations", "--batch", 2, "-f", "csv").out.splitlines()
    assert rows[-1].endswith(f",{macs},{biases},{elementwise},{activations},{flops}")
    assert f"{flops:,}" in call(*FLAGS, "-T", T, "--operations", "--batch", 2).out
    assert "Parameters" in call(*FLAGS, "-T", T, "--operations", "--tensors", "-f", "markdown").out
    (unknown,) = json.loads(call(*FLAGS, "--operations", "-f", "json").out)["reports"]
    assert unknown["operations"] == dict.fromkeys(numbers | {"activations": 0, "flops": 0})
    assert "Not known without the number of steps; give steps, or -T." in call(*FLAGS, "--operations").out
    elsewhere = call("-i", M, "-l", "external:9", "-l", f"rnn:{H}", "-T", T, "--operations").out
    assert "Not known for what is counted elsewhere: external_1." in elsewhere


def test_flags_that_do_not_go_together(call: Call) -> None:
    """A chunk is one of training; two tables of one count are one too many."""
    chunk = "--chunk: says what --training is to count; add that, or remove this\n"
    assert call(*FLAGS, "--operations", "--chunk", 3) == (2, "", chunk)
    both = "rnncalc: --training and --operations have a table each: keep one\n"
    assert call(*FLAGS, "--operations", "--training") == (2, "", both)
    assert call(*FLAGS, "--operations", "--all-conventions").code == 2
