"""Which site of a model file is which layer of a network: by their paths, else by shapes and order."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TypeVar

from rnncalc.errors import Problem, SpecError
from rnncalc.layers.layer import External, Layer
from rnncalc.questions.models.site import Shape, Site
from rnncalc.questions.models.wanted import Wanted, distance, kind_of
from rnncalc.text import escape, one_of

MOST_COMPARED = 400
"""More layers that fit nothing exactly are paired as they stand."""

GAP = 0.6
"""What it costs to leave a layer without a site: two are more than any pair."""

Pairs = dict[int, Site]
"""The site of each layer, by its place among those wanted."""
Item = TypeVar("Item")


def paired(wanted: Sequence[Wanted], sites: Sequence[Site], *, ordered: bool) -> Pairs:
    """Return the sites of layers. Raises SpecError where several fit a layer alike, and nothing says which is meant."""
    pairs: Pairs = {}
    left = [*sites]
    _by_path(wanted, left, pairs)
    free = {place: each for place, each in enumerate(wanted) if not isinstance(each.layer, External)}
    free = {place: each for place, each in free.items() if place not in pairs and each.layer.path is None}
    for with_kind in (True, False):
        _by_shapes(free, left, pairs, ordered=ordered, with_kind=with_kind)
    rest = [place for place in free if place not in pairs]
    for place, site in _in_order(rest, left, lambda one, other: distance(wanted[one], other)):
        pairs[place] = site
    return pairs


def below(site: Site, path: str) -> bool:
    """Return whether a site is at a path or below it; what wrappers put before the path does not matter."""
    return path in site.path and bool(re.search(rf"(^|[./]){re.escape(path)}([./]|$)", site.path))


def _by_path(wanted: Sequence[Wanted], left: list[Site], pairs: Pairs) -> None:
    """Pair the layers whose paths are given, or whose names are those of modules, with what is there."""
    seen: dict[tuple[str, type[Layer]], int] = {}
    for place, each in enumerate(wanted):
        path = each.layer.path
        if isinstance(each.layer, External):
            continue
        said = path or each.layer.name
        if said is None:
            continue
        there = _at(each, said, left, given=path is not None)
        number = seen.get((said, each.kind), 0)
        site = next((site for site in there if site.number == number and distance(each, site) is not None), None)
        seen[said, each.kind] = number + 1
        if site is not None:
            pairs[place] = site
            _take(left, site)


def _at(wanted: Wanted, path: str, left: list[Site], *, given: bool) -> list[Site]:
    """Return the sites at a path, or at one that ends with it; of several such, none can be meant."""
    exact = [site for site in left if site.path == path]
    if exact:
        return exact
    ending = [site for site in left if site.path.endswith((f".{path}", f"/{path}"))]
    if len(paths := [*dict.fromkeys(site.path for site in ending)]) > 1:
        if given:
            raise _ambiguous(wanted, paths)
        return []
    return ending


def _ambiguous(wanted: Wanted, paths: Sequence[str]) -> SpecError:
    fits = one_of([f"'{escape(path)}'" for path in paths])
    return SpecError((Problem(wanted.at, f"may be {fits} of the file; give its path"),))


def _by_shapes(free: dict[int, Wanted], left: list[Site], pairs: Pairs, *, ordered: bool, with_kind: bool) -> None:
    """Pair layers with sites whose tensors are theirs, name by name and shape by shape."""
    asked = _grouped(
        [place for place in free if place not in pairs],
        lambda place: (_key(free[place].shapes), free[place].kind if with_kind else Layer),
    )

    def key_of(site: Site, shared: Collection[str] = ()) -> Hashable:
        own = {name: shape for name, shape in site.shapes.items() if name not in shared}
        return _key(own), kind_of(site.layer) if with_kind else Layer

    there = _grouped(left, key_of)
    for key, places in asked.items():
        shared = free[places[0]].shared
        fitting = [site for site in left if key_of(site, shared) == key] if shared else there.get(key, [])
        own = [site for site in fitting if site.params]
        fitting = own if len(own) >= len(places) else fitting  # not what is another's, used once more
        if with_kind and len(fitting) != len(places):
            continue
        many = len({re.sub("[0-9]+", "", site.path) for site in fitting}) > 1
        same = len({site.path for site in fitting}) == 1
        settled = len(fitting) == len(places) and (ordered or not many or len(places) == 1)
        if not settled and not same and len(fitting) >= len(places):
            raise _ambiguous(free[places[0]], [*dict.fromkeys(site.path or "the file itself" for site in fitting)])
        for place, site in zip(places, fitting, strict=False):
            pairs[place] = site
            _take(left, site)


def _take(left: list[Site], site: Site) -> None:
    """Take a site off the list: itself, not one that is equal to it."""
    del left[next(place for place, each in enumerate(left) if each is site)]


def _key(shapes: Mapping[str, Shape]) -> Hashable:
    return frozenset(shapes.items())


def _grouped(items: Sequence[Item], key: Callable[[Item], Hashable]) -> dict[Hashable, list[Item]]:
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _in_order(
    rest: list[int], left: list[Site], distance: Callable[[int, Site], float | None]
) -> list[tuple[int, Site]]:
    """Return pairs of what fits in part, none crossing another, with the least difference in all."""
    if len(rest) > MOST_COMPARED or len(left) > MOST_COMPARED:
        together = zip(rest, left, strict=False)
        return [(place, site) for place, site in together if distance(place, site) is not None]
    costs = [[GAP * column for column in range(len(left) + 1)]]
    for row, place in enumerate(rest, 1):
        line = [GAP * row]
        for column, site in enumerate(left, 1):
            far = distance(place, site)
            pair = costs[row - 1][column - 1] + far if far is not None else float("inf")
            line.append(min(pair, costs[row - 1][column] + GAP, line[-1] + GAP))
        costs.append(line)
    pairs = []
    row, column = len(rest), len(left)
    while row and column:
        far = distance(rest[row - 1], left[column - 1])
        if costs[row][column] == costs[row][column - 1] + GAP:  # of pairs that cost the same, the first of the file
            column -= 1
        elif far is not None and costs[row][column] == costs[row - 1][column - 1] + far:
            row, column = row - 1, column - 1
            pairs.append((rest[row], left[column]))
        else:
            row -= 1
    return pairs
