"""Refuses a convention that contradicts itself: a part missing, unused, or shaped as none of its kind can be."""

from collections.abc import Iterable

from rnncalc.conventions.arrays import Array, CellArrays, DenseArrays, Side, Slot, Width
from rnncalc.errors import DeclarationError
from rnncalc.layers.kinds import kind
from rnncalc.layers.options import OPTIONS
from rnncalc.text import did_you_mean

_AXES = {
    "input": {Width.INPUTS},
    "recurrent": {Width.READS},
    "projection": {Width.UNITS, Width.PROJECTED},
    "state": {Width.READS},
}
"""The axes that the arrays of a part need, beside that of the units or of all gates."""

_UNITS = {Width.UNITS, Width.GATED, Width.TWICE_GATED}
_GATED = ("input", "recurrent", "bias", "recurrent_bias", "both_biases", "peephole")
_OPTIONAL = (("peephole", "peepholes", False), ("projection", "projection", None), ("state", "learned_state", False))
"""A part, the option that needs it, and the option's value that does not."""


def check_arrays(where: str, arrays: CellArrays) -> None:
    """Raise DeclarationError, naming the part, where the arrays of a cell lack one, have one in vain or a wrong one."""
    needed = _needed(arrays)
    for part in needed:
        if getattr(arrays, part) is None:
            raise DeclarationError(f"{where}: {part}: missing")
    for part in CellArrays.fields:
        array = getattr(arrays, part)
        if isinstance(array, Array):
            if part not in needed and part != "scalar":
                raise DeclarationError(f"{where}: {part}: unused; no gate has a bias there, and no option needs it")
            _check_array(f"{where}: {part}", part, array)


def check_only(where: str, arrays: CellArrays, kinds: Iterable[str]) -> None:
    """Raise DeclarationError for an option that no layer of these kinds could have, or a value that it cannot have."""
    for option, values in arrays.only.items():
        known = OPTIONS.get(option) or next(filter(None, [kind(each).known_option(option) for each in kinds]), None)
        if known is None:
            raise DeclarationError(f"{where}: only: {option}: no such option{did_you_mean(option, [*OPTIONS])}")
        if not isinstance(values, tuple):
            raise DeclarationError(f"{where}: only: {option}: expected a tuple of values, got {values!r}; write one")
        for value in values:
            if value is not None and (problem := known.allowed.problem(value)):
                raise DeclarationError(f"{where}: only: {option}: {problem}")


def check_plain(name: str, dense: Iterable[DenseArrays], embedding: Array) -> None:
    """Raise DeclarationError if the arrays of a dense layer or of an embedding have other axes than these can have."""
    for arrays in dense:
        if {*arrays.kernel.axes} != {Width.INPUTS, Width.OUTPUTS} or len(arrays.kernel.axes) != 2:
            raise _axes(f"{name}: dense: kernel", "INPUTS and OUTPUTS, in either order", arrays.kernel)
        if arrays.bias.axes != (Width.OUTPUTS,):
            raise _axes(f"{name}: dense: bias", "OUTPUTS", arrays.bias)
    if embedding.axes != (Width.INPUTS, Width.VECTOR):
        raise _axes(f"{name}: embedding", "INPUTS, VECTOR, a row for each token", embedding)


def _axes(where: str, expected: str, array: Array) -> DeclarationError:
    got = ", ".join(axis.name if isinstance(axis, Width) else repr(axis) for axis in array.axes) or "none"
    return DeclarationError(f"{where}: expected the axes {expected}, got {got}")


def _needed(arrays: CellArrays) -> set[str]:
    """Return the parts that some layer has tensors of."""
    needed = {"input", "recurrent"}
    sides = {arrays.side, *arrays.sides.values(), *([arrays.side_before] if arrays.side_before else [])}
    whole = arrays.both_biases is not None and not arrays.sides  # both sides of every gate in one tensor
    for side in sides:
        if side is Side.BOTH:
            needed |= {"both_biases"} if whole else {"bias", "recurrent_bias"}
        else:
            needed.add("bias" if side is Side.INPUT else "recurrent_bias")
    for part, option, without in _OPTIONAL:
        if arrays.only.get(option) != (without,):
            needed.add(part)
    return needed


def _check_array(where: str, part: str, array: Array) -> None:
    if missing := _AXES.get(part, set()) - {*array.axes}:
        raise DeclarationError(f"{where}: no axis is {missing.pop().name}")
    if part in _GATED and not _UNITS & {*array.axes}:
        raise DeclarationError(f"{where}: no axis is UNITS or GATED")
    if part in _GATED and (Slot.GATE in array.name) == bool({Width.GATED, Width.TWICE_GATED} & {*array.axes}):
        raise DeclarationError(f"{where}: its name tells the gates apart, or an axis holds them all: one of the two")
