"""Whether the halves of an encoder-decoder fit: the encoder's final states start the decoder's recurrent layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rnncalc.errors import Path, Problem
from rnncalc.layers.cell import Cell
from rnncalc.network.parts import Part


def states_that_do_not_fit(encoder: Part, decoder: Part) -> Iterator[Problem]:
    """Yield where the decoder's recurrent layers cannot start from the encoder's final states."""
    giving, taking = _recurrent(encoder), _recurrent(decoder)
    if giving and taking and len(giving) != len(taking):
        message = f"expected {len(giving)} recurrent layers, as in the encoder, got {len(taking)}"
        yield Problem(("decoder", "layers"), message, follows=True, gaps=(len(taking) - len(giving),))
    found: dict[Problem, Problem] = {}
    meetings: Counter[Problem] = Counter()
    for (_, gives), (place, takes) in zip(giving, taking, strict=False):
        for problem in _between(gives, takes, ("decoder", "layers", place)):
            same = problem._replace(gaps=())
            found.setdefault(same, problem)
            meetings[same] += 1
    for same, problem in found.items():
        yield problem._replace(gaps=(*problem.gaps, meetings[same])) if problem.follows else problem


def _recurrent(part: Part) -> list[tuple[int, Cell]]:
    """Return the recurrent layers, each of a `repeat` by itself, with their places in `layers`."""
    return [
        (place, layer)
        for place, layer in enumerate(part.layers)
        if isinstance(layer, Cell)
        for _ in range(layer.repeat)
    ]


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
