"""What the lines of a derivation of going back are called: by their gradients, and by whose matrices are meant."""

from __future__ import annotations

from rnncalc.conventions.catalogue import convention
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Output
from rnncalc.questions.explain_training import TrainingDerivation, WorkLine
from rnncalc.reports.equations import Derivative, Line, Term
from rnncalc.reports.sheet import Phrase
from rnncalc.step.costs import Gradient
from rnncalc.step.equations import STACKED, Application, Formula, Letter, Symbol, letters_of, output_matrix, within
from rnncalc.step.trace import trace
from rnncalc.text import all_of

LOSS = Term("L")


def gradient(line: WorkLine, each: TrainingDerivation) -> Phrase:
    """Return what a gradient is with respect to."""
    if line.gradient is Gradient.MATRIX:
        return Phrase(((Derivative(LOSS, _matrix(line, each)),),))
    layer = each.placed.layer
    if isinstance(layer, Cell) and not line.of:
        if any(layer.projects(weight) for weight in layer.weights if weight.letter in line.matrices):
            return Phrase(((Derivative(LOSS, Term("h")),), " before it is projected"))
        return Phrase(((Derivative(LOSS, Term("v")),), ", v being what ", (_matrix(line, each),), " reads"))
    past = isinstance(layer, Cell) and line.of != "x"
    time = "t−1" if past else "t" if isinstance(layer, Cell) or each.placed.sequence else ""
    return Phrase(((Derivative(LOSS, Term(line.of, time=time)),),))


def products(line: WorkLine, each: TrainingDerivation) -> Phrase:
    """Return whose matrices are meant."""
    back = line.gradient is not Gradient.MATRIX
    if stacked := _stacked(line, each):
        rows = _rows(line, each, stacked)
        return Phrase(("back through ", *rows) if back else rows)
    if len(line.matrices) > 1:
        gates = f"the gates {all_of([*line.matrices])}"
        return Phrase((f"back through those of {gates}" if back else f"matrices of {gates}",))
    return Phrase(("back through ", (_matrix(line, each),)) if back else ("its matrix",))


def _matrix(line: WorkLine, each: TrainingDerivation) -> Term:
    """Return what a matrix is called in the equations; those of several gates without the gates' letters."""
    layer = each.placed.layer
    if not isinstance(layer, Cell):
        return Term(*(output_matrix(each.of.notation) if isinstance(layer, Output) else ("W", "")))
    stacked = _stacked(line, each)
    if len(line.matrices) > 1:
        return Term("W") if stacked else Term(*_letters(line, each, ""))
    own = _letters(line, each, line.matrices[0])
    return Term(*stacked.get(own, own))


def _letters(line: WorkLine, each: TrainingDerivation, matrix: str) -> Letter:
    """Return the letters of one matrix of a cell, read by itself."""
    layer, placed = each.placed.layer, each.placed
    assert isinstance(layer, Cell)  # others have one matrix
    letters = letters_of(trace(layer, placed.inputs, convention(each.of.convention)), each.of.notation)
    return letters.product(line.of, matrix) if line.of else ("W", f"h{matrix}")


def _stacked(line: WorkLine, each: TrainingDerivation) -> dict[Letter, Letter]:
    """Return those of a line's matrices that the equations have in a larger one, each with the larger one."""
    stacks = [
        formula.operands
        for equation in each.of.equations
        for formula in within(equation.right)
        if isinstance(formula, Application) and formula.operation == STACKED
    ]
    found = {_letter(product): _letter(stack) for stack, *products in stacks for product in products}
    own = (_letters(line, each, matrix) for matrix in line.matrices) if found else ()
    return {letters: found[letters] for letters in own if letters in found}


def _letter(formula: Formula) -> Letter:
    """Return the letters of a matrix, or of the one in a product."""
    symbol = formula if isinstance(formula, Symbol) else formula.operands[0]
    assert isinstance(symbol, Symbol)
    return symbol.letter, symbol.subscript


def _rows(line: WorkLine, each: TrainingDerivation, stacked: dict[Letter, Letter]) -> tuple[str | Line, ...]:
    """Return `the rows for x in W_z and W_r`, behind the matrices that are not stacked."""
    own = [_letters(line, each, matrix) for matrix in line.matrices]
    alone = [part for letters in own if letters not in stacked for part in (", ", (Term(*letters),))][1:]
    rows = _all_of([Term(*stacked[letters]) for letters in own if letters in stacked])
    return (*alone, f"{', and ' if alone else ''}the rows for {line.of} in ", *rows)


def _all_of(terms: list[Term]) -> tuple[str | Line, ...]:
    """Return `a, b and c`."""
    signs = ["", *[", "] * (len(terms) - 2), " and "][: len(terms)]
    return tuple(part for sign, term in zip(signs, terms, strict=True) for part in (sign, (term,)))
