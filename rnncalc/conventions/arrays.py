"""The words a convention is written in: how arrays are named and shaped, in typed slots and widths.

Says nothing of any framework, and builds no tensor.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from rnncalc.errors import DeclarationError
from rnncalc.layers.cell import Cell, Habits
from rnncalc.layers.frozen import Frozen
from rnncalc.text import did_you_mean

NONE: Mapping[str, Any] = {}


class Slot(Enum):
    """A place in a tensor's name.

    GATE: the letter of a gate, or of weights beside the gates. READ: what is read, x or a state. DIRECTION: its mark.
    COPY: the number of a repeated layer.
    """

    GATE = "gate"
    READ = "read"
    DIRECTION = "direction"
    COPY = "copy"


class Width(Enum):
    """What an axis is as long as. READS is the width of what a product reads, and no axis at all in a diagonal one."""

    UNITS = "h"
    GATED = "all gates, h each"
    INPUTS = "m"
    READS = "what is read"
    PROJECTED = "p"
    OUTPUTS = "n"
    VECTOR = "d"
    DIRECTIONS = "directions"
    ONE = "1"
    TWO = "2"
    TWICE_GATED = "all gates twice"


class Side(Enum):
    """Where a gate's bias stands: beside what it reads of the input, of the past, or one on each side."""

    INPUT = "input"
    RECURRENT = "recurrent"
    BOTH = "both"


class Array(Frozen):
    """How tensors of one role are named and shaped.

    A name with the slot GATE has a tensor for each gate; without it all gates lie in one, along the axis GATED.
    """

    name: tuple[str | Slot, ...]
    axes: tuple[Width, ...]


class CellArrays(Frozen):
    """How a framework lays out one kind of cell.

    bias: of the input side; both_biases: of the two sides in one tensor.
    side: where biases stand, sides: for the gates that differ, side_before: for a GRU that resets before the product.
    order: of the gates in fused tensors, the textbook's where it is empty; peephole_order: the same of peepholes.
    only: the values it can express, of the options that it cannot express whole.
    projects_down: whether a projection must be narrower than the cell.
    """

    input: Array
    recurrent: Array
    bias: Array | None = None
    recurrent_bias: Array | None = None
    both_biases: Array | None = None
    peephole: Array | None = None
    projection: Array | None = None
    scalar: Array | None = None
    state: Array | None = None
    side: Side = Side.INPUT
    sides: Mapping[str, Side] = NONE
    side_before: Side | None = None
    order: str = ""
    peephole_order: str = ""
    habits: Habits = Habits()
    only: Mapping[str, tuple[object, ...]] = NONE
    projects_down: bool = False


class DenseArrays(Frozen):
    """The matrix and the bias of a dense layer."""

    kernel: Array
    bias: Array


NO_FRAMEWORK: Mapping[str, tuple[object, ...]] = {
    "recurrence": ("full",),
    "reset_gate": (True,),
    "update_gate": ("keeps",),
    "output_gate": (True,),
    "projection": (None,),
    "peepholes": (False,),
    "learned_state": (False,),
}
"""What no framework has in its own recurrent layers, unless its row says otherwise."""

HEARD_OF = {*Cell.fields, *NO_FRAMEWORK, "activation", "reset_after"}
"""The options of cells that the rows were written with in mind; no framework is taken to have any other."""


def restricted(*but: str, **others: tuple[object, ...]) -> dict[str, tuple[object, ...]]:
    """Return what no framework has, but for some options, and with others restricted too.

    Raises DeclarationError for a name in `but` that is not restricted.
    """
    for option in but:
        if option not in NO_FRAMEWORK:
            near = did_you_mean(option, [*NO_FRAMEWORK])
            raise DeclarationError(f"restricted: {option}: not restricted, so it cannot be left out{near}")
    return {**{option: values for option, values in NO_FRAMEWORK.items() if option not in but}, **others}
