"""What goes where in an ONNX graph: the operators that move weights, and those that are part of a layer with another.

Exporters write a bias, an activation, padding, a norm and the choice of a step or a direction as operators of their
own. The meaning of each operator is that of https://onnx.ai/onnx/operators.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from math import prod
from typing import NamedTuple

from rnncalc import bounds
from rnncalc.models.files import model
from rnncalc.models.files.onnx_graph import BRANCHING, Graph, Operator
from rnncalc.models.files.onnx_moves import Value, moved

INPUTS = {
    "LSTM": ("", "W", "R", "B", "", "initial_h", "initial_c", "P"),
    "GRU": ("", "W", "R", "B", "", "initial_h"),
    "RNN": ("", "W", "R", "B", "", "initial_h"),
    "Gemm": ("", "B", "C"),
    "MatMul": ("", "B"),
    "Gather": ("data",),
    "Conv": ("", "W", "B"),
    "BatchNormalization": ("", "scale", "B", "input_mean", "input_var"),
    "LayerNormalization": ("", "Scale", "B"),
}
"""The names of the inputs of operators."""
CELLS = ("LSTM", "GRU", "RNN")
PRODUCTS = ("MatMul", "Gemm")
FUSED = {"FusedGemm": "Gemm", "FusedConv": "Conv", "FusedMatMul": "MatMul"}
"""Operators of ONNX Runtime, which are another one and what follows it:
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md"""
_PASSING = ("Identity", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Cast", "Flatten")
"""Operators whose output has the numbers of the first input in the same order of features."""
_ACTIVATIONS = (
    *("Relu", "Tanh", "Sigmoid", "Elu", "Gelu", "HardSigmoid", "LeakyRelu", "Selu", "Softmax", "Softplus", "Clip"),
)
_ACTIVATED = ("MatMul", "Gemm", "Conv", "BatchNormalization", "LayerNormalization", *FUSED)
_FEATURES_LAST = (*PRODUCTS, "LayerNormalization")
"""Operators whose output has the features along its last axis."""
_AT_EACH_STEP = ("MatMul", "Add", "LayerNormalization", "Dropout", *_ACTIVATIONS)
"""Operators that compute the same at each step."""
_JOINS = {"Add": "sum", "Sum": "sum", "Mul": "mul", "Mean": "ave"}
"""How Keras calls what joins two directions."""
_USUAL: Mapping[str, Mapping[str, list[int]]] = {
    "Gemm": {"alpha": [1], "beta": [1], "transA": [0]},
    "MatMul": {"alpha": [1], "transA": [0], "transBatchA": [0], "transBatchB": [0]},
    "LayerNormalization": {"axis": [-1]},
    "BatchNormalization": {"training_mode": [0]},
    **{kind: {"layout": [0]} for kind in CELLS},
}
"""The settings of operators with which they compute what a layer does; other values do not."""
_REAL_TYPES = ([1], [10], [11], [16])
"""The types of reals as a Cast has them."""


class View(NamedTuple):
    """What an array is of the outputs of recurrent operators.

    cell: the number of the operator whose output it was. axes: their names, as far as they are known.
    states: the operators and directions whose states it has, one after the other, along the axis `ways`.
    width: how many numbers of each are along that axis. whole: whether it has the steps of all directions.
    """

    cell: int
    axes: tuple[str, ...]
    states: tuple[tuple[int, int], ...]
    width: int = 1
    whole: bool = False


class Flow:
    """The flow of a graph: arrays that are made of stored ones, and the operators that read each name.

    moving: the numbers of the operators that move what is stored. added: the vectors that are added to products, by
    the number of the product. norms: the vectors of batch norms, likewise. part: the outputs of operators that are
    part of a layer with another one. The activation behind a product, if it is known, becomes one of its settings, and
    for a softmax, whether it is that of the features.
    """

    def __init__(self, graph: Graph) -> None:
        self.nodes, self._ranks = graph.nodes, graph.ranks
        self.outputs, self._others = graph.outputs[:1], graph.outputs[1:]
        self.values = {
            name: Value(tensor.shape, tensor.dtype, partial(model.flat, tensor), {name: prod(tensor.shape)})
            for name, tensor in graph.tensors.items()
        }
        self.moving: set[int] = set()
        self.readers: dict[str, list[int]] = {}
        self.writers = {name: node for node in graph.nodes for name in node.outputs if name}
        self.inputs: set[str] = set()
        self.fed: set[str] = set()  # the names of what follows from the numbers of an input
        for number, node in enumerate(graph.nodes):
            for name in {*node.inputs} if node.kind != "Shape" else ():
                self.readers.setdefault(name, []).append(number)
            inputs = [self.values.get(name) for name in node.inputs]
            if arrays := moved(node.kind, node.settings, inputs, len(node.outputs)):
                self.moving.add(number)
                self.values.update(zip(node.outputs, arrays, strict=False))
            elif node.kind not in ("Shape", "Size", "ConstantOfShape", "Constant"):
                unknown = (name for name in node.inputs if name not in self.values and name not in self.writers)
                self.inputs.update(filter(None, unknown))
                self.fed |= self.inputs
                if not self.fed.isdisjoint(node.inputs) or node.kind in BRANCHING:
                    self.fed.update(filter(None, node.outputs))
        self.part: set[str] = set()
        self.added: dict[int, str] = {}
        self.stepped: set[str] = set()  # the matrices whose product is a term of a cell's state
        self.norms = dict(self._norms())
        self.merges: dict[int, str] = {}  # how the two directions of a recurrent operator are joined
        self.steps: dict[int, list[int]] = {}  # the step that is taken of all directions of a recurrent operator
        self.joining: set[int] = set()  # the operators that join two directions
        self.choosing: set[int] = set()  # the operators that choose among states of layers or directions
        self.partial: set[int] = set()  # the operators that read other states than all of the last layer
        self._views: dict[str, View] = {}
        self._last: tuple[tuple[int, int], ...] = ()
        for number, node in enumerate(self.nodes):
            if node.outputs and node.kind in _ACTIVATED:
                self._follow(number, node)
            if number not in self.moving and node.outputs:
                self._see(number, node)

    def next(self, name: str) -> tuple[str, Operator | None]:
        """Return the name that an output has behind what passes it on, and the one operator that reads it there."""
        for _ in range(bounds.MOST_MOVES):
            readers = self.readers.get(name, [])
            node = self.nodes[readers[0]] if len(readers) == 1 else None
            if node is None or node.kind not in _PASSING or node.inputs[0] != name or not node.outputs:
                return name, node
            name = node.outputs[0]
        return name, None

    def _follow(self, number: int, node: Operator) -> None:
        """Find the vector that is added to a product, and its activation, if one operator reads it."""
        matrix = self.values.get(node.inputs[1]) if len(node.inputs) > 1 else None
        name, reader = self.next(node.outputs[0])
        products = [node.outputs[0]]  # whose last axis is the features
        if reader and reader.kind == "Add" and len(reader.inputs) == 2 and matrix and matrix.shape:
            other = reader.inputs[reader.inputs[0] == name]
            vector, features = self.values.get(other), matrix.shape[0 if "Conv" in node.kind else -1]
            fits = vector and (vector.size == features or len(vector.shape) == 1)
            if fits and len(node.inputs) == 2 and reader.outputs and "Gemm" not in node.kind:
                self.added[number] = other
                self.part.add(reader.outputs[0])
                products += reader.outputs[:1] if name in products else []
                name, reader = self.next(reader.outputs[0])
        if matrix and reader and reader.kind == "Add" and reader.outputs and self.fed.issuperset(reader.inputs):
            _, after = self.next(reader.outputs[0])
            self.stepped.update(matrix.sources if after and after.kind in ("Tanh", "Relu") else ())
        if "activation" not in node.settings:
            if reader and reader.kind in _ACTIVATIONS:
                node.settings["activation"] = [reader.kind]
                if reader.kind == "Softmax" and name in products:
                    last = {-1, (2 if node.kind == "Gemm" else self._ranks.get(reader.outputs[0], 0)) - 1}
                    axis = (reader.settings.get("axis") or [0])[0]
                    node.settings["softmax"] = [node.kind in _FEATURES_LAST and axis in last]
                self.part.update(reader.outputs[:1])
            elif not self.readers.get(name) or (reader and (reader.kind in INPUTS or reader.kind in FUSED)):
                node.settings["activation"] = ["Linear"]

    def _norms(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield the vectors of batch norms that are a product with one and the sum with another, by the product.

        tf2onnx folds the statistics of Keras's into the two; it is no layer norm, which ends so too.
        """
        for number, node in enumerate(self.nodes):
            scale = self._vector(node) if node.kind == "Mul" and len(node.inputs) == 2 else ""
            _, reader = self.next(node.outputs[0]) if scale and number not in self.moving else ("", None)
            bias = self._vector(reader, self.values[scale].size) if reader and reader.kind == "Add" else ""
            other = node.inputs[node.inputs[0] == scale] if bias else ""
            if reader and bias and not self._before(other, "Reciprocal", "BatchNormalization"):
                self.part.update((node.outputs[0], *reader.outputs[:1]))
                yield number, {"scale": scale, "B": bias}

    def _vector(self, node: Operator, size: int = 0) -> str:
        """Return the name of the vector among the inputs of an operator, if there is one of some size."""
        values = ((name, self.values.get(name)) for name in node.inputs)
        vectors = (name for name, each in values if each and 1 < each.size == max(each.shape) == (size or each.size))
        return next(vectors, "")

    def _before(self, name: str, *kinds: str) -> Operator | None:
        """Return the operator of a kind that writes a name, behind those that pass it on."""
        node = self.writers.get(name)
        for _ in range(bounds.MOST_MOVES):
            if node and node.inputs and node.kind in _PASSING:
                node = self.writers.get(node.inputs[0])
        return node if node and node.kind in kinds and node.inputs else None

    def padding(self, node: Operator) -> list[int] | None:
        """Return the steps that an operator adds before and behind those that a convolution reads; none without one.

        Exporters write causal padding so. Steps that are no zeros, or more than steps, are as many as no padding has.
        """
        before = self._before(node.inputs[0], "Pad")
        if before is None:
            return None
        pads = before.settings.get("pads")
        value = self.values.get(before.inputs[1]) if len(before.inputs) > 1 else None
        pads = pads if isinstance(pads, list) else value.whole() if value and value.size < 20 else []
        pairs = [pair for pair in zip(pads, pads[len(pads) // 2 :], strict=False) if any(pair)]
        zeros = before.settings.get("mode", ["constant"]) == ["constant"]
        return [*pairs[0]] if zeros and len(pairs) == 1 else [-1, -1]

    # The outputs of recurrent operators are followed by the names of their axes.

    def _see(self, number: int, node: Operator) -> None:
        """Find what an operator's outputs are of those of recurrent operators, and what it does with them."""
        views = [view for name in node.inputs if (view := self._views.get(name))]
        if node.kind in CELLS:
            outputs = self._begun(number, node)
        else:
            single = {view.states[0] for view in views if len(view.states) == 1 and not view.whole}
            cells = {cell for cell, _ in single}
            if len(single) == 2 and len(cells) == 1 and node.kind != "Concat":
                word = _JOINS.get(node.kind, "other")
                word = "ave" if word == "sum" and self._halves(node.outputs[0]) else word
                self.merges.setdefault(cells.pop(), word)
                self.joining.add(number)
                return
            first = self._views.get(node.inputs[0]) if node.inputs else None
            outputs = self._joined(node, views) if node.kind == "Concat" else self._passed(node, first) if first else []
        if any(view and not view.whole for view in outputs) and node.kind not in CELLS:
            self.choosing.add(number)
        elif any(not view.whole and view.states != self._last for view in views):
            self.partial.add(number)
        if node.kind in CELLS:
            self._last = outputs[0].states
        self._views.update((name, view) for name, view in zip(node.outputs, outputs, strict=False) if name and view)

    def _begun(self, number: int, node: Operator) -> list[View]:
        """Return the views of a recurrent operator's output and of its last state."""
        matrix = self.values.get(node.inputs[2]) if len(node.inputs) > 2 else None
        ways = min(matrix.shape[0], 2) if matrix and matrix.shape else 1
        states = tuple((number, way) for way in range(ways))
        axes = ("steps", "ways", "batch", "units")
        return [View(number, axes, states, whole=True), View(number, axes[1:], states)]

    @staticmethod
    def _joined(node: Operator, views: Sequence[View]) -> list[View]:
        """Return the view of states one after the other, if all that an operator joins are states."""
        states = tuple(state for view in views for state in view.states)
        if len(views) < len(node.inputs) or any(view.whole for view in views) or len(states) > bounds.MOST_FOLLOWED:
            return []
        stacked = all(view.axes[:1] == ("ways",) for view in views)
        return [views[0]._replace(states=states, axes=views[0].axes if stacked else ())]

    def _passed(self, node: Operator, view: View) -> list[View]:
        """Return what the outputs of an operator are of those of recurrent operators, as its first input is one."""
        axes, settings, numbers = view.axes, node.settings, self._whole(node)
        sizes = numbers[1] if numbers[1:] else []
        rank = len(sizes) or 3
        match node.kind:
            case "Identity" | "Cast":
                return [view]
            case kind if kind in _AT_EACH_STEP and view.whole:
                return [view._replace(axes=tuple(axis if axis == "steps" else "" for axis in axes))]
            case "Gather" | "Slice" | "Split":
                return self._taken(node, view)
            case "Transpose" if len(settings.get("perm", ())) == len(axes):
                axes = tuple(axes[place] for place in settings["perm"] if -len(axes) <= place < len(axes))
            case "Squeeze" if axes and (gone := settings.get("axes") or sizes):
                places = {place % len(axes) for place in gone}
                axes = tuple(axis for place, axis in enumerate(axes) if place not in places)
            case "Reshape" if axes[-2:] == ("ways", "units"):
                matrix = self.values.get(self.nodes[view.cell].inputs[2])
                axes = (*(axes[:-2] if rank == len(axes) - 1 else [""] * (rank - 1)), "ways")
                return [view._replace(axes=axes, width=matrix.shape[-1] if matrix else 0)]
            case "Reshape" if rank == len(axes) - 1 and len(view.states) == 1:
                axes = tuple(axis for axis in axes if axis != "ways")
            case kind if kind in _PASSING:
                axes = ()
            case _:
                return []
        return [view._replace(axes=axes)] if axes or not view.whole else []

    def _taken(self, node: Operator, view: View) -> list[View]:
        """Return what an operator takes along one axis: states, or a step of a direction or of all."""
        numbers, settings, axes = self._whole(node), node.settings, view.axes
        axis = (
            settings.get("axis", settings.get("axes")) or (node.kind == "Slice" and numbers[3:] and numbers[3]) or [0]
        )
        named = axes[axis[0] % len(axes)] if axes and len(axis) == 1 else ""
        name = named or ("" if view.whole or axes else "steps")
        kept = tuple(each for each in axes if each != name) if axes else ()
        if name == "steps" and view.whole:
            step = numbers[1] if node.kind == "Gather" else [-1] if self.picks(node, -1) else []
            if len(step) == 1:
                self.steps.setdefault(view.cell, step)
                return [view._replace(axes=kept if node.kind == "Gather" else axes)]
            return []
        if name == "steps":  # the step after which the direction ends
            ends = len(view.states) == 1 and self.picks(node, -1 if view.states[0][1] == 0 else 0)
            return [view] if ends else []
        if name != "ways" or not view.width:
            return []
        every = len(view.states) * view.width
        if node.kind == "Split" and len(node.outputs) == len(view.states) == 2:
            return [view._replace(states=(state,), width=1, whole=False) for state in view.states]
        if node.kind == "Gather" and view.width == 1 and numbers[1]:
            states = tuple(view.states[each] for each in numbers[1] if -every <= each < every)
            axes = axes if self.values[node.inputs[1]].shape else kept
        elif node.kind == "Slice" and [len(each) for each in numbers[1:3]] == [1, 1] and numbers[4:] in ([], [[1]]):
            first, last, _ = slice(numbers[1][0], numbers[2][0]).indices(every)
            states = view.states[first // view.width : last // view.width]
            states = () if first % view.width or last % view.width else states
        else:
            return []
        return [view._replace(axes=axes, states=states, whole=False)] if states else []

    def _halves(self, name: str) -> bool:
        _, node = self.next(name)
        factor = node and next((value for each in node.inputs if (value := self.values.get(each))), None)
        halves = {"Mul": [0.5], "Div": [2.0]}
        halved = bool(node and factor and factor.size == 1 and factor.read() == halves.get(node.kind))
        self.part.update(node.outputs if node and halved else ())
        return halved

    def _whole(self, node: Operator) -> list[list[int]]:
        """Return the whole numbers that an operator reads, for each input."""
        values = [self.values.get(name) for name in node.inputs]
        return [each.whole() if each and each.size < 10 and each.dtype[:3] == "int" else [] for each in values]

    def picks(self, node: Operator, place: int) -> bool:
        """Return whether an operator outputs one place of an axis of what it reads: 0, or −1 for the last."""
        numbers = self._whole(node)
        if node.kind == "Gather":
            return numbers[1:] == [[place]]
        listed = [node.settings.get(word) for word in ("starts", "ends", "axes", "steps")]
        starts, ends, _, steps = [one or other for one, other in zip(listed, [*numbers[1:], *[[]] * 4], strict=False)]
        if node.kind != "Slice" or starts != [place] or not isinstance(ends, list) or len(ends) != 1:
            return False
        return steps in ([], None, [1]) and (
            isinstance(ends[0], int) and ends[0] >= 2**31 - 1 if place else ends == [1]
        )

    # Operators that are part of no layer

    def unknown(self) -> list[str]:
        """Return the operators on the way to the file's first output that are part of no layer, each kind once.

        Those that only move numbers, or compute shapes, change nothing of what layers output.
        """
        way = self.way
        kinds, behind = dict[str, None](), set[str]()  # the names of what follows from an output of a layer
        ends = [view for name in self.outputs if (view := self._views.get(name))]
        is_partial = any(not view.whole and view.states != self._last for view in ends)
        for number, node in enumerate(self.nodes):
            on = number not in self.moving and not self.fed.isdisjoint(node.outputs)
            if on and (not self.outputs or not way.isdisjoint(node.outputs)):
                if self.part.isdisjoint(node.outputs) and number not in self.joining | self.choosing:
                    kinds |= dict.fromkeys(self._unknown(node, behind, way))
                is_partial |= number in self.partial
            if not self.fed.isdisjoint(node.outputs) and (node.kind in INPUTS or not behind.isdisjoint(node.inputs)):
                behind.update(node.outputs)
        return [*kinds, *["states of a part of the layers"] * is_partial]

    def _way(self, outputs: Iterable[str]) -> set[str]:
        """Return the names that outputs of the file follow from, with those within branches and loops."""
        way, waiting = set[str](), [*outputs, *(name for node in self.nodes if node.at for name in node.outputs)]
        while waiting:
            name = waiting.pop()
            if name not in way:
                way.add(name)
                waiting += self.writers[name].inputs if name in self.writers else ()
        return way

    @cached_property
    def way(self) -> set[str]:
        """The names that the first output of the file follows from."""
        return self._way(self.outputs)

    def heads(self) -> list[str]:
        """Return the further outputs of the file that follow from layers from which the first one does not."""
        apart = {
            name
            for node in self.nodes
            if node.kind in INPUTS and any(each in self.values for each in node.inputs)
            if self.way.isdisjoint(node.outputs)
            for name in node.outputs
        }
        return [name for name in self._others if apart and not apart.isdisjoint(self._way([name]))]

    def _unknown(self, node: Operator, behind: set[str], way: Container[str]) -> Iterator[str]:
        """Yield what an operator computes that no layer does: its kind, with its setting if only that is unknown."""
        kind, settings = FUSED.get(node.kind, node.kind), node.settings
        weights = [self.values.get(name) for name in node.inputs]
        if kind in INPUTS and kind != "Gather" and any(weights[1:3]):
            usual = _USUAL.get(kind, {})
            for word, value in settings.items():
                if word in usual and value not in (usual[word], [*map(float, usual[word])]):
                    yield f"{node.kind} with {word}"
            if kind in CELLS:
                yield from self._unknown_of_cell(node, behind, way)
        elif kind == "Gather" and weights[0]:
            if settings.get("axis", [0]) != [0]:
                yield "Gather with axis"
        elif kind == "Cast":
            if settings.get("to") not in _REAL_TYPES and node.inputs[0] in self.writers:
                yield "Cast to whole numbers"
        elif kind in ("Slice", "Gather", "Split", "Concat"):
            if not self.picks(node, -1):
                yield kind
        elif kind == "Pad":
            _, reader = self.next(node.outputs[0])
            if reader is None or FUSED.get(reader.kind, reader.kind) != "Conv":
                yield kind
        elif kind not in (*_PASSING, "Dropout"):
            yield kind or "an operator without a name"

    def _unknown_of_cell(self, node: Operator, behind: set[str], way: Container[str]) -> Iterator[str]:
        lengths, matrix, settings = "".join(node.inputs[4:5]), self.values.get("".join(node.inputs[2:3])), node.settings
        if lengths and (lengths in self.fed or lengths in self.values):
            yield f"{node.kind} with sequence_lens"
        if not behind.isdisjoint(node.inputs[5:7]):
            yield f"{node.kind} with a state of another layer"
        if any(name in way for name in node.outputs[2:3]):
            yield f"{node.kind} with Y_c"
        if matrix and len(matrix.shape) == 3:
            directions = [["bidirectional"]] if matrix.shape[0] == 2 else [["forward"], ["reverse"]]
            if settings.get("direction", ["forward"]) not in directions:
                yield f"{node.kind} with direction"
            if settings.get("hidden_size", [matrix.shape[2]]) != [matrix.shape[2]]:
                yield f"{node.kind} with hidden_size"
