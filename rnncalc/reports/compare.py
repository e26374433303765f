"""Reports on comparisons: of networks, of the dense equivalent as the steps grow, and of conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rnncalc.conventions.formula import Plus, factored, letters, plain
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import External
from rnncalc.letters import has_letters
from rnncalc.network.parts import steps_known
from rnncalc.reports.report import DataReport, RecordReport, RowsReport, SheetReport, fields
from rnncalc.typeset.setting import flow, setting, steps_cure, steps_of, title, words, written_apart
from rnncalc.typeset.sheet import Column, Row, Sheet, Value, bars_of, cell, key_columns, number_columns
from rnncalc.words import all_of, plural

if TYPE_CHECKING:
    from rnncalc.conventions.formula import Expression
    from rnncalc.network.stack import Placed
    from rnncalc.questions.compare import Allocations, Compared, Comparison, ConventionDifference, DenseGrowth, LayerRow

THIS_NETWORK = "this network"
MOST_SIDE_BY_SIDE = 4
"""The most networks in a table with layers side by side."""

MOST_OF_SCALE = 10
"""The bar of a dense network is broken if it would be this many times as long as the others."""


class ComparisonReport(RowsReport):
    """A comparison of several networks, or of one network as several kinds."""

    comparison: Comparison

    def data(self) -> dict[str, Any]:
        return {
            "name": self.comparison.networks[0].name if self.comparison.by_kind else "Comparison",
            "rows": [
                {
                    "name": self._label(side),
                    **fields(side, "params", "multiply_adds", "multiply_adds_per_step", "bytes", "units", "saved"),
                    "difference": self.comparison.difference(side),
                    "params_formula": None if side.in_letters is None else plain(side.in_letters),
                    "difference_formula": self._in_letters(self.comparison.difference(side), plain),
                    "remaining": self.comparison.remaining(side),
                    "ratio": self.comparison.ratio(side),
                }
                for side in self.comparison.sides
            ],
            "layers": [
                {
                    "same": same,
                    "networks": [
                        placed and fields(placed, "network", "name", "kind", "inputs", "units", "outputs", "params")
                        for placed in row
                    ],
                }
                for row, same in self._layers()
            ],
            "notes": [*self._notes()],
        }

    def sheets(self) -> list[Sheet]:
        """Return a table with a row for each network; for a few networks, also their layers side by side."""
        from rnncalc.questions.compare import DENSE  # imported only for this comparison

        comparison = self.comparison
        networks, sides = comparison.networks, comparison.sides
        searched, steps = comparison.budget is not None, self._steps_known
        scale: tuple[str, ...] = ()
        work = [cell(side.multiply_adds if steps else side.multiply_adds_per_step) for side in sides]
        work_title = "Multiply-adds" if steps else "Multiply-adds per step"
        labels, params = map(self._label, sides), [side.params for side in sides]
        if searched:
            columns = number_columns("Units", "Parameters", "Remaining", work_title, "Saved activations")
            units, saved = [side.units for side in sides], [side.saved for side in sides]
            rows = zip(labels, units, params, map(comparison.remaining, sides), work, saved, strict=True)
        elif any(has_letters(side.params) for side in sides):
            columns = number_columns("Parameters", "Difference", work_title)
            formulas = [each.params if each.in_letters is None else letters(each.in_letters) for each in sides]
            differences = [self._in_letters(comparison.difference(side), letters) or "0" for side in sides]
            rows = zip(labels, formulas, differences, work, strict=True)
        else:
            compared = number_columns("Parameters", "Ratio", together=True)
            columns = (*compared, *number_columns(work_title, "Bytes"), Column("", together=True))
            ratios, size = map(comparison.ratio, sides), [side.bytes for side in sides]
            most, others = (max([side.params for side in sides if side.kind != kind]) or 1 for kind in ("", DENSE))
            longest = others if most > MOST_OF_SCALE * others else most  # a large dense network sets no scale
            bars, scale = bars_of(params, longest)
            rows = zip(labels, params, ratios, work, size, bars, strict=True)
        heading, subtitle = (title(*networks), setting(networks[0])) if comparison.by_kind else ("Comparison", "")
        notes = (*self._notes(), *scale)
        sheet = Sheet((*key_columns("Network"), *columns), [*rows], title=heading, subtitle=subtitle, notes=notes)
        few = not comparison.by_kind and len(networks) <= MOST_SIDE_BY_SIDE
        return [sheet, self._aligned()] if few else [sheet]

    def _in_letters(self, number: Any, written: Callable[[Expression], str]) -> str | None:
        """Return a number as a formula, if there are letters in it; a difference of 0 has none."""
        if not has_letters(number):
            return None
        if any(times > 0 for times in number.terms.values()):
            return written(factored(number))
        text = written(negative := factored(-number))
        return f"-({text})" if isinstance(negative, Plus) else f"-{text}"

    @property
    def _steps_known(self) -> bool:
        return all(steps_known(network.parts) for network in self.comparison.networks)

    def _aligned(self) -> Sheet:
        """Return a table of the layers side by side, with a mark where they differ."""
        titles = enumerate(self._titles(), 1)
        several = any(network.networks for network in self.comparison.networks)
        keys = key_columns("", *["Network"][:several])
        columns = (*keys, *(Column(f"{number}: {title}") for number, title in titles))
        rows: list[Row] = []
        for row, same in self._layers():
            name = next(each.network for each in row if each)
            rows.append(("" if same else "≠", *[name or ""][:several], *(_layer(each, row) for each in row)))
        different = sum(not same for _, same in self._layers())
        note = f"{different:,} of {plural(len(rows), 'layer')} differ{'s' * (different == 1)}, marked ≠."
        note = note if different else "No layer differs."
        return Sheet(columns, rows, title="Layers", notes=(note,))

    def _layers(self) -> list[tuple[LayerRow, bool]]:
        """Return the layers of several networks side by side, and whether they are the same."""
        from rnncalc.questions.compare import same_layers  # imported only for this comparison

        return [] if self.comparison.by_kind else [(row, same_layers(row)) for row in self.comparison.layers()]

    def _label(self, side: Compared) -> str:
        if self.comparison.by_kind:
            return side.kind or THIS_NETWORK
        places = (place for place, other in enumerate(self.comparison.sides) if other is side)  # sides may be equal
        return self._titles()[next(places)]

    def _titles(self) -> list[str]:
        """Return a title for each network; equal ones with the options and settings that differ."""
        networks = self.comparison.networks
        titles = [title(network) for network in networks]
        apart: list[dict[str, None]] = [{} for _ in networks]
        for row in self.comparison.layers():
            for options, placed in zip(apart, row, strict=True):
                options |= dict.fromkeys(_apart(placed, row))
        keys = "convention", "topology", "steps"
        settings = [(each.convention, each.topology_name, steps_of(each)) for each in networks]
        for key, values in zip(keys, zip(*settings, strict=True), strict=False):  # no values if no width fits
            if any(value != values[0] for value in values):
                for options, value in zip(apart, values, strict=True):
                    options[f"{key}={value}"] = None
        return [
            ", ".join([name, *options]) if titles.count(name) > 1 else name
            for name, options in zip(titles, apart, strict=True)
        ]

    def _notes(self) -> Iterator[str]:
        from rnncalc.questions.compare import DENSE, Lack  # imported only for this comparison

        comparison = self.comparison
        unknown = f"not known without the number of steps; {steps_cure(*comparison.networks)}"
        stack = comparison.networks[0].stack if comparison.by_kind else ()
        if stack and not any(isinstance(placed.layer, Cell) for placed in stack):
            yield "No layer is recurrent: no kind can be exchanged, so every row is this network."
        for name, reason in comparison.missing.items():
            match reason:
                case Lack.STEPS:
                    why = unknown
                case Lack.NUMBERS:
                    why = "not known in letters"
                case Lack.WIDTH:
                    why = f"no width fits in {plural(comparison.budget or 0, 'parameter')}"
                case problem:
                    why = problem.message
            yield f"{name}: {why}."
        if any(has_letters(side.params) for side in comparison.sides):
            yield "Difference: from the first row."
        if comparison.budget is not None:
            yield f"Units: the largest width that fits in {plural(comparison.budget, 'parameter')}."
            if any(placed.layer.values().get("projection") for placed in stack):
                yield "A projection keeps its width, in the kinds that have one."
            if not self._steps_known:
                yield f"Saved activations: {unknown}."
        if any(side.multiply_adds_per_step is None and side.kind != DENSE for side in comparison.sides):
            elsewhere = any(
                isinstance(each.layer, External) for network in comparison.networks for each in network.stack
            )
            yield f"Multiply-adds: {'not known with a part counted elsewhere' if elsewhere else unknown}."


def _apart(placed: Placed | None, row: LayerRow) -> list[str]:
    """Return the options of a layer that the others of its row have with another value."""
    return [] if placed is None else written_apart(placed.layer, [each.layer for each in row if each])


def _layer(placed: Placed | None, row: LayerRow) -> str:
    """Return a layer in a few words: its kind, its widths, its parameters, and what is different in its row."""
    if placed is None:
        return ""
    layer = ", ".join([words(placed.layer), *_apart(placed, row)])
    return f"{layer}, reads {placed.inputs:,}: {placed.params:,}" if placed.units or placed.params else layer


class DenseGrowthReport(RowsReport):
    """How a dense equivalent grows with the steps."""

    growth: DenseGrowth

    def data(self) -> dict[str, Any]:
        rows = [dict(zip(("steps", "params", "dense", "ratio"), row, strict=True)) for row in self._rows()]
        return {**fields(self.growth.network, "name", "params"), "rows": rows}

    def _rows(self) -> list[tuple[int, int, int, float | None]]:
        """Return for each number of steps the parameters of the network and of its dense equivalent, and the ratio."""
        params = self.growth.network.params
        return [
            (steps, params, dense, dense / params if params else None) for steps, dense in self.growth.dense.items()
        ]

    def sheets(self) -> list[Sheet]:
        """Return a table with a row and a bar for each number of steps."""
        columns = (
            Column("Steps", right=True, key=True),
            *number_columns("Recurrent", "Dense equivalent", "Ratio", together=True),
            Column("", together=True),
        )
        bars, scale = bars_of([*self.growth.dense.values()])
        rows: list[Row] = [(*row, bar) for row, bar in zip(self._rows(), bars, strict=True)]
        network = self.growth.network
        subtitle = f"{network.topology_name}; parameters by the number of steps"
        return [Sheet(columns, rows, title=title(network), subtitle=subtitle, notes=scale)]


LONGEST_NAME = 30
"""The longest name of a layer that is the title of a column of numbers."""
MOST_LAYERS = 4
"""The most layers with a column each in a table of conventions."""

MOST_NAMES = 3
"""The most layers to name; of more, the first two are named and the others counted."""


class AllocationReport(SheetReport, DataReport, RecordReport):
    """The tensors that each convention allocates for one network."""

    allocations: Allocations

    def data(self) -> dict[str, Any]:
        network = self.allocations.network
        return {
            "name": network.name,
            "topology": network.topology_name,
            "steps": steps_of(network),
            "layers": [
                {**fields(placed, "network", "name", "kind", "part"), "params": params}
                for placed, params in self._rows()
            ],
            "params": self._totals(),
            "differences": [
                {"convention": each.convention, "params": each.params, "text": _explained(each)}
                for each in self.allocations.differences
            ],
            "reasons": {name: problem.message for name, problem in self.allocations.problems.items()},
        }

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        name = self.allocations.network.name
        rows: list[Row] = [
            (placed.network or name, placed.name, placed.kind, placed.part, *params.values())
            for placed, params in self._rows()
        ]
        total = (name, None, "total", None, *self._totals().values())
        return ("network", "name", "kind", "part", *self.allocations.networks), iter([*rows, total])

    def sheets(self) -> list[Sheet]:
        """Return a table with a row for each convention, and with a column for each of a few layers."""
        network, networks = self.allocations.network, self.allocations.networks
        names = [placed.full_name for placed in network.stack]
        layers = network.stack if len(names) <= MOST_LAYERS and len(max(names, key=len)) <= LONGEST_NAME else ()
        columns = (
            *key_columns("Convention"),
            *number_columns(*(placed.full_name for placed in layers), "Total", "Difference"),
            Column("Reason"),
        )
        rows: list[Row] = []
        for name, each in networks.items():
            if each:
                counts = [placed.params for placed in each.stack][: len(layers)]
                rows.append((name, *map(cell, (*counts, each.params)), *self._difference(name, each.params)))
        notes = tuple(self._left_out())
        return [Sheet(columns, rows, title=title(network), subtitle=flow(network), notes=notes)]

    def _difference(self, name: str, params: Any) -> tuple[Value, Value]:
        """Return a convention's difference from the textbook, and the reason in a few words."""
        from rnncalc.questions.compare import BASE  # imported only for a comparison of conventions

        base = self.allocations.networks[BASE]
        more = params - base.params if base else 0
        if not more:
            return "", "" if name == BASE else "as the textbook"
        differences = [each for each in self.allocations.differences if each.convention == name]
        sizes: dict[tuple[str, str], list[str]] = {}
        for each in differences:
            if not each.stored:
                sizes.setdefault((letters(each.biases), letters(each.biases_of_textbook)), []).extend(each.layers)
        biases = "; ".join(
            f"{size}{f' in {_few(names)}' if len(sizes) > 1 else ''}, not {base_size}"
            for (size, base_size), names in sizes.items()
        )
        stored = dict.fromkeys(f"{letters(each.biases)} stored" for each in differences if each.stored)
        reasons = (*[f"biases {biases}"][: bool(biases)], *stored)
        return cell(more) if has_letters(more) else f"{more:+,}".replace("-", "−"), "; ".join(reasons)

    def _left_out(self) -> Iterator[str]:
        """Yield a sentence on the conventions that lack a layer or an option, those that lack the same together."""
        lacking: dict[str, list[str]] = {}
        for name, problem in self.allocations.problems.items():
            lacking.setdefault(str(problem.path[-1]), []).append(name)
        if lacking:
            reasons = [f"because of {what}: {all_of(names)}" for what, names in lacking.items()]
            yield f"Not counted {'; '.join(reasons)}."

    def _rows(self) -> Iterator[tuple[Placed, dict[str, int | None]]]:
        """Yield each layer with its parameters under each convention."""
        networks = self.allocations.networks
        for number, placed in enumerate(self.allocations.network.stack):
            yield placed, {name: each.stack[number].params if each else None for name, each in networks.items()}

    def _totals(self) -> dict[str, int | None]:
        return {name: each.params if each else None for name, each in self.allocations.networks.items()}


def _explained(difference: ConventionDifference) -> str:
    more = f"{abs(difference.params):,} {'more' if difference.params > 0 else 'fewer'}"
    layers, tensors = _few(difference.layers), ", ".join(difference.tensors)
    if difference.stored:
        return f"{more} in {layers} than the textbook, which does not count the stored means and variances ({tensors})"
    biases = f"{letters(difference.biases)} instead of {letters(difference.biases_of_textbook)}"
    return f"{more} in {layers} than the textbook, biases of {biases} ({tensors})"


def _few(names: Sequence[str]) -> str:
    """Return the names of layers; of many, the first two and how many others there are."""
    return ", ".join(names if len(names) <= MOST_NAMES else [*names[:2], f"{len(names) - 2:,} others"])
