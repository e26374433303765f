"""The kinds of layer and their options. Knows one layer at a time: no neighbours, no tensors.

The fields of a layer class are the options its kind takes, in the spec, in flags and from Python alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from math import prod
from typing import Any, ClassVar, Protocol, TypeVar

from rnncalc.errors import DeclarationError, line_of
from rnncalc.layers.options import DTYPES, OPTIONS, SIZE, Choice, Option, Size, Tensors, Trainable
from rnncalc.letters import has_letters
from rnncalc.records import Frozen
from rnncalc.words import did_you_mean, not_among

OptionProblem = tuple[str, str] | tuple[str, str, str]
"""An option or the kind, the reason with its cure, and an option that is another cure, where a convention has it."""

Shape = tuple[Any, ...]
"""(T, width) of a sequence, (width,) of a vector; an unknown T is None."""

ArrayAxes = tuple[str, str | tuple[str, ...]]
"""An array of weights: its role, and the letters of its axes; `1` is an axis of one, `q+k` one of both widths.

An axis of a product of widths has the letters of all.
"""

ONE = "1"
"""The letter of a width of one."""

Value = TypeVar("Value")


class LayerOperations(Protocol[Value]):
    """The operations of a `compute`: all that the author of a layer around the cells needs to know.

    A window is the vectors of the input that one vector of the output is made of: `window[0]`, `window[-1]`.
    `compute` is run once, on symbols (`step/layer_trace.py`). Everything else reads the resulting nodes.
    """

    def __getattr__(self, name: str) -> Callable[..., Value]:
        """Return any other operation of `step/operations.py` by its name: plus, times, complement, normalise."""

    # Of a layer that reads a whole sequence, `compute` takes that sequence. Every operation applies to each of its
    # vectors, and `sequence.current` is the one at the step of the output.

    def current(self, sequence: Value) -> Value:
        """Return what a sequence of this layer's own, or a vector with a number for each step, has at the output's."""

    def dot(self, vector: Value, sequence: Value) -> Value:
        """Return the products of a vector and each vector of a sequence: a vector of a number for each step."""

    def mix(self, weights: Value, sequence: Value) -> Value:
        """Return the sum of the vectors of a sequence, each times its number among the weights."""

    def past(self, letter: str) -> Value:
        """Return a number for each step of the sequence, kept at the output's step before; zeros at the first.

        Only a decoder's attention has it, and `around`.
        """

    def keep(self, letter: str, vector: Value) -> None:
        """Keep a vector with a number for each step of the sequence for the next step of the output."""

    def around(self, role: str, *vectors: Value) -> Value:
        """Return a convolution along the numbers of vectors with one for each step, zeros around them."""

    def join(self, first: Value, second: Value, width: str) -> Value:
        """Return two vectors one after the other, a vector of a width by its letters."""

    def over_root(self, vector: Value, width: str) -> Value:
        """Return a vector divided by the square root of a width, by its letter."""

    def heads(self, vector: Value, width: str) -> Value:
        """Return the equal parts of a vector, each of a width by its letter; operations apply to each of them."""

    def concat(self, heads: Value, width: str) -> Value:
        """Return the parts of all heads one after the other, a vector of a width by its letter."""

    def name(self, letter: str, value: Value) -> Value:
        """Return a value with a letter, which has an equation of its own."""

    def product(self, role: str, vector: Value) -> Value:
        """Return an array times a vector; of a window, the sum over its vectors, each with a matrix of its own."""

    def lookup(self, role: str, number: Value | None = None) -> Value:
        """Return the row of an array at a token number, or at the step of the output; an embedding's alone."""

    def weight(self, role: str) -> Value:
        """Return an array of one axis, such as a bias."""

    def stored(self, role: str) -> Value:
        """Return an array of one axis that is not trained; a framework may still count it as parameters."""

    def activate(self, activation: str, vector: Value) -> Value:
        """Return a vector through an activation."""

    def part(self, vector: Value, width: str, index: int) -> Value:
        """Return one of the equal parts of a vector, of a width by its letter; parts are counted from 0."""

    def largest(self, window: Value) -> Value:
        """Return the largest number at each place of the vectors of a window."""

    def average(self, window: Value) -> Value:
        """Return the average at each place of the vectors of a window."""

    def joined(self, window: Value) -> Value:
        """Return the vectors of a window one after the other, or a number for each step of a sequence as one vector."""

    def copy(self, vector: Value) -> Value:
        """Return a copy of a vector."""

    def standardise(self, vector: Value, mean: Value, variance: Value) -> Value:
        """Return a vector less the means, over the square roots of the variances."""


_SHAPELESS = {name for name, option in OPTIONS.items() if isinstance(option.allowed, Size)} | {
    "name",
    "frozen",
    "path",
    "dtype",
}


CROSS = ("cross_attention", "cross_attention_of_one_width")
"""What a decoder's attention with heads is named as: its queries and keys differ in width, or are of one.

It is here for those who name its arrays, as few networks need the layer itself.
"""


class Time(Enum):
    """How a layer sees time: of what it makes each vector of its output."""

    PLACE = "each place of a step alone, as each step; its width is that of a place"
    STEP = "a step"
    BEGIN = "a vector; a sequence begins in it"
    END = "steps of a sequence, which ends in it, or a vector"
    WINDOW = "several steps of a sequence"
    SEQUENCE = "a sequence from its first step, which `compute` takes"
    SUMMARY = "a sequence that `compute` takes, and that ends in it"
    MEMORY = "a step, and a sequence of another layer, which `compute` takes"

    @property
    def begins(self) -> bool:
        """Whether a sequence begins in the layer, which needs a vector."""
        return self is Time.BEGIN

    @property
    def ends(self) -> bool:
        """Whether a sequence ends in the layer."""
        return self in (Time.END, Time.SUMMARY)

    @property
    def along(self) -> bool:
        """Whether the layer needs a sequence, as an output vector is made of several steps of it."""
        return self in (Time.WINDOW, Time.SEQUENCE, Time.SUMMARY)

    @property
    def whole(self) -> bool:
        """Whether `compute` takes a sequence."""
        return self in (Time.SEQUENCE, Time.SUMMARY, Time.MEMORY)

    @property
    def by_step(self) -> bool:
        """Whether each step of the output is made at that step of the input."""
        return self in (Time.PLACE, Time.STEP, Time.MEMORY)


class Layer(Frozen, kw_only=True):
    """What every layer has.

    name: how reports call it; by default its kind and a number.
    frozen: its parameters are counted as not trainable.
    repeat: that many layers, one after another.
    extra_inputs: features joined to its input from elsewhere (attention context, a skip connection).
    path: where its tensors are in a model file.
    dtype: the type of its numbers, for bytes, one of DTYPES; by default that of the call.
    """

    kind: ClassVar[str] = ""
    title: ClassVar[str] = ""
    """Its name in a sentence; empty if that is the name of the class, such as LSTM."""

    number: ClassVar[str] = "units"
    """The field that the number after the kind fills: `lstm: 512` is `LSTM(units=512)`; empty if it takes none."""

    time: ClassVar[Time] = Time.STEP

    skips: ClassVar[bool] = False
    """Whether its windows leave out the steps outside of the sequence, instead of reading zeros there."""

    meanings: ClassVar[Mapping[str, str]] = {}
    """What its letters of widths mean, if that is not what other layers mean by them."""

    without: ClassVar[tuple[str, ...]] = ()
    """The options of other layers that it does not have, though they are its fields."""

    conditions: ClassVar[Mapping[str, tuple[str, bool]]] = {}
    """The options that apply only with another one, or only without it: the other, and whether with it."""

    own_options: ClassVar[Mapping[str, Option]] = {}
    """The allowed values of the options that only this kind has."""

    of_user: ClassVar[bool] = False
    """Whether its class does not come with the package: what it declares is checked, and may depend on its sizes."""

    name: str | None = None
    frozen: bool = False
    repeat: int = 1
    extra_inputs: int = 0
    path: str | None = None
    dtype: str | None = None

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        super().__init_subclass__(kw_only=kw_only)
        cls.of_user = not cls.__module__.startswith("rnncalc.")

    def __post_init__(self) -> None:
        if not (self.kind and isinstance(self.kind, str)):
            name = type(self).__name__
            raise DeclarationError(f'the class {name} has no kind; write kind = "{name.lower()}" in it')

    def output_width(self, inputs: int) -> int:
        """Return the width of the output when the layer reads `inputs` features."""
        raise NotImplementedError

    def sizes(self, inputs: int) -> dict[str, int]:
        """Return the numbers of the letters in this layer's formula."""
        raise NotImplementedError

    @property
    def vectors(self) -> Mapping[str, str]:
        """The letter of the vector at its own step with that of its width, then those of a memory's vectors."""
        return {"x": "m"}

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        """The arrays of its weights, where a convention only names and orients them; a stored mean is not trained."""
        return ()

    @property
    def named_as(self) -> str:
        """The kind under which conventions name its arrays."""
        return self.kind

    def output_shape(self, shape: Shape) -> Shape:
        """Return the shape of the output for that of the input; a number of steps below 1 is one too few to read."""
        return (*shape[:-1], self.output_width(shape[-1]))

    def window_of(self, step: int, steps: int) -> range:
        """Return the steps of the input from which a step of the output is made; one outside the sequence is zeros.

        Steps are counted from 0; a vector is a sequence of one step. A range takes no time, however long it is.
        """
        return range(step, step + 1)

    def pairs(self, steps: int) -> int:
        """Return how many pairs there are of a step of the output and one of a sequence that is read whole."""
        return steps if self.time.ends else steps * steps

    def work_in_words(self) -> str:
        """Return how its work is not that of frameworks, without a full stop; nothing if it is."""
        return ""

    def padding_of(self, steps: int | None) -> tuple[int, int]:
        """Return the steps of zeros before and after an input of so many steps."""
        return 0, 0

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        """Return a vector of the output for its window, in operations alone."""
        return window[0]

    def input_problems(self, shape: Shape) -> Iterator[OptionProblem]:
        """Yield why it cannot read an input of a shape: the option, or the kind, and the reason with its cure."""
        yield from ()

    @property
    def directions(self) -> int:
        """How many copies of it read a sequence, one or two."""
        return 1

    def bytes_each(self, dtype: str) -> int:
        """Return the bytes of one of its numbers; dtype: that of layers without one of their own."""
        return DTYPES[self.dtype or dtype]

    @property
    def once(self) -> bool:
        """Whether one pass applies it once, however many steps its output has."""
        return False

    @property
    def every(self) -> int:
        """How many steps of the input pass for each of the output."""
        return 1

    def carried(self, inputs: int) -> int | None:
        """Return how many numbers it carries from step to step; None if it cannot stream or is counted elsewhere."""
        return 0

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the kind's manual, which is the docstring of its class."""
        return (cls.__doc__ or "").partition("\n")[0]

    @classmethod
    def known_option(cls, name: str) -> Option | None:
        """Return the declaration of an option, of all kinds or of this one; None if there is none."""
        return cls.own_options.get(name) or OPTIONS.get(name)

    @classmethod
    def option(cls, name: str) -> Option:
        """Return the declaration of an option. Raises DeclarationError if there is none."""
        option = cls.known_option(name)
        if option is None:
            near = did_you_mean(name, [*cls.own_options])
            message = f"its allowed values are not declared{near}; add it to own_options"
            raise DeclarationError(f"{cls.kind}: {name}: {message}{line_of(cls)}")
        return option

    @classmethod
    def options(cls) -> tuple[str, ...]:
        """Return the options of the kind, without the number after its name."""
        return tuple(name for name in cls.fields if name not in (cls.number, *cls.without))

    @classmethod
    @cache
    def needed(cls) -> tuple[str, ...]:
        """Return the options that have no default."""
        return tuple(name for name in cls.options() if name not in cls.defaults)

    @classmethod
    def needs_number(cls) -> bool:
        """Return whether a number after the kind is needed."""
        return bool(cls.number) and cls.number not in cls.defaults

    @property
    def grid(self) -> tuple[int, ...]:
        """The places of each axis of a step that it outputs, each with its channels; nothing of a plain vector."""
        return ()

    def output_grid(self, grid: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the grid of its output for that of its input; None if it cannot read that."""
        if self.time is Time.PLACE:
            return grid
        return self.grid if self.grid or not grid else None

    def trains(self, tensor: str) -> bool:
        """Return whether a tensor of its, by name, is trained if the layer is not frozen."""
        return True

    def choices(self) -> tuple[object, ...]:
        """Return the values of all options that shape its tensors; without the sizes, which are in `sizes`, if it can.

        The code of a user's layer may do anything with its sizes.
        """
        shapeless = () if self.of_user else _SHAPELESS
        return tuple([value for option, value in self.__dict__.items() if option not in shapeless])

    def value_problems(self) -> Iterator[tuple[str, str]]:
        """Yield each option with an invalid value: its name, the reason."""
        defaults = self.defaults
        items = self.__dict__.items()
        changed = [(key, value) for key, value in items if key not in defaults or value is not defaults[key]]
        for option, value in changed:
            if problem := self.option(option).allowed.problem(value):
                yield option, problem

    def condition_problems(self) -> Iterator[OptionProblem]:
        """Yield each option that is given without the one that it needs, or with the one that excludes it."""
        for option, (other, together) in self.conditions.items():
            if getattr(self, option) is not None and together != (getattr(self, other) is not None):
                where = (
                    f"without {other}; write {other}, or"
                    if together
                    else f"to {self.title if self.title.isalpha() else self.kind} with {other};"
                )
                yield option, f"does not apply {where} remove it"

    def option_problems(self) -> Iterator[OptionProblem]:
        """Yield each option that contradicts the others, or does not apply: its name, the reason and the cure."""
        for option in self.without:
            if getattr(self, option) != self.defaults[option]:
                yield option, f"does not apply to {self.kind}; remove it"


def length_of(window: range) -> int:
    """Return how many steps a window has, which `len` counts to 2^31 alone in a browser's Python."""
    return max(0, -((window.start - window.stop) // window.step))


def inside(window: range, steps: int) -> range:
    """Return the steps of a window that are in a sequence of so many steps."""
    first, after = (length_of(range(window.start, bound, window.step)) for bound in (0, steps))
    return window[first:after]


def quotient(width: Any, parts: Any) -> Any:
    """Return the width of one of the parts that divide a width; of a letter it is a fraction, such as m/8."""
    if isinstance(width, int) or has_letters(parts):
        return width // parts
    from fractions import Fraction  # takes 3 ms, and few widths are letters

    return width * Fraction(1, parts)


def with_bias(role: str, axes: str | tuple[str, ...], *, bias: bool) -> tuple[ArrayAxes, ...]:
    """Return a matrix, and its bias if there is one; axes: those of the matrix, its rows first."""
    return ((role, axes), (bias_of(role), axes[:1])) if bias else ((role, axes),)


def bias_of(role: str) -> str:
    """Return the role of the bias that is added to the product of a matrix."""
    return "bias" if role == "kernel" else f"{role}_bias"


def affine(ops: LayerOperations[Any], role: str, vector: Any, *, bias: bool) -> Any:
    """Return a matrix times a vector, and its bias if there is one."""
    total = ops.product(role, vector)
    return ops.plus(total, ops.weight(bias_of(role))) if bias else total


class Dense(Layer):
    """A fully connected layer of n units: n(m + 1) parameters (n·m weights and n biases)."""

    kind = "dense"
    title = "dense layer"
    letter: ClassVar[str] = "y"
    """The letter of its output: p, the probabilities of classes, under a cross-entropy."""

    units: int
    bias: bool = True
    activation: str = "linear"

    def output_width(self, inputs: int) -> int:
        return self.units

    def sizes(self, inputs: int) -> dict[str, int]:
        return {"n": self.units, "m": inputs}

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        return with_bias("kernel", "nm", bias=self.bias)

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        return ops.activate(self.activation, affine(ops, "kernel", window[0], bias=self.bias))


class Output(Dense):
    """The dense layer at the end of a network; `tied` makes its matrix the embedding's, transposed, counted once."""

    title = "output layer (dense)"
    without = ("name", "repeat")  # its name is fixed, and there is one

    tied: bool = False

    @classmethod
    def options(cls) -> tuple[str, ...]:
        common = Layer.options()
        return tuple(sorted(super().options(), key=common.__contains__))

    def option_problems(self) -> Iterator[OptionProblem]:
        for option, *_ in super().option_problems():
            yield option, "does not apply to the output layer; make it a dense layer, or remove this"


class DenseClasses(Dense):
    """A dense layer at the end of a network, under a cross-entropy."""

    letter = "p"


class OutputClasses(Output):
    """An output layer under a cross-entropy."""

    letter = "p"


class Embedding(Layer):
    """A table of m vectors of d numbers, one for each word of the vocabulary m: m·d parameters, looked up by number.

    With `positions` a second table has a vector for each of so many steps, which is added.
    """

    kind = "embedding"
    title = "embedding"
    own_options: ClassVar[Mapping[str, Option]] = {
        "positions": Option(SIZE, "a trained vector for each of N steps, added to the word's: N·d more parameters"),
        "tied": Option(Choice(("encoder",)), "in a decoder: encoder, whose table it is, and where it is counted"),
    }

    meanings: ClassVar[Mapping[str, str]] = {"N": "the steps that have a position"}

    units: int
    positions: int | None = None
    tied: str | None = None

    @property
    def vectors(self) -> Mapping[str, str]:
        return {"x": ONE}

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        return (("embedding", "md"), *(() if self.positions is None else (("position_embedding", "Nd"),)))

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        vector = ops.lookup("embedding", window[0])
        return vector if self.positions is None else ops.plus(vector, ops.lookup("position_embedding"))

    def output_width(self, inputs: int) -> int:
        return self.units

    def sizes(self, inputs: int) -> dict[str, int]:
        sizes = {"m": inputs, "d": self.units}
        return sizes if self.positions is None else sizes | {"N": self.positions}

    def input_problems(self, shape: Shape) -> Iterator[OptionProblem]:
        if self.positions is not None and len(shape) > 1 and shape[0] is not None and shape[0] > self.positions:
            yield "positions", f"expected one for each step, {shape[0]:,} or more, got {self.positions:,}"

    def option_problems(self) -> Iterator[OptionProblem]:
        if self.extra_inputs:
            yield "extra_inputs", "does not apply to an embedding: it looks up token numbers, not features; remove it"
        if self.repeat != 1:
            yield "repeat", "does not apply to an embedding: only the first layer can be one; remove it"


class Dropout(Layer):
    """Drops a share `rate` (0 to 1) of its input while training; no parameters, and the same width out as in."""

    kind = "dropout"
    title = "dropout"
    number = "rate"
    time = Time.PLACE

    rate: float

    def output_width(self, inputs: int) -> int:
        return inputs

    def sizes(self, inputs: int) -> dict[str, int]:
        return {}


class External(Layer):
    """A part counted elsewhere, such as a CNN front end: `params` parameters; outputs `outputs` features.

    Instead of a number params may be the shapes of its tensors by name: `External({"kernel": (3, 4)})`.
    state: the numbers that it carries from step to step. trainable: the tensors that are not trained, {NAME: False}.
    multiply_adds: those of a step; or multiply_adds_once: those of a whole pass. They are unknown by default.
    """

    kind = "external"
    title = "part that is counted elsewhere"
    number = "params"

    without = ("tensors",)  # which params has in a spec
    own_options: ClassVar[Mapping[str, Option]] = {
        "tensors": Option(Tensors(), "the shapes of its tensors"),
        "state": Option(Size(0, letters=True), "the numbers that it carries from step to step; unknown by default"),
        "trainable": Option(Trainable(), "false for each tensor that is counted as not trained"),
        "multiply_adds": Option(Size(0, letters=True), "its multiply-adds (MACs) per step; unknown by default"),
        "multiply_adds_once": Option(
            Size(0, letters=True), "instead, its multiply-adds in a whole pass, if it is applied once"
        ),
    }
    conditions: ClassVar[Mapping[str, tuple[str, bool]]] = {"multiply_adds_once": ("multiply_adds", False)}

    params: Any
    outputs: int | None = None
    state: int | None = None
    trainable: Any = ()
    multiply_adds: int | None = None
    multiply_adds_once: int | None = None
    tensors: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def __post_init__(self) -> None:
        values: dict[str, Any] = self.__dict__
        shapes = values["params"]
        if isinstance(shapes, Mapping) and all(isinstance(shape, tuple | list) for shape in shapes.values()):
            values["tensors"] = tuple([(name, tuple(shape)) for name, shape in shapes.items()])
        if isinstance(values["trainable"], Mapping):
            values["trainable"] = tuple(values["trainable"].items())
        if self.tensors:
            values["params"] = sum([prod(shape) for _, shape in self.tensors])

    def trains(self, tensor: str) -> bool:
        return bool(dict(self.trainable).get(tensor, True))

    def option_problems(self) -> Iterator[OptionProblem]:
        if wrong := not_among([name for name, _ in self.trainable], tuple(name for name, _ in self.tensors)):
            yield "trainable", wrong if self.tensors else "applies to tensors with names alone; write frozen: true"

    @property
    def work(self) -> int | None:
        """Its multiply-adds each time that it is applied; None if unknown."""
        return self.multiply_adds_once if self.once else self.multiply_adds

    @property
    def once(self) -> bool:
        return self.multiply_adds_once is not None

    def output_width(self, inputs: int) -> int:
        return inputs if self.outputs is None else self.outputs

    def output_grid(self, grid: tuple[int, ...]) -> tuple[int, ...]:
        return grid if self.outputs is None else ()

    def carried(self, inputs: int) -> int | None:
        return self.state

    def sizes(self, inputs: int) -> dict[str, int]:
        return {"N": self.params}


class Transform(Layer):
    """A layer around the cells: it makes each vector of its output from some vectors of its input, its window.

    A subclass says which vectors (`window_of`), what it makes of them (`compute`), how the shape changes, and which
    weights it has. Shapes, costs, passes and pictures follow.
    """

    def in_words(self, shape: Shape) -> str:
        """Return what it does with an input of a shape, without a full stop; by default its docstring's first part.

        Not the number of parameters: a network may have other letters than the docstring.
        """
        return re.sub(r":[^:]*\bparameters\b.*", "", self.summary().partition(";")[0]).rstrip(".")

    def with_length(self, steps: Any) -> Transform:
        """Return the layer for a sequence of so many steps, None if they are unknown; few layers depend on them."""
        return self

    def output_width(self, inputs: int) -> int:
        return inputs

    def sizes(self, inputs: int) -> dict[str, int]:
        return {"m": inputs}

    def window_of(self, step: int, steps: int) -> range:
        return range(steps) if self.time.whole else super().window_of(step, steps)

    def carried(self, inputs: int) -> int | None:
        if self.time.whole:
            return None
        if not self.time.along:
            return 0
        step = 10**6  # far from both ends
        window = self.window_of(step, 2 * step)
        return None if window[-1] > step else (step - window[0]) * inputs

    def option_problems(self) -> Iterator[OptionProblem]:
        if self.extra_inputs:
            yield "extra_inputs", f"does not apply to {self.kind}; remove it"
        if self.repeat != 1 and (self.time.ends or self.time.begins):
            yield "repeat", f"does not apply to {self.kind}; remove it"
