"""`--vary`: networks with every combination of the values of some sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from math import prod

from rnncalc.bounds import MOST_VARIED
from rnncalc.errors import CallError, SpecError
from rnncalc.network.network import Network
from rnncalc.questions import network_of
from rnncalc.questions.exercise import places_varied
from rnncalc.questions.solve import SizePlace, resized
from rnncalc.text import one_of


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
