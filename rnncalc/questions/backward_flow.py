"""How gradients flow through a network: for each layer, where a loss reaches it and where more is to be trained below.

A sequence is gone back through in chunks; between two of them the state is carried forward, and the gradient stops.
Reads the network's moves upwards, then downwards; knows nothing of what a layer does with its gradients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Dropout, Embedding, External, Layer
from rnncalc.network.flow import Begin, Final, Input, Last, Move, Placement, Recur
from rnncalc.network.network import Network
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


def stops(layer: Layer, chunks: Chunks) -> tuple[bool, ...]:
    """Return for each direction of a layer whether it takes its last step in such a chunk."""
    return (chunks.last, chunks.first)[: layer.directions]


def starts(layer: Layer, chunks: Chunks) -> tuple[bool, ...]:
    """Return for each direction of a layer whether it takes its first step in such a chunk."""
    return (chunks.first, chunks.last)[: layer.directions]


def situations(network: Network, chunk: int | None) -> Iterator[Situation]:
    """Yield how gradients meet each layer, in the stack's order; of a network whose numbers of steps are known."""
    values = _values(network, chunk)
    reached = _reached(network.flow, values)
    carried = {move.reads[0] for move in network.flow if isinstance(move, Final)}
    fed_itself = _is_fed_itself(network)
    layers = iter(network.stack)
    for place, move in enumerate(network.flow):
        if isinstance(move, Placement):
            chunks, needs = values[move.reads[0]]
            start = isinstance(move, Recur) and _start_needs(move, values)
            how = How(chunks, needs, start, reached[place], place in carried, fed_itself)
            yield Situation(next(layers), how)


def _is_fed_itself(network: Network) -> bool:
    """Return whether outputs are fed back, and one layer alone makes something else of what it reads."""
    others = [each.layer for each in network.stack if not isinstance(each.layer, Dropout) or each.layer.extra_inputs]
    return network.feedback and len(others) == 1 and not others[0].extra_inputs


class _Value(NamedTuple):
    """The chunks of the value of a move, and whether a gradient is asked for of it; a final state is one vector."""

    chunks: tuple[Chunks, ...]
    needs: Needs


def _values(network: Network, chunk: int | None) -> list[_Value]:
    """Return the value of each move: what stands below it says whether a gradient is asked for of it."""
    values: list[_Value] = []
    chunks: tuple[Chunks, ...] = ONE_VECTOR  # of a sequence in the part
    for move in network.flow:
        flowing, needs = values[move.reads[0]] if move.reads else (ONE_VECTOR, ())
        match move:
            case Input():
                chunks = chunks_of(network.parts[move.part].steps or 1, chunk)
                flowing = chunks if move.sequence else ONE_VECTOR
                needs = ((False, False),) * len(flowing)
            case Begin(later="output"):  # within a chunk gradients go on into what made the outputs
                trained = any(placed.trainable for placed in network.stack)
                flowing, needs = chunks, ((False, trained),) * len(chunks)
            case Begin():
                ((need, _),) = needs
                flowing, needs = chunks, ((need, False), *[(False, False)] * (len(chunks) - 1))
            case Placement():
                start = isinstance(move, Recur) and _start_needs(move, values)
                needs = _above(move.layer, flowing, needs, start=start)
            case Last() | Final():
                need = _at_end(network.flow[move.reads[0]], needs)
                flowing, needs = ONE_VECTOR, ((need, need),)
        values.append(_Value(flowing, needs))
    return values


def _start_needs(move: Recur, values: Sequence[_Value]) -> bool:
    """Return whether a gradient is asked for of a layer's first states."""
    carried = move.reads[1:]
    if carried:
        return any(any(values[state].needs[0]) for state in carried)
    return move.layer.learned_state and not move.layer.frozen


def _above(layer: Layer, chunks: tuple[Chunks, ...], needs: Needs, *, start: bool) -> Needs:
    """Return whether a gradient is asked for of what a layer outputs, from whether one is of what it reads."""
    match layer:
        case Cell() | Dense() | Embedding():
            trained = not layer.frozen
        case External():
            trained = not layer.frozen and layer.params > 0
        case _:
            trained = False
    if trained:
        return ((True, True),) * len(chunks)
    if not isinstance(layer, Cell):
        return needs
    above = []
    for kind, (first, others) in zip(chunks, needs, strict=True):
        first = first or (start and any(starts(layer, kind))) or (others and layer.bidirectional)
        above.append((first, first or others))  # what one step needs, the state hands on to those after it
    return tuple(above)


def _at_end(move: Move, needs: Needs) -> bool:
    """Return whether a gradient is asked for of what a layer has made where it stops."""
    both = isinstance(move, Recur) and move.layer.bidirectional
    return any(needs[-1]) or (both and any(needs[0]))


def _reached(flow: Sequence[Move], values: Sequence[_Value]) -> dict[int, Reached]:
    """Return for each move what a loss reaches of its value, from the network's output down."""
    carried = {move.reads[0] for move in flow if isinstance(move, Final)}
    reached = {len(flow) - 1: (Outputs.ALL,) * len(values[-1].chunks)}
    for place in reversed(range(len(flow))):
        move, chunks = flow[place], values[place].chunks
        # What an encoder outputs goes nowhere; its states do.
        found = reached.setdefault(place, (Outputs.NONE,) * len(chunks))
        match move:
            case Begin():
                found = found[:1]
            case Last():
                found = _at_last(flow[move.reads[0]], values[move.reads[0]].chunks, found)
            case Recur(layer=layer):
                states = place in carried
                found = tuple([_before(layer, *each, states=states) for each in zip(found, chunks, strict=True)])
            case Input() | Final():
                continue
        reached[move.reads[0]] = found
    return reached


def _at_last(move: Move, chunks: tuple[Chunks, ...], reached: Reached) -> Reached:
    """Return what is reached of a sequence, from what is of its last step."""
    if reached != (Outputs.ALL,):
        return (Outputs.NONE,) * len(chunks)
    at_end = [stops(move.layer, kind) if isinstance(move, Recur) else (kind.last,) for kind in chunks]
    return tuple(Outputs.END if any(end) else Outputs.NONE for end in at_end)


def _before(layer: Cell, reached: Outputs, kind: Chunks, *, states: bool) -> Outputs:
    """Return what is reached of what a recurrent layer reads in a chunk, from what is of what it outputs."""
    return Outputs.NONE if reached is Outputs.NONE and not (states and any(stops(layer, kind))) else Outputs.ALL
