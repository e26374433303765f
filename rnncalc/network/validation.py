"""What can be wrong with a network as a whole: values out of range, options that cannot apply, layers that do not fit.

Every check yields problems; none raises. A problem's path is the one it would have in a spec file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from rnncalc.conventions.convention import CONVENTIONS, lacks
from rnncalc.errors import Problem
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, Layer
from rnncalc.layers.options import Allowed, Choice, Size, Text
from rnncalc.network.parts import TOPOLOGIES, Part, name_of
from rnncalc.text import did_you_mean, escape

if TYPE_CHECKING:
    from rnncalc.network.network import Network

MAX_LAYERS = 100_000

KEYS: dict[str, Allowed] = {
    "name": Text(),
    "source": Text(most=10_000),
    "convention": Choice(tuple(CONVENTIONS)),
    "topology": Choice(TOPOLOGIES),
    "steps": Size(),
    "input": Size(),
}
"""What the plain keys of a network, or of a part, may be."""

Path = tuple[str | int, ...]

_MOST_GUESSED = 100
"""So many misspelt names are looked for among so many others: to look for thousands among thousands takes long."""


def faults(network: Network) -> Iterator[Problem]:
    """Yield everything that is wrong with a network."""
    parts = _parts(network)
    if wrong := [*_values(network, parts)]:
        yield from wrong
        return  # with such values no width can be worked out
    if network.encoder or network.decoder:
        yield from _encoder_decoder(network)
    else:
        yield from _whole(network)
    if sum(layer.repeat for part in parts.values() for layer in part.layers) > MAX_LAYERS:
        yield Problem(("layers",), f"expected at most {MAX_LAYERS:,} layers, repeats counted; stack fewer")
        return
    for path, part in parts.items():
        yield from _layers(path, part, network.convention)
        if part.output and part.output.tied:
            yield from _tied(path, part)
    yield from _names(parts)
    yield from _expect(network, parts)
    yield from _budget(network, parts)


def _parts(network: Network) -> dict[Path, Part]:
    if network.encoder or network.decoder:
        halves = {"encoder": network.encoder, "decoder": network.decoder}
        return {(name,): part for name, part in halves.items() if part}
    return {(): Part(network.input or 0, network.layers, network.output, network.steps)}


def _values(network: Network, parts: dict[Path, Part]) -> Iterator[Problem]:
    for path, of in [((), network), *parts.items()]:
        for key, allowed in KEYS.items():
            value = getattr(of, key, None)
            if value is not None and (fault := allowed.fault(value)) and not (path == () and of is not network):
                yield Problem((*path, key), fault)
    for path, part in parts.items():
        for at, layer in _distinct(path, part):
            for option, fault in layer.value_faults():
                yield Problem((*at, option), fault)


def _distinct(path: Path, part: Part) -> Iterator[tuple[Path, Layer]]:
    """Yield the layers with their paths, each object once: a stack of thousands is mostly the same few."""
    seen = set()
    for place, layer in enumerate(part.layers):
        if id(layer) not in seen:
            seen.add(id(layer))
            yield (*path, "layers", place), layer
    if part.output:
        yield (*path, "output"), part.output


def _whole(network: Network) -> Iterator[Problem]:
    if network.input is None:
        yield Problem(("input",), "missing; give the number of features per step, or the vocabulary of an embedding")
    if not network.layers:
        yield Problem(("layers",), "missing; give at least one layer")
    if network.topology == "one-to-one" and network.steps not in (None, 1):
        yield Problem(
            ("steps",), f"one-to-one has 1 step, got {network.steps}; remove steps, or choose another topology"
        )


def _encoder_decoder(network: Network) -> Iterator[Problem]:
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
    if network.encoder and network.decoder:
        yield from _states(network.encoder, network.decoder)


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
        for option, fault in (*layer.option_faults(), *lacks(layer, convention)):
            yield Problem((*at, option), fault)


def _tied(path: Path, part: Part) -> Iterator[Problem]:
    at = (*path, "output", "tied")
    first = part.layers[0] if part.layers else None
    if part.output is None or not isinstance(first, Embedding):
        message = "needs an embedding as the first layer, whose matrix it shares; add one, or remove tied"
        yield Problem(at, message, follows=True)
        return
    *_, last = part.joins()
    if part.output.units != part.input:
        message = f"the output must be as wide as the embedding's vocabulary, {part.input:,}, got {part.output.units:,}"
        yield Problem(at, message, follows=True)
    if last.outputs != first.units:
        message = f"the last layer must hand on the embedding's width, {first.units:,}, got {last.outputs:,}"
        yield Problem(at, f"{message}; add a projection or a dense layer", follows=True)


def _names(parts: dict[Path, Part]) -> Iterator[Problem]:
    """Yield the names that two layers share. Default names never clash among themselves."""
    if not any(layer.name for part in parts.values() for layer in part.layers):
        return
    numbers: Counter[str] = Counter()
    taken = {"output"} if any(part.output for part in parts.values()) else set()
    for path, part in parts.items():
        for join in part.joins():
            at = (*path, "layers", join.place)
            name = name_of(join.layer, join.copy, numbers)
            if name in taken:
                yield Problem((*at, "name"), f"another layer is called '{escape(name)}'; choose another name")
            taken.add(name)


def _expect(network: Network, parts: dict[Path, Part]) -> Iterator[Problem]:
    if network.expect and network.expect.layers is not None:
        got = len(network.expect.layers)
        want = sum(sum(layer.repeat for layer in part.layers) + bool(part.output) for part in parts.values())
        if got != want:
            message = f"expected {want} counts, one for each layer and the output layer last, got {got}"
            yield Problem(("expect", "layers"), message, follows=True)


def _budget(network: Network, parts: dict[Path, Part]) -> Iterator[Problem]:
    """Yield the layers of a budget that are not there."""
    wanted = network.budget.layers if network.budget else ()
    if not wanted:
        return
    numbers: Counter[str] = Counter()
    names = {name_of(join.layer, join.copy, numbers): True for part in parts.values() for join in part.joins()}
    if any(part.output for part in parts.values()):
        names["output"] = True
    some = [*islice(names, _MOST_GUESSED)]
    for number, name in enumerate(name for name, _ in wanted if name not in names):
        near = did_you_mean(name, some) if number < _MOST_GUESSED else ""
        yield Problem(("budget", "layers", escape(name)), f"no layer has this name{near}", follows=True)
