"""The letters of mathematics: what may be written for a size or a gate, Greek ones, accents, powers."""

from __future__ import annotations

import re

LETTER = "[A-Za-zα-ρσ-ωΓΔΘΛΞΠΣΥΦΨΩ](?:_(?:[0-9]{1,8}|[A-Za-zα-ρσ-ωΓΔΘΛΞΠΣΥΦΨΩ][A-Za-z0-9]{0,7}))?"
"""A size in letters, as a pattern: a letter, which may have a subscript, such as `m` or `h_1`."""

LOWERED = "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
"""The signs of a subscript that are lowered, digits first."""

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
"""The digits of a power."""

RAISED_SIGNS = f"{SUPERSCRIPTS}ˣ"
PLAIN = str.maketrans(RAISED_SIGNS + LOWERED, "0123456789x0123456789aehijklmnoprstuvx")
"""What raised and lowered signs are on the line."""


def with_index(name: str) -> str:
    """Return a name with lowered signs as an index: W_xh of Wₓₕ."""
    return re.sub(f"[{LOWERED}]+", lambda index: f"_{index[0].translate(PLAIN)}", name)


ACCENTS = "[\u0302-\u0304\u0307]"
"""The accents that a letter may have, as a pattern."""

ABOVE = r"\^\{?([(\[<]?l[)\]>]?)\}?"
"""What a course may write above a letter for the number of its layer: `^l`, `^(l)`, `^{[l]}`."""

_LEVEL, _INDEX = ABOVE.replace("(", "(?:", 1), "(?:_(?:[A-Za-z0-9]{1,8}|[ΓΔΘΛΞΠΣΥΦΨΩα-ω]))"
OWN_LETTER = f"[A-Za-zΓΔΘΛΞΠΣΥΦΨΩα-ω]{ACCENTS}?[′']?(?:{_LEVEL}{_INDEX}?|{_INDEX}?(?:{_LEVEL})?)"
"""A course's letter for a symbol: a letter that may have an accent, a prime, an index and the number of its layer."""

MATH_ACCENTS = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0307": "dot"}
"""The accents behind a letter, with their names in the mathematics of LaTeX."""


def with_accents(text: str) -> list[str]:
    """Return the characters of a text, each with the accents behind it."""
    letters: list[str] = []
    for char in text:
        if letters and "\u0300" <= char <= "\u036f":
            letters[-1] += char
        else:
            letters.append(char)
    return letters


def has_letters(size: object) -> bool:
    """Return whether a size is a polynomial (`polynomial.py`, which few calls import)."""
    return hasattr(size, "factored")


_NAMES = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho"

GREEK = dict(
    zip(
        [*_NAMES.split(), "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"],
        "αβγδεζηθικλμνξοπρστυφχψω",
        strict=True,
    )
)
GREEK |= {name.title(): letter.upper() for name, letter in GREEK.items() if letter.upper() in "ΓΔΘΛΞΠΣΥΦΨΩ"}
"""The Greek letters, by their names; of the capitals, those that are not Latin ones."""

_IN_ASCII = {letter: name for name, letter in GREEK.items()}


def in_ascii(symbol: str) -> str:
    """Return a symbol with the name of its Greek letter: `gamma_z` for `γ_z`."""
    return f"{_IN_ASCII.get(symbol[:1], symbol[:1])}{symbol[1:]}"


RAISED = str.maketrans("0123456789−", f"{SUPERSCRIPTS}⁻")
"""The digits and the sign of a power, by those on the line."""


def superscript(above: str) -> str:
    """Return what is written above a letter, in plain text."""
    return f"^{above}" if above else ""
