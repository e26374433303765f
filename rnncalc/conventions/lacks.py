"""What a convention cannot express of a layer, and which conventions can."""

from collections.abc import Iterator

from rnncalc.conventions.catalogue import CONVENTIONS, convention
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer, OptionProblem
from rnncalc.text import all_of


def lacks(layer: Layer, name: str) -> Iterator[OptionProblem]:
    """Yield what a layer asks for that the convention cannot express: the option, or the kind, and what is wrong."""
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


def too_wide(layer: Layer, name: str) -> int:
    """Return by how much a layer's projection is wider than the convention can express; 0 where it is not."""
    return convention(name).excess(layer) if isinstance(layer, Cell) else 0


def _can(layer: Cell, name: str, option: str) -> bool:
    other = convention(name)
    return other.arrays(layer.kind) is not None and option not in other.cannot(layer)
