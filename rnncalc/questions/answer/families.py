"""Mistakes with a number or a name in them, which one is found from what the learner gave: k times, a width, a layer.

Each function yields the ways in which its mistake can be made; which of them give the number is seen by the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External, Output
from rnncalc.questions.allocation import compare_conventions
from rnncalc.questions.answer.changes.gates import number_of_gates
from rnncalc.questions.answer.changes.lines import in_layers, replaced
from rnncalc.questions.answer.changes.widths import fed_with
from rnncalc.questions.answer.mistake import MOST_LAYERS, Question, Way, Ways
from rnncalc.questions.answer.worksheet import Line, Worksheet
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
    wanted = question.given.number - question.params(worksheet) + once
    times = (wanted + once // 2) // once
    if times > 1:
        changed = (line._replace(times=line.times * times) if multiplied(line) else line for line in worksheet)
        yield Way(tuple(changed), {"times": f"{times:,}"})


def output_widths(worksheet: Worksheet, question: Question) -> Iterator[Way]:
    """Yield the width of an output layer that would make the number right, where there is one."""
    for place, line in question.lines(worksheet):
        if isinstance(line.layer, Output) and line.width("input"):
            wanted = question.given.number - question.params(worksheet) + line.params
            each = line.width("input") + line.biases
            units = (2 * wanted + each) // (2 * each)
            if units > 0 and units != line.h:
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
