"""`--vary`: networks with every combination of the values of some sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, product
from math import prod

from rnncalc.bounds import MOST_VARIED
from rnncalc.conventions import lacks
from rnncalc.errors import CallError, SpecError
from rnncalc.layers.decoder_attention import DecoderAttention
from rnncalc.layers.options import Size
from rnncalc.network.network import Network
from rnncalc.network.parts import OUTPUT, joins
from rnncalc.questions import describe, network_of
from rnncalc.questions.solve import SizePlace, resized
from rnncalc.words import not_among, one_of


def varied(
    networks: Sequence[Network], vary: Mapping[str, Sequence[int]]
) -> Iterator[tuple[tuple[int, ...], list[Network]]]:
    """Yield each combination of the values with the networks of those sizes.

    vary: sizes and their values, as in `exercise`; a network is changed in those sizes that it has.
    Raises CallError for a size that no network has and for too many combinations; SpecError for an invalid network.
    """
    sizes = places_varied([*map(network_of, networks)], vary)
    if (number := prod(map(len, vary.values()))) > MOST_VARIED:
        raise CallError(f"vary: {number:,} combinations, and the limit is {MOST_VARIED:,}; write a larger STEP")
    for values in product(*vary.values()):
        changed = [*networks]
        for name, places, value in zip(vary, sizes, values, strict=True):
            for place, at in enumerate(places):
                try:
                    changed[place] = resized(changed[place], at, value)
                except SpecError as error:
                    cure = _cure(changed[place], at, name, vary[name])
                    (problem, *others) = error.problems
                    raise SpecError((problem._replace(message=problem.message + cure), *others)) from None
        yield values, changed


def _cure(network: Network, places: Sequence[SizePlace], name: str, values: Sequence[int]) -> str:
    """Return the values of a size among these that make a valid network, as they are written; nothing without two."""
    valid: list[int] = []
    for value in range(min(values), max(values) + 1)[:MOST_VARIED]:
        with suppress(SpecError):
            resized(network, places, value)
            valid.append(value)
    if len(valid) < 2:
        return ""
    step = valid[1] - valid[0]
    if valid == [*range(valid[0], valid[-1] + 1, step)]:
        return f"; write {name}={valid[0]}..{valid[-1]}{f':{step}' if step > 1 else ''}"
    return f"; {name} can be {one_of([*map(str, valid[:9])])}"


def sizes_of(network: Network) -> dict[str, SizePlace]:
    """Return the sizes of a network that may vary, by name."""
    sizes = {name: SizePlace(None, None, name) for name in network.sizes or ()}
    stack = iter([each for each in network.stack if not (each.starts or isinstance(each.layer, DecoderAttention))])
    for half, part in network.parts.items():
        before = f"{half}." if half else ""
        sizes |= {f"{before}{key}": SizePlace(half, None, key) for key in ("input", "steps")}
        for layer, place in [(join.layer, join.place) for join in joins(part)]:
            name = next(stack).name
            if layer.number and isinstance(layer.option(layer.number).allowed, Size):
                sizes[name] = SizePlace(half, place, layer.number)
            options = [key for key in layer.options() if isinstance(layer.option(key).allowed, Size)]
            sizes |= {f"{name}.{key}": SizePlace(half, place, key) for key in options}
        if attention := part.attention:
            options = [key for key in attention.options() if isinstance(attention.option(key).allowed, Size)]
            sizes |= {f"attention.{key}": SizePlace(half, None, key) for key in options}
        if part.output:
            next(stack)
            sizes[OUTPUT] = SizePlace(half, None, OUTPUT)
    return sizes


def _taken(network: Network, sizes: Mapping[str, SizePlace]) -> Iterator[str]:
    """Yield the names of sizes, without the options that their layers do not take."""
    for name, (half, at, key) in sizes.items():
        layer = None if at is None else network.parts[half].layers[at]
        if layer is None or key == layer.number:
            yield name
            continue
        for number in {2, 1} - {layer.defaults.get(key)}:
            other = layer.replace(**{key: number})
            problems = (*other.option_problems(), *other.condition_problems(), *lacks(other, network.convention))
            if key not in [problem[0] for problem in problems]:
                yield name
                break


def places_varied(networks: Sequence[Network], vary: Mapping[str, Sequence[int]]) -> list[list[list[SizePlace]]]:
    """Return for each size that varies its places in each network. Raises CallError for an unknown size or no values.

    Sizes joined by commas are one; a network may lack some of them, but not all networks the same one.
    """
    sizes = [sizes_of(network) for network in networks]
    joined = [[name.strip() for name in names.split(",")] for names in vary]
    if not_among([*chain(*joined)], tuple(dict.fromkeys(chain(*sizes)))):
        options = dict.fromkeys(chain(*map(_taken, networks, sizes)))
        raise CallError(f"vary: {not_among([*chain(*joined)], tuple(options))}")
    for names, values in vary.items():
        if not isinstance(values, Sequence) or isinstance(values, str) or not values:
            message = "expected the values that it may have, such as range(16, 65)"
            raise CallError(f"vary: {names}: {message}, got {describe(values)}")
    return [[[known[name] for name in several if name in known] for known in sizes] for several in joined]
