"""Estimates the work and memory of a pass before it starts, and refuses a pass that needs too much.

Memory follows from the size of Python's lists and how long each is kept: a layer's weights while it runs (with
feedback all layers run together), the outputs of every layer until the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from rnncalc.bounds import MOST_BYTES, MOST_MULTIPLY_ADDS, MOST_STATE_BYTES
from rnncalc.conventions.tensor import Role
from rnncalc.errors import Cure, RefusedError
from rnncalc.forward.arrays import VALUES
from rnncalc.layers.cell import Cell, Form
from rnncalc.layers.layer import Dense, Embedding, External, Transform
from rnncalc.network.flow import inputs_of
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.text import byte_size, duration

SECONDS_A_MULTIPLICATION = 25e-9
WORK_OF_A_GATE, WORK_OF_A_LAYER, WORK_OF_A_WEIGHT = 400, 4_000, 8
"""The fixed work for a gate in a step, for a layer in a pass, and for a random weight, as the number of multiply-adds
that take as long; measured over all cells.
"""


def cost_of(network: Network) -> int:
    """Return the multiply-adds of a pass, without those of parts counted elsewhere."""
    return sum(placed.multiply_adds or 0 for placed in network.stack)


def work_of(network: Network) -> int:
    """Return how many multiply-adds take as long as a pass."""
    return cost_of(network) + sum(WORK_OF_A_LAYER + WORK_OF_A_GATE * _gates(each) for each in network.stack)


def _gates(placed: Placed) -> int:
    """Return how many gates of a layer are computed in a pass, over all steps and directions."""
    layer = placed.layer
    gates = len(layer.gates(placed.inputs)) * layer.directions if isinstance(layer, Cell) else 1
    return gates * (placed.uses or 1)


def refuse_pass(network: Network, most: int, *, weights: bool, inputs: bool, traced: bool = False) -> None:
    """Refuse a pass of more than `most` multiply-adds, of too many bytes, or with too much other work.

    The other work may take as long as `most` multiply-adds, or as the default limit if that is more. The other
    arguments are those of `refuse_large`.
    """
    refuse_costly(cost_of(network), most, "a pass would do")
    refuse_large(network, weights=weights, inputs=inputs, traced=traced)
    made = sum(each.params for each in network.stack if weights and not isinstance(each.layer, External))
    work = work_of(network) + WORK_OF_A_WEIGHT * made
    refuse_costly(work, max(most, MOST_MULTIPLY_ADDS), "a pass would take as long as")


def refuse_costly(cost: int, most: int, said: str) -> None:
    """Refuse more work than `most` multiply-adds; said: the beginning of the message."""
    if cost > most:
        time = duration(cost * SECONDS_A_MULTIPLICATION)
        message = f"{said} {cost:,} multiply-adds, about {time}, and the limit is {most:,}"
        raise RefusedError(message, Cure.FEWER_STEPS, Cure.MORE_MULTIPLY_ADDS)


def refuse_large(network: Network, *, weights: bool = True, inputs: bool = True, traced: bool = False) -> None:
    """Refuse a pass that needs too much memory, or whose states are too many to read.

    weights, inputs: whether the pass draws them. traced: whether the states of every step are kept.
    """
    size = peak(network, weights=weights, inputs=inputs, traced=traced)
    refuse_bytes(network, size)
    states = size - peak(network, weights=weights, inputs=inputs) if traced else 0
    if states > MOST_STATE_BYTES:
        message = f"the states of all steps would take {byte_size(states)}, and the limit is"
        raise RefusedError(f"{message} {byte_size(MOST_STATE_BYTES)}", Cure.FEWER_STEPS, Cure.NARROWER)


def refuse_bytes(network: Network, size: int) -> None:
    """Refuse a pass of too many bytes."""
    if size > MOST_BYTES:
        weights = sum(placed.params for placed in network.stack if not isinstance(placed.layer, External))
        flowing = sum((placed.uses or 1) * placed.outputs for placed in network.stack)
        message = f"a pass would hold {weights:,} weights and {flowing:,} outputs, about {size / 1e9:,.1f} GB"
        raise RefusedError(f"{message}, and the limit is 2 GB", Cure.FEWER_STEPS, Cure.NARROWER)


LIST, PLACE, FLOAT = 64, 8, 32
"""The bytes of a list's header, of a slot in it, and of a float or an int object."""

GRID = VALUES * (FLOAT + PLACE)
"""The fixed bytes of drawing random weights."""

LAYER = 220
"""The bytes of a layer's record, without its outputs."""

TRACE, LONG_TRACE, SHORT = 250, 290, 5
"""The bytes of a step's trace without its vectors, a dictionary; and of one with more than SHORT entries."""

MARGIN = 1.06
"""A margin for what is not counted here: the lists between two layers, freed blocks that are not used again."""

SMALL, LARGE = 512, 128 * 1024
"""Up to the first size Python allocates in units of 16 bytes; from the second on, memory is mapped page by page."""


class LayerMemory(NamedTuple):
    """The bytes of a layer: those needed only while it runs, and those kept until the end."""

    running: int
    kept: int


def peak(network: Network, *, weights: bool = True, inputs: bool = True, traced: bool = False) -> int:
    """Return the peak memory of a pass in bytes. The numbers of steps must be known.

    weights, inputs: whether the pass draws them; given ones are in memory already.
    traced: whether the states of every step are kept.
    """
    most = kept = together = 0
    part: str | None = ""
    entering = 0
    for entry in network.stack:
        if entry.part != part and not entry.starts:
            part = entry.part
            entering = _inputs(entry, many=inputs_of(network.flow)[part].sequence) if inputs else 0
        memory = _memory(entry, weights, traced)
        passes = not isinstance(entry.layer, Cell | Dense | Embedding | External | Transform)  # its output is its input
        kept += memory.kept
        together += memory.running + 2 * _list(entry.uses or 1) if network.feedback else 0
        most = max(most, kept + entering + max(memory.running, together))
        kept += entering if passes or (traced and isinstance(entry.layer, Cell)) else 0
        entering = 0
    return int(most * MARGIN)


def _inputs(first: Placed, many: bool) -> int:
    """Return the bytes of the inputs of a part: vectors, or an embedding's token numbers."""
    steps = (first.uses or 1) if many else 1
    if isinstance(first.layer, Embedding):
        return _list(steps) + steps * FLOAT
    return _list(steps) + steps * _vector(first.inputs - first.layer.extra_inputs)


def _memory(entry: Placed, weights: bool, traced: bool) -> LayerMemory:
    layer, steps = entry.layer, entry.uses or 1
    running = _weights(entry, made=weights) + (layer.directions if isinstance(layer, Cell) else 1) * _list(steps)
    joined = steps * (_fixed(entry.inputs) + layer.extra_inputs * FLOAT) if layer.extra_inputs else 0
    every = one = 0  # the outputs of every step, and of one
    traces = 0
    match layer:
        case Cell():
            every, one = _cell_outputs(layer, entry, steps)
            running += _step(layer, entry)
            if traced:  # the outputs are kept with the states; so is a joined input
                traces = layer.directions * _traces(layer, entry, steps) + joined
                joined = 0
                output = layer.directions * _vector(layer.sizes(entry.inputs)[layer.output])
                every, one = every - steps * output, one - output
        case Dense() | External() | Transform():
            every, one = steps * _vector(entry.outputs), _vector(entry.outputs)
            running += one if isinstance(layer, Dense) else 0
            running += one if isinstance(layer, Dense) and layer.activation != "linear" else 0
        case Embedding():
            every = one = _weights(entry, made=weights)  # a row that is looked up is shared with the table
            running -= every
    running += joined
    if entry.sequence:
        return LayerMemory(running, LAYER + every + traces + 2 * _list(steps))
    return LayerMemory(running + every - one, LAYER + one + traces)


def _cell_outputs(layer: Cell, entry: Placed, steps: int) -> tuple[int, int]:
    """Return the bytes of a recurrent layer's outputs, of every step and of one, while they are joined."""
    if layer.directions == 1:
        return steps * _vector(entry.outputs), _vector(entry.outputs)
    width = layer.sizes(entry.inputs)[layer.output]
    joined = _fixed(entry.outputs) if entry.outputs > width else _vector(width)
    return steps * (2 * _vector(width) + joined), 2 * _vector(width) + joined


def _traces(layer: Cell, entry: Placed, steps: int) -> int:
    """Return the bytes of the states and gates of every step, in one direction, without its inputs."""
    sizes = layer.sizes(entry.inputs)
    widths = dict.fromkeys((gate.letter for gate in layer.gates(entry.inputs)), layer.units)
    widths |= {"h": sizes[layer.output], **{letter: sizes[width] for letter, width in layer.states.items()}}
    of_step = TRACE if len(widths) < SHORT else LONG_TRACE  # with the x that it reads
    return _list(steps) + steps * (of_step + sum(map(_vector, widths.values())))


def _step(layer: Cell, entry: Placed) -> int:
    """Return the bytes of one step until the next begins: a vector for each product, gate and state, old and new."""
    gates = layer.gates(entry.inputs)
    products = sum(product.form is Form.FULL for gate in gates for product in gate.products)
    return _vector(layer.units) * (products + len(gates) + 4)


def _weights(entry: Placed, made: bool) -> int:
    """Return the bytes of the weights, and of the copies that are transposed or listed row by row."""
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
    """Return the bytes of a list with its own floats."""
    return _list(numbers) + numbers * FLOAT


def _list(places: int) -> int:
    """Return the bytes of a list that grew item by item: Python then allocates ahead."""
    allocated = 0
    if places * PLACE < LARGE:
        while allocated < places:
            allocated = (allocated + 1 + (allocated + 1 >> 3) + 6) & ~3
    return LIST + _block(max(allocated, places) * PLACE)


def _fixed(places: int) -> int:
    """Return the bytes of a list that was made in its full length."""
    return LIST + _block(places * PLACE)


def _block(size: int) -> int:
    return size + 16 if size > SMALL else size + 15 & ~15
