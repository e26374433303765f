"""The names of the layers: those that a spec gives, and those that layers without one get by default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rnncalc.errors import Path, Problem
from rnncalc.network.parts import OUTPUT, Parts, joins, name_of
from rnncalc.text import escape


def clashes(parts: Parts) -> Iterator[Problem]:
    """Yield the names that two layers share, each at a name that is given: default names never clash."""
    owners: dict[str, tuple[Path, bool]] = {}
    told: dict[Path, str] = {}
    for path, name, given in named(parts):
        other, other_given = owners.setdefault(name, (path, given))
        if other is not path:
            by_default = "" if given and other_given else ", by default"
            told.setdefault(path if given else other, f"another layer is called '{escape(name)}'{by_default}")
    for path, clash in told.items():
        yield Problem((*path, "name"), f"{clash}; choose another name")


def named(parts: Parts) -> Iterator[tuple[Path, str, bool]]:
    """Yield the path and the name of every layer, the output layer's first, and whether the spec gives that name."""
    for part_name, part in parts.items():
        if part.output:  # one at most, a decoder's if there are two parts
            yield (*((part_name,) if part_name else ()), OUTPUT), OUTPUT, False
    counted: Counter[str] = Counter()
    for part_name, part in parts.items():
        for join in joins(part):
            path = (part_name, "layers", join.place) if part_name else ("layers", join.place)
            yield path, name_of(join.layer, join.copy, counted), join.layer.name is not None
