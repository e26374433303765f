"""What mistakes do between layers: the width that one hands on to the next."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, Output
from rnncalc.network.network import Network
from rnncalc.questions.answer.changes.gates import recurrent_of_units, swapped
from rnncalc.questions.answer.changes.lines import Change, left_out, reading, replaced, without_other
from rnncalc.questions.answer.worksheet import Line, Read, Worksheet

Width = Callable[[Line, Line, Network], int | None]
"""What width a line is fed with by mistake, from the line below it, the line itself and the network."""


def feeding(width: Width) -> Change:
    """Return the mistake that feeds each layer but a part's first with another width."""

    def change(worksheet: Worksheet, network: Network) -> Worksheet:
        changed = [worksheet[0]]
        for below, line in pairwise(worksheet):
            fed = below.placed.part == line.placed.part
            changed.append(fed_with(line, width(below, line, network) if fed else None))
        return tuple(changed)

    return change


def fed_with(line: Line, width: int | None) -> Line:
    """Return the line of a layer that gets another width from below, its extra inputs beside it."""
    return line if width is None else reading(line, "input", width + line.layer.extra_inputs)


def one_way(line: Line) -> int:
    """Return the width that one direction hands on."""
    layer = line.layer
    return line.placed.sizes[layer.output] if isinstance(layer, Cell) else line.placed.outputs


def concatenated(line: Line) -> bool | None:
    """Return whether a layer's two directions are concatenated; None where there are no two."""
    layer = line.layer
    return layer.merge in (None, "concat") if isinstance(layer, Cell) and layer.bidirectional else None


def width_of_one_direction(below: Line, line: Line, network: Network) -> int | None:
    """Return the width of one direction where two are concatenated."""
    return one_way(below) if concatenated(below) else None


def width_of_both_directions(below: Line, line: Line, network: Network) -> int | None:
    """Return the width of both directions where they are merged otherwise."""
    return 2 * one_way(below) if concatenated(below) is False else None


def width_without_projection(below: Line, line: Line, network: Network) -> int | None:
    """Return the width without the projection."""
    return below.h * (2 if concatenated(below) else 1) if below.has("projection") else None


def width_of_input(below: Line, line: Line, network: Network) -> int | None:
    """Return the width of the part's input."""
    return network.parts[line.placed.part].input if not isinstance(line.layer, Output) else None


def width_of_all_states(below: Line, line: Line, network: Network) -> int | None:
    """Return the width of all states together."""
    many = isinstance(below.layer, Cell) and len(below.layer.states) > 1
    return len(below.layer.states) * below.placed.outputs if many and isinstance(below.layer, Cell) else None


def width_of_two_directions(below: Line, line: Line, network: Network) -> int | None:
    """Return twice the width where there is one direction."""
    layer = below.layer
    return 2 * below.placed.outputs if isinstance(layer, Cell) and not layer.bidirectional else None


def width_of_steps(below: Line, line: Line, network: Network) -> int | None:
    """Return the number of steps where the layer below has as many outputs as units."""
    steps = network.parts[below.placed.part].steps
    recurrent = isinstance(below.layer, Cell) and not below.has("projection")
    return steps * (2 if concatenated(below) else 1) if recurrent and steps else None


def own_width(below: Line, line: Line, network: Network) -> int | None:
    """Return the layer's own width, where it is hidden."""
    return line.h if not isinstance(line.layer, Output) else None


def to_output(width: Width) -> Width:
    """Return the width that the output layer alone is fed with."""
    return lambda below, line, network: width(below, line, network) if isinstance(line.layer, Output) else None


def input_of_part(below: Line, line: Line, network: Network) -> int | None:
    """Return the width of the part's input."""
    return network.parts[line.placed.part].input


def state_and_input(below: Line, line: Line, network: Network) -> int | None:
    """Return the width of the layer below and of what it reads, together."""
    return below.placed.outputs + below.placed.inputs


def outputs_as_cells(worksheet: Worksheet, network: Network) -> Worksheet:
    """Count the output layer as another layer of the cell below it: as many gates, each reading the output too."""
    return _outputs(_as_cell, worksheet)


def _outputs(changed: Callable[[Line, int], Line], worksheet: Worksheet) -> Worksheet:
    """Change the output layers above a cell, by how many gates it has."""
    above = (
        changed(line, len(below.gates)) if isinstance(line.layer, Output) and isinstance(below.layer, Cell) else line
        for below, line in pairwise(worksheet)
    )
    return (*worksheet[:1], *above)


def _as_cell(line: Line, gates: int) -> Line:
    return line._replace(
        gates=tuple(gate._replace(reads=(*gate.reads, Read("past", line.h))) for gate in line.gates) * gates
    )


def output_in_each_gate(worksheet: Worksheet, network: Network) -> Worksheet:
    """Count the output layer once for each gate of the cell below it."""
    return _outputs(lambda line, gates: line._replace(times=line.times * gates), worksheet)


def without_projection(worksheet: Worksheet, network: Network) -> Worksheet:
    """Count as if there were no projection: its matrix gone, and h wherever it was."""
    fed = feeding(width_without_projection)(worksheet, network)
    return tuple(without_other("projection")(recurrent_of_units(line)) for line in fed)


def first_fed(worksheet: Worksheet, part: str | None) -> int | None:
    """Return the place of a part's first hidden layer that reads vectors."""
    for place, line in enumerate(worksheet):
        if line.placed.part == part and isinstance(line.layer, Cell | Dense) and not isinstance(line.layer, Output):
            return place
    return None


def encoder_input(worksheet: Worksheet, network: Network) -> Worksheet:
    """Feed the decoder's first layer that reads vectors as the encoder's is."""
    of, to = first_fed(worksheet, "encoder"), first_fed(worksheet, "decoder")
    if of is None or to is None:
        return worksheet
    return replaced(worksheet, to, reading(worksheet[to], "input", worksheet[of].width("input")))


def inputs_and_units_swapped(worksheet: Worksheet, network: Network) -> Worksheet:
    """Swap inputs and units in the first layer that reads vectors, and feed the next layer with those units."""
    place = first_fed(worksheet, worksheet[0].placed.part)
    if place is None:
        return worksheet
    changed = replaced(worksheet, place, swapped(worksheet[place]))
    above = worksheet[place + 1 : place + 2]
    fed = tuple(fed_with(line, changed[place].h * worksheet[place].directions) for line in above)
    return (*changed[: place + 1], *fed, *changed[place + 2 :])


def one_hot(worksheet: Worksheet, network: Network) -> Worksheet:
    """Leave the embedding out and feed the layer above with the vocabulary."""
    changed = [*worksheet]
    for place, (below, line) in enumerate(pairwise(worksheet)):
        if isinstance(below.layer, Embedding):
            changed[place : place + 2] = left_out(below), fed_with(line, below.placed.inputs)
    return tuple(changed)


def state_beside_input(worksheet: Worksheet, network: Network) -> Worksheet:
    """Feed the decoder's first layer that reads vectors with the encoder's state beside its input."""
    to = first_fed(worksheet, "decoder")
    giving = [line for line in worksheet if line.placed.part == "encoder" and isinstance(line.layer, Cell)]
    if to is None or not giving:
        return worksheet
    line = worksheet[to]
    return replaced(worksheet, to, reading(line, "input", line.width("input") + giving[-1].placed.outputs))


def taken_as_tied(worksheet: Worksheet, network: Network) -> Worksheet:
    """Count no matrix of an output layer that is not tied, as if it were the embedding's."""
    parts = {line.placed.part for line in worksheet if isinstance(line.layer, Embedding)}
    return tuple(
        reading(line, "input", 0) if isinstance(line.layer, Output) and line.placed.part in parts else line
        for line in worksheet
    )
