"""One cell drawn as a circuit: boxes for its nodes and states, arrows for its wires, dots where a value branches.

What is drawn, the graph of a step, is made first; it says nothing about positions.

Nodes stand in rows from the input up, and in columns. A state that goes through operations alone to its next value runs
straight from left to right, in a row of its own: its line. Every value leaves its node upwards in a line of its own, a
trunk, or to the right where a state's line goes on. Columns are ordered so that few wires cross and all are short.
Knows no cell of its own. A place is the number of a node in the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cached_property
from itertools import pairwise, permutations, product

from rnncalc.conventions.notation import Notation, W
from rnncalc.pictures.picture import (
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
from rnncalc.records import Record
from rnncalc.reports.equations import Line, Term, spelled
from rnncalc.step.equations import Letter, letters_of, stacks
from rnncalc.step.nodes import WEIGHTS, Trace
from rnncalc.step.operations import OPERATIONS, Operation

# What is drawn of a step: its trace, in which each sum of a gate's products and biases is one box


class NodeKind(Enum):
    """What a drawn node is.

    INPUT: x. BEFORE: a state of the step before. GATE: the sum of a gate's products and biases, through its activation.
    THROUGH: a gate whose sum was made by hand. PRODUCT: a part of a gate's sum, a product with a matrix beside the
    gates, or a vector that is normalised, with its gain and its bias. NUMBER: a trained number. OPERATION: any other
    operation of the table.
    """

    INPUT = "input"
    BEFORE = "before"
    GATE = "gate"
    THROUGH = "through"
    PRODUCT = "product"
    NUMBER = "number"
    OPERATION = "operation"


class DrawnNode(Record):
    """A node that is drawn.

    operation: its row; of a gate or a number that of its activation. operands: the places of the nodes that it reads.
    letter: of a gate, a number or an input. weights: by which a box multiplies its operands, all by
        one where they are stacked.
    """

    kind: NodeKind
    operation: Operation
    operands: tuple[int, ...] = ()
    letter: str = ""
    weights: tuple[Letter, ...] = ()


class Graph(Record):
    """The nodes that are drawn of one step, each after those it reads; x is the first.

    before, after: the places of each state's nodes, of the step before and of this one. output: that of its output.
    """

    nodes: tuple[DrawnNode, ...]
    before: Mapping[str, int]
    after: Mapping[str, int]
    output: int


def graph(trace: Trace, notation: Notation = W) -> Graph:
    """Return the graph of a step, with its weights in a notation."""
    reader = _Reader(trace, notation)
    found: dict[int, DrawnNode] = {}
    wanted = [trace.x, *trace.before.values(), *trace.after.values(), trace.output]
    while wanted:
        place = wanted.pop()
        if place not in found:
            found[place] = reader.drawn(place)
            wanted += found[place].operands
    places = {place: number for number, place in enumerate(sorted(found))}
    nodes = (found[place] for place in places)
    return Graph(
        tuple(node._replace(operands=tuple(places[of] for of in node.operands)) for node in nodes),
        {letter: places[place] for letter, place in trace.before.items()},
        {letter: places[place] for letter, place in trace.after.items()},
        places[trace.output],
    )


class _Reader:
    """Reads a trace: how each of its nodes is drawn."""

    def __init__(self, trace: Trace, notation: Notation) -> None:
        self.trace = trace
        self.nodes = trace.nodes
        self.letters = letters_of(trace, notation)
        found = stacks(trace, notation)
        self.stacked = {
            (matrix, of): self.letters.named("stacked", stack.letters(len(trace.gates)))
            for stack in found
            for matrix in stack.matrices
            for of in stack.reads
        }

    def drawn(self, place: int) -> DrawnNode:
        node = self.nodes[place]
        row = OPERATIONS.get(node.operation, OPERATIONS["linear"])
        match node.operation:
            case "input":
                return DrawnNode(NodeKind.INPUT, row, letter=node.letter)
            case "state":
                return DrawnNode(NodeKind.BEFORE, row, letter=node.letter)
            case "weights":
                return self._number(place, row)
        below, operands = self.nodes[node.operands[0]], tuple(map(self._whole, node.operands))
        normalised, by = self._normalised(node.operands[0] if node.letter else place)
        if node.letter and normalised in self.trace.sums:
            return self._box(normalised, NodeKind.GATE, row, node.letter)
        if node.letter:
            return DrawnNode(NodeKind.THROUGH, row, (self._whole(normalised),), node.letter)
        if by:
            return DrawnNode(NodeKind.PRODUCT, OPERATIONS["linear"], (self._whole(normalised),), weights=tuple(by))
        if place in self.trace.sums or (below.operation == WEIGHTS and below.axes):
            return self._box(place, NodeKind.PRODUCT, OPERATIONS["linear"])
        if below.operation == WEIGHTS and row.operands == 1:
            return self._number(node.operands[0], row)
        return DrawnNode(NodeKind.OPERATION, row, operands)

    def _normalised(self, place: int) -> tuple[int, list[Letter]]:
        """Return what is normalised to make a value, and the letters of gain and bias; else the value itself."""
        at, letters = place, []
        for operation, beside in (("plus", 1), ("times", 0)):
            node = self.nodes[at]
            weights = self.nodes[node.operands[beside]].weights if node.operation == operation else None
            if weights:
                letters.append(self.letters.weights(weights))
                at = node.operands[1 - beside]
        row = OPERATIONS.get(self.nodes[at].operation)
        return (self.nodes[at].operands[0], letters[::-1]) if row and row.alone else (place, [])

    def _whole(self, place: int) -> int:
        """Return the node that is drawn for a value: x for a direction's half of x."""
        node = self.nodes[place]
        return node.operands[0] if node.operation == "half" else place

    def _number(self, place: int, activation: Operation) -> DrawnNode:
        weights = self.nodes[place].weights
        assert weights is not None
        return DrawnNode(NodeKind.NUMBER, activation, letter=weights.letter)

    def _box(self, place: int, kind: NodeKind, activation: Operation, letter: str = "") -> DrawnNode:
        """Return a box for a sum of products and biases."""
        reads, weights = [], []
        for each in self._products(place):
            by, read = self.nodes[each].operands
            node = self.nodes[by]
            assert node.weights is not None
            of = node.weights
            weights.append(self.stacked.get((of.matrix, of.of)) or self.letters.weights(of))
            reads.append(self._whole(read))
        return DrawnNode(kind, activation, tuple(reads), letter, tuple(dict.fromkeys(weights)))

    def _products(self, place: int) -> Iterator[int]:
        """Yield the products in a sum of products and biases."""
        node = self.nodes[place]
        if node.operation in ("plus", "everywhere"):
            for each in node.operands:
                yield from self._products(each)
        elif node.operation != WEIGHTS:
            yield place


# Where it is drawn

OUT, RIGHT = -1, -2
"""The places of the output, above all nodes, and of the right edge, where the states go on."""

NARROWEST, MARGIN = 7, 2
"""The least width of a box, and how much wider it is than its text."""

ASIDE = 3
"""The distance from the middle of an operation to a line that comes up beside it."""

LEFT = -2
"""The x at which the states of the step before start."""

CROSSING = 12
"""How many cells of wire a crossing is worth."""

MOST_TRIES = 4_000
"""The orders of columns that are tried, multiplied by the number of nodes."""

MOST_ORDERED = 4
"""With more values in a channel, their tracks are not ordered: there would be too many orders."""

MOST_WAYS = 1_000
"""A state with more ways through the cell is drawn without a line."""

PREFERRED = {NodeKind.GATE: 2, NodeKind.THROUGH: 2, NodeKind.PRODUCT: 2, NodeKind.NUMBER: 0}
"""The nodes that an operation is placed above in preference to another operation."""


def figure(graph: Graph, gap: int, signs: Mapping[int, str]) -> list[Shape]:
    """Return the shapes of a cell, anywhere on the grid. gap: the cells between its columns.

    signs: the words that stand for letters.
    """
    without: frozenset[str] = frozenset()
    while True:
        routing = _best(NodeGrid(graph, without, signs), gap)
        if not routing.crooked:
            return [*routing.shapes()]
        without |= routing.crooked


# Rows and columns


class NodeGrid:
    """Rows and columns of nodes, and how each is drawn.

    boxes: how nodes are drawn, at any place.
    lines: of each state that has one, the nodes on it from left to right; the states in `without` get none.
    rows: of each node, from 1 for the lowest; x stands in row 0, the output in the row above all. States of the step
    before have none: they stand at the left.
    columns: from bottom to top; a node reads the one below it, and nothing that reads that one stands higher, so a line
    that leaves a node upwards meets no other. below: of each node that has one, the node below it in its column.
    """

    def __init__(self, graph: Graph, without: frozenset[str], signs: Mapping[int, str]) -> None:
        self.graph, self.nodes = graph, graph.nodes
        self.readers: dict[int, list[int]] = {place: [] for place in range(len(self.nodes))}
        for place, node in enumerate(self.nodes):
            for operand in node.operands:
                self.readers[operand].append(place)
        self.readers[graph.output].append(OUT)
        self.lines: dict[str, tuple[int, ...]] = {}
        taken: set[int] = set()
        for letter in graph.before:
            line = self._line(letter)
            if line and letter not in without and not taken & {*line}:
                self.lines[letter] = line
                taken |= {*line}
        while (ranks := self._ranks()) is None:
            self.lines.popitem()
        self.rows = self._rows(ranks)
        self.below = self._below()
        self.columns = self._columns()
        self.boxes = {place: self._box(place, signs) for place in self.rows if place > 0}
        self.widths = {0: NARROWEST, OUT: NARROWEST, **{place: box.width for place, box in self.boxes.items()}}
        self.heights = {0: 1, OUT: 1, **{place: box.height for place, box in self.boxes.items()}}

    def operands(self, place: int) -> tuple[int, ...]:
        """Return what a node reads; the output reads one node too."""
        return (self.graph.output,) if place == OUT else self.nodes[place].operands

    def _line(self, letter: str) -> tuple[int, ...]:
        """Return the nodes on the shortest way from a state to its next value; nothing if all ways go through gates.

        In a cell of one gate it may go through that. Each node on the way is read by one other node on it.
        """
        kinds = [node.kind for node in self.nodes]
        gates = {place for place, kind in enumerate(kinds) if kind in (NodeKind.GATE, NodeKind.THROUGH)}
        passed = {
            place
            for place, node in enumerate(self.nodes)
            if node.kind is NodeKind.OPERATION and not node.operation.before
        }
        passed |= gates if len(gates) == 1 else set()
        start, end = self.graph.before[letter], self.graph.after[letter]
        ways: list[tuple[int, ...]] = [(start,)]
        for way in ways:  # grows while it is read: the shortest first
            once = (sum(reader in way for reader in self.readers[place]) == 1 for place in way[1:-1])
            if way[-1] == end and len(way) > 1 and all(once):
                return way[1:]
            readers = dict.fromkeys(self.readers[way[-1]])
            ways += [(*way, place) for place in readers if place in passed and place not in way]
            if len(ways) > MOST_WAYS:
                return ()
        return ()

    def _ranks(self) -> dict[int, int] | None:
        """Return the rank of each node: the most nodes below it, equal along a line; None if there is no order."""
        group = {place: min(line) for line in self.lines.values() for place in line}
        members: dict[int, list[int]] = {}
        for place in range(len(self.nodes)):
            members.setdefault(group.get(place, place), []).append(place)
        reads = {
            head: {group.get(of, of) for place in found for of in self.nodes[place].operands} - {head}
            for head, found in members.items()
        }
        ranks: dict[int, int] = {}
        while len(ranks) < len(members):
            ready = [head for head in members if head not in ranks and reads[head] <= {*ranks}]
            if not ready:
                return None
            for head in ready:
                low = self.nodes[head].kind in (NodeKind.INPUT, NodeKind.BEFORE)
                ranks[head] = 0 if low else 1 + max((ranks[of] for of in reads[head]), default=0)
        return {place: ranks[head] for head, found in members.items() for place in found}

    def _rows(self, ranks: dict[int, int]) -> dict[int, int]:
        """Return a row for each rank, above it one for each line of the rank; a bare number stands below its reader."""
        for place, node in enumerate(self.nodes):
            if node.kind is NodeKind.NUMBER:
                above = [ranks[of] for of in self.readers[place] if of != OUT]
                ranks[place] = max(1, min(above, default=1) - 1)
        lined = {place: letter for letter, line in self.lines.items() for place in line}
        standing = [place for place, node in enumerate(self.nodes) if node.kind is not NodeKind.BEFORE]
        levels = sorted({(ranks[place], lined.get(place, "")) for place in standing})
        rows = {place: levels.index((ranks[place], lined.get(place, ""))) for place in standing}
        return {**rows, OUT: len(levels)}

    def _below(self) -> dict[int, int]:
        """Return for each node the one it continues the column of: one it reads that nothing higher reads."""
        rows = self.rows
        highest = {place: max((rows[of] for of in found), default=0) for place, found in self.readers.items()}
        below: dict[int, int] = {}
        for place in sorted(rows, key=lambda place: -rows[place]):
            operands = self.operands(place)
            if place != OUT and self.nodes[place].operation.ordered:
                operands = operands[:1]
            free = [of for of in operands if rows.get(of, 0) and of not in below.values()]
            fitting = [of for of in free if highest[of] == rows[place] and rows[of] < rows[place]]
            if fitting:
                below[place] = max(fitting, key=lambda of: (PREFERRED.get(self.nodes[of].kind, 1), of))
        return below

    def _columns(self) -> list[tuple[int, ...]]:
        """Return the columns, in the order in which the lowest node of each was made."""
        above = {of: place for place, of in self.below.items()}
        found = []
        for place in sorted(place for place in self.rows if place not in self.below and self.rows[place]):
            column = [place]
            while column[-1] in above:
                column.append(above[column[-1]])
            found.append(tuple(column))
        return found

    def _box(self, place: int, signs: Mapping[int, str]) -> Box:
        """Return how a node is drawn: a gate and a matrix as a box, an operation as a circle, a number small."""
        node = self.nodes[place]
        row = node.operation
        function = (row.function or row.name).translate(signs)
        match node.kind:
            case NodeKind.OPERATION:
                sign = function if row.function else row.drawn
                return Box(0, 0, (len(sign) + 2) | 1, 1, ((sign,),), Style.OPERATION, round=True)
            case NodeKind.NUMBER:
                (number,) = spelled((Term(node.letter),), signs)
                line: Line = (number,) if row.name == "linear" else (f"{function}(", number, ")")
                return Box(0, 0, (span(line) + 2) | 1, 1, (line,), Style.GATE)
            case NodeKind.GATE | NodeKind.THROUGH:
                lines: tuple[Line, ...] = ((function,), spelled((Term(node.letter, time="t"),), signs))
            case _:
                lines = tuple(spelled((Term(*letters),), signs) for letters in node.weights)
        entries = ports(len(node.operands) - (place in self.below), place in self.below)
        least = max([NARROWEST, *(2 * abs(at) + 3 for at in entries)])
        width = max([least, *(span(line) + MARGIN for line in lines)]) | 1
        bare = node.kind is NodeKind.THROUGH  # it has no weights of its own
        return Box(0, 0, width, len(lines) + 2, lines, Style.OPERATION if bare else Style.GATE, bare)


def ports(number: int, straight: bool) -> list[int]:
    """Return where lines enter a box from below, as distances from its middle; `straight`: whether one enters there."""
    if straight:
        return sorted(2 * (each // 2 + 1) * (-1) ** (each + 1) for each in range(number))
    return [-2, 2] if number == 2 else [2 * each + 1 - number for each in range(number)]


# Routes: the way of each value to each of its readers


class Course(Enum):
    """The kind of way from a value to a reader.

    STRAIGHT: up its own trunk. ALONG: along a state's line, from the right of the box before. SIDE: from its trunk
    along the reader's row. UNDER: along a track, then up into the reader. BESIDE: along a track, up beside the reader,
    and into its side. EXIT: along its own row to the right edge. OVER: along a track above its row to the right edge.
    """

    STRAIGHT = auto()
    ALONG = auto()
    SIDE = auto()
    UNDER = auto()
    BESIDE = auto()
    EXIT = auto()
    OVER = auto()


SIDEWAYS, TRACKED = (Course.ALONG, Course.EXIT), (Course.UNDER, Course.BESIDE, Course.OVER)
"""The courses that leave a node on its right, and those that run along a track in the channel below a row."""


class Route(Record):
    """One way from a value to a reader, or to the right edge.

    row: the reader's row, or the row above the channel that it takes.
    up: the x at which it goes up from its track. end: the x where it ends, beside or below the reader.
    """

    source: int
    target: int
    course: Course
    row: int
    up: int
    end: int


def _best(grid: NodeGrid, gap: int) -> Routing:
    """Return the routes for the best order of columns that was tried: short, with few crossings."""
    highest = max((grid.rows[place] for place in grid.readers[0]), default=0)
    under = [
        place
        for place in grid.readers[0]
        if place != OUT and grid.rows[place] == highest and place not in grid.below and not grid.boxes[place].round
    ]

    def routed(columns: Sequence[tuple[int, ...]]) -> tuple[int, Routing]:
        firsts = [column[0] for column in columns if column[0] in under]
        routing = Routing(grid, columns, gap, firsts[len(firsts) // 2] if firsts else None)
        return routing.cost(), routing

    order = [*grid.columns] if under else [(0,), *grid.columns]
    least, best = routed(order)
    tries, better = MOST_TRIES // len(grid.nodes), True
    while better and tries > 0:
        better = False
        for column, place in product([*order], range(len(order))):
            other = [each for each in order if each is not column]
            other.insert(place, column)
            cost, routing = routed(other)
            tries -= 1
            if cost < least:
                least, best, order, better = cost, routing, other, True
    return best


class Routing:
    """All routes of a cell in an order of its columns, and how high everything then stands.

    x_under: the node that x stands below, None if it has a column of its own.
    middles: the x of the middle of each node; trunks: of the line of each value. right: where the right edge begins.
    crooked: the states whose lines do not run from left to right in this order.
    """

    def __init__(self, grid: NodeGrid, columns: Sequence[tuple[int, ...]], gap: int, x_under: int | None) -> None:
        self.grid = grid
        self.before = [*grid.graph.before.values()]
        self.middles: dict[int, int] = {}
        self.right = 2 * len(self.before) + 1
        for column in columns:
            width = max(2 * ASIDE + 1, *(grid.widths[place] for place in column))
            self.middles |= dict.fromkeys(column, self.right + width // 2)
            self.right += width + gap
        self.trunks = {**self.middles, **{place: 2 * number for number, place in enumerate(reversed(self.before))}}
        self.routes: list[Route] = []
        self.crooked: set[str] = set()
        self.lined: set[tuple[int, int]] = set()  # from and to, along a state's line
        self.sides: set[tuple[int, int]] = set()  # the sides of nodes that are taken, -1 for the left, 1 for the right
        self.taken: dict[int, list[tuple[int, int, int]]] = {}  # of each row: from, to, and by which node
        for place, row in grid.rows.items():
            if place in self.middles:
                self.taken.setdefault(row, []).append((self.side(place, -1) + 1, self.side(place, 1) - 1, place))
        self._along_lines()
        if x_under is not None:
            self.trunks[0] = self.middles[0] = self.port(x_under, self.others(x_under).index(0))
        for place in sorted((place for place in grid.rows if grid.rows[place]), key=lambda place: grid.rows[place]):
            self._into(place)
        self._exits()

    def side(self, place: int, sign: int) -> int:
        """Return the x beside a node, on the left for -1 and on the right for 1."""
        return self.middles[place] + sign * (self.grid.widths[place] // 2 + 1)

    def free(self, row: int, one: int, other: int, but: int) -> bool:
        """Return whether nothing but one node stands between two x in a row."""
        low, high = min(one, other), max(one, other)
        return all(last < low or first > high or by == but for first, last, by in self.taken.get(row, ()))

    def take(self, row: int, one: int, other: int) -> None:
        """Take the cells of a row that a wire runs through."""
        self.taken.setdefault(row, []).append((min(one, other), max(one, other), RIGHT))

    def add(self, source: int, target: int, course: Course, row: int, up: int, end: int) -> None:
        """Add a route."""
        self.routes.append(Route(source, target, course, row, up, end))

    def others(self, place: int) -> list[int]:
        """Return what a node reads that reaches it neither along a line nor straight from below."""
        operands = [*self.grid.operands(place)]
        for source, target in self.lined:
            if target == place:
                operands.remove(source)
        if place in self.grid.below:
            operands.remove(self.grid.below[place])
        return operands

    def port(self, place: int, number: int) -> int:
        """Return the x where a node is entered from below, the middle being left to a straight line."""
        return self.middles[place] + ports(len(self.others(place)), place in self.grid.below)[number]

    def _along_lines(self) -> None:
        """Add the routes along the states' lines."""
        for letter, line in self.grid.lines.items():
            row, before = self.grid.rows[line[0]], self.grid.graph.before[letter]
            for source, target in pairwise((before, *line)):
                start, end = self.trunks[source], self.side(target, -1)
                if not self.free(row, start, end, source) or end <= start:
                    self.crooked.add(letter)
                course = Course.SIDE
                if source != before:
                    start, course = self.side(source, 1), Course.ALONG
                    self.sides.add((source, 1))
                self.take(row, start, end)
                self.add(source, target, course, row, start, end)
                self.lined.add((source, target))
                self.sides.add((target, -1))

    def _into(self, place: int) -> None:
        """Add the routes into a node, but for those along a line."""
        operands, row, middle = self.others(place), self.grid.rows[place], self.middles[place]
        straight = self.grid.below.get(place)
        if straight is not None:
            self.add(straight, place, Course.STRAIGHT, row, middle, middle)
        node = None if place == OUT else self.grid.nodes[place]
        if node and node.kind is NodeKind.OPERATION and (node.operation.operands > 1 or node.operation.before):
            self._sideways(place, operands, straight is not None)
            return
        for number, operand in enumerate(operands):
            x = self.port(place, number)
            self.add(operand, place, Course.STRAIGHT if self.trunks[operand] == x else Course.UNDER, row, x, x)

    def _sideways(self, place: int, operands: list[int], bottom: bool) -> None:
        """Add the routes into an operation, from the sides that they are on.

        One comes from below if nothing else does, and the sides alone are too few.
        """
        row, middle, ordered = self.grid.rows[place], self.middles[place], self.grid.nodes[place].operation.ordered
        from_left, lined = sum(self.trunks[operand] < middle for operand in operands), (place, -1) in self.sides
        if not bottom and operands and (ordered or (len(operands) + lined > 1 and (from_left != 1 or lined))):
            self.add(operands.pop(0), place, Course.UNDER, row, middle, middle)
        for operand in operands:
            start = self.trunks[operand]
            sign = -1 if start < middle else 1
            if (place, sign) in self.sides:
                sign = -sign
            self.sides.add((place, sign))
            end = self.side(place, sign)
            if (start < middle) == (sign < 0) and self.free(row, start, end, operand):
                self.take(row, start, end)
                self.add(operand, place, Course.SIDE, row, start, end)
            else:
                up = end + sign * (ASIDE - 2)
                self.take(row, up, end)
                self.add(operand, place, Course.BESIDE, row, up, end)

    def _exits(self) -> None:
        """Add the routes to the right edge, one for each value, whatever the states that it is."""
        for place in dict.fromkeys(self.grid.graph.after.values()):
            row = self.grid.rows.get(place, 0)
            start = self.side(place, 1) if row else self.right
            if row and (place, 1) not in self.sides and self.free(row, start, self.right, place):
                self.sides.add((place, 1))
                self.take(row, start, self.right)
                self.add(place, RIGHT, Course.EXIT, row, start, self.right)
            else:
                self.add(place, RIGHT, Course.OVER, row + 1, self.right, self.right)

    # Heights, and a track of its own for each wire

    @cached_property
    def heights(self) -> tuple[dict[int, int], dict[tuple[int, int], int], dict[int, int]]:
        """The y of the middle of each row, of each track, and of each state of the step before, where it comes in.

        The middle of a node is the upper of two. A track has a row and the value that runs in the channel below that.
        """
        channels: dict[int, dict[int, None]] = {}
        for route in self.routes:
            if route.course in TRACKED:
                channels.setdefault(route.row, {})[route.source] = None
        rows: dict[int, int] = {}
        tracks: dict[tuple[int, int], int] = {}
        y = 0
        for row in range(self.grid.rows[OUT], -1, -1):
            inside = [self.grid.heights[place] for place, at in self.grid.rows.items() if at == row] or [1]
            rows[row] = y + max((each - 1) // 2 for each in inside)
            y = rows[row] + max(each // 2 for each in inside) + 2
            for place in self._order(row, [*channels.get(row, ())]):
                tracks[row, place] = y
                y += 1
            y += 1
        entries: dict[int, int] = {}
        for number, place in enumerate(self.before):
            own = [route for route in self.routes if route.source == place]
            lined = [rows[route.row] for route in own if (place, route.target) in self.lined]
            turns = [rows[route.row] if route.course is Course.SIDE else tracks[route.row, place] for route in own]
            entries[place] = lined[0] if lined else max(turns, default=y + number)
        return rows, tracks, entries

    def _order(self, row: int, values: list[int]) -> tuple[int, ...]:
        """Return the values of a channel from the highest track to the lowest, so that few of their wires cross."""
        if not 1 < len(values) <= MOST_ORDERED:
            return tuple(values)
        spans, ups, downs = {}, {}, {}
        lined = {self.grid.graph.before[letter]: self.grid.rows[line[0]] for letter, line in self.grid.lines.items()}
        for place in values:
            own = [route for route in self.routes if route.source == place]
            here = [route for route in own if route.row == row and route.course in TRACKED]
            trunk, reached = self.trunks[place], [route.up for route in here]
            spans[place] = min(trunk, *reached), max(trunk, *reached)
            ups[place] = [route.up for route in here if route.course is not Course.OVER]
            ups[place] += [trunk] if any(route.row > row or route.course is Course.STRAIGHT for route in own) else []
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

    @cached_property
    def wires(self) -> list[tuple[Route, tuple[GridPoint, ...]]]:
        """The corners of every route, from beside its source to beside its target."""
        return [(route, _turning(self._corners(route))) for route in self.routes]

    def _corners(self, route: Route) -> list[GridPoint]:
        rows, tracks, entries = self.heights
        middle = rows.get(route.row, 0)
        if route.course in SIDEWAYS:
            return [(route.up, middle), (route.end, middle)]
        trunk = self.trunks[route.source]
        if route.source in entries:
            y = entries[route.source]
            start = [(LEFT, y), (trunk, y)]
        else:
            start = [(trunk, rows[self.grid.rows[route.source]] - (self.grid.heights[route.source] - 1) // 2 - 1)]
        below = middle + self.grid.heights.get(route.target, 1) // 2 + 1
        if route.course is Course.STRAIGHT:
            return [*start, (trunk, below)]
        if route.course is Course.SIDE:
            return [*start, (trunk, middle), (route.end, middle)]
        track = tracks[route.row, route.source]
        turn = [*start, (trunk, track), (route.up, track)]
        if route.course is Course.UNDER:
            return [*turn, (route.up, below)]
        return [*turn, (route.up, middle), (route.end, middle)] if route.course is Course.BESIDE else turn

    def cost(self) -> int:
        """Return how long all wires are, with so much more for each crossing, and far more for a crooked line."""
        pieces = [(route.source, *piece) for route, corners in self.wires for piece in pairwise(corners)]
        length = sum(abs(one[0] - other[0]) + abs(one[1] - other[1]) for _, one, other in pieces)
        across = [(of, one[1], *sorted((one[0], other[0]))) for of, one, other in pieces if one[1] == other[1]]
        upright = [(of, one[0], *sorted((one[1], other[1]))) for of, one, other in pieces if one[0] == other[0]]
        crossings = {
            (x, y)
            for of, y, left, right in across
            for by, x, top, bottom in upright
            if of != by and left <= x <= right and top <= y <= bottom
        }
        return length + CROSSING * len(crossings) + 10_000 * len(self.crooked)

    # What is drawn

    def shapes(self) -> Iterator[Shape]:
        """Yield a box for each node, the letters of inputs and outputs, and the wires."""
        rows, tracks, entries = self.heights
        for place, box in self.grid.boxes.items():
            x, y = self.middles[place] - box.width // 2, rows[self.grid.rows[place]] - (box.height - 1) // 2
            yield box._replace(x=x, y=y)
        yield Label(self.trunks[0], rows[0], (Term("x", time="t"),), Style.INPUT, "middle")
        yield Label(self.middles[OUT], rows[self.grid.rows[OUT]], (Term("h", time="t"),), Style.OUTPUT, "middle")
        for letter, place in self.grid.graph.before.items():
            yield Label(LEFT - 1, entries[place], (Term(letter, time="t−1"),), Style.STATE, "end")
        for route in self.routes:
            if route.target == RIGHT:
                y = rows[route.row] if route.course is Course.EXIT else tracks[route.row, route.source]
                letters = [letter for letter, place in self.grid.graph.after.items() if place == route.source]
                line = tuple(piece for letter in letters for piece in (", ", Term(letter, time="t")))[1:]
                yield Label(self.right + 1, y, line, Style.STATE)
        yield from self._arrows()

    def _arrows(self) -> Iterator[Arrow | Dot]:
        """Yield the wires of each value: the first whole, each other from where it leaves those before it."""
        drawn: dict[int, set[GridPoint]] = {}
        dots = set()
        for route, corners in sorted(self.wires, key=lambda wire: wire[0].course is not Course.STRAIGHT):
            of_state = route.course in (*SIDEWAYS, Course.OVER) or route.source in self.before
            key = -1 - route.source if route.course in SIDEWAYS else route.source  # these share no cells with others
            cells = [*cells_along(corners)]
            seen = drawn.setdefault(key, set())
            shared = [number for number, cell in enumerate(cells) if cell in seen]
            if shared:
                cells = cells[shared[-1] :]
                if cells[0] not in dots:
                    dots.add(cells[0])
                    yield Dot(*cells[0])
            seen.update(cells)
            yield Arrow(_turning(cells), Style.STATE if of_state else Style.INPUT)


def _turning(cells: Sequence[GridPoint]) -> tuple[GridPoint, ...]:
    """Return the ends of a way and the cells at which it turns."""
    found: list[GridPoint] = []
    for cell in cells:
        if found and cell == found[-1]:
            continue
        if len(found) > 1:
            (x, y), (to_x, to_y) = found[-2:]
            if x == to_x == cell[0] or y == to_y == cell[1]:
                found.pop()
        found.append(cell)
    return tuple(found)
