"""What an explanation says: a derivation a layer with its equations, then the total, then the dense equivalent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rnncalc.conventions.catalogue import convention
from rnncalc.conventions.formula import Times, letters, numbers
from rnncalc.conventions.tensor import Axis, Role
from rnncalc.network.network import Network
from rnncalc.questions.dense import DenseEquivalent
from rnncalc.questions.explain import Derivation, Explanation, Step, What
from rnncalc.reports.equations import Line, Term, plain, written
from rnncalc.reports.remarks import gates, letters_of, on_biases, on_notation, on_this_layer
from rnncalc.reports.report import DataReport, DerivationReport, PageReport
from rnncalc.reports.setting import one_to_many, setting, title
from rnncalc.reports.sheet import Arithmetic, Column, Name, Sheet, Value, name_of
from rnncalc.text import decimal

if TYPE_CHECKING:
    from rnncalc.reports.pictures.picture import Picture

HOLDS = {
    Role.INPUT: "input matrix",
    Role.RECURRENT: "recurrent matrix",
    Role.BIAS: "bias",
    Role.RECURRENT_BIAS: "bias on the recurrent side",
    Role.PROJECTION: "projection of the output",
    Role.MATRIX: "matrix beside the gates",
    Role.PEEPHOLE: "peephole weights",
    Role.STATE: "learned initial state",
    Role.KERNEL: "matrix",
    Role.EMBEDDING: "table of vectors",
    Role.EXTERNAL: "counted elsewhere",
    Role.SCALAR: "trained number",
}
"""What a tensor of each role is called."""


class ExplanationReport(PageReport, DataReport, DerivationReport):
    """An explanation, said."""

    explanation: Explanation

    @property
    def network(self) -> Network:
        """The network that is explained."""
        return self.explanation.network

    def data(self) -> dict[str, Any]:
        """Return the JSON object."""
        found = self.explanation
        return {
            "name": self.network.name,
            "convention": self.network.convention,
            "notation": found.notation.name,
            "layers": [_layer_data(each) for each in found.layers],
            "params": found.total and found.total.params,
            "dense": found.dense and [_row_data(row) for row in _dense_rows(found.dense)],
        }

    def sheets(self) -> list[Sheet]:
        """Return a derivation a layer, then the total, then the dense equivalent."""
        return [*self._head(), *self._layers(), *self._network()]

    def page(self) -> Iterator[Sheet | Picture]:
        """Yield what else stands on a page about the network, around the same derivations."""
        from rnncalc.reports.page import page  # no other format asks for all of that

        return page(self.explanation, self._layers(), self._network())

    def _head(self) -> Iterator[Sheet]:
        if self.explanation.total is not None:
            later = one_to_many(self.network)
            head = Sheet(columns=(), rows=(), title=title(self.network), subtitle=setting(self.network))
            yield head._replace(notes=(later,)) if later else head

    def _layers(self) -> list[Sheet]:
        told: set[tuple[str, str]] = set()  # what has been said of the gates and biases of a kind: once is enough
        return [_sheet(each, told) for each in self.explanation.layers]

    def _network(self) -> Iterator[Sheet]:
        """Yield the total of several layers, and the dense equivalent, where all layers are explained."""
        found = self.explanation
        if found.total is not None and len(found.layers) > 1:
            yield _rows_sheet("Total", [_row(found.total)])
        if found.dense and found.dense.ratio is not None:
            ratio = f"{found.dense.params:,} is {decimal(found.dense.ratio)} × this network's {self.network.params:,}."
            steps = " and ".join(f"{part.steps:,}" for part in self.network.parts.values())
            subtitle = f"all {steps} steps at once, no weights shared: each layer of width w has T·w units"
            sheet = _rows_sheet("Dense equivalent", [*_dense_rows(found.dense)], (ratio,))
            key, what, *others = sheet.columns
            yield sheet._replace(subtitle=subtitle, summed=True, columns=(key, what._replace(whole=True), *others))

    def derivations(self) -> list[Sheet]:
        """Return the same sheets."""
        return self.sheets()


Row = tuple[str | Name, str, Arithmetic, int]
"""A line of a derivation: its label, what it is, the arithmetic, the parameters."""


def _layer_data(each: Derivation) -> dict[str, Any]:
    placed = each.placed
    return {
        "name": placed.name,
        "kind": placed.layer.kind,
        "copies": 1,
        "letters": [*letters_of(each)],
        "gates": [*gates(each)],
        "equations": [_equation_data(line) for line in _equations(each)],
        "steps": [_row_data(_row(step, each.convention)) for step in each.steps],
        "remarks": [*on_biases(each), *on_this_layer(each)],
        "params": placed.params,
    }


def _equation_data(line: Line) -> dict[str, Any]:
    shapes = {piece.name: list(piece.shape) for piece in line if isinstance(piece, Term)}
    return {"text": plain(line), "shapes": shapes}


def _row_data(row: Row) -> dict[str, Any]:
    label, what, arithmetic, params = row
    return {
        "label": label if isinstance(label, str) else name_of(label),
        "what": what,
        "formula": arithmetic.letters,
        "substituted": arithmetic.numbers,
        "params": params,
    }


def _row(step: Step, convention_name: str = "") -> Row:
    """Return a line; a tensor whose name is a symbol under the convention is called by it."""
    arithmetic = Arithmetic(letters(step.expression), numbers(step.expression, step.sizes))
    label, what = _words(step)
    if step.what is What.TENSOR and convention(convention_name).symbols:
        direction, mark, symbol = label.rpartition("/")
        letter, _, below = symbol.partition("_")
        return Name(letter, below, direction + mark), what, arithmetic, step.params
    return label, what, arithmetic, step.params


def _words(step: Step) -> tuple[str, str]:
    """Return what a line is called, and what it is."""
    match step.what:
        case What.TENSOR:
            what = HOLDS[step.role] if step.role else ""
            if step.role is Role.RECURRENT and step.expression == Times((Axis(1, "h"),)):
                what = "recurrent weights, one a unit"
            if len(step.gates) > 1:
                what += f"{'es' if step.role is Role.BIAS else ''} of the gates {', '.join(step.gates)}"
            return step.name, what
        case What.GATES:
            return f"{len(step.gates)} gates", ", ".join(step.gates)
        case What.DIRECTIONS:
            return "2 directions", "forward, backward"
        case What.FORMULA:
            return "formula", "all of it in one"
        case What.TOTAL:
            return "Total", "all layers"
        case _:
            return step.what.value, ""


def _dense_rows(dense: DenseEquivalent) -> Iterator[Row]:
    for layer in dense.layers:
        arithmetic = numbers(layer.expression, layer.sizes)
        yield layer.name, f"{layer.inputs:,} → {layer.units:,}", Arithmetic(arithmetic, arithmetic), layer.params
    total = " + ".join(str(layer.params) for layer in dense.layers) or "0"
    yield "Total", "", Arithmetic(total, total), dense.params


def _sheet(each: Derivation, told: set[tuple[str, str]]) -> Sheet:
    """Return a layer's derivation; what is `told` of its kind is not said again, and what is said is told."""
    kind = each.placed.layer.kind
    general = [(kind, text) for text in (*(f"Gate {gate}." for gate in gates(each)), *on_biases(each))]
    general += [("", text) for text in on_notation(each)]
    notes = [text for text in general if text not in told]
    told.update(notes)
    placed = each.placed
    rows = [_row(step, each.convention) for step in each.steps]
    sheet = _rows_sheet(placed.name, rows, (*(text for _, text in notes), *on_this_layer(each)))
    subtitle = "; ".join((placed.layer.kind, *letters_of(each)))
    return sheet._replace(subtitle=subtitle, equations=_equations(each))


def _equations(each: Derivation) -> tuple[Line, ...]:
    return tuple(written(equation, each.placed.sizes, each.notation.rows) for equation in each.equations)


def _rows_sheet(title: str, rows: list[Row], notes: tuple[str, ...] = ()) -> Sheet:
    """Return lines as a table; the last is what the others lead to, not their sum."""
    if not rows:
        return Sheet(columns=(), rows=(), title=title, notes=("No parameters.", *notes))
    columns = (Column("Step", key=True), Column("What it is"), Column("Arithmetic"), Column("Parameters", right=True))
    values: list[tuple[Value, ...]] = [*rows]
    return Sheet(columns=columns, rows=values[:-1], total=values[-1], title=title, notes=notes, summed=False)
