"""A network unrolled in time: a column a step, a row a layer.

What is drawn costs no more than the elided picture: no step that is left out is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from rnncalc.network.network import Network
from rnncalc.reports.pictures.boxes import size, state_labels, states
from rnncalc.reports.pictures.detours import fed_back, joining
from rnncalc.reports.pictures.framing import Words, framed
from rnncalc.reports.pictures.half import BETWEEN, Half, beside, row_has, shapes
from rnncalc.reports.pictures.levels import JOINED, UP, heights, joins, levels
from rnncalc.reports.pictures.picture import Arrow, Label, Picture, Role, Shape, moved, span
from rnncalc.reports.pictures.plan import Columns, Gap, Row, Shown, columns, read_at, row_of, rows, step_behind
from rnncalc.reports.setting import flow, one_to_many, title
from rnncalc.text import plural

Parts = dict[str | None, list[Row]]
"""The rows of each part that is drawn, from the lowest."""

APART = 4
"""Between two halves that no arrow joins."""

LEGEND = "Boxes: name, kind and width, parameters. Arrows: how many numbers run along them at a step."
JOINED_INPUTS = "A sum on an arrow: what comes from below, and extra inputs from elsewhere."


class Fit(NamedTuple):
    """A way to draw a part: its columns, and whether it is made as narrow as can be, its first states left out."""

    columns: Columns
    tight: bool = False


def pictures(network: Network, only: tuple[str, ...], width: int | None, signs: Mapping[int, str]) -> list[Picture]:
    """Return the network unrolled, its halves by themselves where both have no room; or each of the layers named."""
    if only:
        found = [row_of(network, name) for name in only]
        return [_fitting(network, {row.placed.part: [row]}, width, row.placed.name) for row in found]
    parts = {part: rows(network, part) for part in network.parts}
    whole = _fitting(network, parts, width)
    if len(parts) == 1 or width is None or whole.width <= width:
        return [whole]
    return [_fitting(network, {part: of}, width, str(part)) for part, of in parts.items()]


def _fitting(network: Network, parts: Parts, width: int | None, of: str = "") -> Picture:
    """Return the fullest picture that is no wider than so many cells, or the narrowest."""
    ways = [[*map(Fit, columns(network, part))] for part in parts]
    for part in ways:
        part.append(part[-1]._replace(tight=True))
    for chosen in zip_longest(*ways):
        halves = _halves(network, parts, [way or part[-1] for way, part in zip(chosen, ways, strict=True)])
        drawn = framed(_words(network, parts, of), [*_shapes(halves)], width)
        if width is None or drawn.width <= width:
            break
    return drawn


def _words(network: Network, parts: Parts, of: str) -> Words:
    name = title(network)
    every = [entry for entry in network.stack if entry.part in parts]
    params = sum(entry.params for entry in every)
    if of and of not in parts:
        params = row_of(network, of).placed.params
    heading = f"{of} of {name}" if of else name
    joined = JOINED_INPUTS if any(entry.layer.extra_inputs for entry in every) else None
    return Words(
        heading,
        f"{flow(network)}; {plural(params, 'parameter')}",
        tuple(filter(None, (LEGEND, joined, one_to_many(network)))),
        "unrolled in time",
    )


def _halves(network: Network, parts: Parts, chosen: list[Fit]) -> list[Half]:
    """Return the halves, each row at its height; recurrent layers whose states meet are at the same."""
    found, bridged = levels(list(parts.values())), len(parts) > 1
    handing_on = [part for part in parts if not (bridged and part == "encoder")]
    states, inputs = heights(found, bridged, 1 + UP if handing_on else 0)
    halves = []
    for place, (part, way) in enumerate(zip(parts, chosen, strict=True)):
        column = [level[place] for level in found]
        placed = [(row, y - size(row).forward) for row, y in zip(column, states, strict=True) if row]
        last, top = placed[-1]
        above = top - 1 - (JOINED if joins(last) else UP)
        halves.append(
            Half(
                columns=way.columns,
                rows=tuple(placed),
                inputs=inputs,
                outputs=above if part in handing_on else None,
                read_at=read_at(network, part),
                before="" if way.tight or (bridged and part == "decoder") else "0",
                behind="" if way.tight else step_behind(network, part),
                repeated=_repeated(network, part),
                beside="; ".join(filter(None, [part or "", _left_out(way.columns)])),
                tight=way.tight,
                fed_back=network.feedback,
            )
        )
    return halves


def _repeated(network: Network, part: str | None) -> str:
    """Return what is said of the weights of all steps."""
    steps = network.parts[part].steps
    if steps == 1:
        return "" if part is None else "one step"
    times = "T" if steps is None else f"{steps:,}"
    return f"×{times}, the same weights"


def _left_out(steps: Columns) -> str:
    left_out = sum(column.steps or 0 for column in steps if isinstance(column, Gap))
    return f"{plural(left_out, 'step')} left out" if left_out else ""


def _shapes(halves: list[Half]) -> Iterator[Shape]:
    """Yield everything, the second half to the right of the first and joined to it."""
    if len(halves) == 1:
        (half,) = halves
        yield from shapes(half)
        yield from _joined(half)
        if half.fed_back:
            yield from fed_back(half)
        return
    giving, taking = halves
    pairs = [(row, top, other) for row, top in giving.rows for other, _ in taking.rows if _meet(row, other)]
    labels = [span(label) for _, _, other in pairs for label in state_labels(other)]
    behind = [span(states(row, giving.behind)) + 2 for row, _, _ in pairs if size(row).backward is not None]
    first = [*shapes(giving)]
    said = [shape for shape in first if isinstance(shape, Label) and shape.role is Role.SHAPE]
    over = [label.x + span(label.text) - giving.right for label in said]
    # There what runs backwards begins, and comes down to what is handed over, clear of what stands beside arrows.
    before = max(BETWEEN + max(behind) if giving.behind else 0, *over) + 3 if behind else 0
    room = max(before + max(labels) + 3 if labels else APART, giving.overhang + taking.overhang + APART)
    yield from first
    yield from (moved(shape, (giving.right + room - taking.lefts[0], 0)) for shape in shapes(taking))
    for row, top, other in pairs:
        y = top + size(row).forward
        yield Arrow(((giving.right, y), (giving.right + room - 1, y)), Role.STATE)
        yield from beside(giving.right + before, room - before, other, y - size(other).forward)
        if size(row).backward is not None:
            yield from joining(giving, row, top, (giving.right + before - 2, y))


def _meet(row: Row, other: Row) -> bool:
    """Return whether the last states of one are the first ones of the other."""
    if not isinstance(row, Shown) or not isinstance(other, Shown):
        return False
    return row_has(row) and row.number == other.number


def _joined(half: Half) -> Iterator[Shape]:
    """Yield what leads the last states of both directions into one vector."""
    for row, top in half.rows:
        if joins(row) and len(half.columns) > 1:
            last = half.lefts[-1] + (half.box - 1) // 2
            yield from joining(half, row, top, (last, top - 2))
