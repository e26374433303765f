"""How equations are spelled: which letters matrices have, on which side of a vector they stand, which lie in one.

Whoever names a matrix asks here: equations, drawings, what training holds. The numbers are the same in all notations.
Knows no cell by name, and nothing of how an equation is written down.
"""

from __future__ import annotations

from typing import NamedTuple

from rnncalc.layers.cell import Cell, Form, Product


class Notation(NamedTuple):
    """A way to spell equations.

    rows: vectors are rows, and stand before matrices, which are the transposes of those that stand before columns.
    stacked: what a gate reads is one vector, and its matrices are one.
    by_letter: what a matrix multiplies is said by its letter, not below it.
    """

    name: str
    rows: bool = False
    stacked: bool = False
    by_letter: bool = False


NOTATIONS = {
    each.name: each
    for each in (
        Notation("w"),
        Notation("uvw", by_letter=True),
        Notation("rows", rows=True),
        Notation("stacked", rows=True, stacked=True),
    )
}
"""Every notation by its name; the first is meant where none is named."""

W = NOTATIONS["w"]

Letter = tuple[str, str]
"""A letter, and what stands below it."""


class Letters(NamedTuple):
    """The letters of the weights of one cell in a notation.

    past: the letter of the state that is the cell's memory; alone: whether the cell has one gate, which then need not
    be told from others by name where the notation's letters tell its weights apart.
    """

    notation: Notation
    past: str
    alone: bool

    def product(self, gate: str, product: Product) -> Letter:
        """Return the letters of what a product of a gate multiplies by, be it the gate's own or shared."""
        return self.matrix(product.of, gate if product.matrix is None else product.matrix, product.form)

    def matrix(self, of: str, gates: str, form: Form = Form.FULL) -> Letter:
        """Return the letters of what multiplies x or a state, in the gates of some letters, which may be none.

        What multiplies element by element is a small letter, as textbooks have peepholes; a diagonal recurrence keeps
        the W of the matrix that it stands for.
        """
        if self.notation.by_letter and of in ("x", self.past):
            return "U" if of == "x" else "W", self._below(gates)
        return "w" if form is Form.DIAGONAL and of != self.past else "W", f"{of}{gates}"

    def beside(self, letter: str) -> Letter:
        """Return the letters of a matrix beside the gates, a projection say."""
        return "W", f"h{letter}"

    def bias(self, gate: str, of: str = "") -> Letter:
        """Return the letters of a bias; `of` where a gate has two, beside the product of x and that of the past."""
        return "b", f"{of}{self._below(gate)}"

    def _below(self, gate: str) -> str:
        return "" if self.alone and self.notation.by_letter else gate


def letters_of(layer: Cell, inputs: int, notation: Notation = W) -> Letters:
    """Return the letters of a cell that reads `inputs` features."""
    return Letters(notation, next(iter(layer.states)), len(layer.gates(inputs)) == 1)


def output_matrix(notation: Notation) -> Letter:
    """Return the letters of the matrix of an output layer."""
    return ("V", "") if notation.by_letter else ("W", "hy")
