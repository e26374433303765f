"""A convention that contradicts itself is refused when it is built, with the part's name."""

from typing import Any

import pytest

from rnncalc import LSTM, Network
from rnncalc.conventions import keras, onnx, pytorch, textbook
from rnncalc.conventions.arrays import Array, CellArrays, Side, Slot, Width
from rnncalc.conventions.catalogue import CONVENTIONS, convention
from rnncalc.errors import CallError, DeclarationError

KERAS = keras.CONVENTION
assert isinstance(KERAS.cells, dict)
ARRAYS: CellArrays = KERAS.cells["lstm"]


def built(parts: dict[str, Any], kind: str = "lstm") -> None:
    KERAS.replace(cells={kind: ARRAYS.replace(**parts)})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"recurrent": None}, "keras: lstm: recurrent: missing"),
        ({"input": None}, "keras: lstm: input: missing"),
        ({"bias": None}, "keras: lstm: bias: missing"),
        ({"side": Side.BOTH}, "keras: lstm: recurrent_bias: missing"),
        ({"side": Side.RECURRENT}, "keras: lstm: recurrent_bias: missing"),
        ({"only": {}}, "keras: lstm: .*: missing"),
        (
            {"peephole": Array(("P",), (Width.GATED,))},
            "keras: lstm: peephole: unused; no gate has a bias there, and no option needs it",
        ),
        ({"recurrent_bias": Array(("c",), (Width.GATED,))}, "keras: lstm: recurrent_bias: unused"),
        ({"both_biases": Array(("c",), (Width.TWO, Width.GATED))}, "keras: lstm: both_biases: unused"),
        ({"recurrent": Array(("r",), (Width.GATED,))}, "keras: lstm: recurrent: no axis is READS"),
        ({"input": Array(("k",), (Width.INPUTS,))}, "keras: lstm: input: no axis is UNITS or GATED"),
        ({"input": Array(("k",), (Width.INPUTS, Width.UNITS))}, "keras: lstm: input: its name tells the gates apart"),
        (
            {"input": Array(("k", Slot.GATE), (Width.INPUTS, Width.GATED))},
            "keras: lstm: input: its name tells the gates apart",
        ),
    ],
)
def test_parts_that_are_missing_unused_or_wrong(parts: dict[str, Any], message: str) -> None:
    """The convention, the cell and the part are named."""
    with pytest.raises(DeclarationError, match=message):
        built(parts)


def test_an_honest_one_is_built() -> None:
    """What the cases above start from has nothing wrong."""
    built({})


def test_a_misspelt_part_is_refused_by_name() -> None:
    """In an array's row, and in the kinds of cells."""
    with pytest.raises(CallError, match="has no 'recurent'; did you mean 'recurrent'"):
        CellArrays(input=ARRAYS.input, recurent=ARRAYS.recurrent)  # type: ignore[call-arg]
    with pytest.raises(CallError, match="needs 'recurrent'"):
        CellArrays(input=ARRAYS.input)  # type: ignore[call-arg]
    with pytest.raises(DeclarationError, match=r"keras: lstn: no such kind; did you mean 'lstm'\?"):
        built({}, "lstn")


def test_an_order_that_lacks_a_gate_is_refused_before_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ifg` leaves the output gate without a place."""
    wrong = KERAS.replace(cells={"lstm": ARRAYS.replace(order="ifg")})
    monkeypatch.setitem(CONVENTIONS, "keras", wrong)
    with pytest.raises(DeclarationError, match="keras: lstm: order: the gate o is missing"):
        _ = Network(input=3, layers=(LSTM(2),), convention="keras").params


def test_every_convention_of_the_list_is_its_own() -> None:
    """The name in the list is the name in the file."""
    assert [convention(name).name for name in CONVENTIONS] == [*CONVENTIONS]
    assert {textbook.CONVENTION.title, pytorch.CONVENTION.title, onnx.CONVENTION.title} == {
        "textbook",
        "PyTorch",
        "ONNX",
    }
