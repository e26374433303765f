"""Long short-term memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rnncalc.layers.cell import (
    Activation,
    Form,
    Gate,
    GatedCell,
    Operations,
    Product,
    RecurrentActivation,
    Stepped,
    Value,
    Weight,
)
from rnncalc.layers.layer import OptionProblem

_KEPT = "how much of the cell state to keep"


class LSTM(GatedCell):
    """Long short-term memory (Hochreiter and Schmidhuber 1997, forget gate Gers et al. 2000): 4·h(m + h + 1).

    Projections are those of Sak et al. (2014), peepholes those of Gers and Schmidhuber (2000). With `coupled: true` the
    input gate is one minus the forget gate (Greff et al. 2017, CIFG), which leaves 3·h(m + h + 1).

    With `layer_norm: true` the sum of each gate is normalised, and the cell state on its way to the output (Ba et al.
    2016), as in Sketch-RNN's LayerNormLSTMCell: h numbers more per block for a gain, and 2h for gain and bias of the
    cell state. TensorFlow 1's LayerNormBasicLSTMCell passes the normalised cell state to the next step. In the paper's
    appendix both products are normalised apart, each in all gates at once.
    """

    kind = "lstm"

    activation: Activation = "tanh"
    recurrent_activation: RecurrentActivation | None = None
    projection: int | None = None
    peepholes: bool = False
    output_gate: bool = True
    coupled: bool = False
    layer_norm: bool = False

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        reads = Product("x"), self.past
        peeks = (*reads, Product("c", Form.DIAGONAL)) if self.peepholes else reads
        kept = "how much of the cell state to keep, and of the candidate not to write" if self.coupled else _KEPT
        sigmoid = self.recurrent_activation or "sigmoid"
        gates = {
            "i": Gate("i", sigmoid, peeks, "input gate", "how much of the candidate to write"),
            "f": Gate("f", sigmoid, peeks, "forget gate", kept),
            "g": Gate("g", self.activation, reads, "candidate", "what could be written"),
            "o": Gate("o", sigmoid, peeks, "output gate", "how much of the cell state to show"),
        }
        absent = {"i": self.coupled, "o": not self.output_gate}
        there = (gate for letter, gate in gates.items() if not absent.get(letter))
        return tuple(gate._replace(normalised=True) if self.layer_norm else gate for gate in there)

    @property
    def states(self) -> Mapping[str, str]:
        return {"h": self.output, "c": "h"}

    @property
    def past_width(self) -> int:
        return self.units if self.projection is None else self.projection

    @property
    def output(self) -> str:
        return "h" if self.projection is None else "p"

    @property
    def weights(self) -> tuple[Weight, ...]:
        projection = () if self.projection is None else (Weight("p", ("p", "h"), "projection of the output"),)
        if not self.layer_norm:
            return projection
        gain = Weight("gamma_c", ("h",), "gain of the cell state")
        bias = Weight("b_c", ("h",), "bias of the cell state")
        return (*projection, gain, bias) if self.bias else (*projection, gain)

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Stepped[Value]:
        past, c = state
        before = {"c": c} if self.peepholes else {}
        i = None if self.coupled else ops.gate("i", x=x, h=past, **before)
        f = ops.gate("f", x=x, h=past, **before)
        g = ops.gate("g", x=x, h=past)
        c = ops.blend(f, c, g) if i is None else ops.plus(ops.times(f, c), ops.times(i, g))
        after = {"c": c} if self.peepholes else {}
        shown = c
        if self.layer_norm:
            shown = ops.times(ops.vector("gamma_c"), ops.normalise(c))
            shown = ops.plus(shown, ops.vector("b_c")) if self.bias else shown
        h = ops.activate(self.activation, shown)
        if self.output_gate:
            h = ops.times(ops.gate("o", x=x, h=past, **after), h)
        if self.projection is not None:
            h = ops.product("p", h)
        return h, (h, c)

    def sizes(self, inputs: int) -> dict[str, int]:
        sizes = super().sizes(inputs)
        return sizes if self.projection is None else sizes | {"p": self.projection}

    def option_problems(self) -> Iterator[OptionProblem]:
        yield from super().option_problems()
        if self.projection is not None and self.recurrence == "diagonal":
            yield "projection", "leaves no unit its own past, which recurrence: diagonal asks for; remove one of them"
