"""The simple recurrent unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rnncalc.layers.cell import Cell, Form, Gate, Product

if TYPE_CHECKING:
    from rnncalc.layers.operations import Operations, Value


class SRU(Cell):
    """The simple recurrent unit (Lei et al. 2018): 4·h·m + 4h parameters, 3·h·m + 4h where m = h.

    Its gates see the past through a weight a unit; the skip connection is the input itself where m = h, else a product.
    """

    kind = "sru"

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        x, past = Product("x"), Product("c", Form.DIAGONAL)
        gates = (
            Gate("n", "linear", (x,), "candidate", "what could be written", bias=False),
            Gate("f", "sigmoid", (x, past), "forget gate", "how much of the cell state to keep"),
            Gate("r", "sigmoid", (x, past), "reset gate", "how much of the cell state to show, not of the skip"),
        )
        skip = Gate("s", "linear", (x,), "skip", "the input in the width of the cell", bias=False)
        return gates if inputs == self.units else (*gates, skip)

    @property
    def states(self) -> Mapping[str, str]:
        return {"c": "h"}

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> tuple[Value, tuple[Value, ...]]:
        (past,) = state
        n = ops.gate("n", x=x)
        f = ops.gate("f", x=x, c=past)
        r = ops.gate("r", x=x, c=past)
        c = ops.blend(f, past, n)
        h = ops.blend(r, c, ops.gate("s", x=x) if ops.has("s") else x)
        return h, (c,)
