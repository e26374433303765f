"""One layer of a pass, bound to its weights: what it makes of a sequence, or of one step after another.

How a sequence flows from layer to layer is not known here: that is `network_pass.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple

from rnncalc.forward.arrays import Arrays, Matrix, Meter
from rnncalc.forward.bindings.binding import Binding
from rnncalc.forward.floats import Value, Vectors
from rnncalc.forward.recurrent import DirectionPass, History, StartStates, given_start, run_ways, shares, ways
from rnncalc.layers.cell import Cell, Habits
from rnncalc.layers.layer import Dense, Embedding, External, Output
from rnncalc.network.stack import Placed
from rnncalc.step.operations import OPERATIONS

Random = Callable[[int], list[float]]
"""Makes so many numbers, for what is not part of the network."""


class Handed(NamedTuple, Generic[Value]):
    """What a layer hands on: a vector a step; the last of a recurrent layer, and its final states for a decoder."""

    sequence: list[Value]
    final: Value | None = None
    state: tuple[Value, ...] = ()


class LayerPass(Generic[Value]):
    """A layer as it is run.

    meter: sees what is read and multiplied. to_read: how many of its weights a pass must read.
    table: the matrix of an embedding, of this one or of that which a tied output shares.
    """

    def __init__(self, place: Placed, arrays: Arrays, vectors: Vectors[Value], meter: Meter, random: Random) -> None:
        self.place = place
        self.layer = place.layer
        self.arrays = arrays
        self.vectors = vectors
        self.meter = meter
        self.random = random
        self.to_read = arrays.scalars
        self.table: Matrix | None = None
        self.ways: list[DirectionPass[Value]] = []
        self.once: Callable[[Value], Value] = lambda x: x  # what a layer without a state makes of a vector

    def bind(
        self,
        binding: Binding,
        habits: Habits,
        width: int,
        *,
        table: Matrix | None = None,
        start: dict[str, Any] | None = None,
        carried: tuple[Value, ...] | None = None,
        traced: bool = False,
    ) -> None:
        """Bind the weights for vectors of a width, to a cell with a framework's habits.

        table: an embedding's, for a tied output. start, carried: the states that data, or an encoder, start it from.
        """
        match self.layer:
            case Cell():
                began: StartStates[Value] | None = None
                if carried is not None:
                    began = shares(self.layer, self.vectors, carried)
                elif start is not None:
                    began = given_start(self.layer, self.vectors, start)
                of = self.layer, self.arrays, self.vectors, width, binding, habits
                self.ways = ways(*of, start=began, traced=traced)
            case Dense():
                self.once = self._dense(self.layer, binding, table)
            case Embedding():
                self.table = self.arrays.matrix(binding.embedding)
            case External():
                self.once = self._elsewhere

    def over(self, sequence: Sequence[Any], first: int = 0) -> Handed[Value]:
        """Return what the layer makes of a sequence of vectors, or of token numbers; `first` is its first step."""
        if isinstance(self.layer, Cell):
            done = run_ways(self.layer, self.ways, sequence)
            return Handed(done.outputs, done.final, done.state)
        if isinstance(self.layer, Embedding):
            return Handed(self._look_up(self.layer, sequence))
        return Handed([self.take(step, x) for step, x in enumerate(sequence, first)])

    def take(self, step: int, x: Value) -> Value:
        """Return what the layer makes of one step's vector; a recurrent one must read in one direction alone."""
        if self.ways:
            (way,) = self.ways
            return way.take(step, x)
        self.vectors.at(step)
        return self.once(x)

    @property
    def traces(self) -> tuple[History[Value], ...]:
        """What each direction of a recurrent layer went through, where that is kept."""
        return tuple([way.trace for way in self.ways if way.traced])

    def _dense(self, layer: Dense, binding: Binding, table: Matrix | None) -> Callable[[Value], Value]:
        kernel, bias, transposed = (isinstance(layer, Output) and binding.output) or binding.dense
        if isinstance(layer, Output) and layer.tied:
            assert table is not None  # a network whose tied output has no table is refused
            matrix = table.shared_with("the embedding's")
        else:
            matrix = self.arrays.matrix(kernel, transposed=transposed)
        vector = self.arrays.vector(bias) if layer.bias else None
        vectors = self.vectors
        plus, activate = (vectors.operation(OPERATIONS[name]) for name in ("plus", layer.activation))

        def once(x: Value) -> Value:
            total = vectors.product(matrix, x)
            if vector:
                total = plus(total, vectors.weight(vector))
            return total if layer.activation == "linear" else activate(total)

        return once

    def _look_up(self, layer: Embedding, tokens: Sequence[int]) -> list[Value]:
        assert self.table is not None
        self.to_read = len({*tokens}) * layer.units
        looked_up = []
        for step, token in enumerate(tokens):
            self.vectors.at(step)
            looked_up.append(self.vectors.row(self.table, token))
        return looked_up

    def _elsewhere(self, x: Value) -> Value:
        """Return random numbers for a part that is counted elsewhere, as many as it hands on."""
        assert isinstance(self.layer, External)
        width = len(self.vectors.numbers(x)) if self.layer.outputs is None else self.layer.outputs
        return self.vectors.constant(self.random(width))
