"""What the backward pass through each layer reads and multiplies, for sequences of any length.

Passes on widths over short sequences are enough. Each further step adds as much as the one before, or as much more as
a layer reads more steps of a whole sequence. So every number is a polynomial in the length of a sequence, within a
residue class of the strides, and in the steps of a chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import comb, lcm, prod
from typing import NamedTuple

from rnncalc.errors import RefusedError
from rnncalc.forward.width_pass import Axes, SavedVector, WidthPass, WidthTape
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Output, length_of
from rnncalc.layers.reshaping import RepeatVector
from rnncalc.network.flow import Attend, Delay, Placement, Window, shapes
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.printable import escape
from rnncalc.step.nodes import AROUND, ONE, made_of
from rnncalc.words import plural

MOST_STEPS, MOST_READS = 100_000, 5_000_000
"""The most steps that are followed one by one, and the most steps that windows of one layer read."""

Counts = Mapping[tuple[int, int, SavedVector | Axes], int]
"""How often vectors are saved, and widths multiplied, by the numbers of the layer and of the chunk."""


class ChunkCosts(NamedTuple):
    """Like chunks of a layer's input: how many, the steps of each, the saved vectors and the products of widths."""

    times: int
    steps: int
    saved: Mapping[SavedVector, int]
    products: Mapping[Axes, int]


class LayerCosts(NamedTuple):
    """What the backward pass through a layer takes in each kind of chunk; tape: of one of the short passes.

    sizes: what the letters of the layer's widths are.
    """

    tape: WidthTape
    sizes: Mapping[str, int]
    chunks: Sequence[ChunkCosts]

    def saved(self, chunk: ChunkCosts) -> int:
        """Return how many numbers are saved in a chunk."""
        sizes = {**self.sizes, ONE: 1}
        return sum([times * sizes[vector.width] for vector, times in chunk.saved.items()])

    @property
    def multiply_adds(self) -> int:
        """The multiply-adds in all chunks."""
        sizes = self.sizes
        products = [
            (chunk.times * times, axes) for chunk in self.chunks for axes, times in chunk.products.items() if times
        ]
        return sum([times * prod([sizes[axis] for axis in axes]) for times, axes in products])


def layer_costs(network: Network, chunk: int | None) -> Iterator[LayerCosts]:
    """Yield what the backward pass through each layer takes, in the stack's order. The steps must be known.

    chunk: the steps of one backward pass. Raises RefusedError if chunks would cut the steps that a layer reads at once,
    and if too many steps would be followed one by one.
    """
    for move in network.flow if chunk else ():
        if isinstance(move, Attend) or (isinstance(move, Window) and not move.layer.time.by_step):
            message = f"{escape(move.name)} reads several steps at once, or ends or begins a sequence"
            raise RefusedError(f"{message}, and chunks would cut it; leave the chunk out")
    stack = network.stack
    places = _equal_places(stack)
    if None in network.parts and (kept := sorted({*places})) != places:
        alone = [stack[place].layer for place in kept if not stack[place].starts]
        layers = tuple([layer.replace(name=None, repeat=1) for layer in alone if not isinstance(layer, Output)])
        short = network.with_parts({None: network.parts[None]._replace(layers=layers)})
        if all(placed.step is stack[place].step for placed, place in zip(short.stack, kept, strict=True)):
            costs = dict(zip(kept, layer_costs(short, chunk), strict=True))
            yield from (costs[at]._replace(sizes=placed.sizes) for at, placed in zip(places, stack, strict=True))
            return
    parts, values = network.parts, shapes(network.flow)
    steps = {half: part.steps or 1 for half, part in parts.items()}
    size = chunk if chunk and max(steps.values()) > chunk else 0
    numbers = {half: -(-length // size) if size else 1 for half, length in steps.items()}  # of chunks
    inputs = [(move.part, values[move.reads[0]][:-1]) for move in network.flow if isinstance(move, Placement)]
    read = [(numbers[half] if length else 1, length) for half, length in inputs]  # each layer's chunks, and its steps
    passes: list[WidthPass] = []

    def count(size: int, *lengths: int) -> Counts:
        """Return the counts of a pass; lengths: of the last chunk of each part, and of what layers begin."""
        ends, short = iter(lengths), {}
        for half, part in parts.items():
            short[half] = part._replace(steps=(min(numbers[half], 3) - 1) * size + next(ends))
        for half, part in short.items():
            begun = [each.replace(times=next(ends)) if isinstance(each, RepeatVector) else each for each in part.layers]
            short[half] = part._replace(layers=tuple(begun))
        passes[:] = [WidthPass(network, short, size or None)]
        return {(at, *key): times for at, tape in enumerate(passes[0].tapes) for key, times in tape.counts().items()}

    def steps_of(layer: int, place: int) -> int:
        """Return the steps of a chunk of a layer's input."""
        number, length = read[layer]
        return (length[0] - (number - 1) * size if place == min(number, 3) - 1 else size) if length else 1

    lengths = [length - (numbers[half] - 1) * size for half, length in steps.items()]
    if size:  # no number depends on two lengths, so that all grow at once
        least, *_ = _settled(network)
        few, more = (count(*[min(length, least + number) for length in (size, *lengths)]) for number in (0, 1))
        counts: Counts = {
            key: _polynomial((few.get(key, 0), times), max(steps_of(*key[:2]) - least, 0))
            for key, times in more.items()
        }
    else:
        begun = [layer.times for part in parts.values() for layer in part.layers if isinstance(layer, RepeatVector)]
        counts = _fitted(network, partial(count, 0), (*lengths, *begun))
    saved: dict[tuple[int, int], dict[SavedVector, int]] = {}
    work: dict[tuple[int, int], dict[Axes, int]] = {}
    for (layer, place, what), times in counts.items():
        at = layer, place if read[layer][1] else 0  # one vector is in whatever chunk
        if not isinstance(what, SavedVector):
            work.setdefault(at, {})[what] = times
        elif times:
            saved.setdefault(at, {})[what] = times
    for layer, (tape, (number, _)) in enumerate(zip(passes[0].tapes, read, strict=True)):
        kinds = enumerate([1, number - 2, 1] if number > 2 else [1] * number)
        chunks = [
            ChunkCosts(times, steps_of(layer, place), saved.get((layer, place), {}), work.get((layer, place), {}))
            for place, times in kinds
        ]
        yield LayerCosts(tape, stack[layer].sizes, chunks)


def _equal_places(stack: Sequence[Placed]) -> list[int]:
    """Return for each layer the place of one with the same costs in letters.

    Of cells in a row that differ at most in their units these are the first, second and last. The first may read what
    needs no gradient, and the last may have one at its last step alone.
    """

    def alike(placed: Placed) -> object:
        layer = placed.layer
        if not isinstance(layer, Cell) or layer.of_user or layer.initial_state is not None:
            return object()
        return type(layer), {**layer.__dict__, "units": 0}, id(placed.step), placed.grid

    kinds, places = [*map(alike, stack)], [*range(len(stack))]
    for place in range(2, len(stack) - 1):
        if all(kinds[place] == kinds[other] for other in (place - 2, place - 1, place + 1)):
            places[place] = places[place - 1]
    return places


def _fitted(network: Network, count: Callable[..., Counts], lengths: Sequence[int]) -> Counts:
    """Return the counts for some lengths of sequences from those for short ones.

    Raises RefusedError if these are too long.
    """
    least, period, degree = _settled(network)

    def at(short: tuple[int, ...], lengths: Sequence[int]) -> Counts:
        if not lengths:
            steps = sum(short)
            widest = max([length_of(placed.layer.window_of(steps - 1, steps)) for placed in network.stack])
            if steps > MOST_STEPS or steps * widest > MOST_READS:
                windows = f", with windows of {plural(widest, 'step')}" if widest > 1 else ""
                message = f"the backward pass would follow {steps:,} steps one by one{windows}, and that takes too long"
                raise RefusedError(f"{escape(network.name)}: {message}; give it fewer steps")
            return count(*short)
        length, *others = lengths
        if length <= least + degree * period:
            return at((*short, length), others)
        first = least + (length - least) % period
        points = [at((*short, first + number * period), others) for number in range(degree + 1)]
        further = (length - first) // period
        return {key: _polynomial([point.get(key, 0) for point in points], further) for key in points[-1]}

    return at((), lengths)


def _polynomial(values: Sequence[int], place: int) -> int:
    """Return the value at a place of the polynomial that has these values at 0, 1 and so on (Newton's series)."""
    total, terms = 0, [*values]
    for number in range(len(values)):
        total += comb(place, number) * terms[0]
        terms = [later - earlier for earlier, later in pairwise(terms)]
    return total


def _settled(network: Network) -> tuple[int, int, int]:
    """Return the length from which on all numbers are polynomials, the period of their residue class, their degree.

    At both ends of a sequence some steps differ from those between: as many as all windows reach, and until each state
    depends on all that it ever depends on. Windows of a user may be any steps, so that they are followed one by one.
    """
    layers = [placed.layer for placed in network.stack]
    states = max([len(layer.states) for layer in layers if isinstance(layer, Cell)], default=0)
    loops = sum(isinstance(move, Delay) for move in network.flow) + network.feedback
    least, period, degree, part, apart = 2 * (states + loops + 1), 1, 1, None, 1
    for placed in network.stack:
        layer, trace = placed.layer, placed.step
        if placed.part != part:
            part, apart = placed.part, 1
        window = layer.window_of(0, 1)
        around = [node.number for node in (trace.nodes if trace else ()) if node.operation == AROUND]
        reach = window[-1] - window[0] + sum(around)
        least += 2 * apart * reach
        apart *= layer.every  # the steps of the part's input for each of the layer's output
        period = lcm(period, apart)
        if not type(layer).window_of.__module__.startswith("rnncalc."):
            least += MOST_STEPS
        elif isinstance(layer, Cell) and trace and trace.x not in made_of(trace.nodes, (trace.output,)):
            least += 2 * states
        degree = 2 if layer.time.whole and layer.time.along else degree
    return least, period, degree
