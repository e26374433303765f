"""Looking for a mistake by its id: one that the table does not have is an error, not a mistake that is not found."""

import re
from collections.abc import Sequence

from rnncalc import Network
from rnncalc.answers.families import Question, variants_of
from rnncalc.answers.grading import Grader
from rnncalc.answers.judgement import Answer, Judgement
from rnncalc.answers.reading import Given, GivenNumber, read_answer
from rnncalc.answers.table import TABLE
from rnncalc.answers.worksheet import worksheet_of, write
from rnncalc.conventions.formula import Expression

PLACES = {mistake.id: place for place, mistake in enumerate(TABLE)}


def read_number(text: str) -> GivenNumber:
    """Return a learner's number."""
    answer = read_answer(text)
    assert isinstance(answer, GivenNumber)
    return answer


def judge(net: Network, answers: Sequence[Given]) -> Answer:
    """Judge one answer to a network."""
    return Grader(net).judge(answers)


def judged(net: Network, number: int) -> Judgement:
    """Return the judgement of a total."""
    return judge(net, [GivenNumber(number)]).judged[0]


_PATTERNS = {id_: re.compile(re.sub(r"\\{\w+\\}", ".+", re.escape(id_))) for id_ in PLACES}


def row_of(id_: str) -> str:
    """Return the id that a mistake has in the table, before its values are filled in."""
    return id_ if id_ in PLACES else next(row for row, pattern in _PATTERNS.items() if pattern.fullmatch(id_))


def ids(net: Network, number: int) -> list[str]:
    """Return the ids of the mistakes that give a number, made alone or together; those of a family as the table's."""
    return ids_of(judged(net, number))


def ids_of(judgement: Judgement) -> list[str]:
    return ["+".join(row_of(mistake.id) for mistake in found.mistakes) for found in judgement.diagnoses]


def evaluated(expression: Expression) -> int:
    """Return what the arithmetic comes to as it is written, worked out by somebody else."""
    number: int = eval(write(expression).replace("×", "*"))
    return number


def counts_made(id_: str, net: Network) -> tuple[int, ...]:
    """Return what a mistake, or several joined by +, makes of each line of a network; it is what is written, too."""
    lines = worksheet_of(net)
    for each in id_.split("+"):
        row = TABLE[PLACES[each]]
        assert not row.family
        lines = row.change(lines)
    assert [evaluated(line.expression) for line in lines] == [line.params for line in lines]
    return tuple(line.params for line in lines)


def variants_made(
    id_: str, net: Network, number: int, unit: int = 1
) -> list[tuple[tuple[int, ...], dict[str, str], str | None]]:
    """Return the variants of a family: what each line becomes, the values, and the layer."""
    row = TABLE[PLACES[id_]]
    assert row.family
    variants = variants_of(row, worksheet_of(net), Question(net, GivenNumber(number, unit)))
    return [(tuple(line.params for line in each.worksheet), {**each.values}, each.layer) for each in variants]
