"""What a forward pass takes in memory at its fullest, told before it begins.

Knows how the arrays, vectors and traces beside this lie in Python's lists, and how long each is kept: a layer's weights
while it runs (with feedback all run together), what every layer hands on until the end. Knows nothing of limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from rnncalc.conventions.tensor import Role
from rnncalc.forward.arrays import VALUES
from rnncalc.layers.cell import Cell, Form
from rnncalc.layers.layer import Dense, Embedding, External
from rnncalc.network.flow import inputs_of
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed

LIST, PLACE, FLOAT = 64, 8, 32
"""The bytes of a list's head, of a place in it, and of a float or a whole number of its own."""

GRID = VALUES * (FLOAT + PLACE)
"""What the numbers of random weights take, however many weights there are."""

LAYER = 220
"""What is recorded of a layer beside its outputs."""

TRACE, LONG_TRACE, SHORT = 250, 290, 5
"""A step's trace without its vectors, a dictionary; one of more than SHORT entries."""

MARGIN = 1.06
"""For what is not told apart here: the lists between two layers, blocks that are freed and not used again."""

SMALL, LARGE = 512, 128 * 1024
"""Up to how many bytes Python allocates by sixteens; from how many on memory is taken page by page as it is used."""


class _Held(NamedTuple):
    """The bytes of a layer: while it runs, beside what is kept; and what is kept of it until the end."""

    running: int
    kept: int


def peak(network: Network, *, weights: bool = True, inputs: bool = True, traced: bool = False) -> int:
    """Return the bytes that a pass holds at its fullest, through a network whose numbers of steps are known.

    weights, inputs: whether the pass makes them; those that are given are there already.
    traced: whether the states of every step are kept.
    """
    most = kept = together = 0
    part: str | None = ""
    entering = 0
    for entry in network.stack:
        if entry.part != part:
            part = entry.part
            entering = _inputs(entry, many=inputs_of(network.flow)[part].sequence) if inputs else 0
        held = _held(entry, weights, traced)
        passes = not isinstance(entry.layer, Cell | Dense | Embedding | External)  # what it reads it hands on
        kept += held.kept
        together += held.running + 2 * _list(entry.uses or 1) if network.feedback else 0
        most = max(most, kept + entering + max(held.running, together))
        kept += entering if passes or (traced and isinstance(entry.layer, Cell)) else 0
        entering = 0
    return int(most * MARGIN)


def _inputs(first: Placed, many: bool) -> int:
    """Return what the inputs of a part take: vectors, or an embedding's token numbers."""
    steps = (first.uses or 1) if many else 1
    if isinstance(first.layer, Embedding):
        return _list(steps) + steps * FLOAT
    return _list(steps) + steps * _vector(first.inputs - first.layer.extra_inputs)


def _held(entry: Placed, weights: bool, traced: bool) -> _Held:
    layer, steps = entry.layer, entry.uses or 1
    running = _weights(entry, made=weights) + (layer.directions if isinstance(layer, Cell) else 1) * _list(steps)
    joined = steps * (_fixed(entry.inputs) + layer.extra_inputs * FLOAT) if layer.extra_inputs else 0
    every = one = 0  # what is handed on at every step, and at one
    traces = 0
    match layer:
        case Cell():
            every, one = _cell_outputs(layer, entry, steps)
            running += _step(layer, entry)
            if traced:  # the outputs are kept with the states, and what is joined to be read as well
                traces = layer.directions * _traces(layer, entry, steps) + joined
                joined = 0
                output = layer.directions * _vector(layer.sizes(entry.inputs)[layer.output])
                every, one = every - steps * output, one - output
        case Dense() | External():
            every, one = steps * _vector(entry.outputs), _vector(entry.outputs)
            running += one if isinstance(layer, Dense) else 0
            running += one if isinstance(layer, Dense) and layer.activation != "linear" else 0
        case Embedding():
            every = one = _weights(entry, made=weights)  # a row that is looked up is the table's own
            running -= every
    running += joined
    if entry.sequence:
        return _Held(running, LAYER + every + traces + 2 * _list(steps))
    return _Held(running + every - one, LAYER + one + traces)


def _cell_outputs(layer: Cell, entry: Placed, steps: int) -> tuple[int, int]:
    """Return what the outputs of a recurrent layer take, at every step and at one, while they are joined."""
    if layer.directions == 1:
        return steps * _vector(entry.outputs), _vector(entry.outputs)
    width = layer.sizes(entry.inputs)[layer.output]
    joined = _fixed(entry.outputs) if entry.outputs > width else _vector(width)
    return steps * (2 * _vector(width) + joined), 2 * _vector(width) + joined


def _traces(layer: Cell, entry: Placed, steps: int) -> int:
    """Return what the states and gates of every step take, in one direction; what it reads others hand on."""
    sizes = layer.sizes(entry.inputs)
    widths = dict.fromkeys((gate.letter for gate in layer.gates(entry.inputs)), layer.units)
    widths |= {"h": sizes[layer.output], **{letter: sizes[width] for letter, width in layer.states.items()}}
    of_step = TRACE if len(widths) < SHORT else LONG_TRACE  # with the x that it reads
    return _list(steps) + steps * (of_step + sum(map(_vector, widths.values())))


def _step(layer: Cell, entry: Placed) -> int:
    """Return what one step takes until the next begins: a vector a product, a gate and a state, old and new."""
    gates = layer.gates(entry.inputs)
    products = sum(product.form is Form.FULL for gate in gates for product in gate.products)
    return _vector(layer.units) * (products + len(gates) + 4)


def _weights(entry: Placed, made: bool) -> int:
    """Return what the weights take as they lie, and again where a matrix is turned about or its rows are listed."""
    if isinstance(entry.layer, External):
        return 0
    total = GRID if made else 0
    tensors = entry.tensors
    turned = any(tensor.role in (Role.INPUT, Role.KERNEL) and tensor.axes[-1].letter != "m" for tensor in tensors)
    for tensor in tensors:
        if made:
            total += _array(tensor.shape)
        if turned and tensor.role in (Role.INPUT, Role.RECURRENT, Role.KERNEL) and len(tensor.shape) > 1:
            total += _array(tensor.shape[::-1])
        else:
            total += _fixed(prod(tensor.shape[:-1]) if len(tensor.shape) > 1 else tensor.shape[0])
    return total


def _array(shape: Sequence[int]) -> int:
    first, *rest = shape
    return _list(first) + (first * _array(rest) if rest else 0)


def _vector(numbers: int) -> int:
    """Return what a list of floats of its own takes."""
    return _list(numbers) + numbers * FLOAT


def _list(places: int) -> int:
    """Return what a list takes that grew item by item: Python then allocates ahead."""
    allocated = 0
    if places * PLACE < LARGE:
        while allocated < places:
            allocated = (allocated + 1 + (allocated + 1 >> 3) + 6) & ~3
    return LIST + _block(max(allocated, places) * PLACE)


def _fixed(places: int) -> int:
    """Return what a list takes that was made in its length."""
    return LIST + _block(places * PLACE)


def _block(size: int) -> int:
    return size + 16 if size > SMALL else size + 15 & ~15
