"""The algebra of a step, number by number."""

from collections.abc import Callable
from math import e, exp, inf, isnan, tanh

import pytest

from rnncalc.forward import vectors
from rnncalc.forward.arrays import Meter, Piece, WeightVector
from rnncalc.forward.floats import Floats
from rnncalc.forward.vectors import ACTIVATIONS, LengthError, Vector

TWO, THREE = [1.0, 2.0], [1.0, 2.0, 3.0]


def test_element_by_element() -> None:
    """5 + 2, 5 · 2, 5 / 2; a blend of ¼ is a quarter of the one and three of the other."""
    assert vectors.plus([5.0, -1.0], [2.0, 4.0]) == [7.0, 3.0]
    assert vectors.times([5.0, -1.0], [2.0, 4.0]) == [10.0, -4.0]
    assert vectors.over([5.0, -1.0], [2.0, 4.0]) == [2.5, -0.25]
    assert vectors.over([5.0, -1.0, 1.0, 6.0], [0.0, 0.0, -0.0, 4.0]) == [inf, -inf, -inf, 1.5]
    assert isnan(vectors.over([0.0], [0.0])[0])
    assert vectors.blend([0.25, 1.0, 0.0], [8.0, 5.0, 5.0], [16.0, 7.0, 7.0]) == [14.0, 5.0, 7.0]
    assert vectors.product([[1.0, 2.0], [3.0, -4.0], [0.5, 0.0]], [10.0, 1.0]) == [12.0, 26.0, 5.0]


@pytest.mark.parametrize("operation", [vectors.plus, vectors.times, vectors.over])
@pytest.mark.parametrize(("left", "right", "said"), [(TWO, THREE, "2 and 3"), (THREE, TWO, "3 and 2")])
def test_two_lengths_do_not_meet(
    operation: Callable[[Vector, Vector], Vector], left: Vector, right: Vector, said: str
) -> None:
    """The error says both."""
    with pytest.raises(LengthError) as caught:
        operation(left, right)
    assert str(caught.value) == f"vectors of {said} numbers do not match"


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ((TWO, THREE, THREE), "2 and 3 and 3"),
        ((THREE, TWO, THREE), "3 and 2 and 3"),
        ((TWO, TWO, THREE), "2 and 2 and 3"),
    ],
)
def test_three_of_one_length_blend(of: tuple[Vector, Vector, Vector], said: str) -> None:
    """Whichever is the odd one out."""
    with pytest.raises(LengthError) as caught:
        vectors.blend(*of)
    assert str(caught.value) == f"vectors of {said} numbers do not match"


def test_activations() -> None:
    """At numbers where they are known; neither side overflows."""
    assert ACTIVATIONS["tanh"]([0.0, 0.5]) == [0.0, tanh(0.5)]
    assert ACTIVATIONS["relu"]([-2.0, 0.0, 0.5]) == [0.0, 0.0, 0.5]
    assert ACTIVATIONS["linear"]([-2.0, 3.0]) == [-2.0, 3.0]
    assert ACTIVATIONS["sigmoid"]([0.0, 1.0, -1.0]) == pytest.approx([0.5, e / (e + 1), 1 / (e + 1)])
    assert ACTIVATIONS["sigmoid"]([1000.0, -1000.0]) == [1.0, 0.0]
    total = 1 + exp(1) + exp(3)
    assert ACTIVATIONS["softmax"]([2.0, 3.0, 5.0]) == pytest.approx([1 / total, exp(1) / total, exp(3) / total])
    assert ACTIVATIONS["softmax"]([1000.0, 0.0, 1000.0]) == pytest.approx([0.5, 0.0, 0.5])
    assert ACTIVATIONS["softmax"]([]) == []


def test_floats_are_what_is_left_of_the_operations() -> None:
    """1 − x, a vector times and plus one number, half a sum, two behind one another, and the middle of four."""
    floats = Floats(Meter())
    assert floats.complement([0.25, 3.0]) == [0.75, -2.0]
    assert floats.scale([3.0], [2.0, -4.0]) == [6.0, -12.0]
    assert floats.shift([2.0, -4.0], [3.0]) == [5.0, -1.0]
    assert floats.mean([1.0, 6.0], [2.0, -2.0]) == [1.5, 2.0]
    assert floats.join([1.0], [2.0, 3.0]) == [1.0, 2.0, 3.0]
    assert floats.part([1.0, 2.0, 3.0, 4.0], 1, 3) == [2.0, 3.0]
    assert floats.activate("relu", [-1.0, 1.0]) == [0.0, 1.0]
    assert floats.weighted(WeightVector(Piece("w"), [2.0, 3.0]), [5.0, 7.0]) == [10.0, 21.0]
    assert (floats.meter.weights_read, floats.meter.multiplications) == (2, 0)
    with pytest.raises(ValueError, match="shorter"):
        floats.mean([1.0, 2.0], [1.0])
