"""What a pass is told to take in memory, added up by hand: Python says what its lists take.

What is told is 1.06 times what is added up here, as some lists and freed blocks are not told apart.
"""

import sys
from typing import Any

import pytest

from rnncalc import GRU, LSTM, RNN, SRU, Dense, Dropout, Embedding, External, Layer, Network, Part
from rnncalc.questions.price import peak

pytestmark = pytest.mark.skipif(sys.maxsize < 2**32, reason="the sizes are those of a Python of 64 bits")

LAYER, TRACE, LONG_TRACE, FLOAT = 220, 250, 290, 32
GRID = 4096 * (FLOAT + 8)


def rounded(size: int) -> int:
    """Return what Python allocates for so many bytes: up to 512 by sixteens, beyond with a head of its own."""
    return -(-size // 16) * 16 if size <= 512 else size + 16


def grown(places: int) -> int:
    """Return what a list takes that grew item by item."""
    items: list[None] = []
    for _ in range(places):
        items.append(None)  # noqa: PERF401  a comprehension may allocate otherwise
    return 64 + rounded(sys.getsizeof(items) - sys.getsizeof([]))


def fixed(places: int) -> int:
    """Return what a list takes that was made in its length."""
    return 64 + rounded(8 * places)


def vector(numbers: int) -> int:
    """Return what a list of floats takes."""
    return grown(numbers) + FLOAT * numbers


def rows(count: int, columns: int) -> int:
    """Return what a matrix takes whose numbers are those of the grid."""
    return grown(count) + count * grown(columns)


def told(layers: list[Layer], *, made: str = "", traced: bool = False, **others: Any) -> int:
    given: dict[str, Any] = {"input": 5, "steps": 7, "topology": "many-to-many"} | others
    return peak(Network(layers=layers, **given), weights="w" in made, inputs="i" in made, traced=traced)


def test_a_dense_layer_and_what_a_pass_makes() -> None:
    """The rows that are listed, the bias, a list of one vector, one vector before its activation, and what is left."""
    one: dict[str, Any] = {"topology": "one-to-one", "steps": 1}
    running = 2 * fixed(3) + grown(1) + vector(3)
    kept = LAYER + vector(3)
    weights = GRID + rows(3, 5) + grown(3)
    inputs = grown(1) + vector(5)
    assert told([Dense(3)], **one) == int((running + kept) * 1.06)
    assert told([Dense(3)], made="i", **one) == int((running + kept + inputs) * 1.06)
    assert told([Dense(3)], made="w", **one) == int((running + kept + weights) * 1.06)
    assert told([Dense(3)], made="wi", **one) == int((running + kept + weights + inputs) * 1.06)
    assert told([Dense(3, activation="tanh")], **one) == int((running + vector(3) + kept) * 1.06)
    sequence = 2 * fixed(3) + grown(7) + vector(3) + LAYER + 7 * vector(3) + 2 * grown(7)
    assert told([Dense(3)]) == int(sequence * 1.06)
    assert told([Dense(3)], made="i") == int((sequence + grown(7) + 7 * vector(5)) * 1.06)
    assert told([Dense(3, bias=False)]) == int((sequence - fixed(3)) * 1.06)


def test_a_table_and_a_part_elsewhere() -> None:
    """Rows are looked up where they lie; token numbers take what floats do. Of a part elsewhere what it outputs is."""
    lists = LAYER + 2 * grown(7)
    table = grown(7) + lists + fixed(5)
    assert told([Embedding(4)]) == int(table * 1.06)
    assert told([Embedding(4)], made="i") == int((table + grown(7) + 7 * FLOAT) * 1.06)
    made = grown(7) + lists + GRID + rows(5, 4) + fixed(5)
    assert told([Embedding(4)], made="w") == int(made * 1.06)
    for weights in ("", "w"):
        assert told([External(9, outputs=4)], made=weights) == int((grown(7) + lists + 7 * vector(4)) * 1.06)


STEP = 7 * vector(3)
"""What a step of an RNN of 3 units takes: two products, a gate, and four vectors more."""


@pytest.mark.parametrize(
    ("layer", "weights", "step"),
    [
        (RNN(3), 3 * fixed(3), STEP),
        (RNN(3, recurrence="diagonal"), 3 * fixed(3), STEP - vector(3)),
        (GRU(3), 9 * fixed(3), (6 + 3 + 4) * vector(3)),
        (SRU(3), 8 * fixed(3), (4 + 4 + 4) * vector(3)),
    ],
)
def test_a_cell_s_step(layer: Layer, weights: int, step: int) -> None:
    """A vector a product, a gate and a state; outputs of every step, of which one is output or all are."""
    outputs = 7 * vector(3)
    running = weights + grown(7) + step
    assert told([layer], topology="many-to-one") == int((running + outputs + LAYER) * 1.06)
    assert told([layer]) == int((running + LAYER + outputs + 2 * grown(7)) * 1.06)


def test_matrices_that_are_turned_about() -> None:
    """Those of Keras lie input by output: a second time as rows; a recurrent kernel too."""
    turned = rows(3, 5) + rows(3, 3) + fixed(3)
    rest = grown(7) + STEP + LAYER + 7 * vector(3) + 2 * grown(7)
    assert told([RNN(3)], convention="keras") == int((turned + rest) * 1.06)
    made = GRID + rows(5, 3) + rows(3, 3) + grown(3)
    assert told([RNN(3)], made="w", convention="keras") == int((turned + made + rest) * 1.06)
    assert told([RNN(3)], made="w", convention="pytorch") == int(
        (4 * fixed(3) + GRID + rows(3, 5) + rows(3, 3) + 2 * grown(3) + rest) * 1.06
    )


@pytest.mark.parametrize(
    ("layer", "weights", "vectors", "one"),
    [
        (RNN(3), 3 * fixed(3), 7, TRACE + vector(3)),  # h, the gate itself
        (GRU(3), 9 * fixed(3), 13, TRACE + 4 * vector(3)),  # r, z, n, h
        (LSTM(3), 12 * fixed(3), 16, LONG_TRACE + 6 * vector(3)),  # i, f, g, o, h, c
        (LSTM(3, projection=2), 12 * fixed(3) + fixed(2), 16, LONG_TRACE + 5 * vector(3) + vector(2)),
    ],
)
def test_states_that_are_kept(layer: Layer, weights: int, vectors: int, one: int) -> None:
    """A dictionary a step, and each of its vectors; outputs are among them, and the inputs are kept as well."""
    whole = weights + grown(7) + vectors * vector(3) + LAYER + grown(7) + 7 * one + 2 * grown(7)
    assert told([layer], traced=True) == int(whole * 1.06)
    inputs = grown(7) + 7 * vector(5)
    assert told([layer], made="i", traced=True) == int((whole + inputs) * 1.06)
    kept = whole - weights - grown(7) - vectors * vector(3) + inputs
    above = 2 * fixed(1) + grown(7) + vector(1) + LAYER + 7 * vector(1) + 2 * grown(7)
    assert told([layer, Dense(1)], made="i", traced=True) == int(max(whole + inputs, kept + above) * 1.06)


def test_both_directions_and_inputs_from_elsewhere() -> None:
    """Two lists of outputs and a third of both joined, each in its length; 2 numbers more a step are joined to 5."""
    weights = 6 * fixed(3)
    outputs = 7 * (2 * vector(3) + fixed(6))
    both = weights + 2 * grown(7) + STEP + LAYER + outputs + 2 * grown(7)
    assert told([RNN(3, bidirectional=True)]) == int(both * 1.06)
    summed = both - 7 * fixed(6) + 7 * vector(3)
    assert told([RNN(3, bidirectional=True, merge="sum")]) == int(summed * 1.06)
    more = 3 * fixed(3) + grown(7) + STEP + LAYER + 7 * vector(3) + 2 * grown(7) + 7 * (fixed(7) + 2 * FLOAT)
    assert told([RNN(3, extra_inputs=2)]) == int(more * 1.06)
    assert told([RNN(3, extra_inputs=2)], made="i") == int((more + grown(7) + 7 * vector(5)) * 1.06)
    assert told([RNN(3, extra_inputs=2)], traced=True) == int((more + grown(7) + 7 * TRACE) * 1.06)


def test_layers_one_after_another() -> None:
    """What each outputs is kept; its weights and the inputs, unless a layer hands them on itself, are not."""
    inputs = grown(7) + 7 * vector(5)
    running, kept = 3 * fixed(3) + grown(7) + STEP, LAYER + 7 * vector(3) + 2 * grown(7)
    assert told([RNN(3), RNN(3), RNN(3)]) == int((3 * kept + running) * 1.06)
    assert told([RNN(3, repeat=5)]) == int((5 * kept + running) * 1.06)
    assert told([RNN(3), Dense(1)], made="i") == int((kept + inputs + running) * 1.06)
    passed = LAYER + 2 * grown(7)
    assert told([Dropout(0.5), RNN(3)], made="i") == int((passed + inputs + kept + running) * 1.06)
    halves = [Part(width, (RNN(3),), steps=7) for width in (5, 6)]
    found = peak(Network(encoder=halves[0], decoder=halves[1]), weights=False)
    handed = LAYER + vector(3)  # an encoder's states alone go on
    assert found == int((handed + kept + grown(7) + 7 * vector(6) + running) * 1.06)


def test_with_feedback_all_layers_run_together() -> None:
    """Their weights beside one another, and two lists of each; one input comes in."""
    fed: dict[str, Any] = {"input": 3, "topology": "one-to-many", "feedback": True}
    running, kept = 3 * fixed(3) + grown(7) + STEP, LAYER + 7 * vector(3) + 2 * grown(7)
    both = 2 * (kept + running + 2 * grown(7))
    assert told([RNN(3), RNN(3)], **fed) == int(both * 1.06)
    assert told([RNN(3)], made="i", **fed) == int((both // 2 + grown(1) + vector(3)) * 1.06)


@pytest.mark.parametrize(
    ("steps", "places"), [(64, 64), (65, 76), (16_383, 17_072), (16_384, 16_384), (20_000, 20_000)]
)
def test_a_long_list_takes_what_is_used_of_it(steps: int, places: int) -> None:
    """From 128 kB on memory is taken page by page; below that Python allocates ahead, an eighth and a little more."""
    of_list = 64 + rounded(8 * places)
    assert steps >= 16_384 or of_list == grown(steps)
    whole = 2 * fixed(1) + of_list + vector(1) + LAYER + steps * vector(1) + 2 * of_list
    assert told([Dense(1)], steps=steps) == int(whole * 1.06)


def test_the_one_output_of_both_directions() -> None:
    """What each direction outputs last, and both joined, where a layer of one direction keeps one vector."""
    ends: dict[str, Any] = {"topology": "many-to-one"}
    both, one = (told([below, Dense(400)], **ends) for below in (RNN(3, bidirectional=True), RNN(6)))
    assert both - one == pytest.approx(1.06 * (2 * vector(3) + fixed(6) - vector(6)), abs=1)
