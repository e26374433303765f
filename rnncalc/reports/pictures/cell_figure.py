"""The shapes of one cell: boxes for its nodes and states, arrows for its wires, dots where a value goes several ways.

Knows the letters of a graph's nodes and what stands in each box, and no cell of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import NamedTuple

from rnncalc.reports.equations import Line, Term, spelled
from rnncalc.reports.pictures.cell_graph import Does, Graph
from rnncalc.reports.pictures.cell_places import OUT, Places, places
from rnncalc.reports.pictures.cell_tracks import LEFT, Heights, Path, heights, paths
from rnncalc.reports.pictures.cell_wires import RIGHT, How, Laid, Wires, ports, wires
from rnncalc.reports.pictures.picture import Align, Arrow, Box, Dot, GridPoint, Label, Role, Shape, span

NARROWEST, MARGIN = 7, 2
"""A box is no narrower than this, and by so much wider than what stands in it."""

CROSSING = 12
"""How many cells of way a crossing is worth."""


MOST_TRIES = 4_000
"""Of a cell with many nodes fewer orders of columns are tried: so many, divided by the number of nodes."""


class Looks(NamedTuple):
    """How a node is drawn, but for its place."""

    lines: tuple[Line, ...]
    width: int
    height: int
    role: Role
    round: bool


def figure(graph: Graph, gap: int, signs: Mapping[int, str]) -> list[Shape]:
    """Return the shapes of a cell, wherever on the grid, its columns so many cells apart.

    signs: the words that stand for letters.
    """
    without: frozenset[str] = frozenset()
    while True:
        found = places(graph, without)
        looks = {place: _looks(found, place, signs) for place in found.rows if place > 0}
        made = _arranged(found, looks, gap)
        if not made.crooked:
            break
        without |= made.crooked
    high = _high(looks)
    at = heights(found, made, high)
    return [
        *_boxes(found, made, at, looks),
        *_ends(found, made, at),
        *_arrows([*paths(found, made, at, high)], {*at.entries}),
    ]


def _looks(found: Places, place: int, signs: Mapping[int, str]) -> Looks:
    """Return how a node is drawn: a gate and a matrix as a box, an operation as a circle, a trained number small."""
    node = found.graph.nodes[place]
    row = node.operation
    function = (row.function or row.name).translate(signs)
    entries = ports(len(node.operands) - (place in found.below), place in found.below)
    least = max([NARROWEST, *(2 * abs(at) + 3 for at in entries)])
    match node.does:
        case Does.GATE | Does.THROUGH:  # which has no weights of its own
            lines: tuple[Line, ...] = ((function,), spelled((Term(node.letter, time="t"),), signs))
        case Does.OPERATION:
            sign = function if row.function else row.drawn
            return Looks(((sign,),), _odd(len(sign) + 2), 1, Role.OPERATION, True)
        case Does.NUMBER:
            (number,) = spelled((Term(node.letter),), signs)
            line: Line = (number,) if row.name == "linear" else (f"{function}(", number, ")")
            return Looks((line,), _odd(span(line) + 2), 1, Role.GATE, False)
        case _:
            lines = tuple(spelled((Term(*letters),), signs) for letters in node.weights)
    width = _odd(max([least, *(span(line) + MARGIN for line in lines)]))
    bare = node.does is Does.THROUGH
    return Looks(lines, width, len(lines) + 2, Role.OPERATION if bare else Role.GATE, bare)


def _high(looks: Mapping[int, Looks]) -> Mapping[int, int]:
    """Return how high every node is, and what comes in and goes out."""
    return {0: 1, OUT: 1, **{place: each.height for place, each in looks.items()}}


def _odd(width: int) -> int:
    return width + 1 - width % 2


def _arranged(found: Places, looks: Mapping[int, Looks], gap: int) -> Wires:
    """Return the wires in the order of columns in which they are short and seldom cross, of those that were tried."""
    widths = {0: NARROWEST, OUT: NARROWEST, **{place: each.width for place, each in looks.items()}}
    high = _high(looks)
    reading = [place for place in found.targets[0] if place != OUT]
    highest = max((found.rows[place] for place in found.targets[0]), default=0)
    under = [
        place
        for place in reading
        if found.rows[place] == highest and place not in found.below and not looks[place].round
    ]
    order = [*found.columns] if under else [(0,), *found.columns]

    def laid(columns: Sequence[tuple[int, ...]]) -> tuple[int, Wires]:
        firsts = [column[0] for column in columns if column[0] in under]
        made = wires(found, Laid(columns, gap, firsts[len(firsts) // 2] if firsts else None), widths)
        return _cost(found, made, high), made

    best, made = laid(order)
    tries, better = MOST_TRIES // len(found.graph.nodes), True
    while better and tries > 0:
        better = False
        for column, place in product([*order], range(len(order))):
            other = [each for each in order if each is not column]
            other.insert(place, column)
            price, tried = laid(other)
            tries -= 1
            if price < best:
                best, made, order, better = price, tried, other, True
    return made


def _cost(found: Places, made: Wires, high: Mapping[int, int]) -> int:
    """Return how long all wires are, with so much more for each crossing, and far more for a crooked line."""
    at = heights(found, made, high)
    pieces = [
        (path.wire.source, one, other) for path in paths(found, made, at, high) for one, other in pairwise(path.corners)
    ]
    length = sum(abs(one[0] - other[0]) + abs(one[1] - other[1]) for _, one, other in pieces)
    across = [(of, one[1], *sorted((one[0], other[0]))) for of, one, other in pieces if one[1] == other[1]]
    upright = [(of, one[0], *sorted((one[1], other[1]))) for of, one, other in pieces if one[0] == other[0]]
    crossings = {
        (x, y)
        for of, y, left, right in across
        for by, x, top, bottom in upright
        if of != by and left <= x <= right and top <= y <= bottom
    }
    return length + CROSSING * len(crossings) + 10_000 * len(made.crooked)


def _boxes(found: Places, made: Wires, at: Heights, looks: Mapping[int, Looks]) -> Iterator[Box]:
    """Yield a box for each node."""
    for place, each in looks.items():
        x, y = made.middles[place] - each.width // 2, at.rows[found.rows[place]] - (each.height - 1) // 2
        yield Box(x, y, each.width, each.height, each.lines, each.role, each.round)


def _ends(found: Places, made: Wires, at: Heights) -> Iterator[Label]:
    """Yield the letters of what comes in and goes out."""
    yield Label(made.trunks[0], at.rows[0], (Term("x", time="t"),), Role.INPUT, Align.MIDDLE)
    yield Label(made.middles[OUT], at.rows[found.top], (Term("h", time="t"),), Role.OUTPUT, Align.MIDDLE)
    for letter, place in found.graph.before.items():
        yield Label(LEFT - 1, at.entries[place], (Term(letter, time="t−1"),), Role.STATE, Align.END)
    for wire in made.wires:
        if wire.target == RIGHT:
            y = at.rows[wire.row] if wire.how is How.EXIT else at.tracks[wire.row, wire.source]
            letters = [letter for letter, place in found.graph.after.items() if place == wire.source]
            line = tuple(piece for letter in letters for piece in (", ", Term(letter, time="t")))[1:]
            yield Label(made.right + 1, y, line, Role.STATE)


def _arrows(found: Sequence[Path], before: set[int]) -> Iterator[Arrow | Dot]:
    """Yield the wires of each value: the first whole, each other from where it leaves those before it.

    before: the places of what comes in as a state.
    """
    drawn: dict[int, set[GridPoint]] = {}
    dots = set()
    for path in sorted(found, key=lambda path: path.wire.how is not How.STRAIGHT):
        along = path.wire.how in (How.ALONG, How.EXIT, How.OVER)
        sideways = path.wire.how in (How.ALONG, How.EXIT)
        key = -1 - path.wire.source if sideways else path.wire.source  # what leaves on the right shares nothing
        cells = [*_cells(path.corners)]
        seen = drawn.setdefault(key, set())
        shared = [number for number, cell in enumerate(cells) if cell in seen]
        if shared:
            cells = cells[shared[-1] :]
            if cells[0] not in dots:
                dots.add(cells[0])
                yield Dot(*cells[0])
        seen.update(cells)
        yield Arrow(_corners(cells), Role.STATE if along or path.wire.source in before else Role.INPUT)


def _cells(corners: Sequence[GridPoint]) -> Iterator[GridPoint]:
    """Yield every cell of a way, from corner to corner."""
    yield corners[0]
    for (x, y), (to_x, to_y) in pairwise(corners):
        step = ((to_x > x) - (to_x < x), (to_y > y) - (to_y < y))
        while (x, y) != (to_x, to_y):
            x, y = x + step[0], y + step[1]
            yield x, y


def _corners(cells: Sequence[GridPoint]) -> tuple[GridPoint, ...]:
    """Return the ends of a way and the cells at which it turns."""
    inner = [
        cell
        for before, cell, after in zip(cells, cells[1:], cells[2:], strict=False)
        if (cell[0] - before[0], cell[1] - before[1]) != (after[0] - cell[0], after[1] - cell[1])
    ]
    return (cells[0], *inner, cells[-1])
