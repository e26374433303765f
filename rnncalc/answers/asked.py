"""The quantities other than parameters that `answer` or an exercise may be about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rnncalc.errors import Cure, RefusedError
from rnncalc.layers.layer import External
from rnncalc.letters import has_letters
from rnncalc.network.network import Network

Counts = Sequence[Any]
"""A quantity of each layer; None if it is unknown."""


class QuantityQuestion(NamedTuple):
    """A quantity that may be asked for: the function to it for each layer of a network, and how it is counted.

    biases: whether those of the convention are in it.
    """

    counts: Callable[[Network], Counts]
    rule: str
    biases: bool = False


def _flops(network: Network) -> Counts:
    from rnncalc.questions.operations import pass_operations  # which few answers are about

    return [None if counts is None else counts.flops for counts in pass_operations(network).layers]


def _saved(network: Network) -> Counts:
    from rnncalc.questions.training import training_of

    return [layer.saved for layer in training_of(network).layers]


ASKED: Mapping[str, QuantityQuestion] = {
    "multiply-adds": QuantityQuestion(
        lambda network: [placed.multiply_adds for placed in network.stack],
        "Multiply-adds (MACs) of one forward pass over one sequence; biases and activations are not counted; "
        "FLOPs count them.",
    ),
    "flops": QuantityQuestion(
        _flops,
        "FLOPs of one forward pass over one sequence: two for each multiply-add, one for each addition of a bias, "
        "element-wise operation and activation.",
        biases=True,
    ),
    "bytes": QuantityQuestion(
        lambda network: [placed.bytes_in("float32") for placed in network.stack],
        "Bytes of the parameters in float32, four for each.",
        biases=True,
    ),
    "saved": QuantityQuestion(_saved, "Activations of one sequence that the backward equations read, each once."),
    "state": QuantityQuestion(
        lambda network: [placed.layer.carried(placed.inputs) for placed in network.stack],
        "Numbers that are carried from one step to the next, for one sequence.",
    ),
}
"""The quantities that may be asked for, by the words of `answer --of` and `exercise --ask`."""

OF = ("params", *ASKED)
"""What an answer may be about."""

TASKS = (*OF, "values")
"""What an answer may be about on the command line; `values.py` judges those of a pass."""


def counts_of(network: Network, quantity: str) -> Counts:
    """Return a quantity of each layer. Raises RefusedError with the reason if it is unknown."""
    counts = ASKED[quantity].counts(network)
    if None not in counts:
        return counts
    placed = network.stack[[*counts].index(None)]
    if isinstance(placed.layer, External):
        raise RefusedError(f"{quantity} is not known of a network with a part counted elsewhere")
    if quantity == "state":
        raise RefusedError(f"state: {placed.name} needs future steps, so the network does not run step by step")
    if quantity == "saved" and any(has_letters(part.steps) for part in network.parts.values()):
        raise RefusedError("saved is counted step by step, and the number of steps is a letter", Cure.STEPS)
    raise RefusedError(f"{quantity} cannot be counted without the number of steps", Cure.STEPS)
