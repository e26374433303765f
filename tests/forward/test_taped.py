"""The operations of a pass on a tape: the numbers, the gradients by hand, and the forward values that these read."""

from collections.abc import Callable
from math import tanh
from typing import Any

import pytest

from rnncalc.forward.arrays import Arrays, Meter
from rnncalc.forward.tape import LayerTape, Node, Tape
from rnncalc.forward.taped import Taped

WEIGHTS: dict[str, Any] = {"W": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "b": [2.0, -3.0]}
A, B, C, S = [2.0, 3.0], [5.0, 7.0], [11.0, 13.0], [4.0]
GRADIENT = [1.0, 10.0]

Operation = Callable[..., Node]


def taped(*, trained: bool = True) -> Taped:
    return Taped(Meter(), Tape(), LayerTape(WEIGHTS, trained=trained))


# Each operation, what it is on, what it gives, the gradient of each operand, and which operands going back reads.
OPERATIONS: list[tuple[str, list[list[float]], list[float], list[list[float]], list[str]]] = [
    ("plus", [A, B], [7.0, 10.0], [[1.0, 10.0], [1.0, 10.0]], ["", ""]),
    ("times", [A, B], [10.0, 21.0], [[5.0, 70.0], [2.0, 30.0]], ["b", "a"]),
    ("over", [A, B], [0.4, 3 / 7], [[1 / 5, 10 / 7], [-2 / 25, -30 / 49]], ["b", "ab"]),
    (
        "blend",
        [A, B, C],
        [2 * 5 - 11.0, 3 * 7 - 2 * 13.0],
        [[-6.0, -60.0], [2.0, 30.0], [-1.0, -20.0]],
        ["bc", "a", "a"],
    ),
    ("complement", [A], [-1.0, -2.0], [[-1.0, -10.0]], [""]),
    ("scale", [S, A], [8.0, 12.0], [[2 + 30.0], [4.0, 40.0]], ["b", "a"]),
    ("shift", [A, S], [6.0, 7.0], [[1.0, 10.0], [11.0]], ["", ""]),
    ("mean", [A, B], [3.5, 5.0], [[0.5, 5.0], [0.5, 5.0]], ["", ""]),
]


def gone_back(of: Taped, made: Node, gradient: list[float]) -> set[int]:
    """Go back from a vector, and return the identities of the values that were read."""
    made.add(gradient)
    of.tape.back()
    of.layer.finish()
    return {value for held in of.layer.held.values() for value in held}


@pytest.mark.parametrize(("name", "on", "gives", "gradients", "reads"), OPERATIONS, ids=[row[0] for row in OPERATIONS])
def test_what_goes_back_through_an_operation(
    name: str, on: list[list[float]], gives: list[float], gradients: list[list[float]], reads: list[str]
) -> None:
    """Into each operand alone and into all: only what needs a gradient gets one, and only what it takes is read."""
    for needing in ([0], [1], [2], [0, 1], [0, 1, 2], []):
        if needing and needing[-1] >= len(on):
            continue
        of = taped()
        nodes = [Node([*numbers], needs=number in needing) for number, numbers in enumerate(on)]
        made = getattr(of, name)(*nodes)
        assert made.numbers == pytest.approx(gives)
        assert made.needs == bool(needing)
        assert (of.tape.operations, of.tape.numbers) == ((1, len(gives)) if needing else (0, 0))
        read = gone_back(of, made, GRADIENT)
        for number, (node, gradient) in enumerate(zip(nodes, gradients, strict=True)):
            assert node.gradient == (pytest.approx(gradient) if number in needing else None)
        letters = {letter for number in needing for letter in reads[number]}
        assert read == {id(node.numbers) for letter, node in zip("abc", nodes, strict=False) if letter in letters}


def test_vectors_joined_and_parted() -> None:
    """A gradient is parted where two vectors were joined; beside a part there are zeros."""
    for needing in ((True, True), (True, False), (False, True)):
        of = taped()
        left, right = Node([1.0], needs=needing[0]), Node([2.0, 3.0], needs=needing[1])
        made = of.join(left, right)
        assert made.numbers == [1.0, 2.0, 3.0]
        assert gone_back(of, made, [5.0, 6.0, 7.0]) == set()
        assert (left.gradient, right.gradient) == ([5.0] if needing[0] else None, [6.0, 7.0] if needing[1] else None)
    of = taped()
    whole = Node([1.0, 2.0, 3.0, 4.0, 5.0], needs=True)
    made = of.part(whole, 1, 3)
    assert made.numbers == [2.0, 3.0]
    gone_back(of, made, [8.0, 9.0])
    assert whole.gradient == [0.0, 8.0, 9.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("activation", "on", "gives", "gradient"),
    [
        ("tanh", [0.0, 0.5], [0.0, tanh(0.5)], [1.0, 10 * (1 - tanh(0.5) ** 2)]),
        ("sigmoid", [0.0, 0.0], [0.5, 0.5], [0.25, 2.5]),
        ("relu", [-1.0, 2.0], [0.0, 2.0], [0.0, 10.0]),
        ("relu", [0.0, 0.5], [0.0, 0.5], [0.0, 10.0]),
        ("softmax", [0.0, 0.0], [0.5, 0.5], [0.5 * (1 - 5.5), 0.5 * (10 - 5.5)]),
    ],
)
def test_what_goes_back_through_an_activation(
    activation: str, on: list[float], gives: list[float], gradient: list[float]
) -> None:
    """Its derivative is read off what it gave; nothing is noted where no gradient is asked for."""
    of = taped()
    node = Node(on, needs=True)
    made = of.activate(activation, node)
    assert made.numbers == pytest.approx(gives)
    assert gone_back(of, made, GRADIENT) == {id(made.numbers)}
    assert node.gradient == pytest.approx(gradient)
    assert of.activate("linear", node) is node
    of = taped()
    assert not of.activate(activation, of.constant(on)).needs
    assert of.tape.operations == 0


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("needs", [True, False])
def test_what_goes_back_through_weights(trained: bool, needs: bool) -> None:
    """A product of 3 × 2: 6 multiplications for the weights, which read the vector, and 6 for the vector."""
    of = taped(trained=trained)
    arrays = Arrays(WEIGHTS)
    x = Node([*A], needs=needs)
    made = of.matrix_product(arrays.matrix("W"), x)
    assert (made.numbers, made.needs) == ([8.0, 18.0, 28.0], trained or needs)
    assert gone_back(of, made, [1.0, 0.0, -1.0]) == ({id(x.numbers)} if trained else set())
    assert x.gradient == ([1.0 - 5.0, 2.0 - 6.0] if needs else None)
    assert of.layer.gradients.get("W") == ([[2.0, 3.0], [0.0, 0.0], [-2.0, -3.0]] if trained else None)
    assert of.layer.multiplications == 6 * trained + 6 * needs
    of = taped(trained=trained)
    x = Node([*A], needs=needs)
    made = of.weighted(arrays.vector("b"), x)
    assert (made.numbers, made.needs) == ([4.0, -9.0], trained or needs)
    assert gone_back(of, made, GRADIENT) == ({id(x.numbers)} if trained else set())
    assert x.gradient == ([2.0, -30.0] if needs else None)
    assert of.layer.gradients.get("b") == ([2.0, 30.0] if trained else None)
    assert of.layer.multiplications == 0
    of = taped(trained=trained)
    made = of.weight(arrays.vector("b"))
    assert (made.numbers, made.needs, of.meter.weights_read) == ([2.0, -3.0], trained, 2)
    assert gone_back(of, made, GRADIENT) == set()
    assert of.layer.gradients.get("b") == (GRADIENT if trained else None)


def test_a_row_that_is_looked_up() -> None:
    """Its gradient is added to the table's row; of the forward values its number alone is held."""
    of = taped()
    table = Arrays(WEIGHTS).matrix("W")
    first, again = of.row(table, 1), of.row(table, 1)
    assert first.numbers == [3.0, 4.0]
    first.add([1.0, 2.0])
    gone_back(of, again, [10.0, 20.0])
    assert of.layer.gradients["W"] == [[0.0, 0.0], [11.0, 22.0], [0.0, 0.0]]
    assert (of.layer.held_at_once, of.meter.weights_read) == (2, 2)
    assert of.tape.owners == {id(table): of.layer}
    assert not taped(trained=False).row(table, 1).needs


def test_a_matrix_that_another_layer_owns() -> None:
    """Its gradient goes there, whether or not the layer that uses it is trained."""
    of, other = taped(trained=False), LayerTape(WEIGHTS, trained=True)
    table = Arrays(WEIGHTS).matrix("W")
    of.tape.owners[id(table)] = other
    made = of.matrix_product(table.shared_with("tied"), of.constant(A))
    gone_back(of, made, [1.0, 0.0, 0.0])
    assert other.gradients["W"] == [[2.0, 3.0], [0.0, 0.0], [0.0, 0.0]]
    assert (of.layer.multiplications, other.multiplications, of.layer.gradients) == (6, 0, {})


def test_what_is_read_is_held_for_the_chunk_that_it_was_made_in() -> None:
    """Two chunks of one step, a vector of 2 numbers in each: 2 at once; data that come in twice are two."""
    of = Taped(Meter(), Tape(1), LayerTape(WEIGHTS, trained=True))
    matrix = Arrays(WEIGHTS).matrix("W")
    made = []
    for step in range(2):
        of.at(step)
        made.append(of.matrix_product(matrix, of.constant(A)))
    made[0].add([1.0, 1.0, 1.0])
    gone_back(of, made[1], [1.0, 1.0, 1.0])
    assert {chunk: [*held.values()] for chunk, held in of.layer.held.items()} == {0: [2], 1: [2]}
    given = of.constant(A)
    assert (given.numbers, given.numbers is A, given.needs, of.numbers(given)) == (A, False, False, A)


def test_gradients_are_as_long_as_what_they_are_of() -> None:
    """No number of one is left out, through operations and activations."""
    on = {"times": [A, B], "over": [A, B], "blend": [A, B, C]}
    for name, operands in on.items():
        for needing in range(len(operands)):
            of = taped()
            made = getattr(of, name)(*[Node(each, needs=place == needing) for place, each in enumerate(operands)])
            with pytest.raises(ValueError, match=r"shorter|longer|do not match"):
                gone_back(of, made, [1.0])
    for activation in ("tanh", "sigmoid", "relu", "softmax"):
        of = taped()
        made = of.activate(activation, Node(A, needs=True))
        with pytest.raises(ValueError, match="shorter"):
            gone_back(of, made, [1.0])
    with pytest.raises(ValueError, match="shorter"):
        taped().mean(Node(A, needs=True), Node([1.0], needs=True))


def test_the_products_of_all_steps_are_counted() -> None:
    """Twice 6 multiplications for two vectors below; rows are held for the chunk in which they were looked up."""
    of = Taped(Meter(), Tape(1), LayerTape(WEIGHTS, trained=False))
    below = [Node([*A], needs=True), Node([*B], needs=True)]
    for x in below:
        of.matrix_product(Arrays(WEIGHTS).matrix("W"), x).add([1.0, 1.0, 1.0])
    of.tape.back()
    assert of.layer.multiplications == 12
    assert [x.gradient for x in below] == [[9.0, 12.0]] * 2
    of = Taped(Meter(), Tape(1), LayerTape(WEIGHTS, trained=True))
    table = Arrays(WEIGHTS).matrix("W")
    for step, number in enumerate((1, 2, 1)):
        of.at(step)
        of.row(table, number).add([1.0, 1.0])
    of.tape.back()
    assert {chunk: [*held.values()] for chunk, held in of.layer.held.items()} == {0: [1], 1: [1], 2: [1]}
    assert of.meter.weights_read == 4
    assert of.layer.gradients["W"] == [[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]]
