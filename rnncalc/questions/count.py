"""`count`: how many parameters, layer by layer, what a pass costs and what the weights weigh."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod
from typing import Any, NamedTuple

from rnncalc.conventions.layout import Weights
from rnncalc.conventions.tensor import Tensor
from rnncalc.errors import RefusedError
from rnncalc.network.network import Network
from rnncalc.questions.dense import DenseEquivalent, dense_equivalent
from rnncalc.reports.sheet import Column, Equation, Sheet, Value, setting, steps_of
from rnncalc.text import escape

DTYPES = {
    "float64": 8,
    "float32": 4,
    "bfloat16": 2,
    "float16": 2,
    "float8": 1,
    "int8": 1,
}
"""The bytes of one parameter."""

MOST_DIFFERENT = 400_000
"""More different tensors than a JSON report holds: some 30,000 LSTM layers of which no two are alike."""

MOST_TENSORS = 100_000


class LayerCount(NamedTuple):
    """One layer's counts, under the names of the JSON report."""

    name: str
    kind: str
    part: str | None
    inputs: int
    units: int | None
    outputs: int
    output_shape: tuple[int | None, ...]
    formula: str
    substituted: str
    params: int
    trainable: int
    multiply_adds: int | None
    multiply_adds_per_step: int | None
    bytes: int
    weights: Weights

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors the layer owns."""
        return self.weights.own


def total(values: Iterable[int | None]) -> int | None:
    """Return the sum, or None when one of the values is not known."""
    known = [*values]
    return None if None in known else sum(value for value in known if value is not None)


class Count(NamedTuple):
    """The counts of a network."""

    network: Network
    dtype: str = "float32"
    tensors: bool = False
    cost: bool = False

    @property
    def dense(self) -> DenseEquivalent | None:
        """The dense equivalent; None when the number of steps is not known."""
        return dense_equivalent(self.network)

    @property
    def params(self) -> int:
        """The number of parameters."""
        return self.network.params

    @property
    def bytes(self) -> int:
        """What the parameters weigh."""
        return self.network.params * DTYPES[self.dtype]

    @property
    def multiply_adds(self) -> int | None:
        """The multiplications of one pass; None when they, or the number of steps, are not known."""
        return total(placed.multiply_adds for placed in self.network.placed)

    def refuse_endless(self, form: str) -> None:
        """Raise RefusedError for a report that would take minutes or the memory: millions of tensors, all different."""
        if form == "json":
            different = {id(placed.weights): len(placed.weights.layout.own) for placed in self.network.placed}
            if (tensors := sum(different.values())) > MOST_DIFFERENT:
                message = f"{escape(self.network.name)} has {tensors:,} different tensors, more than {MOST_DIFFERENT:,}"
                raise RefusedError(f"{message}, which JSON would name one by one; take -f csv, with a row a layer")
            return
        rows = sum(len(placed.weights.layout.own) for placed in self.network.placed) if self.tensors else 0
        if rows > MOST_TENSORS:
            name = escape(self.network.name)
            message = f"{name} has {rows:,} tensors, more than the {MOST_TENSORS:,} that --tensors shows"
            raise RefusedError(f"{message}; leave it out, or take -f json, which has them all")

    def layers(self) -> Iterator[LayerCount]:
        """Yield the counts of each layer, the output layer last."""
        size = DTYPES[self.dtype]
        for placed in self.network.placed:
            letters, numbers = placed.weights.formula
            yield LayerCount(
                placed.name,
                placed.layer.kind,
                placed.part,
                placed.inputs,
                getattr(placed.layer, "units", None),
                placed.outputs,
                placed.output_shape,
                letters,
                numbers,
                placed.params,
                placed.trainable,
                placed.multiply_adds,
                placed.multiply_adds_per_step,
                placed.params * size,
                placed.weights,
            )

    def data(self) -> dict[str, Any]:
        """Return the JSON object of contract version 1."""
        network = self.network
        rows = [*self.layers()]
        per_step = None in [part.steps for part in network.parts.values()]
        data: dict[str, Any] = {
            "name": network.name,
            "convention": network.convention,
            "topology": network.topology_name,
            "steps": steps_of(network),
            "layers": _layer_data(rows, per_step),
            "params": sum(row.params for row in rows),
            "trainable": sum(row.trainable for row in rows),
            "multiply_adds": total(row.multiply_adds for row in rows),
        }
        if per_step:
            data["multiply_adds_per_step"] = total(row.multiply_adds_per_step for row in rows)
        dense = self.dense
        data["bytes"] = sum(row.bytes for row in rows)
        data["dense"] = dense and {
            "params": dense.params,
            "ratio": dense.ratio,
            "layers": [
                {"name": layer.name, "inputs": layer.inputs, "units": layer.units, "params": layer.params}
                for layer in dense.layers
            ],
        }
        return data

    def records(self) -> tuple[tuple[str, ...], Iterator[tuple[Value, ...]]]:
        """Return a row a layer, or with `tensors` a row a tensor, and the total, for CSV."""
        return (_TENSOR_HEADER, self._tensor_records()) if self.tensors else (_HEADER, self._records())

    def _records(self) -> Iterator[tuple[Value, ...]]:
        name = self.network.name
        sums: list[int | None] = [0, 0, 0, 0, 0]
        for row in self.layers():
            *front, params, trainable, multiply_adds, per_step, size, _ = row
            counts = (params, trainable, multiply_adds, per_step, size)
            sums = [None if a is None or b is None else a + b for a, b in zip(sums, counts, strict=True)]
            yield (name, *front, *counts)
        yield (name, None, "total", *[None] * 7, *sums)

    def _tensor_records(self) -> Iterator[tuple[Value, ...]]:
        name = self.network.name
        for row in self.layers():
            for tensor in row.tensors:
                counts = (tensor.shape, tensor.params, tensor.params * DTYPES[self.dtype])
                yield (name, row.name, row.kind, row.part, tensor.name, tensor.role, tensor.direction, *counts)
        params = self.network.params
        yield (name, None, "total", None, None, None, None, None, params, params * DTYPES[self.dtype])

    def sheets(self) -> list[Sheet]:
        """Return the table of layers and, with `tensors`, the table of tensors."""
        return [self._layer_sheet()] + ([self._tensor_sheet()] if self.tensors else [])

    def _layer_sheet(self) -> Sheet:
        network = self.network
        frozen = network.params - network.trainable
        halves = len(network.parts) > 1
        timed = None not in [part.steps for part in network.parts.values()]
        count_columns: list[tuple[str, Callable[[LayerCount], int | None]]] = [("Parameters", lambda row: row.params)]
        if frozen:
            count_columns.append(("Trainable", lambda row: row.trainable))
            count_columns.append(("Frozen", lambda row: row.params - row.trainable))
        if self.cost and timed:
            count_columns.append(("Multiply-adds", lambda row: row.multiply_adds))
        elif self.cost:
            count_columns.append(("Multiply-adds a step", lambda row: row.multiply_adds_per_step))
        if self.cost:
            count_columns.append(("Bytes", lambda row: row.bytes))
        rows = [*self.layers()]
        keys = ["Part", "Layer"] if halves else ["Layer"]
        words = ["Kind", "In → out", "Output shape", "Formula"]
        return Sheet(
            columns=(
                *(Column(title, key=True) for title in keys),
                *map(Column, words),
                *(Column(title, right=True) for title, _ in count_columns),
            ),
            rows=[
                (
                    *([row.part] if halves else []),
                    row.name,
                    row.kind,
                    f"{row.inputs:,} → {row.outputs:,}",
                    row.output_shape,
                    Equation(row.formula, row.substituted),
                    *(count(row) for _, count in count_columns),
                )
                for row in rows
            ],
            total=(
                "Total",
                *[""] * (len(keys) + len(words) - 1),
                *(total(map(count, rows)) for _, count in count_columns),
            ),
            title=network.name,
            subtitle=setting(network),
            notes=tuple(self._notes()),
        )

    def _tensor_sheet(self) -> Sheet:
        halves = len(self.network.parts) > 1
        rows: list[tuple[Value, ...]] = [
            (*([row.part] if halves else []), row.name, tensor.name, tensor.role, tensor.shape, tensor.params)
            for row in self.layers()
            for tensor in row.tensors
        ]
        keys = [Column(title, key=True) for title in (["Part"] if halves else []) + ["Layer"]]
        return Sheet(
            columns=(*keys, *map(Column, ("Tensor", "Role", "Shape")), Column("Parameters", right=True)),
            rows=rows,
            total=("Total", *[""] * (len(keys) + 2), self.network.params),
            title="Tensors",
        )

    def _notes(self) -> Iterator[str]:
        network = self.network
        for placed in network.placed:
            if placed.weights.shared:
                yield f"{placed.name}: its matrix is the embedding's, transposed, and counted there."
        dense = self.dense
        if dense is None:
            yield "Dense equivalent: not known without the number of steps; give steps, or -T."
        elif dense.ratio is not None:
            steps = " and ".join(f"{part.steps:,}" for part in network.parts.values())
            widths = [f"{width:,}" for width in dense.widths]
            if len(widths) > 8:
                widths[4:-2] = ["…"]
            plural = "" if steps == "1" else "s"
            yield (
                f"Dense equivalent for {steps} step{plural}: {' → '.join(widths)}, {dense.params:,} parameters, "
                f"{dense.ratio:,.2f} × this network's."
            )
        if self.cost:
            yield f"Bytes: {DTYPES[self.dtype]} a parameter, {self.dtype}."


_HEADER = ("network", *LayerCount._fields[:-1])
_TENSOR_HEADER = ("network", "layer", "kind", "part", "tensor", "role", "direction", "shape", "params", "bytes")


def _layer_data(rows: Iterable[LayerCount], per_step: bool) -> Iterator[dict[str, Any]]:
    lists: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        data = row._asdict()
        weights = data.pop("weights")
        if not per_step:
            del data["multiply_adds_per_step"]
        if id(weights) not in lists:  # equal layers share their weights, and so their list
            if len(lists) == 64:
                lists.clear()
            lists[id(weights)] = [_tensor_data(tensor, weights.words) for tensor in weights.layout.own]
        data["tensors"] = lists[id(weights)]
        yield data


def _tensor_data(tensor: Tensor, words: Mapping[str, int]) -> dict[str, Any]:
    shape = tensor.sizes(words)
    return {
        "name": tensor.name,
        "role": tensor.role,
        "direction": tensor.direction,
        "shape": shape,
        "params": prod(shape),
    }
