"""Words for people: lists, suggestions, plurals, and text of strangers made harmless. Knows no network."""


MOST_WORDS, SHOWN_WORDS = 40, 10
"""A longer list is not told whole, but so many words of it."""

MOST_GUESSED = 1_000
"""Among how many words, the first, what was meant is looked for: to compare with each is slow."""


def did_you_mean(word: str, known: tuple[str, ...] | list[str]) -> str:
    """Return `; did you mean 'lstm'?` when a known word is near, else the empty string."""
    from difflib import get_close_matches  # 3 ms that only a misspelling pays

    near = get_close_matches(word.lower(), known[:MOST_GUESSED], n=1) if len(word) <= 40 else []
    return f"; did you mean {near[0]!r}?" if near else ""


def one_of(words: tuple[str, ...] | list[str]) -> str:
    """Return `a, b or c`; of a long list the first words, and how many more there are."""
    if len(words) > MOST_WORDS:
        words = [*words[:SHOWN_WORDS], f"{len(words) - SHOWN_WORDS:,} more"]
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def all_of(words: tuple[str, ...] | list[str]) -> str:
    """Return `a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def plural(number: int, word: str) -> str:
    """Return `1 step`, `1,000 steps`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def escape(text: str, limit: int = 80) -> str:
    """Return a user's text safe to print on one line: unprintable characters escaped, long ones cut.

    Escape sequences, newlines and characters that reverse the writing direction all become visible escapes; so do
    the `::` at the start of a line and the `##[` anywhere in it that GitHub's runner would take for a command.
    """
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    if "::" in text or "##[" in text:  # anywhere: a table may fold a name so that the rest starts a line
        text = text.replace("::", r":\x3a").replace("##[", r"#\x23[")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
