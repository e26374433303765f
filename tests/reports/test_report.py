"""Kinds of report: each report has what its kinds ask for, and is among those tested."""

import importlib
import pkgutil
from abc import ABC
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from reported import REPORTS

import rnncalc.reports
from rnncalc.formats import FORMATS
from rnncalc.reports.report import DataReport, Report


def below(kind: type[Report]) -> Iterator[type[Report]]:
    """Yield the classes of reports below one that are no kinds of reports."""
    for of in kind.__subclasses__():
        if ABC not in of.__bases__:
            yield of
        yield from below(of)


def test_every_report_is_tested_in_every_format() -> None:
    """The list that the tests of formats go through has each class of report that the package has."""
    for module in pkgutil.iter_modules(rnncalc.reports.__path__, "rnncalc.reports."):
        importlib.import_module(module.name)
    classes = {of for of in below(Report) if of.__module__.startswith("rnncalc.")}
    assert {type(report) for report in REPORTS} == classes
    assert not any(each.__abstractmethods__ for each in classes)  # each has what its kinds ask for


def test_every_kind_of_report_has_a_format() -> None:
    """What a kind asks for is what one of the formats writes, and a format names only kinds."""
    for of in FORMATS.values():
        assert all(len(kind.__abstractmethods__) == 1 for kind in of.kinds)
    for report in REPORTS:
        assert any(of.can_write(type(report)) for of in FORMATS.values())


def plain(value: Any) -> bool:
    """Return whether a value is what JSON has; a record that slipped in would be a list without the names."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and plain(below) for key, below in value.items())
    if isinstance(value, list | tuple | Iterator):
        return not hasattr(value, "_fields") and all(map(plain, value))
    return value is None or isinstance(value, str | int | float)


@pytest.mark.parametrize(
    "report", [report for report in REPORTS if isinstance(report, DataReport)], ids=lambda of: type(of).__name__
)
def test_the_object_of_a_report_holds_no_records(report: DataReport) -> None:
    """Names are keys in it, and nothing else is lost."""
    data = report.data()
    assert all(map(plain, [data] if isinstance(data, dict) else data))
