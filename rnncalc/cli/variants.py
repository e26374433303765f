"""Reads the JSON of `rnncalc exercise` to grade answers: the network and the question of each variant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from rnncalc.answers.asked import ASKED
from rnncalc.answers.exercise import ASKS, OF_PASS
from rnncalc.answers.gradebook import variant_number
from rnncalc.answers.grading import Grader
from rnncalc.answers.reading import Given, GivenNumber
from rnncalc.bounds import MOST_EXERCISES
from rnncalc.errors import CallError, Path, Problem, SpecError
from rnncalc.printable import escape, escape_path
from rnncalc.spec import parse, parse_data
from rnncalc.words import one_of

MOST_JSON = 200_000_000
"""The most bytes of an exercise; a thousand variants with all mistakes have a tenth of it."""


class VariantQuestion(NamedTuple):
    """One variant: what it asks for, its spec, and the choices of each answer, if any.

    values: the names of the values of a pass that it asks for, if any. loss: that of their gradients.
    """

    asks: str
    spec: dict[str, Any]
    choices: list[Any]
    values: list[str]
    loss: str | None = None


class Variants(NamedTuple):
    """The variants of an exercise by number. hint: as of a grader.

    numbers: the number of the variant for each right answer, written as JSON.
    """

    source: str
    asked: dict[str, VariantQuestion]
    numbers: dict[str, int]
    hint: bool = False

    def answered(self, answers: Sequence[Given]) -> int | None:
        """Return the number of the variant to which exact answers are right; None if there is none."""
        if any(each.values for each in self.asked.values()):
            return None
        numbers = [each for each in answers if isinstance(each, GivenNumber)]
        key = [each.number if isinstance(each, GivenNumber) else [*each.sizes] for each in answers]
        return self.numbers.get(json.dumps(key, default=str)) if all(each.unit == 1 for each in numbers) else None

    def grader(self, variant: str) -> Grader:
        """Return the grader of a variant. Raises CallError for an unknown variant, SpecError for an invalid network."""
        number = variant_number(variant)
        if number not in self.asked:
            numbers = sorted(map(int, self.asked))
            together = numbers[-1] - numbers[0] + 1 == len(numbers) > 1
            range_ = f"{numbers[0]} to {numbers[-1]}" if together else one_of([*map(str, numbers)])
            got = f"'{escape(variant)}'" if variant else "none"
            raise CallError(f"expected a variant of {escape(self.source)}, {range_}, got {got}")
        asks, spec, choices, values, loss = self.asked[number]
        read = parse(json.dumps(spec).encode(), f"{self.source}, variant {number}")
        if values:
            from rnncalc.answers.values import ValueGrader  # few exercises are on a pass

            grader: Grader = ValueGrader(read.network, parse_data(read), loss, hint=self.hint, asked=values)
        else:
            grader = Grader(read.network, asks if asks in ASKED else "params", hint=self.hint)
        grader.choices, grader.asks = choices, asks
        return grader


def is_exercise(data: bytes) -> bool:
    """Return whether a file is the JSON of an exercise. A spec may be JSON too."""
    return data[:1_000].lstrip()[:1] == b"{" and b'"exercises"' in data[:200]


def read_exercise(data: bytes, source: str) -> Variants:
    """Return the variants of an exercise. Raises SpecError for any other file."""
    if len(data) > MOST_JSON:
        raise _error(source, (), f"an exercise has at most {MOST_JSON:,} bytes, this has more")
    try:
        root = json.loads(data)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg}"
        problem = Problem((), message, escape_path(source), error.lineno, error.colno)
        raise SpecError((problem,)) from None
    except (UnicodeDecodeError, RecursionError, ValueError):
        raise _error(source, (), "not the JSON that rnncalc exercise -f json prints") from None
    exercises = root.get("exercises") if isinstance(root, dict) else None
    if not isinstance(exercises, list) or not 1 <= len(exercises) <= MOST_EXERCISES:
        raise _error(source, ("exercises",), f"expected a list of 1 to {MOST_EXERCISES:,} variants")
    asked: dict[str, VariantQuestion] = {}
    numbers: dict[str, int] = {}
    for place, each in enumerate(exercises):
        match each:
            case {"variant": int(number), "asks": str(ask), "spec": dict(spec)} if ask in (*ASKS, *OF_PASS):
                if str(number) in asked:
                    message = f"{number} is given twice; write one exercise to a file"
                    raise _error(source, ("exercises", place, "variant"), message)
                values, loss = (each.get("values"), each.get("loss")) if ask in OF_PASS else ([], None)
                listed = isinstance(values, list) and all(isinstance(name, str) for name in values)
                if not listed or not isinstance(loss, str | None) or (ask in OF_PASS) != bool(values):
                    message = "expected a list of the names of values, and as loss the name of one"
                    raise _error(source, ("exercises", place, "values"), message)
                right, choices = each.get("right_answer"), each.get("choices") or []
                choices = choices if isinstance(right, list) else [choices]
                asked[str(number)] = VariantQuestion(ask, spec, choices, values, loss)
                numbers.setdefault(json.dumps(right if isinstance(right, list) else [right]), number)
            case _:
                expected = f"expected variant, a number, asks, which is {one_of((*ASKS, *OF_PASS))}, and spec"
                raise _error(source, ("exercises", place), expected)
    return Variants(source, asked, numbers)


def _error(source: str, path: Path, message: str) -> SpecError:
    return SpecError((Problem(path, message, escape_path(source)),))
