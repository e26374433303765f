"""Pairs sites of a model file with layers of a network: by their paths, else by shapes and order.

Also finds layers whose paths are not in the file: it lacks a prefix, or has them elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rnncalc.bounds import MOST_COMPARED
from rnncalc.errors import Path, Problem, SpecError
from rnncalc.layers.cell import Cell
from rnncalc.layers.convolution import Pool1D
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output, Transform
from rnncalc.models.files.model import FileModule
from rnncalc.models.sites import Shape, Site, in_place
from rnncalc.network.network import members_of
from rnncalc.network.stack import Placed
from rnncalc.network.validation import layer_names
from rnncalc.printable import escape
from rnncalc.words import one_of

if TYPE_CHECKING:
    from rnncalc.network.model import Described

GAP = 0.6
"""The cost of a layer without a site: two cost more than any pair."""

Pairs = dict[int, Site]
"""The site of each layer, by its index among those of the spec."""
Item = TypeVar("Item")


class SpecLayer(NamedTuple):
    """A layer, one copy of it.

    at: its path in the spec. shapes: of the tensors it owns, by the names in an unstacked layer.
    names: the same tensors' names in the network. shared: the tensors it uses and another layer owns.
    """

    placed: Placed
    at: Path
    shapes: Mapping[str, Shape]
    names: Mapping[str, str]
    shared: Mapping[str, Shape]

    @property
    def name(self) -> str:
        """The layer's name, in a model after that of its network."""
        return self.placed.full_name

    @property
    def layer(self) -> Layer:
        """The layer."""
        return self.placed.layer


def kind_of(layer: Layer | None) -> type[Layer]:
    """Return the class of a layer: a table, a cell, a layer around the cells, or another layer."""
    if isinstance(layer, Transform):
        return type(layer)
    return next((sort for sort in (Embedding, Cell) if isinstance(layer, sort)), Layer)


def spec_layers(network: Described) -> list[SpecLayer]:
    """Return the layers of a network or a model, except those without tensors; external ones and pools are too."""
    paths = {
        (within, name): ("networks", within, *path) if within else path
        for within, each, _ in members_of(network)
        for path, name, _ in layer_names(each.parts)
    }
    specs = []
    for placed in network.stack:
        tensors = [] if isinstance(placed.layer, External) else placed.layout.tensors
        pairs = [(tensor.sized(placed.sizes), tensor.sized(placed.sizes, placed.copy)) for tensor in tensors]
        shapes, names = {alone.name: alone.shape for alone, _ in pairs}, {alone.name: one.name for alone, one in pairs}
        shared = {tensor.name: tensor.shape for tensor in placed.shared}
        if shapes or placed.buffers or isinstance(placed.layer, External | Pool1D):
            specs.append(SpecLayer(placed, paths[placed.network, placed.name], shapes, names, shared))
    return specs


def _alike(ours: Layer, theirs: Layer | None) -> bool:
    """Return whether a layer of one kind may have been meant by one of the other."""
    if isinstance(ours, Output):
        return isinstance(theirs, Dense)
    sorts = kind_of(ours), kind_of(theirs)
    return sorts[0] is sorts[1] or all(issubclass(sort, Transform) for sort in sorts) or {*sorts} == {Embedding, Layer}


def distance(spec: SpecLayer, site: Site) -> float | None:
    """Return the distance of a site's tensors from a layer's, 0 to 1; None if they cannot be the layer's.

    They cannot if no name matches, or if some have other dimensions and no matrix is a matrix on both sides: a norm and
    a dense layer have the same names. Keras' GRU has a bias with two axes or one, so its matrices decide.
    """
    site = in_place(site, spec.layer)
    if site.layer is not None and not _alike(spec.layer, site.layer):
        return None
    if not spec.shapes and not site.tensors and kind_of(site.layer) == kind_of(spec.layer):
        return 0  # both have buffers alone
    theirs = {name: shape for name, shape in site.shapes.items() if name not in spec.shared}
    common = spec.shapes.keys() & theirs.keys()
    dimensions = [(len(spec.shapes[name]), len(theirs[name])) for name in common]
    alike = all(ours == its for ours, its in dimensions) or any(ours == its > 1 for ours, its in dimensions)
    if not common or not alike:
        return None
    equal = sum(spec.shapes[name] == theirs[name] for name in common)
    every = len(spec.shapes.keys() | theirs.keys())
    return 1 - (equal + len(common)) / (2 * every)


def paired(specs: Sequence[SpecLayer], sites: Sequence[Site], *, ordered: bool) -> Pairs:
    """Return the sites of layers. Raises SpecError if several fit a layer equally well."""
    pairs: Pairs = {}
    unpaired = [*sites]
    _by_path(specs, unpaired, pairs)
    free = {place: each for place, each in enumerate(specs) if not isinstance(each.layer, External)}
    free = {place: each for place, each in free.items() if place not in pairs and each.layer.path is None}
    _by_all_names(free, unpaired, pairs, exact=True)
    for with_kind in (True, False):
        _by_shapes(free, unpaired, pairs, ordered=ordered, with_kind=with_kind)
    _by_all_names(free, unpaired, pairs, exact=False)
    rest = [place for place in free if place not in pairs]
    pairs |= _nearest(specs, rest, unpaired)
    return pairs


def _nearest(specs: Sequence[SpecLayer], rest: list[int], unpaired: list[Site]) -> Pairs:
    """Pair layers with sites that fit in part: in order, and then those that cross."""
    pairs: Pairs = {}
    while several := _in_order(rest, unpaired, lambda one, other: distance(specs[one], other)):
        for place, site in several:
            _pair(pairs, place, site, unpaired)
        rest = [place for place in rest if place not in pairs]
    return pairs


def at_path(site: Site, path: str) -> bool:
    """Return whether a site is at a path, or at one that ends with it."""
    return site.path == path or site.path.endswith((f".{path}", f"/{path}"))


def below(site: Site | FileModule, path: str) -> bool:
    """Return whether a site, or a module, is at a path or below it, ignoring prefixes of wrappers."""
    return path in site.path and bool(re.search(rf"(^|[./]){re.escape(path)}([./]|$)", site.path))


def _by_path(specs: Sequence[SpecLayer], unpaired: list[Site], pairs: Pairs) -> None:
    """Pair the layers that have a path, or the name of a module, with the sites there, or at one that ends with it."""
    seen: dict[tuple[str, type[Layer]], int] = {}
    for place, each in enumerate(specs):
        path = each.layer.path
        key = path or each.layer.name
        if key is None or isinstance(each.layer, External):
            continue
        there = [site for site in unpaired if site.path == key] or [site for site in unpaired if at_path(site, key)]
        if len({site.path for site in there}) > 1:
            if path is not None:
                raise _ambiguous(each, there, len(there))
            there = []
        number = seen.get((key, kind_of(each.layer)), 0)
        if not there:  # one of a list of modules
            there = [site for site in unpaired if _within(site, key)]
            number = there[0].number if there else number
        site = next((site for site in there if site.number == number and distance(each, site) is not None), None)
        seen[key, kind_of(each.layer)] = number + 1
        if site is not None:
            _pair(pairs, place, site, unpaired)


def _by_all_names(free: Mapping[int, SpecLayer], unpaired: list[Site], pairs: Pairs, *, exact: bool) -> None:
    """Pair the layers of a kind that the file has all under their names in the network, as an exported program has.

    Copies that are stacked have the name of the first. exact: whether their tensors must have their shapes.
    """
    rest = [place for place in free if place not in pairs]
    first: dict[Path, str] = {}
    for place in rest:
        first.setdefault(free[place].at, free[place].name)
    named = _grouped(unpaired, lambda site: (site.path, site.number))
    for places in _grouped(rest, lambda place: free[place].layer.kind).values():
        there: Pairs = {}
        for place in places:
            spec = free[place]
            names = {(first[spec.at], spec.placed.copy), (spec.name, 0)}
            for site in [site for name in names for site in named.get(name, ())]:
                apart = distance(spec, site)
                if apart is not None and not (exact and apart):
                    there[place] = site
        if len({id(site) for site in there.values()}) == len(places):
            for place, site in there.items():
                _pair(pairs, place, site, unpaired)


def _ambiguous(spec: SpecLayer, sites: Sequence[Site], count: int = 1) -> SpecError:
    """Return the problem of a layer that may be several modules; count: how many such layers the spec has."""
    paths = Counter(site.path or "the file itself" for site in sites)
    repeat = spec.layer.repeat
    stacked = [path for path in paths if paths[path] >= repeat]
    fits = one_of([f"'{escape(path)}'" for path in stacked or paths])
    cure = "give its path" if stacked else "write each layer of the repeat alone, with its path"
    if spec.placed.starts:
        cure = "a spec has no path for what computes an initial_state"
    more = f"; the file has {len(sites):,} such layers, and the spec {count:,}" if len(sites) > count else ""
    return SpecError((Problem(spec.at, f"may be {fits} of the file; {cure}{more}"),))


def _by_shapes(
    free: dict[int, SpecLayer], unpaired: list[Site], pairs: Pairs, *, ordered: bool, with_kind: bool
) -> None:
    """Pair layers with sites that have the same tensors, name by name and shape by shape."""
    asked = _grouped(
        [place for place in free if place not in pairs and (with_kind or kind_of(free[place].layer) is not Pool1D)],
        lambda place: (frozenset(free[place].shapes.items()), kind_of(free[place].layer) if with_kind else Layer),
    )

    def key_of(site: Site, shared: Collection[str] = ()) -> Hashable:
        shapes = frozenset((name, shape) for name, shape in site.shapes.items() if name not in shared)
        return shapes, kind_of(site.layer) if with_kind else Layer

    there = _grouped(unpaired if asked else [], key_of)
    for key, places in asked.items():
        shared = free[places[0]].shared
        fitting = [site for site in unpaired if key_of(site, shared) == key] if shared else there.get(key, [])
        owners = [site for site in fitting if site.params]
        fitting = owners if len(owners) >= len(places) else fitting  # not another layer's tensors, used again
        if with_kind and len(fitting) != len(places):
            continue
        many = len({re.sub("[0-9]+", "", site.path) for site in fitting}) > 1
        same = len({site.path for site in fitting}) == 1
        settled = len(fitting) == len(places) and (ordered or not many or len(places) == 1)
        if not settled and not same and len(fitting) >= len(places):
            settling = [place for place in places if not free[place].placed.starts]
            raise _ambiguous(free[(settling or places)[0]], fitting, len(places))
        for place, site in zip(places, fitting, strict=False):
            _pair(pairs, place, site, unpaired)


def _pair(pairs: Pairs, place: int, site: Site, unpaired: list[Site]) -> None:
    """Pair a layer with a site, and remove that from those that are left by identity, not by equality."""
    pairs[place] = site
    del unpaired[next(place for place, each in enumerate(unpaired) if each is site)]


def _grouped(items: Sequence[Item], key: Callable[[Item], Hashable]) -> dict[Hashable, list[Item]]:
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _in_order(
    rest: list[int], unpaired: list[Site], distance: Callable[[int, Site], float | None]
) -> list[tuple[int, Site]]:
    """Return pairs that fit in part, in order, with the least total distance."""
    if len(rest) > MOST_COMPARED or len(unpaired) > MOST_COMPARED:
        together = zip(rest, unpaired, strict=False)
        return [(place, site) for place, site in together if distance(place, site) is not None]
    costs = [[GAP * column for column in range(len(unpaired) + 1)]]
    for row, place in enumerate(rest, 1):
        line = [GAP * row]
        for column, site in enumerate(unpaired, 1):
            far = distance(place, site)
            pair = costs[row - 1][column - 1] + far if far is not None else float("inf")
            line.append(min(pair, costs[row - 1][column] + GAP, line[-1] + GAP))
        costs.append(line)
    pairs = []
    row, column = len(rest), len(unpaired)
    while row and column:
        far = distance(rest[row - 1], unpaired[column - 1])
        if costs[row][column] == costs[row][column - 1] + GAP:  # among equal costs, the first of the file
            column -= 1
        elif far is not None and costs[row][column] == costs[row - 1][column - 1] + far:
            row, column = row - 1, column - 1
            pairs.append((rest[row], unpaired[column]))
        else:
            row -= 1
    return pairs


def prefix(specs: Sequence[SpecLayer], modules: Sequence[FileModule]) -> str:
    """Return the prefix that all layers' paths share and no module has; nothing if a module has one of the paths.

    It is the name of a wrapper in the file that the paths were taken from.
    """
    paths = [each.layer.path for each in specs if each.layer.path]
    if not paths or any(below(module, path) for path in {*paths} for module in modules):
        return ""
    for point in re.finditer("[./]", paths[0]):
        start = paths[0][: point.end()]
        ends = {path.removeprefix(start) for path in paths if all(each.startswith(start) for each in paths)}
        if any(below(module, end) for end in ends for module in modules):
            return start
    return ""


def without(start: str, spec: SpecLayer) -> SpecLayer:
    """Return a layer with this prefix removed from its path, if it has one."""
    placed = spec.placed
    if not start or placed.layer.path is None:
        return spec
    return spec._replace(placed=placed._replace(layer=placed.layer.replace(path=placed.layer.path[len(start) :])))


def _within(site: Site, path: str) -> bool:
    """Return whether the tensors of a block in a list of modules are below a path with its number."""
    return any(f".{path}." in f".{tensor.name}" for tensor in site.tensors.values()) and not below(site, path)
