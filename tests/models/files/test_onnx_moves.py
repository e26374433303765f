"""Arrays that an ONNX graph makes of stored ones: numbers worked by hand, as the operators are documented."""

from typing import Any

import pytest

from rnncalc.bounds import MOST_MOVES
from rnncalc.models.files.onnx_moves import Value, moved


def value(*shape: int, first: float = 0, name: str = "a", dtype: str = "float32") -> Value:
    """Return an array of counted numbers."""
    size = 1
    for each in shape:
        size *= each
    return Value(shape, dtype, lambda: [first + place for place in range(size)], {name: size})


def whole(*numbers: int) -> Value:
    return Value((len(numbers),), "int64", lambda: [*numbers], {"axes": len(numbers)})


A = value(2, 3)  # [[0, 1, 2], [3, 4, 5]]
B = value(2, 3, first=10, name="b")


@pytest.mark.parametrize(
    ("kind", "settings", "inputs", "shape", "numbers"),
    [
        ("Identity", {}, [A], (2, 3), [0, 1, 2, 3, 4, 5]),
        ("Transpose", {}, [A], (3, 2), [0, 3, 1, 4, 2, 5]),
        ("Transpose", {"perm": [1, 0, 2]}, [value(2, 2, 1)], (2, 2, 1), [0, 2, 1, 3]),
        ("Reshape", {}, [A, whole(3, -1)], (3, 2), [0, 1, 2, 3, 4, 5]),
        ("Reshape", {}, [A, whole(0, 1, 3)], (2, 1, 3), [0, 1, 2, 3, 4, 5]),
        ("Flatten", {}, [value(1, 2, 2)], (1, 4), [0, 1, 2, 3]),
        ("Unsqueeze", {}, [A, whole(0, -1)], (1, 2, 3, 1), [0, 1, 2, 3, 4, 5]),
        ("Squeeze", {"axes": [0]}, [value(1, 2, 1)], (2, 1), [0, 1]),  # before opset 13
        ("Squeeze", {}, [value(1, 2, 1)], (2,), [0, 1]),
        ("Slice", {}, [A, whole(1), whole(2**63 - 1), whole(1)], (2, 2), [1, 2, 4, 5]),
        ("Slice", {}, [A, whole(-1), whole(-(2**63) + 1), whole(1), whole(-1)], (2, 3), [2, 1, 0, 5, 4, 3]),
        ("Slice", {"starts": [0], "ends": [1], "axes": [0]}, [A], (1, 3), [0, 1, 2]),  # before opset 10
        ("Gather", {"axis": [1]}, [A, whole(2, 0)], (2, 2), [2, 0, 5, 3]),
        ("Gather", {}, [A, Value((), "int64", lambda: [1], {})], (3,), [3, 4, 5]),
        ("Concat", {"axis": [0]}, [A, B], (4, 3), [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15]),
        ("Concat", {"axis": [-1]}, [A, B], (2, 6), [0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15]),
        ("Add", {}, [A, B], (2, 3), [10, 12, 14, 16, 18, 20]),
        ("Mul", {}, [A, value(3, first=1)], (2, 3), [0, 2, 6, 3, 8, 15]),
        ("Sub", {}, [value(2, 1), A], (2, 3), [0, -1, -2, -2, -3, -4]),
        ("Div", {}, [A, Value((), "float32", lambda: [2], {})], (2, 3), [0, 0.5, 1, 1.5, 2, 2.5]),
    ],
)
def test_what_operators_move(
    kind: str, settings: dict[str, Any], inputs: list[Value], shape: tuple[int, ...], numbers: list[float]
) -> None:
    """Their shapes and numbers."""
    (made,) = moved(kind, settings, inputs, 1)
    assert (made.shape, made.read()) == (shape, numbers)


def test_parts_of_a_split() -> None:
    """Equal ones, the last of which may be smaller, and those whose sizes are there."""
    long = value(5)
    assert [each.read() for each in moved("Split", {"axis": [0], "num_outputs": [2]}, [long], 2)] == [[0, 1, 2], [3, 4]]
    assert [each.read() for each in moved("Split", {}, [long, whole(1, 4)], 2)] == [[0], [1, 2, 3, 4]]


def test_how_much_of_a_tensor_a_part_is() -> None:
    """Each part has its share, and a factor of one number has none."""
    (part,) = moved("Slice", {}, [A, whole(0), whole(1), whole(0)], 1)
    (both,) = moved("Concat", {"axis": [0]}, [part, B], 1)
    (scaled,) = moved("Mul", {}, [both, Value((), "float32", lambda: [2], {"factor": 1})], 1)
    assert (part.sources, both.sources, scaled.sources) == ({"a": 3}, {"a": 3, "b": 6}, {"a": 3, "b": 6})
    assert moved("Slice", {}, [both, whole(0), whole(1), whole(0)], 1) == []  # of which is not known


@pytest.mark.parametrize(
    ("kind", "settings", "inputs"),
    [
        ("Relu", {}, [A]),
        ("Concat", {"axis": [2]}, [A, B]),
        ("Concat", {"axis": [0]}, [A, None]),
        ("Concat", {"axis": [0]}, [A, value(2, 2)]),
        ("Reshape", {}, [A, whole(4, 4)]),
        ("Reshape", {}, [A, None]),
        ("Transpose", {"perm": [0, 0]}, [A]),
        ("Transpose", {"perm": ["x"]}, [A]),
        ("Slice", {}, [A, whole(0, 0), whole(1), whole(0)]),
        ("Gather", {}, [A, whole(7)]),
        ("Split", {"split": [9, 9]}, [value(5)]),
        ("Unsqueeze", {}, [A, whole(*range(40))]),
        ("Add", {}, [A, value(2)]),
        ("Identity", {}, [value(2**40)]),
    ],
)
def test_what_does_not_fit_moves_nothing(kind: str, settings: dict[str, Any], inputs: list[Any]) -> None:
    """An operator that does anything else, or a file that is damaged."""
    assert moved(kind, settings, inputs, 2 if kind == "Split" else 1) == []


def test_moves_without_end() -> None:
    """A few lines could double an array again and again, or move it for hours."""
    array, times = value(1000), 0
    while made := moved("Concat", {"axis": [0]}, [array, array], 1):
        (array,), times = made, times + 1
    assert array.size < 10**9
    array, times = value(2), 0
    while made := moved("Slice", {}, [array, whole(0), whole(2), whole(0)], 1):
        (array,), times = made, times + 1
    assert times == MOST_MOVES
