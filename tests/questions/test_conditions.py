"""A formula in letters says for which sizes it holds: at random sizes its numbers are those of the network."""

from typing import Any

import pytest
from cells import CELLS
from conftest import Call
from hypothesis import given
from hypothesis import strategies as st

from rnncalc import SRU, Network, SpecError, count, letter
from rnncalc.layers import kind
from rnncalc.questions.count import condition_of


@given(st.sampled_from(CELLS), st.booleans(), st.integers(1, 9), st.integers(1, 9), st.sampled_from(["plain", "deep"]))
def test_a_formula_holds_where_it_says(name: str, both: bool, m: int, h: int, where: str) -> None:
    """Its condition is met, or its other formula holds; the cells of the package have no other exception."""

    def network(inputs: Any, units: Any) -> Network:
        cell: Any = kind(name)
        layer = cell(units, bidirectional=both)
        return Network(input=inputs, layers=[layer, layer] if where == "deep" else [layer])

    try:
        in_letters = network(letter("m"), letter("h"))
    except SpecError:
        return
    sizes = {"m": m, "h": h}
    for placed, numbered in zip(in_letters.stack, network(m, h).stack, strict=True):
        condition = condition_of(placed, "textbook")
        inputs: Any = placed.inputs
        params: Any = placed.params
        if condition and inputs.at(sizes) == condition.width.at(sizes):
            params = condition.params
        assert params.at(sizes) == numbered.params


@pytest.mark.parametrize("command", ["count", "explain"])
def test_the_condition_is_said(command: str, call: Call) -> None:
    """4·h·m + 4h of a simple recurrent unit, and 3·h·h + 4h where the input is as wide as the output."""
    assert "sru_1: 4h·m + 4h if m ≠ h; 3h² + 4h if m = h." in call(command, "-i", "m", "-l", "sru:h").out
    assert "≠" not in call(command, "-i", "h", "-l", "sru:h").out
    assert "≠" not in call(command, "-i", 8, "-l", "sru:16").out


def test_the_report_has_the_conditions(call: Call) -> None:
    """A list of sentences, which may be empty."""
    sizes: tuple[Any, Any] = (letter("m"), letter("h"))
    (sru,) = count(Network(input=sizes[0], layers=[SRU(sizes[1], bidirectional=True)])).layers
    condition = condition_of(sru, "textbook")
    assert condition is not None
    assert (str(condition.width), str(condition.params)) == ("2h", "12h² + 8h")  # 2·(3·h·2h + 4h)
    assert '"conditions": []' in call("count", "-i", "m", "-l", "gru:h", "-f", "json").out
