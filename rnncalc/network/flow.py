"""How a sequence moves through the layers of a network: a list of moves.

A value is a sequence of vectors or one vector. A move makes one value from the values of earlier moves. These are the
moves:

    from outside       Input       a vector becomes a sequence    Begin       a sequence becomes a vector    Last, Final
    at each step       Apply       from step to step              Recur       several values into one        Merge
    from some steps    Window      from all, for each query       Attend      a later value, a step late     Delay

`flow` makes the list from the parts of a network and its topology. Shapes, forward passes, pictures and exported code
are each computed by one loop over this list, and do not depend on the topology otherwise.

In one-to-many the sequence begins at the first recurrent layer; without one, at the first layer that is not an
embedding. Layers before it are applied once, to the one vector. If the network has only an embedding, it looks up one
token, and its output is followed by zeros.

A layer can also end a sequence, or begin one again. If no layer ends it, a many-to-one sequence ends after the last
layer that reads along the steps (a recurrent layer, a convolution), or after all layers if none is recurrent. A layer
that takes the last step, directly after a recurrent layer, takes that layer's own last output: with two directions, the
last output of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Literal

from rnncalc.layers.cell import Cell
from rnncalc.layers.cell import Merge as Merging
from rnncalc.layers.layer import Dense, Embedding, Layer, Shape, Transform, length_of
from rnncalc.network.parts import OUTPUT, Parts, Topology, name_of, name_of_start, reads_many
from rnncalc.records import Frozen

if TYPE_CHECKING:
    from rnncalc.layers.decoder_attention import DecoderAttention

NOT_YET = -1
"""The place of a move that is not made yet."""


class Move(Frozen):
    """Makes a value from the values at some earlier places of the list."""

    reads: tuple[int, ...]


class Input(Move):
    """A value from outside: the input of a part, or the extra inputs of a layer.

    tokens: whether its numbers are tokens below its width. extra_of: the name of the layer that reads it as extra
    inputs, None for the input of the part. starts: whether that layer's initial states are made from it instead.
    grid: the places of each axis of a step, each with its channels.
    """

    part: str | None
    shape: Shape
    tokens: bool = False
    extra_of: str | None = None
    starts: bool = False
    grid: tuple[int, ...] = ()

    @property
    def sequence(self) -> bool:
        """Whether there is a vector, or a token, at every step."""
        return len(self.shape) > 1


class Begin(Move):
    """A sequence that starts with a vector. Later steps are zeros, or the network's last output."""

    steps: int | None
    later: Literal["zeros", "output"] = "zeros"


class Placement(Move):
    """A layer applied at its place in the network.

    name: unique in the network. part: encoder, decoder or None. copy: its number among the layers of one `repeat`, from
    0.
    """

    name: str
    layer: Layer
    part: str | None
    copy: int = 0


class Apply(Placement):
    """A layer without a state, applied to a vector or to each step of a sequence."""


class InitialState(Apply):
    """A dense layer that makes an initial state of a recurrent layer from one vector. state: its letter."""

    recurrent: str = ""
    state: str = ""


class Window(Placement):
    """A layer around the cells. It computes each output vector from some vectors of a sequence, or from one vector."""

    layer: Transform


class Recur(Placement):
    """A recurrent layer along a sequence, or one step of it on a vector; two directions stay apart until a Merge.

    Reads x, then its initial states if an encoder or dense layers make them; a state has both directions side by side.
    """

    layer: Cell


class Attend(Placement):
    """A decoder's attention: a context for each query. Reads the queries, then the encoder's output at every step."""

    layer: DecoderAttention


class Delay(Move):
    """The value of a later move, one step late: of a layer's output, or of its state if it has a letter.

    Before the first step it is what the move reads, or if it reads nothing zeros, so many as its width.
    """

    later: int
    steps: int | None
    state: str = ""
    width: int = 0


class Last(Move):
    """The last step of a sequence; for a backward direction, the first in time."""


class Final(Move):
    """A state, by its letter, of a recurrent layer after its last step, both directions side by side."""

    state: str


class Merge(Move):
    """Joins several values step by step, or adds them up; or, from one value, its two directions."""

    how: Merging = "concat"


Moves = Sequence[Move]


def flow(parts: Parts, topology: str, *, feedback: bool) -> tuple[Move, ...]:
    """Return the moves of a network, each after those that it reads.

    topology: for a network that is not an encoder-decoder. An encoder outputs its final states, a decoder a sequence.
    """
    moves: list[Move] = []
    counted: Counter[str] = Counter()
    encoder: list[int] = []  # the recurrent layers whose final states start the decoder's
    memory = 0  # the encoder's output, to which a decoder attends
    attends = any(part.attention for part in parts.values())

    def add(move: Move) -> int:
        moves.append(move)
        return len(moves) - 1

    def starts_of(half: str | None, layer: Layer, copy: int, name: str, giving: int | None) -> list[int]:
        """Add the initial states of a layer, if it gets any; giving: the encoder's layer that they come from."""
        assert isinstance(layer, Cell)
        if layer.initial_state is None:
            return [] if giving is None else [add(Final((giving,), state)) for state in layer.states]
        states: list[int] = []
        vector = 0
        if giving is None:
            vector = add(Input((), half, (layer.initial_state,), extra_of=name, starts=True))
        for state, width in layer.states.items():
            if giving is not None:
                encoded = moves[giving]
                assert isinstance(encoded, Recur)
                same = state if state in encoded.layer.states else next(iter(encoded.layer.states))
                vector = add(Final((giving,), same))
            dense = Dense(units=layer.directions * layer.sizes(0)[width], frozen=layer.frozen)
            states.append(add(InitialState((vector,), name_of_start(name, state), dense, half, copy, name, state)))
        return states

    for half, part in parts.items():
        ending = Topology.MANY_TO_MANY if attends else Topology.MANY_TO_ONE
        steps_of_half = {"encoder": ending, "decoder": Topology.MANY_TO_MANY}.get(str(half), topology)
        layers = [(layer, copy, name_of(layer, copy, counted)) for layer in part.layers for copy in range(layer.repeat)]
        begin, end = turns([layer for layer, *_ in layers], steps_of_half)
        length: Shape = (part.steps,) if reads_many(steps_of_half) else ()
        first = part.layers[0]
        x = NOT_YET
        if part.width != 0:  # else it reads a context alone
            x = add(Input((), half, (*length, part.width), isinstance(first, Embedding), grid=first.grid))
        recurrent: list[int] = []
        cells = [place for place, (layer, *_) in enumerate(layers) if isinstance(layer, Cell)]
        levels = encoder if part.initial_states == "all" else encoder[-1:]
        decodes = half == "decoder" and part.initial_states != "zeros"
        giving = dict(zip(cells, levels, strict=False)) if decodes else {}
        starts: dict[int, list[int]] = {}  # the initial states of each recurrent layer that gets them
        attention, context, delayed = part.attention, NOT_YET, NOT_YET
        for place, (layer, copy, name) in enumerate(layers):
            if attention and place == cells[0] and (attention.query == "before" or attention.layer == "first"):
                for at in cells:
                    starts[at] = starts_of(half, *layers[at], giving.get(at))
            if attention and place == cells[0] and attention.query == "before":
                at = attention.query_layer(cells)
                cell = layers[at][0]
                assert isinstance(cell, Cell)
                state, width = next(iter(cell.states)), 0 if starts[at] else cell.state_widths()[0]
                delayed = add(Delay(tuple(starts[at][:1]), NOT_YET, part.steps, state=state, width=width))
                context = add(Attend((delayed, memory), attention.name or "attention", attention, half))
            if isinstance(layer, Cell) and layer.initial_state is not None and place not in starts:
                starts[place] = starts_of(half, layer, copy, name, giving.get(place))
            if place == begin:
                x, length = add(Begin((x,), part.steps, "output" if feedback else "zeros")), (part.steps,)
            if layer.extra_inputs:
                extra = add(Input((), half, (*length, layer.extra_inputs), extra_of=name))
                x = extra if x == NOT_YET else add(Merge((x, extra)))
            if attention and place == cells[0] and attention.joins[0]:
                if attention.query == "after":
                    context = delayed = add(Delay((), NOT_YET, part.steps, width=attention.output_width(0)))
                how: Merging = "sum" if attention.context == "added" else "concat"
                x = context if x == NOT_YET else add(Merge((x, context), how))
            if isinstance(layer, Cell):
                if place not in starts:
                    starts[place] = starts_of(half, layer, copy, name, giving.get(place))
                x = add(Recur((x, *starts[place]), name, layer, half, copy))
                recurrent.append(x)
            elif isinstance(layer, Transform):
                layer = layer.with_length(length[0]) if length else layer
                x = add(Window((x,), name, layer, half, copy))
                if not layer.time.by_step:
                    length = layer.output_shape((*length, 1))[:-1]
            else:
                x = add(Apply((x,), name, layer, half, copy))
            above = layers[place + 1][0] if place + 1 < len(layers) else None
            taken = isinstance(layer, Cell) and above is not None and takes_last(above)
            if length and (place == end or taken):
                x, length = add(Last((x,))), ()
            if isinstance(layer, Cell) and layer.bidirectional:
                x = add(Merge((x,), layer.merge or "concat"))
            if attention and place == attention.query_layer(cells):
                later = recurrent[-1]
                if attention.query == "after":
                    later = context = add(Attend((x, memory), attention.name or "attention", attention, half))
                if delayed != NOT_YET:
                    moves[delayed] = moves[delayed].replace(later=later)
                if attention.joins[1]:
                    x = add(Merge((x, context)))
        if begin == len(layers):
            x = add(Begin((x,), part.steps))
        if part.output:
            if part.output.extra_inputs:
                extra = add(Input((), half, (*length, part.output.extra_inputs), extra_of=OUTPUT))
                x = add(Merge((x, extra)))
            add(Apply((x,), OUTPUT, part.output, half))
        encoder, memory = recurrent, x
    return tuple(moves)


def turns(layers: Sequence[Layer], topology: str) -> tuple[int | None, int | None]:
    """Return the layer before which a sequence begins and the layer after which it ends; None if it does not.

    One-to-many begins at the first recurrent layer, many-to-one ends at the last. Without a recurrent layer it begins
    at the first layer that is not an embedding (after all, if there is none) and ends at the last. If a layer itself
    begins or ends the sequence, only such layers do.
    """
    begun = max([place for place, layer in enumerate(layers) if layer.time.begins], default=-1)
    ended = max([place for place, layer in enumerate(layers) if layer.time.ends], default=-1)
    recurrent = [place for place, layer in enumerate(layers) if isinstance(layer, Cell) and place > begun]
    if topology == Topology.MANY_TO_ONE:
        if ended > begun:
            return None, None
        along = [place for place, layer in enumerate(layers) if layer.time.along and place > begun]
        return None, max(*recurrent, *along, -1) if recurrent else len(layers) - 1
    slides = any(layer.time.along or layer.time.ends for layer in layers)  # it reports a missing sequence itself
    if topology == Topology.ONE_TO_MANY and begun < 0 and (recurrent or not slides):
        return recurrent[0] if recurrent else int(isinstance(layers[0], Embedding)), None
    return None, None


def takes_last(layer: Layer) -> bool:
    """Return whether a layer ends a sequence by taking its last step."""
    return layer.time.ends and length_of(layer.window_of(0, 2)) == 1


def inputs_of(moves: Moves) -> dict[str | None, Input]:
    """Return the input of each part that has one, extra inputs left out."""
    return {move.part: move for move in moves if isinstance(move, Input) and move.extra_of is None}


def ends(moves: Moves) -> Mapping[int, int]:
    """Return the place of each layer's output by the layer's place, after Last and the merge of two directions.

    The output of the last layer is the network's output.
    """
    places: dict[int, int] = {}
    for place, move in enumerate(moves):
        if isinstance(move, Placement):
            layer = places[place] = place
        elif isinstance(move, Last) or (isinstance(move, Merge) and len(move.reads) == 1):
            places[layer] = place
    places[layer] = len(moves) - 1
    return places


def shapes(moves: Moves) -> list[Shape]:
    """Return the shape of each move's value, two directions side by side until they are merged."""
    shapes_so_far: list[Shape] = []
    for move in moves:
        shapes_so_far.append(shape_of(move, shapes_so_far, moves))
    return shapes_so_far


def grids(moves: Moves) -> list[tuple[int, ...]]:
    """Return the places of each axis of a step of each move's value; nothing of a plain vector."""
    spaces: list[tuple[int, ...]] = []
    for move in moves:
        grid = spaces[move.reads[0]] if move.reads else ()
        if isinstance(move, Input):
            grid = move.grid
        elif isinstance(move, Placement):
            grid = grid_after(move.layer, grid)
        spaces.append(grid)
    return spaces


def grid_after(layer: Layer, grid: tuple[int, ...]) -> tuple[int, ...]:
    """Return the places of a layer's output for those of its input; its own if it cannot read that."""
    after = layer.output_grid(grid)
    return layer.grid if after is None else after


def arrays(moves: Moves) -> list[Shape]:
    """Return the shape of each move's value in a framework, where the places of a step are axes before the channels."""
    return [array_of(shape, grid) for shape, grid in zip(shapes(moves), grids(moves), strict=True)]


def array_of(shape: Shape, grid: tuple[int, ...]) -> Shape:
    """Return a shape with the places of a step before its channels."""
    return (*shape[:-1], *grid, shape[-1] // prod(grid)) if grid else shape


def shape_of(move: Move, earlier: Sequence[Shape], moves: Moves) -> Shape:
    """Return the shape of a move's value from the shapes of earlier values."""
    x = earlier[move.reads[0]] if move.reads else ()
    if isinstance(move, Placement) and move.layer.of_user and not isinstance(move, InitialState):
        from rnncalc.step.trace import check_own  # few layers are a user's

        check_own(move.layer, x)
    match move:
        case Attend():
            shape = (*x[:-1], move.layer.output_width(x[-1]))
        case Delay():
            shape = (move.steps, x[-1] if x else move.width)
        case Recur():
            shape = (*x[:-1], move.layer.directions * move.layer.direction_width(x[-1]))
        case Apply():
            shape = (*x[:-1], move.layer.output_width(x[-1]))
        case Input():
            shape = move.shape
        case Begin():
            shape = (move.steps, *x)
        case Window():
            shape = move.layer.output_shape(x)
        case Last():
            shape = x[1:]
        case Final():
            giving = moves[move.reads[0]]
            assert isinstance(giving, Recur)
            shape = (giving.layer.directions * giving.layer.sizes(0)[giving.layer.states[move.state]],)
        case Merge(reads=(_, _), how="sum"):
            shape = x
        case Merge(reads=(_,)):
            shape = x if move.how == "concat" else (*x[:-1], x[-1] // 2)
        case _:
            shape = (*x[:-1], sum(earlier[read][-1] for read in move.reads))
    return shape
