"""What going back through one layer holds and multiplies, in the situation in which gradients meet it.

A recurrent layer's equations say it; of the others it is said here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rnncalc.conventions.catalogue import convention
from rnncalc.conventions.formula import Expression, Plus, Times, value
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External
from rnncalc.network.network import Network
from rnncalc.questions.backward_flow import ONE_VECTOR, Chunks, Situation, starts, stops
from rnncalc.questions.chunk import Chunk, Outputs, tally
from rnncalc.questions.held import ONE, Tally


class ChunkCost(NamedTuple):
    """What going back through a chunk of a layer takes: the numbers held, and the multiplications, as arithmetic."""

    held: Expression
    multiply_adds: Expression


NOTHING = ChunkCost(0, 0)


class Costs:
    """What going back takes, chunk by chunk, of the layers of a network.

    Layers that differ in their widths alone have one layout, and are gone back through alike: their arithmetic is made
    once.
    """

    def __init__(self, network: Network) -> None:
        self.convention = convention(network.convention)
        self.tables = {
            name: not part.layers[0].frozen
            for name, part in network.parts.items()
            if part.layers and isinstance(part.layers[0], Embedding)
        }
        self._made: dict[object, ChunkCost] = {}

    def of(self, situation: Situation) -> tuple[int, int] | None:
        """Return the most numbers held at once, and the multiplications of all chunks; None for a part elsewhere."""
        if isinstance(situation.placed.layer, External):
            return None
        sizes = situation.placed.sizes
        held = work = 0
        for number, chunks in enumerate(situation.chunks):
            if situation.reached[number] is not Outputs.NONE or situation.states_reached:
                cost = self.of_chunk(situation, number)
                held = max(held, value(cost.held, sizes))
                work += chunks.count * value(cost.multiply_adds, sizes)
        return held, work

    def of_chunk(self, situation: Situation, number: int) -> ChunkCost:
        """Return the arithmetic of one of the kinds of chunk."""
        placed, layer = situation.placed, situation.placed.layer
        chunks = situation.chunks[number]
        needs, reached = situation.inputs_need[number], situation.reached[number]
        match layer:
            case Cell():
                chunk = cell_chunk(situation, number)
                key = id(placed.layout), layer.frozen, chunk
                if key not in self._made:
                    self._made[key] = _in_letters(self.tally(situation, chunk))
                return self._made[key]
            case Dense():
                shared = bool(placed.layout.shared)
                trained = self.tables[placed.part] if shared else not layer.frozen
                return _dense(layer, _applied(chunks, needs, reached), trained=trained)
            case Embedding() if not layer.frozen:
                used = 1 if situation.chunks is ONE_VECTOR else sum(_applied(chunks, needs, reached))
                return ChunkCost(used, 0)
        return NOTHING

    def tally(self, situation: Situation, chunk: Chunk) -> Tally:
        """Return what going back through a chunk of a recurrent layer reads and multiplies."""
        placed, layer = situation.placed, situation.placed.layer
        arrays = self.convention.arrays(layer.kind)
        assert isinstance(layer, Cell)
        assert arrays is not None  # a network under a convention that lacks a cell is refused
        return tally(layer, placed.inputs, arrays.habits, chunk)


def cell_chunk(situation: Situation, number: int) -> Chunk:
    """Return one of the kinds of chunk of a recurrent layer, as its equations are gone back through."""
    layer = situation.placed.layer
    assert isinstance(layer, Cell)
    chunks, needs = situation.chunks[number], situation.inputs_need
    return Chunk(
        steps=chunks.steps,
        outputs=situation.reached[number],
        inputs_need=needs[number],
        starts_need=tuple([situation.start_needs and begins for begins in starts(layer, chunks)]),
        ends=stops(layer, chunks),
        final_states=situation.states_reached,
        other_end_needs=not layer.frozen or any(needs[0]),
    )


def _in_letters(of: Tally) -> ChunkCost:
    """Return the sums of a tally, like widths together."""
    widths: dict[str, int] = {}
    for vector, times in of.held.items():
        widths[vector.width] = widths.get(vector.width, 0) + times
    products: dict[tuple[str, str], int] = {}
    for work, times in of.work.items():
        products[work.axes] = products.get(work.axes, 0) + times
    held = [times if width == ONE else Times((times, width)) for width, times in widths.items()]
    return ChunkCost(Plus(tuple(held)), Plus(tuple(Times((times, *axes)) for axes, times in products.items())))


def _applied(chunks: Chunks, needs: tuple[bool, bool], reached: Outputs) -> tuple[int, int]:
    """Return to how many vectors of a chunk that a loss reaches a layer is applied: which need a gradient, and not."""
    first, others = needs
    if reached is Outputs.NONE:
        return 0, 0
    if reached is Outputs.END:
        need = first if chunks.steps == 1 else others
        return int(need), int(not need)
    need = first + others * (chunks.steps - 1)
    return need, chunks.steps - need


def _dense(layer: Dense, applied: tuple[int, int], *, trained: bool) -> ChunkCost:
    """Return what a dense layer takes: its input for its weights, what an activation gave for its derivative."""
    need, others = applied
    biased = layer.bias and not layer.frozen
    held: list[Expression] = []
    if trained:
        held.append(Times((need + others, "m")))
    if layer.activation != "linear":
        held.append(Times((need + others if trained or biased else need, "n")))
    return ChunkCost(Plus(tuple(held)), Times(((need + others) * trained + need, "n", "m")))
