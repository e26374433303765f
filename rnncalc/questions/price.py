"""Estimates the work and memory of a pass before it starts, and refuses a pass that needs too much.

Memory is the size of Python's lists, for as long as each is kept: a layer's weights while it runs (with feedback, all
layers run together), and the outputs of every layer until the end.
"""

from __future__ import annotations

from math import prod

from rnncalc.bounds import MOST_BYTES, MOST_MULTIPLY_ADDS, MOST_STATE_BYTES
from rnncalc.conventions.tensor import Role
from rnncalc.errors import Cure, RefusedError
from rnncalc.forward.arrays import VALUES
from rnncalc.layers.cell import Cell, Form
from rnncalc.layers.layer import Dense, Dropout, Embedding, External
from rnncalc.network.flow import inputs_of
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.text import byte_size, duration, plural

SECONDS_A_MULTIPLICATION = 25e-9
WORK_OF_A_GATE, WORK_OF_A_LAYER, WORK_OF_A_WEIGHT = 400, 4_000, 8
"""The fixed work for a gate in a step, for a layer in a pass, and for a random weight, as the number of multiply-adds
that take as long; measured over all cells.
"""


def cost_of(network: Network) -> int:
    """Return the multiply-adds of a pass, without those of parts counted elsewhere."""
    return sum(placed.multiply_adds or 0 for placed in network.stack)


def work_of(network: Network) -> int:
    """Return the work of a pass as the number of multiply-adds that take as long."""
    work = cost_of(network)
    for placed in network.stack:
        layer = placed.layer
        gates = len(layer.gates(placed.inputs)) * layer.directions if isinstance(layer, Cell) else 1
        work += WORK_OF_A_LAYER + WORK_OF_A_GATE * gates * (placed.uses or 1)
    return work


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
    """Refuse more work than `most` multiply-adds. said: the beginning of the message."""
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
        message = (
            f"a pass would hold {plural(weights, 'weight')} and {plural(flowing, 'output')}, about {size / 1e9:,.1f} GB"
        )
        raise RefusedError(f"{message}, and the limit is 2 GB", Cure.FEWER_STEPS, Cure.NARROWER)


LIST, PLACE, FLOAT = 96, 9, 32
"""The bytes of a list without its items, of a place in a list that grows, and of a float object."""

GRID = VALUES * (FLOAT + PLACE)
"""The bytes of the numbers that random weights are drawn from."""

RECORD, STEP = 1_000, 300
"""The bytes of a layer's records, and of the record of a step whose states are kept."""


def peak(network: Network, *, weights: bool = True, inputs: bool = True, traced: bool = False) -> int:
    """Estimate the peak memory of a pass in bytes: never too low, and at most 50% too high.

    The numbers of steps must be known. weights, inputs: whether the pass draws them; given ones are in memory already.
    traced: whether the states of every step are kept.
    """
    most = kept = together = 0
    part: str | None = ""
    entering = 0
    for placed in network.stack:
        if placed.part != part and not placed.starts:
            part = placed.part
            entering = _inputs(placed, many=inputs_of(network.flow)[part].sequence) if inputs else 0
        running, output = _weights(placed, drawn=weights), RECORD
        match placed.layer:
            case Embedding():  # a row that is looked up is the table's own list
                running, output = 0, output + running + _list(placed.uses or 1)
            case Dropout():
                output += _list(placed.uses or 1)
                kept += entering  # its output is its input
            case Cell():
                steps, one = _cell_outputs(placed.layer, placed, traced)
                running += steps
                output += one
            case layer:
                vectors = _vectors(placed.uses or 1, placed.outputs)
                running += 2 * _vectors(1, placed.outputs) if isinstance(layer, Dense) else 0
                output += vectors if placed.sequence else _vectors(1, placed.outputs)
                running += 0 if placed.sequence else vectors
        kept += output + (entering if traced else 0)
        together += running if network.feedback else 0
        most = max(most, kept + entering + max(running, together))
        entering = 0
    return most


def _inputs(first: Placed, many: bool) -> int:
    """Return the bytes of the inputs of a part: vectors, or an embedding's token numbers."""
    steps = (first.uses or 1) if many else 1
    if isinstance(first.layer, Embedding):
        return _list(steps) + steps * FLOAT
    return _vectors(steps, first.inputs - first.layer.extra_inputs)


def _cell_outputs(layer: Cell, placed: Placed, traced: bool) -> tuple[int, int]:
    """Return two numbers of bytes: of the vectors a recurrent layer needs while it runs, and of those that are kept."""
    steps, sizes = placed.uses or 1, layer.sizes(placed.inputs)
    gates = layer.gates(placed.inputs)
    every = layer.directions * _vectors(steps, sizes[layer.output])
    if layer.directions == 2:  # the two directions are joined; concatenated, they share their numbers
        every += steps * _list(placed.outputs) + (0 if placed.outputs > sizes[layer.output] else steps * FLOAT)
    if layer.extra_inputs:
        every += steps * (_list(placed.inputs) + layer.extra_inputs * FLOAT)
    products = sum(product.form is Form.FULL for gate in gates for product in gate.products)
    running = _vectors(products + len(gates) + 4, layer.units)
    if traced:
        widths = [*(layer.units for _ in gates), *(sizes[width] for width in layer.states.values())]
        return running, every + layer.directions * steps * (STEP + sum(map(_vector, widths)))
    if placed.sequence:
        return running, every
    return running + every, _vectors(1, placed.outputs)


def _weights(placed: Placed, drawn: bool) -> int:
    """Return the bytes of the weights, whose numbers are shared, and of their matrices, transposed or as rows."""
    if isinstance(placed.layer, External):
        return 0
    matrices = (Role.INPUT, Role.KERNEL, Role.RECURRENT)
    turned = any(tensor.role in matrices[:2] and tensor.axes[-1].letter != "m" for tensor in placed.tensors)
    total = GRID if drawn else 0
    for tensor in placed.tensors:
        *most, columns = tensor.shape or (1,)
        rows = prod(most)
        total += _list(rows) + (rows * _list(columns) if drawn else 0)
        total += columns * _list(rows) if turned and tensor.role in matrices else 0
    return total


def _vectors(count: int, width: int) -> int:
    """Return the bytes of a list of vectors, each with numbers of its own."""
    return _list(count) + count * _vector(width)


def _vector(width: int) -> int:
    return _list(width) + width * FLOAT


def _list(places: int) -> int:
    """Return the bytes of a list without its items."""
    return LIST + places * PLACE
