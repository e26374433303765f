"""The operations that a cell's step is written in: all that the author of a cell has to know of them.

A step is written once, in operations that are handed to it, and taken once, on symbols (`step/trace.py`). Whoever reads
the step reads the nodes that this gives: a pass runs them, equations are written of them, a picture is drawn of them.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

Value = TypeVar("Value")


class Operations(Protocol[Value]):
    """What a step may do. Vectors have h numbers unless said otherwise; `reads` are x, or states by their letters."""

    def __getattr__(self, name: str) -> Callable[..., Value]:
        """Return any other operation that `step/operations.py` has a row of, by its name."""

    def gate(self, letter: str, **reads: Value) -> Value:
        """Return a gate: the sum of its products with what it reads and of its biases, through its activation."""

    def sum(self, letter: str, **reads: Value) -> Value:
        """Return the part of a gate's sum that reads these, with the biases that stand beside them."""

    def through(self, letter: str, total: Value) -> Value:
        """Return a gate whose sum was made by hand: the sum through the gate's activation."""

    def has(self, letter: str) -> bool:
        """Return whether the layer has this gate."""

    def habit(self, name: str) -> bool:
        """Return one of the convention's habits (`cell.Habits`): what frameworks do differently in one cell."""

    def activate(self, activation: str, vector: Value) -> Value:
        """Return the vector through an activation that is no gate's."""

    def product(self, letter: str, vector: Value) -> Value:
        """Return the product of a matrix beside the gates, such as a projection, with a vector."""

    def scalar(self, letter: str) -> Value:
        """Return a trained number beside the gates, through its activation: a vector of one."""

    def plus(self, left: Value, right: Value) -> Value:
        """Return the element-wise sum."""

    def times(self, left: Value, right: Value) -> Value:
        """Return the element-wise product, ∘ in equations."""

    def over(self, left: Value, right: Value) -> Value:
        """Return the element-wise quotient."""

    def blend(self, gate: Value, where_one: Value, where_zero: Value) -> Value:
        """Return gate ∘ where_one + (1 − gate) ∘ where_zero."""

    def complement(self, vector: Value) -> Value:
        """Return 1 − vector."""

    def scale(self, scalar: Value, vector: Value) -> Value:
        """Return a vector times a vector of one."""

    def half(self, vector: Value) -> Value:
        """Return a direction's half of x, where x is as wide as both directions together; of one direction, all."""

    def shift(self, vector: Value, scalar: Value) -> Value:
        """Return a vector plus a vector of one, added to each number."""
