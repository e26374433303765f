"""Conventions: what each can express, and the tensors of a layer under each."""

from pathlib import Path

import pytest
from conftest import Call

import rnncalc
from rnncalc import GRU, LSTM, MGU, RNN, Cell, Dense, Dropout, Embedding, External, Layer, LayerNorm, Network, SpecError
from rnncalc.conventions import CONVENTIONS, convention, lacks
from rnncalc.conventions.layout import layout
from rnncalc.conventions.rules import restricted
from rnncalc.conventions.tensor import StackedAxis
from rnncalc.layers.cell import Habits
from rnncalc.words import all_of


def params(layer: Layer, convention: str) -> int:
    return Network(input=8, layers=(layer,), convention=convention).params


@pytest.mark.parametrize(
    ("convention", "layer", "message", "can"),
    [
        ("keras", LSTM(4, peepholes=True), "keras cannot express peepholes: true; {} can", "textbook onnx"),
        ("pytorch", RNN(4, recurrence="diagonal"), "pytorch cannot express recurrence: diagonal; {} can", "textbook"),
        (
            "pytorch",
            GRU(4, reset_after=False),
            "pytorch cannot express reset_after: false; {} can",
            "textbook keras onnx",
        ),
        ("onnx", MGU(4), "no mgu of onnx is known here; {} have it", "textbook flax-linen"),
        ("flax-nnx", GRU(4, bias=False), "flax-nnx cannot express bias: false; {} can", "textbook pytorch keras onnx"),
        (
            "pytorch",
            LSTM(4, projection=4),
            "pytorch projects to fewer numbers than there are units, 4, got 4; give fewer, or remove it",
            "textbook",
        ),
    ],
)
def test_what_a_framework_cannot_express_is_refused_with_those_that_can(
    convention: str, layer: Cell, message: str, can: str
) -> None:
    """The message names the option, its value and the alternatives, in the order of the list."""
    able = [name for name in CONVENTIONS if not [*lacks(layer, name)]]
    assert {*can.split()} <= {*able}, able
    with pytest.raises(SpecError) as caught:
        params(layer, convention)
    assert [problem.message for problem in caught.value.problems] == [message.format(all_of(able))]


def test_an_order_may_name_gates_that_only_some_layers_have(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GRU without a reset gate is laid out by `rzn` as one with it, and an SRU with a skip by `nfrs`."""
    pytorch = convention("pytorch")
    gru = pytorch.arrays("gru")
    assert gru is not None
    only = {**gru.only, "peepholes": (True, False)}
    sru = gru.replace(order="srfn", only=only, peephole=gru.bias, habits=Habits())
    row = pytorch.replace(cells={"gru": gru.replace(only=restricted("reset_gate")), "sru": sru})
    monkeypatch.setitem(CONVENTIONS, "pytorch", row)
    assert call("-i", 3, "-l", "gru:4,reset_gate=false", "-c", "pytorch").code == 0
    for inputs in (3, 4):
        assert call("-i", inputs, "-l", "sru:4", "-c", "pytorch").code == 0


def test_a_layer_around_the_cells_that_a_convention_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that it does not name at all, and that has weights."""
    monkeypatch.setitem(CONVENTIONS, "keras", convention("keras").replace(transforms={}))
    with pytest.raises(SpecError, match=r"layers\[0\].layer_norm: no layer_norm of keras is known here; "):
        Network(input=3, layers=(LayerNorm(),), convention="keras")


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_dropout_layer_is_no_obstacle(convention: str) -> None:
    """What a framework expresses outside its recurrent layers is no error."""
    Network(input=8, layers=(LSTM(4), Dropout(0.5), LSTM(4)), convention=convention)


@pytest.mark.parametrize("layer", [Dense(3), Embedding(3), External(3)])
def test_the_tensors_of_other_layers_are_no_gates(layer: Layer) -> None:
    """They belong to no gate and no direction."""
    for tensor in layout(layer, 4, convention("pytorch")).tensors:
        assert (tensor.gates, tensor.direction) == ("", None)


def written(layer: Cell, convention: str, notation: str | None) -> list[str]:
    """Return a line for each tensor of a layer on four features: its name, axes, role, gates and direction."""
    (placed,) = Network(input=4, layers=(layer,), convention=convention, notation=notation).spelled
    return [
        " ".join(
            [
                tensor.name,
                "×".join(
                    "+".join(axis.letters)
                    if isinstance(axis, StackedAxis)
                    else f"{axis.times if axis.times > 1 or not axis.letter else ''}{axis.letter}"
                    for axis in tensor.axes
                ),
                tensor.role.value,
                *filter(None, [tensor.gates]),
                *([tensor.direction.value] if layer.bidirectional and tensor.direction else []),
            ]
        )
        for tensor in placed.tensors
    ]


NAMES = {name: getattr(rnncalc, name) for name in rnncalc.__all__}
TENSORS = Path(__file__).with_name("tensors.txt").read_text(encoding="utf-8").strip().split("\n\n")[1:]


@pytest.mark.parametrize("block", TENSORS, ids=lambda block: block.splitlines()[0])
def test_the_tensors_in_order(block: str) -> None:
    """As they are written by hand in `tensors.txt`."""
    title, *lines = block.splitlines()
    layer, _, name = title.partition(" in ")
    convention, _, notation = name.partition(", ")
    assert written(eval(layer, NAMES), convention, notation or None) == lines
