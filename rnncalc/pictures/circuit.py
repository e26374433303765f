"""One cell drawn as a circuit: boxes for its nodes and states, arrows for its wires, dots where a value branches.

Nodes stand in rows from the input up, and in columns that wires run up through freely. The order of the columns is the
best of those tried: few crossings, short wires. Knows no cell of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import pairwise, permutations, product
from typing import NamedTuple

from rnncalc.pictures.graph import DrawnNode, Graph, NodeKind
from rnncalc.pictures.picture import (
    Align,
    Arrow,
    Box,
    Dot,
    GridPoint,
    Label,
    Shape,
    Style,
    cells_along,
    span,
)
from rnncalc.reports.equations import Line, Term, spelled

NARROWEST, MARGIN = 7, 2
"""A box is no narrower than this, and by so much wider than what stands in it."""

CROSSING = 12
"""How many cells of way a crossing is worth."""


MOST_TRIES = 4_000
"""Of a cell with many nodes fewer orders of columns are tried: so many, divided by the number of nodes."""


class NodeBox(NamedTuple):
    """How a node is drawn, wherever it stands."""

    lines: tuple[Line, ...]
    width: int
    height: int
    style: Style
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


def _looks(found: NodeGrid, place: int, signs: Mapping[int, str]) -> NodeBox:
    """Return how a node is drawn: a gate and a matrix as a box, an operation as a circle, a trained number small."""
    node = found.graph.nodes[place]
    row = node.operation
    function = (row.function or row.name).translate(signs)
    entries = ports(len(node.operands) - (place in found.below), place in found.below)
    least = max([NARROWEST, *(2 * abs(at) + 3 for at in entries)])
    match node.kind:
        case NodeKind.GATE | NodeKind.THROUGH:  # which has no weights of its own
            lines: tuple[Line, ...] = ((function,), spelled((Term(node.letter, time="t"),), signs))
        case NodeKind.OPERATION:
            sign = function if row.function else row.drawn
            return NodeBox(((sign,),), _odd(len(sign) + 2), 1, Style.OPERATION, True)
        case NodeKind.NUMBER:
            (number,) = spelled((Term(node.letter),), signs)
            line: Line = (number,) if row.name == "linear" else (f"{function}(", number, ")")
            return NodeBox((line,), _odd(span(line) + 2), 1, Style.GATE, False)
        case _:
            lines = tuple(spelled((Term(*letters),), signs) for letters in node.weights)
    width = _odd(max([least, *(span(line) + MARGIN for line in lines)]))
    bare = node.kind is NodeKind.THROUGH
    return NodeBox(lines, width, len(lines) + 2, Style.OPERATION if bare else Style.GATE, bare)


def _high(looks: Mapping[int, NodeBox]) -> Mapping[int, int]:
    """Return how high every node is, and what comes in and goes out."""
    return {0: 1, OUT: 1, **{place: each.height for place, each in looks.items()}}


def _odd(width: int) -> int:
    return width + 1 - width % 2


def _arranged(found: NodeGrid, looks: Mapping[int, NodeBox], gap: int) -> Routing:
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

    def laid(columns: Sequence[tuple[int, ...]]) -> tuple[int, Routing]:
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


def _cost(found: NodeGrid, made: Routing, high: Mapping[int, int]) -> int:
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


def _boxes(found: NodeGrid, made: Routing, at: Heights, looks: Mapping[int, NodeBox]) -> Iterator[Box]:
    """Yield a box for each node."""
    for place, each in looks.items():
        x, y = made.middles[place] - each.width // 2, at.rows[found.rows[place]] - (each.height - 1) // 2
        yield Box(x, y, each.width, each.height, each.lines, each.style, each.round)


def _ends(found: NodeGrid, made: Routing, at: Heights) -> Iterator[Label]:
    """Yield the letters of what comes in and goes out."""
    yield Label(made.trunks[0], at.rows[0], (Term("x", time="t"),), Style.INPUT, Align.MIDDLE)
    yield Label(made.middles[OUT], at.rows[found.top], (Term("h", time="t"),), Style.OUTPUT, Align.MIDDLE)
    for letter, place in found.graph.before.items():
        yield Label(LEFT - 1, at.entries[place], (Term(letter, time="t−1"),), Style.STATE, Align.END)
    for wire in made.wires:
        if wire.target == RIGHT:
            y = at.rows[wire.row] if wire.course is Course.EXIT else at.tracks[wire.row, wire.source]
            letters = [letter for letter, place in found.graph.after.items() if place == wire.source]
            line = tuple(piece for letter in letters for piece in (", ", Term(letter, time="t")))[1:]
            yield Label(made.right + 1, y, line, Style.STATE)


def _arrows(found: Sequence[Path], before: set[int]) -> Iterator[Arrow | Dot]:
    """Yield the wires of each value: the first whole, each other from where it leaves those before it.

    before: the places of what comes in as a state.
    """
    drawn: dict[int, set[GridPoint]] = {}
    dots = set()
    for path in sorted(found, key=lambda path: path.wire.course is not Course.STRAIGHT):
        along = path.wire.course in (Course.ALONG, Course.EXIT, Course.OVER)
        sideways = path.wire.course in (Course.ALONG, Course.EXIT)
        key = -1 - path.wire.source if sideways else path.wire.source  # what leaves on the right shares nothing
        cells = [*cells_along(path.corners)]
        seen = drawn.setdefault(key, set())
        shared = [number for number, cell in enumerate(cells) if cell in seen]
        if shared:
            cells = cells[shared[-1] :]
            if cells[0] not in dots:
                dots.add(cells[0])
                yield Dot(*cells[0])
        seen.update(cells)
        yield Arrow(_corners(cells), Style.STATE if along or path.wire.source in before else Style.INPUT)


def _corners(cells: Sequence[GridPoint]) -> tuple[GridPoint, ...]:
    """Return the ends of a way and the cells at which it turns."""
    inner = [
        cell
        for before, cell, after in zip(cells, cells[1:], cells[2:], strict=False)
        if (cell[0] - before[0], cell[1] - before[1]) != (after[0] - cell[0], after[1] - cell[1])
    ]
    return (cells[0], *inner, cells[-1])


# Rows and columns


def along(node: DrawnNode) -> bool:
    """Return whether a node may stand on a state's line."""
    return node.kind is NodeKind.OPERATION and not node.operation.before


OUT = -1
"""The place of what is handed on, above all nodes."""


class NodeGrid(NamedTuple):
    """Rows and columns of nodes, by their places in the graph.

    lines: of each state that has one, the nodes on it from left to right.
    rows: of each node, from 1 for the lowest; x stands in row 0, what is handed on in the row above all. States of the
        step before have none: they stand at the left.
    columns: from bottom to top. below: of each node that has one, the node below it in its column.
    """

    graph: Graph
    lines: Mapping[str, tuple[int, ...]]
    rows: Mapping[int, int]
    columns: tuple[tuple[int, ...], ...]
    below: Mapping[int, int]

    @property
    def top(self) -> int:
        """The row of what is handed on."""
        return self.rows[OUT]

    @property
    def targets(self) -> dict[int, list[int]]:
        """Return what reads each node, once for each time that it is read; what is handed on reads one too."""
        return _targets(self.graph)


def places(graph: Graph, without: frozenset[str] = frozenset()) -> NodeGrid:
    """Return rows and columns of a graph; the states `without` get no line."""
    lines: dict[str, tuple[int, ...]] = {}
    taken: set[int] = set()
    for letter in graph.before:
        line = _line(graph, letter)
        if line and letter not in without and not taken & {*line}:
            lines[letter] = line
            taken |= {*line}
    while (ranks := _ranks(graph, lines)) is None:
        lines.popitem()
    rows = _rows(graph, lines, ranks)
    below = _below(graph, rows)
    return NodeGrid(graph, lines, rows, _columns(rows, below), below)


def _targets(graph: Graph) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {place: [] for place in range(len(graph.nodes))}
    for place, node in enumerate(graph.nodes):
        for operand in node.operands:
            found[operand].append(place)
    found[graph.output].append(OUT)
    return found


def _line(graph: Graph, letter: str) -> tuple[int, ...]:
    """Return the shortest way of a state to its next value, without it; nothing where each goes through gates.

    In a cell of one gate it may go through that. What stands on the way is read once by what stands on it.
    """
    gates = [place for place, node in enumerate(graph.nodes) if node.kind in (NodeKind.GATE, NodeKind.THROUGH)]
    passed = {place for place, node in enumerate(graph.nodes) if along(node)}
    passed |= {*gates} if len(gates) == 1 else set()
    start, end = graph.before[letter], graph.after[letter]
    ways: list[tuple[int, ...]] = [(start,)]
    targets = _targets(graph)
    for way in ways:  # grows while it is read: the shortest first
        if way[-1] == end and len(way) > 1 and all(_once(targets[place], way) for place in way[1:-1]):
            return way[1:]
        ways += [(*way, place) for place in dict.fromkeys(targets[way[-1]]) if place in passed and place not in way]
        if len(ways) > MOST_WAYS:
            return ()
    return ()


def _once(readers: list[int], way: tuple[int, ...]) -> bool:
    return sum(reader in way for reader in readers) == 1


MOST_WAYS = 1_000
"""A cell whose state has more ways through it than these is drawn without a line for it."""


def _ranks(graph: Graph, lines: Mapping[str, tuple[int, ...]]) -> dict[int, int] | None:
    """Return how many nodes stand below each at the most, those of a line alike; None where a line leaves no order."""
    group = {place: min(line) for line in lines.values() for place in line}
    members: dict[int, list[int]] = {}
    for place in range(len(graph.nodes)):
        members.setdefault(group.get(place, place), []).append(place)
    reads = {
        head: {group.get(of, of) for place in found for of in graph.nodes[place].operands} - {head}
        for head, found in members.items()
    }
    ranks: dict[int, int] = {}
    while len(ranks) < len(members):
        ready = [head for head in members if head not in ranks and reads[head] <= {*ranks}]
        if not ready:
            return None
        for head in ready:
            low = graph.nodes[head].kind in (NodeKind.INPUT, NodeKind.BEFORE)
            ranks[head] = 0 if low else 1 + max((ranks[of] for of in reads[head]), default=0)
    return {place: ranks[head] for head, found in members.items() for place in found}


def _rows(graph: Graph, lines: Mapping[str, tuple[int, ...]], ranks: dict[int, int]) -> dict[int, int]:
    """Return a row for each rank, and above it one for each line of the rank; a bare number stands below its reader."""
    targets = _targets(graph)
    for place, node in enumerate(graph.nodes):
        if node.kind is NodeKind.NUMBER:
            above = [ranks[of] for of in targets[place] if of != OUT]
            ranks[place] = max(1, min(above, default=1) - 1)
    lined = {place: letter for letter, line in lines.items() for place in line}
    standing = [place for place, node in enumerate(graph.nodes) if node.kind is not NodeKind.BEFORE]
    levels = sorted({(ranks[place], lined.get(place, "")) for place in standing})
    rows = {place: levels.index((ranks[place], lined.get(place, ""))) for place in standing}
    return {**rows, OUT: len(levels)}


def _below(graph: Graph, rows: Mapping[int, int]) -> dict[int, int]:
    """Return for each node the one it continues the column of: one it reads that nothing higher reads."""
    highest = {place: max((rows[target] for target in found), default=0) for place, found in _targets(graph).items()}
    below: dict[int, int] = {}
    for place in sorted(rows, key=lambda place: -rows[place]):
        if place == OUT:
            operands: Sequence[int] = (graph.output,)
        else:
            node = graph.nodes[place]
            operands = node.operands[:1] if node.operation.ordered else node.operands
        free = [of for of in operands if rows.get(of, 0) and of not in below.values()]
        fitting = [of for of in free if highest[of] == rows[place] and rows[of] < rows[place]]
        if fitting:
            below[place] = max(fitting, key=lambda of: (PREFERRED.get(graph.nodes[of].kind, 1), of))
    return below


PREFERRED = {NodeKind.GATE: 2, NodeKind.THROUGH: 2, NodeKind.PRODUCT: 2, NodeKind.NUMBER: 0}
"""What an operation stands above rather than above another operation: a gate, and what a gate is made of."""


def _columns(rows: Mapping[int, int], below: Mapping[int, int]) -> tuple[tuple[int, ...], ...]:
    """Return the columns, in the order in which the lowest node of each was made."""
    above = {of: place for place, of in below.items()}
    found = []
    for place in sorted(place for place in rows if place not in below and rows[place]):
        column = [place]
        while column[-1] in above:
            column.append(above[column[-1]])
        found.append(tuple(column))
    return tuple(found)


# Routes: by which way each value reaches what reads it


ASIDE = 3
"""How far from the middle of an operation a line stands that comes up beside it."""


RIGHT = -2
"""The place of the right edge, where the states go on."""


class Course(Enum):
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


class Route(NamedTuple):
    """One way from a value to a reader, or to the right edge.

    row: the reader's row, or whose channel, the one below it, it takes.
    up: the x at which it goes up from its track. end: the x where it ends, beside or below the reader.
    """

    source: int
    target: int
    course: Course
    row: int
    up: int
    end: int


class Routing(NamedTuple):
    """All wires of a cell in an order of its columns.

    middles: the x of the middle of each node; trunks: of the line of each value. right: where the right edge begins.
    crooked: the states whose lines do not run from left to right in this order.
    """

    wires: tuple[Route, ...]
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


def wires(found: NodeGrid, laid: Laid, widths: Widths) -> Routing:
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
    return Routing(tuple(made.wires), middles, trunks, edge, frozenset(made.crooked))


def ports(number: int, straight: bool) -> list[int]:
    """Return how far from the middle of a box so many lines enter it from below, beside one that comes `straight`."""
    if straight:
        return sorted(2 * (each // 2 + 1) * (-1) ** (each + 1) for each in range(number))
    return [4 * each - 2 for each in range(2)] if number == 2 else [2 * each + 1 - number for each in range(number)]


class _Making:
    """The wires made so far, and what is taken up of each row."""

    def __init__(self, found: NodeGrid, widths: Widths, middles: dict[int, int], trunks: dict[int, int]) -> None:
        self.found, self.widths, self.middles, self.trunks = found, widths, middles, trunks
        self.wires: list[Route] = []
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
                    self.take(source, target, Course.SIDE, row, (self.trunks[source], end))
                else:
                    start = self.middles[source] + self.widths[source] // 2 + 1
                    self.take(source, target, Course.ALONG, row, (start, end))
                self.lined.add((source, target))
                self.lefts.add(target)
                if source != before:
                    self.rights.add(source)

    def take(self, source: int, target: int, course: Course, row: int, span: tuple[int, int]) -> None:
        """Make a wire along a row, which takes what it runs through."""
        start, end = span
        self.taken.setdefault(row, []).append((min(start, end), max(start, end), RIGHT))
        self.wires.append(Route(source, target, course, row, start, end))

    def into(self, place: int) -> None:
        """Make the wires into a node, but for those along a line."""
        operands = self.others(place)
        row = self.found.rows[place]
        straight = self.found.below.get(place)
        if straight is not None:
            self.wires.append(Route(straight, place, Course.STRAIGHT, row, self.middles[place], self.middles[place]))
        node = None if place == OUT else self.found.graph.nodes[place]
        if node and node.kind is NodeKind.OPERATION and (node.operation.operands > 1 or node.operation.before):
            self._sideways(place, operands, straight is not None)
            return
        for number, operand in enumerate(operands):
            at = self.middles[place] + self.port(place, number)
            course = Course.STRAIGHT if self.trunks[operand] == at else Course.UNDER
            self.wires.append(Route(operand, place, course, row, at, at))

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
                self.wires.append(Route(first, place, Course.UNDER, row, middle, middle))
        for operand in operands:
            left = self.trunks[operand] < middle
            if (place in self.lefts) if left else (place in self.rights):
                left = not left
            (self.lefts if left else self.rights).add(place)
            sign = -1 if left else 1
            end = middle + sign * (self.widths[place] // 2 + 1)
            start = self.trunks[operand]
            if (start < middle) == left and self.free(row, start, end, (operand,)):
                self.take(operand, place, Course.SIDE, row, (start, end))
            else:
                up = middle + sign * (self.widths[place] // 2 + ASIDE - 1)
                self.taken.setdefault(row, []).append((min(up, end), max(up, end), RIGHT))
                self.wires.append(Route(operand, place, Course.BESIDE, row, up, end))

    def exits(self, right: int) -> None:
        """Make the wires to the right edge, one for each value, whatever the states that it is."""
        for place in dict.fromkeys(self.found.graph.after.values()):
            row = self.found.rows.get(place, 0)
            start = self.middles.get(place, right) + self.widths.get(place, 0) // 2 + 1
            if row and place not in self.rights and self.free(row, start, right, (place,)):
                self.rights.add(place)
                self.taken.setdefault(row, []).append((start, right, RIGHT))
                self.wires.append(Route(place, RIGHT, Course.EXIT, row, start, right))
            else:
                self.wires.append(Route(place, RIGHT, Course.OVER, row + 1, right, right))


# Heights, and a track of its own for each wire


MOST_TRIED = 4
"""Of more values in a channel than these, the tracks are as they come: there would be too many orders."""


class Path(NamedTuple):
    """The corners of a wire, from beside its source to beside its target."""

    wire: Route
    corners: tuple[GridPoint, ...]


class Heights(NamedTuple):
    """The y of the middle of each row, and of each track: by row and the value that runs in the channel below it.

    entries: of each state of the step before, the y at which it comes in.
    """

    rows: Mapping[int, int]
    tracks: Mapping[tuple[int, int], int]
    entries: Mapping[int, int]


def heights(found: NodeGrid, made: Routing, high: Mapping[int, int]) -> Heights:
    """Return how high everything stands; `high` is how many cells a node takes, its middle the upper of two."""
    channels: dict[int, list[int]] = {}
    for wire in made.wires:
        if wire.course in (Course.UNDER, Course.BESIDE, Course.OVER):
            channel = channels.setdefault(wire.row, [])
            if wire.source not in channel:
                channel.append(wire.source)
    rows: dict[int, int] = {}
    tracks: dict[tuple[int, int], int] = {}
    y = 0
    for row in range(found.top, -1, -1):
        inside = [high[place] for place, at in found.rows.items() if at == row and place in high] or [1]
        above = max((each - 1) // 2 for each in inside)
        rows[row] = y + above
        y += above + max(each // 2 for each in inside) + 2
        order = _order(found, made, row, channels.get(row, []))
        for place in order:
            tracks[row, place] = y
            y += 1
        y += 1
    entries: dict[int, int] = {}
    for number, place in enumerate(found.graph.before.values()):
        own = [wire for wire in made.wires if wire.source == place]
        along = [rows[wire.row] for wire in own if (wire.source, wire.target) in _first(found)]
        entries[place] = along[0] if along else max((_turn(wire, rows, tracks) for wire in own), default=y + number)
    return Heights(rows, tracks, entries)


def _first(found: NodeGrid) -> set[tuple[int, int]]:
    """Return from where to where the first wire of each state's line runs."""
    return {(found.graph.before[letter], line[0]) for letter, line in found.lines.items()}


def _turn(wire: Route, rows: Mapping[int, int], tracks: Mapping[tuple[int, int], int]) -> int:
    """Return the y at which a wire leaves its trunk."""
    return rows[wire.row] if wire.course is Course.SIDE else tracks[wire.row, wire.source]


def _order(found: NodeGrid, made: Routing, row: int, values: list[int]) -> tuple[int, ...]:
    """Return the values of a channel from the highest track to the lowest, so that few of their wires cross."""
    if not 1 < len(values) <= MOST_TRIED:
        return tuple(values)
    spans, ups, downs = {}, {}, {}
    lined = {found.graph.before[letter]: found.rows[line[0]] for letter, line in found.lines.items()}
    for place in values:
        own = [wire for wire in made.wires if wire.source == place]
        here = [wire for wire in own if wire.row == row and wire.course in (Course.UNDER, Course.BESIDE, Course.OVER)]
        trunk = made.trunks[place]
        reached = [wire.up for wire in here]
        spans[place] = min(trunk, *reached), max(trunk, *reached)
        ups[place] = [wire.up for wire in here if wire.course is not Course.OVER]
        ups[place] += [trunk] if any(wire.row > row or wire.course is Course.STRAIGHT for wire in own) else []
        from_above = lined.get(place, -1) >= row
        downs[place] = [] if from_above else [trunk]
        ups[place] += [trunk] if from_above else []

    def crossings(order: tuple[int, ...]) -> int:
        count = 0
        for level, upper in enumerate(order):
            for lower in order[level + 1 :]:
                count += sum(spans[upper][0] <= x <= spans[upper][1] for x in {*ups[lower]})
                count += sum(spans[lower][0] <= x <= spans[lower][1] for x in downs[upper])
        return count

    return min(permutations(values), key=crossings)


def paths(found: NodeGrid, made: Routing, at: Heights, high: Mapping[int, int]) -> Iterator[Path]:
    """Yield the corners of every wire; the states of the step before come in at the x `LEFT`."""
    for wire in made.wires:
        if wire.course in (Course.ALONG, Course.EXIT):
            y = at.rows[wire.row]
            yield Path(wire, ((wire.up, y), (wire.end, y)))
            continue
        trunk = made.trunks[wire.source]
        if wire.source in at.entries:
            y = at.entries[wire.source]
            start = [(LEFT, y), (trunk, y)]
        else:
            y = at.rows[found.rows[wire.source]]
            start = [(trunk, y - (high[wire.source] - 1) // 2 - 1)]
        yield Path(wire, _merged([*start, *_rest(wire, trunk, at, high)]))


LEFT = -2
"""The x at which what comes in from the left starts."""


def _rest(wire: Route, trunk: int, at: Heights, high: Mapping[int, int]) -> tuple[GridPoint, ...]:
    """Return the corners of a wire from its trunk on."""
    middle = at.rows.get(wire.row, 0)
    below = middle + high.get(wire.target, 1) // 2 + 1
    if wire.course is Course.STRAIGHT:
        return ((trunk, below),)
    if wire.course is Course.SIDE:
        return (trunk, middle), (wire.end, middle)
    track = at.tracks[wire.row, wire.source]
    turn = (trunk, track), (wire.up, track)
    match wire.course:
        case Course.UNDER:
            return (*turn, (wire.up, below))
        case Course.BESIDE:
            return (*turn, (wire.up, middle), (wire.end, middle))
        case _:
            return turn


def _merged(corners: list[GridPoint]) -> tuple[GridPoint, ...]:
    """Return the corners without those at which the way does not turn."""
    found: list[GridPoint] = []
    for cell in corners:
        if found and cell == found[-1]:
            continue
        if len(found) > 1 and (found[-2][0] == found[-1][0] == cell[0] or found[-2][1] == found[-1][1] == cell[1]):
            found.pop()
        found.append(cell)
    return tuple(found)
