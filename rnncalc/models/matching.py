"""Compares a network with a model file, tensor by tensor and layer by layer.

Returns names, shapes, numbers and layers, no sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from math import prod
from typing import Any, NamedTuple

from rnncalc.bounds import MOST_MODULES
from rnncalc.errors import Path, Problem, RefusedError, SpecError
from rnncalc.layers.cell import Cell
from rnncalc.layers.convolution import Conv1D, Pool1D
from rnncalc.layers.decoder_attention import DecoderAttention
from rnncalc.layers.layer import Dense, Dropout, Embedding, External, Layer, Output
from rnncalc.layers.normalisation import BatchNorm, LayerNorm
from rnncalc.layers.reshaping import LastStep, RepeatVector
from rnncalc.models.blocks import readers_of_two
from rnncalc.models.chain import in_chain
from rnncalc.models.files import reading
from rnncalc.models.files.model import BoundedReader, FileTensor, ModelFile, Remark, RemarkKind, constant, named_remarks
from rnncalc.models.pairing import (
    Pairs,
    SpecLayer,
    below,
    paired,
    prefix,
    spec_layers,
    without,
)
from rnncalc.models.read import NOT_A_ROW, read, sequences_of
from rnncalc.models.sites import (
    COMPUTES_OTHERWISE,
    FLAX,
    Doubt,
    Site,
    expected,
    in_place,
    inputs_of,
    recorded,
    sites_of,
)
from rnncalc.network.model import Described
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed


class TensorStatus(Enum):
    """The result of the check of one tensor."""

    MATCHED = "matched"
    MISSING = "missing"
    UNEXPECTED = "unexpected"
    SHAPE = "another shape"
    SHARED = "another's"
    COMPUTATION = "computed otherwise"


class TensorCheck(NamedTuple):
    """A tensor of the network or of the file, compared with its counterpart.

    layer, tensor: its names in the network, None if only the file has it. stored: its name in the file.
    at: the path of the layer in the spec. An option that differs is one too, with its value as its shape.
    doubt: about what a layer, or the file, computes and no spec can say.
    """

    status: TensorStatus
    layer: str | None = None
    tensor: str | None = None
    shape: tuple[int | str, ...] | None = None
    stored: str | None = None
    stored_shape: tuple[int | str, ...] | None = None
    at: Path = ()
    doubt: Remark | None = None

    @property
    def kept(self) -> bool:
        """Whether both have it, in one shape."""
        return self.status is TensorStatus.MATCHED


class LayerDifference(NamedTuple):
    """A layer of a spec that differs from the file's.

    names: of its copies. at: its path in the spec. ours: the layer, one copy of it.
    theirs: what the file has for its copies, one after the other, with what its tensors do not tell as the spec has it;
    empty if the file has none of them, None if no layer is known that has the file's tensors. It is as the spec's if
    the layer only reads another width, because a layer before it differs.
    input: what the network reads, as the spec and as the file have it, if this layer reads that and they differ.
    doubts: what the file leaves open about it. stacked: further layers of its module, which the spec lacks.
    """

    names: tuple[str, ...]
    at: Path
    ours: Layer
    theirs: tuple[Layer, ...] | None
    input: tuple[int, int] | None = None
    doubts: frozenset[Doubt] = frozenset()
    stacked: tuple[Site, ...] = ()


class Match(NamedTuple):
    """A network compared with a file.

    differences: the layers of the spec that differ. more: the layers that only the file has.
    explained: the tensors, by their number, that these say enough of.
    left_out: how many tensors of the file are no parameters. remarks: on what is equal, though it is stored otherwise.
    sites: of the layers, by name. every: all sites of the file.
    """

    path: str
    tensors: tuple[TensorCheck, ...]
    differences: tuple[LayerDifference, ...]
    more: tuple[Site, ...]
    explained: frozenset[int]
    left_out: int
    sites: dict[str, Site]
    remarks: tuple[Remark, ...] = ()
    every: tuple[Site, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether both have the same tensors."""
        return all(check.kept for check in self.tensors)

    @property
    def another_network(self) -> bool:
        """Whether the file has none of the network's tensors, and has other kinds and another number of them."""
        statuses = {check.status for check in self.tensors}
        kinds = any(each.ours.kind != other.kind for each in self.differences for other in each.theirs or ())
        some = TensorStatus.MATCHED in statuses or TensorStatus.SHARED in statuses
        return kinds and not some and bool(statuses & {TensorStatus.MISSING, TensorStatus.UNEXPECTED})


def match(network: Described, file: ModelFile) -> Match:
    """Compare a network or a model with a file.

    Raises SpecError if they use two conventions, or if several modules of the file fit one layer, RefusedError if there
    are too many of either.
    """
    convention = network.convention or ""
    if {convention, file.framework} == FLAX and not any(isinstance(site.layer, Cell) for site in sites_of(file)):
        file = file._replace(framework=convention)  # both name the layers around the cells alike
    members = {("networks", name, "convention"): each.network for name, each in network.networks.items()}
    for at, each in (members if not convention else {("convention",): network}).items():
        if each.convention != file.framework:
            says = f"the file has the tensors of {file.framework}, and the spec counts those of {each.convention}"
            raise SpecError((Problem(at, f"{says}; make the convention {file.framework}"),))
    if len(file.modules) > MOST_MODULES:
        raise RefusedError(f"a file of more than {MOST_MODULES:,} modules is not compared with a spec")
    specs = spec_layers(network)
    start = prefix(specs, file.modules)
    specs = [without(start, each) for each in specs]
    by_name, file = _by_name(specs, file)
    attends = any(isinstance(spec.layer, DecoderAttention) for spec in specs)  # perhaps with other biases
    layers = [*[spec.shapes for spec in specs], *(readers_of_two(file.framework) if attends else ())]
    every = sites_of(file, layers)
    pools = [site for site in every if isinstance(site.layer, Pool1D)]
    sites = tuple(site for site in every if not site.bare)
    pairs = paired(specs, [*in_chain(sites, ordered=file.ordered), *pools], ordered=file.ordered)
    sites = _with_unnamed(specs, pairs, sites)
    remarks = tuple(remark for remark in file.remarks if remark.kind in (RemarkKind.MERGED, RemarkKind.SHARD))
    if file.framework == "onnx":
        sites, about = _with_zeros(specs, pairs, sites)
        remarks = (*remarks, *about)
    used = {id(site) for site in pairs.values()}
    unpaired = [site for site in sites if id(site) not in used]
    pairs = {place: in_place(site, specs[place].layer) for place, site in pairs.items()}
    checks = [each for place, spec in enumerate(specs) for each in _checks(spec, pairs.get(place), file.framework)]
    externals = [spec for spec in specs if isinstance(spec.layer, External) and not spec.layer.tensors]
    of_externals, unpaired = _of_externals(externals, unpaired)
    others = [
        TensorCheck(TensorStatus.UNEXPECTED, stored=tensor.name, stored_shape=tensor.shape)
        for site in unpaired
        for tensor in site.tensors.values()
        if not tensor.shared_with
    ]
    of_externals = [check for check in of_externals if check.stored_shape or check.shape != (0,)]
    tensors = (*checks, *by_name, *of_externals, *others, *_otherwise(network, file, every))
    more = tuple(site for site in unpaired if site.layer and site.params)
    differences = tuple(_differences(network, start, specs, pairs, tensors, more))
    no_params = sum(not tensor.is_parameter for tensor in file.tensors)
    sites_by_name = {specs[place].name: site for place, site in pairs.items() if not site.bare}
    names = {name for each in differences if each.theirs is not None for name in each.names}
    stored = {tensor.name for site in more for tensor in site.tensors.values()}
    stacked = {id(site) for each in differences for site in each.stacked}
    more = tuple(site for site in more if id(site) not in stacked)
    explained = frozenset(
        number
        for number, check in enumerate(tensors)
        if not (check.kept or check.doubt) and (check.layer in names or (not check.layer and check.stored in stored))
    )
    return Match(file.path, tensors, differences, more, explained, no_params, sites_by_name, remarks, every)


def weights_of(
    stack: Iterable[Placed], path: str, matched: Match, progress: Callable[[int], None] | None = None
) -> dict[str, dict[str, Any]]:
    """Return the arrays of each of some layers as nested lists, from the file at a path that has them all.

    progress: called after each layer with the number of its parameters.
    """
    weights: dict[str, dict[str, Any]] = {}
    for placed in stack:
        site = matched.sites.get(placed.full_name)
        if site is None:
            continue
        alone = (tensor.sized(placed.sizes).name for tensor in placed.layout.tensors)
        with reading(path):
            arrays = {tensor.name: site.tensors[one].read() for one, tensor in zip(alone, placed.tensors, strict=True)}
            stored = [tensor.name for tensor in placed.buffers if tensor.name in site.buffers]
            arrays |= {name: site.buffers[name].read() for name in stored}
        weights[placed.name] = arrays
        if progress:
            progress(placed.params)
    return weights


def _differences(
    network: Described,
    start: str,
    specs: Sequence[SpecLayer],
    pairs: Pairs,
    tensors: Sequence[TensorCheck],
    more: Sequence[Site],
) -> Iterator[LayerDifference]:
    """Yield the layers of the spec that differ, in its order, the copies of one together.

    start: the prefix of the paths that the file lacks. more: the layers of the file that the spec lacks; with them any
    layer may read another width.
    """
    changed = bool(more)  # whether something before a layer differs
    wrong = {check.layer for check in tensors if not (check.kept or check.doubt)}
    sums = {check.layer: check.stored_shape for check in tensors if check.tensor == "external"}
    copies: dict[Path, list[int]] = {}
    for place, each in enumerate(specs):
        if not each.placed.starts and not (isinstance(each.layer, External) and each.layer.tensors):
            copies.setdefault(each.at, []).append(place)
    for at, places in copies.items():
        first, names = specs[places[0]], tuple(specs[place].name for place in places)
        ours, sites = first.layer.replace(repeat=1), [pairs[place] for place in places if place in pairs]
        last = sites[-1] if sites and sites[-1].layer else None
        stacked = tuple(
            site for site in more if last and (site.path, site.layer) == (last.path, last.layer) and site.number
        )
        if wrong.isdisjoint(names) and not stacked:
            continue
        theirs = [_theirs(specs[place], pairs[place], network.convention or "") for place in places if place in pairs]
        if isinstance(ours, External):
            theirs = [ours.replace(params=int(shape[0])) for name in names if (shape := sums.get(name))]
        layers = None if None in theirs else tuple(layer for layer in theirs if layer is not None)
        inputs = _reads(layers[0], sites[0]) - first.placed.inputs if layers and sites else 0
        network_input = None
        if layers and inputs and isinstance(network, Network) and _is_first(network, first):
            part, change = network.parts[first.placed.part], inputs // prod(layers[0].grid)
            network_input = (part.input, part.input + change) if part.input + change > 0 else None
        elif inputs and not changed and layers == (ours,):
            wider = ours.replace(extra_inputs=ours.values().get("extra_inputs", 0) + inputs)
            layers = (wider,) if inputs > 0 and not any(wider.option_problems()) else None
        layers = layers and (*layers, *layers[-1:] * len(stacked))
        doubts = frozenset(doubt for site in sites for doubt in site.doubts)
        if ours.path:
            ours = ours.replace(path=f"{start}{ours.path}")
            layers = layers and tuple(layer.replace(path=ours.path) for layer in layers)
        yield LayerDifference(names, at, ours, layers, network_input, doubts, stacked if layers else ())
        changed = True


def _reads(layer: Layer, site: Site) -> int:
    """Return how many numbers of a step a layer with the tensors of a site reads."""
    return inputs_of(layer, site) * prod(layer.grid)


def _is_first(network: Network, spec: SpecLayer) -> bool:
    """Return whether a layer reads the input of its part."""
    before = [each for each in network.stack if each.part == spec.placed.part and not each.starts]
    before = before[: [each.name for each in before].index(spec.name)]
    return not any(each.tensors or each.inputs != each.outputs for each in before)


def _theirs(spec: SpecLayer, site: Site, framework: str) -> Layer | None:
    """Return the layer that has the tensors of a site, with the spec's options unless these tell another value."""
    ours, layer = spec.layer.replace(repeat=1), site.layer
    if isinstance(ours, Output) and isinstance(layer, Dense) and not isinstance(layer, Output):
        tied = any(tensor.shared_with for tensor in site.tensors.values())
        layer = Output(layer.units, bias=layer.bias, activation=layer.activation, tied=tied)
    if layer is None:
        return None
    shapes = {name: tensor.shape for name, tensor in site.tensors.items() if not tensor.shared_with}

    def fits(layer: Layer) -> bool:
        inputs = _reads(layer, site)
        valid = not any(layer.option_problems()) and not any(layer.input_problems((inputs,)))
        return valid and expected(layer, inputs, framework) == shapes

    for option in (ours.number, *ours.options()) if ours.kind == layer.kind else ours.options():
        if option in layer.fields and option not in layer.without:
            kept = layer.replace(**{option: getattr(ours, option)})
            layer = kept if fits(kept) else layer
    layer = layer.replace(**{option: value for option, (_, value) in recorded(layer, site, framework).items()})
    return layer if fits(layer) else None


_WITHOUT_OPERATORS = (Cell, Dense, Conv1D, BatchNorm, LayerNorm, Embedding, Dropout, LastStep)
"""Layers that no operator between those of an ONNX graph is part of."""


def _otherwise(network: Described, file: ModelFile, sites: Sequence[Site]) -> Iterator[TensorCheck]:
    """Yield what a file computes beside its layers with tensors, and the network does not.

    An external layer may have layers without weights in it too.
    """
    times: Counter[Any] = Counter(type(placed.layer) for placed in network.stack)
    names, joins = [], set[str]()
    if not isinstance(network, Network):  # which knows nothing of what joins its networks
        joins = {name for remark in file.remarks if remark.kind is RemarkKind.JOINS for name in remark.names}
    for site in sites:
        if site.path in joins:
            continue
        if site.bare and isinstance(site.layer, Pool1D | RepeatVector):
            times[type(site.layer)] -= 1
        if site.bare and (Doubt.NOT_IN_SPEC in site.doubts or times[type(site.layer)] < 0):
            names.append(site.path)
    apart = names and not any(isinstance(placed.layer, External) for placed in network.stack)
    plain = all(isinstance(placed.layer, _WITHOUT_OPERATORS) for placed in network.stack)
    for remark in (*[Remark(Doubt.NOT_IN_SPEC, tuple(names))] * bool(apart), *file.remarks):
        word = COMPUTES_OTHERWISE.get(remark.kind)
        if remark.kind in NOT_A_ROW and not isinstance(network, Network):
            continue
        if word and (plain or remark.kind is not RemarkKind.OPERATORS):
            yield TensorCheck(TensorStatus.COMPUTATION, None, None, stored=word, doubt=remark)


def of_sequences(network: Described, file: ModelFile, comparison: Match) -> Iterator[TensorCheck]:
    """Yield what a file says of its sequences and a network has otherwise: whether it ends in one, and its steps.

    Of a model, for each network that is a row of the file's layers, and how often that is called.
    comparison: of both, the network perhaps with other steps.
    """
    if file.framework not in ("keras", "onnx"):
        return
    if not isinstance(network, Network):
        drafts = read(file).networks.values()
        rows = {frozenset(each.path for each in draft.layers if each.path): (draft.network, n) for draft, n in drafts}
        for name, member in network.networks.items():
            sites = (comparison.sites.get(placed.full_name) for placed in network.stack if placed.network == name)
            row = rows.get(frozenset(site.path for site in sites if site))
            if row and row[1] != member.calls:
                yield _of_sequence(Remark(Doubt.TIMES, (), (row[1],)), ("networks", name, "calls"))
            if row and row[0].topology and row[0].topology != "one-to-one":
                yield from _as_row(member.network, row[0].topology, row[0].steps, ("networks", name))
        return
    if network.encoder:
        return
    ended, steps, layers = sequences_of(file, comparison.every)
    if file.framework == "onnx" and any(isinstance(each, LastStep) for each in layers):
        outputs = [len(placed.output_shape) > 1 for placed in network.stack if isinstance(placed.layer, Cell)]
        if not any(outputs[-1:]) or not any(isinstance(placed.layer, LastStep) for placed in network.stack):
            yield TensorCheck(TensorStatus.COMPUTATION, stored="last", doubt=Remark(Doubt.BOTH))
    if ended is None or any(isinstance(each, External) for each in (*layers, *(each.layer for each in network.stack))):
        return
    yield from _as_row(network, "many-to-one" if ended else "many-to-many", steps)


def _as_row(network: Network, topology: str, steps: int | None, at: Path = ()) -> Iterator[TensorCheck]:
    """Yield how the sequences of a network differ from those of a file. at: its place in a model."""
    if network.topology_of(None).endswith("one") != topology.endswith("one"):
        yield _of_sequence(Remark(Doubt.TOPOLOGY, (topology,)), (*at, "topology"))
    if None not in (network.steps, steps) and network.steps != steps:
        yield _of_sequence(Remark(Doubt.LENGTH, (), (steps or 0,)), (*at, "steps"))


def _of_sequence(about: Remark, at: Path) -> TensorCheck:
    stored = ".".join(map(str, at[-2:]))
    return TensorCheck(TensorStatus.COMPUTATION, stored=stored, at=at, doubt=about)


def _checks(spec: SpecLayer, site: Site | None, framework: str) -> Iterator[TensorCheck]:
    """Yield the checks of a layer's tensors, and those of its site that the layer lacks."""
    if isinstance(spec.layer, External):
        return
    theirs = dict(site.tensors) if site else {}
    if site and site.shapes == {**spec.shapes, **spec.shared}:
        for option, (ours, value) in recorded(spec.layer, site, framework).items():
            yield TensorCheck(TensorStatus.SHAPE, spec.name, option, (ours,), None, (value,), spec.at)
        steps, *_ = spec.placed.output_shape
        if Doubt.ALL_STEPS in site.doubts and steps not in (1, None):
            whole = Remark(Doubt.WHOLE)
            yield TensorCheck(TensorStatus.COMPUTATION, spec.name, "window", at=spec.at, doubt=whole)
        for doubt in filter(COMPUTES_OTHERWISE.__contains__, site.doubts):
            if doubt is Doubt.CALLS and spec.placed.calls > 1:
                continue
            remark = Remark(doubt)
            word = COMPUTES_OTHERWISE[doubt]
            yield TensorCheck(TensorStatus.COMPUTATION, spec.name, word, at=spec.at, doubt=remark)
    for name, shape in spec.shapes.items():
        tensor = theirs.pop(name, None)
        names = (spec.name, spec.names[name], shape)
        if tensor is None:
            yield TensorCheck(TensorStatus.MISSING, *names, at=spec.at)
            continue
        status = TensorStatus.SHARED if tensor.shared_with else TensorStatus.MATCHED
        status = status if shape == tensor.shape else TensorStatus.SHAPE
        yield TensorCheck(status, *names, tensor.name, tensor.shape, spec.at)
    for name, tensor in theirs.items():
        if spec.shared.get(name) != tensor.shape or not tensor.shared_with:
            yield TensorCheck(TensorStatus.UNEXPECTED, spec.name, None, None, tensor.name, tensor.shape, spec.at)


def _with_unnamed(specs: Sequence[SpecLayer], pairs: Pairs, sites: tuple[Site, ...]) -> tuple[Site, ...]:
    """Give layers the tensors they lack from those that a model of Keras has beside its layers; return the sites then.

    They have numbers in the file and no names, so their shapes and their order decide.
    """
    used = {id(site) for site in pairs.values()}
    unnamed = [site for site in sites if site.path == "vars" and id(site) not in used]
    unnamed_tensors = {leaf: tensor for site in unnamed for leaf, tensor in site.tensors.items()}
    every = [*sites]
    changed: dict[int, Site] = {}
    for place, spec in enumerate(specs):
        site = before = pairs.get(place) or Site(spec.layer.path or spec.name, 0, {})
        for name, shape in spec.shapes.items():
            alike = [leaf for leaf, tensor in unnamed_tensors.items() if len(tensor.shape) == len(shape)]
            if alike and name not in site.tensors:
                leaf = min(alike, key=lambda leaf: unnamed_tensors[leaf].shape != shape)
                site = site._replace(tensors={**site.tensors, name: unnamed_tensors.pop(leaf)})
        if site is not before:
            every += [] if place in pairs else [before]
            pairs[place] = changed[id(before)] = site
    changed |= {id(site): site._replace(tensors=unnamed_tensors) for site in unnamed}
    return tuple(site for each in every if not (site := changed.get(id(each), each)).bare)


def _with_zeros(
    specs: Sequence[SpecLayer], pairs: Pairs, sites: tuple[Site, ...]
) -> tuple[tuple[Site, ...], list[Remark]]:
    """Return sites with a bias of zeros if the spec has one that no file stores, and without one that exporters add."""
    reader, changed = BoundedReader(), dict[int, Site]()
    left_out, added = list[str](), list[str]()
    for place, site in pairs.items():
        spec = specs[place]
        leaf = "C" if isinstance(spec.layer, Dense) else "B" if isinstance(spec.layer, Cell | Conv1D) else ""
        bias, shape = site.tensors.get(leaf), spec.shapes.get(leaf)
        tensors = {**site.tensors}
        if bias is None and shape and not isinstance(spec.layer, Cell):
            tensors[leaf] = bias = constant(site.path, shape[0])
        elif bias and leaf not in spec.shapes and not any(reader.numbers(bias) or [1]):
            added += [tensors.pop(leaf).name] * bias.is_parameter
        if bias and not bias.is_parameter:
            left_out.append(spec.name)
        changed[id(site)] = pairs[place] = site._replace(tensors=tensors)
    remarks = named_remarks({RemarkKind.NO_BIAS: left_out, RemarkKind.ALL_ZEROS: added})
    return tuple(changed.get(id(site), site) for site in sites), remarks


def _by_name(specs: Sequence[SpecLayer], file: ModelFile) -> tuple[list[TensorCheck], ModelFile]:
    """Check the tensors that external layers name, and return the file without those of its modules that were found.

    A path may be that of a list of modules with numbers; the copies of a layer have theirs in the file's order.
    """
    if not any(isinstance(spec.layer, External) and spec.layer.tensors for spec in specs):
        return [], file
    named: dict[str, list[FileTensor]] = {}
    for tensor in (tensor for module in file.modules for tensor in module.tensors.values()):
        for start in (0, *(match.end() for match in re.finditer("[./]", tensor.name))):
            named.setdefault(tensor.name[start:], []).append(tensor)
    checks, used = [], set()
    for spec in specs:
        path = spec.layer.path
        prefix = re.compile(rf"(?:.*[./])?{re.escape(path)}[./](?:\d+[./])?" if path else ".*", re.DOTALL)
        for name, shape in spec.layer.tensors if isinstance(spec.layer, External) else ():
            candidates = (each for each in named.get(name, ()) if each.name not in used)
            fitting = (each for each in candidates if prefix.fullmatch(each.name.removesuffix(name)))
            stored = min(fitting, key=lambda each: len(each.name), default=None)
            check = TensorCheck(TensorStatus.MISSING, spec.name, name, shape, at=spec.at)
            if stored:
                used.add(stored.name)
                status = TensorStatus.MATCHED if stored.shape == shape else TensorStatus.SHAPE
                check = check._replace(status=status, stored=stored.name, stored_shape=stored.shape)
            checks.append(check)
    modules = (
        module._replace(tensors={leaf: each for leaf, each in module.tensors.items() if each.name not in used})
        for module in file.modules
    )
    return checks, file._replace(modules=tuple(modules))


def _of_externals(externals: Sequence[SpecLayer], sites: list[Site]) -> tuple[list[TensorCheck], list[Site]]:
    """Check each external layer against the remaining sites: those below its path, or else all."""
    checks = []
    pathless = []
    for spec in externals:
        path = spec.layer.path
        if path is None:
            pathless.append(spec)
            continue
        there = [site for site in sites if below(site, path)]
        sites = [site for site in sites if not below(site, path)]
        checks.append(_sum(spec, sum(site.params for site in there)))
    rest = sum(site.params for site in sites)
    for spec in pathless:  # the last gets what is left over, or too little
        params = rest if spec is pathless[-1] else min(rest, spec.placed.params)
        checks.append(_sum(spec, params))
        rest -= params
    return checks, [] if pathless else sites


def _sum(spec: SpecLayer, theirs: int) -> TensorCheck:
    ours = spec.placed.params
    status = TensorStatus.MATCHED if theirs == ours else TensorStatus.SHAPE if theirs else TensorStatus.MISSING
    return TensorCheck(status, spec.name, "external", (ours,), None, (theirs,) if theirs else None, spec.at)
