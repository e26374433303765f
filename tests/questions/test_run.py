"""`run`: the forward pass against numbers worked out by hand, and against declarations broken on purpose."""

import json
import re
from collections.abc import Sequence
from math import exp, tanh
from pathlib import Path
from typing import Any

import pytest
from conftest import Call, refusal, report_of
from hypothesis import given
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc import GRU, LSTM, MGU, RNN, Dense, Embedding, Layer, Network, Output, Part
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.conventions.formula import Plus
from rnncalc.conventions.layout import Layout, Stack, layout
from rnncalc.conventions.rules import Convention
from rnncalc.conventions.tensor import Axis, Direction, Role, Tensor
from rnncalc.forward.arrays import Floats
from rnncalc.forward.network_pass import Pass
from rnncalc.layers.cell import Merge
from rnncalc.questions.run import run, weights_in_use
from rnncalc.spec import parse, parse_data


def s(x: float) -> float:
    return 1 / (1 + exp(-x))


def outputs(network: Network, weights: dict[str, Any], inputs: list[Any]) -> Any:
    """Return the network's outputs for weights and inputs given in lists."""
    done = run(network, weights=weights, inputs={None: inputs})
    assert done.agrees
    return done.layers[-1].output


def one(layer: Layer, **options: Any) -> Network:
    """Return a network of one layer on one feature that outputs its sequence."""
    return Network(input=1, layers=(layer,), topology="many-to-many", **options)


def test_an_rnn_by_hand() -> None:
    """h_t = tanh(0.5 x + 0.25 h + 0.1), twice, then y = 2h - 1."""
    weights = {"rnn_1": {"W_xh": [[0.5]], "W_hh": [[0.25]], "b_h": [0.1]}, "output": {"W_hy": [[2.0]], "b_y": [-1.0]}}
    h1 = tanh(0.5 * 1.0 + 0.1)
    h2 = tanh(0.5 * -2.0 + 0.25 * h1 + 0.1)
    network = Network(input=1, layers=(RNN(1),), output=Output(1), steps=2)
    assert outputs(network, weights, [[1.0], [-2.0]]) == [pytest.approx(2 * h2 - 1)]


LSTM_WEIGHTS = {
    "W_xi": [[0.1]],
    "W_xf": [[0.2]],
    "W_xg": [[0.3]],
    "W_xo": [[0.4]],
    "W_hi": [[0.5]],
    "W_hf": [[0.6]],
    "W_hg": [[0.7]],
    "W_ho": [[0.8]],
    "b_i": [0.01],
    "b_f": [0.02],
    "b_g": [0.03],
    "b_o": [0.04],
}


def test_a_projection_is_what_comes_back() -> None:
    """The projected output, twice o tanh(c), is output and fed back."""
    weights = {"lstm_1": {**LSTM_WEIGHTS, "W_hp": [[2.0]]}}
    c1 = s(0.11) * tanh(0.33)
    p1 = 2 * s(0.44) * tanh(c1)
    c2 = s(0.4 + 0.6 * p1 + 0.02) * c1 + s(0.2 + 0.5 * p1 + 0.01) * tanh(0.6 + 0.7 * p1 + 0.03)
    p2 = 2 * s(0.8 + 0.8 * p1 + 0.04) * tanh(c2)
    done = outputs(one(LSTM(1, projection=1), steps=2), weights, [[1.0], [2.0]])
    assert [p for (p,) in done] == pytest.approx([p1, p2])


GRU_WEIGHTS = {
    "W_xz": [[0.1]],
    "W_xr": [[0.2]],
    "W_xn": [[0.3]],
    "W_hz": [[0.4]],
    "W_hr": [[0.5]],
    "W_hn": [[0.6]],
    "b_z": [0.01],
    "b_r": [0.02],
    "b_n": [0.03],
}


def test_where_the_reset_gate_acts() -> None:
    """Two units that exchange their states: W (r ∘ h) has the reset of the other unit, r ∘ (W h) its own."""
    zero, swap = [[0.0], [0.0]], [[0.0, 1.0], [1.0, 0.0]]
    none = [[0.0, 0.0], [0.0, 0.0]]
    weights = {"W_xz": zero, "W_xr": zero, "W_xn": [[1.0], [0.5]], "W_hz": none, "W_hr": none, "W_hn": swap}
    biases = {"b_z": [-1e9, -1e9], "b_r": [1e9, -1e9], "b_n": [0.0, 0.0]}
    for after, last in ((False, [tanh(0.0), tanh(tanh(1.0))]), (True, [tanh(tanh(0.5)), tanh(0.0)])):
        done = outputs(one(GRU(2, reset_after=after), steps=2), {"gru_1": {**weights, **biases}}, [[1.0], [0.0]])
        assert done[-1] == pytest.approx(last)


def test_saturated_gates_are_exact() -> None:
    """A forget gate at one and an input gate at zero keep c to the bit; an update gate at one copies h to the bit."""
    weights = {**LSTM_WEIGHTS, "b_i": [-1e9], "b_f": [1e9], "b_o": [1e9], "h_0": [0.3], "c_0": [0.7654321]}
    done = run(one(LSTM(1, learned_state=True), steps=5), weights={"lstm_1": weights}, states=True)
    assert [step["c"] for step in done.layers[0].traces[0].steps] == [[0.7654321]] * 5
    weights = {**GRU_WEIGHTS, "b_z": [1e9], "h_0": [0.1234567]}
    assert outputs(one(GRU(1, learned_state=True), steps=3), {"gru_1": weights}, [[9.0]] * 3) == [[0.1234567]] * 3


def test_a_diagonal_recurrence_is_element_wise() -> None:
    """Each unit has its own past only."""
    weights = {"rnn_1": {"W_xh": [[1.0], [2.0]], "W_hh": [0.5, -0.5], "b_h": [0.0, 0.0]}}
    layer = RNN(2, recurrence="diagonal", activation="linear")
    assert outputs(one(layer, steps=2), weights, [[1.0], [1.0]]) == [[1.0, 2.0], [1.5, 1.0]]


FORWARD = {"forward/W_xh": [[1.0]], "forward/W_hh": [[1.0]], "forward/b_h": [0.0]}
BACKWARD = {"backward/W_xh": [[5.0]], "backward/W_hh": [[1.0]], "backward/b_h": [0.0]}


@pytest.mark.parametrize(
    ("merge", "expected"),
    [
        ("concat", [[1.0, 35.0], [3.0, 30.0], [7.0, 20.0]]),
        ("sum", [[36.0], [33.0], [27.0]]),
        ("mul", [[35.0], [90.0], [140.0]]),
        ("ave", [[18.0], [16.5], [13.5]]),
    ],
)
def test_directions_are_joined_step_by_step(merge: Merge, expected: list[list[float]]) -> None:
    """For x = 1, 2, 4 the sums from the left are 1, 3, 7, and five times those from the right 35, 30, 20."""
    layer = RNN(1, bidirectional=True, merge=merge, activation="linear")
    assert outputs(one(layer, steps=3), {"rnn_1": FORWARD | BACKWARD}, [[1.0], [2.0], [4.0]]) == expected


def test_a_final_state_joins_the_last_of_each_direction() -> None:
    """The last step read forwards and the last read backwards, which is the first: 7 and 35."""
    layer = RNN(1, bidirectional=True, activation="linear")
    network = Network(input=1, layers=(layer,), steps=3)
    assert outputs(network, {"rnn_1": FORWARD | BACKWARD}, [[1.0], [2.0], [4.0]]) == [7.0, 35.0]


def test_one_to_many_reads_once_and_then_zeros() -> None:
    """A linear recurrence of weight one half halves its first input step by step."""
    weights = {"rnn_1": {"W_xh": [[1.0]], "W_hh": [[0.5]], "b_h": [0.0]}}
    network = Network(input=1, layers=(RNN(1, activation="linear"),), topology="one-to-many", steps=3)
    assert outputs(network, weights, [[8.0]]) == [[8.0], [4.0], [2.0]]


def test_an_embedding_looks_up_and_a_tied_output_looks_back() -> None:
    """Tokens 2 and 0 pick rows; the tied output multiplies by the same table."""
    table = [[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]]
    weights = {"embedding_1": {"E": table}, "output": {"b_y": [0.0, 10.0, 0.0]}}
    network = Network(input=3, layers=(Embedding(2),), output=Output(3, tied=True), topology="many-to-many", steps=2)
    assert outputs(network, weights, [2, 0]) == [[2.0, 13.0, 13.0], [1.0, 10.0, 2.0]]


def test_the_encoder_starts_the_decoder() -> None:
    """A decoder that keeps its state shows the encoder's last one, both directions joined."""
    spec = """
        encoder:
          input: 1
          steps: 2
          layers: [{rnn: 1, bidirectional: true, activation: linear}]
        decoder:
          input: 1
          steps: 2
          layers: [{rnn: 2, activation: linear}]
        weights:
          rnn_1:
            {forward/W_xh: [[1]], forward/W_hh: [[1]], forward/b_h: [0],
             backward/W_xh: [[1]], backward/W_hh: [[2]], backward/b_h: [0]}
          rnn_2: {W_xh: [[1], [1]], W_hh: [[1, 0], [0, 1]], b_h: [0, 0]}
        inputs: {encoder: [[3], [4]], decoder: [[10], [20]]}
    """
    read = parse(spec.encode(), "spec")
    data = parse_data(read, None, None)
    done = run(read.network, weights=data.weights, inputs=data.inputs)
    assert done.layers[-1].output == [[17.0, 21.0], [37.0, 41.0]]


def test_a_softmax_is_one_in_all() -> None:
    """Probabilities, however large the sums."""
    weights = {"dense_1": {"W": [[1000.0], [1000.0]], "b": [0.0, 0.0]}}
    network = Network(input=1, layers=(Dense(2, activation="softmax"),), topology="one-to-one")
    assert outputs(network, weights, [[1.0]]) == [0.5, 0.5]


@given(network(steps=True))
def test_no_network_disagrees_with_its_counts(spec: Spec) -> None:
    """Shapes, weights read and multiplications hold over all options, and a tanh LSTM stays within one."""
    done = run(network_of(spec))
    assert done.agrees, [layer for layer in done.layers if not layer.agrees]
    for layer in done.layers:
        cell = layer.placed.layer
        bounded = isinstance(cell, LSTM) and cell.activation == "tanh" and not cell.projection
        if bounded and isinstance(cell, LSTM) and cell.merge != "sum":
            rows = layer.output if isinstance(layer.output[0], list) else [layer.output]
            assert all(abs(h) < 1 for row in rows for h in row)


@given(encoder_decoder())
def test_no_encoder_decoder_disagrees_with_its_counts(spec: Spec) -> None:
    """The same over two halves."""
    assert run(network_of(spec)).agrees


INPUTS = [[0.25, 0.5], [-0.75, 0.5], [1.0, -2.0], [0.5, 0.125]]


@pytest.mark.parametrize("layer", [RNN(3), GRU(3), GRU(3, reset_after=True), LSTM(3), LSTM(3, peepholes=True), MGU(3)])
def test_steps_at_once_are_single_steps_that_carry_the_state(layer: Any) -> None:
    """T steps are T runs of one step, each begun with the learned state the last one ended in."""
    learned = layer.replace(learned_state=True)
    whole = Network(input=2, layers=(learned,), topology="many-to-many", steps=4)
    ((name, weights),) = weights_in_use(whole, seed=1)
    at_once = run(whole, weights={name: weights}, inputs=INPUTS, states=True).layers[0].traces[0]
    for step, state in enumerate(at_once.steps):
        single = Network(input=2, layers=(learned,), steps=1)
        (now,) = run(single, weights={name: weights}, inputs=[INPUTS[step]], states=True).layers[0].traces[0].steps
        assert now == state
        weights = {**weights, **{f"{letter}_0": now[letter] for letter in learned.states}}


def test_reversing_a_sequence_swaps_the_directions() -> None:
    """Backwards over the reversed sequence is forwards over the sequence."""
    network = Network(input=2, layers=(LSTM(3, bidirectional=True),), steps=4)
    weights = dict(weights_in_use(network, seed=2))["lstm_1"]
    swapped = {
        name.replace("forward", "b").replace("backward", "forward").replace("b/", "backward/"): array
        for name, array in weights.items()
    }
    there = outputs(network, {"lstm_1": weights}, INPUTS)
    back = outputs(network, {"lstm_1": swapped}, INPUTS[::-1])
    assert there[:3] == back[3:]
    assert there[3:] == back[:3]


def test_the_seed_makes_the_same_numbers_everywhere() -> None:
    """Two runs agree to the bit, another seed does not; the first weight is what Python's generator promises."""
    network = Network(input=2, layers=(Dense(1, bias=False),), steps=1)
    outputs_ = [run(network, seed=seed).layers[-1].output for seed in (0, 0, 1)]
    assert outputs_[0] == outputs_[1] != outputs_[2]


def test_a_disagreement_is_reported_with_exit_code_1(monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    """The line has a ✗, the note says why, and the exit code is 1."""

    def with_a_spare(layer: Layer, inputs: int, row: Convention, stacks: Sequence[Stack]) -> Layout:
        spare = Tensor("spare", Role.BIAS, Direction.FORWARD, "", (Axis(1, "h"),))
        found = layout(layer, inputs, row, stacks)
        return found._replace(tensors=(*found.tensors, spare), params=Plus((found.params, "h")))

    monkeypatch.setitem(CONVENTIONS, "textbook", convention("textbook").replace())  # with no layouts of its own yet
    monkeypatch.setattr("rnncalc.network.stack.layout", with_a_spare)
    result = call("run", "-i", 5, "-l", "rnn:3", "-T", 2)
    assert result.code == 1
    assert "✗  rnn_1" in result.out
    assert "✗ rnn_1: weights read: 27 of 30" in result.out


def test_a_pass_too_long_is_refused(call: Call) -> None:
    """Its cost, its time and the advice are told, before anything is allocated."""
    err = refusal(call, "run", "-i", 100_000, "-l", "lstm:100000", "-T", 1000)
    assert "80,000,000,000,000 multiply-adds" in err
    assert "23 days" in err
    assert "lower the number of steps with -T, or raise --max-multiply-adds" in err
    assert call("run", "-i", 10, "-l", "rnn:10", "-T", 10, "--max-multiply-adds", "1999").code == 2
    assert call("run", "-i", 10, "-l", "rnn:10", "-T", 10, "--max-multiply-adds", "2k").code == 0


def test_a_pass_that_takes_long_and_multiplies_little_is_refused(call: Call) -> None:
    """A million steps of one unit: 8 million multiply-adds, and as long as 400 for each of four gates a step."""
    flags = ("run", "-i", 1, "-l", "lstm:1", "-T", 1_000_000)
    cost = f"take as long as {8 * 10**6 + 4 * 400 * 10**6:,} multiply-adds, about 40 seconds"
    for limit in ((), ("--max-multiply-adds", "1G")):
        assert f"{cost}, and the limit is 1,000,000,000; lower the number" in call(*flags, *limit).err
    deep = ("run", "-i", 4, "-l", "lstm:4,repeat=1000", "--backward", "--verify")
    assert "finite differences would take as long" in call(*deep).err


def test_states_of_very_many_steps_are_refused(call: Call) -> None:
    """Each step keeps its x and its h: two vectors of one number, some 300 bytes."""
    flags = ("run", "-i", 1, "-l", "rnn:1", "-T", 1_000_000)
    err = refusal(call, *flags, "--states", "-f", "json")
    assert re.search(
        r"the states of all steps would take about \d{3}\.\d\d MiB, and the limit is 143\.05 MiB; lower", err
    )


def test_the_json_report(call: Call) -> None:
    """The documented keys, with the network's outputs and each layer's own."""
    report = report_of(call, "run", "specs/dense-equivalent.yaml")
    assert report["agrees"] is True
    assert report["steps"] == 3
    assert report["outputs"] == report["layers"][-1]["output"]
    layer = report["layers"][0]
    assert (layer["shape"], layer["declared_shape"]) == ([3], [3])
    assert (layer["weights"], layer["weights_read"]) == (24, 24)
    assert (layer["multiply_adds"], layer["multiplications"]) == (63, 63)
    assert layer["agrees"] is True
    states = report_of(call, "run", "specs/dense-equivalent.yaml", "--states")
    assert len(states["layers"][0]["states"]["forward"]) == 3


def test_numbers_beyond_all_bounds_are_null(call: Call, tmp_path: Path) -> None:
    """JSON has no infinity; a linear network that explodes says null."""
    spec = tmp_path / "explodes.yaml"
    spec.write_text(
        "input: 1\ntopology: many-to-many\nlayers: [{rnn: 1, activation: linear, bias: false}]\n"
        "weights: {rnn_1: {W_xh: [[1e300]], W_hh: [[1e300]]}}\ninputs: [[1], [1], [1]]\n"
    )
    result = call("run", spec, "-f", "json")
    assert result.code == 0
    assert json.loads(result.out)["reports"][0]["outputs"] == [[1e300], [None], [None]]


def test_steps_that_are_not_given(call: Call) -> None:
    """Three, and it is said; in both halves of an encoder-decoder."""
    assert "The number of steps is not given, so 3 were run" in call("run", "-i", 2, "-l", "rnn:2").out
    halves = {"encoder": Part(2, (RNN(2),)), "decoder": Part(2, (RNN(2),), steps=5)}
    done = run(Network(encoder=halves["encoder"], decoder=halves["decoder"]))
    assert [part.steps for part in done.network.parts.values()] == [3, 5]
    assert done.assumed_steps == 3
    neither = Network(encoder=Part(2, (RNN(2),)), decoder=Part(2, (RNN(2),)))
    assert [part.steps for part in run(neither).network.parts.values()] == [3, 3]
    inputs: dict[str | None, list[Any]] = {"encoder": [[0.0, 0.0]] * 4, "decoder": [[0.0, 0.0]] * 2}
    done = run(neither, inputs=inputs)
    assert [part.steps for part in done.network.parts.values()] == [4, 2]
    assert done.assumed_steps is None
    once = Network(input=2, layers=(RNN(2),), topology="one-to-many")
    assert len(run(once, inputs={None: [[1.0, 1.0]]}).layers[0].output) == 3


@pytest.mark.broad
def test_what_a_table_looked_up_is_told(call: Call) -> None:
    """An embedding is there whole and read in part."""
    out = call("run", "specs/sentiment-classifier.yaml", "-T", 2, "--verify").out
    assert "embedding_1: the whole table is stored; a pass reads the rows it looks up." in out
    assert "2,560,000" in out


def test_progress_is_told_as_the_pass_goes() -> None:
    """Every matrix product by its multiplications: in 3 steps 3·4 and 3·3 each, and 1·3 at the end."""
    told: list[int] = []
    run(Network(input=4, layers=(RNN(3),), output=Output(1), steps=3), progress=told.append)
    assert sum(told) == 3 * (3 * 4 + 3 * 3) + 3
    assert len(told) > 3


RNN_WEIGHTS = {"W_xh": [[0.5]], "W_hh": [[0.25]], "b_h": [0.1]}


def test_an_rnn_from_a_start() -> None:
    """h_1 = tanh(0.5 x + 0.25 h_0 + 0.1)."""
    done = run(one(RNN(1), steps=1), weights={"rnn_1": RNN_WEIGHTS}, inputs=[[2.0]], start={"rnn_1": {"h": [0.4]}})
    assert done.outputs == [[pytest.approx(tanh(0.5 * 2 + 0.25 * 0.4 + 0.1))]]
    assert done.agrees


def test_a_state_that_is_not_given_is_zeros() -> None:
    """Of an LSTM c alone: the gates see no past, and c_1 = f c_0 + i g."""
    sums = {"i": 0.11, "f": 0.22, "g": 0.33, "o": 0.44}
    weights: dict[str, Any] = {f"W_x{gate}": [[total]] for gate, total in sums.items()}
    weights |= {f"W_h{gate}": [[9.0]] for gate in sums} | {f"b_{gate}": [0.0] for gate in sums}
    done = run(one(LSTM(1), steps=1), weights={"lstm_1": weights}, inputs=[[1.0]], start={"lstm_1": {"c": [2.0]}})
    c = s(0.22) * 2.0 + s(0.11) * tanh(0.33)
    assert done.outputs == [[pytest.approx(s(0.44) * tanh(c))]]


def test_each_direction_has_a_start_of_its_own() -> None:
    """Linear sums: from the left 100 + 1, + 2, + 4, from the right 1000 + 20, + 10, + 5."""
    layer = RNN(1, bidirectional=True, activation="linear")
    done = run(
        one(layer, steps=3),
        weights={"rnn_1": FORWARD | BACKWARD},
        inputs=[[1.0], [2.0], [4.0]],
        start={"rnn_1": {"h": [[100.0], [1000.0]]}},
    )
    assert done.outputs == [[101.0, 1035.0], [103.0, 1030.0], [107.0, 1020.0]]


def test_a_start_is_no_weight_and_no_multiplication() -> None:
    """The three confirmations are the same as without."""
    net = Network(input=2, layers=(LSTM(3, projection=2), GRU(2)), output=Output(2), steps=3)
    start = {"lstm_1": {"h": [1.0, 2.0], "c": [1.0, 2.0, 3.0]}, "gru_1": {"h": [1.0, 2.0]}}
    with_, without = run(net, start=start), run(net)
    assert with_.agrees
    assert with_.outputs != without.outputs
    for ours, theirs in zip(with_.layers, without.layers, strict=True):
        assert (ours.weights_read, ours.multiplications) == (theirs.weights_read, theirs.multiplications)


def test_feedback_by_hand() -> None:
    """x = 8, then y_t = 2 h_t + 1 is what step t + 1 reads: h_1 = 8, y_1 = 17, h_2 = 17 + 4 = 21, y_2 = 43 ..."""
    weights = {
        "rnn_1": {"W_xh": [[1.0]], "W_hh": [[0.5]], "b_h": [0.0]},
        "output": {"W_hy": [[2.0]], "b_y": [1.0]},
    }
    net = Network(
        input=1, layers=(RNN(1, activation="linear"),), output=1, topology="one-to-many", steps=3, feedback=True
    )
    assert run(net, weights=weights, inputs=[[8.0]]).outputs == [[17.0], [43.0], [43.0 * 2 + 21 + 1]]
    later = run(net.replace(feedback=False), weights=weights, inputs=[[8.0]])
    assert later.outputs == [[17.0], [9.0], [5.0]]


def test_feedback_through_several_layers_by_hand() -> None:
    """Two recurrent layers, the first also with a start: each step goes through both before the next begins."""
    first = {"W_xh": [[1.0]], "W_hh": [[1.0]], "b_h": [0.0]}
    second = {"W_xh": [[3.0]], "W_hh": [[-1.0]], "b_h": [0.0]}
    layers = (RNN(1, activation="linear"), RNN(1, activation="linear"))
    net = Network(input=1, layers=layers, topology="one-to-many", steps=3, feedback=True)
    a1 = 1 + 10
    b1 = 3 * a1
    a2 = b1 + a1
    b2 = 3 * a2 - b1
    a3 = b2 + a2
    done = run(
        net, weights={"rnn_1": first, "rnn_2": second}, inputs=[[1.0]], start={"rnn_1": {"h": [10.0]}}, states=True
    )
    assert done.outputs == [[b1], [b2], [3.0 * a3 - b2]]
    assert done.agrees
    assert [step["x"] for step in done.layers[0].traces[0].steps] == [[1.0], [b1], [b2]]


@given(network(steps=True))
def test_feedback_changes_no_count(spec: Spec) -> None:
    """Whatever network can have it agrees with the counts of the same one without, and its first output is the same."""
    unfit = {"embedding", "multi_head_attention", "transformer"}
    layers = [layer for layer in spec["layers"] if not unfit & {*layer}]
    while layers and not any(kind in layers[0] for kind in ("rnn", "gru", "lstm", "mgu", "sru", "mingru", "minlstm")):
        layers.pop(0)
    for layer in layers:
        layer.pop("bidirectional", None)
        layer.pop("merge", None)
        layer.pop("extra_inputs", None)
    fed = {**spec, "layers": layers or [{"rnn": 2}], "topology": "one-to-many", "output": spec["input"]}
    if any("external" in layer for layer in layers):
        return  # its random numbers stand for a part that is not there
    net = parse(json.dumps(fed).encode(), "spec").network
    plain, back = run(net), run(net.replace(feedback=True))
    assert plain.agrees
    assert back.agrees
    assert back.outputs[0] == plain.outputs[0]


def test_the_encoder_may_have_a_start_and_the_decoder_not() -> None:
    """The decoder starts from the encoder's final state."""
    net = Network(encoder=Part(1, (RNN(1),), steps=1), decoder=Part(1, (RNN(1),), steps=1))
    weights = {name: {"W_xh": [[0.0]], "W_hh": [[1.0]], "b_h": [0.0]} for name in ("rnn_1", "rnn_2")}
    done = run(net, weights=weights, start={"rnn_1": {"h": [0.5]}})
    assert done.outputs == [[pytest.approx(tanh(tanh(0.5)))]]


@pytest.mark.parametrize(
    ("topology", "steps", "targets", "read"),
    [
        ("many-to-one", 3, "[1, 2]", [1.0, 2.0]),
        ("many-to-many", 2, "[[1, 2], [3, 4]]", [[1.0, 2.0], [3.0, 4.0]]),
        ("many-to-many", None, "[[1, 2]]", [[1.0, 2.0]]),
        ("one-to-many", 1, "[[1, 2]]", [[1.0, 2.0]]),
        ("one-to-one", None, "[1, 2]", [1.0, 2.0]),
    ],
)
def test_targets_have_the_shape_of_the_output(topology: str, steps: int | None, targets: str, read: Any) -> None:
    """A vector, or a list of T."""
    timed = f"steps: {steps}\n" if steps else ""
    spec = parse(
        f"input: 3\ntopology: {topology}\n{timed}layers: [rnn: 4]\noutput: 2\ntargets: {targets}".encode(), "s"
    )
    assert parse_data(spec).targets == read


def test_flags_are_the_keys_of_the_file(tmp_path: Any, call: Call) -> None:
    """`--feedback` and `--start` do what `feedback: true` and `start:` do, and are in place of the latter."""
    head = "input: 2\nsteps: 3\ntopology: one-to-many\nlayers: [rnn: 2]\n"
    spec, start = tmp_path / "spec.yaml", tmp_path / "start.yaml"
    spec.write_text(f"{head}feedback: true\nstart: {{rnn_1: {{h: [0.5, -1]}}}}\n")
    whole = call("run", spec).out
    start.write_text("rnn_1: {h: [0.5, -1]}\n")
    flags = ("-i", 2, "-T", 3, "--topology", "one-to-many", "-l", "rnn:2", "--feedback", "--start", start)
    assert call("run", *flags).out.splitlines()[1:] == whole.splitlines()[1:]
    spec.write_text(f"{head}start: {{rnn_1: {{h: [7, 7]}}}}\n")
    assert call("run", spec, "--feedback", "--start", start).out == whole
    start.write_text("rnn_1: {h: [0.5]}\n")
    assert call("run", spec, "--start", start).err == f"{start}:1:12: rnn_1.h: expected shape (2), got 1 number\n"


def test_what_is_said_of_later_inputs(call: Call) -> None:
    """Zeros follow, or outputs are fed back: one of the two."""
    flags = ("-i", 2, "-l", "rnn:2", "--topology", "one-to-many")
    for command in ("run", "explain"):
        assert "zeros follow" in call(command, *flags).out
        fed = call(command, *flags, "--feedback").out
        assert "each output is fed back as the next input" in fed
        assert "zeros" not in fed


def test_what_is_fed_back_is_carried_over_the_border_between_steps() -> None:
    """As a state is: where a gradient stops at a chunk's border, it stops on both ways."""
    borders: list[int] = []

    class Carried(Floats):
        def carry(self, vector: list[float], border: int) -> list[float]:
            borders.append(border)
            return super().carry(vector, border)

    net = Network(input=1, layers=(RNN(1),), topology="one-to-many", steps=3, feedback=True)
    forward = Pass(net, lambda _, meter: Carried(meter))
    (ran,) = forward.run()
    assert ran.agrees
    assert sorted(borders) == [1, 1, 2, 2]
    assert forward.outputs == ran.output
