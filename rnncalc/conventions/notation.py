"""How a course writes the parameters of a network: each notation is one value.

A notation gives the name and the shape of each part of a layer. It replaces the arrays of a convention, and keeps its
gates and biases, so the count stays the same. Equations take their letters from these arrays too, so that they and the
tensors agree.
"""

from __future__ import annotations

from collections.abc import Mapping

from rnncalc.conventions.rules import NONE, Array, CellArrays, Convention
from rnncalc.conventions.textbook import CELL
from rnncalc.conventions.textbook import CONVENTION as TEXTBOOK
from rnncalc.records import Frozen


class Notation(Frozen):
    """One way to write the parameters.

    parts: how each part of a cell is spelled, by its name in CellArrays.
    output: the names of the output layer's arrays.
    rows: vectors are rows, and are before the matrices that they are multiplied by.
    joins_gates: gates that read the same have one matrix.
    note: the relation of its letters to the textbook's.
    only: the one convention whose parameters it spells; "" for any.
    letters: what is written for the letters of gates: `Γ_u`, whose index is that of its weights, W_u.
    """

    name: str
    parts: Mapping[str, Array]
    output: Mapping[str, str]
    rows: bool = False
    joins_gates: bool = False
    note: str = ""
    only: str = ""
    letters: Mapping[str, str] = NONE

    def letter(self, letter: str) -> str:
        """Return what is written for the letter of a gate or of another value."""
        return self.letters.get(letter, letter)

    def with_letters(self, letters: Mapping[str, str]) -> Notation:
        """Return the notation with other letters for gates."""
        indices = {letter: other.partition("_")[2] or other for letter, other in letters.items()}
        parts = {part: array.replace(indices=indices) for part, array in self.parts.items()}
        return self.replace(letters=letters, parts=parts)

    @property
    def stacked(self) -> bool:
        """Whether one matrix multiplies everything that a gate reads, joined into one vector."""
        return "stacked" in self.parts

    @property
    def apart(self) -> Notation:
        """The notation of layers around the cells, where each vector has a matrix of its own."""
        return self.replace(parts={part: array for part, array in self.parts.items() if part != "stacked"})

    def of(self, base: Convention) -> Convention:
        """Return the rules of a convention with the parameters spelled gate by gate."""
        key = self.name, *self.letters.items()
        known: Convention | None = base.cache.get(key)
        if known is None:
            cells, spelled = base.cells, {"both_biases": None, "stacked": None, "joins": (), "order": "", **self.parts}
            ours = TEXTBOOK.transforms
            arrays = {**base.transforms, **{kind: ours[kind] for kind in ("dense", "output", "embedding")}}
            arrays = {kind: each.replace(rows=self.rows and each is ours.get(kind)) for kind, each in arrays.items()}
            output = arrays["output"].replace(names=self.output)
            known = base.cache[key] = base.replace(
                cells=cells.replace(**spelled)
                if isinstance(cells, CellArrays)
                else {kind: arrays.replace(**spelled) for kind, arrays in cells.items()},
                transforms=arrays | {"output": output},
                other_transforms=base.other_transforms and base.other_transforms.replace(rows=self.rows),
                directions=TEXTBOOK.directions,
                renamed={},
                symbols=True,
            )
        return known


def _as_rows(array: Array) -> Array:
    """Return an array of a notation whose vectors are rows: a matrix is transposed, and a vector has one row."""
    first, *others = array.axes.replace("reads", "reads|1").split()
    return array.replace(axes=f"{others[0]} {first}" if others else f"1 {array.axes}")


_PARTS = {part: array for part, array in CELL.values().items() if isinstance(array, Array)}
_PARTS |= dict.fromkeys(("bias", "recurrent_bias"), Array("b_{read}{gate}", "h"))
"""The textbook's; a gate with two biases has b_xz beside the input and b_hz beside the state."""

W = Notation("w", _PARTS, TEXTBOOK.transforms["output"].names)
"""The notation of equations if none is named."""

_UVW = W.replace(
    name="uvw",
    parts=_PARTS
    | {"input": Array("U_{apart}", "h m"), "recurrent": Array("W_{other}{apart}", "h reads")}
    | {"left": Array("A_{other}{apart}", "h r"), "right": Array("B_{other}{apart}", "r reads")}
    | dict.fromkeys(("bias", "recurrent_bias"), Array("b_{read}{apart}", "h"))
    | {"gain": Array("gamma_{apart}", "h")},
    output={"kernel": "V", "bias": "c"},
    note="U multiplies the input, W the state before; V and c are the output's matrix and bias",
)
_ROWS = W.replace(
    name="rows",
    parts={part: array if part == "scalar" else _as_rows(array) for part, array in _PARTS.items()},
    rows=True,
    note="vectors are rows, so each matrix is after its vector, and the transpose of the textbook's",
)
_COLUMNS = W.replace(
    name="columns",
    parts=_PARTS | {"stacked": Array("W_{gate}", "h stacked")},
    note="a gate reads the state before and the input as one column; its matrix is the textbook's W_h and W_x, side by "
    "side",
)
_STACKED = _ROWS.replace(
    name="stacked",
    parts={**_ROWS.parts, "stacked": Array("W_{gate}", "stacked h")},
    note="vectors are rows, and a gate reads the state before and the input as one row; its matrix is the textbook's "
    "W_h and W_x, transposed, one above the other",
)
_STACKED_GATES = _STACKED.replace(
    name="stacked-gates",
    joins_gates=True,
    note="vectors are rows, and gates that read the same vectors share one matrix and one bias; a_t is the row of "
    "their sums, and a_i its part for the gate i",
)
_PYTORCH = W.replace(
    name="pytorch",
    parts=_PARTS
    | {"input": Array("W_i{gate}", "h m"), "recurrent": Array("W_h{gate}", "h reads")}
    | {"bias": Array("b_i{gate}", "h"), "recurrent_bias": Array("b_h{gate}", "h")}
    | {"projection": Array("W_hr", "p h")},
    note="the letters of PyTorch's documentation: W_i and b_i belong to the input, W_h and b_h to the state before",
    only="pytorch",
)

NOTATION_BY_NAME = {each.name: each for each in (W, _UVW, _ROWS, _COLUMNS, _STACKED, _STACKED_GATES, _PYTORCH)}
"""Every notation by its name, those of `conventions.NOTATIONS`."""
