"""Arrays of weights: what is no such array, and numbers drawn."""

from math import sqrt
from typing import Any

import pytest

from rnncalc import LSTM, RNN, BatchNorm, Embedding, Layer, Network, Output
from rnncalc.conventions.tensor import Axis, Role, Tensor
from rnncalc.forward.arrays import (
    Arrays,
    BindingError,
    Convolution,
    Matrix,
    Meter,
    PassData,
    TensorPart,
    filled,
    flat,
    number_at,
    shape_of,
)
from rnncalc.forward.bindings import GateWeights

ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
GIVEN: dict[str, Any] = {"W": ROWS, "b": [7.0, 8.0, 9.0], "R": [ROWS, [[0.0] * 3] * 2]}


def refused(*args: Any, of: Any) -> str:
    with pytest.raises(BindingError) as caught:
        of(*args)
    return str(caught.value)


def test_what_is_not_so_declared_is_refused() -> None:
    """A matrix for a vector, a vector for a matrix, another width, what is not there, another order of the gates."""
    arrays = Arrays(GIVEN | {"e": []}, [tensor("W", gates="rzn")])
    assert refused("b", of=arrays.matrix) == "b: a matrix is needed, a vector is declared"
    assert refused("e", of=arrays.matrix) == "e: a matrix is needed, a vector is declared"
    assert refused("W", of=arrays.vector) == "W: a vector is needed, a matrix is declared"
    assert refused("a", of=arrays.matrix) == "a: needed, but not declared"
    for last in (0, 3):  # of a matrix, and beyond the last of three axes
        three = refused(last, of=lambda last: arrays.matrix("R" if last else "W", last=last))
        assert three == f"{'R' if last else 'W'}: an array of three axes is needed"
    places = Convolution("K", [[1.0, 2.0]], TensorPart("K", taps=((0,), (1,))), (2,), 2)
    assert [*places.around([5.0, 7.0])] == [[5.0, 7.0], [7.0, 0.0]]
    several = "K: 2 places of 1 channels are not 3 numbers"
    assert refused([1.0, 2.0, 3.0], of=lambda x: [*places.around(x)]) == several
    for at in ((2,), (0, 2), (0, 0, 3), (0, 0, 0, 0)):
        assert refused("R", slice(None), of=lambda name, rows, at=at: arrays.vector(name, rows, at=at)) == (
            "R: needed, but not declared"
        )
    wide = "W: rows of 3 weights cannot multiply 2 numbers"
    assert refused(Matrix("W", ROWS), [1.0, 2.0], of=Meter().product) == wide
    assert refused(Matrix("W", []), [1.0], of=Meter().product) == "W: rows of 0 weights cannot multiply 1 numbers"
    assert Meter().product(Matrix("W", []), []) == []
    assert refused("W", "zrn", 2, of=arrays.gates) == "W: the gates lie in it as zrn, and rzn is declared"
    assert arrays.gates("W", "rzn", 2) == {"r": slice(0, 2), "z": slice(2, 4), "n": slice(4, 6)}
    assert arrays.gates("b", "zh", 3) == {"z": slice(0, 3), "h": slice(3, 6)}


def test_an_array_is_filled_from_a_grid_in_its_order() -> None:
    """4,096 numbers from −b on, up to less than b: 0 is the first, ½ the middle, 0, and ¾ halfway up."""
    drawn = iter([0.0, 0.5, 0.75, 0.25, 1 / 4096, 0.99999])
    found = filled(tensor("W"), 8.0, lambda: next(drawn))
    assert found == [[-8.0, 0.0, 4.0], [-4.0, -8.0 + 16 / 4096, 8.0 - 16 / 4096]]
    assert [*flat(found)] == found[0] + found[1]
    assert shape_of(found) == (2, 3)
    assert shape_of([[[1.0], [2.0]]]) == (1, 2, 1)
    assert number_at(ROWS, (1, 0)) == 4.0
    assert [*flat([[[1.0], [2.0]], [[3.0]]])] == [1.0, 2.0, 3.0]


def tensor(name: str, gates: str = "") -> Tensor:
    """Return a tensor of 2 × 3."""
    return Tensor(name, Role.INPUT, None, gates, (Axis(2), Axis(3)), (2, 3))


def test_what_comes_from_no_layer_is_between_minus_one_and_one() -> None:
    """Features beside an input, and vectors that are read."""
    drawn = PassData(3).elsewhere(1_000)
    assert len(drawn) == 1_000
    assert -1.0 <= min(drawn) < -0.98
    assert 0.98 < max(drawn) < 1.0
    assert drawn == PassData(3).elsewhere(1_000)
    assert drawn != PassData(4).elsewhere(1_000)


@pytest.mark.parametrize(
    ("layers", "place", "bound"),
    [
        ((Embedding(50),), 0, 1.0),
        ((LSTM(25),), 0, 1 / sqrt(25)),
        ((LSTM(9, projection=4),), 0, 1 / sqrt(4)),
        ((LSTM(16),), 1, 1 / sqrt(16)),
    ],
)
def test_weights_are_bounded_as_frameworks_bound_them(layers: tuple[Layer, ...], place: int, bound: float) -> None:
    """By 1/√h in a cell, by 1/√m in a dense layer; the rows of a table are as large as inputs are."""
    net = Network(input=200, layers=layers, output=Output(100))
    weights = [number for array in PassData(1).weights_of(net.stack[place]).values() for number in flat(array)]
    assert max(map(abs, weights)) <= bound
    assert max(weights) > 0.95 * bound
    assert min(weights) < -0.95 * bound


def test_a_matrix_has_the_name_that_messages_use() -> None:
    """Rows, columns, and a step of a kernel whose steps are the last axis."""
    arrays = Arrays({**GIVEN, "K": [[[1.0, 2.0], [3.0, 4.0]]]})
    for matrix, name, width in (
        (arrays.matrix("W"), "W", 3),
        (arrays.matrix("W", transposed=True), "W", 2),
        (arrays.matrix("K", last=1), "K", 2),
    ):
        message = f"{name}: rows of {width} weights cannot multiply 4 numbers"
        assert refused(matrix, [0.0] * 4, of=Meter().product) == message


def test_variances_are_above_a_half_and_numbers_by_hand_have_few_decimals() -> None:
    """A deviation of 0 would divide by nothing; 1/√3 leaves one decimal, 1/√25 two."""
    (norm,) = Network(input=200, layers=(BatchNorm(),)).stack
    drawn = PassData(1).weights_of(norm)
    assert all(0.5 <= number <= 0.5 + 1 / sqrt(200) for number in flat(drawn["variance"]))
    for units, decimals in ((3, 1), (25, 2), (2_500, 3)):
        (cell,) = Network(input=3, layers=(RNN(units, recurrence="diagonal"),)).stack
        numbers = [*flat(PassData(1, rounded=True).weights_of(cell)["b_h"])]
        assert all(round(number, decimals) == number for number in numbers)
        assert not any(str(number) == "-0.0" for number in numbers)


@pytest.mark.parametrize(
    ("of", "message"),
    [
        (lambda bound: bound.product("z", "x"), "gate z's product of x: needed, but not bound"),
        (lambda bound: bound.matrix("V"), "the matrix V: needed, but not bound"),
        (lambda bound: bound.gain("z"), "the gain of gate z: needed, but not bound"),
        (lambda bound: bound.vector("v"), "the weights v: needed, but not bound"),
        (lambda bound: bound.state("h"), "the learned state h: needed, but not bound"),
    ],
)
def test_weights_that_are_not_bound(of: Any, message: str) -> None:
    """They are told by what they belong to."""
    assert refused(GateWeights({}), of=of) == message
