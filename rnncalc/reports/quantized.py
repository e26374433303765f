"""The report of `count --quantize`: the bytes of each layer as embedded kernels store it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rnncalc.questions.quantized import QUANTIZATIONS, Quantized
from rnncalc.reports.beside import BesideReport, on_elsewhere
from rnncalc.reports.setting import layer_sheet
from rnncalc.text import all_of

if TYPE_CHECKING:
    from rnncalc.reports.sheet import Sheet


class QuantizedReport(BesideReport):
    """A count, and the bytes of its weights, biases and states in integers."""

    keys = ("weight_bytes", "bias_bytes", "bytes", "state_bytes")
    within = "quantized"

    quantized: Quantized

    def numbers(self) -> Iterator[dict[str, int | None]]:
        """Yield the bytes of each layer, and of the network last."""
        for of in (*self.quantized.layers, self.quantized.total):
            yield {key: getattr(of, key) for key in self.keys}

    def whole(self) -> dict[str, Any]:
        """Return the bytes of the network."""
        *_, total = self.numbers()
        return {self.within: {"to": self.quantized.to, **total}}

    def layer_sheet(self) -> Sheet:
        """Return the table of layers."""
        network = self.quantized.network
        *layers, total = map(self.row, self.numbers())
        rows = ((of, (of.kind, of.params, *row)) for of, row in zip(network.stack, layers, strict=True))
        titles = ("Parameters", "Weight bytes", "Bias bytes", "Bytes", "State bytes")
        return layer_sheet(network, ("Kind",), titles, rows, (network.params, *total), self._notes())

    def _notes(self) -> Iterator[str]:
        of = self.quantized
        bits = [8 * width for width in QUANTIZATIONS[of.to]]
        yield (
            f"{of.to}: {bits[0]}-bit weights, {bits[1]}-bit biases, "
            f"states of {bits[2]} bits (h) and {bits[3]} bits (c), as CMSIS-NN's LSTM has them."
        )
        if of.lacking:
            yield f"CMSIS-NN has no kernel of {all_of(list(of.lacking))}: the same widths are taken."
        yield from on_elsewhere(of.network)
        yield "Flash holds more than the parameters: the program, scales and zero points."
