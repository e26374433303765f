"""A pass on a tape: the gradients that go back, by hand, and the forward values that these are seen to read."""

from typing import Any

import pytest

from rnncalc.forward.arrays import Arrays, Matrix, Meter, TensorPart, WeightVector
from rnncalc.forward.tape import LayerTape, Tape, Taped, TapeValue
from rnncalc.step.operations import OPERATIONS, TABLE, GradientRule, Operation, part

WEIGHTS: dict[str, Any] = {"W": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "b": [2.0, -3.0]}
A, B, C, S = [2.0, 3.0], [5.0, 7.0], [11.0, 13.0], [4.0]
GRADIENT = [1.0, 10.0]


def taped(chunk: int | None = None, *, trained: bool = True) -> Taped:
    return Taped(Meter(), Tape(chunk), LayerTape(WEIGHTS, trained=trained))


def vector(vectors: Taped, numbers: list[float], *, needs: bool) -> TapeValue:
    """Return data whose gradient is asked for, or is not."""
    value = vectors.constant(numbers)
    value.needs = needs
    return value


def values_read(vectors: Taped, made: TapeValue, gradient: list[float]) -> set[int]:
    """Run a backward pass from a gradient, and return the identities of the values that it reads."""
    made.add(gradient)
    vectors.tape.backward()
    vectors.layer.finish()
    return {value for saved in vectors.layer.saved.values() for value in saved}


def test_a_step_is_in_its_chunk_and_gradients_stop_at_its_border() -> None:
    """Chunks of 3 steps: 0 to 2, 3 to 5 and so on; without one all steps are in the first, and nothing stops."""
    tape = Tape(3)
    chunks = []
    for step in (0, 2, 3, 5, 6):
        tape.at(step)
        chunks.append(tape.now)
    assert chunks == [0, 0, 1, 1, 2]
    assert [tape.stops(border) for border in (1, 2, 3, 4, 6)] == [False, False, True, False, True]
    whole = Tape()
    assert whole.now == 0
    whole.at(7)
    assert whole.now == 0
    assert not whole.stops(3)
    assert (whole.operations, whole.numbers, whole.carried, whole.owners) == (0, 0, [], {})


def test_a_gradient_is_the_sum_of_what_is_added() -> None:
    """The first is taken as it is."""
    value = taped().constant([1.0, 2.0])
    assert value.gradient is None
    value.add([3.0, 4.0])
    assert value.gradient == [3.0, 4.0]
    value.add([0.5, -4.0])
    assert value.gradient == [3.5, 0.0]


def test_a_backward_pass_is_from_the_last_to_the_first_and_once() -> None:
    """What no gradient has reached is passed over; values and their numbers are counted."""
    vectors = taped()
    seen: list[tuple[str, list[float]]] = []

    def noting(name: str) -> Operation:
        def backward(gradient: list[float]) -> list[float]:
            seen.append((name, gradient))
            return gradient

        return Operation(name, 1, list, (GradientRule(backward),), function=name)

    made = [
        vectors.operation(noting(name))(vector(vectors, [1.0] * width, needs=True))
        for name, width in (("a", 2), ("b", 3), ("c", 1))
    ]
    assert (vectors.tape.operations, vectors.tape.numbers) == (3, 6)
    made[0].add([1.0, 2.0])
    made[2].add([5.0])
    vectors.tape.backward()
    vectors.tape.backward()
    assert seen == [("c", [5.0]), ("a", [1.0, 2.0])]


def test_the_most_that_is_held_for_a_chunk() -> None:
    """Each value once in a chunk: 2 + 3 in one, 4 in another; nothing where nothing was read."""
    layer = LayerTape({}, trained=True)
    assert layer.saved_at_once == 0
    first, second = [0.0] * 2, [0.0] * 3
    for value, numbers, chunk in ((first, 2, 0), (second, 3, 0), (first, 2, 0), (first, 4, 1)):
        layer.hold(value, numbers, chunk)
    assert layer.saved_at_once == 5


def test_gradients_have_the_shape_of_the_weights() -> None:
    """Zeros to begin with; none where they are not trained."""
    weights: dict[str, Any] = {"W": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "b": [7.0], "zeta": 2.0}
    assert LayerTape(weights, trained=False).gradients == {}
    layer = LayerTape(weights, trained=True)
    assert layer.gradients == {"W": [[0.0, 0.0]] * 3, "b": [0.0], "zeta": 0.0}


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


def test_all_uses_of_a_matrix_are_multiplied_out_together() -> None:
    """Σ g xᵀ over two steps: 2 uses × 2 rows × 3 columns are 12 multiplications; and done once."""
    layer = LayerTape({"W": [[0.0] * 3, [0.0] * 3]}, trained=True)
    matrix = Matrix("W", [[1.0] * 3] * 2)
    layer.use(matrix, layer, [1.0, 2.0], [1.0, 0.0, 3.0])
    layer.use(matrix, layer, [0.0, -1.0], [5.0, 6.0, 7.0])
    for _ in range(2):
        layer.finish()
        assert layer.gradients["W"] == [[1.0, 0.0, 3.0], [-3.0, -6.0, -1.0]]
        assert layer.multiplications == 12


def test_a_matrix_of_another_layer_has_its_gradient_there() -> None:
    """The multiplications are of the layer that uses it; a table is used turned about, as a tied output does."""
    owner = LayerTape({"E": [[0.0, 0.0]]}, trained=True)
    user = LayerTape({}, trained=False)
    table = Matrix("E", [[1.0, 2.0]])
    user.use(table.shared_with("tied"), owner, [3.0], [4.0, 5.0])
    user.finish()
    assert owner.gradients == {"E": [[12.0, 15.0]]}
    assert (owner.multiplications, user.multiplications) == (0, 2)


@pytest.mark.parametrize(("chunk", "border", "goes"), [(None, 2, True), (2, 2, False), (2, 3, True)])
def test_a_state_is_carried_without_its_gradient_at_a_border(chunk: int | None, border: int, goes: bool) -> None:
    """Its numbers go on in either case; the tape knows what was carried, and to which step."""
    tape = Tape(chunk)
    layer = LayerTape({"b": [0.0]}, trained=True)
    vectors = Taped(Meter(), tape, layer)
    state = vectors.weight(WeightVector(TensorPart("b"), [5.0]))
    made = vectors.carry(state, border)
    assert (made.numbers, made.needs) == ([5.0], goes)
    assert tape.carried == [(border, made)]
    made.add([2.0])
    tape.backward()
    assert (state.gradient, layer.gradients["b"]) == (([2.0], [2.0]) if goes else (None, [0.0]))


class Forward(list[Any]):
    """The operands and the result of an operation, as its gradients read them."""

    def width(self, place: int) -> int:
        return len(self[place])


ON = {"scale": [S, A], "shift": [A, S], "join": [S, A]}
ROWS = [part(0, 1), *(row for row in TABLE if row.name not in ("matrix", "convolve", "everywhere"))]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_gradients_of_an_operation(row: Operation) -> None:
    """Into each operand alone and into all: only what needs a gradient gets one, and only what it takes is read."""
    on = ON.get(row.name, [A, B][: row.operands])
    result = row.forward(*on)
    gradient = [1.0, 10.0, 100.0][: len(result)]
    for needing in ([*range(row.operands)], [0], [row.operands - 1], []):
        vectors = taped()
        operands = [vector(vectors, numbers, needs=place in needing) for place, numbers in enumerate(on)]
        made = vectors.operation(row)(*operands)
        assert made.needs == bool(needing)
        assert (vectors.tape.operations, vectors.tape.numbers) == ((1, len(result)) if needing else (0, 0))
        read = values_read(vectors, made, gradient)
        for place, operand in enumerate(operands):
            expected = pytest.approx(row.gradients[place](Forward([*on, gradient, result])))
            assert operand.gradient == (expected if place in needing else None)
        numbers = [each.numbers for each in (*operands, made)]
        assert read == {id(numbers[each]) for place in needing for each in row.reads[place]}


def test_what_is_done_again_is_read_as_what_it_was_made_of() -> None:
    """1 − (1 − a) is a; a state that goes on is kept as it is."""
    vectors = taped()
    times, complement, linear = (vectors.operation(OPERATIONS[name]) for name in ("times", "complement", "linear"))
    a, b = vector(vectors, A, needs=True), vector(vectors, B, needs=True)
    again = complement(complement(linear(a)))
    read = values_read(vectors, times(again, b), GRADIENT)
    assert read == {id(a.numbers), id(b.numbers)}
    assert (a.gradient, b.gradient) == ([5.0, 70.0], [2.0, 30.0])
    vectors = taped()
    a, b = vector(vectors, A, needs=True), vector(vectors, B, needs=True)
    state = vectors.operation(OPERATIONS["complement"])(a)
    carried = vectors.carry(state, 1)
    assert values_read(vectors, vectors.operation(OPERATIONS["times"])(carried, b), GRADIENT) == {
        id(state.numbers),
        id(b.numbers),
    }


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("needs", [True, False])
def test_the_gradients_of_weights(trained: bool, needs: bool) -> None:
    """A product of 3 × 2: 6 multiplications for the weights, which read the vector, and 6 for the vector."""
    vectors = taped(trained=trained)
    arrays = Arrays(WEIGHTS)
    x = vector(vectors, A, needs=needs)
    made = vectors.product(arrays.matrix("W"), x)
    assert (made.numbers, made.needs) == ([8.0, 18.0, 28.0], trained or needs)
    assert values_read(vectors, made, [1.0, 0.0, -1.0]) == ({id(x.numbers)} if trained else set())
    assert x.gradient == ([1.0 - 5.0, 2.0 - 6.0] if needs else None)
    assert vectors.layer.gradients.get("W") == ([[2.0, 3.0], [0.0, 0.0], [-2.0, -3.0]] if trained else None)
    assert vectors.layer.multiplications == 6 * trained + 6 * needs
    vectors = taped(trained=trained)
    x = vector(vectors, A, needs=needs)
    made = vectors.operation(OPERATIONS["times"])(vectors.weight(arrays.vector("b")), x)
    assert (made.numbers, made.needs) == ([4.0, -9.0], trained or needs)
    assert values_read(vectors, made, GRADIENT) == ({id(x.numbers)} if trained else set())
    assert x.gradient == ([2.0, -30.0] if needs else None)
    assert vectors.layer.gradients.get("b") == ([2.0, 30.0] if trained else None)
    assert vectors.layer.multiplications == 0
    vectors = taped(trained=trained)
    made = vectors.weight(arrays.vector("b"))
    assert (made.numbers, made.needs, vectors.meter.weights_read) == ([2.0, -3.0], trained, 2)
    assert values_read(vectors, made, GRADIENT) == set()
    assert vectors.layer.gradients.get("b") == (GRADIENT if trained else None)


def test_a_learned_state_is_held_as_any_state_is() -> None:
    """Other weights are kept anyway, and saved by nobody."""
    for name, saved in (("state", 2), ("weight", 0)):
        vectors = taped()
        start = getattr(vectors, name)(Arrays(WEIGHTS).vector("b"))
        x = vector(vectors, A, needs=True)
        made = vectors.operation(OPERATIONS["times"])(start, x)
        values_read(vectors, made, GRADIENT)
        assert vectors.layer.saved_at_once == saved + len(A)
        assert vectors.layer.gradients["b"] == [2.0, 30.0]


def test_a_row_that_is_looked_up() -> None:
    """Its gradient is added to the table's row; of the forward values its number alone is saved."""
    vectors = taped()
    table = Arrays(WEIGHTS).matrix("W")
    first, again = vectors.row(table, 1), vectors.row(table, 1)
    assert first.numbers == [3.0, 4.0]
    first.add([1.0, 2.0])
    values_read(vectors, again, [10.0, 20.0])
    assert vectors.layer.gradients["W"] == [[0.0, 0.0], [11.0, 22.0], [0.0, 0.0]]
    assert (vectors.layer.saved_at_once, vectors.meter.weights_read) == (2, 2)
    assert vectors.tape.owners == {id(table): vectors.layer}
    assert not taped(trained=False).row(table, 1).needs


def test_a_matrix_that_another_layer_owns() -> None:
    """Its gradient goes there, whether or not the layer that uses it is trained."""
    of, other = taped(trained=False), LayerTape(WEIGHTS, trained=True)
    table = Arrays(WEIGHTS).matrix("W")
    of.tape.owners[id(table)] = other
    made = of.product(table.shared_with("tied"), of.constant(A))
    values_read(of, made, [1.0, 0.0, 0.0])
    assert other.gradients["W"] == [[2.0, 3.0], [0.0, 0.0], [0.0, 0.0]]
    assert (of.layer.multiplications, other.multiplications, of.layer.gradients) == (6, 0, {})


def test_what_is_read_is_held_for_the_chunk_that_it_was_made_in() -> None:
    """Two chunks of one step, a vector of 2 numbers in each: 2 at once; data that come in twice are two."""
    vectors = taped(1)
    matrix = Arrays(WEIGHTS).matrix("W")
    made = []
    for step in range(2):
        vectors.at(step)
        assert vectors.chunk == step
        made.append(vectors.product(matrix, vectors.constant(A)))
    made[0].add([1.0, 1.0, 1.0])
    values_read(vectors, made[1], [1.0, 1.0, 1.0])
    assert {chunk: [*saved.values()] for chunk, saved in vectors.layer.saved.items()} == {0: [2], 1: [2]}
    given = vectors.constant(A)
    assert (given.numbers, given.numbers is A, given.needs, vectors.numbers(given)) == (A, False, False, A)


def test_the_products_of_all_steps_are_counted() -> None:
    """Twice 6 multiplications for two vectors below; rows are saved for the chunk in which they were looked up."""
    vectors = taped(1, trained=False)
    below = [vector(vectors, A, needs=True), vector(vectors, B, needs=True)]
    for x in below:
        vectors.product(Arrays(WEIGHTS).matrix("W"), x).add([1.0, 1.0, 1.0])
    vectors.tape.backward()
    assert vectors.layer.multiplications == 12
    assert [x.gradient for x in below] == [[9.0, 12.0]] * 2
    vectors = taped(1)
    table = Arrays(WEIGHTS).matrix("W")
    for step, number in enumerate((1, 2, 1)):
        vectors.at(step)
        vectors.row(table, number).add([1.0, 1.0])
    vectors.tape.backward()
    assert {chunk: [*saved.values()] for chunk, saved in vectors.layer.saved.items()} == {0: [1], 1: [1], 2: [1]}
    assert vectors.meter.weights_read == 4
    assert vectors.layer.gradients["W"] == [[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]]
