"""A pass on a tape: gradients that are added where some are already, and values that are computed again."""

from rnncalc.forward.arrays import Meter, TensorPart
from rnncalc.forward.tape import LayerTape, Tape, Taped, TapeValue
from rnncalc.step.operations import OPERATIONS

A, B = [2.0, 3.0], [5.0, 7.0]
GRADIENT = [1.0, 10.0]


def taped() -> Taped:
    return Taped(Meter(), Tape(), LayerTape({}, trained=True))


def vector(vectors: Taped, numbers: list[float]) -> TapeValue:
    """Return data whose gradient is asked for."""
    value = vectors.constant(numbers)
    value.needs = True
    return value


def values_read(vectors: Taped, made: TapeValue, gradient: list[float]) -> set[int]:
    """Run a backward pass from a gradient, and return the identities of the values that it reads."""
    made.add(gradient)
    vectors.tape.backward()
    vectors.layer.finish()
    return {value for saved in vectors.layer.saved.values() for value in saved}


def test_the_gradient_of_a_piece_is_added_where_it_lies() -> None:
    """Some rows, columns as rows, numbers of a vector, and a place of an array of more axes; twice is twice."""
    layer = LayerTape({"W": [[0.0] * 3, [0.0] * 3], "b": [0.0] * 4, "R": [[[0.0] * 2] * 2] * 2}, trained=True)
    for _ in range(2):
        layer.add(TensorPart("W", (), 1), [[1.0, 2.0, 3.0]])
    layer.add(TensorPart("W", (), 1, transposed=True), [[10.0, 20.0], [30.0, 40.0]])
    assert layer.gradients["W"] == [[0.0, 10.0, 30.0], [2.0, 24.0, 46.0]]
    layer.add(TensorPart("b", (), 1), [[5.0, 6.0]])
    layer.add(TensorPart("b", (), 2), [[1.0, 1.0]])
    assert layer.gradients["b"] == [0.0, 5.0, 7.0, 1.0]
    layer.add(TensorPart("R", (1,), 1), [[1.0, 2.0]])
    layer.add(TensorPart("R", (0, 1)), [[3.0, 4.0]])
    assert layer.gradients["R"] == [[[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0], [1.0, 2.0]]]


def test_what_is_done_again_is_read_as_what_it_was_made_of() -> None:
    """1 − (1 − a) is a; a state that goes on is kept as it is."""
    vectors = taped()
    times, complement, linear = (vectors.operation(OPERATIONS[name]) for name in ("times", "complement", "linear"))
    a, b = vector(vectors, A), vector(vectors, B)
    again = complement(complement(linear(a)))
    read = values_read(vectors, times(again, b), GRADIENT)
    assert read == {id(a.numbers), id(b.numbers)}
    assert (a.gradient, b.gradient) == ([5.0, 70.0], [2.0, 30.0])
    vectors = taped()
    a, b = vector(vectors, A), vector(vectors, B)
    state = vectors.operation(OPERATIONS["complement"])(a)
    carried = vectors.carry(state, 1)
    assert values_read(vectors, vectors.operation(OPERATIONS["times"])(carried, b), GRADIENT) == {
        id(state.numbers),
        id(b.numbers),
    }
