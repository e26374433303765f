"""`read`: which tensors are in a model file, and which spec is that. Gives numbers and names, no sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rnncalc.errors import SpecError
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output
from rnncalc.layers.options import MAX_SIZE, MAX_TEXT
from rnncalc.modelfiles.model import ModelFile
from rnncalc.network.network import Network
from rnncalc.network.parts import TopologyName
from rnncalc.questions.models.order import in_chain
from rnncalc.questions.models.site import Doubt, Site
from rnncalc.questions.models.tables import as_table, is_tied_bias, sites_with_tables, with_table

MOST_MODULES = 2_000
"""What has more is drafted as one part that is counted elsewhere."""


class Doubted(NamedTuple):
    """What the file does not tell of a layer, with the names of modules or tensors and the numbers that it is about."""

    doubt: Doubt
    names: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


class Drafted(NamedTuple):
    """A layer of a draft, and what is not known of it."""

    layer: Layer
    doubts: tuple[Doubted, ...] = ()


class Draft(NamedTuple):
    """The network that a file can be of; unknown_input: nothing in the file says what it reads."""

    network: Network
    layers: tuple[Drafted, ...]
    unknown_input: bool


class Read(NamedTuple):
    """What a file holds; draft: None where it holds no parameters, or more than a spec may have."""

    file: ModelFile
    draft: Draft | None


def read(file: ModelFile) -> Read:
    """Return what a model file holds, and a draft of its network: one that has as many parameters, tensor by tensor."""
    if not 0 < file.params <= MAX_SIZE:
        return Read(file, None)
    drafted = _Drafting(file).draft() if len(file.modules) <= MOST_MODULES else None
    if drafted is None or drafted.network.params != file.params:
        whole = Drafted(External(file.params), (Doubted(Doubt.MODULES),))
        drafted = _network(file, [whole], None)
    return Read(file, drafted)


class _Drafting:
    """Puts the sites of a file one behind the other, and something between where their widths do not fit."""

    def __init__(self, file: ModelFile) -> None:
        self.file = file
        self.sites = sites_with_tables(file)
        self.width: int | None = file.inputs
        self.input: int | None = file.inputs
        self.layers: list[Drafted] = []
        self.unknown: list[Site] = []
        self.table = ""

    def draft(self) -> Draft | None:
        sites = self.sites if self.file.ordered else in_chain(with_table(self.sites))
        for place, site in enumerate(sites):
            after = next((later for later in sites[place + 1 :] if later.layer and later.params), None)
            front = self.input is None and not self.unknown
            site = as_table(site, after) if front else site
            if site.layer is None or any(tensor.shared_with for tensor in site.tensors.values()):
                self._unknown(site, last=not any(later.params for later in sites[place + 1 :]))
            elif isinstance(site.layer, Embedding) and not front:
                self.unknown.append(site)  # a spec has a table in front alone
            else:
                self._known(site)
        self._flush(None)
        return _network(self.file, self.layers, self.input)

    def _known(self, site: Site) -> None:
        self._flush(site.inputs)
        assert site.layer is not None
        if self.input is None:
            self.input = site.inputs
        if isinstance(site.layer, Embedding):
            (self.table,) = (tensor.name for tensor in site.tensors.values())
        layer, doubts = _framed(site), [_doubted(doubt, site) for doubt in site.doubts]
        below = site.inputs if self.width is None else self.width
        if below < site.inputs:
            layer = layer.replace(extra_inputs=site.inputs - below)
            doubts.append(Doubted(Doubt.WIDTH, (), (below, site.inputs)))
        frozen = [tensor.frozen for tensor in site.tensors.values()]
        if any(frozen) and not all(frozen):
            doubts.append(Doubted(Doubt.PARTLY_FROZEN, _names(site, frozen=True)))
        self.width = layer.hands_on(site.inputs)
        if self._repeats(layer, site.inputs):
            last = self.layers[-1]
            both = tuple(dict.fromkeys((*last.doubts, *doubts)))
            self.layers[-1] = Drafted(last.layer.replace(repeat=last.layer.repeat + 1), both)
        else:
            self.layers.append(Drafted(layer, tuple(doubts)))

    def _repeats(self, layer: Layer, inputs: int) -> bool:
        """Return whether a layer is the one before once more, stacked in the same module, and fed by it alone."""
        before = self.layers[-1].layer if self.layers else None
        if before is None or before.path is None:
            return False
        return before.hands_on(inputs) == inputs and before.replace(repeat=1) == layer

    def _unknown(self, site: Site, *, last: bool) -> None:
        """Take a layer that is none that is known; one whose matrix is the table's may be the output.

        What has no parameters of its own is no layer otherwise: it is another's, used once more.
        """
        of_table = any(tensor.shared_with == self.table for tensor in site.tensors.values())
        free = last and bool(self.table) and not isinstance(self.layers[-1].layer, Output)
        if free and of_table and isinstance(site.layer, Dense) and site.layer.units == self.input:
            self._tied(site, site.inputs, bias=site.layer.bias)
            return
        if free and is_tied_bias(site, self.input):
            self._tied(site, self.layers[0].layer.hands_on(0), Doubted(Doubt.TIED))
            return
        if site.params:
            self.unknown.append(site)

    def _tied(self, site: Site, width: int, *doubts: Doubted, bias: bool = True) -> None:
        """Take a site for the output whose matrix is the table's, which reads so many numbers."""
        assert self.input is not None
        self._flush(width)
        output = Output(self.input, bias=bias, tied=True, path=_path(site.path))
        self.layers.append(Drafted(output, (*doubts, Doubted(Doubt.ACTIVATION))))

    def _flush(self, needed: int | None) -> None:
        """Put what is not known of into one layer that hands on the width that is needed."""
        sites, self.unknown = self.unknown, []
        params = sum(site.params for site in sites)
        fits = needed is None or self.width is None or self.width <= needed
        if not sites and fits:
            return
        doubts = []
        if sites:
            doubts.append(Doubted(Doubt.MODULES, tuple(dict.fromkeys(_label(site) for site in sites))))
        outputs = None
        if needed is not None and self.width is not None and self.width != needed:
            outputs = needed
            doubts.append(Doubted(Doubt.WIDTH, (), (self.width, needed)))
        if needed is not None and self.input is None:
            doubts.append(Doubted(Doubt.INPUT))
        paths = {site.path for site in sites}
        path = _path(paths.pop()) if len(paths) == 1 else None
        self.layers.append(Drafted(External(params, outputs=outputs, path=path), tuple(doubts)))
        self.width = needed


def _doubted(doubt: Doubt, site: Site) -> Doubted:
    """Return a doubt of a site with what it is about: of a matrix that may be a table, how many words that has."""
    return Doubted(doubt, (), site.tensors["weight"].shape[:1]) if doubt is Doubt.TABLE else Doubted(doubt)


def _framed(site: Site) -> Layer:
    """Return the layer of a site with its path, and frozen where all of it is."""
    assert site.layer is not None
    frozen = all(tensor.frozen for tensor in site.tensors.values())
    return site.layer.replace(path=_path(site.path), frozen=frozen)


def _path(path: str) -> str | None:
    return path if path.strip() and len(path) <= MAX_TEXT and path.isprintable() else None


def _label(site: Site) -> str:
    return site.path or next(iter(site.tensors))


def _names(site: Site, *, frozen: bool) -> tuple[str, ...]:
    return tuple(name for name, tensor in site.tensors.items() if tensor.frozen is frozen)


def _network(file: ModelFile, layers: list[Drafted], input: int | None) -> Draft | None:
    """Return the draft of these layers, a dense one at the end as the output."""
    last = layers[-1].layer if layers else None
    output: Output | None = last if isinstance(last, Output) else None
    if type(last) is Dense and not last.extra_inputs and len(layers) > 1:
        output = Output(**{key: value for key, value in last.values().items() if key not in Output.without})
    below = layers[:-1] if output else layers
    topology = _topology(file)
    given: dict[str, Any] = {"layers": [drafted.layer for drafted in below], "output": output, "steps": file.steps}
    try:
        network = Network(
            input=input or 1, convention=file.framework, topology=topology, name=_name(file.path), **given
        )
    except SpecError:
        return None
    drafted = (*below, layers[-1]._replace(layer=output)) if output else (*below,)
    return Draft(network, drafted, input is None)


def _topology(file: ModelFile) -> TopologyName | None:
    """Return where the network hands on, None where the file does not tell: its last recurrent layer says so."""
    told = [settings for module in file.modules if "units" in (settings := module.settings) and _SEQUENCES in settings]
    return None if not told else "many-to-many" if told[-1][_SEQUENCES] else "many-to-one"


_SEQUENCES = "return_sequences"


def _name(path: str) -> str:
    import os

    stem = os.path.basename(path).partition(".")[0]
    name = "".join(char for char in stem if char.isprintable())[:MAX_TEXT]
    return name if name.strip() else "model"


def settings(layer: Layer) -> Iterator[tuple[str, Any]]:
    """Yield the options of a layer that are not what they are by default, without the number after its kind."""
    for option in layer.options():
        value = getattr(layer, option)
        if value != layer.defaults.get(option):
            yield option, value
