"""Compares a network with a model file, tensor by tensor, and finds changes of layers that explain differences.

Returns names, shapes and numbers, no sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from math import prod
from typing import Any

from rnncalc.bounds import MOST_MODULES
from rnncalc.conventions import convention
from rnncalc.errors import Path, Problem, RefusedError, SpecError
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External, Layer, Output
from rnncalc.modelfiles.model import ModelFile
from rnncalc.network.network import Network
from rnncalc.questions.models.pairing import Pairs, SpecLayer, below, moved, paired, prefix, wanted_of, without
from rnncalc.questions.models.sites import Doubt, Shape, Site, sites_of
from rnncalc.records import Record


class TensorStatus(Enum):
    """The result of the check of one tensor."""

    MATCHED = "matched"
    MISSING = "missing"
    UNEXPECTED = "unexpected"
    SHAPE = "another shape"
    SHARED = "another's"


class TensorCheck(Record):
    """A tensor of the network or of the file, compared with its counterpart.

    layer, tensor: its names in the network, None if only the file has it. found: its name in the file.
    at: the path of the layer in the spec.
    """

    status: TensorStatus
    layer: str | None = None
    tensor: str | None = None
    shape: Shape | None = None
    found: str | None = None
    found_shape: Shape | None = None
    at: Path = ()

    @property
    def kept(self) -> bool:
        """Whether both have it, in one shape."""
        return self.status is TensorStatus.MATCHED


class LayerChange(Record):
    """A change of a layer that explains a difference: of an option, of kind and units, or of the input width.

    layer: None if the network has no such layer; `theirs` is then the layer to add.
    """

    layer: str | None
    option: str
    ours: Any
    theirs: Any
    path: str = ""
    first: bool = False


class Match(Record):
    """A network compared with a file. left_out: how many tensors of the file are no parameters."""

    path: str
    tensors: tuple[TensorCheck, ...]
    changes: tuple[LayerChange, ...]
    left_out: int
    sites: dict[str, Site]

    @property
    def kept(self) -> bool:
        """Whether both have the same tensors."""
        return all(check.kept for check in self.tensors)

    @property
    def another_network(self) -> bool:
        """Whether the file has none of the network's tensors, and has other kinds and another number of them."""
        found = {check.status for check in self.tensors}
        kinds = any(each.option == "kind" and each.ours[0] != each.theirs[0] for each in self.changes)
        some = TensorStatus.MATCHED in found or TensorStatus.SHARED in found
        return kinds and not some and bool(found & {TensorStatus.MISSING, TensorStatus.UNEXPECTED})


def match(network: Network, file: ModelFile) -> Match:
    """Compare a network with a file.

    Raises SpecError if they use two conventions, or if several modules of the file fit one layer, RefusedError if there
    are too many of either.
    """
    if network.convention != file.framework:
        says = f"the file has the tensors of {file.framework}, and the spec counts those of {network.convention}"
        raise SpecError((Problem(("convention",), f"{says}; make the convention {file.framework}"),))
    if len(file.modules) > MOST_MODULES:
        raise RefusedError(f"a file of more than {MOST_MODULES:,} modules is not compared with a spec")
    sites = sites_of(file)
    wanted = wanted_of(network)
    start = prefix(wanted, sites)
    wanted = [without(start, each) for each in wanted]
    pairs = paired(wanted, sites, ordered=file.ordered)
    used = {id(site) for site in pairs.values()}
    left = [site for site in sites if id(site) not in used]
    checks = [each for place, one in enumerate(wanted) for each in _checks(one, pairs.get(place))]
    externals = [one for one in wanted if isinstance(one.layer, External)]
    of_externals, left = _of_externals(externals, left)
    others = [
        TensorCheck(TensorStatus.UNEXPECTED, found=tensor.name, found_shape=tensor.shape)
        for site in left
        for tensor in site.tensors.values()
        if not tensor.shared_with
    ]
    changes = (*_changes(wanted, pairs, file.framework), *_unpaired(wanted, pairs, left, start))
    no_params = sum(not tensor.is_parameter for tensor in file.tensors)
    named = {wanted[place].name: site for place, site in pairs.items()}
    return Match(file.path, (*checks, *of_externals, *others), changes, no_params, named)


def _checks(wanted: SpecLayer, site: Site | None) -> Iterator[TensorCheck]:
    """Yield the checks of a layer's tensors, and those of its site that the layer lacks."""
    if isinstance(wanted.layer, External):
        return
    theirs = dict(site.tensors) if site else {}
    for name, shape in wanted.shapes.items():
        found = theirs.pop(name, None)
        names = (wanted.name, wanted.names[name], shape)
        if found is None:
            yield TensorCheck(TensorStatus.MISSING, *names, at=wanted.at)
            continue
        status = TensorStatus.SHARED if found.shared_with else TensorStatus.MATCHED
        status = status if shape == found.shape else TensorStatus.SHAPE
        yield TensorCheck(status, *names, found.name, found.shape, wanted.at)
    for name, found in theirs.items():
        if not (name in wanted.shared and wanted.shared[name] == found.shape):
            yield TensorCheck(TensorStatus.UNEXPECTED, wanted.name, None, None, found.name, found.shape, wanted.at)


def _of_externals(externals: Sequence[SpecLayer], left: list[Site]) -> tuple[list[TensorCheck], list[Site]]:
    """Check each external layer against the remaining sites: those below its path, or else all."""
    checks = []
    pathless = []
    for wanted in externals:
        path = wanted.layer.path
        if path is None:
            pathless.append(wanted)
            continue
        there = [site for site in left if below(site, path)]
        left = [site for site in left if not below(site, path)]
        checks.append(_sum(wanted, sum(site.params for site in there)))
    rest = sum(site.params for site in left)
    for wanted in pathless:  # the last gets what is left over, or too little
        found = rest if wanted is pathless[-1] else min(rest, wanted.placed.params)
        checks.append(_sum(wanted, found))
        rest -= found
    return checks, [] if pathless else left


def _sum(wanted: SpecLayer, found: int) -> TensorCheck:
    params = wanted.placed.params
    status = TensorStatus.MATCHED if found == params else TensorStatus.SHAPE if found else TensorStatus.MISSING
    return TensorCheck(status, wanted.name, "external", (params,), None, (found,) if found else None, wanted.at)


_BESIDE = ("name", "frozen", "repeat", "extra_inputs", "path", "activation", "merge", "tied", "space")
"""Options that do not change a shape."""


def _changes(wanted: Sequence[SpecLayer], pairs: Pairs, framework: str) -> Iterator[LayerChange]:
    """Yield the changes that would make each layer equal to the file's layer in its place."""
    explained = False
    for place, each in enumerate(wanted):
        site = pairs.get(place)
        if site is None or site.layer is None:
            continue
        shared = [name for name, tensor in site.tensors.items() if tensor.shared_with and name in each.shapes]
        if shared:
            yield LayerChange(each.name, "tied", False, True, site.path)
        table = isinstance(each.layer, Embedding) and Doubt.TABLE in site.doubts  # read as a dense layer
        if each.shapes == site.shapes or table:
            continue
        found = [*_options(each, site, framework)]
        features = each.placed.inputs // prod(each.placed.grid), site.inputs // prod(site.layer.grid)  # at each place
        alone = each.layer.extra_inputs or (each.placed.grid and place)  # which no layer before it can explain
        if features[0] != features[1] and (not explained or not place) and not alone:
            found.append(LayerChange(each.name, "inputs", *features, site.path, not place))
        yield from found
        explained = explained or bool(found)


def _options(wanted: SpecLayer, site: Site, framework: str) -> Iterator[LayerChange]:
    ours, theirs = wanted.layer, site.layer
    assert theirs is not None
    one, other = ((layer.kind, layer.values().get(layer.number)) for layer in (ours, theirs))
    if one != other:
        if isinstance(ours, Output) and ours.kind == theirs.kind:
            yield LayerChange(wanted.name, "output", one[1], other[1], site.path)
        else:
            yield LayerChange(wanted.name, "kind", one, other, site.path)
    for option in ours.fields:
        if option not in (*_BESIDE, ours.number) and option in theirs.fields:
            was, would = (_value(layer, option, framework) for layer in (ours, theirs))
            if was != would:
                yield LayerChange(wanted.name, option, was, would, site.path)


def _value(layer: Layer, option: str, framework: str) -> Any:
    """Return the value of an option; for `reset_after`, the framework's own if the layer leaves it open."""
    if option == "reset_after" and isinstance(layer, Cell) and (arrays := convention(framework).arrays(layer.kind)):
        return layer.resets_after(arrays.habits.reset_after)
    return getattr(layer, option)


def _unpaired(wanted: Sequence[SpecLayer], pairs: Pairs, left: Sequence[Site], start: str) -> Iterator[LayerChange]:
    """Yield corrected paths of layers, and layers to add for the sites that are left.

    start: the prefix of the network's paths that the file lacks.
    """
    missing = [each for place, each in enumerate(wanted) if place not in pairs]
    paths = set()
    for each, path in moved(missing, left):
        paths.add(path)
        yield LayerChange(each.name, "path", f"{start}{each.layer.path}", f"{start}{path}", path)
    for site in left:
        if site.layer and site.params and site.path not in paths:
            yield LayerChange(None, "layer", None, site.layer, site.path)
