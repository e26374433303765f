"""The operations that a step is made of, one row each: what it computes, its gradients, how it is written.

Everything that reads a step reads these rows, so a new operation is one row here. A cell's step calls an operation by
its name, `ops.times(a, b)`, and an activation by `ops.activate`; the rows at the end are for what is between cells.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain, cycle
from math import copysign, exp, fsum, inf, nan, sqrt, tanh
from operator import add, mul, truediv
from typing import Any, Protocol

from rnncalc.errors import DeclarationError
from rnncalc.records import Frozen

Vector = list[float]
Rows = list[Vector]

RESULT = -1
"""The place of an operation's result, after its operands."""

ATOM = 4
"""The strength of what needs no brackets anywhere."""


class Values(Protocol):
    """The forward values of an operation, by place: its operands, and at RESULT what it gave."""

    def __getitem__(self, place: int) -> Any:
        """Return the numbers of a value, which must have been kept."""

    def width(self, place: int) -> int:
        """Return how many numbers a value has, for which it need not be kept."""


Gradient = Callable[[Vector, Values], Any]
"""The gradient of an operand, from that of the result and those forward values that it reads."""

Written = Callable[[Any, Any, Any], Any]
"""The same as operations: `ops.times(gradient, values[1])`."""


class Operation(Frozen):
    """One operation. Raises DeclarationError for an incomplete or contradictory one.

    operands: how many it has. forward: the numbers of the result from those of the operands.
    gradients: one for each operand. reads: for each of them the places of the values that it reads.
    written: the gradients as operations, for a backward pass by hand; none for those that are only computed.
    number: the place of an operand that is one trained number, where there is one; all others are of one width.
    again: on the way back it is done again on its operand, which is kept instead of the result.
    sign, strength: what is between its operands, and how tightly that binds: 1 as a sum, 2 as a product, 3 as a
        matrix product. before: what is before its one operand. function: the name of a function, where it is one.
    drawn: what is in its circle in a picture, by default the sign or the function; legend: what a picture says of
        that; ordered: whether its operands must be distinguished.
    program: the operator in a program, or the name of the function in frameworks, by default its own.
    products, sums, activations: how many there are for each number of the result.
    windowed: whether it has any number of operands, the vectors of a window; its sums are then for each but the first.
    alone: whether it is written on a line of its own and drawn as a box, because it reads whole sums.
    beside: whether it is between cells, and no step may use it.
    """

    name: str
    operands: int
    forward: Callable[..., Any]
    gradients: tuple[Gradient, ...]
    reads: tuple[tuple[int, ...], ...]
    written: tuple[Written, ...] = ()
    number: int | None = None
    again: bool = False
    sign: str = ""
    strength: int = ATOM
    before: tuple[str, ...] = ()
    function: str = ""
    drawn: str = ""
    legend: str = ""
    ordered: bool = False
    program: str = ""
    products: int = 0
    sums: int = 0
    activations: int = 0
    windowed: bool = False
    alone: bool = False
    beside: bool = False

    def __post_init__(self) -> None:
        for part in ("gradients", "reads"):
            found = len(getattr(self, part))
            if found != self.operands:
                raise self._error(f"{part}: expected one for each operand, {self.operands}, got {found}")
        for part, functions in (("forward", (self.forward,)), ("gradients", self.gradients)):
            if not all(map(callable, functions)):
                raise self._error(f"{part}: expected a function, and for each operand a gradient")
        if self.number is not None and self.number not in range(self.operands):
            raise self._error(f"number: there is no operand {self.number}; write 0, 1 and so on")
        if min(self.products, self.sums, self.activations) < 0:
            raise self._error("products, sums, activations: expected whole numbers, 0 or more")
        if self.sign and self.function:
            raise self._error("sign, function: it is written in one way; leave out one of the two")
        for read in (place for reads in self.reads for place in reads):
            if read not in (*range(self.operands), RESULT):
                raise self._error(f"reads: there is no operand {read}; write 0, 1 and so on, or RESULT")
        if not (self.beside or self.sign or self.before or self.function or self.forward is _same):
            raise self._error("nothing says how it is written; give it a sign, a function or what is before it")
        if self.alone and not (self.operands == 1 and self.function):
            raise self._error("alone: what is on a line of its own is a function of one operand; leave out alone")

    def _error(self, message: str) -> DeclarationError:
        return DeclarationError(f"operation {self.name}: {message}")


class LengthError(ValueError):
    """Two vectors of different lengths where one length is needed."""

    def __init__(self, *vectors: Vector) -> None:
        super().__init__(f"vectors of {' and '.join(str(len(vector)) for vector in vectors)} numbers do not match")


def elementwise(of: Callable[[float, float], float]) -> Callable[[Vector, Vector], Vector]:
    """Return an element-wise function of two vectors of equal length."""

    def both(left: Vector, right: Vector) -> Vector:
        if len(left) != len(right):
            raise LengthError(left, right)
        return list(map(of, left, right))

    return both


plus = elementwise(add)
times = elementwise(mul)
_over = elementwise(truediv)
_quotients = elementwise(lambda left, right: left / right if right else copysign(inf, right) * left if left else nan)


def over(left: Vector, right: Vector) -> Vector:
    """Return the element-wise quotient; division by zero gives infinity or NaN, as in frameworks."""
    return (_over if all(right) else _quotients)(left, right)


if sys.version_info >= (3, 12):
    from math import sumprod

    def product(rows: Rows, x: Vector) -> Vector:
        """Return the matrix of these rows times x. Rows and x must be of one length."""
        return [sumprod(row, x) for row in rows]

else:

    def product(rows: Rows, x: Vector) -> Vector:
        """Return the matrix of these rows times x. Rows and x must be of one length."""
        return [sum(map(mul, row, x)) for row in rows]


def _everywhere(vector: Vector, bias: Vector) -> Vector:
    if len(vector) % len(bias):
        raise LengthError(vector, bias)
    return list(map(add, vector, cycle(bias)))


def _same(vector: Vector) -> Vector:
    return vector


def _sigmoid(vector: Vector) -> Vector:
    """Return σ of each number, in a form that overflows on neither side; no call for each, which takes as long."""
    return [1.0 / (1.0 + exp(-x)) if x >= 0 else (power := exp(x)) / (1.0 + power) for x in vector]


def _softmax(vector: Vector) -> Vector:
    most = max(vector, default=0.0)
    powers = [exp(x - most) for x in vector]
    total = fsum(powers)
    return [power / total for power in powers]


def _through_softmax(gradient: Vector, values: Values) -> Vector:
    given = values[RESULT]
    inner = sum(map(mul, given, gradient))
    return [y * (g - inner) for y, g in zip(given, gradient, strict=True)]


def _through_divisor(gradient: Vector, values: Values) -> Vector:
    divisor = values[1]
    return [-number for number in over(over(times(gradient, values[0]), divisor), divisor)]


def _scaled(number: Vector, vector: Vector) -> Vector:
    (factor,) = number
    return [factor * each for each in vector]


def _shifted(vector: Vector, number: Vector) -> Vector:
    (term,) = number
    return [each + term for each in vector]


def standardised(epsilon: float) -> tuple[Callable[[Vector], Vector], Gradient]:
    """Return what makes mean 0 and variance 1 of a vector, and its gradient, which reads the vector.

    epsilon: what is added to the variance, so that equal numbers have a deviation too.
    """

    def parted(vector: Vector) -> tuple[Vector, float]:
        """Return the distances from the mean, and the standard deviation."""
        mean = fsum(vector) / len(vector)
        apart = [x - mean for x in vector]
        return apart, sqrt(fsum(map(mul, apart, apart)) / len(vector) + epsilon)

    def forward(vector: Vector) -> Vector:
        apart, deviation = parted(vector)
        return [x / deviation for x in apart]

    def through(gradient: Vector, values: Values) -> Vector:
        (apart, deviation), count = parted(values[0]), len(gradient)
        level = fsum(gradient) / count
        slope = fsum(map(mul, gradient, apart)) / count / deviation**2
        return [(g - level - slope * x) / deviation for g, x in zip(gradient, apart, strict=True)]

    return forward, through


EPSILON = 1e-3
"""What is added to a variance in a cell; Keras does so in LayerNormalization, the others add less.

With much less, sums that are nearly equal have gradients that no finite difference can confirm.
"""

_normalised, _through_normalised = standardised(EPSILON)


def _mean(left: Vector, right: Vector) -> Vector:
    return [(a + b) / 2.0 for a, b in zip(left, right, strict=True)]


def _halved(gradient: Vector, _: Values) -> Vector:
    return [each / 2.0 for each in gradient]


def _unchanged(gradient: Vector, _: Values) -> Vector:
    return gradient


def _handed(_: Any, gradient: Any, __: Any) -> Any:
    return gradient


def _by_hand_through_tanh(ops: Any, gradient: Any, values: Any) -> Any:
    return ops("times", gradient, ops("complement", ops("times", values[RESULT], values[RESULT])))


def _by_hand_through_sigmoid(ops: Any, gradient: Any, values: Any) -> Any:
    return ops("times", ops("times", gradient, values[RESULT]), ops("complement", values[RESULT]))


def activation(
    name: str, forward: Callable[[Vector], Vector], gradient: Gradient, function: str = "", **others: Any
) -> Operation:
    """Return the row of an activation, whose gradient reads what it gave; softmax needs a whole vector at once."""
    return Operation(
        name, 1, forward, (gradient,), ((RESULT,),), function=function or name, program=name, activations=1, **others
    )


TABLE = (
    Operation(
        "plus",
        2,
        plus,
        (_unchanged,) * 2,
        ((), ()),
        (_handed,) * 2,
        sign=" + ",
        strength=1,
        drawn="+",
        program="+",
        sums=1,
    ),
    Operation(
        "times",
        2,
        times,
        (lambda gradient, values: times(gradient, values[1]), lambda gradient, values: times(gradient, values[0])),
        ((1,), (0,)),
        (
            lambda ops, gradient, values: ops("times", gradient, values[1]),
            lambda ops, gradient, values: ops("times", gradient, values[0]),
        ),
        sign=" ∘ ",
        strength=2,
        drawn="∘",
        program="*",
        products=1,
    ),
    Operation(
        "over",
        2,
        over,
        (lambda gradient, values: over(gradient, values[1]), _through_divisor),
        ((1,), (0, 1)),
        sign=" / ",
        strength=2,
        drawn="÷",
        legend="÷ divides what comes from below by what comes from its side.",
        ordered=True,
        program="/",
        products=1,
    ),
    Operation(
        "complement",
        1,
        lambda vector: [1.0 - each for each in vector],
        (lambda gradient, _: [-each for each in gradient],),
        ((),),
        (lambda ops, gradient, _: ops("negative", gradient),),
        again=True,
        before=("1", " − "),
        strength=1,
        drawn="1−",
        program="1 - ",
        sums=1,
    ),
    Operation(
        "scale",
        2,
        _scaled,
        (
            lambda gradient, values: [sum(map(mul, gradient, values[1]))],
            lambda gradient, values: _scaled(values[0], gradient),
        ),
        ((1,), (0,)),
        number=0,
        sign=" · ",
        strength=2,
        drawn="·",
        legend="· multiplies a vector by a number.",
        program="*",
        products=1,
    ),
    Operation(
        "shift",
        2,
        _shifted,
        (_unchanged, lambda gradient, _: [sum(gradient)]),
        ((), ()),
        number=1,
        sign=" + ",
        strength=1,
        drawn="+",
        program="+",
        sums=1,
    ),
    # For each number: a term of the mean and of the variance, and the difference; the square and the quotient.
    Operation(
        "normalise",
        1,
        _normalised,
        (_through_normalised,),
        ((0,),),
        again=True,
        function="norm",
        products=2,
        sums=3,
        alone=True,
    ),
    activation(
        "tanh",
        lambda vector: list(map(tanh, vector)),
        lambda gradient, values: [g * (1.0 - y * y) for y, g in zip(values[RESULT], gradient, strict=True)],
        written=(_by_hand_through_tanh,),
    ),
    activation(
        "sigmoid",
        _sigmoid,
        lambda gradient, values: [g * y * (1.0 - y) for y, g in zip(values[RESULT], gradient, strict=True)],
        "σ",
        written=(_by_hand_through_sigmoid,),
    ),
    activation(
        "relu",
        lambda vector: [x if x > 0 else 0.0 for x in vector],
        lambda gradient, values: [g if y > 0 else 0.0 for y, g in zip(values[RESULT], gradient, strict=True)],
    ),
    activation("softmax", _softmax, _through_softmax),
    Operation("linear", 1, _same, (_unchanged,), ((),), (_handed,), again=True),
    # A matrix, with its rows and columns, and a vector. The gradient of the matrix is the outer product of two vectors,
    # which are given as they are: a tape sums the products of all steps at once.
    Operation(
        "matrix",
        2,
        lambda matrix, vector: product(matrix.rows, vector),
        (lambda gradient, values: (gradient, values[1]), lambda gradient, values: product(values[0].columns, gradient)),
        ((1,), (0,)),
        (
            lambda ops, gradient, values: ops("outer", gradient, values[1]),
            lambda ops, gradient, values: ops("through", values[0], gradient),
        ),
        sign=" ",
        strength=3,
        program="@",
        beside=True,
    ),
    # A convolution, with what is around each place, and a vector of places with their channels: a matrix product at
    # each place. The gradient of its weights is the sum of an outer product for each place.
    Operation(
        "convolve",
        2,
        lambda kernel, vector: [y for around in kernel.around(vector) for y in product(kernel.rows, around)],
        (
            lambda gradient, values: values[0].outer(gradient, values[1]),
            lambda gradient, values: values[0].spread(gradient),
        ),
        ((0, 1), (0,)),
        sign=" ∗ ",
        strength=3,
        program="",
        beside=True,
    ),
    # A bias of a convolution is added at each place.
    Operation(
        "everywhere",
        2,
        _everywhere,
        (_unchanged, lambda gradient, values: [sum(gradient[at :: values.width(1)]) for at in range(values.width(1))]),
        ((), ()),
        sign=" + ",
        strength=1,
        drawn="+",
        sums=1,
        beside=True,
    ),
    # Between cells: two directions are joined or averaged; a decoder takes its part of a joined state.
    Operation("mean", 2, _mean, (_halved,) * 2, ((), ()), strength=2, products=1, sums=1, beside=True),
    Operation("copy", 1, lambda vector: [*vector], (_unchanged,), ((),), beside=True),
    Operation(
        "join",
        2,
        lambda left, right: left + right,
        (lambda gradient, values: gradient[: values.width(0)], lambda gradient, values: gradient[values.width(0) :]),
        ((), ()),
        beside=True,
    ),
)


def _half(number: int) -> Operation:
    """Return the operation that takes the first half of a vector, or the second."""

    def forward(vector: Vector) -> Vector:
        width = len(vector) // 2
        return vector[number * width : (number + 1) * width]

    def through(gradient: Vector, values: Values) -> Vector:
        zeros = [0.0] * (values.width(0) - len(gradient))
        return zeros + gradient if number else gradient + zeros

    return Operation("half", 1, forward, (through,), ((),), again=True, beside=True)


HALVES = _half(0), _half(1)
"""A direction's half of x, where x is as wide as both directions together: the forward one's and the backward one's."""


def by_name(rows: Iterable[Operation]) -> dict[str, Operation]:
    """Return operations by their names. Raises DeclarationError for two of one name."""
    found: dict[str, Operation] = {}
    for row in rows:
        if found.setdefault(row.name, row) is not row:
            raise DeclarationError(f"operation {row.name}: two rows have this name; give one of them another")
    return found


BY_HAND = by_name(
    (
        Operation(
            "negative",
            1,
            lambda vector: [-each for each in vector],
            (_unchanged,),
            ((),),
            before=("−",),
            strength=2,
            beside=True,
        ),
        Operation(
            "outer",
            2,
            lambda rows, columns: [_scaled([row], columns) for row in rows],
            (_unchanged,) * 2,
            ((), ()),
            beside=True,
        ),
        Operation(
            "through",
            2,
            lambda matrix, vector: product(matrix.columns, vector),
            (_unchanged,) * 2,
            ((), ()),
            sign=" ",
            strength=3,
            beside=True,
        ),
    )
)
"""The operations that only a backward pass by hand writes: −g, the outer product g xᵀ, and Wᵀ g."""


def standardise_by(epsilon: float) -> Operation:
    """Return the operation on x, means and variances: (x − mean) / √(variance + epsilon), number by number."""

    def scales(values: Values) -> Vector:
        return [sqrt(each + epsilon) for each in values[2]]

    def through_variance(gradient: Vector, values: Values) -> Vector:
        apart = [x - mean for x, mean in zip(values[0], values[1], strict=True)]
        return [-g * x / (2.0 * s**3) for g, x, s in zip(gradient, apart, scales(values), strict=True)]

    return Operation(
        "standardise",
        3,
        lambda x, mean, variance: [
            (each - of) / sqrt(by + epsilon) for each, of, by in zip(x, mean, variance, strict=True)
        ],
        (
            lambda gradient, values: list(map(truediv, gradient, scales(values))),
            lambda gradient, values: [-each for each in map(truediv, gradient, scales(values))],
            through_variance,
        ),
        ((2,), (2,), (0, 1, 2)),
        again=True,
        products=1,
        sums=1,
        beside=True,
    )


def largest(number: int) -> Operation:
    """Return the operation that takes the largest number at each place of several vectors.

    Its gradient goes to the first vector that has it.
    """

    def through(place: int) -> Gradient:
        def gradient_of(gradient: Vector, values: Values) -> Vector:
            together = zip(*[values[each] for each in range(number)], strict=True)
            return [g if each.index(max(each)) == place else 0.0 for g, each in zip(gradient, together, strict=True)]

        return gradient_of

    every = tuple(range(number))
    return Operation(
        "largest",
        number,
        lambda *vectors: [max(each) for each in zip(*vectors, strict=True)],
        tuple(map(through, every)),
        (every,) * number,
        sums=1,
        windowed=True,
        beside=True,
    )


def average(number: int) -> Operation:
    """Return the operation that takes the average at each place of several vectors."""
    return Operation(
        "average",
        number,
        lambda *vectors: [fsum(each) / number for each in zip(*vectors, strict=True)],
        (lambda gradient, _: [each / number for each in gradient],) * number,
        ((),) * number,
        products=1,
        sums=1,
        windowed=True,
        beside=True,
    )


def joined(widths: Sequence[int]) -> Operation:
    """Return the operation that puts vectors of these widths one after the other."""
    stops = [*accumulate(widths)]

    def share(start: int, stop: int) -> Gradient:
        return lambda gradient, _: gradient[start:stop]

    shares = tuple(share(stop - width, stop) for width, stop in zip(widths, stops, strict=True))
    return Operation(
        "joined",
        len(widths),
        lambda *vectors: [*chain(*vectors)],
        shares,
        ((),) * len(widths),
        windowed=True,
        beside=True,
    )


def part(start: int, stop: int) -> Operation:
    """Return the operation that takes some numbers of a vector, from `start` up to `stop`."""
    return Operation(
        "part",
        1,
        lambda vector: vector[start:stop],
        (lambda gradient, values: [0.0] * start + gradient + [0.0] * (values.width(0) - stop),),
        ((),),
        beside=True,
    )


OPERATIONS = by_name((*TABLE, HALVES[0], standardise_by(EPSILON), largest(1), average(1), joined((1,)), part(0, 1)))
"""Every operation by its name."""


def normalise(epsilon: float) -> Operation:
    """Return the operation that makes mean 0 and variance 1 of a vector, epsilon added to the variance."""
    forward, through = standardised(epsilon)
    return OPERATIONS["normalise"].replace(forward=forward, gradients=(through,))


def row(number: int) -> Operation:
    """Return the operation that looks up a row of a table."""
    return Operation(
        "row", 1, lambda table: table.rows[number], (lambda gradient, _: (number, gradient),), ((),), beside=True
    )
