"""Going back on the tape: gradients by hand, saved activations and work as counted, and a witness that objects."""

from io import StringIO
from math import log, prod
from typing import Any

import pytest
from cells import CELLS
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, fitting, network, network_of
from verified import backward

from rnncalc import GRU, LSTM, RNN, External, Network, Update
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.conventions.notation import W
from rnncalc.errors import CallError, SpecError
from rnncalc.formats import write
from rnncalc.forward.arrays import PassData
from rnncalc.layers import kind
from rnncalc.questions.backward import Backward, counted_of, whole_work
from rnncalc.reports.run import BackwardReport, length_data, length_sheets
from rnncalc.step.operations import OPERATIONS, GradientRule


def gradient(of: Backward, tensor: str, layer: int = 0) -> Any:
    """Return the gradient of a tensor."""
    return of.layers[layer].seen.gradients[tensor]


@pytest.mark.parametrize(
    ("units", "shown"), [(2, "2 3; 20 30"), (4, "2 3; 20 30; 2 3; 20 30"), (5, "2 3; 20 30; 2 3; 20 30; …")]
)
def test_the_gradient_of_a_matrix_is_shown_in_its_rows(units: int, shown: str) -> None:
    """h = W x with W 0, half the squared error: the gradient is −y for each unit, times x."""
    net = Network(input=2, layers=[RNN(units, activation="linear", bias=False)], steps=1)
    zeros = {"rnn_1": {"W_xh": [[0.0, 0.0]] * units, "W_hh": [[0.0] * units] * units}}
    targets = [-1.0 if unit % 2 == 0 else -10.0 for unit in range(units)]
    done = backward(net, weights=zeros, inputs=[[2.0, 3.0]], targets=targets)
    (sheet,) = (sheet for sheet in BackwardReport(done, verify=True).sheets() if sheet.title == "Gradients")
    (row,) = (row for row in sheet.rows if row[1] == "W_xh")
    assert row[2:4] == ((units, 2), shown)


@pytest.mark.parametrize(
    ("targets", "bias"), [([2, 0], (-1 / 3, 2 / 3, -1 / 3)), ([[0.5, 0.5, 0]] * 2, (-1 / 3, -1 / 3, 2 / 3))]
)
def test_without_weights_all_classes_are_alike(targets: Any, bias: tuple[float, ...]) -> None:
    """Three classes at two steps: p is 1/3 each, L = 2 log 3, and the bias has the sum of p − y."""
    net = Network(input=1, layers=[RNN(1)], output=3, steps=2, topology="many-to-many")
    zeros = {"rnn_1": {"W_xh": [[0]], "W_hh": [[0]], "b_h": [0]}, "output": {"W_hy": [[0]] * 3, "b_y": [0] * 3}}
    done = backward(net, weights=zeros, loss="cross_entropy", targets=targets)
    assert done.agrees
    assert done.loss == pytest.approx(2 * log(3))
    assert gradient(done, "b_y", 1) == pytest.approx(bias)


def any_network(spec: Spec) -> Network | None:
    """Return the network of a spec, or none where one part of it is counted elsewhere, or a half does not fit."""
    try:
        net = network_of(spec)
    except SpecError:
        return None
    return None if any(isinstance(entry.layer, External) for entry in net.stack) else net


@pytest.mark.parametrize("merge", ["concat", "sum", "mul", "ave"])
def test_both_directions_have_their_gradients(merge: Any) -> None:
    """However they join: gradients = differences, for each weight of either."""
    layer = LSTM(2, bidirectional=True, merge=merge)
    done = backward(Network(input=2, layers=[layer], output=1, steps=2, topology="many-to-many"))
    assert done.agrees
    assert all(gradient(done, f"{way}/W_hi")[1][0] for way in ("forward", "backward"))


@pytest.mark.broad
@given(st.one_of(network(steps=True), encoder_decoder()), st.sampled_from([None, 1, 2, 3]), st.integers(0, 9))
def test_the_backward_pass_of_any_network_is_as_it_is_counted(spec: Spec, chunk: int | None, seed: int) -> None:
    """Over all cells and options: gradients = differences, values read = saved, multiplications = multiply-adds."""
    found = any_network(spec)
    if found is None:
        return
    few = found.params <= 100  # each finite difference takes two passes
    done = backward(found, chunk=fitting(chunk, found), seed=seed, verify=few)
    assert done.run.agrees
    for layer in done.layers:
        assert layer.shapes_agree
        assert layer.seen.saved_read == layer.declared.saved
        assert layer.seen.multiplications == layer.declared.backward_multiply_adds
        assert layer.agrees, layer.worst_difference


def test_the_witness_objects_to_each_disagreement_alone() -> None:
    """Another number of values read or of multiplications, a gradient of another shape or far from its difference."""
    done = backward(Network(input=4, layers=[GRU(3)], output=1, steps=3))
    first = done.layers[0]
    assert first.agrees
    seen = first.seen
    for wrong in (
        first._replace(seen=seen._replace(saved_read=seen.saved_read + 1)),
        first._replace(seen=seen._replace(multiplications=seen.multiplications - 1)),
        first._replace(seen=seen._replace(gradients={**seen.gradients, "W_xz": [[0.0] * 3] * 4})),
        first._replace(seen=seen._replace(gradients={})),
        first._replace(worst_difference=1e-3),
    ):
        assert not wrong.agrees
        assert not done._replace(layers=(wrong, *done.layers[1:])).agrees


@pytest.mark.parametrize("activation", ["tanh", "sigmoid"])
def test_a_wrong_derivative_is_found_by_the_differences(monkeypatch: pytest.MonkeyPatch, activation: str) -> None:
    """The tape has no part in them, so that what it does wrong shows."""
    right = OPERATIONS[activation]

    wrong = GradientRule(lambda gradient: [1.01 * each for each in gradient], *right.gradients)
    monkeypatch.setitem(OPERATIONS, activation, right.replace(gradients=(wrong,)))
    done = backward(Network(input=4, layers=[LSTM(3)], output=1, steps=3))
    assert not done.agrees
    assert all(layer.seen.saved_read == layer.declared.saved for layer in done.layers)


def test_a_kink_is_no_disagreement() -> None:
    """At relu(0) any slope between those of the two sides will do: nothing is read, and nothing is wrong."""
    done = backward(Network(input=1, layers=[RNN(2, activation="relu", bias=False)], steps=2), inputs=[[0.0], [0.0]])
    assert done.agrees


@pytest.mark.parametrize("name", CELLS)
def test_the_terms_of_one_unit_add_up_to_the_gradient(name: str) -> None:
    """For every cell, whatever states it has: the sum over k is what the tape gives, times ∂L/∂h_T."""
    of_kind: Any = kind(name)
    done = backward(Network(input=2, layers=[of_kind(1)], steps=5), seed=3, states=True)
    (layer,) = done.layers
    assert bool(layer.terms) == any(tensor.role == "recurrent" for tensor in layer.ran.placed.tensors)
    for of in layer.terms:
        whole: Any = gradient(done, of.tensor)
        for place in of.place:
            whole = whole[place]
        assert of.terms[-1].total == pytest.approx(whole, rel=1e-9)
        assert [term.step for term in of.terms] == [5, 4, 3, 2, 1]


REPEATED = [
    (name, framework) for name in CELLS for framework in CONVENTIONS if convention(framework).arrays(name) is not None
]


@pytest.mark.broad
@pytest.mark.parametrize(("name", "framework"), REPEATED)
def test_the_terms_of_each_repeated_layer_are_those_of_that_layer_alone(name: str, framework: str) -> None:
    """Whatever number a framework gives the tensors of a copy; one layer after the other, on what the first outputs."""
    of_kind: Any = kind(name)
    layer = of_kind(1)
    both = backward(Network(input=1, layers=[layer.replace(repeat=2)], steps=3, convention=framework), states=True)
    for place, found in enumerate(both.layers):
        ran = found.ran
        read = [step["x"] for step in ran.traces[0].steps]
        alone = Network(input=1, layers=[layer], steps=3, convention=framework)
        values = used_by(both, place)
        (placed,) = alone.stack
        weights = {placed.name: dict(zip([tensor.name for tensor in placed.tensors], values, strict=True))}
        (single,) = backward(alone, weights=weights, inputs=read, states=True).layers
        assert [of.terms for of in found.terms] == [of.terms for of in single.terms]
        assert {of.tensor for of in found.terms} <= {*found.seen.gradients}
        recurrent = any(tensor.role == "recurrent" for tensor in ran.placed.tensors)
        assert bool(found.terms) == recurrent
        for of in found.terms if place else ():  # h_T is the outcome
            whole: Any = found.seen.gradients[of.tensor]
            for number in of.place:
                whole = whole[number]
            assert of.terms[-1].total == pytest.approx(whole, rel=1e-9)


def used_by(of: Backward, layer: int) -> list[Any]:
    """Return the weights that a pass drew for a layer, in the order of its tensors."""
    placed = of.run.layers[layer].placed
    return [*PassData(0, None).weights_of_all(of.run.network)[placed.name].values()]


def test_nothing_frozen_has_a_gradient_but_what_lies_below_it_has() -> None:
    """The gradient goes through frozen weights, and stops where nothing below is trained."""
    layers = [RNN(2, frozen=True), RNN(3), RNN(2, frozen=True)]
    done = backward(Network(input=2, layers=layers, steps=3))
    assert done.agrees
    assert [bool(layer.seen.gradients) for layer in done.layers] == [False, True, False]
    assert [layer.seen.multiplications > 0 for layer in done.layers] == [False, True, True]


@pytest.mark.parametrize(
    ("layer", "convention", "state", "gate", "turned"),
    [
        (LSTM(2), "textbook", "c", "f", False),
        (LSTM(2), "flax-nnx", "c", "f", False),
        (GRU(2), "textbook", "h", "z", False),
        (GRU(2), "keras", "h", "z", False),
        (GRU(2, update_gate="replaces"), "textbook", "h", "z", True),
    ],
)
def test_what_the_gates_keep_of_a_state_is_the_product_of_the_later_ones(
    layer: Any, convention: str, state: str, gate: str, turned: bool
) -> None:
    """An LSTM's forget gates, a GRU's update gates, or what these leave: over all later steps, the largest number."""
    done = backward(Network(input=2, layers=[layer], steps=4, convention=convention), states=True)
    (found,) = [of for of in done.layers[0].norms if of.letter == state]
    steps = done.run.layers[0].traces[0].steps
    gates = [[1 - number if turned else number for number in step[gate]] for step in steps]
    expected = [max(prod(later[unit] for later in gates[step + 1 :]) for unit in range(2)) for step in range(4)]
    assert found.keeper
    assert tuple(found.keeper) == (gate, turned)
    told = length_data(done.layers[0])["kept"]["forward"][state]
    assert (told["gate"], told["turned"]) == (gate, turned)
    (sheet,) = length_sheets(done.layers[0], None, W)
    assert f"∏ {'1−' if turned else ''}{gate}" in [column.title for column in sheet.columns]
    assert found.kept == pytest.approx(expected)
    (alone,) = backward(Network(input=2, layers=[RNN(1)], steps=2), states=True).layers[0].norms
    assert (alone.keeper, alone.kept) == (None, ())


def test_a_backward_direction_keeps_what_the_steps_before_let_it() -> None:
    """It reads the last step first, so that the gates of the steps before in time are those that come later."""
    done = backward(Network(input=2, layers=[LSTM(2, bidirectional=True)], steps=4), states=True)
    (found,) = [of for of in done.layers[0].norms if (of.direction, of.letter) == ("backward", "c")]
    gates = [step["f"] for step in done.run.layers[0].traces[1].steps]
    expected = [max(prod(gate[unit] for gate in gates[:step]) for unit in range(2)) for step in range(4)]
    assert found.kept == pytest.approx(expected)
    assert found.kept[0] == 1.0 != found.kept[-1]


def test_the_work_of_a_backward_pass_is_that_of_its_passes() -> None:
    """One unit, 3 steps, 3 weights: a pass multiplies 6 times and takes 400 more for each step, and each weight is
    moved both ways: 7 passes. Going back multiplies 8 times; in chunks of 2, 2 times, beside all of it."""
    net = Network(input=1, layers=[RNN(1)], steps=3)
    assert whole_work(counted_of(net, None)) == whole_work(counted_of(net, 3)) == (1_206 + 8) + 7 * 1_206
    assert whole_work(counted_of(net, 2)) == 2 * (1_206 + 2) + 7 * 1_206
    with pytest.raises(CallError, match="chunk: expected a whole number, 1 or more, got 0"):
        counted_of(net, 0)


def test_what_goes_beyond_all_numbers_is_no_agreement() -> None:
    """A linear unit that grows tenfold a step for 400 steps: no finite number comes out, and none is said to agree."""
    weights = {"rnn_1": {"W_xh": [[1.0]], "W_hh": [[10.0]], "b_h": [0.0]}}
    net = Network(input=1, layers=[RNN(1, activation="linear")], steps=400)
    done = backward(net, weights=weights, states=True)
    assert not done.agrees
    report = BackwardReport(done, states=True)
    for name in ("table", "json", "markdown", "html"):
        write([report], name, StringIO())
    assert "is not a finite number" in " ".join(str(note) for sheet in report.sheets() for note in sheet.notes)
    (row,) = BackwardReport(done).records()[1]
    assert row[8] is False


def test_a_kink_that_is_met_is_told() -> None:
    """relu at 0 has the slopes 0 and 1, the central difference is ½: any between will do, and the report says so."""
    weights = {"rnn_1": {"W_xh": [[1.0]], "W_hh": [[0.0]], "b_h": [0.0]}}
    done = backward(Network(input=1, layers=[RNN(1, activation="relu")], steps=1), weights=weights, inputs=[[0.0]])
    assert done.agrees
    assert done.kinks == 1


def test_the_chunk_is_that_of_the_spec_unless_another_is_asked_for() -> None:
    """`training: {chunk: 2}` cuts 5 steps; 9 cut nothing, and are not told as a chunk."""
    net = Network(input=1, layers=[RNN(1)], topology="many-to-many", steps=5, training=Update(chunk=2))
    found = [backward(net), backward(net, chunk=9)]
    assert [done.chunk for done in found] == [2, None]
    assert all(done.agrees for done in found)


def test_progress_is_told_as_the_passes_go() -> None:
    """Of the pass itself, of the one that differences are taken from and of two for each of 3 weights: 2 steps of 2."""
    told: list[int] = []
    backward(Network(input=1, layers=[RNN(1)], steps=2), progress=told.append)
    assert sum(told) == (2 + 2 * 3) * 2 * 2


@pytest.mark.parametrize("chunk", [1, 2])
def test_two_states_that_are_one_vector_are_saved_once(chunk: int) -> None:
    """A linear LSTM without an output gate has h = c. A step reads x, h, i, f and g; a first step has its own c."""
    cell = LSTM(1, bias=False, activation="linear", output_gate=False)
    layer, _ = backward(Network(input=1, layers=[cell], output=1, steps=3), chunk=chunk).layers
    assert layer.seen.saved_read == layer.declared.saved == 5
    layer, _ = backward(Network(input=1, layers=[cell], output=1, steps=chunk)).layers
    assert layer.seen.saved_read == layer.declared.saved == 5 * chunk + 1
