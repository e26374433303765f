"""What is written as JSON is what Python's own reader reads, and safe to print."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncalc.formats.json import _text

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.none() | st.booleans() | NUMBERS | st.text()
VALUES: st.SearchStrategy[Any] = st.recursive(PLAIN, lambda below: st.lists(below) | st.dictionaries(st.text(), below))


@given(VALUES)
def test_every_value_is_read_back(value: Any) -> None:
    """From ASCII without control characters."""
    text = _text(value)
    assert json.loads(text) == value
    assert text.isprintable()
    assert text.isascii()


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("\ud800a\udfff", r'"\ufffda\ufffd"'),  # halves of a character
        ("a\x7f", r'"a\u007f"'),
        ("##[error]", r'"#\u0023[error]"'),
        ("###[error]# [", r'"##\u0023[error]# ["'),
        ('😀\\"\n', r'"\ud83d\ude00\\\"\n"'),
    ],
)
def test_what_is_not_safe_to_print(text: str, escaped: str) -> None:
    """Replaced, or in hexadecimal digits."""
    assert _text(text) == escaped


@pytest.mark.parametrize("value", [float("inf"), float("nan"), {1}, object(), {"a": [b"b"]}])
def test_what_no_report_should_hold(value: Any) -> None:
    """An error of ours, raised before anything is written."""
    with pytest.raises((TypeError, ValueError)):
        _text(value)
