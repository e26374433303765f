"""`count --shapes`: what each module of a network reads and returns, in its framework's order of axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from rnncalc.conventions import convention
from rnncalc.conventions.rules import Returns
from rnncalc.errors import CallError, RefusedError
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, Transform
from rnncalc.network.flow import Placement, Recur, ends
from rnncalc.network.flow import shapes as shapes_of
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.questions import described_of, whole

if TYPE_CHECKING:
    from rnncalc.network.model import Described

GRID = "PQ"
"""The axes of the places of a step, one or two."""

Axes = dict[str, int | None]
"""The size of each axis by its letter, as in `Returns`, in order; None for an unknown batch or number of steps."""


class ModuleShapes(NamedTuple):
    """The arrays that a framework's module reads and returns. places: its layers, several for a stacked `repeat`."""

    places: tuple[Placed, ...]
    input: Axes
    returns: Mapping[str, Axes]

    @property
    def name(self) -> str:
        """The name of its layer, or the names of its first and last."""
        first, *others = [placed.name for placed in self.places]
        return f"{first} to {others[-1]}" if others else first


class NetworkShapes(NamedTuple):
    """The shapes of all modules, in order. time_first: whether the axis of steps is before the batch."""

    network: Described
    returns: Returns
    batch: int | None
    time_first: bool
    modules: tuple[ModuleShapes, ...]


def shapes(network: Described, batch: int | None = None, *, time_first: bool = False) -> NetworkShapes:
    """Return the arrays that each module reads and returns. batch: the sequences in a batch, None for any number.

    time_first: PyTorch's default. Raises CallError if the framework lacks that order, and for an invalid batch.
    """
    network = described_of(network)
    if not isinstance(network, Network):
        each = {name: shapes(member.network, batch, time_first=time_first) for name, member in network.networks.items()}
        known, *others = {one.returns.output: one.returns for one in each.values()}.values()
        if others:
            raise RefusedError("the networks are those of several frameworks, whose shapes have different axes")
        every = [
            module._replace(places=tuple(placed._replace(network=name) for placed in module.places))
            for name, one in each.items()
            for module in one.modules
        ]
        return NetworkShapes(network, known, batch, time_first, tuple(every))
    if batch is not None:
        whole("batch", batch, 1)
    row = convention(network.convention)
    returns = row.returns
    if returns is None:
        raise CallError(f"{row.title}: what its modules return is not known; write returns=Returns(...) in its file")
    if time_first and returns.note_time_first is None:
        why = "has no axis of steps" if "T" not in returns.sequence else "always has the batch first"
        raise CallError(f"time_first: {row.title} {why}; leave it out")
    moves = network.flow
    outputs_at, ended = shapes_of(moves), ends(moves)
    at = {move.name: place for place, move in enumerate(moves) if isinstance(move, Placement)}

    def array(axes: str, sizes: Axes, grid: tuple[int, ...] = ()) -> Axes:
        axes = axes.replace("BT", "TB") if time_first else axes
        if grid:  # the places of a step, then the numbers at each place
            axes = axes.replace("W", GRID[: len(grid)] + "W")
            sizes = {**sizes, **dict(zip(GRID, grid, strict=False)), "W": (sizes["W"] or 0) // prod(grid)}
        return {axis: sizes[axis] for axis in axes}

    modules: list[ModuleShapes] = []
    for places in _runs(network, returns):
        first, last = places[0], at[places[-1].name]
        read = outputs_at[moves[at[first.name]].reads[0]]
        layer, recurs = first.layer, isinstance(moves[last], Recur)
        # a recurrent module always reads a sequence; with feedback it is called with one step at a time
        steps = 1 if network.feedback or len(read) == 1 else read[0]
        sizes: Axes = {"B": batch, "T": steps, "W": first.inputs}
        around = row.transform(layer.kind) if isinstance(layer, Transform) else None
        along = returns.sequence if recurs or len(read) > 1 else returns.sequence.replace("T", "")
        if around and around.steps_last and "T" in along:
            along = "BWT"
        joins = around and "T" not in along and len(read) > 1 and outputs_at[last] != (read[0], outputs_at[last][-1])
        if joins:  # what changes the number of steps is no step of its own
            along = "BTW"
        inputs = array(along.replace("W", "") if isinstance(layer, Embedding) else along, sizes, first.grid)
        if not isinstance(layer, Cell):
            axes, output = along, {**sizes, "W": places[-1].outputs}
            if around:
                after = outputs_at[last]
                many = len(after) > 1 and (joins or "T" in returns.sequence)
                axes = (along if "T" in along else returns.sequence) if many else along.replace("T", "")
                output = {**sizes, "T": after[0], "W": after[-1]}
            plain = "Y" if returns.output == "Y" else "output"
            modules.append(ModuleShapes(places, inputs, {plain: array(axes, output, places[-1].output_grid)}))
            continue
        ways, widths = layer.directions, first.sizes
        one = widths[layer.output]
        side_by_side = places[-1].outputs if returns.merges or "T" not in returns.axes else ways * one
        output = {**sizes, "D": ways, "W": one if "D" in returns.axes else side_by_side}
        axes = returns.axes.replace("T", "") if returns.last and len(outputs_at[ended[last]]) == 1 else returns.axes
        spelled = network.spelling.letter if row.symbols else str
        arrays = {returns.output.replace("h_", f"{spelled('h')}_"): array(axes, output, layer.grid)}
        marks = row.directions if ways > 1 and not {*"DL"} & {*returns.state_axes} else None
        for mark in marks or ("",):
            for letter, width in layer.states.items():
                state = {**sizes, "D": ways, "L": ways * len(places), "W": widths[width]}
                arrays[mark + returns.state.format(spelled(letter))] = array(returns.state_axes, state, layer.grid)
        modules.append(ModuleShapes(places, inputs, arrays))
    return NetworkShapes(network, returns, batch, time_first, tuple(modules))


def _runs(network: Network, returns: Returns) -> Iterator[tuple[Placed, ...]]:
    """Yield the layers of each module: one layer, or a `repeat` that the framework stacks in one module."""
    run: list[Placed] = []
    for placed in network.stack:
        layer = placed.layer
        stacked = isinstance(layer, Cell) and layer.merge in (None, "concat") and not layer.extra_inputs
        if run and not (placed.copy and returns.stacks and stacked and not run[-1].starts):
            yield tuple(run)
            run = []
        run.append(placed)
    yield tuple(run)
