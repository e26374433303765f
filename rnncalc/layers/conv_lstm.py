"""The convolutional LSTM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from math import prod
from typing import Any, ClassVar

from rnncalc.layers.cell import Activation, Cell, Form, Gate, Operations, Product, RecurrentActivation, Stepped, Value
from rnncalc.layers.layer import OptionProblem
from rnncalc.layers.options import ANY_GRID, Option, Size, Sizes


@cache
def any_grid() -> tuple[Any, Any]:
    """Return the places of a grid whose size is not known, as letters."""
    from rnncalc.polynomial import letter  # a known space needs none

    return letter(ANY_GRID[0]), letter(ANY_GRID[1])


class ConvLSTM(Cell, kw_only=True):
    """The convolutional LSTM (Shi et al. 2015) on a line or a grid, h filters: 4·h(k²·m + k²·h + 1) on a grid.

    At each place of its `space` a gate reads the k, or k × k, places around it of the input and of the past, with zeros
    beyond the edges. All places share the weights, as in Keras's ConvLSTM1D and ConvLSTM2D with padding="same". The
    input has m channels at each place. Without a `space` there is a grid of H × W places. The paper's peepholes are
    left out, as in Keras.
    """

    kind = "conv_lstm"
    x_width = "w"
    gate_width = "s"
    meanings: ClassVar[Mapping[str, str]] = {"h": "filters", "k": "the places of the kernel along each axis"}
    without = ("bidirectional", "merge", "learned_state", "initial_state")
    own_options: ClassVar[Mapping[str, Option]] = {
        "kernel": Option(Size(), "how many places of each axis of the space a gate reads at once, k; 3 by default"),
        "space": Option(
            Sizes(), "the places of a step: the length of a line, or height and width of a grid; by default H × W"
        ),
    }

    activation: Activation = "tanh"
    recurrent_activation: RecurrentActivation | None = None
    kernel: int = 3
    space: tuple[int, ...] | None = None

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        reads = Product("x", Form.CONVOLUTION), Product("h", Form.CONVOLUTION)
        sigmoid = self.recurrent_activation or "sigmoid"
        return (
            Gate("i", sigmoid, reads, "input gate", "how much of the candidate to write"),
            Gate("f", sigmoid, reads, "forget gate", "how much of the cell state to keep"),
            Gate("g", self.activation, reads, "candidate", "what could be written"),
            Gate("o", sigmoid, reads, "output gate", "how much of the cell state to show"),
        )

    @property
    def states(self) -> Mapping[str, str]:
        return {"h": "s", "c": "s"}

    @property
    def output(self) -> str:
        return "s"

    @property
    def grid(self) -> tuple[int, ...]:
        return self.space or any_grid()

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Stepped[Value]:
        past, c = state
        i = ops.gate("i", x=x, h=past)
        f = ops.gate("f", x=x, h=past)
        g = ops.gate("g", x=x, h=past)
        c = ops.plus(ops.times(f, c), ops.times(i, g))
        h = ops.times(ops.gate("o", x=x, h=past), ops.activate(self.activation, c))
        return h, (h, c)

    def sizes(self, inputs: int) -> dict[str, int]:
        places = prod(self.grid)
        channels = inputs // places
        return {
            "h": self.units,
            "m": channels,
            "k": self.kernel,
            "q": places,
            "w": places * channels,
            "s": places * self.units,
        }

    def option_problems(self) -> Iterator[OptionProblem]:
        yield from super().option_problems()
        if self.extra_inputs:
            yield "extra_inputs", "does not apply to conv_lstm; remove it"
