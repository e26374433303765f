"""A forward pass in plain Python that confirms, layer by layer, the shapes, the weights and the work.

Three confirmations a layer, each observed where it happens and held against what the model declares: the shape that
leaves it, the weights it read, and the multiplications of its matrix products. How a sequence flows through a topology
is written here a second time, by hand, for the same reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from random import Random
from typing import Any, NamedTuple

from rnncalc.forward.arrays import Arrays, BindingError, Matrix, Meter, Nested, Progress, filled
from rnncalc.forward.bindings import binding
from rnncalc.forward.recurrent import State, Trace, run_cell
from rnncalc.forward.vectors import ACTIVATIONS, LengthError, Vector, plus
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External, Output
from rnncalc.network.network import Network
from rnncalc.network.parts import Part
from rnncalc.network.stack import Placed

Flow = list[Any]
"""What passes between layers: a vector or a token number a step; one alone where no sequence flows."""


class Ran(NamedTuple):
    """What one layer was seen to do.

    shape: of what left it; output: that itself, a sequence of vectors or one vector.
    weights: how many it has; to_read: how many of them a pass must read, all but the rows of a table not looked up.
    traces: the states of each step, a list a direction.
    reason: what the declaration lacked, where the layer could not be run.
    """

    placed: Placed
    shape: tuple[int, ...] | None = None
    output: Any = None
    weights: int | None = None
    to_read: int | None = None
    weights_read: int | None = None
    multiplications: int | None = None
    traces: tuple[Trace, ...] = ()
    reason: str | None = None

    @property
    def agrees(self) -> bool:
        """Whether all three confirmations hold."""
        if self.reason or self.shape != self.placed.output_shape:
            return False
        if isinstance(self.placed.layer, External):
            return True
        return (
            self.weights == self.placed.params
            and self.weights_read == self.to_read
            and self.multiplications == self.placed.multiply_adds
        )


class Pass:
    """One forward pass through a network whose numbers of steps are known.

    weights, inputs: the numbers to use, made from the seed where they are not given.
    traced: whether to keep the states of every step.
    """

    def __init__(
        self,
        network: Network,
        seed: int = 0,
        weights: dict[str, dict[str, Nested]] | None = None,
        inputs: dict[str | None, Flow] | None = None,
        progress: Progress | None = None,
        *,
        traced: bool = False,
    ) -> None:
        self.network = network
        self.binding = binding(network.convention)
        self.weights = weights
        self.inputs = inputs or {}
        self.progress = progress
        self.traced = traced
        # Python promises the same numbers from `random()` for the same seed, on every machine and in every version.
        self.of_weights = Random(f"{seed} weights").random
        self.of_inputs = Random(f"{seed} inputs").random
        self.table: Nested = []  # the part's embedding, which a tied output shares
        self.carried: list[State] = []  # the encoder's final states, both directions joined

    def run(self) -> Iterator[Ran]:
        """Yield what each layer did, in order; the first that cannot be run is the last."""
        for name, part in self.network.parts.items():
            topology = self.network.topology_of(name)
            placed = [place for place in self.network.placed if place.part == name]
            steps = part.steps or 1
            many = topology.startswith("many")
            flow = self.inputs.get(name) or self._inputs(part, steps if many else 1)
            turn = _turn(placed, topology)
            for number, place in enumerate(placed):
                try:
                    ran, flow, many = self._layer(place, flow, many, topology if number == turn else "", steps)
                except (BindingError, LengthError) as lack:
                    yield Ran(place, reason=str(lack))
                    return
                yield ran

    def _layer(self, place: Placed, flow: Flow, many: bool, turn: str, steps: int) -> tuple[Ran, Flow, bool]:
        """Run one layer; `turn` names the topology where this layer ends or begins the sequence."""
        meter = Meter(self.progress)
        arrays = self._arrays(place)
        layer = place.layer
        to_read: int | None = arrays.scalars
        traces: tuple[Trace, ...] = ()
        many = many or turn == "one-to-many"
        if turn == "one-to-many" and not isinstance(layer, Embedding):
            flow = flow + [[0.0] * len(flow[0])] * (steps - 1)
        if layer.extra_inputs:
            flow = [x + self._random(layer.extra_inputs) for x in flow]
        final: Vector | None = None
        match layer:
            case Cell():
                start = self.carried.pop(0) if place.part == "decoder" else None
                cell = run_cell(layer, arrays, meter, flow, self.binding, start=start, traced=self.traced)
                flow, final, traces = cell.outputs, cell.final, cell.traces
                if place.part == "encoder":
                    self.carried.append(cell.state)
            case Dense():
                flow = self._dense(place, layer, arrays, meter, flow)
            case Embedding():
                to_read = len({*flow}) * layer.units
                flow = self._look_up(layer, arrays, meter, flow)
                if turn == "one-to-many":
                    flow += [[0.0] * layer.units] * (steps - 1)
            case External():
                flow = [self._random(len(x) if layer.outputs is None else layer.outputs) for x in flow]
        if turn == "many-to-one":
            flow, many = [final or flow[-1]], False
        shape = (len(flow), len(flow[0])) if many else (len(flow[0]),)
        output = flow if many else flow[0]
        if isinstance(layer, External):
            return Ran(place, shape, output), flow, many
        ran = Ran(place, shape, output, arrays.scalars, to_read, meter.weights_read, meter.multiplications, traces)
        return ran, flow, many

    def _arrays(self, place: Placed) -> Arrays:
        if isinstance(place.layer, External):
            return Arrays({})
        tensors = place.tensors
        if self.weights is not None:
            return Arrays(self.weights.get(place.name, {}), tensors, place.copy)
        fan = place.outputs if isinstance(place.layer, Cell) else place.inputs
        bound = 1.0 if isinstance(place.layer, Embedding) else 1.0 / sqrt(fan)
        filling = {tensor.name: filled(tensor, bound, self.of_weights) for tensor in tensors}
        return Arrays(filling, tensors, place.copy)

    def _dense(self, place: Placed, layer: Dense, arrays: Arrays, meter: Meter, flow: Flow) -> Flow:
        kernel, bias, transposed = (isinstance(layer, Output) and self.binding.output) or self.binding.dense
        if isinstance(layer, Output) and layer.tied:
            matrix = Matrix("the embedding's", self.table, shared=True)
        else:
            matrix = arrays.matrix(kernel, transposed=transposed)
        vector = arrays.vector(bias) if layer.bias else None
        activation = ACTIVATIONS[layer.activation]
        done = []
        for x in flow:
            sums = meter.product(matrix, x)
            done.append(activation(plus(sums, meter.vector(vector)) if vector else sums))
        return done

    def _look_up(self, layer: Embedding, arrays: Arrays, meter: Meter, flow: Flow) -> Flow:
        self.table = arrays.matrix(self.binding.embedding).rows
        for token in flow:
            meter.read(token, len(self.table[token]))
        return [self.table[token] for token in flow]

    def _inputs(self, part: Part, count: int) -> Flow:
        """Return inputs as wide as the spec says, whatever the stack declares."""
        if isinstance(part.layers[0], Embedding):
            return [int(self.of_inputs() * part.input) for _ in range(count)]
        return [self._random(part.input) for _ in range(count)]

    def _random(self, count: int) -> Vector:
        return [2.0 * self.of_inputs() - 1.0 for _ in range(count)]


def _turn(placed: list[Placed], topology: str) -> int | None:
    """Return the number of the layer where a sequence ends in one vector, or begins from one."""
    layers = [place.layer for place in placed if place.name != "output"]
    cells = [number for number, layer in enumerate(layers) if isinstance(layer, Cell)]
    if topology == "many-to-one":
        return cells[-1] if cells else len(layers) - 1
    if topology == "one-to-many":
        others = [number for number, layer in enumerate(layers) if not isinstance(layer, Embedding)]
        return (cells or others or [0])[0]
    return None
