"""What every recurrent cell is made of: gates, each a sum of products, states, and a step.

A cell is a class of its own file beside this one, named in `kinds.py`. Knows nothing of frameworks: on which side a
gate's bias stands and how its tensors are named is the conventions' affair.

Letters: m inputs, h units, p the width of a projection; x_t the input of step t, σ the logistic sigmoid, ∘ the
element-wise product.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Literal, NamedTuple

from rnncalc.errors import DeclarationError
from rnncalc.layers.frozen import Frozen
from rnncalc.layers.layer import Layer, OptionProblem

if TYPE_CHECKING:
    from rnncalc.layers.operations import Operations, Value

Activation = Literal["tanh", "relu", "sigmoid", "linear", "softmax"]
Merge = Literal["concat", "sum", "mul", "ave"]
Recurrence = Literal["full", "diagonal"]


class Form(Enum):
    """The matrix of a product: FULL has a weight for each pair, DIAGONAL one for each unit."""

    FULL = "full"
    DIAGONAL = "diagonal"


class Product(NamedTuple):
    """What a gate reads, and through which matrix.

    of: `x`, or the letter of a state. matrix: the letters of the matrix, where gates share one; by default the gate
    has a matrix of its own.
    """

    of: str
    form: Form = Form.FULL
    matrix: str | None = None


class Gate(NamedTuple):
    """A block of h units: the sum of its products and its bias, through an activation."""

    letter: str
    activation: Activation
    products: tuple[Product, ...]
    name: str
    meaning: str
    bias: bool = True


class Weight(NamedTuple):
    """Weights beside the gates: a matrix from the second width to the first, or, without widths, a trained number.

    activation: what a trained number goes through before it is used.
    """

    letter: str
    widths: tuple[str, ...]
    name: str
    activation: Activation = "linear"


class Habits(Frozen):
    """How a framework's cell differs from the textbook's cell of that name, where no option of the layer says it.

    reset_after: a gate that hides the past from a candidate acts after the recurrent product, not before it.
    gate_keeps: an MGU's gate is the share of the old state that stays, not the share that is replaced.
    """

    reset_after: bool = False
    gate_keeps: bool = False


class Cell(Layer):
    """A recurrent layer of h units; a bidirectional one has a second copy that reads the sequence backwards."""

    units: int
    bias: bool = True
    bidirectional: bool = False
    merge: Merge | None = None
    learned_state: bool = False

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        """Return the gates that this layer has when it reads `inputs` features, in the textbook's order."""
        raise NotImplementedError

    def meaning(self, gate: Gate, habits: Habits) -> str:
        """Return what a gate does under a convention's habits, where these change it; else what it says itself."""
        return gate.meaning

    @property
    def states(self) -> Mapping[str, str]:
        """The states carried from step to step, each with the letter of its width."""
        return {"h": "h"}

    @property
    def output(self) -> str:
        """The letter of the width that one direction hands on."""
        return "h"

    @property
    def weights(self) -> tuple[Weight, ...]:
        """The weights beside the gates."""
        return ()

    def projects(self, weight: Weight) -> bool:
        """Return whether a matrix beside the gates makes what is handed on, where that is not h units wide."""
        return self.output != "h" and weight.widths[:1] == (self.output,)

    def step(
        self, ops: "Operations[Value]", x: "Value", state: "tuple[Value, ...]"
    ) -> "tuple[Value, tuple[Value, ...]]":
        """Return what one step hands on, and the states after it: x has m numbers, each state the width it declares."""
        raise NotImplementedError

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

    def hands_on(self, inputs: int) -> int:
        sizes: object = self.sizes(inputs)
        one = sizes.get(self.output) if isinstance(sizes, Mapping) else None
        if not isinstance(one, int):
            raise DeclarationError(f"{self.kind}: {self.no_number(self.output, sizes)}")
        return 2 * one if self.bidirectional and self.merge in (None, "concat") else one

    def no_number(self, width: str, sizes: object) -> str:
        """Return what is wrong where `sizes` does not give a width."""
        gives = ", ".join(map(str, sizes)) if isinstance(sizes, Mapping) else repr(sizes)
        return f"the width {width} has no number; sizes() gives {gives}"

    def sizes(self, inputs: int) -> dict[str, int]:
        return {"h": self.units, "m": inputs}

    def option_problems(self) -> Iterator[OptionProblem]:
        if self.merge is not None and not self.bidirectional:
            yield "merge", "applies to a bidirectional layer only; make it bidirectional, or remove it"
