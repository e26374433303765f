"""From one written word to its value, with a cure for each of YAML's traps.

Nothing is guessed: readers of YAML 1.1 take `yes`, `010`, `1:30`, `1e3` and `3.0` for a bool, an octal number, a
base-60 number and two floats. Each is refused, with the way to write what was meant.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rnncalc.bounds import MAX_DIGITS
from rnncalc.layers.options import (
    PARTS,
    Allowed,
    Choice,
    Rate,
    Ratio,
    Real,
    Size,
    Sizes,
    Switch,
    Text,
    WholeNumber,
    suffixed,
)
from rnncalc.text import LETTER, escape

if TYPE_CHECKING:
    from fractions import Fraction

    from rnncalc.polynomial import Polynomial

    Value = int | float | bool | str | Fraction | tuple[int | None, ...]

_WHOLE = r"(?:0|[1-9][0-9]*)"
_DECIMAL = rf"(?:{_WHOLE}|{_WHOLE}?\.[0-9]+)"
_REAL = rf"[-+]?(?:{_WHOLE}(?:\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?"
_COMMA = "[0-9]+,[0-9]+"
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_YES, _NO = ("yes", "on", "y"), ("no", "off", "n")
NOTHING = ("", "~", "null", "Null", "NULL")


def read(text: str, allowed: Allowed, plain: bool = True, *, flag: str | None = None) -> Value | Polynomial:
    """Return the value of a word; ValueError says what was expected, what was given and what to write.

    plain: whether it has no quotes. flag: the flag that it comes from; the cure is then written for flags.
    """
    value: Value | None = None
    match allowed:
        case Size():  # first, as most values are sizes
            value = _digits(text) if plain else None
            if value is None and allowed.letters and re.fullmatch(LETTER, text):  # in quotes too, as JSON writes it
                from rnncalc.polynomial import letter  # most sizes are numbers

                size: Polynomial = letter(text)
                return size
        case Text():
            value = None if plain and text in NOTHING else text
        case Choice():
            value = text if text in allowed.words else None
        case _ if not plain:
            pass
        case Sizes():
            digits = [None if "_" in word else _digits(word) for word in text.split("x")]
            value = tuple(digits) if len(digits) < 3 and None not in digits else None
        case Switch():
            value = True if text in _TRUE else False if text in _FALSE else None
        case WholeNumber():
            value = allowed.number(text) if allowed.suffixes else _digits(text) if len(text) <= MAX_DIGITS else None
        case Real():
            value = float(text) if len(text) <= MAX_DIGITS and re.fullmatch(_REAL, text) else None
        case Rate() | Ratio():
            value = float(text) if len(text) <= MAX_DIGITS and re.fullmatch(_DECIMAL, text) else None
    if value is None:
        got = "nothing" if plain and text in NOTHING else f"'{escape(text)}'"
        raise ValueError(f"expected {allowed.expected}, got {got}{_cure(text, allowed, plain, flag)}")
    if isinstance(allowed, Size) and value == 10**MAX_DIGITS:
        raise ValueError(f"expected at most 10^12, got {len(text):,} digits")
    if isinstance(allowed, Real) and value in (float("inf"), float("-inf")):
        raise ValueError(f"expected a number up to 1.8e308, got '{escape(text)}'")
    if problem := allowed.problem(value):
        raise ValueError(_percent(text, value) if isinstance(allowed, Rate) else problem)
    return _exact(text) if isinstance(allowed, Ratio) else value


def growth(text: str, allowed: Allowed, plain: bool = True) -> tuple[Any, bool]:
    """Return the number of a limit on growth, such as `10k` or `5%`, and whether it is a percentage."""
    try:
        return _growth(text, allowed, plain)
    except ValueError:
        such = f"10k{getattr(allowed, 'unit', '')}"
        message = f"expected a percentage such as 5%, or a number such as {such}, got '{escape(text)}'"
        bare = "".join(text.split())
        for meant in (bare, bare.replace(",", "."), *ways_to_write(text, Ratio() if "%" in text else allowed)):
            with suppress(ValueError):
                _growth(meant, allowed, True)
                message += f"; write {meant}" if plain else "; remove the quotes"
                break
        raise ValueError(message) from None


def _growth(text: str, allowed: Allowed, plain: bool) -> tuple[Any, bool]:
    if text.endswith("%"):  # in quotes too, as JSON writes it
        return read(text.removesuffix("%"), Ratio()), True
    return read(text, allowed, plain), False


def _digits(text: str) -> int | None:
    grouped = "_" in text and len(text) <= 2 * MAX_DIGITS and re.fullmatch("[0-9]+(_[0-9]+)*", text)
    digits = text.replace("_", "") if grouped else text
    if not (digits.isascii() and digits.isdecimal()) or (digits[0] == "0" and text != "0"):
        return None
    return int(digits) if len(digits) <= MAX_DIGITS else 10**MAX_DIGITS


def _percent(text: str, value: Any) -> str:
    """Return the message for a number that is not a share, with the share if it may be a percentage."""
    share = f"; write {float(value) / 100:g} for {text}%" if 2 <= float(value) <= 100 else ""
    return f"expected {Rate().expected}, got {text}{share}"


def _exact(text: str) -> Fraction:
    from fractions import Fraction  # imports decimal too, 2 ms that plain sizes do not need

    return Fraction(text)


def _cure(text: str, allowed: Allowed, plain: bool, flag: str | None) -> str:
    if len(text) > MAX_DIGITS or text in NOTHING:
        return ""
    match allowed:
        case Choice():
            from rnncalc.spec.aliases import choice_cure

            return choice_cure(text, tuple(allowed.words), in_flags=flag is not None)
        case _ if not plain and text != "?":
            return "; remove the quotes" if _reads(text, allowed) else ""
        case Switch():
            lower = text.lower()
            return "; write true" if lower in (*_YES, "1") else "; write false" if lower in (*_NO, "0") else ""
        case _:
            if flag is not None and text.startswith("="):  # -i=10
                return f"; write {flag} {escape(text[1:])}"
            return _number_cure(text, allowed, in_flags=flag is not None)


def _reads(text: str, allowed: Allowed) -> bool:
    try:
        read(text, allowed)
    except ValueError:
        return False
    return True


def ways_to_write(text: str, allowed: Allowed) -> list[str]:
    """Return how to write a number with another language's points or commas, or with small suffixes.

    `1,000` and `1.000.000` have thousands, `0,5` and `3,5M` tenths; `1.000` may be either.
    """
    ways = []
    if grouped := re.fullmatch(r"[1-9][0-9]{0,2}(?:([.,])[0-9]{3})(?:\1[0-9]{3})*", text):
        ways.append(text.replace(grouped[1], ""))
        if grouped[1] == "." and text.count(".") == 1:
            ways.append(text.rstrip("0").rstrip("."))
    if re.fullmatch(f"{_COMMA} ?[kKMGiB]*", text) and (not grouped or isinstance(allowed, Rate | Ratio)):
        ways.append(text.replace(",", ".").replace(" ", ""))
    if small := re.fullmatch("([0-9.,]+) ?([kmg]i?)(b?)", text.lower()):
        power = small[2].replace("m", "M").replace("g", "G")
        ways.append(small[1].replace(",", ".") + power + small[3].upper())
    return [way for way in dict.fromkeys(ways) if way != text.replace(" ", "") and _reads(way, allowed)]


def _number_cure(text: str, allowed: Allowed, in_flags: bool) -> str:
    """Return `; write 1000` for a number in a form that is not read."""
    if isinstance(allowed, Rate) and (percent := re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,9})?) ?%", text)):
        share = f"{float(_exact(percent[1]) / 100):.12f}".rstrip("0").rstrip(".") if float(percent[1]) <= 100 else ""
        return f"; write {share}" if share else ""
    if text == "?":
        return "; '?' stands for a size that rnncalc solve looks for: write a number here"
    if ways := ways_to_write(text, allowed):
        return f"; write {', or '.join(ways)}"
    if re.fullmatch(f"{_COMMA} ?[kKMGiB%]*", text):  # 0,5 as in 0.5: 10,20 are two numbers
        return _number_cure(text.replace(",", "."), allowed, in_flags)
    if in_flags and re.fullmatch(r"[0-9]+:[a-z_]+\b.*", text):  # lstm:16:bidirectional
        return f"; write a comma before an option: {escape(text.replace(':', ',', 1))}"
    why = ""
    meant: int | Fraction | None = None
    plain = text.replace("_", "").replace(" ", "").lstrip("+")
    if " " in text and plain and _reads(plain, allowed):
        return f"; write {plain}, without the space"
    if re.fullmatch(r"0[0-9]+", text):
        why, meant = "" if in_flags else "some readers of YAML take it for octal: ", _exact(text)
    elif re.fullmatch(r"[0-9]+(:[0-9]+)+", text):
        return f"; {'' if in_flags else 'some readers of YAML take it for base 60: '}write plain digits"
    elif re.fullmatch(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+", text):
        meant = _exact(str(int(text, 0)))
    elif re.fullmatch(r"[0-9]*\.?[0-9]+[eE][-+]?[0-9]{1,2}|[0-9]+\.?[0-9]*", plain):
        meant = _exact(plain)
    elif re.fullmatch(PARTS, plain):
        meant = suffixed(plain)
    if meant is None:
        return ""
    decimal = isinstance(allowed, Rate | Ratio)
    written = f"{float(meant):.12f}".rstrip("0").rstrip(".") if decimal else str(meant)
    return f"; {why}write {written}" if _reads(written, allowed) else ""
