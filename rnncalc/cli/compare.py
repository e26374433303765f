"""`rnncalc compare`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, Unpack

import click

from rnncalc.cli.commands import Command, cli, command
from rnncalc.cli.flags import NetworkFlags, dtype_flag, dtype_in, network_flags, option, report_flags, spec_flags
from rnncalc.cli.inputs import describing, overrides, read_each
from rnncalc.cli.output import AllAtOnce, Destination, noted, write
from rnncalc.cli.vary import described_varied, read_vary, varied_report, vary_flag
from rnncalc.errors import Problem, SpecError
from rnncalc.layers.options import Size, WholeNumber
from rnncalc.network.model import Described
from rnncalc.network.network import Network
from rnncalc.printable import escape
from rnncalc.questions import compare as question
from rnncalc.questions.compare import Compared
from rnncalc.questions.solve import Sized
from rnncalc.reports.compare import THIS_NETWORK, ComparisonReport, DenseGrowthReport
from rnncalc.reports.vary import VaryReport
from rnncalc.spec import Spec, read_value, spec_in_flags
from rnncalc.words import all_of

Read = TypeVar("Read")

_OTHER_SPAN = re.compile(r"([0-9]+) ?(?:-|–|:|,|to) ?([0-9]+)")


@command(
    "rnncalc compare -i 40 -l 'lstm:?' -o 10 --params 100k --kinds lstm,gru,mgu",
    "rnncalc compare -i 4 -l rnn:3 -o 1 --steps 1..100",
    "rnncalc compare --network '-i 9 -l lstm:20' --network '-i 9 -l gru:24'",
)
@spec_flags
@option("--network", "in_flags", multiple=True, metavar="FLAGS", help="A network in flags; repeat it for several.")
@option("--kinds", metavar="KIND,KIND...", help="The kinds to compare; rnn,gru,lstm by default.")
@option("--params", metavar="N", help="Which width each kind or network gets within N parameters, such as 100k.")
@option("--same-params", help="The same within the first network's parameters.")
@vary_flag
@dtype_flag
@report_flags(ComparisonReport, DenseGrowthReport, VaryReport)
def compare(
    specs: tuple[str, ...],
    in_flags: tuple[str, ...],
    kinds: str | None,
    params: str | None,
    same_params: bool,
    vary: tuple[str, ...],
    destination: Destination,
    **flags: Unpack[NetworkFlags],
) -> int:
    """Compare RNN, GRU, LSTM and dense, or several specs.

    --steps FIRST..LAST shows how the dense equivalent grows with the number of steps. Exit code 1 when no width fits
    the budget.
    """
    dtype = dtype_in(flags)
    with AllAtOnce() as at_once:
        if match := _OTHER_SPAN.fullmatch(flags["steps"] or ""):
            expected = f"expected a positive whole number, or FIRST..LAST, got '{escape(match[0])}'"
            at_once.problems.append(Problem((), f"{expected}; write {match[1]}..{match[2]}", "--steps"))
            flags["steps"] = None
        spans = ".." in (flags["steps"] or "")
        span = at_once.ask(_span, flags["steps"] or "") if spans else None
        if spans:
            flags["steps"] = None
            searching = {"--kinds": kinds, "--params": params, "--same-params": same_params, "--vary": vary}
            if flag := next((flag for flag, value in searching.items() if value), None):
                at_once.refuse(f"--steps FIRST..LAST and {flag} ask different things: give one of them")
            if span and span[0] > span[1]:
                at_once.refuse(f"--steps: expected FIRST..LAST, the smaller first; write {span[1]}..{span[0]}")
        if vary and (params or same_params):
            at_once.refuse("--vary gives the sizes, and a budget searches for them: give one of them")
        varied = read_vary(vary, at_once)
        if params and same_params:
            at_once.refuse("--params and --same-params are two budgets: give one of them")
        budget = at_once.ask(read_value, "--params", params, WholeNumber(suffixes=True)) if params else None

        def read(spec: Spec) -> Described | Sized:
            """Return what a spec describes, or for a search a network or the function from its size `?` to it."""
            if params or same_params or spans:
                return spec.sized if spec.marked and not spans else spec.network
            return described_varied(spec, varied)

        asked = specs or not in_flags
        networks: list[Any] = (at_once.ask(read_each, specs, flags, read) or []) if asked else []
        if in_flags and (own_flags := describing(flags)):
            at_once.refuse(f"{all_of(own_flags)} beside --network: give each network a --network of its own")
        for number, text in enumerate(in_flags, 1):
            networks = [*networks, at_once.ask(_network, text, number, flags, read)]
    cells = [kind.strip() for kind in kinds.split(",")] if kinds else None
    if span:
        write([DenseGrowthReport(question.dense_growth(network, *span)) for network in networks], destination)
    elif varied:

        def compared(changed: Sequence[Network], titles: Sequence[str]) -> Iterator[tuple[str, Compared]]:
            comparison = question.compare(*changed, dtype=dtype, kinds=cells)
            labels = [side.kind or THIS_NETWORK for side in comparison.sides] if comparison.by_kind else titles
            return zip(labels, comparison.sides, strict=True)

        write([varied_report(networks, varied, compared)], destination)
    elif params or same_params:
        comparison = question.compare_same_params(*networks, params=budget, kinds=cells, dtype=dtype)
        write([ComparisonReport(comparison)], destination)
        return 0 if comparison.sides else 1
    else:
        write([ComparisonReport(question.compare(*networks, dtype=dtype, kinds=cells))], destination)
    return 0


@click.command(cls=Command)
@network_flags
def _one_network(**_: Unpack[NetworkFlags]) -> None:
    """Parse the flags of one network."""


def spec_typed(words: Sequence[str], others: NetworkFlags | None = None, quote: str = "") -> Spec:
    """Return the spec in the flags of one network, typed outside of a call.

    others: flags that override its own. quote: the sign around a network in a message. Raises SpecError.
    """
    message = "no network"
    try:
        context = _one_network.make_context("", [*words])
        flags: NetworkFlags = context.params  # type: ignore[assignment]  # click's
        if problems := noted(context):
            raise SpecError((*problems,))
        if others:
            sizes = {word.partition("=")[0]: word for word in (*flags["sizes"], *others["sizes"])}
            flags |= overrides(others) | {"sizes": (*sizes.values(),)}  # type: ignore[typeddict-item]  # keys of the flags
        if describing(flags):
            return spec_in_flags(**flags)
    except click.NoSuchOption as error:
        from rnncalc.cli.unknown_flag import unknown_flag_message  # click's own words differ between its versions

        message = unknown_flag_message(error.option_name, error.ctx or click.Context(_one_network), cli)
        raise SpecError((Problem((), escape(message[:1].lower() + message[1:], limit=300)),)) from None
    except click.UsageError as error:
        message = error.format_message()
        from rnncalc.cli.typed import call_meant

        if call := call_meant(error.ctx):
            message = f"'{escape(' '.join(words))}': a network is written in flags; {call}"
            raise SpecError((Problem((), message),)) from None
    such = f"; write flags such as {quote}-i 10 -l lstm:20 -o 5{quote}"
    raise SpecError((Problem((), escape(message[:1].lower() + message[1:], limit=300) + such),))


def _network(text: str, number: int, others: NetworkFlags, read: Callable[[Spec], Read]) -> Read:
    """Return what `read` makes of one --network; the steps, topology and convention of the call apply to it too.

    Raises SpecError for an invalid network, with the number of the flag.
    """
    where = f"--network {number}"
    try:
        return read(spec_typed(shlex.split(text), others, quote="'"))
    except ValueError as error:  # a quotation mark is not closed
        problems = error.problems if isinstance(error, SpecError) else [Problem((), str(error).lower())]
        sources = (f"{where}: {each.source}" if each.source else where for each in problems)
        located = zip(problems, sources, strict=True)
        raise SpecError(tuple(each._replace(source=source) for each, source in located)) from None


def _span(steps: str) -> tuple[int, int]:
    first, _, last = steps.partition("..")
    return read_value("--steps", first, Size()), read_value("--steps", last, Size())
