"""The order of sites in a file that sorts its tensors by their names: each after one that hands on what it reads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rnncalc.layers.layer import Embedding
from rnncalc.questions.models.site import Site

_LAST = re.compile(r"(^|[._/])(fc|out|output|head|classifier|decoder|proj|linear|lm_head|logits)\d*$", re.IGNORECASE)


def in_chain(sites: Sequence[Site]) -> list[Site]:
    """Return sites so that, where it can be, each reads the width that the one before it hands on.

    Tables come first and what is called an output last; where widths leave a choice, the order of the names stands.
    """
    ranks = {id(site): _rank(site) for site in sites}
    waiting = sorted(sites, key=lambda site: ranks[id(site)])
    last = sum(rank == 2 for rank in ranks.values())
    chained: list[Site] = []
    width: int | None = None
    while waiting:
        site = waiting.pop(_next(waiting, len(waiting) - last, width, chained))
        last -= ranks[id(site)] == 2
        chained.append(site)
        if site.layer is not None:
            width = site.layer.hands_on(site.inputs)
    return chained


def _rank(site: Site) -> int:
    if isinstance(site.layer, Embedding):
        return 0
    return 2 if named_last(site) else 1


def named_last(site: Site) -> bool:
    """Return whether a site is called what outputs are."""
    return bool(_LAST.search(site.path))


def _next(waiting: list[Site], inner: int, width: int | None, chained: list[Site]) -> int:
    """Return the place of the site to stand next; inner: how many stand before those that are called outputs."""
    before = chained[-1] if chained else None
    for place, site in enumerate(waiting):
        if before and site.path == before.path and site.number == before.number + 1:
            return place
    if width is None:
        return _first(waiting)
    found = (place for place, site in enumerate(waiting[: inner or None]) if site.layer and site.inputs == width)
    return next(found, 0)


def _first(waiting: list[Site]) -> int:
    """Return the place of the first site that reads what no other hands on."""
    handed = {(site.path, site.number): site.layer.hands_on(site.inputs) for site in waiting if site.layer}
    for place, site in enumerate(waiting):
        others = {width for key, width in handed.items() if key != (site.path, site.number)}
        if site.layer is not None and not site.number and site.inputs not in others:
            return place
    return 0
