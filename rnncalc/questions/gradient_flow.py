"""The flow of gradients through a network: what the backward pass saves and multiplies in each layer.

A layer's backward pass depends on where the loss reaches the layer, and on what is trained below it. A sequence has
its backward pass in chunks; between two chunks the state is carried forward and the gradient stops. The network's
moves are read forward for what is trained, then in reverse for what the loss reaches. The trace of a cell or a dense
layer then gives its saved values and products.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from rnncalc.conventions.catalogue import convention
from rnncalc.conventions.formula import Expression, Plus, Times, value
from rnncalc.conventions.tensor import STORED, Role
from rnncalc.errors import RefusedError
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Dropout, Embedding, External, Layer, Shape, Transform
from rnncalc.network.flow import Begin, Final, Input, Last, Move, Placement, Recur, Window, shapes
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.step.costs import BackwardProduct, Chunk, Outputs, SavedVector, Tally, tally
from rnncalc.step.costs import Gradient as BackwardGradient
from rnncalc.step.equations import Symbol, formulas
from rnncalc.step.trace import ONE, Trace, trace
from rnncalc.text import escape


class Chunks(NamedTuple):
    """Like chunks: how many, the steps of each, and whether they are the first or the last of a sequence."""

    times: int
    steps: int
    first: bool
    last: bool


ONE_VECTOR = (Chunks(1, 1, first=True, last=True),)
"""The chunks of a value that is not a sequence."""

Needs = tuple[tuple[bool, bool], ...]
"""For each kind of chunk, whether a vector needs a gradient at the first step, and at the others."""

Reached = tuple[Outputs | frozenset[int], ...]
"""For each kind of chunk, at which of its steps a loss depends on a vector; the steps, if a window skips some."""

MOST_STEPS = 100_000
"""The most steps of a sequence whose windows are followed one by one."""


class Situation(NamedTuple):
    """Where a layer needs gradients, and where the loss reaches it.

    chunks: of its input. inputs_need: where its input needs a gradient.
    start_needs: whether the states before the first step need a gradient.
    reached: where the loss depends on its outputs; at the end, if it makes one vector of a sequence.
    states_reached: whether the loss depends on the states after the last step.
    fed_itself: whether it reads its own outputs directly.
    """

    placed: Placed
    chunks: tuple[Chunks, ...]
    inputs_need: Needs
    start_needs: bool
    reached: Reached
    states_reached: bool
    fed_itself: bool

    def of_chunk(self, number: int) -> tuple[Chunks, tuple[bool, bool], Outputs | frozenset[int]]:
        """Return one kind of chunk, what needs a gradient in it, and what the loss reaches."""
        return self.chunks[number], self.inputs_need[number], self.reached[number]


def chunks_of(steps: int, chunk: int | None) -> tuple[Chunks, ...]:
    """Return the chunks of a sequence: the first, those between, and the last, which may be shorter."""
    size = min(chunk or steps, steps)
    count = -(-steps // size)
    if count == 1:
        return (Chunks(1, size, first=True, last=True),)
    between = (Chunks(count - 2, size, first=False, last=False),) if count > 2 else ()
    last = Chunks(1, steps - (count - 1) * size, first=False, last=True)
    return (Chunks(1, size, first=True, last=False), *between, last)


def stops(layer: Layer, chunks: Chunks) -> tuple[bool, ...]:
    """Return for each direction of a layer whether its last step is in such a chunk."""
    return (chunks.last, chunks.first)[: layer.directions]


def starts(layer: Layer, chunks: Chunks) -> tuple[bool, ...]:
    """Return for each direction of a layer whether its first step is in such a chunk."""
    return (chunks.first, chunks.last)[: layer.directions]


def situations(network: Network, chunk: int | None) -> Iterator[Situation]:
    """Yield the situation of each layer, in the stack's order. The numbers of steps must be known."""
    values = _values(network, chunk)
    reached = _reached(network.flow, values)
    carried = {move.reads[0] for move in network.flow if isinstance(move, Final)}
    along = [each.layer for each in network.stack if not each.starts]
    others = [layer for layer in along if not isinstance(layer, Dropout) or layer.extra_inputs]
    fed_itself = network.feedback and len(others) == 1 and not others[0].extra_inputs  # it alone changes its input
    layers = iter(network.stack)
    for place, move in enumerate(network.flow):
        if isinstance(move, Placement):
            chunks, needs = values[move.reads[0]]
            start = isinstance(move, Recur) and _start_needs(move, values)
            yield Situation(next(layers), chunks, needs, start, reached[place], place in carried, fed_itself)


class FlowGradient(NamedTuple):
    """The chunks of the value of a move, and whether it needs a gradient; a final state is one vector."""

    chunks: tuple[Chunks, ...]
    needs: Needs


def _values(network: Network, chunk: int | None) -> list[FlowGradient]:
    """Return for each move whether its value needs a gradient: it does if anything below is trained."""
    values: list[FlowGradient] = []
    chunks: tuple[Chunks, ...] = ONE_VECTOR  # of a sequence in the part
    shape = shapes(network.flow)
    for place, move in enumerate(network.flow):
        flowing, needs = values[move.reads[0]] if move.reads else (ONE_VECTOR, ())
        match move:
            case Input():
                chunks = chunks_of(network.parts[move.part].steps or 1, chunk)
                flowing = chunks if move.sequence else ONE_VECTOR
                needs = ((False, False),) * len(flowing)
            case Begin(later="output"):  # within a chunk gradients flow on into the layers that made the outputs
                trained = any(placed.trainable for placed in network.stack)
                flowing, needs = chunks, ((False, trained),) * len(chunks)
            case Begin():
                ((need, _),) = needs
                flowing, needs = chunks, ((need, False), *[(False, False)] * (len(chunks) - 1))
            case Window(layer=layer):
                needs = _above(layer, flowing, needs, start=False)
                if layer.along or layer.ends or layer.begins:
                    _refuse_windows(move.name, shape[place], chunk)
                    need = any(map(any, needs))
                    flowing = chunks_of(shape[place][0], None) if len(shape[place]) > 1 else ONE_VECTOR
                    needs = ((need, need),)
            case Placement():
                start = isinstance(move, Recur) and _start_needs(move, values)
                needs = _above(move.layer, flowing, needs, start=start)
            case Last() | Final():
                of = network.flow[move.reads[0]]
                need = any(needs[-1]) or (isinstance(of, Recur) and of.layer.bidirectional and any(needs[0]))
                flowing, needs = ONE_VECTOR, ((need, need),)
        values.append(FlowGradient(flowing, needs))
    return values


def _refuse_windows(name: str, shape: Shape, chunk: int | None) -> None:
    """Refuse chunks that would cut the steps a layer reads at once, and an output of too many steps."""
    if chunk is not None:
        message = f"{escape(name)} reads several steps at once, or ends or begins a sequence, and chunks would cut it"
        raise RefusedError(f"{message}; leave the chunk out")
    if len(shape) > 1 and shape[0] > MOST_STEPS:
        message = f"{escape(name)} outputs {shape[0]:,} steps, and the backward pass follows {MOST_STEPS:,} at most"
        raise RefusedError(f"{message}; give it fewer steps")


def _start_needs(move: Recur, values: Sequence[FlowGradient]) -> bool:
    """Return whether a layer's first states need a gradient."""
    carried = move.reads[1:]
    if carried:
        return any(any(values[state].needs[0]) for state in carried)
    return move.layer.learned_state and not move.layer.frozen


def _is_trained(layer: Layer) -> bool:
    """Return whether training changes parameters of a layer."""
    match layer:
        case Cell() | Dense() | Embedding():
            return not layer.frozen
        case External():
            return not layer.frozen and layer.params > 0
        case _:
            return not layer.frozen and any(Role(role) not in STORED for role, _ in layer.arrays)


def _above(layer: Layer, chunks: tuple[Chunks, ...], needs: Needs, *, start: bool) -> Needs:
    """Return whether a layer's output needs a gradient, from whether its input does."""
    if _is_trained(layer):
        return ((True, True),) * len(chunks)
    if not isinstance(layer, Cell):
        return needs
    above = []
    for kind, (first, others) in zip(chunks, needs, strict=True):
        first = first or (start and any(starts(layer, kind))) or (others and layer.bidirectional)
        above.append((first, first or others))  # if one step needs a gradient, later steps do because of the state
    return tuple(above)


def _reached(flow: Sequence[Move], values: Sequence[FlowGradient]) -> dict[int, Reached]:
    """Return for each move where the loss reaches its value, from the network's output down."""
    carried = {move.reads[0] for move in flow if isinstance(move, Final)}
    reached: dict[int, Reached] = {len(flow) - 1: (Outputs.ALL,) * len(values[-1].chunks)}
    for place in reversed(range(len(flow))):
        move, chunks = flow[place], values[place].chunks
        # An encoder's outputs are not used; its states are.
        found = reached.setdefault(place, (Outputs.NONE,) * len(chunks))
        match move:
            case Begin():
                (first,) = found[:1]
                found = ((Outputs.ALL if 0 in first else Outputs.NONE) if isinstance(first, frozenset) else first,)
            case Last():
                found = _at_last(flow[move.reads[0]], values[move.reads[0]].chunks, found)
            case Window(layer=layer):
                found = _before_window(layer, found, chunks, values[move.reads[0]].chunks)
            case Recur(layer=layer):
                states = place in carried
                for read in move.reads[1:]:
                    reached[read] = (_at_start(layer, found, chunks, states=states),)
                found = tuple([_before(layer, *each, states=states) for each in zip(found, chunks, strict=True)])
            case Input() | Final():
                continue
        reached[move.reads[0]] = found
    return reached


def _at_last(move: Move, chunks: tuple[Chunks, ...], reached: Reached) -> Reached:
    """Return where the loss reaches a sequence whose last step alone is read."""
    if reached != (Outputs.ALL,):
        return (Outputs.NONE,) * len(chunks)
    at_end = [stops(move.layer, kind) if isinstance(move, Recur) else (kind.last,) for kind in chunks]
    return tuple(Outputs.END if any(end) else Outputs.NONE for end in at_end)


def _at_start(layer: Cell, reached: Reached, chunks: Sequence[Chunks], *, states: bool) -> Outputs:
    """Return whether the loss reaches the states of a layer before its first step, in any of its directions."""
    for outputs, kind in zip(reached, chunks, strict=True):
        for begins, ends in zip(starts(layer, kind), stops(layer, kind), strict=True):
            some = outputs is Outputs.ALL or isinstance(outputs, frozenset)
            if begins and (some or (ends and (states or outputs is Outputs.END))):
                return Outputs.ALL
    return Outputs.NONE


def _before_window(
    layer: Transform, reached: Reached, chunks: tuple[Chunks, ...], below: tuple[Chunks, ...]
) -> Reached:
    """Return where the loss reaches the input of a layer around the cells, from where it reaches its output."""
    if not (layer.along or layer.ends or layer.begins):
        return reached
    steps = below[0].steps
    outputs = steps_of(reached[0], chunks[0].steps)
    read = {place for step in outputs for place in layer.window_of(step, steps) if place is not None}
    if len(read) in (0, steps):
        return (Outputs.ALL if read else Outputs.NONE,)
    return (frozenset(read),)


def steps_of(reached: Outputs | frozenset[int], steps: int) -> Collection[int]:
    """Return the steps at which a loss depends on a value."""
    match reached:
        case Outputs.ALL:
            return range(steps)
        case Outputs.END:
            return range(steps - 1, steps)
        case Outputs.NONE:
            return ()
    return reached


def _before(layer: Cell, reached: Outputs | frozenset[int], kind: Chunks, *, states: bool) -> Outputs | frozenset[int]:
    """Return where the loss reaches a recurrent layer's input in a chunk, from where it reaches its output."""
    if isinstance(reached, frozenset) and not states and not layer.bidirectional:
        return frozenset(range(max(reached) + 1)) if max(reached) + 1 < kind.steps else Outputs.ALL
    return Outputs.NONE if reached is Outputs.NONE and not (states and any(stops(layer, kind))) else Outputs.ALL


Widths = Mapping[tuple[str, ...], int]
"""Products of widths, by their letters, each with a count; no letters stand for 1."""


NOTHING = Tally({}, {})


class LayerCosts(NamedTuple):
    """The arithmetic of a whole sequence: the numbers saved in each kind of chunk, and all products."""

    saved: tuple[Expression, ...]
    multiply_adds: Expression


class Costs:
    """The arithmetic of the backward pass through the layers of a network, in its notation.

    Layers that differ only in their widths share a layout. If their situation is the same too, so is their arithmetic,
    which is then computed once.
    """

    def __init__(self, network: Network) -> None:
        self.notation = network.spelling
        self.convention = convention(network.convention)
        self.tables = {
            name: not part.layers[0].frozen
            for name, part in network.parts.items()
            if isinstance(part.layers[0], Embedding)
        }
        self._made: dict[object, LayerCosts] = {}

    def of(self, situation: Situation) -> tuple[int | None, int | None]:
        """Return the most numbers saved at once, and the multiplications of a sequence; None if counted elsewhere."""
        placed = situation.placed
        if isinstance(placed.layer, External):
            return None, None
        key = id(placed.layout), placed.layer.frozen, placed.part, situation[1:]
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._arithmetic(situation)
        sizes = placed.sizes
        return max([value(saved, sizes) for saved in made.saved]), value(made.multiply_adds, sizes)

    def _arithmetic(self, situation: Situation) -> LayerCosts:
        tallies = self.tallies(situation)
        work: dict[tuple[str, ...], int] = {}
        for kind, of in zip(situation.chunks, tallies, strict=True):
            for product, times in of.work.items():
                work[product.axes] = work.get(product.axes, 0) + kind.times * times
        return LayerCosts(tuple(expression(widths_saved(of)) for of in tallies), expression(work))

    def tallies(self, situation: Situation) -> list[Tally]:
        """Return the reads and products of each kind of chunk of a layer; nothing for a part counted elsewhere."""
        return [self._tally(situation, number) for number in range(len(situation.chunks))]

    def _tally(self, situation: Situation, number: int) -> Tally:
        placed, layer = situation.placed, situation.placed.layer
        chunks, _, reached = situation.of_chunk(number)
        if isinstance(layer, Embedding) and not layer.frozen:
            looked_up = len(steps_of(reached, chunks.steps))
            return Tally({SavedVector(TOKEN, ONE): looked_up}, {})
        if isinstance(layer, Transform):
            return _tally_of_transform(situation, number, layer)
        if not isinstance(layer, Cell | Dense) or not (reached is not Outputs.NONE or situation.states_reached):
            return NOTHING
        step = trace(layer, placed.inputs, self.convention)
        table = not self.tables[placed.part] if placed.layout.shared else layer.frozen
        frozen = [role for role in Role if (table if role is Role.KERNEL else layer.frozen)]
        if isinstance(layer, Cell):
            return tally(step, _chunk(situation, number, frozen), formulas(step, self.notation))
        of = tally(step, _chunk(situation, number, frozen), partial(_of_dense, placed, step))
        of = of._replace(saved=dict(reversed([*of.saved.items()])))  # x before y
        if not situation.fed_itself:
            return of
        # a layer that reads its own outputs: if inputs and outputs are saved, each is counted once
        inputs = {vector: times for vector, times in of.saved.items() if vector.width == "m" or len(of.saved) == 1}
        return of._replace(saved=inputs | {vector: 1 for vector in of.saved if vector not in inputs})


def _tally_of_transform(situation: Situation, number: int, layer: Transform) -> Tally:
    """Return the reads and products of a layer around the cells: what its windows read where the loss reaches it."""
    placed = situation.placed
    kind, (first, others), reached = situation.of_chunk(number)
    steps, needs = kind.steps, first or others
    trained = _is_trained(layer)
    reshapes = layer.along or layer.ends or layer.begins
    outputs = steps_of(reached, placed.uses or 1 if reshapes else steps)
    if not (trained or reshapes or first == others):  # a layer that is not trained, on a vector followed by zeros
        outputs = [step for step in outputs if (others if step else first)]
    saves_input, saves_output = layer.saves(trained=trained, needs=needs)
    windows = [layer.window_of(step, steps) for step in outputs]
    saved: dict[SavedVector, int] = {}
    if saves_input:
        read = {place for window in windows for place in window if place is not None}
        saved[SavedVector(Symbol("x", time="t", axes=("m",)), "m")] = placed.places * len(read)
    if saves_output:
        saved[SavedVector(Symbol("y", time="t", axes=("f",)), "f")] = len(windows)
    work: dict[BackwardProduct, int] = {}
    if layer.multiply_adds(placed.inputs):
        axes = next(axes for role, axes in layer.arrays if role == Role.KERNEL)[:2]
        of_matrix = sum(map(len, windows)) * trained
        of_vector = sum(place is not None for window in windows for place in window) * needs
        found = {BackwardGradient.MATRIX: of_matrix, BackwardGradient.VECTOR: of_vector}
        work = {BackwardProduct(what, "", "x", tuple(axes)): times for what, times in found.items() if times}
    return Tally(saved, work)


TOKEN = Symbol("x", time="t")
"""The index of a row that is looked up."""


def expression(of: Widths) -> Expression:
    """Return a sum of products of widths as arithmetic."""
    return Plus(tuple(Times((times, *letters)) if letters else times for letters, times in of.items()))


def _chunk(situation: Situation, number: int, frozen: Container[Role]) -> Chunk:
    """Return one kind of chunk of a layer, for its backward pass."""
    chunks, needs, reached = situation.of_chunk(number)
    layer = situation.placed.layer
    return Chunk(
        steps=chunks.steps,
        outputs=reached,
        inputs_need=needs,
        begins=starts(layer, chunks),
        starts_need=tuple([situation.start_needs and begins for begins in starts(layer, chunks)]),
        ends=stops(layer, chunks) if isinstance(layer, Cell) else (True,),
        frozen=frozen,
        merge=layer.merge if isinstance(layer, Cell) else None,
        final_states=situation.states_reached,
        other_end_needs=not layer.frozen or any(situation.inputs_need[0]),
        fed_itself=situation.fed_itself and isinstance(layer, Cell),
    )


def widths_saved(of: Tally) -> Widths:
    """Return the saved values, like widths together."""
    widths: dict[tuple[str, ...], int] = {}
    for vector, times in of.saved.items():
        letters = () if vector.width == ONE else (vector.width,)
        widths[letters] = widths.get(letters, 0) + times
    return widths


def _of_dense(placed: Placed, step: Trace, place: int) -> Symbol:
    """Return the name of a value of a dense layer: that of its input, or y."""
    node = step.nodes[place]
    return Symbol(node.letter or "y", time="t" if placed.sequence else "", axes=(node.width,))
