"""Every cell with its options under every convention, for the tests of what is said of each."""

from functools import cache
from itertools import product
from typing import Any

from rnncalc import Cell, Network, SpecError, explain
from rnncalc.conventions import CONVENTIONS
from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.layers import KINDS, kind
from rnncalc.reports.explain import ExplanationReport
from rnncalc.typeset.equations import Line

M, STEPS = 3, 3

OPTIONS: dict[str, tuple[Any, ...]] = {
    "bias": (False,),
    "activation": ("relu", "gelu", "linear", "sigmoid"),
    "recurrent_activation": ("hard_sigmoid", "hard_sigmoid_0.2"),
    "recurrence": ("diagonal",),
    "recurrent_rank": (1,),
    "recurrent_blocks": (2,),
    "reset_after": (False, True),
    "reset_gate": (False,),
    "update_gate": ("replaces",),
    "projection": (2,),
    "peepholes": (True,),
    "output_gate": (False,),
    "coupled": (True,),
    "layer_norm": (True,),
    "learned_state": (True,),
}
CELLS = [name for name in KINDS if issubclass(kind(name), Cell) and "space" not in kind(name).fields]
"""The cells whose vectors have no places."""


def cell(name: str, units: int) -> Cell:
    """Return a cell of a kind, on a grid of 2 × 2 places if it needs one."""
    cls: Any = kind(name)
    made = cls(units, **{option: (2, 2) for option in ("space",) if option in cls.fields})
    assert isinstance(made, Cell)
    return made


@cache
def cases() -> list[tuple[str, int, dict[str, Any], str]]:
    """Return every cell with each of its options alone, and two together, under every convention that has it."""
    found = []
    for name, units in product(CELLS, (3, 4)):
        fields = kind(name).fields
        single = [{option: value} for option, values in OPTIONS.items() if option in fields for value in values]
        pairs = [first | second for first in single for second in single if [*first] < [*second]]
        for options, convention_name in product([{}, *single, *pairs], CONVENTIONS):
            try:
                network(name, units, options, convention_name)
            except SpecError:
                continue
            found.append((name, units, options, convention_name))
    return found


def spelled(name: str, notation: str) -> list[tuple[str, int, dict[str, Any], str]]:
    """Return the cases of a cell with 4 units that a notation spells; two options together in one notation alone."""
    only = NOTATION_BY_NAME[notation].only
    fitting = [case for case in cases() if case[:2] == (name, 4) and only in ("", case[3])]
    if only:
        return fitting
    turns = [each for each, row in NOTATION_BY_NAME.items() if not row.only]
    return [case for number, case in enumerate(fitting) if len(case[2]) < 2 or turns[number % len(turns)] == notation]


@cache
def equations(name: str, notation: str) -> list[tuple[tuple[Line, ...], list[dict[str, Any]]]]:
    """Return what a notation shows of a cell in all its cases, each once: the equations, and what JSON says of them."""
    found = {}
    for _, units, options, convention_name in spelled(name, notation):
        report = ExplanationReport(explain(network(name, units, options, convention_name), notation=notation))
        (sheet,) = (sheet for sheet in report.sheets() if sheet.equations)
        (layer,) = report.data()["layers"]
        found[tuple(sheet.equations)] = layer["equations"]
    return [*found.items()]


def network(name: str, units: int, options: dict[str, Any], convention_name: str) -> Network:
    cls = kind(name)
    layer = cls(**{"units": units, **options})
    return Network(input=M, layers=[layer], steps=STEPS, topology="many-to-many", convention=convention_name)
