"""How reports head themselves: the setting in which a network is counted."""

from __future__ import annotations

from rnncalc.conventions.catalogue import convention
from rnncalc.network.network import Network


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
