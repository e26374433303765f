"""`rnncalc exercise`: writes exercises."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Unpack

from rnncalc.answers.exercise import ASKS, OF_PASS
from rnncalc.answers.exercise import exercise as exercises_on
from rnncalc.cli.commands import command
from rnncalc.cli.flags import NetworkFlags, notation_flag, option, report_flags, spec_flags, word_flag
from rnncalc.cli.inputs import read_each
from rnncalc.cli.output import AllAtOnce, Destination, write
from rnncalc.cli.progress import progress_of
from rnncalc.cli.vary import network_varied, read_vary, vary_flag
from rnncalc.errors import CallError
from rnncalc.layers.options import Size, WholeNumber
from rnncalc.printable import escape
from rnncalc.reports.exercise import ExerciseLinkReport, ExerciseReport
from rnncalc.spec import read_value
from rnncalc.typeset.sheet import MOST_READ

SITE = "https://OWNER.github.io/rnncalc/playground/"
_ASK = "What to ask for; values and gradients may name some: values:h_2,y."
ON_PAPER = ("table", "markdown", "html", "latex")
"""The formats that can leave out the questions or the answers."""


@command(
    "rnncalc exercise specs/gru.yaml --vary gru_1=8..64:8 --variants 8 -f moodle",
    "rnncalc exercise -i 8 -l lstm:16 -o 5 --choices 4 --sheet -f latex",
)
@spec_flags
@notation_flag
@vary_flag
@option("--variants", metavar="N", default="1", help="How many variants to write.")
@option("--seed", metavar="N", default="0", help="The same seed gives the same variants.")
@word_flag("--ask", words=lambda: (*ASKS, *OF_PASS), parts=OF_PASS, default=ASKS[0], show_default=True, help=_ASK)
@word_flag(
    "--loss", words="rnncalc.questions.backward:LOSSES", help="With --ask gradients: the loss, as in rnncalc run."
)
@option("--choices", metavar="N", default="0", help="Answers to choose from; 0 for none.")
@option("--sheet", help="Write the questions alone.")
@option("--key", help="Write the answers alone.")
@option("--site", metavar="URL", help="The address of a playground of your own, for -f link.")
@report_flags(ExerciseReport, ExerciseLinkReport)
def exercise(
    specs: tuple[str, ...],
    vary: tuple[str, ...],
    variants: str,
    seed: str,
    ask: str,
    loss: str | None,
    choices: str,
    sheet: bool,
    key: bool,
    site: str | None,
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
        if site is not None and destination.format != "link":
            at_once.refuse(f"--site: {destination.format} has no address; leave it out, or add -f link")
        elif site is not None and not re.fullmatch(r"https?://[^\s#]+", site):
            at_once.refuse(f"--site: expected an address such as {SITE}, got '{escape(site)}'")
        varied = read_vary(vary, at_once)
        networks = at_once.ask(read_each, specs, flags, partial(network_varied, vary=varied))
    if destination.format == "link" and loss is not None:
        raise CallError("--loss: the page of a link takes the loss that fits the output; leave it out")
    if destination.format == "link" and (numbers[0] > 1 or numbers[2]):
        flag = "--choices" if numbers[2] else "--variants"
        raise CallError(f"{flag}: the page of a link draws its own variants and takes written answers; leave it out")
    reports: list[ExerciseReport | ExerciseLinkReport] = []
    for network in networks:
        asked: dict[str, Any] = {"variants": numbers[0], "seed": numbers[1], "choices": numbers[2]}
        if destination.format in ON_PAPER and not numbers[2]:
            asked["wrong"] = MOST_READ
        with progress_of(lambda: numbers[0], "writing") as progress:
            variety = exercises_on(network, vary=varied, ask=ask, loss=loss, progress=progress, **asked)
        if destination.format == "link":
            reports.append(ExerciseLinkReport(site or SITE, network, vary, numbers[1], ask))
            continue
        reports.append(ExerciseReport(variety.exercises, sheet=sheet or not key, key=key or not sheet))
    write(reports, destination)
