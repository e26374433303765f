"""`rnncalc run`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

from rnncalc.cli.commands import command
from rnncalc.cli.flags import NetworkFlags, file_flag, notation_flag, option, report_flags, spec_flags, word_flag
from rnncalc.cli.inputs import read_each, read_file
from rnncalc.cli.models import model_of, weights_within
from rnncalc.cli.output import AllAtOnce, Destination, check_file, name_file, write, write_file
from rnncalc.cli.progress import progress_of
from rnncalc.errors import CallError
from rnncalc.formats import find, offered
from rnncalc.layers.options import Real, Size, WholeNumber
from rnncalc.network.data import Data
from rnncalc.network.network import Network
from rnncalc.printable import escape_path
from rnncalc.questions import run as question
from rnncalc.questions.price import cost_of
from rnncalc.reports.report import DerivationReport, RecordReport
from rnncalc.reports.run import RunReport
from rnncalc.spec import Spec, parse_data, read_value
from rnncalc.words import all_of, one_of

if TYPE_CHECKING:
    from rnncalc.models.files.model import ModelFile
    from rnncalc.reports.run import BackwardReport
    from rnncalc.reports.work import WorkReport


MOST_DECIMALS = 15
"""The most decimals of a rounded number; a float has no more."""


@command("rnncalc run specs/lstm.yaml --states", "rnncalc run -i 1 -l gru:1 -T 2 --seed 1 --work")
@spec_flags
@notation_flag
@file_flag("--weights", help="YAML of {LAYER: {TENSOR: nested lists}}, or a model file.")
@file_flag("--inputs", help="YAML of a list of T lists, or of T token numbers.")
@file_flag("--start", help="YAML of {LAYER: {h: [...]}}, the states before the first step.")
@file_flag("--targets", help="With --backward: YAML of the outputs' targets: a list, or T lists.")
@option("--seed", metavar="N", help="Seed of weights and inputs; 0 by default.")
@file_flag("--save-weights", help="Write the weights in use, for --weights to read.")
@option("--states", help="Show each layer's states and gates, step by step.")
@option("--work", help="Show the pass of a small network worked by hand.")
@option("--digits", metavar="N", help="With --work: decimals of numbers; 4 by default.")
@option("--backward", help="Add the backward pass: the gradient of every weight.")
@option("--verify", help="Show weights read and multiplications; with --backward, finite differences.")
@option("--learning-rate", metavar="R", help="With --work --backward: updated weights.")
@option("--chunk", metavar="K", help="With --backward: steps that the gradient passes through.")
@word_flag(
    "--loss",
    words="rnncalc.questions.backward:LOSSES",
    help="With --backward: sum of the outputs; with targets, squared error by default.",
)
@option("--max-multiply-adds", metavar="N", default="1G", help="Refuse a pass of more multiply-adds.")
@option("--only", metavar="NAME", help="The network to run, of a model of several.")
@report_flags(RunReport, DerivationReport)
def run(
    specs: tuple[str, ...],
    only: str | None,
    weights: str | None,
    inputs: str | None,
    start: str | None,
    targets: str | None,
    seed: str | None,
    save_weights: str | None,
    states: bool,
    work: bool,
    digits: str | None,
    backward: bool,
    verify: bool,
    learning_rate: str | None,
    chunk: str | None,
    loss: str | None,
    max_multiply_adds: str,
    destination: Destination,
    **flags: Unpack[NetworkFlags],
) -> int:
    """Run a forward pass that confirms shapes, weights and work.

    It uses plain Python and your own numbers, a model file's, or random ones. Exit code 1 when a layer is not as
    declared.
    """
    with AllAtOnce() as at_once:
        if work and (others := ["--states"] * states + ["--verify"] * verify):
            at_once.refuse(f"--work shows every state of a pass forward; remove {all_of(others)}")
        elif misfit := _misfit(destination.format, work=work, states=states):
            at_once.refuse(misfit)
        steps = None if chunk is None else at_once.ask(read_value, "--chunk", chunk, Size())
        rate = None if learning_rate is None else at_once.ask(read_value, "--learning-rate", learning_rate, Real())
        if rate is not None and rate <= 0:
            at_once.refuse(f"--learning-rate: expected a number above 0, got {learning_rate}")
        decimals = 4 if digits is None else at_once.ask(read_value, "--digits", digits, WholeNumber())
        if decimals is not None and decimals > MOST_DECIMALS:
            at_once.refuse(f"--digits: expected at most {MOST_DECIMALS}, the decimals of a float, got {decimals}")
        number = at_once.ask(read_value, "--seed", "0" if seed is None else seed, WholeNumber())
        most = at_once.ask(read_value, "--max-multiply-adds", max_multiply_adds, WholeNumber(suffixes=True))
        model = at_once.ask(model_of, weights) if weights is not None else None
        paths = {"--weights": None if model else weights, "--inputs": inputs, "--start": start, "--targets": targets}
        files = [None if path is None else at_once.ask(read_file, path, flag=flag) for flag, path in paths.items()]
        read = at_once.ask(lambda: read_each(specs, flags, lambda spec: _one(spec, only)))
        if save_weights is not None:
            at_once.ask(check_file, save_weights, "--save-weights")
        if save_weights is not None and len(read or [0]) > 1:
            at_once.refuse(f"--save-weights: one file holds the weights of one network, and there are {len(read)}")
    asked: dict[str, Any] = {"seed": number}
    asked |= {"digits": decimals} if work else {"states": states, "verify": verify, "most_multiply_adds": most}
    report: Callable[..., RunReport | WorkReport | BackwardReport] = _work if work else _run
    if work and backward:
        asked |= {"backward": True, "chunk": steps, "loss": loss, "learning_rate": rate}
    elif backward:
        report, asked = _back, asked | {"chunk": steps, "loss": loss}
    reports = []
    for spec in read:
        by_itself = weights is None and seed is None and spec.source in specs  # a model file runs with its own weights
        data = _data(spec, files, model_of(spec.source) if by_itself else model, most, loss)
        with name_file(spec.source if len(read) > 1 else ""):
            done = report(spec.network, data, **asked)
            reports.append(done.replace(within=spec.above[1]) if spec.above and isinstance(done, RunReport) else done)
        if save_weights is not None:
            from rnncalc.formats.yaml import weights_text

            in_use = question.weights_in_use(spec.network, seed=number, weights=data.weights, rounded=work)
            write_file(save_weights, weights_text(in_use), "--save-weights")
    write(reports, destination)
    return 0 if all(report.agrees for report in reports) else 1


def _one(spec: Spec, only: str | None) -> Spec:
    """Return the spec of the network to run. Raises CallError if it is not named."""
    if only is not None:
        return spec.of_network(only)
    if networks := spec.described.networks:
        names = one_of([*networks])
        raise CallError(
            f"{escape_path(spec.source)}: a model of several networks runs one of them; name {names} with --only"
        )
    return spec


def _data(
    spec: Spec, files: list[tuple[bytes, str] | None], model: ModelFile | None, most: int, loss: str | None
) -> Data:
    """Return the numbers of a run; weights of a model file override a spec's own."""
    data = parse_data(spec, *files)
    if loss is not None and data.targets is None:
        from rnncalc.questions.backward import WITHOUT_TARGETS

        if loss not in WITHOUT_TARGETS:
            in_spec = ", or targets in the spec" if spec.source else ""
            raise CallError(f"--loss {loss} needs targets, what the outputs should be: give --targets FILE{in_spec}")
    return data._replace(weights=weights_within(spec, model, data.inputs, most)) if model else data


def _misfit(format: str, *, work: bool, states: bool) -> str:
    """Return why the flags contradict the format; nothing if they fit."""
    form = find(format)
    if work:
        from rnncalc.reports.work import WorkReport  # imported only for this report

        if not form.can_write(WorkReport):
            return f"--work is not written as {format}; write -f {one_of(offered(WorkReport))}"
    if states and form.kinds == (RecordReport,):
        return f"--states needs several tables, and {format} has one; write -f json"
    return ""


def _run(network: Network, data: Data, *, verify: bool, **asked: Any) -> RunReport:
    numbers = {key: value for key, value in data._asdict().items() if key != "targets"}
    with progress_of(lambda: cost_of(question.with_steps_to_run(network, data.inputs))) as progress:
        return RunReport(question.run(network, progress=progress, **numbers, **asked), asked["states"], verify)


def _work(network: Network, data: Data, *, digits: int, **asked: Any) -> WorkReport:
    from rnncalc.questions.work import work
    from rnncalc.reports.work import WorkReport

    return WorkReport(work(network, **data._asdict(), **asked), digits)


def _back(network: Network, data: Data, **asked: Any) -> BackwardReport:
    from rnncalc.questions.backward import backward, counted_of, whole_work
    from rnncalc.reports.run import BackwardReport

    def work() -> int:
        counted = counted_of(question.with_steps_to_run(network, data.inputs), asked["chunk"])
        return whole_work(counted, verify=asked["verify"])

    with progress_of(work) as progress:
        done = backward(network, progress=progress, **data._asdict(), **asked)
        return BackwardReport(done, asked["states"], asked["verify"])
