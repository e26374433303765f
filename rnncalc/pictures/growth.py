"""Parameters against a size, as curves. Against steps, only those of the dense equivalent grow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log10
from typing import NamedTuple

from rnncalc.errors import RefusedError
from rnncalc.letters import RAISED
from rnncalc.network.network import Network, in_numbers
from rnncalc.pictures.picture import Arrow, Caption, Curve, Dot, Frame, Label, Picture, Shape, Style, framed, span
from rnncalc.printable import escape
from rnncalc.questions.dense import dense_params
from rnncalc.typeset.equations import Line, Term
from rnncalc.typeset.setting import title
from rnncalc.typeset.sheet import MOST_LINEAR
from rnncalc.words import decimal, plural

MOST_MARKS = 5
"""The most numbers on an axis, without the one at its start."""

STEPS = 20
"""The steps that are drawn if the network has fewer, or an unknown number."""

WIDTH, HEIGHT, NARROWEST = 56, 16, 16
"""The cells within the axes."""

POINTS = 48
"""The most points of a curve."""

STYLES = (Style.RECURRENT, Style.DENSE, Style.OUTPUT, Style.STATE, Style.BACKWARD, Style.INPUT, Style.GATE)
"""The styles of curves, in their order."""


class Curves(NamedTuple):
    """Parameters at some sizes: a curve for each name, at most as many as there are STYLES; None is no point.

    axis: what the sizes are. at: the size to mark, if any. up: what the numbers are, if not parameters.
    """

    across: tuple[int, ...]
    lines: Mapping[str, Sequence[int | None]]
    axis: Line
    at: int | None = None
    up: str = "parameters"

    @property
    def scales(self) -> tuple[Scale, Scale]:
        """The scales of the sizes and of the parameters."""
        numbers = [max(number, 1) for line in self.lines.values() for number in line if number is not None]
        return linear_or_logarithmic([*self.across]), linear_or_logarithmic(numbers)

    @property
    def scales_in_words(self) -> str:
        """Say whether the scales are linear or logarithmic."""
        kinds = ["logarithmic" if scale.logarithmic else "linear" for scale in self.scales]
        return f"both scales {kinds[0]}" if kinds[0] == kinds[1] else f"scales {kinds[0]} across, {kinds[1]} up"


def pictures(network: Network, only: tuple[str, ...], frame: Frame) -> list[Picture]:
    """Return the curves of both. Raises RefusedError if there is no growth to draw."""
    name = escape(title(network))
    if only:
        raise RefusedError(f"{name}: the growth is that of the whole network; leave --only out")
    if network.topology == "one-to-one":
        raise RefusedError(f"{name}: a one-to-one network has one step, and nothing grows with it; draw another view")
    lengths = {part.steps for part in in_numbers(network).parts.values()}
    longest = max(number or 1 for number in lengths)
    steps = list(range(1, STEPS + 1))
    if longest > STEPS:
        last = linear_or_logarithmic([1, max(longest, MOST_LINEAR)]).last
        steps = [round(last ** (place / POINTS)) for place in range(POINTS + 1)]
    dense = {number: dense_params(network, number) for number in steps}
    dense = {number: params for number, params in dense.items() if params}  # a kernel needs some steps
    at = next(iter(lengths)) if len(lengths) == 1 else None
    params = network.params
    if not params or len({*dense.values()}) < 2:
        raise RefusedError(f"{name}: its dense equivalent does not grow with the steps; draw another view")
    lines = {"recurrent": [params] * len(dense), "dense": [*dense.values()]}
    curves = Curves((*dense,), lines, ("steps ", Term("T")), at)
    return [plotted(curves, _caption(network, curves), frame)]


def plotted(curves: Curves, caption: Caption, frame: Frame) -> Picture:
    """Return a picture of curves."""
    left = max(span((text,)) for text in _numbers(curves.scales[1]))
    free = WIDTH if frame.width is None else frame.width - left - 4 - max(span((name,)) for name in curves.lines)
    rooms = max(min(WIDTH, free), NARROWEST), HEIGHT
    across, up = (room // scale.steps * scale.steps for scale, room in zip(curves.scales, rooms, strict=True))
    return framed(caption, [*_axes(curves, across, up), *_lines(curves, across, up)], frame)


def _numbers(scale: Scale) -> list[str]:
    """Return the numbers at an axis, all in one style: in full, or, if the last is long, as powers of ten."""
    if scale.last < MOST_IN_FULL:
        return [f"{number:,}" for number in scale.marks]
    if scale.logarithmic:
        return [f"10{str(len(str(number)) - 1).translate(RAISED)}" for number in scale.marks]
    return [f"{number:.3g}" for number in scale.marks]


MOST_IN_FULL = 10_000_000


def _axes(curves: Curves, width: int, height: int) -> Iterator[Shape]:
    """Yield the axes with their numbers; that of the parameters is in column 0, that of the sizes at the bottom."""
    across, up = curves.scales
    yield Arrow(((0, height), (0, -1)), Style.AXIS)
    yield Arrow(((0, height), (width + 2, height)), Style.AXIS)
    yield Label(0, -2, (curves.up,), Style.SHAPE, "middle")
    yield Label(width + 4, height, curves.axis, Style.SHAPE)
    for number, text in zip(up.marks, _numbers(up), strict=True):
        y = height - round(up.share(number) * height)
        yield Curve(((0.1, y + 0.5), (0.5, y + 0.5)), Style.AXIS)
        yield Label(-2, y, (text,), Style.SHAPE, "end")
    behind = -1
    for number, text in zip(across.marks, _numbers(across), strict=True):
        label = Label(round(across.share(number) * width), height + 1, (text,), Style.SHAPE, "middle")
        yield Curve(((label.x + 0.5, height + 0.5), (label.x + 0.5, height + 0.7)), Style.AXIS)
        if label.left > behind:
            yield label
            behind = label.left + span(label.text)


def _lines(curves: Curves, width: int, height: int) -> Iterator[Shape]:
    """Yield the curves, each with its name behind its end, and where the marked size is."""
    across, up = curves.scales

    def point(size: int, params: int) -> tuple[float, float]:
        return 0.5 + across.share(size) * width, height + 0.5 - up.share(max(params, 1)) * height

    if curves.at is not None:
        x = point(curves.at, up.first)[0]
        yield Curve(((x, 0.5), (x, height + 0.5)), Style.ELIDED)
    ends: list[tuple[float, str, Style]] = []
    for (name, numbers), style in [*zip(curves.lines.items(), STYLES, strict=False)][::-1]:
        pairs = zip(curves.across, numbers, strict=True)
        if points := [point(size, number) for size, number in pairs if number is not None]:
            yield Curve(tuple(points), style) if points[1:] else Dot(int(points[0][0]), int(points[0][1]))
            ends.append((points[-1][1], name, style))
    above = height + 1
    for y, name, style in sorted(ends, key=lambda end: -end[0]):
        above = min(int(y), above - 1)
        yield Label(int(point(curves.across[-1], 1)[0]) + 2, above, (name,), style)


def _caption(network: Network, grown: Curves) -> Caption:
    recurrent, steps = network.params, grown.across[-1]
    notes = [f"Recurrent: {plural(recurrent, 'parameter')}, however many the steps."]
    at = steps if grown.at is None else grown.at
    dense = dense_params(network, at)
    ratio = f"{decimal(dense / recurrent)}× as many"
    notes.append(f"Dense equivalent: {plural(dense, 'parameter')} at {plural(at, 'step')}, {ratio}.")
    if grown.at is not None:
        notes.append(f"Dashed: the network's own {plural(at, 'step')}.")
    setting = f"Parameters against steps; {grown.scales_in_words}"
    return Caption(title(network), setting, tuple(notes), "growth")


class Scale(NamedTuple):
    """Numbers from the first to the last in equal steps: `step` more each time or, if logarithmic, `step` times."""

    first: int
    last: int
    step: int
    logarithmic: bool

    def share(self, number: float) -> float:
        """Return where a number lies, from 0 for the first to 1 for the last."""
        if self.logarithmic:
            return (log10(number) - log10(self.first)) / (log10(self.last) - log10(self.first))
        return (number - self.first) / (self.last - self.first)

    @property
    def steps(self) -> int:
        """The number of steps from the first to the last."""
        if self.logarithmic:
            return (_power(self.last) - _power(self.first)) // _power(self.step)
        return (self.last - self.first) // self.step

    @property
    def marks(self) -> list[int]:
        """The round numbers to write at an axis."""
        places = range(self.steps + 1)
        return [self.first * self.step**at if self.logarithmic else self.first + self.step * at for at in places]


def linear_or_logarithmic(numbers: list[int]) -> Scale:
    """Return the scale for some numbers, all of them positive."""
    least, most = min(numbers), max(numbers)
    if most < MOST_LINEAR * least:
        power = 10 ** max(_power(most) - 1, 0)
        step = next(power * times for times in (1, 2, 5, 10, 20) if most <= MOST_MARKS * power * times)
        return Scale(0, -(-most // step) * step, step, logarithmic=False)
    low, high = _power(least), _power(most - 1) + 1
    apart = -(-(high - low) // MOST_MARKS)
    high = low + -(-(high - low) // apart) * apart
    return Scale(10**low, 10**high, 10**apart, logarithmic=True)


def _power(number: int) -> int:
    """Return the power of ten that a number reaches."""
    return len(str(number)) - 1
