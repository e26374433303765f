"""A forward pass in plain Python that confirms, layer by layer, the shapes, the weights and the work.

Three confirmations a layer, each observed where it happens and held against what the model declares: the shape that
leaves it, the weights it read, and the multiplications of its matrix products. How a sequence flows through a topology
is written here a second time, by hand, for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple

from rnncalc.conventions.catalogue import convention
from rnncalc.forward.arrays import BindingError, Matrix, Meter, Nested, Progress
from rnncalc.forward.bindings import binding
from rnncalc.forward.floats import Value, Vectors
from rnncalc.forward.layer_pass import LayerPass
from rnncalc.forward.numbers import Numbers
from rnncalc.forward.recurrent import History
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External, Layer, Output
from rnncalc.network.network import Network
from rnncalc.network.parts import reads_many
from rnncalc.network.stack import Placed
from rnncalc.step.operations import OPERATIONS, LengthError


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
    traces: what each direction of a recurrent layer went through, where that was kept.
    reason: what the declaration lacked, where the layer could not be run.
    """

    placed: Placed
    shape: tuple[int, ...] | None = None
    output: Any = None
    weights: int | None = None
    to_read: int | None = None
    weights_read: int | None = None
    multiplications: int | None = None
    traces: tuple[History[list[float]], ...] = ()
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
    seed where they are not given. start: the states before the first step, by layer and letter; zeros where they are
    not given. traced: whether to keep what recurrent layers go through, and what leaves all.

    handed: what left the last layer, once it was run. left, kept: by name, what left each layer, and the traces of each
    recurrent one.
    """

    def __init__(
        self,
        network: Network,
        vectors: Callable[[Placed, Meter], Vectors[Value]],
        *,
        seed: int = 0,
        weights: dict[str, dict[str, Nested]] | None = None,
        inputs: dict[str | None, list[Any]] | None = None,
        start: dict[str, dict[str, Nested]] | None = None,
        progress: Progress | None = None,
        traced: bool = False,
    ) -> None:
        self.network = network
        self.vectors = vectors
        self.convention = convention(network.convention)
        self.binding = binding(network.convention)
        self.numbers = Numbers(seed, weights, inputs, start)
        self.progress = progress
        self.traced = traced
        self.table: Matrix | None = None  # the part's embedding, which a tied output shares
        self.carried: list[tuple[Value, ...]] = []  # the encoder's final states, both directions joined
        self.handed: list[Value] = []
        self.left: dict[str, list[Value]] = {}
        self.kept: dict[str, tuple[History[Value], ...]] = {}

    def run(self) -> Iterator[Ran]:
        """Yield what each layer did, in order; the first that cannot be run is the last."""
        for name, part in self.network.parts.items():
            topology = self.network.topology_of(name)
            placed = [place for place in self.network.stack if place.part == name]
            steps = part.steps or 1
            many = reads_many(topology)
            flow: Flow[Value] = Flow(self.numbers.inputs(name, part, steps if many else 1), many, steps)
            if self.network.feedback:
                yield from self._fed_back(placed, flow)
                return
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
        of = self._opened(place)
        sequence = self._entering(of.vectors, place.layer, flow, turn)
        self._bind(of, len(of.vectors.numbers(sequence[0])) if not isinstance(place.layer, Embedding) else 0)
        handed = of.over(sequence, flow.steps - len(sequence))
        if place.part == "encoder" and of.ways:
            self.carried.append(handed.state)
        sequence, many = handed.sequence, flow.many or turn == "one-to-many"
        if isinstance(place.layer, Embedding):
            self.table = of.table
            if turn == "one-to-many":
                sequence += _zeros(of.vectors, place.layer.units, flow.steps - 1)
        if turn == "many-to-one":
            sequence, many = [sequence[-1] if handed.final is None else handed.final], False
        return self._seen(of, sequence, many), Flow(sequence, many, flow.steps)

    def _fed_back(self, placed: list[Placed], flow: Flow[Value]) -> Iterator[Ran]:
        """Run all layers step by step, the last one's output of each step being the first one's input of the next."""
        opened: list[LayerPass[Value]] = []
        handed: list[list[Value]] = []
        try:
            for place in placed:
                opened.append(self._opened(place))
                handed.append([])
                self._bind(opened[-1], place.inputs)
            x = opened[0].vectors.constant(flow.sequence[0])
            for step in range(flow.steps):
                x = opened[0].vectors.carry(x, step) if step else x
                for of, each in zip(opened, handed, strict=True):
                    x = of.take(step, self._with_extra(of.vectors, of.layer, x))
                    each.append(x)
        except (BindingError, LengthError) as lack:  # without the one, no other can be run to the end
            yield Ran(placed[0], reason=f"{opened[-1].place.name}: {lack}")
            return
        for of, each in zip(opened, handed, strict=True):
            yield self._seen(of, each, many=True)
        self.handed = handed[-1]

    def _opened(self, place: Placed) -> LayerPass[Value]:
        """Return a layer with its weights."""
        meter = Meter(self.progress)
        return LayerPass(place, self.numbers.arrays(place), self.vectors(place, meter), meter, self.numbers.elsewhere)

    def _bind(self, of: LayerPass[Value], width: int) -> None:
        start = self.numbers.start.get(of.place.name)
        recurrent = isinstance(of.layer, Cell)
        carried = self.carried.pop(0) if of.place.part == "decoder" and recurrent else None
        habits = self.convention.habits(of.layer.kind)
        of.bind(self.binding, habits, width, table=self.table, start=start, carried=carried, traced=self.traced)

    def _entering(self, vectors: Vectors[Value], layer: Layer, flow: Flow[Value], turn: str) -> list[Any]:
        """Return what a layer reads: vectors, or an embedding's token numbers; zeros follow a single input."""
        if isinstance(layer, Embedding):
            return [*flow.sequence]
        given = [vectors.constant(x) if isinstance(x, list) else x for x in flow.sequence]
        if turn == "one-to-many":
            given += _zeros(vectors, len(vectors.numbers(given[0])), flow.steps - 1)
        return [self._with_extra(vectors, layer, x) for x in given]

    def _with_extra(self, vectors: Vectors[Value], layer: Layer, x: Value) -> Value:
        """Return a vector with the numbers that a layer gets from elsewhere."""
        if not layer.extra_inputs:
            return x
        extra = vectors.constant(self.numbers.elsewhere(layer.extra_inputs))
        return vectors.operation(OPERATIONS["join"])(x, extra)

    def _seen(self, of: LayerPass[Value], sequence: list[Value], many: bool) -> Ran:
        """Return what a layer was seen to do: the shape of what left it, its numbers, and the work."""
        output = [of.vectors.numbers(x) for x in sequence]
        shape = (len(output), len(output[0])) if many else (len(output[0]),)
        seen = Ran(of.place, shape, output if many else output[0])
        traces = of.traces
        if self.traced:
            self.left[of.place.name] = sequence
            self.kept[of.place.name] = traces
        if isinstance(of.layer, External):
            return seen
        return seen._replace(
            weights=of.arrays.scalars,
            to_read=of.to_read,
            weights_read=of.meter.weights_read,
            multiplications=of.meter.multiplications,
            traces=tuple([trace.numbers(of.vectors) for trace in traces]),
        )


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
        others = [number for number, place in enumerate(placed) if not isinstance(place.layer, Embedding)]
        return (cells or others or [0])[0]
    return None
