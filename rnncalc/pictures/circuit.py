"""One cell drawn as a circuit: boxes for its nodes, arrows for its wires, dots where a value branches.

First the graph of a step is made, which has no positions. Its nodes then get rows, from the input up, and columns; a
state that goes through operations alone to its next value runs straight from left to right. Last, each wire gets the
cheapest way along the grid that those before it leave. Knows no cell of its own. A place is the number of a node in the
trace of the step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum, auto
from heapq import heappop, heappush
from itertools import chain, pairwise
from itertools import product as combinations
from typing import NamedTuple

from rnncalc.conventions.notation import Notation, W
from rnncalc.pictures.picture import Arrow, Box, Dot, GridPoint, Label, Shape, Style, moved, span
from rnncalc.step.equations import Letter, joined_arrays, letters_of
from rnncalc.step.nodes import WEIGHTS, Trace
from rnncalc.step.operations import OPERATIONS, Operation
from rnncalc.typeset.equations import Line, Term, spelled, timed

# What is drawn of a step: its trace, with one box for each sum of a gate's products and biases


class NodeKind(StrEnum):
    """What a drawn node is.

    INPUT: x. BEFORE: a state of the step before. GATE: the sum of a gate's products and biases, through its activation.
    THROUGH: a gate whose sum was made by hand. PRODUCT: a part of a gate's sum, a product with a matrix beside the
    gates, or a vector that is normalised, with its gain and its bias. NUMBER: a trained number. OPERATION: any other
    operation of the table.
    """

    INPUT = auto()
    BEFORE = auto()
    GATE = auto()
    THROUGH = auto()
    PRODUCT = auto()
    NUMBER = auto()
    OPERATION = auto()


class DrawnNode(NamedTuple):
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


Graph = dict[int, DrawnNode]
"""The nodes that are drawn of a step, by their places in its trace, each after those it reads."""


def graph(trace: Trace, notation: Notation = W) -> Graph:
    """Return the graph of a step, with its weights in a notation."""
    reader = _Reader(trace, notation)
    nodes: Graph = {}
    unread = [trace.x, *trace.before.values(), *trace.after.values(), trace.output]
    while unread:
        place = unread.pop()
        if place not in nodes:
            nodes[place] = reader.drawn(place)
            unread += nodes[place].operands
    return {place: nodes[place] for place in sorted(nodes)}


class _Reader:
    """Reads a trace: how each of its nodes is drawn."""

    def __init__(self, trace: Trace, notation: Notation) -> None:
        self.trace, self.nodes = trace, trace.nodes
        self.letters = letters_of(trace, notation)
        arrays = joined_arrays(trace, notation).items()
        self.joined = {block: letter for letter, blocks in arrays for gate in blocks for block in gate}

    def drawn(self, place: int) -> DrawnNode:
        node, linear = self.nodes[place], OPERATIONS["linear"]
        row = OPERATIONS.get(node.operation, linear)
        if node.operation in ("input", "state"):
            kind = NodeKind.INPUT if node.operation == "input" else NodeKind.BEFORE
            return DrawnNode(kind, row, letter=node.letter)
        below = node if node.operation == WEIGHTS else self.nodes[node.operands[0]]
        if below.operation == WEIGHTS and below.weights and not below.axes and row.operands < 2:
            return DrawnNode(NodeKind.NUMBER, row, letter=below.weights.letter)
        normalised, letters = self._normalised(node.operands[0] if node.letter else place)
        is_sum, letter = normalised in self.trace.sums, node.letter
        if node.letter and not is_sum:
            return DrawnNode(NodeKind.THROUGH, row, (self._whole(normalised),), letter)
        if letters and not node.letter:
            return DrawnNode(NodeKind.PRODUCT, linear, (self._whole(normalised),), weights=tuple(letters))
        if is_sum or (below.operation == WEIGHTS and below.axes):
            products = [*self._products(normalised)]
            kind, activation = (NodeKind.GATE, row) if node.letter else (NodeKind.PRODUCT, linear)
            matrices = tuple(dict.fromkeys(matrix for matrix, _ in products))
            return DrawnNode(kind, activation, tuple(vector for _, vector in products), letter, matrices)
        return DrawnNode(NodeKind.OPERATION, row, tuple(map(self._whole, node.operands)))

    def _normalised(self, place: int) -> tuple[int, list[Letter]]:
        """Return what is normalised to make a value, and the letters of gain and bias; else the value itself."""
        last, letters = place, []
        for operation, beside in (("plus", 1), ("times", 0)):
            node = self.nodes[last]
            weights = self.nodes[node.operands[beside]].weights if node.operation == operation else None
            if weights:
                letters.append(self.letters.weights(weights))
                last = node.operands[1 - beside]
        row = OPERATIONS.get(self.nodes[last].operation)
        return (self.nodes[last].operands[0], letters[::-1]) if row and row.alone else (place, [])

    def _whole(self, place: int) -> int:
        """Return the node that is drawn for a value: x for a direction's half of x."""
        node = self.nodes[place]
        return node.operands[0] if node.operation == "half" else place

    def _products(self, place: int) -> Iterator[tuple[Letter, int]]:
        """Yield the letter of the matrix and the vector of each product in a sum of products and biases."""
        node = self.nodes[place]
        if node.operation in ("plus", "everywhere"):
            for operand in node.operands:
                yield from self._products(operand)
        elif node.operation != WEIGHTS:
            matrix, vector = node.operands
            weights = self.nodes[matrix].weights
            assert weights is not None
            letter = self.joined.get(weights) or self.letters.weights(weights)
            yield letter, self._whole(vector)


# Where it is drawn: each node in a row and a column, then a way for each wire

OUT, NEXT = -1, -2
"""The readers of the output, above all nodes, and of the next states, at the right."""

STEPS = RIGHT, LEFT, UP, DOWN = (1, 0), (-1, 0), (0, -1), (0, 1)

NARROWEST, MARGIN = 7, 2
"""The least width of a box, and how much wider it is than its text."""

TURN, CROSSING, BESIDE = 4, 12, 6
"""How many cells of a wire cost as much as a turn, a crossing, and a cell beside a wire that runs in parallel."""

MOST_TRIES = 8
"""How often there is more room if a wire has no way."""

LETTERS = (NodeKind.INPUT, NodeKind.BEFORE)
"""The nodes that are letters at an edge."""

GATES = (NodeKind.GATE, NodeKind.THROUGH)
COLUMN = {**dict.fromkeys((*GATES, NodeKind.PRODUCT), 2), NodeKind.OPERATION: 1}
"""The nodes that others are placed above, by preference."""

Nodes = tuple[int, ...]
Heading = tuple[GridPoint, GridPoint]
"""A cell, and the step with which a wire enters it."""


def figure(trace: Trace, nodes: Graph, gap: int, signs: Mapping[int, str], notation: Notation = W) -> list[Shape]:
    """Return the shapes of a cell, anywhere on the grid; none if a wire has no way.

    gap: the cells between its columns. signs: the words that replace letters. notation: that of its values.
    """
    grid = NodeGrid(trace, nodes, signs, notation)
    for more in range(0, 2 * MOST_TRIES, 2):
        wiring = Wiring(grid, gap + more, 4 + more)
        if all(wiring.wired(value, reader) for value, reader in wiring.pairs()):
            return _compact([*wiring.shapes, *wiring.unread()])
    return []


class NodeGrid:
    """Rows and columns of nodes, and how each is drawn. The input and the states of the step before are in none.

    lines: of states, the nodes on their way to their next values, in one row from left to right. rows: of each node,
    from 1 for the lowest. columns: from left to right, the nodes of each from bottom to top.
    """

    def __init__(self, trace: Trace, nodes: Graph, signs: Mapping[int, str], notation: Notation) -> None:
        self.trace, self.nodes, self.notation = trace, nodes, notation
        self.readers: dict[int, list[int]] = {place: [] for place in nodes}
        for place, node in nodes.items():
            for operand in node.operands:
                self.readers[operand].append(place)
        self.lines: dict[str, Nodes] = {}
        for letter in trace.before:
            if (line := self._line(letter)) and not {*line} & {*chain(*self.lines.values())}:
                self.lines[letter] = line
        while (ranks := self._ranks()) is None:
            self.lines.popitem()
        self.boxes = {place: _box(self.nodes[place], signs, notation) for place in ranks}
        letters = {place: letter for letter, line in self.lines.items() for place in line}
        levels = {place: (rank, letters.get(place, "")) for place, rank in ranks.items()}
        self.rows = {place: 1 + sorted({*levels.values()}).index(level) for place, level in levels.items()}
        self.columns = self._columns()

    def _line(self, letter: str) -> Nodes:
        """Return the nodes on the shortest way from a state to its next value; nothing if all ways go through gates.

        In a cell of one gate it may go through that.
        """
        gates = sum(node.kind in GATES for node in self.nodes.values())
        ways: dict[int, Nodes] = {self.trace.before[letter]: ()}
        for place, node in self.nodes.items():
            operation = node.kind is NodeKind.OPERATION and not (node.operation.before or node.operation.ordered)
            if operation or (node.kind in GATES and gates == 1):
                read = [ways[operand] for operand in node.operands if operand in ways]
                ways |= {place: (*min(read, key=len), place)} if read else {}
        return ways.get(self.trace.after[letter], ())

    def _ranks(self) -> dict[int, int] | None:
        """Return the rank of each node: the most nodes below it, equal along a line; None if there is no order."""
        ranks = {place: 1 for place, node in self.nodes.items() if node.kind not in LETTERS}
        for _ in self.nodes:
            last = {**ranks}
            for place in ranks:
                beside = next((line for line in self.lines.values() if place in line), ())
                below = [ranks.get(operand, 0) for operand in self.nodes[place].operands if operand not in beside]
                ranks |= dict.fromkeys(beside or (place,), max(ranks[place], 1 + max(below, default=0)))
            if ranks == last:
                return ranks
        return None

    def _columns(self) -> list[Nodes]:
        """Return the columns in the best order that was tried: with short wires and straight lines.

        A node is above one that it reads, if nothing higher reads that one.
        """
        tops: dict[int, Nodes] = {}
        for place, row in sorted(self.rows.items(), key=lambda item: item[::-1]):
            node = self.nodes[place]
            free = [
                (COLUMN.get(self.nodes[operand].kind, 0), operand)
                for operand in node.operands[: 1 if node.operation.ordered else None]
                if operand in tops and operand != self.trace.output and self.rows[operand] < row
                if row == max(self.rows[reader] for reader in self.readers[operand])
            ]
            tops[place] = (*(tops.pop(max(free)[1]) if free else ()), place)
        columns, best = [*tops.values()], list[Nodes]()
        while columns != best:
            best = columns
            others = [(column, [other for other in best if other is not column]) for column in best]
            moves = [[*rest[:at], column, *rest[at:]] for column, rest in others for at in range(len(best))]
            columns = min([best, *moves], key=self._cost)
        return columns

    def _cost(self, columns: list[Nodes]) -> int:
        """Return how long all wires are across, and far more for a line that does not run from left to right."""
        across = {place: number for number, column in enumerate(columns) for place in column}
        lines = [pair for line in self.lines.values() for pair in pairwise(line)]
        length = 0
        for value, readers in self.readers.items():
            ends = [across[reader] for reader in readers]
            ends += [len(columns)] * (value in self.trace.after.values())
            ends += [across[value]] if value in across else [-1] * (value != self.trace.x)
            length += sum(abs(end - ends[-1]) for end in ends) + max(ends, default=0) - min(ends, default=0)
        return length + 1_000 * sum(across[place] >= across[after] for place, after in lines)


def _box(node: DrawnNode, signs: Mapping[int, str], notation: Notation) -> Box:
    """Return how a node is drawn: a gate and a matrix as a box, an operation as a circle, a number small."""
    row = node.operation
    function = (row.function or row.name).translate(signs)
    match node.kind:
        case NodeKind.OPERATION:
            sign = function if row.function else row.drawn
            return Box(0, 0, (len(sign) + 2) | 1, 1, ((sign,),), Style.OPERATION, round=True)
        case NodeKind.NUMBER:
            (number,) = spelled((Term(notation.letter(node.letter)),), signs)
            line: Line = (number,) if row.name == "linear" else (f"{function}(", number, ")")
            return Box(0, 0, (span(line) + 2) | 1, 1, (line,), Style.GATE)
        case NodeKind.GATE | NodeKind.THROUGH:
            lines: tuple[Line, ...] = ((function,), spelled((timed(node.letter, "t", notation),), signs))
        case _:
            lines = tuple(spelled((Term(*letters),), signs) for letters in node.weights)
    entries = 4 * (len(node.operands) // 2) + 3
    width = max([NARROWEST, entries, *(span(line) + MARGIN for line in lines)]) | 1
    bare = node.kind is NodeKind.THROUGH  # it has no weights of its own
    return Box(0, 0, width, len(lines) + 2, lines, Style.OPERATION if bare else Style.GATE, bare)


class Wiring:
    """The shapes of a cell: its nodes in their places, to which its wires are added one after the other.

    inner: of each value, the cells at which another wire may branch off. taken: the value that runs through a cell, up
    or down for True, across for False. around: the cells of boxes and those beside them.
    """

    def __init__(self, grid: NodeGrid, gap: int, channel: int) -> None:
        self.grid, self.boxes = grid, {**grid.boxes}
        self.trace, self.nodes = grid.trace, grid.nodes
        self.middles: dict[int, int] = {}
        self.left, self.right = -2 * len(self.trace.before), gap
        for column in grid.columns:
            width = max(NARROWEST, *(grid.boxes[place].width for place in column))
            self.middles |= dict.fromkeys(column, self.right + width // 2)
            self.right += width + gap
        self.top, self.bottom = -channel, 0
        for row in range(max(grid.rows.values(), default=0), 0, -1):
            places = [place for place in grid.rows if grid.rows[place] == row]
            height = max(self.boxes[place].height for place in places)
            for place in places:
                box = self.boxes[place]
                y = self.bottom + (height - 1) // 2 - (box.height - 1) // 2
                self.boxes[place] = box._replace(x=self.middles[place] - box.width // 2, y=y)
            wires = {operand for place in places for operand in self.nodes[place].operands}
            self.bottom += height + channel + len(wires)
        self.around = {
            cell
            for box in self.boxes.values()
            for cell in combinations(range(box.x - 1, box.x + box.width + 1), range(box.y - 1, box.y + box.height + 1))
        }
        self.shapes: list[Box | Arrow | Dot | Label] = [*self.boxes.values()]
        self.inner: dict[int, set[GridPoint]] = {}
        self.taken: dict[tuple[GridPoint, bool], int] = {}
        self.up = [pair for column in grid.columns for pair in pairwise(column)]
        self.along: list[tuple[int, int]] = []
        for letter, line in grid.lines.items():
            if all(self.middles[place] < self.middles[after] for place, after in pairwise(line)):
                self.along += pairwise((self.trace.before[letter], *line, NEXT))

    def pairs(self) -> list[tuple[int, int]]:
        """Return each value with each of its readers: along lines, up columns, then from the lowest reader up."""
        pairs = [(operand, place) for place, node in self.nodes.items() for operand in node.operands]
        pairs += [(self.trace.output, OUT), *((place, NEXT) for place in dict.fromkeys(self.trace.after.values()))]
        for pair in (*self.along, *self.up):
            pairs.remove(pair)

        def order(pair: tuple[int, int]) -> tuple[int, int, int]:
            value, reader = pair
            aside = value != self.trace.x
            start = self.middles.get(value, self.left if aside else self.right // 2)
            distance = abs(self.middles.get(reader, self.right) - start)
            return self.grid.rows.get(reader, len(pairs)), value, -distance if aside else distance

        return [*self.along, *self.up, *sorted(pairs, key=order)]

    def wired(self, value: int, reader: int) -> bool:
        """Add a wire, with the letter at its end or the dot at its start; return whether it has a way."""
        cells = self._way(value, self._starts(value, reader), self._ends(value, reader))
        if not cells:
            return False
        for before, after in pairwise(cells):
            self.taken |= dict.fromkeys(((cell, before[0] == after[0]) for cell in (before, after)), value)
        self.taken |= dict.fromkeys(combinations((cells[0], cells[-1]), (True, False)), value)
        state = (value, reader) in self.along or reader == NEXT or self.nodes[value].kind is NodeKind.BEFORE
        inner = zip(cells, cells[1:], cells[2:], strict=False)
        turns = [cell for before, cell, after in inner if before[0] != after[0] and before[1] != after[1]]
        self.shapes.append(Arrow((cells[0], *turns, cells[-1]), Style.STATE if state else Style.INPUT))
        x, y = cells[-1]
        if cells[0] in self.inner.get(value, ()):
            self.shapes += [Dot(*cells[0])] if Dot(*cells[0]) not in self.shapes else []
        elif value not in self.boxes:
            self.shapes.append(self._letter(value, cells[0]))
        if reader == OUT:
            self.shapes.append(Label(x, y - 1, (timed("h", "t", self.grid.notation),), Style.OUTPUT, "middle"))
        if reader == NEXT:
            letters = [letter for letter, place in self.trace.after.items() if place == value]
            line = tuple(piece for letter in letters for piece in (", ", timed(letter, "t", self.grid.notation)))[1:]
            self.shapes.append(Label(x + 1, y, line, Style.STATE))
        self.inner.setdefault(value, set()).update(cells[1:-1])
        return True

    def unread(self) -> Iterator[Label]:
        """Yield the letters of the input and the states that nothing reads, below each other."""
        for value, node in self.nodes.items():
            if node.kind in LETTERS and value not in self.inner:
                yield self._letter(value, (self.left, self.bottom + 2 + 2 * value))

    def _letter(self, value: int, cell: GridPoint) -> Label:
        """Return the letter of the input or of a state of the step before, beside the first cell of its wire."""
        x, y = cell
        if value == self.trace.x:
            return Label(x, y + 1, (timed("x", "t", self.grid.notation),), Style.INPUT, "middle")
        before = timed(self.nodes[value].letter, "t−1", self.grid.notation)
        return Label(x - 1, y, (before,), Style.STATE, "end")

    def _free(self, cell: GridPoint) -> bool:
        return (cell, True) not in self.taken and (cell, False) not in self.taken

    def _edge(self, at: int, step: GridPoint) -> list[Heading]:
        """Return the cells of an edge: of a line for a wire that runs up, of a column for one that runs right."""
        if step == UP:
            return [((x, at), step) for x in range(self.left, self.right + 1)]
        return [((at, y), step) for y in range(self.top, self.bottom + 1)]

    def _starts(self, value: int, reader: int) -> set[Heading]:
        """Return where a wire may start, and its first step: at its node, at an edge, or where it branches off."""
        inner, box = self.inner.get(value, set()), self.boxes.get(value)
        starts: list[Heading] = []
        if box:
            starts = [((self.middles[value], box.y - 1), UP)]
            if reader == NEXT or (value, reader) in self.along:
                starts.append(((box.x + box.width, box.y + (box.height - 1) // 2), RIGHT))
        elif not inner:
            starts = self._edge(self.bottom, UP) if value == self.trace.x else self._edge(self.left, RIGHT)
        crossed = {cell for cell in inner for axis in (True, False) if self.taken.get((cell, axis), value) != value}
        return {start for start in starts if self._free(start[0])} | {*combinations(inner - crossed, STEPS)}

    def _ends(self, value: int, reader: int) -> set[Heading]:
        """Return where a wire may end, and its last step: at an edge, or at a side of its reader."""
        if reader < 0:
            ends = self._edge(self.top, UP) if reader == OUT else self._edge(self.right, RIGHT)
        else:
            node, box, middle = self.nodes[reader], self.boxes[reader], self.middles[reader]
            y, below, half = box.y + (box.height - 1) // 2, (middle, box.y + box.height), len(node.operands) // 2
            left, right = ((box.x - 1, y), RIGHT), ((box.x + box.width, y), LEFT)
            ends = [(below, UP)]
            if (value, reader) in self.along and self._free(left[0]):
                ends = [left]
            elif (value, reader) in self.up and self._free(below):
                pass
            elif node.kind is not NodeKind.OPERATION:
                asides = [2 * place for place in range(-half, half + 1) if place or len(node.operands) != 2]
                ends = [((middle + aside, below[1]), UP) for aside in asides]
            elif not node.operation.ordered:
                ends += [left, right]
            elif value != node.operands[0] or not self._free(below):
                ends = [left, right]
        return {end for end in ends if self._free(end[0])}

    def _way(self, value: int, starts: set[Heading], ends: set[Heading]) -> list[GridPoint]:
        """Return the cells of the cheapest way from a start to an end; none if there is no way.

        It crosses other wires only straight, away from where those turn, branch or end.
        """
        if not ends:
            return []
        xs, ys = [x for (x, _), _ in ends], [y for (_, y), _ in ends]
        costs, origins = dict.fromkeys(starts, 0), dict[Heading, Heading]()
        queue = [(0, start) for start in sorted(starts)]  # least cost up to an end, and a heading
        while queue:
            _, heading = heappop(queue)
            (x, y), last = heading
            begins = heading not in origins
            if heading in ends and not begins:
                way = [heading]
                while way[-1] in origins:
                    way.append(origins[way[-1]])
                return [cell for cell, _ in reversed(way)]
            for step in STEPS if self._free((x, y)) and not begins else (last,):
                cell = to_x, to_y = x + step[0], y + step[1]
                upright, here = step[0] == 0, (cell, step)
                inside = self.left < to_x < self.right and self.top < to_y < self.bottom and cell not in self.around
                if step == (-last[0], -last[1]) or not (inside or here in ends):
                    continue
                if (cell, upright) in self.taken or self.taken.get((cell, not upright)) == value:
                    continue
                cost = costs[heading] + 1 + TURN * (step != last) + CROSSING * ((cell, not upright) in self.taken)
                if upright:
                    cost += BESIDE * any(((to_x + aside, to_y), True) in self.taken for aside in (-1, 1))
                if cost < costs.get(here, cost + 1):
                    costs[here], origins[here] = cost, heading
                    across = max(min(xs) - to_x, to_x - max(xs), 0)
                    heappush(queue, (cost + across + max(min(ys) - to_y, to_y - max(ys), 0), here))
        return []


def _compact(shapes: list[Box | Arrow | Dot | Label]) -> list[Shape]:
    """Return shapes without the lines that have only wires that run straight up, away from boxes."""
    lines = {y for shape in shapes if isinstance(shape, Box) for y in range(shape.y - 1, shape.y + shape.height + 1)}
    lines |= {y for shape in shapes if isinstance(shape, Arrow) for _, y in shape.corners}
    lines |= {shape.y for shape in shapes if isinstance(shape, Label)}
    new = {y: number for number, y in enumerate(sorted(lines))}
    return [
        shape._replace(corners=tuple((x, new[y]) for x, y in shape.corners))
        if isinstance(shape, Arrow)
        else moved(shape, (0, new[shape.y] - shape.y))
        for shape in shapes
    ]
