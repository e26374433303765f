"""One step of a cell: its gates, operations and states, drawn from its own equations, with a legend below.

Cells that look alike are drawn once, unless they are asked for by name. If a picture would be wider than its frame, the
equations replace it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import NamedTuple

from rnncalc.conventions import convention
from rnncalc.conventions.notation import Notation
from rnncalc.conventions.tensor import Direction
from rnncalc.errors import RefusedError
from rnncalc.layers.cell import Cell, Form, Habits
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.pictures.circuit import Graph, NodeKind, figure, graph
from rnncalc.pictures.picture import (
    MOST_OF_A_NAME,
    Caption,
    Frame,
    Label,
    Picture,
    Shape,
    Style,
    bounds,
    fitted,
    framed,
    moved,
    span,
)
from rnncalc.printable import escape
from rnncalc.step.equations import equations
from rnncalc.step.trace import trace
from rnncalc.typeset.equations import Line, Term, filled, line_of, parts, plain, spelled, timed
from rnncalc.typeset.setting import title
from rnncalc.words import all_of, plural

GAPS = (3, 2)
"""The cells between two columns: the first number, or a later one if that is too wide."""

ROOM = 76
"""The legend widens a picture to at most this many cells."""

MOST_NAMES = 3
"""If more layers have the same cell, their number is written instead of their names."""


def pictures(network: Network, only: tuple[str, ...], frame: Frame) -> list[Picture]:
    """Return a picture of each cell of a network, equal ones once, or of the layers with these names.

    Raises RefusedError if there is no cell.
    """
    by_name = {placed.name: placed for placed in network.spelled}
    chosen = [by_name[name] for name in only] if only else network.spelled
    recurrent = [placed for placed in chosen if isinstance(placed.layer, Cell)]
    if not recurrent or (only and len(recurrent) < len(chosen)):
        what = next(placed.name for placed in chosen if placed not in recurrent) if only else title(network)
        has_cells = only and any(isinstance(placed.layer, Cell) for placed in network.stack)
        cure = "name a recurrent layer" if has_cells else "draw it with --view unrolled"
        raise RefusedError(f"{escape(what)} is not recurrent, and has no cell to draw; {cure}")
    if only:
        return [_picture(network, placed, [], frame) for placed in recurrent]
    alike: dict[object, list[Placed]] = {}
    for placed in recurrent:
        layer = cell_of(placed)
        key = type(layer), layer.choices(), layer.gates(placed.inputs), layer.weights, *layer.states.items()
        alike.setdefault(key, []).append(placed)
    return [_picture(network, first, others, frame) for first, *others in alike.values()]


def cell_of(placed: Placed) -> Cell:
    """Return the layer of a place, which must be recurrent."""
    assert isinstance(placed.layer, Cell)
    return placed.layer


def _picture(network: Network, placed: Placed, others: list[Placed], frame: Frame) -> Picture:
    """Return the widest picture that is no wider than its frame; if there is none, the equations of the step.

    others: the other layers that have the same cell.
    """
    width, signs, row = frame.width, frame.signs, convention(network.convention)
    notation = network.spelling
    traced = trace(cell_of(placed), placed.inputs, row)
    steps = [spelled(line_of(each, placed.sizes, notation), signs) for each in equations(traced, notation)]
    flow = graph(traced, notation)
    drawn, shapes = False, list[Shape](lines(steps, width or ROOM))
    for drawing in (figure(traced, flow, gap, signs, notation) for gap in GAPS):
        if drawing and (width is None or _across(drawing) <= width):
            drawn, shapes = True, drawing
            break
    left, _, _, bottom = bounds(shapes)
    across = _across(shapes) if drawn else 0
    room = max(across, min(width or ROOM, ROOM))
    if not frame.bare:
        legend = [*labels(rows(placed, row.habits(placed.kind), notation, signs), room)]
        first, _, last, _ = bounds(legend)
        start = left + (across - last + first) // 2 if drawn else 0
        shapes += [moved(label, (start, bottom + 1)) for label in legend]
    name, title_ = fitted(placed.name, MOST_OF_A_NAME), title(network)
    heading = f"{name} of {title_}" if len(network.stack) > 1 else title_
    widths = f"{placed.kind}, {placed.inputs:,} → {placed.outputs:,}"
    spelling = f"; notation {network.notation}" if network.notation else ""
    setting = f"{widths}; {plural(placed.params, 'parameter')}; convention {row.title}{spelling}"
    notes = tuple(_notes(placed, others, flow if drawn else None, notation))
    caption = Caption(heading, setting, notes, f"one step of its cell, {placed.kind}")
    picture = framed(caption, shapes, frame)
    flow_in_words = "; ".join(map(plain, steps))
    return picture._replace(description=f"{escape(caption.setting)}. {flow_in_words}. {' '.join(caption.notes)}")


def _across(shapes: list[Shape]) -> int:
    left, _, right, _ = bounds(shapes)
    return right - left


def _notes(placed: Placed, others: list[Placed], flow: Graph | None, notation: Notation) -> Iterator[str]:
    """Yield the notes below the picture; flow: None if it is not drawn."""
    layer = cell_of(placed)
    if flow:
        yield "A box multiplies its inputs by its weights and adds the products."
        yield "Lines that cross without a dot do not meet."
        if any(gate.normalised for gate in layer.gates(placed.inputs)):
            box = "a box with γ does so with its input"
            yield f"A gate normalises its sum and multiplies it by γ before its bias; {box}."
        if any(node.kind is NodeKind.THROUGH for node in flow.values()):
            yield "A box with round corners has no weights: it applies its function to the sum that enters it."
        legends = (node.operation.legend for node in flow.values() if node.kind is NodeKind.OPERATION)
        yield from filter(None, dict.fromkeys(legends))
    bare: dict[str, list[str]] = {}
    for gate in layer.gates(placed.inputs):
        for product in gate.products:
            if product.form is Form.DIAGONAL:
                bare.setdefault(notation.letter(product.vector), []).append(notation.letter(gate.letter))
    for vector, gates in bare.items():
        yield f"One weight per unit, not a matrix: {vector} in {all_of(gates)}."
    if layer.bidirectional:
        yield "The backward direction is the same cell with weights of its own; parameters are those of both."
    if others:
        names = [fitted(each.name, MOST_OF_A_NAME) for each in others]
        which = all_of(names) if len(names) <= MOST_NAMES else f"{len(names):,} layers"
        yield f"The same cell: {which}."


# The legend


class LegendRow(NamedTuple):
    """One line of a legend: a letter, its name, its parameters, its purpose."""

    letter: Line
    name: str
    params: int
    meaning: str = ""


def rows(placed: Placed, habits: Habits, notation: Notation, signs: Mapping[int, str]) -> list[LegendRow]:
    """Return a row for each gate, for each shared matrix, and for each weight beside the gates.

    Both directions are counted in each row. signs: the words that stand for letters.
    """
    layer = cell_of(placed)
    gates = {gate.letter: gate for gate in layer.gates(placed.inputs)}
    separate = dict.fromkeys(gates, 0)
    shared: dict[str, int] = {}
    beside: dict[Direction | None, list[int]] = {}
    for tensor in placed.tensors:
        if not tensor.gates:
            beside.setdefault(tensor.direction, []).append(tensor.params)
        elif max((axis.times for axis in tensor.axes if axis.letter == "h"), default=1) % len(tensor.gates):
            shared[tensor.gates] = shared.get(tensor.gates, 0) + tensor.params
        else:  # each gate has its own block of rows
            for letter in tensor.gates:
                separate[letter] += tensor.params // len(tensor.gates)
    legend = [
        LegendRow((timed(letter, "t", notation),), gate.name, separate[letter], layer.meaning(gate, habits))
        for letter, gate in gates.items()
    ]
    legend += [
        LegendRow((), "shared", params, f"matrices of {all_of([notation.letter(gate) for gate in letters])}")
        for letters, params in shared.items()
    ]
    sums = iter([sum(each) for each in zip(*beside.values(), strict=True)])  # in the order of their tensors
    for weight in layer.weights:
        part, name = (("scalar", "number"), ("vector", "vector"), ("projection", "matrix"))[len(weight.widths)]
        symbol = Term(*notation.parts[part].symbol(weight.letter))
        legend.append(LegendRow((symbol,), name, next(sums), weight.name))
    states = zip(layer.states, sums, strict=False)  # no sums where none is learned
    legend += [
        LegendRow((Term(*notation.parts["state"].symbol(read=each)),), "state", sum_, "learned, before the first step")
        for each, sum_ in states
    ]
    return [row._replace(letter=spelled(row.letter, signs)) for row in legend]


GAP = 2
"""Cells between two columns."""

LEAST = 24
"""If there are fewer cells beside a row, its meaning is written below."""


def labels(legend: Sequence[LegendRow], width: int) -> Iterator[Label]:
    """Yield the lines of the legend from the upper left corner; only long words make it wider than `width`."""
    letters = max(span(row.letter) for row in legend)
    names = letters + GAP + max(span((row.name,)) for row in legend)
    total = sum(row.params for row in legend)
    numbers = names + GAP + max(len(HEAD), len(f"{total:,}"))
    below = width - numbers - GAP < LEAST
    start = letters + GAP if below else numbers + GAP
    yield Label(numbers - 1, 0, (HEAD,), Style.NOTE, "end")
    y = 1
    for row in (*legend, LegendRow((), "all", total)):
        if row.letter:
            yield Label(0, y, row.letter, Style.NOTE)
        yield Label(letters + GAP, y, (row.name,), Style.NOTE)
        yield Label(numbers - 1, y, (f"{row.params:,}",), Style.NOTE, "end")
        lines = wrap(row.meaning, max(width - start, LEAST) * 9 // 10)
        for number, line in enumerate(lines):
            yield Label(start, y + below + number, (line,), Style.NOTE)
        y += below + len(lines) if below or lines else 1


HEAD = "parameters"


# The flow as equations


SIGNS = (" + ", " ∘ ", " · ", " / ", " − ")
INDENT = 4


def lines(step: Sequence[Line], width: int) -> Iterator[Label]:
    """Yield the equations of a step, one below the other, broken at their signs if they are too wide."""
    y = 0
    for equation in step:
        rows = filled(parts(equation, SIGNS), lambda row, _: span((*row,)) <= width - INDENT)
        for number, row in enumerate(rows):
            yield Label(INDENT * bool(number), y, row, Style.NOTE)
            y += 1
