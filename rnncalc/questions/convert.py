"""`convert`: a network's arrays as another framework has them, and the proof by a pass under both conventions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rnncalc.bounds import MOST_MULTIPLY_ADDS
from rnncalc.conventions import CONVENTIONS
from rnncalc.display import displayed
from rnncalc.errors import Problem, RefusedError, SpecError
from rnncalc.forward.arrays import flat, floats
from rnncalc.forward.network_pass import Pass
from rnncalc.models.convert import Conversion, Numbers, Recipe, converted, in_order, recipe
from rnncalc.models.files.model import nested
from rnncalc.models.matching import match, weights_of
from rnncalc.models.read import Reading
from rnncalc.network.data import Nested, Weights
from rnncalc.network.network import Network, in_numbers
from rnncalc.questions import network_of, whole, word
from rnncalc.questions.price import refuse_pass
from rnncalc.questions.run import assumed_steps, own_numbers, with_steps

STEPS = 5
"""The fewest steps of the two passes if the network has no number of them."""

LARGEST_DIFFERENCE = 1e-5
"""The largest difference of two outputs that is rounding, as a share of the largest output."""


@displayed("rnncalc.reports.convert:ConvertReport")
class Converted(NamedTuple):
    """A network under another convention.

    source, target: the network under both. conversions: each array of the target. numbers: those of the target's
    arrays, None without any of the source's. largest_difference, largest_output: of two passes on the same inputs; None
    if none were done, because there are no numbers or because they would cost too much.
    """

    source: Network
    target: Network
    conversions: tuple[Conversion, ...]
    numbers: Numbers | None = None
    largest_difference: float | None = None
    largest_output: float | None = None

    @property
    def agrees(self) -> bool:
        """Whether both give the same outputs, or were not run."""
        return self.largest_difference is None or (
            self.largest_difference <= LARGEST_DIFFERENCE * (self.largest_output or 0.0)
        )

    @property
    def arrays(self) -> dict[str, dict[str, Nested]] | None:
        """The arrays of the target as nested lists, by layer and tensor."""
        return None if self.numbers is None else _nested(self.target, self.numbers)


def convert(
    network: Network | Reading,
    to: str,
    *,
    weights: Mapping[str, Mapping[str, Nested]] | None = None,
    most_multiply_adds: int = MOST_MULTIPLY_ADDS,
) -> Converted:
    """Return what the arrays of a network are in another framework, and, of its weights, the arrays themselves.

    network: a network, or a model file as `read` returns it, with its weights. to: the name of the other convention.
    weights: as in `run`.
    Raises CallError for an unknown convention, SpecError for layers that the other framework computes otherwise, for
    weights that do not fit, and for a bias that is not zero and has no place.
    """
    if isinstance(network, Reading):
        network, weights = _of_file(network)
    network, to = network_of(network), word("to", to, tuple(CONVENTIONS))
    checked = None if weights is None else own_numbers(network, weights).weights
    return with_weights(network, to, checked, whole("most_multiply_adds", most_multiply_adds))


def with_weights(network: Network, to: str, weights: Weights | None, most: int) -> Converted:
    """Return the same of weights that fit the network."""
    mapping = recipe(in_numbers(network), to)
    if weights is None:
        return Converted(*mapping)
    numbers = in_order(network, weights)
    theirs = converted(mapping, numbers)
    try:
        return Converted(*mapping, theirs, *_compared(mapping, numbers, theirs, most))
    except RefusedError:
        return Converted(*mapping, theirs)


def _of_file(reading: Reading) -> tuple[Network, dict[str, dict[str, Nested]]]:
    """Return the network of a model file, and its weights."""
    if reading.draft is None:
        raise SpecError((Problem((), "has no network that could be converted", f"'{reading.file.path}'"),))
    network = reading.draft.network
    return network, weights_of(network.stack, reading.file.path, match(network, reading.file))


def _nested(network: Network, numbers: Numbers) -> dict[str, dict[str, Nested]]:
    return {
        placed.name: {each.name: nested(numbers[placed.name][each.name], each.shape) for each in placed.stored}
        for placed in network.stack
        if placed.stored
    }


def _compared(mapping: Recipe, ours: Numbers, theirs: Numbers, most: int) -> tuple[float, float]:
    """Return the largest difference of the outputs of two passes on the same inputs, and the largest output."""
    outputs, steps = [], assumed_steps(mapping.source, None, STEPS)
    for network, numbers in ((mapping.source, ours), (mapping.target, theirs)):
        timed = with_steps(network, steps)
        refuse_pass(timed, most)
        *_, last = Pass(timed, floats, seed=0, weights=_nested(timed, numbers)).run()
        if last.reason:
            raise SpecError((Problem((last.placed.name,), last.reason),))
        outputs.append([*flat(last.output)])
    differences = [abs(one - other) for one, other in zip(*outputs, strict=True)]
    return max(differences), max(map(abs, outputs[0]))
