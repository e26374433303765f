"""Which matrix is a table of words, and what shares it, where a file names neither. Knows no format."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding
from rnncalc.modelfiles.model import ModelFile
from rnncalc.questions.models.order import named_last
from rnncalc.questions.models.site import Doubt, Site, sites_of

_FIRST = re.compile(r"(^|[._/])(encoder|enc|tok|words?|chars?|lut)\d*$", re.IGNORECASE)
"""What a table is often called, and other layers too."""


def sites_with_tables(file: ModelFile) -> tuple[Site, ...]:
    """Return the sites of a file; of a matrix that a table and a layer share, the table is the owner.

    Files that sort their tensors give it to the name that comes first.
    """
    sites = sites_of(file)
    if file.ordered:
        return sites
    owners = {site.tensors["weight"].name: site for site in sites if "weight" in site.tensors}
    renamed: dict[str, str] = {}  # the names of tables by those of the matrices that they share
    for site in sites:
        of = site.tensors["weight"].shared_with if {*site.tensors} == {"weight"} else None
        if of in owners and of not in renamed and _is_table_of(site, owners[of]):
            renamed[of] = site.tensors["weight"].name
    return tuple(_owned(site, renamed) for site in sites) if renamed else sites


def _is_table_of(site: Site, other: Site) -> bool:
    """Return whether of two layers with the same matrix the first is the table, and the other no table."""
    if isinstance(other.layer, Embedding):
        return False
    named = bool(_FIRST.search(site.path)) or named_last(other) or "bias" in other.tensors
    return isinstance(site.layer, Embedding) or (_may_be_table(site) and named)


def _owned(site: Site, renamed: Mapping[str, str]) -> Site:
    """Return a site with the owners of its matrices renamed."""
    tensors = {}
    for leaf, tensor in site.tensors.items():
        owner = renamed.get(tensor.shared_with or tensor.name, tensor.shared_with)
        tensors[leaf] = tensor._replace(shared_with=None if owner == tensor.name else owner)
    return site._replace(tensors=tensors)


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
