"""Answers as people write them: each file line is read, or refused, and has its verdict."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from rnncalc import CallError
from rnncalc.questions.answer.asked import QuantityGrader
from rnncalc.questions.answer.grading import Grader
from rnncalc.questions.answer.reading import read_answer
from rnncalc.spec import parse

FILE = Path(__file__).parents[2] / "answers" / "writings.yaml"
VERDICTS = ("correct", "wrong", "refused")
GROUPS: list[dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))


def verdict(grader: Grader, text: str) -> str:
    """Return what is said of an answer."""
    try:
        judged = grader.judge([read_answer(text, sizes=grader.sizes)])
    except CallError:
        return "refused"
    return "correct" if judged.right else "wrong"


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group['quantity']} of {group['network']}")
def test_each_writing_has_its_verdict(group: dict[str, Any]) -> None:
    """Whatever the signs, brackets, languages and words around it."""
    network = parse(json.dumps(group["network"]).encode(), "spec").network
    of = group["quantity"]
    grader = Grader(network) if of == "params" else QuantityGrader(network, of)
    expected = {str(text): each for each in VERDICTS for text in group.get(each, [])}
    assert {text: verdict(grader, text) for text in expected} == expected


def test_there_are_many_writings_each_with_its_source() -> None:
    """No answer is in one group twice."""
    writings = [[text for each in VERDICTS for text in group.get(each, [])] for group in GROUPS]
    assert all(len({*map(str, texts)}) == len(texts) for texts in writings)
    assert sum(map(len, writings)) >= 300
    assert all(group["source"] for group in GROUPS)
