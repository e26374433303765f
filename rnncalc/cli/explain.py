"""`rnncalc explain`."""

from __future__ import annotations

from typing import Any

from rnncalc.cli.beside import Table, beside, take_beside, training_flags
from rnncalc.cli.commands import command
from rnncalc.cli.flags import notation_flag, option, report_flags, spec_flags, word_flag
from rnncalc.cli.inputs import chosen, read_each
from rnncalc.cli.output import AllAtOnce, Destination, write
from rnncalc.errors import CallError
from rnncalc.network.network import Network
from rnncalc.questions import explain as question
from rnncalc.reports.explain import ExplanationReport, ModelsReport
from rnncalc.reports.report import Report


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
        read = at_once.ask(read_each, specs, flags, lambda spec: spec.described)
    networks = chosen(read, only)
    if derive:
        if layer_superscripts:
            raise CallError("--layer-superscripts: numbers only the derivation of a count; remove it")
        write([derive(each.network, each.only).replace(within=each.within) for each in networks], destination)
        return
    explained = [question.explain_those(each.network, each.only, layer_superscripts) for each in networks]
    within = [each.within for each in networks]
    reports: list[Report] = [ExplanationReport(*each) for each in zip(explained, within, strict=True)]
    if models := [] if only else [each for each in read if not isinstance(each, Network)]:
        reports.append(ModelsReport(tuple(models)))
    write(reports, destination)
