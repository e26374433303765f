"""How results show themselves in Python: as text in the tables of their commands, in a notebook as their pages.

Every result has `str(result)`, `format(result, "markdown")` in each format of its command, and `_repr_html_`. Reports
and formats are named here, not imported: a result that nobody looks at does not pay for them.
"""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")

REPORTS = {
    "Answer": "rnncalc.reports.answer:AnswerReport",
    "Backward": "rnncalc.reports.run:BackwardReport",
    "Comparison": "rnncalc.reports.compare:ComparisonReport",
    "Count": "rnncalc.reports.count:CountReport",
    "DenseGrowth": "rnncalc.reports.compare:DenseGrowthReport",
    "Drawing": "",
    "ExerciseSet": "rnncalc.reports.exercise:of_exercises",
    "Explanation": "rnncalc.reports.explain:ExplanationReport",
    "Reading": "rnncalc.reports.read:ReadReport",
    "Run": "rnncalc.reports.run:RunReport",
    "Solution": "rnncalc.reports.solve:SolutionReport",
    "Training": "rnncalc.reports.training:of_training",
    "Verdict": "rnncalc.reports.check:of_network",
}
"""What makes the report of a result, by the name of its class; a drawing is one."""


def report_of(result: Any) -> Any:
    """Return the report of a result."""
    module, _, name = REPORTS[type(result).__name__].partition(":")
    return getattr(import_module(module), name)(result) if module else result


def as_text(result: Any, form: str = "") -> str:
    """Return a result in a format; without one as its command prints it. Raises CallError for one that it has not."""
    formats = import_module("rnncalc.formats")
    report = report_of(result)
    file = io.StringIO()
    formats.write([report], form or formats.offered(type(report))[0], file)
    return file.getvalue() if form else file.getvalue().rstrip("\n")


def as_html(result: Any) -> str:
    """Return a result for a notebook: its page in a frame, so that neither changes the style of the other."""
    page = as_text(result, "html").replace("&", "&amp;").replace('"', "&quot;")
    fit = "this.style.height = this.contentDocument.documentElement.scrollHeight + 20 + 'px'"
    return f'<iframe srcdoc="{page}" onload="{fit}" style="width: 100%; height: 30em; border: 0"></iframe>'


def displayed(result: type[T]) -> type[T]:
    """Give the class of a result its text, its formats and its page: a decorator."""
    for name, function in {"__str__": as_text, "__format__": as_text, "_repr_html_": as_html}.items():
        setattr(result, name, function)
    return result
