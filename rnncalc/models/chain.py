"""The order in which the layers of a model file are applied, if the file sorts its tensors by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
    """Return sites in an order in which, if possible, each input width is the output width before it.

    Embeddings come first and outputs last; if widths leave a choice, custom decides, then the names. ordered: whether
    they stay in their order if each known layer reads no less than the one before it outputs.
    """
    widths = _widths(sites)
    if ordered and all(width <= inputs for (_, width), (inputs, _) in pairwise(widths)):
        return sites
    ranks = {id(site): 0 if isinstance(site.layer, Embedding) else 1 + named_last(site) for site in sites}
    waiting = sorted(sites, key=lambda site: ranks[id(site)])
    last = sum(rank == 2 for rank in ranks.values())
    chained: list[Site] = []
    width: int | None = None
    while waiting:
        site = waiting.pop(_next(waiting, len(waiting) - last, width, chained))
        last -= ranks[id(site)] == 2
        chained.append(site)
        if site.layer is not None:
            width = site.layer.output_width(site.inputs)
    fits = all(width == inputs for (_, width), (inputs, _) in pairwise(_widths(chained)))
    order, several = orders(sites)
    return order if several or (not fits and order) else chained


def _widths(sites: Sequence[Site]) -> list[tuple[int, int]]:
    """Return what each known layer reads and outputs."""
    return [(site.inputs, site.layer.output_width(site.inputs)) for site in sites if site.layer]


def orders(sites: Sequence[Site]) -> tuple[list[Site], bool]:
    """Return sites in an order in which each reads the width that the one before outputs, and whether others do too.

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


def _next(waiting: list[Site], inner: int, width: int | None, chained: list[Site]) -> int:
    """Return the index of the next site; inner: how many sites come before those named as outputs."""
    before = chained[-1] if chained else None
    for place, site in enumerate(waiting):
        if before and site.path == before.path and site.number == before.number + 1:
            return place
    table = waiting[0].layer  # the first of those left, if there are any: tables of one width are added
    if isinstance(table, Embedding) and width in (None, table.units):
        return 0
    if width is None:
        return _first(waiting)
    near = [in_groups(site, width) for site in waiting[: inner or None]]
    layers = [(place, site.layer) for place, site in enumerate(near) if site.inputs == width and not site.number]
    fitting = [(place, layer) for place, layer in layers if layer]
    fitting.sort(key=lambda each: _is_dead_end(waiting[each[0]], waiting))
    if before and _is_norm(before.layer):  # a norm is before a layer of another output width
        fitting.sort(key=lambda each: (each[1].output_width(width) != width, _is_norm(each[1])))
    else:  # a norm, or attention, is before another layer, and last is one whose output none of the others reads
        fitting.sort(key=lambda each: not (_is_norm(each[1]) or each[1].time.whole))
    fitting.sort(key=lambda each: not (isinstance(each[1], Cell) and each[1].output_width(width) == width))
    return next((place for place, _ in fitting), 0)


def _is_norm(layer: Layer | None) -> bool:
    return isinstance(layer, Transform) and not layer.time.along


def _is_dead_end(site: Site, waiting: list[Site]) -> bool:
    """Return whether no other site reads what a known layer outputs; what may be a table outputs its columns then."""
    if site.layer is None:
        return False
    widths = {site.layer.output_width(site.inputs), *[site.inputs] * (Doubt.TABLE in site.doubts)}
    return all(other is site or other.inputs not in widths for other in waiting)


def _first(waiting: list[Site]) -> int:
    """Return the index of the first site whose input width is no other site's output width, or else is no dead end."""
    outputs = {(site.path, site.number): site.layer.output_width(site.inputs) for site in waiting if site.layer}
    places = []
    for place, site in enumerate(waiting):
        others = {width for key, width in outputs.items() if key != (site.path, site.number)}
        if site.layer is not None and not site.number and site.inputs not in others:
            places.append(place)
    if not places:
        return min(
            range(len(waiting)), key=lambda place: (waiting[place].number, _is_dead_end(waiting[place], waiting))
        )
    # a convolution of one channel may be one in groups, behind another layer
    return min(places, key=lambda place: waiting[place].inputs == 1 and Doubt.WINDOW in waiting[place].doubts)
