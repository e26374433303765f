"""What is written as JSON is what Python's own reader reads, and safe to print."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncalc.formats.json import _text

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.none() | st.booleans() | NUMBERS | st.text()
VALUES: st.SearchStrategy[Any] = st.recursive(PLAIN, lambda of: st.lists(of) | st.dictionaries(st.text(), of))


@given(VALUES)
def test_every_value_is_read_back(value: Any) -> None:
    """In ASCII without control characters; Python writes the same, but for DEL and what GitHub's runner reads."""
    written = _text(value)
    assert json.loads(written) == value
    assert written.isprintable()
    assert written.isascii()
    pythons = json.dumps(value)
    if "##[" not in pythons and "\x7f" not in pythons:
        assert written == pythons


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("\ud800a\udfff", r'"\ufffda\ufffd"'),  # halves of a character
        ("a\x7f", r'"a\u007f"'),
        ("##[error]", r'"#\u0023[error]"'),
        ('😀\\"\n', r'"\ud83d\ude00\\\"\n"'),
    ],
)
def test_what_is_not_safe_to_print(text: str, written: str) -> None:
    """Replaced, or in hexadecimal digits."""
    assert _text(text) == written


@pytest.mark.parametrize("value", [float("inf"), float("nan"), {1}, object(), {"a": [b"b"]}])
def test_what_no_report_should_hold(value: Any) -> None:
    """An error of ours, told before anything is written."""
    inner = value["a"][0] if isinstance(value, Mapping) else value
    with pytest.raises(TypeError) as caught:
        _text(value)
    assert str(caught.value) == f"{inner!r} is no value for JSON"
