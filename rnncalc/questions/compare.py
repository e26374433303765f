"""`compare`: the same widths as RNN, GRU, LSTM and dense; several networks side by side; and how T changes it all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, NamedTuple

from rnncalc.errors import RefusedError, SpecError
from rnncalc.layers.cell import GRU, LSTM, RNN, Cell
from rnncalc.layers.layer import Layer
from rnncalc.layers.options import MAX_SIZE
from rnncalc.network.network import Network
from rnncalc.network.parts import Part
from rnncalc.questions.count import total
from rnncalc.questions.dense import DenseEquivalent, dense_equivalent
from rnncalc.questions.solve import counting, largest
from rnncalc.reports.sheet import Bar, Column, Sheet, Value, setting

KINDS: tuple[type[Cell], ...] = (RNN, GRU, LSTM)
CHOSEN_STEPS = (1, 2, 5, 10, 20, 50)
"""The numbers of steps shown of a range, times powers of 100, and its ends."""

LEVELS = "▁▂▃▄▅▆▇█"


class Compared(NamedTuple):
    """One side of a comparison; `units` is the width found for it, where a width was looked for."""

    name: str
    params: int | None
    multiply_adds: int | None
    bytes: int | None
    units: int | None = None


class Comparison(NamedTuple):
    """Networks, or one network as several kinds, beside each other; ratios are to the first."""

    name: str
    subtitle: str
    sides: tuple[Compared, ...]
    notes: tuple[str, ...]
    searched: bool = False

    def data(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "name": self.name,
            "rows": [{**side._asdict(), "ratio": self._ratio(side)} for side in self.sides],
            "notes": list(self.notes),
        }

    def _ratio(self, side: Compared) -> float | None:
        first = self.sides[0].params
        return side.params / first if first and side.params is not None else None

    def sheets(self) -> list[Sheet]:
        """Return a row a side, each with a bar drawn to the scale of the largest."""
        most = max((side.params or 0 for side in self.sides), default=0) or 1
        columns = (
            Column("Network", key=True),
            *([Column("Units", right=True)] if self.searched else []),
            Column("Parameters", right=True),
            Column("Ratio", right=True),
            Column("Multiply-adds", right=True),
            Column("Bytes", right=True),
            Column(""),
        )
        rows: list[tuple[Value, ...]] = [
            (
                side.name,
                *([side.units] if self.searched else []),
                side.params,
                self._ratio(side),
                side.multiply_adds,
                side.bytes,
                None if side.params is None else Bar(side.params / most),
            )
            for side in self.sides
        ]
        return [Sheet(columns, rows, title=self.name, subtitle=self.subtitle, notes=self.notes)]


class Growth(NamedTuple):
    """How the dense equivalent grows with the number of steps while the network stays as it is."""

    name: str
    subtitle: str
    params: int
    rows: tuple[tuple[int, int], ...]

    def data(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "name": self.name,
            "params": self.params,
            "rows": [
                {"steps": steps, "params": self.params, "dense": dense, "ratio": self._ratio(dense)}
                for steps, dense in self.rows
            ],
        }

    def _ratio(self, dense: int) -> float | None:
        return dense / self.params if self.params else None

    def sheets(self) -> list[Sheet]:
        """Return a row for each chosen number of steps, and a line that draws the growth."""
        most = max(dense for _, dense in self.rows) or 1
        columns = (
            Column("Steps", right=True, key=True),
            *(Column(title, right=True) for title in ("Recurrent", "Dense equivalent", "Ratio")),
            Column(""),
        )
        rows: list[tuple[Value, ...]] = [
            (steps, self.params, dense, self._ratio(dense), Bar(dense / most)) for steps, dense in self.rows
        ]
        line = "".join(LEVELS[min(7, dense * 8 // (most + 1))] for _, dense in self.rows)
        notes = (
            f"Dense equivalent {line} over {self.rows[0][0]:,} to {self.rows[-1][0]:,} steps; recurrent, no change.",
        )
        return [Sheet(columns, rows, title=self.name, subtitle=self.subtitle, notes=notes)]


def side_by_side(networks: list[Network], bytes_each: int) -> Comparison:
    """Return several networks beside each other."""
    return Comparison("Comparison", "", tuple(_side(network.name, network, bytes_each) for network in networks), ())


def as_kinds(network: Network, bytes_each: int) -> Comparison:
    """Return one network with the same widths as RNN, GRU, LSTM and as its dense equivalent."""
    sides, notes = [_side("as it is", network, bytes_each)], []
    for kind in KINDS:
        try:
            sides.append(_side(kind.kind, _with(network, kind), bytes_each))
        except SpecError as error:
            notes.append(f"{kind.kind}: {error.problems[0].message}.")
    dense = dense_equivalent(network)
    if dense:
        sides.append(_dense_side(dense, bytes_each))
    else:
        notes.append("dense: not known without the number of steps; give steps, or -T.")
    if sides[0].multiply_adds is None:
        notes.append("Multiply-adds: not known without the number of steps, or with a part counted elsewhere.")
    return Comparison(network.name, setting(network), tuple(sides), tuple(notes))


def as_kinds_of_same_params(network: Network, bytes_each: int) -> Comparison:
    """Return the width at which each kind has about the parameters of the network, never more.

    Raises RefusedError when the network has no recurrent layer.
    """
    if not any(isinstance(placed.layer, Cell) for placed in network.placed):
        raise RefusedError("no layer is recurrent, so there is no width to look for")
    sides, notes = [_side("as it is", network, bytes_each)], []
    for kind in KINDS:

        def sized(units: int, kind: type[Cell] = kind) -> Network:
            return _with(network, kind, units)

        units = largest(counting(sized), network.params, MAX_SIZE)
        if units:
            sides.append(_side(kind.kind, sized(units), bytes_each)._replace(units=units))
        else:
            notes.append(f"{kind.kind}: no width fits in {network.params:,} parameters.")
    notes.append(
        "All recurrent layers of a row have the same units, the most that keep within the first row's parameters."
    )
    return Comparison(network.name, setting(network), tuple(sides), tuple(notes), searched=True)


def growth(network: Network, first: int, last: int) -> Growth:
    """Return the dense equivalent for chosen numbers of steps from `first` to `last`."""
    if network.topology == "one-to-one":
        raise RefusedError("a one-to-one network has 1 step, so nothing grows; choose another topology")
    rows = []
    for steps in chosen(first, last):
        dense = dense_equivalent(with_steps(network, steps))
        rows.append((steps, dense.params if dense else 0))
    subtitle = f"{network.topology_name}; parameters by the number of steps"
    return Growth(network.name, subtitle, network.params, tuple(rows))


def chosen(first: int, last: int) -> list[int]:
    """Return a few numbers of a range: its ends, and 1, 2, 5, 10 ... between them."""
    scale = 1
    found = {first, last}
    while scale <= last:
        found |= {scale * step for step in CHOSEN_STEPS if first <= scale * step <= last}
        scale *= 100
    return sorted(found)


def with_steps(network: Network, steps: int) -> Network:
    """Return the network with another number of steps, in both halves of an encoder-decoder."""
    return network.with_parts({name: part._replace(steps=steps) for name, part in network.parts.items()})


def _with(network: Network, kind: type[Cell], units: int | None = None) -> Network:
    """Return the network with every recurrent layer of a kind, and of so many units if told."""
    times = {"decoder": _doubled(network.encoder)} if network.encoder else {}
    parts = {}
    for name, part in network.parts.items():
        layers = _layers_with(part.layers, kind, units and units * times.get(name or "", 1))
        parts[name] = part._replace(layers=tuple(layers))
    return network.with_parts(parts)


def _doubled(encoder: Part) -> int:
    """Return how many times wider than the encoder's cells the decoder's must be to take their states."""
    return 2 if any(isinstance(layer, Cell) and layer.bidirectional for layer in encoder.layers) else 1


def _layers_with(layers: tuple[Layer, ...], kind: type[Cell], units: int | None) -> Iterator[Layer]:
    common = [field.name for field in fields(Cell)]
    for layer in layers:
        if not isinstance(layer, Cell):
            yield layer
        elif isinstance(layer, kind):
            yield replace(layer, units=units or layer.units)
        else:
            kept = {option: getattr(layer, option) for option in common}
            yield kind(**{**kept, "units": units or layer.units})


def _side(name: str, network: Network, bytes_each: int) -> Compared:
    multiply_adds = total(placed.multiply_adds for placed in network.placed)
    return Compared(name, network.params, multiply_adds, network.params * bytes_each)


def _dense_side(dense: DenseEquivalent, bytes_each: int) -> Compared:
    multiply_adds = total(layer.multiply_adds for layer in dense.layers)
    return Compared("dense", dense.params, multiply_adds, dense.params * bytes_each)
