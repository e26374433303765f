"""The conventions by name, and which of them can express a layer.

The one list in which a new framework is named. Each is imported when it is first used.
"""

from collections.abc import Iterator

from rnncalc.conventions.rules import Convention
from rnncalc.errors import DeclarationError, imported
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer, OptionProblem, Transform
from rnncalc.text import all_of

CONVENTIONS: dict[str, str | Convention] = {
    "textbook": "rnncalc.conventions.textbook",
    "pytorch": "rnncalc.conventions.pytorch",
    "keras": "rnncalc.conventions.keras",
    "flax-linen": "rnncalc.conventions.flax_linen",
    "flax-nnx": "rnncalc.conventions.flax_nnx",
    "onnx": "rnncalc.conventions.onnx",
}
"""Each convention, or the module that has it."""

NOTATIONS = ("w", "uvw", "rows", "stacked", "stacked-gates", "pytorch")
"""The names of the notations; what they are is `notation.NOTATION_BY_NAME`, which few calls need."""


def convention(name: str) -> Convention:
    """Return a convention. Raises KeyError for a name that is not in the list.

    Raises DeclarationError if the list does not lead to a convention of that name.
    """
    found = CONVENTIONS[name]
    if isinstance(found, str):
        where = f"{name}: in rnncalc/conventions/catalogue.py, {found!r}"
        loaded = imported(where, found).get("CONVENTION")
        if not isinstance(loaded, Convention):
            raise DeclarationError(f"{where}: no convention is there; write CONVENTION = Convention(...) in it")
        if loaded.name != name:
            raise DeclarationError(f'{where}: the convention is called {loaded.name!r}; write name="{name}" in it')
        CONVENTIONS[name] = found = loaded
    return found


def lacks(layer: Layer, name: str) -> Iterator[OptionProblem]:
    """Yield each option, or the kind, that the convention cannot express, with the reason."""
    if isinstance(layer, Transform):
        yield from _lacks_transform(layer, name)
    if not isinstance(layer, Cell):
        return
    row = convention(name)
    arrays = row.arrays(layer.kind)
    if arrays is None:
        can = [other for other in CONVENTIONS if convention(other).arrays(layer.kind) is not None]
        have = "has it" if len(can) == 1 else "have it"
        yield layer.kind, f"{name} has no {layer.kind}; {all_of(can)} {have}"
        return
    for option in row.cannot(layer):
        can = [other for other in CONVENTIONS if _can(layer, other, option)]
        value = getattr(layer, option)
        if arrays.projects_down and option == "projection" and option not in arrays.only:
            message = f"{name} projects to fewer numbers than there are units, {layer.units:,}, got {value:,}"
            yield option, f"{message}; give fewer, or remove it"
            continue
        yield option, f"{name} cannot express {option}: {str(value).lower()}; {all_of(can)} can"


def _lacks_transform(layer: Transform, name: str) -> Iterator[OptionProblem]:
    if layer.weights and layer.kind not in convention(name).transforms:
        can = [other for other in CONVENTIONS if layer.kind in convention(other).transforms]
        yield layer.kind, f"{name} has no {layer.kind}; {all_of(can)} {'has' if len(can) == 1 else 'have'} it"
        return
    for option in convention(name).transform(layer.kind).cannot(layer):
        can = [other for other in CONVENTIONS if option not in convention(other).transform(layer.kind).cannot(layer)]
        yield option, f"{name} cannot express {option}: {str(getattr(layer, option)).lower()} here; {all_of(can)} can"


def _can(layer: Cell, name: str, option: str) -> bool:
    other = convention(name)
    return other.arrays(layer.kind) is not None and option not in other.cannot(layer)
