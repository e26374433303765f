"""Arrays of weights for a forward pass, and the meter that watches them being used.

What was read and multiplied is recorded here, where it happens, once a product: the pass itself states nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from rnncalc.conventions.tensor import Tensor
from rnncalc.step.operations import Rows, Vector, product

Nested = Any
"""Floats in lists in lists, as deep as a shape is long."""


Progress = Callable[[int], None]
"""Told after each product how many multiplications it was."""


class BindingError(Exception):
    """The declaration lacks what a pass needs, or has it in another way; the message says what."""


class Meter:
    """What one layer was seen to do: which weights it read, and the multiplications of its matrix products."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.multiplications = 0
        self._progress = progress
        self._read: dict[object, int] = {}

    @property
    def weights_read(self) -> int:
        """The number of different weights read."""
        return sum(self._read.values())

    def read(self, what: object, scalars: int) -> None:
        """Record that a piece of a tensor was read, and how much of it."""
        self._read[what] = max(scalars, self._read.get(what, 0))

    def product(self, matrix: Matrix, x: Vector) -> Vector:
        """Return the matrix times x."""
        width = len(matrix.rows[0]) if matrix.rows else 0
        if width != len(x):
            raise BindingError(f"{matrix.name}: rows of {width} weights cannot multiply {len(x)} numbers")
        done = product(matrix.rows, x)
        self.multiplications += len(done) * width
        if self._progress:
            self._progress(len(done) * width)
        if not matrix.shared:
            self.read(matrix.key, len(done) * width)
        return done

    def vector(self, weights: WeightVector) -> Vector:
        """Return the weights themselves, a bias or a state."""
        self.read(weights.key, len(weights.numbers))
        return weights.numbers


class Piece(NamedTuple):
    """Where a matrix or a vector lies in a tensor: at a place of its first axes, from `start` on, perhaps turned."""

    name: str
    at: tuple[int, ...] = ()
    start: int = 0
    transposed: bool = False


class Matrix:
    """Rows of weights, output by input, and which piece of which tensor they are; `shared` if another layer owns it."""

    def __init__(self, name: str, rows: Rows, piece: Piece | None = None, *, origin: Matrix | None = None) -> None:
        self.name = name
        self.key = (name, piece)
        self.rows = rows
        self.piece = piece or Piece(name)
        self.shared = origin is not None
        self._origin = origin
        self._columns: Rows | None = None

    @property
    def origin(self) -> Matrix:
        """The matrix of the layer that owns it, itself where that is this one."""
        return self._origin or self  # kept as itself it would be a cycle, and stay until one is looked for

    @property
    def columns(self) -> Rows:
        """The columns of the rows, which going back multiplies; made when they are first asked for."""
        if self._columns is None:
            self._columns = [[*column] for column in zip(*self.rows, strict=True)]
        return self._columns

    def shared_with(self, name: str) -> Matrix:
        """Return the same rows as another layer uses them, which reads none of its own."""
        return Matrix(name, self.rows, origin=self)


class WeightVector:
    """A vector of weights, and which piece of which tensor it is."""

    def __init__(self, piece: Piece, numbers: Vector) -> None:
        self.key = self.piece = piece
        self.numbers = numbers


class Arrays:
    """The arrays of one layer, made in the shapes its tensors declare, and handed out in pieces by name."""

    def __init__(self, given: dict[str, Nested], tensors: Iterable[Tensor] = (), copy: int = 0) -> None:
        self.copy = copy
        self._given = given
        self._gates = {tensor.name: tensor.gates for tensor in tensors}

    @property
    def scalars(self) -> int:
        """The number of weights there are."""
        return sum(map(_scalars, self._given.values()))

    def matrix(
        self, name: str, rows: slice = slice(None), *, transposed: bool = False, at: tuple[int, ...] = ()
    ) -> Matrix:
        """Return some rows of a matrix, or, where it lies input by output, some columns as rows.

        at: the place of the matrix in an array of more axes.
        """
        array = self._array(name, at)
        if not array or not isinstance(array[0], list):
            raise BindingError(f"{name}: a matrix is needed, a vector is declared")
        if transposed:
            columns = [[row[column] for row in array] for column in range(len(array[0]))[rows]]
            return Matrix(name, columns, Piece(name, at, rows.start or 0, transposed=True))
        return Matrix(name, array[rows], Piece(name, at, rows.start or 0))

    def vector(self, name: str, numbers: slice = slice(None), *, at: tuple[int, ...] = ()) -> WeightVector:
        """Return some numbers of a vector; `at` is its place in an array of more axes."""
        array = self._array(name, at)
        if not isinstance(array, list) or (array and isinstance(array[0], list)):
            raise BindingError(f"{name}: a vector is needed, a matrix is declared")
        return WeightVector(Piece(name, at, numbers.start or 0), array[numbers])

    def gates(self, name: str, order: str, units: int) -> dict[str, slice]:
        """Return where each gate lies in a fused tensor. Raises BindingError where another order is declared."""
        declared = self._gates.get(name, order)
        if declared != order:
            raise BindingError(f"{name}: the gates lie in it as {order}, and {declared} is declared")
        return {letter: slice(number * units, (number + 1) * units) for number, letter in enumerate(order)}

    def _array(self, name: str, at: tuple[int, ...]) -> Nested:
        array = self._given.get(name)
        for place in at:
            array = array[place] if isinstance(array, list) and place < len(array) else None
        if array is None:
            raise BindingError(f"{name}: needed, but not declared")
        return array


def _scalars(nested: Nested) -> int:
    if not isinstance(nested, list):
        return 1
    if not nested or not isinstance(nested[0], list):
        return len(nested)
    rows = bool(nested[0]) and not isinstance(nested[0][0], list)
    return sum(map(len if rows else _scalars, nested))


VALUES = 4_096


def filled(tensor: Tensor, bound: float, random: Callable[[], float]) -> Nested:
    """Return an array of the tensor's shape with numbers between -bound and bound; `random` gives them from 0 to 1.

    The numbers are on a grid of VALUES, so that equal ones are one object: a weight then takes the 8 bytes of its
    place in a list, not the 40 of a float of its own beside them.
    """
    return _filled(tensor.shape, _grid(bound), random)


@lru_cache(maxsize=1)  # the tensors of a layer, and of equal layers one after another, have one bound
def _grid(bound: float) -> list[float]:
    return [bound * (2 * step / VALUES - 1) for step in range(VALUES)]


def _filled(shape: tuple[int, ...], grid: list[float], random: Callable[[], float]) -> Nested:
    """Return an array of numbers from a grid. No closure: one that calls itself would keep its grid for ever."""
    if len(shape) == 1:
        return [grid[int(random() * VALUES)] for _ in range(shape[0])]
    return [_filled(shape[1:], grid, random) for _ in range(shape[0])]


def flat(nested: Nested) -> Iterator[float]:
    """Yield the numbers of an array, the last axis fastest."""
    if isinstance(nested, list):
        for each in nested:
            yield from flat(each)
    else:
        yield nested


def shape_of(nested: Nested) -> tuple[int, ...]:
    """Return the shape of an array."""
    return (len(nested), *shape_of(nested[0])) if isinstance(nested, list) else ()


def number_at(nested: Nested, place: Iterable[int]) -> float:
    """Return the number at a place of an array, which has a number for each axis."""
    for number in place:
        nested = nested[number]
    return float(nested)
