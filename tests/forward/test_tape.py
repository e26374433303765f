"""A tape and what going back along it records, with vectors and gradients by hand."""

from typing import Any

import pytest

from rnncalc.forward.arrays import Matrix, Meter, Piece, WeightVector
from rnncalc.forward.tape import LayerTape, Node, Tape
from rnncalc.forward.taped import Taped


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
    node = Node([1.0, 2.0], needs=True)
    assert node.gradient is None
    node.add([3.0, 4.0])
    assert node.gradient == [3.0, 4.0]
    node.add([0.5, -4.0])
    assert node.gradient == [3.5, 0.0]


def test_going_back_is_from_the_last_to_the_first_and_once() -> None:
    """What no gradient has reached is passed over; operations and the numbers that they made are counted."""
    tape = Tape()
    seen: list[tuple[str, list[float]]] = []
    nodes = [Node([1.0] * width, needs=True) for width in (2, 3, 1)]
    for name, node in zip("abc", nodes, strict=True):
        tape.note(node, lambda gradient, name=name: seen.append((name, gradient)))  # type: ignore[misc]  # the default
    assert (tape.operations, tape.numbers) == (3, 6)
    nodes[0].add([1.0, 2.0])
    nodes[2].add([5.0])
    tape.back()
    tape.back()
    assert seen == [("c", [5.0]), ("a", [1.0, 2.0])]


def test_the_most_that_is_held_for_a_chunk() -> None:
    """Each value once in a chunk: 2 + 3 in one, 4 in another; nothing where nothing was read."""
    layer = LayerTape({}, trained=True)
    assert layer.held_at_once == 0
    first, second = [0.0] * 2, [0.0] * 3
    for value, numbers, chunk in ((first, 2, 0), (second, 3, 0), (first, 2, 0), (first, 4, 1)):
        layer.hold(value, numbers, chunk)
    assert layer.held_at_once == 5


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
        layer.add(Piece("W", (), 1), [[1.0, 2.0, 3.0]])
    layer.add(Piece("W", (), 1, transposed=True), [[10.0, 20.0], [30.0, 40.0]])
    assert layer.gradients["W"] == [[0.0, 10.0, 30.0], [2.0, 24.0, 46.0]]
    layer.add(Piece("b", (), 1), [[5.0, 6.0]])
    layer.add(Piece("b", (), 2), [[1.0, 1.0]])
    assert layer.gradients["b"] == [0.0, 5.0, 7.0, 1.0]
    layer.add(Piece("R", (1,), 1), [[1.0, 2.0]])
    layer.add(Piece("R", (0, 1)), [[3.0, 4.0]])
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
    state = vectors.weight(WeightVector(Piece("b"), [5.0]))
    made = vectors.carry(state, border)
    assert (made.numbers, made.needs) == ([5.0], goes)
    assert tape.carried == [(border, made)]
    made.add([2.0])
    tape.back()
    assert (state.gradient, layer.gradients["b"]) == (([2.0], [2.0]) if goes else (None, [0.0]))
