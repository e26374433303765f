"""A convention that contradicts itself is refused when it is built, with the part's name."""

import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Call

from rnncalc import LSTM, LayerNorm, Network, SpecError
from rnncalc.conventions import CONVENTIONS, convention, keras, onnx, pytorch, textbook
from rnncalc.conventions.rules import Array, CellArrays, Side, Slot, TransformArrays, Width, restricted
from rnncalc.errors import CallError, DeclarationError
from rnncalc.layers.cell import Habits

KERAS = keras.CONVENTION
assert isinstance(KERAS.cells, dict)
ARRAYS: CellArrays = KERAS.cells["lstm"]
PEEPHOLE = Array(("p_l", Slot.COPY, Slot.DIRECTION), (Width.GATED,))


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
            "keras: lstm: peephole: unused; no layer may have the option peepholes; remove it",
        ),
        (
            {"projection": Array(("P",), (Width.PROJECTED, Width.UNITS))},
            "keras: lstm: projection: unused; no layer may have the option projection; remove it",
        ),
        (
            {"recurrent_bias": Array(("c",), (Width.GATED,))},
            "keras: lstm: recurrent_bias: unused; no gate has a bias there; remove it",
        ),
        ({"both_biases": Array(("c",), (Width.TWO, Width.GATED))}, "keras: lstm: both_biases: unused"),
        (
            {"recurrent": Array(("r",), (Width.GATED,))},
            "recurrent: expected the axes READS and GATED, in any order, got GATED",
        ),
        (
            {"recurrent": Array(("r",), (Width.UNITS, Width.READS, Width.GATED))},
            "recurrent: expected the axes READS and GATED, in any order, got UNITS, READS, GATED",
        ),
        ({"input": Array(("k",), (Width.INPUTS,))}, "keras: lstm: input: its name tells the gates apart"),
        (
            {"input": Array(("k", Slot.GATE), (Width.INPUTS,))},
            "input: expected the axes INPUTS and UNITS, in any order, got INPUTS",
        ),
        ({"bias": Array(("b",), (Width.GATED, Width.INPUTS))}, "bias: expected the axes GATED, got GATED, INPUTS"),
        (
            {"side": Side.BOTH, "bias": None, "both_biases": Array(("b",), (Width.GATED,))},
            "both_biases: expected the axes TWO and GATED or TWICE_GATED, in any order, got GATED",
        ),
        ({"scalar": Array(("s",), (Width.UNITS,))}, "scalar: expected the axes ONE, got UNITS"),
        ({"input": Array("kernel", (Width.INPUTS, Width.GATED))}, "input: name: expected a tuple of texts and slots, "),  # type: ignore[arg-type]  # tested
        ({"bias": Array(("b",), Width.GATED)}, "bias: axes: expected a tuple of widths, got <Width.GATED"),  # type: ignore[arg-type]  # tested
        ({"bias": Array(("b",), ("gated",))}, r"bias: axes: expected a tuple of widths, got \('gated',\)"),  # type: ignore[arg-type]  # tested
        ({"bias": "b"}, "bias: expected an Array, got 'b'"),
        ({"side": "both"}, "side: expected a Side, got 'both'"),
        ({"sides": "io"}, "sides: expected a Mapping, got 'io'"),
        ({"sides": {"i": "both"}}, "sides: i: expected a Side, got 'both'"),
        ({"habits": {"reset_after": True}}, "habits: expected a Habits, got "),
        ({"order": ("i", "f")}, "order: expected a str, got "),
        ({"order": "ifgof"}, "order: the gate f stands there twice"),
        ({"peephole_order": "iof"}, "peephole_order: unused; no tensor holds several gates in that order"),
        (
            {
                "input": Array(("k", Slot.GATE), (Width.INPUTS, Width.UNITS)),
                "recurrent": Array(("r", Slot.GATE), (Width.READS, Width.UNITS)),
                "bias": Array(("b", Slot.GATE), (Width.UNITS,)),
            },
            "order: unused; no tensor holds several gates in that order",
        ),
        (
            {"input": Array(("k",), (Width.DIRECTIONS, Width.INPUTS, Width.GATED))},
            "input: an axis DIRECTIONS holds both directions, or names tell them apart; .* remove the axis",
        ),
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


@pytest.mark.parametrize("title", ["", None])
def test_a_convention_has_a_title(title: Any) -> None:
    """Reports and help print it."""
    with pytest.raises(DeclarationError, match=f"^keras: title: expected how people write its name, got {title!r}"):
        KERAS.replace(title=title)


def test_a_habit_that_the_cell_has_not_is_refused(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """An LSTM resets nothing; a GRU without its reset gate does not ask, and its kind does."""
    cells = {"lstm": ARRAYS.replace(habits=Habits(reset_after=True))}
    monkeypatch.setitem(CONVENTIONS, "keras", KERAS.replace(cells=cells))
    message = "keras: lstm: habits: reset_after: the step of lstm asks for no such habit; remove it"
    assert call("-i", 3, "-l", "lstm:4", "-c", "keras") == (2, "", f"rnncalc: {message}\n")
    gru = pytorch.CONVENTION.arrays("gru")
    assert gru is not None
    row = pytorch.CONVENTION.replace(cells={"gru": gru.replace(only=restricted("reset_gate"))})
    monkeypatch.setitem(CONVENTIONS, "pytorch", row)
    assert call("-i", 3, "-l", "gru:4,reset_gate=false", "-c", "pytorch").code == 0


def test_an_order_that_lacks_a_gate_is_refused_before_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ifg` leaves the output gate without a place."""
    wrong = KERAS.replace(cells={"lstm": ARRAYS.replace(order="ifg")})
    monkeypatch.setitem(CONVENTIONS, "keras", wrong)
    with pytest.raises(DeclarationError, match="keras: lstm: order: the gate o is missing"):
        _ = Network(input=3, layers=(LSTM(2),), convention="keras").params


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"order": "rznq"}, "order: no gate is called q; there are n, r and z"),
        ({"order": "rn"}, "order: the gate z is missing"),
        ({"sides": {"q": Side.BOTH}}, "sides: no gate is called q; there are n, r and z"),
        (
            {"peephole": PEEPHOLE, "peephole_order": "zf"},
            "peephole_order: no gate is called f; there are n, r and z",
        ),
    ],
)
def test_letters_that_no_gate_has(
    parts: dict[str, Any], message: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused before a number, in one line, also for a layer that lacks one of the gates itself."""
    arrays = pytorch.CONVENTION.arrays("gru")
    assert arrays is not None
    free = ("reset_gate", "peepholes") if "peephole" in parts else ("reset_gate",)
    only = {option: values for option, values in arrays.only.items() if option not in free}
    wrong = pytorch.CONVENTION.replace(cells={"gru": arrays.replace(**{"only": only, **parts})})
    monkeypatch.setitem(CONVENTIONS, "pytorch", wrong)
    assert call("-i", 3, "-l", "gru:4", "-c", "pytorch") == (2, "", f"rnncalc: pytorch: gru: {message}\n")
    if message.startswith("order: no gate"):
        assert call("-i", 3, "-l", "gru:4,reset_gate=false", "-c", "pytorch").err.endswith(f"{message}\n")


def test_an_order_may_name_gates_that_only_some_layers_have(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GRU without a reset gate is laid out by `rzn` as one with it, and an SRU with a skip by `nfrs`."""
    arrays = pytorch.CONVENTION.arrays("gru")
    assert arrays is not None
    only = {**arrays.only, "peepholes": (True, False)}
    sru = arrays.replace(order="srfn", only=only, peephole=arrays.bias, habits=Habits())
    row = pytorch.CONVENTION.replace(cells={"gru": arrays.replace(only=restricted("reset_gate")), "sru": sru})
    monkeypatch.setitem(CONVENTIONS, "pytorch", row)
    assert call("-i", 3, "-l", "gru:4,reset_gate=false", "-c", "pytorch").code == 0
    for inputs in (3, 4):
        assert call("-i", inputs, "-l", "sru:4", "-c", "pytorch").code == 0


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ({"reset_afer": (None, True)}, "reset_afer: no such option; did you mean 'reset_after'?"),
        ({"bidirektional": (False,)}, "bidirektional: no such option; did you mean 'bidirectional'?"),
        ({"reset_after": True}, "reset_after: expected a tuple of values, got True; write one"),
        ({"activation": ("tahn",)}, "activation: expected "),
        ({"bias": ("yes",)}, "bias: expected true or false, got 'yes'"),
    ],
)
def test_what_no_layer_could_be_is_not_restricted(only: dict[str, Any], message: str) -> None:
    """Misspelt options and values, in the row of a cell and in that of every cell."""
    with pytest.raises(DeclarationError) as caught:
        built({"only": {**restricted(), **only}})
    assert str(caught.value).startswith(f"keras: lstm: only: {message}")
    book = textbook.CONVENTION.cells
    assert isinstance(book, CellArrays)
    with pytest.raises(DeclarationError) as caught:
        textbook.CONVENTION.replace(cells=book.replace(only={**book.only, **only}))
    assert str(caught.value).startswith(f"textbook: only: {message}")


def test_an_option_that_is_not_restricted_cannot_be_left_out() -> None:
    """`restricted` takes the names of what it restricts."""
    with pytest.raises(DeclarationError, match=r"restricted: projektion: .*; did you mean 'projection'\?"):
        restricted("projektion")


def test_a_misspelt_habit_is_refused_by_name() -> None:
    """As every other field is."""
    with pytest.raises(CallError, match="has no 'reset_afer'; did you mean 'reset_after'"):
        Habits(reset_afer=True)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"embedding": Array(("E",), (Width.VECTOR, Width.INPUTS))},
            "embedding: expected the axes INPUTS, VECTOR, a row for each token, got VECTOR, INPUTS",
        ),
        ({"embedding": Array(("E",), (Width.VECTOR,))}, "embedding: expected the axes .*, got VECTOR$"),
        (
            {"embedding": Array(("E",), ())},
            "embedding: expected the axes INPUTS, VECTOR, a row for each token, got none$",
        ),
        (
            {"dense": KERAS.dense.replace(kernel=Array(("W",), (Width.INPUTS, Width.UNITS)))},
            "dense: kernel: expected the axes INPUTS and OUTPUTS, in either order, got INPUTS, UNITS",
        ),
        (
            {"output": KERAS.dense.replace(bias=Array(("b",), (Width.INPUTS,)))},
            "dense: bias: expected the axes OUTPUTS, got INPUTS",
        ),
        (
            {"embedding": Array(("E", "F"), (Width.INPUTS, Width.VECTOR))},
            r"embedding: name: expected one text, got \('E', 'F'\)$",
        ),
        (
            {"dense": KERAS.dense.replace(kernel=Array(("W", "V"), (Width.INPUTS, Width.OUTPUTS)))},
            r"dense: kernel: name: expected one text, got \('W', 'V'\)$",
        ),
        (
            {"dense": KERAS.dense.replace(bias=Array((Slot.GATE,), (Width.OUTPUTS,)))},
            r"dense: bias: name: expected one text, got \(<Slot.GATE: 'gate'>,\)$",
        ),
        ({"embedding": Array("E", (Width.INPUTS, Width.VECTOR))}, "embedding: name: expected a tuple of texts and "),  # type: ignore[arg-type]  # tested
        ({"dense": KERAS.dense.replace(kernel=None)}, "dense: kernel: expected an Array, got None"),
        ({"directions": ("", "")}, "directions: expected a tuple of two marks that differ, or None, got "),
        ({"directions": "ab"}, "directions: expected a tuple of two marks that differ, or None, got 'ab'$"),
        (
            {"dense": KERAS.dense.replace(bias=KERAS.dense.kernel.replace(axes=(Width.OUTPUTS,)))},
            "dense: kernel and bias have the same name, 'kernel'; rename one$",
        ),
        ({"directions": None}, "rnn: input: an axis DIRECTIONS .* directions is None: add the axis"),
        ({"renamed": {"kernal": "k"}}, "renamed: no tensor is called kernal"),
        (
            {"transforms": {**KERAS.transforms, "layer_nor": KERAS.transforms["layer_norm"]}},
            r"transforms: layer_nor: no such kind; did you mean 'layer_norm'\?$",
        ),
    ],
)
def test_what_no_such_layer_has(parts: dict[str, Any], message: str) -> None:
    """Axes, names, marks of directions; a pass would look up columns of a table whose axes are swapped."""
    with pytest.raises(DeclarationError, match=f"^keras: {message}"):
        KERAS.replace(**parts)


def test_an_array_without_a_name_is_refused_before_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a bias, in a norm; a layer that a convention does not name at all, it does not have."""
    names = {"layer_norm": TransformArrays(names={"scale": "gamma"})}
    monkeypatch.setitem(CONVENTIONS, "keras", KERAS.replace(transforms={**KERAS.transforms, **names}))
    with pytest.raises(DeclarationError, match=r"^keras: transforms: layer_norm: names: bias: missing$"):
        _ = Network(input=3, layers=(LayerNorm(),), convention="keras").params
    assert Network(input=3, layers=(LayerNorm(bias=False),), convention="keras").params == 3
    monkeypatch.setitem(CONVENTIONS, "keras", KERAS.replace(transforms={}))
    with pytest.raises(SpecError, match=r"layers\[0\].layer_norm: keras has no layer_norm; "):
        Network(input=3, layers=(LayerNorm(),), convention="keras")


def test_every_convention_of_the_list_is_its_own() -> None:
    """The name in the list is the name in the file."""
    assert [convention(name).name for name in CONVENTIONS] == [*CONVENTIONS]
    assert {textbook.CONVENTION.title, pytorch.CONVENTION.title, onnx.CONVENTION.title} == {
        "textbook",
        "PyTorch",
        "ONNX",
    }


STRANGER = "from rnncalc.conventions.keras import CONVENTION\n"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "cannot be imported: ModuleNotFoundError: No module named 'stranger'"),
        (
            "import rnncalc.nothing\n",
            "cannot be imported: ModuleNotFoundError: No module named 'rnncalc.nothing' (stranger.py, line 1)",
        ),
        ("x = 1\n", "no convention is there; write CONVENTION = Convention(...) in it"),
        (STRANGER, "the convention is called 'keras'; write name=\"stranger\" in it"),
    ],
)
def test_a_name_that_leads_to_no_convention(
    source: str | None, message: str, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list is refused in one line, with what to write."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "stranger", raising=False)
    if source is not None:
        (tmp_path / "stranger.py").write_text(source)
    monkeypatch.setitem(CONVENTIONS, "stranger", "stranger")
    where = "stranger: in rnncalc/conventions/__init__.py, 'stranger'"
    colon = "" if message.startswith("cannot") else ":"
    assert call("-i", 3, "-l", "gru:4", "-c", "stranger") == (2, "", f"rnncalc: {where}{colon} {message}\n")
