"""Text made safe to print: a user's, and what an encoding lacks."""

from __future__ import annotations

from rnncalc.letters import GREEK

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

PLAIN = {letter: name for name, letter in GREEK.items()} | {"σ": "sigmoid"}
PLAIN |= {"→": "->", "×": "x", "·": "*", "–": "-", "…": "...", "─": "-", "✓": "ok", "✗": "no", "²": "^2"}
PLAIN |= {"⇄": "=", "⋯": "~", "Σ": "sum", "∘": "*", "−": "-", "∂": "d", "∏": "P", "‖": "|"}
PLAIN |= {"÷": "/", REPLACEMENT: "?"}
PLAIN |= zip("▏▎▍▌▋▊▉█╱", "...#####/", strict=True)
PLAIN |= zip("▁▂▃▄▅▆▇", "_.-=+*%", strict=True)
PLAIN |= zip("⎡⎢⎣⎤⎥⎦⎛⎜⎝⎞⎟⎠", "[[[]]]((()))", strict=True)
"""The replacements for symbols that an encoding lacks. A letter becomes a word before anything is placed below it;
other symbols become one character if something below must line up."""


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
