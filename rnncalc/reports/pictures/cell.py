"""One step of a cell: its gates, operations and states, drawn from its own equations, with a legend below.

Cells that look alike are drawn once, unless they are asked for by name. Where a picture would be wider than it may be,
its flow is written line by line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rnncalc.conventions.catalogue import convention
from rnncalc.conventions.convention import CellArrays
from rnncalc.errors import RefusedError
from rnncalc.layers.cell import Cell, Form
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.questions.graph import Does, Graph, graph
from rnncalc.reports.equations import plain, spelled
from rnncalc.reports.pictures.cell_figure import figure
from rnncalc.reports.pictures.cell_legend import labels, rows
from rnncalc.reports.pictures.cell_lines import lines, step
from rnncalc.reports.pictures.framing import Words, bounds, framed
from rnncalc.reports.pictures.picture import Picture, Shape, fitted, moved
from rnncalc.reports.pictures.plan import row_of
from rnncalc.reports.setting import title
from rnncalc.text import all_of, escape, plural

GAPS = (3, 2)
"""How many cells stand between two columns: so many, or, where that is too wide, fewer."""

ROOM = 76
"""The legend makes a picture no wider than so many cells."""

MOST_OF_A_NAME = 24
"""Longer names are cut, in cells."""

TOLD = 3
"""Of more layers with the same cell than these, only the number is said."""


MEANINGS = {
    Does.THROUGH: "A box with round corners has no weights of its own: its function is of the sum that enters it.",
    Does.SCALED: "· multiplies a vector by a number.",
    Does.OVER: "÷ divides what comes from below by what comes from its side.",
}
"""What is to be said of nodes that are not in every picture."""


class Found(NamedTuple):
    """A recurrent layer in its place, its cell, and the other layers that have the same."""

    placed: Placed
    layer: Cell
    arrays: CellArrays
    others: tuple[Placed, ...] = ()


def pictures(network: Network, only: tuple[str, ...], width: int | None, signs: Mapping[int, str]) -> list[Picture]:
    """Return a picture of each cell of a network, those that are alike once, or of each of the layers of these names.

    Raises RefusedError where there is no cell.
    """
    chosen = [row_of(network, name).placed for name in only] if only else network.stack
    recurrent = [placed for placed in chosen if isinstance(placed.layer, Cell)]
    if not recurrent or (only and len(recurrent) < len(chosen)):
        raise RefusedError(_refusal(network, [placed for placed in chosen if placed not in recurrent], only))
    if only:
        return [_picture(network, _found(network, placed), width, signs) for placed in recurrent]
    alike: dict[object, list[Placed]] = {}
    for placed in recurrent:
        layer = placed.layer
        assert isinstance(layer, Cell)
        key = type(layer), layer.choices(), layer.gates(placed.inputs), layer.weights, *layer.states.items()
        alike.setdefault(key, []).append(placed)
    return [_picture(network, _found(network, first, tuple(rest)), width, signs) for first, *rest in alike.values()]


def _refusal(network: Network, wrong: list[Placed], only: tuple[str, ...]) -> str:
    what = escape(title(network)) if not only else escape(wrong[0].name)
    cure = "name a recurrent layer" if only and any(isinstance(each.layer, Cell) for each in network.stack) else ""
    return f"{what} is not recurrent, and has no cell to draw; {cure or 'draw it with --view unrolled'}"


def _found(network: Network, placed: Placed, others: tuple[Placed, ...] = ()) -> Found:
    layer = placed.layer
    assert isinstance(layer, Cell)
    arrays = convention(network.convention).arrays(layer.kind)
    assert arrays is not None  # a network under a convention that lacks a cell is refused
    return Found(placed, layer, arrays, others)


def _picture(network: Network, found: Found, width: int | None, signs: Mapping[int, str]) -> Picture:
    """Return the widest picture that is no wider than so many cells; where there is none, the flow line by line."""
    told = [spelled(line, signs) for line in step(found.placed, found.layer, found.arrays)]
    flow = graph(found.layer, found.placed.inputs, found.arrays.habits)
    for gap in GAPS:
        shapes: list[Shape] = figure(flow, gap, signs)
        around = bounds(shapes)
        across = around.right - around.left
        if width is None or across <= width:
            break
    drawn = width is None or across <= width
    if not drawn:
        shapes, across = [*lines(told, width or ROOM)], 0
        around = bounds(shapes)
    room = max(across, min(width or ROOM, ROOM))
    legend = [*labels(rows(found.placed, found.arrays.habits, signs), room)]
    beside = bounds(legend)
    left = around.left + (across - beside.right + beside.left) // 2 if drawn else 0
    shapes += [moved(label, (left, around.bottom + 1)) for label in legend]
    words = _words(network, found, flow if drawn else None)
    picture = framed(words, shapes, width)
    written = "; ".join(map(plain, told))
    return picture._replace(description=f"{escape(words.setting)}. {written}. {' '.join(words.notes)}")


def _words(network: Network, found: Found, flow: Graph | None) -> Words:
    placed, row = found.placed, convention(network.convention)
    name = title(network)
    heading = f"{fitted(placed.name, MOST_OF_A_NAME)} of {name}" if len(network.stack) > 1 else name
    widths = f"{placed.layer.kind}, {placed.inputs:,} → {placed.outputs:,}"
    setting = f"{widths}; {plural(placed.params, 'parameter')}; convention {row.title}"
    return Words(heading, setting, tuple(_notes(found, flow)), f"one step of its cell, {placed.layer.kind}")


def _notes(found: Found, flow: Graph | None) -> Iterator[str]:
    """Yield what the picture does not say by itself; the flow is None where it is not drawn."""
    placed, layer = found.placed, found.layer
    if flow:
        yield "A box multiplies what enters it by its weights, and sums; lines that cross without a dot do not meet."
    does = {node.does for node in flow.nodes} if flow else set()
    yield from (text for of, text in MEANINGS.items() if of in does)
    bare: dict[str, list[str]] = {}
    for gate in layer.gates(placed.inputs):
        for product in gate.products:
            if product.form is Form.DIAGONAL:
                bare.setdefault(product.of, []).append(gate.letter)
    for of, gates in bare.items():
        yield f"One weight a unit, not a matrix: {of} in {all_of(gates)}."
    if layer.bidirectional:
        yield "The backward direction is the same cell with weights of its own; parameters are those of both."
    if found.others:
        names = [fitted(each.name, MOST_OF_A_NAME) for each in found.others]
        told = all_of(names) if len(names) <= TOLD else f"{len(names):,} layers"
        yield f"The same cell: {told}; --only NAME draws each with its own numbers."
