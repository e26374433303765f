"""`rnncalc run`."""

from __future__ import annotations

from typing import Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, files, format_flag, network_flags, specs_argument
from rnncalc.cli.inputs import read_file, read_specs
from rnncalc.cli.models import model_of, weights_within
from rnncalc.cli.output import write
from rnncalc.cli.problems import AllAtOnce
from rnncalc.cli.progress import progress_of
from rnncalc.formats import find
from rnncalc.layers.options import WholeNumber
from rnncalc.questions import run as question
from rnncalc.reports.run import RunReport
from rnncalc.spec import parse_data
from rnncalc.spec.flags import read_value


@click.command(
    cls=Command, examples=("rnncalc run specs/lstm.yaml --states", "rnncalc run -i 4 -l gru:3 -T 5 --seed 1")
)
@specs_argument
@network_flags
@click.option(
    "--weights", metavar="FILE", shell_complete=files, help="YAML of {LAYER: {TENSOR: nested lists}}, or a model file."
)
@click.option(
    "--inputs", metavar="FILE", shell_complete=files, help="YAML of a list of T lists, or of T token numbers."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Makes the weights and inputs not given.")
@click.option("--states", is_flag=True, help="Show each layer's states and gates, step by step.")
@click.option("--max-multiply-adds", metavar="N", default="1G", show_default=True, help="Refuse a longer pass.")
@format_flag(RunReport)
def run(
    specs: tuple[str, ...],
    weights: str | None,
    inputs: str | None,
    seed: int,
    states: bool,
    max_multiply_adds: str,
    format_: str,
    **flags: Unpack[NetworkFlags],
) -> int:
    """Run a forward pass that confirms shapes, weights and work.

    It uses plain Python and your own numbers, or random ones. Exit code 1 when a layer is not as declared.
    """
    with AllAtOnce() as at_once:
        if states and find(format_).method == "records":
            at_once.refuse("--states does not fit the one table of -f csv; take -f json")
        most = at_once.ask(read_value, "--max-multiply-adds", max_multiply_adds, WholeNumber(suffixes=True))
        model = at_once.ask(model_of, weights) if weights else None
        given = (("--weights", None if model else weights), ("--inputs", inputs))
        own = [at_once.ask(read_file, path, flag=flag) if path else None for flag, path in given]
        read = at_once.ask(read_specs, specs, **flags)
    reports = []
    for spec in read:
        data = parse_data(spec, *own)
        if model:
            data = data._replace(weights=weights_within(spec, model, data.inputs, most))
        with progress_of(question.cost_of(question.with_steps_to_run(spec.network, data.inputs))) as progress:
            done = question.run(
                spec.network,
                seed=seed,
                weights=data.weights,
                inputs=data.inputs,
                states=states,
                most_multiply_adds=most,
                progress=progress,
            )
        reports.append(RunReport(done, states))
    write(reports, format_)
    return 0 if all(report.run.agrees for report in reports) else 1
