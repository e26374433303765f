"""How reports head themselves: the setting in which a network is counted."""

from __future__ import annotations

from rnncalc.conventions.catalogue import convention
from rnncalc.network.network import Network
from rnncalc.network.parts import Topology


def halves_of(network: Network) -> bool:
    """Return whether a network has two halves, which its reports then tell apart."""
    return len(network.parts) > 1


def steps_of(network: Network) -> int | dict[str, int | None] | None:
    """Return the number of steps: one number, or one for each half of an encoder-decoder."""
    if halves_of(network):
        return {str(name): part.steps for name, part in network.parts.items()}
    return network.parts[None].steps


def flow(network: Network) -> str:
    """Return the topology and the steps in words."""
    steps = [f"{part.steps:,}" if part.steps else "T" for part in network.parts.values()]
    plural = "" if steps == ["1"] else "s"
    return f"{network.topology_name}, {' and '.join(steps)} step{plural}"


def setting(network: Network) -> str:
    """Return the topology, the steps and the convention in words."""
    row = convention(network.convention)
    return f"{flow(network)}; convention {row.title}: {row.note}"


def one_to_many(network: Network) -> str | None:
    """Return what is to be said of the later steps of a network that reads one vector; None where it reads more."""
    if network.topology != Topology.ONE_TO_MANY:
        return None
    return "One-to-many: the input is read once, zeros follow at the later steps; the products with them are counted."
