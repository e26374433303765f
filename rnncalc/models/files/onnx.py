"""ONNX files: tensors, and the operators that read them, which give their roles.

The numbers of the fields are those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). It is read
without the package onnx, which loads all weights, and NumPy, before the first name is known. Tensors are those of the
graph itself, of its branches and loops, and their constants. Of branches, the largest is counted.
"""

from __future__ import annotations

import os
import re
import struct
from array import array
from collections import ChainMap, Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import islice
from math import prod
from typing import Any, BinaryIO, NamedTuple

from rnncalc import bounds
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.model import (
    BadFileError,
    BoundedReader,
    FileModule,
    FileTensor,
    ModelFile,
    Remark,
    RemarkKind,
    TensorRole,
)
from rnncalc.models.files.moves import Value, flat, moved
from rnncalc.printable import escape


def read(path: str) -> ModelFile:
    """Return the contents of a file."""
    with open_input(path) as stream:
        graph = _graph(path, Wire(stream))
    reader = BoundedReader()
    flow = _Flow(graph)
    tensors = _with_roles(graph, flow, reader)
    branches = _branches(graph, flow, tensors)
    for name, tensor in tensors.items():
        if tensor.is_parameter and not branches.counts(graph.places[name]):
            tensors[name] = tensor._replace(role=TensorRole.OTHER_BRANCH)
    counted = [tensor for tensor in tensors.values() if tensor.is_parameter]
    kept = {tensor.name for tensor in counted}
    others = [tensor for tensor in tensors.values() if tensor.role is TensorRole.OTHER_BRANCH]
    copies = _copies((*counted, *others), flow.stepped | {tensor.name for tensor in others})
    equal = [copies.pop(tensor.name) for tensor in others if tensor.name in copies]
    for name, first in copies.items():
        tensors[name] = tensors[name]._replace(shared_with=first)
    operators = _Modules(graph, flow, tensors, branches, copies)
    modules = tuple(operators.modules)
    file = ModelFile(path, "onnx", "onnx", tuple(tensors.values()), modules)
    of_modules = sum(tensor.params for module in modules for tensor in module.tensors.values())
    biases = [
        (each.tensors["B"].name.split(" of ")[0], _zeros(each.tensors, reader))
        for each in modules
        if {"R", "B"} <= {*each.tensors}
    ]
    loops = [node.name or node.kind for node in graph.nodes if node.kind in ("Loop", "Scan") and not node.at]
    remarks = [
        *(Remark(RemarkKind.BRANCHES, *map(tuple, zip(*several, strict=True))) for several in branches.listed),
        Remark(RemarkKind.SHARED, tuple(name for name in dict.fromkeys((*branches.shared, *equal)) if name in kept)),
        Remark(RemarkKind.TOO_DEEP, tuple(dict.fromkeys(graph.too_deep))),
        Remark(RemarkKind.LOOPS, tuple(loops)),
        Remark(RemarkKind.OPERATORS, tuple(() if operators.steps or loops or flow.quantised else flow.unknown(graph))),
        Remark(RemarkKind.UNROLLED, tuple(operators.steps), tuple(operators.steps.values())),
        Remark(RemarkKind.MERGED, tuple(dict.fromkeys(operators.merged)), (of_modules, file.params)),
        Remark(RemarkKind.NO_BIAS, tuple(operators.without_bias)),
        Remark(RemarkKind.ZEROS, tuple(dict.fromkeys(name for name, zeros in biases if zeros))),
        Remark(RemarkKind.ALL_ZEROS, tuple(dict.fromkeys(name for name, zeros in biases if zeros is False))),
        *model.quantised_remarks(flow.quantised),
    ]
    remarks = [remark for remark in remarks if remark.names]
    return file._replace(remarks=tuple(remarks), apart=of_modules - file.params)


# The encoding of protocol buffers: numbered fields, each a number or a range of bytes.
# https://protobuf.dev/programming-guides/encoding/

_GOING_ON = bytes(range(128, 256))
"""The first byte value that is followed by another byte of the same number."""


class Wire:
    """The fields of one open file, read up to a bound.

    The file is not memory-mapped, because a mapped file that is truncated meanwhile ends the process.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.fields_read = 0

    def fields(self, span: range) -> Iterator[tuple[int, int | range]]:
        """Yield the fields of a message: the number of each, and its value, a whole number or a range of bytes."""
        at, end = span.start, span.stop
        while at < end:
            self.fields_read += 1
            if self.fields_read > bounds.MOST_FIELDS:
                raise BadFileError(f"has more than {bounds.MOST_FIELDS:,} fields")
            key, at = self._number(at, end)
            kind = key & 7
            if kind == 0:
                value, at = self._number(at, end)
                yield key >> 3, value
                continue
            size, at = (
                (8, at) if kind == 1 else (4, at) if kind == 5 else self._number(at, end) if kind == 2 else (-1, at)
            )
            if size < 0 or at + size > end:
                raise BadFileError("is truncated, or is not an ONNX file")
            yield key >> 3, range(at, at + size)
            at += size

    def _number(self, at: int, end: int) -> tuple[int, int]:
        value = shift = 0
        for byte in self.bytes(range(at, min(at + 10, end))):
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, at
            shift += 7
        raise BadFileError("is truncated, or is not an ONNX file")

    def bytes(self, span: range) -> bytes:
        """Return the bytes of a range."""
        self.file.seek(span.start)
        data = self.file.read(len(span))
        if len(data) < len(span):
            raise BadFileError("is truncated")
        return data

    def text(self, span: int | range, most: int = 10_000) -> str:
        """Return a range of bytes as text."""
        if isinstance(span, int) or len(span) > most:
            raise BadFileError(f"has a name of more than {most:,} characters")
        return self.bytes(span).decode("utf-8", "replace")

    def count(self, value: int | range) -> int:
        """Return how many whole numbers a value has: one, or several packed in a row."""
        if isinstance(value, int):
            return 1
        if len(value) > bounds.MOST_PACKED_COUNTED:
            raise BadFileError(f"has {len(value):,} bytes of whole numbers in one field")
        return len(self.bytes(value).translate(None, _GOING_ON))

    def numbers(self, value: int | range) -> list[int]:
        """Return the whole numbers of a value: one, or several packed in a row."""
        if isinstance(value, int):
            return [_signed(value)]
        if len(value) > bounds.MOST_PACKED_READ:
            raise BadFileError(f"has {len(value):,} bytes of sizes or settings in one field")
        at, numbers = value.start, []
        while at < value.stop:
            number, at = self._number(at, value.stop)
            numbers.append(_signed(number))
        return numbers

    def reals(self, span: range) -> list[float]:
        """Return the float32 numbers of a range."""
        if len(span) % 4:
            raise BadFileError("is truncated, or is not an ONNX file")
        return [number for (number,) in struct.iter_unpack("<f", self.bytes(span))]


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


# The messages of a file that tensors are in.

TYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool"}
TYPES |= {10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16"}
TYPES |= {17: "float8_e4m3fn", 19: "float8_e5m2"}
_TYPED = {4: "float32", 10: "float64"}
"""The fields of packed numbers that are not raw bytes."""


class Within(NamedTuple):
    """A graph within an operator: the operator's number, the graph's name, and whether another one may be run."""

    operator: int
    name: str
    branch: bool


Place = tuple[Within, ...]
"""Where an operator or a tensor is: the graphs that it is in, from the outermost; nothing for the graph of the file."""


class Operator(NamedTuple):
    """An operator of a graph with its inputs and outputs by name; settings: its numbers and words."""

    kind: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    settings: dict[str, object]
    at: Place = ()


class ONNXGraph(NamedTuple):
    """A graph with those within: its operators, and its tensors as parameters, with their places.

    constants: the names of tensors that are constants of an operator. outputs: those of the file.
    names: for each place what its names are in the whole file, all of which are known.
    too_deep: the names of operators that have a graph within that is not read.
    """

    nodes: list[Operator]
    tensors: dict[str, FileTensor]
    places: dict[str, Place]
    constants: set[str]
    names: dict[Place, ChainMap[str, str]]
    known: set[str]
    too_deep: list[str]
    outputs: list[str]


def _graph(path: str, wire: Wire) -> ONNXGraph:
    """Return the graph of a file. Raises BadFileError if there is none."""
    span, versions = None, 0
    for number, value in wire.fields(range(os.fstat(wire.file.fileno()).st_size)):
        if number == 7 and isinstance(value, range):
            span = value
        versions += number == 8
    if span is None or not versions:
        raise BadFileError("is truncated, or is not an ONNX file: it has no graph, or no version of its operators")
    graph = ONNXGraph([], {}, {}, set(), {(): ChainMap()}, set(), [], [])
    _graph_at(path, wire, span, graph, ())
    for number, node in enumerate(graph.nodes):
        names = graph.names[node.at]
        inputs, outputs = (tuple(names.get(word, word) for word in words) for words in (node.inputs, node.outputs))
        graph.nodes[number] = node._replace(inputs=inputs, outputs=outputs)
    return graph


def _graph_at(path: str, wire: Wire, span: range, graph: ONNXGraph, at: Place) -> None:
    for number, value in wire.fields(span):
        if isinstance(value, range) and number == 1:
            _operator(path, wire, value, graph, at)
        elif isinstance(value, range) and number == 5:
            _add(_tensor(path, wire, value), graph, at)
        elif isinstance(value, range) and number == 12 and not at:
            graph.outputs.extend(wire.text(name) for field, name in wire.fields(value) if field == 1)
        elif number == 15:
            raise BadFileError("holds sparse tensors, which are not read here")
        if len(graph.tensors) > bounds.MOST_TENSORS or len(graph.nodes) > 4 * bounds.MOST_TENSORS:
            raise BadFileError(f"holds more than {bounds.MOST_TENSORS:,} tensors, or four times as many operators")


def _defined(name: str, graph: ONNXGraph, at: Place) -> str:
    """Return the name in the whole file of what a place has under a name: its own, unless another place has it too."""
    names = graph.names[at].maps[0]
    if name not in names:
        whole = f"{at[-1].name if at else 'graph'}/{name}" if name in graph.known else name
        names[name] = f"{whole} {len(graph.known)}" if whole in graph.known else whole
        graph.known.add(names[name])
    return names[name]


def _add(tensor: FileTensor, graph: ONNXGraph, at: Place) -> str:
    name = _defined(tensor.name, graph, at)[: bounds.MOST_NAME]
    if name in graph.tensors:
        raise BadFileError(f"holds two tensors of the name {escape(name)}")
    graph.tensors[name] = tensor._replace(name=name)
    graph.places[name] = at
    return name


_BRANCHING = ("If", "Loop", "Scan")


def _operator(path: str, wire: Wire, span: range, into: ONNXGraph, at: Place) -> None:
    words: dict[int, list[str]] = {1: [], 2: [], 3: [], 4: []}
    attributes: list[range] = []
    for number, value in wire.fields(span):
        if number in words:
            words[number].append(wire.text(value))
        elif number == 5 and isinstance(value, range):
            attributes.append(value)
    kind, inputs, outputs = "".join(words[4][:1]), tuple(words[1]), tuple(words[2])
    if kind not in _BRANCHING and not (outputs and (inputs or kind == "Constant")):
        kind = ""  # no operator that moves or computes is without them
    node = Operator(kind, "".join(words[3][:1]), inputs, outputs, {}, at)
    into.nodes.append(node)
    place = len(into.nodes) - 1
    for name in node.outputs if at else ():
        _defined(name, into, at)
    for attribute in attributes:
        _attribute(path, wire, attribute, place, into)


def _attribute(path: str, wire: Wire, span: range, place: int, into: ONNXGraph) -> None:
    """Take an attribute: numbers and words into the operator's settings, a constant or a graph into the graph.

    Its type says which field has its value. A list without entries, and in proto3 a single value that is the default,
    have no field. Files from before IR version 2 have no type.
    """
    node = into.nodes[place]
    name = ""
    kind: int | range = 0
    complete = True
    whole: list[int] = []
    texts: list[str] = []
    reals: list[float] = []
    for number, value in wire.fields(span):
        if number == 1:
            name = wire.text(value)
        elif number == 20:
            kind = value
        elif number in (2, 3, 4, 7, 8, 9) and isinstance(value, range) and len(value) > bounds.MOST_SETTING:
            complete = False
        elif number in (3, 8):
            whole += wire.numbers(value)
        elif number in (4, 9) and isinstance(value, range):
            texts.append(wire.text(value))
        elif number in (2, 7) and isinstance(value, range):
            reals += wire.reals(value)
        elif number == 5 and isinstance(value, range) and node.kind == "Constant" and node.outputs:
            tensor = _tensor(path, wire, value)._replace(name=node.outputs[0][: bounds.MOST_NAME])
            into.constants.add(_add(tensor, into, node.at))
        elif number in (6, 11) and isinstance(value, range):
            if len(node.at) == bounds.MOST_WITHIN:
                into.too_deep.append((node.name or node.kind)[: bounds.MOST_NAME])
                continue
            inner = Within(place, f"{name} of {node.name or node.kind}"[: bounds.MOST_NAME], node.kind == "If")
            at = (*node.at, inner)
            into.names[at] = into.names[node.at].new_child()
            _graph_at(path, wire, value, into, at)
    values: dict[int | range, object] = {0: texts or reals or whole or None, 6: reals, 7: whole, 8: texts}
    values |= {1: reals or [0.0], 2: whole or [0], 3: texts or [""]}
    if name and complete and (value_of := values.get(kind)) is not None:
        node.settings[name] = value_of


def _tensor(path: str, wire: Wire, span: range) -> FileTensor:
    """Return a tensor whose shape is that of its numbers, wherever those are."""
    sizes: list[int] = []
    name, dtype, data, apart, count = "", "", None, False, 0
    whole: list[float] = []
    location: dict[str, str] = {}
    for number, value in wire.fields(span):
        if number == 1:
            sizes += wire.numbers(value)
        elif number == 2 and isinstance(value, int):
            dtype = TYPES.get(value, f"type {value % 1000}")
        elif number == 8:
            name = wire.text(value)
        elif number in (9, *_TYPED) and isinstance(value, range):
            data = value
        elif number in (5, 7, 11):
            count += wire.count(value)
            if count <= bounds.MOST_PACKED_READ // 10:
                whole += wire.numbers(value)
        elif number == 13 and isinstance(value, range):
            pair = {number: wire.text(word) for number, word in wire.fields(value) if number in (1, 2)}
            location[pair.get(1, "")] = pair.get(2, "")
        elif number == 14:
            apart = value == 1
    if (
        len(name) > bounds.MOST_NAME
        or len(sizes) > bounds.MOST_AXES
        or not all(0 <= size < bounds.MOST_AXIS for size in sizes)
    ):
        raise BadFileError(f"has {escape(name)}, which is not a tensor")
    shape = tuple(sizes)
    if apart:
        file, start = _beside(path, name, shape, dtype, location)
        return FileTensor(
            name, shape, dtype, TensorRole.PARAMETER, partial(model.numbers_at, file, start, dtype, shape)
        )
    numbers = len(data) // model.BYTES[dtype] if data and dtype in model.BYTES else count
    if dtype in model.BYTES and numbers != prod(shape):
        raise BadFileError(f"says that {escape(name)} has {prod(shape):,} numbers, and holds {numbers:,}")
    read = partial(model.numbers_at, path, data.start, dtype, shape) if data else partial(_not_in_bytes, name, shape)
    if dtype not in model.REAL and not data and len(whole) == prod(shape):
        read = partial(model.nested, whole, shape)
    return FileTensor(name, shape, dtype, TensorRole.PARAMETER, read)


def _not_in_bytes(name: str, shape: tuple[int, ...]) -> Any:
    """Return the numbers of a tensor that has a field for each, if it has none."""
    if not prod(shape):
        return []
    raise BadFileError(f"keeps {escape(name)} in numbers of a type that is not read here; save it as float32")


def _beside(path: str, name: str, shape: tuple[int, ...], dtype: str, data: Mapping[str, str]) -> tuple[str, int]:
    """Return the file of a tensor's numbers and the first byte; only files beside this one are read."""
    sizes = [data.get(key, "0") for key in ("offset", "length")]
    location = data.get("location", "")
    if not location or not all(size.isascii() and size.isdecimal() and len(size) < 20 for size in sizes):
        raise BadFileError(f"does not say where the numbers of {escape(name)} are")
    start, length = map(int, sizes)
    folder = os.path.realpath(os.path.dirname(path) or ".")
    file = os.path.realpath(os.path.join(folder, location.replace("\0", "/")))  # it takes no zero
    if os.path.isabs(location) or os.path.commonpath((folder, file)) != folder or "\0" in location:
        raise BadFileError(f"keeps {escape(name)} in {escape(location)}, which is not in its folder")
    try:
        with open_input(file) as beside:
            size = os.fstat(beside.fileno()).st_size
    except OSError as error:
        raise BadFileError(f"keeps {escape(name)} in {escape(location)}: {(error.strerror or '').lower()}") from None
    needed = prod(shape) * model.BYTES[dtype] if dtype in model.BYTES else length
    if (length and length != needed) or start + needed > size:
        raise BadFileError(f"keeps {escape(name)} in {escape(location)}, which has not the bytes it needs")
    return file, start


# The roles of tensors: they follow from the operators that read them, and for some from their numbers.

_OF_QUANTISED = """
DequantizeLinear:wss QuantizeLinear:-ss QLinearConv:-sswssssw QLinearMatMul:wsswssss QGemm:wsswsswss MatMulInteger:wwss
ConvInteger:wwss MatMulIntegerToFloat:wwssss DynamicQuantizeMatMul:-wss MatMulNBits:-pss QAttention:-w-ss-ss
DynamicQuantizeLSTM:-ww-----ssss GatherBlockQuantized:p-ss QLinearAdd:wsswssss QLinearMul:wsswssss QLinearSigmoid:-ssss
"""
"""The inputs of operators on whole numbers, those of ONNX Runtime too: w a quantised weight, p one that is packed, s a
scale or zero point."""


def _at(letter: str) -> set[tuple[str, int]]:
    pairs = (each.split(":") for each in _OF_QUANTISED.split())
    return {(kind, at) for kind, letters in pairs for at, each in enumerate(letters) if each == letter}


_BUFFERS = {("BatchNormalization", 3), ("BatchNormalization", 4), *_at("s")}
_WHOLE, _PACKED = _at("w"), _at("p")
_STATES = {("LSTM", 5), ("LSTM", 6), ("GRU", 5), ("RNN", 5)}
_OF_EXPORTER = re.compile(r"val_[0-9]+|const_\w+")
"""The names that PyTorch's newer exporter has for constants, such as the scale of attention, and for folded weights."""

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

_WEIGHTS_AT = {(kind, place) for kind, names in INPUTS.items() for place, name in enumerate(names) if name}
_WEIGHTS_AT -= _BUFFERS | _STATES | {("Gather", 0)}
"""Where an operator has a weight, of whatever size."""
_ZERO_WEIGHTS_AT = {("Add", 0), ("Add", 1), ("Gather", 0)}
"""Where other zeros may be weights too, and no state."""
_FUSED = {"FusedGemm": "Gemm", "FusedConv": "Conv", "FusedMatMul": "MatMul"}
"""Operators of ONNX Runtime, which are another one and what follows it."""
_PRODUCTS = ("MatMul", "Gemm")
_PASSING = ("Identity", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Cast", "Flatten")
"""Operators whose output has the numbers of the first input in the same order of features."""


_ACTIVATIONS = (
    "Relu",
    "Tanh",
    "Sigmoid",
    "Elu",
    "Gelu",
    "HardSigmoid",
    "LeakyRelu",
    "Selu",
    "Softmax",
    "Softplus",
    "Clip",
)
_BEFORE_ACTIVATION = ("MatMul", "Gemm", "Conv", "BatchNormalization", "LayerNormalization")
_JOINS = {"Add": "sum", "Sum": "sum", "Mul": "mul", "Mean": "ave"}


_CELLS = ("LSTM", "GRU", "RNN")
_OF_NORM = ("ReduceMean", "Sub", "Mul", "Add", "Sqrt", "Reciprocal", "Pow", "Div", "Neg", "BatchNormalization", "Max")
"""The operators that a layer norm consists of where it is none itself."""
_USUAL: Mapping[str, Mapping[str, list[int]]] = {
    "Gemm": {"alpha": [1], "beta": [1], "transA": [0]},
    "MatMul": {"alpha": [1], "transA": [0], "transBatchA": [0], "transBatchB": [0]},
    "LayerNormalization": {"axis": [-1]},
    "BatchNormalization": {"training_mode": [0]},
    **{kind: {"layout": [0]} for kind in _CELLS},
}
"""The settings of operators with which they compute what a layer does; other values do not."""
_REAL_TYPES = ([1], [10], [11], [16])
"""The types of reals as a Cast has them."""


class _States(NamedTuple):
    """The states and directions that arrays have, one after the other: each as a layer's output and a direction.

    stacked: the names of arrays that have them along their first axis. last: those of the last layer.
    """

    rows: dict[str, list[tuple[str, int]]]
    stacked: set[str]
    last: list[tuple[str, int]]

    def begin(self, cell: Operator, values: Mapping[str, Value]) -> None:
        """Take a recurrent operator as the last one."""
        matrix = values.get(cell.inputs[2]) if len(cell.inputs) > 2 else None
        self.last[:] = [(cell.outputs[0], way) for way in range(matrix.shape[0] if matrix and matrix.shape else 1)][:2]
        for name in filter(None, cell.outputs[1:2]):
            self.rows[name] = [*self.last]
            self.stacked.add(name)


class _Flow:
    """What goes where in a graph: arrays that are made of stored ones, and the operators that read each name.

    moving: the numbers of the operators that move what is stored. added: the vectors that are added to products, by
    the number of the product. What is known of the activation behind a product becomes one of its settings.
    """

    def __init__(self, graph: ONNXGraph) -> None:
        self.nodes = graph.nodes
        self.values = {
            name: Value(tensor.shape, tensor.dtype, partial(_numbers, tensor), {name: prod(tensor.shape)})
            for name, tensor in graph.tensors.items()
        }
        self.moving: set[int] = set()
        self.readers: dict[str, list[int]] = {}
        self.writers = {name: node for node in graph.nodes for name in node.outputs}
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
                self.fed.update(name for name in unknown if name)
                if not self.fed.isdisjoint(node.inputs) or node.kind in _BRANCHING:
                    self.fed.update(node.outputs)
        self.part: set[str] = set()  # the outputs of operators that are part of a layer with another one
        self.added: dict[int, str] = {}
        self.directions: dict[
            str, tuple[str, int]
        ] = {}  # by name, a layer's output, and the direction that it has of it
        self.joins: set[int] = set()  # the operators that join two directions
        self.stepped: set[str] = set()  # the matrices whose product is a term of a cell's state
        self.norms = dict(self._norms())
        self.quantised: dict[str, int] = {}  # with how many numbers each stands for, 0 if that is not known
        self.begun: list[str] = []  # what the first step makes of a state of zeros, if an exporter has computed it
        for number, node in enumerate(self.nodes):
            if node.outputs and node.kind in (*_BEFORE_ACTIVATION, *_FUSED):
                self._follow(number, node)

    def _next(self, name: str) -> tuple[str, Operator | None]:
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
        name, reader = self._next(node.outputs[0])
        if reader and reader.kind == "Add" and len(reader.inputs) == 2 and matrix and matrix.shape:
            other = reader.inputs[reader.inputs[0] == name]
            vector, features = self.values.get(other), matrix.shape[0 if "Conv" in node.kind else -1]
            fits = vector and (vector.size == features or len(vector.shape) == 1)
            if fits and len(node.inputs) == 2 and reader.outputs and "Gemm" not in node.kind:
                self.added[number] = other
                self.part.add(reader.outputs[0])
                name, reader = self._next(reader.outputs[0])
        if matrix and reader and reader.kind == "Add" and reader.outputs and self.fed.issuperset(reader.inputs):
            _, behind = self._next(reader.outputs[0])
            self.stepped.update(matrix.sources if behind and behind.kind in ("Tanh", "Relu") else ())
        if "activation" not in node.settings:
            if reader and reader.kind in _ACTIVATIONS:
                node.settings["activation"] = [reader.kind]
                self.part.update(reader.outputs[:1])
            elif not self.readers.get(name) or (reader and (reader.kind in INPUTS or reader.kind in _FUSED)):
                node.settings["activation"] = ["Linear"]

    def _norms(self) -> Iterator[tuple[int, tuple[str, dict[str, str], Any]]]:
        """Yield norms that are a product with a vector and the sum with another: the kind, the vectors and the epsilon.

        Exporters of Keras write a layer norm so, and a batch norm with its statistics within the two vectors.
        """
        for number, node in enumerate(self.nodes):
            if node.kind != "Mul" or len(node.inputs) != 2 or number in self.moving:
                continue
            scale = self._vector(node)
            other = node.inputs[node.inputs[0] == scale]
            before = self._before(other, ("Reciprocal", "BatchNormalization")) if scale else None
            root = before and self._before(before.inputs[0], ("Sqrt",))
            computed = before is not None and len(before.inputs) > 3 and before.inputs[3] not in self.values
            if before and (root or computed):
                sums = root and self._before(root.inputs[0], ("Add",))
                terms = [self.values.get(name) for name in (sums.inputs if sums else ())]
                constant = next((term.read() for term in terms if term), None)
                epsilon = constant if root else before.settings.get("epsilon")
                names, left = {*node.outputs}, 8
                for later in islice(self.nodes, number + 1, number + bounds.MOST_MOVES):
                    if not left or names.isdisjoint(later.inputs):
                        continue
                    left -= 1
                    if later.kind == "Add" and (bias := self._vector(later, self.values[scale].size)):
                        self._normalises(later)
                        yield number, ("LayerNormalization", {"Scale": scale, "B": bias}, epsilon or [0.0])
                        break
                    names.update(later.outputs)
            elif scale:
                _, reader = self._next(node.outputs[0])
                if reader and reader.kind == "Add" and (bias := self._vector(reader, self.values[scale].size)):
                    self.part.update((node.outputs[0], *reader.outputs[:1]))
                    yield number, ("BatchNormalization", {"scale": scale, "B": bias}, [])

    def _normalises(self, last: Operator) -> None:
        """Mark the operators of a layer norm, the last of which adds its bias: those behind what the mean is taken of.

        That is read twice: for the mean, and to subtract it.
        """
        places = {name: place for place, node in enumerate(self.nodes) for name in node.outputs}
        names, waiting = dict[str, int](), [*last.outputs]
        while waiting and len(names) < bounds.MOST_MOVES:
            name = waiting.pop(0)
            node = self.writers.get(name)
            if node and name not in names and name not in self.part and node.kind in (*_OF_NORM, *_PASSING):
                names[name] = places[name]
                waiting += node.inputs
        means = [place for place in names.values() if self.nodes[place].kind == "ReduceMean"]
        first = max((place for place in means if len(self.readers[self.nodes[place].inputs[0]]) > 1), default=0)
        self.part.update(name for name, place in names.items() if place >= first)

    def _vector(self, node: Operator, size: int = 0) -> str:
        """Return the name of the vector among the two inputs of an operator, if there is one of some size."""
        for name in node.inputs:
            value = self.values.get(name)
            if value and 1 < value.size == max(value.shape) and size in (0, value.size):
                return name
        return ""

    def _before(self, name: str, kinds: Sequence[str]) -> Operator | None:
        """Return the operator of a kind that writes a name, behind those that pass it on."""
        for _ in range(bounds.MOST_MOVES):
            node = self.writers.get(name)
            if node is None or not node.inputs or node.kind not in _PASSING:
                return node if node and node.kind in kinds and node.inputs else None
            name = node.inputs[0]
        return None

    def unknown(self, graph: ONNXGraph) -> list[str]:
        """Return the operators on the way to the file's first output that are part of no layer, each kind once.

        Those that only move numbers, or compute shapes, change nothing of what layers output.
        """
        inner = (name for node in self.nodes if node.at for name in node.outputs)
        way, waiting = set[str](), [*graph.outputs[:1], *inner]
        while waiting:
            name = waiting.pop()
            if name not in way:
                way.add(name)
                waiting += self.writers[name].inputs if name in self.writers else ()
        kinds, behind = dict[str, None](), set[str]()  # the names of what follows from an output of a layer
        states = _States({}, set(), [])
        for number, node in enumerate(self.nodes):
            on = number not in self.moving and not self.fed.isdisjoint(node.outputs)
            if on and (not graph.outputs or not way.isdisjoint(node.outputs)):
                chosen = self._choose(node, states)
                if not chosen and self.part.isdisjoint(node.outputs) and number not in self.joins:
                    kinds |= dict.fromkeys(self._unknown(node, behind, way))
                read = () if chosen or number in self.joins else node.inputs
                if any(states.rows.get(name, states.last) != states.last for name in read):
                    kinds["states of a part of the layers"] = None
                if node.kind in _CELLS:
                    states.begin(node, self.values)
            if not self.fed.isdisjoint(node.outputs) and (node.kind in INPUTS or not behind.isdisjoint(node.inputs)):
                behind.update(node.outputs)
        if any(states.rows.get(name, states.last) != states.last for name in graph.outputs[:1]):
            kinds["states of a part of the layers"] = None
        return [*kinds]

    def _choose(self, node: Operator, states: _States) -> bool:
        """Follow an operator that chooses among states of layers or directions, or joins them; return whether it is."""
        rows = [states.rows.get(name, []) for name in node.inputs]
        stacked = states.stacked.issuperset(node.inputs[:1])
        numbers = self._whole(node)
        chosen: list[tuple[str, int]] | None = None
        if ways := {name: self.directions[name] for name in node.outputs if name in self.directions}:
            states.rows.update((name, [way]) for name, way in ways.items())
            return True
        if node.kind == "Concat" and all(rows):
            chosen, stacked = [each for row in rows for each in row], states.stacked.issuperset(node.inputs)
        elif rows and rows[0] and node.kind in _PASSING:
            chosen, stacked = rows[0], stacked and node.kind in ("Identity", "Cast")
        elif rows and rows[0] and stacked and node.settings.get("axis", [0]) == [0] and node.kind == "Gather":
            chosen = [
                rows[0][each] for each in (numbers[1] if numbers[1:] else ()) if -len(rows[0]) <= each < len(rows[0])
            ]
            stacked = len(self.values[node.inputs[1]].shape) > 0 if chosen else False
        elif rows and len(rows[0]) == 1 and not stacked and self._picks(node, -1 if rows[0][0][1] == 0 else 0):
            chosen = rows[0]  # the step after which the direction ends
        elif rows and rows[0] and stacked and node.kind == "Slice" and [*map(len, numbers[1:3])] == [1, 1]:
            first = numbers[3:4] in ([], [[0]]) and numbers[4:] in ([], [[1]])
            chosen = rows[0][numbers[1][0] : numbers[2][0]] if first else None
        if not chosen or len(chosen) > bounds.MOST_FOLLOWED:
            return False
        states.rows[node.outputs[0]] = chosen
        states.stacked.update(node.outputs[:1] if stacked else ())
        return True

    def _unknown(self, node: Operator, behind: set[str], way: Container[str]) -> Iterator[str]:
        """Yield what an operator computes that no layer does: its kind, with its setting if only that is unknown."""
        kind, settings = _FUSED.get(node.kind, node.kind), node.settings
        weights = [self.values.get(name) for name in node.inputs]
        if kind in INPUTS and kind != "Gather" and any(weights[1:3]):
            usual = _USUAL.get(kind, {})
            for word, value in settings.items():
                if word in usual and value not in (usual[word], [*map(float, usual[word])]):
                    yield f"{node.kind} with {word}"
            if kind in _CELLS:
                yield from self._unknown_of_cell(node, behind, way)
        elif kind == "Gather" and weights[0]:
            if settings.get("axis", [0]) != [0]:
                yield "Gather with axis"
        elif kind == "Cast":
            if settings.get("to") not in _REAL_TYPES and node.inputs[0] in self.writers:
                yield "Cast to whole numbers"
        elif kind in ("Slice", "Gather", "Split", "Concat"):
            if not self._picks(node, -1):
                yield kind
        elif kind == "Pad":
            _, reader = self._next(node.outputs[0])
            if reader is None or _FUSED.get(reader.kind, reader.kind) != "Conv":
                yield kind
        elif kind not in (*_PASSING, "Dropout"):
            yield kind or "an operator without a name"

    def _unknown_of_cell(self, node: Operator, behind: set[str], way: Container[str]) -> Iterator[str]:
        names = dict(zip(("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c"), node.inputs, strict=False))
        matrix, settings = self.values.get(names.get("R", "")), node.settings
        lengths = names.get("sequence_lens", "")
        if lengths in self.fed or lengths in self.values:
            yield f"{node.kind} with sequence_lens"
        if not behind.isdisjoint(node.inputs[5:7]):
            yield f"{node.kind} with a state of another layer"
        if "Y_c" in dict(zip(("Y", "Y_h", "Y_c"), node.outputs, strict=False)) and node.outputs[2] in way:
            yield f"{node.kind} with Y_c"
        if matrix and len(matrix.shape) == 3:
            directions = [["bidirectional"]] if matrix.shape[0] == 2 else [["forward"], ["reverse"]]
            if settings.get("direction", ["forward"]) not in directions:
                yield f"{node.kind} with direction"
            if settings.get("hidden_size", [matrix.shape[2]]) != [matrix.shape[2]]:
                yield f"{node.kind} with hidden_size"

    def _whole(self, node: Operator) -> list[list[int]]:
        """Return the whole numbers that an operator reads, for each input."""
        values = [self.values.get(name) for name in node.inputs]
        return [each.whole() if each and each.size < 10 and each.dtype[:3] == "int" else [] for each in values]

    def _picks(self, node: Operator, place: int) -> bool:
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

    def padding(self, node: Operator) -> list[int] | None:
        """Return the steps that an operator adds before and behind those that a convolution reads; none without one.

        Exporters write causal padding so. Steps that are no zeros, or more than steps, are as many as no padding has.
        """
        before = self._before(node.inputs[0], ("Pad",))
        if before is None:
            return None
        pads = before.settings.get("pads")
        value = self.values.get(before.inputs[1]) if len(before.inputs) > 1 else None
        pads = pads if isinstance(pads, list) else value.whole() if value and value.size < 20 else []
        pairs = [pair for pair in zip(pads, pads[len(pads) // 2 :], strict=False) if any(pair)]
        zeros = before.settings.get("mode", ["constant"]) == ["constant"]
        return [*pairs[0]] if zeros and len(pairs) == 1 else [-1, -1]

    def merged(self, node: Operator) -> str:
        """Return how the outputs of the two directions of a recurrent operator are joined: concat unless it is known.

        They are followed by the axis that both have, and the size of each direction's part.
        """
        tracked: dict[str, tuple[int, int, int] | int] = {}  # both as axis, axes and size, or one direction
        ends = zip(node.outputs, ((1, 4, 1), (0, 3, 1)), strict=False)
        tracked.update({name: both for name, both in ends if name})
        left = [*tracked]
        for _ in range(bounds.MOST_MOVES):
            if not left:
                break
            name = left.pop(0)
            for number in self.readers.get(name, ()):
                reader = self.nodes[number]
                ways = {way for each in reader.inputs if isinstance(way := tracked.get(each), int)}
                if ways == {0, 1} and reader.kind != "Concat":
                    self.joins.add(number)
                    word = _JOINS.get(reader.kind, "other")
                    return "ave" if word == "sum" and reader.outputs and self._halved(reader.outputs[0]) else word
                for output, way in zip(reader.outputs, self._passed(reader, tracked[name], node), strict=False):
                    if isinstance(way, int) and not isinstance(tracked[name], int):
                        self.directions[output] = (
                            node.outputs[0],
                            way * (node.settings.get("direction") == ["bidirectional"]),
                        )
                    if output not in tracked:
                        tracked[output] = way
                        left.append(output)
        return "concat"

    def step(self, node: Operator) -> list[int]:
        """Return which step of a recurrent operator's output is taken of all directions; none if all steps are."""
        name, axis, axes = node.outputs[0] if node.outputs else "", 0, 4
        for _ in range(bounds.MOST_MOVES):
            reader = next((self.nodes[number] for number in self.readers.get(name, ()) if name), None)
            if reader is None or not reader.outputs or reader.inputs[0] != name:
                return []
            listed = reader.settings.get("axis", reader.settings.get("axes", [0]))
            order, values = reader.settings.get("perm"), [self.values.get(each) for each in reader.inputs[1:]]
            numbers = [each.whole() if each and each.size < 10 and each.dtype[:3] == "int" else [] for each in values]
            match reader.kind:
                case "Identity" | "Cast" | "MatMul" | "Add" | "LayerNormalization" | "Dropout":
                    pass  # or what does the same at each step
                case kind if kind in _ACTIVATIONS:
                    pass
                case "Transpose" if isinstance(order, list) and axis in order:
                    axis = order.index(axis)
                case "Reshape" if axis < 2 and numbers and len(numbers[0]) == axes - 1:
                    axes -= 1
                case "Gather" if numbers and isinstance(listed, list) and [each % axes for each in listed] == [axis]:
                    return numbers[0] if len(numbers[0]) == 1 else []
                case "Slice" if len(numbers) > 2 and [each % axes for each in numbers[2]] == [axis]:
                    return [-1] if numbers[0] == [-1] and numbers[1] != [-1] else []
                case _:
                    return []
            name = reader.outputs[0]
        return []

    def _halved(self, name: str) -> bool:
        _, node = self._next(name)
        factor = node and next((value for each in node.inputs if (value := self.values.get(each))), None)
        halves = {"Mul": [0.5], "Div": [2.0]}
        halved = bool(node and factor and factor.size == 1 and factor.read() == halves.get(node.kind))
        self.part.update(node.outputs if node and halved else ())
        return halved

    def _passed(
        self, node: Operator, way: tuple[int, int, int] | int, cell: Operator
    ) -> list[tuple[int, int, int] | int]:
        """Return what the outputs of an operator have of the two directions."""
        settings, places = node.settings, [self.values.get(name) for name in node.inputs[1:]]
        numbers = [each.whole() if each and each.size < 10 and each.dtype[:3] == "int" else [] for each in places]
        if isinstance(way, int):
            return [way] if node.kind in (*_PASSING, "Slice", "Gather") else []
        axis, axes, size = way
        whole = numbers[0] if numbers else []
        listed = settings.get("axis", settings.get("axes"))
        on = [each % axes for each in listed] if isinstance(listed, list) else None
        match node.kind:
            case "Identity" | "Cast":
                return [way]
            case "Transpose":
                order = settings.get("perm")
                return [(order.index(axis), axes, size)] if isinstance(order, list) and axis in order else []
            case "Reshape" if axis == axes - 2:
                hidden = cell.settings.get("hidden_size")
                return [(len(whole) - 1 if whole else 2, len(whole) or 3, *hidden)] if isinstance(hidden, list) else []
            case "Squeeze" if (gone := on or [each % axes for each in whole]) and axis not in gone:
                return [(axis - sum(each < axis for each in gone), axes - len(gone), size)]
            case "Split" if (on or [0]) == [axis] and len(node.outputs) == 2:
                return [0, 1]
            case "Gather" if (on or [0]) == [axis] and size == 1 and whole in ([0], [1], [-1]):
                return [abs(whole[0])]
            case "Slice" if len(numbers) > 2 and all(len(each) == 1 for each in numbers[:3]):
                if numbers[2][0] % axes != axis:
                    return [way]
                bounds_of = slice(numbers[0][0], numbers[1][0]).indices(2 * size)[:2]
                return [bounds_of[0] // size] if bounds_of in ((0, size), (size, 2 * size)) else []
        return []


def _numbers(tensor: FileTensor) -> list[float]:
    return flat(tensor.read(), len(tensor.shape))


def _with_roles(graph: ONNXGraph, flow: _Flow, reader: BoundedReader) -> dict[str, FileTensor]:
    """Return the tensors of a graph, each with its role, which follows from the operators that read it."""
    uses: dict[str, set[tuple[str, int]]] = {}
    reads = [
        (name, node, place)
        for number, node in enumerate(graph.nodes)
        if number not in flow.moving
        for place, name in enumerate(node.inputs)
    ]
    reads += [(name, graph.nodes[number], 2) for number, name in flow.added.items()]
    scales = {name for node in graph.nodes if node.kind == "DynamicQuantizeLinear" for name in node.outputs[1:2]}
    for node in graph.nodes:  # the scale of the input, before that of the weight
        if node.kind == "Mul" and not scales.isdisjoint(node.inputs) and flow.values.keys().isdisjoint(node.inputs):
            scales.update(node.outputs)
    for name, node, place in reads:
        if node.kind == "Mul" and name not in scales and not scales.isdisjoint(node.inputs):  # the scales of a product
            node, place = node._replace(kind="DequantizeLinear"), 1
        for stored in flow.values[name].sources if name in flow.values else ():
            uses.setdefault(stored, set()).add((_FUSED.get(node.kind, node.kind), place))

    for name, tensor in graph.tensors.items():
        used = uses.get(name, set())
        matrix = tensor.dtype in ("int8", "uint8") and tensor.shape[1:] and not used & _BUFFERS
        if matrix or used & (_WHOLE | _PACKED):
            flow.quantised[name] = 0 if used & _PACKED else prod(tensor.shape)

    def role(tensor: FileTensor) -> TensorRole:
        name, constant, used = tensor.name, tensor.name in graph.constants, uses.get(tensor.name, set())
        if tensor.dtype not in model.REAL or name in flow.quantised:
            return TensorRole.CONSTANT  # whole numbers are shapes and axes
        if used & _BUFFERS or model.role_of(name, tensor.dtype) is TensorRole.BUFFER:
            return TensorRole.BUFFER
        if used & _WEIGHTS_AT:
            return TensorRole.PARAMETER
        fixed = constant or ((len(tensor.shape) < 2 or prod(tensor.shape) == 1) and _OF_EXPORTER.fullmatch(name))
        if not tensor.shape or (fixed and prod(tensor.shape) <= 1):  # a single number may be anything
            return TensorRole.CONSTANT if fixed else TensorRole.UNKNOWN
        if used and (used <= _STATES or (len(tensor.shape) > 1 and not used & _ZERO_WEIGHTS_AT)):
            numbers = reader.numbers(tensor)
            if numbers is not None and not any(numbers):
                return TensorRole.CONSTANT  # the state before the first step, which is zeros and no weight
        return TensorRole.PARAMETER

    tensors = {name: tensor._replace(role=role(tensor)) for name, tensor in graph.tensors.items()}
    # the terms added right before an activation, as a state's product is in an unrolled step
    activated = {name for node in graph.nodes if node.kind in ("Tanh", "Relu") for name in node.inputs}
    sums = [node for node in graph.nodes if node.kind == "Add" and not activated.isdisjoint(node.outputs)]
    starts = {name for node in sums for name in node.inputs}
    parameters = [tensor for tensor in tensors.values() if tensor.is_parameter]
    for name in _made_beforehand([each for each in parameters if each.name in starts], parameters, reader):
        flow.begun.append(name)
        tensors[name] = tensors[name]._replace(role=TensorRole.CONSTANT)
    return tensors


def _made_beforehand(added: list[FileTensor], parameters: list[FileTensor], reader: BoundedReader) -> Iterator[str]:
    """Yield the names of what a step makes of a state of zeros: a copy of a bias, or zeros where there is none.

    An exporter that writes out the steps calculates it for the first of them, with the axes of a step; a bias has one.
    """
    rows = [each for each in added if len(each.shape) > 2 and prod(each.shape[:-1]) == 1]
    sizes = {each.shape[-1:] for each in rows}
    biases = [reader.numbers(each) for each in parameters if each.shape in sizes]
    copied = {tuple(numbers) for numbers in biases if numbers is not None}
    for each in rows:
        numbers = reader.numbers(each)
        if numbers is not None and (not any(numbers) or tuple(numbers) in copied):
            yield each.name


def _zeros(tensors: Mapping[str, FileTensor], reader: BoundedReader) -> bool | None:
    """Return whether the second half of the biases of an operator is zeros, False if they all are, None if neither."""
    biases = tensors.get("B")
    if biases is None or len(biases.shape) != 2 or biases.shared_with or (numbers := reader.numbers(biases)) is None:
        return None
    rows = model.nested(numbers, biases.shape)
    halves = all(any(row) and not any(row[len(row) // 2 :]) for row in rows)
    return True if halves else None if any(numbers) else False


# Branches, of which one is run, and arrays that are stored more than once.


class _Branches(NamedTuple):
    """The branches of a file: those that are not counted, and of each operator all with their parameters.

    shared: the tensors that several branches read.
    """

    left_out: set[Place]
    listed: list[list[tuple[str, int]]]
    shared: list[str]

    def counts(self, at: Place) -> bool:
        """Return whether what is at a place is counted."""
        return not any(at[:depth] in self.left_out for depth in range(1, len(at) + 1))


def _branches(graph: ONNXGraph, flow: _Flow, tensors: Mapping[str, FileTensor]) -> _Branches:
    """Return the branches of a graph: a tensor belongs to all operators that read it, wherever it is stored."""
    read_at: dict[str, list[Place]] = {}
    for number, node in enumerate(graph.nodes):
        for name in node.inputs if number not in flow.moving else ():
            for stored in flow.values[name].sources if name in flow.values else ():
                read_at.setdefault(stored, []).append(node.at)
    totals: Counter[Place] = Counter()
    belongs: dict[str, Place] = {}
    for name, tensor in tensors.items():
        places = read_at.get(name) or [graph.places[name]]
        alike = [len({*several}) == 1 for several in zip(*places, strict=False)]
        belongs[name] = places[0][: [*alike, False].index(False)]
        totals[belongs[name]] += tensor.params if tensor.is_parameter else 0
    every = {at[:depth]: at for at in (*totals, *graph.names) for depth in range(1, len(at) + 1)}
    branches, operators = _Branches(set(), [], []), set[int]()
    for depth in range(bounds.MOST_WITHIN, 0, -1):
        by_operator: dict[int, list[Place]] = {}
        for at in every:
            if len(at) == depth:
                by_operator.setdefault(at[-1].operator, []).append(at)
        for several in by_operator.values():
            several.sort(key=lambda at: -totals[at])
            least = 1 if several[0][-1].branch else len(several)
            totals[several[0][:-1]] += sum(totals[at] for at in several[:least])
            branches.left_out.update(several[least:])
            if any(totals[at] for at in several[least:]):
                operators.add(several[0][-1].operator)
                branches.listed.append([(at[-1].name, totals[at]) for at in several])
    for name, at in belongs.items() if branches.listed else ():
        ways = {place[len(at)] for place in read_at.get(name, ()) if len(place) > len(at)}
        if tensors[name].is_parameter and len(ways) > 1 and {way.operator for way in ways} <= operators:
            branches.shared.append(name)
    graph.places.update(belongs)
    return branches


def _copies(tensors: Iterable[FileTensor], alike: Container[str]) -> dict[str, str]:
    """Return the matrices that have the numbers of an earlier one in another order, and the name of that one.

    They are transposed, or exporters of Keras store both orders of the gates of a layer that is an operator in one
    place and a loop in another. Two that are equal are of two layers, unless steps or branches read them.
    alike: the names of those that steps or branches read.
    """
    by_shape: dict[tuple[int, ...], list[FileTensor]] = {}
    for tensor in tensors:
        sizes = tuple(sorted(size for size in tensor.shape if size > 1))
        if len(sizes) > 1 and prod(sizes) > 32 and tensor.dtype == "float32":
            by_shape.setdefault(sizes, []).append(tensor)
    copies: dict[str, str] = {}
    left = bounds.MOST_COMPARED_NUMBERS
    for sizes, several in by_shape.items():
        left -= len(several) * prod(sizes)
        by_sum: dict[int, list[FileTensor]] = {}
        for tensor in several if len(several) > 1 and left > 0 else ():
            by_sum.setdefault(sum(_words(tensor)), []).append(tensor)
        first: dict[bytes, FileTensor] = {}
        for tensor in (each for equal in by_sum.values() if len(equal) > 1 for each in equal):
            words = _words(tensor)
            keys = _fibres(words, tensor.shape) if len({*words[:1000]}) > 2 else []
            other = next((first[key] for key in keys if key in first), None)
            if other and (words != _words(other) or tensor.name in alike):
                copies[tensor.name] = other.name
            elif not other:
                first.update(dict.fromkeys(keys, tensor))
    return copies


def _fibres(words: array[int], shape: tuple[int, ...]) -> list[bytes]:
    """Return what the fibres along each axis are in any order: a matrix shares one with its transpose.

    It shares one too with a matrix that has its rows, or its columns, in another order.
    """
    keys, numbers = [], words if len(words) == prod(shape) else array("I")
    for axis, size in enumerate(shape if numbers else ()):
        inner = prod(shape[axis + 1 :])
        starts = (start + place for start in range(0, len(numbers), size * inner) for place in range(inner))
        fibres = sorted(numbers[start : start + size * inner : inner].tobytes() for start in starts)
        if size > 1:
            keys.append(sha256(b"".join(fibres) + b"%d" % size).digest())
    return keys


def _words(tensor: FileTensor) -> array[int]:
    """Return the numbers of a tensor as they are stored, none if they are not in one piece."""
    if not isinstance(tensor.read, partial) or tensor.read.func is not model.numbers_at:
        return array("I")
    path, start = tensor.read.args[:2]
    return model.words_at(path, start, prod(tensor.shape))


# The operators as modules: each with the tensors it reads, as it uses them.


class _Modules:
    """Makes a module for each operator that reads parameters, and one for each parameter that none reads.

    merged: the arrays that exporters store once for several layers which had equal ones. If biases are among them, they
    are those of a network that is not trained, in which others are zeros: without_bias has the layers with none.
    """

    def __init__(
        self,
        graph: ONNXGraph,
        flow: _Flow,
        tensors: Mapping[str, FileTensor],
        branches: _Branches,
        copies: Mapping[str, str],
    ) -> None:
        self.flow = flow
        self.tensors = tensors
        self.copies = copies
        self.nodes = [(number, node) for number, node in enumerate(graph.nodes) if branches.counts(node.at)]
        self.again = _applied_again([node for _, node in self.nodes], self._owners)
        for _, node in self.nodes:  # a single step multiplies a state of zeros
            state, *matrices = (node.kind in _PRODUCTS and node.inputs[:2]) or ("",)
            if state in flow.writers and state not in flow.fed and state not in flow.values:
                self.again = {**{name: 1 for matrix in matrices for name in self._owners(matrix)}, **self.again}
        self.steps = {name: times + bool(flow.begun) for name, times in self.again.items()}
        self.claimed: Counter[str] = Counter()
        self.read: dict[str, int] = {}  # by the name that an operator reads, the module
        self.first: dict[str, int] = {}  # by the name of a stored tensor, the module
        self.paths: set[str] = set()
        self.merged: list[str] = []
        self.without_bias: list[str] = []
        self.modules: list[FileModule] = []
        within: dict[int, list[str]] = {}
        for _, node in self.nodes:
            loop = next((inner.operator for inner in node.at if not inner.branch), None)
            if loop is not None:
                within.setdefault(loop, []).extend(node.inputs)
        for number, node in self.nodes:
            if number not in flow.moving and all(inner.branch for inner in node.at):
                self._module(number, node, within.get(number, []))
        if any(sum(size > 1 for size in tensors[name].shape) == 1 for name in self.merged if name in tensors):
            self.modules = [self._with_bias(module) for module in self.modules]
        for name, tensor in tensors.items():
            left = prod(tensor.shape) - self.claimed[name]
            if tensor.is_parameter and not tensor.shared_with and left > 0:
                rest = tensor if name not in self.claimed else tensor._replace(name=f"{name} (rest)", shape=(left,))
                self.modules.append(FileModule(name, {name: rest}))

    def _owners(self, name: str) -> set[str]:
        """Return the stored parameters that an array is made of."""
        value = self.flow.values.get(name)
        stored = value.sources if value else ()
        return {self.copies.get(each, each) for each in stored if self.tensors[each].is_parameter}

    def _module(self, number: int, node: Operator, within: Sequence[str]) -> None:
        kind, values = _FUSED.get(node.kind, node.kind), self.flow.values
        if (norm := self.flow.norms.get(number)) and self._norm(number, node, *norm):
            return
        step = kind in _PRODUCTS and any(self._owners(name) & self.again.keys() for name in node.inputs[:2])
        settings = node.settings
        names = dict(zip(INPUTS.get(kind, ()), node.inputs, strict=False))
        reads = {leaf: (name, values[name]) for leaf, name in names.items() if leaf and self._owners(name)}
        if kind not in INPUTS or len(reads) < len([name for name in node.inputs if self._owners(name)]):
            stored = [each for name in (*node.inputs, *within) if name in values for each in values[name].sources]
            reads = {each: (each, values[each]) for each in stored if self.tensors[each].is_parameter}
        elif (name := self.flow.added.get(number)) and self._owners(name):
            leaf = "B" if kind == "Conv" else "C"
            reads[leaf] = name, values[name].shaped((values[name].size,))
        if not reads:
            return
        if kind in _PRODUCTS and "B" in reads and settings.get("transB") == [1]:
            reads["B"] = reads["B"][0], reads["B"][1].transposed()
        if kind == "Conv" and "W" in reads:
            settings, shape = self._flat_convolution(node, reads["W"][1].shape)
            reads["W"] = reads["W"][0], reads["W"][1].shaped(shape)
            if pads := self.flow.padding(node):
                theirs = settings.get("pads", [0, 0])
                theirs = [each for each in theirs if isinstance(each, int)] if isinstance(theirs, list) else []
                both = [one + other for one, other in zip(pads, theirs, strict=False)]
                plain = settings.get("auto_pad", ["NOTSET"]) in (["NOTSET"], ["VALID"])
                settings = {**settings, "pads": both if plain else [-1, -1], "auto_pad": ["NOTSET"]}
        if kind in ("LSTM", "GRU", "RNN") and (join := self.flow.merged(node)) != "concat":
            settings = {**settings, "merge": [join]}
        if kind in ("LSTM", "GRU", "RNN") and (taken := self.flow.step(node)):
            settings = {**settings, "step": taken}
        self._add(number, node, "" if step else kind, settings, reads)

    def _norm(self, number: int, node: Operator, kind: str, names: dict[str, str], epsilon: Any) -> bool:
        """Add the module of a norm that several operators are, if its vectors are its own."""
        reads = {
            leaf: (name, self.flow.values[name].shaped((self.flow.values[name].size,))) for leaf, name in names.items()
        }
        if any(self._is_taken(name, value) or not self._owners(name) for name, value in reads.values()):
            return False
        self._add(number, node, kind, {"epsilon": epsilon} if epsilon else {}, reads)
        if kind == "BatchNormalization":  # the same function, with statistics that change nothing
            width = reads["scale"][1].size
            variance = model.constant("variance", width, 1 - 1e-5)
            buffers = {"input_mean": model.constant("mean", width, 0), "input_var": variance}
            self.modules[-1] = self.modules[-1]._replace(buffers=buffers, settings={"folded": [1]})
        return True

    def _flat_convolution(self, node: Operator, shape: tuple[int, ...]) -> tuple[dict[str, object], tuple[int, ...]]:
        """Return the settings and the kernel of a convolution over one axis, if one of two has a single place.

        Exporters of Keras add the other axis before it, and remove it behind.
        """
        readers = self.flow.readers.get(node.outputs[0], []) if node.outputs else []
        if len(shape) != 4 or shape[2] != 1 or not any(self.flow.nodes[each].kind == "Squeeze" for each in readers):
            return node.settings, shape
        halves = {
            word: value[1::2] for word, value in node.settings.items() if isinstance(value, list) and len(value) > 1
        }
        return {**node.settings, **halves}, (*shape[:2], shape[3])

    def _add(
        self,
        number: int,
        node: Operator,
        kind: str,
        settings: Mapping[str, Any],
        reads: Mapping[str, tuple[str, Value]],
    ) -> None:
        """Add a module with what an operator reads.

        If no matrix is its own, it is another use of a module; otherwise its arrays that another module has too are
        its own as well, as in the framework.
        """
        taken = {leaf for leaf, (name, value) in reads.items() if self._is_taken(name, value)}
        matrices = {leaf for leaf, (_, value) in reads.items() if sum(size > 1 for size in value.shape) > 1} or {*reads}
        again = bool(taken) and (kind not in INPUTS or matrices <= taken)
        if again and kind.endswith("Normalization"):
            again = not all(len({*value.read()}) == 1 for _, value in reads.values())  # as new ones are
        labels = {leaf: " and ".join(value.sources)[: bounds.MOST_NAME] for leaf, (_, value) in reads.items()}
        names = (_LAYER.sub("", node.name), node.name)
        path = next((each for each in names if each and each not in self.paths), next(iter(labels.values())))
        self.paths.add(path)
        arrays = {}
        for leaf, (name, value) in reads.items():
            label, merged = labels[leaf], leaf in taken and not again
            self.merged += [label] * merged
            stored = f"{label} of {path}" if merged else label
            shared = self.copies.get(label, label) if again and leaf in taken else None
            read = partial(_nested, value)
            arrays[leaf] = FileTensor(stored, value.shape, value.dtype, TensorRole.PARAMETER, read, None, shared)
            for source, count in value.sources.items() if leaf not in taken else ():
                self.claimed[self.copies.get(source, source)] += count
                self.first.setdefault(self.copies.get(source, source), len(self.modules))
            if shared:
                self._used_again(value, kind)
            self.read.setdefault(name, len(self.modules))
        buffers = {
            leaf: name
            for leaf, name in zip(INPUTS.get(kind, ()), node.inputs, strict=False)
            if name in self.tensors and self.tensors[name].role is TensorRole.BUFFER
        }
        self.modules.append(
            FileModule(path, arrays, kind, settings, {leaf: self.tensors[name] for leaf, name in buffers.items()})
        )

    def _with_bias(self, module: FileModule) -> FileModule:
        """Return a module of a product with a bias of zeros, which exporters leave out, if it has none."""
        leaf = {"MatMul": "C", "Gemm": "C", "Conv": "B"}.get(module.kind)
        matrix = module.tensors.get("W" if module.kind == "Conv" else "B")
        if leaf is None or leaf in module.tensors or matrix is None or matrix.shared_with or len(matrix.shape) < 2:
            return module
        self.without_bias.append(module.path)
        bias = model.constant(module.path, matrix.shape[0 if module.kind == "Conv" else -1])
        return module._replace(tensors={**module.tensors, leaf: bias})

    def _is_taken(self, name: str, value: Value) -> bool:
        """Return whether modules before have all the numbers that an array is made of."""
        if name in self.read:
            return True
        owners = {stored: self.copies.get(stored, stored) for stored in value.sources}
        return any(
            self.claimed[owner] + value.sources[each] > prod(self.tensors[owner].shape)
            for each, owner in owners.items()
        )

    def _used_again(self, value: Value, kind: str) -> None:
        """Mark the module of an array as one that the model uses several times."""
        for place in {self.first.get(self.copies.get(stored, stored)) for stored in value.sources}:
            if place is not None and self.modules[place].kind == kind and kind:
                module = self.modules[place]
                self.modules[place] = module._replace(settings={**module.settings, "calls": [2]})


_LAYER = re.compile("(/Tensordot)?/(MatMul|Gemm)$")
"""The end of an operator's name behind the layer's."""


def _nested(value: Value) -> Any:
    return model.nested(value.read(), value.shape)


def _applied_again(nodes: list[Operator], owners: Callable[[str], set[str]]) -> dict[str, int]:
    """Return how often matrices are multiplied with a result of their own product: those of steps that are written out.

    A matrix that is read as often is one that the same steps multiply with an input.
    """
    products = [(node, [owners(name) for name in node.inputs[:2]]) for node in nodes if node.kind in _PRODUCTS]
    readers = Counter(name for _, read in products for several in read for name in several)
    several = [name for name, times in readers.items() if times > 1][: bounds.MOST_FOLLOWED]
    bits = {name: 1 << place for place, name in enumerate(several)}
    behind: dict[str, int] = {}  # which of them have gone into what is under a name
    repeated = 0
    for node in nodes:
        before = matrices = 0
        for place, name in enumerate(node.inputs):
            before |= behind.get(name, 0)
            for owner in owners(name) if node.kind in _PRODUCTS and place < 2 else ():
                matrices |= bits.get(owner, 0)
        repeated |= before & matrices
        for name in node.outputs if before | matrices else ():
            behind[name] = before | matrices
    least = min((readers[name] for name, bit in bits.items() if repeated & bit), default=0)
    return {name: readers[name] for name in several if least and readers[name] >= least}
