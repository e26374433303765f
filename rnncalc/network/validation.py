"""What can be wrong with a network as a whole: values out of range, options that cannot apply, layers that do not fit.

Every check yields problems; none raises. A problem's path is the one it would have in a spec file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rnncalc.bounds import MAX_LAYERS
from rnncalc.conventions.catalogue import CONVENTIONS
from rnncalc.conventions.lacks import lacks, too_wide
from rnncalc.errors import Path, Problem
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, Layer, Output
from rnncalc.layers.options import Allowed, Choice, Size, Switch, Text
from rnncalc.network.parts import OUTPUT, TOPOLOGIES, Part, Parts, Topology, joins, part_of

if TYPE_CHECKING:
    from rnncalc.network.described import Described


KEYS: dict[str, Allowed] = {
    "name": Text(),
    "source": Text(most=10_000),
    "convention": Choice(CONVENTIONS.keys()),
    "topology": Choice(TOPOLOGIES),
    "steps": Size(),
    "input": Size(),
    "feedback": Switch(),
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
        fine = all(issubclass(kind, Layer) for kind in {*map(type, part.layers)})
        for place, layer in () if fine else enumerate(part.layers):
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
    too_many = [*_too_many(parts)]
    if network.encoder or network.decoder:
        yield from _encoder_decoder(network)
        if network.encoder and network.decoder and not too_many:
            from rnncalc.network.halves import states_that_do_not_fit  # most networks have no halves, and pay for none

            yield from states_that_do_not_fit(network.encoder, network.decoder)
    else:
        yield from _whole(network)
    if too_many:
        yield from too_many
        return
    for name, part in parts.items():
        path = (name,) if name else ()
        yield from _layers(path, part, network.convention)
        if part.output and part.output.tied:
            yield from _tied(path, part)
    if any(layer.name for part in parts.values() for layer in part.layers):
        from rnncalc.network.names import clashes  # default names never clash among themselves

        yield from clashes(parts)
    if network.feedback:
        from rnncalc.network.feedback import cannot_feed_back  # few networks have any

        yield from cannot_feed_back(network)
    yield from _asked(network, parts)


def too_many_layers(number: int) -> str:
    """Return what to say of so many layers in a half."""
    return f"expected at most {MAX_LAYERS:,} layers after repeat, got {number:,}; stack fewer"


def _too_many(parts: Parts) -> Iterator[Problem]:
    for name, part in parts.items():
        number = sum(layer.repeat for layer in part.layers)
        if number > MAX_LAYERS:
            path = (name, "layers") if name else ("layers",)
            yield Problem(path, too_many_layers(number), gaps=(number - MAX_LAYERS,))


def _asked(network: Described, parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong with what is asked of a network; what a network does not have, none pays for."""
    if network.expect is not None:
        from rnncalc.network import expected

        yield from expected.problems_of(network.expect, parts)
    if network.training is not None:
        from rnncalc.network import training

        yield from training.problems_of(network.training)
    if network.budget is not None:
        from rnncalc.network.budget import problems_of
        from rnncalc.network.names import named

        yield from problems_of(network.budget, (name for _, name, _ in named(parts)))


def _values(network: Described, parts: Parts) -> Iterator[Problem]:
    for key, allowed in KEYS.items():
        value = getattr(network, key)
        if value is not network.defaults[key] and (problem := allowed.problem(value)):
            yield Problem((key,), problem)
    for name, part in parts.items():
        path: Path = (name,) if name else ()
        for key in ("steps", "input") if name else ():
            value = getattr(part, key)
            if (value is not None or key == "input") and (problem := KEYS[key].problem(value)):
                yield Problem((*path, key), problem)
        for at, layer in _placed(path, part):
            for option, problem in layer.value_problems():
                yield Problem((*at, option), problem)


def _placed(path: Path, part: Part) -> Iterator[tuple[Path, Layer]]:
    """Yield the layers with their paths, the output layer last."""
    for place, layer in enumerate(part.layers):
        yield (*path, "layers", place), layer
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


def _layers(path: Path, part: Part, convention: str) -> Iterator[Problem]:
    for place, layer in enumerate(part.layers):
        if place and isinstance(layer, Embedding):
            message = "an embedding must be the first layer: it looks up token numbers; move it there"
            yield Problem((*path, "layers", place, "embedding"), message)
    for at, layer in _placed(path, part):
        for option, problem in layer.option_problems():
            yield Problem((*at, option), problem)
        for option, problem in lacks(layer, convention):
            gap = too_wide(layer, convention) if option == "projection" else 0
            yield Problem((*at, option), problem, follows=gap > 0, gaps=(gap,) if gap else ())


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
        yield Problem(at, message, follows=True, gaps=(part.output.units - part.input,))
    if last.outputs != first.units:
        message = f"the last layer must hand on the embedding's width, {first.units:,}, got {last.outputs:,}"
        message = f"{message}; add a projection or a dense layer"
        yield Problem(at, message, follows=True, gaps=(last.outputs - first.units,))
