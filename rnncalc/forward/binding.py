"""Which array a forward pass uses where, written by hand from each convention's documentation.

This is the second witness: it must not look at `model.conventions`. Where the two disagree, the pass finds a weight
missing, a weight unread or a shape that does not fit, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rnncalc.forward.arrays import Arrays, Matrix, Weight
from rnncalc.layers.cell import Cell

LETTERS = {"rnn": "h", "gru": "zrn", "lstm": "ifgo", "mgu": "fn"}
"""The gates of each cell, whole. A cell that is not yet here is taken at its own word."""


class Bound(NamedTuple):
    """The weights of one direction of a recurrent layer, by gate; a diagonal recurrence holds vectors."""

    input: Mapping[str, Matrix]
    recurrent: Mapping[str, Matrix | Weight]
    input_bias: Mapping[str, Weight] = {}
    recurrent_bias: Mapping[str, Weight] = {}
    peepholes: Mapping[str, Weight] = {}
    projection: Matrix | None = None
    states: Sequence[Weight] = ()


class Equations(NamedTuple):
    """What a convention says of a cell's equations.

    reset_after: whether the reset gate (and an MGU's one gate) acts after the recurrent product, unless the layer says.
    gate_keeps: whether an MGU's gate is the share of the old state that stays, not the share that is replaced.
    """

    reset_after: bool = False
    gate_keeps: bool = False


EQUATIONS = {
    "textbook": Equations(),
    "pytorch": Equations(reset_after=True),
    "keras": Equations(reset_after=True),
    "flax-linen": Equations(reset_after=True, gate_keeps=True),
    "flax-nnx": Equations(reset_after=True),
    "onnx": Equations(),
}


def letters_of(layer: Cell) -> str:
    """Return the gates that the layer has."""
    letters = LETTERS.get(layer.kind) or "".join(gate.letter for gate in layer.gates)
    if not getattr(layer, "reset_gate", True):
        letters = letters.replace("r", "")
    if not getattr(layer, "output_gate", True):
        letters = letters.replace("o", "")
    return letters


def bind(arrays: Arrays, layer: Cell, convention: str, *, backward: bool) -> Bound:
    """Return the weights of one direction. Raises DeclarationError where the declaration lacks one."""
    return BINDINGS[convention](arrays, layer, backward)


def _textbook(arrays: Arrays, layer: Cell, backward: bool) -> Bound:
    prefix = ("backward/" if backward else "forward/") if layer.bidirectional else ""
    letters = letters_of(layer)
    diagonal = layer.recurrence == "diagonal"
    recurrent = arrays.vector if diagonal else arrays.matrix
    peepholes = letters.replace("g", "") if getattr(layer, "peepholes", False) else ""
    states = (["h_0", "c_0"] if layer.kind == "lstm" else ["h_0"]) if layer.learned_state else []
    return Bound(
        input={g: arrays.matrix(f"{prefix}W_x{g}") for g in letters},
        recurrent={g: recurrent(f"{prefix}W_h{g}") for g in letters},
        input_bias={g: arrays.vector(f"{prefix}b_{g}") for g in letters} if layer.bias else {},
        peepholes={g: arrays.vector(f"{prefix}w_c{g}") for g in peepholes},
        projection=arrays.matrix(f"{prefix}W_hp") if getattr(layer, "projection", None) else None,
        states=[arrays.vector(f"{prefix}{name}") for name in states],
    )


def _pytorch(arrays: Arrays, layer: Cell, backward: bool) -> Bound:
    end = "_reverse" if backward else ""
    gates = _slices({"rnn": "h", "gru": "rzn", "lstm": "ifgo"}[layer.kind], layer.units)
    return Bound(
        input={g: arrays.matrix(f"weight_ih_l0{end}", rows) for g, rows in gates.items()},
        recurrent={g: arrays.matrix(f"weight_hh_l0{end}", rows) for g, rows in gates.items()},
        input_bias={g: arrays.vector(f"bias_ih_l0{end}", rows) for g, rows in gates.items()} if layer.bias else {},
        recurrent_bias={g: arrays.vector(f"bias_hh_l0{end}", rows) for g, rows in gates.items()} if layer.bias else {},
        projection=arrays.matrix(f"weight_hr_l0{end}") if getattr(layer, "projection", None) else None,
    )


def _keras(arrays: Arrays, layer: Cell, backward: bool) -> Bound:
    prefix = ("backward/" if backward else "forward/") if layer.bidirectional else ""
    gates = _slices({"rnn": "h", "gru": "zrn", "lstm": "ifgo"}[layer.kind], layer.units)
    two = layer.kind == "gru" and getattr(layer, "reset_after", None) is not False
    input_row, recurrent_row = ((0,), (1,)) if two else ((), ())
    name = f"{prefix}bias"
    biased = gates if layer.bias else {}
    return Bound(
        input={g: arrays.matrix(f"{prefix}kernel", columns, transposed=True) for g, columns in gates.items()},
        recurrent={
            g: arrays.matrix(f"{prefix}recurrent_kernel", columns, transposed=True) for g, columns in gates.items()
        },
        input_bias={g: arrays.vector(name, columns, at=input_row) for g, columns in biased.items()},
        recurrent_bias={g: arrays.vector(name, columns, at=recurrent_row) for g, columns in biased.items()}
        if two
        else {},
    )


def _flax_linen(arrays: Arrays, layer: Cell, backward: bool) -> Bound:
    prefix = ("backward/" if backward else "forward/") if layer.bidirectional else ""
    if layer.kind == "rnn":
        return _dense_pair(arrays, f"{prefix}i", f"{prefix}h", {"h": slice(None)})
    letters = LETTERS[layer.kind]
    input_biases = {"gru": "rzn", "mgu": "fn", "lstm": ""}[layer.kind]
    recurrent_biases = {"gru": "n", "mgu": "n", "lstm": "ifgo"}[layer.kind]
    return Bound(
        input={g: arrays.matrix(f"{prefix}i{g}/kernel", transposed=True) for g in letters},
        recurrent={g: arrays.matrix(f"{prefix}h{g}/kernel", transposed=True) for g in letters},
        input_bias={g: arrays.vector(f"{prefix}i{g}/bias") for g in input_biases},
        recurrent_bias={g: arrays.vector(f"{prefix}h{g}/bias") for g in recurrent_biases},
    )


def _flax_nnx(arrays: Arrays, layer: Cell, backward: bool) -> Bound:
    prefix = ("backward/" if backward else "forward/") if layer.bidirectional else ""
    if layer.kind != "lstm":
        gates = _slices({"rnn": "h", "gru": "rzn"}[layer.kind], layer.units)
        return _dense_pair(arrays, f"{prefix}dense_i", f"{prefix}dense_h", gates)
    inputs = {"i": "ii", "f": "if_", "g": "ig", "o": "io"}
    return Bound(
        input={g: arrays.matrix(f"{prefix}{name}/kernel", transposed=True) for g, name in inputs.items()},
        recurrent={g: arrays.matrix(f"{prefix}h{g}/kernel", transposed=True) for g in inputs},
        recurrent_bias={g: arrays.vector(f"{prefix}h{g}/bias") for g in inputs},
    )


def _onnx(arrays: Arrays, layer: Cell, backward: bool) -> Bound:
    way = int(backward)
    h = layer.units
    letters = {"rnn": "h", "gru": "zrn", "lstm": "iofg"}[layer.kind]
    gates = _slices(letters, h)
    recurrent_part = {
        g: slice(rows.start + len(letters) * h, rows.stop + len(letters) * h) for g, rows in gates.items()
    }
    peepholes = _slices("iof", h) if getattr(layer, "peepholes", False) else {}
    states = (("initial_h", "initial_c") if layer.kind == "lstm" else ("initial_h",)) if layer.learned_state else ()
    return Bound(
        input={g: arrays.matrix("W", rows, at=(way,)) for g, rows in gates.items()},
        recurrent={g: arrays.matrix("R", rows, at=(way,)) for g, rows in gates.items()},
        input_bias={g: arrays.vector("B", rows, at=(way,)) for g, rows in gates.items()} if layer.bias else {},
        recurrent_bias={g: arrays.vector("B", rows, at=(way,)) for g, rows in recurrent_part.items()}
        if layer.bias
        else {},
        peepholes={g: arrays.vector("P", rows, at=(way,)) for g, rows in peepholes.items()},
        states=[arrays.vector(name, at=(way, 0)) for name in states],
    )


def _dense_pair(arrays: Arrays, input: str, recurrent: str, gates: dict[str, slice]) -> Bound:
    """Return two flax layers, the one on the input with the biases."""
    return Bound(
        input={g: arrays.matrix(f"{input}/kernel", columns, transposed=True) for g, columns in gates.items()},
        recurrent={g: arrays.matrix(f"{recurrent}/kernel", columns, transposed=True) for g, columns in gates.items()},
        input_bias={g: arrays.vector(f"{input}/bias", columns) for g, columns in gates.items()},
    )


def _slices(letters: str, units: int) -> dict[str, slice]:
    """Return where each gate lies in a fused tensor."""
    return {letter: slice(number * units, (number + 1) * units) for number, letter in enumerate(letters)}


BINDINGS = {
    "textbook": _textbook,
    "pytorch": _pytorch,
    "keras": _keras,
    "flax-linen": _flax_linen,
    "flax-nnx": _flax_nnx,
    "onnx": _onnx,
}

DENSE = {
    "textbook": ("W", "b", False),
    "pytorch": ("weight", "bias", False),
    "keras": ("kernel", "bias", True),
    "flax-linen": ("kernel", "bias", True),
    "flax-nnx": ("kernel", "bias", True),
    "onnx": ("B", "C", True),
}
"""The matrix and the bias of a dense layer, and whether the matrix lies input by output."""

OUTPUT = {**DENSE, "textbook": ("W_hy", "b_y", False)}
EMBEDDING = {
    "textbook": "E",
    "pytorch": "weight",
    "keras": "embeddings",
    "flax-linen": "embedding",
    "flax-nnx": "embedding",
    "onnx": "data",
}
