"""`run`: does a real forward pass have the shapes, read the weights and do the work that the counts say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rnncalc.bounds import MOST_MULTIPLY_ADDS
from rnncalc.errors import CallError
from rnncalc.forward.arrays import PassData, Progress, floats
from rnncalc.forward.network_pass import LayerRun, Pass
from rnncalc.layers.layer import External
from rnncalc.network.data import Inputs, Nested, with_steps_of
from rnncalc.network.network import Network
from rnncalc.network.parts import steps_known
from rnncalc.questions.given import network_of, said, whole
from rnncalc.questions.own_numbers import own_numbers
from rnncalc.questions.price import refuse_pass

DEFAULT_STEPS = 3


class Run(NamedTuple):
    """What a forward pass was seen to do.

    network: the network with the number of steps that were run.
    layers: what each layer did, in order, up to the first that could not be run.
    assumed_steps: how many steps were run where neither the network nor inputs say a number; None where one does.
    """

    network: Network
    layers: tuple[LayerRun, ...]
    assumed_steps: int | None = None

    @property
    def agrees(self) -> bool:
        """Whether every layer did what is declared of it."""
        return not self.missing and all(layer.agrees for layer in self.layers)

    @property
    def missing(self) -> int:
        """How many layers were not run, because one before them could not be."""
        return len(self.network.stack) - len(self.layers)

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
    start: Mapping[str, Mapping[str, Nested]] | None = None,
    states: bool = False,
    most_multiply_adds: int = MOST_MULTIPLY_ADDS,
    progress: Progress | None = None,
) -> Run:
    """Run a forward pass through a network and return what it was seen to do.

    weights: the numbers to use, by layer and tensor, under the names and in the shapes of the network's convention.
    inputs: a list of T vectors, or of T token numbers; of an encoder-decoder, one for each half by its name.
        What is not given is made from the seed, the same on every machine. Arrays will do for lists.
    start: the states before the first step, by layer and letter, as in `{"lstm_1": {"h": [...], "c": [...]}}`; a list
        for each direction of a bidirectional layer. What is not given is zeros.
    states: whether to keep each layer's states and gates, step by step.
    progress: told after each matrix product how many multiplications it was.
    Raises SpecError where the numbers do not fit, with all that is wrong, CallError for what is no network,
    RefusedError when the pass would take more multiply-adds than `most_multiply_adds`, or 2 GB.
    """
    network, most = network_of(network), whole("most_multiply_adds", most_multiply_adds)
    own = own_numbers(network, weights, inputs, start)
    timed = with_steps_to_run(network, own.inputs)
    refuse_pass(timed, most, weights=own.weights is None, inputs=own.inputs is None, traced=states)
    forward = Pass(
        timed,
        floats,
        seed=seed_of(seed),
        weights=own.weights,
        inputs=own.inputs,
        start=own.start,
        progress=progress,
        traced=states,
    )
    return Run(timed, tuple(forward.run()), assumed_steps(network, own.inputs))


def weights_in_use(
    network: Network, *, seed: int = 0, weights: Mapping[str, Mapping[str, Nested]] | None = None
) -> Iterator[tuple[str, dict[str, Nested]]]:
    """Yield the weights that a run with these takes, layer by layer: those given, or those of the seed."""
    numbers = PassData(seed_of(seed), own_numbers(network, weights).weights)
    for placed in network.stack:
        if placed.tensors and not isinstance(placed.layer, External):
            yield placed.name, numbers.weights_of(placed)


def seed_of(seed: object) -> int:
    """Return what must be a seed. Raises CallError where it is no whole number."""
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise CallError(f"seed: expected a whole number, got {said(seed)}")
    return seed


def assumed_steps(network: Network, inputs: Inputs | None) -> int | None:
    """Return how many steps are run where neither the network nor its inputs say a number; None where they do."""
    return None if steps_known(with_steps_of(network, inputs).parts) else DEFAULT_STEPS


def with_steps_to_run(network: Network, inputs: Inputs | None = None) -> Network:
    """Return the network with a number of steps in every part: its own, that of the inputs, or the default."""
    told = with_steps_of(network, inputs)
    unknown = {name: part for name, part in told.parts.items() if part.steps is None}
    if not unknown:
        return told
    return told.with_parts(told.parts | {name: part._replace(steps=DEFAULT_STEPS) for name, part in unknown.items()})
