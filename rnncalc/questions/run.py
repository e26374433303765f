"""`run`: does a real forward pass have the shapes, read the weights and do the work that the counts say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rnncalc.errors import CallError, RefusedError
from rnncalc.forward.arrays import Progress
from rnncalc.forward.floats import floats
from rnncalc.forward.memory import peak
from rnncalc.forward.network_pass import Pass, Ran
from rnncalc.layers.layer import External
from rnncalc.network.data import Inputs, Nested
from rnncalc.network.network import Network
from rnncalc.questions.given import network_of, own_numbers, said, whole

DEFAULT_STEPS = 3
MOST_MULTIPLY_ADDS = 10**9
MOST_BYTES = 2 * 10**9
MOST_LAYERS = 20_000
SECONDS_A_MULTIPLICATION = 25e-9
SECONDS_A_LAYER = 0.1e-3


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
    weights: Mapping[str, Mapping[str, Nested]] | None = None,
    inputs: Sequence[Nested] | Mapping[Any, Sequence[Nested]] | None = None,
    states: bool = False,
    most_multiply_adds: int = MOST_MULTIPLY_ADDS,
    progress: Progress | None = None,
) -> Run:
    """Run a forward pass through a network and return what it was seen to do.

    weights: the numbers to use, by layer and tensor, under the names and in the shapes of the network's convention.
    inputs: a list of T vectors, or of T token numbers; of an encoder-decoder, one for each half by its name.
        What is not given is made from the seed, the same on every machine. Arrays will do for lists.
    states: whether to keep each layer's states and gates, step by step.
    progress: told after each matrix product how many multiplications it was.
    Raises SpecError where weights or inputs do not fit, with all that is wrong, CallError for what is no network,
    RefusedError when the pass would take more multiply-adds than `most_multiply_adds`, or 2 GB.
    """
    network, most = network_of(network), whole("most_multiply_adds", most_multiply_adds)
    ours, theirs = own_numbers(network, weights, inputs)
    timed = with_steps_to_run(network, theirs)
    refuse(timed, most, peak(timed, weights=ours is None, inputs=theirs is None, traced=states))
    forward = Pass(timed, floats, seed=_seed(seed), weights=ours, inputs=theirs, progress=progress, traced=states)
    return Run(timed, tuple(forward.run()), None if theirs or timed is network else DEFAULT_STEPS)


def _seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise CallError(f"seed: expected a whole number, got {said(seed)}")
    return seed


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


def refuse(network: Network, most_multiply_adds: int, size: int) -> None:
    """Raise RefusedError for a pass that would take too many multiply-adds, layers or bytes; of bytes, `size`."""
    _refuse_costly(network, most_multiply_adds)
    _refuse_large(network, size)


def _refuse_costly(network: Network, most: int) -> None:
    cost = cost_of(network)
    if cost > most:
        time = duration(cost * SECONDS_A_MULTIPLICATION)
        message = f"a pass would do {cost:,} multiply-adds, about {time}, and the limit is {most:,}"
        raise RefusedError(f"{message}; lower the number of steps with -T, or raise --max-multiply-adds")


def _refuse_large(network: Network, size: int) -> None:
    """Refuse a pass of more layers, or more bytes, than are run."""
    layers = sum(entry.copies for entry in network.stack)
    if layers > MOST_LAYERS:
        time = duration(layers * SECONDS_A_LAYER)
        message = f"a pass through {layers:,} layers would take about {time}, and the limit is {MOST_LAYERS:,} layers"
        raise RefusedError(f"{message}; repeat them fewer times: equal layers do the same")
    if size > MOST_BYTES:
        held = sum(entry.params * entry.copies for entry in network.stack if not isinstance(entry.layer, External))
        flowing = sum((entry.uses or 1) * entry.outputs * entry.copies for entry in network.stack)
        message = f"a pass would hold {held:,} weights and {flowing:,} outputs, about {size / 1e9:,.1f} GB"
        raise RefusedError(f"{message}, and the limit is 2 GB; lower the number of steps with -T, or the widths")


def duration(seconds: float) -> str:
    """Return a time in words, in the largest unit that fits."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = round(seconds / size)
            return f"{count:,} {unit}{'s' if count > 1 else ''}"
    return "a second"
