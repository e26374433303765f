"""ONNX files: the tensors of graphs, what they are by who reads them, and files that lie."""

import os
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import yaml
from conftest import Call, file_at
from models.files.messages import FLOAT, INT64, attribute, field, graph, message, node, onnx, tensor

from rnncalc.bounds import MOST_SETTING
from rnncalc.errors import SpecError
from rnncalc.models.files import read
from rnncalc.models.files.model import BadFileError, Remark, RemarkKind, TensorRole
from rnncalc.models.files.protobuf import Wire

LSTM = (tensor("w", (1, 8, 3)), tensor("r", (1, 8, 2)), tensor("b", (1, 16)))
OPERATOR = node("LSTM", "x w r b", "y", name="rnn")


def test_an_operator_is_a_layer(tmp_path: Path, call: Call) -> None:
    """Under the operator's own name; it counts 4·2·(3 + 2 + 2). One without inputs is no layer."""
    path = onnx(tmp_path / "a.onnx", OPERATOR, tensors=LSTM)
    draft = {"name": "a", "convention": "onnx", "input": 3, "layers": [{"lstm": 2, "path": "rnn"}]}
    assert yaml.safe_load(call("read", path).out) == draft
    assert read(str(path)).params == 4 * 2 * (3 + 2 + 2)
    empty = node("MatMul", "", "z"), node("Conv", "", "v")
    assert read(str(onnx(path, OPERATOR, *empty, tensors=LSTM))).params == 4 * 2 * (3 + 2 + 2)


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        (attribute("clip", field(2, 0.5)), "lstm_1.clip: the sums of its gates are clipped (clip)"),
        (attribute("direction", field(4, "reverse")), "lstm_1.direction: it reads the last step first"),
        (attribute("input_forget", field(3, 1)), "lstm_1.input_forget: its forget gate is one minus its input gate"),
    ],
)
def test_what_no_spec_computes_is_not_run(tmp_path: Path, call: Call, setting: bytes, reason: str) -> None:
    """Nor does its draft pass a check; both say in one line why."""
    path = onnx(tmp_path / "a.onnx", node("LSTM", "x w r b", "y", setting, name="rnn"), tensors=LSTM)
    spec = file_at(tmp_path / "a.yaml", call("read", path).out)
    checked, done = call("check", spec, "--model", path), call("run", spec, "--weights", path)
    assert (checked.code, done.code, done.out) == (1, 2, "")
    assert f": {reason}" in checked.out
    assert f"a.onnx': {reason}" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(("place", "ways"), [(-1, 2), (-1, 1), (0, 1)])
def test_the_last_step_of_both_directions_is_not_the_last_of_each(
    tmp_path: Path, call: Call, place: int, ways: int
) -> None:
    """The backward direction's is its first; a step before the last is none that a spec takes."""
    arrays = tensor("w", (ways, 8, 3)), tensor("r", (ways, 8, 2)), tensor("at", (), struct.pack("<q", place), INT64)
    both = attribute("direction", field(4, "bidirectional" if ways == 2 else "forward"))
    cell = node("LSTM", "x w r", "y", both, name="rnn"), node("Transpose", "y", "z", turned(0, 2, 1, 3))
    sizes = tensor("sizes", (3,), struct.pack("<3q", 0, 0, -1), INT64)
    last = node("Reshape", "z sizes", "v"), node("Gather", "v at", "out", attribute("axis", field(3, 0)))
    path = onnx(tmp_path / "a.onnx", *cell, *last, tensors=[*arrays, sizes])
    draft = file_at(tmp_path / "a.yaml", call("read", path).out)
    assert call("check", draft, "--model", path).code == (place == 0)
    assert ("- dropout: 0\n  - last" in draft.read_text()) == (ways == 2)
    each = file_at(tmp_path / "b.yaml", draft.read_text().replace("  - dropout: 0\n  - last:\n", ""))
    checked, done = call("check", each, "--model", path), call("run", each, "--weights", path)
    assert (checked.code, done.code) == ((0, 0) if (place, ways) == (-1, 1) else (1, 2))


def turned(*order: int) -> bytes:
    return attribute("perm", *(field(8, axis) for axis in order))


def test_an_operator_that_is_called_again(tmp_path: Path, call: Call) -> None:
    """One layer with its parameters counted once, as often as the graph has it; it is not run."""
    square = [tensor("w", (1, 8, 2)), *LSTM[1:]]
    again = node("Squeeze", "y axis", "z"), node("LSTM", "z w r b", "v", name="again")
    path = onnx(tmp_path / "a.onnx", OPERATOR, *again, tensors=[*square, tensor("axis", (1,), bytes(8), INT64)])
    spec = file_at(tmp_path / "a.yaml", call("read", path).out)
    assert (read(str(path)).params, spec.read_text().count("lstm: 2")) == (4 * 2 * (2 + 2 + 2), 1)
    assert call("check", spec, "--model", path).code == 1
    assert "lstm_1.calls: it is called more than once" in call("run", spec, "--weights", path).err


@pytest.mark.parametrize("reads", ["x", "p"])
def test_heads_that_read_the_same_are_no_row(tmp_path: Path, call: Call, reads: str) -> None:
    """Two outputs, each of a layer of its own, whose widths would let one follow the other; or the one does."""
    layers = node("MatMul", "x m", "p", name="a"), node("MatMul", f"{reads} n", "q", name="b")
    ends = [field(12, message(field(1, name))) for name in ("q", "p")]
    path = onnx(tmp_path / "a.onnx", *layers, *ends, tensors=[tensor("m", (3, 3)), tensor("n", (3, 2))])
    spec = file_at(tmp_path / "a.yaml", call("read", path).out + "inputs: [[1, 0, 0]]\n")
    checked, done = call("check", spec, "--model", path), call("run", spec, "--weights", path)
    assert (checked.code, done.code) == ((1, 2) if reads == "x" else (0, 0))
    assert ("inputs of the model: 1, outputs: 2" in done.err) == (reads == "x")


@pytest.mark.parametrize("layer", ["external: 56, outputs: 2", "lstm: 2, extra_inputs: 1"])
def test_what_is_not_computed_is_not_run(tmp_path: Path, call: Call, layer: str) -> None:
    """With the weights of a file: an external layer would output random numbers, and so would what joins an input."""
    path = onnx(tmp_path / "a.onnx", OPERATOR, tensors=LSTM)
    spec = file_at(tmp_path / "a.yaml", f"convention: onnx\ninput: {3 - layer.count('extra')}\nlayers: [{{{layer}}}]")
    assert call("check", spec, "--model", path).code == 0
    done = call("run", spec, "--weights", path)
    assert (done.code, "is not computed here" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("parts", "tensors"),
    [
        ((node("Gemm", "x m c", "y", attribute("transB", field(3, 1)), name="fc"),), ("m", "c")),
        ((node("MatMul", "x t", "p", name="fc"), node("Transpose", "m", "t"), node("Add", "p c", "y")), ("m", "c")),
        ((node("Transpose", "m", "t"), node("MatMul", "x t", "p", name="fc"), node("Add", "c p", "y")), ("m", "c")),
    ],
)
def test_a_dense_layer_however_it_is_written(
    tmp_path: Path, call: Call, parts: tuple[bytes, ...], tensors: tuple[str, ...]
) -> None:
    """One operator with its matrix turned, or a product and a sum: the same layer, and the same numbers."""
    shapes = {"m": (2, 3), "c": (2,)}
    path = onnx(tmp_path / "a.onnx", *parts, tensors=[tensor(name, shapes[name]) for name in tensors])
    spec = tmp_path / "a.yaml"
    spec.write_text("convention: onnx\ninput: 3\nsteps: 1\nlayers: [dense: 2]\ninputs: [[64, 0, 0]]\n")
    assert call("check", spec, "--model", path).code == 0
    assert "Output: 1.01562 4.03125" in call("run", spec, "--weights", path).out  # 64·1/64 + 1/64, 64·4/64 + 2/64


def unnamed(operator: bytes) -> bytes:
    """Return an operator whose output `-` has the empty name, as one that is left out has."""
    assert operator.count(field(2, "-")) == 1
    shorter = operator.replace(field(2, "-"), field(2, ""))
    return shorter[:1] + bytes([shorter[1] - 1]) + shorter[2:]


HEAD = (tensor("g", (2, 5)), tensor("gb", (5,)))


@pytest.mark.parametrize(
    ("parts", "operator"),
    [
        ([OPERATOR, node("Squeeze", "y", "h"), node("Gemm", "h g gb", "z")], None),
        ([OPERATOR, node("Gather", "y last", "h"), node("Gemm", "h g gb", "q"), node("Relu", "q", "z")], None),
        *(([OPERATOR, node(kind, "y", "h"), node("Gemm", "h g gb", "z")], kind) for kind in ("Sin", "ReduceMean")),
        ([OPERATOR, node("Gather", "y first", "h"), node("Gemm", "h g gb", "z")], "Gather"),
        ([OPERATOR, node("Gemm", "y g gb", "q"), node("Mish", "q", "z")], "Mish"),
        ([OPERATOR, node("Gemm", "y g gb", "z", attribute("alpha", field(20, 1), field(2, 2.0)))], "Gemm with alpha"),
        ([node("Neg", "x", "n"), node("LSTM", "n w r b", "z")], "Neg"),
        ([node("Slice", "x last first first last", "n"), node("LSTM", "n w r b", "z")], "Slice"),
        ([node("LSTM", "x w r b lengths", "z")], "LSTM with sequence_lens"),
        ([node("LSTM", "x w r b", "z", attribute("hidden_size", field(20, 2), field(3, 4)))], "LSTM with hidden_size"),
        ([node("LSTM", "x w r b", "- - z")], "LSTM with Y_c"),
        ([unnamed(node("LSTM", "x w r b", "- h")), node("Gemm", "h g gb", "z")], None),
        ([node("Gather", "g x", "z", attribute("axis", field(20, 2), field(3, 1)))], "Gather with axis"),
    ],
)
def test_an_operator_that_is_part_of_no_layer(
    tmp_path: Path, call: Call, parts: list[bytes], operator: str | None
) -> None:
    """It is named, whatever it is; those that only move numbers are none."""
    places = [tensor(name, (1,), struct.pack("<q", at), INT64) for name, at in (("first", 0), ("last", -1))]
    output = field(12, message(field(1, "z")))
    whole = b"".join(parts)
    head = HEAD[: 2 * (b"gb" in whole) + (b"axis" in whole)]
    tensors = [*(LSTM if b"LSTM" in whole else ()), *head, *places]
    path = onnx(tmp_path / "a.onnx", *parts, output, tensors=tensors)
    names = [remark.names for remark in read(str(path)).remarks if remark.kind is RemarkKind.OPERATORS]
    assert names == ([(operator,)] if operator else [])
    spec = file_at(tmp_path / "a.yaml", call("read", path).out)
    assert call("check", spec, "--model", path).code == bool(operator)


def test_the_same_numbers_in_another_order_are_no_copy(tmp_path: Path) -> None:
    """But of rows or columns, or of a transpose."""
    rows = [[1.0 + (row * 7 + column) % 11 for column in range(7)] for row in range(7)]
    numbers = [number for row in rows for number in row]
    orders = {"turned": [each for row in zip(*rows, strict=True) for each in row], "mixed": sorted(numbers)}
    arrays = {"a": numbers, **orders}
    parts = [node("MatMul", f"x{name} {name}", f"y{name}") for name in arrays]
    tensors = [tensor(name, (7, 7), struct.pack("<49f", *array)) for name, array in arrays.items()]
    shared = {each.name: each.shared_with for each in read(str(onnx(tmp_path / "a", *parts, tensors=tensors))).tensors}
    assert shared == {"a": None, "turned": "a", "mixed": None}


def test_what_is_no_weight(tmp_path: Path) -> None:
    """Whole numbers, single numbers, moments of a batch norm, a state before the first step of zeros.

    Of numbers with an axis, those that PyTorch's newer exporter calls `val_` are none: a trained one keeps its name.
    """
    tensors = [
        tensor("shape", (2,), bytes(16), INT64),
        tensor("one", ()),
        tensor("val_68", (1,)),
        tensor("alpha", (1,)),
        tensor("mean", (4,)),
        tensor("var", (4,)),
        tensor("start", (1, 1, 2), bytes(8)),
        *LSTM,
    ]
    parts = [
        node("LSTM", "x w r b - start", "y"),
        node("BatchNormalization", "y b b mean var", "u"),
        node("Pow", "u one", "z"),
    ]
    parts += [node("Mul", "z val_68", "s"), node("Mul", "s alpha", "t")]
    file = read(str(onnx(tmp_path / "a.onnx", *parts, tensors=tensors)))
    assert {tensor.name: tensor.role for tensor in file.tensors} == {
        "shape": TensorRole.CONSTANT,
        "one": TensorRole.UNKNOWN,
        "val_68": TensorRole.CONSTANT,
        "alpha": TensorRole.PARAMETER,
        "mean": TensorRole.BUFFER,
        "var": TensorRole.BUFFER,
        "start": TensorRole.CONSTANT,
        **dict.fromkeys("wrb", TensorRole.PARAMETER),
    }


def test_scales_and_zero_points_are_no_weights(tmp_path: Path, call: Call) -> None:
    """Of any shape, in the operators of ONNX Runtime too; the quantised weights are said, and no run is the model's."""
    floats: dict[str, tuple[int, ...]] = {"b": (1, 16), "ws": (1, 8), "rs": (1,), "ms": (5,), "k": (5,)}
    whole: dict[str, tuple[int, ...]] = {"w": (1, 3, 8), "r": (1, 2, 8), "wz": (1, 8), "rz": (1,), "m": (2, 5)}
    whole["mz"] = (5,)
    tensors = [tensor(name, shape) for name, shape in floats.items()]
    tensors += [tensor(name, shape, bytes(prod(shape)), 3) for name, shape in whole.items()]
    parts = [
        node("DynamicQuantizeLSTM", "x w r b - - - - ws wz rs rz", "h"),
        node("DynamicQuantizeLinear", "h", "q s z"),
        node("MatMulInteger", "q m z mz", "p"),
        node("Mul", "s ms", "scales"),
        node("Mul", "p scales", "d"),
        node("Add", "d k", "y"),
    ]
    path = onnx(tmp_path / "a.onnx", *parts, tensors=tensors)
    file = read(str(path))
    assert [each.name for each in file.tensors if each.is_parameter] == ["b", "k"]
    assert file.remarks == (Remark(RemarkKind.QUANTISED, ("w", "r", "m"), (24 + 16 + 10,)),)
    spec = file_at(tmp_path / "a.yaml", call("read", path).out)
    assert ", 50 numbers in all; a run differs" in spec.read_text()
    assert (call("check", spec, "--model", path).code, call("run", spec, "--weights", path).code) == (1, 2)


@pytest.mark.parametrize(("operator", "activation"), [("Relu", "relu"), ("Sigmoid", "sigmoid"), ("Elu", None)])
def test_an_activation_behind_a_norm(tmp_path: Path, call: Call, operator: str, activation: str | None) -> None:
    """Is the norm's, and a run computes it; with one that no spec has it is refused."""
    vectors = {"scale": (0, 1, -1), "b": (0, 0.5, 0), "mean": (0, 0, 0), "var": (1, 1, 1)}
    tensors = [tensor(name, (3,), struct.pack("<3f", *numbers)) for name, numbers in vectors.items()]
    parts = node("BatchNormalization", "x scale b mean var", "n", name="bn"), node(operator, "n", "y")
    path = onnx(tmp_path / "a.onnx", *parts, tensors=tensors)
    text = call("read", path).out
    assert (f"activation: {activation}" in text, "none that a spec has" in text) == (bool(activation), not activation)
    spec = file_at(tmp_path / "a.yaml", f"{text}inputs: [[1, 2, 3]]\ntopology: many-to-many\n")
    assert call("run", spec, "--weights", path).code == (0 if activation else 2)
    if activation == "relu":
        assert "Output: 0 2.49999 0" in call("run", spec, "--weights", path).out  # 0, 2/√(1 + 10⁻⁵) + 0.5, under 0


@pytest.mark.parametrize(
    ("kind", "between", "axis", "is_active"),
    [
        ("Gemm", "", 1, True),
        ("Gemm", "", -1, True),
        ("Gemm", "", 0, False),
        ("MatMul", "Add", -1, True),
        ("MatMul", "Add", 1, False),  # of three axes, the steps or the batch
        ("MatMul", "Transpose", -1, False),
    ],
)
def test_a_softmax_of_the_features(
    tmp_path: Path, call: Call, kind: str, between: str, axis: int, is_active: bool
) -> None:
    """Behind a product is its activation; one along another axis is none that a spec has."""
    tensors = [tensor("k", (2, 2), struct.pack("<4f", 1, 0, 0, 1)), tensor("b", (2,), struct.pack("<2f", 0, 0))]
    middle = [node(between, "p b" if between == "Add" else "p", "q")] if between else []
    active = node("Softmax", "q" if between else "p", "y", attribute("axis", field(3, axis % 2**64)))
    product = node(kind, "x k b" if kind == "Gemm" else "x k", "p")
    path = onnx(
        tmp_path / "a.onnx", product, *middle, active, tensors=tensors[: 2 if kind == "Gemm" or between == "Add" else 1]
    )
    text = call("read", path).out
    assert ("activation: softmax" in text, "none that a spec has" in text) == (is_active, not is_active)
    spec = file_at(tmp_path / "a.yaml", f"{text}inputs: [[1, 1]]\ntopology: many-to-many\n")
    result = call("run", spec, "--weights", path)
    assert (result.code, "Output: 0.5 0.5" in result.out) == (0 if is_active else 2, is_active)


def test_a_trained_state_is_one(tmp_path: Path, call: Call) -> None:
    """A state before the first step that is not zeros."""
    shapes = {"w": (1, 6, 3), "r": (1, 6, 2), "b": (1, 12), "start": (1, 1, 2)}
    tensors = [tensor(name, shape) for name, shape in shapes.items()]
    path = onnx(tmp_path / "a.onnx", node("GRU", "x w r b - start", "y"), tensors=tensors)
    assert yaml.safe_load(call("read", path).out)["layers"] == [{"gru": 2, "learned_state": True, "path": "w"}]


def test_constants_are_weights_too(tmp_path: Path) -> None:
    """As some exporters write them; a single number is none, nor are axes."""
    values = {"k": tensor("", (3, 2)), "one": tensor("", (1,)), "axes": tensor("", (2,), bytes(16), INT64)}
    parts = [node("Constant", "", name, attribute("value", field(5, value))) for name, value in values.items()]
    file = read(str(onnx(tmp_path / "a.onnx", *parts, node("MatMul", "x k", "y"))))
    roles = {"k": TensorRole.PARAMETER, "one": TensorRole.CONSTANT, "axes": TensorRole.CONSTANT}
    assert {tensor.name: tensor.role for tensor in file.tensors} == roles
    assert (file.params, file.remarks) == (6, ())


def test_weights_within_loops_are_counted(tmp_path: Path, call: Call) -> None:
    """With those outside that the loop reads, as one external layer: what it computes is not read."""
    body = graph(node("MatMul", "x w", "a"), node("MatMul", "h r", "b"), tensors=[tensor("r", (2, 2))])
    parts = [
        node("Loop", "s c h", "o", attribute("body", field(6, body)), name="cell"),
        node("MatMul", "o m", "y", name="fc"),
    ]
    path = onnx(tmp_path / "a.onnx", *parts, tensors=[tensor("w", (3, 2)), tensor("m", (2, 5))])
    assert [(each.kind, each.names) for each in read(str(path)).remarks] == [(RemarkKind.LOOPS, ("cell",))]
    told = yaml.safe_load(call("read", path).out)
    assert told["layers"] == [{"external": {"w": [3, 2], "r": [2, 2]}}]
    assert told["output"] == {"units": 5, "bias": False, "path": "fc"}


def test_the_larger_branch_is_counted(tmp_path: Path, call: Call) -> None:
    """Each is listed, wherever its weights are stored and whatever they are called; what both read is counted once."""

    def branch(units: int, matrix: str) -> bytes:
        kernel = tensor("", (2, units))
        parts = [node("Constant", "", "k", attribute("value", field(5, kernel)))]
        parts += [node("MatMul", "x both", "a", name=f"first_{matrix}"), node("MatMul", "a k", "b", name="second")]
        return graph(*parts, node("MatMul", f"b {matrix}", "y", name="third"))

    branches = {"then": branch(4, "small"), "else": branch(5, "large")}
    parts = node(
        "If", "c", "y", *(attribute(f"{way}_branch", field(6, each)) for way, each in branches.items()), name="if"
    )
    tensors = [tensor("both", (3, 2)), tensor("small", (4, 1)), tensor("large", (5, 3))]
    path = onnx(tmp_path / "a.onnx", parts, tensors=tensors)
    file = read(str(path))
    assert file.params == 3 * 2 + 2 * 5 + 5 * 3
    assert {each.name: each.role.value for each in file.tensors} == {
        **dict.fromkeys(("both", "else_branch of if/k", "large"), "parameter"),
        **dict.fromkeys(("k", "small"), "other branch"),
    }
    text = call("read", path).out
    assert "largest is counted and drafted: else_branch of if (25) and then_branch of if (12)." in text
    assert "Several branches read, or store number for number, the same both." in text
    assert [layer["dense"] for layer in yaml.safe_load(text)["layers"]] == [2, 5]


def test_a_table_that_is_stored_transposed_too_is_tied(tmp_path: Path, call: Call) -> None:
    """An exporter that folds constants writes the matrix of a tied output so; two equal matrices are two layers'."""
    numbers = [place / 64 for place in range(8 * 6)]
    turned = struct.pack("<48f", *(numbers[6 * row + column] for column in range(6) for row in range(8)))
    parts = [node("Gather", "e x", "y", name="table"), node("MatMul", "y t", "z", name="head")]
    tensors = [tensor("e", (8, 6), struct.pack("<48f", *numbers)), tensor("t", (6, 8), turned)]
    path = onnx(tmp_path / "a.onnx", *parts, tensors=tensors)
    assert read(str(path)).params == 48
    assert yaml.safe_load(call("read", path).out)["output"] == {"units": 8, "bias": False, "tied": True, "path": "head"}
    pair = [tensor("k", (6, 6)), tensor("l", (6, 6))]
    parts = [node("MatMul", "x k", "y", name="one"), node("MatMul", "y l", "z", name="two")]
    assert read(str(onnx(tmp_path / "b.onnx", *parts, tensors=pair))).params == 72


def test_second_biases_of_zeros_are_said(tmp_path: Path) -> None:
    """Exporters of frameworks with one bias put them there; the operator has them all the same."""
    biases = tensor("b", (1, 16), struct.pack("<16f", *[1] * 8, *[0] * 8))
    file = read(str(onnx(tmp_path / "a.onnx", OPERATOR, tensors=[*LSTM[:2], biases])))
    assert [remark.kind for remark in file.remarks] == [RemarkKind.ZEROS]
    assert file.params == 4 * 2 * (3 + 2 + 2)


TYPES = {"FLOAT": 1, "INT": 2, "STRING": 3, "FLOATS": 6, "INTS": 7, "STRINGS": 8}
"""AttributeProto.AttributeType, as onnx.proto numbers it; field 20 of an attribute has it."""


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("FLOAT", (field(2, 0.0),), [0.0]),
        ("FLOAT", (field(2, 0.5),), [0.5]),
        ("INT", (field(3, 0),), [0]),
        ("STRING", (field(4, ""),), [""]),
        ("FLOAT", (), [0.0]),  # what proto3 writes of the value 0.0, and so on: nothing
        ("INT", (), [0]),
        ("STRING", (), [""]),
        ("FLOATS", (), []),
        ("INTS", (), []),
        ("STRINGS", (), []),
        ("FLOATS", (field(7, struct.pack("<2f", 0, 1)),), [0.0, 1.0]),  # packed
        ("FLOATS", (field(7, 0.0), field(7, 1.0)), [0.0, 1.0]),  # and not
        ("INTS", (field(8, bytes([0, 1])),), [0, 1]),
        ("INTS", (field(8, 0), field(8, 1)), [0, 1]),
        ("STRINGS", (field(9, ""), field(9, "Tanh")), ["", "Tanh"]),
    ],
)
def test_the_type_of_an_attribute_says_what_it_is(
    tmp_path: Path, kind: str, fields: tuple[bytes, ...], expected: list[Any]
) -> None:
    """A list without entries and a value that proto3 leaves out are there; a longer one than is read is left out."""
    long = field(9, "x" * (MOST_SETTING + 1)) if kind == "STRINGS" else field(8, bytes(MOST_SETTING + 1))
    typed = field(20, TYPES[kind])
    settings = attribute("this", *fields, typed), attribute("long", *fields, typed, long)
    path = onnx(tmp_path / "a.onnx", node("LSTM", "x w r b", "y", *settings), tensors=LSTM)
    (module,) = read(str(path)).modules
    assert module.settings == {"this": expected}


def external(name: str, location: str, offset: int = 0, shape: int = 4) -> bytes:
    said = {"location": location, "offset": str(offset), "length": str(4 * shape)}
    pairs = [field(13, message(field(1, key), field(2, value))) for key, value in said.items()]
    return message(field(1, shape), field(2, FLOAT), field(8, name), *pairs, field(14, 1))


def test_numbers_in_a_file_beside(tmp_path: Path) -> None:
    """From the place that the tensor says."""
    (tmp_path / "a.data").write_bytes(bytes(4) + struct.pack("<4f", 1, 2, 3, 4))
    (one,) = read(str(onnx(tmp_path / "a.onnx", tensors=[external("w", "a.data", 4)]))).tensors
    assert one.read() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (external("w", "../a.data"), "in ../a.data, which is not in its folder"),
        (external("w", "/etc/passwd"), "in /etc/passwd, which is not in its folder"),
        (external("w", "link"), "in link, which is not in its folder"),
        (external("w", "a\0b"), "which is not in its folder"),
        (external("w", "gone"), "in gone: no such file or directory"),
        (external("w", "short"), "in short, which has not the bytes it needs"),
        (tensor("w", (2**40,), bytes(8)), "says that w has 1,099,511,627,776 numbers, and holds 2"),
        (tensor("w", (2**63,), bytes(8)), "is not a tensor"),
        (tensor("w", (3,), bytes(8)), "says that w has 3 numbers, and holds 2"),
        (tensor("w" * 20_000, (1,)), "a name of more than 10,000 characters"),
    ],
)
def test_a_tensor_that_lies(tmp_path: Path, told: bytes, said: str) -> None:
    """Its numbers are above the folder, anywhere, behind a link, nowhere, too few, or not as many as it says."""
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "short").write_bytes(bytes(15))
    with pytest.raises(SpecError, match=said):
        read(str(onnx(tmp_path / "a.onnx", tensors=[told])))


def whole(path: Path, inner: bytes) -> Path:
    """Write a file of a graph as it is."""
    path.write_bytes(message(field(1, 10), field(7, inner), field(8, message(field(2, 22)))))
    return path


def test_branches_to_no_end(tmp_path: Path) -> None:
    """Are not gone into."""
    inner = graph()
    for _ in range(2_000):
        inner = graph(node("If", "c", "y", attribute("then_branch", field(6, inner))))
    remarks = read(str(whole(tmp_path / "a.onnx", inner))).remarks
    assert [remark.names for remark in remarks] == [("If",)] * 2  # and it is part of no layer


def test_branches_within_branches_may_use_the_same_names(tmp_path: Path) -> None:
    """Each has a matrix of its own; the largest branch of each counts once."""
    inner = graph(node("MatMul", "x m", "y"), tensors=[tensor("m", (3, 3))])
    for _ in range(3):
        ways = (attribute(word, field(20, 5), field(6, inner)) for word in ("then_branch", "else_branch"))
        inner = graph(node("If", "c", "y", *ways))
    assert read(str(whole(tmp_path / "a.onnx", inner))).params == 9


def test_two_tensors_of_one_name(tmp_path: Path) -> None:
    """Refused: nothing says which of them is read."""
    constant = node("Constant", "", "w", attribute("value", field(5, tensor("", (2,)))))
    for parts, tensors in (((), ["w", "w"]), ((constant,), ["w"])):
        with pytest.raises(SpecError, match="holds two tensors of the name w"):
            read(str(onnx(tmp_path / "a.onnx", *parts, tensors=[tensor(name, (2,)) for name in tensors])))


def test_a_matrix_that_is_turned_again_and_again(tmp_path: Path) -> None:
    """Is read as it is stored, or turned once: 3,000 operators in a row end as one or two do."""
    for times, turned in ((3_000, False), (3_001, True)):
        parts = [node("Transpose", "m", "m")] * times
        path = onnx(tmp_path / "a.onnx", *parts, node("MatMul", "x m", "y"), tensors=[tensor("m", (2, 1))])
        (module,) = read(str(path)).modules
        assert module.tensors["B"].read() == ([[1 / 64, 2 / 64]] if turned else [[1 / 64], [2 / 64]])


def steps_of(work: Callable[[], object]) -> int:
    """Return how many lines of Python a piece of work runs."""
    found = 0

    def step(_frame: FrameType, _event: str, _of: Any) -> Any:
        nonlocal found
        found += 1
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        work()
    finally:
        sys.settrace(before)
    return found


@pytest.mark.broad
@pytest.mark.parametrize("product", ["MatMul", "LSTM"])
def test_more_tensors_and_operators_are_no_more_work_each(tmp_path: Path, product: str) -> None:
    """Twice as many are twice the work, and all are counted."""
    paths = {}
    for times in (300, 600):
        parts = [node(product, f"x w{place} w{place}", "y") for place in range(times)]
        tensors = [tensor(f"w{place}", (1,)) for place in range(times)]
        paths[times] = str(onnx(tmp_path / f"{times}.onnx", *parts, tensors=tensors))
        assert read(paths[times]).params == times
    once, twice = (steps_of(lambda path=path: read(path)) for path in paths.values())  # type: ignore[misc]
    assert twice < 2.2 * once


def test_numbers_of_a_file_are_looked_at_once(tmp_path: Path) -> None:
    """A vector of biases that many operators read, and states in one file beside that are all the same bytes."""
    (tmp_path / "a.data").write_bytes(bytes(4 * 10_000))
    states = [external(f"s{place}", "a.data", shape=10_000) for place in range(200)]
    parts = [node("LSTM", f"x w r b - s{place}", "y") for place in range(200)]
    path = onnx(tmp_path / "a.onnx", *parts, tensors=[*LSTM, *states])
    roles = [tensor.role for tensor in read(str(path)).tensors if tensor.name.startswith("s")]
    assert (
        roles == [TensorRole.CONSTANT] * 100 + [TensorRole.PARAMETER] * 100
    )  # a million numbers of zeros are looked at


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("target", ["pipe", "/dev/zero"])
def test_a_pipe_beside_a_model_is_not_waited_for(tmp_path: Path, target: str) -> None:
    """Nor a device, even of a tensor that has no numbers."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(target)
    start = external("start", "link", shape=0)
    path = onnx(tmp_path / "a.onnx", node("LSTM", "x w r b - start", "y"), tensors=[*LSTM, start])
    command = [sys.executable, "-m", "rnncalc", "read", str(path)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=30, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "keeps start in link" in done.stderr


def test_a_file_that_is_cut_while_it_is_read(tmp_path: Path) -> None:
    """One line, where a mapped file would end the process."""
    path = tmp_path / "a"
    path.write_bytes(bytes(100_000))
    with path.open("rb") as file:
        wire = Wire(file)
        assert wire.bytes(range(90_000, 90_004)) == bytes(4)
        os.truncate(path, 20_000)
        with pytest.raises(BadFileError, match="is truncated"):
            wire.bytes(range(50_000, 50_004))
    (tmp_path / "a.data").write_bytes(bytes(16))
    (one,) = read(str(onnx(tmp_path / "a.onnx", tensors=[external("w", "a.data")]))).tensors
    os.truncate(tmp_path / "a.data", 8)
    with pytest.raises(BadFileError, match="is truncated"):
        one.read()


STEPS: Mapping[str, tuple[int, ...]] = {"w": (3, 2), "r": (2, 2), "b": (2,), "m": (2, 5)}
COPY, ZEROS, OTHERS = struct.pack("<2f", 1 / 64, 2 / 64), bytes(8), struct.pack("<2f", 1, 2)


def written_out(path: Path, start: bytes, activation: str = "Tanh") -> Path:
    """Write three steps of a cell and a product behind them; `start` is what the first makes of the state of zeros."""
    parts = [node("MatMul", "x w", "a", name="fed"), node("Add", "s a", "p0"), node(activation, "p0", "h0")]
    for step in (1, 2):
        parts += [
            node("MatMul", f"h{step - 1} r", f"q{step}", name=f"back_{step}"),
            node("Add", f"q{step} b", f"u{step}"),
            node("Add", f"u{step} a", f"p{step}"),
            node(activation, f"p{step}", f"h{step}"),
        ]
    tensors = [tensor(name, shape) for name, shape in STEPS.items()]
    parts.append(node("MatMul", "h2 m", "y", name="fc"))
    return onnx(path, *parts, tensors=[*tensors, tensor("s", (1, 1, 2), start)])


@pytest.mark.parametrize("start", [COPY, ZEROS], ids=["copy", "zeros"])
@pytest.mark.parametrize("activation", ["Tanh", "Relu"])
def test_steps_in_a_row_are_a_cell(tmp_path: Path, call: Call, start: bytes, activation: str) -> None:
    """The matrix that is multiplied with its own product's outcome is external; what was made of zeros is no weight."""
    path = written_out(tmp_path / "a.onnx", start, activation)
    spec = file_at(tmp_path / "a.yaml", call("read", path).out)
    told = yaml.safe_load(spec.read_text())
    assert [(layer.get("dense"), layer.get("external")) for layer in told["layers"]] == [
        (2, None),
        (None, {"r": [2, 2], "b": [2]}),
    ]
    assert told["output"] == {"units": 5, "bias": False, "path": "fc"}
    assert read(str(path)).params == 3 * 2 + 2 * 2 + 2 + 2 * 5
    assert call("check", spec, "--model", path).code == 0
    assert "no layer that is known here: back_1" in spec.read_text()


@pytest.mark.parametrize(
    ("start", "activation"), [(OTHERS, "Tanh"), (COPY, "Identity"), (ZEROS, "Softmax")], ids=["others", "copy", "zeros"]
)
def test_another_row_is_a_weight(tmp_path: Path, start: bytes, activation: str) -> None:
    """One with numbers of its own, or before what is no activation of a cell."""
    roles = {each.name: each.role for each in read(str(written_out(tmp_path / "a.onnx", start, activation))).tensors}
    assert roles["s"] is TensorRole.PARAMETER


def test_a_matrix_for_two_inputs_is_a_layer(tmp_path: Path, call: Call) -> None:
    """Read twice side by side, it is no cell: one dense layer, which is used twice."""
    parts = [node("MatMul", f"{x} m", f"{x}m", name=f"of_{x}") for x in "xz"]
    path = onnx(tmp_path / "a.onnx", *parts, node("Add", "xm zm", "y"), tensors=[tensor("m", (3, 2))])
    assert "external" not in call("read", path).out
    assert read(str(path)).params == 6
