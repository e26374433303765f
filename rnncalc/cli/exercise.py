"""`rnncalc exercise`: writes exercises, and reads their JSON to grade answers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Unpack

import click

from rnncalc.bounds import MOST_EXERCISES
from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, network_flags, notation_flag, report_flags, specs_argument, word_flag
from rnncalc.cli.inputs import read_networks
from rnncalc.cli.output import AllAtOnce, Destination, write
from rnncalc.errors import CallError, Path, Problem, SpecError
from rnncalc.layers.options import Size, WholeNumber
from rnncalc.questions.answer.grading import Grader
from rnncalc.questions.answer.reading import Given, GivenNumber
from rnncalc.questions.exercise import ASKS, grader_of
from rnncalc.questions.exercise import exercise as exercises_on
from rnncalc.records import Record
from rnncalc.reports.exercise import ExerciseReport
from rnncalc.spec import parse, read_value
from rnncalc.text import escape, escape_path, has_letters, one_of

_VARIED = re.compile(r"(?P<size>[^=]+)=(?P<low>[^.]+)\.\.(?P<high>[^:]+)(?::(?P<step>.+))?")
ON_PAPER = ("table", "markdown", "html", "latex")
"""The formats that can leave out the questions or the answers."""


@click.command(
    cls=Command,
    examples=(
        "rnncalc exercise specs/gru.yaml --vary gru_1=8..64:8 --variants 8 -f moodle",
        "rnncalc exercise -i 8 -l lstm:16 -o 5 --choices 4 --sheet -f latex",
    ),
)
@specs_argument
@network_flags
@notation_flag
@click.option(
    "--vary", multiple=True, metavar="SIZE=LO..HI[:STEP]", help="Vary input, steps, output or a layer; may be repeated."
)
@click.option("--variants", metavar="N", default="1", show_default=True, help="How many variants to write.")
@click.option("--seed", metavar="N", default="0", show_default=True, help="The same seed gives the same variants.")
@word_flag("--ask", words=lambda: ASKS, default=ASKS[0], show_default=True, help="What to ask for.")
@click.option("--choices", metavar="N", default="0", show_default=True, help="Answers to choose from; 0 for none.")
@click.option("--sheet", is_flag=True, help="Write the questions alone.")
@click.option("--key", is_flag=True, help="Write the answers alone.")
@report_flags(ExerciseReport)
def exercise(
    specs: tuple[str, ...],
    vary: tuple[str, ...],
    variants: str,
    seed: str,
    ask: str,
    choices: str,
    sheet: bool,
    key: bool,
    destination: Destination,
    **flags: Unpack[NetworkFlags],
) -> None:
    """Write exercises on a network, with answers and mistakes.

    Each variant has its correct answer, and for each known mistake its wrong answer and the feedback of rnncalc answer.
    --sheet and --key together write one after the other.
    """
    with AllAtOnce() as at_once:
        if (sheet or key) and destination.format not in ON_PAPER:
            flag = "--sheet" if sheet else "--key"
            at_once.refuse(f"{flag}: {destination.format} needs questions and answers; leave it out, or add -f latex")
        numbers = [
            at_once.ask(read_value, flag, text, allowed)
            for flag, text, allowed in (
                ("--variants", variants, Size()),
                ("--seed", seed, WholeNumber()),
                ("--choices", choices, WholeNumber()),
            )
        ]
        varied: dict[str, range] = {}
        for name, values in filter(None, [at_once.ask(_read_vary, each) for each in vary]):
            if name in varied:
                at_once.refuse(f"--vary: {escape(name)} is given twice; remove one of them")
            varied[name] = values
        networks = at_once.ask(read_networks, specs, **flags)
    reports = []
    for network in networks:
        found = exercises_on(network, vary=varied, variants=numbers[0], seed=numbers[1], ask=ask, choices=numbers[2])
        reports.append(ExerciseReport(found.exercises, sheet=sheet or not key, key=key or not sheet))
    write(reports, destination)


def _read_vary(text: str) -> tuple[str, range]:
    """Return a size and its possible values, from `lstm_1=16..64:16`."""
    found = _VARIED.fullmatch(text)
    if not found:
        raise CallError(
            f"--vary: expected SIZE=LO..HI or SIZE=LO..HI:STEP, as in lstm_1=16..64:16, got '{escape(text)}'"
        )
    low, high, step = (read_value("--vary", each or "1", Size()) for each in found.group("low", "high", "step"))
    if low > high:
        raise CallError(f"--vary: expected the smaller size first; write {found['size']}={high}..{low}")
    return found["size"].strip(), range(low, high + 1, step)


# The JSON that it prints, read again to grade answers: the network and the question of each variant

MOST_JSON = 200_000_000
"""The most bytes of an exercise; a thousand variants with all mistakes have a tenth of it."""


class Variants(Record):
    """The variants of an exercise by number: what each asks for, and its spec.

    numbers: the number of the variant for each right answer.
    """

    source: str
    asked: dict[str, tuple[str, dict[str, Any]]]
    numbers: dict[object, int]

    def answered(self, answers: Sequence[Given]) -> int | None:
        """Return the number of the variant to which exact answers are right; None if there is none."""
        given = [
            each.sizes
            if not isinstance(each, GivenNumber)
            else str(each.number)
            if has_letters(each.number)
            else each.number
            for each in answers
        ]
        exact = all(not isinstance(each, GivenNumber) or each.unit == 1 for each in answers)
        return self.numbers.get(_key(given)) if exact else None

    def grader(self, variant: str) -> Grader:
        """Return the grader of a variant. Raises CallError for an unknown variant, SpecError for an invalid network."""
        number = variant.casefold().removeprefix("variant").strip().lstrip("0")
        if number not in self.asked:
            numbers = sorted(map(int, self.asked))
            together = numbers[-1] - numbers[0] + 1 == len(numbers) > 1
            known = f"{numbers[0]} to {numbers[-1]}" if together else one_of([*map(str, numbers)])
            got = f"'{escape(variant)}'" if variant else "none"
            raise CallError(f"expected a variant of {escape(self.source)}, {known}, got {got}")
        ask, spec = self.asked[number]
        network = parse(json.dumps(spec).encode(), f"{self.source}, variant {number}").network
        return grader_of(network, ask)


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
    asked: dict[str, tuple[str, dict[str, Any]]] = {}
    numbers: dict[object, int] = {}
    for place, each in enumerate(exercises):
        match each:
            case {"variant": int(number), "asks": str(ask), "spec": dict(spec)} if ask in ASKS:
                if str(number) in asked:
                    message = f"{number} is given twice; write one exercise to a file"
                    raise _error(source, ("exercises", place, "variant"), message)
                asked[str(number)] = (ask, spec)
                right = each.get("right_answer")
                numbers.setdefault(_key(right if isinstance(right, list) else [right]), number)
            case _:
                expected = f"expected variant, a number, asks, which is {one_of(ASKS)}, and spec"
                raise _error(source, ("exercises", place), expected)
    return Variants(source, asked, numbers)


def _key(answers: Sequence[Any]) -> tuple[Any, ...]:
    """Return answers as a key: numbers, formulas, or shapes. Anything else is None."""
    shapes = (tuple(each) if isinstance(each, list) else each for each in answers)
    known = (int, str)
    return tuple(
        each
        if isinstance(each, known) or (isinstance(each, tuple) and all(isinstance(size, known) for size in each))
        else None
        for each in shapes
    )


def _error(source: str, path: Path, message: str) -> SpecError:
    return SpecError((Problem(path, message, escape_path(source)),))
