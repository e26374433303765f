"""`answer`: judges a learner's count, and finds the mistakes that give a wrong one. Writes no sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from rnncalc.bounds import MOST_EXPLAINED, MOST_LEARNED
from rnncalc.conventions import CONVENTIONS
from rnncalc.conventions.formula import Expression, value
from rnncalc.display import displayed, report_of
from rnncalc.errors import CallError, SpecError
from rnncalc.layers.layer import Dense, Layer, Output
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.polynomial import letter
from rnncalc.questions.answer.mistake import Question
from rnncalc.questions.answer.quantities import (
    KnownQuantity,
    OtherSize,
    SizeCurve,
    other_size,
    quantities,
    quantities_of_layer,
    size_curves,
)
from rnncalc.questions.answer.reading import (
    Given,
    GivenNumber,
    NamedShape,
    Shape,
    check_number_of_answers,
    in_one,
    read_answer,
)
from rnncalc.questions.answer.returned import JudgedShape, judge_returned
from rnncalc.questions.answer.search import Diagnosis, Search, is_guess, worksheets_after
from rnncalc.questions.answer.tensors import (
    Answers,
    Tensors,
    diagnoses_of,
    number_of_tensors,
    place_of,
    tensors_of,
)
from rnncalc.questions.answer.worksheet import Worksheet, worksheet_of
from rnncalc.questions.count import count
from rnncalc.questions.given import network_of, plain
from rnncalc.questions.training import Training, training_of
from rnncalc.records import Record
from rnncalc.text import all_of, bracketed, escape, has_letters, plural

MOST_NAMES, SHOWN = 12, 4


class Judgement(Record):
    """One number or shape, compared with the right one.

    layer: its name, None for the total. tensor: its name, None for a count of all tensors.
    shape: the right shape. plain_shape: the same, but a vector has no axis of 1.
    diagnoses: the mistakes that give it, the likeliest first.
    meant: the other quantities of the network with this number.
    other_size: the one changed size that would give it, if no single mistake does.
    follows: the layer with the mistake that it follows from; it is then no mistake of its own.
    by_chance: whether so many numbers have such an explanation that the likeliest is a guess.
    explained: whether mistakes were looked for; they are for the first MOST_EXPLAINED wrong numbers.
    returned: the comparison with an array that a layer returns, if it is no tensor; `params` is then 0.
    formula: the right number as a formula, if it has letters.
    """

    layer: str | None
    given: Given
    params: int
    tensor: str | None = None
    shape: tuple[int, ...] = ()
    plain_shape: tuple[int, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    meant: tuple[KnownQuantity, ...] = ()
    other_size: OtherSize | None = None
    follows: str | None = None
    by_chance: bool = False
    explained: bool = True
    returned: JudgedShape | None = None
    formula: Expression | None = None

    @property
    def right(self) -> bool:
        """Whether the shape is right, or the number, rounded as the learner did."""
        match self.given:
            case GivenNumber():
                return self.given.rounds(self.params)
            case Shape():
                return self.given.has_shape(self.plain_shape)
            case NamedShape():
                return self.returned is not None and self.returned.order is not None

    @property
    def rounded(self) -> bool:
        """Whether the number is right, but not to the last digit."""
        return self.right and isinstance(self.given, GivenNumber) and self.given.number != self.params


@displayed
class Answer(Record):
    """A learner's answer, judged: the total, or a number or a shape for each layer or tensor.

    right_in: another notation in which every given shape is right.
    """

    network: Network
    judged: tuple[Judgement, ...]
    right_in: str | None = None

    @property
    def right(self) -> bool:
        """Whether every number is right."""
        return all(each.right for each in self.judged)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The finished sentences: the verdict, the mistake behind each wrong number with its sum, and remarks."""
        return tuple(report_of(self).sentences())

    @property
    def first_wrong(self) -> str | None:
        """The first layer that is wrong; None if there is none, or the total was given."""
        return next((each.layer for each in self.judged if not each.right), None)


def judge(network: Network, given: Sequence[Given]) -> Answer:
    """Judge an answer: the total, a number for each layer or tensor, or a shape for each tensor.

    A number may be a formula in the letters of the network; if the network has none, in the letters of each layer's
    formula. All are in order, the output layer last; layers without parameters may be left out. Raises CallError for a
    wrong number of numbers or shapes.
    """
    return Grader(network).judge(given)


class Grader:
    """Judges answers about one network. What several answers need is computed once, at its first use."""

    def __init__(self, network: Network) -> None:
        self.network = network

    @cached_property
    def formula(self) -> Expression | None:
        """The count as a formula, if it has letters."""
        return count(self.network).in_letters

    @cached_property
    def search(self) -> Search:
        """The search for mistakes in the total, and in each layer."""
        return Search(worksheet_of(self.network), self.network)

    @cached_property
    def training(self) -> Training:
        """What a training step of the network needs."""
        return training_of(self.network)

    @cached_property
    def quantities(self) -> tuple[KnownQuantity, ...]:
        """The other quantities of the network that a learner may have computed."""
        return tuple(quantities(self.training))

    @cached_property
    def sizes(self) -> list[SizeCurve]:
        """How the count depends on each size of the network; nothing if sizes are letters."""
        return [] if self.network.letters else size_curves(self.network)

    def judge(self, given: Sequence[Given]) -> Answer:
        """Judge an answer, as the function `judge` does."""
        network = self.network
        check_number_of_answers(len(given))
        named = [each for each in given if isinstance(each, NamedShape)]
        if len(named) == len(given):
            return Answer(network, _judge_named(network, named))
        if named:
            raise CallError("expected shapes with names, or answers without names, got both")
        plain_answers: Answers = [each for each in given if not isinstance(each, NamedShape)]
        if any(isinstance(each, Shape) for each in given):
            plain_answers = given = _as_shapes(network, plain_answers)
        numbers = [each for each in given if isinstance(each, GivenNumber)]
        shapes = [size for each in plain_answers if isinstance(each, Shape) for size in each.sizes]
        if not network.letters and any(map(has_letters, shapes)):
            raise CallError("expected shapes in numbers, as the sizes of the network are, got letters")
        if not numbers:
            judged = Answer(network, _judge_tensors(network, plain_answers))
            return judged if judged.right else judged._replace(right_in=_right_in(network, plain_answers))
        if len(numbers) < len(given):
            raise CallError("expected numbers or shapes, got both; give the one or the other")
        if not network.letters and any(has_letters(each.number) for each in numbers):
            return Answer(network, tuple(_judge_formulas(network, numbers)))
        for each in numbers:
            _check_letters(each, network.letters)
        if len(given) == 1:
            return Answer(network, (_judge_total(self, numbers[0]),))
        everything = [*range(len(network.stack))]
        counted = _counted(network) or everything
        for places in (everything, counted):
            if len(given) == len(places):
                return Answer(network, _judge_layers(self, places, numbers))
        if len(given) == number_of_tensors(network):
            return Answer(network, _judge_tensors(network, plain_answers))
        if grouped := in_one(numbers):
            return self.judge([grouped])
        raise CallError(f"expected {_counts(network, len(counted))}, got {len(given)}")


def answer(network: Network, *answers: int | str | tuple[int, ...] | list[int]) -> Answer:
    """Judge a learner's answer: the total, or a number for each layer or each tensor, in order.

    answers: numbers, or text with separators or rounded, such as `1.6k`; or the shape of each tensor, such as (20, 10).
    Raises CallError if one is neither a number nor a shape, or if there are too few or too many.
    """
    if not answers:
        raise CallError("give an answer: the total, or a number or a shape for each tensor")
    given = [_read(each) for each in answers]
    tensors = number_of_tensors(network_of(network, letters=True))
    match given:
        case [Shape(sizes)] if tensors > 1 and isinstance(plain(answers[0]), list):
            each = ", ".join([*map(str, sizes[:SHOWN]), *(["..."] if len(sizes) > SHOWN else [])])
            cure = f"give each by itself, as in answer(network, {each})"
            raise CallError(f"expected numbers, or a shape for each of {tensors} tensors, got one list; {cure}")
    return judge(network, given)


def _read(answer: object) -> Given:
    """Return a number, or a shape in a tuple or a list. Raises CallError if it is neither."""
    answer = plain(answer)
    if not isinstance(answer, tuple | list):
        return read_answer(str(answer))
    if not answer or any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in answer):
        raise CallError(f"expected a shape, such as (20, 10), got {escape(str(answer))}")
    return Shape(tuple(answer))


def _counts(network: Network, layers: int) -> str:
    """Describe in words how many numbers may be given."""
    tensors = number_of_tensors(network)
    several = [f"{layers}, one for each layer,"] if layers > 1 else []
    several += [f"{tensors}, one for each tensor,"] if tensors not in (1, layers) else []
    return " or ".join(["1 number, the total,", *several]) + " in order" if several else "1 number"


def _counted(network: Network) -> list[int]:
    """Return the places of the layers that have parameters."""
    return [place for place, placed in enumerate(network.stack) if placed.params]


def _judge_tensors(network: Network, given: Answers) -> tuple[Judgement, ...]:
    wanted = number_of_tensors(network)
    if not wanted:
        raise CallError("there is no tensor whose shape could be given; give a number")
    if len(given) != wanted:
        names = [f"{escape(layer)} {tensor.name}" for layer, tensor in tensors_of(network)[:MOST_NAMES]]
        names += ["..."] if wanted > MOST_NAMES else []
        message = f"expected {plural(wanted, 'shape')}, of {', '.join(names)}, got {len(given):,}"
        raise CallError(f"{message}{_other_convention(network, len(given))}")
    return _compare(tensors_of(network), given)


def _compare(tensors: Tensors, given: Answers) -> tuple[Judgement, ...]:
    judged = []
    wrong = 0
    for place, (answer, (layer, tensor)) in enumerate(zip(given, tensors, strict=True)):
        each = Judgement(layer, answer, tensor.params, tensor.name, tensor.shape, tensor.plain_shape)
        if not each.right:
            wrong += 1
            explained = wrong <= MOST_EXPLAINED
            found = tuple(diagnoses_of(tensors, place, given)) if explained else ()
            each = each._replace(diagnoses=found, explained=explained)
        judged.append(each)
    return tuple(judged)


def _other_convention(network: Network, given: int) -> str:
    """Return the cure for a wrong number of shapes: the convention with so many tensors, if there is one."""
    for name in CONVENTIONS:
        try:
            tensors = number_of_tensors(network.replace(convention=name, notation=None))
        except SpecError:
            continue  # this convention lacks a layer or an option of the network
        if tensors == given and name != network.convention:
            return f"; {plural(given, 'shape')} would fit the convention {name}"
    return ""


def _right_in(network: Network, given: Answers) -> str | None:
    """Return the notation, columns or rows, in which every given shape is right; None if there is none."""
    for name in ("w", "rows"):
        shapes = [tensor.plain_shape for _, tensor in tensors_of(network.replace(notation=name))]
        if len(shapes) == len(given) and all(map(lambda each, shape: each.has_shape(shape), given, shapes)):
            return name
    return None


def _as_shapes(network: Network, given: Answers) -> Answers:
    """Return shapes. A plain number is the shape of a vector: 20 is (20)."""
    if len(given) != number_of_tensors(network):
        return given
    vectors = [len(tensor.plain_shape) == 1 for _, tensor in tensors_of(network)]
    return [
        Shape((each.number,)) if vector and isinstance(each, GivenNumber) else each
        for each, vector in zip(given, vectors, strict=True)
    ]


def _judge_named(network: Network, given: Sequence[NamedShape]) -> tuple[Judgement, ...]:
    """Judge shapes by name: of single tensors, and of arrays that layers return."""
    tensors = tensors_of(network)
    places = [place_of(tensors, each.name) for each in given]
    others = [each for each, place in zip(given, places, strict=True) if place is None]
    returned = judge_returned(network, others, [tensor.name for _, tensor in tensors])
    answers: list[Shape] = [Shape(tensor.plain_shape) for _, tensor in tensors]
    for each, place in zip(given, places, strict=True):
        if place is not None:
            sizes = tuple(size for size in each.sizes if isinstance(size, int))
            if len(sizes) < len(each.sizes):
                wanted = "expected a shape in numbers, such as (20, 10)"
                raise CallError(f"{escape(each.name)}: {wanted}, got {bracketed(each.sizes)}")
            answers[place] = Shape(sizes)
    judged = _compare(tensors, answers)
    return tuple(_of_returned(next(returned)) if place is None else judged[place] for place in places)


def _of_returned(judged: JudgedShape) -> Judgement:
    right = judged.right
    return Judgement(right.module.name, judged.given, 0, right.name, diagnoses=judged.diagnoses, returned=judged)


def _check_letters(given: GivenNumber, known: Mapping[str, Any]) -> None:
    """Raise CallError for letters of a formula that the network does not have."""
    if has_letters(given.number) and (unknown := [name for name in given.number.letters if name not in known]):
        wanted = f"a formula in {all_of([*known])}" if known else "a number"
        raise CallError(f"expected {wanted}, got {all_of(unknown)} in '{escape(given.text)}'")


def _judge_formulas(network: Network, given: Sequence[GivenNumber]) -> Iterator[Judgement]:
    """Judge a formula for each layer of a network whose sizes are numbers; its letters are those of the layer."""
    stack = network.stack
    counted = [stack[place] for place in _counted(network)] or [*stack]
    places = stack if len(given) == len(stack) else counted
    if len(given) != len(places):
        message = f"expected {plural(len(places), 'formula')}, one for each layer in its own letters, got {len(given)}"
        raise CallError(f"{message}; one formula is the total of a network whose sizes are letters")
    for placed, each in zip(places, given, strict=True):
        name = placed.name if len(places) > 1 else None
        if not has_letters(each.number):
            yield Judgement(name, each, placed.params)
            continue
        letters = {name: letter(name) for name in placed.sizes}
        _check_letters(each, letters)
        formula = placed.layout.params
        right = value(formula, letters)
        judged = Judgement(name, each, right, formula=formula)
        if not judged.right and (alone := _alone(network, placed, right)):
            judged = judged._replace(diagnoses=_judge_total(Grader(alone), each).diagnoses)
        yield judged


def _alone(network: Network, placed: Placed, right: Any) -> Network | None:
    """Return a network of this layer alone, with letters for its sizes; None if its count differs."""
    fields = {"h": "units", "n": "units", "d": "units", "p": "projection", "N": "params"}
    options = {fields[name]: letter(name) for name in placed.sizes if name in fields}
    options |= {option: placed.layer.defaults[option] for option in ("name", "repeat", "extra_inputs", "path")}
    if isinstance(placed.layer, Output):
        layer: Layer = Dense(units=options["units"], bias=placed.layer.bias)
    else:
        layer = placed.layer.replace(**options)
    try:
        alone = Network(input=letter("m"), layers=[layer], convention=network.convention)
    except SpecError:
        return None
    return alone if alone.params == right else None


def _judge_total(grader: Grader, given: GivenNumber) -> Judgement:
    network = grader.network
    judged = Judgement(None, given, network.params, formula=grader.formula)
    if judged.right or given.one_digit:
        return judged
    judged = _explained(judged, Question(network, given), grader.search, grader.quantities)[0]
    if judged.meant or any(len(diagnosis.mistakes) == 1 for diagnosis in judged.diagnoses):
        return judged
    size = other_size(grader.sizes, given)
    return judged._replace(other_size=size, by_chance=judged.by_chance or size is not None)


def _explained(
    judged: Judgement, question: Question, search: Search, known: Sequence[KnownQuantity]
) -> tuple[Judgement, list[Worksheet]]:
    """Return a wrong number with its explanations, and the wrong worksheets. known: what else a number may be."""
    given = question.given
    meant = tuple(each for each in known if given.means(each.number))
    found = [*search.diagnoses(question, known=bool(meant))]
    diagnoses = tuple(diagnosis for diagnosis, _ in found)
    guess = diagnoses[0].by_chance if diagnoses else bool(meant) and is_guess(given, [each.number for each in known])
    return judged._replace(diagnoses=diagnoses, meant=meant, by_chance=guess), [worksheet for _, worksheet in found]


def _judge_layers(grader: Grader, places: list[int], given: Sequence[GivenNumber]) -> tuple[Judgement, ...]:
    """Judge a number for each layer. Numbers after a wrong one may follow from its mistake."""
    network, search, training = grader.network, grader.search, grader.training
    worksheet = search.worksheet
    judged: list[Judgement] = []
    learned: list[tuple[str, Worksheet]] = []  # layers with a mistake, and what it makes of all lines
    explained = 0
    for number, place in zip(given, places, strict=True):
        line = worksheet[place]
        each = Judgement(line.name, number, line.params, formula=line.placed.in_letters)
        if not (each.right or number.one_digit):
            follows = next((layer for layer, way in learned if number.means(way[place].params)), None)
            if follows:
                each = each._replace(follows=follows)
            elif explained == MOST_EXPLAINED:
                each = each._replace(explained=False)
            else:
                explained += 1
                known = tuple(quantities_of_layer(training, training.layers[place]))
                each, wrongs = _explained(each, Question(network, number, place), search, known)
                ways = ((line.name, way) for wrong in wrongs for way in worksheets_after(worksheet, wrong, place))
                learned = [*islice(ways, MOST_LEARNED), *learned][:MOST_LEARNED]
                each = each._replace(meant=() if each.diagnoses else each.meant)
        judged.append(each)
    return tuple(judged)
