"""`rnncalc explain`."""

from __future__ import annotations

from typing import Any

from rnncalc.cli.beside import Table, beside, take_beside, training_flags
from rnncalc.cli.commands import command
from rnncalc.cli.flags import notation_flag, option, report_flags, spec_flags, word_flag
from rnncalc.cli.inputs import read_networks
from rnncalc.cli.output import AllAtOnce, Destination, write
from rnncalc.errors import CallError
from rnncalc.network.network import Network
from rnncalc.questions import explain as question
from rnncalc.reports.explain import ExplanationReport
from rnncalc.reports.report import Report
from rnncalc.words import not_among


def _operations(network: Network, only: tuple[str, ...], batch: int = 1) -> Report:
    from rnncalc.questions.operations import explain_operations, pass_operations
    from rnncalc.reports.operations import OperationsExplanationReport

    counted = pass_operations(network, batch)
    return OperationsExplanationReport(counted, explain_operations(counted, only))


def _training(network: Network, only: tuple[str, ...], loss: str = "", **update: Any) -> Report:
    from rnncalc.questions.backward import with_loss
    from rnncalc.questions.explain_training import explain_training
    from rnncalc.questions.training import training
    from rnncalc.reports.explain_training import TrainingExplanationReport

    counted = training(with_loss(network, loss), **update)
    return TrainingExplanationReport(counted, explain_training(counted, only), loss)


DERIVATIONS: Table = {"training": _training, "operations": _operations}
"""The derivations of other numbers than the count, by their flags."""


@command("rnncalc explain specs/gru.yaml", "rnncalc explain -i 4 -l rnn:3 -o 1 --only rnn_1")
@spec_flags
@option("--only", multiple=True, metavar="NAME", help="Explain the layer of this name alone; may be repeated.")
@notation_flag
@option("--layer-superscripts", help="Number recurrent layers above their letters: h^(1)_t.")
@option("--operations", help="Derive the operations of a pass, equation by equation.")
@training_flags
@word_flag("--loss", words="rnncalc.questions.backward:LOSSES", help="With --training: the loss of the equations.")
@report_flags(ExplanationReport)
def explain(
    specs: tuple[str, ...], only: tuple[str, ...], destination: Destination, *, layer_superscripts: bool, **flags: Any
) -> None:
    """Derive the count step by step.

    Each layer comes with its equations and the shape of every term.
    """
    asked = take_beside(flags, DERIVATIONS)
    with AllAtOnce() as at_once:
        derive = at_once.ask(beside, asked, DERIVATIONS)
        networks = at_once.ask(read_networks, specs, **flags)
    known = tuple(placed.name for network in networks for placed in network.stack)
    if wrong := not_among(only, known):
        raise CallError(f"--only: {wrong}")
    if derive:
        if layer_superscripts:
            raise CallError("--layer-superscripts: numbers only the derivation of a count; remove it")
        write([derive(network, only) for network in networks], destination)
        return
    explained = [question.explain_those(network, only, layer_superscripts) for network in networks]
    write([ExplanationReport(each) for each in explained], destination)
