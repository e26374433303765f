"""The kinds of layer by name."""

from __future__ import annotations

from rnncalc.layers.cell import CELLS
from rnncalc.layers.layer import Dense, Dropout, Embedding, External, Layer

_CLASSES: tuple[type[Layer], ...] = (*CELLS, Dense, Embedding, Dropout, External)
KINDS = {of.kind: of for of in _CLASSES}


def kind(name: str) -> type[Layer]:
    """Return the class of a kind."""
    return KINDS[name]
