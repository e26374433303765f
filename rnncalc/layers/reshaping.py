"""Layers that end a sequence in one vector, or begin a sequence from one; no parameters."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from rnncalc.layers.layer import LayerOperations, OptionProblem, Shape, Time, Transform
from rnncalc.layers.options import SIZE, Option
from rnncalc.words import plural


class Flatten(Transform):
    """Puts the vectors of all steps one after the other into one vector: T·m numbers; no parameters."""

    kind = "flatten"
    number = ""
    time = Time.END

    def in_words(self, shape: Shape) -> str:
        words = super().in_words(shape)
        if len(shape) < 2 or not all(isinstance(size, int) for size in shape):
            return words
        steps, inputs = shape
        return words.replace("T·m numbers", f"T·m = {steps:,} × {inputs:,} = {plural(steps * inputs, 'number')}")

    def output_shape(self, shape: Shape) -> Shape:
        *length, inputs = shape
        return (None,) if None in length else (inputs * (length[0] if length else 1),)

    def output_grid(self, grid: tuple[int, ...]) -> tuple[int, ...]:
        return ()

    def window_of(self, step: int, steps: int) -> range:
        return range(steps)

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        return ops.joined(window)

    def carried(self, inputs: int) -> int | None:
        return None

    def input_problems(self, shape: Shape) -> Iterator[OptionProblem]:
        if None in shape[:-1]:
            yield self.kind, "its output grows with the number of steps; give the steps"


class RepeatVector(Transform):
    """Makes a sequence of one vector: the same vector at every step; no parameters."""

    kind = "repeat_vector"
    number = "times"
    own_options: ClassVar[Mapping[str, Option]] = {"times": Option(SIZE, "the steps that one vector becomes")}
    time = Time.BEGIN

    times: int

    def output_shape(self, shape: Shape) -> Shape:
        return (self.times, shape[-1])

    def window_of(self, step: int, steps: int) -> range:
        return range(1)

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        return ops.copy(window[0])

    def carried(self, inputs: int) -> int | None:
        return None


class LastStep(Transform):
    """Ends a sequence with its last vector; no parameters.

    After a recurrent layer this is the layer's own last output; in a backward direction it is the first step in time.
    """

    kind = "last"
    title = "last step of the sequence"
    number = ""
    time = Time.END

    def output_shape(self, shape: Shape) -> Shape:
        return shape[-1:]

    def output_grid(self, grid: tuple[int, ...]) -> tuple[int, ...]:
        return grid

    def window_of(self, step: int, steps: int) -> range:
        return range(steps - 1, steps)
