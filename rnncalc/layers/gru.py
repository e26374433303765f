"""The gated recurrent unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from rnncalc.layers.cell import Activation, Gate, GatedCell, Operations, Product, RecurrentActivation, Stepped, Value
from rnncalc.layers.layer import OptionProblem


class GRU(GatedCell):
    """The gated recurrent unit (Cho et al. 2014): 3·h(m + h + 1) parameters.

    With `update_gate: replaces` z is the share of the new state (Chung et al. 2014). Without a reset gate it is the
    simplified GRU of many lectures and the UGRNN (Collins et al. 2016), 2·h(m + h + 1); with relu too, the Li-GRU
    (Ravanelli et al. 2018).

    With `layer_norm: true` the sum of each gate is normalised, which takes h numbers per block for a gain, as Ba et al.
    (2016) do for an RNN; in the GRU of their appendix both products of a gate are normalised apart.
    """

    kind = "gru"

    activation: Activation = "tanh"
    reset_after: bool | None = None
    reset_gate: bool = True
    update_gate: Literal["keeps", "replaces"] | None = None
    recurrent_activation: RecurrentActivation | None = None
    layer_norm: bool = False

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        reads = Product("x"), self.past
        keep = "replace" if self.update_gate == "replaces" else "keep"
        sigmoid = self.recurrent_activation or "sigmoid"
        update = Gate("z", sigmoid, reads, "update gate", f"how much of the old state to {keep}")
        reset = Gate("r", sigmoid, reads, "reset gate", "how much of the old state the candidate sees")
        candidate = Gate("n", self.activation, reads, "candidate", "the new state it proposes")
        gates = (update, reset, candidate) if self.reset_gate else (update, candidate)
        return tuple(gate._replace(normalised=True) if self.layer_norm else gate for gate in gates)

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Stepped[Value]:
        (h,) = state
        z = ops.gate("z", x=x, h=h)
        if not self.reset_gate:
            n = ops.gate("n", x=x, h=h)
        elif self.resets_after(ops.habit("reset_after")):
            r = ops.gate("r", x=x, h=h)
            n = ops.through("n", ops.plus(ops.sum("n", x=x), ops.times(r, ops.sum("n", h=h))))
        else:
            r = ops.gate("r", x=x, h=h)
            n = ops.gate("n", x=x, h=ops.times(r, h))
        h = ops.blend(z, n, h) if self.update_gate == "replaces" else ops.blend(z, h, n)
        return h, (h,)

    def resets_after(self, habit: bool) -> bool:
        return habit if self.reset_after is None else self.reset_after

    def option_problems(self) -> Iterator[OptionProblem]:
        yield from super().option_problems()
        if self.reset_after is not None and not self.reset_gate:
            yield "reset_after", "needs a reset gate, and reset_gate: false removes it; remove one of the two options"
