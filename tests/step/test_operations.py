"""The table of operations: each row's numbers by hand, its gradients against differences, and what they read."""

from itertools import chain
from math import inf, isnan
from typing import Any

import pytest
from case_files import cases, worked_out

from rnncalc.errors import DeclarationError
from rnncalc.forward.arrays import Convolution, Matrix, TensorPart
from rnncalc.layers.options import OPTIONS, Choice
from rnncalc.step.operations import (
    GRADIENT,
    HALVES,
    OPERATIONS,
    RESULT,
    TABLE,
    LengthError,
    Operation,
    Vector,
    joined,
    largest,
    part,
    plus,
    product,
    row,
    standardise_by,
)

WEIGHTS: dict[str, list[Any]] = {
    "matrix": [Matrix("W", [[1.0, 2.0], [3.0, 4.0], [5.0, -6.0]]), [2.0, 3.0]],
    "convolve": [Convolution("W", [[1.0, 2.0], [3.0, 4.0]], TensorPart("W", taps=((0,), (1,))), (2,), 2), [2.0, 3.0]],
}
RESULTS: dict[str, dict[str, list[Any]]] = {case["name"]: case for case in cases("step/results.yaml")}
"""What an operation gives, and what it is done with, if that is not two vectors of two numbers."""


class Seen:
    """Forward values, and which of them were read."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        self.read: set[int] = set()

    def __getitem__(self, place: int) -> Any:
        self.read.add(place)
        return self.values[place]

    def width(self, place: int) -> int:
        return len(self.values[place])


ROWS = [*TABLE, part(1, 3), joined((1, 2, 1)), standardise_by(0.5), largest(2)]


def operands(row: Operation) -> list[Any]:
    return WEIGHTS.get(row.name) or RESULTS[row.name].get("operands") or [[2.0, -3.0], [5.0, 7.0]][: row.operands]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_numbers_of_an_operation(row: Operation) -> None:
    """By hand."""
    assert row.forward(*operands(row)) == pytest.approx(worked_out(RESULTS[row.name]["gives"]))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_gradients_are_those_of_differences_and_read_what_the_row_says(row: Operation) -> None:
    """Of the sum of the results, each times a number of its own, with respect to each number of each operand."""
    on = operands(row)
    result = row.forward(*on)
    gradient = [0.5 + number for number in range(len(result))]
    for place, of in enumerate(on):
        seen = Seen([*on, gradient, result])
        found = row.gradients[place](seen)
        assert seen.read - {GRADIENT} == {*row.reads[place]}
        if row.name == "matrix" and place == 0:
            assert found == (gradient, on[1])
            continue
        if row.name == "convolve" and place == 0:
            assert found == [([0.5, 1.5], [2.0, 3.0]), ([2.5, 3.5], [3.0, 0.0])]
            continue
        assert len(found) == len(of)
        for number, each in enumerate(of):
            sides = []
            for moved in (each + 1e-6, each - 1e-6):
                values = row.forward(*on[:place], [*of[:number], moved, *of[number + 1 :]], *on[place + 1 :])
                sides.append(sum(a * b for a, b in zip(values, gradient, strict=True)))
            assert found[number] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-6)


def test_gradients_are_as_long_as_what_they_are_of() -> None:
    """No number of one is left out."""
    for name in ("times", "over", "mean", "tanh", "sigmoid", "relu", "gelu", "softmax"):
        row = OPERATIONS[name]
        on = operands(row)
        for of in row.gradients if name != "mean" else ():
            with pytest.raises(ValueError, match=r"shorter|longer|do not match"):
                of(Seen([*on, [1.0], row.forward(*on)]))
    with pytest.raises(ValueError, match="shorter"):
        OPERATIONS["mean"].forward([1.0, 2.0], [1.0])


@pytest.mark.parametrize("name", ["plus", "times", "over"])
@pytest.mark.parametrize(
    ("left", "right", "said"), [([1.0, 2.0], [1.0] * 3, "2 and 3"), ([1.0] * 3, [1.0, 2.0], "3 and 2")]
)
def test_two_lengths_do_not_meet(name: str, left: Vector, right: Vector, said: str) -> None:
    """The error says both."""
    with pytest.raises(LengthError) as caught:
        OPERATIONS[name].forward(left, right)
    assert str(caught.value) == f"vectors of {said} numbers do not match"


def test_a_quotient_by_zero_is_that_of_frameworks() -> None:
    """Infinity with the sign of both, or no number; forward and back."""
    over = OPERATIONS["over"]
    assert over.forward([5.0, -1.0, 1.0, 6.0], [0.0, 0.0, -0.0, 4.0]) == [inf, -inf, -inf, 1.5]
    assert isnan(over.forward([0.0], [0.0])[0])
    assert over.gradients[1](Seen([[2.0], [0.0], [1.0], [inf]])) == [-inf]


def test_activations_at_their_ends() -> None:
    """Neither side overflows; a softmax of nothing is nothing."""
    assert OPERATIONS["sigmoid"].forward([0.0, 1000.0, -1000.0]) == [0.5, 1.0, 0.0]
    assert OPERATIONS["softmax"].forward([1000.0, 0.0, 1000.0]) == pytest.approx([0.5, 0.0, 0.5])
    assert OPERATIONS["softmax"].forward([]) == []
    assert OPERATIONS["relu"].forward([-2.0, 0.0, 0.5]) == [0.0, 0.0, 0.5]
    assert product([[1.0, 2.0], [3.0, -4.0], [0.5, 0.0]], [10.0, 1.0]) == [12.0, 26.0, 5.0]


def test_every_activation_that_a_spec_may_name_has_a_row() -> None:
    """And is one."""
    allowed = OPTIONS["activation"].allowed
    assert isinstance(allowed, Choice)
    assert {*allowed.words} <= {*OPERATIONS}
    assert all(OPERATIONS[word].operands == 1 for word in allowed.words)


@pytest.mark.parametrize("row", OPERATIONS.values(), ids=OPERATIONS)
def test_each_row_is_whole(row: Operation) -> None:
    """It is written in one way, counts no less than nothing, and reads what it has; without gradients it is refused."""
    shown = bool(row.sign) + bool(row.function)
    assert shown < 2
    assert row.beside or shown or row.before or row.name == "linear"
    assert min(row.products, row.sums, row.activations) >= 0
    assert row.number in (None, *range(row.operands))
    assert {*chain(*row.reads)} <= {*range(row.operands), RESULT}
    assert not row.alone or (row.operands == 1 and row.function)
    with pytest.raises(DeclarationError, match=f"^operation {row.name}: gradients: expected one for each operand, "):
        row.replace(gradients=())


def test_a_gradient_of_another_value_is_seen() -> None:
    """The test above objects to it."""
    wrong = OPERATIONS["times"].replace(gradients=OPERATIONS["times"].gradients[::-1])
    with pytest.raises(AssertionError):
        test_gradients_are_those_of_differences_and_read_what_the_row_says(wrong)
    assert plus([5.0, -1.0], [2.0, 4.0]) == [7.0, 3.0]
    assert RESULT == -1


def test_no_two_rows_have_one_name() -> None:
    """The second would replace the first without a word."""
    assert all(OPERATIONS[row.name] is row for row in TABLE)


def test_a_look_up_reads_a_row_and_adds_to_its_gradient_alone() -> None:
    """The gradient of the table is that of the result, at the number that was looked up, which must be kept."""
    table, lookup = Matrix("E", [[1.0, 2.0], [3.0, 4.0]]), OPERATIONS["lookup"]
    assert lookup.forward(table, 1) == row(1).forward(table) == [3.0, 4.0]
    seen = Seen([table, 1, [5.0, 6.0], [3.0, 4.0]])
    assert lookup.gradients[0](seen) == (1, [5.0, 6.0])
    assert (seen.read - {GRADIENT}, lookup.reads[0]) == ({1}, (1,))


def test_each_direction_reads_its_half() -> None:
    """The first two of four numbers, or the last two; the gradient of the others is 0."""
    x = [2.0, 3.0, 5.0, 7.0]
    first, second = HALVES
    assert (first.forward(x), second.forward(x)) == ([2.0, 3.0], [5.0, 7.0])
    (through,), (through_second,) = first.gradients, second.gradients
    assert through(Seen([x, [1.0, -1.0], []])) == [1.0, -1.0, 0.0, 0.0]
    assert through_second(Seen([x, [1.0, -1.0], []])) == [0.0, 0.0, 1.0, -1.0]
