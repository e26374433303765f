"""What an explanation of training says: for each layer what is held and what going back multiplies, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rnncalc.conventions.formula import Expression, Plus, letters, numbers
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External, Output
from rnncalc.network.parts import Topology
from rnncalc.questions.explain_training import HeldLine, Kind, TrainingDerivation, TrainingExplanation, WorkLine
from rnncalc.questions.held import Gradient
from rnncalc.questions.nodes import stacks
from rnncalc.questions.notation import Letter, letters_of, output_matrix
from rnncalc.reports.equations import plain, vector, written
from rnncalc.reports.setting import names, setting, title
from rnncalc.reports.sheet import Arithmetic, Column, Sheet
from rnncalc.reports.training import chunks_told, truncated, weighed
from rnncalc.text import all_of

Row = tuple[str, str, Arithmetic, int]
"""A line of a derivation: its label, what it is, the arithmetic, the number."""

SUM_OVER_K = "∂L/∂W = Σ_t Σ_k ∂L_t/∂h_t · ∂h_t/∂h_k · ∂h_k/∂W, k from 1 to t: every step k uses the same W."
OF_THE_LAST = "∂L/∂W = Σ_k ∂L/∂h_T · ∂h_T/∂h_k · ∂h_k/∂W, k from 1 to T: every step k uses the same W."
LEFT_OUT = "Of these terms a chunk keeps those whose k lies in it; what h_t owes to earlier chunks is left out."
OF_THE_LAST_LEFT_OUT = "Of these terms those stay whose k lies in the last chunk; what h_T owes to others is left out."

WHAT = {
    Kind.INPUT: "input",
    Kind.STATE_BEFORE: "state before a step",
    Kind.STATE: "state after the last step",
    Kind.OUTPUT: "what is handed on",
    Kind.OTHER: "",
}
"""What a vector that is held is; a gate has a name of its own."""


class TrainingExplanationReport(NamedTuple):
    """An explanation of training, said."""

    explanation: TrainingExplanation

    def data(self) -> dict[str, Any]:
        """Return the JSON object."""
        training = self.explanation.training
        return {
            "name": training.network.name,
            "convention": training.network.convention,
            "layers": [_layer_data(each) for each in self.explanation.layers],
            "gradients": training.gradients,
            "held": training.held,
            "backward_multiply_adds": training.backward_multiply_adds,
            "bytes": training.bytes,
            "remarks": [*self._remarks()],
        }

    def sheets(self) -> list[Sheet]:
        """Return two tables a layer, what is held and what going back multiplies, and what follows from all."""
        network = self.explanation.training.network
        head = Sheet(columns=(), rows=(), title=title(network), subtitle=setting(network), notes=(*self._remarks(),))
        return [head, *(sheet for each in self.explanation.layers for sheet in _sheets(each))]

    def derivations(self) -> list[Sheet]:
        """Return the same sheets."""
        return self.sheets()

    def _remarks(self) -> Iterator[str]:
        training = self.explanation.training
        network = training.network
        yield from chunks_told(training)
        if any(isinstance(each.layer, Cell) for each in network.stack):
            last = network.topology_name == Topology.MANY_TO_ONE
            yield OF_THE_LAST if last else SUM_OVER_K
            if truncated(training):
                yield OF_THE_LAST_LEFT_OUT if last else LEFT_OUT
        yield weighed(training)


def _layer_data(each: TrainingDerivation) -> dict[str, Any]:
    placed = each.placed
    return {
        "name": placed.name,
        "kind": placed.layer.kind,
        "copies": placed.copies,
        "steps": each.steps,
        "equations": [plain(written(equation, placed.sizes, each.of.notation.rows)) for equation in each.of.equations],
        "held": [_row_data(row) for row in _held(each)],
        "backward_multiply_adds": [_row_data(row) for row in _work(each)],
    }


def _row_data(row: Row) -> dict[str, Any]:
    label, what, arithmetic, number = row
    return {
        "label": label,
        "what": what,
        "formula": arithmetic.letters,
        "substituted": arithmetic.numbers,
        "number": number,
    }


def _held(each: TrainingDerivation) -> list[Row]:
    """Return the lines of what is held, and their sum."""
    sizes = {**each.placed.sizes, each.letter: each.steps}
    rows = [
        (
            vector(line.node, sizes, each.of.notation.rows),
            _what(line, each),
            _arithmetic(line.expression, sizes),
            line.number,
        )
        for line in each.held
    ]
    total = sum(line.number for line in each.held)
    return [*rows, ("held", "all of it", _arithmetic(each.formula, sizes), total)] if rows else []


def _what(line: HeldLine, each: TrainingDerivation) -> str:
    if isinstance(each.placed.layer, Embedding):
        return "token number"
    return line.gate or WHAT[line.kind]


def _work(each: TrainingDerivation) -> list[Row]:
    """Return the lines of the products of going back, and their sum."""
    sizes = each.placed.sizes
    rows = [
        (_gradient(line, each), _products(line, each), _arithmetic(line.expression, sizes), line.number)
        for line in each.work
    ]
    found = [line.number for line in each.work]
    return [*rows, ("backward", "all of it", _arithmetic(Plus(tuple(found)), sizes), sum(found))] if rows else []


def _gradient(line: WorkLine, each: TrainingDerivation) -> str:
    """Return what a gradient is with respect to."""
    if line.gradient is Gradient.MATRIX:
        return f"∂L/∂{_matrix(line, each)}"
    layer = each.placed.layer
    if isinstance(layer, Cell) and not line.of:
        projects = any(layer.projects(weight) for weight in layer.weights if weight.letter in line.matrices)
        return "∂L/∂h before it is projected" if projects else f"∂L/∂ what {_matrix(line, each)} reads"
    past = isinstance(layer, Cell) and line.of != "x"
    return f"∂L/∂{line.of}_(t−1)" if past else f"∂L/∂{line.of}_t"


def _matrix(line: WorkLine, each: TrainingDerivation) -> str:
    """Return what a matrix is called in the equations; those of several gates without the gates' letters."""
    layer = each.placed.layer
    if not isinstance(layer, Cell):
        return _spelled(output_matrix(each.of.notation) if isinstance(layer, Output) else ("W", ""))
    stacked = _stacked(line, each)
    if len(line.matrices) > 1:
        return "W" if stacked else _spelled(_letters(line, each, ""))
    own = _letters(line, each, line.matrices[0])
    return _spelled(stacked.get(own, own))


def _letters(line: WorkLine, each: TrainingDerivation, matrix: str) -> Letter:
    """Return the letters of one matrix of a cell, read by itself."""
    layer, placed = each.placed.layer, each.placed
    assert isinstance(layer, Cell)  # others have one matrix
    letters = letters_of(layer, placed.inputs, each.of.notation)
    return letters.matrix(line.of, matrix) if line.of else letters.beside(matrix)


def _spelled(letters: Letter) -> str:
    letter, below = letters
    return f"{letter}_{below}" if below else letter


def _stacked(line: WorkLine, each: TrainingDerivation) -> dict[Letter, Letter]:
    """Return those of a line's matrices that the equations have in a larger one, each with the larger one."""
    found = {
        (product.matrix.letter, product.matrix.subscript): (stack.matrix.letter, stack.matrix.subscript)
        for equation in each.of.equations
        for stack in stacks(equation.right)
        for product in stack.products
    }
    own = (_letters(line, each, matrix) for matrix in line.matrices) if found else ()
    return {letters: found[letters] for letters in own if letters in found}


def _rows(line: WorkLine, each: TrainingDerivation, stacked: dict[Letter, Letter]) -> str:
    """Return `the rows for x in W_z and W_r`, behind the matrices that are not stacked."""
    own = [_letters(line, each, matrix) for matrix in line.matrices]
    alone = [_spelled(letters) for letters in own if letters not in stacked]
    rows = f"the rows for {line.of} in {all_of([_spelled(stacked[letters]) for letters in own if letters in stacked])}"
    return f"{', '.join(alone)}, and {rows}" if alone else rows


def _products(line: WorkLine, each: TrainingDerivation) -> str:
    """Return whose matrices are meant."""
    if stacked := _stacked(line, each):
        rows = _rows(line, each, stacked)
        return rows if line.gradient is Gradient.MATRIX else f"back through {rows}"
    if len(line.matrices) > 1:
        gates = f"the gates {all_of([*line.matrices])}"
        return f"matrices of {gates}" if line.gradient is Gradient.MATRIX else f"back through those of {gates}"
    return "its matrix" if line.gradient is Gradient.MATRIX else f"back through {_matrix(line, each)}"


def _arithmetic(expression: Expression, sizes: Mapping[str, int]) -> Arithmetic:
    return Arithmetic(letters(expression), numbers(expression, sizes))


def _sheets(each: TrainingDerivation) -> Iterator[Sheet]:
    placed, notes = each.placed, tuple(_notes(each))
    steps = f"{each.letter} = {each.steps}: steps gone back through together" if each.steps > 1 else ""
    sizes = [f"{letter} = {size}" for letter, size in placed.sizes.items()]
    lines = tuple(written(equation, placed.sizes, each.of.notation.rows) for equation in each.of.equations)
    head = Sheet((), (), title=names(placed), subtitle="; ".join(filter(None, (placed.layer.kind, steps, *sizes))))
    held, work = (
        _table(name, number, rows)
        for name, number, rows in (("Held", "Numbers", _held(each)), ("Gradient", "Multiply-adds", _work(each)))
    )
    first = held or work or head
    yield first._replace(title=head.title, subtitle=head.subtitle, equations=lines, notes=notes)
    if held and work:
        yield work


def _table(name: str, number: str, rows: list[Row]) -> Sheet | None:
    """Return lines as a table, the last being their sum; None where there are none."""
    if not rows:
        return None
    columns = Column(name, key=True), Column("What it is"), Column("Arithmetic"), Column(number, right=True)
    return Sheet(columns, rows[:-1], rows[-1])


def _notes(each: TrainingDerivation) -> Iterator[str]:
    layer = each.placed.layer
    if isinstance(layer, External):
        yield "What it holds is not known: it is counted elsewhere."
    elif layer.frozen:
        yield "Frozen: it holds what gradients through it need, and gets none of its own."
    elif not each.held:
        yield "It holds nothing, and going back multiplies nothing."
    elif isinstance(layer, Cell) and layer.directions > 1:
        yield "Both directions are told together, twice the steps of one; what both read, x, is held once."
