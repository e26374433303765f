"""`rnncalc answer`."""

from __future__ import annotations

import os
import re
from typing import Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, files, network_flags, notation_flag, report_flags
from rnncalc.cli.inputs import read_specs
from rnncalc.cli.output import Destination, write
from rnncalc.cli.paths import SUFFIXES
from rnncalc.cli.problems import AllAtOnce
from rnncalc.errors import CallError
from rnncalc.questions.answer.grading import judge
from rnncalc.questions.answer.reading import check_number_of_answers, read_answer
from rnncalc.reports.answer import AnswerReport
from rnncalc.text import escape

_FLAG = re.compile("-[A-Za-z]|--[A-Za-z]")


@click.command(
    cls=Command,
    examples=(
        "rnncalc answer -i 8 -l gru:16 -- 1152",
        "rnncalc answer specs/encoder-decoder.yaml -- 335872 358400 23901",
    ),
    help_alone=True,  # the exit code 0 says that the answer is right
    context_settings={"ignore_unknown_options": True},  # so that -5 is read as a number
)
@click.argument("words", nargs=-1, metavar="[SPEC] NUMBER...", shell_complete=files)
@network_flags
@notation_flag
@report_flags(AnswerReport)
@click.pass_context
def answer(
    context: click.Context, words: tuple[str, ...], destination: Destination, **flags: Unpack[NetworkFlags]
) -> int:
    """Judge a count, and find the mistake behind a wrong one.

    One NUMBER is the total, several are the layers or tensors in order; shapes such as "(20,10)" are the tensors'. Exit
    code 1 when it is not right.
    """
    _refuse_unknown_flags(context, words)
    files = tuple(word for word in words if word.lower().endswith(SUFFIXES))
    others = tuple(word for word in words if word not in files)
    in_flags = flags["input"] or flags["layers"] or flags["output"]
    specs, numbers = (files, others) if in_flags else (words[:1], words[1:])
    check_number_of_answers(len(numbers))
    with AllAtOnce() as at_once:
        if specs and _is_number(specs[0]) and files:
            call = " ".join((*files[:1], *others))
            at_once.refuse(f"the SPEC comes first: rnncalc answer {escape(call, limit=200)}")
            numbers = others
        elif specs and _is_number(specs[0]):
            at_once.refuse(f"no network: give a SPEC, or flags such as -i 4 -l rnn:3 -o 1, beside {escape(specs[0])}")
        else:
            read = at_once.ask(read_specs, specs, **flags)
            if not numbers:
                at_once.refuse("give the number to judge: rnncalc answer SPEC NUMBER")
        given = [at_once.ask(read_answer, number) for number in numbers]
    if len(read) != 1:
        raise CallError(f"expected one network, got {len(read):,}; name one spec")
    (spec,) = read
    judged = judge(spec.network, given)
    write([AnswerReport(judged)], destination)
    return 0 if judged.right else 1


def _refuse_unknown_flags(context: click.Context, words: tuple[str, ...]) -> None:
    """Refuse an unknown flag before `--`, as every other command does."""
    args = context.obj
    ended = len(args) - args.index("--") - 1 if "--" in args else 0
    for word in words[: len(words) - ended]:
        if _FLAG.match(word):
            raise click.NoSuchOption(word.partition("=")[0], ctx=context)


def _is_number(word: str) -> bool:
    """Return whether a word in the place of the spec is an answer."""
    if word == "-" or os.path.exists(word):
        return False
    try:
        read_answer(word)
    except CallError:
        return False
    return True
