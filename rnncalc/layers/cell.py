"""The recurrent cells as the textbook writes them: gates, states, options, and the equations of a step.

A new cell is a class here, named in CELLS. Knows nothing of frameworks: how many biases a gate has and how its tensors
are named is `conventions.py`.

Letters: m inputs, h units, p the width of a projection, x_t the input of step t, σ the logistic sigmoid,
∘ the element-wise product.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

from rnncalc.forward.vectors import Vector, blend, plus, times
from rnncalc.layers.layer import Layer, OptionFault


class Gate(NamedTuple):
    """One of the blocks of units in a cell: W_x x_t + W_h h_(t-1) + b through an activation.

    activation: `None` is the cell's own, tanh unless the layer says otherwise.
    """

    letter: str
    activation: str | None
    name: str
    meaning: str


class Gates(Protocol):
    """The gates of a layer with their weights, as `step` uses them; each is named by its letter.

    reset_after: whether the reset gate, or an MGU's one gate, acts after the recurrent product.
    gate_keeps: whether an MGU's gate is the share of the old state that stays, not the share that is replaced.
    """

    reset_after: bool
    gate_keeps: bool

    def __call__(self, letter: str, x: Vector, h: Vector, peek: Vector | None = None) -> Vector:
        """Return the gate: W_x x + W_h h + b, with `w ∘ peek` where there are peepholes, through its activation."""

    def input(self, letter: str, x: Vector) -> Vector:
        """Return W_x x and the bias on that side."""

    def recurrent(self, letter: str, h: Vector) -> Vector:
        """Return W_h h and the bias on that side."""

    def activate(self, letter: str, vector: Vector) -> Vector:
        """Return the vector through the gate's activation."""

    def shape(self, c: Vector) -> Vector:
        """Return the cell state through the activation of the cell's output."""

    def project(self, h: Vector) -> Vector:
        """Return W_hp h, or h itself where there is no projection."""


@dataclass(frozen=True, eq=False, repr=False)
class Cell(Layer):
    """A recurrent layer of h units. Each gate holds an h×m input matrix, an h×h recurrent matrix and h biases.

    bias: no bias vectors at all when false.
    bidirectional: a second copy reads the sequence backwards.
    merge: how the directions join; concat, the default, doubles the width handed on.
    activation: of the candidate and of the output; never changes a count.
    recurrence: diagonal leaves each unit its own past only, h weights in place of h².
    learned_state: the state before the first step is trained too.
    """

    all_gates: ClassVar[tuple[Gate, ...]]

    units: int
    bias: bool = True
    bidirectional: bool = False
    merge: str | None = None
    activation: str = "tanh"
    recurrence: str = "full"
    learned_state: bool = False

    @property
    def gates(self) -> tuple[Gate, ...]:
        """The gates that this layer has, in the textbook's order."""
        return self.all_gates

    @property
    def states(self) -> dict[str, str]:
        """The states carried from step to step, each with the letter of its width."""
        return {"h": "h"}

    @property
    def peepholes_of(self) -> str:
        """The letters of the gates that look at the cell state, each through h weights."""
        return ""

    @property
    def directions(self) -> int:
        """How many copies read the sequence, one or two."""
        return 2 if self.bidirectional else 1

    def step(self, gates: Gates, x: Vector, state: tuple[Vector, ...]) -> tuple[Vector, ...]:
        """Return the states after one step: x_t has m numbers, each state the width that `states` names."""
        raise NotImplementedError

    def state_widths(self) -> tuple[int, ...]:
        """Return the width of each state, both directions joined, as a decoder receives it."""
        words = self.words(0)
        return tuple(self.directions * words[width] for width in self.states.values())

    def hands_on(self, inputs: int) -> int:
        one = self.words(inputs)[self.states["h"]]
        return 2 * one if self.bidirectional and self.merge in (None, "concat") else one

    def words(self, inputs: int) -> dict[str, int]:
        return {"h": self.units, "m": inputs}

    def option_faults(self) -> Iterator[OptionFault]:
        if self.merge is not None and not self.bidirectional:
            yield "merge", "applies to a bidirectional layer only; add bidirectional: true, or remove it"


class RNN(Cell):
    """Elman's simple recurrent network (1990): h_t = tanh(W_xh x_t + W_hh h_(t-1) + b_h), h(m + h + 1) parameters."""

    kind = "rnn"
    all_gates = (Gate("h", None, "hidden state", "mixes the input with the memory of the step before"),)

    def step(self, gates: Gates, x: Vector, state: tuple[Vector, ...]) -> tuple[Vector, ...]:
        (h,) = state
        return (gates("h", x, h),)


@dataclass(frozen=True, eq=False, repr=False)
class GRU(Cell):
    """The gated recurrent unit (Cho et al. 2014): 3·h(m + h + 1) parameters.

    reset_after: the reset gate is applied after the recurrent product, not before; by default as the convention has it.
    reset_gate: false is the simplified GRU of many lectures, update gate only: 2·h(m + h + 1).
    """

    kind = "gru"
    all_gates = (
        Gate("z", "sigmoid", "update gate", "how much of the old state to keep"),
        Gate("r", "sigmoid", "reset gate", "how much of the old state the candidate sees"),
        Gate("n", None, "candidate", "the new state it proposes"),
    )

    reset_after: bool | None = None
    reset_gate: bool = True

    def step(self, gates: Gates, x: Vector, state: tuple[Vector, ...]) -> tuple[Vector, ...]:
        (h,) = state
        z = gates("z", x, h)
        if not self.reset_gate:
            n = gates("n", x, h)
        elif gates.reset_after:
            r = gates("r", x, h)
            n = gates.activate("n", plus(gates.input("n", x), times(r, gates.recurrent("n", h))))
        else:
            r = gates("r", x, h)
            n = gates("n", x, times(r, h))
        return (blend(z, h, n),)

    @property
    def gates(self) -> tuple[Gate, ...]:
        return tuple(gate for gate in self.all_gates if self.reset_gate or gate.letter != "r")

    def option_faults(self) -> Iterator[OptionFault]:
        yield from super().option_faults()
        if self.reset_after is not None and not self.reset_gate:
            yield "reset_after", "says where the reset gate acts, and reset_gate: false leaves none; remove one of them"


@dataclass(frozen=True, eq=False, repr=False)
class LSTM(Cell):
    """Long short-term memory (Hochreiter and Schmidhuber 1997, forget gate Gers et al. 2000): 4·h(m + h + 1).

    projection: the output is projected to p units (Sak et al. 2014); recurrent matrices become h×p, plus p×h.
    peepholes: the gates see the cell state, h weights each (Gers and Schmidhuber 2000).
    output_gate: false is the LSTM whose output is tanh(c): 3·h(m + h + 1).
    """

    kind = "lstm"
    all_gates = (
        Gate("i", "sigmoid", "input gate", "how much of the candidate to write"),
        Gate("f", "sigmoid", "forget gate", "how much of the cell state to keep"),
        Gate("g", None, "candidate", "what could be written"),
        Gate("o", "sigmoid", "output gate", "how much of the cell state to show"),
    )

    projection: int | None = None
    peepholes: bool = False
    output_gate: bool = True

    def step(self, gates: Gates, x: Vector, state: tuple[Vector, ...]) -> tuple[Vector, ...]:
        h, c = state
        i = gates("i", x, h, c)
        f = gates("f", x, h, c)
        g = gates("g", x, h)
        c = plus(times(f, c), times(i, g))
        shown = gates.shape(c)
        if self.output_gate:
            o = gates("o", x, h, c)
            shown = times(o, shown)
        return gates.project(shown), c

    @property
    def gates(self) -> tuple[Gate, ...]:
        return tuple(gate for gate in self.all_gates if self.output_gate or gate.letter != "o")

    @property
    def states(self) -> dict[str, str]:
        return {"h": "h" if self.projection is None else "p", "c": "h"}

    @property
    def peepholes_of(self) -> str:
        return "".join(gate.letter for gate in self.gates if gate.letter in "ifo") if self.peepholes else ""

    def words(self, inputs: int) -> dict[str, int]:
        words = super().words(inputs)
        return words if self.projection is None else words | {"p": self.projection}

    def option_faults(self) -> Iterator[OptionFault]:
        yield from super().option_faults()
        if self.projection is not None and self.recurrence == "diagonal":
            yield "projection", "leaves no unit its own past, which recurrence: diagonal asks for; remove one of them"


class MGU(Cell):
    """The minimal gated unit (Zhou et al. 2016), one gate for forgetting and resetting: 2·h(m + h + 1) parameters."""

    kind = "mgu"
    all_gates = (
        Gate("f", "sigmoid", "forget gate", "how much of the old state to replace, and how much the candidate sees"),
        Gate("n", None, "candidate", "the new state it proposes"),
    )

    def step(self, gates: Gates, x: Vector, state: tuple[Vector, ...]) -> tuple[Vector, ...]:
        (h,) = state
        f = gates("f", x, h)
        if gates.reset_after:
            n = gates.activate("n", plus(gates.input("n", x), times(f, gates.recurrent("n", h))))
        else:
            n = gates("n", x, times(f, h))
        return (blend(f, h, n) if gates.gate_keeps else blend(f, n, h),)


CELLS: tuple[type[Cell], ...] = (RNN, GRU, LSTM, MGU)
