"""Conventions: published counts, what each can express, and what is told of their differences."""

import json

import pytest
from conftest import Call, report_of

from rnncalc import (
    GRU,
    LSTM,
    MGU,
    RNN,
    SRU,
    Cell,
    ConvLSTM,
    Dense,
    Dropout,
    Embedding,
    External,
    FastGRNN,
    Layer,
    LayerNorm,
    Network,
    SpecError,
)
from rnncalc.conventions import CONVENTIONS, convention, lacks
from rnncalc.conventions.layout import layout
from rnncalc.conventions.rules import restricted
from rnncalc.conventions.tensor import StackedAxis
from rnncalc.layers.cell import Habits
from rnncalc.text import all_of

# Measured on torch 2.13.0, keras 3.15.1, flax 0.12.8 and onnxruntime 1.31.1 for input 8 and hidden 16.
MEASURED = {
    "textbook": (400, 1_200, 1_600),
    "pytorch": (416, 1_248, 1_664),
    "keras": (400, 1_248, 1_600),
    "flax-linen": (400, 1_216, 1_600),
    "flax-nnx": (400, 1_200, 1_600),
    "onnx": (416, 1_248, 1_664),
}


def params(layer: Layer, convention: str) -> int:
    return Network(input=8, layers=(layer,), convention=convention).params


@pytest.mark.parametrize("convention", MEASURED)
def test_one_layer_counts_what_the_framework_allocates(convention: str) -> None:
    """The three cells, against the measured numbers."""
    assert tuple(params(layer, convention) for layer in (RNN(16), GRU(16), LSTM(16))) == MEASURED[convention]


def test_options_count_what_the_frameworks_allocate() -> None:
    """Stacks, directions and projections, against the measured numbers."""
    assert params(GRU(16, reset_after=False), "keras") == 1_200
    assert params(MGU(16), "flax-linen") == 816
    assert params(LSTM(16, bidirectional=True), "keras") == 3_200
    assert params(LSTM(16, bidirectional=True, repeat=2), "pytorch") == 9_728
    assert params(LSTM(16, projection=4), "pytorch") == 960
    assert params(LSTM(16, projection=4, bidirectional=True, repeat=2), "pytorch") == 3_840


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
        ("onnx", MGU(4), "onnx has no mgu; {} have it", "textbook flax-linen"),
        (
            "flax-nnx",
            GRU(4, bias=False),
            "flax-nnx cannot express bias: false; {} can",
            "textbook pytorch keras onnx",
        ),
        (
            "pytorch",
            LSTM(4, projection=4),
            "pytorch projects to fewer numbers than there are units, 4, got 4; give fewer, or remove it",
            "textbook",
        ),
        (
            "onnx",
            LSTM(4, bidirectional=True, merge="sum"),
            "onnx cannot express merge: sum; {} can",
            "textbook pytorch keras flax-linen flax-nnx",
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


def test_what_is_written_after_a_module_is_no_obstacle() -> None:
    """PyTorch's modules concatenate; who sums the directions does it behind nn.LSTM, and the next layer reads h."""
    for merge in ("sum", "mul", "ave"):
        layer = LSTM(16, bidirectional=True, merge=merge)
        assert params(layer, "pytorch") == 3_328  # 2 × 4 × 16 × (8 + 16 + 2)
        stacked = Network(input=8, layers=(layer, LSTM(16)), convention="pytorch")
        assert stacked.params == 3_328 + 2_176  # 4 × 16 × (16 + 16 + 2)


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
    with pytest.raises(SpecError, match=r"layers\[0\].layer_norm: keras has no layer_norm; "):
        Network(input=3, layers=(LayerNorm(),), convention="keras")


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_dropout_layer_is_no_obstacle(convention: str) -> None:
    """What a framework expresses outside its recurrent layers is no error."""
    Network(input=8, layers=(LSTM(4), Dropout(0.5), LSTM(4)), convention=convention)


def test_every_difference_has_its_sentence(call: Call) -> None:
    """One column a convention; the sentences add up to the differences of the totals."""
    (report,) = json.loads(call("-i", 8, "-l", "gru:16", "-l", "lstm:16", "--all-conventions", "-f", "json").out)[
        "reports"
    ]
    base = report["params"]["textbook"]
    for name, count in report["params"].items():
        told = [each for each in report["differences"] if each["convention"] == name]
        assert count == base + sum(each["params"] for each in told)
        assert count == sum(layer["params"][name] for layer in report["layers"])
    (gru, _) = (each for each in report["differences"] if each["convention"] == "pytorch")
    assert gru["text"] == "48 more in gru_1 than the textbook, biases of 6h instead of 3h (bias_ih_l0, bias_hh_l0)"


def test_what_cannot_be_counted_is_null_with_a_reason(call: Call) -> None:
    """A peephole LSTM exists in the textbook and in ONNX alone."""
    report = report_of(call, "-i", 8, "-l", "lstm:4,peepholes", "--all-conventions")
    assert {name for name, count in report["params"].items() if count is None} == {*report["reasons"]}
    assert report["params"]["onnx"] == 4 * 4 * (8 + 4 + 2) + 3 * 4
    assert report["reasons"]["keras"] == "keras cannot express peepholes: true; textbook and onnx can"


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


def of_gates(line: str, gates: str) -> list[str]:
    """Return a line for each gate, its letter in place of {}."""
    return [line.format(letter) for letter in gates]


@pytest.mark.parametrize(
    ("layer", "convention", "notation", "lines"),
    [
        (
            LSTM(3, projection=2, peepholes=True, layer_norm=True, learned_state=True),
            *("textbook", None),
            [
                *of_gates("W_x{0} h×m input {0}", "ifgo"),
                *of_gates("W_h{0} h×p recurrent {0}", "ifgo"),
                *of_gates("b_{0} h bias {0}", "ifgo"),
                *of_gates("gamma_{0} h gain {0}", "ifgo"),
                *of_gates("w_c{0} h peephole {0}", "ifo"),
                *("W_hp p×h projection", "gamma_c h vector", "b_c h vector", "h_0 p state", "c_0 h state"),
            ],
        ),
        (
            LSTM(3, bidirectional=True, peepholes=True),
            *("onnx", None),
            [
                "W 2×4h×m input iofg both",
                "R 2×4h×h recurrent iofg both",
                "B 2×8h bias iofg both",
                "P 2×3h peephole iof both",
            ],
        ),
        (
            ConvLSTM(2, kernel=3, space=(4, 5)),
            *("keras", None),
            ["kernel k×k×m×4h input ifgo", "recurrent_kernel k×k×h×4h recurrent ifgo", "bias 4h bias ifgo"],
        ),
        (
            ConvLSTM(2, kernel=3, space=(4,)),
            *("textbook", None),
            [
                *of_gates("W_x{0} h×m×k input {0}", "ifgo"),
                *of_gates("W_h{0} h×h×k recurrent {0}", "ifgo"),
                *of_gates("b_{0} h bias {0}", "ifgo"),
            ],
        ),
        (
            LSTM(3, peepholes=True),
            *("onnx", "uvw"),
            [
                *of_gates("U_{0} h×m input {0}", "ifgo"),
                *of_gates("W_{0} h×h recurrent {0}", "ifgo"),
                *of_gates("b_x{0} h bias {0}", "ifgo"),
                *of_gates("b_h{0} h recurrent_bias {0}", "ifgo"),
                *of_gates("w_c{0} h peephole {0}", "ifo"),
            ],
        ),
        (RNN(3), "textbook", "uvw", ["U h×m input h", "W h×h recurrent h", "b h bias h"]),
        (
            SRU(2, bidirectional=True),
            *("textbook", "rows"),
            [
                line
                for way in ("forward", "backward")
                for line in (
                    *of_gates(f"{way}/W_x{{0}} m×h input {{0}} {way}", "nfr"),
                    *of_gates(f"{way}/W_c{{0}} 1×h recurrent {{0}} {way}", "fr"),
                    *of_gates(f"{way}/b_{{0}} 1×h bias {{0}} {way}", "fr"),
                )
            ],
        ),
        (
            GRU(3),
            *("keras", "stacked"),
            [
                *of_gates("W_{0} h+m×h kernel {0}", "zr"),
                *("W_xn m×h input n", "W_hn h×h recurrent n"),
                *of_gates("b_x{0} 1×h bias {0}", "zrn"),
                *of_gates("b_h{0} 1×h recurrent_bias {0}", "zrn"),
            ],
        ),
        (
            GRU(3),
            *("keras", "stacked-gates"),
            [
                *("W_zr h+m×2h kernel zr", "W_xn m×h input n", "W_hn h×h recurrent n"),
                *("b_xzr 1×2h bias zr", "b_xn 1×h bias n"),
                *("b_hzr 1×2h recurrent_bias zr", "b_hn 1×h recurrent_bias n"),
            ],
        ),
        (
            LSTM(3),
            *("pytorch", "stacked-gates"),
            ["W h+m×4h kernel ifgo", "b_x 1×4h bias ifgo", "b_h 1×4h recurrent_bias ifgo"],
        ),
        (
            SRU(3),
            *("textbook", "stacked-gates"),
            [
                "W m×4h kernel nfrs",
                *of_gates("W_c{0} 1×h recurrent {0}", "fr"),
                *of_gates("b_{0} 1×h bias {0}", "fr"),
            ],
        ),
        (
            FastGRNN(3),
            *("textbook", "stacked"),
            ["W h+m×h kernel zn", *of_gates("b_{0} 1×h bias {0}", "zn"), "zeta 1 scalar", "nu 1 scalar"],
        ),
        (RNN(3), "textbook", "columns", ["W_h h×h+m kernel h", "b_h h bias h"]),
        (RNN(3), "textbook", "stacked", ["W_h h+m×h kernel h", "b_h 1×h bias h"]),
    ],
    ids=str,
)
def test_the_tensors_in_order(layer: Cell, convention: str, notation: str | None, lines: list[str]) -> None:
    """Each with its axes in letters, what it is, the gates in it, and the direction of a layer that has two."""
    assert written(layer, convention, notation) == lines
