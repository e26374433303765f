"""`run`: does a real forward pass have the shapes, read the weights and do the work that the counts say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any, NamedTuple

from rnncalc.errors import RefusedError
from rnncalc.forward.arrays import Nested, Progress
from rnncalc.forward.forward import Flow, Pass, Ran
from rnncalc.network.network import Network
from rnncalc.reports.sheet import Column, Sheet, Value, setting, steps_of

DEFAULT_STEPS = 3
MOST_MULTIPLY_ADDS = 10**9
MOST_BYTES = 2 * 10**9
BYTES_A_WEIGHT = 10
"""Its place in a list, with what a list allocates ahead; the floats themselves are few (`arrays.filled`)."""

BYTES_AN_OUTPUT = 44
"""The same and a float of its own."""

SECONDS_A_MULTIPLICATION = 25e-9
SHOWN_NUMBERS = 8
SHOWN_STEPS = 4


class Run(NamedTuple):
    """What a forward pass was seen to do."""

    network: Network
    layers: tuple[Ran, ...]
    states: bool
    remarks: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether every layer did what is declared of it."""
        return len(self.layers) == len(self.network.placed) and all(layer.agrees for layer in self.layers)

    def data(self) -> dict[str, Any]:
        """Return the JSON object; a number that is infinite or none at all is null."""
        return {
            "name": self.network.name,
            "convention": self.network.convention,
            "topology": self.network.topology_name,
            "steps": steps_of(self.network),
            "agrees": self.agrees,
            "outputs": _finite(self.layers[-1].output),
            "layers": (self._layer_data(layer) for layer in self.layers),
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
            "output": _finite(layer.output),
            "agrees": layer.agrees,
            "reason": layer.reason,
        }
        if self.states:
            data["states"] = {
                direction: [{letter: _finite(vector) for letter, vector in step.items()} for step in trace]
                for direction, trace in zip(("forward", "backward"), layer.traces, strict=False)
            }
        return data

    def sheets(self) -> list[Sheet]:
        """Return a line a layer, the outputs where they are few, and with `states` every step of every layer."""
        sheets = [self._layer_sheet()]
        if self.states:
            sheets += [sheet for layer in self.layers for sheet in _state_sheets(layer)]
        return sheets

    def _layer_sheet(self) -> Sheet:
        columns = (
            Column("", key=True),
            Column("Layer", key=True),
            Column("Output shape"),
            Column("Weights", right=True),
            Column("Weights read", right=True),
            Column("Multiplications", right=True),
        )
        return Sheet(
            columns=columns,
            rows=[_row(layer) for layer in self.layers],
            total=(
                "",
                "Total",
                "",
                *(_sum(layer, self.layers) for layer in ("weights", "weights_read", "multiplications")),
            ),
            title=self.network.name,
            subtitle=f"forward pass; {setting(self.network)}",
            notes=tuple(self._notes()),
        )

    def _notes(self) -> Iterator[str]:
        yield from self.remarks
        for layer in self.layers:
            if layer.to_read is not None and layer.weights is not None and layer.to_read < layer.weights:
                yield f"{layer.placed.name}: its table is there whole; a pass reads the rows it looks up."
        for layer in self.layers:
            yield from (f"✗ {layer.placed.name}: {reason}" for reason in _differences(layer))
        missing = len(self.network.placed) - len(self.layers)
        if missing:
            yield f"✗ {missing} more layer{'s' if missing > 1 else ''} could not be run."
        last = self.layers[-1]
        if last.shape and not missing:
            flat = [last.output] if len(last.shape) == 1 else last.output
            more = "; …" if len(flat) > SHOWN_STEPS else ""
            yield f"Output: {'; '.join(map(_numbers, flat[:SHOWN_STEPS]))}{more}"
        if self.agrees:
            yield "✓ Shapes, weights read and multiplications are what the counts say, in every layer."

    def records(self) -> tuple[tuple[str, ...], Iterable[tuple[Value, ...]]]:
        """Return a row a layer, for CSV."""
        header = (
            *("network", "name", "shape", "declared_shape", "weights", "weights_read"),
            *("multiply_adds", "multiplications", "agrees"),
        )
        rows = [
            (
                self.network.name,
                layer.placed.name,
                layer.shape,
                layer.placed.output_shape,
                layer.weights,
                layer.weights_read,
                layer.placed.multiply_adds,
                layer.multiplications,
                "true" if layer.agrees else "false",
            )
            for layer in self.layers
        ]
        return header, rows


def run(
    network: Network,
    *,
    seed: int = 0,
    weights: dict[str, dict[str, Nested]] | None = None,
    inputs: dict[str | None, Flow] | None = None,
    states: bool = False,
    most_multiply_adds: int = MOST_MULTIPLY_ADDS,
    progress: Progress | None = None,
) -> Run:
    """Run a forward pass through a network and return what it was seen to do.

    weights, inputs: the numbers to use, as `spec.data` reads them; made from the seed where they are not given.
    progress: told after each matrix product how many multiplications it was.
    Raises RefusedError when the pass would take more multiply-adds than `most_multiply_adds`, or 2 GB.
    """
    timed, remarks = with_steps(network, inputs or {})
    _check_cost(timed, most_multiply_adds)
    layers = Pass(timed, seed, weights, inputs, progress, traced=states).run()
    return Run(timed, tuple(layers), states, remarks)


def with_steps(network: Network, inputs: dict[str | None, Flow]) -> tuple[Network, tuple[str, ...]]:
    """Return the network with numbers of steps, those of the inputs or a default where it has none; and say so."""
    unknown = [name for name, part in network.parts.items() if part.steps is None]
    if not unknown:
        return network, ()
    steps = {
        name: len(inputs[name]) if name in inputs and network.topology_of(name) != "one-to-many" else DEFAULT_STEPS
        for name in unknown
    }
    remarks = (
        () if inputs else (f"The number of steps is not given, so {DEFAULT_STEPS} were run; -T runs another number.",)
    )
    parts = {name: part._replace(steps=steps.get(name, part.steps)) for name, part in network.parts.items()}
    return network.with_parts(parts), remarks


def cost_of(network: Network) -> int:
    """Return the multiply-adds of a pass, those of parts counted elsewhere left out."""
    return sum(placed.multiply_adds or 0 for placed in network.placed)


def _check_cost(network: Network, most: int) -> None:
    cost = cost_of(network)
    if cost > most:
        time = duration(cost * SECONDS_A_MULTIPLICATION)
        message = f"a pass would do {cost:,} multiply-adds, about {time}, and the limit is {most:,}"
        raise RefusedError(f"{message}; lower the number of steps with -T, or raise --max-multiply-adds")
    held = sum(placed.params for placed in network.placed if placed.layer.kind != "external")
    flowing = sum((placed.uses or 1) * placed.outputs for placed in network.placed)
    size = held * BYTES_A_WEIGHT + flowing * BYTES_AN_OUTPUT
    if size > MOST_BYTES:
        message = f"a pass would hold {held:,} weights and {flowing:,} outputs, about {size / 1e9:,.1f} GB"
        raise RefusedError(f"{message}, and the limit is 2 GB; lower the number of steps with -T, or the widths")


def duration(seconds: float) -> str:
    """Return a time in words, in the largest unit that fits."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = round(seconds / size)
            return f"{count:,} {unit}{'s' if count > 1 else ''}"
    return "a second"


def _row(layer: Ran) -> tuple[Value, ...]:
    shape: Value = layer.shape
    return (
        "✓" if layer.agrees else "✗",
        layer.placed.name,
        shape,
        layer.weights,
        layer.weights_read,
        layer.multiplications,
    )


def _sum(of: str, layers: tuple[Ran, ...]) -> int:
    return sum(getattr(layer, of) or 0 for layer in layers)


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


def _state_sheets(layer: Ran) -> Iterator[Sheet]:
    for direction, trace in zip(("forward", "backward"), layer.traces, strict=False):
        letters = [*trace[0]]
        yield Sheet(
            columns=(Column("Step", key=True), *map(Column, letters)),
            rows=[(step, *(_numbers(states[letter]) for letter in letters)) for step, states in enumerate(trace, 1)],
            title=f"{layer.placed.name}{f', {direction}' if len(layer.traces) > 1 else ''}",
        )


def _numbers(vector: list[float]) -> str:
    more = " …" if len(vector) > SHOWN_NUMBERS else ""
    return " ".join(f"{number:.6g}" for number in vector[:SHOWN_NUMBERS]) + more


def _finite(nested: Any) -> Any:
    """Return the numbers as JSON can hold them: what is no finite number is null."""
    if isinstance(nested, list):
        return [_finite(item) for item in nested]
    return nested if nested is None or isfinite(nested) else None
