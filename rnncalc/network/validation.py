"""What can be wrong with a network as a whole: values out of range, options that cannot apply, layers that do not fit.

Every check yields problems; none raises. A problem's path is the one it would have in a spec file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from rnncalc.conventions.catalogue import CONVENTIONS
from rnncalc.conventions.lacks import lacks
from rnncalc.errors import Path, Problem
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, Layer, Output
from rnncalc.layers.options import Allowed, Choice, Size, Text
from rnncalc.network.parts import TOPOLOGIES, Part, Parts, Topology, part_of
from rnncalc.network.stack import OUTPUT, joins, stem_and_number
from rnncalc.text import did_you_mean, escape

if TYPE_CHECKING:
    from rnncalc.network.described import Described

MAX_LAYERS = 100_000

_MOST_GUESSED = 100
"""So many misspelt names are looked for among so many others: to look for thousands among thousands takes long."""

KEYS: dict[str, Allowed] = {
    "name": Text(),
    "source": Text(most=10_000),
    "convention": Choice(CONVENTIONS.keys()),
    "topology": Choice(TOPOLOGIES),
    "steps": Size(),
    "input": Size(),
}
"""What the plain keys of a network, or of a part, may be."""


def parts_of(network: Described) -> dict[str | None, Part]:
    """Return the parts that are there, of a network that may yet be wrong."""
    halves = {"encoder": network.encoder, "decoder": network.decoder}
    if network.encoder or network.decoder:
        return {name: part for name, part in halves.items() if part}
    steps = 1 if network.topology == Topology.ONE_TO_ONE else network.steps
    return {None: part_of(network.input or 0, network.layers, network.output, steps)}


def type_problems(network: Described) -> Iterator[Problem]:
    """Yield what is not of the type that a network is made of."""
    halves = {"encoder": network.encoder, "decoder": network.decoder}
    for name, half in halves.items():
        if half is not None and not isinstance(half, Part):
            yield Problem((name,), f"expected a Part, got {half!r}")
    of: dict[Path, Described | Part] = {(): network}
    of |= {(name,): half for name, half in halves.items() if isinstance(half, Part)}
    for path, part in of.items():
        if not isinstance(part.layers, Sequence) or isinstance(part.layers, str):
            yield Problem((*path, "layers"), f"expected a list of layers, got {part.layers!r}")
            continue
        for place, layer in enumerate(part.layers):
            if not isinstance(layer, Layer):
                yield Problem((*path, "layers", place), f"expected a layer, such as LSTM(20), got {layer!r}")
        if not isinstance(part.output, Output | int | None) or isinstance(part.output, bool):
            yield Problem((*path, "output"), f"expected an Output, or its units, got {part.output!r}")


def problems(network: Described) -> Iterator[Problem]:
    """Yield everything that is wrong with a network whose pieces are of the right types."""
    parts = parts_of(network)
    if wrong := [*_values(network, parts)]:
        yield from wrong
        return  # with such values no width can be worked out
    too_many = sum(layer.repeat for part in parts.values() for layer in part.layers) > MAX_LAYERS
    if network.encoder or network.decoder:
        yield from _encoder_decoder(network)
        if network.encoder and network.decoder and not too_many:
            yield from _states(network.encoder, network.decoder)
    else:
        yield from _whole(network)
    if too_many:
        yield Problem(("layers",), f"expected at most {MAX_LAYERS:,} layers, repeats counted; stack fewer")
        return
    for name, part in parts.items():
        path = (name,) if name else ()
        yield from _layers(path, part, network.convention)
        if part.output and part.output.tied:
            yield from _tied(path, part)
    yield from _names(parts)
    yield from _expect(network, parts)
    yield from _budget(network, parts)


def _values(network: Described, parts: Parts) -> Iterator[Problem]:
    for key, allowed in KEYS.items():
        value = getattr(network, key, None)
        if value is not None and (problem := allowed.problem(value)):
            yield Problem((key,), problem)
    for name, part in parts.items():
        path: Path = (name,) if name else ()
        for key in ("steps", "input") if name else ():
            value = getattr(part, key)
            if value is not None and (problem := KEYS[key].problem(value)):
                yield Problem((*path, key), problem)
        for at, layer in _distinct(path, part):
            for option, problem in layer.value_problems():
                yield Problem((*at, option), problem)


def _distinct(path: Path, part: Part) -> Iterator[tuple[Path, Layer]]:
    """Yield the layers with their paths, equal neighbours once: a stack of thousands is mostly the same few."""
    before: Layer | None = None
    for place, layer in enumerate(part.layers):
        if layer is not before:
            yield (*path, "layers", place), layer
        before = layer
    if part.output:
        yield (*path, OUTPUT), part.output


def _whole(network: Described) -> Iterator[Problem]:
    if network.input is None:
        yield Problem(("input",), "missing; give the number of features per step, or the vocabulary of an embedding")
    if not network.layers:
        yield Problem(("layers",), "missing; give at least one layer")
    if network.topology == "one-to-one" and network.steps not in (None, 1):
        yield Problem(
            ("steps",), f"one-to-one has 1 step, got {network.steps}; remove steps, or choose another topology"
        )


def _encoder_decoder(network: Described) -> Iterator[Problem]:
    for key in ("input", "layers", "output", "steps"):
        if getattr(network, key):
            yield Problem((key,), "does not apply beside encoder and decoder; move it into one of them")
    if network.topology is not None:
        yield Problem(("topology",), "does not apply to an encoder-decoder, which is a topology of its own; remove it")
    if network.encoder and network.encoder.output:
        yield Problem(("encoder", "output"), "only the decoder has an output; move it there")
    for name, part in (("encoder", network.encoder), ("decoder", network.decoder)):
        if part is None:
            yield Problem((name,), "missing; an encoder-decoder has both halves")
        elif not any(isinstance(layer, Cell) for layer in part.layers):
            yield Problem(
                (name, "layers"), f"the {name} needs a recurrent layer: its state joins the halves", follows=True
            )


def _states(encoder: Part, decoder: Part) -> Iterator[Problem]:
    """Yield where the decoder's recurrent layers cannot start from the encoder's final states."""
    giving, taking = (
        [
            (place, layer)
            for place, layer in enumerate(part.layers)
            if isinstance(layer, Cell)
            for _ in range(layer.repeat)
        ]
        for part in (encoder, decoder)
    )
    if giving and taking and len(giving) != len(taking):
        message = f"expected {len(giving)} recurrent layers, as in the encoder, got {len(taking)}"
        yield Problem(("decoder", "layers"), message, follows=True)
    for (_, gives), (place, takes) in zip(giving, taking, strict=False):
        at = ("decoder", "layers", place)
        if gives.kind != takes.kind:
            message = f"expected the encoder's kind, {gives.kind}, got {takes.kind}: its final state starts this layer"
            yield Problem((*at, takes.kind), message, follows=True)
        elif gives.state_widths() != takes.state_widths():
            want, got = (" and ".join(map(str, layer.state_widths())) for layer in (gives, takes))
            message = f"expected a state of {want}, as the encoder's final one (both directions joined), got {got}"
            yield Problem((*at, takes.kind), message, follows=True)
        if takes.learned_state:
            message = "does not apply in a decoder: it starts from the encoder's final state; remove it"
            yield Problem((*at, "learned_state"), message)


def _layers(path: Path, part: Part, convention: str) -> Iterator[Problem]:
    for place, layer in enumerate(part.layers):
        if place and isinstance(layer, Embedding):
            message = "an embedding must be the first layer: it looks up token numbers; move it there"
            yield Problem((*path, "layers", place, "embedding"), message)
    for at, layer in _distinct(path, part):
        for option, problem in (*layer.option_problems(), *lacks(layer, convention)):
            yield Problem((*at, option), problem)


def _tied(path: Path, part: Part) -> Iterator[Problem]:
    at = (*path, "output", "tied")
    first = part.layers[0] if part.layers else None
    if part.output is None or not isinstance(first, Embedding):
        yield Problem(
            at, "needs an embedding as the first layer, whose matrix it shares; add one, or remove tied", follows=True
        )
        return
    *_, last = joins(part)
    if part.output.units != part.input:
        message = f"the output must be as wide as the embedding's vocabulary, {part.input:,}, got {part.output.units:,}"
        yield Problem(at, message, follows=True)
    if last.outputs != first.units:
        message = f"the last layer must hand on the embedding's width, {first.units:,}, got {last.outputs:,}"
        yield Problem(at, f"{message}; add a projection or a dense layer", follows=True)


def _names(parts: Parts) -> Iterator[Problem]:
    """Yield the names that two layers share. Default names never clash among themselves."""
    if not any(layer.name for part in parts.values() for layer in part.layers):
        return
    taken: set[str] = set()
    for path, name in _named(parts):
        if name in taken:
            message = f"another layer is called '{escape(name)}'; choose another name"
            yield Problem((*path, "name"), message)
        taken.add(name)


def _named(parts: Parts) -> Iterator[tuple[Path, str]]:
    """Yield the path and the name of every layer, the output layer's first."""
    if any(part.output for part in parts.values()):
        yield (OUTPUT,), OUTPUT
    counted: Counter[str] = Counter()
    for part_name, part in parts.items():
        for join in joins(part):
            path: Path = (part_name,) if part_name else ()
            for copy in range(join.copy, join.copy + join.copies):
                stem, number = stem_and_number(join.layer, copy, counted[join.layer.kind])
                counted[join.layer.kind] += 1
                yield (*path, "layers", join.place), stem if number is None else f"{stem}{number}"


def _expect(network: Described, parts: Parts) -> Iterator[Problem]:
    if network.expect and network.expect.layers is not None:
        got = len(network.expect.layers)
        want = sum(sum(layer.repeat for layer in part.layers) + bool(part.output) for part in parts.values())
        if got != want:
            message = f"expected {want} counts, one for each layer and the output layer last, got {got}"
            yield Problem(("expect", "layers"), message, follows=True)


def _budget(network: Described, parts: Parts) -> Iterator[Problem]:
    """Yield the layers of a budget that are not there."""
    wanted = network.budget.layers if network.budget else ()
    if not wanted:
        return
    names = {name: True for _, name in _named(parts)}
    some = [*islice(names, _MOST_GUESSED)]
    for number, name in enumerate(name for name, _ in wanted if name not in names):
        near = did_you_mean(name, some) if number < _MOST_GUESSED else ""
        yield Problem(("budget", "layers", escape(name)), f"no layer has this name{near}", follows=True)
