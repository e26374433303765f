"""What mistakes do to a line as a whole, and the means that all changes share. Knows no mistake by name."""

from __future__ import annotations

from collections.abc import Callable

from rnncalc.conventions.formula import Expression
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer, Output
from rnncalc.network.network import Network
from rnncalc.questions.answer.arithmetic import product, total
from rnncalc.questions.answer.worksheet import GateLine, Line, Other, Read, Source, Worksheet

LineChange = Callable[[Line], Line]
"""What a mistake makes of one line; the same line where it cannot be made."""

Change = Callable[[Worksheet, Network], Worksheet]
"""What a mistake makes of a worksheet; the same lines where it changes nothing."""


def in_layers(change: LineChange, *kinds: type[Layer]) -> Change:
    """Return the mistake that changes every layer of some kinds; an output layer is a dense one."""

    def everywhere(worksheet: Worksheet, network: Network) -> Worksheet:
        return tuple(
            change(line) if isinstance(line.layer, kinds) and not line.is_empty else line for line in worksheet
        )

    return everywhere


def replaced(worksheet: Worksheet, place: int, line: Line) -> Worksheet:
    """Return a worksheet with another line at a place."""
    return (*worksheet[:place], line, *worksheet[place + 1 :])


def reading(line: Line, source: Source, width: int) -> Line:
    """Give every gate that reads a source another width of it; 0 is as if it did not read it."""

    def changed(gate: GateLine) -> GateLine:
        reads = (read._replace(width=width) if read.source == source else read for read in gate.reads)
        return gate._replace(reads=tuple(read for read in reads if read.width))

    return line._replace(gates=tuple(map(changed, line.gates)))


def left_out(line: Line) -> Line:
    """Leave the layer out."""
    return line._replace(gates=(), others=())


def frozen_out(line: Line) -> Line:
    """Leave the layer out if it is frozen."""
    return left_out(line) if line.layer.frozen else line


def without_extra(line: Line) -> Line:
    """Take the extra inputs from the width."""
    return reading(line, "input", line.placed.inputs - line.layer.extra_inputs)


def without_other(name: str) -> LineChange:
    """Return the mistake that drops a part that belongs to no gate."""
    return lambda line: line._replace(others=tuple(other for other in line.others if other.name != name))


def with_other(name: str, number: Callable[[Line], Expression]) -> LineChange:
    """Return the mistake that adds a part that belongs to no gate."""
    return lambda line: line._replace(others=(*line.others, Other(name, number(line))))


def units(line: Line) -> Line:
    """Take the number of units for the count."""
    return line._replace(gates=(), others=(Other("units", line.h),))


def widths_added(line: Line) -> Line:
    """Add the widths that the matrices would have."""
    widths = total((line.h, line.width("input")))
    return line._replace(gates=(), others=(Other("widths", widths),), directions=1)


def units_of_gates(line: Line) -> Line:
    """Take the height of all gates' matrices for the count."""
    return line._replace(gates=(), others=(Other("gates", product(len(line.gates), line.h)),), directions=1)


def bias_of_embedding(line: Line) -> Line:
    """Give an embedding a bias, as a dense layer has one."""
    return line._replace(others=(*line.others, Other("bias", line.h)))


def bias_of_projection(line: Line) -> Line:
    """Give a projection a bias."""
    projected = isinstance(line.layer, Cell) and line.has("projection")
    return line._replace(others=(*line.others, Other("bias", line.width("past")))) if projected else line


def tied_twice(line: Line) -> Line:
    """Count the tied matrix at the output too."""
    if not isinstance(line.layer, Output) or not line.layer.tied:
        return line
    reads = (Read("input", line.placed.inputs),)
    return line._replace(gates=tuple(gate._replace(reads=reads) for gate in line.gates))
