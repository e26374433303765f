"""The field's words: what a person reads says them, in documents, specs, strings, docstrings, comments and names."""

import re
from typing import NamedTuple

import pytest
from documents import CONTENTS, DOCUMENTS, HEADING, ROOT, prose
from sources import MODULES, source, sources

from rnncalc import words
from rnncalc.words import not_among

READ = [*DOCUMENTS, ROOT / "CHANGELOG.md", ROOT / "action.yml", *sorted((ROOT / "specs").rglob("*.yaml"))]


class Word(NamedTuple):
    """Words that are not written, and those that are written instead."""

    pattern: str
    instead: str


WORDS = (
    Word(r"\bhand(s|ed|ing)?[ _]on\b", "outputs"),
    Word(r"\bheld (values?|activations?|numbers?)\b", "saved activations"),
    Word(r"\b(going|goes|gone|go)[ _]back\b|\bpass(es|ed)?[ _]back\b", "backward pass"),
    Word(r"\bwhat an update\b(?! gate)|\ban update (by|takes|needs)\b|\b(of|in) an update\b", "a training step"),
    Word(r"\bWho updates\b", "Optimizer"),
    Word(r"\bWhose tensors\b", "Framework whose parameters are counted"),
    Word(r"\bWhere it reads\b", "Which steps have inputs and outputs"),
    Word(r"^Words:", "Allowed values:"),
    Word(
        r"\b(3|4|four) gates\b(?! and the candidate)|\bthree gates of\b|\b\w+ gates,? (z, r|i, f, g)\b",
        "blocks: 2 or 3 gates and the candidate",
    ),
    Word(r"^as it is\b", "this network"),
    Word(r"\ba? ?pass as work\b", "worked by hand"),
    Word(r"\bin place of\b", "instead of"),
    Word(r"\b(of|in) which\b[^.]*\b(of|in) which\b|\bthat of which\b", "a second sentence"),
    Word(r"\bNo mistake that is known\b", "No known mistake"),
    Word(r"\bSo would (the|a|an)\b", "... would also give"),
    Word(r"\bno valid\b", "invalid"),
    Word(r"\bWho grades\b", "When you grade"),
    Word(
        r"\b(adds|[Ss]teps|parameters|bytes|gradients|updates|features|units|vectors?|frames|products|rows?|lines?|one)"
        r" a (step|second|unit|sequence|direction|parameter|line|weight|gate|layer|row|number|tensor)\b"
        r"|^ a (step|second|sequence|direction|parameter)\b|\d a (parameter|weight)\b"
        r"|\b(matri(x|ces)|gains?|bias(es)?|h) a (gate|unit|block|layer|direction)\b",
        "per",
    ),
    Word(r"\b[Ss]t(ands?|anding|ood)\b(?! (in )?for\b|-in\b)", "is, is given, is listed"),
    Word(r"\bNot right\b", "Wrong"),
    Word(r"\bsays another\b", "says a different"),
    Word(r"\bleft of the budget\b", "remaining"),
    Word(r"\bthe worst from\b", "largest deviation from"),
    Word(r"\bbehind commas\b", "after commas"),
    Word(r"\bnothing that a tensor can be\b", "is not a tensor"),
    Word(r"\bno model file that is read\b", "is not a model file that rnncalc reads"),
    Word(r"\bcut off\b", "truncated"),
    Word(r"\b([Yy]our|right|correct|wrong|learner's) sums?\b|\bsums? (of the|that a) learner\b", "calculation"),
    Word(r"\bWhat gives\b", "How you get"),
    Word(r"\bcounts? as [^.;:]{1,60} do(es)?\b", "uses ... instead of"),
    Word(r"\bis there whole\b", "is stored whole"),
    Word(r"\bholds? [^.;:]{1,40} against\b", "compares with"),
    Word(r"\b(is|are) read off\b", "follows from"),
    Word(r"\bnothing can stand\b", "remove it"),
)
"""The left column of the table of words that can be looked for, and its right column."""

CLASSES = re.compile(
    r"(Told|Said|Given|Found|Made|Lies|How|Laid|Known|Seen|Done|Written|Asked|Meant|Named|Shown|Read|Taken|Kept|Held|Wanted|What|Whose|Where|Which|Who)"
)
"""What is no noun of the field: it names no class."""

NO_NOUNS = {"of", "found", "own", "given", "made", "said", "told"}
"""What names no variable, argument or field."""


def texts(text: str) -> list[str]:
    """Return the strings, docstrings, comments and names of a source."""
    parts = source(text)
    return [*parts.statements, *parts.strings, *parts.classes, *parts.functions, *parts.comments]


APART = ".\n\n"
"""What no pattern reaches over."""


def wrong(text: str) -> list[str]:
    """Return the words of a text that are not written, with those to write; a line's end is a space."""
    found = []
    joined = re.sub(r"(?<=[a-z,])\n *(?=[a-z])", " ", text)
    for word in WORDS:
        found += [f"{each[0]!r}: write {word.instead!r}" for each in re.finditer(word.pattern, joined, re.MULTILINE)]
    return found


def test_a_document_says_the_words_of_the_field() -> None:
    """In its sentences, tables and headings, and in what it shows of the program."""
    assert [(path, found) for path in READ for found in wrong(path.read_text(encoding="utf-8"))] == []


def test_the_package_says_the_words_of_the_field() -> None:
    """Reports, messages, help, docstrings, comments and names."""
    written = ((path, APART.join(texts(path.read_text("utf-8")))) for path in MODULES)
    assert [(path, found) for path, text in written for found in wrong(text)] == []


def test_a_class_is_called_by_a_noun() -> None:
    """Not by a participle or a fragment."""
    names = [name for parts in sources().values() for name in parts.classes]
    assert [name for name in names if CLASSES.fullmatch(name)] == []


def test_a_variable_is_called_by_a_noun() -> None:
    """By what it holds, not by a preposition or a participle."""
    names = ((path.name, name) for path, parts in sources().items() for name in parts.variables)
    assert [each for each in names if each[1] in NO_NOUNS] == []
    text = "class A:\n    of: int\n\n\ndef f(own):\n    self._made, found = own\n"
    assert {*source(text).variables} == NO_NOUNS - {"given", "said", "told"}


def test_multiply_adds_are_named_at_first_mention() -> None:
    """By their other name too, once, where a document first speaks of them."""
    for path in DOCUMENTS:
        text = CONTENTS.sub("", HEADING.sub("", prose(path.read_text(encoding="utf-8"))))
        text = re.sub(r"`[^`]*`", "", text)
        mentions = re.findall(r"multiply-adds?(?: \(MACs\))?", text)
        assert mentions[:1] in ([], ["multiply-adds (MACs)"]), path


def test_words_are_found() -> None:
    """In a string over two lines, a comment and a name; an ordinary use of a word is not."""
    text = 'def going_back():\n    """What it hands\n    on."""\n    x = "in " "place of"  # no valid spec\n'
    assert len(wrong(APART.join(texts(text)))) == 4
    assert wrong("A limit is held. It stays as it is, and has three gates and a candidate.") == []
    assert wrong("as it is   28") == ["'as it is': write 'this network'"]


def test_of_very_many_unknown_words_a_few_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten of twenty thousand, and what was meant is looked for ten times."""
    looked_for = []

    def watched(word: str, _: object) -> str:
        looked_for.append(word)
        return ""

    monkeypatch.setattr(words, "did_you_mean", watched)
    said = not_among([f"x{number}" for number in range(20_000)], ("rnn_1", "output"))
    assert said.startswith("expected rnn_1 or output, got 'x0', 'x1', ")
    assert said.endswith(", 'x9' and 19,990 more")
    assert looked_for == [f"x{number}" for number in range(10)]
    assert not_among(["x", "rnn_1", "x"], ("rnn_1",)) == "expected rnn_1, got 'x'"
