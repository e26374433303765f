"""Finds the changes of a spec that make it fit a model file.

They are one edit of the whole spec: for each of its layers those that the file has instead, none, one or several, and
behind each those to add. What every layer then reads follows from the layer before it, so the changes of one layer are
told at that layer alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from rnncalc.errors import Path, SpecError
from rnncalc.layers.decoder_attention import DecoderAttention
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output
from rnncalc.layers.normalisation import BatchNorm
from rnncalc.network.network import Network
from rnncalc.network.parts import Part, attending
from rnncalc.network.stack import Placed
from rnncalc.network.validation import named
from rnncalc.questions.models import pairing
from rnncalc.questions.models.blocks import biased
from rnncalc.questions.models.pairing import Pairs, SpecLayer
from rnncalc.questions.models.sites import Doubt, Shape, Site, as_table, expected, in_place, inputs_of, recorded


class LayerChange(NamedTuple):
    """A change of an option of a layer, which is removed if theirs is None.

    The option of the number after the kind is the kind, or `output`; `input` is that of the layer's part.
    """

    option: str
    ours: Any
    theirs: Any


class SpecChange(NamedTuple):
    """A change of a spec.

    names: the layer that it changes, under the names of its copies; or the layer behind which it adds others, nothing
    for the start of the part. layer: the layer. instead: the layers to write instead of it, None if it stays.
    tensors: those of the added layers in the file, by their names.
    counts: of a layer that is removed, how many of its sort the spec and the file have; cells are one sort.
    either: whether a batch norm of them may as well have its scale as its center: the file has one unnamed vector.
    """

    names: tuple[str, ...]
    part: str | None
    changes: tuple[LayerChange, ...] = ()
    layer: Layer | None = None
    instead: tuple[Layer, ...] | None = None
    added: tuple[Layer, ...] = ()
    tensors: frozenset[str] = frozenset()
    counts: tuple[int, int] = (0, 0)
    either: bool = False


class _Item(NamedTuple):
    """A layer of the edited spec; its site, None if it has none, and what that reads at each place of a step."""

    layer: Layer
    site: Site | None = None
    inputs: int = 0


class _Slot:
    """A layer of a spec, or the start of a part; what the edited spec has there, and what it has behind that."""

    def __init__(self, part: str | None, placed: Placed | None = None) -> None:
        self.part = part
        self.layer = placed and placed.layer
        self.ratio = (placed.outputs, placed.inputs) if placed else (1, 1)
        self.names: list[str] = []
        self.items: list[_Item] = []
        self.added: list[_Item] = []
        self.changes: list[LayerChange] = []


class SpecEdit:
    """The edit of a network's spec for a file.

    pairs: the sites of layers. left: the other sites, without those of external layers. chain: all sites, in the order
    in which they are applied; ordered: whether that is the file's. sums: the parameters that the file has for each
    external layer. start: the prefix of the network's paths that the file lacks.
    """

    def __init__(
        self,
        network: Network,
        wanted: Sequence[SpecLayer],
        pairs: Pairs,
        left: Sequence[Site],
        chain: Sequence[Site],
        sums: Mapping[str, int],
        start: str,
        *,
        ordered: bool,
    ) -> None:
        self.network = network
        self.wanted = wanted
        self.chain = chain
        self.ordered = ordered
        self.left = left
        self.start = start
        self.unknown: list[Site] = []
        self.with_path = pairing.with_path(chain, {id(site) for site in (*pairs.values(), *left)}, ordered=ordered)
        self.slots: dict[Path, _Slot] = {}
        self.parts = {part: [_Slot(part)] for part in network.parts}
        self._fill(pairs, sums)
        self._add(left)
        for part, slots in self.parts.items():
            _end(slots)
            edited = attending({name: self._edited(self.parts[name], network.parts[name]) for name in network.parts})
            self._fit(slots, network.parts[part], edited[part].contexts)
            _end(slots)

    def cures(self) -> Iterator[SpecChange]:
        """Yield the changes, in the order of the spec; none if no edit was found that fits the whole file.

        A decoder's attention is not removed if the file has other tensors: they may be its own under other names.
        """
        lost = any(isinstance(slot.layer, DecoderAttention) and not slot.items for slot in self.slots.values())
        if lost and self.left:
            return
        parts = {part: self._edited(slots, self.network.parts[part]) for part, slots in self.parts.items()}
        try:
            edited = self.network.with_parts(parts)
            wanted = [pairing.without(self.start, each) for each in pairing.wanted_of(edited)]
            pairs = pairing.paired(wanted, self.chain, ordered=self.ordered)
        except SpecError:
            return
        whole = edited.params == sum(site.params for site in self.chain)
        fits = (
            place in pairs and each.shapes == _owned(pairs[place]) for place, each in enumerate(wanted) if each.shapes
        )
        if whole and all(fits):
            for slots in self.parts.values():
                for slot in slots:
                    yield from self._changed(slot)

    def _edited(self, slots: list[_Slot], part: Part) -> Part:
        """Return a part as it is after the edit."""
        layers = [item.layer for slot in slots for item in (*slot.items, *slot.added)]
        output = next((layer for layer in layers if isinstance(layer, Output)), None)
        attention = next((layer for layer in layers if isinstance(layer, DecoderAttention)), None)
        layers = [layer for layer in layers if layer is not output and layer is not attention]
        for slot in slots:
            for change in slot.changes:
                part = part._replace(input=change.theirs)
        return part._replace(layers=tuple(layers), output=output, attention=attention)

    def _changed(self, slot: _Slot) -> Iterator[SpecChange]:
        either = _either(slot.items)
        change = SpecChange(tuple(slot.names), slot.part, tuple(slot.changes), layer=slot.layer, either=either)
        before, after, added = slot.layer, [item.layer for item in slot.items], [item.layer for item in slot.added]
        if before is None:
            pass
        elif not after:
            sort = pairing.kind_of(before)
            ours = sum(each.kind is sort for each in self.wanted)
            theirs = sum(site.layer is not None and pairing.kind_of(site.layer) is sort for site in self.chain)
            change = change._replace(instead=(), counts=(ours, theirs))
        elif len({*after}) > 1:
            change = change._replace(instead=(*after, *added))
            added = []
        else:
            layer = after[0] if len(after) == after[0].repeat else after[0].replace(repeat=len(after))
            if layer.kind != before.kind:
                change = change._replace(instead=(layer,))
            else:
                change = change._replace(changes=(*slot.changes, *_options(before, layer)))
        if change.changes or change.instead is not None:
            yield change
        if added:
            sites = [item.site for item in slot.added if item.site] or self.unknown
            tensors = frozenset(tensor.name for site in sites for tensor in site.tensors.values())
            either = _either(slot.added)
            yield SpecChange(tuple(slot.names), slot.part, added=tuple(added), tensors=tensors, either=either)

    def _fill(self, pairs: Pairs, sums: Mapping[str, int]) -> None:
        """Fill the slots with the layers that the file has for those of the spec."""
        paths = {name: path for path, name, _ in named(self.network.parts)}
        places = {each.name: place for place, each in enumerate(self.wanted)}
        vectors: dict[Path, int | None] = {}  # that a state before the first step is computed from
        for placed in self.network.stack:
            if placed.starts:
                start = pairs.get(places[placed.name])
                vectors[paths[placed.name]] = start.inputs if start and start.layer else None
                continue
            if paths[placed.name] not in self.slots:
                slot = self.slots[paths[placed.name]] = _Slot(placed.part, placed)
                self.parts[placed.part].append(slot)
            slot.names.append(placed.name)
            layer = placed.layer if placed.layer.repeat == 1 else placed.layer.replace(repeat=1)
            place = places.get(placed.name)
            if isinstance(layer, External) and not layer.tensors:
                slot.items.append(_Item(layer.replace(params=sums[placed.name])))
            elif place is None or not (place in pairs or self.wanted[place].shapes):
                slot.items.append(_Item(layer))
            elif site := pairs.get(place):
                if item := self._target(self.wanted[place], site):
                    vector = vectors.get(paths[placed.name])
                    if paths[placed.name] in vectors and "initial_state" in item.layer.fields:
                        item = item._replace(layer=item.layer.replace(initial_state=vector))
                    slot.items.append(item)
                else:
                    self.unknown.append(site)

    def _target(self, wanted: SpecLayer, site: Site) -> _Item | None:
        """Return a layer of the spec with the fewest changes that give it the tensors of a site; None if none do."""
        seen = in_place(site, wanted.layer)
        ours, theirs = wanted.layer.replace(repeat=1), seen.layer
        shapes = _owned(site)
        attends = isinstance(ours, DecoderAttention)  # what other layers output gives its widths, but for its units
        if isinstance(ours, DecoderAttention):
            sizes: dict[str, int] = {**wanted.placed.sizes}
            for tensor, name in zip(wanted.placed.layout.tensors, wanted.shapes, strict=True):
                sizes |= dict(zip((axis.letter for axis in tensor.axes), shapes.get(name, ()), strict=False))
            if "u" in sizes and sizes["u"] != (ours.units or sizes["q"]):
                ours = ours.replace(units=sizes["u"])
            for each in biased(ours) if shapes.keys() != wanted.shapes.keys() else ():
                if expected(each, wanted.placed.inputs, self.network.convention) == shapes:
                    ours = each
        if not attends and (
            theirs is None or not (isinstance(theirs, Dense) if isinstance(ours, Output) else shapes == site.shapes)
        ):
            return None
        target = ours
        if wanted.shapes != shapes and theirs and not attends:
            if isinstance(ours, Output):
                theirs = _as_output(theirs, ours).replace(tied=shapes != site.shapes)
            plain = {} if ours.kind == theirs.kind else ours.defaults
            options = [option for option in ours.options() if option in theirs.options()]
            options += [ours.number] if ours.number and ours.kind == theirs.kind else []
            options = [option for option in options if option not in plain or getattr(ours, option) != plain[option]]
            target = theirs.replace(**{option: getattr(ours, option) for option in options if option in _BESIDE})
            for option in options:
                kept = target.replace(**{option: getattr(ours, option)})
                if kept != target and self._has(kept, seen, shapes):
                    target = kept
        differing = recorded(target, seen)
        target = target.replace(**{option: differing[option][1] for option in differing if option in target.fields})
        path = ours.path if ours.path is not None and pairing.at_path(site, ours.path) else site.path
        if ours.path is not None or site.path in self.with_path:
            target = target.replace(path=f"{self.start}{path}")
        return _Item(target) if site.bare else _Item(target, site, inputs_of(target, seen))

    def _has(self, layer: Layer, site: Site, shapes: Mapping[str, Shape]) -> bool:
        """Return whether a layer is valid, and has tensors of these shapes if it reads what the site does."""
        inputs = inputs_of(layer, site) * prod(layer.grid)
        if any(layer.option_problems()) or any(layer.input_problems((inputs,))):
            return False
        return expected(layer, inputs, self.network.convention) == shapes

    def _add(self, left: Sequence[Site]) -> None:
        """Put each site that is left behind the site before it, as an external layer those of no known layer."""
        slots = [*self.slots.values()]
        there = {id(item.site): slot for slot in slots for item in slot.items if item.site}
        more = {id(site) for site in left}
        slot, *others = next(iter(self.parts.values()))
        before: Site | None = None
        if others and others[0].items and isinstance(others[0].items[0].layer, Embedding):
            slot, before = others[0], others[0].items[0].site
        for place, site in enumerate(self.chain):
            if id(site) in there:
                slot, before = there[id(site)], site
            elif id(site) in more and site.params:
                front = before is None
                after = self.chain[place + 1] if place + 1 < len(self.chain) else None
                seen = as_table(site, after) if front else site
                if seen.layer is None or (isinstance(seen.layer, Embedding) and not front):
                    self.unknown.append(site)
                    continue
                path = site.path if site.path in self.with_path else None
                item = _Item(seen.layer.replace(path=path), site, inputs_of(seen.layer, seen))
                at = [index for index, one in enumerate(slot.items) if one.site is before]
                if at and at[0] + 1 < len(slot.items):
                    slot.items.insert(at[0] + 1, item)
                else:
                    slot.added.append(item)
                before = site
        elsewhere = [site for site in self.unknown if not self._in_external(site)]
        if count := sum(site.params for site in elsewhere):
            for other in reversed(slots):
                if isinstance(other.layer, External) and other.layer.path is None and not other.layer.tensors:
                    other.items.append(_larger(other.items.pop(), count))
                    return
            slot.added.append(_Item(External(count)))

    def _in_external(self, site: Site) -> bool:
        """Add a site to the external layer of the spec whose path it is below; return whether there is one."""
        for slot in self.slots.values():
            path = slot.layer.path if isinstance(slot.layer, External) and not slot.layer.tensors else None
            if path and pairing.below(site, path.removeprefix(self.start)):
                slot.items[0] = _larger(slot.items[0], site.params)
                return True
        return False

    def _fit(self, slots: list[_Slot], part: Part, contexts: Mapping[int, int]) -> None:
        """Give each layer the extra inputs, or the layer before it, without which it would not read what it has to.

        The input of the part follows from its first layer. A tied output that fits no more is left out.
        contexts: the widths that attention joins, by the place of the layer that reads them.
        """
        first, width = True, part.width  # first: whether the input itself is what is read, beside extra inputs
        grid: tuple[int, ...] = ()
        place = 0
        for slot in slots:
            for items in (slot.items, slot.added):
                fitted: list[_Item] = []
                for item in items:
                    layer = item.layer
                    if isinstance(layer, DecoderAttention):
                        fitted.append(item)
                        continue
                    width, place = width + contexts.get(place, 0), place + 1
                    if item.site is None:
                        if isinstance(layer, Output) and not _tied_to(slots, width, layer):
                            continue
                        width += layer.extra_inputs
                        if isinstance(layer, External) and layer.outputs is not None:
                            first, width, grid = False, layer.outputs, ()
                        elif items is slot.items:
                            outputs, reads = slot.ratio
                            first = first and outputs == reads
                            width, grid = width * outputs // reads, layer.output_grid(grid) or ()
                        fitted.append(item)
                        continue
                    needed = item.inputs * prod(layer.grid or (grid if layer.by_place else ()))
                    extra = needed - width
                    if first and (change := (extra - layer.extra_inputs) // prod(layer.grid)) > -part.input:
                        extra = layer.extra_inputs
                        if change:
                            slot.changes.append(LayerChange("input", part.input, part.input + change))
                    elif extra < 0 or (extra and any(layer.replace(extra_inputs=extra).option_problems())):
                        fitted.append(_Item(External(0, outputs=needed)))
                        extra, grid = 0, ()
                    layer = layer if extra == layer.extra_inputs else layer.replace(extra_inputs=extra)
                    fitted.append(item._replace(layer=layer))
                    places = grid if layer.by_place else ()
                    first, width, grid = False, layer.output_width(needed), layer.output_grid(places) or ()
                items[:] = fitted


def _either(items: Sequence[_Item]) -> bool:
    """Return whether a batch norm has its term as its one trained vector, and the file may mean the scale."""
    sites = [item.site for item in items if isinstance(item.layer, BatchNorm) and item.site]
    return any(Doubt.GAMMA_OR_BETA in site.doubts for site in sites)


def _larger(external: _Item, count: int) -> _Item:
    return _Item(external.layer.replace(params=external.layer.values()["params"] + count))


def _owned(site: Site) -> dict[str, Shape]:
    """Return the shapes of a site's tensors that are not another's."""
    return {name: tensor.shape for name, tensor in site.tensors.items() if not tensor.shared_with}


def _tied_to(slots: list[_Slot], width: int, output: Output) -> bool:
    """Return whether an output that reads this width can have the matrix of the part's embedding."""
    first = next(item for slot in slots for item in (*slot.items, *slot.added))
    return isinstance(first.layer, Embedding) and (first.layer.units, first.inputs) == (width, output.units)


_BESIDE = ("name", "frozen", "extra_inputs", "path")
"""Options that say nothing of a layer's tensors."""


def _options(before: Layer, after: Layer) -> Iterator[LayerChange]:
    head = "output" if isinstance(after, Output) else after.kind
    for option in (after.number, *after.options()):
        if option and getattr(before, option) != getattr(after, option):
            yield LayerChange(
                head if option == after.number else option, getattr(before, option), getattr(after, option)
            )


def _end(slots: list[_Slot]) -> None:
    """Make the last layer of a part its output layer if it has one, and those before it layers."""
    output = slots[-1]
    if not isinstance(output.layer, Output):
        return
    tied = any(isinstance(item.layer, Output) and item.layer.tied for item in output.items)
    layers = [*output.added, *output.items] if tied else [*output.items, *output.added]
    before = next(slot for slot in reversed(slots[:-1]) if slot.items or slot.layer is None)
    bare = before.layer is None and not before.added and len(layers) == 1
    last = [layers.pop()] if layers and isinstance(layers[-1].layer, Dense) and not bare else []
    for item in layers:
        values = {key: value for key, value in item.layer.values().items() if key in Dense.fields}
        before.added.append(item._replace(layer=Dense(**values)) if isinstance(item.layer, Output) else item)
    output.items = [item._replace(layer=_as_output(item.layer, output.layer)) for item in last]
    output.added = []


def _as_output(layer: Layer, ours: Output) -> Output:
    """Return a dense layer as an output layer with the options of the spec's that are not in its tensors."""
    if isinstance(layer, Output):
        return layer
    values = layer.values()
    beside = {"activation": ours.activation, "frozen": ours.frozen, "path": ours.path and values["path"]}
    return Output(values["units"], **{"bias": values["bias"], **beside})
