"""What `count --stream` says beside the count: a table of states; records; the object for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rnncalc.layers.layer import External
from rnncalc.questions.count import bytes_of
from rnncalc.questions.stream import Stream
from rnncalc.reports.count import CountReport, widths
from rnncalc.reports.report import DataReport, RecordReport, SheetReport
from rnncalc.reports.setting import layer_sheet
from rnncalc.text import all_of, plural

if TYPE_CHECKING:
    from rnncalc.network.stack import Placed
    from rnncalc.reports.sheet import Row, Sheet


class StreamReport(SheetReport, DataReport, RecordReport):
    """A count, and what running the network step by step carries and costs."""

    counts: CountReport
    stream: Stream

    def data(self) -> dict[str, Any]:
        """Return the object for programs: that of the count, with the states added."""
        of, data = self.stream, self.counts.data()
        pairs = zip(data["layers"], of.layers, strict=True)
        data["layers"] = ({**layer, "state": state, "state_bytes": self._bytes(state)} for layer, state in pairs)
        numbers = {
            "rate": _number(of),
            "state": of.state,
            "state_bytes": of.state_bytes,
            "multiply_adds_per_second": of.multiply_adds_per_second,
        }
        return {**data, "stream": numbers}

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return a row a layer and the total last; with `tensors`, which have no states, those of the count."""
        header, rows = self.counts.records()
        if self.counts.tensors:
            return header, rows
        states = (*self.stream.layers, self.stream.state)
        more = ((*row, state, self._bytes(state)) for row, state in zip(rows, states, strict=True))
        return (*header, "state", "state_bytes"), more

    def sheets(self) -> list[Sheet]:
        """Return the table of layers and, with `tensors`, the table of tensors."""
        of = self.stream
        rows: Iterator[tuple[Placed, Row]] = (
            (placed, (widths(placed), placed.params, state, self._bytes(state), placed.multiply_adds_per_step))
            for placed, state in zip(of.network.stack, of.layers, strict=True)
        )
        total = (of.network.params, of.state, of.state_bytes, self.counts.counted.multiply_adds_per_step)
        titles = ("Parameters", "State", "State bytes", "Multiply-adds a step")
        sheet = layer_sheet(of.network, ("In → out",), titles, rows, total, self._notes())
        return [sheet, *(self.counts.sheets()[1:] if self.counts.tensors else ())]

    def _bytes(self, state: int | None) -> int | None:
        return None if state is None else state * bytes_of(self.stream.dtype)

    def _notes(self) -> Iterator[str]:
        of = self.stream
        yield f"State: the numbers carried from one step to the next; {bytes_of(of.dtype)} bytes each, {of.dtype}."
        if of.cannot:
            layers = all_of(list(of.cannot))
            yield f"Cannot stream: {layers}; a bidirectional layer reads the whole sequence before its first output."
        elif elsewhere := [placed.name for placed in of.network.stack if isinstance(placed.layer, External)]:
            yield f"Not known for what is counted elsewhere: {elsewhere[0]}."
        elif of.multiply_adds_per_second is not None and of.rate is not None:
            steps = f"{float(of.rate):g} steps" if of.rate != 1 else "1 step"
            yield f"At {steps} a second: {plural(of.multiply_adds_per_second, 'multiply-add')} a second."


def _number(of: Stream) -> int | float | None:
    """Return the rate for JSON."""
    return of.rate if of.rate is None else int(of.rate) if of.rate.denominator == 1 else float(of.rate)
