"""How high everything in a cell stands, and through which places of the grid its wires run, each on a track of its own.

Knows wires and how high nodes are, and nothing of what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import NamedTuple

from rnncalc.reports.pictures.cell_places import Places
from rnncalc.reports.pictures.cell_wires import How, Wire, Wires
from rnncalc.reports.pictures.picture import GridPoint

MOST_TRIED = 4
"""Of more values in a channel than these, the tracks are as they come: there would be too many orders."""


class Path(NamedTuple):
    """The corners of a wire, from beside its source to beside its target."""

    wire: Wire
    corners: tuple[GridPoint, ...]


class Heights(NamedTuple):
    """The y of the middle of each row, and of each track: by row and the value that runs in the channel below it.

    entries: of each state of the step before, the y at which it comes in.
    """

    rows: Mapping[int, int]
    tracks: Mapping[tuple[int, int], int]
    entries: Mapping[int, int]


def heights(found: Places, made: Wires, high: Mapping[int, int]) -> Heights:
    """Return how high everything stands; `high` is how many cells a node takes, its middle the upper of two."""
    channels: dict[int, list[int]] = {}
    for wire in made.wires:
        if wire.how in (How.UNDER, How.BESIDE, How.OVER):
            channel = channels.setdefault(wire.row, [])
            if wire.source not in channel:
                channel.append(wire.source)
    rows: dict[int, int] = {}
    tracks: dict[tuple[int, int], int] = {}
    y = 0
    for row in range(found.top, -1, -1):
        inside = [high[place] for place, at in found.rows.items() if at == row and place in high] or [1]
        above = max((each - 1) // 2 for each in inside)
        rows[row] = y + above
        y += above + max(each // 2 for each in inside) + 2
        order = _order(found, made, row, channels.get(row, []))
        for place in order:
            tracks[row, place] = y
            y += 1
        y += 1
    entries: dict[int, int] = {}
    for number, place in enumerate(found.graph.before.values()):
        own = [wire for wire in made.wires if wire.source == place]
        along = [rows[wire.row] for wire in own if (wire.source, wire.target) in _first(found)]
        entries[place] = along[0] if along else max((_turn(wire, rows, tracks) for wire in own), default=y + number)
    return Heights(rows, tracks, entries)


def _first(found: Places) -> set[tuple[int, int]]:
    """Return from where to where the first wire of each state's line runs."""
    return {(found.graph.before[letter], line[0]) for letter, line in found.lines.items()}


def _turn(wire: Wire, rows: Mapping[int, int], tracks: Mapping[tuple[int, int], int]) -> int:
    """Return the y at which a wire leaves its trunk."""
    return rows[wire.row] if wire.how is How.SIDE else tracks[wire.row, wire.source]


def _order(found: Places, made: Wires, row: int, values: list[int]) -> tuple[int, ...]:
    """Return the values of a channel from the highest track to the lowest, so that few of their wires cross."""
    if not 1 < len(values) <= MOST_TRIED:
        return tuple(values)
    spans, ups, downs = {}, {}, {}
    lined = {found.graph.before[letter]: found.rows[line[0]] for letter, line in found.lines.items()}
    for place in values:
        own = [wire for wire in made.wires if wire.source == place]
        here = [wire for wire in own if wire.row == row and wire.how in (How.UNDER, How.BESIDE, How.OVER)]
        trunk = made.trunks[place]
        reached = [wire.up for wire in here]
        spans[place] = min(trunk, *reached), max(trunk, *reached)
        ups[place] = [wire.up for wire in here if wire.how is not How.OVER]
        ups[place] += [trunk] if any(wire.row > row or wire.how is How.STRAIGHT for wire in own) else []
        from_above = lined.get(place, -1) >= row
        downs[place] = [] if from_above else [trunk]
        ups[place] += [trunk] if from_above else []

    def crossings(order: tuple[int, ...]) -> int:
        count = 0
        for level, upper in enumerate(order):
            for lower in order[level + 1 :]:
                count += sum(spans[upper][0] <= x <= spans[upper][1] for x in {*ups[lower]})
                count += sum(spans[lower][0] <= x <= spans[lower][1] for x in downs[upper])
        return count

    return min(permutations(values), key=crossings)


def paths(found: Places, made: Wires, at: Heights, high: Mapping[int, int]) -> Iterator[Path]:
    """Yield the corners of every wire; the states of the step before come in at the x `LEFT`."""
    for wire in made.wires:
        if wire.how in (How.ALONG, How.EXIT):
            y = at.rows[wire.row]
            yield Path(wire, ((wire.up, y), (wire.end, y)))
            continue
        trunk = made.trunks[wire.source]
        if wire.source in at.entries:
            y = at.entries[wire.source]
            start = [(LEFT, y), (trunk, y)]
        else:
            y = at.rows[found.rows[wire.source]]
            start = [(trunk, y - (high[wire.source] - 1) // 2 - 1)]
        yield Path(wire, _merged([*start, *_rest(wire, trunk, at, high)]))


LEFT = -2
"""The x at which what comes in from the left starts."""


def _rest(wire: Wire, trunk: int, at: Heights, high: Mapping[int, int]) -> tuple[GridPoint, ...]:
    """Return the corners of a wire from its trunk on."""
    middle = at.rows.get(wire.row, 0)
    below = middle + high.get(wire.target, 1) // 2 + 1
    if wire.how is How.STRAIGHT:
        return ((trunk, below),)
    if wire.how is How.SIDE:
        return (trunk, middle), (wire.end, middle)
    track = at.tracks[wire.row, wire.source]
    turn = (trunk, track), (wire.up, track)
    match wire.how:
        case How.UNDER:
            return (*turn, (wire.up, below))
        case How.BESIDE:
            return (*turn, (wire.up, middle), (wire.end, middle))
        case _:
            return turn


def _merged(corners: list[GridPoint]) -> tuple[GridPoint, ...]:
    """Return the corners without those at which the way does not turn."""
    found: list[GridPoint] = []
    for cell in corners:
        if found and cell == found[-1]:
            continue
        if len(found) > 1 and (found[-2][0] == found[-1][0] == cell[0] or found[-2][1] == found[-1][1] == cell[1]):
            found.pop()
        found.append(cell)
    return tuple(found)
