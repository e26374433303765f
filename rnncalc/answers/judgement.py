"""A judged answer: each number or shape beside the correct one, with the mistakes that give it.

A mistake is a row of a table, whatever it is made in: a count, a tensor, an array that is returned, or a quantity. All
sentences here are those of the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.answers.reading import Given, GivenNumber
from rnncalc.conventions.formula import Expression, value
from rnncalc.display import displayed, report_of
from rnncalc.network.network import Network
from rnncalc.records import Frozen
from rnncalc.words import ordinal

if TYPE_CHECKING:  # for values and for what is wrong alone
    from rnncalc.answers.circuit import Element
    from rnncalc.answers.sizes import OtherSize


Subject = str
"""What a mistake is about, a key of HINT_QUESTIONS or `quantity`: another one than is asked for."""

MOST_GATES = 6
"""The most gates that a mistake gives a cell."""


class Mistake(NamedTuple):
    """A mistake: its subject, its id, a sentence without its own subject, and what it makes of what is right.

    change: returns the wrong worksheet of a count, wrong shapes of a tensor, wrong arrays, or the number of a quantity.
    family: returns the variants of a mistake in a count that differ in a number or a name, instead of the change; id
    and text have {braces} for the values of each.
    quantity: the one in whose count alone it is made; the bytes of parameters have the mistakes of "params" too.
    rare: whether it is listed after others, and not looked for in one layer alone or in a large network.
    common: whether it is combined with any other mistake that is about another subject; of each pair one is common.
    single: whether it is not combined with another mistake. by_layer: whether it has a variant for each layer, as it is
    about which layers are counted, so never about the count of one; combined with another mistake it is made first.
    fitted: whether its variants depend on the learner's number, so that each is a guess.
    """

    subject: Subject
    id: str
    text: str
    change: Callable[..., Any] = lambda worksheet: worksheet
    family: Callable[..., Any] | None = None
    quantity: str = ""
    rare: bool = False
    common: bool = False
    single: bool = False
    by_layer: bool = False
    fitted: bool = False

    @property
    def rarity(self) -> int:
        """1 for a mistake that is rare or belongs to a family, else 0."""
        return int(self.rare or self.family is not None)

    def filled(self, values: Mapping[str, str]) -> Mistake:
        """Return the mistake with values for the {braces}."""
        return self._replace(id=self.id.format(**values), text=self.text.format(**values)) if values else self


def sizes_off(sizes: Sequence[Any], right: Sequence[Any], alike: Callable[[Any, Any], bool]) -> Iterator[Mistake]:
    """Yield what is wrong with a shape that no mistake gives: the number of its axes, or the one size that is wrong."""
    if len(sizes) != len(right):
        yield Mistake("shape", "axes", "has a wrong number of axes")
    elif len(off := [axis for axis, each in enumerate(map(alike, sizes, right), 1) if not each]) == 1:
        yield Mistake("shape", "size", f"has a wrong {ordinal(off[0])} size")


class Diagnosis(NamedTuple):
    """An explanation of a learner's number: a mistake, or two made together.

    layer: the layer that it concerns, None if there may be several. alone: the layer, if the mistake was made in just
    one; if that may be any of several equal layers, the first and the last of them.
    yours: the learner's probable calculation. right: the correct one.
    by_chance: whether so many numbers have an explanation like it that it is a guess.
    """

    mistakes: tuple[Mistake, ...]
    layer: str | None
    alone: tuple[str, str] | None
    yours: Expression
    right: Expression
    by_chance: bool = False

    @property
    def id(self) -> str:
        """The ids of its mistakes, joined by +."""
        return "+".join(mistake.id for mistake in self.mistakes)

    @property
    def params(self) -> int:
        """The number that it gives."""
        return value(self.yours, {})


class AxisOrder(Enum):
    """The order of axes in a correct shape: the framework's default, another order, or one without the batch.

    Without an axis of steps, a batch as large as their number may be meant for them.
    """

    USUAL = auto()
    STEPS_FIRST = auto()
    BATCH_FIRST = auto()
    NO_BATCH = auto()
    BATCH_AS_STEPS = auto()


class JudgedValue(NamedTuple):
    """A value of a pass by hand beside the correct one. text, correct: both as text; the correct one as a list too.

    element: which value of the pass it is.
    rounded: whether it is right, but not to the last digit. coarse: whether it has a single digit.
    """

    element: Element
    text: str
    numbers: Any
    correct: str
    exact: Any
    right: bool
    rounded: bool = False
    coarse: bool = False


class Judgement(NamedTuple):
    """One number or shape, compared with the correct one.

    layer: its name, None for the total. tensor: its name, or that of a part of the layer or of the network, such as
    biases; None for a count of all tensors. kind: what the learner calls a layer, if it is another kind.
    shape: the right shape. plain_shape: the same, but a vector has no axis of 1.
    diagnoses: the mistakes that give it, the likeliest first.
    meant: the other quantities of the network with this number.
    other_size: the one changed size that would give it, if no single mistake does.
    follows: the layer with the mistake that it follows from; it is then no mistake of its own. repeats: whether it is
    the same mistake made again.
    by_chance: whether so many numbers have such an explanation that the likeliest is a guess.
    explained: whether mistakes were looked for; they are for the first MOST_EXPLAINED wrong numbers.
    returned: the correct sizes by axis of an array that a layer returns, if it is no tensor; `params` is then 0.
    order: the order of that array's axes in a correct shape; None if the shape is wrong.
    formula: the right number as a formula, if it has letters.
    value: of a value of a pass, which `tensor` names; `params` is then 0.
    """

    layer: str | None
    answer: Given
    params: int
    tensor: str | None = None
    shape: tuple[int, ...] = ()
    plain_shape: tuple[int, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    meant: tuple[Mistake, ...] = ()
    other_size: OtherSize | None = None
    follows: str | None = None
    repeats: bool = False
    by_chance: bool = False
    explained: bool = True
    returned: Mapping[str, int | None] | None = None
    order: AxisOrder | None = None
    formula: Expression | None = None
    kind: str = ""
    value: JudgedValue | None = None

    @property
    def right(self) -> bool:
        """Whether the shape is right, or the number, rounded as the learner did."""
        if self.value is not None:
            return self.value.right
        if isinstance(self.answer, GivenNumber):
            return self.answer.rounds(self.params)
        return self.order is not None if self.returned else self.answer.has_shape(self.plain_shape)

    @property
    def number(self) -> GivenNumber:
        """The number that is judged; 0 for a shape, which is neither rounded nor in a chain."""
        return self.answer if isinstance(self.answer, GivenNumber) else GivenNumber(0)

    @property
    def label(self) -> str:
        """What it is of, as `lstm_1 biases`; empty for the whole network."""
        return " ".join(filter(None, (self.layer, self.tensor)))

    @property
    def is_total(self) -> bool:
        """Whether it is that of the whole network, and not of a layer, a tensor or another part."""
        return self.layer is None and self.tensor is None

    @property
    def true(self) -> bool:
        """Whether a chain of equations says of no other number that it is the answer."""
        return not self.number.of_whole

    @property
    def slips(self) -> bool:
        """Whether a chain of equations has the right number just before the sign that is not true."""
        return bool(self.number.untrue) and self.number.before == self.params

    @property
    def difference(self) -> Any:
        """How much more the number is than the correct one; 0 for a shape."""
        return self.answer.number - self.params if isinstance(self.answer, GivenNumber) else 0

    @property
    def rounded(self) -> bool:
        """Whether the number is right, but not to the last digit."""
        return self.right and self.difference != 0


@displayed("rnncalc.reports.answer:AnswerReport")
class Answer(Frozen):
    """A learner's answer, judged: the total, or a number or a shape for each layer or tensor.

    right_in: another notation in which every given shape is right. quantity: what it is about, such as `params`.
    """

    network: Network
    judged: tuple[Judgement, ...]
    right_in: str | None = None
    quantity: str = "params"

    @cached_property
    def right(self) -> bool:
        """Whether the total at its end is right, or else every number."""
        last = self.judged[-1]
        return last.right if last.is_total else all(each.right for each in self.judged)

    def points(self, most: float, missing: int = 0) -> float:
        """Return the points that the claims of an answer share; one that follows from a wrong one has half its share.

        missing: how many numbers that are asked for are not there.
        """
        shares = [1 if each.right else 0.5 * bool(each.follows and not each.repeats) for each in self.judged]
        return most * sum(shares) / (len(shares) + missing)

    @property
    def flaws(self) -> tuple[Judgement, ...]:
        """What is false in a right answer: parts, and chains in which another number is said to be the answer."""
        return tuple([each for each in self.judged if self.right and not (each.right and each.true)])

    @property
    def sentences(self) -> tuple[str, ...]:
        """The finished sentences: the verdict, the mistake behind each wrong number with its sum, and remarks."""
        return tuple(report_of(self).sentences())

    @cached_property
    def wrong(self) -> Judgement | None:
        """The first number or shape that is wrong, unless the whole is right."""
        return None if self.right else next((each for each in self.judged if not each.right), None)
