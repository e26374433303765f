"""The ways a user's input can be wrong. Knows places and words; knows nothing of YAML, networks or terminals."""

from typing import NamedTuple


class Problem(NamedTuple):
    """One thing wrong with the input: `where` (file:line:column or a flag), the `path` within it, the message."""

    where: str
    path: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in self if part)


class Fault(NamedTuple):
    """One thing wrong with a network: the `path` of keys and indices to it, as a spec writes them, and the message.

    follows: it can be no more than the consequence of another mistake, and is not worth telling beside one.
    """

    path: tuple[str | int, ...]
    message: str
    follows: bool = False

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.message}"


class SpecError(ValueError):
    """A spec, or a call in place of one, that describes no network; `problems` holds every one that was found."""

    def __init__(self, problems: tuple[Problem | Fault, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class CallError(ValueError):
    """A call that says too little or too much; the message says what to give."""


class RefusedError(ValueError):
    """A question that cannot be asked of this network as it is; the message says why, and what would help."""


def dotted(path: tuple[str | int, ...]) -> str:
    """Return a path as people write it: `("layers", 1, "lstm")` is `layers[1].lstm`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def did_you_mean(word: str, known: tuple[str, ...] | list[str]) -> str:
    """Return `; did you mean 'lstm'?` when a known word is near, else the empty string."""
    from difflib import get_close_matches  # 3 ms that only a misspelling pays

    near = get_close_matches(word.lower(), known, n=1) if len(word) <= 40 else []
    return f"; did you mean {near[0]!r}?" if near else ""


def one_of(words: tuple[str, ...] | list[str]) -> str:
    """Return `a, b or c`."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def all_of(words: tuple[str, ...] | list[str]) -> str:
    """Return `a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def shown(text: str, limit: int = 80) -> str:
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
