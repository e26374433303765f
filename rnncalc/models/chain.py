"""The order in which the layers of a model file are applied, if the file sorts its tensors by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

from rnncalc.bounds import MOST_ORDERED, MOST_PLACES
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, Layer, Transform
from rnncalc.models.sites import Doubt, Site, in_groups, named_last


def with_table_first(sites: Sequence[Site]) -> Sequence[Site]:
    """Return sites with the first table in front if no known layer is before it, or one that reads the table.

    A model may define its table last. One whose width the layer behind it reads, and no other layer outputs, stays.
    """
    for place, site in enumerate(sites):
        if isinstance(site.layer, Embedding):
            before = [(each.layer, each.inputs) for each in sites[:place] if each.layer and each.params]
            after = next((each.inputs for each in sites[place + 1 :] if each.layer and each.params), 0)
            outputs = [layer.output_width(inputs) for layer, inputs in before[-1:]]
            reads = [inputs for _, inputs in before[:1]] == [site.layer.units] and after in (0, *outputs)
            return [site, *sites[:place], *sites[place + 1 :]] if reads or not before else sites
    return sites


def in_chain(sites: Sequence[Site], *, ordered: bool = False) -> Sequence[Site]:
    """Return sites in an order that makes each input width the output width before it, if possible.

    Embeddings come first and outputs last; if widths leave a choice, custom decides, then the names. ordered: whether
    they stay in their order if each known layer reads no less than the one before it outputs.
    """
    widths = _widths(sites)
    if ordered and all(width <= inputs for (_, width), (inputs, _) in pairwise(widths)):
        return sites
    waiting = _Waiting(sites)
    chained: list[Site] = []
    width: int | None = None
    while waiting.sites:
        chained.append(waiting.take(width, chained[-1] if chained else None))
        if (layer := chained[-1].layer) is not None:
            width = layer.output_width(chained[-1].inputs)
    fits = all(width == inputs for (_, width), (inputs, _) in pairwise(_widths(chained)))
    order, several = orders(sites)
    return order if several or (not fits and order) else chained


def _widths(sites: Sequence[Site]) -> list[tuple[int, int]]:
    """Return what each known layer reads and outputs."""
    return [(site.inputs, site.layer.output_width(site.inputs)) for site in sites if site.layer]


def orders(sites: Sequence[Site]) -> tuple[list[Site], bool]:
    """Return sites in an order that gives each the width that the one before outputs, and whether others do too.

    It is empty if there is none, or if a layer is not known or may be a table, or if they are too many. Those whose
    paths differ in a number alone stay in its order, and those of a module together; a table comes first. Of several
    orders it is the one with windows first, then recurrent layers, norms and attention, the others, and outputs.
    """
    modules: dict[str, list[Site]] = {}
    for site in sites:
        modules.setdefault(site.path, []).append(site)
    rows: dict[str, list[list[Site]]] = {}
    for path in sorted(modules, key=lambda path: [int(digits) for digits in re.findall("[0-9]+", path)]):
        rows.setdefault(re.sub("_?[0-9]+", "", path), []).append(modules[path])
    counts: dict[tuple[tuple[int, ...], int], int] = {}
    table = any(isinstance(site.layer, Embedding) for site in sites)

    def following(places: tuple[int, ...], width: int) -> Iterator[tuple[list[Site], tuple[int, ...], int]]:
        for row, (place, several) in enumerate(zip(places, rows.values(), strict=True)):
            module = several[place] if place < len(several) else []
            first = isinstance(module[0].layer, Embedding) or not table if module else False
            widths = _widths(module)
            if module and (widths[0][0] == width if width else first):
                yield module, (*places[:row], place + 1, *places[row + 1 :]), widths[-1][1]

    def ways(places: tuple[int, ...], width: int) -> int:
        if sum(places) == len(modules):
            return 1
        if (places, width) not in counts and len(counts) < MOST_PLACES:
            counts[places, width] = 0
            counts[places, width] = min(2, sum(ways(after, output) for _, after, output in following(places, width)))
        return counts.get((places, width), 0)

    places: tuple[int, ...] = (0,) * len(rows)
    width, order = 0, list[Site]()
    sure = all(site.layer and Doubt.TABLE not in site.doubts for site in sites)
    stacks = all(reads == width for each in modules.values() for (_, width), (reads, _) in pairwise(_widths(each)))
    several = sure and stacks and len(sites) <= MOST_ORDERED and ways(places, width)
    while several and len(order) < len(sites):
        fitting = [each for each in following(places, width) if ways(*each[1:])]
        module, places, width = min(fitting, key=lambda each: _rank(each[0][0]))
        order += module
    return order, several == 2


def _rank(site: Site) -> int:
    """Return how late a layer is by custom, where its widths fit earlier and later."""
    cell, window, layer = isinstance(site.layer, Cell), Doubt.WINDOW in site.doubts, site.layer
    whole = _is_norm(layer) or (isinstance(layer, Transform) and layer.time.whole)
    return 4 if named_last(site) else 0 if window else 1 if cell else 2 if whole else 3


class _Waiting:
    """Sites that are not in the chain yet, tables first and outputs last, those of equal layers together.

    sites: by their places. inner: how many of them are before the place outputs_at of the first that is named as an
    output. reads: how many read each width.
    """

    def __init__(self, sites: Sequence[Site]) -> None:
        ranks = {id(site): 0 if isinstance(site.layer, Embedding) else 1 + named_last(site) for site in sites}
        self.sites: dict[int, Site] = dict(enumerate(sorted(sites, key=lambda site: ranks[id(site)])))
        self.inner = self.outputs_at = sum(ranks[id(site)] < 2 for site in sites)
        self.reads = Counter(site.inputs for site in sites)
        self.names: dict[tuple[str, int], list[int]] = {}
        self.alike: dict[int, dict[Hashable, list[int]]] = {}  # by width, of layers that are equal but for their place
        for place, site in reversed(self.sites.items()):
            self.names.setdefault((site.path, site.number), []).append(place)
            if site.layer and not site.number:
                alike = site.layer, site.doubts, place >= self.inner
                self.alike.setdefault(site.inputs, {}).setdefault(alike, []).append(place)

    def take(self, width: int | None, before: Site | None) -> Site:
        """Return the next site, which is then not waiting; width: what it should read."""
        place = self._next(width, before)
        self.inner -= place < self.outputs_at
        site = self.sites.pop(place)
        self.reads[site.inputs] -= 1
        return site

    def _first_of(self, places: list[int]) -> int | None:
        """Return the first place that waits of those, the last in their list."""
        while places and places[-1] not in self.sites:
            places.pop()
        return places[-1] if places else None

    def _next(self, width: int | None, before: Site | None) -> int:
        if before and (place := self._first_of(self.names.get((before.path, before.number + 1), []))) is not None:
            return place
        start: int = next(iter(self.sites))
        table = self.sites[start].layer  # the first of those left, if there are any: tables of one width are added
        if isinstance(table, Embedding) and width in (None, table.units):
            return start
        if width is None:
            return self._first()
        fitting = list[tuple[bool, bool, bool, bool, int]]()
        for places in [places for inputs in {1, width} for places in self.alike.get(inputs, {}).values()]:
            place = self._first_of(places)
            if place is None or (self.inner and place >= self.outputs_at):
                continue
            site = in_groups(self.sites[place], width)
            if site.inputs == width and site.layer:
                layer, same = site.layer, site.layer.output_width(width) == width
                whole = _is_norm(layer) or layer.time.whole
                # a norm, or attention, is before another layer; a norm is before a layer of another output width; last
                # is one whose output none of the others reads
                key = (not same, _is_norm(layer)) if before and _is_norm(before.layer) else (not whole, False)
                dead = self._is_dead_end(self.sites[place])
                fitting.append((not (isinstance(layer, Cell) and same), *key, dead, place))
        return min(fitting)[-1] if fitting else start

    def _is_dead_end(self, site: Site) -> bool:
        """Return whether no other site reads what a known layer outputs; what may be a table outputs its columns."""
        if site.layer is None:
            return False
        widths = {site.layer.output_width(site.inputs), *[site.inputs] * (Doubt.TABLE in site.doubts)}
        return sum(self.reads[width] for width in widths) == (site.inputs in widths)

    def _first(self) -> int:
        """Return the place of the first site whose input width no other outputs, or else that is no dead end."""
        sites = self.sites
        outputs = {
            (site.path, site.number): site.layer.output_width(site.inputs) for site in sites.values() if site.layer
        }
        times = Counter(outputs.values())
        places = [
            place
            for place, site in sites.items()
            if site.layer and not site.number and times[site.inputs] == (outputs[site.path, 0] == site.inputs)
        ]
        if not places:
            return min(sites, key=lambda place: (sites[place].number, self._is_dead_end(sites[place])))
        # a convolution of one channel may be one in groups, behind another layer
        return min(places, key=lambda place: sites[place].inputs == 1 and Doubt.WINDOW in sites[place].doubts)


def _is_norm(layer: Layer | None) -> bool:
    return isinstance(layer, Transform) and not layer.time.along
