"""Whether the halves of an encoder-decoder fit: the encoder's final states start the decoder's recurrent layers.

Layers are compared as they are repeated, never one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rnncalc.errors import Path, Problem
from rnncalc.layers.cell import Cell
from rnncalc.network.parts import Part


class _Repeated(NamedTuple):
    """A recurrent layer, its place in its half, and from where to where its copies stand among the recurrent."""

    layer: Cell
    place: int
    start: int
    end: int


def states_that_do_not_fit(encoder: Part, decoder: Part) -> Iterator[Problem]:
    """Yield where the decoder's recurrent layers cannot start from the encoder's final states."""
    giving, taking = _recurrent(encoder), _recurrent(decoder)
    if giving and taking and giving[-1].end != taking[-1].end:
        want, got = giving[-1].end, taking[-1].end
        message = f"expected {want} recurrent layers, as in the encoder, got {got}"
        yield Problem(("decoder", "layers"), message, follows=True, gaps=(got - want,))
    found: dict[Problem, Problem] = {}
    meetings: Counter[Problem] = Counter()
    for gives, takes in _meeting(giving, taking):
        for problem in _between(gives.layer, takes.layer, ("decoder", "layers", takes.place)):
            same = problem._replace(gaps=())
            found.setdefault(same, problem)
            meetings[same] += min(gives.end, takes.end) - max(gives.start, takes.start)
    for same, problem in found.items():
        yield problem._replace(gaps=(*problem.gaps, meetings[same])) if problem.follows else problem


def _recurrent(part: Part) -> list[_Repeated]:
    found: list[_Repeated] = []
    end = 0
    for place, layer in enumerate(part.layers):
        if isinstance(layer, Cell):
            start, end = end, end + layer.repeat
            found.append(_Repeated(layer, place, start, end))
    return found


def _meeting(giving: Sequence[_Repeated], taking: Sequence[_Repeated]) -> Iterator[tuple[_Repeated, _Repeated]]:
    """Yield the layers of which copies meet, in order."""
    of_giving = of_taking = 0
    while of_giving < len(giving) and of_taking < len(taking):
        gives, takes = giving[of_giving], taking[of_taking]
        yield gives, takes
        of_giving += gives.end <= takes.end
        of_taking += takes.end <= gives.end


def _between(gives: Cell, takes: Cell, at: Path) -> Iterator[Problem]:
    """Yield what is wrong where one layer's final state starts the other."""
    if gives.kind != takes.kind:
        message = f"expected the encoder's kind, {gives.kind}, got {takes.kind}: its final state starts this layer"
        yield Problem((*at, takes.kind), message, follows=True)
    elif (wanted := gives.state_widths()) != (found := takes.state_widths()):
        want, got = (" and ".join(map(str, widths)) for widths in (wanted, found))
        merged = "" if gives.merge in (None, "concat") else f"; merge: {gives.merge} joins outputs, not states"
        joined = f" (both directions side by side{merged})" if gives.bidirectional else ""
        message = f"expected a state of {want}, as the encoder's final one{joined}, got {got}"
        units, rest = divmod(gives.directions * gives.units, takes.directions)
        if not rest and takes.replace(units=units).state_widths() == wanted:
            message = f"{message}; give it {units:,} units"
        gaps = tuple(width - other for other, width in zip(wanted, found, strict=True) if width != other)
        yield Problem((*at, takes.kind), message, follows=True, gaps=gaps)
    if takes.learned_state:
        message = "does not apply in a decoder: it starts from the encoder's final state; remove it"
        yield Problem((*at, "learned_state"), message)
