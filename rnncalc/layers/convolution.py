"""Convolution and pooling along the steps of a sequence.

Both slide a window over the steps. Without padding it stays inside the sequence. `same` pads both ends with zeros, the
right end with one more if the number is odd, so that there are T / stride steps, rounded up. `causal` pads only the
left, so that no output depends on a later step. Pooling skips the steps of the padding. This follows TensorFlow
(https://www.tensorflow.org/api_docs/python/tf/nn#notes_on_padding_2).
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from rnncalc.layers.layer import ArrayAxes, LayerOperations, OptionProblem, Shape, Time, Transform, affine, with_bias
from rnncalc.layers.options import SIZE, Choice, Option, Size
from rnncalc.words import plural


class Sliding(Transform):
    """A layer whose window of steps slides along a sequence."""

    time = Time.WINDOW

    @property
    def taps(self) -> tuple[int, int, int, str]:
        """The steps of a window, their distance (dilation), the stride, and the padding."""
        raise NotImplementedError

    @property
    def span(self) -> int:
        """The number of steps from the first to the last step of a window."""
        number, apart, _, _ = self.taps
        return (number - 1) * apart + 1

    @property
    def every(self) -> int:
        return self.taps[2]

    def padding_of(self, steps: int | None) -> tuple[int, int]:
        _, _, stride, padding = self.taps
        if padding == "causal":
            return self.span - 1, 0
        if padding == "same":
            both = self.span - 1 if steps is None else max((-(-steps // stride) - 1) * stride + self.span - steps, 0)
            return both // 2, both - both // 2
        return 0, 0

    def output_shape(self, shape: Shape) -> Shape:
        *length, inputs = shape
        steps = length[0] if length else 1
        if isinstance(steps, int):
            steps = max((steps + sum(self.padding_of(steps)) - self.span) // self.every + 1, 0)
        elif steps is not None:  # a letter may not be divisible by the stride
            steps = steps - self.span + 1 + sum(self.padding_of(self.span)) if self.every == 1 else None
        return (steps, self.output_width(inputs))

    def outside(self, steps: int) -> int:
        """Return how many steps outside of a sequence all windows together have, if each step is one of a window."""
        outputs = self.output_shape((steps, 1))[0]

        def of_end(padding: int) -> int:
            windows: int = min(-(-padding // self.every), outputs)
            return windows * padding - self.every * windows * (windows - 1) // 2

        return sum(map(of_end, self.padding_of(steps)))

    def window_of(self, step: int, steps: int) -> range:
        number, apart, stride, _ = self.taps
        first = step * stride - self.padding_of(steps)[0]
        return range(first, first + number * apart, apart)

    def carried(self, inputs: int) -> int | None:
        return None if self.taps[3] == "same" and self.span > 1 else (self.span - 1) * inputs

    def input_problems(self, shape: Shape) -> Iterator[OptionProblem]:
        if len(shape) > 1 and isinstance(shape[0], int) and not self.output_shape(shape)[0]:
            reads = f"reads {plural(self.span, 'step')} at once, and {shape[0]:,} reach it"
            yield self.kind, f"{reads}; give it more steps, or a shorter window"


class Conv1D(Sliding):
    """A convolution along the steps: f(k·m + 1) parameters for f filters and a kernel of k steps; in groups, fewer."""

    kind = "conv1d"
    number = "filters"
    own_options: ClassVar[Mapping[str, Option]] = {
        "filters": Option(SIZE, "the number of filters, which is the width of the output"),
        "kernel": Option(Size(), "the steps that a filter reads at once, k"),
        "stride": Option(Size(), "how many steps the window moves; 1 by default, in a pool1d its window"),
        "padding": Option(
            Choice(("valid", "same", "causal")),
            "zeros around the sequence: valid, none; same, at both ends, for T / stride steps, rounded up; "
            "causal, before it, so that no output reads a later step",
        ),
        "dilation": Option(Size(), "how far apart the steps of a kernel are"),
        "groups": Option(
            Size(), "parts of the input's width, each with its own filters; one per feature is a depthwise convolution"
        ),
    }

    filters: int
    kernel: int
    stride: int = 1
    padding: str = "valid"
    dilation: int = 1
    groups: int = 1
    bias: bool = True
    activation: str = "linear"

    @property
    def taps(self) -> tuple[int, int, int, str]:
        return self.kernel, self.dilation, self.stride, self.padding

    def output_width(self, inputs: int) -> int:
        return self.filters

    def sizes(self, inputs: int) -> dict[str, int]:
        channels = {"m": inputs} if self.groups == 1 else {"m": inputs, "c": inputs // self.groups}
        return {"f": self.filters, "k": self.kernel, **channels}

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        return with_bias("kernel", "fmk" if self.groups == 1 else "fck", bias=self.bias)

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        return ops.activate(self.activation, affine(ops, "kernel", window, bias=self.bias))

    def option_problems(self) -> Iterator[OptionProblem]:
        yield from self._undivided("filters", self.filters)
        yield from super(Transform, self).option_problems()  # extra inputs are features like any other

    def input_problems(self, shape: Shape) -> Iterator[OptionProblem]:
        yield from self._undivided("features of the input", shape[-1])
        yield from super().input_problems(shape)

    def _undivided(self, what: str, number: Any) -> Iterator[OptionProblem]:
        """Yield why the groups do not divide a number, if there are several."""
        if self.groups != 1 and not isinstance(number, int):
            yield "groups", "do not go with a letter; give numbers"
        elif self.groups != 1 and number % self.groups:
            yield "groups", f"{number:,} {what} are no multiple of {self.groups:,} groups; change one of them"


PADDINGS = ("valid", "same")
"""The paddings of a pool1d."""


class Pool1D(Sliding):
    """Takes the maximum, or the average, of each feature over a window of steps; no parameters."""

    kind = "pool1d"
    number = "window"
    skips = True
    own_options: ClassVar[Mapping[str, Option]] = {
        "window": Option(Size(), "the steps that are pooled into one"),
        "stride": Conv1D.own_options["stride"],
        "mode": Option(Choice(("max", "average")), "what it computes from a window"),
        "padding": Option(Choice(PADDINGS), "same: windows reach over both ends, for T / stride steps, rounded up"),
    }

    window: int
    stride: int | None = None
    mode: str = "max"
    padding: str = "valid"

    @property
    def taps(self) -> tuple[int, int, int, str]:
        return self.window, 1, self.stride or self.window, self.padding

    def in_words(self, shape: Shape) -> str:
        what = "maximum" if self.mode == "max" else "average"
        moves = f"the window moves by {plural(self.every, 'step')}"
        ends = ", over both ends" if self.padding == "same" else ""
        return f"Takes the {what} of each feature over a window of {plural(self.window, 'step')}{ends}; {moves}"

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        return ops.largest(window) if self.mode == "max" else ops.average(window)
