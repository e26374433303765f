"""Where the nodes of a cell stand: in rows from the input up, and in columns that lines run up through freely.

A state that goes through operations alone to its next value runs straight from left to right, in a row of its own: its
line. A column holds nodes each of which reads the one below it and nothing that reads that one stands higher; so a line
that leaves a node upwards meets no other. Knows no cell, and no width or height in characters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rnncalc.reports.pictures.cell_graph import Does, DrawnNode, Graph


def along(node: DrawnNode) -> bool:
    """Return whether a node may stand on a state's line."""
    return node.does is Does.OPERATION and not node.operation.before


OUT = -1
"""The place of what is handed on, above all nodes."""


class Places(NamedTuple):
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


def places(graph: Graph, without: frozenset[str] = frozenset()) -> Places:
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
    return Places(graph, lines, rows, _columns(rows, below), below)


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
    gates = [place for place, node in enumerate(graph.nodes) if node.does in (Does.GATE, Does.THROUGH)]
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
            low = graph.nodes[head].does in (Does.INPUT, Does.BEFORE)
            ranks[head] = 0 if low else 1 + max((ranks[of] for of in reads[head]), default=0)
    return {place: ranks[head] for head, found in members.items() for place in found}


def _rows(graph: Graph, lines: Mapping[str, tuple[int, ...]], ranks: dict[int, int]) -> dict[int, int]:
    """Return a row for each rank, and above it one for each line of the rank; a bare number stands below its reader."""
    targets = _targets(graph)
    for place, node in enumerate(graph.nodes):
        if node.does is Does.NUMBER:
            above = [ranks[of] for of in targets[place] if of != OUT]
            ranks[place] = max(1, min(above, default=1) - 1)
    lined = {place: letter for letter, line in lines.items() for place in line}
    standing = [place for place, node in enumerate(graph.nodes) if node.does is not Does.BEFORE]
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
            below[place] = max(fitting, key=lambda of: (PREFERRED.get(graph.nodes[of].does, 1), of))
    return below


PREFERRED = {Does.GATE: 2, Does.THROUGH: 2, Does.PRODUCT: 2, Does.NUMBER: 0}
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
