"""What a count says: records, the object for programs, and, in `count_sheets.py`, tables for people.

Those are apart so that programs do without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rnncalc.conventions.tensor import Tensor
from rnncalc.network.stack import Placed
from rnncalc.questions.count import Count, bytes_of
from rnncalc.reports.report import DataReport, RecordReport, SheetReport
from rnncalc.reports.setting import steps_of

if TYPE_CHECKING:
    from rnncalc.questions.dense import DenseEquivalent
    from rnncalc.reports.sheet import Row, Sheet


class CountReport(SheetReport, DataReport, RecordReport):
    """A count, with a row for each tensor and with what a pass costs where that is wished for."""

    counted: Count
    tensors: bool = False
    cost: bool = False

    def data(self) -> dict[str, Any]:
        """Return the object for programs; what keys it has does not depend on what is known."""
        count, network, dense = self.counted, self.counted.network, self.counted.dense
        return {
            "name": network.name,
            "convention": network.convention,
            "topology": network.topology_name,
            "steps": steps_of(network),
            "layers": (_layer_data(count, layer) for layer in count.layers),
            "params": count.params,
            "trainable": count.trainable,
            "multiply_adds": count.multiply_adds,
            "multiply_adds_per_step": count.multiply_adds_per_step,
            "bytes": count.bytes,
            "dtype": count.dtype,
            "dense": dense and _dense_data(dense),
        }

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return a row a layer, or with `tensors` a row a tensor, and the total last."""
        return (_TENSOR_HEADER, _tensor_records(self.counted)) if self.tensors else (_HEADER, _records(self.counted))

    def sheets(self) -> list[Sheet]:
        """Return the table of layers and, with `tensors`, the table of tensors."""
        from rnncalc.reports.count_sheets import sheets

        return sheets(self.counted, self.tensors, self.cost)


_HEADER = (
    *("network", "name", "kind", "part", "inputs", "units", "outputs", "output_shape", "formula", "substituted"),
    *("params", "trainable", "multiply_adds", "multiply_adds_per_step", "bytes"),
)
_values, _totals = attrgetter(*_HEADER[1:-1]), attrgetter(*_HEADER[-5:])
_TENSOR_HEADER = ("network", "layer", "kind", "part", "tensor", "role", "direction", "shape", "params", "bytes")


def _records(count: Count) -> Iterator[Row]:
    network, size = count.network.name, bytes_of(count.dtype)
    for layer in count.layers:
        yield (network, *_values(layer), layer.params * size)
    yield (network, None, "total", *[None] * 7, *_totals(count))


def _tensor_records(count: Count) -> Iterator[Row]:
    network, size = count.network.name, bytes_of(count.dtype)
    for layer in count.layers:
        for tensor in layer.tensors:
            about = (tensor.name, tensor.role, tensor.direction, tensor.shape)
            yield (network, layer.name, layer.kind, layer.part, *about, tensor.params, tensor.params * size)
    yield (network, None, "total", *[None] * 5, count.params, count.bytes)


def _layer_data(count: Count, layer: Placed) -> dict[str, Any]:
    return {
        **dict(zip(_HEADER[1:-1], _values(layer), strict=True)),
        "bytes": layer.params * bytes_of(count.dtype),
        "dtype": count.dtype,
        "tensors": [_tensor_data(tensor) for tensor in layer.tensors],
    }


def _tensor_data(tensor: Tensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "role": tensor.role,
        "direction": tensor.direction,
        "shape": tensor.shape,
        "params": tensor.params,
    }


def _dense_data(dense: DenseEquivalent) -> dict[str, Any]:
    return {
        "params": dense.params,
        "ratio": dense.ratio,
        "layers": [
            {"name": layer.name, "inputs": layer.inputs, "units": layer.units, "params": layer.params}
            for layer in dense.layers
        ],
    }
