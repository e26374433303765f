"""`register`: makes a user's cell a kind, which `load`, specs and flags then know like any other."""

from __future__ import annotations

import re
from typing import TypeVar

from rnncalc.errors import DeclarationError
from rnncalc.layers import KINDS
from rnncalc.layers.cell import Cell
from rnncalc.layers.options import OPTIONS
from rnncalc.network.network import Network

C = TypeVar("C", bound=type[Cell])


def register(cell: C) -> C:
    """Make the class of a cell a kind, and return it, so that `@register` may stand above it.

    Its gates and its step are tried on a small network first. A class that is defined again, as in a notebook, replaces
    the one before. Raises DeclarationError for anything but a cell, for a kind that exists already, and for a cell that
    contradicts itself.
    """
    if not isinstance(cell, type) or not issubclass(cell, Cell):
        got = cell.__name__ if isinstance(cell, type) else repr(cell)
        raise DeclarationError(f"register: expected the class of a cell, as class MyCell(Cell) makes one, got {got}")
    cure = f'write kind = "{cell.__name__.lower()}" in it'
    if not re.fullmatch("[a-z][a-z0-9_]*", cell.kind):
        wrong = f"the kind {cell.kind!r} is no word of small letters, digits and _" if cell.kind else "it has no kind"
        raise DeclarationError(f"the class {cell.__name__}: {wrong}; {cure}")
    there = KINDS.get(cell.kind)
    again = isinstance(there, type) and (there.__module__, there.__qualname__) == (cell.__module__, cell.__qualname__)
    if cell.kind in OPTIONS or (there is not None and not again):
        raise DeclarationError(f"the class {cell.__name__}: there is a kind or an option {cell.kind!r} already; {cure}")
    Network(input=3, layers=(cell(2),), steps=2).stack[0].multiply_adds  # noqa: B018  its step is traced, or refused
    KINDS[cell.kind] = cell
    return cell
