"""`run`: checks by a real forward pass the shapes, the weights read and the work that the counts claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rnncalc.bounds import MOST_MULTIPLY_ADDS
from rnncalc.display import displayed
from rnncalc.errors import CallError, Path, Problem, SpecError, first
from rnncalc.forward.arrays import PassData, Progress, floats
from rnncalc.forward.network_pass import LayerRun, Pass
from rnncalc.layers.layer import External
from rnncalc.layers.options import Allowed
from rnncalc.network.data import (
    Data,
    Inputs,
    Nested,
    read_inputs,
    read_start,
    read_targets,
    read_weights,
    with_steps_of,
)
from rnncalc.network.network import Network
from rnncalc.network.parts import steps_known
from rnncalc.printable import escape
from rnncalc.questions import describe, network_of, plain, whole
from rnncalc.questions.price import refuse_pass
from rnncalc.words import did_you_mean, keys_here, one_of

DEFAULT_STEPS = 3
"""The fewest steps of a run without a number of them."""

MOST_ASSUMED = 1000
"""The most steps that are doubled to find enough for the windows of a network."""


@displayed("rnncalc.reports.run:RunReport")
class Run(NamedTuple):
    """The observations of a forward pass.

    network: the network with the number of steps run.
    layers: the observations of each layer, in order, up to the first that could not be run.
    assumed_steps: the number of steps if neither the network nor the inputs give it; None if one does.
    """

    network: Network
    layers: tuple[LayerRun, ...]
    assumed_steps: int | None = None

    @property
    def agrees(self) -> bool:
        """Whether every layer agrees with its declaration."""
        return not self.missing and all(layer.agrees for layer in self.layers)

    @property
    def missing(self) -> int:
        """How many layers were not run, because an earlier one failed."""
        return len(self.network.stack) - len(self.layers)

    @property
    def outputs(self) -> Any:
        """The output of the last layer run: a list of vectors for a sequence, else one vector."""
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
    """Run a forward pass through a network and return the observations.

    weights: the numbers to use, by layer and tensor, under the names and in the shapes of the network's convention,
        or of its notation if it has other names.
    inputs: a list of T vectors, or of T token numbers; of an encoder-decoder, one for each half by its name.
        Missing numbers are drawn from the seed, the same on every machine. Arrays may be used for lists.
    start: the states before the first step, by layer and letter, as in `{"lstm_1": {"h": [...], "c": [...]}}`; a list
        for each direction of a bidirectional layer. Missing states are zeros.
    states: whether to keep each layer's states and gates, step by step.
    progress: called after each matrix product with the number of its multiplications.
    Raises SpecError with all problems if the numbers do not fit, CallError for an argument that is not a network,
    RefusedError if the pass would take more multiply-adds than `most_multiply_adds`, or 2 GB.
    """
    network, most = network_of(network), whole("most_multiply_adds", most_multiply_adds)
    data = own_numbers(network, weights, inputs, start)
    timed = with_steps_to_run(network, data.inputs)
    refuse_pass(timed, most, traced=states)
    numbers = {"weights": data.weights, "inputs": data.inputs, "start": data.start}
    forward = Pass(timed, floats, seed=seed_of(seed), **numbers, progress=progress, traced=states)
    return Run(timed, tuple(forward.run()), assumed_steps(network, data.inputs))


def weights_in_use(
    network: Network, *, seed: int = 0, weights: Mapping[str, Mapping[str, Nested]] | None = None, rounded: bool = False
) -> Iterator[tuple[str, dict[str, Nested]]]:
    """Yield the weights of a run, layer by layer: those given, or those drawn from the seed.

    rounded: whether drawn weights are rounded, as in a pass worked by hand.
    """
    numbers = PassData(seed_of(seed), own_numbers(network, weights).weights, rounded=rounded)
    for placed in network.stack:
        if placed.stored and not isinstance(placed.layer, External):
            yield placed.name, numbers.weights_of(placed)


def seed_of(seed: object) -> int:
    """Return the seed. Raises CallError if it is not a whole number."""
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise CallError(f"seed: expected a whole number, got {describe(seed)}")
    return seed


def assumed_steps(network: Network, inputs: Inputs | None, least: int = DEFAULT_STEPS) -> int | None:
    """Return the number of steps if neither the network nor its inputs give it; None if they do.

    It is the least one, doubled until every window has its steps. Raises SpecError if none is found.
    """
    network = with_steps_of(network, inputs)
    if steps_known(network.parts):
        return None
    while True:
        try:
            with_steps(network, least)
        except SpecError:
            if least > MOST_ASSUMED:
                raise
            least *= 2
        else:
            return least


def with_steps(network: Network, steps: int | None) -> Network:
    """Return the network with as many steps in each part that has no number of them."""
    if steps_known(network.parts):
        return network
    return network.with_parts({name: part._replace(steps=part.steps or steps) for name, part in network.parts.items()})


def with_steps_to_run(network: Network, inputs: Inputs | None = None) -> Network:
    """Return the network with a number of steps in every part: its own, the inputs', or the assumed one."""
    return with_steps(with_steps_of(network, inputs), assumed_steps(network, inputs))


# Numbers from a Python caller: dicts, lists and arrays. A command's come from files, with the same rules.


def own_numbers(
    network: Network, weights: object = None, inputs: object = None, start: object = None, targets: object = None
) -> Data:
    """Return a caller's numbers in lists. Raises SpecError with everything that does not fit the network.

    Anything with a `tolist`, such as an array, may be used for a list. Inputs need no dict if there are no halves.
    """
    reading = _CallerNumbers()
    data: dict[str, Any] = {}
    if weights is not None:
        numbers = plain(weights)
        if isinstance(numbers, Mapping):  # a layer without weights, such as a dropout, may have an empty entry
            without = {placed.name for placed in network.stack if not placed.stored}
            numbers = {name: entry for name, entry in numbers.items() if entry or name not in without}
        data["weights"] = read_weights(reading, numbers, ("weights",), network)
    if inputs is not None:
        numbers = plain(inputs)
        by_itself = None in network.parts and isinstance(numbers, Mapping) and [*numbers] == [None]
        data["inputs"] = read_inputs(reading, numbers[None] if by_itself else numbers, ("inputs",), network)
        network = with_steps_of(network, data["inputs"])
    if start is not None:
        data["start"] = read_start(reading, plain(start), ("start",), network)
    if targets is not None:
        data["targets"] = read_targets(reading, plain(targets), ("targets",), network)
    if reading.problems:
        raise SpecError(first(reading.problems))
    if network.notation and "weights" in data:
        from rnncalc.questions.spelling import stored_weights  # few networks have a notation

        data["weights"] = stored_weights(network, data["weights"])
    return Data(**data)


class _CallerNumbers:
    """Numbers in Python's own lists, tuples and mappings, or in arrays; a problem has no place but its path."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def note(self, node: Any, path: Path, message: str) -> None:
        self.problems.append(Problem(path, message))

    def keys(self, node: Any, path: Path, known: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if not isinstance(node, Mapping):
            keys = f"a dict with {one_of(known)}" if known else "nothing"
            self.note(node, path, f"expected {keys}, got {describe(node)}")
            return
        for key, value in node.items():
            if key in known:
                yield key, value
            else:
                word = str(key)
                cure = did_you_mean(word, known) or f"; {keys_here(known)}"
                self.note(node, (*path, escape(word)), f"unknown key{cure}")

    def has_keys(self, node: Any) -> bool:
        return isinstance(node, Mapping)

    def items(self, node: Any) -> Sequence[Any] | None:
        node = plain(node)
        return node if isinstance(node, Sequence) and not isinstance(node, str | bytes) else None

    def value(self, node: Any, path: Path, allowed: Allowed, stand_in: Any) -> Any:
        number = plain(node)
        if not isinstance(number, int | float):
            self.note(node, path, f"expected {allowed.expected}, got {describe(node)}")
        elif problem := allowed.problem(number):
            self.note(node, path, problem)
        else:
            return number
        return stand_in

    def got(self, node: Any) -> str:
        number = isinstance(node, int | float) and not isinstance(node, bool)
        return f"the number {node}" if number else describe(node)
