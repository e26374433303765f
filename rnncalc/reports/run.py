"""What a forward pass says: a line a layer, what differs in sentences, the outputs, and every state if so wished."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rnncalc.forward.network_pass import Ran
from rnncalc.questions.run import Run
from rnncalc.reports.report import DataReport, RecordReport, SheetReport
from rnncalc.reports.setting import one_to_many, setting, steps_of, title
from rnncalc.reports.sheet import Column, Row, Sheet
from rnncalc.reports.states import finite, state_sheets, states_data, vector

SHOWN_STEPS = 4


class RunReport(SheetReport, DataReport, RecordReport):
    """A forward pass; states: whether to show the states and gates that it kept."""

    run: Run
    states: bool = False

    @property
    def agrees(self) -> bool:
        """Whether every layer did what is declared of it."""
        return self.run.agrees

    def data(self) -> dict[str, Any]:
        """Return the object for programs; a number that is infinite or none at all is null."""
        network = self.run.network
        return {
            "name": network.name,
            "convention": network.convention,
            "topology": network.topology_name,
            "steps": steps_of(network),
            "feedback": network.feedback,
            "agrees": self.run.agrees,
            "outputs": finite(self.run.outputs),
            "layers": (self._layer_data(layer) for layer in self.run.layers),
        }

    def _layer_data(self, layer: Ran) -> dict[str, Any]:
        placed = layer.placed
        data: dict[str, Any] = {
            "name": placed.name,
            "shape": layer.shape,
            "declared_shape": placed.output_shape,
            "weights": layer.weights,
            "weights_read": layer.weights_read,
            "multiply_adds": placed.multiply_adds,
            "multiplications": layer.multiplications,
            "output": finite(layer.output),
            "agrees": layer.agrees,
            "reason": layer.reason,
        }
        return data | states_data(layer) if self.states else data

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return a row a layer."""
        return _HEADER, (_record(self.run.network.name, layer) for layer in self.run.layers)

    def sheets(self) -> list[Sheet]:
        """Return a line a layer, the outputs where they are few, and with `states` every step of every layer."""
        states = [sheet for layer in self.run.layers for sheet in state_sheets(layer)] if self.states else []
        return [self._layer_sheet(), *states]

    def _layer_sheet(self) -> Sheet:
        layers = self.run.layers
        return Sheet(
            columns=(
                Column("", key=True),
                Column("Layer", key=True),
                Column("Output shape"),
                *(Column(title, right=True) for title in ("Weights", "Weights read", "Multiplications")),
            ),
            rows=[
                ("✓" if layer.agrees else "✗", layer.placed.name, layer.shape, *_numbers_of(layer)) for layer in layers
            ],
            total=(
                "",
                "Total",
                "",
                *(sum(n or 0 for n in numbers) for numbers in zip(*map(_numbers_of, layers), strict=True)),
            ),
            title=title(self.run.network),
            subtitle=f"forward pass; {setting(self.run.network)}",
            notes=tuple(_notes(self.run)),
        )


_HEADER = (
    *("network", "name", "shape", "declared_shape", "weights", "weights_read"),
    *("multiply_adds", "multiplications", "agrees"),
)


def _notes(run: Run) -> Iterator[str]:
    if run.assumed_steps is not None:
        steps = run.assumed_steps
        yield f"The number of steps is not given, so {steps} were run; -T runs another number."
    if later := one_to_many(run.network):
        yield later
    for layer in run.layers:
        if layer.to_read is not None and layer.weights is not None and layer.to_read < layer.weights:
            yield f"{layer.placed.name}: its table is there whole; a pass reads the rows it looks up."
    yield from outcome(run)


def outcome(run: Run) -> Iterator[str]:
    """Yield what a pass came to: every difference, the output, and that all is as it is counted."""
    for layer in run.layers:
        yield from (f"✗ {layer.placed.name}: {difference}" for difference in _differences(layer))
    if run.missing:
        yield f"✗ {run.missing} more layer{'s' if run.missing > 1 else ''} could not be run."
    elif last := run.layers[-1].shape:
        flat = [run.outputs] if len(last) == 1 else run.outputs
        more = "; …" if len(flat) > SHOWN_STEPS else ""
        yield f"Output: {'; '.join(map(vector, flat[:SHOWN_STEPS]))}{more}"
    if run.agrees:
        yield "✓ Shapes, weights read and multiplications are what the counts say, in every layer."


def _record(network: str, layer: Ran) -> Row:
    placed = layer.placed
    return (
        network,
        placed.name,
        layer.shape,
        placed.output_shape,
        layer.weights,
        layer.weights_read,
        placed.multiply_adds,
        layer.multiplications,
        "true" if layer.agrees else "false",
    )


def _numbers_of(layer: Ran) -> tuple[int | None, int | None, int | None]:
    return layer.weights, layer.weights_read, layer.multiplications


def _differences(layer: Ran) -> Iterator[str]:
    """Yield a sentence for each way in which a layer was not what is declared of it."""
    placed = layer.placed
    if layer.reason:
        yield layer.reason
        return
    if layer.shape != placed.output_shape:
        yield f"the output has the shape {layer.shape}, declared is {placed.output_shape}"
    if layer.weights is None:
        return
    if layer.weights != placed.params:
        yield f"there are {layer.weights:,} weights, counted are {placed.params:,}"
    if layer.weights_read != layer.to_read:
        yield f"{layer.weights_read:,} weights were read, of {layer.to_read:,}"
    if layer.multiplications != placed.multiply_adds:
        yield f"{layer.multiplications:,} multiplications were done, counted are {placed.multiply_adds:,}"
