"""`solve`: against brute force on small sizes, against its own count at both sides on large ones."""

import json
from functools import cache
from pathlib import Path

import by_hand
import pytest
from conftest import Call
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncalc import GRU, LSTM, RNN, Dense, Layer, Network, Output
from rnncalc.questions.solve import solve

KINDS = (RNN, GRU, LSTM, Dense)


def two_layers(kinds: tuple[type, type], size: int) -> Network:
    layers: tuple[Layer, ...] = (kinds[0](size), kinds[1](size))
    return Network(input=3, layers=layers, output=Output(2))


@cache
def counted_by_hand(kinds: tuple[type, type], size: int) -> int:
    first, second = by_hand.params(kinds[0](size), 3), by_hand.params(kinds[1](size), size)
    return first + second + by_hand.params(Output(2), size)


@given(st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)), st.integers(0, 5_000), st.integers(1, 9))
@settings(max_examples=200)
def test_it_finds_what_brute_force_finds(kinds: tuple[type, type], budget: int, multiple: int) -> None:
    """Every size up to far beyond the budget is tried, with the counts of the textbook's formulas."""
    fitting = [size for size in range(multiple, 3_000, multiple) if counted_by_hand(kinds, size) <= budget]
    found = solve(lambda size: two_layers(kinds, size), budget, multiple=multiple)
    assert found.size == (fitting[-1] if fitting else None)
    assert found.solved == bool(fitting)
    if found.size:
        assert found.network == two_layers(kinds, found.size)
        assert found.params == found.network.params == counted_by_hand(kinds, found.size)
        assert found.left == budget - found.params


@given(st.integers(10**3, 10**24), st.integers(1, 10**6))
def test_both_sides_of_a_large_answer(budget: int, multiple: int) -> None:
    """The size found fits, and the next one does not."""
    found = solve(lambda size: two_layers((LSTM, GRU), size), budget, multiple=multiple)
    assert found.next_size is not None
    assert two_layers((LSTM, GRU), found.next_size).params > budget
    if found.size:
        assert found.next_size == found.size + multiple
        assert found.size % multiple == 0
        assert two_layers((LSTM, GRU), found.size).params <= budget


def test_an_exercise_read_backwards(call: Call) -> None:
    """m = 70, h = 50 and 6,152 in all: 50 × 121 = 6,050 leaves 102 = 2 × 51, so the output is 2."""
    flags = ["-i", 70, "-l", "rnn:50", "-o", "?"]
    (report,) = json.loads(call("solve", *flags, "--params", 6152, "--exact", "-f", "json").out)["reports"]
    assert (report["size"], report["left"], report["solved"]) == (2, 0, True)
    wrong = call("solve", *flags, "--params", 6153, "--exact")
    assert wrong.code == 1
    assert "✗ No size gives exactly 6,153 parameters." in wrong.out


def test_all_marks_share_one_value(call: Call, tmp_path: Path) -> None:
    """In a file as in flags; two stacked LSTMs of 7 on 10 features have 4·7·(18) + 4·7·(15) = 924 parameters."""
    spec = tmp_path / "spec.yaml"
    spec.write_text("input: 10\nlayers:\n  - lstm: ?  # the width\n  - {lstm: ?}\n")
    for network in ([spec], ["-i", 10, "-l", "lstm:?", "-l", "lstm:?"]):
        (report,) = json.loads(call("solve", *network, "--params", 1000, "-f", "json").out)["reports"]
        assert (report["size"], report["params"]) == (7, 924)


def test_budgets_in_bytes_and_after_another_spec(call: Call) -> None:
    """4,800 bytes are 1,200 parameters in float32, the GRU of 16 on 8 features."""
    for budget in (["--bytes", "4.8kB"], ["--match", "specs/gru.yaml"], ["--bytes", "2.4kB", "--dtype", "float16"]):
        (report,) = json.loads(call("solve", "-i", 8, "-l", "gru:?", *budget, "-f", "json").out)["reports"]
        assert (report["size"], report["left"]) == (16, 0)


def test_a_limit_of_the_framework_ends_the_search(call: Call) -> None:
    """A PyTorch projection is narrower than its cell, so 9 of 10 is the most."""
    flags = ["-i", 8, "-l", "lstm:10,projection=?", "-c", "pytorch", "--params", "1G"]
    (report,) = json.loads(call("solve", *flags, "-f", "json").out)["reports"]
    assert (report["size"], report["next_size"]) == (9, None)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-i", "8", "-l", "lstm:4", "--params", "9"], "no size is written ?"),
        (["-i", "8", "-l", "lstm:?"], "give one budget"),
        (["-i", "8", "-l", "lstm:?", "--params", "1M", "--bytes", "1M"], "give one budget"),
        (["-i", "8", "-l", "lstm:?", "--params", "1e6"], "--params: expected a whole number"),
        (["-i", "8", "-l", "lstm:3", "-T", "?", "--params", "1M"], "does not change the number of parameters"),
        (["-i", "8", "-l", "lstm:?,merge=sum", "--params", "1M"], "--layer 1: merge: applies to a bidirectional"),
        (["specs/lstm.yaml", "-l", "lstm:?", "--params", "1M"], "expected one network"),
    ],
)
def test_mistaken_calls(call: Call, args: list[str], message: str) -> None:
    """One line, exit 2."""
    result = call("solve", *args)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_a_mark_elsewhere_points_to_solve(call: Call) -> None:
    """`?` is for solve alone."""
    assert "rnncalc solve" in call("-i", 8, "-l", "lstm:?").err
