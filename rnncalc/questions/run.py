"""`run`: does a real forward pass have the shapes, read the weights and do the work that the counts say."""

from __future__ import annotations

from typing import Any, NamedTuple

from rnncalc.errors import RefusedError
from rnncalc.forward.arrays import Nested, Progress
from rnncalc.forward.floats import floats
from rnncalc.forward.network_pass import Pass, Ran
from rnncalc.layers.layer import External
from rnncalc.network.network import Network

DEFAULT_STEPS = 3
MOST_MULTIPLY_ADDS = 10**9
MOST_BYTES = 2 * 10**9
BYTES_A_WEIGHT = 10
"""Its place in a list, with what a list allocates ahead; the floats themselves are few (`arrays.filled`)."""

BYTES_AN_OUTPUT = 44
"""The same and a float of its own."""

SECONDS_A_MULTIPLICATION = 25e-9

Weights = dict[str, dict[str, Nested]]
"""For each layer's name its tensors by name, each in lists as deep as its shape is long."""

Inputs = dict[str | None, list[Any]]
"""For each part its inputs: a list of T vectors, or of T token numbers before an embedding."""


class Run(NamedTuple):
    """What a forward pass was seen to do.

    network: the network with the number of steps that were run.
    layers: what each layer did, in order, up to the first that could not be run.
    assumed_steps: how many steps were run where neither the network nor inputs say a number; None where one does.
    """

    network: Network
    layers: tuple[Ran, ...]
    assumed_steps: int | None = None

    @property
    def agrees(self) -> bool:
        """Whether every layer did what is declared of it."""
        return not self.missing and all(layer.agrees for layer in self.layers)

    @property
    def missing(self) -> int:
        """How many layers were not run, because one before them could not be."""
        return sum(entry.copies for entry in self.network.stack) - len(self.layers)

    @property
    def outputs(self) -> Any:
        """What left the last layer that was run: a list of vectors where that is a sequence, else one vector."""
        return self.layers[-1].output


def run(
    network: Network,
    *,
    seed: int = 0,
    weights: Weights | None = None,
    inputs: Inputs | None = None,
    states: bool = False,
    most_multiply_adds: int = MOST_MULTIPLY_ADDS,
    progress: Progress | None = None,
) -> Run:
    """Run a forward pass through a network and return what it was seen to do.

    weights, inputs: the numbers to use, under the names and in the shapes of the network's convention; made from the
        seed where they are not given, the same on every machine.
    states: whether to keep each layer's states and gates, step by step.
    progress: told after each matrix product how many multiplications it was.
    Raises RefusedError when the pass would take more multiply-adds than `most_multiply_adds`, or 2 GB.
    """
    timed = with_steps_to_run(network, inputs)
    _refuse_costly(timed, most_multiply_adds)
    forward = Pass(timed, floats, seed=seed, weights=weights, inputs=inputs, progress=progress, traced=states)
    return Run(timed, tuple(forward.run()), None if inputs or timed is network else DEFAULT_STEPS)


def with_steps_to_run(network: Network, inputs: Inputs | None = None) -> Network:
    """Return the network with a number of steps in every part: its own, that of the inputs, or the default."""
    unknown = [name for name, part in network.parts.items() if part.steps is None]
    if not unknown:
        return network
    given = inputs or {}
    steps = {
        name: len(given[name]) if name in given and network.topology_of(name) != "one-to-many" else DEFAULT_STEPS
        for name in unknown
    }
    parts = {name: part._replace(steps=steps.get(name, part.steps)) for name, part in network.parts.items()}
    return network.with_parts(parts)


def cost_of(network: Network) -> int:
    """Return the multiply-adds of a pass, those of parts counted elsewhere left out."""
    return sum((entry.multiply_adds or 0) * entry.copies for entry in network.stack)


def _refuse_costly(network: Network, most: int) -> None:
    cost = cost_of(network)
    if cost > most:
        time = duration(cost * SECONDS_A_MULTIPLICATION)
        message = f"a pass would do {cost:,} multiply-adds, about {time}, and the limit is {most:,}"
        raise RefusedError(f"{message}; lower the number of steps with -T, or raise --max-multiply-adds")
    held = sum(entry.params * entry.copies for entry in network.stack if not isinstance(entry.layer, External))
    flowing = sum((entry.uses or 1) * entry.outputs * entry.copies for entry in network.stack)
    size = held * BYTES_A_WEIGHT + flowing * BYTES_AN_OUTPUT
    if size > MOST_BYTES:
        message = f"a pass would hold {held:,} weights and {flowing:,} outputs, about {size / 1e9:,.1f} GB"
        raise RefusedError(f"{message}, and the limit is 2 GB; lower the number of steps with -T, or the widths")


def duration(seconds: float) -> str:
    """Return a time in words, in the largest unit that fits."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = round(seconds / size)
            return f"{count:,} {unit}{'s' if count > 1 else ''}"
    return "a second"
