"""From one written word to its value, with a cure for each of YAML's traps.

Nothing is guessed: readers of YAML 1.1 take `yes`, `010`, `1:30`, `1e3` and `3.0` for a bool, an octal number, a
base-60 number and two floats. Each is refused, with the way to write what was meant.
"""

from __future__ import annotations

import re
from typing import Any

from rnncalc.bounds import MAX_DIGITS
from rnncalc.layers.options import (
    Allowed,
    Choice,
    Rate,
    Ratio,
    Real,
    Size,
    Sizes,
    Switch,
    Switches,
    SwitchOr,
    Text,
    WholeNumber,
)
from rnncalc.letters import LETTER
from rnncalc.printable import escape

_WHOLE = r"(?:0|[1-9][0-9]*)"
_DECIMAL = rf"(?:{_WHOLE}|{_WHOLE}?\.[0-9]+)"
_REAL = rf"[-+]?(?:{_WHOLE}(?:\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?"
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_YES, _NO = ("yes", "on", "y"), ("no", "off", "n")
NOTHING = ("", "~", "null", "Null", "NULL")


def read(text: str, allowed: Allowed, plain: bool = True, *, flag: str | None = None) -> Any:
    """Return the value of a word; ValueError says what was expected, what was given and what to write.

    plain: whether it has no quotes. flag: the flag that it comes from; the cure is then written for flags.
    """
    value: Any = None
    match allowed:
        case Size():  # first, as most values are sizes
            value = _digits(text) if plain else None
            if value is None and allowed.letters and re.fullmatch(LETTER, text):  # in quotes too, as JSON writes it
                from rnncalc.polynomial import letter  # most sizes are numbers

                return letter(text)
        case Text():
            value = None if plain and text in NOTHING else text
        case Choice():
            value = text if text in allowed.words else None
        case _ if not plain and not ("," in text and getattr(allowed, "suffixes", False)):  # which braces would end
            pass
        case SwitchOr() if text in allowed.words:
            value = text
        case Sizes():
            digits = [None if "_" in word else _digits(word) for word in text.split("x")]
            value = tuple(digits) if len(digits) < 3 and None not in digits else None
        case Switch() | Switches() | SwitchOr():
            value = True if text in _TRUE else False if text in _FALSE else None
        case WholeNumber():
            number = allowed.number if allowed.suffixes else _digits
            value = number(text) if len(text) <= MAX_DIGITS else None
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
    if not isinstance(allowed, Ratio):
        return value
    from fractions import Fraction  # imports decimal too, 2 ms that plain sizes do not need

    return Fraction(text)


def growth(text: str, allowed: Allowed, plain: bool = True) -> tuple[Any, bool]:
    """Return the number of a limit on growth, such as `10k` or `5%`, and whether it is a percentage."""
    percent = text.endswith("%")
    try:
        # a percentage may be in quotes, as JSON writes it
        return read(text.removesuffix("%"), Ratio()) if percent else read(text, allowed, plain), percent
    except ValueError:
        shares = ways_to_write(text.removesuffix("%"), Ratio()) if percent else []
        cure = f"; write {shares[0]}%" if shares else _cure(text, allowed, plain, None)
        such = f"10k{getattr(allowed, 'unit', '')}"
        message = f"expected a percentage such as 5%, or a number such as {such}, got '{escape(text)}'"
        raise ValueError(f"{message}{cure}") from None


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


def _cure(text: str, allowed: Allowed, plain: bool, flag: str | None) -> str:
    if len(text) > MAX_DIGITS or text in NOTHING:
        return ""
    match allowed:
        case Choice():
            from rnncalc.spec.aliases import choice_cure

            return choice_cure(text, tuple(allowed.words), in_flags=flag is not None)
        case _ if not plain and text != "?" and "," not in text:  # which ends a value in braces
            return "; remove the quotes" if _reads(text, allowed) else ""
        case Switch() | SwitchOr():
            lower = text.lower()
            return "; write true" if lower in (*_YES, "1") else "; write false" if lower in (*_NO, "0") else ""
        case _:
            return _number_cure(text, allowed, flag)


def _reads(text: str, allowed: Allowed) -> bool:
    try:
        read(text, allowed)
    except ValueError:
        return False
    return True


def ways_to_write(text: str, allowed: Allowed) -> list[str]:
    """Return how to write a number that is spelt in another way: another language's, with a suffix or an exponent.

    `1.000` may be 1000 or 1. A limit may have its suffix in small letters.
    """
    from rnncalc.expressions import read_number  # needed for a mistake alone

    plain = text.replace("_", "").lstrip("+")
    plain = plain.lstrip("0") or "0" if re.fullmatch("0[0-9]+", plain) else plain
    numbers: list[Any] = [read_number(plain, sign) for sign in ("", ".")]
    if re.fullmatch(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+", plain):
        numbers.append(int(plain, 0))
    elif isinstance(allowed, Rate | Ratio) and re.fullmatch(_REAL, plain):
        numbers.append(float(plain))
    elif isinstance(allowed, WholeNumber):
        numbers.append(WholeNumber(suffixes=True, unit="B").number(plain))
    numbers = [number for number in numbers if number is not None]
    ways = [f"{float(each):.12f}".rstrip("0").rstrip(".") if each % 1 else str(each) for each in numbers]
    ways += [text.upper().replace("I", "i")] if isinstance(allowed, WholeNumber) else []
    return [way for way in dict.fromkeys(ways) if way != text and _reads(way, allowed)]


def _number_cure(text: str, allowed: Allowed, flag: str | None) -> str:
    """Return `; write 1000` for a number in a form that is not read."""
    in_flags = flag is not None
    if isinstance(allowed, Rate) and text.endswith("%"):
        shares = [float(each) / 100 for each in ways_to_write(f"{text[:-1]} ", Ratio())]
        return f"; write {shares[-1]:.12g}" if shares and shares[-1] <= 1 else ""
    if text == "?":
        sought = "only rnncalc solve, compare --params and --vary take a size '?'"
        return f"; {sought}: write a number here"
    if in_flags and re.fullmatch(r"[0-9]+:[a-z_]+\b.*", text):  # lstm:16:bidirectional
        return f"; write a comma before an option: {escape(text.replace(':', ',', 1))}"
    if units := re.fullmatch(r"([a-z_]+)=([0-9]+)", text):  # lstm:units=20
        from rnncalc.spec.aliases import our_words

        return f"; write {units[2]}" if "units" in (units[1], *our_words(units[1])) else ""
    if isinstance(allowed, Size) and re.fullmatch(r"[0-9]+\.\.[0-9]+(:[0-9]+)?", text):
        return f"; write one number, and --vary SIZE={text} for a range"
    why = ""
    if re.fullmatch("0[0-9]+", text) and not in_flags:
        why = "some readers of YAML take it for octal: "
    if re.fullmatch(r"[0-9]+(:[0-9]+)+", text):
        return "; write one number" if in_flags else "; some readers of YAML take it for base 60: write plain digits"
    number, *options = text.split(",")
    if not in_flags and number.isdecimal() and options and all(re.match(" *[a-z]", option) for option in options):
        rows = [re.sub(" *[=:] *", ": ", option.strip()) for option in options]  # lstm: 16, bidirectional
        below = ", ".join(row if ":" in row else f"{row}: true" for row in rows)
        return f"; write {number}, and below it, each on a line of its own, {escape(below)}"
    ways = ways_to_write(text, allowed)
    return f"; {why}write {', or '.join(ways)}" if ways else ""
