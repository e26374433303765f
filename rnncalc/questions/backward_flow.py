"""How gradients flow through a network: for each layer, where a loss reaches it and where more is to be trained below.

A sequence is gone back through in chunks; between two of them the state is carried forward, and the gradient stops.
Knows what flows between layers, and nothing of what a layer does with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Dropout, Embedding, External, Layer
from rnncalc.network.network import Network
from rnncalc.network.parts import Topology
from rnncalc.network.stack import Placed
from rnncalc.step.costs import Outputs


class Chunks(NamedTuple):
    """Chunks that are alike: how many, the steps of each, whether they are the first of a sequence, and the last."""

    times: int
    steps: int
    first: bool
    last: bool


ONE_VECTOR = (Chunks(1, 1, first=True, last=True),)
"""What is not a sequence."""

Needs = tuple[tuple[bool, bool], ...]
"""For each kind of chunk, whether a gradient is asked for of a vector at its first step, and at the others."""

Reached = tuple[Outputs, ...]
"""For each kind of chunk, at which of its steps a loss depends on a vector."""


class How(NamedTuple):
    """How gradients meet a layer.

    chunks: of the vectors that it reads. inputs_need: of those vectors.
    start_needs: whether a gradient is asked for of the states before the first step.
    reached: of what it hands on, at its end where it makes one vector of a sequence.
    states_reached: whether a loss depends on the states after the last step.
    fed_itself: whether it reads what it has handed on itself, no other layer standing between.
    """

    chunks: tuple[Chunks, ...]
    inputs_need: Needs
    start_needs: bool
    reached: Reached
    states_reached: bool
    fed_itself: bool


class Situation(NamedTuple):
    """How gradients meet a layer."""

    placed: Placed
    how: How

    def of_chunk(self, number: int) -> tuple[Chunks, tuple[bool, bool], Outputs]:
        """Return one of the kinds of chunk, what needs a gradient in it, and what is reached."""
        how = self.how
        return how.chunks[number], how.inputs_need[number], how.reached[number]


def chunks_of(steps: int, chunk: int | None) -> tuple[Chunks, ...]:
    """Return the chunks of so many steps: the first, those between, and the last, which may be shorter."""
    size = min(chunk or steps, steps)
    count = -(-steps // size)
    if count == 1:
        return (Chunks(1, size, first=True, last=True),)
    between = (Chunks(count - 2, size, first=False, last=False),) if count > 2 else ()
    last = Chunks(1, steps - (count - 1) * size, first=False, last=True)
    return (Chunks(1, size, first=True, last=False), *between, last)


def stops(layer: Cell, chunks: Chunks) -> tuple[bool, ...]:
    """Return for each direction of a layer whether it takes its last step in such a chunk."""
    return (chunks.last, chunks.first)[: layer.directions]


def starts(layer: Cell, chunks: Chunks) -> tuple[bool, ...]:
    """Return for each direction of a layer whether it takes its first step in such a chunk."""
    return (chunks.first, chunks.last)[: layer.directions]


def situations(network: Network, chunk: int | None) -> Iterator[Situation]:
    """Yield how gradients meet each layer, in the stack's order; of a network whose numbers of steps are known."""
    handed: list[bool] = []
    for name, part in network.parts.items():
        up = _Up(network.topology_of(name), chunks_of(part.steps or 1, chunk), handed)
        if network.feedback:
            up.feed_back(trained=any(entry.trainable for entry in network.stack))
        met = [up.past(placed) for placed in network.stack if placed.part == name]
        down = _Down(up, encoder=name == "encoder", fed_itself=_is_fed_itself(network))
        yield from reversed([down.past(below) for below in reversed(met)])
        handed = up.states


def _is_fed_itself(network: Network) -> bool:
    """Return whether outputs are fed back, and one layer alone makes something else of what it reads."""
    others = [each.layer for each in network.stack if not isinstance(each.layer, Dropout) or each.layer.extra_inputs]
    return network.feedback and len(others) == 1 and not others[0].extra_inputs


class _Below(NamedTuple):
    """A layer, and what it reads: the fields are those of `How` and `Situation`."""

    placed: Placed
    chunks: tuple[Chunks, ...]
    inputs_need: Needs
    start_needs: bool


class _Up:
    """The way up a part: what stands below a layer says whether a gradient is asked for of what it reads.

    handed: for each recurrent layer whether one is of the states that an encoder hands over; states: of those that the
    part ends with. flowing: the chunks of what flows, needs: whether a gradient is asked for of it.
    """

    def __init__(self, topology: str, chunks: tuple[Chunks, ...], handed: list[bool]) -> None:
        self.topology = topology
        self.chunks = chunks
        self.handed = handed
        self.states: list[bool] = []
        self.flowing = ONE_VECTOR if topology == Topology.ONE_TO_MANY else chunks
        self.needs: Needs = ((False, False),) * len(self.flowing)

    def feed_back(self, *, trained: bool) -> None:
        """Have outputs be the next inputs: within a chunk gradients go on into what made them."""
        self.flowing, self.needs = self.chunks, ((False, trained),) * len(self.chunks)

    def past(self, placed: Placed) -> _Below:
        """Return how a layer stands to what is below it."""
        layer = placed.layer
        begins = placed.sequence and self.flowing is ONE_VECTOR
        if begins and not isinstance(layer, Embedding):
            self._begin()
        start = self._start(layer)
        below = _Below(placed, self.flowing, self.needs, start)
        self.needs = self._above(layer, start=start)
        if isinstance(layer, Cell):
            self.states.append(self._at_end(layer))
        if begins and isinstance(layer, Embedding):
            self._begin()
        if self.topology == Topology.MANY_TO_ONE and self.flowing is self.chunks and not placed.sequence:
            need = self._at_end(layer)
            self.flowing, self.needs = ONE_VECTOR, ((need, need),)
        return below

    def _begin(self) -> None:
        """Have zeros follow the one vector."""
        ((need, _),) = self.needs
        self.flowing = self.chunks
        self.needs = ((need, False), *[(False, False)] * (len(self.chunks) - 1))

    def _start(self, layer: Layer) -> bool:
        """Return whether a gradient is asked for of a layer's first states."""
        if not isinstance(layer, Cell):
            return False
        return self.handed[len(self.states)] if self.handed else layer.learned_state and not layer.frozen

    def _above(self, layer: Layer, *, start: bool) -> Needs:
        """Return whether a gradient is asked for of what a layer hands on, from whether one is of what it reads."""
        match layer:
            case Cell() | Dense() | Embedding():
                trained = not layer.frozen
            case External():
                trained = not layer.frozen and layer.params > 0
            case _:
                trained = False
        if trained:
            return ((True, True),) * len(self.flowing)
        if not isinstance(layer, Cell):
            return self.needs
        above = []
        for kind, (first, others) in zip(self.flowing, self.needs, strict=True):
            first = first or (start and any(starts(layer, kind))) or (others and layer.bidirectional)
            above.append((first, first or others))  # what one step needs, the state hands on to those after it
        return tuple(above)

    def _at_end(self, layer: Layer) -> bool:
        """Return whether a gradient is asked for of what a layer has made where it stops."""
        both = isinstance(layer, Cell) and layer.bidirectional
        return any(self.needs[-1]) or (both and any(self.needs[0]))


class _Down:
    """The way down the same part: from what a loss reaches of what a layer hands on to what it reads."""

    def __init__(self, up: _Up, *, encoder: bool, fed_itself: bool) -> None:
        self.encoder = encoder
        self.fed_itself = fed_itself
        self.flowing = up.flowing
        one = Outputs.NONE if encoder else Outputs.ALL  # what an encoder hands on goes nowhere; its states do
        self.reached: Reached = (one,) * len(self.flowing)

    def past(self, below: _Below) -> Situation:
        """Return how a loss reaches a layer."""
        layer = below.placed.layer
        if below.chunks is not self.flowing:
            self._turn(layer, below.chunks)
        states, above = self.encoder and isinstance(layer, Cell), self.reached
        if isinstance(layer, Cell):
            self.reached = self._before(layer, states_reached=states)
        how = How(below.chunks, below.inputs_need, below.start_needs, above, states, self.fed_itself)
        return Situation(below.placed, how)

    def _turn(self, layer: Layer, chunks: tuple[Chunks, ...]) -> None:
        """Go from what a layer hands on, one vector or a sequence, to what it reads, which is the other."""
        self.flowing = chunks
        if chunks is ONE_VECTOR:
            self.reached = self.reached[:1]
        elif self.reached == (Outputs.ALL,):
            at_end = [stops(layer, kind) if isinstance(layer, Cell) else (kind.last,) for kind in chunks]
            self.reached = tuple(Outputs.END if any(end) else Outputs.NONE for end in at_end)
        else:
            self.reached = (Outputs.NONE,) * len(chunks)

    def _before(self, layer: Cell, *, states_reached: bool) -> Reached:
        """Return what is reached of what a recurrent layer reads, from what is of what it hands on."""
        return tuple(
            [
                Outputs.NONE
                if reached is Outputs.NONE and not (states_reached and any(stops(layer, kind)))
                else Outputs.ALL
                for reached, kind in zip(self.reached, self.flowing, strict=True)
            ]
        )
