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
