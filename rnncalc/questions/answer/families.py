"""Mistakes with a number or a name in them: k times, a width, a layer.

Each function yields the ways in which its mistake can be made, of a number that it is fitted to only those that give
what the learner gave; which of the others do is seen by the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External, Output
from rnncalc.questions.allocation import compare_conventions
from rnncalc.questions.answer.changes.gates import number_of_gates
from rnncalc.questions.answer.changes.lines import in_layers, left_out, replaced
from rnncalc.questions.answer.changes.widths import fed_with
from rnncalc.questions.answer.mistake import MOST_LAYERS, Question, Way, Ways
from rnncalc.questions.answer.worksheet import GateLine, Line, Source, Worksheet
from rnncalc.text import all_of, one_of

MOST_GATES = 6
"""More gates than any cell has that is counted wrong."""


def other_conventions(worksheet: Worksheet, question: Question) -> Iterator[Way]:
    """Yield the counts under other conventions, those that count alike as one."""
    if sum(line.copies for line in worksheet) > MOST_LAYERS:
        return
    here = question.network.convention
    ways: list[tuple[Worksheet, list[str]]] = []
    for name, other in compare_conventions(question.network).networks.items():
        if other and name != here:
            lines = zip(worksheet, question.worksheet_of(other), strict=True)
            counted = tuple(now._replace(placed=was.placed) for was, now in lines)
            known = next((names for way, names in ways if way == counted), None)
            if known is None:
                ways.append((counted, [name]))
            else:
                known.append(name)
    for way, names in ways:
        do = "does" if len(names) == 1 else "do"
        yield Way(way, {"name": names[0], "names": all_of(names), "do": do, "here": here})


def times_a_number(multiplied: Callable[[Line], bool]) -> Ways:
    """Return the mistakes that multiply some lines by a whole number, whatever it is."""
    return partial(_times_a_number, multiplied)


def _times_a_number(multiplied: Callable[[Line], bool], worksheet: Worksheet, question: Question) -> Iterator[Way]:
    chosen = [line for place, line in question.lines(worksheet) if multiplied(line)]
    once = sum(line.params for line in chosen)
    if not once or question.given.unit * 10 > once:  # a coarse rounding is near some multiple of anything
        return
    rest = question.params(worksheet) - once
    times = (question.given.number - rest + once // 2) // once
    if times > 1 and question.given.means(rest + times * once):
        changed = (line._replace(times=line.times * times) if multiplied(line) else line for line in worksheet)
        yield Way(tuple(changed), {"times": f"{times:,}"})


def output_widths(worksheet: Worksheet, question: Question) -> Iterator[Way]:
    """Yield the width of an output layer that would make the number right, where there is one."""
    for place, line in question.lines(worksheet):
        if isinstance(line.layer, Output) and line.width("input"):
            wanted = question.given.number - question.params(worksheet) + line.params
            each = line.width("input") + line.biases
            units = (2 * wanted + each) // (2 * each)
            changes = units * each - line.params
            if units > 0 and units != line.h and question.given.means(question.params(worksheet) + changes):
                changed = line._replace(h=units, bias_size=units)
                values = {"width": f"{units:,}", "units": f"{line.h:,}"}
                yield Way(replaced(worksheet, place, changed), values, line.name)


def layers_left_out(worksheet: Worksheet, question: Question) -> Iterator[Way]:
    """Yield the worksheet without each hidden layer, the next one fed as it is, or by the layer below the gap."""
    if len(worksheet) > MOST_LAYERS or question.place is not None:
        return
    for place, line in enumerate(worksheet):
        if isinstance(line.layer, Output | Embedding | External) or not line.params:
            continue
        left = replaced(worksheet, place, line._replace(copies=line.copies - 1))
        yield Way(left, {"layer": line.name}, line.name)
        above = worksheet[place + 1] if place + 1 < len(worksheet) else None
        if above and above.placed.part == line.placed.part and line.copies == 1:
            fed = fed_with(above, line.placed.inputs - line.layer.extra_inputs)
            yield Way(replaced(left, place + 1, fed), {"layer": line.name}, line.name)


def layers_alone(worksheet: Worksheet, question: Question) -> Iterator[Way]:
    """Yield the worksheet with each layer as if it were the whole network, where that leaves out several."""
    counted = [place for place, line in enumerate(worksheet) if line.params]
    if len(worksheet) > MOST_LAYERS or question.place is not None or len(counted) < 3:
        return
    for place in counted:
        line = worksheet[place]
        alone = (*map(left_out, worksheet[:place]), line._replace(copies=1), *map(left_out, worksheet[place + 1 :]))
        yield Way(alone, {"layer": line.name}, line.name)


def matrices_alone(worksheet: Worksheet, question: Question) -> Iterator[Way]:
    """Yield the worksheet with one kind of matrix alone in each cell, of one gate or of all."""
    sources: dict[Source, str] = {"input": "input", "past": "recurrent"}
    for source, name in sources.items():
        for one, which in ((True, f"one {name} matrix"), (False, f"the {name} matrices")):
            changed = in_layers(partial(_only, source, one), Cell)(worksheet, question.network)
            yield Way(changed, {"which": f"{which} alone", "matrices": f"{'one-' if one else ''}{name}"})


def _only(source: Source, one: bool, line: Line) -> Line:
    reads = [tuple(read for read in gate.reads if read.source == source) for gate in line.gates]
    gates = [GateLine(read) for read in reads if read]
    return line._replace(gates=tuple(gates[:1] if one else gates), others=(), directions=1 if one else line.directions)


def gate_numbers(worksheet: Worksheet, question: Question) -> Iterator[Way]:
    """Yield the worksheet with another number of gates, each reading what the cell's own do."""
    gates = sorted({len(line.gates) for line in worksheet if isinstance(line.layer, Cell)})
    for count in range(1, MOST_GATES + 1):
        changed = in_layers(partial(number_of_gates, count), Cell)(worksheet, question.network)
        yield Way(changed, {"count": str(count), "gates": one_of([*map(str, gates)] or [""])})


def one_state(worksheet: Worksheet, question: Question) -> Iterator[Way]:
    """Yield the worksheet with one of several learned states alone."""
    cells = [line for line in worksheet if isinstance(line.layer, Cell) and line.has("state")]
    for state in dict.fromkeys(letter for line in cells for letter in _states(line)):
        yield Way(tuple(_of_state(state, line) for line in worksheet), {"state": f"{state}_0"})


def _states(line: Line) -> Mapping[str, str]:
    """Return the states with their widths where they are several, else none."""
    found = line.layer.states if isinstance(line.layer, Cell) else {}
    return found if len(found) > 1 else {}


def _of_state(state: str, line: Line) -> Line:
    if not line.has("state") or state not in _states(line):
        return line
    width = line.placed.sizes[_states(line)[state]]
    others = (other._replace(expression=width) if other.name == "state" else other for other in line.others)
    return line._replace(others=tuple(others))


def gates_left_out(worksheet: Worksheet, question: Question) -> Iterator[Way]:
    """Yield the worksheet without each gate of the cells whose gates read unlike things."""
    names = {gate.name: None for line in worksheet if isinstance(line.layer, Cell) for gate in line.gates if _odd(line)}
    for name in names:
        yield Way(tuple(_without_gate(name, line) for line in worksheet), {"gate": name})


def _odd(line: Line) -> bool:
    """Return whether the gates read unlike things."""
    return len({gate.reads for gate in line.gates}) > 1


def _without_gate(name: str, line: Line) -> Line:
    return line._replace(gates=tuple(gate for gate in line.gates if gate.name != name)) if _odd(line) else line


def is_recurrent(line: Line) -> bool:
    """Return whether a line counts a recurrent layer."""
    return isinstance(line.layer, Cell)


def is_any(line: Line) -> bool:
    """Return whether a line counts a layer at all."""
    return isinstance(line.layer, Cell | Dense | Embedding | External)
