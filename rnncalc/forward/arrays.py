"""The values of a forward pass: weights in arrays, the meter that records their use, and vectors.

Reads and multiplications are recorded here, where they happen, once for each product. The pass declares none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import product as combinations
from math import copysign, prod, sqrt
from random import Random
from typing import Any, NamedTuple, Protocol, TypeVar

from rnncalc.conventions.tensor import Role, Tensor
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External
from rnncalc.network.flow import Input
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.step.nodes import Weights
from rnncalc.step.operations import Operation, Rows, Vector, product

Value = TypeVar("Value")

Nested = Any
"""Nested lists of floats, one level for each axis."""


Progress = Callable[[int], None]
"""Called after each product with the number of its multiplications."""


class BindingError(Exception):
    """A tensor that a pass needs is not declared, or declared differently; the message names it."""


class Meter:
    """Records the use of one layer's weights: those read, and the multiplications of its matrix products."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.multiplications = 0
        self._progress = progress
        self._read: dict[object, int] = {}
        self._matrices: set[Matrix] = set()  # those multiplied by, each of which is noted once

    @property
    def weights_read(self) -> int:
        """The number of different weights read."""
        return sum(self._read.values())

    def read(self, what: object, scalars: int) -> None:
        """Record that a piece of a tensor was read, and how much of it."""
        self._read[what] = max(scalars, self._read.get(what, 0))

    def product(self, matrix: Matrix, x: Vector) -> Vector:
        """Return the matrix times x; for a convolution, at each place."""
        done = matrix.times(x)
        self.multiplied(len(done) * matrix.width)
        if matrix not in self._matrices:
            self._matrices.add(matrix)
            if not matrix.shared:
                self.read(matrix.piece, len(matrix.rows) * matrix.width)
        return done

    def multiplied(self, number: int) -> None:
        """Record multiplications."""
        self.multiplications += number
        if self._progress:
            self._progress(number)

    def vector(self, weights: WeightVector) -> Vector:
        """Return the weights themselves, a bias or a state."""
        self.read(weights.piece, len(weights.numbers))
        return weights.numbers


class TensorPart(NamedTuple):
    """A matrix or a vector within a tensor: its index on the first axes, its first row, and whether transposed.

    below: how many rows of the array are above those that its columns are, where it is transposed.
    taps: the places of a convolution's kernel, all or one, or the heads among a matrix's columns. each: the numbers of
    each head among its rows.
    """

    name: str
    at: tuple[int, ...] = ()
    start: int = 0
    transposed: bool = False
    taps: tuple[tuple[int, ...], ...] = ()
    each: int = 0
    below: int = 0

    def number(self, filters: int, column: int, channels: int) -> tuple[int, ...]:
        """Return the index in the tensor of a convolution's weight, from its filter and its column."""
        tap, channel = self.taps[column // channels], column % channels
        rows = divmod(filters, self.each) if self.each else (filters,)
        return (*tap, channel, *rows) if self.transposed else (*rows, channel, *tap)


class Matrix:
    """A matrix of weights with a row for each output, and its piece of a tensor.

    origin: the matrix that it shares. declaration: which weights of a cell they are.
    """

    def __init__(self, name: str, rows: Rows, piece: TensorPart | None = None, *, origin: Matrix | None = None) -> None:
        self.name = name
        self.rows = rows
        self.width = len(rows[0]) if rows else 0
        self.piece = piece or TensorPart(name)
        self.shared = origin is not None
        self._origin = origin
        self.declaration: Weights | None = None

    @property
    def origin(self) -> Matrix:
        """The matrix of the layer that owns the weights; itself if this layer does."""
        return self._origin or self  # a reference to itself would be a cycle, freed only by the collector

    @cached_property
    def columns(self) -> Sequence[Sequence[float]]:
        """The columns of the matrix, which the backward pass multiplies."""
        return [*zip(*self.rows, strict=True)]

    def times(self, x: Vector) -> Vector:
        """Return the matrix times x; for a convolution, at each place."""
        if len(x) != self.width:
            raise BindingError(f"{self.name}: rows of {self.width} weights cannot multiply {len(x)} numbers")
        return product(self.rows, x)

    def shared_with(self, name: str) -> Matrix:
        """Return the same matrix for another layer, which then reads no weights of its own."""
        return Matrix(name, self.rows, origin=self.origin)


class Convolution(Matrix):
    """The weights of a convolution that keeps the space: a row for each filter, its channels at each tap in turn.

    Each place reads the places around it, with zeros beyond the edges. An even kernel reads one place more after it
    than before it.
    """

    def __init__(self, name: str, rows: Rows, piece: TensorPart, space: tuple[int, ...], kernel: int) -> None:
        super().__init__(name, rows, piece)
        self.channels = len(rows[0]) // len(piece.taps)
        self.reads = _places_around(space, piece.taps, kernel)

    def around(self, x: Vector) -> Iterator[Vector]:
        """Yield for each place the numbers of the places around it, one after the other."""
        channels = self.channels
        if len(x) != len(self.reads) * channels:
            raise BindingError(f"{self.name}: {len(self.reads)} places of {channels} channels are not {len(x)} numbers")
        zeros = [0.0] * channels
        for reads in self.reads:
            yield [n for at in reads for n in (zeros if at is None else x[at * channels : (at + 1) * channels])]

    def times(self, x: Vector) -> Vector:
        return [number for around in self.around(x) for number in product(self.rows, around)]

    def kernel(self, rows: Rows) -> Nested:
        """Return such rows, the weights or their gradient, by filter, channel and place along each axis."""
        side = self.piece.taps[-1][-1] + 1
        filters = [[row[channel :: self.channels] for channel in range(self.channels)] for row in rows]
        if len(self.piece.taps[-1]) == 1:
            return filters
        return [[[taps[at : at + side] for at in range(0, len(taps), side)] for taps in row] for row in filters]

    def outer(self, gradient: Vector, x: Vector) -> list[tuple[Vector, Vector]]:
        """Return for each place two vectors. The sum of their outer products is the gradient of the weights."""
        filters = len(self.rows)
        parts = (gradient[at : at + filters] for at in range(0, len(gradient), filters))
        return [*zip(parts, self.around(x), strict=True)]

    def spread(self, gradient: Vector) -> Vector:
        """Return the gradient of the input from the gradient of the output."""
        channels, filters = self.channels, len(self.rows)
        sums = [0.0] * (len(self.reads) * channels)
        for place, reads in enumerate(self.reads):
            patch = product(self.columns, gradient[place * filters : (place + 1) * filters])
            for tap, at in enumerate(reads):
                for channel in range(channels) if at is not None else ():
                    sums[(at or 0) * channels + channel] += patch[tap * channels + channel]
        return sums


@lru_cache(maxsize=8)
def _places_around(
    space: tuple[int, ...], taps: tuple[tuple[int, ...], ...], kernel: int
) -> tuple[tuple[int | None, ...], ...]:
    """Return for each place of a space those that the taps of a kernel read, the last axis fastest, None beyond."""
    before = (kernel - 1) // 2
    numbers = {place: number for number, place in enumerate(combinations(*map(range, space)))}
    return tuple(
        tuple(numbers.get(tuple([at + tap - before for at, tap in zip(place, each, strict=True)])) for each in taps)
        for place in numbers
    )


class WeightVector:
    """A vector of weights, and its piece of a tensor. declaration: which weights of a cell they are."""

    def __init__(self, piece: TensorPart, numbers: Vector) -> None:
        self.piece = piece
        self.numbers = numbers
        self.declaration: Weights | None = None


class Arrays:
    """The arrays of one layer, in the shapes of its tensors; returns pieces of them by name.

    buffers: the names of the arrays that are not parameters.
    """

    def __init__(
        self, numbers: dict[str, Nested], tensors: Iterable[Tensor] = (), copy: int = 0, buffers: Collection[str] = ()
    ) -> None:
        self.copy = copy
        self.buffers = buffers
        self._numbers = numbers
        self._gates = {tensor.name: tensor.gates for tensor in tensors}

    @property
    def scalars(self) -> int:
        """The number of weights."""
        return sum(prod(shape_of(array)) for name, array in self._numbers.items() if name not in self.buffers)

    def matrix(
        self,
        name: str,
        rows: slice = slice(None),
        *,
        transposed: bool = False,
        at: tuple[int, ...] = (),
        last: int | None = None,
        reads: slice = slice(None),
    ) -> Matrix:
        """Return some rows of a matrix. If it is stored input by output, return some columns as rows.

        reads: the part of what it reads, if it is stored input by output. at: the index of the matrix on the first axes
        of its array. last: its index on an extra last axis.
        """
        array = self._array(name, at)
        if last is not None:
            kept = [[_number(name, cell, last) for cell in row] for row in array[rows]]
            return Matrix(name, kept, TensorPart(name, at, rows.start or 0, taps=((last,),)))
        if not array or not isinstance(array[0], list):
            raise BindingError(f"{name}: a matrix is needed, a vector is declared")
        if transposed:
            columns = [[row[column] for row in array[reads]] for column in range(len(array[0]))[rows]]
            piece = TensorPart(name, at, rows.start or 0, transposed=True, below=reads.start or 0)
            return Matrix(name, columns, piece)
        return Matrix(name, array[rows], TensorPart(name, at, rows.start or 0))

    def convolution(
        self, name: str, rows: slice, space: tuple[int, ...], kernel: int, *, transposed: bool = False
    ) -> Convolution:
        """Return some filters of a convolution; transposed: stored with the places first and the filters last."""
        array = self._array(name, ())
        taps = tuple(combinations(range(kernel), repeat=len(space)))
        piece = TensorPart(name, (), rows.start or 0, transposed, taps=taps)
        first = within(array, taps[0]) if transposed else array[0]
        channels, filters = len(first), len(first[0]) if transposed else len(array)
        columns = range(len(taps) * channels)
        numbers = [
            [number_at(array, piece.number(row, column, channels)) for column in columns]
            for row in range(filters)[rows]
        ]
        return Convolution(name, numbers, piece, space, kernel)

    def of_heads(self, name: str, *, in_rows: bool) -> Matrix:
        """Return the matrix of an array with an axis for heads: input by heads by rows, or heads by input by rows."""
        array = self._array(name, ())
        if in_rows:
            piece = TensorPart(name, transposed=True, taps=((),), each=len(array[0][0]))
            columns = [[number for head in column for number in head] for column in array]
        else:
            piece = TensorPart(name, transposed=True, taps=tuple([(head,) for head in range(len(array))]))
            columns = [column for head in array for column in head]
        return Matrix(name, [[*row] for row in zip(*columns, strict=True)], piece)

    def vector_of_heads(self, name: str) -> WeightVector:
        """Return the vector of an array that has an axis for heads."""
        array = self._array(name, ())
        return WeightVector(TensorPart(name, each=len(array[0])), [number for head in array for number in head])

    def vector(self, name: str, numbers: slice = slice(None), *, at: tuple[int, ...] = ()) -> WeightVector:
        """Return some numbers of a vector; `at` is its index on the first axes of its array."""
        array = self._array(name, at)
        if not isinstance(array, list) or (array and isinstance(array[0], list)):
            raise BindingError(f"{name}: a vector is needed, a matrix is declared")
        return WeightVector(TensorPart(name, at, numbers.start or 0), array[numbers])

    def gates(self, name: str, order: str, units: int) -> dict[str, slice]:
        """Return the position of each gate in a fused tensor. Raises BindingError if another order is declared."""
        declared = self._gates.get(name, order)
        if declared != order:
            raise BindingError(f"{name}: the gates lie in it as {order}, and {declared} is declared")
        return {letter: slice(number * units, (number + 1) * units) for number, letter in enumerate(order)}

    def _array(self, name: str, at: tuple[int, ...]) -> Nested:
        array = self._numbers.get(name)
        for place in at:
            array = array[place] if isinstance(array, list) and place < len(array) else None
        if array is None:
            raise BindingError(f"{name}: needed, but not declared")
        return array


def _number(name: str, cell: Nested, place: int) -> float:
    if not isinstance(cell, list) or place >= len(cell):
        raise BindingError(f"{name}: an array of three axes is needed")
    number: float = cell[place]
    return number


class Vectors(Protocol[Value]):
    """The operations of a layer's pass. A value is a vector of floats, or represents one."""

    @property
    def chunk(self) -> int:
        """The chunk of the current step: values of one chunk are not kept for another."""

    def constant(self, numbers: Vector) -> Value:
        """Return a vector of data."""

    def numbers(self, vector: Value) -> Vector:
        """Return the numbers of a vector."""

    def product(self, matrix: Matrix, vector: Value) -> Value:
        """Return a matrix times a vector."""

    def weight(self, weights: WeightVector) -> Value:
        """Return a vector of weights: a bias, an element-wise factor, or a trained number."""

    def stored(self, weights: WeightVector) -> Value:
        """Return numbers of a layer that are never trained."""

    def state(self, weights: WeightVector) -> Value:
        """Return a learned state before the first step."""

    def row(self, matrix: Matrix, number: int) -> Value:
        """Return a row of a table, looked up."""

    def operation(self, row: Operation) -> Callable[..., Value]:
        """Return the function of an operation in the table."""

    def at(self, step: int) -> None:
        """Begin the step of this number, counted from 0."""

    def carry(self, vector: Value, border: int) -> Value:
        """Return a state for the next step; border: the number of the later of the two steps in time."""


class Floats:
    """Plain vectors of one layer, for a forward pass alone; the meter records reads and multiplications."""

    chunk = 0

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.product = meter.product
        self.weight = self.state = meter.vector

    def constant(self, numbers: Vector) -> Vector:
        return numbers

    def numbers(self, vector: Vector) -> Vector:
        return vector

    def stored(self, weights: WeightVector) -> Vector:
        return weights.numbers

    def row(self, matrix: Matrix, number: int) -> Vector:
        if not matrix.shared:
            self.meter.read(number, len(matrix.rows[number]))
        return matrix.rows[number]

    def operation(self, row: Operation) -> Callable[..., Vector]:
        return row.forward

    def at(self, step: int) -> None:
        """Do nothing: floats do not depend on the step."""

    def carry(self, vector: Vector, border: int) -> Vector:
        return vector


def floats(_: Placed, meter: Meter) -> Floats:
    """Return the vectors of a layer for a forward pass alone."""
    return Floats(meter)


class PassData:
    """Weights, inputs and start states: by layer and tensor, by part, and by layer and letter.

    Random ones are drawn when they are requested. Request each once, with layers in their order.
    rounded: whether random ones have few decimals, for a pass worked by hand.
    """

    def __init__(
        self,
        seed: int | str = 0,
        weights: dict[str, dict[str, Nested]] | None = None,
        inputs: dict[str | None, list[Any]] | None = None,
        start: dict[str, dict[str, Nested]] | None = None,
        *,
        rounded: bool = False,
    ) -> None:
        self.rounded = rounded
        self.weights = weights
        self.given_inputs = inputs or {}
        self.start = start or {}
        # Python promises the same numbers from `random()` for the same seed, on every machine and in every version.
        self._of_weights = Random(f"{seed} weights").random
        self._of_inputs = Random(f"{seed} inputs").random

    def weights_of(self, place: Placed) -> dict[str, Nested]:
        """Return the weights of a layer by tensor."""
        if isinstance(place.layer, External):
            return {}
        if self.weights is not None:
            return self.weights.get(place.name, {})
        fan = place.outputs if isinstance(place.layer, Cell) else place.inputs
        bound = 1.0 if isinstance(place.layer, Embedding) else 1.0 / sqrt(fan)
        weights = {tensor.name: filled(tensor, bound, self._of_weights) for tensor in place.stored}
        for tensor in place.stored:
            if tensor.role is Role.RUNNING_VARIANCE:
                weights[tensor.name] = [0.5 + abs(number) for number in weights[tensor.name]]
        if not self.rounded:
            return weights
        return {name: _rounded(numbers, _decimals(bound)) for name, numbers in weights.items()}

    def weights_of_all(self, network: Network) -> dict[str, dict[str, Nested]]:
        """Return the weights of every layer, by layer and tensor."""
        return {place.name: self.weights_of(place) for place in network.stack}

    def arrays(self, place: Placed) -> Arrays:
        """Return the weights of a layer as arrays, which return pieces by name."""
        buffers = [tensor.name for tensor in place.buffers]
        return Arrays(self.weights_of(place), place.tensors, place.copy, buffers)

    def inputs(self, move: Input, count: int) -> Iterable[Any]:
        """Return the vectors or tokens of an input; random ones are as wide as the spec says.

        This does not depend on the stack's declaration. Those of a layer alone are drawn as they are needed.
        """
        width = move.shape[-1]
        if move.extra_of is not None:
            return (self.elsewhere(width) for _ in range(count))
        if numbers := self.given_inputs.get(move.part):
            return numbers
        if move.tokens:
            return [int(self._of_inputs() * width) for _ in range(count)]
        return [self.elsewhere(width) for _ in range(count)]

    def elsewhere(self, count: int) -> list[float]:
        """Return random numbers between -1 and 1, for inputs that do not come from a layer."""
        numbers = [2.0 * self._of_inputs() - 1.0 for _ in range(count)]
        return _rounded(numbers, _decimals(1.0)) if self.rounded else numbers


def _decimals(bound: float) -> int:
    """Return the fewest decimals that leave numbers below a bound at least two values besides 0."""
    return next(decimals for decimals in range(1, 20) if bound * 10**decimals >= 2.5)


def _rounded(nested: Any, decimals: int) -> Any:
    """Return numbers, or lists of them, rounded, but none to 0: no gradient vanishes by chance."""
    if isinstance(nested, list):
        return [_rounded(each, decimals) for each in nested]
    return round(nested, decimals) or copysign(10.0**-decimals, nested)


VALUES = 4_096


def filled(tensor: Tensor, bound: float, random: Callable[[], float]) -> Nested:
    """Return an array of the tensor's shape with numbers between -bound and bound; `random` gives them from 0 to 1.

    The numbers are on a grid of VALUES, so that equal ones are one object. A weight then takes the 8 bytes of its
    slot in a list, instead of 40 with a float of its own.
    """
    return _filled(tensor.shape, _grid(bound), random)


@lru_cache(maxsize=1)  # the tensors of a layer, and of equal layers in a row, have the same bound
def _grid(bound: float) -> list[float]:
    return [bound * (2 * step / VALUES - 1) for step in range(VALUES)]


def _filled(shape: tuple[int, ...], grid: list[float], random: Callable[[], float]) -> Nested:
    """Return an array of numbers from a grid. Not a closure: a recursive one would never free its grid."""
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


def within(nested: Nested, place: Iterable[int]) -> Nested:
    """Return the part of an array at an index on its first axes."""
    for number in place:
        nested = nested[number]
    return nested


def number_at(nested: Nested, place: Iterable[int]) -> float:
    """Return the number of an array at an index on all axes."""
    return float(within(nested, place))
