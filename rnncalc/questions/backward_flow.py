"""How gradients flow back through a network, from its losses down: which steps of each layer they reach.

A sequence is gone back through in chunks; between two of them a state's gradient stops. What a layer takes is the sum
over the chunks that a loss depends on through it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rnncalc.conventions.catalogue import convention
from rnncalc.layers.cell import Cell, Habits
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output
from rnncalc.network.network import Network
from rnncalc.network.parts import Part, Topology
from rnncalc.network.stack import Placed
from rnncalc.questions.held import Chunk, Outputs, Work, of_direction


class LayerTraining(NamedTuple):
    """What going back through one layer takes, of each of its copies.

    gradients: their number, one a trainable parameter.
    held: the numbers that the backward equations read, of one sequence and one chunk, each vector once; None when it
        is not known. multiply_adds: of the matrix products of going back, over the whole sequence.
    """

    placed: Placed
    gradients: int
    held: int | None
    multiply_adds: int | None


class Reach(NamedTuple):
    """Where a loss depends on what a layer hands on: the first chunk, the last, those between; all its steps or one."""

    first: bool = True
    between: bool = True
    last: bool = True
    single: bool = False


class Span(NamedTuple):
    """The chunks of a part: how many there are, how many steps each but the last has, and the last."""

    count: int
    steps: int
    last: int

    @classmethod
    def of(cls, steps: int, chunk: int | None) -> Span:
        """Return the chunks of so many steps."""
        size = min(chunk or steps, steps)
        count = -(-steps // size)
        return cls(count, size, steps - (count - 1) * size)

    def kinds(self, reach: Reach) -> Iterator[tuple[str, int, int]]:
        """Yield the kinds of chunk that are reached: first, between or last, their steps, and how many there are."""
        if self.count == 1:
            if reach.first or reach.last or reach.between:
                yield "only", self.last, 1
            return
        if reach.first:
            yield "first", self.steps, 1
        if reach.between and self.count > 2:
            yield "between", self.steps, self.count - 2
        if reach.last:
            yield "last", self.last, 1


def layers_of(network: Network, chunk: int | None) -> Iterator[LayerTraining]:
    """Yield what going back through each entry of the stack takes, in the stack's order."""
    carried: list[bool] = []  # of each recurrent layer of the encoder: whether anything trained stands at or below it
    for name, part in network.parts.items():
        placed = [entry for entry in network.stack if entry.part == name]
        below = _trained_below(placed)
        if name == "encoder":
            carried = [
                needs or not entry.layer.frozen
                for entry, needs in zip(placed, below, strict=True)
                if isinstance(entry.layer, Cell)
                for _ in range(entry.copies)
            ]
        if part.steps is None:
            yield from (LayerTraining(entry, _gradients(entry), None, None) for entry in placed)
            continue
        flow = _Flow(network, name, part, Span.of(part.steps, chunk), carried)
        found = [flow.layer(entry, needs) for entry, needs in zip(placed[::-1], below[::-1], strict=True)]
        yield from found[::-1]


def _trained_below(placed: list[Placed]) -> list[bool]:
    """Return for each entry whether anything trained stands below it."""
    found, below = [], False
    for entry in placed:
        found.append(below)
        below = below or bool(entry.trainable) or (bool(entry.layout.shared) and not entry.layer.frozen)
    return found


def _gradients(entry: Placed) -> int:
    return entry.trainable


class _Flow:
    """One part of a network, gone back through from the top."""

    def __init__(self, network: Network, name: str | None, part: Part, span: Span, carried: list[bool]) -> None:
        self.network = network
        self.name = name
        self.part = part
        self.span = span
        self.topology = network.topology_of(name)
        self.starts = [*carried] if name == "decoder" else []
        self.ends = name == "encoder"
        many_out = self.topology in (Topology.MANY_TO_MANY, Topology.ONE_TO_MANY)
        self.reach = Reach() if many_out else Reach(first=False, between=False, single=True)
        if self.ends:  # what an encoder hands on goes nowhere; its states do
            self.reach = Reach(first=False, between=False, last=False)

    def layer(self, entry: Placed, below: bool) -> LayerTraining:
        """Return what an entry takes, and move down below it."""
        layer = entry.layer
        match layer:
            case Cell():
                held, multiply_adds = self._cell(entry, layer, below)
            case Dense():
                held, multiply_adds = self._dense(entry, layer, below)
            case Embedding():
                held, multiply_adds = (0 if layer.frozen else self._uses()), 0
            case External():
                return LayerTraining(entry, _gradients(entry), None, None)
            case _:
                held, multiply_adds = 0, 0
        return LayerTraining(entry, _gradients(entry), held, multiply_adds)

    def _cell(self, entry: Placed, layer: Cell, below: bool) -> tuple[int, int]:
        """Return what a recurrent layer holds at once, and the multiplications of all its chunks."""
        arrays = convention(self.network.convention).arrays(layer.kind)
        habits = arrays.habits if arrays else Habits()
        start = self.starts.pop() if self.starts else layer.learned_state and not layer.frozen
        turned = self.reach.single and self.topology == Topology.MANY_TO_ONE
        ends = turned or self.ends  # a loss depends on where the directions end, which is not at one time
        both = layer.directions == 2
        reach = Reach(first=both or self.span.count == 1, between=False, last=True) if turned else self.reach
        if self.ends:
            reach = Reach(first=both or reach.first, between=reach.between, last=True)
        most = work = 0
        for kind, steps, count in self.span.kinds(reach):
            taken = []
            for backward in range(layer.directions):
                opens, closes = (("last", "first") if backward else ("first", "last"))
                final = ends and kind in ("only", closes)
                whole = not ends or (self.ends and self._reaches(kind))
                chunk = Chunk(
                    steps=steps,
                    outputs=Outputs.ALL if whole else Outputs.LAST if final and turned else Outputs.NONE,
                    final_state=final and self.ends,
                    start_needs=start and kind in ("only", opens),
                    first_input_needs=below and (self._fed_once is False or kind in ("only", "first")),
                    inputs_need=below and not self._fed_once,
                    multiplied=both and layer.merge == "mul",
                )
                taken.append(of_direction(layer, entry.inputs, habits, chunk, trained=not layer.frozen))
            most = max(most, sum(each.held for each in taken) + max(each.inputs for each in taken))
            work += count * sum(each.multiply_adds for each in taken)
        self.reach = Reach(first=True, between=False, last=False, single=True) if self._fed_once else reach
        return most, work
