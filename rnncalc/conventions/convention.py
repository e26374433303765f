"""What a convention says: how a framework names, fuses, orders and orients the parameters of a layer; what it lacks.

A convention is data, one file a framework beside this one, and it is checked when it is built. How it becomes tensors
is `layout.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rnncalc.conventions.arrays import HEARD_OF, Array, CellArrays, DenseArrays
from rnncalc.conventions.checked import check_arrays, check_only, check_plain
from rnncalc.errors import DeclarationError
from rnncalc.layers.cell import Cell
from rnncalc.layers.frozen import Frozen
from rnncalc.layers.kinds import KINDS
from rnncalc.text import did_you_mean

NO_NAMES: Mapping[str, str] = {}


class Convention(Frozen):
    """One framework's layout. Raises DeclarationError, naming the part, for one that contradicts itself.

    title: how people write its name; note: its biases in a few words; why: the reason for them.
    cells: by kind, or one for every kind.
    output: the arrays of the output layer, where they differ from other dense layers'.
    directions: what marks the two directions of a bidirectional layer, in the slot of a name or else before it; None
        where both share a tensor along the axis DIRECTIONS.
    renamed: names that the framework spells in another way, with theirs.
    symbols: whether its names are symbols of mathematics, a letter and after `_` what stands below it.
    """

    name: str
    title: str
    note: str
    why: str
    cells: Mapping[str, CellArrays] | CellArrays
    dense: DenseArrays
    embedding: Array
    output: DenseArrays | None = None
    directions: tuple[str, str] | None = ("forward/", "backward/")
    renamed: Mapping[str, str] = NO_NAMES
    symbols: bool = False

    @property
    def layouts(self) -> dict[object, Any]:
        """The layouts that have been made under it: they are the convention's and go with it."""
        made: dict[object, Any] = self.__dict__["_layouts"]
        return made

    @property
    def traces(self) -> dict[object, list[Any]]:
        """The traces of steps that have been made under it."""
        made: dict[object, list[Any]] = self.__dict__["_traces"]
        return made

    def __post_init__(self) -> None:
        self.__dict__["_layouts"] = {}
        self.__dict__["_traces"] = {}
        check_plain(self.name, (self.dense, self.output or self.dense), self.embedding)
        if isinstance(self.cells, CellArrays):
            check_arrays(self.name, self.cells)
            check_only(self.name, self.cells, KINDS)
            return
        for kind, arrays in self.cells.items():
            if kind not in KINDS:
                raise DeclarationError(f"{self.name}: {kind}: no such kind{did_you_mean(kind, [*KINDS])}")
            check_arrays(f"{self.name}: {kind}", arrays)
            check_only(f"{self.name}: {kind}", arrays, (kind,))

    def arrays(self, kind: str) -> CellArrays | None:
        """Return how it lays out a kind of cell, None where it has none such."""
        return self.cells if isinstance(self.cells, CellArrays) else self.cells.get(kind)

    def cannot(self, layer: Cell) -> Iterator[str]:
        """Yield the options of a cell that it cannot express with the values they have."""
        arrays = self.arrays(layer.kind)
        if arrays is None:
            return
        whole = isinstance(self.cells, CellArrays)
        for option, value in layer.__dict__.items():
            values = arrays.only.get(option)
            if values is None and not whole and option not in HEARD_OF:
                values = (layer.defaults[option],)
            if values is not None and value not in values:
                yield option
        if self.excess(layer) > 0:
            yield "projection"

    def excess(self, layer: Cell) -> int:
        """Return by how much a projection is wider than it may be; 0 where it is not."""
        arrays, projection = self.arrays(layer.kind), layer.__dict__.get("projection")
        if arrays is None or not arrays.projects_down or projection is None:
            return 0
        return max(0, int(projection) - layer.units + 1)
