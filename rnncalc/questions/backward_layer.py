"""What going back through one layer holds and multiplies, in the situation in which gradients meet it.

A recurrent layer's equations say it; of the others it is said here.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import partial
from typing import NamedTuple

from rnncalc.conventions.catalogue import convention
from rnncalc.conventions.formula import Expression, Plus, Times, value
from rnncalc.conventions.tensor import Role
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.questions.backward_flow import Situation, starts, stops
from rnncalc.step.costs import Chunk, Outputs, SavedVector, Tally, tally
from rnncalc.step.equations import Notation, Symbol, W, formulas
from rnncalc.step.trace import ONE, Trace, trace

Widths = Mapping[tuple[str, ...], int]
"""Letters of widths that are multiplied, and how many times; no letter is one."""


NOTHING = Tally({}, {})


class Arithmetic(NamedTuple):
    """What a whole sequence takes: the numbers saved in each kind of chunk that may have the most, and all products."""

    saved: tuple[Expression, ...]
    multiply_adds: Expression


class Costs:
    """What going back takes, of the layers of a network; notation: of what is saved.

    Layers that differ in their widths alone have one layout; where gradients meet them alike too, their arithmetic is
    the same, and is made once.
    """

    def __init__(self, network: Network, notation: Notation = W) -> None:
        self.notation = notation
        self.convention = convention(network.convention)
        self.tables = {
            name: not part.layers[0].frozen
            for name, part in network.parts.items()
            if isinstance(part.layers[0], Embedding)
        }
        self._made: dict[object, Arithmetic] = {}

    def of(self, situation: Situation) -> tuple[int | None, int | None]:
        """Return the most numbers saved at once, and the multiplications of a sequence; None for a part elsewhere."""
        placed = situation.placed
        if isinstance(placed.layer, External):
            return None, None
        key = id(placed.layout), placed.layer.frozen, placed.part, situation.how
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._arithmetic(situation)
        sizes = placed.sizes
        return max([value(saved, sizes) for saved in made.saved]), value(made.multiply_adds, sizes)

    def _arithmetic(self, situation: Situation) -> Arithmetic:
        tallies = self.tallies(situation)
        work: dict[tuple[str, ...], int] = {}
        for kind, of in zip(situation.how.chunks, tallies, strict=True):
            for product, times in of.work.items():
                work[product.axes] = work.get(product.axes, 0) + kind.times * times
        most: list[Widths] = []
        for saved in sorted(map(widths_saved, tallies), key=lambda saved: -sum(saved.values())):
            if not any(_contains(other, saved) for other in most):
                most.append(saved)
        return Arithmetic(tuple(map(expression, most)), expression(work))

    def tallies(self, situation: Situation) -> list[Tally]:
        """Return what each kind of chunk of a layer reads and multiplies; of a part elsewhere, nothing."""
        return [self._tally(situation, number) for number in range(len(situation.how.chunks))]

    def _tally(self, situation: Situation, number: int) -> Tally:
        placed, layer = situation.placed, situation.placed.layer
        chunks, _, reached = situation.of_chunk(number)
        if isinstance(layer, Embedding) and not layer.frozen:
            looked_up = {Outputs.ALL: chunks.steps, Outputs.END: 1, Outputs.NONE: 0}[reached]
            return Tally({SavedVector(TOKEN, ONE): looked_up}, {})
        if not isinstance(layer, Cell | Dense) or not (reached is not Outputs.NONE or situation.how.states_reached):
            return NOTHING
        step = trace(layer, placed.inputs, self.convention)
        table = not self.tables[placed.part] if placed.layout.shared else layer.frozen
        frozen = [role for role in Role if (table if role is Role.KERNEL else layer.frozen)]
        if isinstance(layer, Cell):
            return tally(step, _chunk(situation, number, frozen), formulas(step, self.notation))
        of = tally(step, _chunk(situation, number, frozen), partial(_of_dense, placed, step))
        of = of._replace(saved=dict(reversed([*of.saved.items()])))  # x before y
        return _fed_itself(of) if situation.how.fed_itself else of


TOKEN = Symbol("x", time="t")
"""The number of a row that is looked up."""


def expression(of: Widths) -> Expression:
    """Return a sum of products of widths as arithmetic."""
    return Plus(tuple(Times((times, *letters)) if letters else times for letters, times in of.items()))


def _contains(more: Widths, less: Widths) -> bool:
    return all(more.get(letters, 0) >= times for letters, times in less.items())


def _chunk(situation: Situation, number: int, frozen: Container[Role]) -> Chunk:
    """Return one of the kinds of chunk of a layer, for its backward pass."""
    chunks, needs, reached = situation.of_chunk(number)
    layer, how = situation.placed.layer, situation.how
    return Chunk(
        steps=chunks.steps,
        outputs=reached,
        inputs_need=needs,
        starts_need=tuple([how.start_needs and begins for begins in starts(layer, chunks)]),
        ends=stops(layer, chunks) if isinstance(layer, Cell) else (True,),
        frozen=frozen,
        merge=layer.merge if isinstance(layer, Cell) else None,
        final_states=how.states_reached,
        other_end_needs=not layer.frozen or any(how.inputs_need[0]),
        fed_itself=how.fed_itself and isinstance(layer, Cell),
    )


def widths_saved(of: Tally) -> Widths:
    """Return what is saved, like widths together."""
    widths: dict[tuple[str, ...], int] = {}
    for vector, times in of.saved.items():
        letters = () if vector.width == ONE else (vector.width,)
        widths[letters] = widths.get(letters, 0) + times
    return widths


def _of_dense(placed: Placed, step: Trace, place: int) -> Symbol:
    """Return what a value of a dense layer is called: what it reads, or y."""
    node = step.nodes[place]
    return Symbol(node.letter or "y", time="t" if placed.sequence else "", axes=(node.width,))


def _fed_itself(of: Tally) -> Tally:
    """Return the same of a layer that reads what it has handed on: if both are saved, all but the last output once."""
    saved = {vector: times for vector, times in of.saved.items() if vector.width == "m" or len(of.saved) == 1}
    outputs = {vector: 1 for vector in of.saved if vector not in saved}
    return Tally(saved | outputs, of.work)
