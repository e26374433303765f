"""Answers that are shapes of outputs and states. What is right is asked of the frameworks in `conformance`."""

import re
from typing import Any

import pytest
from case_files import cases
from conftest import Call
from strategies import network_of

from rnncalc import GRU, LSTM, CallError, Conv1D, Flatten, Layer, Network, Pool1D, RepeatVector, answer
from rnncalc.answers.reading import GivenShape
from rnncalc.answers.returned import MISTAKES, _arrays_called
from rnncalc.conventions import CONVENTIONS
from rnncalc.questions.shapes import shapes

PYTORCH = Network(
    input=10, layers=[LSTM(16, bidirectional=True, repeat=2)], output=5, steps=7, topology="many-to-many"
).replace(convention="pytorch")
STATES = ["h_n=(4,32,16)", "h_n = [4, 32, 16]", "h_n=4x32x16", "hn: (4, N, 16)", "c_n.shape == torch.Size([4, 3, 16])"]


@pytest.mark.parametrize("text", STATES)
def test_ways_to_write_a_state(text: str) -> None:
    """Each is right, without a remark."""
    judged = answer(PYTORCH, text)
    assert judged.right
    assert judged.sentences == ("Correct.",)


def test_orders_with_a_remark() -> None:
    """The steps in front, and no batch; the batch of one answer holds for the next."""
    assert answer(PYTORCH, "lstm_1.output=(7,32,32)").sentences[1:] == (
        "output: (7, 32, 32) is correct with the steps before the batch.",
    )
    assert "without the axis of a batch" in answer(PYTORCH, "h_n=(4,16)").sentences[1]
    assert not answer(PYTORCH, "h_n=(4,32,16)", "c_n=(4,3,16)").right
    onnx = PYTORCH.replace(convention="onnx", layers=(GRU(16, bidirectional=True),))
    assert answer(onnx, "Y_h=(3,2,16)").sentences[1:] == ("Y_h: (3, 2, 16) is correct with the batch first.",)


def diagnosed(text: str, *layers: Layer, convention: str = "keras") -> list[str]:
    """Return the ids of the mistakes in a shape of a network of 20 steps; nothing if it is right."""
    network = Network(input=6, layers=layers, steps=20, topology="many-to-many", convention=convention)
    (judged,) = answer(network, text).judged
    assert judged.right == (not judged.diagnoses)
    return [each.id for each in judged.diagnoses]


def test_a_letter_stands_for_unknown_steps_alone() -> None:
    """The batch may be a letter; the steps may not where the network gives them."""
    assert diagnosed("output=(B,9,16)", LSTM(16)) == ["size"]
    assert diagnosed("output=(B,T,16)", LSTM(16)) == ["size"]
    assert diagnosed("output=(B,20,16)", LSTM(16)) == diagnosed("output=(20,B,16)", LSTM(16)) == []
    unknown = Network(input=6, layers=[LSTM(16)], topology="many-to-many", convention="keras")
    assert answer(unknown, "output=(B,T,16)").right
    assert answer(unknown, "output=(B,9,16)").right


@pytest.mark.parametrize("convention", ["keras", "textbook"])
def test_a_window_shortens_a_sequence(convention: str) -> None:
    """Also in the textbook, where other layers are written at one step: a convolution has no step of its own."""
    long, halved = Conv1D(16, kernel=5), Conv1D(16, kernel=5, stride=2)
    for right in ("(B,16,16)", "(16,16)", "(3,16,16)"):
        assert diagnosed(f"output={right}", long, convention=convention) == []
    for wrong in ("(B,20,16)", "(20,16)"):
        assert diagnosed(f"output={wrong}", long, convention=convention)[0] == "same-steps"
    assert diagnosed("output=(B,20,6)", Pool1D(2), convention=convention) == ["same-steps"]
    assert diagnosed("output=(B,20,16)", halved, convention=convention) == ["same-steps"]
    assert diagnosed("output=(B,16,16)", halved, convention=convention)[0] == "no-stride"
    assert diagnosed("output=(B,10,16)", halved, convention=convention) == ["no-window"]
    same = Conv1D(16, kernel=5, stride=2, padding="same")
    assert diagnosed("output=(B,20,16)", same, convention=convention) == ["same-steps"]


def test_a_flatten_puts_all_steps_side_by_side() -> None:
    """The steps kept apart, or one of them alone."""
    layers = (Conv1D(16, kernel=5), Flatten(), RepeatVector(3))
    for wrong in ("(B,16,16)", "(16,16,16)", "(B,16)"):
        assert diagnosed(f"flatten_1.output={wrong}", *layers) == ["not-flattened"]
    assert diagnosed("flatten_1.output=(B,256)", *layers) == []


def test_a_projection_and_a_stack() -> None:
    """The output and h are as wide as the projection, c is not; layers that are stacked are in front."""
    narrow = PYTORCH.replace(layers=(LSTM(16, projection=5, repeat=2),), output=None)
    assert answer(narrow, "c_n=(2,3,16)", "h_n=(2,3,5)").right
    found = [each.diagnoses[0].id for each in answer(narrow, "output=(3,7,16)", "h_n=(1,3,5)").judged]
    assert found == ["no-projection", "one-layer"]


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_shape_of_the_report_is_right(name: str) -> None:
    """What `count --shapes` shows for a batch is a right answer, under every convention."""
    network = Network(input=3, layers=[LSTM(4, bidirectional=True), GRU(5)], output=2, steps=6, convention=name)
    for module in shapes(network, 7).modules:
        for of, array in module.returns.items():
            assert answer(network, f"{module.places[0].name}.{of}={tuple(array.values())}".replace("'", "")).right


def test_an_array_that_is_returned_has_no_parameters(call: Call) -> None:
    """Nor a number in their place."""
    flags = ("answer", "-i", 3, "-l", "gru:4", "-c", "pytorch")
    assert '"params": [null]' in call(*flags, "h_n=(2,B,4)", "-f", "json").out
    assert call(*flags, "h_n=(1,B,4)").code == 0


@pytest.mark.parametrize("case", cases("answers/returned.yaml"), ids=lambda case: str(case["network"]))
def test_the_arrays_that_a_mistake_gives(case: dict[str, Any]) -> None:
    """Their axes and sizes, behind what fills the sentence; the likeliest mistake is told first."""
    network = network_of(case["network"])
    for name, mistakes in case["arrays"].items():
        array, *_ = _arrays_called(network, shapes(network).modules, GivenShape((), name=name), ())
        for key, expected in mistakes.items():
            ((sentence, wrong),) = ((row.text, row.change) for row in MISTAKES if row.id == key)
            names = re.findall(r"{(\w+)}", sentence)
            texts = [
                ", ".join(at.values[name] for name in names)
                + ": " * bool(names)
                + " ".join([at.axes, *map(str, at.array.values())])
                for at in wrong(array)
            ]
            assert texts == expected, (name, key)
    for text, first in case.get("named", {}).items():
        (judged,) = answer(network, text).judged
        assert not judged.right
        assert judged.diagnoses[0].id == first, text


def test_what_is_free_is_the_same_in_all_answers() -> None:
    """The steps of the first hold for the third, though the second has none."""
    network = Network(input=3, layers=[LSTM(4), LSTM(2)], topology="many-to-many", convention="pytorch")
    given = ("lstm_1.output=(5,9,4)", "lstm_1.h_n=(1,5,4)", "lstm_2.output=(5,{},2)")
    first, second, third = answer(network, *given[:2], given[2].format(8)).judged
    assert (first.right, second.right, third.right) == (True, True, False)
    assert answer(network, *given[:2], given[2].format(9)).right


def test_a_batch_as_large_as_the_steps_may_be_meant_for_them() -> None:
    """A layer that returns its last step has no axis of steps; another answer may have said the batch."""
    network = Network(input=3, layers=[LSTM(4), LSTM(2)], steps=5, convention="pytorch")
    remark = "h_n: (1, 5, 2) is correct for a batch as large as the number of steps; only the last step is returned."
    assert answer(network, "lstm_2.h_n=(1,5,2)").sentences == ("Correct.", remark)
    assert answer(network, "lstm_2.h_n=(1,6,2)").sentences == ("Correct.",)
    assert answer(network, "lstm_1.output=(5,5,4)", "lstm_2.h_n=(1,5,2)").sentences == ("Correct.",)
    network = network.replace(steps=None)
    assert answer(network, "lstm_1.output=(7,3,4)", "lstm_2.h_n=(1,3,2)").right  # the steps are before the batch


def test_a_sequence_of_onnx_may_have_the_batch_first() -> None:
    """Where the directions are between the steps and the batch, too."""
    onnx = PYTORCH.replace(convention="onnx", output=None, layers=(LSTM(16, bidirectional=True),))
    assert answer(onnx, "Y=(3,7,2,16)").sentences[1:] == ("Y: (3, 7, 2, 16) is correct with the batch first.",)
    assert answer(onnx, "Y=(7,2,3,16)").sentences == ("Correct.",)


@pytest.mark.parametrize("label", ["k" * 2_000, f"{'k' * 2_000}_1", f"lstm_{'9' * 2_000}", "W." * 900 + "W"])
def test_a_long_label_is_cut_in_its_message(label: str) -> None:
    with pytest.raises(CallError) as refused:
        answer(Network(input=8, layers=(LSTM(16), LSTM(16))), f"{label} = 7")
    assert len(str(refused.value)) < 600
