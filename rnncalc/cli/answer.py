"""`rnncalc answer`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Unpack

import click

from rnncalc.answers.forms import unmarked
from rnncalc.answers.grading import Grader
from rnncalc.answers.reading import check_number_of_answers, read_answers
from rnncalc.bounds import MOST_PROBLEMS
from rnncalc.cli.commands import FLAGS, command
from rnncalc.cli.flags import (
    NetworkFlags,
    file_flag,
    files,
    network_flags,
    notation_flag,
    option,
    report_flags,
    word_flag,
)
from rnncalc.cli.inputs import SUFFIXES, network_meant, read_each, read_file
from rnncalc.cli.output import AllAtOnce, Destination, noted, tell, write
from rnncalc.errors import CallError, Problem, RefusedError, SpecError
from rnncalc.formats import find
from rnncalc.layers.options import Real
from rnncalc.printable import escape
from rnncalc.reports.answer import AnswerReport, GradebookReport
from rnncalc.reports.report import SheetReport
from rnncalc.spec import Spec, parse_data, read_value
from rnncalc.typeset.setting import setting, title
from rnncalc.words import plural

if TYPE_CHECKING:
    from rnncalc.cli.variants import Variants

MOST_POINTS = 1_000_000
"""The most points of an answer."""

_FLAG = re.compile("-[A-Za-z]|--[A-Za-z]")


@command(
    "rnncalc answer -i 8 -l gru:16 1152",
    "rnncalc answer specs/encoder-decoder.yaml 335872 358400 23901",
    'rnncalc answer -i 4 -l rnn:3 "(3,4)" "(3,3)" "(3)"',
    'rnncalc answer -i 4 -l rnn:3 "W_xh=(3,4)"',
    'rnncalc answer -i m -l gru:h "3h(m + h + 1)"',
    'rnncalc answer specs/gru-by-hand.yaml --of values "h_1 = 0.49" "h_2 = 0.56"',
    "rnncalc answer specs/gru.yaml --from class.csv",
    help_alone=True,  # the exit code 0 says that the answer is correct
    context_settings={"ignore_unknown_options": True},  # so that -5 is read as a number
)
@click.argument("words", nargs=-1, metavar="[SPEC] ANSWER...", shell_complete=files)
@network_flags
@notation_flag
@word_flag("--of", "quantity", words="rnncalc.answers.asked:TASKS", help="What ANSWER counts; by default parameters.")
@word_flag("--loss", words="rnncalc.questions.backward:LOSSES", help="With --of values: the loss, as in rnncalc run.")
@option("--hint", help="Ask what to look at, without the mistake and correct numbers.")
@file_flag("--from", "from_", help="Grade a class: a CSV file, a row for each student.")
@option("--name", "names", multiple=True, metavar="COLUMN", help="Column of names in FILE; may be repeated.")
@option("--answer", "answers", multiple=True, metavar="COLUMN", help="Column of the answers in FILE; may be repeated.")
@option("--variant", metavar="COLUMN", help="Column of the variants in FILE, if SPEC is the JSON of rnncalc exercise.")
@option("--points", metavar="P", help="Share so many points over the numbers of each answer in FILE.")
@report_flags(AnswerReport, GradebookReport, default="table")
@click.pass_context
def answer(
    context: click.Context,
    words: tuple[str, ...],
    quantity: str | None,
    loss: str | None,
    hint: bool,
    from_: str | None,
    names: tuple[str, ...],
    answers: tuple[str, ...],
    variant: str | None,
    points: str | None,
    destination: Destination,
    **flags: Unpack[NetworkFlags],
) -> int:
    """Judge a count, shapes or values, and find a wrong one's mistake.

    One number as ANSWER is the total; several are those of the layers or tensors, in order. Shapes such as "(20,10)"
    are those of the tensors. An ANSWER may be a rounded number, a calculation or a formula. Write -- before an
    ANSWER that begins with a dash. Exit code 1 if anything in it is wrong, but 0 when a class is graded.
    """
    ended = len(context.obj) - context.obj.index("--") - 1 if "--" in context.obj else 0
    for word in words[: len(words) - ended]:
        if _FLAG.match(word):  # click passes unknown flags on, so that -5 is read as a number
            raise click.NoSuchOption(word.partition("=")[0], ctx=context)
    files = tuple(word for word in words if word.lower().endswith((*SUFFIXES, ".json")))
    others = tuple(word for word in words if word not in files)
    in_flags = flags["input"] or flags["layers"] or flags["output"]
    read = files or (in_flags and all(map(_is_number, words)))
    if words and not read and (call := network_meant(words)):
        raise CallError(call)
    specs, numbers = (files, others) if in_flags or files else (words[:1], words[1:])
    if from_ is not None:
        most = None if points is None else read_value("--points", points, Real())
        if most is not None and not 0 < most <= MOST_POINTS:
            raise CallError(f"--points: expected a number above 0, at most {MOST_POINTS:,}, got {points}")
        columns = names, answers, variant
        asked: dict[str, Any] = {"quantity": quantity, "loss": loss, "hint": hint, "points": most, "flags": flags}
        report = _grade(specs, numbers, from_, columns, **asked)
        write([report], destination)
        if SheetReport not in find(destination.format).kinds:  # a table has them below it
            warnings = islice(report.warnings(), MOST_PROBLEMS)
            tell(*(f"{escape(from_, limit=300)}:{line}: {text}" for line, text in warnings))
        return 0
    if destination.format == "csv":
        raise CallError("-f csv is for a class, which --from FILE grades")
    if variants := _variants(specs, None, flags):
        raise CallError(f"{escape(variants.source)} is an exercise: grade the answers to it with --from FILE")
    check_number_of_answers(len(numbers))
    grader: Any = None
    with AllAtOnce() as at_once:
        if specs and _is_number(specs[0]):
            at_once.refuse(f"no network: give a SPEC, or flags such as -i 4 -l rnn:3 -o 1, beside {escape(specs[0])}")
        else:
            grader = at_once.ask(_grader, specs, quantity, loss, flags, hint=hint)
            if not numbers:
                at_once.refuse("give the answer to judge: rnncalc answer SPEC ANSWER")
        of_params = quantity != "values" and "--of" not in [each.source for each in noted(context)]
        reader: Any = grader.read if grader else read_answers
        readings = [at_once.ask(reader, each) for each in unmarked(numbers) if grader or of_params]
    judged = grader.judge([*chain(*readings)])
    write([AnswerReport(judged, hint=hint)], destination)
    return 0 if judged.right and not judged.flaws else 1


def _grade(
    specs: tuple[str, ...],
    numbers: tuple[str, ...],
    path: str,
    columns: tuple[tuple[str, ...], tuple[str, ...], str | None],
    *,
    quantity: str | None,
    loss: str | None,
    hint: bool,
    points: float | None,
    flags: NetworkFlags,
) -> GradebookReport:
    """Return the grades of a class.

    columns: those of the names, the answers and the variants in the file, by their titles or numbers.
    """
    from rnncalc.answers.gradebook import grade_class, read_answer_file
    from rnncalc.cli.progress import progress_of

    variants = _variants(specs, columns[2], flags)
    with AllAtOnce() as at_once:
        if numbers:
            at_once.refuse(f"the answers are in {escape(path)}; remove {escape(numbers[0])}")
        grader: Any = None if variants else at_once.ask(_grader, specs, quantity, loss, flags, hint=hint)
        read = at_once.ask(read_file, path, flag="--from")
    data, source = read
    try:
        choices = variants is not None and any(any(each.choices) for each in variants.asked.values())
        file = read_answer_file(data, *columns, variants=[*variants.asked] if variants else [], choices=choices)
    except (CallError, RefusedError) as error:
        message = error.with_cures(FLAGS) if isinstance(error, RefusedError) else str(error)
        raise SpecError((Problem((), message, escape(source, limit=300)),)) from None
    if variants and quantity is not None:
        raise CallError(f"--of: {escape(specs[0])} says what its variants ask for; remove it")
    of_variant: tuple[Any, Any] = lambda _: grader, lambda _: None
    if variants:
        of_variant = variants._replace(hint=hint).grader, variants.answered
        heading = escape(variants.source, limit=300), f"exercise of {plural(len(variants.asked), 'variant')}"
    else:
        heading = title(grader.network), setting(grader.network)
    try:
        with progress_of(lambda: len(file.rows), "grading") as progress:
            book = grade_class(file, *of_variant, progress)
    except RefusedError as error:
        raise SpecError((Problem((), error.with_cures(FLAGS), escape(source, limit=300)),)) from None
    return GradebookReport(book, *heading, hint, points)


def _grader(specs: Sequence[str], quantity: str | None, loss: str | None, flags: NetworkFlags, *, hint: bool) -> Grader:
    """Return the grader of answers about a network; of values, with the numbers in its spec."""
    if loss is not None and quantity != "values":
        raise CallError("--loss is for --of values")
    if quantity != "values":
        (network,) = read_each(specs, flags, lambda spec: spec.network, one=True)
        return Grader(network, quantity or "params", hint=hint)
    from rnncalc.answers.values import ValueGrader  # few answers are about them

    (spec,) = read_each(specs, flags, Spec.checked, one=True)
    return ValueGrader(spec.network, parse_data(spec), loss, hint=hint)


def _variants(words: Sequence[str], column: str | None, flags: NetworkFlags) -> Variants | None:
    """Return the exercise given instead of a spec; None if a spec or flags are given."""
    if words and words[0].lower().endswith(".json"):
        from rnncalc.cli.variants import MOST_JSON, is_exercise, read_exercise

        data, source = read_file(words[0], most=MOST_JSON)
        if is_exercise(data):
            names = [f"--{name}" for name, value in flags.items() if value]
            if names:
                raise CallError(f"{names[0]}: each variant of {escape(words[0])} has its own network; remove it")
            return read_exercise(data, source)
    if column is not None:
        raise CallError("--variant is for the JSON of rnncalc exercise as SPEC")
    return None


def _is_number(word: str) -> bool:
    """Return whether a word is an answer and not a spec."""
    if word == "-" or os.path.exists(word):
        return False
    try:
        read_answers(word)
    except CallError:
        return False
    return True
