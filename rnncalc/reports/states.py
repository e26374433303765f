"""What each direction of a recurrent layer went through, said: a table a direction, its steps in the order of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

from rnncalc.conventions.tensor import WAYS, Direction
from rnncalc.forward.network_pass import Ran
from rnncalc.forward.recurrent import History
from rnncalc.reports.sheet import Column, Row, Sheet

SHOWN_NUMBERS, SHOWN_IN_TABLES = 8, 6
"""More numbers of a vector than this are left out on a line, and in a table, where it must fit a screen."""

DIGITS = 6
"""How many digits that count the largest number of a column has."""

_LARGE, _SMALL = 1e6, 1e-3


def state_sheets(layer: Ran) -> Iterator[Sheet]:
    """Yield a table a direction: what was read, the states and the gates, and the states before the first step."""
    for direction, trace in zip(WAYS, layer.traces, strict=False):
        backward = direction is Direction.BACKWARD
        letters = [*trace.steps[0]]
        columns = [_column(trace, letter) for letter in letters]
        start = [_start(trace, letter, column[-1]) for letter, column in zip(letters, columns, strict=True)]
        steps = zip(*(column[:-1] for column in columns), strict=True)
        rows: list[Row] = [(step, *texts) for step, texts in enumerate(steps, 1)]
        if backward:
            rows.append((len(rows) + 1, *start))
        else:
            rows.insert(0, (0, *start))
        yield Sheet(
            columns=(Column("Step", right=True, key=True), *(Column(letter, right=True) for letter in letters)),
            rows=rows,
            title=f"{layer.placed.name}{f', {direction}' if len(layer.traces) > 1 else ''}",
            subtitle=f"read from step {len(rows) - 1:,} to step 1; step {len(rows):,} is its start" if backward else "",
        )


def states_data(layer: Ran) -> dict[str, Any]:
    """Return the same for programs: the start of each direction, and its steps in the order of time."""
    traces = dict(zip(WAYS, layer.traces, strict=False))
    return {
        "start": {direction: _in_json(trace.start) for direction, trace in traces.items()},
        "states": {direction: [_in_json(step) for step in trace.steps] for direction, trace in traces.items()},
    }


def vector(numbers: Sequence[float], shown: int = SHOWN_NUMBERS) -> str:
    """Return a vector on one line, its first numbers alone where it is long."""
    return f"{' '.join(f'{number:.6g}' for number in numbers[:shown])}{_more(numbers, shown)}"


def in_rows(nested: Any) -> str:
    """Return a vector, or the rows of a matrix with semicolons between, on one line; of many numbers the first."""
    texts: list[str] = []
    left = SHOWN_NUMBERS
    for row in _rows(nested):
        if not left:
            return f"{'; '.join(texts)}; …"
        texts.append(vector(row, left))
        if len(row) > left:
            break
        left -= len(row)
    return "; ".join(texts)


def _rows(nested: Any) -> Iterator[list[float]]:
    """Yield the vectors that a tensor is made of."""
    if nested and isinstance(nested[0], list):
        for below in nested:
            yield from _rows(below)
    else:
        yield nested


def finite(nested: Any) -> Any:
    """Return the numbers as JSON can hold them: what is no finite number is null."""
    if isinstance(nested, list):
        if nested and not isinstance(nested[0], list):
            return nested if all(map(isfinite, nested)) else [finite(item) for item in nested]
        return [finite(item) for item in nested]
    return nested if nested is None or isfinite(nested) else None


def _column(trace: History[list[float]], letter: str) -> list[str]:
    """Return the vectors of a letter, a text a step, their numbers below each other; the start's last."""
    vectors = [step[letter] for step in trace.steps]
    vectors.append(trace.start.get(letter, []))
    shown = [numbers[:SHOWN_IN_TABLES] for numbers in vectors]
    form = _form([number for numbers in shown for number in numbers])
    texts = [[format(number + 0.0, form) for number in numbers] for numbers in shown]  # no −0
    widths = [max(map(len, places)) for places in zip(*(row for row in texts if row), strict=True)]
    return [
        " ".join(text.rjust(width) for text, width in zip(row, widths, strict=False)) + _more(numbers, SHOWN_IN_TABLES)
        for row, numbers in zip(texts, vectors, strict=True)
    ]


def _start(trace: History[list[float]], letter: str, text: str) -> str:
    return text if letter in trace.start else ""


def _form(numbers: Sequence[float]) -> str:
    """Return how to format numbers that stand below each other: with as many digits after the point as are needed."""
    most = max((abs(number) for number in numbers if isfinite(number)), default=0.0)
    if most >= _LARGE or 0 < most < _SMALL:
        return f".{DIGITS - 1}e"
    digits = DIGITS - (len(str(int(most))) if most >= 1 else 0)
    while digits and all(round(number, digits) == round(number, digits - 1) for number in numbers if isfinite(number)):
        digits -= 1
    return f".{digits}f"


def _more(numbers: Sequence[float], shown: int) -> str:
    return " …" if len(numbers) > shown else ""


def _in_json(vectors: dict[str, list[float]]) -> dict[str, Any]:
    return {letter: finite(numbers) for letter, numbers in vectors.items()}
