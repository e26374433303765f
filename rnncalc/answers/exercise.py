"""`exercise`: a question about a network, its sizes varied, with the right answers and the known wrong ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, starmap
from math import prod
from random import Random
from typing import Any, NamedTuple, TypeVar

from rnncalc.answers.asked import ASKED
from rnncalc.answers.grading import Grader, number_of_tensors
from rnncalc.answers.judgement import Judgement
from rnncalc.answers.reading import Given, GivenNumber, GivenShape
from rnncalc.answers.tensors import TENSOR_MISTAKES, tensors_of
from rnncalc.answers.worksheet import WHOLE, Portion
from rnncalc.bounds import MOST_EXERCISES, MOST_EXPLAINED, MOST_LAYERS_VARIED, MOST_WRONG, MOST_WRONG_LINES
from rnncalc.display import displayed, report_of
from rnncalc.errors import CallError, SpecError
from rnncalc.forward.arrays import flat
from rnncalc.network.data import Data
from rnncalc.network.network import Network
from rnncalc.polynomial import in_order
from rnncalc.questions import network_of, whole, word
from rnncalc.questions.solve import resized
from rnncalc.questions.vary import places_varied
from rnncalc.words import plural

ASKS = ("total", "layers", "tensors", "formula", *ASKED)
"""What an exercise may ask for about sizes."""

OF_PASS = ("values", "gradients")
"""What it may ask for about the numbers of a pass, also followed by names: `values:h_2,y_2`."""

DECIMALS = 4
"""The decimals of values that are asked for."""

TOLERANCE = 2 * 10**-DECIMALS
"""How far such a value may be off on a learning platform: two units of its last decimal, because steps are rounded."""

MOST_CHOICES = 26
"""The answers to choose from: each has a letter."""

MOST_TRIES = 200
"""How many networks are drawn for each variant; invalid and repeated ones are dropped."""

Answered = int | str | tuple[int, ...]
"""An answer: a number, a formula multiplied out, the shape of a tensor, or a value of a pass as text."""

T = TypeVar("T")


class Item(NamedTuple):
    """One question of an exercise.

    layer, tensor: the names of the layer and the tensor, or the value; None for the whole network, and for a count of
    all tensors. wrong: the known wrong answers, the likeliest first, each judged as by `answer`. choices: the shuffled
    answers to choose from; empty if the answer is to be written. numbers: those of a value, with all digits.
    """

    layer: str | None
    tensor: str | None
    right: Answered
    wrong: tuple[Judgement, ...]
    choices: tuple[Answered, ...] = ()
    numbers: Any = None


def answered(judged: Judgement) -> Answered:
    """Return the answer that was judged: a number, a formula, or the sizes of a shape."""
    answer = judged.answer
    if judged.value:
        return judged.value.text
    if isinstance(answer, GivenShape):
        return answer.sizes
    return str(answer.number) if judged.formula is not None else answer.number


class Exercise(NamedTuple):
    """One variant: its number from 1, its network, what it asks for, and its items.

    data, loss: the numbers of a pass, and the loss of its gradients, if it asks for values.
    """

    variant: int
    network: Network
    asks: str
    items: tuple[Item, ...]
    data: Data | None = None
    loss: str | None = None

    @property
    def right_answer(self) -> Any:
        """The right answer: one number, or a list: of each layer, of each value, or of each tensor the shape."""
        if self.data:
            return [item.numbers for item in self.items]
        answers = [[*item.right] if isinstance(item.right, tuple) else item.right for item in self.items]
        return answers if self.asks in ("layers", "tensors") else answers[0]

    @property
    def text(self) -> str:
        """The question in words."""
        return str(_data(self)["text"])

    @property
    def mistakes(self) -> list[dict[str, Any]]:
        """The known wrong answers, the likeliest first: each with its `answer` and its `feedback`."""
        return list(_data(self)["mistakes"])


def _data(exercise: Exercise) -> dict[str, Any]:
    data: dict[str, Any] = next(iter(report_of(ExerciseSet((exercise,))).data()))
    return data


@displayed("rnncalc.reports.exercise:of_exercises")
class ExerciseSet(NamedTuple):
    """The variants of an exercise."""

    exercises: tuple[Exercise, ...]


def exercise(
    network: Network,
    *,
    vary: Mapping[str, Sequence[int]] | None = None,
    variants: int = 1,
    seed: int = 0,
    ask: str = "total",
    choices: int = 0,
    loss: str | None = None,
    wrong: int = MOST_WRONG,
    progress: Callable[[int], None] | None = None,
) -> ExerciseSet:
    """Return variants of an exercise on a network, each with its right answer and known wrong answers.

    vary: the sizes that vary, each with its possible values: `{"lstm_1": range(16, 65, 16)}`. A size is `input`,
    `steps`, `output`, a named size, the name of a layer for its units, or `lstm_1.projection`. Sizes joined by commas
    stay equal. In an encoder-decoder, `input` and `steps` name their half: `encoder.input`.
    ask: one of ASKS; or `values` or `gradients` of a pass whose numbers are drawn, or some of them, as in
    `values:h_2,y_2`. loss: of the gradients, as in `backward`; by default cross_entropy if the output is a softmax.
    choices: how many answers to offer; 0 if the answer is to be written. wrong: how many wrong answers each question
    about sizes has at most. progress: called with 1 after each variant.
    The same seed gives the same sizes, whatever is asked, and the same choices of the same question. Raises CallError
    for an impossible question, or too few different variants; SpecError if no value of a size makes a valid network.
    """
    network = network_of(network, letters=True).replace(expect=None, budget=None, training=None)
    kind, _, named = ask.partition(":")
    word("ask", ask if kind not in OF_PASS else kind, (*ASKS, *OF_PASS))
    if ask not in ASKED and (ask == "formula") != bool(network.letters):
        cure = "give the sizes as letters, such as m and h" if ask == "formula" else "ask for formula"
        raise CallError(
            f"ask: {ask} cannot be asked of a network in {'letters' if network.letters else 'numbers'}; {cure}"
        )
    whole("variants", variants, 1)
    whole("seed", seed)
    whole("wrong", wrong)
    if whole("choices", choices) == 1 or choices > MOST_CHOICES:
        expected = f"2 to {MOST_CHOICES}, or 0 for an answer that is written"
        raise CallError(f"choices: expected {expected}, got {choices:,}")
    layers = len(network.stack)
    if variants > (most := min(MOST_EXERCISES, max(1, MOST_LAYERS_VARIED // layers))):
        of_layers = f" of a network of {plural(layers, 'layer')}" if most < MOST_EXERCISES else ""
        raise CallError(f"variants: expected at most {most:,}{of_layers}, got {variants:,}")
    if kind in OF_PASS:
        names = [each for each in map(str.strip, re.split(r"[,;](?![0-9])", named)) if each]
        drawn = islice(_networks(network, vary or {}, Random(seed), variants), variants)
        exercises = _of_pass([*drawn], variants, kind, names, seed, choices, loss)
        return ExerciseSet((*_followed(exercises, progress),))
    if loss is not None:
        raise CallError("loss: only gradients have one; ask for gradients, or remove it")

    def on(number: int, network: Network) -> Exercise:
        items = [with_choices(item, choices, f"{seed} {number}") for item in items_of(network, ask, wrong)]
        return Exercise(number, network, ask, tuple(items))

    networks = enumerate(islice(_networks(network, vary or {}, Random(seed), variants), variants), 1)
    varied = [*_followed(starmap(on, networks), progress)]
    if len(varied) < variants:
        cure = "vary more sizes, or ask for fewer"
        raise CallError(f"the sizes allow {plural(len(varied), 'different variant')}, not {variants:,}; {cure}")
    return ExerciseSet(tuple(varied))


def _followed(exercises: Iterable[Exercise], progress: Callable[[int], None] | None) -> Iterator[Exercise]:
    for each in exercises:
        yield each
        if progress:
            progress(1)


def _of_pass(
    networks: Sequence[Network],
    variants: int,
    asks: str,
    names: Sequence[str],
    seed: int,
    choices: int,
    loss: str | None,
) -> Iterator[Exercise]:
    """Yield variants that ask for values of a pass, each with numbers of its own, on the networks in turn."""
    from rnncalc.answers.passes import grader_of, items_of_pass, worked_network  # few exercises are on a pass

    for number in range(1, variants + 1):
        network = worked_network(networks[(number - 1) % len(networks)])
        grader = grader_of(network, asks, names, f"{seed} {number}", loss)
        items = (with_choices(Item(*each), choices, f"{seed} {number}") for each in items_of_pass(grader, DECIMALS))
        yield Exercise(number, network, asks, tuple(items), grader.data, grader.loss)


def _networks(network: Network, vary: Mapping[str, Sequence[int]], random: Random, variants: int) -> Iterator[Network]:
    """Yield different networks with sizes drawn from their possible values."""
    sizes = [places for (places,) in places_varied([network], vary)]
    every = prod(map(len, vary.values()))
    drawn: set[tuple[int, ...]] = set()
    refused: SpecError | None = None
    valid = False
    for _ in range(MOST_TRIES * variants):
        if len(drawn) == every:
            break
        values = tuple(each[int(random.random() * len(each))] for each in vary.values())  # the same in every Python
        if values in drawn:
            continue
        drawn.add(values)
        try:
            new = network
            for names, value in zip(sizes, values, strict=True):
                new = resized(new, names, value)
        except SpecError as error:
            refused = refused or error
            continue
        valid = True
        yield new
    if refused and not valid:
        raise refused


def with_choices(item: Item, choices: int, seed: str) -> Item:
    """Return an item with choices: the right answer among likely wrong ones, in an order drawn for this question.

    Each rank of the right answer is as probable as any other that the wrong ones allow, so no rank tells it.
    seed: that of the exercise with the number of the variant.
    """
    if not (choices and item.wrong):
        return item
    random = Random(f"{seed} {item.layer} {item.tensor} {item.right}")

    def below(most: int) -> int:
        """Return a random number below a limit, the same in every Python."""
        return int(random.random() * most)

    less, more = ([each for each in item.wrong if _is_more(each) is side] for side in (False, True))
    offered = min(choices - 1, len(item.wrong))
    least = max(offered - len(more), 0)
    lesser = least + below(min(offered, len(less)) - least + 1)
    among = [item.right, *map(answered, [*less[:lesser], *more[: offered - lesser]])]
    drawn = tuple([among.pop(below(len(among))) for _ in range(len(among))])
    return item._replace(choices=drawn)


def _is_more(wrong: Judgement) -> bool:
    """Return whether an answer is more than the right one, a formula for some sizes; shapes differ in their order."""
    if wrong.value:
        return [*flat(wrong.value.numbers)] > [*flat(wrong.value.exact)]
    if isinstance(wrong.answer, GivenShape):
        return wrong.answer.sizes > wrong.plain_shape
    return not wrong.difference <= 0


def items_of(network: Network, ask: str, most: int = MOST_WRONG) -> Iterator[Item]:
    """Yield the items about a network, each with so many wrong answers at most.

    A wrong answer is judged as by `answer`, among the correct answers to the other items. Raises CallError if there are
    no items, or too many.
    """
    grader, stack = Grader(network, ask if ask in ASKED else "params"), network.stack
    places = [place for place, placed in enumerate(stack) if placed.params] if ask == "layers" else []
    if ask == "layers":
        _check("layers with parameters", len(places))
    correct: list[Given] = [GivenNumber(in_order(grader.total))]  # the order of terms tells nothing
    if ask == "tensors":
        _check("tensors", number_of_tensors(network))
        tensors = tensors_of(network)
        shapes = [GivenShape(tensor.plain_shape) for _, tensor in tensors]
        correct = [*shapes]
        wrong: list[list[Given]] = []
        for place, shape in enumerate(shapes):
            mistaken = [size for row in TENSOR_MISTAKES for _, size in row.change(tensors, place, shapes)]
            wrong.append([*map(GivenShape, _wrong(mistaken, shape.sizes))])
    elif len(places) > 1:
        correct = [GivenNumber(stack[place].params) for place in places]
        wrong = [[*map(GivenNumber, _wrong(_mistaken(grader, place), stack[place].params))] for place in places]
    else:  # the number of one layer is judged as the total
        numbers, quantities = _mistaken(grader, None), [number for number, _ in grader.search.quantities]
        if ask in ASKED:  # another quantity is likelier than a mistake then
            numbers = [*quantities, *numbers]
        elif not network.letters:
            numbers += quantities
        likeliest = map(in_order, _wrong(numbers, grader.total, len(stack)))
        wrong = [[GivenNumber(each, 1, str(each)) for each in likeliest]]
    for place, right in enumerate(grader.judgements(correct)):
        answers = ([*correct[:place], each, *correct[place + 1 :]] for each in wrong[place])
        judged = (grader.judgements(each)[place] for each in answers)
        explained = islice((each for each in judged if not each.right and (each.diagnoses or each.meant)), most)
        layer = stack[places[place]].name if places else right.layer
        yield Item(layer, right.tensor, answered(right), tuple(explained))


def _mistaken(grader: Grader, place: int | None) -> list[Any]:
    """Return the numbers of single mistakes, the likeliest first; last those of another convention, not likely else."""
    singles = grader.search.singles(WHOLE if place is None else Portion((place,)))

    def of_another(number: Any) -> bool:
        rows = [row for candidate in singles[number] for row, _ in candidate.mistakes]
        return rows[0].subject == "convention" and all(row.rarity for row in rows)

    return sorted(singles, key=of_another)


def _check(what: str, number: int) -> None:
    if not 1 <= number <= MOST_EXPLAINED:
        raise CallError(f"ask: the network has {number or 'no'} {what}, and an exercise asks for 1 to {MOST_EXPLAINED}")


def _wrong(answers: Iterable[T], right: T, layers: int = 1) -> list[T]:
    """Return the wrong answers, the likeliest, each once, without 0: no learner answers 0.

    layers: how many layers each counts.
    """
    most = min(MOST_WRONG, MOST_WRONG_LINES // layers)
    return [*islice((answer for answer in dict.fromkeys(answers) if answer not in (right, 0)), most)]
