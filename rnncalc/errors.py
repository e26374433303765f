"""The ways a user's input can be wrong. Knows places and words; knows nothing of YAML, networks or terminals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from itertools import islice
from typing import Any, NamedTuple

from rnncalc.bounds import MOST_PROBLEMS
from rnncalc.printable import escape
from rnncalc.records import CallError as CallError  # which records raise

Path = tuple[str | int, ...]
"""The keys and indices that lead to a value, as a spec writes them: `("layers", 1, "lstm")`."""


class Problem(NamedTuple):
    """One thing that is wrong with the input, and where.

    path: the keys and indices that lead there, in the network or in the source.
    source: the file or the flag, such as `--layer 2`, in its printed form.
    line, column: the place in the file, counted from 1; None for a flag or a whole file.
    follows: whether it may only be the consequence of another problem; it is then not reported beside one.
    gaps: by how much sizes miss each other. The problem is solved when one of these is 0.
    rest: whether a size is divided with a rest, and multiples of it may not be.
    """

    path: Path
    message: str
    source: str = ""
    line: int | None = None
    column: int | None = None
    follows: bool = False
    gaps: tuple[int, ...] = ()
    rest: bool = False

    @property
    def place(self) -> tuple[int, int] | None:
        """The line and the column, where both are known."""
        return None if self.line is None or self.column is None else (self.line, self.column)

    def __str__(self) -> str:
        where = self.source if self.place is None else f"{self.source}:{self.line}:{self.column}"
        return ": ".join(part for part in (where, dotted(self.path), self.message) if part)


MORE_PROBLEMS = Problem((), f"and more problems than these {MOST_PROBLEMS}")
"""The last message if there are more problems."""


def first(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the first problems; if there are more, the last one says so."""
    several = (*islice(problems, MOST_PROBLEMS + 1),)
    return (*several[:MOST_PROBLEMS], MORE_PROBLEMS) if len(several) > MOST_PROBLEMS else several


class SpecError(ValueError):
    """A spec or a call that does not describe a network; `problems` holds everything that is wrong."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class Cure(Enum):
    """What would help if a question is refused, in words for Python; the command line has its own."""

    STEPS = "give steps"
    STEPS_WITHIN = "give steps in each network"
    FEWER_STEPS = "lower the number of steps"
    MORE_MULTIPLY_ADDS = "raise most_multiply_adds"
    NARROWER = "use fewer units"
    ONLY_RUN = "ask run for its states, which are only the results"
    ANY_PARAMS = "compare it at its own width"
    ANOTHER_SIZE = "let it be another width"
    ANSWER_COLUMN = "name it as answers, by its title or number, or several in order"
    VARIANT_COLUMN = "name the column of the variants, by its title or number"
    SIZE_OF_YOUR_OWN = "count it with a size of your own instead of ?"


class RefusedError(ValueError):
    """A question that cannot be answered for this network; the message says why, the cures what would help."""

    def __init__(self, message: str, *cures: Cure) -> None:
        self.message = message
        self.cures = cures
        super().__init__(self.with_cures({}))

    def with_cures(self, words: Mapping[Cure, str]) -> str:
        """Return the message and its cures, in these words if there are any."""
        cures = ", or ".join(words.get(cure, cure.value) for cure in self.cures)
        return f"{self.message}; {cures}" if cures else self.message


class DivisionError(CallError):
    """A size that is a quotient, and not whole."""


class LettersError(RefusedError):
    """A question that needs numbers, and sizes of the network are letters; `sizes` says which."""

    def __init__(self, sizes: str) -> None:
        self.sizes = sizes
        super().__init__(f"{sizes}, which count, compare, explain, answer and draw take; give numbers here")


class DeclarationError(ValueError):
    """A cell, or an operation of its step, that contradicts itself; the message names the part."""


def exception_text(error: Exception, file: str | None = None, *, innermost: bool = True) -> str:
    """Return the message of an unexpected exception with the last line of a file: `KeyError: 'q' (own.py, line 7)`.

    innermost: whether, if no frame is of the file, the innermost one is named instead of none.
    """
    return f"{type(error).__name__}: {escape(str(error), 300)}{place_of(error, file, innermost=innermost)}"


def place_of(error: Exception, file: str | None, *, innermost: bool = False) -> str:
    """Return the file and line of the last frame of an exception that is of a file, in brackets; "" if none is."""
    from os.path import basename
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    at = [*(frames[-1:] if innermost else ()), *(frame for frame in frames if frame.filename == file)]
    return f" ({basename(at[-1].filename)}, line {at[-1].lineno})" if at else ""


def line_of(definition: Any) -> str:
    """Return the file and line of a class or function, in brackets; "" of one that is in no file."""
    from inspect import getsourcefile, getsourcelines
    from os.path import basename

    try:
        return f" ({basename(getsourcefile(definition) or '')}, line {getsourcelines(definition)[1]})"
    except (OSError, TypeError):
        return ""


def dotted(path: Path) -> str:
    """Return a path as people write it: `("layers", 1, "lstm")` is `layers[1].lstm`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
