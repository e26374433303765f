"""A pass as work: what every value is called, which are before a step, and in which order they follow."""

import re
from typing import Any

import around
import pytest
from conftest import Call, written
from hypothesis import given as over
from hypothesis import reject
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network_of
from strategies import network as networks

from rnncalc import GRU, LSTM, RNN, Dense, Dropout, Embedding, External, Layer, Network, Output, Part, RefusedError, run
from rnncalc.conventions.tensor import WAYS
from rnncalc.questions.work import LayerWork, work
from rnncalc.questions.work_backward import Variable
from rnncalc.reports.work import WorkReport
from rnncalc.typeset.equations import plain_piece


def given(layer: LayerWork, way: int = 0) -> list[list[tuple[Variable, Variable | None]]]:
    """Return what is before each step of a direction, in the order of reading."""
    return [[(line.name, line.same_as) for line in step.known] for step in layer.ways[way]]


def test_each_direction_begins_at_its_end() -> None:
    """Forward at step 1 from the state of step 0, backward at step 3 from that of step 4; later only x is new."""
    network = Network(input=1, layers=[RNN(1, bidirectional=True), LSTM(1)], steps=3, topology="many-to-many")
    done = work(network, seed=3)
    both, above = done.layers
    a, b = "rnn_1", "lstm_1"
    starts = [Variable("h", step, a, direction=way) for step, way in zip((0, 4), WAYS, strict=True)]
    assert {*starts, Variable("h", 0, b), Variable("c", 0, b)} <= {*done.names.values()}
    x = {step: (Variable("x", step, a), None) for step in (1, 2, 3)}
    assert given(both) == [[x[1], (starts[0], None)], [x[2]], [x[3]]]
    assert given(both, 1) == [[x[3], (starts[1], None)], [x[2]], [x[1]]]
    assert [[step.step for step in way] for way in both.ways] == [[1, 2, 3], [3, 2, 1]]
    joined = [[(line.name, line.same_as) for line in step.lines] for step in both.steps]
    assert joined == [[(Variable("h", step, a), None)] for step in (1, 2, 3)]
    read = [(Variable("x", step, b), Variable("h", step, a)) for step in (1, 2, 3)]
    assert given(above) == [[read[0], (Variable("h", 0, b), None), (Variable("c", 0, b), None)], [read[1]], [read[2]]]
    assert above.steps == ()
    assert (len(both.ways), len(above.ways), both.derivation.placed.name) == (2, 1, a)
    assert {*above.weights} == {f"{which}{gate}" for which in ("W_x", "W_h", "b_") for gate in "ifgo"}


def test_lines_follow_what_they_are_made_of() -> None:
    """The candidate of a GRU after its reset gate, the state of a cell after its gates, and h after all."""
    network = Network(input=1, layers=[LSTM(1), GRU(1)], steps=2, topology="many-to-many")
    for layer in work(network).layers:
        for step in layer.ways[0]:
            letters = [line.name.letter for line in step.lines]
            assert letters[-1] == "h"
            assert {line.name.step for line in step.lines} == {step.step}
            before = [("i", "c"), ("f", "c"), ("g", "c"), ("c", "h")] if len(letters) == 6 else [("r", "n"), ("n", "h")]
            assert all(letters.index(first) < letters.index(second) for first, second in before)
            assert all(line.same_as is None for line in step.lines)


def test_what_leaves_other_layers() -> None:
    """y of a table and of a dense layer, with a step where a sequence flows; what only passes on has no line."""
    layers = [Embedding(2), Dropout(0.5), RNN(1), Dense(1), Dense(1)]
    table, passing, cell, dense, last = work(Network(input=3, layers=layers, steps=2)).layers
    assert [[line.name for line in step.lines] for step in table.steps] == [
        [Variable("y", step, "embedding_1")] for step in (1, 2)
    ]
    assert passing.steps == ()
    assert [line.same_as for line in (cell.ways[0][0].known[0], cell.ways[0][1].known[0])] == [
        Variable("y", step, "embedding_1") for step in (1, 2)
    ]
    for layer, name in ((dense, "dense_1"), (last, "dense_2")):
        (step,) = layer.steps
        assert (step.step, step.known, [line.name for line in step.lines]) == (None, (), [Variable("y", None, name)])


@pytest.mark.parametrize(
    ("layers", "numbers"),
    [
        ([RNN(10)], 10 * (12 + 10 + 1)),
        ([RNN(6), RNN(6), RNN(6)], 6 * (12 + 6 + 1) + 2 * 6 * (6 + 6 + 1)),
        ([RNN(5, repeat=4)], 5 * (12 + 5 + 1) + 3 * 5 * (5 + 5 + 1)),
        ([Dense(1, repeat=200)], 13 + 199 * 2),
        ([External(7, outputs=201)], 201),
        ([Dropout(0.5)] * 17, 17 * 12),
    ],
)
def test_more_weights_than_a_hand_writes_are_refused(layers: list[Layer], numbers: int) -> None:
    """All copies of all layers together; a layer without weights has the numbers that it outputs."""
    with pytest.raises(RefusedError) as caught:
        work(Network(input=12, layers=layers, steps=1))
    assert str(caught.value) == (
        f"a step would write {numbers:,} weights, and the limit by hand is 200; "
        "use fewer units, or ask run for its states, which are only the results"
    )


def test_a_table_is_looked_up_but_a_tied_output_multiplies_all_of_it() -> None:
    """Of 50 rows of 2 numbers one is read at a step, and 50 · 2 weights and 50 biases by the output."""
    layers: list[Layer] = [Embedding(2), RNN(2)]
    done = work(Network(input=50, layers=layers, output=Output(50, tied=True), steps=1))
    assert len(done.layers) == 3
    with pytest.raises(RefusedError, match=f"would write {2 + 2 * (2 + 2 + 1) + 70 * 2 + 70} weights"):
        work(Network(input=70, layers=layers, output=Output(70, tied=True), steps=1))


def test_more_steps_than_a_hand_writes_are_refused() -> None:
    """200 weights may be written 25 times, the steps of both halves together."""
    layers = [RNN(10)]
    assert len(work(Network(input=9, layers=layers, steps=25)).layers[0].ways[0]) == 25
    message = "26 steps would write 5,200 weights, and the limit by hand is 5,000; lower the number of steps"
    with pytest.raises(RefusedError) as caught:
        work(Network(input=9, layers=layers, steps=26))
    assert str(caught.value) == message
    halves = [Part(6, (RNN(7),), steps=steps) for steps in (20, 6)]
    with pytest.raises(RefusedError, match=f"26 steps would write {26 * 2 * 7 * (6 + 7 + 1):,} weights"):
        work(Network(encoder=halves[0], decoder=halves[1]))


GRIDS: st.SearchStrategy[Spec] = st.builds(
    lambda cell, notation: {"input": 2, "layers": [cell, "flatten"], "output": 1, "steps": 2, "notation": notation},
    st.fixed_dictionaries(
        {"conv_lstm": st.just(1), "kernel": st.integers(1, 3), "space": st.sampled_from([3, [2, 2]])},
        optional={"bias": st.just(False)},
    ),
    st.sampled_from(["w", "rows", "stacked"]),
)
AROUND = st.integers(0, 9999).map(lambda seed: next(around.networks(seed, 1, "textbook")))


@over(drawn=encoder_decoder() | networks(steps=True) | GRIDS | AROUND)
def test_every_gradient_has_a_name_of_its_own_and_is_written(drawn: Spec | Network) -> None:
    """Of weights, the contribution of each step, or of each pair of steps of attention."""
    try:
        done = work(drawn if isinstance(drawn, Network) else network_of(drawn), backward=True, learning_rate=0.1)
    except RefusedError:  # too many weights to write
        reject()
    steps = done.backward.steps if done.backward else ()
    names = [(step.layer, step.direction, line.name) for step in steps for line in step.lines]
    assert len(names) == len({*names})
    assert "Outcome" in written(WorkReport(done), "table")


def test_inputs_say_how_many_steps_there_are() -> None:
    """Where the network does not."""
    done = work(Network(input=1, layers=[RNN(1)]), inputs=[[1.0], [2.0], [3.0], [4.0]])
    assert len(done.layers[0].ways[0]) == 4


def test_the_numbers_stand_as_the_equations_have_them() -> None:
    """Rows before their matrices; what is stacked in one vector before one matrix. tanh(11) is 6e-10 less than 1."""
    net = Network(input=1, layers=[RNN(2)], steps=1)
    weights = {"rnn_1": {"W_xh": [[1.0], [2.0]], "W_hh": [[3.0, 4.0], [5.0, 6.0]], "b_h": [0.0, 1.0]}}
    text = {
        notation: done(net.replace(notation=notation), weights, [[0.0]], {"rnn_1": {"h": [1.0, 2.0]}})
        for notation in ("rows", "stacked", "columns")
    }
    assert text["rows"] == "h_1 = tanh(0·[1 2] + [1 2] [3 5; 4 6] + [0 1]) = tanh([11 18]) = [1.0000 1]"
    assert text["columns"] == "h_1 = tanh([3 4 1; 5 6 2] [1; 2; 0] + [0; 1]) = tanh([11; 18]) = [1.0000; 1]"
    assert text["stacked"] == "h_1 = tanh([1 2 0] [3 5; 4 6; 1 2] + [0 1]) = tanh([11 18]) = [1.0000 1]"


def done(net: Network, weights: Any, inputs: Any, start: Any) -> str:
    """Return the last line of the work, a matrix on one line with its rows apart."""
    sheets = WorkReport(work(net, weights=weights, inputs=inputs, start=start)).sheets()
    *_, line = [line for sheet in sheets for line in sheet.work]
    return "".join(map(plain_piece, line))


def test_a_state_that_a_dense_layer_makes_is_called_by_that_layer() -> None:
    """h_0 of rnn_1_h_0, made of its input, is what rnn_1 starts from."""
    names = {*work(Network(input=1, layers=[RNN(1, initial_state=2)], steps=1)).names.values()}
    assert Variable("h", 0, "rnn_1_h_0") in names
    assert Variable("h", 1, "rnn_1") in names


def test_a_convolution_names_the_steps_that_it_reads(call: Call) -> None:
    """With their numbers in the sequence, also where only the last step is read; zeros outside have no name."""
    text = call("run", "--work", "-i", 1, "-T", 5, "-l", "rnn:1", "-l", "conv1d:1,kernel=3,stride=2,padding=same").out
    matches = re.findall(r"x_(\d) = h_(\d) of rnn_1", text)
    assert matches == [("4", "4"), ("5", "5")]
    text = call("run", "--work", "-i", 1, "-T", 5, "-l", "conv1d:1,kernel=2,stride=2", "-l", "flatten").out
    steps = text.split("conv1d_1, step ")[1:]
    assert [re.findall(r"x_\d", step) for step in steps] == [["x_1", "x_2"], ["x_3", "x_4"]]
    text = call("run", "--work", "-i", 2, "-T", 3, "-l", "multi_head_attention:1", "--topology", "many-to-one").out
    assert re.findall(r"(q_\d|v_\d|c_1,\d) =", text) == ["v_1", "v_2", "v_3", "q_3", "c_1,3"]


def test_without_rounding_the_numbers_are_those_of_run() -> None:
    """Drawn from the same seed; another seed draws others, and rounded ones have few decimals."""
    network = Network(input=2, layers=[LSTM(3), GRU(2)], output=1, steps=3)

    def numbers(seed: int, *, rounded: bool) -> list[Any]:
        return [layer.output for layer in work(network, seed=seed, rounded=rounded).run.layers]

    assert numbers(3, rounded=False) == [layer.output for layer in run(network, seed=3).layers]
    assert numbers(3, rounded=False) != numbers(4, rounded=False)
    assert numbers(3, rounded=True) != numbers(3, rounded=False)
    (weights, *_) = [layer.weights for layer in work(network, seed=3).layers]
    assert all(round(number, 2) == number for row in weights["W_xi"] for number in row)
    bare = work(network, seed=3, rounded=False).layers[0].weights
    assert any(round(number, 2) != number for row in bare["W_xi"] for number in row)
