"""What every recurrent cell is made of: gates, each a sum of products, states, and a step.

A cell is a class in a file beside this one, named in `layers/__init__.py`. Knows nothing of frameworks: conventions
say on which side a gate's bias is, and how tensors are named.

Letters: m inputs, h units, p the width of a projection; x_t the input of step t, σ the logistic sigmoid, ∘ the
element-wise product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeVar

from rnncalc.layers.layer import Layer, OptionProblem, quotient
from rnncalc.layers.options import Activation as Activation
from rnncalc.layers.options import RecurrentActivation as RecurrentActivation
from rnncalc.records import Frozen
from rnncalc.words import plural

Merge = Literal["concat", "sum", "mul", "ave"]
Recurrence = Literal["full", "diagonal"]


class Form(Enum):
    """The matrix of a product: FULL has a weight for each pair, DIAGONAL one for each unit.

    CONVOLUTION has a weight for each pair of channels and each place around; the places of a step share them.
    BLOCKS has a weight for each pair within equal blocks along the diagonal; each row has those of its block.
    RANK is the product of two matrices, the right one of r rows and the left one of r columns.
    """

    FULL = "full"
    DIAGONAL = "diagonal"
    CONVOLUTION = "convolution"
    BLOCKS = "blocks"
    RANK = "rank"


class Product(NamedTuple):
    """What a gate reads, and through which matrix.

    vector: `x`, or the letter of a state. matrix: the letters of a matrix that gates share; by default the gate has
    its own. blocks: how many there are, of the form BLOCKS.
    """

    vector: str
    form: Form = Form.FULL
    matrix: str | None = None
    blocks: int = 1


class Gate(NamedTuple):
    """A block of h units: the sum of its products and its bias, through an activation.

    normalised: the sum of its products has mean 0 and variance 1, and a trained gain per unit, before its bias.
    """

    letter: str
    activation: Activation | RecurrentActivation
    products: tuple[Product, ...]
    name: str
    meaning: str
    bias: bool = True
    normalised: bool = False


class Weight(NamedTuple):
    """Weights beside the gates: a matrix from the second width to the first, a vector of one width, or a number.

    activation: what a trained number goes through before it is used; it has no widths.
    """

    letter: str
    widths: tuple[str, ...]
    name: str
    activation: Activation = "linear"


class Habits(Frozen):
    """How a framework's cell differs from the textbook's cell of that name, where no option of the layer says it.

    reset_after: a gate that hides the past from a candidate acts after the recurrent product, not before it.
    gate_keeps: an MGU's gate is the share of the old state that stays, not the share that is replaced.
    plus_one: the letters of the gates to whose sum the pass adds 1.
    """

    reset_after: bool = False
    gate_keeps: bool = False
    plus_one: str = ""


Value = TypeVar("Value")


Stepped = tuple[Value, tuple[Value, ...]]
"""What a step returns: its output, and the states after it."""


class Operations(Protocol[Value]):
    """The operations of a step: all that the author of a cell needs to know.

    A step is written once, with the operations as its argument, and run once, on symbols (`step/trace.py`). Everything
    else reads the resulting nodes: passes run them, equations and pictures are made from them.

    Vectors have h numbers unless stated otherwise; `reads` are x, or states by their letters.
    """

    def __getattr__(self, name: str) -> Callable[..., Value]:
        """Return any other operation of `step/operations.py`, by its name.

        plus, times and over are element-wise; complement is 1 − vector, and normalise makes a vector's mean 0 and its
        variance 1. scale multiplies a vector of one, its first operand, with a vector; shift adds a vector of one, its
        second operand, to each number.
        """

    def gate(self, letter: str, **reads: Value) -> Value:
        """Return a gate: the sum of its products with what it reads and of its biases, through its activation."""

    def sum(self, letter: str, **reads: Value) -> Value:
        """Return the part of a gate's sum that reads these vectors, with their biases."""

    def through(self, letter: str, total: Value) -> Value:
        """Return a gate from a sum that the step has made: the sum through the gate's activation."""

    def has(self, letter: str) -> bool:
        """Return whether the layer has this gate."""

    def habit(self, name: str) -> bool:
        """Return one of the convention's habits (`cell.Habits`): a difference between frameworks in one cell."""

    def activate(self, activation: str, vector: Value) -> Value:
        """Return the vector through an activation outside a gate."""

    def product(self, letter: str, vector: Value) -> Value:
        """Return the product of a matrix beside the gates, such as a projection, with a vector."""

    def vector(self, letter: str) -> Value:
        """Return a vector of weights beside the gates."""

    def scalar(self, letter: str) -> Value:
        """Return a trained number beside the gates, through its activation: a vector of one."""

    def blend(self, gate: Value, where_one: Value, where_zero: Value) -> Value:
        """Return gate ∘ where_one + (1 − gate) ∘ where_zero."""

    def half(self, vector: Value) -> Value:
        """Return a direction's half of x if x is as wide as both directions together; with one direction, all of x."""


class Cell(Layer):
    """A recurrent layer of h units; a bidirectional one has a second copy that reads the sequence backwards.

    x_width, gate_width: the letters of the width of its input and of a gate.
    usual: what an option that is None means, unless the convention has a default of its own.
    """

    x_width: ClassVar[str] = "m"
    gate_width: ClassVar[str] = "h"
    usual: ClassVar[Mapping[str, str]] = {
        "activation": "tanh",
        "update_gate": "keeps",
        "recurrent_activation": "sigmoid",
    }

    units: int
    bias: bool = True
    bidirectional: bool = False
    merge: Merge | None = None
    learned_state: bool = False
    initial_state: int | None = None

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        """Return the gates that this layer has when it reads `inputs` features, in the textbook's order."""
        raise NotImplementedError("write def gates(self, inputs) in the class, as rnncalc/layers/gru.py does")

    @property
    def other_gates_at(self) -> int | None:
        """The one input width at which it has other gates than at any other; None if there is none."""
        return None

    def meaning(self, gate: Gate, habits: Habits) -> str:
        """Return what a gate does; a convention's habits may change it."""
        return gate.meaning

    @property
    def states(self) -> Mapping[str, str]:
        """The states carried from step to step, each with the letter of its width."""
        return {"h": "h"}

    @property
    def output(self) -> str:
        """The letter of the output width of one direction."""
        return "h"

    @property
    def weights(self) -> tuple[Weight, ...]:
        """The weights beside the gates."""
        return ()

    def projects(self, weight: Weight) -> bool:
        """Return whether a matrix beside the gates makes the output, if that is not h units wide."""
        return self.output != "h" and len(weight.widths) == 2 and weight.widths[0] == self.output

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Stepped[Value]:
        """Return the output of one step, and the states after it: x has m numbers, each state the width it declares."""
        raise NotImplementedError("write def step(self, ops, x, state) in the class, as rnncalc/layers/gru.py does")

    def resets_after(self, habit: bool) -> bool:
        """Return whether a gate that hides the past acts after the recurrent product; `habit` is the convention's."""
        return habit

    @property
    def directions(self) -> int:
        return 2 if self.bidirectional else 1

    def state_widths(self) -> tuple[int, ...]:
        """Return the width of each state, both directions joined, as a decoder receives it."""
        sizes = self.sizes(0)
        return tuple(self.directions * sizes[width] for width in self.states.values())

    def carried(self, inputs: int) -> int | None:
        return None if self.bidirectional else sum(self.state_widths())

    def output_width(self, inputs: int) -> int:
        one = self.direction_width(inputs)
        return 2 * one if self.bidirectional and self.merge in (None, "concat") else one

    def direction_width(self, inputs: int) -> int:
        """Return the output width of one direction."""
        return self.sizes(inputs)[self.output]

    def sizes(self, inputs: int) -> dict[str, int]:
        return {"h": self.units, "m": inputs}

    def option_problems(self) -> Iterator[OptionProblem]:
        yield from super().option_problems()
        if self.merge is not None and not self.bidirectional and "merge" not in self.without:
            yield "merge", "applies to a bidirectional layer only; make it bidirectional, or remove it"
        if self.initial_state is not None and self.learned_state:
            yield "learned_state", "the state before the first step comes from a vector already; remove one of the two"


class GatedCell(Cell):
    """A cell whose gates all read the past, each through a matrix of its own whose form is an option.

    A matrix of rank r is the product of two (Miceli Barone 2016); blocks are those of the heads of an sLSTM (Beck et
    al. 2024).
    """

    recurrence: Recurrence = "full"
    recurrent_rank: int | None = None
    recurrent_blocks: int | None = None

    @property
    def past(self) -> Product:
        """The product of a gate with the past."""
        form = Form.RANK if self.recurrent_rank else Form.BLOCKS if self.recurrent_blocks else Form(self.recurrence)
        return Product("h", form, blocks=self.recurrent_blocks or 1)

    @property
    def past_width(self) -> int:
        """The width of the past, which is that of the output of one direction."""
        return self.units

    def sizes(self, inputs: int) -> dict[str, int]:
        sizes = super().sizes(inputs)
        if self.recurrent_rank is not None:
            sizes["r"] = self.recurrent_rank
        if self.recurrent_blocks is not None:
            sizes["b"] = quotient(self.past_width, self.recurrent_blocks)
        return sizes

    def option_problems(self) -> Iterator[OptionProblem]:
        yield from super().option_problems()
        rank, blocks, width = self.recurrent_rank, self.recurrent_blocks, self.past_width
        forms = [form for form in ("recurrent_rank", "recurrent_blocks") if getattr(self, form) is not None]
        if self.recurrence == "diagonal" and forms:
            yield forms[0], "does not apply to recurrence: diagonal, which has no recurrent matrix; remove one of them"
        elif len(forms) > 1:
            yield "recurrent_blocks", "does not apply with recurrent_rank; remove one of them"
            return
        for size in {self.units, width} if isinstance(width, int) and isinstance(self.units, int) else ():
            if isinstance(rank, int) and rank > size:
                yield "recurrent_rank", f"expected at most {size:,}, the rank of the whole matrix, got {rank:,}"
            if blocks is not None and size % blocks:
                yield "recurrent_blocks", f"{plural(blocks, 'block')} do not divide {size:,} units; change one of them"
