"""What mistakes do to the gates of a line: how many there are, and what they read."""

from __future__ import annotations

from rnncalc.conventions.formula import Times
from rnncalc.layers.cell import Cell
from rnncalc.network.network import Network
from rnncalc.questions.answer.arithmetic import product
from rnncalc.questions.answer.changes.lines import LineChange, reading, without_other
from rnncalc.questions.answer.right import state_of
from rnncalc.questions.answer.worksheet import GateLine, Line, Other, Read, Source, Worksheet


def with_gates(count: int, line: Line) -> Line:
    """Count so many gates as a plain cell has them: each reads the input and the past."""
    reads = [tuple(read for read in gate.reads if read.source != "peephole") for gate in line.gates]
    if not reads:
        return line
    alike = len({*reads}) == 1 and not any(read.shared for read in reads[0])
    past = (line.width("past") if alike else 0) or line.h
    gate = GateLine((Read("input", line.width("input")), Read("past", past)), max(gate.biases for gate in line.gates))
    peepholes = [read for gate in line.gates for read in gate.reads if read.source == "peephole"][:count]
    gates = [gate._replace(reads=(*gate.reads, read)) for read in peepholes] + [gate] * (count - len(peepholes))
    return without_other("scalars")(line)._replace(gates=tuple(gates))


def number_of_gates(count: int, line: Line) -> Line:
    """Count so many gates where all read the same."""
    kinds = {gate._replace(name="") for gate in line.gates}
    return line._replace(gates=(*kinds,) * count) if len(kinds) == 1 else line


def not_reading(source: Source) -> LineChange:
    """Return the mistake that forgets what the gates read from a source."""
    return lambda line: reading(line, source, 0)


def reading_often(line: Line, source: Source, times: int) -> Line:
    """Count what the gates read from a source so many times."""

    def changed(gate: GateLine) -> GateLine:
        reads = (read._replace(times=times) if read.source == source else read for read in gate.reads)
        return gate._replace(reads=tuple(reads))

    return line._replace(gates=tuple(map(changed, line.gates)))


def by_one_gate(*sources: Source) -> LineChange:
    """Return the mistake that lets one gate alone read some sources."""

    def change(line: Line) -> Line:
        first, rest = line.gates[:1], line.gates[1:]  # none at all, where another mistake has left none
        others = (gate._replace(reads=tuple(r for r in gate.reads if r.source not in sources)) for gate in rest)
        return line._replace(gates=(*first, *others))

    return change


def diagonal(line: Line) -> Line:
    """Give each unit one recurrent weight instead of a row."""
    return reading(line, "past", 1)


def full_recurrence(line: Line) -> Line:
    """Give a diagonal recurrence a whole matrix."""
    return reading(line, "past", line.h) if line.width("past") == 1 else line


def recurrence_counted(line: Line) -> Line:
    """Let every gate read the past where none does."""
    if line.width("past"):
        return line
    return line._replace(gates=tuple(g._replace(reads=(*g.reads, Read("past", line.h))) for g in line.gates))


def past_of_all_states(line: Line) -> Line:
    """Let every gate read all states of the step before through whole matrices."""
    return reading_often(line, "past", len(line.layer.states)) if isinstance(line.layer, Cell) else line


def full_peepholes(line: Line) -> Line:
    """Give the peepholes whole matrices."""
    return reading(line, "peephole", line.h)


def peephole_in_each_gate(line: Line) -> Line:
    """Let every gate look at the state that some look at."""
    peephole = Read("peephole", line.width("peephole"))
    bare = [tuple(read for read in gate.reads if read.source != "peephole") for gate in line.gates]
    gates = (gate._replace(reads=(*reads, peephole)) for gate, reads in zip(line.gates, bare, strict=True))
    return line._replace(gates=tuple(gates)) if peephole.width else line


def peepholes_counted(line: Line) -> Line:
    """Add the peepholes of a cell that has none: of every gate but the candidate, where there is a second state."""
    second = isinstance(line.layer, Cell) and len(line.layer.states) > 1
    added = Other("peepholes", product(len(line.gates) - 1, line.h))
    return line._replace(others=(*line.others, added)) if second and not line.width("peephole") else line


def state_counted(line: Line) -> Line:
    """Count the states as parameters where they are not learned."""
    layer = line.layer
    if not isinstance(layer, Cell) or line.has("state"):
        return line
    return line._replace(others=(*line.others, state_of(line.placed, layer)))


def not_shared(line: Line) -> Line:
    """Count the matrices that gates share once for each of them."""
    gates = (gate._replace(reads=tuple(read._replace(shared="") for read in gate.reads)) for gate in line.gates)
    return line._replace(gates=tuple(gates))


def swapped(line: Line) -> Line:
    """Take the inputs for the units and the units for the inputs."""
    units = line.width("input")
    past = units if line.width("past") == line.h else line.width("past")
    changed = reading(reading(line, "past", past), "input", line.h)
    return changed._replace(h=units, bias_size=units) if units else line


def square(line: Line) -> Line:
    """Give the matrices of the stacked inputs and units as many rows as columns."""
    return line._replace(h=line.width("input") + line.width("past"))


def as_dense(line: Line) -> Line:
    """Leave one matrix of the inputs and one bias."""
    gate = GateLine((Read("input", line.width("input")),), min(1, line.biases))
    return line._replace(gates=(gate,), others=(), directions=1)


def recurrent_of_units(line: Line) -> Line:
    """Give the recurrent matrices h columns where a projection is narrower."""
    return reading(line, "past", line.h) if line.has("projection") else line


def recurrent_of_inputs(line: Line) -> Line:
    """Give the recurrent matrices as many columns as there are inputs."""
    return reading(line, "past", line.width("input")) if line.width("past") else line


def recurrent_among_inputs(line: Line) -> Line:
    """Give the recurrent matrices as many rows and columns as there are inputs."""
    matrices = sum(bool(gate.width("past")) for gate in line.gates)
    added = Other("recurrent", product(matrices, Times((line.width("input"), line.width("input")))))
    return reading(line, "past", 0)._replace(others=(added, *line.others)) if matrices else line


def input_of_units(line: Line) -> Line:
    """Give the input matrices as many columns as there are units."""
    return reading(line, "input", line.h)


def past_of_output(worksheet: Worksheet, network: Network) -> Worksheet:
    """Let the recurrence read the output of the step before instead of the state."""

    def changed(line: Line) -> Line:
        output = network.parts[line.placed.part].output
        return reading(line, "past", output.units) if output and isinstance(line.layer, Cell) else line

    return tuple(map(changed, worksheet))
