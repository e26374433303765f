"""Words for people: lists of words, suggestions, plurals, numbers. Knows no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rnncalc.bounds import MOST_GUESSED
from rnncalc.printable import escape

MOST_WORDS, SHOWN_WORDS = 40, 10
"""Of a list longer than the first number, as many words as the second are written."""

NEAR_OTHERS = ("selu", "elu", "celu", "silu", "prelu", "leaky_relu", "relu6", "softplus", "softsign")
"""Activations that are not here. They are spelt like relu and softmax, and are others."""


def did_you_mean(word: str, keys: tuple[str, ...] | list[str]) -> str:
    """Return `; did you mean 'lstm'?` when a known word is near, else the empty string.

    If two words share a part, the other parts must be near each other too: `max_flops` is not a misspelt `max_params`,
    nor `forget_gate` an `output_gate`. Nor are the words of NEAR_OTHERS misspelt.
    """
    if word.lower() in NEAR_OTHERS:
        return ""
    if same := next((key for key in keys if key.lower() == word.lower()), ""):
        return f"; did you mean {same!r}?"
    import re
    from difflib import SequenceMatcher, get_close_matches  # takes 3 ms, so it is imported for a misspelling alone

    near = get_close_matches(word.lower(), keys[:MOST_GUESSED], n=5, cutoff=0.62) if len(word) <= 40 else []
    for key in near:
        words, others = re.split("[-_ ]", word.lower()), re.split("[-_ ]", key)
        one, two = (
            "_".join(part for part in parts if part not in rest) for parts, rest in ((words, others), (others, words))
        )
        all_else = not {*words} & {*others} or min(len(one), len(two)) <= 2  # a letter or a number says little
        if all_else or SequenceMatcher(None, one, two).ratio() >= 0.6:
            return f"; did you mean {key!r}?"
    return ""


def first_words(words: Sequence[str], shown: int, most: int = 0) -> list[str]:
    """Return words; of more than `most`, by default than are shown, the first ones, and how many more there are."""
    return [*words] if len(words) <= (most or shown) else [*words[:shown], f"{len(words) - shown:,} more"]


def one_of(words: tuple[str, ...] | list[str]) -> str:
    """Return `a, b or c`; of a long list the first words, and how many more there are."""
    *most, last = first_words(words, SHOWN_WORDS, MOST_WORDS)
    return f"{', '.join(most)} or {last}" if most else last


def keys_here(keys: tuple[str, ...]) -> str:
    """Return the keys that are allowed here, as the cure for one that is not."""
    return f"the keys here are {one_of(keys)}" if keys else "remove it"


def all_of(words: tuple[str, ...] | list[str]) -> str:
    """Return `a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def not_among(words: tuple[str, ...] | list[str], keys: tuple[str, ...]) -> str:
    """Return `expected a or b, got 'x' and 'y'` with suggestions; nothing if all words are known."""
    among = {*keys}
    wrong = [word for word in dict.fromkeys(words) if word not in among]
    if not wrong:
        return ""
    shown = wrong if len(wrong) <= MOST_WORDS else wrong[:SHOWN_WORDS]
    got = all_of(first_words([repr(escape(word)) for word in wrong], SHOWN_WORDS, MOST_WORDS))
    if not keys:
        return f"there is nothing to name, got {got}"
    return f"expected {one_of(keys)}, got {got}{''.join(dict.fromkeys(did_you_mean(word, keys) for word in shown))}"


def brief(value: object, sign: str = "") -> str:
    """Return a value as Python writes it; of a whole number too long for Python to write, only its length.

    sign: what is between the thousands of a whole number.
    """
    if isinstance(value, int) and abs(value) >= 10**40:
        return "one of over 40 digits"
    return f"{value:{sign}}" if sign else repr(value)


def in_full(text: str) -> str:
    """Return words as a sentence, with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def plural(number: int, word: str) -> str:
    """Return `1 step`, `1,000 steps`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def ordinal(number: int) -> str:
    """Return `first`, `second`, `6th`."""
    words = ("first", "second", "third", "fourth", "fifth")
    return words[number - 1] if number <= len(words) else f"{number}th"


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
