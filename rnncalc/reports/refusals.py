"""Which reports are refused because they would take minutes, or the memory; each refusal names another way."""

from __future__ import annotations

from collections.abc import Sequence

from rnncalc.errors import RefusedError
from rnncalc.network.network import Network
from rnncalc.questions.count import numbered
from rnncalc.reports.count import CountReport
from rnncalc.text import escape

MOST_DIFFERENT = 400_000
"""More different tensors than JSON names one by one: those of some 30,000 LSTM layers of which no two are alike."""

MOST_TENSORS = 100_000
"""More tensors than a table, or CSV, has rows for."""

MOST_LAYERS = 20_000
"""More layers than a network has that is made under six conventions at once."""


MOST_DRAWN, MOST_EXPLAINED = 500, 20_000
"""More layers, equal neighbours once, than are explained in tables, and in any format."""


def refuse_endless(report: CountReport, method: str) -> None:
    """Raise RefusedError where what a method of the report gives, for the formats that ask for it, is too much."""
    if method == "data":
        _refuse_different(report)
    elif report.tensors:
        _refuse_rows(report)


def _refuse_different(report: CountReport) -> None:
    network = report.counted.network
    different: dict[tuple[object, ...], int] = {}
    for entry in network.stack:
        copies = entry.copies if numbered(entry) else 1
        different[type(entry.layer), entry.layer.choices(), *entry.sizes.values()] = len(entry.layout.own) * copies
    tensors = sum(different.values())
    if tensors > MOST_DIFFERENT:
        message = f"{escape(network.name)} has {tensors:,} different tensors, more than {MOST_DIFFERENT:,}"
        raise RefusedError(f"{message}, which JSON would name one by one; take -f csv, with a row a layer")


def _refuse_rows(report: CountReport) -> None:
    network = report.counted.network
    rows = sum(len(entry.layout.own) * entry.copies for entry in network.stack)
    if rows > MOST_TENSORS:
        message = f"{escape(network.name)} has {rows:,} tensors, more than the {MOST_TENSORS:,} that --tensors shows"
        raise RefusedError(f"{message}; leave it out, or take -f json, which has them all")


def refuse_many_layers(network: Network) -> None:
    """Raise RefusedError for more layers than a network under every convention may have."""
    layers = sum(entry.copies for entry in network.stack)
    if layers > MOST_LAYERS:
        message = f"--all-conventions takes {MOST_LAYERS:,} layers at most, and {escape(network.name)} has"
        raise RefusedError(f"{message} {layers:,}; count one convention at a time, with -c")


def refuse_long_explanation(network: Network, only: Sequence[str], method: str) -> None:
    """Raise RefusedError where the layers to explain are too many for the formats that ask for a method."""
    explained = len(only) or len(network.stack)
    name = escape(network.name)
    if method == "sheets" and explained > MOST_DRAWN:
        message = f"{name} has {explained:,} layers to explain, more than the {MOST_DRAWN:,} that tables are drawn for"
        raise RefusedError(f"{message}; name some with --only, or take -f json")
    if explained > MOST_EXPLAINED:
        message = f"{name} has {explained:,} layers to explain, more than {MOST_EXPLAINED:,}"
        raise RefusedError(f"{message}; name some with --only")
