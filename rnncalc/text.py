"""Words for people: lists, suggestions, plurals, and users' text made safe to print. Knows no network."""

from __future__ import annotations

from collections.abc import Iterable

from rnncalc.bounds import MOST_GUESSED

MOST_WORDS, SHOWN_WORDS = 40, 10
"""Of a list longer than the first number, as many words as the second are written."""

NEAR_OTHERS = ("selu", "elu", "celu", "silu", "prelu", "leaky_relu", "relu6", "softplus", "softsign")
"""Activations that are not here. They are spelt like relu and softmax, and are others."""


def did_you_mean(word: str, known: tuple[str, ...] | list[str]) -> str:
    """Return `; did you mean 'lstm'?` when a known word is near, else the empty string.

    If two words share a part, the other parts must be near each other too: `max_flops` is not a misspelt `max_params`,
    nor `forget_gate` an `output_gate`. Nor are the words of NEAR_OTHERS misspelt.
    """
    if word.lower() in NEAR_OTHERS:
        return ""
    if same := next((key for key in known if key.lower() == word.lower()), ""):
        return f"; did you mean {same!r}?"
    import re
    from difflib import SequenceMatcher, get_close_matches  # takes 3 ms, so it is imported for a misspelling alone

    near = get_close_matches(word.lower(), known[:MOST_GUESSED], n=5, cutoff=0.62) if len(word) <= 40 else []
    for key in near:
        words, others = re.split("[-_ ]", word.lower()), re.split("[-_ ]", key)
        one, two = (
            "_".join(part for part in parts if part not in known) for parts, known in ((words, others), (others, words))
        )
        all_else = not {*words} & {*others} or min(len(one), len(two)) <= 2  # a letter or a number says little
        if all_else or SequenceMatcher(None, one, two).ratio() >= 0.6:
            return f"; did you mean {key!r}?"
    return ""


def one_of(words: tuple[str, ...] | list[str]) -> str:
    """Return `a, b or c`; of a long list the first words, and how many more there are."""
    if len(words) > MOST_WORDS:
        words = [*words[:SHOWN_WORDS], f"{len(words) - SHOWN_WORDS:,} more"]
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def keys_here(known: tuple[str, ...]) -> str:
    """Return the keys that are allowed here, as the cure for one that is not."""
    return f"the keys here are {one_of(known)}" if known else "remove it"


def all_of(words: tuple[str, ...] | list[str]) -> str:
    """Return `a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def not_among(words: tuple[str, ...] | list[str], known: tuple[str, ...]) -> str:
    """Return `expected a or b, got 'x' and 'y'` with suggestions; nothing if all words are known."""
    among = {*known}
    wrong = [word for word in dict.fromkeys(words) if word not in among]
    if not wrong:
        return ""
    shown = wrong if len(wrong) <= MOST_WORDS else wrong[:SHOWN_WORDS]
    more = [f"{len(wrong) - len(shown):,} more"] if len(shown) < len(wrong) else []
    got = all_of([*(repr(escape(word)) for word in shown), *more])
    if not known:
        return f"there is nothing to name, got {got}"
    return f"expected {one_of(known)}, got {got}{''.join(dict.fromkeys(did_you_mean(word, known) for word in shown))}"


def brief(value: object, sign: str = "") -> str:
    """Return a value as Python writes it; of a whole number too long for Python to write, only its length.

    sign: what is between the thousands of a whole number.
    """
    if isinstance(value, int) and abs(value) >= 10**40:
        return "one of over 40 digits"
    return f"{value:{sign}}" if sign else repr(value)


def plural(number: int, word: str) -> str:
    """Return `1 step`, `1,000 steps`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def ordinal(number: int) -> str:
    """Return `first`, `second`, `6th`."""
    words = ("first", "second", "third", "fourth", "fifth")
    return words[number - 1] if number <= len(words) else f"{number}th"


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


def bracketed(sizes: Iterable[object]) -> str:
    """Return a shape, `(4, 3)`; a size that is not known is T."""
    return f"({', '.join('T' if size is None else str(size) for size in sizes)})"


def decimal(number: float) -> str:
    """Return a ratio with two digits after the point, or, below a tenth, with the first two that are not 0."""
    size = abs(number)
    if size >= 1e12 or 0 < size < 1e-9:
        return f"{number:.3g}"
    digits = next((digits for digits in range(2, 11) if size >= 10 ** (1 - digits)), 2)
    return f"{number:,.{digits}f}"


KIBI = 1024
"""The step from one unit of `byte_size` to the next, as operating systems and Keras have it."""


def byte_size(size: int) -> str:
    """Return bytes in the largest unit that gives at least one: `5.55 MiB`."""
    unit, scale = "bytes", 1
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if size < scale * KIBI or unit == "EiB":
            break
        scale *= KIBI
    return f"{size:,} {unit}" if scale == 1 else f"{size / scale:,.2f} {unit}"


FORMULA = r"(\A|[;,\t]\s*){}(?=[-=+@＝＋－＠])"
"""Where a spreadsheet may see a formula begin, with any separator of cells; the braces are for what is before it."""


def escape(text: str, limit: int = 80) -> str:
    """Return a user's text safe to print on one line: unprintable characters escaped, long ones cut.

    Escape sequences, newlines and characters that reverse the writing direction all become visible escapes; so do
    the `::` at the start of a line and the `##[` anywhere in it that GitHub's runner would take for a command. Half a
    surrogate pair is no character, and becomes `\ufffd`.
    """
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    if "::" in text or "##[" in text:  # anywhere: a table may fold a name so that the rest starts a line
        text = text.replace("::", r":\x3a").replace("##[", r"#\x23[")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _visible(char) for char in text)


def escape_path(path: str) -> str:
    """Return a path safe to print on one line, and whole: a cut one cannot be followed."""
    return escape(path, limit=1_000)


def _visible(char: str) -> str:
    if char in "\u00a0\u2009\u202f":  # between thousands, as spreadsheets and keyboards have them
        return " "
    return REPLACEMENT if "\ud800" <= char <= "\udfff" else char.encode("unicode_escape").decode()


REPLACEMENT = "\ufffd"
"""The replacement for half a surrogate pair, in every format."""

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

PLAIN = {letter: name for name, letter in GREEK.items()} | {"σ": "sigmoid"}
PLAIN |= {"→": "->", "×": "x", "·": "*", "–": "-", "…": "...", "─": "-", "✓": "ok", "✗": "no", "²": "^2"}
PLAIN |= {"⇄": "=", "⋯": "~", "Σ": "sum", "∘": "*", "−": "-", "∂": "d", "∏": "P", "‖": "|"}
PLAIN |= {"÷": "/", REPLACEMENT: "?"}
PLAIN |= zip("▏▎▍▌▋▊▉█╱", "...#####/", strict=True)
PLAIN |= zip("▁▂▃▄▅▆▇", "_.-=+*%", strict=True)
PLAIN |= zip("⎡⎢⎣⎤⎥⎦⎛⎜⎝⎞⎟⎠", "[[[]]]((()))", strict=True)
"""The replacements for symbols that an encoding lacks. A letter becomes a word before anything is placed below it;
other symbols become one character if something below must line up."""


RAISED = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
"""The digits and the sign of a power."""


def raised(layer: int) -> str:
    """Return the number of a layer above its letters, in plain text; nothing for 0."""
    return f"^({layer})" if layer else ""


def unencodable(encoding: str | None) -> dict[str, str]:
    """Return the symbols that an encoding lacks, with their replacements; none if there is no encoding."""
    return {sign: plain for sign, plain in PLAIN.items() if encoding and not encodes(sign, encoding)}


def encodes(text: str, encoding: str) -> bool:
    """Return whether an encoding has every character of a text."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
