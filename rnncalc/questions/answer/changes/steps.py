"""What mistakes do with what is shared or repeated: steps, directions, repeated layers, halves."""

from __future__ import annotations

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer, Output
from rnncalc.network.network import Network
from rnncalc.questions.answer.changes.gates import reading_often
from rnncalc.questions.answer.changes.lines import Change, left_out, reading, replaced
from rnncalc.questions.answer.changes.widths import (
    feeding,
    first_fed,
    width_of_one_direction,
    width_of_steps,
    width_of_two_directions,
)
from rnncalc.questions.answer.worksheet import Line, Source, Worksheet


def steps_of(line: Line, network: Network) -> int:
    """Return the steps of a layer's part, 1 where they are not known."""
    return network.parts[line.placed.part].steps or 1


def times_steps(*kinds: type[Layer]) -> Change:
    """Return the mistake that multiplies the layers of some kinds by the number of steps."""

    def change(worksheet: Worksheet, network: Network) -> Worksheet:
        return tuple(
            line._replace(times=line.times * steps_of(line, network)) if isinstance(line.layer, kinds) else line
            for line in worksheet
        )

    return change


def reading_each_step(*sources: Source, between: bool = False) -> Change:
    """Return the mistake that counts what gates read from some sources once a step, or once between each two steps."""

    def changed(line: Line, network: Network) -> Line:
        times = max(1, steps_of(line, network) - between)
        for source in sources if isinstance(line.layer, Cell) else ():
            line = reading_often(line, source, times)
        return line

    return lambda worksheet, network: tuple(changed(line, network) for line in worksheet)


def steps_for_units(worksheet: Worksheet, network: Network) -> Worksheet:
    """Give each recurrent layer as many units as there are steps, and feed the next layer with them."""
    if any(part.steps is None for part in network.parts.values()):
        return worksheet
    fed = feeding(width_of_steps)(worksheet, network)
    return tuple(_of_units(steps_of(line, network), line) if isinstance(line.layer, Cell) else line for line in fed)


def _of_units(units: int, line: Line) -> Line:
    changed = reading(line, "past", units) if line.width("past") == line.h else line
    return changed._replace(h=units, bias_size=units)


def steps_as_features(worksheet: Worksheet, network: Network) -> Worksheet:
    """Feed the first layer that has a matrix with the features of all steps at once."""
    place = first_fed(worksheet, worksheet[0].placed.part)
    if place is None:
        return worksheet
    line = worksheet[place]
    return replaced(worksheet, place, reading_often(line, "input", steps_of(line, network)))


def output_of_all_steps(worksheet: Worksheet, network: Network) -> Worksheet:
    """Feed the output layer with the states of all steps, one after another."""
    return tuple(
        reading_often(line, "input", steps_of(line, network)) if isinstance(line.layer, Output) else line
        for line in worksheet
    )


def one_direction(line: Line) -> Line:
    """Count one direction."""
    return line._replace(directions=1)


def each_direction_twice(line: Line) -> Line:
    """Count both directions twice."""
    return line._replace(directions=4) if line.directions == 2 else line


def two_directions(line: Line) -> Line:
    """Count two directions where there is one."""
    return line._replace(directions=2)


def in_both_directions(worksheet: Worksheet, network: Network) -> Worksheet:
    """Count two directions where there is one, and feed the next layers with both."""
    fed = feeding(width_of_two_directions)(worksheet, network)
    return tuple(two_directions(line) if isinstance(line.layer, Cell) else line for line in fed)


def in_one_direction(worksheet: Worksheet, network: Network) -> Worksheet:
    """Count one direction where there are two, and feed the next layers with one."""
    fed = feeding(width_of_one_direction)(worksheet, network)
    return tuple(map(one_direction, fed))


def repeat_once(worksheet: Worksheet, network: Network) -> Worksheet:
    """Count a repeated layer once."""
    changed: list[Line] = []
    left = 0  # how many more copies of the repeated layer below are to come
    for line in worksheet:
        copies, repeat = line.copies, line.layer.repeat
        starts = -(-(copies - left) // repeat)
        left += starts * repeat - copies
        changed.append(line._replace(copies=starts))
    return tuple(changed)


def without_part(name: str) -> Change:
    """Return the mistake that leaves one half of an encoder-decoder out."""
    return lambda worksheet, _: tuple(left_out(line) if line.placed.part == name else line for line in worksheet)
