"""The report of `count --counters`: what other programs print for the network, and why."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rnncalc.answers.reading import GivenNumber
from rnncalc.questions.counters import CounterValues, counters
from rnncalc.reports.count import CountReport
from rnncalc.reports.report import DataReport, RecordReport, SheetReport
from rnncalc.typeset.setting import setting, title
from rnncalc.typeset.sheet import Column, Row, Sheet, key_columns, number_columns
from rnncalc.words import decimal, plural

if TYPE_CHECKING:
    from rnncalc.answers.judgement import Answer


class CountersReport(SheetReport, DataReport, RecordReport):
    """A count, and what counters print."""

    counts: CountReport
    counters: CounterValues

    def data(self) -> dict[str, Any]:
        """Return the object for programs: the count's object with the counters added."""
        return {**self.counts.data(), "counters": [*self._rows()]}

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        rows = [*self._rows()]
        name = self.counters.network.name
        return ("network", "counter", *[*rows[0]][1:]), ((name, *row.values()) for row in rows)

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (each._asdict() for each in self.counters.printed)

    def sheets(self) -> list[Sheet]:
        counted, network = self.counters, self.counters.network
        rows = [
            (
                *(f"{each.name} {each.version}", each.value, each.quantity),
                *(each.ratio if each.ratio is None else decimal(each.ratio), each.reason),
            )
            for each in counted.printed
        ]
        if all(each.value is None for each in counted.printed):  # one row says so
            rows = [(f"all {len(rows)}", None, "", None, rows[0][-1])]
        columns = (
            *key_columns("Counter"),
            *number_columns("Prints"),
            *(Column("As", whole=True), *number_columns("Ratio"), Column("What it does")),
        )
        return [
            Sheet(columns, rows, title=title(network), subtitle=setting(network), notes=tuple(self._notes())),
            *self.counts.tensor_sheets(),
        ]

    def _notes(self) -> Iterator[str]:
        counted = self.counters
        if counted.exact is not None:
            exact = f"Exact, for {plural(counted.batch, 'sequence')}: {plural(counted.exact, 'multiply-add')} (MACs)"
            yield f"{exact}, {2 * counted.exact:,} FLOPs of multiply-adds alone."
            yield "Ratio: to the exact multiply-adds, or to twice those for FLOPs."
        yield "Seen in November 2026, each with its own framework's layers, on the CPU in float32, the batch first."
        yield "h: the units of a layer."


_counted = lru_cache(1)(counters)
"""The same for one network: a class may give many answers about it."""


def on_counters(answer: Answer) -> Iterator[str]:
    """Yield a sentence for each counter that prints the total that was given, and why if this is wrong."""
    total = answer.judged[-1]
    if not (total.is_total and isinstance(total.answer, GivenNumber)) or answer.network.letters:
        return
    for each in _counted(answer.network).printed:
        if each.value is not None and total.answer.rounds(each.value):
            why = "" if total.right else f": it {each.reason}"
            yield f"{each.name} {each.version} prints this{f' as {each.quantity}'}{why}."
