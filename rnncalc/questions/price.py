"""What a pass takes in work and memory, told before it starts, and the refusal of what is too much."""

from __future__ import annotations

from rnncalc.bounds import MOST_BYTES, MOST_MULTIPLY_ADDS, MOST_STATE_BYTES
from rnncalc.errors import Cure, RefusedError
from rnncalc.forward.memory import peak
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import External
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.text import byte_size, duration

SECONDS_A_MULTIPLICATION = 25e-9
WORK_OF_A_GATE, WORK_OF_A_LAYER, WORK_OF_A_WEIGHT = 400, 4_000, 8
"""The multiply-adds that take as long as what else there is to do for a gate in a step, however narrow it is, for a
layer in a pass, and for a weight that is drawn at random: measured, over all cells.
"""


def cost_of(network: Network) -> int:
    """Return the multiply-adds of a pass, those of parts counted elsewhere left out."""
    return sum(placed.multiply_adds or 0 for placed in network.stack)


def work_of(network: Network) -> int:
    """Return how many multiply-adds take as long as a pass."""
    return cost_of(network) + sum(WORK_OF_A_LAYER + WORK_OF_A_GATE * _gates(each) for each in network.stack)


def _gates(placed: Placed) -> int:
    """Return how many gates of a layer are worked out in a pass, in all steps and directions."""
    layer = placed.layer
    gates = len(layer.gates(placed.inputs)) * layer.directions if isinstance(layer, Cell) else 1
    return gates * (placed.uses or 1)


def refuse_pass(network: Network, most: int, *, weights: bool, inputs: bool, traced: bool = False) -> None:
    """Refuse a pass of more than `most` multiply-adds or too many bytes, or one that takes as long as is too long.

    What it takes beside multiply-adds may take as long as `most` of them, or as the default where that is more. The
    rest is as in `refuse_large`.
    """
    refuse_costly(cost_of(network), most, "a pass would do")
    refuse_large(network, weights=weights, inputs=inputs, traced=traced)
    made = sum(each.params for each in network.stack if weights and not isinstance(each.layer, External))
    work = work_of(network) + WORK_OF_A_WEIGHT * made
    refuse_costly(work, max(most, MOST_MULTIPLY_ADDS), "a pass would take as long as")


def refuse_costly(cost: int, most: int, said: str) -> None:
    """Refuse more work than `most` multiply-adds; `said` begins the sentence."""
    if cost > most:
        time = duration(cost * SECONDS_A_MULTIPLICATION)
        message = f"{said} {cost:,} multiply-adds, about {time}, and the limit is {most:,}"
        raise RefusedError(message, Cure.FEWER_STEPS, Cure.MORE_MULTIPLY_ADDS)


def refuse_large(network: Network, *, weights: bool = True, inputs: bool = True, traced: bool = False) -> None:
    """Refuse a pass that holds more than is run, and states of all steps that are more than is read.

    weights, inputs: whether the pass makes them. traced: whether the states of every step are kept.
    """
    size = peak(network, weights=weights, inputs=inputs, traced=traced)
    refuse_bytes(network, size)
    states = size - peak(network, weights=weights, inputs=inputs) if traced else 0
    if states > MOST_STATE_BYTES:
        message = f"the states of all steps would take {byte_size(states)}, and the limit is"
        raise RefusedError(f"{message} {byte_size(MOST_STATE_BYTES)}", Cure.FEWER_STEPS, Cure.NARROWER)


def refuse_bytes(network: Network, size: int) -> None:
    """Refuse a pass of so many bytes if they are too many."""
    if size > MOST_BYTES:
        held = sum(placed.params for placed in network.stack if not isinstance(placed.layer, External))
        flowing = sum((placed.uses or 1) * placed.outputs for placed in network.stack)
        message = f"a pass would hold {held:,} weights and {flowing:,} outputs, about {size / 1e9:,.1f} GB"
        raise RefusedError(f"{message}, and the limit is 2 GB", Cure.FEWER_STEPS, Cure.NARROWER)
