"""The simple recurrent unit."""

from __future__ import annotations

from collections.abc import Mapping

from rnncalc.layers.cell import Cell, Form, Gate, Operations, Product, Stepped, Value


class SRU(Cell):
    """The simple recurrent unit (Lei et al. 2018): 4·h·m + 4h per direction; 3·h·m + 4h if m is the output's width.

    Its gates see the past through one weight for each unit. The skip connection is the input itself if that is as wide
    as the output: m = h, or m = 2h with two directions, half of it each. Else it is a product.
    The state is c; the output, h = r∘c + (1 − r)∘skip, is no state. Candidate and skip have no biases.

    The paper's equations have m = h and one direction; other widths and both directions are as in the authors' package
    sru (2.6.0). The paper multiplies the skip by a constant α to start training from: the package's `rescale`,
    off by default in its SRU and on in its SRUCell, left out here. Two layers are the package's default, one is
    `num_layers=1`; `bias: false` it cannot say.
    """

    kind = "sru"

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        x, past = Product("x"), Product("c", Form.DIAGONAL)
        shown = "how much of the cell state to show, not of the skip; the paper calls it reset gate"
        gates = (
            Gate("n", "linear", (x,), "candidate", "what could be written", bias=False),
            Gate("f", "sigmoid", (x, past), "forget gate", "how much of the cell state to keep"),
            Gate("r", "sigmoid", (x, past), "highway gate", shown),
        )
        skip = Gate("s", "linear", (x,), "skip", "the input in the width of the cell", bias=False)
        return gates if inputs == self.other_gates_at else (*gates, skip)

    @property
    def other_gates_at(self) -> int:
        return self.directions * self.units

    @property
    def states(self) -> Mapping[str, str]:
        return {"c": "h"}

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Stepped[Value]:
        (past,) = state
        n = ops.gate("n", x=x)
        f = ops.gate("f", x=x, c=past)
        r = ops.gate("r", x=x, c=past)
        c = ops.blend(f, past, n)
        h = ops.blend(r, c, ops.gate("s", x=x) if ops.has("s") else ops.half(x))
        return h, (c,)
