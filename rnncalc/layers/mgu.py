"""The minimal gated unit."""

from __future__ import annotations

from rnncalc.layers.cell import (
    Activation,
    Gate,
    GatedCell,
    Habits,
    Operations,
    Product,
    RecurrentActivation,
    Stepped,
    Value,
)

_MEANING = "how much of the old state to {}, and how much the candidate sees"


class MGU(GatedCell):
    """The minimal gated unit (Zhou et al. 2016), one gate for forgetting and resetting: 2·h(m + h + 1) parameters."""

    kind = "mgu"

    activation: Activation = "tanh"
    recurrent_activation: RecurrentActivation | None = None

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        reads = Product("x"), self.past
        forget = Gate("f", self.recurrent_activation or "sigmoid", reads, "forget gate", _MEANING.format("replace"))
        return forget, Gate("n", self.activation, reads, "candidate", "the new state it proposes")

    def meaning(self, gate: Gate, habits: Habits) -> str:
        return _MEANING.format("keep") if gate.letter == "f" and habits.gate_keeps else gate.meaning

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Stepped[Value]:
        (h,) = state
        f = ops.gate("f", x=x, h=h)
        if self.resets_after(ops.habit("reset_after")):
            n = ops.through("n", ops.plus(ops.sum("n", x=x), ops.times(f, ops.sum("n", h=h))))
        else:
            n = ops.gate("n", x=x, h=ops.times(f, h))
        h = ops.blend(f, h, n) if ops.habit("gate_keeps") else ops.blend(f, n, h)
        return h, (h,)
