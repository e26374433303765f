"""The door: one small function a command. Reads the call, asks the question, has the answer written.

No arithmetic and no formatting here. Imports inside a function are what that command alone uses.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn

import click
from click_default_group import DefaultGroup

from rnncalc import __version__
from rnncalc.cli.streams import be_encodable, complain, leave_unwritten
from rnncalc.errors import CallError, RefusedError, SpecError
from rnncalc.text import did_you_mean, escape, one_of

Command = Callable[..., int | None]

FORMATS = ("table", "json", "csv", "markdown")
HELP = {"help_option_names": ["-h", "--help"]}
NETWORK_FLAGS = (
    click.option("-i", "--input", metavar="N", help="Features per time step, or the vocabulary of an embedding."),
    click.option(
        "-l",
        "--layer",
        "layers",
        multiple=True,
        metavar="KIND:UNITS[,OPTION[=VALUE]]...",
        help="A layer, in order; may be repeated. Example: -l lstm:512,bidirectional,projection=128.",
    ),
    click.option("-o", "--output", metavar="N", help="Units of the dense output layer."),
    click.option("-T", "--steps", metavar="N", help="Length of the sequence."),
    click.option("--topology", metavar="NAME", help="one-to-one, one-to-many, many-to-one or many-to-many."),
    click.option("-c", "--convention", metavar="NAME", help="Whose tensors to count; textbook by default."),
)


OVERRIDES = NETWORK_FLAGS[3:]


def network_flags(command: Command) -> Command:
    """Add the flags that describe a network, or override a spec's own values."""
    return flags(*NETWORK_FLAGS)(command)


def flags(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Add several flags, the first on top."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def format_flag(formats: Sequence[str] = FORMATS) -> Callable[[Command], Command]:
    """Add `--format`."""
    return click.option(
        "-f",
        "--format",
        "format_",
        type=click.Choice(formats),
        default="table",
        show_default=True,
        help="Output format.",
    )


@click.group(cls=DefaultGroup, default="count", context_settings=HELP, no_args_is_help=False)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda *call: show_version(*call),
    help="Show the version and exit.",
)
def cli() -> None:
    """Count the parameters of recurrent networks, exactly and without a framework.

    rnncalc SPEC is rnncalc count SPEC.
    """


@click.command(context_settings=HELP)
@click.argument("specs", nargs=-1, metavar="[SPEC]...")
@network_flags
@click.option("--tensors", is_flag=True, help="Add a row for each tensor.")
@click.option("--cost", is_flag=True, help="Add multiply-adds and bytes.")
@click.option("--dtype", default="float32", show_default=True, metavar="NAME", help="Type of a parameter, for bytes.")
@click.option("--all-conventions", is_flag=True, help="A column for each framework, and why they differ.")
@format_flag()
def count(
    specs: tuple[str, ...],
    tensors: bool,
    cost: bool,
    dtype: str,
    all_conventions: bool,
    format_: str,
    **flags: Any,
) -> None:
    """Count parameters, layer by layer.

    SPEC is a YAML file, or - for standard input; without one, the flags describe the network.
    """
    from rnncalc.cli.inputs import read_specs

    if all_conventions:
        if tensors or cost or flags["convention"]:
            raise CallError("--all-conventions stands alone: remove --tensors, --cost and -c")
        from rnncalc.questions.conventions import all_conventions as under_all

        write([under_all(spec.network) for spec in read_specs(specs, cli.commands, **flags)], format_)
        return
    from rnncalc.questions.count import DTYPES, Count

    check_word("--dtype", dtype, tuple(DTYPES))
    reports = [Count(spec.network, dtype, tensors, cost) for spec in read_specs(specs, cli.commands, **flags)]
    for report in reports:
        report.refuse_endless(format_)
    write(reports, format_)


def show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the version; click's own option for it would look up a translation at every start."""
    if asked:
        click.echo(f"rnncalc {__version__}")
        context.exit()


@click.command(context_settings=HELP)
@click.argument("specs", nargs=-1, metavar="[SPEC]...")
@network_flags
@click.option("--weights", metavar="FILE", help="YAML of {LAYER: {TENSOR: nested lists}}.")
@click.option("--inputs", metavar="FILE", help="YAML of a list of T lists, or of T token numbers.")
@click.option("--seed", type=int, default=0, show_default=True, help="Makes the weights and inputs not given.")
@click.option("--states", is_flag=True, help="Show each layer's states and gates, step by step.")
@click.option("--max-multiply-adds", metavar="N", default="1G", show_default=True, help="Refuse a longer pass.")
@format_flag()
def run(
    specs: tuple[str, ...],
    weights: str | None,
    inputs: str | None,
    seed: int,
    states: bool,
    max_multiply_adds: str,
    format_: str,
    **flags: Any,
) -> int:
    """Run a forward pass that confirms shapes, weights and work.

    It uses plain Python and your own numbers, or random ones. Exit code 1 when a layer is not as declared.
    """
    from rnncalc.cli.inputs import read_file, read_specs
    from rnncalc.layers.options import Count as WholeNumber
    from rnncalc.questions.run import cost_of, run, with_steps
    from rnncalc.spec import parse_data
    from rnncalc.spec.flags import read_value

    if states and format_ == "csv":
        raise CallError("--states does not fit the one table of -f csv; take -f json")
    most = read_value("--max-multiply-adds", max_multiply_adds, WholeNumber(suffixes=True))
    files = [read_file(path) if path else None for path in (weights, inputs)]
    reports = []
    for spec in read_specs(specs, cli.commands, **flags):
        data = parse_data(spec, *files)
        with progress_bar(cost_of(with_steps(spec.network, data.inputs or {})[0])) as progress:
            report = run(
                spec.network,
                seed=seed,
                weights=data.weights,
                inputs=data.inputs,
                states=states,
                most_multiply_adds=most,
                progress=progress,
            )
        reports.append(report)
    write(reports, format_)
    return 0 if all(report.agrees for report in reports) else 1


@click.command(context_settings=HELP)
@click.argument("specs", nargs=-1, metavar="[SPEC]...")
@network_flags
@format_flag(("table", "json", "markdown", "latex"))
def explain(specs: tuple[str, ...], layers: tuple[str, ...], format_: str, **flags: Any) -> None:
    """Derive the count step by step.

    --layer NAME, without units, explains that layer alone.
    """
    from rnncalc.cli.inputs import read_specs
    from rnncalc.questions.explain import Explanation

    names = tuple(layer for layer in layers if ":" not in layer)
    flags["layers"] = tuple(layer for layer in layers if ":" in layer)
    networks = [spec.network for spec in read_specs(specs, cli.commands, **flags)]
    for name in names:
        check_word("--layer", name, tuple(placed.name for network in networks for placed in network.placed))
    write([Explanation(network, names) for network in networks], format_)


@click.command(context_settings=HELP)
@click.argument("specs", nargs=-1, metavar="[SPEC]")
@network_flags
@click.option("--params", metavar="N", help="The budget in parameters, such as 1M.")
@click.option("--bytes", "bytes_", metavar="N", help="The budget in bytes, such as 4MB.")
@click.option("--match", metavar="OTHER_SPEC", help="The budget is the parameters of another spec.")
@click.option("--dtype", default="float32", show_default=True, metavar="NAME", help="Type of a parameter, for bytes.")
@click.option("--multiple-of", metavar="N", default="1", show_default=True, help="Only sizes that N divides.")
@click.option("--exact", is_flag=True, help="Only a size that meets the budget exactly; exit code 1 if none.")
@format_flag(("table", "json", "markdown"))
def solve(
    specs: tuple[str, ...],
    params: str | None,
    bytes_: str | None,
    match: str | None,
    dtype: str,
    multiple_of: str,
    exact: bool,
    format_: str,
    **flags: Any,
) -> int:
    """Find the size, written ?, that meets a budget.

    Every ? stands for one and the same size: -l lstm:? -l lstm:?. Exit code 1 when no size fits.
    """
    from rnncalc.cli.inputs import read_specs, read_template
    from rnncalc.layers.options import Count as WholeNumber
    from rnncalc.layers.options import Size
    from rnncalc.questions.count import DTYPES
    from rnncalc.questions.solve import solve
    from rnncalc.spec.flags import read_value

    check_word("--dtype", dtype, tuple(DTYPES))
    if sum(budget is not None for budget in (params, bytes_, match)) != 1:
        raise CallError("give one budget: --params N, --bytes N or --match OTHER_SPEC")
    if params is not None:
        budget = read_value("--params", params, WholeNumber(suffixes=True))
    elif bytes_ is not None:
        budget = read_value("--bytes", bytes_, WholeNumber(suffixes=True, unit="B")) // DTYPES[dtype]
    else:
        none: Any = dict.fromkeys(("input", "output", "steps", "topology", "convention"))
        (other,) = read_specs([str(match)], cli.commands, layers=(), **none)
        budget = other.network.params
    template = read_template(specs, **flags)
    if not template.marked:
        raise CallError("no size is written ?, so there is nothing to solve for; write one as in -l lstm:?")
    solution = solve(template.network, budget, multiple=read_value("--multiple-of", multiple_of, Size()), exact=exact)
    write([solution], format_)
    return 0 if solution.solved else 1


@click.command(context_settings=HELP)
@click.argument("specs", nargs=-1, metavar="[SPEC]...")
@network_flags
@click.option("--same-params", is_flag=True, help="Which width each kind gets for the spec's parameters.")
@click.option("--dtype", default="float32", show_default=True, metavar="NAME", help="Type of a parameter, for bytes.")
@format_flag(("table", "json", "markdown"))
def compare(specs: tuple[str, ...], same_params: bool, dtype: str, format_: str, **flags: Any) -> None:
    """Compare RNN, GRU, LSTM and dense, or several specs.

    --steps FIRST..LAST shows how the dense equivalent grows with the number of steps.
    """
    from rnncalc.cli.inputs import read_specs
    from rnncalc.layers.options import Size
    from rnncalc.questions import compare as question
    from rnncalc.questions.count import DTYPES
    from rnncalc.spec.flags import read_value

    check_word("--dtype", dtype, tuple(DTYPES))
    first, dots, last = (flags["steps"] or "").partition("..")
    if dots:
        flags["steps"] = None
        ends = [read_value("--steps", end, Size()) for end in (first, last)]
        if same_params or ends[0] > ends[1]:
            raise CallError("--steps FIRST..LAST stands alone, and FIRST is not above LAST")
    networks = [spec.network for spec in read_specs(specs, cli.commands, **flags)]
    if dots:
        write([question.growth(network, *ends) for network in networks], format_)
    elif same_params:
        write([question.as_kinds_of_same_params(network, DTYPES[dtype]) for network in networks], format_)
    elif len(networks) > 1:
        write([question.side_by_side(networks, DTYPES[dtype])], format_)
    else:
        write([question.as_kinds(networks[0], DTYPES[dtype])], format_)


@click.command(context_settings={**HELP, "ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, metavar="[SPEC] NUMBER...")
@network_flags
@format_flag(("table", "json", "markdown"))
def answer(words: tuple[str, ...], format_: str, **flags: Any) -> int:
    """Judge a count, and find the mistake behind a wrong one.

    One NUMBER is the total, several are the layers or tensors in order; shapes such as "(20,10)" are the tensors'. Exit
    code 1 when it is not right.
    """
    from rnncalc.cli.inputs import read_specs
    from rnncalc.questions.answer.given import read_answer
    from rnncalc.questions.answer.grading import judge
    from rnncalc.reports.answer import AnswerReport

    in_flags = flags["input"] or flags["layers"] or flags["output"]
    specs, numbers = ((), words) if in_flags else (words[:1], words[1:])
    if not numbers:
        raise CallError("give the number to judge: rnncalc answer SPEC NUMBER")
    given = [read_answer(number) for number in numbers]
    (spec,) = read_specs(specs, cli.commands, **flags)
    judged = judge(spec.network, given)
    write([AnswerReport(judged)], format_)
    return 0 if judged.right else 1


@click.command(context_settings=HELP)
@click.argument("paths", nargs=-1, metavar="PATH...")
@flags(*OVERRIDES)
@click.option("--max-params", metavar="N", help="The most parameters, such as 1M.")
@click.option("--max-bytes", metavar="N", help="The most bytes, such as 4MB.")
@click.option("--max-multiply-adds", metavar="N", help="The most multiply-adds of one pass, such as 10M.")
@click.option("--min-dense-ratio", metavar="X", help="The least dense-equivalent parameters for each one.")
@click.option("--dtype", default="float32", show_default=True, metavar="NAME", help="Type of a parameter, for bytes.")
@click.option("--baseline", metavar="PATH", help="A spec, a folder of specs, or JSON of count, to compare to.")
@click.option("--max-growth", metavar="N|N%", help="The most parameters more than the baseline's: 10k, or 5%.")
@click.option("--strict", is_flag=True, help="A spec with nothing to check fails.")
@format_flag(("table", "json", "markdown", "junit", "github"))
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
    from rnncalc.cli.checking import check_all
    from rnncalc.questions.count import DTYPES

    check_word("--dtype", dtype, tuple(DTYPES))
    overrides = {"steps": steps, "topology": topology, "convention": convention}
    checks = check_all(paths, overrides, limits, baseline=baseline, max_growth=max_growth, dtype=dtype, strict=strict)
    write([checks] if format_ in ("table", "markdown") else checks.files, format_)
    if (
        format_ not in ("table", "github") and not sys.stdout.isatty()
    ):  # what a program reads leaves people the failures
        complain(*checks.failures())
    return checks.code


@click.command(context_settings=HELP)
def schema() -> None:
    """Print the JSON Schema of a spec, for editors."""
    from rnncalc.spec.schema import text

    click.echo(text())


for command in (count, run, explain, answer, solve, compare, check, schema):
    cli.add_command(command)


def progress_bar(total: int) -> AbstractContextManager[Callable[[int], None] | None]:
    """Return what shows progress on a terminal's standard error, if it is one."""
    if sys.stderr is None or not sys.stderr.isatty():
        return nullcontext()
    from rnncalc.cli.progress import bar

    return bar(total, sys.stderr)


def check_word(flag: str, word: str, known: tuple[str, ...]) -> None:
    """Refuse a word that the flag does not know."""
    if word not in known:
        raise click.ClickException(f"{flag}: expected {one_of(known)}, got {escape(word)!r}{did_you_mean(word, known)}")


def write(reports: Sequence[Any], format_: str) -> None:
    """Write the reports to standard output, as much of them as its reader wants."""
    from rnncalc.formats import write

    try:
        write(reports, format_, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:  # head has seen enough
        leave_unwritten()


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line: answers to standard output, everything else to standard error, an exit code at the end."""
    gc.disable()  # one short call leaves no cycles worth looking for: that would cost a tenth of its time
    code = call(sys.argv[1:] if args is None else args)
    gc.freeze()  # nor need the interpreter look for any as it ends
    sys.exit(code)


def call(args: list[str]) -> int:
    """Run one call and return its exit code: 0 fine, 1 the answer is no, 2 the input is wrong."""
    be_encodable()
    try:
        code = cli.main(args or ["--help"], prog_name="rnncalc", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except (CallError, RefusedError) as error:
        complain(f"rnncalc: {error}")
    except SpecError as error:
        complain(*map(str, error.problems))
    except click.ClickException as error:
        complain(f"rnncalc: {error.format_message()}{hint(error)}")
    except OSError as error:
        leave_unwritten()
        complain(f"rnncalc: cannot write the answer: {(error.strerror or str(error)).lower()}")
    except (KeyboardInterrupt, click.Abort):
        complain("rnncalc: interrupted")
        return 130
    return 2


def hint(error: click.ClickException) -> str:
    """Return where to read on after a call that click itself refused."""
    context = getattr(error, "ctx", None)
    return (
        f" (see {context.command_path if context else 'rnncalc'} --help)" if isinstance(error, click.UsageError) else ""
    )
