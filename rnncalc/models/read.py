"""`read`: the tensors of a model file, and a draft of its spec. Returns numbers and names, no sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from math import prod
from os import PathLike, fspath
from os.path import basename
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.bounds import MAX_SIZE, MAX_TEXT, MOST_MODULES
from rnncalc.display import displayed
from rnncalc.errors import Problem, SpecError
from rnncalc.layers.cell import Cell
from rnncalc.layers.convolution import Pool1D
from rnncalc.layers.layer import Dense, Dropout, Embedding, External, Layer, Output, Time, Transform
from rnncalc.layers.options import DTYPES
from rnncalc.layers.reshaping import LastStep, RepeatVector
from rnncalc.models.blocks import readers_of_two
from rnncalc.models.chain import in_chain, orders, with_table_first
from rnncalc.models.files import read as read_file
from rnncalc.models.files.model import FileModule, FileTensor, ModelFile, Remark, RemarkKind, may_be_buffers
from rnncalc.models.files.torch_names import LENGTHS
from rnncalc.models.sites import OF_ATTENTION, Doubt, Site, as_attention, as_table, in_groups, sites_of, untrained
from rnncalc.network.network import Network
from rnncalc.network.parts import TopologyName
from rnncalc.printable import escape_path
from rnncalc.words import plural

if TYPE_CHECKING:
    from rnncalc.network.model import Described

MOST_NAMED = 12
"""The most tensors that an external layer of a draft names."""


class Draft(NamedTuple):
    """A network with the tensors of a file. unknown_input: whether the file lacks its input width.

    doubts: what is uncertain about each layer, the output layer last if there is one.
    """

    network: Network
    doubts: tuple[tuple[Remark, ...], ...]
    unknown_input: bool

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers of the network, its output as the last if there is one."""
        output = self.network.output
        return (*self.network.layers, output) if isinstance(output, Output) else (*self.network.layers,)


@displayed("rnncalc.reports.read:ReadReport")
class Reading(NamedTuple):
    """The contents of a file. draft: None if the file has no parameters, or too many for a spec.

    networks: if its layers are not one row, drafts of several networks by name, each with how often it is called.
    """

    file: ModelFile
    draft: Draft | None
    networks: Mapping[str, tuple[Draft, int]] = {}

    @property
    def described(self) -> Described | None:
        """What the draft describes."""
        if self.draft is None or not self.networks:
            return self.draft and self.draft.network
        from rnncalc.network.model import Member, Model  # imported only for a model

        members = {name: Member(draft.network, calls) for name, (draft, calls) in self.networks.items()}
        return Model(members, name=self.draft.network.name)


NOT_A_ROW = frozenset((RemarkKind.SEVERAL_INPUTS, RemarkKind.JOINS, RemarkKind.FORKS))
"""What a file says of layers that are not one row; it is so of the networks of a model."""


def read(file: ModelFile) -> Reading:
    """Return the contents of a model file, and a draft of its network with the same parameters, tensor by tensor.

    If the layers are not one row, also drafts of several networks with the same parameters.
    """
    whole = _row(file)
    remarks: dict[Remark, None] = {}
    networks = dict(_networks(whole, remarks))
    drafts = [draft for draft, _ in networks.values()]
    exact = sum(draft.network.params for draft in drafts) == file.params + file.apart
    external = any(all(isinstance(layer, External) for layer in draft.layers) for draft in drafts)
    if len(networks) < 2 or not exact or any(map(_widths_differ, drafts)) or (external and not file.rows):
        return whole
    of_file = (remark for remark in file.remarks if remark.kind not in NOT_A_ROW)
    return whole._replace(file=file._replace(remarks=(*of_file, *remarks)), networks=networks)


def _networks(whole: Reading, remarks: dict[Remark, None]) -> Iterator[tuple[str, tuple[Draft, int]]]:
    """Yield drafts of the rows of layers that a file has, or of modules of PyTorch by their first names.

    remarks: to which those on the drafts are added.
    """
    file = whole.file
    rows = file.rows or _by_first_name(whole)
    for paths, calls in rows if len(rows) > 1 else ():
        modules = tuple(module for module in file.modules if module.path in paths)
        tensors = tuple(each for module in modules for each in (*module.tensors.values(), *module.buffers.values()))
        part = file._replace(modules=modules, tensors=tensors, remarks=(), steps=None, inputs=None, apart=0, rows=())
        below = read(part)
        if below.draft is None:
            continue
        remarks |= dict.fromkeys(below.file.remarks)
        name = next((module.path for module in modules if module.tensors), "network")
        for inner, (draft, times) in (
            below.networks or {name if file.rows else _common(module.path for module in modules): (below.draft, 1)}
        ).items():
            doubts = tuple(
                tuple(doubt for doubt in each if calls == 1 or doubt.kind is not Doubt.CALLS) for each in draft.doubts
            )
            name = re.sub(r"\W+", "_", inner).strip("_")
            name = name if re.match("[A-Za-z]", name) else f"network_{name}".strip("_")
            yield name, (draft._replace(doubts=doubts), calls * times)


def _widths_differ(draft: Draft) -> bool:
    """Return whether layers of a draft do not read what those before them output."""
    return any(doubt.kind is Doubt.WIDTH for doubts in draft.doubts for doubt in doubts)


def _common(paths: Iterable[str]) -> str:
    """Return the names that paths of modules begin with."""
    names = zip(*(re.split("[./]", path) for path in paths), strict=False)
    return ".".join(each[0] for each in takewhile(lambda several: len({*several}) == 1, names))


def _by_first_name(whole: Reading) -> tuple[tuple[frozenset[str], int], ...]:
    """Return the paths that are in one module, if the layers do not follow one another as one row.

    If each is by itself, several dense layers at the end that read one width, as of an actor and a critic, are apart
    from those before them. A file with a graph or a configuration tells more.
    """
    file = whole.file
    configured = file.framework in ("keras", "tfjs") and Remark(RemarkKind.NO_CONFIG) not in file.remarks
    if file.framework == "onnx" or configured or whole.draft is None or not _widths_differ(whole.draft):
        return ()
    every = [module.path for module in file.modules]
    start, groups = len(_common(every)), dict[str, set[str]]()
    for path in every:
        groups.setdefault(re.split("[./]", path[start:].lstrip("./"))[0], set()).add(path)
    every_site = sites_of(file, readers_of_two(file.framework))
    sites = [site for site in (every_site if file.ordered else in_chain(every_site)) if site.params]
    if len({site.path for site in sites}) > len(groups):
        return tuple((frozenset(paths), 1) for paths in groups.values())
    width = sites[-1].inputs
    heads = [*takewhile(lambda site: type(site.layer) is Dense and site.inputs == width, reversed(sites))]
    units = [site.layer.output_width(width) for site in heads if site.layer]
    if len(heads) < 2 or width in units[1:]:  # which may follow one another
        return ()
    apart = [frozenset((site.path,)) for site in reversed(heads)]
    return tuple((paths, 1) for paths in (frozenset(every).difference(*apart), *apart) if paths)


def _row(file: ModelFile) -> Reading:
    """Return the contents of a file, and the draft of its layers as one row."""
    if not 0 < file.params <= MAX_SIZE:
        return Reading(file, None)
    if len(file.modules) <= MOST_MODULES:
        sites = sites_of(file, readers_of_two(file.framework))
        # if their steps do not fit, without the layers that have no weights, and then without all around the cells
        for bare, around in ((True, True), (False, True), (False, False)):
            drafting = _Drafting(file, sites, bare=bare, around=around)
            draft = drafting.draft()
            if draft is not None and draft.network.params == file.params + file.apart:
                remarks = (*file.remarks, *drafting.remarks())
                if any(isinstance(layer, External) for layer in draft.layers):  # which may have operators in it too
                    remarks = tuple(remark for remark in remarks if remark.kind is not RemarkKind.OPERATORS)
                return Reading(file._replace(remarks=remarks), draft)
    return Reading(file, _network(file, [External(file.params)], [(Remark(Doubt.MODULES),)], None, None, None))


def read_model(path: str | PathLike[str]) -> Reading:
    """Return the contents of the model file at a path.

    Raises SpecError if it cannot be read as one, or has arrays and no parameters.
    """
    return with_parameters(read_file(fspath(path)))


def with_parameters(file: ModelFile) -> Reading:
    """Return what `read` does. Raises SpecError for a file of arrays without parameters."""
    quantised = any(remark.kind is RemarkKind.QUANTISED for remark in file.remarks)
    if (file.tensors or quantised) and not file.params:
        roles = ", ".join(dict.fromkeys(tensor.role.value for tensor in file.tensors))
        numbers = sum(tensor.params for tensor in file.tensors)
        message = (
            f"has no parameters, only {plural(len(file.tensors), 'tensor')} of {plural(numbers, 'number')} ({roles})"
        )
        if quantised:
            message = "has no parameters, because its weights are quantised; read the model from before quantisation"
        raise SpecError((Problem((), message, f"'{escape_path(file.path)}'"),))
    return read(file)


def sequences_of(file: ModelFile, sites: Sequence[Site]) -> tuple[bool | None, int | None, Sequence[Layer]]:
    """Return whether the network of a file outputs one vector, its steps, both None if unknown, and its layers."""
    drafting = _Drafting(file, sites, bare=True, around=True)
    return drafting.ended, drafting.length, drafting.layers


class _Drafting:
    """Chains the sites of a file, with an external layer between two whose widths do not fit.

    bare: whether layers without tensors are drafted. around: whether those around the cells are.
    """

    def __init__(self, file: ModelFile, sites: Sequence[Site], *, bare: bool, around: bool) -> None:
        self.file = file
        self.bare = bare
        self.around = around
        self.left_out: list[tuple[str, bool]] = []  # with whether each outputs what it reads
        self.steps = self.first_steps = file.steps  # of what the last layer outputs, and of the network
        self.several = False  # whether the widths fit in several orders
        self.changes: list[str] = []  # the layers that read another number of steps than the one before outputs
        self.ended: bool | None = None  # whether one vector is all that is left, None if the file does not say
        self.alone = False  # whether it reads one vector
        self.width: int | None = file.inputs
        self.input: int | None = file.inputs
        self.layers: list[Layer] = []
        self.doubts: list[tuple[Remark, ...]] = []
        self.unknown: list[Site] = []
        self.table = ""
        self.grid: tuple[int, ...] = ()  # the places of a step of the last layer's output
        self._chain(sites)

    def draft(self) -> Draft | None:
        """Return the draft of the layers, None if no network has them."""
        topology: TopologyName | None = "one-to-one" if self.alone else None
        if self.ended is not None:
            topology = "many-to-one" if self.ended else "many-to-many"
        return _network(self.file, self.layers, self.doubts, self.input, topology, self.length)

    @property
    def length(self) -> int | None:
        """The steps of the network, None if they are not known."""
        return None if self.changes else self.first_steps

    def _chain(self, sites: Sequence[Site]) -> None:
        """Find the layers in their order."""
        if not self.around:
            sites = [
                site._replace(layer=None) if isinstance(site.layer, Transform) and site.tensors else site
                for site in sites
            ]
        if not self.file.ordered:
            self.several = orders(sites)[1]
            sites = in_chain(sites)
        elif self.file.framework == "pytorch":  # whose modules are in the order in which they are defined
            sites = with_table_first(sites)
        ends = {
            module.path: module.settings.get("return_sequences") is False
            for module in self.file.modules
            if "return_sequences" in module.settings
        }
        modules = {module.path: module for module in self.file.modules}
        for place, site in enumerate(sites):
            module, layer = modules.get(site.path), site.layer
            if self.ended and not (isinstance(layer, Cell) or (layer and layer.time.along)):
                module = None  # it reads one step, perhaps of many places
            if layer is not None and module is not None:
                self._reads(module)
                if self.ended is False and self.unknown and module.steps == 0 and module.inputs:
                    self.ended = True  # what is unknown outputs one vector
            if site.bare:
                self._bare(site, module.inputs if module else 0)
                continue
            after = next((later for later in sites[place + 1 :] if later.layer and later.params), None)
            front = self.input is None and not self.unknown
            site = as_table(site, after) if front else in_groups(site, self.width)
            if self.around and not self.unknown:
                site = as_attention(site, self.width, self.file.framework)
            if site.layer is None or any(tensor.shared_with for tensor in site.tensors.values()):
                self._unknown(site, last=not any(later.params for later in sites[place + 1 :]))
            elif isinstance(site.layer, Embedding) and not front:
                self._wait(site)  # a spec has a table in front alone
            else:
                self._known(site)
            self.ended = ends.get(site.path, self.ended)
        if self.unknown and self.ended is False and self.unknown[-1].path not in ends:
            self.ended = None
        self._flush(None)

    def remarks(self) -> Iterator[Remark]:
        """Yield what the draft leaves out of the file."""
        computes = not any(isinstance(layer, External) for layer in self.layers)
        for otherwise, kind in ((computes, Doubt.NOT_IN_SPEC), (False, Doubt.LEFT_OUT)):
            names = [path for path, identity in self.left_out if (computes and not identity) == otherwise]
            if names and (otherwise or kind is Doubt.LEFT_OUT):
                yield Remark(kind, tuple(names))
        if self.several:
            yield Remark(Doubt.ORDER)
        if self.changes:
            yield Remark(Doubt.STEPS, tuple(self.changes))
        elif self.file.steps and self.first_steps and self.file.steps != self.first_steps:
            yield Remark(Doubt.FIRST_STEPS, (), (self.first_steps, self.file.steps))

    def _reads(self, module: FileModule) -> None:
        """Take the steps that the file says a layer reads, and the width of the first."""
        if not self.layers and not self.unknown and (module.inputs or module.steps is None):
            self.width = self.input = module.inputs or None
            self.alone = module.steps == 0
        if not module.steps and module.steps is not None:
            return
        kept = External if self.steps else External | Embedding  # a table keeps the number of steps
        if all(isinstance(layer, kept) for layer in self.layers):
            self.first_steps = module.steps
        elif module.steps != self.steps:
            self.changes.append(module.path)
        self.steps = module.steps

    def _add(self, layer: Layer, *doubts: Remark, at: int | None = None) -> None:
        place = len(self.layers) if at is None else at
        self.layers.insert(place, layer)
        self.doubts.insert(place, doubts)

    def _known(self, site: Site) -> None:
        assert site.layer is not None
        inputs = site.inputs * (prod(self.grid) if site.layer.time is Time.PLACE and not self.unknown else 1)
        alone = any(site.layer.replace(extra_inputs=1).option_problems())
        grid = site.layer.grid or (self.grid if site.layer.output_grid(self.grid) is not None else ())
        self._flush(inputs, exactly=alone, reshaped=bool(self.layers) and grid != self.grid)
        if self.input is None:
            self.input = inputs
        if isinstance(site.layer, Embedding):
            self.table = next(iter(site.tensors.values())).name
        frozen = {name: tensor.frozen for name, tensor in site.tensors.items()}
        if any(frozen.values()):  # beside statistics, which are never trained
            stored = untrained(site.layer, inputs, self.file.framework)
            frozen = {name: known for name, known in frozen.items() if name not in stored}
        whole = {"path": _path(site.path), "dtype": dtype_of(site.tensors.values())}
        layer = site.layer.replace(frozen=bool(frozen) and all(frozen.values()), **whole)
        rows = next(iter(site.shapes.values()))[:1] if Doubt.TABLE in site.doubts else ()
        doubts = [Remark(doubt, (), rows if doubt is Doubt.TABLE else ()) for doubt in site.doubts]
        if isinstance(layer, Dense) and OF_ATTENTION.search(site.path):
            doubts.append(Remark(Doubt.ATTENTION))
        below = inputs if self.width is None else self.width
        if below < inputs:
            layer = layer.replace(extra_inputs=inputs - below)
            doubts.append(Remark(Doubt.WIDTH, (), (below, inputs)))
        if any(frozen.values()) and not layer.frozen:
            doubts.append(Remark(Doubt.PARTLY_FROZEN, tuple(name for name in frozen if frozen[name])))
        self.width, self.grid = layer.output_width(inputs), layer.output_grid(grid) or ()
        if layer.time.along:
            self.steps, *_ = (*layer.output_shape((self.steps, inputs))[:-1], None)
        before = self.layers[-1] if self.layers else None  # of the same module, and the layer reads its output alone
        stacked = before and before.path is not None and before.output_width(inputs) == inputs
        if before and stacked and before.replace(repeat=1) == layer:
            self.layers[-1] = before.replace(repeat=before.repeat + 1)
            self.doubts[-1] = tuple(dict.fromkeys((*self.doubts[-1], *doubts)))
        else:
            self._add(layer, *doubts)
        if Doubt.LAST_STEP in site.doubts:  # directly behind a cell, `last` takes the last output of each direction
            self._add(Dropout(0))
            self._add(LastStep())

    def _unknown(self, site: Site, *, last: bool) -> None:
        """Add an unknown layer; if it is the last and shares the table's matrix, it is the output layer.

        Otherwise a module without its own parameters adds no layer: it is another's, used again.
        """
        of_table = any(tensor.shared_with == self.table for tensor in site.tensors.values())
        free = last and bool(self.table) and not isinstance(self.layers[-1], Output)
        if free and of_table and isinstance(site.layer, Dense) and site.layer.units == self.input:
            self._flush(site.inputs)
            options: dict[str, Any] = {key: getattr(site.layer, key) for key in ("bias", "activation")}
            options |= {"path": _path(site.path), "dtype": dtype_of(site.tensors.values())}
            output = Output(site.layer.units, tied=True, **options)
            self._add(output, *(Remark(doubt) for doubt in site.doubts if doubt is not Doubt.TABLE))
        elif site.params:
            self._wait(site)

    def _wait(self, site: Site) -> None:
        """Keep an unknown site for one external layer with those around it; frozen ones are apart from others."""
        frozen = [all(tensor.frozen for tensor in each.tensors.values()) for each in (*self.unknown[-1:], site)]
        if len({*frozen}) > 1:
            self._flush(self.width)
        self.unknown.append(site)

    def _bare(self, site: Site, inputs: int) -> None:
        """Add a layer without tensors, which reads what reaches it; leave it out if it, or what reaches it, is unknown.

        What ends a sequence, or begins one, takes the last step if a recurrent layer ended the sequence before.
        inputs: the width of what reaches it, 0 if the file does not say.
        """
        layer, pools = site.layer, Doubt.ALL_STEPS in site.doubts
        ends = layer is not None and (layer.time.ends or pools)
        if layer is not None and self.bare and inputs:
            self._flush(inputs)
        if layer is None or not self.bare or self.unknown or self.width is None:
            counts = Doubt.NOT_IN_SPEC in site.doubts or isinstance(layer, Pool1D | RepeatVector)
            self.left_out.append((site.path, not counts))
        elif not (ends and self.ended and not self.grid):  # which is flat
            if self.ended and (ends or layer.time.begins) and not isinstance(self.layers[-1], LastStep):
                cells = [place for place, each in enumerate(self.layers, 1) if isinstance(each, Cell)]
                self._add(LastStep(), at=cells[-1] if cells else None)  # a direction that reads backwards ends there
            if pools and self.steps:
                layer = layer.replace(window=self.steps)
            self._add(layer, *(Remark(doubt) for doubt in site.doubts if not self.steps))
            if pools:
                self._add(LastStep())
            shape = (self.width,) if self.ended else (self.steps, self.width)
            *length, self.width = layer.output_shape(shape)
            self.steps, self.grid = next(iter(length), None), layer.output_grid(self.grid) or ()
        if layer is not None and (ends or layer.time.begins):
            self.ended = ends

    def _flush(self, needed: int | None, *, exactly: bool = False, reshaped: bool = False) -> None:
        """Add one external layer for all unknown sites, with the output width that the next layer needs.

        exactly: whether the next layer has no extra inputs. reshaped: whether it reads other places than reach it.
        """
        sites, self.unknown = self.unknown, []
        fits = needed is None or self.width is None or self.width == needed or (self.width < needed and not exactly)
        if not sites and fits and not reshaped:
            return
        by_doubt: dict[Doubt, list[str]] = {}
        for site in sites:
            reads_two = any(site.tensors.keys() == {*names} for names in readers_of_two(self.file.framework))
            module = Doubt.TWO_SEQUENCES if reads_two else Doubt.LENGTHS if LENGTHS in site.tensors else Doubt.MODULES
            module = Doubt.CUDNN if Doubt.CUDNN in site.doubts else module
            module = (
                Doubt.LI_GRU if "u.weight" in site.tensors else Doubt.RNN_T if "x2g.weight" in site.tensors else module
            )
            doubt = Doubt.TABLE_NOT_FIRST if isinstance(site.layer, Embedding) else module
            by_doubt.setdefault(doubt, []).extend([site.path] if site.path else site.tensors)
        tensors = [tensor for site in sites for tensor in site.tensors.values()]
        if names := [tensor.name for tensor in may_be_buffers(tensors)]:
            by_doubt[Doubt.BUFFER] = names
        doubts = [Remark(doubt, tuple(dict.fromkeys(labels))) for doubt, labels in by_doubt.items()]
        outputs = None
        if needed is not None and self.width is not None and (reshaped or self.width != needed):
            outputs, self.grid = needed, ()
            changed = Remark(Doubt.WIDTH, (), (self.width, needed))
            doubts.append(changed if self.width != needed else Remark(Doubt.RESHAPED, (), (needed,)))
        if needed is not None and self.input is None:
            doubts.append(Remark(Doubt.INPUT))
        self._add(_external(sites).replace(outputs=outputs), *doubts)
        self.width = needed


def _external(sites: Sequence[Site]) -> External:
    """Return an external layer of unknown sites: their tensors by name, if they are few, or else their sum."""
    tensors = [tensor for site in sites for tensor in site.tensors.values()]
    names = [tensor.name for tensor in tensors]
    first = names[0] if names else ""
    ends = (place.end() for place in re.finditer("[./]", first))
    start = first[: max((end for end in ends if all(name.startswith(first[:end]) for name in names)), default=0)]
    by_name = {tensor.name.removeprefix(start): tensor for tensor in tensors}
    plain = not start or _path(start[:-1])
    frozen = bool(tensors) and all(tensor.frozen for tensor in tensors)
    named = all(_path(name) and tensor.shape and tensor.params > 0 for name, tensor in by_name.items())
    if not 0 < len(by_name) == len(tensors) <= MOST_NAMED or not (plain and named):
        paths = {site.path for site in sites}
        path = _path(paths.pop()) if len(paths) == 1 else None
        return External(sum(site.params for site in sites), path=path, frozen=frozen, dtype=dtype_of(tensors))
    trainable = {} if frozen else {name: False for name, tensor in by_name.items() if tensor.frozen}
    shapes = {name: tensor.shape for name, tensor in by_name.items()}
    return External(shapes, path=start[:-1] or None, frozen=frozen, trainable=trainable, dtype=dtype_of(tensors))


def dtype_of(tensors: Iterable[FileTensor]) -> str | None:
    """Return the type of all of some tensors as a spec has it; None for float32, and for several."""
    dtype, *others = {tensor.dtype.partition("_")[0] for tensor in tensors if tensor.is_parameter} or ("float32",)
    return dtype if dtype in DTYPES and dtype != "float32" and not others else None


def _path(path: str) -> str | None:
    return path if path.strip() and len(path) <= MAX_TEXT and path.isprintable() else None


def _network(
    file: ModelFile,
    layers: list[Layer],
    doubts: list[tuple[Remark, ...]],
    input: int | None,
    topology: TopologyName | None,
    steps: int | None,
) -> Draft | None:
    """Return the draft of these layers; a dense layer at the end is the output layer."""
    if dtype := dtype_of(file.tensors):  # also of layers without tensors
        layers = [layer.replace(dtype=dtype) for layer in layers]
    last = layers[-1] if layers else None
    output: Output | None = last if isinstance(last, Output) else None
    if type(last) is Dense and not last.extra_inputs and len(layers) > 1:
        output = Output(**{key: value for key, value in last.values().items() if key not in Output.without})
    below = layers[:-1] if output else layers
    places = prod(below[0].grid) if below else 1
    fields: dict[str, Any] = {"layers": below, "output": output, "steps": steps, "topology": topology}
    try:
        network = Network(input=(input or 1) // places, convention=file.framework, name=_name(file.path), **fields)
    except SpecError:
        return None
    return Draft(network, tuple(doubts), input is None)


def _name(path: str) -> str:
    stem = basename(path).partition(".")[0]
    name = "".join(char for char in stem if char.isprintable())[:MAX_TEXT]
    return name if name.strip() else "model"
