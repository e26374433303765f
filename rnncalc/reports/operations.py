"""Reports on the operations of a forward pass: beside a count, and derived equation by equation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rnncalc.conventions.formula import Plus
from rnncalc.layers.layer import External
from rnncalc.questions import network_of
from rnncalc.questions.operations import OperationsDerivation, PassOperations
from rnncalc.reports.beside import ExtendedCountReport, on_unknown
from rnncalc.reports.explain import equations, row_data
from rnncalc.reports.report import DataReport, DerivationReport, fields
from rnncalc.typeset.equations import enumeration, plain, vector
from rnncalc.typeset.setting import in_model, setting, title
from rnncalc.typeset.sheet import Column, Phrase, Row, Sheet, worked
from rnncalc.words import all_of, plural

if TYPE_CHECKING:
    from rnncalc.network.model import Described

TITLES = {
    "multiply_adds": "Multiply-adds",
    "bias_additions": "Bias additions",
    "elementwise": "Element-wise",
    "activations": "Activations",
    "flops": "FLOPs",
}
"""The title of each number's column."""


class OperationsReport(ExtendedCountReport):
    """A count, and the operations of a forward pass."""

    columns: ClassVar[Mapping[str, str]] = TITLES
    within = "operations"

    operations: PassOperations

    def numbers(self) -> Iterator[dict[str, Any]]:
        return (fields(each, *TITLES) for each in (*self.operations.layers, self.operations.total))

    def notes(self) -> Iterator[str]:
        yield f"Operations of one forward pass over {plural(self.operations.batch, 'sequence')}."
        yield "Element-wise: products, quotients and sums of two numbers; FLOPs: 2 × multiply-adds (MACs) + the rest."
        yield from on_elsewhere_given(self.operations.network)


def on_elsewhere_given(network: Described) -> Iterator[str]:
    """Yield why numbers are unknown, and which parts that are counted elsewhere give no more than multiply-adds."""
    yield from on_unknown(network, "work")
    externals = [(each.full_name, each.layer) for each in network.stack if isinstance(each.layer, External)]
    names = [name for name, layer in externals if layer.work is not None]
    if names:
        yield f"{all_of(names)}: the multiply-adds that the spec gives, and no other operations."


class OperationsExplanationReport(DerivationReport, DataReport):
    """The report on a derivation of operations. within: the name of the network in a model of several."""

    operations: PassOperations
    layers: tuple[OperationsDerivation, ...]
    within: str | None = None

    def data(self) -> dict[str, Any]:
        counted = self.operations
        return {
            **fields(counted.network, "name", "convention"),
            "network": self.within,
            "notation": network_of(counted.network).spelling.name,
            "batch": counted.batch,
            "layers": [
                {
                    **fields(each.derivation.placed, "name", "kind"),
                    "equations": [*map(plain, equations(each.derivation))],
                    "step": [row_data(row) for row in _step(each)],
                    "sequence": [row_data(("", *row)) for row in _sequence(each)],
                    "operations": fields(each.counts, *TITLES),
                }
                for each in self.layers
            ],
            "operations": fields(counted.total, *TITLES),
        }

    def sheets(self) -> list[Sheet]:
        """Return two tables for each layer, of a step and of the sequence, and the FLOPs of all layers."""
        counted = self.operations
        head = Sheet((), (), title=title(counted.network), subtitle=setting(counted.network), notes=(*self._notes(),))
        sheets = [head, *in_model(self.within, (sheet for each in self.layers for sheet in _sheets(each)))]
        if counted.total and len(self.layers) == len(counted.network.stack) > 1:
            flops = [each.counts.flops for each in self.layers if each.counts]
            columns = Column("Network", key=True), Column("Arithmetic"), Column("Number", right=True)
            sheets.append(Sheet(columns, [("FLOPs", worked(Plus(tuple(flops))), counted.total.flops)]))
        return sheets

    def _notes(self) -> Iterator[str]:
        yield f"Operations of one forward pass over {plural(self.operations.batch, 'sequence')}."
        yield "A sum of two matrix products is part of their multiply-adds (MACs); FLOPs: 2 × multiply-adds + the rest."
        yield from on_elsewhere_given(self.operations.network)


def _step(each: OperationsDerivation) -> list[Row]:
    """Return a row for each kind of operations in an equation, or in equations that are alike."""
    sizes = each.derivation.placed.sizes
    rows: list[Row] = []
    for line in each.step:
        label = Phrase(enumeration([vector(left, sizes, each.derivation.notation) for left in line.lefts]))
        rows.append((label, TITLES[line.kind].lower(), worked(line.expression, sizes), line.number))
    return rows


def _sequence(each: OperationsDerivation) -> list[Row]:
    """Return a row for each kind of operations over the sequence, the FLOPs last."""
    sizes = each.derivation.placed.sizes
    return [(TITLES[line.kind], worked(line.expression, sizes), line.number) for line in each.sequence]


def _sheets(each: OperationsDerivation) -> Iterator[Sheet]:
    placed, sizes = each.derivation.placed, each.derivation.placed.sizes
    words = [placed.kind, *(f"{letter} = {size}" for letter, size in sizes.items())]
    if placed.layer.directions > 1:
        words.append("two directions")
    if placed.uses and placed.uses > 1:
        words.append(f"{placed.uses:,} steps")
    none = "It computes nothing that is counted."
    if isinstance(placed.layer, External) and placed.layer.work is None:
        none = "What it computes is not known: it is counted elsewhere."
    elif each.counts is None:
        none = "What it computes is not known without the number of steps."
    notes = () if each.step or each.sequence else (none,)
    lines, subtitle = equations(each.derivation), "; ".join(words)
    head = Sheet((), (), title=placed.name, subtitle=subtitle, equations=lines, notes=notes)
    columns = Column("Equation", key=True), Column("Operations"), Column("Arithmetic"), Column("Number", right=True)
    yield head.replace(columns=columns, rows=_step(each)) if each.step else head
    if each.sequence:
        over = Column("Over the sequence", key=True)
        yield Sheet((over, Column("Arithmetic"), Column("Number", right=True)), _sequence(each))
