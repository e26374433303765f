"""`register`: makes a user's cell or layer a kind, which `load`, specs and flags then know like any other."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from rnncalc.errors import DeclarationError, line_of
from rnncalc.layers import KINDS
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Transform
from rnncalc.layers.options import OPTIONS, Allowed
from rnncalc.layers.reshaping import LastStep
from rnncalc.network.network import Network
from rnncalc.words import did_you_mean

L = TypeVar("L", bound=type[Cell | Transform])


def register(layer: L) -> L:
    """Make the class of a cell, or of a layer around the cells, a kind, and return it; it may be used as `@register`.

    It is tried in a small network first. A class that is defined again, as in a notebook, replaces the one
    before. Raises DeclarationError for any other class, for a kind that exists already, and for a layer that
    contradicts itself.
    """
    if not isinstance(layer, type) or not issubclass(layer, Cell | Transform):
        got = layer.__name__ if isinstance(layer, type) else repr(layer)
        message = "expected the class of a cell, as class MyCell(Cell) makes one, or of a Transform"
        raise DeclarationError(f"register: {message}, got {got}")
    cure = f'write kind = "{layer.__name__.lower()}" in it'
    if not re.fullmatch("[a-z][a-z0-9_]*", str(layer.kind)):
        wrong = f"the kind {layer.kind!r} is no word of small letters, digits and _" if layer.kind else "it has no kind"
        raise DeclarationError(f"the class {layer.__name__}: {wrong}; {cure}")
    there = KINDS.get(layer.kind)
    again = isinstance(there, type) and (there.__module__, there.__qualname__) == (layer.__module__, layer.__qualname__)
    again = again or there == f"{layer.__module__}:{layer.__qualname__}"
    if layer.kind in OPTIONS or (there is not None and not again):
        raise DeclarationError(
            f"the class {layer.__name__}: there is a kind or an option {layer.kind!r} already; {cure}"
        )
    if layer.number and layer.number not in layer.fields:
        message = f'number: there is no field {layer.number!r}; write number = "" if the kind takes no number'
        raise DeclarationError(f"{layer.kind}: {message}{line_of(layer)}")
    for option in layer.options():
        layer.option(option)  # refuses a field that own_options does not name
    for option in layer.own_options:
        if option not in layer.fields:
            message = f"own_options: there is no field {option!r}{did_you_mean(option, layer.fields)}"
            raise DeclarationError(f"{layer.kind}: {message}{line_of(layer)}")
    values = {option: _example(layer.option(option).allowed) for option in (layer.number, *layer.needed()) if option}
    before = (LastStep(),) if layer.time.begins else ()
    network = Network(input=4, layers=(*before, layer(**values)), steps=100)
    network.stack[-1].multiply_adds  # noqa: B018  it is traced, or refused
    KINDS[layer.kind] = layer
    return layer


def _example(allowed: Allowed) -> Any:
    """Return a value that an option may have."""
    examples = (2, True, 0.5, (2,), "x", *getattr(allowed, "words", ()))
    return next(value for value in examples if not allowed.problem(value))
