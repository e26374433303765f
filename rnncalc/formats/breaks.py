"""Where an equation that is too wide goes on below: the parts that it has between its signs."""

from collections.abc import Collection, Sequence
from typing import TypeVar

Piece = TypeVar("Piece")

IN_WORK = (" + ", " − ", " ∘ ", " / ", "; ")
"""Before which signs a side of an equation with numbers in goes on; a vector alone is parted from its matrix."""


def parts(line: Sequence[Piece], signs: Collection[str]) -> list[tuple[Piece, ...]]:
    """Return the parts of an equation that stay together: each from one of the signs to the next."""
    found: list[list[Piece]] = [[]]
    for piece in line:
        if piece in signs and found[-1]:
            found.append([])
        found[-1].append(piece)
    return [tuple(part) for part in found]
