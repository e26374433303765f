"""The report of a count: an object for programs, records, and tables of layers and tensors for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rnncalc.conventions import convention
from rnncalc.conventions.formula import factored, folded_sum, letters
from rnncalc.layers.layer import Embedding, External
from rnncalc.layers.options import DTYPES
from rnncalc.letters import has_letters
from rnncalc.network.flow import array_of
from rnncalc.network.parts import steps_known
from rnncalc.network.stack import Placed
from rnncalc.questions.count import Count, bytes_of, condition_of, total
from rnncalc.reports.report import DataReport, RecordReport, SheetReport, fields
from rnncalc.typeset.setting import joined, layer_sheets, notation_of, steps_cure, steps_of, title
from rnncalc.words import KIBI, all_of, byte_size, decimal, first_words, plural

if TYPE_CHECKING:
    from rnncalc.network.model import Described
    from rnncalc.questions.dense import DenseEquivalent
    from rnncalc.typeset.sheet import Row, Sheet


class CountReport(SheetReport, DataReport, RecordReport):
    """A count, on request with a row for each tensor and the cost of a pass.

    dense: whether to say why the dense equivalent is unknown, if it is.
    """

    counted: Count
    tensors: bool = False
    cost: bool = False
    dense: bool = False

    def data(self) -> dict[str, Any]:
        """Return the object for programs; its keys do not depend on which numbers are known."""
        count, network, dense = self.counted, self.counted.network, self.counted.dense
        return {
            **fields(network, "name", "convention"),
            "notation": notation_of(network),
            "topology": network.topology_name,
            "steps": steps_of(network),
            "sizes": dict(network.sizes or {}),
            "networks": [*self._networks()],
            "layers": (
                {
                    "network": layer.network,
                    **dict(zip(_HEADER[1:-1], _values(layer), strict=True)),
                    "bytes": layer.bytes_in(count.dtype),
                    "dtype": layer.layer.dtype or count.dtype,
                    "tensors": [
                        fields(tensor, "name", "role", "direction", "shape", "params") for tensor in layer.tensors
                    ],
                }
                for layer in count.layers
            ),
            **fields(count, *_HEADER[-6:]),
            "dtype": dtype_of(network, count.dtype),
            "conditions": [*on_conditions(count.layers)],
            "roles": [{"role": role, "params": params, "share": share} for role, params, share in self._shares()],
            "dense": dense
            and {
                **fields(dense, "params", "ratio"),
                "layers": [fields(layer, "name", "inputs", "units", "params") for layer in dense.layers],
            },
        }

    def _networks(self) -> Iterator[dict[str, Any]]:
        """Yield the networks of a model with their sums; none of a single network."""
        for name, member in self.counted.network.networks.items():
            layers = [layer for layer in self.counted.network.stack if layer.network == name]
            sums = {key: total(getattr(layer, key) for layer in layers) for key in _HEADER[-5:-1]}
            yield {
                "name": name,
                "calls": member.calls,
                "convention": member.network.convention,
                "topology": member.network.topology_name,
                "steps": steps_of(member.network),
                **sums,
                "bytes": sum(layer.bytes_in(self.counted.dtype) for layer in layers),
            }

    def _shares(self) -> list[tuple[str, int, float | None]]:
        """Return the roles of tensors with their parameters and share of all, the largest first; None in letters."""
        roles, params = self.counted.roles, self.counted.params
        if has_letters(params) or not params:
            return [(role, number, None) for role, number in roles.items()]
        return sorted(((role, number, number / params) for role, number in roles.items()), key=lambda each: -each[1])

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return a row for each layer, or with `tensors` for each tensor, and the total last."""
        count, name = self.counted, self.counted.network.name
        if not self.tensors:
            rows = ((layer.network or name, *_values(layer), layer.bytes_in(count.dtype)) for layer in count.layers)
            return _HEADER, iter([*rows, (name, None, "total", *[None] * 7, *_totals(count))])
        tensors: Iterator[Row] = (
            (
                *(layer.network or name, layer.name, layer.kind, layer.part),
                *(tensor.name, tensor.role, tensor.direction, tensor.shape),
                *(tensor.params, tensor.params * layer.layer.bytes_each(count.dtype)),
            )
            for layer in count.layers
            for tensor in layer.tensors
        )
        return _TENSOR_HEADER, iter([*tensors, (name, None, "total", *[None] * 5, count.params, count.bytes)])

    def sheets(self) -> list[Sheet]:
        """Return the table of layers and, with `tensors`, the table of tensors."""
        from rnncalc.typeset.sheet import worked  # imported only for tables

        count = self.counted
        total = _numbers(count, self.cost, count)
        rows: list[tuple[Placed, Row]] = []
        for layer in count.layers:
            formula = worked(layer.layout.params, layer.sizes, layer.names)
            numbers = _numbers(count, self.cost, layer).values()
            rows.append((layer, (layer.kind, widths(layer), layer.shape, formula, *numbers)))
        words, notes = ("Kind", "In → out", "Output shape", "Formula"), _notes(count, self.cost, self.dense)
        sheets = layer_sheets(count.network, words, (*total,), joined(rows), (*total.values(),), notes)
        return [*sheets, *self.tensor_sheets()]

    def tensor_sheets(self) -> list[Sheet]:
        """Return the tables of tensors and of their roles, if they are on request."""
        if not self.tensors:
            return []
        count = self.counted
        rows: Iterator[tuple[Placed, Row]] = (
            (layer, (tensor.name, tensor.role, tensor.shape, tensor.params))
            for layer in count.layers
            for tensor in layer.tensors
        )
        sheet, *_ = layer_sheets(count.network, ("Tensor", "Role", "Shape"), ("Parameters",), rows, (count.params,))
        return [sheet.replace(title="Tensors", subtitle=""), *self._role_sheets()]

    def _role_sheets(self) -> Iterator[Sheet]:
        """Yield the shares of the parameters by role, with bars, if there are several."""
        from rnncalc.typeset.sheet import Bar, Column, Sheet, cell, key_columns, number_columns

        shares = self._shares()
        rows: list[Row] = [(role, cell(params)) for role, params, _ in shares]
        columns = (*key_columns("Role"), *number_columns("Parameters", together=True))
        if None not in [share for *_, share in shares]:
            columns = (*columns, *number_columns("Share", together=True), Column("", together=True))
            rows = [(role, params, f"{share or 0:.1%}", Bar(share or 0)) for role, params, share in shares]
        if len(shares) > 1:
            yield Sheet(columns, rows, title="Parameters by role")


class FileReport(SheetReport):
    """The name of a file, as a title above the report on its network."""

    file: str

    def sheets(self) -> list[Sheet]:
        from rnncalc.typeset.sheet import Sheet

        return [Sheet((), (), title=self.file)]


class SummaryReport(SheetReport):
    """The totals of several files, one line each."""

    counted: tuple[tuple[str, Count], ...]

    def sheets(self) -> list[Sheet]:
        from rnncalc.typeset.sheet import Sheet, key_columns, number_columns

        columns = (*key_columns("File", "Network"), *number_columns("Parameters"))
        rows = [(file, title(count.network), count.params) for file, count in self.counted]
        return [Sheet(columns, rows, title="Summary", subtitle=plural(len(rows), "network"))]


_HEADER = (
    *("network", "name", "kind", "part", "inputs", "units", "outputs", "output_shape", "formula", "substituted"),
    *("params_formula", "params", "trainable", "multiply_adds", "multiply_adds_per_step", "bytes"),
)
_ATTRIBUTES = ["shape" if name == "output_shape" else name for name in _HEADER[1:-1]]
_values, _totals = attrgetter(*_ATTRIBUTES), attrgetter(*_HEADER[-6:])
_TENSOR_HEADER = ("network", "layer", "kind", "part", "tensor", "role", "direction", "shape", "params", "bytes")


def widths(layer: Placed) -> str:
    """Return the widths of a layer's input and output."""
    before, after = array_of((layer.inputs,), layer.grid), array_of((layer.outputs,), layer.output_grid)
    return " → ".join("×".join(f"{size:,}" for size in sizes) for sizes in (before, after))


def _numbers(count: Count, cost: bool, row: Count | Placed) -> dict[str, int | None]:
    """Return the numbers of a layer or of the whole network, by the titles of their columns."""
    numbers: dict[str, int | None] = {"Parameters": row.params}
    if count.trainable != count.params:
        untrained = convention(count.network.convention or "textbook").untrained.capitalize()
        numbers |= {"Trainable": row.trainable, untrained: row.params - row.trainable}
    if cost:
        numbers |= [cost_of(count, row), ("Bytes", row.bytes if isinstance(row, Count) else row.bytes_in(count.dtype))]
    return numbers


def cost_of(count: Count, row: Count | Placed) -> tuple[str, int | None]:
    """Return the multiply-adds of a layer or of all, after their title; of one step if the steps are unknown."""
    if steps_known(count.network.parts):
        return "Multiply-adds", row.multiply_adds
    return "Multiply-adds per step", row.multiply_adds_per_step


def on_parameters(count: Count) -> Iterator[str]:
    """Yield the sentences on the parameters of single layers: matrices that another layer owns, and conditions."""
    for placed in count.network.stack:
        if placed.layout.shared:
            table = isinstance(placed.layer, Embedding)
            owner = "table is the encoder's" if table else "matrix is the embedding's, transposed"
            yield f"{placed.full_name}: its {owner}, and counted there."
    yield from on_conditions(count.layers)


def _notes(count: Count, cost: bool, dense: bool) -> Iterator[str]:
    yield from on_parameters(count)
    if count.in_letters is not None:
        yield f"Parameters: {letters(count.in_letters)}."
    if cost and has_letters(cost_of(count, count)[1]):
        by_layer = folded_sum([factored(cost_of(count, layer)[1] or 0) for layer in count.layers])
        yield f"{cost_of(count, count)[0]}: {letters(by_layer)}."
    equivalent = count.dense
    if equivalent is not None and equivalent.ratio is not None:
        yield _dense_note(count, equivalent, equivalent.ratio)
    elif dense and equivalent is None:
        yield f"Dense equivalent: not known without the number of steps; {steps_cure(count.network)}."
    if cost:
        yield from on_work(count)
        size = f"; {byte_size(count.bytes)} in all" if not has_letters(count.bytes) and count.bytes >= KIBI else ""
        yield f"Bytes: {bytes_each(count.network, count.dtype, 'per parameter')}{size}."


def bytes_each(network: Described, dtype: str, each: str) -> str:
    """Return the bytes of a number, such as `4 bytes each, float32; 2 in lstm_1, float16`; dtypes in use alone."""
    first, *others = dtypes = [*on_dtypes(network, dtype)] or [""]
    if first and dtype_of(network, dtype) is None:
        size, _, where = first.partition(" ")
        return "; ".join((f"{plural(int(size), 'byte')} {each} {where}", *others))
    return "; ".join(filter(None, (f"{plural(bytes_of(dtype), 'byte')} {each}, {dtype}", *dtypes)))


def dtype_of(network: Described, dtype: str) -> str | None:
    """Return the dtype of a call if some parameter has it, None if all have others of their own."""
    owners = [placed.layer for placed in network.stack if placed.params]
    return dtype if not owners or any(layer.dtype in (None, dtype) for layer in owners) else None


def on_dtypes(network: Described, dtype: str) -> Iterator[str]:
    """Yield which layers have a dtype of their own, such as `2 in lstm_1, float16`."""
    names: dict[str, list[str]] = {}
    for placed in network.stack:
        if placed.layer.dtype not in (None, dtype):
            names.setdefault(placed.layer.dtype or "", []).append(placed.full_name)
    yield from (f"{DTYPES[each]} in {all_of(first_words(layers, SHOWN))}, {each}" for each, layers in names.items())


def on_work(count: Count) -> Iterator[str]:
    """Yield the sentences on multiply-adds that are not those of frameworks, or not known."""
    names: dict[str, list[str]] = {}
    for layer in count.layers:
        names.setdefault(layer.layer.work_in_words(), []).append(layer.full_name)
    yield from (f"{all_of(each)}: {words}." for words, each in names.items() if words)
    yield from on_elsewhere(count.network, "Multiply-adds are not known", "work")


SHOWN = 3
"""The most layers that a sentence names."""


def on_elsewhere(network: Described, unknown: str = "Not known", *needed: str) -> Iterator[str]:
    """Yield a sentence on the parts that are counted elsewhere, if there are any; needed: that lack one of these."""
    externals = [(placed.full_name, placed.layer) for placed in network.stack if isinstance(placed.layer, External)]
    names = [name for name, layer in externals if not needed or None in fields(layer, *needed).values()]
    if names:
        yield f"{unknown} for what is counted elsewhere: {all_of(first_words(names, SHOWN))}."


MOST_CHAINS, MOST_WIDTHS = 4, 8
"""The most chains, and the most widths of one; more are shortened in the middle."""


def _dense_note(count: Count, dense: DenseEquivalent, ratio: float) -> str:
    each = [f"{part.steps:,}" for part in count.network.parts.values()]
    steps = " and ".join(dict.fromkeys(each) if count.network.networks else each)
    chains = [[f"{width:,}" for width in chain] for chain in dense.chains]
    if len(chains) > MOST_CHAINS:
        chains[1:-1] = [["…"]]
    for chain in chains:
        if len(chain) > MOST_WIDTHS:
            chain[4:-2] = ["…"]
    kept = [one.name for one in dense.layers if one.sizes and one.params]
    unchanged = f"{all_of(first_words(kept, SHOWN))} unchanged" if kept else ""
    layers = "; ".join(" → ".join(chain) for chain in chains)
    parts = filter(None, (layers, unchanged, plural(dense.params, "parameter"), f"{decimal(ratio)} × this network's"))
    return f"Dense equivalent for {steps} step{'' if steps == '1' else 's'}: {', '.join(parts)}."


def on_conditions(stack: Iterable[Placed]) -> Iterator[str]:
    """Yield a sentence for each formula in letters that holds for most sizes, and not for all."""
    for placed in [placed for placed in stack if has_letters(placed.params)]:
        if condition := condition_of(placed):
            size, other, params = condition
            yield f"{placed.full_name}: {placed.params} if {size} ≠ {other}; {params} if {size} = {other}."
