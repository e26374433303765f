"""Answers as people write them, and formulas as they are printed: each is read, or refused, and has its verdict."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from case_files import cases
from conftest import Call
from fuzz.answers import Chance, claims, fault, network

from rnncalc import CallError
from rnncalc.answers.grading import Grader
from rnncalc.answers.reading import GivenNumber, read_answer, read_answers
from rnncalc.spec import parse

VERDICTS = ("correct", "but", "wrong", "refused")
GROUPS: list[dict[str, Any]] = cases("answers/writings.yaml")


def verdict(grader: Grader, text: str) -> str:
    """Return what is said of an answer."""
    try:
        judged = grader.judge(read_answers(text, sizes=grader.sizes, quantity=grader.quantity))
    except CallError:
        return "refused"
    return "but" if judged.flaws else "correct" if judged.right else "wrong"


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group['quantity']} of {group['network']}")
def test_each_writing_has_its_verdict(group: dict[str, Any]) -> None:
    """Whatever the signs, brackets, languages and words around it."""
    parsed = parse(json.dumps(group["network"]).encode(), "spec").network
    of = group["quantity"]
    grader = Grader(parsed, of)
    expected = {str(text): each for each in VERDICTS for text in group.get(each, [])}
    assert {text: verdict(grader, text) for text in expected} == expected


def test_there_are_many_writings_each_with_its_source() -> None:
    """No answer is in one group twice."""
    writings = [[text for each in VERDICTS for text in group.get(each, [])] for group in GROUPS]
    assert all(len({*map(str, texts)}) == len(texts) for texts in writings)
    assert sum(map(len, writings)) >= 300
    assert all(group["source"] for group in GROUPS)


def calculations(printed: str) -> Iterator[str]:
    """Yield the arithmetic of each row of explain with its number of parameters, whatever the format."""
    inside = False
    for line in printed.splitlines():
        if line.startswith(r"\derived{"):
            yield line.partition(":}{")[2].removesuffix("}")
        elif "Arithmetic" in line:
            inside = True
        elif not line.strip():
            inside = False
        elif inside and not re.search(r"[─-]{3}", line):
            *_, arithmetic, params = re.split(r" \| |\s{2,}", line.strip().strip("| "))
            yield f"{arithmetic} = {params}".replace("`", "").replace("**", "")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("format", ["table", "markdown", "latex"])
def test_what_is_printed_is_read(call: Call, format: str, seed: int) -> None:
    """Each calculation of explain is a chain that is true; the last is correct for the network."""
    asked = network(Chance(seed), in_letters=True)
    chains = [*calculations(call("explain", *asked.flags.split(), "-f", format).out)]
    answers = [read_answer(chain, sizes=asked.grader.sizes) for chain in chains]
    assert len(answers) > 5
    assert not any(answer.untrue for answer in answers if isinstance(answer, GivenNumber))
    assert verdict(asked.grader, chains[-1]) == "correct"


@pytest.mark.broad
@pytest.mark.parametrize("seed", range(8))
def test_what_feedback_prints_is_read(call: Call, seed: int) -> None:
    """Both calculations about each wrong answer of an exercise are chains that are true, and the second is correct."""
    asked = network(Chance(seed), in_letters=True)
    printed = call("exercise", *asked.flags.split(), "--ask", "formula", "-f", "json").out
    texts = json.dumps(json.loads(printed), ensure_ascii=False)
    chains = re.findall(r': ([^:"]* = [^:"]*) instead of ([^:"]* = [^:"]*)\."', texts)
    assert chains
    for wrong, right in chains:
        answers = [read_answer(text, sizes=asked.grader.sizes) for text in (wrong, right)]
        assert [answer.untrue for answer in answers if isinstance(answer, GivenNumber)] == ["", ""]
        assert [verdict(asked.grader, text) for text in (wrong, right)] == ["wrong", "correct"]


@pytest.mark.parametrize("group", [0, *(pytest.param(group, marks=pytest.mark.broad) for group in (1, 2))])
def test_claims_in_random_forms_have_their_verdict(group: int) -> None:
    """Of random networks, right and wrong ones; 20,000 were judged so in November 2026, and no verdict differed."""
    for seed in range(100):
        chance = Chance(1_000 * group + seed)
        chance.group = group
        trial = claims(chance)
        assert fault(trial) == "", f"{trial.asked.flags} {trial.text!r}"
