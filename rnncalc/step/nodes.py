"""The nodes of a trace: what a cell's step, or a layer around the cells, does with symbols, operation by operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, partial
from math import prod
from typing import Any, ClassVar, NamedTuple, NoReturn, cast

from rnncalc.conventions.tensor import Role
from rnncalc.errors import DeclarationError
from rnncalc.layers.layer import ONE as ONE
from rnncalc.layers.options import ACTIVATIONS
from rnncalc.records import Frozen
from rnncalc.step.operations import OPERATIONS, Operation
from rnncalc.words import all_of, did_you_mean, one_of

INPUT, STATE, WEIGHTS, STEP, SEQUENCE, AROUND = "input", "state", "weights", "step", "sequence", "around"
"""The kinds of nodes that are not operations.

A STEP is one vector of the window that a layer reads; a SEQUENCE is each vector of a sequence that it reads whole.
AROUND is for each of its steps a window of the numbers around it, of vectors that have a number for each step.
"""

JOINED = "T·m"
"""The width of the vectors of a window, one after the other."""

STEPS = "T"
"""The width of a vector with a number for each step of a sequence."""

HEADS = "h"
"""The letter of the number of heads."""

MATRICES = ("matrix", "convolve")
"""The operations that multiply by a matrix, once or at each place of a step."""

PAIRED = ("dot", "mix")
"""The operations on a vector and each vector of a sequence, whose multiplications count like those of matrices."""


class Repeats(NamedTuple):
    """How often what a layer computes is computed in a pass: for how many steps, and for how many heads.

    outputs: the steps of its output. steps: those of the sequence that it reads whole. pairs: of one of each that are
    computed with each other.
    """

    outputs: int = 1
    steps: int = 1
    pairs: int = 1
    heads: int = 1

    @property
    def at_the_last(self) -> Repeats:
        """The same for the last step of the output alone, and of a sequence of its own for one step of that."""
        return Repeats(1, self.steps if self.outputs == 1 else 1, self.steps, self.heads)

    def number(self, letters: Collection[str]) -> int:
        """Return how often a value is computed that differs with these letters, as `Trace.repeats` has them."""
        steps = {"t": self.outputs, "s": self.steps, "st": self.pairs, "": 1}
        return steps["".join(sorted({*letters} - {"i"}))] * (self.heads if "i" in letters else 1)


ONCE = Repeats()

_REPEATS = {
    INPUT: ("t", ""),
    STATE: ("t", ""),
    STEP: ("t", ""),
    SEQUENCE: ("s", ""),
    "mix": ("", "s"),
    "current": ("t", "s"),
    "heads": ("i", ""),
    "concat": ("", "i"),
}
"""The letter that an operation adds to those of its operands, and the one that it removes."""


def repeats_of(nodes: Sequence[Node]) -> list[frozenset[str]]:
    """Return the letters of what each node differs with, as in `Trace.repeats`."""
    letters: list[frozenset[str]] = []
    for node in nodes:
        more, fewer = _REPEATS.get(node.operation, ("", ""))
        more = "ts" if node.operation == STATE and node.width == STEPS else more
        letters.append(frozenset(more).union(*[letters[operand] for operand in node.operands]) - {fewer})
    return letters


def made_of(nodes: Sequence[Node], ends: Collection[int]) -> set[int]:
    """Return the places of some values and of all that they are made of."""
    reached = {*ends}
    for place in range(len(nodes) - 1, -1, -1):
        if place in reached:
            reached.update(nodes[place].operands)
    return reached


class Weights(NamedTuple):
    """Which weights of a cell: those of a gate's product or bias, or those beside the gates.

    letter: of the gate, the first where several share a matrix; or of a part beside the gates.
    vector: what a product multiplies, x or a state; of one of two biases of a gate, beside which product it is.
    shared: the letters of a matrix that gates share.
    """

    role: Role
    letter: str
    vector: str = ""
    shared: str | None = None

    @property
    def matrix(self) -> str:
        """The letters of the matrix: of its gate, or of the gates that share it."""
        return self.letter if self.shared is None else self.shared


class Node(NamedTuple):
    """One operation of a step.

    operation: the name of its row, or INPUT, STATE or WEIGHTS. operands: the places of its operands.
    width: the letter of the result's width, "" for a matrix.
    letter: of x, of a state before the step, or of the gate whose value it is.
    weights: which they are; axes: the letters of their widths, none of a number.
    number: of a STEP, which vector of the window; of a part, which of the equal parts of a vector; of the product of a
        layer's matrix, how many groups of its rows each read a part of the vector; of an AROUND, how many numbers in a
        window.
    """

    operation: str
    operands: tuple[int, ...] = ()
    width: str = ""
    letter: str = ""
    weights: Weights | None = None
    axes: tuple[str, ...] = ()
    number: int = 0

    @property
    def in_groups(self) -> bool:
        """Whether it is a product in several groups."""
        return self.operation == "matrix" and self.number > 1

    @property
    def apart(self) -> range:
        """How far from each step the numbers of an AROUND are; one more is after it than before if they are even."""
        return range(-((self.number - 1) // 2), self.number // 2 + 1)

    @property
    def author_name(self) -> str:
        """What the author of a step or of a `compute` calls it."""
        if self.operation == STEP:
            return f"window[{self.number}]"
        functions = {"matrix": "product", "row": "lookup", **dict.fromkeys(ACTIVATIONS, "activate")}
        return self.letter or f"the result of ops.{functions.get(self.operation, self.operation)}"


class Operand:
    """A vector while a step is traced: the place of its node."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("add and multiply with ops.plus(a, b), ops.times(a, b) and their like, for any value")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __matmul__ = __rmatmul__ = __truediv__ = __rtruediv__ = __neg__ = __pow__ = __iter__ = _refuse
    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


class Trace(Frozen):
    """The step of a cell as nodes, each after its operands; equal operations are one node.

    x: the place of the step's input; before, after: of the states, by letter; output: of its output.
    gates: of the gates, in the order in which the step makes them. sums: of the sums of products and biases that gates
        are made of.
    """

    nodes: Sequence[Node]
    x: int
    before: Mapping[str, int]
    after: Mapping[str, int]
    output: int
    gates: Mapping[str, int]
    sums: Collection[int]

    __eq__, __hash__ = object.__eq__, object.__hash__  # each step has one trace

    @cached_property
    def repeats(self) -> Sequence[frozenset[str]]:
        """What each value differs with: t, the step of the output; s, that of a sequence that is read whole; i, heads.

        It is computed once for each. A vector of a number for each step s differs with s, as its numbers do.
        """
        return repeats_of(self.nodes)

    @cached_property
    def across(self) -> bool:
        """Whether a matrix makes a number for each step of those of all steps; such vectors are written as a whole."""
        return any(node.operation == "matrix" and node.width == STEPS for node in self.nodes)

    def work(self, place: int) -> tuple[tuple[str, ...], frozenset[str]]:
        """Return the axes of a product, of a matrix or of pairs, and what it is done for, as in `repeats`."""
        node = self.nodes[place]
        first, vector = node.operands
        repeats = self.repeats[first] | self.repeats[vector]
        if node.operation in PAIRED:
            return (self.nodes[vector].width,), repeats
        axes = self.nodes[first].axes[node.width == STEPS :]  # of a number for each step, as many times
        return (*axes, "q") if node.operation == "convolve" else tuple([axis for axis in axes if axis != ONE]), repeats

    @cached_property
    def _work(self) -> Mapping[tuple[tuple[str, ...], frozenset[str]], int]:
        """The axes of the products, what they are done for, and how many products have them."""
        products = (place for place, node in enumerate(self.nodes) if node.operation in (*MATRICES, *PAIRED))
        return Counter(map(self.work, products))

    def multiply_adds(self, sizes: Mapping[str, int], repeats: Repeats = ONCE) -> int:
        """Return the multiplications in products of a matrix and a vector, with numbers for the letters of widths."""
        return sum(
            [
                times * repeats.number(letters) * prod([sizes[letter] for letter in axes])
                for (axes, letters), times in self._work.items()
            ]
        )


class Recorder:
    """Makes the nodes of a trace; a subclass says which widths are equal and what is declared.

    protocol: lists the operations that are not in the table. function: what is traced, in messages.
    """

    protocol: ClassVar[type]
    function: ClassVar[str]

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._places: dict[Node, int] = {}
        self._nodes: list[Node] = []

    def _place(self, node: Node) -> int:
        """Return the place of a node; an equal one is reused."""
        if node not in self._places:
            self._places[node] = len(self._nodes)
            self._nodes.append(node)
        return self._places[node]

    def activate(self, activation: str, vector: Operand) -> Operand:
        if activation not in ACTIVATIONS:
            raise self._error(f"ops.activate: expected {one_of(ACTIVATIONS)}, got {activation!r}")
        place = self._vector(vector)
        if activation == "linear":
            return vector
        return Operand(self._place(Node(activation, (place,), self._nodes[place].width)))

    def blend(self, gate: Operand, where_one: Operand, where_zero: Operand) -> Operand:
        ones = self.times(gate, where_one)
        return cast("Operand", self.plus(ones, self.times(self.complement(gate), where_zero)))

    def __getattr__(self, name: str) -> Any:
        """Return a function for an operation of the table, by its name."""
        row = OPERATIONS.get(name)
        if row and not row.beside and name not in ACTIVATIONS:
            return partial(self._operate, row)
        if name.startswith("__"):
            raise AttributeError(name)
        names = [each for each in vars(self.protocol) if not each.startswith("_")]
        names += [each for each, row in OPERATIONS.items() if not row.beside and each not in (*names, *ACTIVATIONS)]
        near = did_you_mean(name, names)
        raise self._error(f"{self.function} uses ops.{name}, and there is none{near}; there are {all_of(names)}")

    def _operate(self, row: Operation, *operands: Operand) -> Operand:
        """Return the result of an operation; its operands have one width, except for one that is a number."""
        if len(operands) != row.operands:
            raise TypeError(f"ops.{row.name} takes {row.operands} vectors, got {len(operands)}")
        if row.number is not None:
            self._expect("what scales or shifts a vector", operands[row.number], ONE)
        places = tuple(map(self._vector, operands))
        widths = [self._nodes[place].width for number, place in enumerate(places) if number != row.number]
        for width in widths:
            if self._width(width) != self._width(widths[0]):
                message = f"vectors of the widths {self._width(widths[0])} and {self._width(width)} meet"
                raise self._error(f"{message}, where one width is needed")
        return Operand(self._place(Node(row.name, places, widths[0])))

    def _error(self, message: str) -> DeclarationError:
        return DeclarationError(f"{self.kind}: {message}")

    def _width(self, letter: str) -> str:
        """Return one letter for all widths that are equal."""
        raise NotImplementedError

    def _vector(self, value: object, what: str = "what an operation is done with") -> int:
        if not isinstance(value, Operand):
            raise self._error(f"{what} is {value!r}, which is no vector")
        return value.place

    def _expect(self, what: str, vector: object, letter: str) -> int:
        """Return the place of a vector of the required width."""
        place = self._vector(vector, what)
        width = self._width(self._nodes[place].width)
        if width != self._width(letter):
            raise self._error(f"{what} has the width {width}, and {letter} is declared")
        return place
