"""A count as a learner puts it down: for each layer, what its gates read and how many biases they have.

What it comes to and how it is written are two readings of the same lines; tests hold the one against the other. Knows
nothing of mistakes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Literal, NamedTuple

from rnncalc.conventions.formula import Expression, Times
from rnncalc.layers.layer import Layer
from rnncalc.network.stack import Placed
from rnncalc.questions.answer.arithmetic import amount, product, total

Source = Literal["input", "past", "peephole"]
"""What a gate reads: the layer's input, the state that recurs, or another state that it looks at."""


class Read(NamedTuple):
    """A matrix of a gate, or a vector: what it is multiplied with, and how many numbers it has for each unit.

    shared: the name of a matrix that several gates use; it is counted once.
    times: how often it is counted; of a right count, once.
    """

    source: Source
    width: int
    shared: str = ""
    times: int = 1


class GateLine(NamedTuple):
    """A gate on paper: what it reads, and its bias vectors. A dense layer is one gate that reads the input."""

    reads: tuple[Read, ...]
    biases: int = 0
    name: str = ""

    def width(self, source: Source) -> int:
        """Return how many numbers for each unit it has for a source."""
        return sum(read.width for read in self.reads if read.source == source)


class Other(NamedTuple):
    """A part of a layer's count that belongs to no gate."""

    name: str
    expression: Expression


class Line(NamedTuple):
    """A layer's count: times · directions · (what h units in each gate read, their biases, and the others).

    bias_size: how many numbers a bias vector has; of a right one, h.
    times: how often it is all counted; of a right count, once.
    copies: how many equal layers the line stands for; last_name: that of the last of them.
    below_alike: whether the layer below is such a layer too, as it is below each of several.
    """

    placed: Placed
    h: int
    gates: tuple[GateLine, ...] = ()
    others: tuple[Other, ...] = ()
    bias_size: int = 0
    directions: int = 1
    times: int = 1
    copies: int = 1
    last_name: str = ""
    below_alike: bool = False

    @property
    def name(self) -> str:
        """The layer's name, of several the first's."""
        return self.placed.name

    @property
    def layer(self) -> Layer:
        """The layer that is counted."""
        return self.placed.layer

    @property
    def is_empty(self) -> bool:
        """Whether nothing is counted: the layer has no parameters, or is left out."""
        return not self.gates and not self.others

    @property
    def biases(self) -> int:
        """How many bias vectors one direction has."""
        return sum(gate.biases for gate in self.gates)

    def width(self, source: Source) -> int:
        """Return the width of what the gates read from a source, 0 where none reads it."""
        return max((gate.width(source) for gate in self.gates), default=0)

    def has(self, other: str) -> bool:
        """Return whether a part that belongs to no gate is counted."""
        return any(each.name == other for each in self.others)

    @property
    def of_one(self) -> Expression:
        """The sum of one layer with its numbers, as it would stand on paper."""
        inside = total((*_products(self), *_peepholes(self), *(other.expression for other in self.others)))
        return product(self.times, self.directions, inside) if amount(inside) else 0

    @property
    def params(self) -> int:
        """What the layers have together; what `of_one` comes to for each, without writing it down."""
        seen: set[tuple[Source, str]] = set()
        numbers = self.biases * self.bias_size + sum(amount(other.expression) for other in self.others)
        for gate in self.gates:
            for source, width, shared, times in gate.reads:
                if (source, shared) not in seen:
                    numbers += self.h * width * times
                    if shared:
                        seen.add((source, shared))
        return self.copies * self.times * self.directions * numbers


Worksheet = tuple[Line, ...]


def sum_of(worksheet: Worksheet) -> Expression:
    """Return the sum of all lines; neighbours that are equal on paper stand in one product."""
    return total(
        product(sum(line.copies for line in lines), expression)
        for expression, lines in groupby(worksheet, key=lambda line: line.of_one)
    )


def _products(line: Line) -> Iterator[Expression]:
    """Yield a product for each group of gates that read alike, biases in the bracket where those have equally many."""
    seen: set[tuple[Source, str]] = set()
    groups: dict[tuple[Expression, ...], list[int]] = {}
    for gate in line.gates:
        own = [read for read in gate.reads if read.source != "peephole" and (read.source, read.shared) not in seen]
        seen |= {(read.source, read.shared) for read in own if read.shared}
        widths = tuple(product(read.times, read.width) for read in own if read.width)
        groups.setdefault(widths, []).append(gate.biases)
    within = line.bias_size == line.h and not seen and all(len({*biases}) == 1 for biases in groups.values())
    for widths, biases in groups.items():
        if widths and line.h:
            bracket = total((*widths, biases[0]) if within else widths)
            yield product(len(biases), Times((line.h, bracket)))
    apart = sum(sum(biases) for widths, biases in groups.items() if not (within and widths))
    if apart and line.bias_size:
        yield product(apart, line.bias_size)


def _peepholes(line: Line) -> Iterator[Expression]:
    widths = Counter(gate.width("peephole") for gate in line.gates)
    for width, count in widths.items():
        if width and line.h:
            yield product(count, line.h if width == 1 else Times((line.h, width)))
