"""A formula in letters says for which sizes it holds: at random sizes its numbers are those of the network."""

from typing import Any

import pytest
from cells import CELLS
from conftest import Call
from hypothesis import given
from hypothesis import strategies as st

from rnncalc import SRU, Network, SpecError, count, letter
from rnncalc.cli.beside import REPORTS
from rnncalc.cli.flags import flag_of
from rnncalc.layers import kind
from rnncalc.layers.options import Size, Switch
from rnncalc.questions.count import condition_of

OPTIONS = [
    (name, option, value)
    for name in CELLS
    for option, allowed in ((each, kind(name).option(each).allowed) for each in kind(name).options())
    for value in ((True, False) if isinstance(allowed, Switch) else ("q",) if isinstance(allowed, Size) else ())
    if option not in ("units", "repeat")
]


@given(st.sampled_from(OPTIONS), st.booleans(), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_a_formula_holds_where_it_says(option: tuple[str, str, Any], both: bool, m: int, h: int, deep: bool) -> None:
    """Its condition is met, or its other formula holds; the cells of the package have no other exception."""
    name, key, value = option

    def network(inputs: Any, units: Any, q: Any) -> Network:
        cell: Any = kind(name)
        layer = cell(units, **{"bidirectional": both, key: q if value == "q" else value})
        return Network(input=inputs, layers=[layer, layer] if deep else [layer])

    try:
        in_letters, in_numbers = network(letter("m"), letter("h"), letter("q")), network(m, h, 3)
    except (SpecError, TypeError):  # an option that is missing, goes with another one, or is larger than the units
        return
    sizes = {"m": m, "h": h, "q": 3}
    for placed, numbered in zip(in_letters.stack, in_numbers.stack, strict=True):
        condition = condition_of(placed)
        params: Any = placed.params
        if condition and condition.size.at(sizes) == condition.other.at(sizes):
            params = condition.params
        assert params.at(sizes) == numbered.params


CALLS = [
    *(("count",), ("count", "--cost"), ("explain",), ("answer", "--", "4h"), ("exercise", "--ask", "formula")),
    ("count", "--quantize", "int8"),
    *(("count", flag_of(key)) for key in REPORTS if key not in ("training", "shapes", "quantize", "counters")),
]


@pytest.mark.parametrize("words", CALLS)
def test_the_condition_is_shown(words: tuple[str, ...], call: Call) -> None:
    """4·h·m + 4h of a simple recurrent unit, and 3·h·h + 4h where the input is as wide as the output."""
    command, *others = words

    def out(inputs: object, units: object) -> str:
        return call(command, "-i", inputs, "-l", f"sru:{units}", *others).out

    condition = "m ≠ h" if command == "exercise" else "sru_1: 4h·m + 4h if m ≠ h; 3h² + 4h if m = h."
    assert condition in out("m", "h")
    assert command == "exercise" or "sru_1: 36h if h ≠ 8; 3h² + 4h if h = 8." in out(8, "h")
    assert "≠" not in out("h", "h")


def test_the_report_has_the_conditions(call: Call) -> None:
    """A list of sentences, which may be empty."""
    sizes: tuple[Any, Any] = (letter("m"), letter("h"))
    (sru,) = count(Network(input=sizes[0], layers=[SRU(sizes[1], bidirectional=True)])).layers
    condition = condition_of(sru)
    assert condition is not None
    assert (*map(str, condition),) == ("m", "2h", "12h² + 8h")  # 2·(3·h·2h + 4h)
    assert '"conditions": []' in call("count", "-i", "m", "-l", "gru:h", "-f", "json").out
