"""The report of `count --stream`: the state of each layer, and the cost per second."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rnncalc.layers.cell import Cell
from rnncalc.questions.count import bytes_of
from rnncalc.questions.stream import StreamCount
from rnncalc.reports.beside import BesideReport, on_elsewhere
from rnncalc.reports.count import widths
from rnncalc.reports.setting import layer_sheet
from rnncalc.text import all_of, plural

if TYPE_CHECKING:
    from rnncalc.reports.sheet import Sheet


REASONS = "a layer that reads both ways, pads the end, or begins or flattens a sequence does not go step by step"
"""Why several kinds of layer cannot stream."""


class StreamReport(BesideReport):
    """A count, and the state and the cost of running the network step by step."""

    keys = ("state", "state_bytes")

    stream: StreamCount

    def numbers(self) -> Iterator[dict[str, int | None]]:
        """Yield the state of each layer, and of the network last, in numbers and bytes."""
        for state in (*self.stream.layers, self.stream.state):
            yield dict(zip(self.keys, (state, self._bytes(state)), strict=True))

    def whole(self) -> dict[str, Any]:
        """Return the state and the cost of the network."""
        of = self.stream
        numbers = {
            "rate": _number(of),
            "state": of.state,
            "state_bytes": of.state_bytes,
            "multiply_adds_per_second": of.multiply_adds_per_second,
        }
        return {"stream": numbers}

    def layer_sheet(self) -> Sheet:
        """Return the table of layers."""
        network = self.stream.network
        *layers, total = map(self.row, self.numbers())
        rows = (
            (of, (widths(of), of.params, *row, 0 if of.starts else of.multiply_adds_per_step))
            for of, row in zip(network.stack, layers, strict=True)
        )
        totals = (network.params, *total, self.stream.multiply_adds_per_step)
        titles = ("Parameters", "State", "State bytes", "Multiply-adds a step")
        return layer_sheet(network, ("In → out",), titles, rows, totals, self._notes())

    def _bytes(self, state: int | None) -> int | None:
        return None if state is None else state * bytes_of(self.stream.dtype)

    def _notes(self) -> Iterator[str]:
        of = self.stream
        yield f"State: the numbers carried from one step to the next; {bytes_of(of.dtype)} bytes each, {of.dtype}."
        if of.cannot:
            layers = all_of(list(of.cannot))
            both = all(isinstance(each.layer, Cell) for each in of.network.stack if each.name in of.cannot)
            why = "a bidirectional layer reads the whole sequence before its first output"
            yield f"Cannot stream: {layers}; {why if both else REASONS}."
        elif elsewhere := [*on_elsewhere(of.network)]:
            yield from elsewhere
        elif of.multiply_adds_per_second is not None and of.rate is not None:
            steps = f"{float(of.rate):g} steps" if of.rate != 1 else "1 step"
            yield f"At {steps} a second: {plural(of.multiply_adds_per_second, 'multiply-add')} a second."


def _number(of: StreamCount) -> int | float | None:
    """Return the rate for JSON."""
    return of.rate if of.rate is None else int(of.rate) if of.rate.denominator == 1 else float(of.rate)
