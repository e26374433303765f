"""Reports beside a count: its object, records and tables, with more numbers for each layer. Their base, and three."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rnncalc.layers.cell import Cell
from rnncalc.network.parts import steps_known
from rnncalc.network.stack import Placed
from rnncalc.questions.count import total
from rnncalc.questions.shapes import NetworkShapes
from rnncalc.reports.count import (
    CountReport,
    bytes_each,
    cost_of,
    on_dtypes,
    on_elsewhere,
    on_parameters,
    on_work,
    widths,
)
from rnncalc.reports.report import DataReport, RecordReport, SheetReport, fields
from rnncalc.typeset.setting import joined, layer_sheets, shape_text, steps_cure
from rnncalc.words import all_of, plural

if TYPE_CHECKING:
    from rnncalc.network.model import Described
    from rnncalc.questions.count import Count
    from rnncalc.questions.quantized import Quantized
    from rnncalc.questions.stream import StreamCount
    from rnncalc.typeset.sheet import Row, Sheet


class ExtendedCountReport(SheetReport, DataReport, RecordReport, ABC):
    """A count, with more numbers for each layer and for the network.

    columns: the title of each number's column, by the number's key. within: the key of the JSON object that holds the
    numbers; empty for the layer's own object.
    """

    columns: ClassVar[Mapping[str, str]]
    within: ClassVar[str] = ""

    counts: CountReport

    @abstractmethod
    def numbers(self) -> Iterator[dict[str, Any]]:
        """Yield the numbers of each layer by key, and last those of the network; None if they are unknown."""

    @abstractmethod
    def notes(self) -> Iterator[str]:
        """Yield the sentences below the table."""

    def whole(self) -> dict[str, Any]:
        """Return the keys that the JSON object has in addition to the count's."""
        *_, total = self.numbers()
        return {self.within: total}

    def words(self, placed: Placed) -> dict[str, str]:
        """Return the words on a layer, by the titles of their columns in the table."""
        return {"In → out": widths(placed)}

    def cells(self, counted: Count | Placed, numbers: Mapping[str, Any]) -> dict[str, int | None]:
        """Return the numbers of a layer or of the network, by the titles of their columns in the table."""
        counts = self.counts
        cost = [cost_of(counts.counted, counted)] if counts.cost else []
        return {"Parameters": counted.params, **dict(cost)} | {
            title: numbers[key] for key, title in self.columns.items()
        }

    def data(self) -> dict[str, Any]:
        """Return the object for programs: the count's, with the numbers added."""
        return self.added_to(self.counts.data())

    def added_to(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return an object for programs with the numbers added."""
        *layers, _ = self.numbers()
        for each in data["networks"]:
            stack = zip(self.counts.counted.network.stack, layers, strict=True)
            numbers_of_it = [numbers for placed, numbers in stack if placed.network == each["name"]]
            sums = {key: total(numbers[key] for numbers in numbers_of_it) for key in self.columns}
            each.update({self.within: sums} if self.within else sums)
        added = ({self.within: layer_numbers} if self.within else layer_numbers for layer_numbers in layers)
        data["layers"] = (
            {**layer, **layer_numbers} for layer, layer_numbers in zip(data["layers"], added, strict=True)
        )
        return {**data, **self.whole()}

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return a row for each layer and the total last; with `tensors`, the count's rows, without these numbers."""
        header, rows = self.counts.records()
        if self.counts.tensors:
            return header, rows
        names = tuple(f"{self.within}_{key}" if self.within else key for key in self.columns)
        return (*header, *names), ((*row, *layer.values()) for row, layer in zip(rows, self.numbers(), strict=True))

    def sheets(self) -> list[Sheet]:
        """Return the table of layers and, with `tensors`, the table of tensors."""
        counted = self.counts.counted
        stack = counted.network.stack
        *layers, total = self.numbers()
        whole = self.cells(counted, total)
        rows = (
            (placed, (*self.words(placed).values(), *self.cells(placed, layer).values()))
            for placed, layer in zip(stack, layers, strict=True)
        )
        notes = dict.fromkeys((*on_parameters(counted), *(on_work(counted) if self.counts.cost else ()), *self.notes()))
        titles = (*self.words(stack[0]),), (*whole,)
        sheets = layer_sheets(counted.network, *titles, joined(rows), (*whole.values(),), notes)
        return [*sheets, *self.counts.tensor_sheets()]


class JointReport(ExtendedCountReport):
    """Several reports beside one count, in one table; a later one's column replaces an earlier one's of its title."""

    columns: ClassVar[Mapping[str, str]] = {}

    reports: tuple[ExtendedCountReport, ...]

    def numbers(self) -> Iterator[dict[str, Any]]:
        """Yield the numbers of each report by its place."""
        for row in zip(*(report.numbers() for report in self.reports), strict=True):
            yield {str(place): numbers for place, numbers in enumerate(row)}

    def notes(self) -> Iterator[str]:
        yield from dict.fromkeys(note for report in self.reports for note in report.notes())

    def cells(self, counted: Count | Placed, numbers: Mapping[str, Any]) -> dict[str, int | None]:
        each = (report.cells(counted, numbers[str(place)]) for place, report in enumerate(self.reports))
        return {title: number for cells in each for title, number in cells.items()}

    def sheets(self) -> list[Sheet]:
        """Return the tables; with fewer layers than numbers, a row for each number, which screens have room for."""
        from rnncalc.typeset.sheet import key_columns, number_columns  # imported only for tables

        layers, *tensors = super().sheets()
        table, keys = [*layers.rows, layers.total or ()], sum(column.key for column in layers.columns)
        if len(table) >= len(layers.columns) - keys:
            return [layers, *tensors]
        titles = (" ".join(filter(None, map(str, row[:keys]))) for row in table)
        rows = [(column.title, *cells) for column, *cells in zip(layers.columns, *table, strict=True)]
        columns = (*key_columns("Number"), *number_columns(*titles))
        return [layers.replace(columns=columns, rows=rows[keys:], total=None), *tensors]

    def added_to(self, data: dict[str, Any]) -> dict[str, Any]:
        for report in self.reports:
            data = report.added_to(data)
        return data

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        first = len(self.counts.records()[0])
        headers, tables = zip(*(report.records() for report in self.reports), strict=True)
        joined = ((row[:first], *(each[first:] for each in (row, *rows))) for row, *rows in zip(*tables, strict=True))
        return sum((header[first:] for header in headers), headers[0][:first]), (sum(rows, ()) for rows in joined)


def joint(reports: Sequence[ExtendedCountReport]) -> JointReport:
    """Return several reports beside one count as one; a state is as large as a quantization stores it."""
    integers = [each.quantized for each in reports if isinstance(each, QuantizedReport)]
    to = next((each.to for each in integers if not each.dynamic), "")
    joined = [each.replace(quantized=to) if isinstance(each, StreamReport) else each for each in reports]
    return JointReport(reports[0].counts, tuple(joined))


def on_unknown(network: Described, *needed: str) -> Iterator[str]:
    """Yield the reason if numbers are unknown; needed: what they need of a part that is counted elsewhere."""
    if steps_known(network.parts):
        yield from on_elsewhere(network, "Not known", *needed)
    else:
        yield f"Not known without the number of steps; {steps_cure(network)}."


class StreamReport(ExtendedCountReport):
    """A count, and the state and the cost of running the network step by step. quantized: how its state is stored."""

    columns: ClassVar[Mapping[str, str]] = {"state": "State", "state_bytes": "State bytes"}

    stream: StreamCount
    quantized: str = ""

    def numbers(self) -> Iterator[dict[str, Any]]:
        counted = self.stream
        for state, placed in zip(counted.layers, counted.network.stack, strict=True):
            size = placed.layer.bytes_each(counted.dtype)
            yield {"state": state, "state_bytes": None if state is None else state * size}
        yield fields(counted, "state", "state_bytes")

    def whole(self) -> dict[str, Any]:
        counted = self.stream
        numbers = {
            "rate": counted.rate and (int(counted.rate) if counted.rate.denominator == 1 else float(counted.rate)),
            **fields(counted, "batch", "state", "state_bytes", "multiply_adds_per_step", "multiply_adds_per_second"),
        }
        return {"stream": numbers}

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Add the multiply-adds per second, of the network alone: rounded up for each layer they have another sum."""
        header, rows = super().records()
        if self.counts.tensors:
            return header, rows
        seconds = [*[None] * len(self.stream.layers), self.stream.multiply_adds_per_second]
        return (*header, "multiply_adds_per_second"), ((*row, each) for row, each in zip(rows, seconds, strict=True))

    def cells(self, counted: Count | Placed, numbers: Mapping[str, Any]) -> dict[str, int | None]:
        work = self.stream.multiply_adds_per_step
        if isinstance(counted, Placed):
            each = 0 if counted.once else counted.multiply_adds_per_step
            work = None if counted.full_name in self.stream.cannot else each and self.stream.batch * each
        return {**super().cells(counted, numbers), "Multiply-adds per step": work}

    def notes(self) -> Iterator[str]:
        counted = self.stream
        size = bytes_each(counted.network, counted.dtype, "each")
        yield f"State: the numbers carried from one step to the next; {self.quantized or size}."
        if counted.batch > 1:
            yield f"State and multiply-adds are those of {counted.batch:,} sequences."
        if counted.cannot:
            layers = all_of(list(counted.cannot))
            why = "a bidirectional layer reads the whole sequence before its first output"
            if not all(
                isinstance(each.layer, Cell) for each in counted.network.stack if each.full_name in counted.cannot
            ):
                why = "a layer that reads both ways or a whole sequence, pads the end, or begins or flattens a sequence"
                why += " does not go step by step"
            yield f"Cannot stream: {layers}; {why}."
        else:
            yield from on_elsewhere(counted.network, "Not known", "state", "work")
        if counted.multiply_adds_per_second is not None and counted.rate is not None:
            rate = counted.rate
            number = f"{int(rate):,}" if rate.denominator == 1 else f"{float(rate):g}"
            steps = f"{number} steps" if rate != 1 else "1 step"
            yield f"At {steps} per second: {plural(counted.multiply_adds_per_second, 'multiply-add')} per second."


class QuantizedReport(ExtendedCountReport):
    """A count, and the bytes of its weights, biases and states in integers."""

    columns: ClassVar[Mapping[str, str]] = {
        "weight_bytes": "Weight bytes",
        "bias_bytes": "Bias bytes",
        "bytes": "Bytes",
        "state_bytes": "State bytes",
    }
    within = "quantized"

    quantized: Quantized

    def numbers(self) -> Iterator[dict[str, Any]]:
        return (fields(each, *self.columns) for each in (*self.quantized.layers, self.quantized.total))

    def whole(self) -> dict[str, Any]:
        counted = self.quantized
        words = {"to": counted.to, "program": counted.program, "floating": [*counted.floating]}
        return {self.within: {**words, **super().whole()[self.within]}}

    def words(self, placed: Placed) -> dict[str, str]:
        return {"Kind": placed.kind}

    def notes(self) -> Iterator[str]:
        from rnncalc.questions.quantized import QUANTIZATIONS  # imported only for this report

        counted = self.quantized
        if counted.dynamic:
            yield f"{counted.to}: 8-bit matrices, all else in float32, as {counted.program} stores them."
            if counted.floating:
                yield f"Left in float: {all_of([*counted.floating])}."
            lost = [each.full_name for each in counted.network.stack if each.kind == "lstm" and "p" in each.sizes]
            if lost:
                yield f"{all_of(lost)}: {counted.program} cannot store a projection."
            yield from self._own_types()
            yield "The file holds more than the parameters: names, scales and zero points."
            return
        bits = [8 * width for width in QUANTIZATIONS[counted.to]]
        states = f"{bits[2]} bits (h and windows) and {bits[3]} bits (c)" if bits[2] != bits[3] else f"{bits[2]} bits"
        widths = f"{bits[0]}-bit weights, {bits[1]}-bit biases, states of {states}"
        yield f"{counted.to}: {widths}, as {counted.program} has them."
        if counted.lacking:
            yield f"CMSIS-NN has no kernel of {all_of(list(counted.lacking))}: the same widths are taken."
        yield from self._own_types()
        yield "Flash holds more than the parameters: the program, scales and zero points."

    def _own_types(self) -> Iterator[str]:
        if types := "; ".join(on_dtypes(self.quantized.network, "")):
            yield f"Not quantized, with a dtype of their own; bytes per number: {types}."
        yield from on_elsewhere(self.quantized.network, "Not known", "dtype", "state")


class ShapesReport(SheetReport, DataReport, RecordReport):
    """A count, and the arrays that modules read and return."""

    counts: CountReport
    shapes: NetworkShapes

    def data(self) -> dict[str, Any]:
        """Return the object for programs: the count's object with the shapes added."""
        return {
            **self.counts.data(),
            "shapes": [
                {
                    "network": module.places[0].network,
                    "layers": [placed.name for placed in module.places],
                    "input": [*module.input.values()],
                    "returns": {name: [*array.values()] for name, array in module.returns.items()},
                }
                for module in self.shapes.modules
            ],
        }

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        network = self.shapes.network.name
        return ("network", "layers", "kind", "part", "input", "returns", "shape"), (
            (
                *(module.places[0].network or network, " ".join(placed.name for placed in module.places)),
                *(module.places[0].kind, module.places[0].part, shape_text(module.input), name, shape_text(array)),
            )
            for module in self.shapes.modules
            for name, array in module.returns.items()
        )

    def sheets(self) -> list[Sheet]:
        """Return the table of modules and, with `tensors`, the table of tensors."""
        rows: list[tuple[Placed, Row]] = []
        letters: set[str] = set()
        for module in self.shapes.modules:
            first, *others = module.places
            kind = f"{first.kind}, {plural(1 + len(others), 'layer')}" if others else first.kind
            for name, array in module.returns.items():
                row = kind, shape_text(module.input), name, shape_text(array)
                rows.append((first._replace(name=module.name), row))
                letters |= {axis for axis, size in (*module.input.items(), *array.items()) if size is None}
        flag = "" if self.shapes.network.networks else " (-T)"
        meant = {"B": "the sequences in a batch (--batch)", "T": f"the steps{flag}"}
        returns = self.shapes.returns
        notes = ["; ".join(f"{letter}: {meant[letter]}" for letter in sorted(letters)) + "."] if letters else []
        notes.append((self.shapes.time_first and returns.note_time_first) or returns.note)
        titles = ("Kind", "Input", "Returns", "Shape")
        sheet, *_ = layer_sheets(self.shapes.network, titles, (), rows, (), notes)
        return [sheet.replace(total=None), *self.counts.tensor_sheets()]
