"""What a count says: tables of layers and tensors, records, and the object for programs."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any, NamedTuple

from rnncalc.conventions.formula import Times
from rnncalc.conventions.formula import letters as in_letters
from rnncalc.conventions.formula import numbers as in_numbers
from rnncalc.conventions.tensor import Tensor
from rnncalc.questions.count import Count, LayerCount, bytes_of, numbered
from rnncalc.questions.dense import DenseEquivalent
from rnncalc.reports.setting import halves_of, names, setting, steps_of, title, together
from rnncalc.reports.sheet import Alike, Arithmetic, Column, Row, Shared, Sheet
from rnncalc.text import KIBI, decimal, weight

MOST_CHAINS, MOST_WIDTHS = 4, 8
"""More chains, and a chain of more widths, are cut in their middle."""


class CountReport(NamedTuple):
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
            "layers": _layers_data(count),
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
        return [self._layer_sheet()] + ([_tensor_sheet(self.counted)] if self.tensors else [])

    def _layer_sheet(self) -> Sheet:
        network = self.counted.network
        titles = _key_titles(self.counted)
        words = ("Kind", "In → out", "Output shape", "Formula")
        rows: list[Row] = [row for layer in self.counted.stack() for row in self._rows(layer)]
        numbers = [*self._numbers(self.counted)]
        return Sheet(
            columns=(
                *(Column(title, key=True) for title in titles),
                *map(Column, words),
                *(Column(title, right=True) for title, _ in numbers),
            ),
            rows=rows,
            total=("Total", *[""] * (len(titles) + len(words) - 1), *(number for _, number in numbers)),
            title=title(network),
            subtitle=setting(network),
            notes=tuple(self._notes()),
        )

    def _rows(self, layer: LayerCount) -> Iterator[Row]:
        """Yield the row of a layer: equal neighbours have one each, or, if they are many, one with their sums."""
        whole, numbers = Arithmetic(layer.formula, layer.substituted), [number for _, number in self._numbers(layer)]
        if together(layer.placed):
            formula, sizes = Times((layer.copies, layer.placed.layout.params)), layer.placed.sizes
            whole = Arithmetic(in_letters(formula), in_numbers(formula, sizes))
            numbers = [number and number * layer.copies for number in numbers]
        for key in _keys(self.counted, layer):
            yield (*key, layer.kind, f"{layer.inputs:,} → {layer.outputs:,}", layer.output_shape, whole, *numbers)

    def _numbers(self, of: Count | LayerCount) -> Iterator[tuple[str, int | None]]:
        """Yield the columns of numbers: the titles, and the numbers of a layer or of the whole network."""
        yield "Parameters", of.params
        if self.counted.trainable != self.counted.params:
            yield "Trainable", of.trainable
            yield "Frozen", of.params - of.trainable
        if not self.cost:
            return
        if None in [part.steps for part in self.counted.network.parts.values()]:
            yield "Multiply-adds a step", of.multiply_adds_per_step
        else:
            yield "Multiply-adds", of.multiply_adds
        yield "Bytes", of.bytes

    def _notes(self) -> Iterator[str]:
        for placed in self.counted.network.stack:
            if placed.layout.shared:
                yield f"{placed.name}: its matrix is the embedding's, transposed, and counted there."
        dense = self.counted.dense
        if dense is None:
            yield "Dense equivalent: not known without the number of steps; give steps, or -T."
        elif dense.ratio is not None:
            yield _dense_note(self.counted, dense, dense.ratio)
        if self.cost:
            size = f"; {weight(self.counted.bytes)} in all" if self.counted.bytes >= KIBI else ""
            yield f"Bytes: {bytes_of(self.counted.dtype)} a parameter, {self.counted.dtype}{size}."


_HEADER = (
    *("network", "name", "kind", "part", "inputs", "units", "outputs", "output_shape", "formula", "substituted"),
    *("params", "trainable", "multiply_adds", "multiply_adds_per_step", "bytes"),
)
_values, _totals = attrgetter(*_HEADER[2:]), attrgetter(*_HEADER[-5:])
_TENSOR_HEADER = ("network", "layer", "kind", "part", "tensor", "role", "direction", "shape", "params", "bytes")


def _records(count: Count) -> Iterator[Row]:
    network = count.network.name
    for layer in count.stack():
        cells = _values(layer)
        for name in layer.names:
            yield (network, name, *cells)
    yield (network, None, "total", *[None] * 7, *_totals(count))


def _tensor_records(count: Count) -> Iterator[Row]:
    network, size = count.network.name, bytes_of(count.dtype)
    for layer in count.layers:
        for tensor in layer.tensors:
            about = (tensor.name, tensor.role, tensor.direction, tensor.shape)
            yield (network, layer.name, layer.kind, layer.part, *about, tensor.params, tensor.params * size)
    yield (network, None, "total", *[None] * 5, count.params, count.bytes)


def _tensor_sheet(count: Count) -> Sheet:
    titles = _key_titles(count)
    rows: list[Row] = [
        (*key, tensor.name, tensor.role, tensor.shape, tensor.params * (layer.copies if together(layer.placed) else 1))
        for entry in count.stack()
        for layer in (entry.each() if numbered(entry.placed) else [entry])
        for key in _keys(count, layer)
        for tensor in layer.tensors
    ]
    return Sheet(
        columns=(
            *(Column(title, key=True) for title in titles),
            *map(Column, ("Tensor", "Role", "Shape")),
            Column("Parameters", right=True),
        ),
        rows=rows,
        total=("Total", *[""] * (len(titles) + 2), count.params),
        title="Tensors",
    )


def _key_titles(count: Count) -> tuple[str, ...]:
    return ("Part", "Layer") if halves_of(count.network) else ("Layer",)


def _keys(count: Count, layer: LayerCount) -> list[tuple[str | None, ...]]:
    """Return the cells that tell which row it is, for each of the equal neighbours, or for many of them at once."""
    found = [names(layer.placed)] if together(layer.placed) else layer.names
    return [(layer.part, name) for name in found] if halves_of(count.network) else [(name,) for name in found]


def _layers_data(count: Count) -> Iterator[Alike | dict[str, Any]]:
    for entry in count.stack():
        if numbered(entry.placed):
            yield from ({"name": layer.name, **_layer_data(count, layer)} for layer in entry.each())
        else:
            shared = Shared(_layer_data(count, entry))
            yield from (Alike({"name": name}, shared) for name in entry.names)


def _layer_data(count: Count, layer: LayerCount) -> dict[str, Any]:
    """Return all but the name."""
    return {
        **dict(zip(_HEADER[2:], _values(layer), strict=True)),
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


def _dense_note(count: Count, dense: DenseEquivalent, ratio: float) -> str:
    steps = " and ".join(f"{part.steps:,}" for part in count.network.parts.values())
    chains = [[f"{width:,}" for width in chain] for chain in dense.chains]
    if len(chains) > MOST_CHAINS:
        chains[1:-1] = [["…"]]
    for widths in chains:
        if len(widths) > MOST_WIDTHS:
            widths[4:-2] = ["…"]
    plural = "" if steps == "1" else "s"
    told = "; ".join(" → ".join(widths) for widths in chains)
    return (
        f"Dense equivalent for {steps} step{plural}: {told + ', ' if told else ''}{dense.params:,} parameters, "
        f"{decimal(ratio)} × this network's."
    )
