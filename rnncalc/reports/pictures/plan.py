"""Which steps and which layers of a network a picture has room for, and how many it leaves out. Knows no places."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.network.flow import inputs_of
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed

MOST_STEPS, MOST_LAYERS = 6, 12
"""Of more, the middle is left out."""

FIRST_LAYERS, LAST_LAYERS = 6, 5
"""How many layers are drawn where some are left out."""

SHORT = 10_000
"""From here on a step's number is said in letters."""


class When(Enum):
    """At which steps something happens."""

    EVERY = auto()
    FIRST = auto()
    LAST = auto()


class Step(NamedTuple):
    """A step that is drawn: what stands below a letter to say which it is, and whether it is the first or the last."""

    name: str
    first: bool = False
    last: bool = False

    def on(self, when: When) -> bool:
        """Return whether something happens at this step."""
        return when is When.EVERY or (self.first if when is When.FIRST else self.last)


class Gap(NamedTuple):
    """Steps that are left out: how many, None where that is not known."""

    steps: int | None


Columns = tuple[Step | Gap, ...]


class Shown(NamedTuple):
    """A layer that is drawn.

    applied, hands_on: at which steps it is applied, and hands on to the layer above.
    number: which of the part's recurrent layers it is, counted from 0; None where it is not recurrent.
    """

    placed: Placed
    applied: When
    hands_on: When
    number: int | None


class LeftOut(NamedTuple):
    """Layers that are left out: how many, and their parameters; the others as the first and the last of them."""

    layers: int
    params: int
    applied: When
    hands_on: When


Row = Shown | LeftOut


def read_at(network: Network, part: str | None) -> When:
    """Return at which steps a part reads an input."""
    return When.EVERY if inputs_of(network.flow)[part].sequence else When.FIRST


def columns(network: Network, part: str | None) -> list[Columns]:
    """Return the ways to draw a part's steps, the fullest first, each narrower than the one before."""
    steps, reads_many = network.parts[part].steps, read_at(network, part) is When.EVERY
    *_, last = (placed for placed in network.stack if placed.part == part)
    if not reads_many and not last.sequence:
        return [(Step("", first=True, last=True),)]
    if steps is None:
        return _unknown(reads_many, last.sequence)
    starts = part == "decoder" or not reads_many
    few = [(3, 2), (2, 2), (2, 1), (1, 1), (1, 0) if starts else (0, 1)]
    pairs = [(head, tail) for head, tail in few if head + tail < steps]
    ways = [_steps(steps, head, tail) for head, tail in pairs]
    return [_steps(steps, steps, 0), *ways] if steps <= MOST_STEPS else ways


def _steps(steps: int, head: int, tail: int) -> Columns:
    """Return the first and the last steps, and between them what is left out."""
    shown = [*range(1, head + 1), *range(steps - tail + 1, steps + 1)]
    drawn: list[Step | Gap] = [Step(_name(step, steps), step == 1, step == steps) for step in shown]
    if head + tail < steps:
        drawn.insert(head, Gap(steps - head - tail))
    return tuple(drawn)


def _name(step: int, steps: int) -> str:
    if step < SHORT:
        return str(step)
    return "T" if step == steps else f"T−{steps - step}"


def _unknown(reads_many: bool, outputs_many: bool) -> list[Columns]:
    before, now, after, gap = Step("t−1"), Step("t"), Step("t+1"), Gap(None)
    if not reads_many:
        first = Step("1", first=True)
        return [(first, gap, before, now, after, gap), (first, gap, now, gap), (first, gap)]
    if outputs_many:
        return [(gap, before, now, after, gap), (gap, now, gap)]
    last = Step("T", last=True)
    return [(gap, before, now, after, gap, last), (gap, now, gap, last), (gap, last)]


def step_behind(network: Network, part: str | None) -> str:
    """Return the name of the step behind the last, from which what runs backwards comes."""
    steps = network.parts[part].steps
    return "T+1" if steps is None or steps + 1 >= SHORT else str(steps + 1)


def rows(network: Network, part: str | None) -> list[Row]:
    """Return a part's layers from the lowest to the output's, the middle ones of many as one."""
    layers = [placed for placed in network.stack if placed.part == part]
    cells = iter(range(len(layers)))
    every = [_shown(network, placed, next(cells) if isinstance(placed.layer, Cell) else None) for placed in layers]
    if len(every) <= MOST_LAYERS:
        return [*every]
    below, middle, above = every[:FIRST_LAYERS], every[FIRST_LAYERS:-LAST_LAYERS], every[-LAST_LAYERS:]
    params = sum(row.placed.params for row in middle)
    return [*below, LeftOut(len(middle), params, middle[0].applied, middle[-1].hands_on), *above]


def row_of(network: Network, name: str) -> Shown:
    """Return the layer of a name that the network has."""
    (placed,) = (placed for placed in network.stack if placed.name == name)
    return _shown(network, placed, 0 if isinstance(placed.layer, Cell) else None)


def _shown(network: Network, placed: Placed, number: int | None) -> Shown:
    once = When.LAST if read_at(network, placed.part) is When.EVERY else When.FIRST
    applied = once if placed.uses == 1 and network.parts[placed.part].steps != 1 else When.EVERY
    return Shown(placed, applied, When.EVERY if placed.sequence else once, number)
