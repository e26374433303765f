"""What is said of each thing that a spec was held against: a limit, or a tensor of a model file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rnncalc.questions.check import Verdict
from rnncalc.reports.limits import cells, message, name, numbers
from rnncalc.reports.sheet import Value


class Said(NamedTuple):
    """A name, two cells of a table, the same two for programs, and what is wrong, None when nothing is."""

    name: str
    cells: tuple[Value, Value]
    numbers: tuple[Any, Any]
    message: str | None
    line: int | None = None
    column: int | None = None


def said_of(verdict: Verdict) -> Iterator[Said]:
    """Yield what is said of each limit, then of each tensor."""
    for check in verdict.limits:
        yield Said(name(check.limit), cells(check), numbers(check), message(check), check.line, check.column)
    if verdict.model is None:
        return
    from rnncalc.reports import tensor_checks  # few calls have a model file

    for tensor, message_ in zip(verdict.model.tensors, tensor_checks.messages(verdict.model), strict=True):
        both = tensor.shape and [*tensor.shape], tensor.found_shape and [*tensor.found_shape]
        shapes = tensor.shape, tensor.found_shape
        line, column = verdict.places.get(tensor.at, (None, None)) if tensor.at else (None, None)
        yield Said(tensor_checks.name(tensor), shapes, both, message_, line, column)
