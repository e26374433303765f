"""A forward pass in plain Python that confirms, layer by layer, the shapes, the weights and the work.

Three observations of each layer are compared with the declaration: the shape of its output, the weights it read, and
the multiplications of its matrix products. The pass follows the network's moves and computes the value of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Generic, NamedTuple

from rnncalc.conventions import convention
from rnncalc.forward.arrays import BindingError, Matrix, Meter, PassData, Progress, Value, Vectors
from rnncalc.forward.bindings import Binding, binding
from rnncalc.forward.layer_pass import History, LayerPass, LayerValues, Stream
from rnncalc.layers.cell import Habits
from rnncalc.layers.cell import Merge as Merging
from rnncalc.layers.layer import Embedding, External
from rnncalc.network.flow import Attend, Begin, Delay, Final, Input, Last, Merge, Recur, ends
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.step.operations import MERGES, LengthError


class LayerRun(NamedTuple):
    """The observations of one layer.

    shape: of its output. output: the output, a sequence of vectors or one vector.
    weights: how many it has. to_read: how many of them a pass must read: all but the rows of a table not looked up.
    traces: the history of each direction of a recurrent layer, if it was kept.
    reason: why the layer could not be run, if so.
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

    vectors: makes the vectors of a layer from its meter. traced: whether to keep the values of all layers. numbers: the
    weights, inputs and start states to use, and what random ones are drawn with, as in `PassData`.
    outputs: those of the last layer, once it was run. values: those of each layer by its name, if traced.
    """

    def __init__(
        self,
        network: Network,
        vectors: Callable[[Placed, Meter], Vectors[Value]],
        *,
        progress: Progress | None = None,
        traced: bool = False,
        **numbers: Any,
    ) -> None:
        self.network = network
        self.vectors = vectors
        self.convention = convention(network.convention)
        self.binding = binding(network.convention)
        self.data = PassData(**numbers)
        self.progress = progress
        self.traced = traced
        self.carried = {read for move in network.flow if isinstance(move, Final) for read in move.reads}
        loops = (
            isinstance(move, Delay) or (isinstance(move, Begin) and move.later == "output") for move in network.flow
        )
        self.begin = next((place for place, loop in enumerate(loops) if loop), len(network.flow))
        """The place from which on the moves are made step by step."""
        reads = Counter(read for move in network.flow for read in move.reads)
        self.shared = {place for place, times in reads.items() if times > 1}
        for move in network.flow:
            if isinstance(move, Delay):
                (self.carried if move.state else self.shared).add(move.later)
        if self.begin < len(network.flow):  # layers are bound at the first step and applied at every step
            self.shared |= {read for move in network.flow if isinstance(move, Recur) for read in move.reads[1:]}
            self.shared |= {read for move in network.flow[self.begin :] for read in move.reads if read < self.begin}
        self.table: Matrix | None = None  # the part's embedding, which a tied output shares
        self.final_states: dict[int, list[dict[str, Value]]] = {}  # of each direction, by the index of the layer
        self.outputs: list[Value] = []
        self.values: dict[str, LayerValues[Value]] = {}

    def run(self) -> Iterator[LayerRun]:
        """Yield the observations of each layer, in order, up to the first that cannot be run."""
        values: dict[int, Stream[Value]] = {}
        places_of_ends = [-1, *ends(self.network.flow).values()]  # of each layer's moves, from its inputs to its output
        moves = [range(before + 1, end + 1) for before, end in pairwise(places_of_ends)]
        layers = [*zip(self.network.stack, moves, strict=True)]
        at_once = [each for each in layers if each[1][-1] < self.begin]
        for placed, places in at_once:
            ran = self._run_layer(placed, places, values)
            yield ran
            if ran.reason:
                return
            self.outputs = values[places[-1]].ways[0]
        if len(at_once) < len(layers):
            yield from self._run_by_steps(layers[len(at_once) :], values)

    def _run_layer(self, placed: Placed, places: range, values: dict[int, Stream[Value]]) -> LayerRun:
        """Run one layer by itself, adding the values of its moves; its weights can then be freed."""
        try:
            layer_pass = self.open_layer(placed)
            for place in places:
                values[place] = self._value(place, layer_pass, values)
        except (BindingError, LengthError) as lack:
            return LayerRun(placed, reason=str(lack))
        return self._observe(layer_pass, values[places[-1]])

    def _run_by_steps(
        self, layers: Sequence[tuple[Placed, range]], values: dict[int, Stream[Value]]
    ) -> Iterator[LayerRun]:
        """Run the last layers step by step: each step reads something of the one before."""
        opened = [self.open_layer(placed) for placed, _ in layers]
        outputs: list[list[Value]] = [[] for _ in layers]
        layer_pass = opened[0]
        try:
            for step in range([*self.network.parts.values()][-1].steps or 1):
                for layer_pass, (placed, places), output in zip(opened, layers, outputs, strict=True):
                    if placed.starts and step:
                        continue
                    for place in places:
                        if place >= self.begin or not step:
                            values[place] = self._value(place, layer_pass, values, step)
                    output += values[places[-1]].ways[0]
        except (BindingError, LengthError) as lack:  # if one fails, no other can be run to the end
            yield LayerRun(layers[0][0], reason=f"{layer_pass.placed.name}: {lack}")
            return
        for layer_pass, output in zip(opened, outputs, strict=True):
            yield self._observe(layer_pass, Stream([output], many=layer_pass.placed.sequence))
        self.outputs = outputs[-1]

    def open_layer(self, placed: Placed) -> LayerPass[Value]:
        """Return a layer with its weights, which are bound when it is first applied."""
        meter = Meter(self.progress)
        return LayerPass(placed, self.data, self.vectors(placed, meter), meter)

    def rules(self, placed: Placed) -> tuple[Binding, Habits]:
        """Return the binding of a layer, and the habits that its cell has."""
        return self.binding, self.convention.habits(placed.layer.kind)

    def read(self, move: Input, *, one_step: bool) -> Iterable[Any]:
        """Return the numbers of an input, a vector or a token for each step, or for one step."""
        return self.data.inputs(move, move.shape[0] or 1 if move.sequence and not one_step else 1)

    def _value(
        self, place: int, layer_pass: LayerPass[Value], values: dict[int, Stream[Value]], step: int = 0
    ) -> Stream[Value]:
        """Return the value of a layer's move; step: the current step, if it is numbers step by step."""
        move, vectors, by_steps = self.network.flow[place], layer_pass.vectors, place >= self.begin
        match move:
            case Input():
                if move.extra_of is not None and move.sequence:  # drawn when they are merged, because they may be many
                    drawn = map(vectors.constant, self.read(move, one_step=by_steps))
                    return Stream([drawn if self.begin == len(self.network.flow) else [*drawn]], move.sequence)
                numbers = self.read(move, one_step=by_steps)
                return Stream([numbers if move.tokens else [*map(vectors.constant, numbers)]], move.sequence)
            case Begin(later="output"):
                ((*_, x),) = values[len(self.network.flow) - 1 if step else move.reads[0]].ways
                return Stream([[vectors.carry(x, step) if step else x]], many=True, first=step)
            case Final():
                states = [of_way[move.state] for of_way in self.final_states[move.reads[0]]]
                return Stream([[self._merge(layer_pass, "concat", states)]], many=False)
            case Delay() if step:
                of_state = move.state and self.final_states[move.later][0][move.state]
                before = of_state or values[move.later].ways[0][-1]
                return Stream([[vectors.carry(before, step)]], many=True, first=step)
            case Delay(reads=()):
                return Stream([[vectors.constant([0.0] * move.width)]], many=True)
        x, *others = [values[read] if read in self.shared else values.pop(read) for read in move.reads]
        if by_steps and move.reads[0] < self.begin and x.many:  # made at once
            x = x._replace(ways=[[way[step]] for way in x.ways], first=step)
        match move:
            case Delay():
                return x._replace(many=True)
            case Begin():
                zeros = [0.0] * len(vectors.numbers(x.ways[0][0]))
                later = [vectors.constant(zeros) for _ in range(1, move.steps or 1)]
                return Stream([x.ways[0] + later], many=True)
            case Last():
                last = [[way[0 if number else -1]] for number, way in enumerate(x.ways)]
                return Stream(last, many=False, first=x.first + len(x.ways[0]) - 1)
            case Merge():
                merged = []
                together = zip(*x.ways, *(way for other in others for way in other.ways), strict=True)
                for number, vectors_of_step in enumerate(together, x.first):
                    vectors.at(number)
                    merged.append(self._merge(layer_pass, move.how, vectors_of_step))
                return x._replace(ways=[merged])
            case _:
                memory = others.pop() if isinstance(move, Attend) else None
                if not layer_pass.bound:
                    self._bind(layer_pass, x, [way[0] for start in others for way in start.ways])
                output = layer_pass.over(x, memory)
                if place in self.carried:
                    self.final_states[place] = [way.by_letter(way.state) for way in layer_pass.directions]
                return output

    def _merge(self, layer_pass: LayerPass[Value], how: Merging, vectors: Sequence[Value]) -> Value:
        return layer_pass.vectors.operation(MERGES[how])(*vectors) if len(vectors) > 1 else vectors[0]

    def _bind(self, layer_pass: LayerPass[Value], x: Stream[Value], carried: Sequence[Value]) -> None:
        """Bind the weights of a layer to the width of its first input."""
        token = isinstance(layer_pass.layer, Embedding)
        width = 0 if token else len(layer_pass.vectors.numbers(x.ways[0][0]))
        epsilon = self.convention.transform(layer_pass.layer.kind).epsilon
        rules = self.rules(layer_pass.placed)
        layer_pass.bind(*rules, width, table=self.table, carried=carried, traced=self.traced, epsilon=epsilon)
        self.table = layer_pass.table or self.table

    def _observe(self, layer_pass: LayerPass[Value], x: Stream[Value]) -> LayerRun:
        """Return the observations of a layer: the shape of its output, its numbers, and the work."""
        (vectors,) = x.ways
        output = [layer_pass.vectors.numbers(vector) for vector in vectors]
        shape = (len(output), len(output[0])) if x.many else (len(output[0]),)
        seen = LayerRun(layer_pass.placed, shape, output if x.many else output[0])
        histories: list[History[Value]] = []
        if self.traced:
            values = self.values[layer_pass.placed.name] = layer_pass.values(vectors)
            transform = layer_pass.transform
            histories = [transform.history] if transform and transform.taken else [*values.histories]
        if isinstance(layer_pass.layer, External):
            return seen
        return seen._replace(
            weights=layer_pass.arrays.scalars,
            to_read=layer_pass.to_read,
            weights_read=layer_pass.meter.weights_read,
            multiplications=layer_pass.meter.multiplications,
            traces=tuple([history.numbers(layer_pass.vectors) for history in histories]),
        )
