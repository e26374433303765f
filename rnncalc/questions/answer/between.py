"""What mistakes do between the lines of a worksheet: widths handed on, steps, repeats and halves.

Changes that the table in `mistakes.py` is made of, as those of single lines in `changes.py` are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Layer, Output
from rnncalc.network.network import Network
from rnncalc.questions.answer.changes import Change, left_out, reading, recurrent_of_units, without_other
from rnncalc.questions.answer.worksheet import Line, Worksheet

Width = Callable[[Line, Line, Network], int | None]
"""What width a line is fed with by mistake, from the line below it, the line itself and the network."""


def feeding(width: Width) -> Change:
    """Return the mistake that feeds each layer but a part's first with another width."""
    return partial(_feeding, width)


def _feeding(width: Width, worksheet: Worksheet, network: Network) -> Worksheet:
    changed = [worksheet[0]]
    for below, line in pairwise(worksheet):
        fed = below.placed.part == line.placed.part and line.width("input")
        changed.append(fed_with(line, width(below, line, network) if fed else None))
    return tuple(changed)


def fed_with(line: Line, width: int | None) -> Line:
    """Return the line of a layer that gets another width from below, its extra inputs beside it."""
    return line if width is None else reading(line, "input", width + line.layer.extra_inputs)


def one_way(line: Line) -> int:
    """Return the width that one direction hands on."""
    layer = line.layer
    return line.placed.sizes[layer.output] if isinstance(layer, Cell) else line.placed.outputs


def _concatenated(line: Line) -> bool | None:
    """Return whether a layer's two directions are concatenated; None where there are no two."""
    layer = line.layer
    return layer.merge in (None, "concat") if isinstance(layer, Cell) and layer.bidirectional else None


def width_of_one_direction(below: Line, line: Line, network: Network) -> int | None:
    """Return the width of one direction where two are concatenated."""
    return one_way(below) if _concatenated(below) else None


def width_of_both_directions(below: Line, line: Line, network: Network) -> int | None:
    """Return the width of both directions where they are merged otherwise."""
    return 2 * one_way(below) if _concatenated(below) is False else None


def width_without_projection(below: Line, line: Line, network: Network) -> int | None:
    """Return the width without the projection."""
    return below.h * (2 if _concatenated(below) else 1) if below.has("projection") else None


def width_of_input(below: Line, line: Line, network: Network) -> int | None:
    """Return the width of the part's input."""
    return network.parts[line.placed.part].input if not isinstance(line.layer, Output) else None


def without_projection(worksheet: Worksheet, network: Network) -> Worksheet:
    """Count as if there were no projection: its matrix gone, and h wherever it was."""
    fed = _feeding(width_without_projection, worksheet, network)
    return tuple(without_other("projection")(recurrent_of_units(line)) for line in fed)


def steps_of(line: Line, network: Network) -> int:
    """Return the steps of a layer's part, 1 where they are not known."""
    return network.parts[line.placed.part].steps or 1


def times_steps(*kinds: type[Layer]) -> Change:
    """Return the mistake that multiplies the layers of some kinds by the number of steps."""
    return partial(_times_steps, kinds)


def _times_steps(kinds: tuple[type[Layer], ...], worksheet: Worksheet, network: Network) -> Worksheet:
    return tuple(
        line._replace(times=line.times * steps_of(line, network)) if isinstance(line.layer, kinds) else line
        for line in worksheet
    )


def _first_fed(worksheet: Worksheet, part: str | None) -> int | None:
    """Return the place of a part's first hidden layer that reads vectors."""
    for place, line in enumerate(worksheet):
        if line.placed.part == part and isinstance(line.layer, Cell | Dense) and not isinstance(line.layer, Output):
            return place
    return None


def _replaced(worksheet: Worksheet, place: int, line: Line) -> Worksheet:
    return (*worksheet[:place], line, *worksheet[place + 1 :])


def steps_as_features(worksheet: Worksheet, network: Network) -> Worksheet:
    """Feed the first layer that has a matrix with the features of all steps at once."""
    place = _first_fed(worksheet, worksheet[0].placed.part)
    if place is None:
        return worksheet
    line = worksheet[place]
    return _replaced(worksheet, place, reading(line, "input", line.width("input") * steps_of(line, network)))


def encoder_input(worksheet: Worksheet, network: Network) -> Worksheet:
    """Feed the decoder's first layer that reads vectors as the encoder's is."""
    of, to = _first_fed(worksheet, "encoder"), _first_fed(worksheet, "decoder")
    if of is None or to is None:
        return worksheet
    return _replaced(worksheet, to, reading(worksheet[to], "input", worksheet[of].width("input")))


def repeat_once(worksheet: Worksheet, network: Network) -> Worksheet:
    """Count a repeated layer once."""
    first = [True, *(below.layer is not line.layer for below, line in pairwise(worksheet))]
    return tuple(line if once else left_out(line) for line, once in zip(worksheet, first, strict=True))


def without_part(name: str, worksheet: Worksheet, network: Network) -> Worksheet:
    """Leave one half of an encoder-decoder out."""
    return tuple(left_out(line) if line.placed.part == name else line for line in worksheet)
