"""How parameters grow with the number of steps: those of a recurrent network not at all, its dense equivalent's do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rnncalc.errors import RefusedError
from rnncalc.network.network import Network
from rnncalc.questions.dense import dense_params
from rnncalc.reports.equations import Term
from rnncalc.reports.pictures.framing import Words, framed
from rnncalc.reports.pictures.picture import Align, Arrow, Curve, Label, Picture, Role, Shape, span
from rnncalc.reports.pictures.scale import LONG, Scale, linear_or_logarithmic
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
    """The parameters of a network, and those of its dense equivalent for some numbers of steps.

    at: the number of the network's steps, None where it is not known or that of the halves differs.
    """

    steps: tuple[int, ...]
    dense: tuple[int, ...]
    own: int
    at: int | None

    @property
    def scales(self) -> tuple[Scale, Scale]:
        """The scales of the steps and of the parameters."""
        return linear_or_logarithmic([*self.steps]), linear_or_logarithmic([self.own, *self.dense])


def pictures(network: Network, only: tuple[str, ...], width: int | None, signs: Mapping[int, str]) -> list[Picture]:
    """Return the curves of both. Raises RefusedError where there is no growth to draw."""
    name = escape(title(network))
    if only:
        raise RefusedError(f"{name}: the growth is that of the whole network; leave --only out")
    if network.topology == "one-to-one":
        raise RefusedError(f"{name}: a one-to-one network has one step, and nothing grows with it; draw another view")
    known = {part.steps for part in network.parts.values()}
    steps = _steps(max(number or 1 for number in known))
    at = next(iter(known)) if len(known) == 1 else None
    grown = Grown(steps, tuple(dense_params(network, number) for number in steps), network.params, at)
    if not grown.own or min(grown.dense) == max(grown.dense):
        raise RefusedError(f"{name}: its dense equivalent does not grow with the steps; draw another view")
    left = max(span((text,)) for text in _numbers(grown.scales[1]))
    free = WIDTH if width is None else width - left - 4 - max(len(name) for name in NAMES.values())
    across, up = (
        _whole(scale, room)
        for scale, room in zip(grown.scales, (max(min(WIDTH, free), NARROWEST), HEIGHT), strict=True)
    )
    return [framed(_words(network, grown), [*_axes(grown, across, up), *_curves(grown, across, up)], width)]


def _whole(scale: Scale, room: int) -> int:
    """Return how many cells of a room an axis takes: as many for each of its steps."""
    return room // scale.steps * scale.steps


def _steps(longest: int) -> tuple[int, ...]:
    """Return the numbers of steps that are drawn, from 1 to the end of the scale."""
    if longest <= STEPS:
        return tuple(range(1, STEPS + 1))
    last = linear_or_logarithmic([1, max(longest, LONG)]).last
    points = (round(last ** (place / POINTS)) for place in range(POINTS + 1))
    return tuple(dict.fromkeys(points))


def _numbers(scale: Scale) -> list[str]:
    """Return the numbers at an axis, all in one style: in full, or, where the last is long, as powers of ten."""
    if scale.last < MOST_IN_FULL:
        return [f"{number:,}" for number in scale.marks]
    if scale.logarithmic:
        return [f"10{str(len(str(number)) - 1).translate(RAISED)}" for number in scale.marks]
    return [f"{number:.3g}" for number in scale.marks]


MOST_IN_FULL = 10_000_000

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _axes(grown: Grown, width: int, height: int) -> Iterator[Shape]:
    """Yield the axes with their numbers; that of the parameters is in column 0, that of the steps at the bottom."""
    across, up = grown.scales
    yield Arrow(((0, height), (0, -1)), Role.AXIS)
    yield Arrow(((0, height), (width + 2, height)), Role.AXIS)
    yield Label(0, -2, ("parameters",), Role.SHAPE, Align.MIDDLE)
    yield Label(width + 4, height, ("steps ", Term("T")), Role.SHAPE)
    for number, text in zip(up.marks, _numbers(up), strict=True):
        y = height - round(up.share(number) * height)
        yield Curve(((0.1, y + 0.5), (0.5, y + 0.5)), Role.AXIS)
        yield Label(-2, y, (text,), Role.SHAPE, Align.END)
    behind = -1
    for number, text in zip(across.marks, _numbers(across), strict=True):
        label = Label(round(across.share(number) * width), height + 1, (text,), Role.SHAPE, Align.MIDDLE)
        yield Curve(((label.x + 0.5, height + 0.5), (label.x + 0.5, height + 0.7)), Role.AXIS)
        if label.left > behind:
            yield label
            behind = label.left + span(label.text)


def _curves(grown: Grown, width: int, height: int) -> Iterator[Shape]:
    """Yield both curves, each with its name behind its end, and where the network's own steps are."""
    across, up = grown.scales

    def point(steps: int, params: int) -> tuple[float, float]:
        return 0.5 + across.share(steps) * width, height + 0.5 - up.share(params) * height

    if grown.at is not None:
        x = point(grown.at, grown.own)[0]
        yield Curve(((x, 0.5), (x, height + 0.5)), Role.ELIDED)
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
    scales = f"both scales {kinds[0]}" if kinds[0] == kinds[1] else f"scales {kinds[0]} across, {kinds[1]} up"
    notes = [f"Recurrent: {plural(grown.own, 'parameter')}, however many the steps."]
    at = grown.steps[-1] if grown.at is None else grown.at
    dense = dense_params(network, at)
    ratio = f"{decimal(dense / grown.own)} × as many"
    notes.append(f"Dense equivalent: {plural(dense, 'parameter')} at {plural(at, 'step')}, {ratio}.")
    if grown.at is not None:
        notes.append(f"Dashed: the network's own {plural(at, 'step')}.")
    setting = f"Parameters against steps; {scales}"
    return Words(title(network), setting, tuple(notes), "growth")
