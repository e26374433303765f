"""`run`: the forward pass against numbers worked out by hand, and against declarations broken on purpose."""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from cells import CELLS
from conftest import Call, refusal
from hypothesis import given
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc import GRU, LSTM, MGU, RNN, Dense, Layer, Network, Output, Part
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.conventions.formula import Plus
from rnncalc.conventions.layout import Layout, Stack, layout
from rnncalc.conventions.rules import Convention
from rnncalc.conventions.tensor import Axis, Direction, Role, Tensor
from rnncalc.forward.arrays import Floats
from rnncalc.forward.network_pass import Pass
from rnncalc.questions.run import run, weights_in_use
from rnncalc.spec import parse, parse_data


def outputs(network: Network, weights: dict[str, Any], inputs: list[Any]) -> Any:
    """Return the network's outputs for weights and inputs given in lists."""
    done = run(network, weights=weights, inputs={None: inputs})
    assert done.agrees
    return done.layers[-1].output


def one(layer: Layer, **options: Any) -> Network:
    """Return a network of one layer on one feature that outputs its sequence."""
    return Network(input=1, layers=(layer,), topology="many-to-many", **options)


@given(network(steps=True) | encoder_decoder())
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
    monkeypatch.setattr("rnncalc.conventions.layout.layout", with_a_spare)
    result = call("run", "-i", 5, "-l", "rnn:3", "-T", 2)
    assert result.code == 1
    assert "✗  rnn_1" in result.out
    assert "✗ rnn_1: weights read: 27 of 30" in result.out


def test_a_pass_too_long_is_refused(call: Call) -> None:
    """Its cost and the advice are told, before anything is allocated."""
    err = refusal(call, "run", "-i", 100_000, "-l", "lstm:100000", "-T", 1000)
    assert "80,000,000,000,000 multiply-adds" in err
    assert "lower the number of steps with -T, or raise --max-multiply-adds" in err
    assert call("run", "-i", 10, "-l", "rnn:10", "-T", 10, "--max-multiply-adds", "1999").code == 2
    assert call("run", "-i", 10, "-l", "rnn:10", "-T", 10, "--max-multiply-adds", "2k").code == 0


def test_a_pass_that_takes_long_and_multiplies_little_is_refused(call: Call) -> None:
    """A million steps of one unit: 8 million multiply-adds, and the work of 400 for each of four gates a step."""
    flags = ("run", "-i", 1, "-l", "lstm:1", "-T", 1_000_000)
    cost = f"do the work of {8 * 10**6 + 4 * 400 * 10**6:,} multiply-adds"
    for limit in ((), ("--max-multiply-adds", "1G")):
        assert f"{cost}, and the limit is 1,000,000,000; lower the number" in call(*flags, *limit).err
    deep = ("run", "-i", 4, "-l", "lstm:4,repeat=1000", "--backward", "--verify")
    assert "finite differences would do the work of" in call(*deep).err


def test_states_of_very_many_steps_are_refused(call: Call) -> None:
    """Each step keeps its x and its h: two vectors of one number, some 300 bytes."""
    flags = ("run", "-i", 1, "-l", "rnn:1", "-T", 1_000_000)
    err = refusal(call, *flags, "--states", "-f", "json")
    assert re.search(
        r"the states of all steps would take about \d{3}\.\d\d MiB, and the limit is 143\.05 MiB; lower", err
    )


def test_steps_that_are_not_given() -> None:
    """Three, and it is said; in both halves of an encoder-decoder."""
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


def test_a_start_is_no_weight_and_no_multiplication() -> None:
    """The three confirmations are the same as without."""
    net = Network(input=2, layers=(LSTM(3, projection=2), GRU(2)), output=Output(2), steps=3)
    start = {"lstm_1": {"h": [1.0, 2.0], "c": [1.0, 2.0, 3.0]}, "gru_1": {"h": [1.0, 2.0]}}
    with_, without = run(net, start=start), run(net)
    assert with_.agrees
    assert with_.outputs != without.outputs
    for ours, theirs in zip(with_.layers, without.layers, strict=True):
        assert (ours.weights_read, ours.multiplications) == (theirs.weights_read, theirs.multiplications)


@given(network(steps=True))
def test_feedback_changes_no_count(spec: Spec) -> None:
    """Whatever network can have it agrees with the counts of the same one without, and its first output is the same."""
    unfit = {"embedding", "multi_head_attention", "transformer"}
    layers = [layer for layer in spec["layers"] if not unfit & {*layer}]
    while layers and not any(kind in layers[0] for kind in CELLS):
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
