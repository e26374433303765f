"""`rnncalc check`."""

from __future__ import annotations

import sys

import click

from rnncalc.cli.checking import check_all
from rnncalc.cli.commands import Command
from rnncalc.cli.flags import bytes_of, dtype_flag, format_flag, override_flags
from rnncalc.cli.output import write
from rnncalc.cli.streams import tell
from rnncalc.formats import find
from rnncalc.reports.check import CheckReport
from rnncalc.reports.checked_file import FileReport


@click.command(cls=Command)
@click.argument("paths", nargs=-1, metavar="PATH...")
@override_flags
@click.option("--max-params", metavar="N", help="The most parameters, such as 1M.")
@click.option("--max-bytes", metavar="N", help="The most bytes, such as 4MB.")
@click.option("--max-multiply-adds", metavar="N", help="The most multiply-adds of one pass, such as 10M.")
@click.option("--min-dense-ratio", metavar="X", help="The least dense-equivalent parameters for each one.")
@dtype_flag
@click.option("--baseline", metavar="PATH", help="A spec, a folder of specs, or JSON of count, to compare to.")
@click.option("--max-growth", metavar="N|N%", help="The most parameters more than the baseline's: 10k, or 5%.")
@click.option("--strict", is_flag=True, help="A spec with nothing to check fails.")
@format_flag(CheckReport, FileReport)
def check(
    paths: tuple[str, ...],
    steps: str | None,
    topology: str | None,
    convention: str | None,
    dtype: str,
    baseline: str | None,
    max_growth: str | None,
    strict: bool,
    format_: str,
    **limits: str | None,
) -> int:
    """Check that specs keep their expect and budget.

    PATH is a YAML file, a folder with such files below it, or - for standard input. Limits given here stand in place
    of a spec's own. Exit code 1 when a check fails, 2 when a spec or the call is wrong.
    """
    bytes_of(dtype)
    overrides = {"steps": steps, "topology": topology, "convention": convention}
    checks = check_all(paths, overrides, limits, baseline=baseline, max_growth=max_growth, dtype=dtype, strict=strict)
    together = hasattr(checks, find(format_).method)  # tables show all files together, other formats one by one
    write([checks] if together else checks.files, format_)
    if format_ not in ("table", "github") and not sys.stdout.isatty():
        tell(*checks.failures())  # a program reads the answer, so that people still see what failed
    return checks.code
