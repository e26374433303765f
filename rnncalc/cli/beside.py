"""Reports that a flag asks for: a row of a table has the function of the report.

A report's modules are imported only if a call asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rnncalc.cli.flags import GOES_WITH, flag_of, option, quantize_flag, together, word_flag
from rnncalc.cli.output import AllAtOnce, needs_numbers
from rnncalc.layers.options import Allowed, Ratio, Size
from rnncalc.records import imported
from rnncalc.words import all_of

if TYPE_CHECKING:
    from rnncalc.reports.count import CountReport
    from rnncalc.reports.report import Report


def _beside(question: str, report: str, *, dtype: bool = False) -> Callable[..., Report]:
    """Return the function that asks a question about a counted network, and reports the answer beside the count.

    question, report: the places of their function and class, such as `stream:stream`. dtype: whether it asks for one.
    """

    def made(counts: CountReport, *values: Any, **flags: Any) -> Report:
        flags |= {"dtype": counts.counted.dtype} if dtype else {}
        answer = imported(f"rnncalc.questions.{question}")(counts.counted.network, *values, **flags)
        beside: Report = imported(f"rnncalc.reports.{report}")(counts, answer)
        return beside

    return made


Table = Mapping[str, Callable[..., Any]]
"""The functions of reports by their flags; a flag's value, if it has one, and the flags with it are arguments."""

REPORTS: Table = {
    "training": _beside("training:training", "training:TrainingReport", dtype=True),
    "operations": _beside("operations:pass_operations", "operations:OperationsReport"),
    "shapes": _beside("shapes:shapes", "beside:ShapesReport"),
    "counters": _beside("counters:counters", "counters:CountersReport"),
    "stream": _beside("stream:stream", "beside:StreamReport", dtype=True),
    "quantize": _beside("quantized:quantized", "beside:QuantizedReport"),
}
"""The reports beside a count."""

JOINED = frozenset(("operations", "stream", "quantize"))
"""Those that are in one table if a call asks for several."""

_READ: dict[str, Allowed] = {"chunk": Size(), "batch": Size(), "sequences": Size(), "rate": Ratio(above_zero=True)}
"""The flags that are read from text, with their allowed values."""

training_flags = together(
    option("--training", help="Add gradients, saved activations and bytes of training."),
    option("--chunk", metavar="K", help="Steps that the gradient passes through; all by default."),
    option("--batch", metavar="B", help="Sequences in a batch; 1 by default."),
    word_flag("--optimizer", words="rnncalc.network.training:OPTIMIZERS", help="Optimizer; sgd by default."),
)

beside_flags = together(
    option("--operations", help="Add operations by kind, and FLOPs."),
    option("--shapes", help="Show what each layer reads and returns, states included."),
    option("--counters", help="Show what other programs' counters print, and why."),
    option("--time-first", hidden=True, help="Shapes with the steps before the batch."),
    option("--stream", help="Add the state that is carried from step to step."),
    option("--rate", metavar="R", help="Steps per second, for --stream."),
    quantize_flag,
    training_flags,
    option("--sequences", metavar="N", help="Sequences of an epoch, for its work with --training."),
)


def _takes(report: str, flag: str) -> bool:
    """Return whether a flag goes with that of a report."""
    return flag_of(report) in GOES_WITH.get(flag_of(flag), ())


def take_beside(flags: dict[str, Any], table: Table = REPORTS) -> dict[str, Any]:
    """Remove the flags of a table from those of a call, by their names in Python, and return them."""
    return {key: flags.pop(key) for key in [*flags] if key in table or any(_takes(each, key) for each in table)}


def beside(flags: dict[str, Any], table: Table = REPORTS) -> Callable[..., Report] | None:
    """Return the function that makes the requested report; None if no report is requested.

    Raises SpecError for an invalid size, and for two reports.
    """
    values = {key: value for key, value in flags.items() if value not in (None, False)}
    asked = [key for key in table if key in values]
    with AllAtOnce() as at_once:
        if len(asked) > 1 and not JOINED.issuperset(asked):
            at_once.refuse(f"{all_of([flag_of(key) for key in asked])} each have a table of their own; keep one")
        arguments = {key: value for key, value in values.items() if value is not True or key not in table}
        read = {key: at_once.ask(_value, key, value) for key, value in arguments.items()}
    if not asked:
        return None

    def report(*counted: Any) -> Report:
        reports: list[Any] = []
        for flag in asked:
            with needs_numbers(flag_of(flag)):
                taken = {key: value for key, value in read.items() if _takes(flag, key)}
                reports.append(table[flag](*counted, *([read[flag]] if flag in read else ()), **taken))
        joined: Report = imported("rnncalc.reports.beside:joint")(reports) if len(reports) > 1 else reports[0]
        return joined

    return report


def _value(key: str, value: Any) -> Any:
    if key not in _READ:
        return value
    from rnncalc.spec import read_value  # needed only if a size is given

    return read_value(flag_of(key), value, _READ[key])
