"""By which way each value of a cell reaches what reads it: from below, from a side, along a row.

Every value leaves its node upwards in a line of its own, a trunk, or, where a state's line goes on, to the right. What
reads it in another column is reached along its own row where nothing stands in between, else along a track in the
channel below that row. Knows how wide nodes are, and not yet how high anything stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from rnncalc.reports.pictures.cell_graph import Does
from rnncalc.reports.pictures.cell_places import OUT, Places

ASIDE = 3
"""How far from the middle of an operation a line stands that comes up beside it."""


RIGHT = -2
"""The place of the right edge, where the states go on."""


class How(Enum):
    """By which way a value reaches a reader.

    STRAIGHT: up its own trunk. ALONG: along a state's line, from the right of what stands before. SIDE: from its trunk
    along the reader's row. UNDER: along a track, then up into the reader. BESIDE: along a track, up beside the reader,
    and into its side. EXIT: along its own row to the right edge. OVER: along a track above its row to the right edge.
    """

    STRAIGHT = "straight"
    ALONG = "along"
    SIDE = "side"
    UNDER = "under"
    BESIDE = "beside"
    EXIT = "exit"
    OVER = "over"


class Wire(NamedTuple):
    """One way from a value to a reader, or to the right edge.

    row: the reader's row, or whose channel, the one below it, it takes.
    up: the x at which it goes up from its track. end: the x where it ends, beside or below the reader.
    """

    source: int
    target: int
    how: How
    row: int
    up: int
    end: int


class Wires(NamedTuple):
    """All wires of a cell in an order of its columns.

    middles: the x of the middle of each node; trunks: of the line of each value. right: where the right edge begins.
    crooked: the states whose lines do not run from left to right in this order.
    """

    wires: tuple[Wire, ...]
    middles: Mapping[int, int]
    trunks: Mapping[int, int]
    right: int
    crooked: frozenset[str]


Widths = Mapping[int, int]
"""How many cells wide each node is, all odd."""


class Laid(NamedTuple):
    """Columns in an order, `gap` cells apart, and the node that x stands below, None where it has its own column."""

    columns: Sequence[tuple[int, ...]]
    gap: int
    x_under: int | None


def wires(found: Places, laid: Laid, widths: Widths) -> Wires:
    """Return the wires between nodes in these columns."""
    graph = found.graph
    middles: dict[int, int] = {}
    edge = 2 * len(graph.before) + 1
    for column in laid.columns:
        width = max(2 * ASIDE + 1, *(widths[place] for place in column))
        middles |= dict.fromkeys(column, edge + width // 2)
        edge += width + laid.gap
    trunks = dict(middles)
    for number, place in enumerate(reversed([*graph.before.values()])):
        trunks[place] = 2 * number
    made = _Making(found, widths, middles, trunks)
    made.lines()
    if laid.x_under is not None:
        trunks[0] = middles[0] = made.middles[laid.x_under] + made.port(
            laid.x_under, made.others(laid.x_under).index(0)
        )
    for place in sorted((place for place in found.rows if found.rows[place]), key=lambda place: found.rows[place]):
        made.into(place)
    made.exits(edge)
    return Wires(tuple(made.wires), middles, trunks, edge, frozenset(made.crooked))


def ports(number: int, straight: bool) -> list[int]:
    """Return how far from the middle of a box so many lines enter it from below, beside one that comes `straight`."""
    if straight:
        return sorted(2 * (each // 2 + 1) * (-1) ** (each + 1) for each in range(number))
    return [4 * each - 2 for each in range(2)] if number == 2 else [2 * each + 1 - number for each in range(number)]


class _Making:
    """The wires made so far, and what is taken up of each row."""

    def __init__(self, found: Places, widths: Widths, middles: dict[int, int], trunks: dict[int, int]) -> None:
        self.found, self.widths, self.middles, self.trunks = found, widths, middles, trunks
        self.wires: list[Wire] = []
        self.crooked: set[str] = set()
        self.lined: set[tuple[int, int]] = set()  # from and to, along a state's line
        self.lefts: set[int] = set()  # nodes whose left side is taken
        self.rights: set[int] = set()  # nodes whose right side is taken
        self.taken: dict[int, list[tuple[int, int, int]]] = {}
        for place, row in found.rows.items():
            if place in middles:
                half = widths[place] // 2
                self.taken.setdefault(row, []).append((middles[place] - half, middles[place] + half, place))

    def free(self, row: int, one: int, other: int, but: tuple[int, ...]) -> bool:
        """Return whether nothing stands between two x in a row."""
        low, high = min(one, other), max(one, other)
        spans = (span for span in self.taken.get(row, ()) if span[2] not in but)
        return all(last < low or first > high for first, last, _ in spans)

    def lines(self) -> None:
        """Make the wires along the states' lines."""
        for letter, line in self.found.lines.items():
            row = self.found.rows[line[0]]
            before = self.found.graph.before[letter]
            for source, target in zip((before, *line), line, strict=False):
                end = self.middles[target] - self.widths[target] // 2 - 1
                if not self.free(row, self.trunks[source], end, (source,)) or end <= self.trunks[source]:
                    self.crooked.add(letter)
                if source == before:
                    self.take(source, target, How.SIDE, row, (self.trunks[source], end))
                else:
                    start = self.middles[source] + self.widths[source] // 2 + 1
                    self.take(source, target, How.ALONG, row, (start, end))
                self.lined.add((source, target))
                self.lefts.add(target)
                if source != before:
                    self.rights.add(source)

    def take(self, source: int, target: int, how: How, row: int, span: tuple[int, int]) -> None:
        """Make a wire along a row, which takes what it runs through."""
        start, end = span
        self.taken.setdefault(row, []).append((min(start, end), max(start, end), RIGHT))
        self.wires.append(Wire(source, target, how, row, start, end))

    def into(self, place: int) -> None:
        """Make the wires into a node, but for those along a line."""
        operands = self.others(place)
        row = self.found.rows[place]
        straight = self.found.below.get(place)
        if straight is not None:
            self.wires.append(Wire(straight, place, How.STRAIGHT, row, self.middles[place], self.middles[place]))
        node = None if place == OUT else self.found.graph.nodes[place]
        if node and node.does is Does.OPERATION and (node.operation.operands > 1 or node.operation.before):
            self._sideways(place, operands, straight is not None)
            return
        for number, operand in enumerate(operands):
            at = self.middles[place] + self.port(place, number)
            how = How.STRAIGHT if self.trunks[operand] == at else How.UNDER
            self.wires.append(Wire(operand, place, how, row, at, at))

    def others(self, place: int) -> list[int]:
        """Return what a node reads that reaches it neither along a line nor straight from below."""
        graph = self.found.graph
        operands = [graph.output] if place == OUT else [*graph.nodes[place].operands]
        for source, target in self.lined:
            if target == place:
                operands.remove(source)
        if place in self.found.below:
            operands.remove(self.found.below[place])
        return operands

    def port(self, place: int, number: int) -> int:
        """Return how far from its middle a node is entered from below, the middle being left to a straight line."""
        return ports(len(self.others(place)), place in self.found.below)[number]

    def _sideways(self, place: int, operands: list[int], bottom: bool) -> None:
        """Make the wires into an operation, from the sides that they are on.

        One comes from below where nothing else does, and the sides alone are too few.
        """
        row, middle = self.found.rows[place], self.middles[place]
        ordered = self.found.graph.nodes[place].operation.ordered
        on_the_left = [operand for operand in operands if self.trunks[operand] < middle]
        if not bottom and (ordered or len(operands) + (place in self.lefts) > 1) and operands:
            first = operands[0]
            if ordered or len(on_the_left) != 1 or place in self.lefts:
                operands.remove(first)
                self.wires.append(Wire(first, place, How.UNDER, row, middle, middle))
        for operand in operands:
            left = self.trunks[operand] < middle
            if (place in self.lefts) if left else (place in self.rights):
                left = not left
            (self.lefts if left else self.rights).add(place)
            sign = -1 if left else 1
            end = middle + sign * (self.widths[place] // 2 + 1)
            start = self.trunks[operand]
            if (start < middle) == left and self.free(row, start, end, (operand,)):
                self.take(operand, place, How.SIDE, row, (start, end))
            else:
                up = middle + sign * (self.widths[place] // 2 + ASIDE - 1)
                self.taken.setdefault(row, []).append((min(up, end), max(up, end), RIGHT))
                self.wires.append(Wire(operand, place, How.BESIDE, row, up, end))

    def exits(self, right: int) -> None:
        """Make the wires to the right edge, one for each value, whatever the states that it is."""
        for place in dict.fromkeys(self.found.graph.after.values()):
            row = self.found.rows.get(place, 0)
            start = self.middles.get(place, right) + self.widths.get(place, 0) // 2 + 1
            if row and place not in self.rights and self.free(row, start, right, (place,)):
                self.rights.add(place)
                self.taken.setdefault(row, []).append((start, right, RIGHT))
                self.wires.append(Wire(place, RIGHT, How.EXIT, row, start, right))
            else:
                self.wires.append(Wire(place, RIGHT, How.OVER, row + 1, right, right))
