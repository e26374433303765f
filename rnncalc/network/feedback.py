"""Whether a network's outputs can be its next inputs: what `feedback: true` asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rnncalc.errors import Problem
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding
from rnncalc.network.flow import turns
from rnncalc.network.parts import Topology, joins, part_of

if TYPE_CHECKING:
    from rnncalc.network.described import Described


def cannot_feed_back(network: Described) -> Iterator[Problem]:
    """Yield what keeps the output of a step from being the input of the next."""
    at = ("feedback",)
    if network.encoder or network.decoder:
        yield Problem(at, "does not apply to an encoder-decoder, whose decoder reads inputs of its own; remove it")
        return
    if network.topology != Topology.ONE_TO_MANY:
        got = network.topology or Topology.MANY_TO_ONE
        yield Problem(at, f"applies to one-to-many, where later steps have no input, got {got}; remove it")
        return
    part = part_of(network.input or 0, network.layers, network.output)
    if not part.layers:
        return  # which is told
    first = part.layers[0]
    if isinstance(first, Embedding):
        yield Problem(at, "an embedding reads token numbers, and the output is a vector; remove one of them")
        return
    for place, layer in enumerate(part.layers):
        if isinstance(layer, Cell) and layer.bidirectional:
            message = "reads later inputs first, and with feedback there is none before its output; remove it"
            yield Problem(("layers", place, "bidirectional"), message)
    begin, _ = turns([join.layer for join in joins(part)], Topology.ONE_TO_MANY)
    if begin:
        message = f"the {first.kind} before the first recurrent layer is applied once, to the one input; remove it"
        yield Problem(("layers", 0, first.kind), f"{message}, or feedback")
        return
    *_, last = joins(part)
    width = part.output.units if part.output else last.outputs
    if width != part.input:
        message = f"the output must be as wide as the input, {part.input:,}, got {width:,}"
        yield Problem(at, message, follows=True, gaps=(width - part.input,))
