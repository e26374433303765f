"""TensorFlow Lite's models: a flatbuffer of tensors, operators and buffers.

Fields are numbered as in schema.fbs (https://github.com/tensorflow/tensorflow/blob/master/tensorflow/compiler/mlir/lite
/schema/schema.fbs), and tables are read as https://flatbuffers.dev/internals/ describes them. The operators are read as
those of ONNX that compute the same. An LSTM's operator has one array for each gate: i, f, c, o. Seen in tensorflow
2.20.0, November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import partial
from math import prod
from typing import Any

from rnncalc.bounds import MOST_AXES, MOST_NAME, MOST_TENSORS
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.fused import of_fused
from rnncalc.models.files.model import BadFileError, Bytes, FileTensor, ModelFile, TensorRole
from rnncalc.models.files.onnx_graph import Graph, Operator, Place, Within
from rnncalc.printable import escape

_TYPES = ("float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16", "complex64", "int8", "float64")
_KINDS = {0: "Add", 2: "Concat", 6: "Cast", 7: "EMBEDDING_LOOKUP", 9: "FULLY_CONNECTED", 14: "Sigmoid", 18: "Mul"}
_KINDS |= {19: "Relu", 22: "Reshape", 25: "Softmax", 28: "Tanh", 36: "Gather", 39: "Transpose", 41: "Sub"}
_KINDS |= {43: "Squeeze", 44: "LSTM", 45: "STRIDED_SLICE", 53: "Cast", 70: "Unsqueeze", 77: "Shape", 111: "Elu"}
_KINDS |= {119: "WHILE"}
_WITHIN = {1: "Relu", 3: "RELU6", 4: "Tanh"}
"""The activations that an operator computes on its output."""


class _Table:
    """A table of a flatbuffer: the place of each of its fields, which are given by their numbers."""

    def __init__(self, buffer: Bytes, start: int) -> None:
        self.buffer, self.start = buffer, start
        layout = start - buffer.unpacked("i", start)[0]
        (length,) = buffer.unpacked("H", layout)
        self.fields = buffer.unpacked(f"{max(length - 4, 0) // 2}H", layout + 4)

    def place(self, field: int) -> int:
        """Return the place of a field, 0 if the table lacks it."""
        offset = self.fields[field] if field < len(self.fields) else 0
        return self.start + offset if offset else 0

    def scalar(self, field: int, form: str, usual: Any = 0) -> Any:
        """Return a number."""
        place = self.place(field)
        return self.buffer.unpacked(form, place)[0] if place else usual

    def vector(self, field: int, size: int) -> tuple[int, int]:
        """Return the first byte and the length of a vector of values of a size; (0, 0) without one."""
        if not (place := self.place(field)):
            return 0, 0
        start = place + self.buffer.unpacked("I", place)[0]
        (count,) = self.buffer.unpacked("I", start)
        if start + 4 + count * size > self.buffer.size:
            raise BadFileError("is truncated")
        return start + 4, count

    def numbers(self, field: int) -> list[int]:
        """Return a short vector of whole numbers of four bytes."""
        start, count = self.vector(field, 4)
        return [*self.buffer.unpacked(f"{count}i", start)]

    def tables(self, field: int) -> list[_Table]:
        """Return a vector of tables."""
        start, count = self.vector(field, 4)
        if count > 4 * MOST_TENSORS:
            raise BadFileError(f"holds more than {4 * MOST_TENSORS:,} tensors, operators or buffers")
        offsets = self.buffer.unpacked(f"{count}I", start)
        return [_Table(self.buffer, start + 4 * at + offset) for at, offset in enumerate(offsets)]

    def text(self, field: int) -> str:
        """Return a text."""
        start, count = self.vector(field, 1)
        return self.buffer.piece(start, min(count, MOST_NAME)).decode("utf-8", "replace")


def read(path: str) -> ModelFile:
    """Return the contents of a file."""
    with open_input(path) as file:
        buffer = Bytes(file)
        root = _Table(buffer, buffer.unpacked("I", 0)[0])
        graph = _Subgraphs(path, root).graph
    return of_fused(path, "tflite", graph, {})


class _Subgraphs:
    """Makes a graph of ONNX's operators of the first subgraph, and of those that its loops run."""

    def __init__(self, path: str, root: _Table) -> None:
        self.path, self.graph = path, Graph()
        self.codes = [(max(code.scalar(0, "b"), code.scalar(3, "i")), escape(code.text(1))) for code in root.tables(1)]
        self.buffers, self.subgraphs = root.tables(4), root.tables(2)
        self.read: set[int] = set()
        self.computed: set[str] = set()  # the names of what operators output
        self._subgraph(0, ())

    def _subgraph(self, number: int, at: Place) -> None:
        if not 0 <= number < len(self.subgraphs) or number in self.read:
            return
        self.read.add(number)
        subgraph = self.subgraphs[number]
        tensors = subgraph.tables(0)
        names = [f"{tensor.text(3)}:{number}.{place}"[-MOST_NAME:] for place, tensor in enumerate(tensors)]
        for name, tensor in zip(names, tensors, strict=True):
            self._tensor(name, tensor, at)
        for operator in subgraph.tables(3):
            index = operator.scalar(0, "I")
            code, custom = self.codes[index] if index < len(self.codes) else (-1, "")
            kind = custom or _KINDS.get(code, f"operator {code}")
            inputs = [names[each] if 0 <= each < len(names) else "" for each in operator.numbers(1)]
            outputs = tuple(names[each] for each in operator.numbers(2) if 0 <= each < len(names))
            place = operator.place(4)
            options = _Table(operator.buffer, place + operator.buffer.unpacked("I", place)[0]) if place else None
            if kind == "WHILE" and options:
                self.graph.nodes.append(Operator("Loop", "", tuple(inputs), outputs, {}, at))
                inner = Within(len(self.graph.nodes) - 1, f"body of the loop {number}", False)
                self.graph.names.setdefault((*at, inner), self.graph.names[()].new_child())
                self._subgraph(options.scalar(1, "i"), (*at, inner))
            elif outputs:
                place = next(iter(operator.numbers(1)), 0)
                sequence = tensors[place] if 0 <= place < len(tensors) else None
                sizes = sequence.numbers(7) or sequence.numbers(0) if sequence else []  # -1 for one that is not known
                nodes = _translated(kind, inputs, outputs, options, self.graph, sizes, self.computed)
                self.graph.nodes += [node._replace(at=at) for node in nodes]
            self.computed.update(outputs)
        if not at:
            self.graph.outputs = [names[each] for each in subgraph.numbers(2) if 0 <= each < len(names)]

    def _tensor(self, name: str, tensor: _Table, at: Place) -> None:
        """Add a tensor if it has numbers: those of others are computed."""
        index, kind = tensor.scalar(2, "I"), tensor.scalar(1, "b")
        if not 0 < index < len(self.buffers):
            return
        held = self.buffers[index]
        start, length = held.vector(0, 1)
        if not length:
            start, length = held.scalar(1, "Q"), held.scalar(2, "Q")  # of files above 2 GB
        if not length:
            return
        shape = model.shape_of(name, tensor.numbers(0))
        dtype = _TYPES[kind] if 0 <= kind < len(_TYPES) else f"type {kind}"
        model.check_length(name, shape, dtype, length)
        if start + length > tensor.buffer.size:
            raise BadFileError("is truncated")
        read_numbers = partial(model.numbers_at, self.path, start, dtype, shape)
        self.graph.tensors[name] = FileTensor(name, shape, dtype, TensorRole.PARAMETER, read_numbers)
        self.graph.places[name] = at
        self.graph.constants.add(name)
        if len(self.graph.tensors) > MOST_TENSORS:
            raise BadFileError(f"holds more than {MOST_TENSORS:,} tensors")


def _translated(
    kind: str,
    inputs: Sequence[str],
    outputs: tuple[str, ...],
    options: _Table | None,
    graph: Graph,
    sizes: Sequence[int],
    computed: Set[str],
) -> Iterator[Operator]:
    """Yield the operators of ONNX that compute what one does; of one that is unknown, it under its own name."""
    name, first, settings = outputs[0], inputs[0] if inputs else "", dict[str, Any]()
    numbers = {place: graph.tensors[each] for place, each in enumerate(inputs) if each in graph.tensors}

    def whole(place: int) -> list[int]:
        tensor = numbers.get(place)
        short = tensor and prod(tensor.shape) <= MOST_AXES and tensor.dtype[:3] == "int"
        return [int(number) for number in model.flat(tensor)] if tensor and short else []

    def activated(field: int) -> Iterator[Operator]:
        """Yield what makes the output of `name` before its activation."""
        if options and (active := options.scalar(field, "b")):
            yield Operator(_WITHIN.get(active, f"activation {active}"), "", (f"{name} before",), outputs, {})

    def before(field: int) -> tuple[str, ...]:
        return (f"{name} before",) if options and options.scalar(field, "b") else outputs

    match kind:
        case "FULLY_CONNECTED" if len(inputs) > 1:
            yield Operator("Transpose", "", (inputs[1],), (f"{name} weights",), {"perm": [1, 0]})
            bias = [each for each in inputs[2:3] if each]
            product = (f"{name} product",) if bias else before(0)
            yield Operator("MatMul", name.rpartition(":")[0], (first, f"{name} weights"), product, {})
            if bias:
                yield Operator("Add", "", (*product, *bias), before(0), {})
            yield from activated(0)
        case "LSTM" if options and _is_plain(inputs, options):
            # states that are neither are kept between calls
            states = [each if each in graph.tensors or each in computed else "" for each in inputs[18:20]]
            yield from _lstm(inputs, outputs, options, sizes, states)
        case "EMBEDDING_LOOKUP" if len(inputs) == 2:
            yield Operator("Gather", name, (inputs[1], first), outputs, {})
        case "Gather":
            yield Operator(kind, name, tuple(inputs), outputs, {"axis": [options.scalar(0, "i") if options else 0]})
        case "Transpose" if perm := whole(1):
            yield Operator(kind, name, (first,), outputs, {"perm": perm})
        case "Concat":
            yield Operator(kind, name, tuple(inputs), before(1), {"axis": [options.scalar(0, "i") if options else 0]})
            yield from activated(1)
        case "STRIDED_SLICE" if options and (axis := {1: 0, 2: 1}.get(options.scalar(4, "i"), -1)) >= 0:
            if whole(1)[axis : axis + 1] != [-1] or any(each for at, each in enumerate(whole(1)) if at != axis):
                yield Operator(kind, name, tuple(inputs), outputs, settings)
                return
            place = f"{name} place"  # the last step, of all sequences
            graph.tensors[place] = FileTensor(place, (), "int64", TensorRole.CONSTANT, lambda: -1)
            graph.places[place] = ()
            yield Operator("Gather", name, (first, place), outputs, {"axis": [axis]})
        case "Add" | "Mul" | "Sub":
            yield Operator(kind, name, tuple(inputs), before(0), settings)
            yield from activated(0)
        case "Softmax":  # of the last axis
            yield Operator(kind, name, (first,), outputs, {"axis": [-1]})
        case "Cast":
            yield Operator(kind, name, (first,), outputs, {"to": [1]})
        case _:
            yield Operator(kind, name, tuple(inputs), outputs, settings)


def _is_plain(inputs: Sequence[str], options: _Table) -> bool:
    """Return whether an LSTM has all its blocks, no peepholes, projection or norms, and tanh."""
    places = {place for place, each in enumerate(inputs) if each}
    others = {9, 10, 11, 16, 17, 20, 21, 22, 23}
    return places >= {*range(9)} and not places & others and options.scalar(0, "b") == 4  # tanh


def _lstm(
    inputs: Sequence[str], outputs: tuple[str, ...], options: _Table, sizes: Sequence[int], states: Sequence[str]
) -> Iterator[Operator]:
    """Yield an LSTM with its gates one after another. A cell state is below the number of its step.

    The one that TensorFlow writes clips it at 10, which changes nothing in ten steps. states: those before the first
    step, of which float16 stores the zeros.
    """
    name, first = outputs[0], bool(options.scalar(3, "b"))
    steps = max(sizes[not first], 0) if len(sizes) == 3 else 0
    arrays = {"W": inputs[1:5], "R": inputs[5:9], "B": inputs[12:16]}
    for letter, several in arrays.items():
        yield Operator("Concat", "", tuple(several), (f"{name} {letter} of gates",), {"axis": [0]})
        yield Operator("Unsqueeze", "", (f"{name} {letter} of gates",), (f"{name} {letter}",), {"axes": [0]})
    output = f"{name} of ONNX"
    starts = [f"{each} before {name}" if each else "" for each in states]
    for each, start in zip(states, starts, strict=True):
        yield from [Operator("Unsqueeze", "", (each,), (start,), {"axes": [0]})] * bool(each)
    reads = (inputs[0], *(f"{name} {letter}" for letter in arrays), "", *starts)
    limit = options.scalar(1, "f", 0.0)
    clipped = {"clip": True} if limit and not 0 < steps <= limit else {}
    yield Operator("LSTM", name.rpartition(":")[0], reads, (output,), {"order": "ifco", "steps": steps, **clipped})
    yield Operator("Squeeze", "", (output,), (f"{name} steps first",), {"axes": [1]})
    perm = [0, 1, 2] if first else [1, 0, 2]
    yield Operator("Transpose", "", (f"{name} steps first",), outputs, {"perm": perm})
