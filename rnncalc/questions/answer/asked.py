"""The quantities of a network, other than its parameters, that an answer or an exercise may be about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.errors import CallError, Cure, RefusedError
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import External, Layer
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.questions.answer.grading import Grader, check_letters
from rnncalc.questions.answer.judgement import Diagnosis, Judgement, Reason
from rnncalc.questions.answer.quantities import QUANTITIES, Quantity, Subject
from rnncalc.questions.answer.reading import Given, GivenNumber, NamedShape, as_calculations
from rnncalc.questions.count import DTYPES, total
from rnncalc.text import has_letters, plural

if TYPE_CHECKING:
    from rnncalc.step.costs import OperationCounts

Counts = Sequence[Any]
"""A quantity of each layer; None if it is unknown."""


class QuantityQuestion(NamedTuple):
    """A quantity that may be asked for: how it is counted, and the quantities that it is confused with.

    counts: returns it for each layer of a network. rule: the sentence by which it is counted. confused: the likeliest
    first. biases: whether those of the convention are in it.
    """

    counts: Callable[[Network], Counts]
    rule: str
    confused: Sequence[tuple[str, str, Quantity]]
    biases: bool = False


def _flops(network: Network) -> Counts:
    from rnncalc.questions.operations import pass_operations  # which few answers are about

    return [None if counts is None else counts.flops for counts in pass_operations(network).layers]


def _saved(network: Network) -> Counts:
    from rnncalc.questions.training import training_of

    return [layer.saved for layer in training_of(network).layers]


def _by_operations(number: Callable[[Placed, OperationCounts], int]) -> Quantity:
    """Return the quantity that is the sum of a number of each layer's operations."""

    def quantity(subject: Subject) -> int | None:
        from rnncalc.questions.operations import pass_operations

        layers = zip(subject.network.stack, pass_operations(subject.network).layers, strict=True)
        asked = [(placed, counts) for placed, counts in layers if placed in subject.layers]
        return total(None if counts is None else number(placed, counts) for placed, counts in asked)

    return quantity


def _by_multiply_adds(number: Callable[[Layer, int], int]) -> Quantity:
    """Return the quantity that is the sum of a number of each layer's multiply-adds."""

    def quantity(subject: Subject) -> int | None:
        counts = [(placed.layer, placed.multiply_adds) for placed in subject.layers]
        return total(None if count is None else number(layer, count) for layer, count in counts)

    return quantity


def _one_state(subject: Subject) -> int:
    layers = [(placed, placed.layer) for placed in subject.layers]
    cells = [(placed.sizes, layer) for placed, layer in layers if isinstance(layer, Cell)]
    return sum([sizes[next(iter(layer.states.values()))] * layer.directions for sizes, layer in cells])


def _two_states(subject: Subject) -> int | None:
    layers = [(placed.layer, placed.layer.carried(placed.inputs)) for placed in subject.layers]
    return total(
        number and number * (1 + (isinstance(layer, Cell) and len(layer.states) == 1)) for layer, number in layers
    )


def _params(subject: Subject, times: int = 1) -> int:
    return times * sum([placed.params for placed in subject.layers])


# a row is read on one line, or on two: an id, what the learner does, and the quantity
# fmt: off
ASKED: Mapping[str, QuantityQuestion] = {
    "multiply-adds": QuantityQuestion(
        lambda network: [placed.multiply_adds for placed in network.stack],
        "Multiply-adds (MACs) of one forward pass over one sequence; biases and activations are not counted; "
        "FLOPs count them.",
        (
            ("one-step", "is that of one step, and there are several", QUANTITIES["multiply-adds per step"]),
            ("params", "is the number of parameters, and most are used once for each step", _params),
            ("biases", "counts a multiply-add for each bias too", QUANTITIES["gradients per step"]),
            ("flops", "counts a multiplication and an addition as two (FLOPs), not as one multiply-add",
             QUANTITIES["twice forward"]),
            ("flops", "is the number of FLOPs, which count biases and activations too",
             _by_operations(lambda _, counts: counts.flops)),
            ("one-direction", "counts one direction of two",
             _by_multiply_adds(lambda layer, count: count // layer.directions)),
            ("recurrent-twice", "counts the products of the recurrent layers twice",
             _by_multiply_adds(lambda layer, count: count * (1 + isinstance(layer, Cell)))),
            ("backward", "is that of the backward pass", QUANTITIES["backward"]),
            ("dense", "is that of the dense equivalent with its biases", QUANTITIES["dense"])),
    ),
    "flops": QuantityQuestion(
        _flops,
        "FLOPs of one forward pass over one sequence: two for each multiply-add, one for each addition of a bias, "
        "element-wise operation and activation.",
        (
            ("multiply-adds", "counts a multiplication and an addition as one multiply-add, not as two",
             QUANTITIES["multiply-adds"]),
            ("products-alone", "counts the matrix products alone, without biases and activations",
             QUANTITIES["twice forward"]),
            ("no-biases", "leaves out the additions of the biases",
             _by_operations(lambda _, counts: counts.flops - counts.bias_additions)),
            ("one-step", "is that of one step, and there are several",
             _by_operations(lambda placed, counts: counts.flops // (placed.uses or 1))),
            ("training", "is three times that, as a backward pass takes about two forward passes",
             _by_operations(lambda _, counts: 3 * counts.flops)),
            ("recurrent-twice", "counts the recurrent layers twice",
             _by_operations(lambda placed, counts: counts.flops * (1 + isinstance(placed.layer, Cell)))),
            ("params", "is the number of parameters", _params)),
        biases=True,
    ),
    "bytes": QuantityQuestion(
        lambda network: [DTYPES["float32"] * placed.params for placed in network.stack],
        "Bytes of the parameters in float32, four for each.",
        (
            ("params", "is the number of parameters, and each takes four bytes", _params),
            ("float16", "counts two bytes for each parameter, as in float16", lambda subject: _params(subject, 2)),
            ("float64", "counts eight bytes for each parameter, as in float64", lambda subject: _params(subject, 8)),
            ("bits", "is the number of bits", lambda subject: _params(subject, 32))),
        biases=True,
    ),
    "saved": QuantityQuestion(
        _saved,
        "Activations of one sequence that the backward equations read, each once.",
        (
            ("no-gates", "leaves out the gates, which the backward equations read too",
             QUANTITIES["saved without gates"]),
            ("states", "is the number of values in the states of all steps", QUANTITIES["states"]),
            ("params", "is the number of parameters", _params),
            ("multiply-adds", "is the number of multiply-adds in one pass", QUANTITIES["multiply-adds"])),
    ),
    "state": QuantityQuestion(
        lambda network: [placed.layer.carried(placed.inputs) for placed in network.stack],
        "Numbers that are carried from one step to the next, for one sequence.",
        (
            ("one-state", "counts one state of each cell, and there are several", _one_state),
            ("two-states", "counts two states of each cell, and there are cells with one", _two_states),
            ("states", "is the number of values in the states of all steps", QUANTITIES["states"]),
            ("inputs", "is the width of the input", lambda subject: subject.layers[0].inputs),
            ("outputs", "is the width of the output", lambda subject: subject.layers[-1].outputs),
            ("params", "is the number of parameters", _params)),
    ),
}
# fmt: on
"""The quantities that may be asked for, by the words of `answer --of` and `exercise --ask`."""

OF = ("params", *ASKED)
"""What an answer may be about."""


class QuantityGrader(Grader):
    """Judges answers about a quantity of a network other than its parameters: the total, or a number for each layer.

    Raises RefusedError if the quantity is unknown.
    """

    def __init__(self, network: Network, quantity: str) -> None:
        super().__init__(network)
        self.quantity = quantity
        self.counts = ASKED[quantity].counts(network)
        if None in self.counts:
            raise _unknown(network, quantity, self.counts)
        self.correct = sum(self.counts)

    def judgements(self, answers: Sequence[Given]) -> tuple[Judgement, ...]:
        """Judge numbers or formulas; a wrong one may be a quantity that is confused with the correct one."""
        if named := self.named(answers):
            return named
        calculations = as_calculations([each for each in answers if not isinstance(each, NamedShape)])
        numbers = [each for each in calculations if isinstance(each, GivenNumber)]
        for each in numbers:
            check_letters(each, self.network.letters)
        if len(numbers) == len(answers) == 1:
            return (self._judged(None, numbers[0], self.correct),)
        everything = range(len(self.counts))
        for places in ([*everything], [place for place in everything if self.counts[place]]):
            if len(numbers) == len(answers) == len(places):
                return self.layers(numbers, places)
        expected = f"1 number, {self.quantity}"
        if len(places) > 1:
            expected += f", or {len(places)} in order"
        raise CallError(f"expected {expected}, got {plural(len(answers), 'answer')}")

    @property
    def total(self) -> Any:
        return self.correct

    def layers(self, numbers: Sequence[GivenNumber], places: Sequence[int]) -> tuple[Judgement, ...]:
        for each in numbers:
            check_letters(each, self.network.letters)
        return tuple(
            [self._judged(place, each, self.counts[place]) for each, place in zip(numbers, places, strict=True)]
        )

    def confused(self, place: int | None = None) -> Iterator[tuple[Any, Reason]]:
        """Yield the wrong numbers of the network, or of a layer, that are other quantities, the likeliest first."""
        subject, correct = Subject.of(self.network), self.correct
        if place is not None:
            subject, correct = subject.layer(place), self.counts[place]
        numbers = [correct]
        for id_, text, count in ASKED[self.quantity].confused:
            if (number := count(subject)) and number not in numbers:
                numbers.append(number)
                yield number, Reason(id_, text)

    def _judged(self, place: int | None, answer: GivenNumber, correct: Any) -> Judgement:
        name = None if place is None else self.network.stack[place].name
        judgement = Judgement(name, answer, correct, formula=correct if has_letters(correct) else None)
        if judgement.right or answer.one_digit:
            return judgement
        wrong = [(number, reason) for number, reason in self.confused(place) if answer.means(number)]
        return judgement._replace(
            diagnoses=tuple([Diagnosis((reason,), name, None, number, correct) for number, reason in wrong])
        )


def _unknown(network: Network, quantity: str, counts: Counts) -> RefusedError:
    """Return the error for an unknown quantity: why it is unknown."""
    placed = network.stack[[*counts].index(None)]
    if isinstance(placed.layer, External):
        return RefusedError(f"{quantity} is not known of a network with a part counted elsewhere")
    if quantity == "state":
        return RefusedError(f"state: {placed.name} needs future steps, so the network does not run step by step")
    if quantity == "saved" and network.letters:
        return RefusedError("saved needs numbers: the sizes of the network are letters; give numbers")
    return RefusedError(f"{quantity} depends on the number of steps", Cure.STEPS)


def grader_of(network: Network, quantity: str) -> Grader:
    """Return the grader of answers about a quantity, or of any other question. Raises RefusedError if it is unknown."""
    return QuantityGrader(network, quantity) if quantity in ASKED else Grader(network)
