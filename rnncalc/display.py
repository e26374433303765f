"""How results show themselves in Python: as text in the tables of their commands, in a notebook as their pages.

Every result has `str(result)`, `format(result, "markdown")` in each format of its command, and `_repr_html_`. A result
names its report, and does not import it: one that nobody looks at does not pay for it.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from rnncalc.records import imported

T = TypeVar("T")


def report_of(result: Any) -> Any:
    """Return the report of a result; a drawing is one."""
    place = type(result).__report__
    return imported(place)(result) if place else result


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


def displayed(report: str) -> Callable[[type[T]], type[T]]:
    """Give the class of a result its text, its formats and its page: a decorator.

    report: what makes the report of a result, as `module:name`; empty for a result that is its own report.
    """
    methods = {"__report__": report, "__str__": as_text, "__format__": as_text, "_repr_html_": as_html}

    def decorated(result: type[T]) -> type[T]:
        for name, method in methods.items():
            setattr(result, name, method)
        return result

    return decorated
