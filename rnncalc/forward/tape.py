"""A tape: the operations of a pass in order, each with what goes back through it, and what going back was seen to do.

Going back records which forward values are read and how many multiplications are done, as the meter does on the way
forward. Knows no network, no cell and no operation: those are `taped.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import mul

from rnncalc.forward import vectors
from rnncalc.forward.arrays import Matrix, Nested, Piece
from rnncalc.forward.vectors import Rows, Vector

Through = Callable[[Vector], None]
"""What goes back through an operation: takes the gradient of what it made, and adds to those of what it read."""


class Node:
    """A vector on a tape: its numbers, and the gradient of the loss with respect to it, once that is known.

    needs: whether anything trained lies below it, so that its gradient is asked for. weights: whether it is a trained
    number itself, which is no value that is held. complements: what it is one minus, which is held in its place; whole:
    what it is half of, which is held in its place too.
    """

    __slots__ = ("complements", "gradient", "needs", "numbers", "weights", "whole")

    def __init__(self, numbers: Vector, *, needs: bool) -> None:
        self.numbers = numbers
        self.needs = needs
        self.weights = False
        self.complements: Node | None = None
        self.whole: Node | None = None
        self.gradient: Vector | None = None

    def add(self, gradient: Vector) -> None:
        """Add to the gradient."""
        self.gradient = gradient if self.gradient is None else vectors.plus(self.gradient, gradient)


class LayerTape:
    """What going back through one layer was seen to do, and the gradients of its weights.

    gradients: of each tensor by its name, in the shape of the weights; empty where they are not trained.
    multiplications: those of matrix products. held: for each chunk the numbers of each forward value that was read, by
    the value's identity.
    """

    def __init__(self, weights: Mapping[str, Nested], *, trained: bool) -> None:
        self.trained = trained
        self.gradients = {name: _zeros(array) for name, array in weights.items()} if trained else {}
        self.multiplications = 0
        self.held: dict[int, dict[int, int]] = {}
        self._uses: dict[int, tuple[Matrix, LayerTape, list[Vector], list[Vector]]] = {}

    def hold(self, value: object, numbers: int, chunk: int) -> None:
        """Record that a backward equation read a forward value, which must outlive the way back."""
        self.held.setdefault(chunk, {})[id(value)] = numbers

    @property
    def held_at_once(self) -> int:
        """The most numbers that were held for one chunk."""
        return max((sum(values.values()) for values in self.held.values()), default=0)

    def use(self, matrix: Matrix, owner: LayerTape, gradient: Vector, read: Vector) -> None:
        """Note one use of a matrix: whose it is, the gradient of its product, and the vector that it multiplied."""
        _, _, gradients, inputs = self._uses.setdefault(id(matrix), (matrix, owner, [], []))
        gradients.append(gradient)
        inputs.append(read)

    def add(self, piece: Piece, rows: Rows) -> None:
        """Add to the gradient of a piece of the weights; that of a vector is one row."""
        array = self.gradients[piece.name]
        for place in piece.at:
            array = array[place]
        if not isinstance(array[0], list):
            (row,) = rows
            stop = piece.start + len(row)
            array[piece.start : stop] = vectors.plus(array[piece.start : stop], row)
            return
        for number, row in enumerate(rows, piece.start):
            if piece.transposed:
                for line, gradient in zip(array, row, strict=True):
                    line[number] += gradient
            else:
                array[number] = vectors.plus(array[number], row)

    def finish(self) -> None:
        """Multiply out the gradients of matrices, all uses of one together: the sum over the steps."""
        for matrix, owner, gradients, inputs in self._uses.values():
            columns = [*zip(*inputs, strict=True)]
            rows = [[sum(map(mul, row, column)) for column in columns] for row in zip(*gradients, strict=True)]
            self.multiplications += len(inputs) * len(rows) * len(columns)
            owner.add(matrix.origin.piece, rows)
        self._uses.clear()


def _zeros(array: Nested) -> Nested:
    return [_zeros(each) for each in array] if isinstance(array, list) else 0.0


class Tape:
    """The operations of a pass.

    chunk: how many steps are gone back through together, all of them where None. every: whether every value has a
    gradient, also if nothing that is trained lies below it. operations: how many were noted;
    numbers: how many they made, all of which the tape keeps until it has gone back. carried: the states that went from
    a step to the next, by the number of the later one in time.
    """

    def __init__(self, chunk: int | None = None, *, every: bool = False) -> None:
        self.chunk = chunk
        self.every = every
        self.now = 0
        self.operations = self.numbers = 0
        self.carried: list[tuple[int, Node]] = []
        self.owners: dict[int, LayerTape] = {}  # whose a matrix is that another layer may use too, by its identity
        self._made: list[tuple[Node, Through]] = []

    def at(self, step: int) -> None:
        """Say which step is being taken, counted from 0."""
        self.now = step // self.chunk if self.chunk else 0

    def stops(self, border: int) -> bool:
        """Return whether no gradient goes from the step of this number, counted from 0, to the one before."""
        return self.chunk is not None and border % self.chunk == 0

    def note(self, made: Node, through: Through) -> None:
        """Note an operation: what it made, and what goes back through it."""
        self.operations += 1
        self.numbers += len(made.numbers)
        self._made.append((made, through))

    def back(self) -> None:
        """Go back, once, from the gradients that have been set."""
        while self._made:
            node, through = self._made.pop()
            if node.gradient is not None:
                through(node.gradient)
