"""The legend of a cell: what each gate is called, what it is for, and how many of the layer's parameters are its own.

The numbers are those of the count's tensors under the network's convention, and sum to the layer's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import NamedTuple

from rnncalc.conventions.tensor import Direction, Tensor
from rnncalc.layers.cell import Cell, Habits
from rnncalc.network.stack import Placed
from rnncalc.reports.equations import Line, Term, spelled
from rnncalc.reports.pictures.picture import Align, Label, Role, span
from rnncalc.text import all_of


class Row(NamedTuple):
    """One line of a legend: a letter, what it is called, its parameters, what it is for."""

    letter: Line
    name: str
    params: int
    meaning: str = ""


def rows(placed: Placed, habits: Habits, signs: Mapping[int, str]) -> list[Row]:
    """Return a row for each gate, for each matrix that gates share, and for what stands beside the gates.

    Where there are two directions, both are counted in each row. signs: the words that stand for letters.
    """
    layer = placed.layer
    assert isinstance(layer, Cell)
    gates = {gate.letter: gate for gate in layer.gates(placed.inputs)}
    own = dict.fromkeys(gates, 0)
    shared: dict[str, int] = {}
    beside: dict[Direction | None, list[int]] = {}
    for tensor in placed.tensors:
        if not tensor.gates:
            beside.setdefault(tensor.direction, []).append(tensor.params)
        elif _apart(tensor):
            for letter in tensor.gates:
                own[letter] += tensor.params // len(tensor.gates)
        else:
            shared[tensor.gates] = shared.get(tensor.gates, 0) + tensor.params
    found = [
        Row((Term(letter, time="t"),), gate.name, own[letter], layer.meaning(gate, habits))
        for letter, gate in gates.items()
    ]
    found += [Row((), "shared", params, f"matrices of {all_of([*letters])}") for letters, params in shared.items()]
    sums = [sum(each) for each in zip(*beside.values(), strict=True)]
    found += [row._replace(params=params) for row, params in zip(_beside(layer), sums, strict=False)]
    return [row._replace(letter=spelled(row.letter, signs)) for row in found]


def _beside(layer: Cell) -> Iterator[Row]:
    """Yield what stands beside the gates, in the order of its tensors in either direction."""
    for weight in layer.weights:
        symbol = Term("W", f"h{weight.letter}") if weight.widths else Term(weight.letter)
        yield Row((symbol,), "matrix" if weight.widths else "number", 0, weight.name)
    for letter in layer.states:
        yield Row((Term(letter, "0"),), "state", 0, "learned, before the first step")


def _apart(tensor: Tensor) -> bool:
    """Return whether a tensor has as many weights for each of its gates; a matrix that they share has not."""
    blocks = max((axis.times for axis in tensor.axes if axis.letter == "h"), default=1)
    return blocks % len(tensor.gates) == 0


GAP = 2
"""Cells between two columns."""

LEAST = 24
"""A meaning is not written beside the rest where it would have fewer cells than these a line."""


def labels(found: Sequence[Row], width: int) -> Iterator[Label]:
    """Yield the legend's lines from the upper left corner on, of so many cells if its words are not longer."""
    letters = max(span(row.letter) for row in found)
    names = letters + GAP + max(span((row.name,)) for row in found)
    total = sum(row.params for row in found)
    numbers = names + GAP + max(len(HEAD), len(f"{total:,}"))
    start = numbers + GAP if width - numbers - GAP >= LEAST else letters + GAP
    yield Label(numbers - 1, 0, (HEAD,), Role.NOTE, Align.END)
    y = 1
    for row in found:
        yield Label(0, y, row.letter, Role.NOTE)
        yield Label(letters + GAP, y, (row.name,), Role.NOTE)
        yield Label(numbers - 1, y, (f"{row.params:,}",), Role.NOTE, Align.END)
        lines = wrap(row.meaning, max(width - start, LEAST) * 9 // 10) if row.meaning else []
        y += start <= letters + GAP
        for line in lines:
            yield Label(start, y, (line,), Role.NOTE)
            y += 1
        y += not lines and start > letters + GAP
    yield Label(letters + GAP, y, ("all",), Role.NOTE)
    yield Label(numbers - 1, y, (f"{total:,}",), Role.NOTE, Align.END)


HEAD = "parameters"
