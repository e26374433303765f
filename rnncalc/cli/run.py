"""`rnncalc run`."""

from __future__ import annotations

from typing import Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, files, format_flag, network_flags, specs_argument
from rnncalc.cli.inputs import read_file, read_specs
from rnncalc.cli.output import check_file, write, write_file
from rnncalc.cli.problems import AllAtOnce
from rnncalc.cli.progress import progress_of
from rnncalc.formats import find, offered
from rnncalc.layers.options import WholeNumber
from rnncalc.network.data import Data
from rnncalc.network.network import Network
from rnncalc.questions import run as question
from rnncalc.reports.run import RunReport
from rnncalc.reports.work import WorkReport
from rnncalc.spec import parse_data
from rnncalc.spec.flags import read_value
from rnncalc.text import one_of


@click.command(
    cls=Command, examples=("rnncalc run specs/lstm.yaml --states", "rnncalc run -i 1 -l gru:1 -T 2 --seed 1 --work")
)
@specs_argument
@network_flags
@click.option("--weights", metavar="FILE", shell_complete=files, help="YAML of {LAYER: {TENSOR: nested lists}}.")
@click.option(
    "--inputs", metavar="FILE", shell_complete=files, help="YAML of a list of T lists, or of T token numbers."
)
@click.option(
    "--start",
    metavar="FILE",
    shell_complete=files,
    help="YAML of {LAYER: {h: [...]}}, the states before the first step.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Makes the weights and inputs not given.")
@click.option(
    "--save-weights", metavar="FILE", shell_complete=files, help="Write the weights in use, for --weights to read."
)
@click.option("--states", is_flag=True, help="Show each layer's states and gates, step by step.")
@click.option("--work", is_flag=True, help="Show the pass of a small network as it would be done by hand.")
@click.option("--max-multiply-adds", metavar="N", default="1G", show_default=True, help="Refuse a longer pass.")
@format_flag(RunReport, WorkReport)
def run(
    specs: tuple[str, ...],
    weights: str | None,
    inputs: str | None,
    start: str | None,
    seed: int,
    save_weights: str | None,
    states: bool,
    work: bool,
    max_multiply_adds: str,
    format_: str,
    **flags: Unpack[NetworkFlags],
) -> int:
    """Run a forward pass that confirms shapes, weights and work.

    It uses plain Python and your own numbers, or random ones. Exit code 1 when a layer is not as declared.
    """
    given = (("--weights", weights), ("--inputs", inputs), ("--start", start))
    with AllAtOnce() as at_once:
        if misfit := _misfit(states, work, format_):
            at_once.refuse(misfit)
        if save_weights is not None:
            at_once.ask(check_file, save_weights, "--save-weights")
        most = at_once.ask(read_value, "--max-multiply-adds", max_multiply_adds, WholeNumber(suffixes=True))
        own = [at_once.ask(read_file, path, flag=flag) if path else None for flag, path in given]
        read = at_once.ask(read_specs, specs, **flags)
        if save_weights is not None and len(read or [0]) > 1:
            at_once.refuse(f"--save-weights: one file holds the weights of one network, and there are {len(read)}")
    reports: list[RunReport | WorkReport] = []
    for spec in read:
        data = parse_data(spec, *own)
        if work:
            reports.append(_worked(spec.network, data, seed))
        else:
            reports.append(RunReport(_run(spec.network, data, seed, states, most), states))
        if save_weights is not None:
            _save(spec.network, data, seed, save_weights)
    write(reports, format_)
    return 0 if all(report.run.agrees for report in reports) else 1


def _misfit(states: bool, work: bool, format_: str) -> str:
    """Return why what is to be shown does not fit a format, nothing where it does."""
    method = find(format_).method
    if states and work:
        return "--work has every state; remove --states"
    if work and not hasattr(WorkReport, method):
        return f"--work does not fit -f {format_}; take -f {one_of(offered(WorkReport))}"
    if not work and not hasattr(RunReport, method):
        return f"-f {format_} is for equations; add --work"
    if states and method == "records":
        return "--states does not fit the one table of -f csv; take -f json"
    return ""


def _run(network: Network, data: Data, seed: int, states: bool, most: int) -> question.Run:
    with progress_of(question.cost_of(question.with_steps_to_run(network, data.inputs))) as progress:
        return question.run(
            network,
            seed=seed,
            weights=data.weights,
            inputs=data.inputs,
            start=data.start,
            states=states,
            most_multiply_adds=most,
            progress=progress,
        )


def _worked(network: Network, data: Data, seed: int) -> WorkReport:
    from rnncalc.questions.work import work  # a pass that only confirms does without

    return WorkReport(work(network, seed=seed, weights=data.weights, inputs=data.inputs, start=data.start))


def _save(network: Network, data: Data, seed: int, path: str) -> None:
    """Write the weights that a run takes to a file."""
    from rnncalc.spec.saved import weights_text

    in_use = question.weights_in_use(network, seed=seed, weights=data.weights)
    write_file(path, weights_text(in_use), "--save-weights")
