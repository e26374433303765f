"""What mistakes do to the biases of a line."""

from __future__ import annotations

from rnncalc.questions.answer.worksheet import Line


def with_biases(count: int, line: Line) -> Line:
    """Give each gate so many bias vectors."""
    return line._replace(gates=tuple(gate._replace(biases=count) for gate in line.gates))


def biases_counted(line: Line) -> Line:
    """Give every gate a bias where none has one, but for a tied output's, which reads no matrix of its own."""
    reads = any(gate.reads for gate in line.gates)
    return with_biases(1, line) if reads and not line.biases else line


def bias_in_each_gate(line: Line) -> Line:
    """Give every gate a bias where some have none."""
    return line._replace(gates=tuple(g._replace(biases=g.biases or 1) for g in line.gates)) if line.biases else line


def two_biases(line: Line) -> Line:
    """Give every gate that has a bias two."""
    return line._replace(gates=tuple(gate._replace(biases=2 * min(1, gate.biases)) for gate in line.gates))


def one_bias(line: Line) -> Line:
    """Give every gate that has several biases one."""
    return line._replace(gates=tuple(gate._replace(biases=min(1, gate.biases)) for gate in line.gates))


def bias_twice(line: Line) -> Line:
    """Count each bias twice."""
    return line._replace(gates=tuple(gate._replace(biases=2 * gate.biases) for gate in line.gates))


def one_bias_in_all(line: Line) -> Line:
    """Leave one bias vector for all gates together."""
    if not line.biases:
        return line
    return line._replace(gates=tuple(gate._replace(biases=int(not place)) for place, gate in enumerate(line.gates)))


def scalar_biases(line: Line) -> Line:
    """Give each bias one number."""
    return line._replace(bias_size=1) if line.biases else line


def biases_of_inputs(line: Line) -> Line:
    """Give each bias a number for each input and each unit."""
    return line._replace(bias_size=line.width("input") + line.h) if line.biases else line


def biases_of_input(line: Line) -> Line:
    """Give each bias a number for each input."""
    return line._replace(bias_size=line.width("input")) if line.biases else line
