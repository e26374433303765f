"""How a sequence moves through the layers of a network: a list of moves.

A value is a sequence of vectors or one vector. A move makes one value from the values of earlier moves. There is one
for each way from one kind of value to another:

    from outside       Input       a vector becomes a sequence    Begin       a sequence becomes a vector    Last, Final
    at each step       Apply       from step to step              Recur       several values into one        Merge
    from some steps    Window

`flow` makes the list from the parts of a network; it alone knows topologies. Whatever follows a sequence through a
network goes through the list once and says what each move does to shapes, to numbers, to boxes or to lines of code.

In one-to-many the sequence begins at the first recurrent layer; without one, at the first layer that is not an
embedding. Layers before it are applied once, to the one vector: an embedding that stands alone looks up one token, and
zeros follow what it outputs.

A layer can end a sequence itself, or begin one again. In many-to-one the sequence ends by itself only where no layer
has ended it: behind the last layer that reads along its steps (a recurrent one, a convolution), or behind all layers
if none is recurrent. A layer that ends a sequence with its last step, directly behind a recurrent one, takes that
layer's own last output, which in two directions is the last of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from rnncalc.layers.cell import Cell
from rnncalc.layers.cell import Merge as Merging
from rnncalc.layers.frozen import Frozen
from rnncalc.layers.layer import Dense, Embedding, Layer, Shape, Transform
from rnncalc.network.parts import OUTPUT, Parts, Topology, joins, name_of, name_of_start, reads_many


class Move(Frozen):
    """Makes a value from the values at some earlier places of the list."""

    reads: tuple[int, ...]


class Input(Move):
    """A value from outside: the input of a part, or the extra inputs of a layer.

    tokens: whether its numbers are tokens below its width. extra_of: the name of the layer that reads it as extra
    inputs, None for the input of the part.
    """

    part: str | None
    shape: Shape
    tokens: bool = False
    extra_of: str | None = None

    @property
    def sequence(self) -> bool:
        """Whether there is a vector, or a token, at every step."""
        return len(self.shape) > 1


class Begin(Move):
    """A sequence that starts with a vector. Later steps are zeros, or the network's last output."""

    steps: int | None
    later: Literal["zeros", "output"] = "zeros"


class Placement(Move):
    """A layer in its place.

    name: unique in the network. part: encoder, decoder or None. copy: which of the layers of one `repeat` it is.
    """

    name: str
    layer: Layer
    part: str | None
    copy: int = 0


class Apply(Placement):
    """A layer without a state, applied to a vector or to each step of a sequence."""


class InitialState(Apply):
    """A dense layer that makes a state, by its letter, of a recurrent layer before its first step, from one vector."""

    of: str = ""
    state: str = ""


class Window(Placement):
    """A layer around the cells: each vector of its output is made from some vectors of a sequence, or from a vector."""

    layer: Transform


class Recur(Placement):
    """A recurrent layer along a sequence, or one step of it on a vector; two directions stay apart until a Merge.

    Reads x, then its initial states if they come from an encoder or from a dense layer each, with both directions side
    by side.
    """

    layer: Cell


class Last(Move):
    """The last step of a sequence; in a direction that runs backwards it is the first in time."""


class Final(Move):
    """A state, by its letter, of a recurrent layer after its last step, both directions side by side."""

    state: str


class Merge(Move):
    """Several values as one, step by step; of one value, its two directions."""

    how: Merging = "concat"


Moves = Sequence[Move]


def flow(parts: Parts, topology: str, *, feedback: bool) -> tuple[Move, ...]:
    """Return the moves of a network, each after those that it reads.

    topology: of a network that is no encoder-decoder. An encoder outputs its final states, a decoder a sequence.
    """
    moves: list[Move] = []
    counted: Counter[str] = Counter()
    encoder: list[int] = []  # the recurrent layers whose final states start the decoder's

    def add(move: Move) -> int:
        moves.append(move)
        return len(moves) - 1

    for half, part in parts.items():
        of = {"encoder": Topology.MANY_TO_ONE, "decoder": Topology.MANY_TO_MANY}.get(str(half), topology)
        layers = [(layer, copy) for layer, _, copy, _, _ in joins(part)]
        begin, end = turns([layer for layer, _ in layers], of)
        length: Shape = (part.steps,) if reads_many(of) else ()
        x = add(Input((), half, (*length, part.width), isinstance(part.layers[0], Embedding)))
        recurrent: list[int] = []
        for place, (layer, copy) in enumerate(layers):
            name = name_of(layer, copy, counted)
            made: list[int] = []
            if isinstance(layer, Cell) and layer.initial_state is not None:
                giving = encoder[len(recurrent)] if half == "decoder" else None
                vector = add(Input((), half, (layer.initial_state,), extra_of=name)) if giving is None else 0
                for state, width in layer.states.items():
                    if giving is not None:
                        vector = add(Final((giving,), final_state(moves[giving], state)))
                    dense = Dense(units=layer.directions * layer.sizes(0)[width], frozen=layer.frozen)
                    start_name = name_of_start(name, state)
                    made.append(add(InitialState((vector,), start_name, dense, half, copy, name, state)))
            if place == begin:
                x, length = add(Begin((x,), part.steps, "output" if feedback else "zeros")), (part.steps,)
            if layer.extra_inputs:
                extra = add(Input((), half, (*length, layer.extra_inputs), extra_of=name))
                x = add(Merge((x, extra)))
            if isinstance(layer, Cell):
                start = made
                if half == "decoder" and not made:
                    start = [add(Final((encoder[len(recurrent)],), state)) for state in layer.states]
                x = add(Recur((x, *start), name, layer, half, copy))
                recurrent.append(x)
            elif isinstance(layer, Transform):
                x = add(Window((x,), name, layer, half, copy))
                if layer.begins or layer.ends or layer.along:
                    length = layer.output_shape((*length, 1))[:-1]
            else:
                x = add(Apply((x,), name, layer, half, copy))
            above = layers[place + 1][0] if place + 1 < len(layers) else None
            taken = isinstance(layer, Cell) and above is not None and takes_last(above)
            if length and (place == end or taken):
                x, length = add(Last((x,))), ()
            if isinstance(layer, Cell) and layer.bidirectional:
                x = add(Merge((x,), layer.merge or "concat"))
        if begin == len(layers):
            x = add(Begin((x,), part.steps))
        if part.output:
            add(Apply((x,), OUTPUT, part.output, half))
        encoder = recurrent
    return tuple(moves)


def final_state(giving: Move, state: str) -> str:
    """Return which final state of an encoder's layer starts a decoder's of a letter: the same, or else the first."""
    assert isinstance(giving, Recur)
    return state if state in giving.layer.states else next(iter(giving.layer.states))


def turns(layers: Sequence[Layer], topology: str) -> tuple[int | None, int | None]:
    """Return the layer before which a sequence begins and the layer after which it ends; None if it does not.

    One-to-many begins at the first recurrent layer, many-to-one ends at the last. Without a recurrent layer it begins
    at the first that is not an embedding, behind all if there is none, and ends at the last. Where layers say
    themselves that a sequence begins or ends, they alone do.
    """
    around = [(place, layer) for place, layer in enumerate(layers) if isinstance(layer, Transform)]
    begun = max([place for place, layer in around if layer.begins], default=-1)
    ended = max([place for place, layer in around if layer.ends], default=-1)
    recurrent = [place for place, layer in enumerate(layers) if isinstance(layer, Cell) and place > begun]
    if topology == Topology.MANY_TO_ONE:
        if ended > begun:
            return None, None
        along = [place for place, layer in around if layer.along and place > begun]
        return None, max(*recurrent, *along, -1) if recurrent else len(layers) - 1
    slides = any(layer.along or layer.ends for _, layer in around)  # it finds no sequence where none is begun
    if topology == Topology.ONE_TO_MANY and begun < 0 and (recurrent or not slides):
        return recurrent[0] if recurrent else int(isinstance(layers[0], Embedding)), None
    return None, None


def takes_last(layer: Layer) -> bool:
    """Return whether a layer ends a sequence with its last step alone."""
    return isinstance(layer, Transform) and layer.ends and len(layer.window_of(0, 2)) == 1


def inputs_of(moves: Moves) -> dict[str | None, Input]:
    """Return the input of each part, extra inputs left out."""
    return {move.part: move for move in moves if isinstance(move, Input) and move.extra_of is None}


def ends(moves: Moves) -> Mapping[int, int]:
    """Return for the place of each layer the place of its output, after Last and the merge of its two directions.

    The output of a network's last layer is the network's.
    """
    found: dict[int, int] = {}
    for place, move in enumerate(moves):
        if isinstance(move, Placement):
            of = found[place] = place
        elif isinstance(move, Last) or (isinstance(move, Merge) and len(move.reads) == 1):
            found[of] = place
    found[of] = len(moves) - 1
    return found


def shapes(moves: Moves) -> list[Shape]:
    """Return the shape of each move's value, two directions side by side until they are merged."""
    found: list[Shape] = []
    for move in moves:
        found.append(shape_of(move, found, moves))
    return found


def shape_of(move: Move, found: Sequence[Shape], moves: Moves) -> Shape:
    """Return the shape of a move's value from those of the values before."""
    x = found[move.reads[0]] if move.reads else ()
    match move:
        case Input():
            shape = move.shape
        case Begin():
            shape = (move.steps, *x)
        case Window():
            shape = move.layer.output_shape(x)
        case Apply():
            shape = (*x[:-1], move.layer.output_width(x[-1]))
        case Recur(layer=layer):
            shape = (*x[:-1], layer.directions * layer.sizes(0)[layer.output])
        case Last():
            shape = x[1:]
        case Final():
            of = moves[move.reads[0]]
            assert isinstance(of, Recur)
            shape = (of.layer.directions * of.layer.sizes(0)[of.layer.states[move.state]],)
        case Merge(reads=(_,)):
            shape = x if move.how == "concat" else (*x[:-1], x[-1] // 2)
        case _:
            shape = (*x[:-1], sum(found[read][-1] for read in move.reads))
    return shape
