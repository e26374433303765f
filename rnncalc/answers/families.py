"""Families of mistakes in a count, and the question that they may explain.

The mistakes of a family differ in a number or a name: k times, a width, a layer. Each family is a function that yields
its variants. A fitted family yields only variants that give the learner's number. The variants of all others are
compared with that number by the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations
from operator import is_
from typing import Any, NamedTuple

from rnncalc.answers import changes
from rnncalc.answers.changes import in_cells, leave_out, replace_line
from rnncalc.answers.judgement import MOST_GATES, Mistake
from rnncalc.answers.reading import GivenNumber
from rnncalc.answers.worksheet import (
    WHOLE,
    GateLine,
    LayerLine,
    Portion,
    Products,
    Source,
    Worksheet,
    above,
    amount,
    gate_line,
    times,
    worksheet_of,
)
from rnncalc.bounds import MOST_JUDGED
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External, Output
from rnncalc.letters import has_letters
from rnncalc.network.flow import Placement
from rnncalc.network.network import Network
from rnncalc.network.stack import stack
from rnncalc.words import all_of, plural


class Question(NamedTuple):
    """A wrong number: for the whole network, or for a portion of the worksheet.

    answer: the number; 0 if none is looked for.
    """

    network: Network
    answer: GivenNumber = GivenNumber(0)
    portion: Portion = WHOLE

    def lines(self, worksheet: Worksheet) -> list[tuple[int, LayerLine]]:
        """Return the lines whose sum is asked for, with their places."""
        return self.portion.lines(worksheet)


class Variant(NamedTuple):
    """One mistake of a family: the wrong worksheet, the values for {braces}, and the layer that it concerns, if any."""

    worksheet: Worksheet
    values: Mapping[str, str]
    layer: str | None = None


def variants_of(mistake: Mistake, worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the wrong worksheets of a mistake that differ from the right one; equal lines are the same object."""
    family = mistake.family
    for wrong, *names in family(worksheet, question) if family else [(mistake.change(worksheet), {})]:
        lines = [was if was is now or was == now else now for was, now in zip(worksheet, wrong, strict=True)]
        if not all(map(is_, lines, worksheet)):
            yield Variant(tuple(lines), *names)


def other_conventions(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the counts under other conventions; conventions with the same count are one variant."""
    if len(worksheet) > MOST_JUDGED:
        return
    network, here = question.network, question.network.convention
    layers = [move.layer for move in network.flow if isinstance(move, Placement)]
    by_formulas: dict[object, Worksheet] = {}  # equal formulas have equal lines
    counts: list[tuple[Worksheet, list[str]]] = []
    for name in CONVENTIONS:
        row = convention(name)
        if name == here or not all(map(row.expresses, layers)):
            continue
        other = [*stack(network.flow, row)]
        formulas = tuple([placed.layout.letters for placed in other])
        if formulas not in by_formulas:
            pairs = zip(worksheet, worksheet_of(network, other), strict=True)
            lines = [now._replace(placed=was.placed, half=was.half, times=was.times) for was, now in pairs]
            by_formulas[formulas] = tuple(lines)
        same = [names for lines, names in counts if lines == by_formulas[formulas]]
        if same:
            same[0].append(name)
        else:
            counts.append((by_formulas[formulas], [name]))
    for counted, names in counts:
        yield Variant(counted, {"name": names[0], "names": all_of(names), "here": here})


def output_widths(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the worksheet with the output width that gives the number, if there is one."""
    for place, line in question.lines(worksheet):
        if isinstance(line.layer, Output) and line.width("input"):
            others = [other.placed.params for at, other in question.lines(worksheet) if at != place]
            wanted = question.answer.number - sum(others)
            each = line.width("input") + line.biases
            units = (2 * wanted + each) // (2 * each)
            number = question.answer.number - wanted + units * each
            known = each >= question.answer.unit  # else some width comes near any rounded number
            if known and units > 0 and units != line.h and question.answer.means(number):
                changed = line._replace(h=units, bias_size=units)
                yield Variant(replace_line(worksheet, place, changed), {"width": plural(units, "unit")}, line.name)


def steps_before_a_layer(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield, for each convolution or pooling below a flatten, the worksheet that flattens the steps before it."""
    if len(worksheet) > MOST_JUDGED:
        return
    steps = worksheet[0].half.steps
    before: list[tuple[str, int]] = []  # the layers that change the number of steps, with that number before them
    for place, line in enumerate(worksheet):
        layer = line.layer
        if layer.kind == "flatten":
            for name, number in before:
                values = {"layer": name, "steps": plural(number, "step")}
                yield Variant(changes.flatten_steps(worksheet, place, number), values)
            before, steps = [], None
        elif layer.time.begins:
            steps = layer.output_shape((line.placed.inputs,))[0]
        elif layer.time.along and isinstance(steps, int):
            before.append((line.name, steps))
            steps = layer.output_shape((steps, line.placed.inputs))[0]


def one_direction_in_a_layer(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield, for each layer with two directions, the worksheet with one, also in the next layer's input width."""
    for place, line in enumerate(worksheet):
        if line.directions == 2 and changes.concatenates(line.layer) and above(worksheet, place) is not None:
            changed = replace_line(worksheet, place, line._replace(directions=1))
            fed = changes.feed_next(changed, place, changes.direction_width(line))
            yield Variant(fed, {"layer": line.name}, line.name)


def without_each_layer(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the worksheet without each hidden layer; the next layer's input width is unchanged, or adapted."""
    for place, line in enumerate(worksheet):
        if isinstance(line.layer, Output | Embedding | External) or not line.params:
            continue
        left = replace_line(worksheet, place, leave_out(line))
        yield Variant(left, {"layer": line.name, "fed": ""}, line.name)
        reader = above(worksheet, place)
        if reader is not None and line.is_fed:
            fed = changes.feed_next(left, place, line.placed.inputs - line.layer.extra_inputs)
            values = {"layer": line.name, "fed": f", and feeds {worksheet[reader].name} with its input"}
            yield Variant(fed, values, line.name)


def layers_alone(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the worksheet with each layer alone, if at least three layers have parameters."""
    counted = [place for place, line in enumerate(worksheet) if line.params]
    if len(counted) < 3:
        return
    for place in counted:
        line = worksheet[place]
        alone = (*map(leave_out, worksheet[:place]), line, *map(leave_out, worksheet[place + 1 :]))
        yield Variant(alone, {"layer": line.name}, line.name)


def opposite_order(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the worksheet with the counts of its layers in the opposite order; the total stays."""
    counted = [place for place, line in enumerate(worksheet) if line.params]
    lines = {place: worksheet[other] for place, other in zip(counted, reversed(counted), strict=True)}
    opposite = (lines.get(place, line)._replace(placed=line.placed) for place, line in enumerate(worksheet))
    yield Variant(tuple(opposite), {})


def matrices_alone(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the worksheet with only the input matrices, or only the recurrent ones, of one gate or of all gates."""

    def only(source: Source, one: bool, line: LayerLine) -> LayerLine:
        reads = [tuple(read for read in gate.reads if read.source == source) for gate in line.gates]
        gates = [GateLine(read) for read in reads if read][: 1 if one else None]
        return line._replace(gates=tuple(gates), others={}, directions=1 if one else line.directions)

    sources: dict[Source, str] = {"input": "input", "past": "recurrent"}
    for source, name in sources.items():
        for one, which in ((True, f"one {name} matrix"), (False, f"the {name} matrices")):
            changed = in_cells(partial(only, source, one))(worksheet)
            yield Variant(changed, {"which": f"{which} alone", "matrices": f"{'one-' if one else ''}{name}"})


def gate_numbers(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the worksheet with every other number of gates, each like the cell's own."""
    for count in range(1, MOST_GATES + 1):
        changed = in_cells(changes.number_of_gates(count))(worksheet)
        yield Variant(changed, {"count": str(count), "blocks": plural(count, "block")})


def without_each_gate(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the worksheet without each gate, for cells whose gates do not all read the same."""

    def odd(line: LayerLine) -> bool:
        return isinstance(line.layer, Cell) and len({gate.reads for gate in line.gates}) > 1

    def without(name: str, line: LayerLine) -> LayerLine:
        return line._replace(gates=tuple(gate for gate in line.gates if gate.name != name)) if odd(line) else line

    for name in dict.fromkeys(gate.name for line in worksheet if odd(line) for gate in line.gates):
        yield Variant(tuple(without(name, line) for line in worksheet), {"gate": name})


def exchanged_letters(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the worksheet with each two letters of a network exchanged."""
    letters = question.network.letters
    for one, other in combinations(letters, 2):
        sizes = {**letters, one: letters[other], other: letters[one]}

        def exchanged(number: Any, sizes: Mapping[str, Any] = sizes) -> Any:
            return number.at(sizes) if has_letters(number) else number

        lines = (
            changes.with_reads(line, lambda read: read._replace(width=exchanged(read.width)))._replace(
                h=exchanged(line.h),
                bias_size=exchanged(line.bias_size),
                others={name: times(exchanged(amount(part))) for name, part in line.others.items()},
            )
            for line in worksheet
        )
        yield Variant(tuple(lines), {"one": one, "other": other})


def absent_gates(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the worksheet with each gate that cells of a kind have, but not with these options and widths."""

    def absent(line: LayerLine) -> dict[str, GateLine]:
        layer, inputs = line.layer, line.placed.inputs
        if not isinstance(layer, Cell):
            return {}
        values = layer.defaults.items()
        switches = [key for key, value in values if isinstance(value, bool) and getattr(layer, key) is not value]
        others = [layer.replace(**{option: layer.defaults[option]}).gates(inputs) for option in switches]
        present = {gate.name for gate in layer.gates(inputs)}
        biases = max((gate.biases for gate in line.gates), default=0)
        return {
            gate.name: gate_line(line.placed, layer, gate, biases * gate.bias)
            for gates in (*others, layer.gates(4 * inputs + 1))
            for gate in gates
            if gate.name not in present
        }

    gates = [absent(line) for line in worksheet]
    for name in dict.fromkeys(name for each in gates for name in each):
        changed = (
            line._replace(gates=(*line.gates, each[name])) if name in each and not line.is_empty else line
            for line, each in zip(worksheet, gates, strict=True)
        )
        yield Variant(tuple(changed), {"gate": name})


def one_state(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the worksheet with only one of several learned states."""
    cells = [line.layer for line in worksheet if isinstance(line.layer, Cell) and line.part("state")]

    def alone(state: str, line: LayerLine) -> Products:
        width = line.layer.states.get(state) if isinstance(line.layer, Cell) else None
        return times(line.placed.sizes[width]) if width else line.part("state")

    for state in dict.fromkeys(state for cell in cells if len(cell.states) > 1 for state in cell.states):
        change = in_cells(changes.with_part("state", partial(alone, state)))
        yield Variant(change(worksheet), {"state": f"{state}_0"})
