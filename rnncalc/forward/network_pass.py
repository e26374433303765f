"""A forward pass in plain Python that confirms, layer by layer, the shapes, the weights and the work.

Three confirmations a layer, each observed where it happens and held against what the model declares: the shape that
leaves it, the weights it read, and the multiplications of its matrix products. How a sequence flows through a topology
is written here a second time, by hand, for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Generic, NamedTuple

from rnncalc.forward.arrays import Arrays, BindingError, Matrix, Meter, Nested, Progress
from rnncalc.forward.bindings import binding
from rnncalc.forward.recurrent import Trace, run_cell
from rnncalc.forward.steps import Vectors
from rnncalc.forward.vectors import LengthError
from rnncalc.forward.weights import drawn, source
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output
from rnncalc.layers.operations import Value
from rnncalc.network.network import Network
from rnncalc.network.parts import Part
from rnncalc.network.stack import Placed


class Flow(NamedTuple, Generic[Value]):
    """What passes between layers: a vector or a token number a step, one alone where no sequence flows.

    sequence: as the spec gives them, or as a layer hands them on. many: whether a sequence flows. steps: T.
    """

    sequence: list[Any]
    many: bool
    steps: int


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
    traces: tuple[Trace[list[float]], ...] = ()
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


class Pass(Generic[Value]):
    """One forward pass through a network whose numbers of steps are known.

    vectors: makes what a layer computes with, under its meter. weights, inputs: the numbers to use, made from the
    seed where they are not given. traced: whether to keep the states of every step; kept: where to keep them as the
    vectors that they were, by the layer's name.
    """

    def __init__(
        self,
        network: Network,
        vectors: Callable[[Placed, Meter], Vectors[Value]],
        *,
        seed: int = 0,
        weights: dict[str, dict[str, Nested]] | None = None,
        inputs: dict[str | None, list[Any]] | None = None,
        progress: Progress | None = None,
        traced: bool = False,
        kept: dict[str, tuple[Trace[Value], ...]] | None = None,
    ) -> None:
        self.network = network
        self.vectors = vectors
        self.binding = binding(network.convention)
        self.weights = weights
        self.inputs = inputs or {}
        self.progress = progress
        self.traced = traced
        self.of_weights = source(seed)
        self.of_inputs = Random(f"{seed} inputs").random
        self.table: Matrix | None = None  # the part's embedding, which a tied output shares
        self.carried: list[tuple[Value, ...]] = []  # the encoder's final states, both directions joined
        self.handed: list[Value] = []  # what left the last layer, once it was run
        self.kept = kept

    def run(self) -> Iterator[Ran]:
        """Yield what each layer did, in order; the first that cannot be run is the last."""
        for name, part in self.network.parts.items():
            topology = self.network.topology_of(name)
            placed = [place for place in self.network.placed if place.part == name]
            steps = part.steps or 1
            many = topology.startswith("many")
            flow: Flow[Value] = Flow(self.inputs.get(name) or self._inputs(part, steps if many else 1), many, steps)
            turn = _turn(placed, topology)
            for number, place in enumerate(placed):
                try:
                    ran, flow = self.layer(place, flow, topology if number == turn else "")
                except (BindingError, LengthError) as lack:
                    yield Ran(place, reason=str(lack))
                    return
                yield ran
            self.handed = flow.sequence

    def layer(self, place: Placed, flow: Flow[Value], turn: str) -> tuple[Ran, Flow[Value]]:
        """Run one layer; `turn` names the topology where this layer ends or begins the sequence."""
        meter = Meter(self.progress)
        vectors = self.vectors(place, meter)
        arrays = self.arrays(place)
        layer = place.layer
        sequence = self._entering(vectors, layer, flow, turn)
        final: Value | None = None
        to_read: int | None = arrays.scalars
        traces: tuple[Trace[list[float]], ...] = ()
        match layer:
            case Cell():
                start = self.carried.pop(0) if place.part == "decoder" else None
                keeping = {"traced": self.traced, "keeps": self.kept is not None}
                cell = run_cell(layer, arrays, vectors, sequence, self.binding, start=start, **keeping)
                sequence, final, traces = cell.outputs, cell.final, cell.traces
                if self.kept is not None:
                    self.kept[place.name] = cell.kept
                if place.part == "encoder":
                    self.carried.append(cell.state)
            case Dense():
                sequence = self._dense(layer, arrays, vectors, flow._replace(sequence=sequence))
            case Embedding():
                to_read = len({*sequence}) * layer.units
                sequence = self._look_up(layer, arrays, vectors, sequence)
                if turn == "one-to-many":
                    sequence += _zeros(vectors, layer.units, flow.steps - 1)
            case External():
                widths = [len(vectors.numbers(x)) if layer.outputs is None else layer.outputs for x in sequence]
                sequence = [vectors.constant(self._random(width)) for width in widths]
        many = flow.many or turn == "one-to-many"
        if turn == "many-to-one":
            sequence, many = [sequence[-1] if final is None else final], False
        seen = _seen(place, vectors, sequence, many)
        if not isinstance(layer, External):
            seen = seen._replace(
                weights=arrays.scalars,
                to_read=to_read,
                weights_read=meter.weights_read,
                multiplications=meter.multiplications,
                traces=traces,
            )
        return seen, Flow(sequence, many, flow.steps)

    def _entering(self, vectors: Vectors[Value], layer: Layer, flow: Flow[Value], turn: str) -> list[Any]:
        """Return what a layer reads: vectors, or an embedding's token numbers; zeros follow a single input."""
        if isinstance(layer, Embedding):
            return [*flow.sequence]
        given = [vectors.constant(x) if isinstance(x, list) else x for x in flow.sequence]
        if turn == "one-to-many":
            given += _zeros(vectors, len(vectors.numbers(given[0])), flow.steps - 1)
        if layer.extra_inputs:
            given = [vectors.join(x, vectors.constant(self._random(layer.extra_inputs))) for x in given]
        return given

    def arrays(self, place: Placed) -> Arrays:
        """Return the arrays of a layer, those that were given or random ones."""
        if isinstance(place.layer, External):
            return Arrays({})
        given = drawn(place, self.of_weights) if self.weights is None else self.weights.get(place.name, {})
        return Arrays(given, place.tensors, place.copy)

    def _dense(self, layer: Dense, arrays: Arrays, vectors: Vectors[Value], flow: Flow[Value]) -> list[Value]:
        kernel, bias, transposed = (isinstance(layer, Output) and self.binding.output) or self.binding.dense
        if isinstance(layer, Output) and layer.tied:
            assert self.table is not None  # a network whose tied output has no table is refused
            matrix = self.table.shared_with("the embedding's")
        else:
            matrix = arrays.matrix(kernel, transposed=transposed)
        vector = arrays.vector(bias) if layer.bias else None
        done = []
        first = 0 if flow.many else flow.steps - 1
        for step, x in enumerate(flow.sequence, first):
            vectors.at(step)
            sums = vectors.matrix_product(matrix, x)
            done.append(
                vectors.activate(layer.activation, vectors.plus(sums, vectors.weight(vector)) if vector else sums)
            )
        return done

    def _look_up(self, layer: Embedding, arrays: Arrays, vectors: Vectors[Value], tokens: list[int]) -> list[Value]:
        self.table = arrays.matrix(self.binding.embedding)
        looked_up = []
        for step, token in enumerate(tokens):
            vectors.at(step)
            looked_up.append(vectors.row(self.table, token))
        return looked_up

    def _inputs(self, part: Part, count: int) -> list[Any]:
        """Return inputs as wide as the spec says, whatever the stack declares."""
        if isinstance(part.layers[0], Embedding):
            return [int(self.of_inputs() * part.input) for _ in range(count)]
        return [self._random(part.input) for _ in range(count)]

    def _random(self, count: int) -> list[float]:
        return [2.0 * self.of_inputs() - 1.0 for _ in range(count)]


def _seen(place: Placed, vectors: Vectors[Value], sequence: list[Value], many: bool) -> Ran:
    """Return the shape of what leaves a layer, and its numbers."""
    output = [vectors.numbers(x) for x in sequence]
    shape = (len(output), len(output[0])) if many else (len(output[0]),)
    return Ran(place, shape, output if many else output[0])


def _zeros(vectors: Vectors[Value], width: int, count: int) -> list[Value]:
    zeros = [0.0] * width
    return [vectors.constant(zeros) for _ in range(count)]


def _turn(placed: list[Placed], topology: str) -> int | None:
    """Return the number of the layer where a sequence ends in one vector, or begins from one."""
    layers = [place.layer for place in placed if not isinstance(place.layer, Output)]
    cells = [number for number, layer in enumerate(layers) if isinstance(layer, Cell)]
    if topology == "many-to-one":
        return cells[-1] if cells else len(layers) - 1
    if topology == "one-to-many":
        others = [number for number, layer in enumerate(layers) if not isinstance(layer, Embedding)]
        return (cells or others or [0])[0]
    return None
