"""What `count --quantize` says beside the count: a table of bytes; records; the object for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rnncalc.layers.layer import External
from rnncalc.questions.quantized import QUANTIZATIONS, Quantized, StoredBytes
from rnncalc.reports.count import CountReport
from rnncalc.reports.report import DataReport, RecordReport, SheetReport
from rnncalc.reports.setting import layer_sheet
from rnncalc.text import all_of

if TYPE_CHECKING:
    from rnncalc.network.stack import Placed
    from rnncalc.reports.sheet import Row, Sheet

_KEYS = ("weight_bytes", "bias_bytes", "bytes", "state_bytes")


class QuantizedReport(SheetReport, DataReport, RecordReport):
    """A count, and the bytes of its weights, biases and states in integers."""

    counts: CountReport
    quantized: Quantized

    def data(self) -> dict[str, Any]:
        """Return the object for programs: that of the count, with the bytes added."""
        data = self.counts.data()
        pairs = zip(data["layers"], self.quantized.layers, strict=True)
        data["layers"] = ({**layer, "quantized": _numbers(of)} for layer, of in pairs)
        return {**data, "quantized": {"to": self.quantized.to, **_numbers(self.quantized.total)}}

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return a row a layer and the total last; with `tensors`, which have no states, those of the count."""
        header, rows = self.counts.records()
        if self.counts.tensors:
            return header, rows
        more = (*self.quantized.layers, self.quantized.total)
        names = tuple(f"quantized_{key}" for key in _KEYS)
        return (*header, *names), ((*row, *_row(of)) for row, of in zip(rows, more, strict=True))

    def sheets(self) -> list[Sheet]:
        """Return the table of layers and, with `tensors`, the table of tensors."""
        of = self.quantized
        rows: Iterator[tuple[Placed, Row]] = (
            (placed, (placed.kind, placed.params, *_row(bytes_)))
            for placed, bytes_ in zip(of.network.stack, of.layers, strict=True)
        )
        titles = ("Parameters", "Weight bytes", "Bias bytes", "Bytes", "State bytes")
        total = (of.network.params, *_row(of.total))
        sheet = layer_sheet(of.network, ("Kind",), titles, rows, total, self._notes())
        return [sheet, *(self.counts.sheets()[1:] if self.counts.tensors else ())]

    def _notes(self) -> Iterator[str]:
        of = self.quantized
        bits = [8 * width for width in QUANTIZATIONS[of.to]]
        yield (
            f"{of.to}: {bits[0]}-bit weights, {bits[1]}-bit biases, "
            f"states of {bits[2]} bits (h) and {bits[3]} bits (c), as CMSIS-NN's LSTM has them."
        )
        if of.lacking:
            yield f"CMSIS-NN has no kernel of {all_of(list(of.lacking))}: the same widths are taken."
        if elsewhere := [placed.name for placed in of.network.stack if isinstance(placed.layer, External)]:
            yield f"Not known for what is counted elsewhere: {elsewhere[0]}."
        yield "Parameters are no estimate of flash: the program, scales and zero points come on top."


def _numbers(of: StoredBytes) -> dict[str, int | None]:
    return {key: getattr(of, key) for key in _KEYS}


def _row(of: StoredBytes) -> Row:
    return tuple(_numbers(of).values())
