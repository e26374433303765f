"""The minimal GRU."""

from __future__ import annotations

from rnncalc.layers.cell import Activation, Cell, Gate, Operations, Product, Stepped, Value


class MinGRU(Cell):
    """The minimal GRU (Feng et al. 2024, section 3.1), whose gates read the input alone: 2·h(m + 1) parameters.

    h_t = (1 − z)∘h_(t−1) + z∘n. The candidate is linear, as the paper has it.

    The paper does not say whether its Linear has biases; here it has them, as nn.Linear by default. The package
    minGRU-pytorch (0.2.1) has none: 2·h·m, `bias: false`. It computes the paper's appendix B.3, where the candidate is
    g(n), which is n + 1/2 for n ≥ 0 and σ(n) below, so that a scan can take logarithms; here there is no g.
    For a width other than m the package adds a matrix back to m after the cell, unless `proj_out=False`; that is a
    dense layer here.
    """

    kind = "mingru"

    activation: Activation = "linear"

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        reads = (Product("x"),)
        update = Gate("z", "sigmoid", reads, "update gate", "how much of the old state to replace")
        return update, Gate("n", self.activation, reads, "candidate", "the new state it proposes")

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Stepped[Value]:
        (h,) = state
        h = ops.blend(ops.gate("z", x=x), ops.gate("n", x=x), h)
        return h, (h,)
