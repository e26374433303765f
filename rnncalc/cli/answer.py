"""`rnncalc answer`."""

from __future__ import annotations

from typing import Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, format_flag, network_flags
from rnncalc.cli.inputs import read_specs
from rnncalc.cli.output import write
from rnncalc.errors import CallError
from rnncalc.questions.answer.given import read_answer
from rnncalc.questions.answer.grading import judge
from rnncalc.reports.answer import AnswerReport


@click.command(cls=Command, context_settings={"ignore_unknown_options": True})  # so that -5 is a number
@click.argument("words", nargs=-1, required=True, metavar="[SPEC] NUMBER...")
@network_flags
@format_flag(AnswerReport)
def answer(words: tuple[str, ...], format_: str, **flags: Unpack[NetworkFlags]) -> int:
    """Judge a count, and find the mistake behind a wrong one.

    One NUMBER is the total, several are the layers or tensors in order; shapes such as "(20,10)" are the tensors'. Exit
    code 1 when it is not right.
    """
    in_flags = flags["input"] or flags["layers"] or flags["output"]
    specs, numbers = ((), words) if in_flags else (words[:1], words[1:])
    if not numbers:
        raise CallError("give the number to judge: rnncalc answer SPEC NUMBER")
    given = [read_answer(number) for number in numbers]
    (spec,) = read_specs(specs, **flags)
    judged = judge(spec.network, given)
    write([AnswerReport(judged)], format_)
    return 0 if judged.right else 1
