"""The operations that a step is made of, one row each: what it computes, its gradients, how it is written.

Everything that reads a step reads these rows, so a new operation is one row here. A cell's step calls an operation by
its name, `ops.times(a, b)`, and an activation by `ops.activate`; the rows at the end are for what is between cells.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from itertools import accumulate, chain, cycle, repeat, starmap, zip_longest
from math import copysign, erfc, exp, fsum, inf, nan, pi, sqrt, tanh
from operator import add, itemgetter, mul, truediv
from typing import Any, Protocol

from rnncalc.errors import DeclarationError, line_of
from rnncalc.records import Frozen

Vector = list[float]
Rows = list[Vector]

RESULT, GRADIENT = -1, -2
"""The place of an operation's result, after its operands; in the rule of a gradient, that of the result's gradient."""

ATOM = 4
"""The strength of what needs no brackets anywhere."""


class Values(Protocol):
    """The values that a gradient is computed from, by place: operands, the result and the gradient of the result."""

    def __getitem__(self, place: int) -> Any:
        """Return the numbers of a value, which must have been kept."""

    def width(self, place: int) -> int:
        """Return how many numbers a value has, for which it need not be kept."""


def width_of(place: int) -> Callable[[Values], int]:
    """Return what says how many numbers the forward value of a place has."""
    return lambda values: values.width(place)


class GradientRule:
    """The gradient of an operand: a function of the gradient of the result, forward values, widths and other rules.

    operands: each GRADIENT, the place of a forward value, a `width_of` or a rule; by default the gradient alone.
    function: a gradient by hand is written with its row, if WRITTEN has one.
    row: returns the row with which it is written otherwise, from the numbers of its operands; the row has those of
        the operands that are vectors.
    reads: the places of the forward values that it reads, each once.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *operands: int | Callable[[Values], Any],
        row: Callable[..., Operation] | None = None,
    ) -> None:
        self.function = function
        self.row = row
        self.operands = operands or (GRADIENT,)
        places = [each.reads if isinstance(each, GradientRule) else (each,) for each in self.operands]
        read = [each for each in chain(*places) if isinstance(each, int) and each != GRADIENT]
        self.reads: tuple[int, ...] = tuple(dict.fromkeys(read))

        self._get = [each if callable(each) else itemgetter(each) for each in self.operands]

    def __call__(self, values: Values) -> Any:
        """Return the gradient in numbers."""
        return self.function(*[get(values) for get in self._get])

    def written(self, apply: Callable[..., Any], values: Values) -> Any:
        """Return the gradient with what `apply` makes of a rule and its operands."""
        operands = [
            each.written(apply, values) if isinstance(each, GradientRule) else get(values)
            for each, get in zip(self.operands, self._get, strict=True)
        ]
        return apply(self, *operands)


class Operation(Frozen):
    """One operation. Raises DeclarationError for one without a gradient for each operand.

    operands: how many it has. forward: the numbers of the result from those of the operands.
    gradients: the rule of each operand's.
    number: the place of an operand that is one trained number, where there is one; all others are of one width.
    constants: the numbers that an operation of gradients is made for: its divisor, or the places of its operands.
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
    gradients: tuple[GradientRule, ...]
    number: int | None = None
    constants: tuple[int, ...] = ()
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
        number = sum(isinstance(rule, GradientRule) for rule in self.gradients)
        if not number == len(self.gradients) == self.operands:
            message = f"gradients: expected one for each operand, {self.operands}, got {number}"
            raise DeclarationError(f"operation {self.name}: {message}{line_of(self.forward)}")

    @cached_property
    def reads(self) -> tuple[tuple[int, ...], ...]:
        """For each operand the places of the values that its gradient reads."""
        return tuple([rule.reads for rule in self.gradients])


class LengthError(ValueError):
    """Two vectors of different lengths where one length is needed."""

    def __init__(self, *vectors: Vector) -> None:
        super().__init__(f"vectors of {' and '.join(str(len(vector)) for vector in vectors)} numbers do not match")


def elementwise(function: Callable[[float, float], float]) -> Callable[[Vector, Vector], Vector]:
    """Return an element-wise function of two vectors of equal length."""

    def both(left: Vector, right: Vector) -> Vector:
        if len(left) != len(right):
            raise LengthError(left, right)
        return list(map(function, left, right))

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

    def product(rows: Iterable[Sequence[float]], x: Sequence[float]) -> Vector:
        """Return the matrix of these rows times x. Rows and x must be of one length."""
        return list(map(sumprod, rows, repeat(x)))

    def outer_products(gradients: Sequence[Vector], inputs: Sequence[Vector]) -> Rows:
        """Return the sum of the outer products of each gradient and its input."""
        columns = [*zip(*inputs, strict=True)]
        return [product(columns, row) for row in zip(*gradients, strict=True)]

else:

    def product(rows: Iterable[Sequence[float]], x: Sequence[float]) -> Vector:
        """Return the matrix of these rows times x. Rows and x must be of one length."""
        return [sum(map(mul, row, x)) for row in rows]

    def outer_products(gradients: Sequence[Vector], inputs: Sequence[Vector]) -> Rows:
        """Return the sum of the outer products of each gradient and its input, four at a time: few calls a number."""
        rows = [[0.0] * len(inputs[0]) for _ in gradients[0]]
        for four_gradients, four_inputs in zip(_fours(gradients), _fours(inputs), strict=True):
            columns = [*zip(*four_inputs, strict=True)]
            rows = [
                [total + a * e + b * f + c * g + d * h for total, (e, f, g, h) in zip(row, columns, strict=True)]
                for row, a, b, c, d in zip(rows, *four_gradients, strict=True)
            ]
        return rows

    def _fours(vectors: Sequence[Vector]) -> Iterable[tuple[Vector, ...]]:
        """Return four vectors at a time, the last with vectors of zeros."""
        return zip_longest(*[iter(vectors)] * 4, fillvalue=[0.0] * len(vectors[0]))


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


def _gelu(vector: Vector) -> Vector:
    """Return x Φ(x) of each number, Φ the standard normal distribution (Hendrycks and Gimpel 2016), not its tanh."""
    return [x * erfc(-x / sqrt(2.0)) / 2.0 for x in vector]


def gelu_slope(vector: Vector) -> Vector:
    """Return Φ(x) + x φ(x) of each number."""
    return [erfc(-x / sqrt(2.0)) / 2.0 + x * exp(-x * x / 2.0) / sqrt(2.0 * pi) for x in vector]


Function = Callable[[Vector], Vector]


def _hard_sigmoid(slope: float) -> tuple[Function, Function]:
    """Return the sigmoid in straight pieces, 1/2 at 0 and cut at 0 and 1, and its slope at each of its results."""

    def forward(vector: Vector) -> Vector:
        return [min(1.0, max(0.0, slope * x + 0.5)) for x in vector]

    return forward, lambda results: [slope if 0.0 < each < 1.0 else 0.0 for each in results]


HARD_SIGMOIDS = {"hard_sigmoid": _hard_sigmoid(1 / 6), "hard_sigmoid_0.2": _hard_sigmoid(0.2)}
"""The hard sigmoids and their slopes, by name."""


def complement(vector: Vector) -> Vector:
    """Return 1 minus each number."""
    return [1.0 - each for each in vector]


def negative(vector: Vector) -> Vector:
    """Return each number with the other sign."""
    return [-each for each in vector]


def positive(vector: Vector) -> Vector:
    """Return 1 for each number above 0, and 0 for the others."""
    return [1.0 if each > 0 else 0.0 for each in vector]


def inner(left: Vector, right: Vector) -> Vector:
    """Return the sum of the products of two vectors, one number."""
    return [sum(map(mul, left, right))]


def total(vector: Vector) -> Vector:
    """Return the sum of a vector, one number."""
    return [sum(vector)]


def lowered(vector: Vector, number: Vector) -> Vector:
    """Return each number of a vector minus one number."""
    (term,) = number
    return [each - term for each in vector]


def outer(gradient: Vector, vector: Vector) -> tuple[Vector, Vector]:
    """Return two vectors, whose outer product is the gradient of a matrix; a tape sums those of all steps at once."""
    return gradient, vector


def through(matrix: Any, gradient: Vector) -> Vector:
    """Return the transposed matrix times a gradient."""
    return product(matrix.columns, gradient)


def _scaled(number: Vector, vector: Vector) -> Vector:
    (factor,) = number
    return [factor * each for each in vector]


def _shifted(vector: Vector, number: Vector) -> Vector:
    (term,) = number
    return [each + term for each in vector]


def standardised(epsilon: float) -> tuple[Callable[[Vector], Vector], GradientRule]:
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

    def backward(gradient: Vector, vector: Vector) -> Vector:
        (apart, deviation), count = parted(vector), len(gradient)
        level = fsum(gradient) / count
        slope = fsum(map(mul, gradient, apart)) / count / deviation**2
        return [(g - level - slope * x) / deviation for g, x in zip(gradient, apart, strict=True)]

    return forward, GradientRule(
        backward, GRADIENT, 0, row=lambda *_: _in_gradients("through_norm", 2, backward, function="norm′")
    )


EPSILON = 1e-3
"""What is added to a variance in a cell; Keras does so in LayerNormalization, the others add less.

With much less, sums that are nearly equal have gradients that no finite difference can confirm.
"""

_normalised, _through_normalised = standardised(EPSILON)


OF_CLASSES = GradientRule(plus, RESULT, GradientRule(negative, GRADIENT))
"""Softmax and −Σ y log p as one operation: δ = p − y, from the targets y instead of the gradient of p."""

UNCHANGED = GradientRule(_same)
"""The gradient of an operand that is only added."""


def activation(
    name: str, forward: Callable[[Vector], Vector], gradient: GradientRule, function: str = "", **others: Any
) -> Operation:
    """Return the row of an activation; softmax needs a whole vector at once."""
    return Operation(name, 1, forward, (gradient,), function=function or name, program=name, activations=1, **others)


# A row has on its first line what it computes, and behind that how it is written, drawn and counted.
# fmt: off
TABLE = (
    Operation("plus", 2, plus, (UNCHANGED,) * 2, sign=" + ", strength=1, drawn="+", program="+", sums=1),
    Operation("times", 2, times, (GradientRule(times, GRADIENT, 1), GradientRule(times, GRADIENT, 0)),
              sign=" ∘ ", strength=2, drawn="∘", program="*", products=1),
    Operation("over", 2, over,
              (GradientRule(over, GRADIENT, 1),
               GradientRule(negative, GradientRule(over, GradientRule(over, GradientRule(times, GRADIENT, 0), 1), 1))),
              sign=" / ", strength=2, drawn="÷", legend="÷ divides what comes from below by what comes from its side.",
              ordered=True, program="/", products=1),
    Operation("complement", 1, complement, (GradientRule(negative),),
              again=True, before=("1", " − "), strength=1, drawn="1−", program="1 - ", sums=1),
    Operation("scale", 2, _scaled, (GradientRule(inner, GRADIENT, 1), GradientRule(_scaled, 0, GRADIENT)), number=0,
              sign=" · ", strength=2, drawn="·", legend="· multiplies a vector by a number.", program="*", products=1),
    Operation("shift", 2, _shifted, (UNCHANGED, GradientRule(total)), number=1,
              sign=" + ", strength=1, drawn="+", program="+", sums=1),
    # for each number a term of the mean and of the variance, and the difference; the square and the quotient
    Operation("normalise", 1, _normalised, (_through_normalised,),
              again=True, function="norm", products=2, sums=3, alone=True),
    activation("tanh", lambda vector: list(map(tanh, vector)),
               GradientRule(times, GRADIENT, GradientRule(complement, GradientRule(times, RESULT, RESULT)))),
    activation("sigmoid", _sigmoid,
               GradientRule(times, GradientRule(times, GRADIENT, RESULT), GradientRule(complement, RESULT)), "σ"),
    activation("relu", lambda vector: [x if x > 0 else 0.0 for x in vector],
               GradientRule(times, GRADIENT, GradientRule(positive, RESULT))),
    activation("gelu", _gelu, GradientRule(times, GRADIENT, GradientRule(gelu_slope, 0))),
    activation("softmax", _softmax,
               GradientRule(times, RESULT, GradientRule(lowered, GRADIENT, GradientRule(inner, RESULT, GRADIENT)))),
    *(activation(name, forward, GradientRule(times, GRADIENT, GradientRule(slope, RESULT)))
      for name, (forward, slope) in HARD_SIGMOIDS.items()),
    Operation("linear", 1, _same, (UNCHANGED,), again=True),
    # what some frameworks add to a gate's sum
    Operation("increment", 1, lambda vector: [1.0 + each for each in vector], (UNCHANGED,),
              before=("1", " + "), strength=0, drawn="1+", program="1 + ", sums=1, beside=True),
    # a matrix, with its rows and columns, and a vector
    Operation("matrix", 2, lambda matrix, vector: matrix.times(vector),
              (GradientRule(outer, GRADIENT, 1), GradientRule(through, 0, GRADIENT)),
              sign=" ", strength=3, program="@", beside=True),
    # a convolution, with what is around each place, and a vector of places with their channels: a matrix product at
    # each place; the gradient of its weights is the sum of an outer product for each place
    Operation("convolve", 2,
              lambda kernel, vector: kernel.times(vector),
              (GradientRule(lambda kernel, gradient, vector: kernel.outer(gradient, vector), 0, GRADIENT, 1),
               GradientRule(lambda kernel, gradient: kernel.spread(gradient), 0, GRADIENT)),
              sign=" ∗ ", strength=3, program="", beside=True),
    # a bias of a convolution is added at each place
    Operation("everywhere", 2, _everywhere,
              (UNCHANGED, GradientRule(
                  lambda gradient, width: [sum(gradient[at::width]) for at in range(width)], GRADIENT, width_of(1))),
              sign=" + ", strength=1, drawn="+", sums=1, beside=True),
    # between cells: two directions are joined or averaged; a decoder takes its part of a joined state
    Operation("mean", 2, lambda left, right: [(a + b) / 2.0 for a, b in zip(left, right, strict=True)],
              (GradientRule(lambda gradient: [each / 2.0 for each in gradient], row=lambda _: quotient(2)),) * 2,
              strength=2, products=1, sums=1, beside=True),
    Operation("copy", 1, lambda vector: [*vector], (UNCHANGED,), beside=True),
    Operation("join", 2, lambda left, right: left + right,
              (GradientRule(lambda gradient, width: gradient[:width], GRADIENT, width_of(0),
                            row=lambda _, width: slice_of(0, width)),
               GradientRule(lambda gradient, width: gradient[width:], GRADIENT, width_of(0),
                            row=lambda gradient, width: slice_of(width, len(gradient)))), beside=True),
)
# fmt: on


def _half(number: int) -> Operation:
    """Return the operation that takes the first half of a vector, or the second."""

    def forward(vector: Vector) -> Vector:
        width = len(vector) // 2
        return vector[number * width : (number + 1) * width]

    rule = _padded(lambda gradient, width: width - len(gradient) if number else 0)
    return Operation("half", 1, forward, (rule,), again=True, beside=True)


def _padded(start: Callable[[Vector, int], int]) -> GradientRule:
    """Return the rule of a part of a vector, whose gradient is put among zeros; start: its place."""

    def row(gradient: Vector, width: int) -> Operation:
        return placing((start(gradient, width),), width)

    return GradientRule(lambda gradient, width: row(gradient, width).forward(gradient), GRADIENT, width_of(0), row=row)


HALVES = _half(0), _half(1)
"""A direction's half of x, where x is as wide as both directions together: the forward one's and the backward one's."""


def _in_gradients(name: str, operands: int, forward: Callable[..., Any], **spelling: Any) -> Operation:
    """Return the row of a function that is in the gradients of others alone, and has none itself."""
    return Operation(name, operands, forward, (UNCHANGED,) * operands, beside=True, **spelling)


def slice_of(start: int, stop: int) -> Operation:
    """Return the operation that takes some numbers of a vector, with its spelling in gradients."""
    numbers = f"number {stop}" if stop - start == 1 else f"numbers {start + 1} to {stop}"
    return _in_gradients("slice", 1, itemgetter(slice(start, stop)), before=(f"{numbers} of ",), strength=0)


def number_at(place: int) -> Operation:
    """Return the operation that takes one number of a vector, which is written with the letter of the vector."""
    return slice_of(place, place + 1).replace(name="number", constants=(place,))


def placing(starts: Sequence[int], width: int) -> Operation:
    """Return the operation that puts vectors into one of zeros, each at its place; they do not overlap."""

    def forward(*vectors: Vector) -> Vector:
        whole = [0.0] * width
        for start, vector in zip(starts, vectors, strict=True):
            whole[start : start + len(vector)] = vector
        return whole

    return _in_gradients("placing", len(starts), forward, constants=tuple(starts))


def quotient(number: int) -> Operation:
    """Return the operation that divides a vector by a number, with its spelling in gradients."""
    return _quotient("quotient", number, number, str(number))


def _quotient(name: str, number: int, divisor: float, drawn: str) -> Operation:
    """Return the operation that divides a vector; number: the divisor, or its square."""

    def forward(vector: Vector) -> Vector:
        return [each / divisor for each in vector]

    return _in_gradients(name, 1, forward, constants=(number,), sign=" / ", strength=2, drawn=drawn)


OUTER = _in_gradients("outer", 2, lambda rows, columns: [_scaled([row], columns) for row in rows], sign=" ", strength=2)
"""The outer product g xᵀ, the gradient of a matrix."""

INNER = _in_gradients("inner", 2, inner, sign=" ", strength=2)
"""The inner product yᵀ g."""

WRITTEN: dict[Callable[..., Any], Operation] = {
    **{row.forward: row for row in TABLE},
    negative: _in_gradients("negative", 1, negative, before=("−",), strength=2),
    positive: _in_gradients("positive", 1, positive, function="relu′"),
    gelu_slope: _in_gradients("gelu_slope", 1, gelu_slope, function="gelu′"),
    **{
        slope: _in_gradients(f"{name}_slope", 1, slope, function=f"{name}′")
        for name, (_, slope) in HARD_SIGMOIDS.items()
    },
    total: _in_gradients("total", 1, total, function="sum"),
    lowered: _in_gradients("lowered", 2, lowered, sign=" − ", strength=1),
    inner: INNER,
    through: _in_gradients("through", 2, through, sign=" ", strength=2),
    outer: OUTER,
}
"""The operation as which a function of a gradient's rule is written; relu′, g xᵀ and Wᵀ g are in gradients alone."""


def standardise_by(epsilon: float) -> Operation:
    """Return the operation on x, means and variances: (x − mean) / √(variance + epsilon), number by number."""

    def scales(variance: Vector) -> Vector:
        return [sqrt(each + epsilon) for each in variance]

    def forward(x: Vector, mean: Vector, variance: Vector) -> Vector:
        return [(a - b) / c for a, b, c in zip(x, mean, scales(variance), strict=True)]

    def through_variance(gradient: Vector, *values: Vector) -> Vector:
        places = zip(gradient, *values, scales(values[2]), strict=True)
        return [-g * (x - mean) / (2.0 * scale**3) for g, x, mean, _, scale in places]

    of_x = GradientRule(lambda gradient, variance: list(map(truediv, gradient, scales(variance))), GRADIENT, 2)
    rules = of_x, GradientRule(negative, of_x), GradientRule(through_variance, GRADIENT, 0, 1, 2)
    return Operation("standardise", 3, forward, rules, again=True, products=1, sums=1, beside=True)


def largest(number: int) -> Operation:
    """Return the operation that takes the largest number at each place of several vectors.

    Its gradient goes to the first vector that has it.
    """

    def rule(place: int) -> GradientRule:
        def backward(gradient: Vector, *vectors: Vector) -> Vector:
            together = zip(gradient, zip(*vectors, strict=True), strict=True)
            return [g if each.index(max(each)) == place else 0.0 for g, each in together]

        return GradientRule(backward, GRADIENT, *range(number))

    def forward(*vectors: Vector) -> Vector:
        return [max(each) for each in zip(*vectors, strict=True)]

    rules = tuple(map(rule, range(number)))
    return Operation("largest", number, forward, rules, sums=1, windowed=True, beside=True)


def average(number: int) -> Operation:
    """Return the operation that takes the average at each place of several vectors."""

    def forward(*vectors: Vector) -> Vector:
        return [fsum(each) / number for each in zip(*vectors, strict=True)]

    rule = GradientRule(lambda gradient: [each / number for each in gradient], row=lambda _: quotient(number))
    return Operation("average", number, forward, (rule,) * number, products=1, sums=1, windowed=True, beside=True)


def joined(widths: Sequence[int]) -> Operation:
    """Return the operation that puts vectors of these widths one after the other."""
    shares = zip(accumulate(widths, initial=0), accumulate(widths), strict=False)
    rules = tuple([GradientRule(row.forward, row=lambda _, row=row: row) for row in starmap(slice_of, shares)])
    return Operation("joined", len(widths), lambda *vectors: [*chain(*vectors)], rules, windowed=True, beside=True)


def part(start: int, stop: int) -> Operation:
    """Return the operation that takes some numbers of a vector, from `start` up to `stop`."""
    rule = _padded(lambda *_: start)
    return slice_of(start, stop).replace(name="part", gradients=(rule,))


def dot(number: int) -> Operation:
    """Return the operation that multiplies a vector by each of several: the sum of their products, for each one."""

    def rule(place: int) -> GradientRule:
        return GradientRule(_scaled, _number_of(place, GRADIENT), 0)

    def forward(vector: Vector, *others: Vector) -> Vector:
        return product(others, vector)

    rules = (
        GradientRule(_mixed, GRADIENT, *range(1, number + 1), row=lambda *_: OPERATIONS["mix"]),
        *map(rule, range(number)),
    )
    return Operation("dot", number + 1, forward, rules, sign=" · ", strength=2, beside=True)


def mix(number: int) -> Operation:
    """Return the operation that sums several vectors, each times its number of a vector of weights."""

    def rule(place: int) -> GradientRule:
        return GradientRule(_scaled, _number_of(place, 0), GRADIENT)

    rules = (
        GradientRule(_products, *range(1, number + 1), GRADIENT, row=lambda *_: PRODUCTS),
        *map(rule, range(number)),
    )
    return Operation("mix", number + 1, _mixed, rules, sign=" ", strength=2, beside=True)


def _mixed(weights: Vector, *vectors: Vector) -> Vector:
    return product([*zip(*vectors, strict=True)], weights)


def _products(*vectors: Vector) -> Vector:
    return product(vectors[:-1], vectors[-1])


PRODUCTS = _in_gradients("products", 2, _products, sign=" ", strength=2)
"""The products of several vectors and one more, the last."""


def _number_of(place: int, vector: int) -> GradientRule:
    """Return the rule that takes the number at a place of a vector, which is a forward value or the gradient."""
    return GradientRule(_number(place), vector, row=lambda _: number_at(place))


@cache
def _number(place: int) -> Callable[[Vector], Vector]:
    """Return the function that takes the number at a place of a vector, the same function for the same place."""
    return itemgetter(slice(place, place + 1))


def over_root(number: int) -> Operation:
    """Return the operation that divides a vector by the square root of a number."""
    row = _quotient("root_quotient", number, sqrt(number), f"√{number}")
    return row.replace(
        name="over_root", gradients=(GradientRule(row.forward, row=lambda _: row),), products=1, beside=True
    )


def row(number: int) -> Operation:
    """Return the operation that takes a row of a table."""
    return Operation("row", 1, lambda table: table.rows[number], (UNCHANGED,), drawn=str(number), beside=True)


_TO_ROW = GradientRule(lambda gradient, number: (number, gradient), GRADIENT, 1)

_EXAMPLES = (
    *(
        HALVES[0],
        standardise_by(EPSILON),
        largest(1),
        average(1),
        joined((1,)),
        part(0, 1).replace(before=()),
        dot(1),
        mix(1),
        over_root(1),
    ),
    Operation("current", 1, _same, (UNCHANGED,), again=True, beside=True),
    row(0),
    Operation("lookup", 2, lambda table, number: table.rows[number], (_TO_ROW, UNCHANGED), beside=True),
    part(0, 1).replace(name="heads", before=()),
    joined((1,)).replace(name="concat", windowed=False),
)
OPERATIONS = {row.name: row for row in (*TABLE, *_EXAMPLES)}
"""Every operation by its name."""

MERGES = {
    "concat": OPERATIONS["join"],
    "sum": OPERATIONS["plus"],
    "mul": OPERATIONS["times"],
    "ave": OPERATIONS["mean"],
}
"""The operation of each merge mode of two directions."""

IN_LETTERS = WRITTEN | {_mixed: OPERATIONS["scale"], _products: INNER, _number(0): OPERATIONS["linear"]}
"""The same for equations in letters: there one of several vectors has a letter for all of them."""


def normalise(epsilon: float) -> Operation:
    """Return the operation that makes mean 0 and variance 1 of a vector, epsilon added to the variance."""
    forward, backward = standardised(epsilon)
    return OPERATIONS["normalise"].replace(forward=forward, gradients=(backward,))
