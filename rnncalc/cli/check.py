"""`rnncalc check`."""

from __future__ import annotations

import sys
from typing import Any

import click

from rnncalc.cli.checking import check_all
from rnncalc.cli.commands import Command
from rnncalc.cli.flags import dtype_flag, files, format_flag, override_flags, together
from rnncalc.cli.output import write
from rnncalc.cli.problems import AllAtOnce
from rnncalc.cli.streams import tell
from rnncalc.formats import find
from rnncalc.layers.options import Ratio
from rnncalc.network.budget import BUDGET_KEYS
from rnncalc.reports.check import CheckReport
from rnncalc.reports.checked_file import FileReport

limit_flags = together(
    *(
        click.option(
            f"--{key.replace('_', '-')}", metavar="X" if isinstance(of.allowed, Ratio) else "N", help=of.meaning
        )
        for key, of in BUDGET_KEYS.items()
    )
)
"""What a budget may limit, from the declaration of its keys."""

growth_flags = together(
    click.option("--max-growth", metavar="N|N%", help="The most parameters more than the baseline's: 10k, or 5%."),
    click.option("--max-bytes-growth", metavar="N|N%", help="The most bytes more: 10kB, or 5%."),
    click.option("--max-multiply-adds-growth", metavar="N|N%", help="The most multiply-adds more: 1M, or 5%."),
    click.option(
        "--max-dense-ratio-fall", metavar="X|N%", help="The most that the dense ratio may fall by: 0.5, or 5%."
    ),
)


@click.command(
    cls=Command,
    examples=(
        "rnncalc check specs --max-params 20M",
        "rnncalc check specs --baseline git:main --max-growth 5%",
        "rnncalc check specs/pytorch/tagger.yaml --model specs/models/tagger.pt",
    ),
)
@click.argument("paths", nargs=-1, metavar="PATH...", shell_complete=files)
@override_flags
@limit_flags
@dtype_flag
@click.option(
    "--baseline",
    metavar="PATH",
    shell_complete=files,
    help="A spec, a folder of specs, git:REF, or JSON of count or check, to compare to.",
)
@growth_flags
@click.option(
    "--model", metavar="FILE", shell_complete=files, help="A model file, whose tensors must be those of the one spec."
)
@click.option("--strict", is_flag=True, help="A spec with nothing to check fails.")
@format_flag(CheckReport, FileReport)
def check(
    paths: tuple[str, ...],
    steps: str | None,
    topology: str | None,
    convention: str | None,
    dtype: str,
    baseline: str | None,
    model: str | None,
    strict: bool,
    format_: str,
    **limits: str | None,
) -> int:
    """Check that specs keep their expect and budget.

    PATH is a YAML file, a folder with such files below it, or - for standard input. A limit given here holds beside
    a spec's own. Exit code 1 when a check fails, 2 when a spec or the call is wrong.
    """
    overrides = {"steps": steps, "topology": topology, "convention": convention}
    with AllAtOnce() as at_once:
        more: Any = {"baseline": baseline, "dtype": dtype, "strict": strict, "model": model}
        checks = at_once.ask(check_all, paths, overrides, limits, **more)
    together = hasattr(checks, find(format_).method)  # tables show all files together, other formats one by one
    write([checks] if together else checks.files, format_)
    if not find(format_).read_at_once and not sys.stdout.isatty():
        tell(*checks.failures())  # a program reads the answer, so that people still see what failed
    return checks.code
