"""The letters of mathematics: what may be written for a size or a gate, Greek ones, accents, powers."""

from __future__ import annotations

LETTER = "[A-Za-zα-ρσ-ωΓΔΘΛΞΠΣΥΦΨΩ](?:_(?:[0-9]{1,8}|[A-Za-zα-ρσ-ωΓΔΘΛΞΠΣΥΦΨΩ][A-Za-z0-9]{0,7}))?"
"""A size in letters, as a pattern: a letter, which may have a subscript, such as `m` or `h_1`."""

LOWERED = "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
"""The signs of a subscript that are lowered, digits first."""

GATE_LETTER = "[A-Za-zΓΔΘΛΞΠΣΥΦΨΩα-ω][\u0302-\u0304\u0307]?[′']?(?:_[A-Za-z0-9]{1,8})?"
"""What may be written for the letter of a gate: a letter that may have an accent, a prime and an index."""

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

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
RAISED = str.maketrans("0123456789−", f"{SUPERSCRIPTS}⁻")
"""The digits of a power; and they and its sign, by those on the line."""


def superscript(layer: int) -> str:
    """Return the number of a layer above its letters, in plain text; nothing for 0."""
    return f"^({layer})" if layer else ""
