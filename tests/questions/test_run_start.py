"""`run` from a start, and with feedback: numbers worked out by hand, and what cannot be."""

import json
from math import exp, tanh
from typing import Any

import pytest
from conftest import Call
from hypothesis import given
from strategies import Spec, network

from rnncalc import GRU, LSTM, RNN, Dense, Dropout, Embedding, Layer, Network, Output, Part
from rnncalc.errors import SpecError
from rnncalc.forward.arrays import Floats
from rnncalc.forward.network_pass import Pass
from rnncalc.questions.run import run
from rnncalc.spec import parse, parse_data


def s(x: float) -> float:
    return 1 / (1 + exp(-x))


def one(layer: Layer, **options: Any) -> Network:
    """Return a network of one layer on one feature that outputs its sequence."""
    return Network(input=1, layers=(layer,), topology="many-to-many", **options)


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
    weights: dict[str, Any] = {"forward/W_xh": [[1.0]], "forward/W_hh": [[1.0]], "forward/b_h": [0.0]}
    weights |= {"backward/W_xh": [[5.0]], "backward/W_hh": [[1.0]], "backward/b_h": [0.0]}
    done = run(
        one(layer, steps=3),
        weights={"rnn_1": weights},
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
    layers = [layer for layer in spec["layers"] if "embedding" not in layer]
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topology": "many-to-many"}, "feedback: applies to one-to-many, where later steps have no input, got many"),
        ({"topology": None}, "feedback: applies to one-to-many, where later steps have no input, got many-to-one"),
        ({"output": 3}, "feedback: the output must be as wide as the input, 2, got 3"),
        ({"output": None}, "feedback: the output must be as wide as the input, 2, got 4"),
        ({"layers": [Embedding(2), RNN(4)]}, "feedback: an embedding reads token numbers, and the output is a vector"),
        ({"layers": [Dropout(0.5), RNN(4)]}, "layers[0].dropout: the dropout before the first recurrent layer is appl"),
        ({"layers": [Dense(2), RNN(4)]}, "layers[0].dense: the dense before the first recurrent layer is applied once"),
        (
            {"layers": [RNN(4), RNN(4, bidirectional=True)]},
            "layers[1].bidirectional: reads later inputs first, and with feedback there is none before its output",
        ),
        ({"feedback": "yes"}, "feedback: expected true or false, got 'yes'"),
    ],
)
def test_feedback_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    """Only where each output can be the next input."""
    net = Network(input=2, layers=[RNN(4)], output=2, topology="one-to-many", feedback=True)
    with pytest.raises(SpecError) as refused:
        net.replace(**changes)
    assert str(refused.value).startswith(message)


def test_an_encoder_decoder_feeds_nothing_back() -> None:
    """Its decoder reads inputs of its own."""
    with pytest.raises(SpecError, match="feedback: does not apply to an encoder-decoder"):
        Network(encoder=Part(2, (RNN(2),)), decoder=Part(2, (RNN(2),)), feedback=True)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"rnn_2": {}}, "start.rnn_2: unknown key; did you mean 'rnn_1'?"),
        ({"output": {"h": [1]}}, "start.output: unknown key; the keys here are rnn_1, lstm_1 or gru_1"),
        ({"rnn_1": {"c": [1, 2]}}, "start.rnn_1.c: unknown key; the keys here are h"),
        ({"rnn_1": {"h": [1]}}, "start.rnn_1.h: expected shape (2), got 1 number"),
        ({"rnn_1": {"h": 1}}, "start.rnn_1.h: expected shape (2), got the number 1"),
        ({"rnn_1": [1, 2]}, "start.rnn_1: expected a dict with h, got a list"),
        ({"rnn_1": {"h": [1, float("nan")]}}, "start.rnn_1.h[1]: expected a number, got nan"),
        ({"lstm_1": {"h": [1, 2]}}, "start.lstm_1.h: expected a list for each direction, shape (2, 2), got one list"),
        ({"lstm_1": {"c": [[1, 2], [1]]}}, "start.lstm_1.c[1]: expected shape (2, 2), so 2 numbers in each row, got 1"),
        ({"gru_1": {"h": [1, 2]}}, "start.gru_1: its states are learned, so they stand among its weights; remove them"),
        (3, "start: expected a dict with rnn_1, lstm_1 or gru_1, got 3"),
    ],
)
def test_a_start_that_does_not_fit(start: Any, message: str) -> None:
    """Unknown layers and states, wrong lengths, what is no number, and states that are learned."""
    layers = (RNN(2), LSTM(2, bidirectional=True), GRU(2, learned_state=True))
    net = Network(input=2, layers=layers, output=1, steps=2)
    with pytest.raises(SpecError) as refused:
        run(net, start=start)
    assert str(refused.value).splitlines()[0].startswith(message)


def test_the_encoder_may_have_a_start_and_the_decoder_not() -> None:
    """The decoder starts from the encoder's final state."""
    net = Network(encoder=Part(1, (RNN(1),), steps=1), decoder=Part(1, (RNN(1),), steps=1))
    weights = {name: {"W_xh": [[0.0]], "W_hh": [[1.0]], "b_h": [0.0]} for name in ("rnn_1", "rnn_2")}
    done = run(net, weights=weights, start={"rnn_1": {"h": [0.5]}})
    assert done.outputs == [[pytest.approx(tanh(tanh(0.5)))]]
    with pytest.raises(SpecError, match=r"start\.rnn_2: does not apply in a decoder"):
        run(net, start={"rnn_2": {"h": [0.5]}})


SPEC = """
input: 1
layers: [{rnn: 2, learned_state: true}, {gru: 1}]
topology: many-to-many
output: 2
inputs: [[1], [2]]
start:
  rnn_1: {h: [1, 2]}
  gru_1: {h: [x]}
  gruu_1: {h: [1]}
targets: [[1, 2], [3]]
"""


def test_what_a_spec_says_is_located(tmp_path: Any, call: Call) -> None:
    """Start and targets: every problem with its line and its column, at once; the inputs tell how many steps."""
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC)
    result = call("run", path)
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == [
        f"{path}:8:10: start.rnn_1: its states are learned, so they stand among its weights; remove them here",
        f"{path}:9:15: start.gru_1.h[0]: expected a number, got 'x'",
        f"{path}:10:3: start.gruu_1: unknown key; did you mean 'gru_1'?",
        f"{path}:11:19: targets[1]: expected shape (2), got 1 number",
    ]
    path.write_text(SPEC.replace("targets: [[1, 2], [3]]", "targets: {a: 1}\nstart_: 3"))
    assert call("count", path).err.splitlines() == [
        f"{path}:11:10: targets: expected a list in the shape of the output, got keys",
        f"{path}:12:1: start_: unknown key; did you mean 'start'?",
    ]


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
    """`--feedback` and `--start` do what `feedback: true` and `start:` do, and stand in place of the latter."""
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


def test_targets_are_as_many_as_the_steps(tmp_path: Any, call: Call) -> None:
    """Told where they are written, as what is wrong in them is."""
    path = tmp_path / "spec.yaml"
    path.write_text("input: 3\nsteps: 3\ntopology: many-to-many\nlayers: [rnn: 2]\ntargets: [[1, 2], [3, 4]]\n")
    result = call("run", path, "--backward")
    assert result.code == 2
    assert result.err.startswith(f"{path}:5:10: targets: ")
    assert "3 steps" in result.err
