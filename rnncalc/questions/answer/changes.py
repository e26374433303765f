"""What mistakes do to one line of a worksheet: changes that the table in `mistakes.py` is made of.

Knows lines and what their gates read; knows no mistake by name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rnncalc.layers.layer import Layer, Output
from rnncalc.network.network import Network
from rnncalc.questions.answer.arithmetic import product
from rnncalc.questions.answer.worksheet import GateLine, Line, Other, Read, Source, Worksheet

LineChange = Callable[[Line], Line]
"""What a mistake makes of one line; the same line where it cannot be made."""

Change = Callable[[Worksheet, Network], Worksheet]
"""What a mistake makes of a worksheet; the same lines where it changes nothing."""


def in_layers(change: LineChange, *kinds: type[Layer]) -> Change:
    """Return the mistake that changes every layer of some kinds; an output layer is a dense one."""
    return partial(_in_layers, change, kinds)


def _in_layers(change: LineChange, kinds: tuple[type[Layer], ...], worksheet: Worksheet, _: Network) -> Worksheet:
    return tuple(change(line) if isinstance(line.layer, kinds) and not line.is_empty else line for line in worksheet)


def with_biases(count: int, line: Line) -> Line:
    """Give each gate so many bias vectors."""
    return line._replace(gates=tuple(gate._replace(biases=count) for gate in line.gates))


def biases_counted(line: Line) -> Line:
    """Give every gate a bias where none has one, but for a tied output's, which reads no matrix of its own."""
    reads = any(gate.reads for gate in line.gates)
    return with_biases(1, line) if reads and not line.biases else line


def two_biases(line: Line) -> Line:
    """Give every gate two biases where there are fewer."""
    return with_biases(2, line) if 0 < line.biases < 2 * len(line.gates) else line


def one_bias(line: Line) -> Line:
    """Give every gate one bias where there are more."""
    return with_biases(1, line) if line.biases > len(line.gates) else line


def bias_twice(line: Line) -> Line:
    """Count each bias twice."""
    return line._replace(gates=tuple(gate._replace(biases=2 * gate.biases) for gate in line.gates))


def one_bias_in_all(line: Line) -> Line:
    """Leave one bias vector for all gates together."""
    if line.biases <= 1:
        return line
    return line._replace(gates=tuple(gate._replace(biases=int(not place)) for place, gate in enumerate(line.gates)))


def scalar_biases(line: Line) -> Line:
    """Give each bias one number."""
    return line._replace(bias_size=1) if line.biases else line


def biases_of_inputs(line: Line) -> Line:
    """Give each bias a number for each input and each recurrent one."""
    return line._replace(bias_size=line.width("input") + line.width("past")) if line.biases else line


def with_gates(count: int, line: Line) -> Line:
    """Count so many gates, of those that look at another state first; only where all gates read alike."""
    reads = [tuple(read for read in gate.reads if read.source != "peephole") for gate in line.gates]
    if not reads or len({*reads}) > 1 or any(read.shared for read in reads[0]):
        return line
    kept = sorted(line.gates, key=lambda gate: not gate.width("peephole"))
    return line._replace(gates=(*kept, *[GateLine(reads[0], line.gates[0].biases)] * count)[:count])


def reading(line: Line, source: Source, width: int) -> Line:
    """Give every gate that reads a source another width of it; 0 is as if it did not read it."""

    def changed(gate: GateLine) -> GateLine:
        reads = (read._replace(width=width) if read.source == source else read for read in gate.reads)
        return gate._replace(reads=tuple(read for read in reads if read.width))

    return line._replace(gates=tuple(map(changed, line.gates)))


def not_reading(source: Source) -> LineChange:
    """Return the mistake that forgets what the gates read from a source."""
    return lambda line: reading(line, source, 0)


def diagonal(line: Line) -> Line:
    """Give each unit one recurrent weight in place of a row."""
    return reading(line, "past", 1)


def full_recurrence(line: Line) -> Line:
    """Give a diagonal recurrence a whole matrix."""
    return reading(line, "past", line.h) if line.width("past") == 1 else line


def as_dense(line: Line) -> Line:
    """Leave one matrix of the inputs and one bias."""
    gate = GateLine((Read("input", line.width("input")),), min(1, line.biases))
    return line._replace(gates=(gate,), others=(), directions=1)


def units_of_gates(line: Line) -> Line:
    """Take the height of all gates' matrices for the count."""
    return line._replace(gates=(), others=(Other("gates", product(len(line.gates), line.h)),), directions=1)


def without_other(name: str) -> LineChange:
    """Return the mistake that drops a part that belongs to no gate."""
    return lambda line: line._replace(others=tuple(other for other in line.others if other.name != name))


def with_other(name: str, number: Callable[[Line], int]) -> LineChange:
    """Return the mistake that adds a part that belongs to no gate."""
    return lambda line: line._replace(others=(*line.others, Other(name, number(line))))


def left_out(line: Line) -> Line:
    """Leave the layer out."""
    return line._replace(gates=(), others=())


def frozen_out(line: Line) -> Line:
    """Leave the layer out if it is frozen."""
    return left_out(line) if line.layer.frozen else line


def without_extra(line: Line) -> Line:
    """Take the extra inputs from the width."""
    return reading(line, "input", line.placed.inputs - line.layer.extra_inputs)


def one_direction(line: Line) -> Line:
    """Count one direction."""
    return line._replace(directions=1)


def twice_the_directions(line: Line) -> Line:
    """Count twice as many directions."""
    return line._replace(directions=2 * line.directions)


def recurrent_of_units(line: Line) -> Line:
    """Give the recurrent matrices h columns where a projection is narrower."""
    return reading(line, "past", line.h) if line.has("projection") else line


def tied_twice(line: Line) -> Line:
    """Count the tied matrix at the output too."""
    if not isinstance(line.layer, Output) or not line.layer.tied:
        return line
    reads = (Read("input", line.placed.inputs),)
    return line._replace(gates=tuple(gate._replace(reads=reads) for gate in line.gates))
