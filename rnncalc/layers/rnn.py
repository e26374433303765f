"""Elman's simple recurrent network."""

from __future__ import annotations

from rnncalc.layers.cell import Activation, Gate, GatedCell, Operations, Product, Stepped, Value


class RNN(GatedCell):
    """Elman's simple recurrent network (1990): h_t = tanh(W_xh x_t + W_hh h_(t-1) + b_h), h(m + h + 1) parameters.

    With `recurrence: diagonal` and relu it is the IndRNN (Li et al. 2018). With `layer_norm: true` its sum is
    normalised (Ba et al. 2016, equation 4), which takes a gain of h.
    """

    kind = "rnn"

    activation: Activation | None = None
    layer_norm: bool = False

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        reads = Product("x"), self.past
        meaning = "mixes the input with the memory of the step before"
        return (Gate("h", self.activation or "tanh", reads, "hidden state", meaning, normalised=self.layer_norm),)

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Stepped[Value]:
        (h,) = state
        h = ops.gate("h", x=x, h=h)
        return h, (h,)
