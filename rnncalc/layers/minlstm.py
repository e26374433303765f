"""The minimal LSTM."""

from __future__ import annotations

from rnncalc.layers.cell import Activation, Cell, Gate, Operations, Product, Stepped, Value


class MinLSTM(Cell):
    """The minimal LSTM (Feng et al. 2024, section 3.2), whose gates read the input alone: 3·h(m + 1) parameters.

    The two gates are shares of their sum: h_t = f/(f + i)∘h_(t−1) + i/(f + i)∘n. There is no cell state beside h.

    The candidate is linear, and where the package minGRU-pytorch (0.2.1) differs it is as with the minGRU: no biases,
    3·h·m, which is `bias: false`, and g(n) of the paper's appendix B.3 instead of n. Its scan over a whole sequence
    also sends the state it starts from through g, which its single steps do not; here a state is used unchanged.
    """

    kind = "minlstm"

    activation: Activation = "linear"

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        reads = (Product("x"),)
        return (
            Gate("f", "sigmoid", reads, "forget gate", "how much of the old state to keep"),
            Gate("i", "sigmoid", reads, "input gate", "how much of the candidate to write"),
            Gate("n", self.activation, reads, "candidate", "the new state it proposes"),
        )

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Stepped[Value]:
        (h,) = state
        f = ops.gate("f", x=x)
        i = ops.gate("i", x=x)
        n = ops.gate("n", x=x)
        both = ops.plus(f, i)
        h = ops.plus(ops.times(ops.over(f, both), h), ops.times(ops.over(i, both), n))
        return h, (h,)
