"""The fast, accurate, stable and tiny gated recurrent network."""

from __future__ import annotations

from rnncalc.layers.cell import Activation, Cell, Gate, Operations, Product, Stepped, Value, Weight


class FastGRNN(Cell):
    """FastGRNN (Kusupati et al. 2018): h(m + h) + 2h + 2 parameters, its gate and candidate sharing both matrices.

    h_t = (ζ(1 − z) + ν)∘n + z∘h_(t−1). ζ and ν are two trained numbers; σ of the stored numbers keeps them between 0
    and 1, as in the authors' EdgeML and in the package torchrecurrent (0.2.5).

    That package differs by default. Each of its gates has a second bias beside the recurrent product, 2h more;
    `recurrent_bias=False` leaves it out. Its gate has tanh where the paper has σ, which is `nonlinearity="sigmoid"`.
    Its candidate always has tanh.
    """

    kind = "fastgrnn"

    activation: Activation = "tanh"

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        reads = Product("x", matrix=""), Product("h", matrix="")
        update = Gate("z", "sigmoid", reads, "update gate", "how much of the old state to keep")
        return update, Gate("n", self.activation, reads, "candidate", "the new state it proposes")

    @property
    def weights(self) -> tuple[Weight, ...]:
        return Weight("zeta", (), "share of the candidate", "sigmoid"), Weight("nu", (), "least share", "sigmoid")

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Stepped[Value]:
        (h,) = state
        z = ops.gate("z", x=x, h=h)
        n = ops.gate("n", x=x, h=h)
        share = ops.shift(ops.scale(ops.scalar("zeta"), ops.complement(z)), ops.scalar("nu"))
        h = ops.plus(ops.times(share, n), ops.times(z, h))
        return h, (h,)
