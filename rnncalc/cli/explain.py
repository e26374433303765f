"""`rnncalc explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, network_flags, notation_flag, report_flags, specs_argument
from rnncalc.cli.inputs import read_networks
from rnncalc.cli.output import Destination, write
from rnncalc.cli.problems import AllAtOnce
from rnncalc.cli.update import UpdateFlags, training_flags, update_of
from rnncalc.errors import CallError
from rnncalc.layers.options import Size
from rnncalc.questions import explain as question
from rnncalc.reports.explain import ExplanationReport
from rnncalc.spec.flags import read_value
from rnncalc.text import not_among

if TYPE_CHECKING:
    from rnncalc.network.network import Network
    from rnncalc.reports.explain_operations import OperationsExplanationReport
    from rnncalc.reports.explain_training import TrainingExplanationReport


@click.command(
    cls=Command, examples=("rnncalc explain specs/gru.yaml", "rnncalc explain -i 4 -l rnn:3 -o 1 --only rnn_1")
)
@specs_argument
@network_flags
@click.option("--only", multiple=True, metavar="NAME", help="Explain the layer of this name alone; may be repeated.")
@notation_flag
@click.option("--operations", is_flag=True, help="Derive the operations of a pass, equation by equation.")
@training_flags
@report_flags(ExplanationReport)
def explain(
    specs: tuple[str, ...],
    only: tuple[str, ...],
    operations: bool,
    training: bool,
    chunk: str | None,
    batch: str | None,
    optimizer: str | None,
    destination: Destination,
    **flags: Unpack[NetworkFlags],
) -> None:
    """Derive the count step by step.

    Each layer comes with its equations and the shape of every term.
    """
    with AllAtOnce() as at_once:
        if operations and training:
            at_once.refuse("--operations and --training have tables of their own: keep one")
        sizes = {"--chunk": chunk, "--batch": None if operations else batch}
        update = at_once.ask(update_of, training, sizes, optimizer)
        sequences = at_once.ask(read_value, "--batch", batch, Size()) if operations and batch is not None else 1
        networks = at_once.ask(read_networks, specs, **flags)
    known = tuple(placed.name for network in networks for placed in network.stack)
    if wrong := not_among(only, known):
        raise CallError(f"--only: {wrong}")
    if operations:
        write([_operations(network, sequences, only) for network in networks], destination)
        return
    if training:
        write([_trained(network, only, **update) for network in networks], destination)
        return
    found = [question.explain_those(network, only) for network in networks]
    write([ExplanationReport(each) for each in found], destination)


def _operations(network: Network, batch: int, only: tuple[str, ...]) -> OperationsExplanationReport:
    """Return the derivation of the operations of a pass; imported only here, because other calls do not need it."""
    from rnncalc.questions.explain_operations import explain_operations
    from rnncalc.reports.explain_operations import OperationsExplanationReport

    return OperationsExplanationReport(explain_operations(network, batch, only))


def _trained(network: Network, only: tuple[str, ...], **update: Unpack[UpdateFlags]) -> TrainingExplanationReport:
    """Return the derivation of the numbers of training; imported only here, because other calls do not need it."""
    from rnncalc.questions.explain_training import explain_training
    from rnncalc.questions.training import training
    from rnncalc.reports.explain_training import TrainingExplanationReport

    return TrainingExplanationReport(explain_training(training(network, **update), only))
