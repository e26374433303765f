"""The report of `--vary`: a row for each value of a size, or a grid for two sizes, and curves of the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.reports.compare import THIS_NETWORK
from rnncalc.reports.report import DrawnReport, RowsReport, fields
from rnncalc.typeset.sheet import Column, Row, Sheet, bars_of, number_columns

if TYPE_CHECKING:
    from rnncalc.pictures.picture import Picture
    from rnncalc.questions.compare import Compared
    from rnncalc.questions.count import Count
    from rnncalc.questions.training import Training

OF_TRAINING = {
    "params": "Parameters",
    "saved": "Saved activations",
    "backward_multiply_adds": "Backward",
    "bytes": "Bytes of training",
}
NUMBERS = {
    "params": "Parameters",
    "multiply_adds": "Multiply-adds",
    "multiply_adds_per_step": "Multiply-adds per step",
    "bytes": "Bytes",
}


class Variation(NamedTuple):
    """What a network counts with some values of its sizes. label: which network it is, or as which kind."""

    values: tuple[int, ...]
    label: str
    counted: Count | Compared | Training


class VaryReport(RowsReport, DrawnReport):
    """What networks count for some values of one size or two. title: of the networks; subtitle: their setting.

    of_training: whether that is what a training step needs, its bytes above all, instead of parameters.
    """

    title: str
    subtitle: str
    sizes: tuple[str, ...]
    variations: tuple[Variation, ...]
    of_training: bool = False

    def data(self) -> dict[str, Any]:
        rows = [
            {
                **dict(zip(self.sizes, each.values, strict=True)),
                "compared": each.label,
                **fields(each.counted, *(OF_TRAINING if self.of_training else NUMBERS)),
            }
            for each in self.variations
        ]
        return {"name": self.title, "rows": rows}

    def _tables(self) -> dict[str, dict[str, dict[int, Any]]]:
        """Return one table with a column for each network; for two sizes one for each, a column for each value.

        A column has what is counted by the value of the first size.
        A network that counts as one of the kinds that it is compared as is left out.
        """
        tables: dict[str, dict[str, dict[int, Any]]] = {}
        for each in self.variations:
            first, *others = each.values
            table, column = (each.label, f"{others[0]:,}") if others else ("", each.label)
            tables.setdefault(table, {}).setdefault(column, {})[first] = each.counted
        within: list[dict[str, Any]] = [tables, *tables.values()]
        for named in within:
            params = {key: self._main(value) for key, value in named.items()}
            if params.pop(THIS_NETWORK, None) in params.values():
                del named[THIS_NETWORK]
        return tables

    def sheets(self) -> list[Sheet]:
        sheets: list[Sheet] = []
        note = f"The columns are values of {self.sizes[1]}, the numbers {self._what}." if self.sizes[1:] else ""
        for title, columns in self._tables().items():
            counted, *others = columns.values()
            scale: tuple[str, ...] = ()
            if others or self.sizes[1:]:
                titles = number_columns(*columns)
                rows: list[Row] = [
                    (value, *(self._main(each.get(value)) for each in columns.values())) for value in counted
                ]
            else:
                titles = (*number_columns(*self._known.values(), together=True), Column("", together=True))
                bars, scale = bars_of([self._main(each) or 0 for each in counted.values()])
                rows = [
                    (value, *fields(each, *self._known).values(), bar)
                    for (value, each), bar in zip(counted.items(), bars, strict=True)
                ]
            key = Column(self.sizes[0], right=True, key=True)
            notes = (note or f"The numbers are {self._what}.",) * bool(others or note) or scale
            sheets.append(Sheet((key, *titles), rows, title=title, notes=() if sheets else notes))
        sheets[0] = sheets[0].replace(title=self._heading(sheets[0].title), subtitle=self.subtitle)
        return sheets

    def _heading(self, table: str) -> str:
        """Return the title of the networks, with that of a table or picture if there are several."""
        return ", ".join(filter(None, (self.title, table)))

    @property
    def _known(self) -> dict[str, str]:
        """The numbers that are known, and their titles."""
        if self.of_training:
            return OF_TRAINING
        of_pass = getattr(self.variations[0].counted, "multiply_adds", None)
        left_out = "multiply_adds" if of_pass is None else "multiply_adds_per_step"
        return {key: title for key, title in NUMBERS.items() if key != left_out}

    def page(self) -> Iterator[Sheet | Picture]:
        yield from self.sheets()
        yield from self.pictures()

    def pictures(self, width: int | None = None, signs: Mapping[str, str] | None = None) -> list[Picture]:
        """Return a picture of each table, with a curve for each column, or for as many as can be told apart."""
        from rnncalc.pictures.growth import STYLES, Curves, plotted  # imported only if something is drawn
        from rnncalc.pictures.picture import Caption, Frame

        drawn = []
        for title, columns in self._tables().items():
            names = [*columns]
            names = [*names[: len(STYLES) - 1], *names[len(STYLES) - 1 :][-1:]]
            across = tuple(next(iter(columns.values())))
            lines = {name or self._what: [self._main(columns[name].get(value)) for value in across] for name in names}
            curves = Curves(across, lines, (self.sizes[0],), up=self._what)
            each = f", a curve for each {self.sizes[1]}" if self.sizes[1:] else ""
            setting = f"{self._what.capitalize()} against {self.sizes[0]}{each}; {curves.scales_in_words}"
            frame = Frame(width, str.maketrans({**(signs or {})}))
            drawn.append(plotted(curves, Caption(self._heading(title), setting, (), "growth"), frame))
        return drawn

    @property
    def _what(self) -> str:
        """What one number of a network is, in words."""
        return "bytes of training" if self.of_training else "parameters"

    def _main(self, counted: Any) -> Any:
        """Return that number of what is counted, or of each in a table; None if it is not known."""
        if isinstance(counted, dict):
            return {key: self._main(value) for key, value in counted.items()}
        return getattr(counted, "bytes" if self.of_training else "params", None)
