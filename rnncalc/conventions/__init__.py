"""How each framework lays out the parameters of a layer.

A new framework is named in the list CONVENTIONS alone. Each is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.conventions.rules import Convention
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer
from rnncalc.records import loaded
from rnncalc.words import all_of

CONVENTIONS: dict[str, str | Convention] = {
    "textbook": "rnncalc.conventions.textbook:CONVENTION",
    "pytorch": "rnncalc.conventions.pytorch:CONVENTION",
    "keras": "rnncalc.conventions.keras:CONVENTION",
    "flax-linen": "rnncalc.conventions.flax_linen:CONVENTION",
    "flax-nnx": "rnncalc.conventions.flax_nnx:CONVENTION",
    "onnx": "rnncalc.conventions.onnx:CONVENTION",
    "mlx": "rnncalc.conventions.mlx:CONVENTION",
    "equinox": "rnncalc.conventions.equinox:CONVENTION",
    "haiku": "rnncalc.conventions.haiku:CONVENTION",
    "paddle": "rnncalc.conventions.paddle:CONVENTION",
    "tfjs": "rnncalc.conventions.tfjs:CONVENTION",
}
"""Each convention, or its module and name."""

NOTATIONS = (
    *("w", "uvw", "rows", "rows-in-cells", "columns", "stacked-columns", "stacked", "stacked-gates", "pytorch"),
)
"""The names of the notations; what they are is `notation.NOTATION_BY_NAME`, which few calls need."""


def convention(name: str) -> Convention:
    """Return a convention. Raises KeyError for a name that is not in the list."""
    return loaded(CONVENTIONS, name)


def lacks(layer: Layer, name: str) -> Iterator[tuple[str, str]]:
    """Yield each option, or the kind, that the convention cannot express, with the reason."""
    row = convention(name)
    if not row.has(layer):
        can = [other for other in CONVENTIONS if convention(other).has(layer)]
        missing = f"no {layer.kind} of {name} is known here"  # which it may have all the same
        yield layer.kind, f"{missing}; {all_of(can)} {'has' if len(can) == 1 else 'have'} it"
        return
    for option in row.cannot(layer):
        value = getattr(layer, option)
        if option == "projection" and row.excess(layer):
            units = layer.values()["units"]
            message = f"{name} projects to fewer numbers than there are units, {units:,}, got {value:,}"
            yield option, f"{message}; give fewer, or remove it"
            continue
        rows = [convention(other) for other in CONVENTIONS]
        can = [each.name for each in rows if each.has(layer) and option not in each.cannot(layer)]
        here = "" if isinstance(layer, Cell) else " here"
        yield option, f"{name} cannot express {option}: {str(value).lower()}{here}; {all_of(can)} can"
