"""A cell is drawn as its step runs: read back as a circuit, the picture gives the numbers that the step gives."""

from itertools import combinations, product
from typing import Any

import pytest
from circuit import Circuit, Numbers, number

from rnncalc import Cell, Network, SpecError
from rnncalc.conventions.catalogue import CONVENTIONS, convention
from rnncalc.layers.kinds import KINDS, kind
from rnncalc.reports.equations import plain
from rnncalc.reports.pictures.cell import pictures
from rnncalc.reports.pictures.picture import Arrow, Box, Dot, Label, Picture, Role, span

OPTIONS: dict[str, tuple[Any, ...]] = {
    "bias": (False,),
    "activation": ("relu", "linear", "softmax"),
    "recurrence": ("diagonal",),
    "reset_after": (False, True),
    "reset_gate": (False,),
    "update_gate": ("replaces",),
    "projection": (2,),
    "peepholes": (True,),
    "output_gate": (False,),
    "learned_state": (True,),
    "bidirectional": (True,),
}
CELLS = [name for name in KINDS if issubclass(kind(name), Cell)]


def networks(name: str) -> list[Network]:
    """Return one of a cell with each of its options alone, and two together, under every convention that has it."""
    fields = kind(name).fields
    single = [{option: value} for option, values in OPTIONS.items() if option in fields for value in values]
    pairs = [first | second for first, second in combinations(single, 2) if [*first] != [*second]]
    found = []
    for units, options, convention_name in product((3, 4), [{}, *single, *pairs], CONVENTIONS):
        try:
            found.append(Network(input=4, layers=[kind(name)(units=units, **options)], convention=convention_name))
        except SpecError:
            continue
    return found
