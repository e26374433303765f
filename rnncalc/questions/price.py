"""Estimates the work and memory of a pass before it starts, and refuses a pass that needs too much."""

from __future__ import annotations

from math import prod

from rnncalc.bounds import MOST_BYTES, MOST_MULTIPLY_ADDS, MOST_STATE_BYTES
from rnncalc.errors import Cure, RefusedError
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dropout, Embedding, External
from rnncalc.network.flow import inputs_of
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.words import byte_size, plural

WORK_PER_GATE = 400
"""The other work for a gate in a step, in multiply-adds; measured over all cells."""

BYTES_PER_WEIGHT, BYTES_PER_NUMBER, BYTES_PER_VECTOR = 18, 41, 100
"""The memory of a weight, stored and transposed, of a number that the pass computes, and of a vector beside those."""


def cost_of(network: Network) -> int:
    """Return the multiply-adds of a pass, without those of parts counted elsewhere."""
    return sum(placed.multiply_adds or 0 for placed in network.stack)


def work_of(network: Network) -> int:
    """Return the work of a pass in multiply-adds."""
    work = cost_of(network)
    for placed in network.stack:
        layer = placed.layer
        gates = len(layer.gates(placed.inputs)) * layer.directions if isinstance(layer, Cell) else 1
        work += WORK_PER_GATE * gates * (placed.uses or 1)
    return work


def refuse_pass(network: Network, most: int, *, traced: bool = False) -> None:
    """Refuse a pass of more than `most` multiply-adds, of too many bytes, or with too much other work.

    The other work may be that of `most` multiply-adds, or of the default limit if that is more.
    """
    refuse_costly(cost_of(network), most, "a pass would do")
    refuse_large(network, traced=traced)
    refuse_costly(work_of(network), max(most, MOST_MULTIPLY_ADDS), "a pass would do the work of")


def refuse_costly(cost: int, most: int, beginning: str) -> None:
    """Refuse more work than `most` multiply-adds. beginning: that of the message."""
    if cost > most:
        message = f"{beginning} {cost:,} multiply-adds, and the limit is {most:,}"
        raise RefusedError(message, Cure.FEWER_STEPS, Cure.MORE_MULTIPLY_ADDS)


def refuse_large(network: Network, *, traced: bool) -> None:
    """Refuse a pass that needs too much memory; traced: whether the states of every step are kept, and not too many."""
    refuse_bytes(network, memory_of(network, traced=traced))
    states = _states(network) if traced else 0
    if states > MOST_STATE_BYTES:
        message = f"the states of all steps would take about {byte_size(states)}, and the limit is"
        raise RefusedError(f"{message} {byte_size(MOST_STATE_BYTES)}", Cure.FEWER_STEPS, Cure.NARROWER)


def refuse_bytes(network: Network, size: int) -> None:
    """Refuse a pass of too many bytes."""
    if size > MOST_BYTES:
        weights = sum(placed.params for placed in network.stack if not isinstance(placed.layer, External))
        outputs = sum((placed.uses or 1) * placed.outputs for placed in network.stack)
        message = f"a pass would hold {plural(weights, 'weight')} and {plural(outputs, 'output')}"
        raise RefusedError(
            f"{message}, about {size / 1e9:,.1f} GB, and the limit is 2 GB", Cure.FEWER_STEPS, Cure.NARROWER
        )


def memory_of(network: Network, *, traced: bool = False) -> int:
    """Estimate the memory of a pass in bytes, rather too high than too low; the numbers of steps must be known.

    A layer's weights are in memory while it runs, with feedback those of all layers; inputs and outputs stay until the
    end. traced: whether the states of every step are kept.
    """
    weights = map(_weights, network.stack)
    size = sum(weights) if network.feedback else max(weights, default=0)
    size += _states(network) if traced else 0
    part: str | None = ""
    for placed in network.stack:
        layer, steps = placed.layer, placed.uses or 1
        if placed.part != part and not placed.starts:
            part = placed.part
            width = 1 if isinstance(layer, Embedding) else placed.inputs - layer.extra_inputs
            read = inputs_of(network.flow).get(part)
            size += _vectors(steps if read and read.sequence else 1, width)
        if isinstance(layer, Cell):
            copies = 3 if layer.directions == 2 else 1  # each direction's, and the two merged
            size += copies * _vectors(steps, layer.sizes(placed.inputs)[layer.output])
            size += _vectors(steps, placed.inputs) if layer.extra_inputs else 0
        elif not isinstance(layer, Embedding | Dropout):  # which output numbers that they read
            size += _vectors(steps, placed.outputs)
    return size


def _states(network: Network) -> int:
    """Estimate the memory of the states and gates of every step in bytes."""
    size = 0
    for placed in network.stack:
        if isinstance(layer := placed.layer, Cell):
            sizes, gates = layer.sizes(placed.inputs), layer.gates(placed.inputs)
            widths = [*(layer.units for _ in gates), *(sizes[width] for width in layer.states.values())]
            size += layer.directions * (placed.uses or 1) * sum(_vectors(1, width) for width in widths)
    return size


def _weights(placed: Placed) -> int:
    if isinstance(placed.layer, External):
        return 0
    shapes = [tensor.shape for tensor in placed.tensors]
    vectors = sum(prod(shape[:-1]) + (shape[-1] if len(shape) > 1 else 0) for shape in shapes if shape)
    return BYTES_PER_VECTOR * vectors + BYTES_PER_WEIGHT * placed.params


def _vectors(count: int, width: int) -> int:
    return count * (BYTES_PER_VECTOR + BYTES_PER_NUMBER * width)
