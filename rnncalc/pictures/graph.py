"""What is drawn of a step: its trace, in which each sum of a gate's products and biases is one box.

Says nothing about positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from rnncalc.conventions.notation import Notation, W
from rnncalc.step.equations import Letter, letters_of, stacks
from rnncalc.step.operations import OPERATIONS, Operation
from rnncalc.step.trace import WEIGHTS, Trace


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


class Graph(NamedTuple):
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
        for product in self._products(place):
            by, read = self.nodes[product].operands
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
