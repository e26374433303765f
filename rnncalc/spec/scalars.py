"""From one word as written to the value it stands for, with a cure for each of YAML's traps.

No reading here guesses: `yes`, `010`, `1:30`, `1e3` and `3.0` are what YAML 1.1 readers take for a bool, an octal,
a base-60 and two floats, so each is refused with the way to write what was meant.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rnncalc.layers.options import SUFFIXED, Allowed, Choice, Rate, Ratio, Real, Size, Switch, Text, WholeNumber
from rnncalc.spec.nodes import Flag, Scalar
from rnncalc.text import did_you_mean, escape

if TYPE_CHECKING:
    from fractions import Fraction

    Value = int | float | bool | str | Fraction

_DECIMAL = r"[0-9]*\.?[0-9]+"
_REAL = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"
_SUFFIXED = f"{SUFFIXED}(B?)"  # compiled when first used: most specs have no budget
_POWERS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "ki": 2**10, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_YES, _NO = ("yes", "on", "y"), ("no", "off", "n")
_NOTHING = ("", "~", "null", "Null", "NULL")
_LONG = 40
"""More characters than any number that is meant: beyond it digits are not converted (Python's cost grows with them)."""


def read(scalar: Scalar, allowed: Allowed) -> Value:
    """Return the value a scalar stands for; ValueError says what was expected, what was got and how to mend it."""
    text = scalar.value
    value: Value | None = None
    match allowed:
        case Text():
            value = None if scalar.plain and text in _NOTHING else text
        case Choice():
            value = text if text in allowed.words else None
        case _ if not scalar.plain:
            pass
        case Switch():
            value = True if text in _TRUE else False if text in _FALSE else None
        case Size():
            value = _digits(text)
        case WholeNumber():
            value = _count(text, allowed)
        case Real():
            value = float(text) if len(text) <= _LONG and re.fullmatch(_REAL, text) else None
        case Rate() | Ratio():
            value = float(text) if len(text) <= _LONG and re.fullmatch(_DECIMAL, text) else None
    if value is None:
        got = "nothing" if scalar.plain and text in _NOTHING else f"'{escape(text)}'"
        raise ValueError(f"expected {allowed.expected}, got {got}{_cure(scalar, allowed)}")
    if isinstance(allowed, Size) and value == 10**_LONG:
        raise ValueError(f"expected at most 10^12, got {len(text):,} digits")
    if problem := allowed.problem(value):
        raise ValueError(problem)
    return _exact(text) if isinstance(allowed, Ratio) else value


def _digits(text: str) -> int | None:
    digits = text.replace("_", "") if "_" in text and re.fullmatch("[0-9]+(_[0-9]+)*", text) else text
    if not (digits.isascii() and digits.isdecimal()) or (digits[0] == "0" and text != "0"):
        return None
    return int(digits) if len(digits) <= _LONG else 10**_LONG


def _count(text: str, allowed: WholeNumber) -> int | None:
    if not allowed.suffixes:
        value = _digits(text)
        return value if len(text) <= _LONG else None
    found = re.fullmatch(_SUFFIXED, text) if len(text) <= _LONG else None
    if not found or (found[3] and not allowed.unit) or found[1].endswith("_"):
        return None
    if len(found[1]) > 1 and found[1][0] == "0" and found[1][1] != ".":
        return None
    exact = _exact(found[1]) * _POWERS[found[2] or ""]
    return int(exact) if exact.denominator == 1 else None


def _exact(text: str) -> Fraction:
    from fractions import Fraction  # with decimal behind it, 2 ms that plain sizes do without

    return Fraction(text)


def _cure(scalar: Scalar, allowed: Allowed) -> str:
    text = scalar.value
    if len(text) > _LONG or text in _NOTHING:
        return ""
    match allowed:
        case Choice():
            return did_you_mean(text, [*allowed.words])
        case _ if not scalar.plain and text != "?":
            return "; remove the quotes" if _reads(text, allowed) else ""
        case Switch():
            lower = text.lower()
            return "; write true" if lower in (*_YES, "1") else "; write false" if lower in (*_NO, "0") else ""
        case _:
            return _number_cure(text, allowed)


def _reads(text: str, allowed: Allowed) -> bool:
    """Return whether the text, unquoted, can be read."""
    try:
        read(Scalar(text, True, Flag("")), allowed)
    except ValueError:
        return False
    return True


def _number_cure(text: str, allowed: Allowed) -> str:
    """Return `; write 1000` for a number written in a way that is not read."""
    if text == "?":
        return "; '?' stands for a size that rnncalc solve looks for: write a number here"
    why = ""
    meant: Fraction | None = None
    plain = text.replace(",", "").replace("_", "").lstrip("+")
    if re.fullmatch(r"0[0-9]+", text):
        why, meant = "some readers of YAML take it for octal: ", _exact(text)
    elif re.fullmatch(r"[0-9]+(:[0-9]+)+", text):
        return "; some readers of YAML take it for base 60: write plain digits"
    elif re.fullmatch(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+", text):
        meant = _exact(str(int(text, 0)))
    elif re.fullmatch(r"[0-9]*\.?[0-9]+[eE][-+]?[0-9]{1,2}|[0-9]+\.?[0-9]*", plain):
        meant = _exact(plain)
    elif found := re.fullmatch(_SUFFIXED, plain):
        meant = _exact(found[1]) * _POWERS[found[2] or ""]
    if meant is None:
        return ""
    decimal = isinstance(allowed, Rate | Ratio)
    written = f"{float(meant):.12f}".rstrip("0").rstrip(".") if decimal else str(meant)
    return f"; {why}write {written}" if _reads(written, allowed) else ""
