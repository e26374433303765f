"""The flow of gradients through a network: what the backward pass saves and multiplies in each layer.

A layer's backward pass depends on where the loss reaches the layer, and on what is trained below it. A sequence has
its backward pass in chunks; between two chunks the state is carried forward and the gradient stops. The network's
moves are read forward for what is trained, then in reverse for what the loss reaches. The trace of a cell or a dense
layer then gives its saved values and products.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from rnncalc.conventions.tensor import STORED, Role
from rnncalc.errors import RefusedError
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dropout, External, Layer, Shape, Time, Transform, inside, length_of
from rnncalc.network.flow import Attend, Begin, Delay, Final, Input, Last, Merge, Move, Placement, Recur, Window, shapes
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.printable import escape
from rnncalc.step import costs
from rnncalc.step.costs import BackwardProduct, Chunk, Gradient, Outputs, SavedVector, Tally
from rnncalc.step.nodes import HEADS, INPUT, ONE, SEQUENCE, STEP, STEPS, Repeats, Trace


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


class ChunkTally(NamedTuple):
    """Like chunks of a layer's input: how many, what they are, and what their backward pass reads and multiplies."""

    times: int
    chunk: Chunk
    tally: Tally


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


def layer_tallies(network: Network, chunk: int | None) -> Iterator[tuple[Placed, list[ChunkTally]]]:
    """Yield each layer with the tallies of its kinds of chunk, in the stack's order. The steps must be known.

    Layers that differ only in their widths share a layout. If their chunks are equal too, so are their tallies, which
    are then computed once.
    """
    tallies: dict[object, list[Tally]] = {}
    values = _values(network, chunk)
    reached = _reached(network.flow, values)
    carried = {move.reads[0] for move in network.flow if isinstance(move, Final)}
    along = [each.layer for each in network.stack if not each.starts]
    others = [layer for layer in along if not isinstance(layer, Dropout) or layer.extra_inputs]
    fed_itself = network.feedback and len(others) == 1 and not others[0].extra_inputs  # it alone changes its input
    layers = iter(network.stack)
    for place, move in enumerate(network.flow):
        if isinstance(move, Placement):
            placed, layer = next(layers), move.layer
            kinds, needs = values[move.reads[0]]
            start = isinstance(move, Recur) and _start_needs(move, values)
            if isinstance(move, Attend):
                start = any(map(any, values[move.reads[1]].needs))
            owner = network.parts[placed.part].layers[0] if placed.layout.shared else layer  # of a tied matrix
            frozen = frozenset(role for role in Role if (owner if role is Role.KERNEL else layer).frozen)
            chunks = tuple(
                Chunk(
                    steps=kind.steps,
                    outputs=outputs,
                    inputs_need=need,
                    begins=starts(layer, kind),
                    starts_need=tuple([start and begins for begins in starts(layer, kind)]),
                    ends=stops(layer, kind) if isinstance(layer, Cell) else (True,),
                    frozen=frozen,
                    merge=layer.merge if isinstance(layer, Cell) else None,
                    final_states=place in carried,
                    other_end_needs=not layer.frozen or any(needs[0]),
                    fed_itself=fed_itself,
                )
                for kind, need, outputs in zip(kinds, needs, reached[place], strict=True)
            )
            key = id(placed.layout), chunks
            if key not in tallies:
                tallies[key] = [_tally(network, placed, each) for each in chunks]
            rows = zip(kinds, chunks, tallies[key], strict=True)
            yield placed, [ChunkTally(kind.times, each, tally) for kind, each, tally in rows]


class FlowGradient(NamedTuple):
    """The chunks of the value of a move, and whether it needs a gradient; a final state is one vector."""

    chunks: tuple[Chunks, ...]
    needs: Needs


def _values(network: Network, chunk: int | None, *, delayed: bool = False) -> list[FlowGradient]:
    """Return for each move whether its value needs a gradient: it does if anything below is trained.

    delayed: whether a value that is read one step late needs one.
    """
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
            case Delay():
                first = any(map(any, needs))
                flowing, needs = chunks, ((first, delayed), *[(delayed, delayed)] * (len(chunks) - 1))
            case Merge(reads=(_, beside)):
                needs = _either(needs, values[beside].needs)
            case Attend(layer=layer):
                _refuse_windows(move.name, shape[place], chunk)
                need = any(map(any, values[move.reads[1]].needs)) or _is_trained(layer)
                needs = _either(needs, ((need, need),))
            case Window(layer=layer):
                needs = _above(layer, flowing, needs, start=False)
                if not layer.time.by_step:
                    _refuse_windows(move.name, shape[place], chunk)
                    need = any(map(any, needs))
                    flowing = chunks_of(shape[place][0], None) if len(shape[place]) > 1 else ONE_VECTOR
                    needs = ((need, need),)
            case Placement():
                start = isinstance(move, Recur) and _start_needs(move, values)
                needs = _above(move.layer, flowing, needs, start=start)
            case Last() | Final():
                source = network.flow[move.reads[0]]
                need = any(needs[-1]) or (isinstance(source, Recur) and source.layer.bidirectional and any(needs[0]))
                flowing, needs = ONE_VECTOR, ((need, need),)
        values.append(FlowGradient(flowing, needs))
    late = [values[move.later].needs for move in network.flow if isinstance(move, Delay)]
    if not delayed and any(any(map(any, needs)) for needs in late):
        return _values(network, chunk, delayed=True)
    return values


def _either(needs: Needs, others: Needs) -> Needs:
    """Return whether one of two values needs a gradient."""
    pairs = zip(needs, others, strict=True)
    return tuple([(first or other[0], later or other[1]) for (first, later), other in pairs])


def _refuse_windows(name: str, shape: Shape, chunk: int | None) -> None:
    """Refuse chunks that would cut the steps that a layer reads at once, and an output of too many steps."""
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
        case Cell():
            return not layer.frozen
        case External():
            return not layer.frozen and layer.params > 0
        case _:
            return not layer.frozen and any(role not in STORED for role, _ in layer.arrays)


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
    late = {move.later for move in flow if isinstance(move, Delay) and not move.state}
    for place in reversed(range(len(flow))):
        move, chunks = flow[place], values[place].chunks
        # Without attention an encoder's outputs are not used; its states are.
        outputs = reached.setdefault(place, (Outputs.NONE,) * len(chunks))
        if place in late:  # all steps but the last are read a step late
            outputs = reached[place] = _both(outputs, (frozenset(range(chunks[0].steps - 1)) or Outputs.NONE,))
        match move:
            case Begin():
                (first,) = outputs[:1]
                outputs = ((Outputs.ALL if 0 in first else Outputs.NONE) if isinstance(first, frozenset) else first,)
            case Last():
                source, some = flow[move.reads[0]], outputs == (Outputs.ALL,)
                below = values[move.reads[0]].chunks
                at_end = [stops(source.layer, kind) if isinstance(source, Recur) else (kind.last,) for kind in below]
                outputs = tuple([Outputs.END if some and any(end) else Outputs.NONE for end in at_end])
            case Window(layer=layer):
                outputs = _before_window(layer, outputs, chunks, values[move.reads[0]].chunks)
            case Merge(reads=(_, beside)) | Attend(reads=(_, beside)):
                below = values[beside].chunks
                if isinstance(move, Attend):
                    reached[beside] = (Outputs.NONE if outputs == (Outputs.NONE,) else Outputs.ALL,) * len(below)
                else:
                    reached[beside] = _both(reached.get(beside, (Outputs.NONE,) * len(below)), outputs)
            case Recur(layer=layer):
                states = place in carried
                for read in move.reads[1:]:
                    reached[read] = (_at_start(layer, outputs, chunks, states=states),)
                outputs = tuple([_before(layer, *each, states=states) for each in zip(outputs, chunks, strict=True)])
            case Input() | Final() | Delay():
                continue
        reached[move.reads[0]] = _both(outputs, reached.get(move.reads[0], outputs))
    return reached


def _both(reached: Reached, others: Reached) -> Reached:
    """Return where the loss reaches a value that two moves read, from where it reaches it through each."""
    both: list[Outputs | frozenset[int]] = []
    for one, other in zip(reached, others, strict=True):
        if isinstance(one, frozenset) and isinstance(other, frozenset):
            both.append(one | other)
        else:
            both.append(other if one is Outputs.NONE or other is Outputs.ALL else one)
    return tuple(both)


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
    if layer.time.by_step:
        return reached
    steps = below[0].steps
    outputs = steps_of(reached[0], chunks[0].steps)
    read = _steps_read(layer, outputs, steps)
    if len(read) in (0, steps):
        return (Outputs.ALL if read else Outputs.NONE,)
    return (frozenset(read),)


def _steps_read(layer: Transform, outputs: Collection[int], steps: int) -> Collection[int]:
    """Return the steps of the input that are read for some steps of the output."""
    if layer.time.whole:  # from the first step, so that the longest has all
        return range(max([length_of(layer.window_of(step, steps)) for step in outputs], default=0))
    return {place for step in outputs for place in inside(layer.window_of(step, steps), steps)}


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


def _tally(network: Network, placed: Placed, chunk: Chunk) -> Tally:
    """Return the reads and products of a chunk of a layer; none of an external part."""
    layer, step = placed.layer, placed.step
    if step is None:
        return Tally({}, {})
    if isinstance(layer, Transform):
        if layer.time is Time.MEMORY:
            return _tally_of_attention(network, placed, step, chunk)
        return _tally_of_transform(placed, layer, step, chunk)
    if chunk.outputs is Outputs.NONE and not chunk.final_states:
        return Tally({}, {})
    if isinstance(layer, Cell):
        return costs.tally(step, chunk)
    dense = costs.tally(step, chunk._replace(fed_itself=False))
    dense = dense._replace(saved=dict(reversed([*dense.saved.items()])))  # x before y
    if not chunk.fed_itself:
        return dense
    # a layer that reads its own outputs: if inputs and outputs are saved, each is counted once
    inputs = {vector: times for vector, times in dense.saved.items() if vector.width == "m" or len(dense.saved) == 1}
    return dense._replace(saved=inputs | {vector: 1 for vector in dense.saved if vector not in inputs})


def _tally_of_transform(placed: Placed, layer: Transform, step: Trace, chunk: Chunk) -> Tally:
    """Return the reads and products of a layer around the cells: what its windows read where the loss reaches it."""
    steps, (first, others) = chunk.steps, chunk.inputs_need
    trained = _is_trained(layer)
    reshapes = not layer.time.by_step
    outputs = steps_of(chunk.outputs, placed.uses or 1 if reshapes else steps)
    groups = [(outputs, first or others)]
    if not reshapes and first != others:  # a vector followed by zeros
        groups = [([each for each in outputs if not each], first), ([each for each in outputs if each], others)]
    inputs: set[int] = set()
    saved: Counter[SavedVector] = Counter()
    work: Counter[BackwardProduct] = Counter()
    for group, asked in groups:
        reads = costs.layer_reads(step, trained=trained, needs=asked)
        windows = [layer.window_of(each, steps) for each in group]
        if layer.time.whole and group:
            lengths = [*map(length_of, windows)]
            repeats = Repeats(len(group), max(lengths), sum(lengths), placed.sizes.get(HEADS, 1))
            return _tally_of_whole(step, repeats, reads, {*_steps_read(layer, group, steps)}, group)
        for place in reads.saved:
            node = step.nodes[place]
            if node.operation == STEP:
                inputs.update(*[inside(window[node.number :][:1], steps) for window in windows])
            elif place == step.x:
                inputs.update(*[inside(window, steps) for window in windows])
            else:
                saved[SavedVector(place, node.width)] += placed.places * len(windows)
        for place, purpose in reads.products:
            kernel, vector = (step.nodes[operand] for operand in step.nodes[place].operands)
            taps = windows if len(kernel.axes) > 2 else [window[:1] for window in windows]
            if vector.operation == STEP:
                taps = [window[vector.number :][:1] for window in windows]
            times = sum(length_of(tap if purpose is Gradient.MATRIX else inside(tap, steps)) for tap in taps)
            if times:
                work[BackwardProduct(purpose, place, kernel.axes[:2])] += times * placed.places
    if inputs:
        return Tally({SavedVector(step.x, "m"): placed.places * len(inputs), **saved}, work)
    return Tally(saved, work)


def _tally_of_attention(network: Network, placed: Placed, step: Trace, chunk: Chunk) -> Tally:
    """Return the reads and products of a decoder's attention, for the queries whose context the loss reaches."""
    outputs, trained, (memory,) = steps_of(chunk.outputs, chunk.steps), _is_trained(placed.layer), chunk.starts_need
    first, others = chunk.inputs_need
    assert placed.repeats
    steps, heads = placed.repeats.steps, placed.repeats.heads
    saved: Counter[SavedVector] = Counter()
    work: Counter[BackwardProduct] = Counter()
    later = any(outputs)  # whether there is another query than the first
    parts = [(1, others if later else first, Repeats(len(outputs), steps, len(outputs) * steps, heads), outputs)]
    if later and 0 in outputs and first != others:  # the first query alone
        parts += [(sign, need, Repeats(1, 0, steps, heads), (0,)) for sign, need in ((-1, others), (1, first))]
    for sign, asked, repeats, queries in parts if outputs else ():
        read = costs.layer_reads(step, trained=trained, needs=memory, current=asked)
        tally = _tally_of_whole(step, repeats, read, {*range(repeats.steps)}, queries)
        saved.update({vector: sign * times for vector, times in tally.saved.items()})
        work.update({product: sign * times for product, times in tally.work.items()})
    nodes = enumerate(step.nodes)
    vectors = {node.operation: _vector_read(step, place) for place, node in nodes if node.operation in READ}
    if 0 in outputs and all(saved[vector] for vector in vectors.values()) and _begins_with_a_key(network):
        saved[vectors[INPUT]] -= 1
    return Tally(+saved, +work)


def _begins_with_a_key(network: Network) -> bool:
    """Return whether a decoder's first query is the encoder's last output, which is one vector then."""
    query, memory = next(move.reads for move in network.flow if isinstance(move, Attend))
    first = network.flow[network.flow[query].reads[0]] if isinstance(network.flow[query], Delay) else None
    return isinstance(first, Final) and (first.state, first.reads) == ("h", (memory,))


READ = (INPUT, SEQUENCE)
"""The operations of the vectors that a layer over a whole sequence reads: its step's own, and the sequence."""


def _vector_read(step: Trace, place: int) -> SavedVector:
    """Return a vector that a layer reads; one at the step of its output is of the sequence if it has that's letter."""
    node = step.nodes[place]
    return SavedVector(step.x if node.letter == step.nodes[step.x].letter else place, node.width)


def _tally_of_whole(
    step: Trace, repeats: Repeats, read: costs.LayerReads, inputs: set[int], outputs: Collection[int]
) -> Tally:
    """Return the reads and products of a layer that reads a whole sequence; inputs: the steps of it that are read."""
    saved: Counter[SavedVector] = Counter()
    work: Counter[BackwardProduct] = Counter()
    steps: dict[SavedVector, set[int]] = {}  # of the vectors that it reads
    for place in read.saved:
        node = step.nodes[place]
        if node.operation in READ:
            steps.setdefault(_vector_read(step, place), set()).update(inputs if node.operation == SEQUENCE else outputs)
        else:
            width = ONE if node.width == STEPS else node.width
            saved[SavedVector(place, width)] += repeats.number(step.repeats[place])
    for place, purpose in read.products:
        axes, letters = step.work(place)
        work[BackwardProduct(purpose, place, axes)] += repeats.number(letters)
    return Tally({**{vector: len(each) for vector, each in steps.items()}, **saved}, work)


def saved_numbers(placed: Placed, tally: Tally) -> int:
    """Return how many numbers the backward pass of a chunk reads, with numbers for the letters of widths."""
    sizes = {**placed.sizes, ONE: 1}
    return sum(times * sizes[vector.width] for vector, times in tally.saved.items())
