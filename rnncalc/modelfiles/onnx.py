"""ONNX files: tensors, and the operators that read them, which give their roles.

The numbers of the fields are those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). It is read
without the package onnx, which loads all weights, and NumPy, before the first name is known. Tensors are those of the
graph itself and its constants; the insides of branches and loops are named but not read.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import zip_longest
from math import prod
from typing import Any, BinaryIO, NamedTuple

from rnncalc import bounds
from rnncalc.files import open_input
from rnncalc.modelfiles import model
from rnncalc.modelfiles.model import (
    BadFileError,
    BoundedReader,
    FileModule,
    FileTensor,
    ModelFile,
    Remark,
    RemarkKind,
    TensorRole,
)
from rnncalc.text import escape


def read(path: str) -> ModelFile:
    """Return the contents of a file."""
    with open_input(path) as file:
        graph = _graph(path, Wire(file))
    reader = BoundedReader()
    tensors = _with_roles(graph, reader)
    modules = tuple(_modules(graph.nodes, tensors))
    remarks = []
    if graph.branching:
        remarks.append(Remark(RemarkKind.IN_BRANCHES, tuple(dict.fromkeys(graph.branching))))
    if zeros := tuple(
        module.tensors["B"].name for module in modules if "R" in module.tensors and _half_zeros(module.tensors, reader)
    ):
        remarks.append(Remark(RemarkKind.ZEROS, zeros))
    if quantised := tuple(name for name, each in tensors.items() if each.dtype in ("int8", "uint8") and each.shape[1:]):
        remarks.append(Remark(RemarkKind.QUANTISED, quantised))
    return ModelFile(path, "onnx", "onnx", tuple(tensors.values()), modules, True, tuple(remarks))


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


class Operator(NamedTuple):
    """An operator of a graph with its inputs and outputs by name; settings: its numbers and words."""

    kind: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    settings: dict[str, object]


class ONNXGraph(NamedTuple):
    """A graph: its operators, and its tensors as parameters.

    constants: the names of tensors that are constants of an operator. branching: the names of operators that have a
    graph within.
    """

    nodes: list[Operator]
    tensors: dict[str, FileTensor]
    constants: set[str]
    branching: list[str]


def _graph(path: str, wire: Wire) -> ONNXGraph:
    """Return the graph of a file. Raises BadFileError if there is none."""
    span, versions = None, 0
    for number, value in wire.fields(range(os.fstat(wire.file.fileno()).st_size)):
        if number == 7 and isinstance(value, range):
            span = value
        versions += number == 8
    if span is None or not versions:
        raise BadFileError("is truncated, or is not an ONNX file: it has no graph, or no version of its operators")
    graph = ONNXGraph([], {}, set(), [])
    for number, value in wire.fields(span):
        if isinstance(value, range) and number == 1:
            _operator(path, wire, value, graph)
        elif isinstance(value, range) and number == 5:
            _add(_tensor(path, wire, value), graph)
        elif number == 15:
            raise BadFileError("holds sparse tensors, which are not read here")
        if len(graph.tensors) > bounds.MOST_TENSORS or len(graph.nodes) > 4 * bounds.MOST_TENSORS:
            raise BadFileError(f"holds more than {bounds.MOST_TENSORS:,} tensors, or four times as many operators")
    return graph


def _add(tensor: FileTensor, graph: ONNXGraph) -> None:
    if tensor.name in graph.tensors:
        raise BadFileError(f"holds two tensors of the name {escape(tensor.name)}")
    graph.tensors[tensor.name] = tensor


def _operator(path: str, wire: Wire, span: range, into: ONNXGraph) -> None:
    words: dict[int, list[str]] = {1: [], 2: [], 3: [], 4: []}
    attributes: list[range] = []
    for number, value in wire.fields(span):
        if number in words:
            words[number].append(wire.text(value))
        elif number == 5 and isinstance(value, range):
            attributes.append(value)
    node = Operator("".join(words[4][:1]), "".join(words[3][:1]), tuple(words[1]), tuple(words[2]), {})
    into.nodes.append(node)
    for attribute in attributes:
        _attribute(path, wire, attribute, node, into)


def _attribute(path: str, wire: Wire, span: range, node: Operator, into: ONNXGraph) -> None:
    """Take an attribute: numbers and words into the operator's settings, a constant into the graph.

    Its type says which field has its value. A list without entries, and in proto3 a single value that is the default,
    have no field. Files from before IR version 2 have no type.
    """
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
            _add(tensor, into)
            into.constants.add(tensor.name)
        elif number in (6, 11):
            into.branching.append((node.name or node.kind)[: bounds.MOST_NAME])
    values: dict[int | range, object] = {0: texts or reals or whole or None, 6: reals, 7: whole, 8: texts}
    values |= {1: reals or [0.0], 2: whole or [0], 3: texts or [""]}
    if name and complete and (value_of := values.get(kind)) is not None:
        node.settings[name] = value_of


def _tensor(path: str, wire: Wire, span: range) -> FileTensor:
    """Return a tensor whose shape is that of its numbers, wherever those are."""
    sizes: list[int] = []
    name, dtype, data, apart, count = "", "", None, False, 0
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
    file = os.path.realpath(os.path.join(folder, location))
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

_BUFFERS = (("BatchNormalization", 3), ("BatchNormalization", 4), ("DequantizeLinear", 1))
_STATES = (("LSTM", 5), ("LSTM", 6), ("GRU", 5), ("RNN", 5))
_OF_EXPORTER = re.compile("val_[0-9]+")
"""The names that PyTorch's newer exporter has for constants, such as the scale of attention, and for folded weights."""
_MOVED = ("Expand", "Slice", "Concat", "Tile", "Identity", "Squeeze", "Unsqueeze", "Reshape")


def _with_roles(graph: ONNXGraph, reader: BoundedReader) -> dict[str, FileTensor]:
    """Return the tensors of a graph, each with its role, which follows from the operators that read it."""
    uses = [(name, node.kind, place) for node in graph.nodes for place, name in enumerate(node.inputs)]
    buffers = {name for name, *use in uses if tuple(use) in _BUFFERS}
    states = {name for name, *use in uses if tuple(use) in _STATES}
    moved = {name for name, kind, _ in uses if kind in _MOVED}
    others = {name for name, *use in uses if tuple(use) not in (*_BUFFERS, *_STATES) and use[0] not in _MOVED}

    def role(tensor: FileTensor) -> TensorRole:
        name, constant = tensor.name, tensor.name in graph.constants
        if tensor.dtype not in model.REAL:
            return TensorRole.CONSTANT  # whole numbers are shapes and axes
        if name in buffers:
            return TensorRole.BUFFER
        fixed = constant or (len(tensor.shape) < 2 and _OF_EXPORTER.fullmatch(name))
        if not tensor.shape or (fixed and prod(tensor.shape) <= 1):  # a single number may be anything
            return TensorRole.CONSTANT if fixed else TensorRole.UNKNOWN
        as_state = name in states or (constant and name in moved)
        if as_state and name not in others and (constant or name not in moved):
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


def _half_zeros(tensors: Mapping[str, FileTensor], reader: BoundedReader) -> bool:
    """Return whether the second half of the biases of an operator is zeros, which exporters put there."""
    biases = tensors.get("B")
    if biases is None or len(biases.shape) != 2 or biases.shared_with:
        return False
    numbers = reader.numbers(biases)
    rows = model.nested(numbers, biases.shape) if numbers is not None else [[]]
    return all(any(row) and not any(row[len(row) // 2 :]) for row in rows)


# The operators as modules: each with the tensors it reads, as it uses them.

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

_PRODUCTS = ("MatMul", "Gemm")
_PASSED_ON = ("Identity", "Transpose")


def _modules(nodes: list[Operator], tensors: Mapping[str, FileTensor]) -> Iterator[FileModule]:
    """Yield a module for each operator that reads parameters, and one for each parameter that none reads."""
    parameters = {name: tensor for name, tensor in tensors.items() if tensor.is_parameter}
    buffers = {name: tensor for name, tensor in tensors.items() if tensor.role is TensorRole.BUFFER}
    used = {**parameters}  # the tensors in the shape in which they are read, by every name they are passed on under
    for node in nodes:
        if node.kind in _PASSED_ON and node.inputs and node.outputs and node.inputs[0] in used:
            below = used[node.inputs[0]]
            if node.kind == "Identity":
                used[node.outputs[0]] = below
            elif node.settings.get("perm", [1, 0]) == [1, 0]:
                used[node.outputs[0]] = _turned(below, parameters[below.name])
    added = dict(_added(nodes, used))
    taken = {*added.values()}
    again = _applied_again(nodes, used)
    claimed: set[str] = set()
    names: set[str] = set()
    for place, node in enumerate(nodes):
        if node.kind in _PASSED_ON:
            continue
        reads = _reads(node, used, taken)
        if node.kind == "Gemm" and "B" in reads and node.settings.get("transB") == [1]:
            reads["B"] = _turned(reads["B"], parameters[reads["B"].name])
        if place in added:
            reads["C"] = used[added[place]]
        if not reads:
            continue
        path = node.name if node.name and node.name not in names else next(iter(reads.values())).name
        names.add(path)
        for leaf, tensor in reads.items():  # what another operator read before is that one's
            reads[leaf] = tensor._replace(shared_with=tensor.name) if tensor.name in claimed else tensor
            claimed.add(tensor.name)
        step = any(tensor.name in again for tensor in reads.values())
        kind = "" if step else node.kind  # a product of a step is part of a cell
        yield FileModule(path, reads, kind, node.settings, _reads(node, buffers, set()))
    yield from (FileModule(name, {name: tensor}) for name, tensor in parameters.items() if name not in claimed)


def _turned(tensor: FileTensor, stored: FileTensor) -> FileTensor:
    """Return a matrix transposed; one that was transposed before is returned as stored."""
    if len(tensor.shape) != 2 or tensor is not stored:
        return stored
    return tensor._replace(shape=tensor.shape[::-1], read=lambda: model.transposed(tensor.read()))


def _reads(node: Operator, used: Mapping[str, FileTensor], taken: set[str]) -> dict[str, FileTensor]:
    """Return the parameters that an operator reads, under the names it has for them."""
    named = zip_longest(node.inputs, INPUTS.get(node.kind, ()))
    return {leaf or name: used[name] for name, leaf in named if name in used and name not in taken}


def _added(nodes: list[Operator], used: Mapping[str, FileTensor]) -> Iterator[tuple[int, str]]:
    """Yield the products to which a vector of parameters is added: their places, and the vector's name."""
    products = {node.outputs[0]: place for place, node in enumerate(nodes) if node.kind == "MatMul" and node.outputs}
    for node in nodes:
        if node.kind != "Add" or len(node.inputs) != 2:
            continue
        for one, other in (node.inputs, node.inputs[::-1]):
            if one in products and other in used and len(used[other].shape) == 1:
                yield products[one], other
                break


def _applied_again(nodes: list[Operator], used: Mapping[str, FileTensor]) -> set[str]:
    """Return the matrices that are multiplied with a result of their own product: unrolled steps."""
    readers: dict[str, int] = {}
    for node in nodes:
        if node.kind in _PRODUCTS:
            for name in {*node.inputs[:2]} & used.keys():
                readers[used[name].name] = readers.get(used[name].name, 0) + 1
    several = [name for name, times in readers.items() if times > 1][: bounds.MOST_FOLLOWED]
    bits = {name: 1 << place for place, name in enumerate(several)}
    behind: dict[str, int] = {}  # which of them have gone into what is under a name
    repeated = 0
    for node in nodes:
        before = matrices = 0
        for name in node.inputs:
            before |= behind.get(name, 0)
            if node.kind in _PRODUCTS and name in used:
                matrices |= bits.get(used[name].name, 0)
        repeated |= before & matrices
        for name in node.outputs if before | matrices else ():
            behind[name] = before | matrices
    return {name for name, bit in bits.items() if repeated & bit}
