"""Collects all problems of a call, from its flags and its questions, and reports them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar, cast

import click

from rnncalc.errors import CallError, Problem, RefusedError, SpecError
from rnncalc.text import escape_path

_NOTED = "rnncalc.problems"
_P = ParamSpec("_P")
_T = TypeVar("_T")


def note(problem: Problem) -> None:
    """Keep a problem of a flag until the others are known."""
    context = click.get_current_context()
    context.meta.setdefault(_NOTED, []).append(problem)


@contextmanager
def named(file: str) -> Iterator[None]:
    """Put the file's name before a refusal if the call names several files."""
    try:
        yield
    except RefusedError as error:
        if not file:
            raise
        raise RefusedError(f"{escape_path(file)}: {error.message}", *error.cures) from None


class AllAtOnce:
    """Collects the problems of several questions, and at its end raises SpecError with all of them.

    The result of a question that failed must not be used before the end.
    """

    def __init__(self) -> None:
        context = click.get_current_context(silent=True)
        self.problems: list[Problem] = [*context.meta.get(_NOTED, ())] if context else []

    def ask(self, question: Callable[_P, _T], *args: _P.args, **named: _P.kwargs) -> _T:
        """Return the result of a question, or note its problems."""
        try:
            return question(*args, **named)
        except SpecError as error:
            self.problems += error.problems
        except CallError as error:
            self.refuse(str(error))
        return cast("_T", None)

    def refuse(self, message: str) -> None:
        """Note a problem of the call as a whole."""
        self.problems.append(Problem((), message, "rnncalc"))

    def __enter__(self) -> AllAtOnce:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self.problems:
            raise SpecError(tuple(dict.fromkeys(self.problems)))
