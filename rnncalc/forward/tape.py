"""A tape: the values of a pass in order, each with the operation that made it, and the backward pass along it.

The backward pass records which forward values the gradients of operations read and how many multiplications they do,
as the meter does in the forward pass; the declared numbers in the table are not used. For a pass worked by hand the
gradients are values too, each with the operation that made it. Knows no network and no cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any

from rnncalc.forward.arrays import Convolution, Matrix, Meter, Nested, TensorPart, WeightVector, within
from rnncalc.step import operations
from rnncalc.step.nodes import PAIRED
from rnncalc.step.operations import (
    GRADIENT,
    OPERATIONS,
    RESULT,
    WRITTEN,
    GradientRule,
    LengthError,
    Operation,
    Rows,
    Vector,
    outer_products,
    placing,
    plus,
    row,
)

SAME = OPERATIONS["linear"]
PLUS = OPERATIONS["plus"]
MATRIX = OPERATIONS["matrix"]
CONVOLVE = OPERATIONS["convolve"]


class TapeValue:
    """A vector on a tape: its numbers, the operation and operands that made it, and its gradient.

    row: the operation, None for data and weights. weights: those it holds, if any; they are kept anyway and do not
    count as saved. layer, chunk: the layer and the chunk of steps that it was made in.
    needs: whether it needs a gradient, because it depends on something trained. kept: whether its numbers are kept,
    even if the backward pass could compute them again.
    """

    __slots__ = ("chunk", "gradient", "kept", "layer", "needs", "numbers", "operands", "row", "weights")

    def __init__(
        self,
        numbers: Any,
        layer: LayerTape,
        row: Operation | None = None,
        operands: Sequence[TapeValue] = (),
        chunk: int = 0,
    ) -> None:
        self.numbers = numbers
        self.layer = layer
        self.row = row
        self.operands = operands
        self.chunk = chunk
        self.needs = False
        for operand in operands:  # not with any(), which takes twice as long
            if operand.needs:
                self.needs = True
                break
        self.kept = False
        self.weights: Matrix | WeightVector | None = None
        self.gradient: Any = None

    def add(self, gradient: Vector) -> None:
        """Add to the gradient. Raises LengthError if its length differs from the value's."""
        if len(gradient) != len(self.numbers):
            raise LengthError(gradient, self.numbers)
        self.gradient = gradient if self.gradient is None else plus(self.gradient, gradient)

    def backward(self) -> None:
        """Add this value's contributions to the gradients of its operands."""
        if self.row is None:
            if self.weights is not None and self.layer.trained:
                self.layer.add(self.weights.piece, [self.gradient])
            return
        read = _Read(self)
        for rule, operand in zip(self.row.gradients, self.operands, strict=True):
            if operand.needs:
                operand.add(self.gradient if rule is operations.UNCHANGED else rule(read))
        if self.row in (MATRIX, CONVOLVE) and self.operands[1].needs:
            self.layer.multiplications += self.operands[0].numbers.width * len(self.gradient)
        elif self.row.name in PAIRED:
            vector, *others = self.operands
            times = (len(others) if vector.needs else 0) + sum(other.needs for other in others)
            self.layer.multiplications += times * len(others[0].numbers)


class _Read(dict[int, Any]):
    """The gradient of a value and the forward values of its operation; each read by its gradients is recorded."""

    __slots__ = ("value",)

    def __init__(self, value: TapeValue) -> None:
        super().__init__({GRADIENT: value.gradient})
        self.value = value

    def __missing__(self, place: int) -> Any:
        numbers = self[place] = self._numbers(self.value if place == RESULT else self.value.operands[place])
        return numbers

    def width(self, place: int) -> int:
        return len(self.value.operands[place].numbers)

    def _numbers(self, operand: TapeValue) -> Any:
        """Return the numbers of a value, or compute them again from its operands."""
        if operand.row is not None and operand.row.again and not operand.kept:
            return operand.row.forward(*map(self._numbers, operand.operands))
        if operand.weights is None:
            self.value.layer.hold(operand.numbers, len(operand.numbers), self.value.chunk)
        return operand.numbers


class _Operands(dict[int, TapeValue]):
    """The values from which the gradients of an operation are made, by place."""

    def width(self, place: int) -> int:
        return len(self[place].numbers)


def _add(sums: dict[int, TapeValue], value: TapeValue, gradient: TapeValue) -> None:
    """Add to the gradient of a value, by its identity."""
    sums[id(value)] = made(PLUS, sums[id(value)], gradient) if id(value) in sums else gradient


def apply(rule: GradientRule, *operands: Any) -> TapeValue:
    """Return the result of a rule, with how it was made if that is written."""
    numbers = [each.numbers if isinstance(each, TapeValue) else each for each in operands]
    row = rule.row(*numbers) if rule.row else WRITTEN.get(rule.function)
    if row is None:
        return TapeValue(rule.function(*numbers), operands[0].layer)
    return made(row, *[each for each in operands if isinstance(each, TapeValue)])


def made(row: Operation, *operands: TapeValue) -> TapeValue:
    """Return what an operation makes of values; one that changes nothing makes no other value.

    A number of a quotient is the quotient of a number, and a sum of vectors among zeros has them beside each other.
    """
    vector = operands[0]
    if row is SAME or (row.name in ("slice", "placing") and row.forward(vector.numbers) == vector.numbers):
        return vector
    if row is PLUS and all(map(parts_at, operands)):
        parts = sorted(chain(*map(parts_at, operands)), key=itemgetter(0))
        if all(start + len(part.numbers) <= after for (start, part), (after, _) in pairwise(parts)):
            starts, operands = zip(*parts, strict=True)
            row = placing(starts, len(vector.numbers))
    if row.name == "number" and vector.row is not None and vector.row.name in ("quotient", "root_quotient"):
        return made(vector.row, made(row, *vector.operands))
    return TapeValue(row.forward(*[each.numbers for each in operands]), vector.layer, row, operands)


def parts_at(value: TapeValue) -> list[tuple[int, TapeValue]]:
    """Return the vectors that a value has among zeros, each with its place; nothing of any other value."""
    if value.row is None or value.row.name != "placing":
        return []
    return [*zip(value.row.constants, value.operands, strict=True)]


class MatrixUse(TapeValue):
    """A matrix as a layer multiplies by it; `owner` is the layer whose weights it is made of."""

    __slots__ = ("owner",)

    def __init__(self, matrix: Matrix, layer: LayerTape, owner: LayerTape) -> None:
        super().__init__(matrix, layer)
        self.owner = owner
        self.weights = matrix.origin
        self.needs = owner.trained

    def add(self, gradient: Any) -> None:
        """Note two vectors whose outer product is to be added to the gradient, or two for each place."""
        for pair in gradient if isinstance(gradient, list) else (gradient,):
            self.layer.use(self.numbers, self.owner, *pair)


class LookUp(TapeValue):
    """A table whose rows are looked up; the backward pass needs the index of the row."""

    __slots__ = ("owner",)

    def __init__(
        self, table: Matrix, number: int, numbers: Vector, layer: LayerTape, chunk: int, owner: LayerTape
    ) -> None:
        super().__init__(numbers, layer, chunk=chunk)
        self.owner = owner
        self.weights: WeightVector = WeightVector(table.piece._replace(start=table.piece.start + number), numbers)
        self.needs = owner.trained

    def add(self, gradient: Any) -> None:
        """Add to the gradient of a row."""
        self.layer.hold(self.numbers, 1, self.chunk)
        self.owner.add(self.weights.piece, [gradient])


class LayerTape:
    """The observations of the backward pass through one layer, and the gradients of its weights.

    name: of the layer.
    gradients: of each tensor by its name, in the shape of the weights; empty if they are not trained.
    multiplications: those of matrix products. saved: for each chunk the numbers of each forward value that was read, by
    the value's identity.
    """

    def __init__(self, weights: Mapping[str, Nested], *, trained: bool, name: str = "") -> None:
        self.name = name
        self.trained = trained
        self.gradients = {name: _zeros(array) for name, array in weights.items()} if trained else {}
        self.multiplications = 0
        self.saved: dict[int, dict[int, int]] = {}
        self._uses: dict[int, tuple[Matrix, LayerTape, list[Vector], list[Vector]]] = {}

    def hold(self, value: object, numbers: int, chunk: int) -> None:
        """Record that a backward equation read a forward value, which must be kept until then."""
        self.saved.setdefault(chunk, {})[id(value)] = numbers

    def use(self, matrix: Matrix, owner: LayerTape, gradient: Vector, read: Vector) -> None:
        """Note one use of a matrix: its owner, the gradient of its product, and the vector that it multiplied."""
        _, _, gradients, inputs = self._uses.setdefault(id(matrix), (matrix, owner, [], []))
        gradients.append(gradient)
        inputs.append(read)

    def add(self, piece: TensorPart, rows: Rows) -> None:
        """Add to the gradient of a piece of the weights; a vector's gradient is one row."""
        array, first, column = within(self.gradients[piece.name], piece.at), piece.start, 0
        if piece.taps:
            for number, row in enumerate(rows, first):
                for place, slope in enumerate(row):
                    *axes, last = piece.number(number, place, len(row) // len(piece.taps))
                    within(array, axes)[last] += slope
            return
        if piece.transposed:
            rows, first, column = [*map(list, zip(*rows, strict=True))], piece.below, piece.start
        elif piece.each:
            rows = [rows[0][at : at + piece.each] for at in range(0, len(rows[0]), piece.each)]
        elif not isinstance(array[0], list):
            array, first, column = [array], 0, piece.start
        for line, row in zip(array[first : first + len(rows)], rows, strict=True):
            part = slice(column, column + len(row))
            line[part] = plus(line[part], row) if any(line[part]) else row

    def finish(self) -> None:
        """Compute the gradient of each matrix: the sum over all its uses at all steps."""
        for matrix, owner, gradients, inputs in self._uses.values():
            self.multiplications += len(inputs) * len(gradients[0]) * len(inputs[0])
            owner.add(matrix.origin.piece, outer_products(gradients, inputs))
        self._uses.clear()


def _zeros(array: Nested) -> Nested:
    return [*map(_zeros, array)] if isinstance(array[0], list) else [0.0] * len(array)


class Tape:
    """The values of a pass that need a gradient, in order.

    chunk: the steps of one backward pass, None for all of them. every: whether all values have a
    gradient, also if nothing that is trained lies below them. carried: the states that went from a step to the next, by
    the number of the later one in time.
    """

    def __init__(self, chunk: int | None = None, *, every: bool = False) -> None:
        self.chunk = chunk
        self.every = every
        self.now = 0
        self.carried: list[tuple[int, TapeValue]] = []
        self.owners: dict[int, LayerTape] = {}  # the owner of each matrix that several layers may use, by identity
        self.values: list[TapeValue] = []  # in the order in which they were made; the backward pass uses them up

    def at(self, step: int) -> None:
        """Begin the step of this number, counted from 0."""
        self.now = step // self.chunk if self.chunk else 0

    def backward(self) -> None:
        """Do the backward pass, once, from the gradients that have been set."""
        while self.values:
            value = self.values.pop()
            if value.gradient is not None:
                value.backward()
            value.operands = ()  # nothing of it is needed any more

    def worked(self, gradients: Iterable[tuple[TapeValue, TapeValue]]) -> Iterator[tuple[TapeValue, TapeValue]]:
        """Do the backward pass with gradients that are values; yield each value that it reaches with its gradient.

        gradients: those of a loss, with the values that it depends on. Weights are yielded at each use, with what it
        contributes.
        """
        sums: dict[int, TapeValue] = {}
        for value, gradient in gradients:
            _add(sums, value, gradient)
        for value in reversed(self.values):
            total = sums.pop(id(value), None)
            if total is None or value.row is None:
                continue
            yield value, total
            read = _Operands({**dict(enumerate(value.operands)), RESULT: value, GRADIENT: total})
            for rule, operand in zip(value.row.gradients, value.operands, strict=True):
                if not operand.needs:
                    continue
                slope = rule.written(apply, read)
                if operand.weights is None:
                    _add(sums, operand, slope)
                    continue
                if isinstance(operand, MatrixUse) and slope.row is None:  # a pair of vectors for each place
                    slope = TapeValue(outer_products(*zip(*slope.numbers, strict=True)), slope.layer)
                yield operand, slope


class Taped:
    """`floats.Vectors` of one layer on a tape; weights come in through the meter, as they do in a pass of floats."""

    def __init__(self, meter: Meter, tape: Tape, layer: LayerTape) -> None:
        self.meter = meter
        self.tape = tape
        self.layer = layer
        self._uses: dict[int, MatrixUse] = {}

    @property
    def chunk(self) -> int:
        return self.tape.now

    def _note(self, value: TapeValue, *, needs: bool = False) -> TapeValue:
        """Return a value; put it on the tape if it needs a gradient."""
        value.needs = value.needs or needs
        if value.needs:
            self.tape.values.append(value)
        return value

    def _result(self, row: Operation, *operands: TapeValue) -> TapeValue:
        numbers = row.forward(*[operand.numbers for operand in operands])
        return self._note(TapeValue(numbers, self.layer, row, operands, self.tape.now))

    def operation(self, row: Operation) -> Callable[..., TapeValue]:
        return partial(self._result, row)

    def constant(self, numbers: Vector) -> TapeValue:
        """Return a vector of data. The same list at two steps is two values."""
        value = TapeValue([*numbers], self.layer)
        value.needs = self.tape.every
        return value

    def numbers(self, vector: TapeValue) -> Vector:
        numbers: Vector = vector.numbers
        return numbers

    def at(self, step: int) -> None:
        self.tape.at(step)

    def carry(self, vector: TapeValue, border: int) -> TapeValue:
        """Return a state for the next step: at a chunk's border its numbers continue, its gradient does not.

        There it becomes a new value, so that its gradient is that of the later steps alone.
        """
        if self.tape.chunk is not None and border % self.tape.chunk == 0:
            value = TapeValue(vector.numbers, self.layer)
            value.needs = self.tape.every
        else:
            vector.kept = True
            value = self._result(SAME, vector)
        self.tape.carried.append((border, value))
        return value

    def product(self, matrix: Matrix, vector: TapeValue) -> TapeValue:
        use = self._uses.get(id(matrix))
        if use is None:
            owner = self.tape.owners[id(matrix.origin)] if matrix.shared else self.layer
            use = self._uses[id(matrix)] = MatrixUse(matrix, self.layer, owner)
        numbers = self.meter.product(matrix, vector.numbers)
        row = CONVOLVE if isinstance(matrix, Convolution) else MATRIX
        return self._note(TapeValue(numbers, self.layer, row, (use, vector), self.tape.now))

    def weight(self, weights: WeightVector) -> TapeValue:
        value = TapeValue(self.meter.vector(weights), self.layer)
        value.weights = weights
        return self._note(value, needs=self.layer.trained)

    def stored(self, weights: WeightVector) -> TapeValue:
        """Return numbers that are never trained. They need not be saved: the layer keeps them anyway."""
        value = TapeValue(weights.numbers, self.layer)
        value.weights = weights
        return value

    def state(self, weights: WeightVector) -> TapeValue:
        """Return a learned state. Unlike other weights, it counts as a saved value."""
        state = self._result(SAME, self.weight(weights))
        state.kept = True
        return state

    def row(self, matrix: Matrix, number: int) -> TapeValue:
        owner = self.tape.owners.setdefault(id(matrix.origin), self.layer)
        numbers = [*matrix.rows[number]]
        if not matrix.shared:
            self.meter.read(number, len(numbers))
        table = LookUp(matrix.origin, number, numbers, self.layer, self.tape.now, owner)
        return self._note(TapeValue(numbers, self.layer, row(number), (table,), self.tape.now), needs=self.tape.every)
