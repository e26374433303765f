"""What a pass takes in work and memory, told before it starts, and the refusal of what is too much."""

from __future__ import annotations

from rnncalc.errors import Cure, RefusedError
from rnncalc.layers.layer import External
from rnncalc.network.network import Network
from rnncalc.text import duration

MOST_MULTIPLY_ADDS = 10**9
MOST_BYTES = 2 * 10**9
SECONDS_A_MULTIPLICATION = 25e-9
WORK_OF_A_STEP = 400
"""The multiply-adds that take as long as what else there is to do in a step of a layer, however narrow it is."""


def cost_of(network: Network) -> int:
    """Return the multiply-adds of a pass, those of parts counted elsewhere left out."""
    return sum(placed.multiply_adds or 0 for placed in network.stack)


def steps_of_layers(network: Network) -> int:
    """Return how many times a pass applies a layer, all layers together."""
    return sum(placed.uses or 1 for placed in network.stack)


def refuse_costly(cost: int, most: int, said: str = "a pass would do") -> None:
    """Refuse more work than `most` multiply-adds; `said` begins the sentence."""
    if cost > most:
        time = duration(cost * SECONDS_A_MULTIPLICATION)
        message = f"{said} {cost:,} multiply-adds, about {time}, and the limit is {most:,}"
        raise RefusedError(message, Cure.FEWER_STEPS, Cure.MORE_MULTIPLY_ADDS)


def refuse_large(network: Network, size: int) -> None:
    """Refuse a pass of more bytes than are run."""
    if size > MOST_BYTES:
        held = sum(placed.params for placed in network.stack if not isinstance(placed.layer, External))
        flowing = sum((placed.uses or 1) * placed.outputs for placed in network.stack)
        message = f"a pass would hold {held:,} weights and {flowing:,} outputs, about {size / 1e9:,.1f} GB"
        raise RefusedError(f"{message}, and the limit is 2 GB", Cure.FEWER_STEPS, Cure.NARROWER)
