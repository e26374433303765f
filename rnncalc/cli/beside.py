"""Reports that a flag asks for: a row of a table has the flags that go with that flag, and the function of the report.

A report's modules are imported only if a call asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rnncalc.cli.flags import flag_of, option, quantize_flag, together, word_flag
from rnncalc.cli.output import AllAtOnce, needs_numbers
from rnncalc.errors import Problem
from rnncalc.layers.options import Allowed, Ratio, Size
from rnncalc.records import Frozen
from rnncalc.text import all_of, one_of

if TYPE_CHECKING:
    from rnncalc.reports.count import CountReport
    from rnncalc.reports.report import Report


class Beside(Frozen):
    """A report that a flag asks for. takes: the flags that go with it, which are arguments of its function."""

    takes: tuple[str, ...]
    report: Callable[..., Report]


def _training(counts: CountReport, **update: Any) -> Report:
    from rnncalc.questions.training import training
    from rnncalc.reports.training import TrainingReport

    counted = counts.counted
    return TrainingReport(counts, training(counted.network, dtype=counted.dtype, **update))


def _operations(counts: CountReport, batch: int = 1) -> Report:
    from rnncalc.questions.operations import pass_operations
    from rnncalc.reports.operations import OperationsReport

    return OperationsReport(counts, pass_operations(counts.counted.network, batch))


def _shapes(counts: CountReport, batch: int | None = None, time_first: bool = False) -> Report:
    from rnncalc.questions.shapes import shapes
    from rnncalc.reports.beside import ShapesReport

    return ShapesReport(counts, shapes(counts.counted.network, batch, time_first=time_first))


def _stream(counts: CountReport, rate: Any = None) -> Report:
    from rnncalc.questions.stream import stream
    from rnncalc.reports.beside import StreamReport

    return StreamReport(counts, stream(counts.counted.network, rate, counts.counted.dtype))


def _quantized(counts: CountReport, quantize: str) -> Report:
    from rnncalc.questions.quantized import quantized
    from rnncalc.reports.beside import QuantizedReport

    return QuantizedReport(counts, quantized(counts.counted.network, quantize))


BESIDE = {
    "training": Beside(("chunk", "batch", "optimizer"), _training),
    "operations": Beside(("batch",), _operations),
    "shapes": Beside(("batch", "time_first"), _shapes),
    "stream": Beside(("rate",), _stream),
    "quantize": Beside(("quantize",), _quantized),
}
"""The reports beside a count, by their flags."""

JOINED = frozenset(("operations", "stream", "quantize"))
"""Those that are in one table if a call asks for several."""

_READ: dict[str, Allowed] = {"chunk": Size(), "batch": Size(), "rate": Ratio(above_zero=True)}
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
    option("--time-first", hidden=True, help="Shapes with the steps before the batch."),
    option("--stream", help="Add the state that is carried from step to step."),
    option("--rate", metavar="R", help="Steps per second, for --stream."),
    quantize_flag,
    training_flags,
)


def take_beside(flags: dict[str, Any], table: Mapping[str, Beside] = BESIDE) -> dict[str, Any]:
    """Remove the flags of a table from those of a call, by their names in Python, and return them."""
    return {
        key: flags.pop(key) for key in dict.fromkeys([*table, *(flag for row in table.values() for flag in row.takes)])
    }


def beside(flags: dict[str, Any], table: Mapping[str, Beside] = BESIDE) -> Callable[..., Report] | None:
    """Return the function that makes the requested report; None if no report is requested.

    Raises SpecError for a flag without its report, for an invalid size, and for two reports.
    """
    values = {key: value for key, value in flags.items() if value not in (None, False)}
    asked = [key for key in table if key in values]
    takes = [flag for key in asked for flag in table[key].takes]
    with AllAtOnce() as at_once:
        for key in values:
            if key not in table and key not in takes:
                owners = one_of([flag_of(name) for name, row in table.items() if key in row.takes])
                message = f"goes with {owners}; add {'one' if ' or ' in owners else 'that'}, or remove this"
                at_once.problems.append(Problem((), message, flag_of(key)))
        if len(asked) > 1 and not JOINED.issuperset(asked):
            at_once.refuse(f"{all_of([flag_of(key) for key in asked])} each have a table of their own; keep one")
        read = {key: at_once.ask(_value, key, value) for key, value in values.items() if key in takes}
    if not asked:
        return None

    def report(*counted: Any) -> Report:
        reports: list[Any] = []
        for flag in asked:
            with needs_numbers(flag_of(flag)):
                taken = {key: value for key, value in read.items() if key in table[flag].takes}
                reports.append(table[flag].report(*counted, **taken))
        joint: Report = reports[0]
        if len(reports) > 1:
            from rnncalc.reports.beside import JointReport, StreamReport

            to = read.get("quantize", "")
            joined = (each.replace(quantized=to) if isinstance(each, StreamReport) else each for each in reports)
            joint = JointReport(reports[0].counts, tuple(joined))
        return joint

    return report


def _value(key: str, value: Any) -> Any:
    if key not in _READ:
        return value
    from rnncalc.spec import read_value  # needed only if a size is given

    return read_value(flag_of(key), value, _READ[key])
