"""`rnncalc read`."""

from __future__ import annotations

import click

from rnncalc.cli.commands import command
from rnncalc.cli.flags import files, report_flags
from rnncalc.cli.output import AllAtOnce, Destination, write
from rnncalc.cli.progress import progress_of
from rnncalc.errors import CallError
from rnncalc.models.files import SUFFIXES
from rnncalc.models.read import read_model
from rnncalc.reports.read import ReadReport
from rnncalc.words import one_of


@command(
    "rnncalc read specs/models/tagger.pt",
    "rnncalc read specs/models/tagger.safetensors -f table",
    help=f"""List the tensors of a model file, and draft its spec.

    FILE ends in {one_of(SUFFIXES)}; the first is the index of a sharded model. Nothing in it is run. By
    default it prints a spec that counts the same. Other formats list the tensors.
    """,
)
@click.argument("paths", nargs=-1, metavar="FILE...", shell_complete=files)
@report_flags(ReadReport, default="yaml")
def read(paths: tuple[str, ...], destination: Destination) -> None:
    """List the tensors of a model file, and draft its spec."""
    if not paths:
        raise CallError("nothing to read: give a FILE, such as model.safetensors")
    with AllAtOnce() as at_once, progress_of(None, "reading"):
        reports = [ReadReport(reading) for path in paths if (reading := at_once.ask(read_model, path)) is not None]
    write(reports, destination)
