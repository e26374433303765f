"""How parameters grow with the number of steps: those of a recurrent network not at all, its dense equivalent's do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rnncalc.errors import RefusedError
from rnncalc.network.network import Network
from rnncalc.questions.dense import dense_params
from rnncalc.reports.equations import Term
from rnncalc.reports.pictures.framing import Words, framed
from rnncalc.reports.pictures.picture import Align, Arrow, Curve, Label, Picture, Role, Shape, span
from rnncalc.reports.pictures.scale import LONG, Scale, linear_or_logarithmic, ticks
from rnncalc.reports.setting import title
from rnncalc.text import decimal, escape, plural

STEPS = 20
"""So many are drawn where the network has fewer, or does not know how many."""

WIDTH, HEIGHT, NARROWEST = 56, 16, 16
"""The cells within the axes."""

POINTS = 48
"""A curve has so many at the most."""

NAMES = {Role.DENSE: "dense", Role.RECURRENT: "recurrent"}


class Grown(NamedTuple):
    """The parameters of a network, and those of its dense equivalent for some numbers of steps."""

    steps: tuple[int, ...]
    dense: tuple[int, ...]
    own: int

    @property
    def scales(self) -> tuple[Scale, Scale]:
        """The scales of the steps and of the parameters."""
        across = linear_or_logarithmic([*self.steps], from_zero=False)
        return across, linear_or_logarithmic([self.own, *self.dense], from_zero=True)


def pictures(network: Network, only: tuple[str, ...], width: int | None) -> list[Picture]:
    """Return the curves of both. Raises RefusedError where there is no growth to draw."""
    name = escape(title(network))
    if only:
        raise RefusedError(f"{name}: the growth is that of the whole network; leave --only out")
    if network.topology == "one-to-one":
        raise RefusedError(f"{name}: a one-to-one network has one step, and nothing grows with it; draw another view")
    steps = _steps(max([part.steps or 1 for part in network.parts.values()]))
    grown = Grown(steps, tuple(dense_params(network, number) for number in steps), network.params)
    if not grown.own or min(grown.dense) == max(grown.dense):
        raise RefusedError(f"{name}: its dense equivalent does not grow with the steps; draw another view")
    left = max(span((_number(number),)) for number in _marks(grown))
    free = (width or WIDTH + left) - left - 4 - max(len(name) for name in NAMES.values())
    shapes = [*_axes(grown, max(min(WIDTH, free), NARROWEST)), *_curves(grown, max(min(WIDTH, free), NARROWEST))]
    return [framed(_words(network, grown), shapes, width)]


def _steps(longest: int) -> tuple[int, ...]:
    """Return the numbers of steps that are drawn, from 1 to the end of the scale."""
    if longest <= STEPS:
        return tuple(range(1, STEPS + 1))
    last = linear_or_logarithmic([1, max(longest, LONG)], from_zero=False).last
    points = (round(last ** (place / POINTS)) for place in range(POINTS + 1))
    return tuple(dict.fromkeys(points))


def _marks(grown: Grown) -> list[int]:
    return ticks(grown.scales[1], HEIGHT // 3)


def _number(number: int) -> str:
    """Return a number at an axis: a long power of ten as one."""
    if number < MOST_IN_FULL:
        return f"{number:,}"
    power = len(str(number)) - 1
    return f"10^{power}" if number == 10**power else f"{number:.3g}"


MOST_IN_FULL = 10_000_000


def _axes(grown: Grown, width: int) -> Iterator[Shape]:
    """Yield the axes with their numbers; the parameters' is at 0, the steps' at the bottom."""
    across, up = grown.scales
    yield Arrow(((0, HEIGHT), (0, -1)), Role.AXIS)
    yield Arrow(((0, HEIGHT), (width + 2, HEIGHT)), Role.AXIS)
    yield Label(0, -2, ("parameters",), Role.SHAPE, Align.MIDDLE)
    yield Label(width + 4, HEIGHT, ("steps ", Term("T")), Role.SHAPE)
    for number in _marks(grown):
        y = HEIGHT - round(up.share(number) * HEIGHT) if number or not up.logarithmic else HEIGHT
        yield Arrow(((-1, y), (0, y)), Role.AXIS, head=False)
        yield Label(-3, y, (_number(number),), Role.SHAPE, Align.END)
    behind = -1
    for number in ticks(across, width // 8):
        label = Label(round(across.share(number) * width), HEIGHT + 2, (_number(number),), Role.SHAPE, Align.MIDDLE)
        yield Arrow(((label.x, HEIGHT), (label.x, HEIGHT + 1)), Role.AXIS, head=False)
        if label.left > behind:
            yield label
            behind = label.left + span(label.text)


def _curves(grown: Grown, width: int) -> Iterator[Shape]:
    """Yield both curves, each with its name behind its end."""
    across, up = grown.scales

    def point(steps: int, params: int) -> tuple[float, float]:
        return 0.5 + across.share(steps) * width, HEIGHT + 0.5 - up.share(params) * HEIGHT

    ends = {}
    for role, numbers in ((Role.DENSE, grown.dense), (Role.RECURRENT, (grown.own,) * len(grown.dense))):
        points = tuple(map(point, grown.steps, numbers))
        yield Curve(points, role)
        ends[role] = int(points[-1][1])
    if ends[Role.DENSE] == ends[Role.RECURRENT]:
        ends[Role.DENSE] -= 1
    for role, y in ends.items():
        yield Label(int(point(grown.steps[-1], 1)[0]) + 2, y, (NAMES[role],), role)


def _words(network: Network, grown: Grown) -> Words:
    across, up = grown.scales
    kinds = ["logarithmic" if scale.logarithmic else "linear" for scale in (across, up)]
    notes = [f"Recurrent: {plural(grown.own, 'parameter')}, however many the steps."]
    steps = {part.steps for part in network.parts.values()}
    at = next(iter(steps)) if len(steps) == 1 else None
    at = grown.steps[-1] if at is None else at
    dense = dense_params(network, at)
    ratio = f"{decimal(dense / grown.own)} × as many"
    notes.append(f"Dense equivalent: {plural(dense, 'parameter')} at {plural(at, 'step')}, {ratio}.")
    setting = f"Parameters against steps; scales {kinds[0]} across, {kinds[1]} up"
    return Words(title(network), setting, tuple(notes), "growth")
