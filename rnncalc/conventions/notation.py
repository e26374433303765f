"""How a course writes the parameters of a network: each notation is one value.

A notation gives the name and the shape of each part of a layer. It replaces the arrays of a convention, and keeps its
gates and biases, so the count stays the same. Equations take their letters from these arrays too, so that they and the
tensors agree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rnncalc.conventions.rules import NONE, Array, CellArrays, Convention
from rnncalc.conventions.textbook import CELL
from rnncalc.conventions.textbook import CONVENTION as TEXTBOOK
from rnncalc.letters import ABOVE, in_ascii, superscript
from rnncalc.records import Frozen


class Notation(Frozen):
    """One way to write the parameters.

    parts: how each part of a cell is spelled, by its name in CellArrays.
    output: how the output layer's arrays are spelled.
    rows: vectors are rows, and are before the matrices that they are multiplied by; around: in layers around the cells
        too.
    joins_gates: gates that read the same have one matrix; order: of some of them in it, if it is not the textbook's.
    about: the relation of its letters to the textbook's, with slots for them.
    only: the one convention whose parameters it spells; "" for any.
    letters: a course's own, by the symbols of the notation: `Γ_u` for the gate z, whose index is that of its weights,
        W_u; `a` for the state h; `W_F` for W_xh.
    above: what is written above letters for the number l of their layer, `l` or `(l)`, by the letters; under "" what
        is above all others. level: the number; 0 for none.
    """

    name: str
    parts: Mapping[str, Array]
    output: Mapping[str, Array]
    rows: bool = False
    around: bool = True
    joins_gates: bool = False
    order: str = ""
    about: str = ""
    only: str = ""
    letters: Mapping[str, str] = NONE
    above: Mapping[str, str] = NONE
    level: int = 0

    def letter(self, symbol: str) -> str:
        """Return what is written for the letter of a gate, a state or another value, or for a whole name."""
        return self.letters.get(symbol, symbol)

    @property
    def raised(self) -> Mapping[str, str]:
        """What is above letters in the layer of the level, by the letters, and under "" above all others."""
        return {letter: above.replace("l", str(self.level)) for letter, above in self.above.items() if self.level}

    def numbered(self, name: str) -> str:
        """Return the name of a tensor with the number of its layer above it: `b^2`."""
        direction, slash, symbol = name.rpartition("/")
        letter, mark, below = symbol.partition("_")
        return f"{direction}{slash}{letter}{superscript(self.raised.get(symbol, ''))}{mark}{below}"

    def at(self, level: int) -> Notation:
        """Return the notation of a layer, which has a level if it is recurrent; 0 for none."""
        return self.replace(level=level) if self.above else self

    def with_letters(self, letters: Mapping[str, str]) -> Notation:
        """Return the notation with a course's letters for its symbols."""
        course, above = dict[str, str](), dict[str, str]()
        for symbol, text in letters.items():
            before, mark, after = [*re.split(ABOVE, text, maxsplit=1), "", ""][:3]
            course[symbol] = course[in_ascii(symbol)] = letter = before + after
            above |= {letter: mark} if mark else {}
        arrays = (
            {part: array.replace(letters=course) for part, array in each.items()} for each in (self.parts, self.output)
        )
        return self.replace(letters=course, above=above, **dict(zip(("parts", "output"), arrays, strict=True)))

    def own(self, names: Mapping[str, str]) -> Mapping[str, str]:
        """Return the names of the arrays of a layer around the cells, by role, as a course writes them."""
        return {role: self.letter(name) for role, name in names.items()}

    @property
    def of_output(self) -> Mapping[str, str]:
        """The names of the output layer's arrays."""
        return {role: array.filled("y", "h") for role, array in self.output.items()}

    @property
    def note(self) -> str:
        """The relation of its letters to the textbook's."""
        return re.sub(r"\{(\w+)\}", lambda slot: self.letter(slot[1]), self.about)

    @property
    def stacked(self) -> bool:
        """Whether one matrix multiplies everything that a gate reads, joined into one vector."""
        return "stacked" in self.parts

    @property
    def apart(self) -> Notation:
        """The notation of layers around the cells, where each vector has a matrix of its own."""
        parts = {part: array for part, array in self.parts.items() if part != "stacked"}
        return self.replace(parts=parts, rows=self.rows and self.around)

    def of(self, base: Convention) -> Convention:
        """Return the rules of a convention with the parameters spelled gate by gate."""
        key = self.name, *self.letters.items()
        spelling: Convention | None = base.cache.get(key)
        if spelling is None:
            cells, spelled = base.cells, {"both_biases": None, "stacked": None, "joins": (), "order": "", **self.parts}
            ours = TEXTBOOK.transforms
            arrays = {**base.transforms, **{kind: ours[kind] for kind in ("dense", "output", "embedding")}}
            rows, others = self.apart.rows, base.other_transforms
            for kind, each in arrays.items():
                mine = each is ours.get(kind)
                arrays[kind] = each.replace(rows=rows and mine, names=self.own(each.names) if mine else each.names)
            if others and base.symbols:
                others = others.replace(names=self.own(others.names))
            output = arrays["output"].replace(names=self.of_output)
            spelling = base.cache[key] = base.replace(
                cells=cells.replace(**spelled)
                if isinstance(cells, CellArrays)
                else {kind: arrays.replace(**spelled) for kind, arrays in cells.items()},
                transforms=arrays | {"output": output},
                other_transforms=others and others.replace(rows=rows),
                directions=TEXTBOOK.directions,
                renamed={},
                symbols=True,
            )
        return spelling


def _as_rows(array: Array) -> Array:
    """Return an array of a notation whose vectors are rows: a matrix is transposed, and a vector has one row."""
    first, *others = array.axes.replace("reads", "reads|1").split()
    return array.replace(axes=f"{others[0]} {first}" if others else f"1 {array.axes}")


_PARTS = {part: array for part, array in CELL.values().items() if isinstance(array, Array)}
_PARTS |= dict.fromkeys(("bias", "recurrent_bias"), Array("b_{read}{gate}", "h"))
"""The textbook's; a gate with two biases has b_xz beside the input and b_hz beside the state."""

W = Notation("w", _PARTS, {"kernel": Array("W_{read}{gate}", "n m"), "bias": Array("b_{gate}", "n")})
"""The notation of equations if none is named."""

_UVW = W.replace(
    name="uvw",
    parts=_PARTS
    | {"input": Array("U_{apart}", "h m"), "recurrent": Array("W_{other}{apart}", "h reads")}
    | {"left": Array("A_{other}{apart}", "h r"), "right": Array("B_{other}{apart}", "r reads")}
    | dict.fromkeys(("bias", "recurrent_bias"), Array("b_{read}{apart}", "h"))
    | {"gain": Array("gamma_{apart}", "h")},
    output={"kernel": Array("V", "n m"), "bias": Array("c", "n")},
    about="{U} multiplies the input, {W} the state before; {V} and {c} are the output's matrix and bias",
)
_ROWS = W.replace(
    name="rows",
    parts={part: array if part == "scalar" else _as_rows(array) for part, array in _PARTS.items()},
    rows=True,
    about="vectors are rows, so each matrix is after its vector, and the transpose of the textbook's",
)
_ROWS_IN_CELLS = _ROWS.replace(
    name="rows-in-cells",
    around=False,
    about="in cells vectors are rows, so each matrix is after its vector; in other layers they are columns",
)
_COLUMNS = W.replace(
    name="columns",
    parts=_PARTS | {"stacked": Array("W_{gate}", "h stacked")},
    about="a gate reads the state before and the input as one column; its matrix is the textbook's W_h and W_x, side "
    "by side",
)
_STACKED = _ROWS.replace(
    name="stacked",
    parts={**_ROWS.parts, "stacked": Array("W_{gate}", "stacked h")},
    about="vectors are rows, and a gate reads the state before and the input as one row; its matrix is the textbook's "
    "W_h and W_x, transposed, one above the other",
)
_STACKED_GATES = _STACKED.replace(
    name="stacked-gates",
    joins_gates=True,
    about="vectors are rows, and gates that read the same vectors share one matrix and one bias; {a}_t is the row of "
    "their sums, and {a}_i its part for the gate i",
)
_STACKED_COLUMNS = _COLUMNS.replace(
    name="stacked-columns",
    joins_gates=True,
    order="ifog",
    about="gates that read the same vectors share one matrix and one bias; {a}_t is the column of their sums, in an "
    "LSTM in the order {i}, {f}, {o}, {g}, and {a}_i its part for the gate i",
)
_PYTORCH = W.replace(
    name="pytorch",
    parts=_PARTS
    | {"input": Array("W_i{gate}", "h m"), "recurrent": Array("W_h{gate}", "h reads")}
    | {"bias": Array("b_i{gate}", "h"), "recurrent_bias": Array("b_h{gate}", "h")}
    | {"projection": Array("W_hr", "p h")},
    about="the letters of PyTorch's documentation: W_i and b_i belong to the input, W_h and b_h to the state before",
    only="pytorch",
)

_ALL = (W, _UVW, _ROWS, _ROWS_IN_CELLS, _COLUMNS, _STACKED_COLUMNS, _STACKED, _STACKED_GATES, _PYTORCH)
NOTATION_BY_NAME = {each.name: each for each in _ALL}
"""Every notation by its name, those of `conventions.NOTATIONS`."""
