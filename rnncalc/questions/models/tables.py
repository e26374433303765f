"""Which matrix is a table of words, and what shares it, where a file names neither. Knows no format."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding
from rnncalc.questions.models.order import named_last
from rnncalc.questions.models.site import Doubt, Site

_FIRST = re.compile(r"(^|[._/])(encoder|enc|tok|words?|chars?|lut)\d*$", re.IGNORECASE)
"""What a table is often called, and other layers too."""


def as_table(site: Site, after: Site | None) -> Site:
    """Return a matrix in front as the table that it must be where the layer behind it reads its columns."""
    if after is not None and _may_be_table(site) and after.inputs == site.inputs != _rows(site):
        return _table(site)._replace(doubts=())
    return site


def with_table(sites: Sequence[Site]) -> tuple[Site, ...]:
    """Return sites that stand in no order; a matrix that has a table's name is one where a cell reads its columns.

    It may be a dense layer all the same, which stays a doubt: so it is taken for one where something reads its rows.
    """
    read = {site.inputs for site in sites if isinstance(site.layer, Cell) and not site.number}
    rows = {site.inputs for site in sites if site.layer}
    if any(isinstance(site.layer, Embedding) for site in sites):
        return (*sites,)
    fits = [
        site
        for site in sites
        if _may_be_table(site) and _FIRST.search(site.path) and site.inputs in read and _rows(site) not in rows
    ]
    return tuple(_table(site) if fits == [site] else site for site in sites)


def is_tied_bias(site: Site, words: int | None) -> bool:
    """Return whether a layer that has a bias alone, one for each word, is called what an output is."""
    shapes = site.shapes
    return words is not None and shapes == {"bias": (words,)} and named_last(site)


def _may_be_table(site: Site) -> bool:
    return isinstance(site.layer, Dense) and Doubt.TABLE in site.doubts


def _rows(site: Site) -> int:
    return site.tensors["weight"].shape[0]


def _table(site: Site) -> Site:
    return site._replace(layer=Embedding(site.inputs), inputs=_rows(site), doubts=(Doubt.TABLE,))
