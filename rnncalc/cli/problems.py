"""Everything that is wrong with a call, told at once: what its flags note, and what its questions raise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar, cast

import click

from rnncalc.errors import CallError, Problem, RefusedError, SpecError
from rnncalc.text import escape

_NOTED = "rnncalc.problems"
_P = ParamSpec("_P")
_T = TypeVar("_T")


def note(problem: Problem) -> None:
    """Keep a problem of a flag until the others are known."""
    context = click.get_current_context()
    context.meta.setdefault(_NOTED, []).append(problem)


@contextmanager
def named(file: str) -> Iterator[None]:
    """Have a refusal begin with the file that it is of, where a call names several."""
    try:
        yield
    except RefusedError as error:
        if not file:
            raise
        raise RefusedError(f"{escape(file, limit=1_000)}: {error.message}", *error.cures) from None


class AllAtOnce:
    """Gathers the problems of several questions, and at its end raises SpecError with all of them.

    What a question that failed returns is not there to be used before that end.
    """

    def __init__(self) -> None:
        context = click.get_current_context(silent=True)
        self.problems: list[Problem] = [*context.meta.get(_NOTED, ())] if context else []

    def ask(self, question: Callable[_P, _T], *args: _P.args, **named: _P.kwargs) -> _T:
        """Return what a question returns."""
        try:
            return question(*args, **named)
        except SpecError as error:
            self.problems += error.problems
        except CallError as error:
            self.refuse(str(error))
        return cast("_T", None)

    def refuse(self, message: str) -> None:
        """Note what is wrong with the call as a whole."""
        self.problems.append(Problem((), message, "rnncalc"))

    def __enter__(self) -> AllAtOnce:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self.problems:
            raise SpecError(tuple(dict.fromkeys(self.problems)))
