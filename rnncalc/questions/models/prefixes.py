"""Layers whose paths a model file does not have: behind a prefix that it leaves out, or somewhere else altogether."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rnncalc.questions.models.pairing import below
from rnncalc.questions.models.site import Site
from rnncalc.questions.models.wanted import Wanted


def prefix(wanted: Sequence[Wanted], sites: Sequence[Site]) -> str:
    """Return the start that the paths of all layers have in common, and no site has; nothing where one is found.

    That is what a wrapper was called, in the file that the paths were taken from.
    """
    paths = [each.layer.path for each in wanted if each.layer.path]
    there = {site.path for site in sites}
    if not paths or any(below(site, path) for path in {*paths} for site in sites):
        return ""
    for point in re.finditer("[./]", paths[0]):
        start = paths[0][: point.end()]
        if all(path.startswith(start) for path in paths) and any(path[len(start) :] in there for path in paths):
            return start
    return ""


def without(start: str, wanted: Wanted) -> Wanted:
    """Return a layer with its path, if it has one, without this start."""
    placed = wanted.placed
    if not start or placed.layer.path is None:
        return wanted
    return wanted._replace(placed=placed._replace(layer=placed.layer.replace(path=placed.layer.path[len(start) :])))


def moved(missing: Sequence[Wanted], left: Sequence[Site]) -> Iterator[tuple[Wanted, str]]:
    """Yield the layers that are not at their paths, each with the only path where its tensors are, shape by shape.

    Of several such paths, that is meant whose last part is the layer's own.
    """
    for each in missing:
        path = each.layer.path
        paths = {site.path for site in left if path and each.shapes and site.shapes == each.shapes}
        named = {other for other in paths if path and _last(other) == _last(path)}
        found = named or paths
        if len(found) == 1:
            yield each, found.pop()


def _last(path: str) -> str:
    return re.split("[./]", path)[-1]
