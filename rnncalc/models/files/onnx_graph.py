"""The graph of an ONNX file with those of its branches and loops: operators, and tensors, constants among them.

The numbers of the fields are those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). The package
onnx is not used: it loads all weights, and NumPy, before the first name is known.
"""

from __future__ import annotations

import os
from collections import ChainMap
from functools import partial
from math import prod
from typing import Any, NamedTuple

from rnncalc import bounds
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.model import BadFileError, FileTensor, TensorRole
from rnncalc.models.files.protobuf import Wire
from rnncalc.printable import escape

TYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool"}
TYPES |= {10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16"}
TYPES |= {17: "float8_e4m3fn", 19: "float8_e5m2"}
BRANCHING = ("If", "Loop", "Scan")
"""The operators that have graphs within."""


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
    settings: dict[str, Any]
    at: Place = ()


class Graph:
    """A graph of ONNX's operators.

    nodes: the operators, those within one behind it. tensors: as parameters; places: where each is.
    constants: the names of tensors that are constants of an operator. outputs: those of the file.
    names: what each name at a place is in the whole file. too_deep: the operators whose graphs within are not read.
    ranks: how many axes what an operator outputs has, if the file says.
    """

    def __init__(self) -> None:
        self.nodes: list[Operator] = []
        self.tensors: dict[str, FileTensor] = {}
        self.places: dict[str, Place] = {}
        self.constants: set[str] = set()
        self.names: dict[Place, ChainMap[str, str]] = {(): ChainMap()}
        self.too_deep: list[str] = []
        self.outputs: list[str] = []
        self.ranks: dict[str, int] = {}


def _in_order(nodes: list[Operator]) -> list[Operator]:
    """Return operators behind those whose outputs they read, as ONNX asks for.

    ONNX Runtime's conversion to float16 puts the casts of the inputs last, seen in version 1.31 in November 2026.
    """
    writers = {name: number for number, node in enumerate(nodes) for name in node.outputs if name}
    before = [[writers[name] for name in node.inputs if name in writers] for node in nodes]
    if all(number > max(numbers, default=-1) for number, numbers in enumerate(before)):
        return nodes
    waiting, opened, order = [*reversed(range(len(nodes)))], set[int](), dict[int, None]()
    while waiting:
        number = waiting[-1]
        if number in opened:
            order.setdefault(waiting.pop())
        else:
            opened.add(number)
            waiting += [each for each in reversed(before[number]) if each not in opened]
    return [nodes[number] for number in order]


class ONNXGraph(Graph):
    """The graph of a file. Raises BadFileError if there is none."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._known: set[str] = set()  # all names in the whole file
        self._path = path
        with open_input(path) as file:
            self._wire = Wire(file)
            span, version = None, 0
            for field, value in self._wire.fields(range(self._wire.size)):
                if field == 7 and isinstance(value, range):
                    span = value
                if field == 8 and isinstance(value, range):  # of the operators of a domain, ONNX's without a name
                    pair = dict(self._wire.fields(value))
                    version = max(version, 1)
                    match self._wire.text(pair.get(1, range(0))), pair.get(2):
                        case (("" | "ai.onnx"), int(number)):
                            version = max(version, number)
            if span is None or not version:
                lacks = "it has no graph, or no version of its operators"
                raise BadFileError(f"is truncated, or is not an ONNX file: {lacks}")
            self._graph(span, ())
        for number, node in enumerate(self.nodes):
            names = self.names[node.at]
            inputs, outputs = (tuple(names.get(word, word) for word in words) for words in (node.inputs, node.outputs))
            self.nodes[number] = node._replace(inputs=inputs, outputs=outputs)
            if node.kind == "Softmax":
                node.settings.setdefault("axis", [-1 if version > 12 else 1])
        if not any(node.at for node in self.nodes):  # a graph within an operator has the operator's number
            self.nodes = _in_order(self.nodes)

    def _graph(self, span: range, at: Place) -> None:
        for field, value in self._wire.fields(span):
            if isinstance(value, range) and field == 1:
                self._operator(value, at)
            elif isinstance(value, range) and field == 5:
                self._add(self._tensor(value), at)
            elif isinstance(value, range) and field in (12, 13) and not at:
                name, rank = self._output(value)
                self.outputs += [name] * (field == 12)
                self.ranks |= {name: rank} if rank else {}
            elif field == 15:
                raise BadFileError("holds sparse tensors, which are not read here")
            if len(self.tensors) > bounds.MOST_TENSORS or len(self.nodes) > 4 * bounds.MOST_TENSORS:
                raise BadFileError(f"holds more than {bounds.MOST_TENSORS:,} tensors, or four times as many operators")

    def _output(self, span: range) -> tuple[str, int]:
        """Return the name of what an operator outputs, and how many axes it has, 0 if that is not said."""
        wire, name, rank = self._wire, "", 0
        for field, value in wire.fields(span):
            if field == 1:
                name = wire.text(value)
            for key in (1, 2, 1) if field == 2 else ():  # the type of a tensor, its shape, and the axes of that
                pairs = wire.fields(value) if isinstance(value, range) else ()
                within = [each for number, each in pairs if number == key]
                value, rank = (within or [0])[0], len(within)
        return name, rank

    def _defined(self, name: str, at: Place) -> str:
        """Return the name in the whole file of what a place has under a name: its own, unless another has it too."""
        names = self.names[at].maps[0]
        if name not in names:
            whole = f"{at[-1].name if at else 'graph'}/{name}" if name in self._known else name
            names[name] = f"{whole} {len(self._known)}" if whole in self._known else whole
            self._known.add(names[name])
        return names[name]

    def _add(self, tensor: FileTensor, at: Place) -> str:
        name = self._defined(tensor.name, at)[: bounds.MOST_NAME]
        if name in self.tensors:
            raise BadFileError(f"holds two tensors of the name {escape(name)}")
        self.tensors[name] = tensor._replace(name=name)
        self.places[name] = at
        return name

    def _operator(self, span: range, at: Place) -> None:
        words: dict[int, list[str]] = {1: [], 2: [], 3: [], 4: []}
        attributes: list[range] = []
        for field, value in self._wire.fields(span):
            if field in words:
                words[field].append(self._wire.text(value))
            elif field == 5 and isinstance(value, range):
                attributes.append(value)
        kind, inputs, outputs = "".join(words[4][:1]), tuple(words[1]), tuple(words[2])
        if kind not in BRANCHING and not (outputs and (inputs or kind == "Constant")):
            kind = ""  # no operator that moves or computes is without them
        self.nodes.append(Operator(kind, "".join(words[3][:1]), inputs, outputs, {}, at))
        number = len(self.nodes) - 1
        for name in outputs if at else ():
            self._defined(name, at)
        for attribute in attributes:
            self._attribute(attribute, number)

    def _attribute(self, span: range, number: int) -> None:
        """Take an attribute: numbers and words into the operator's settings, a constant or a graph into the graph.

        Its type says which field has its value. A list without entries, and in proto3 a single value that is the
        default, have no field. Files from before IR version 2 have no type.
        """
        node, wire = self.nodes[number], self._wire
        name, kind, complete = "", 0, True
        whole: list[int] = []
        texts: list[str] = []
        reals: list[float] = []
        for field, value in wire.fields(span):
            if field == 1:
                name = wire.text(value)
            elif field == 20 and isinstance(value, int):
                kind = value
            elif field in (2, 3, 4, 7, 8, 9) and isinstance(value, range) and len(value) > bounds.MOST_SETTING:
                complete = False
            elif field in (3, 8):
                whole += wire.numbers(value)
            elif field in (4, 9) and isinstance(value, range):
                texts.append(wire.text(value))
            elif field in (2, 7) and isinstance(value, range):
                reals += wire.reals(value)
            elif field == 5 and isinstance(value, range) and node.kind == "Constant" and node.outputs:
                tensor = self._tensor(value)._replace(name=node.outputs[0][: bounds.MOST_NAME])
                self.constants.add(self._add(tensor, node.at))
            elif field in (6, 11) and isinstance(value, range):
                if len(node.at) == bounds.MOST_WITHIN:
                    self.too_deep.append((node.name or node.kind)[: bounds.MOST_NAME])
                    continue
                inner = Within(number, f"{name} of {node.name or node.kind}"[: bounds.MOST_NAME], node.kind == "If")
                at = (*node.at, inner)
                self.names[at] = self.names[node.at].new_child()
                self._graph(value, at)
        values: dict[int, Any] = {0: texts or reals or whole or None, 6: reals, 7: whole, 8: texts}
        values |= {1: reals or [0.0], 2: whole or [0], 3: texts or [""]}
        if name and complete and (setting := values.get(kind)) is not None:
            node.settings[name] = setting

    def _tensor(self, span: range) -> FileTensor:
        """Return a tensor whose shape is that of its numbers, wherever those are."""
        wire, path = self._wire, self._path
        sizes: list[int] = []
        name, dtype, data, is_beside, count = "", "", None, False, 0
        whole: list[float] = []
        location: dict[str, str] = {}
        for field, value in wire.fields(span):
            if field == 1:
                sizes += wire.numbers(value)
            elif field == 2 and isinstance(value, int):
                dtype = TYPES.get(value, f"type {value % 1000}")
            elif field == 8:
                name = wire.text(value)
            elif field in (4, 9, 10) and isinstance(value, range):  # packed floats and doubles are raw bytes too
                data = value
            elif field in (5, 7, 11):
                count += wire.count(value)
                if count <= bounds.MOST_PACKED_READ // 10:
                    whole += wire.numbers(value)
            elif field == 13 and isinstance(value, range):
                pair = {each: wire.text(word) for each, word in wire.fields(value) if each in (1, 2)}
                location[pair.get(1, "")] = pair.get(2, "")
            elif field == 14:
                is_beside = value == 1
        if len(name) > bounds.MOST_NAME or not model.is_shape(sizes):
            raise BadFileError(f"has {escape(name)}, which is not a tensor")
        shape = tuple(sizes)
        if is_beside:
            read = partial(model.numbers_at, *_beside(path, name, shape, dtype, location), dtype, shape)
            return FileTensor(name, shape, dtype, TensorRole.PARAMETER, read)
        numbers = len(data) // model.BYTES[dtype] if data and dtype in model.BYTES else count
        if dtype in model.BYTES and numbers != prod(shape):
            raise BadFileError(f"says that {escape(name)} has {prod(shape):,} numbers, and holds {numbers:,}")
        if data:
            read = partial(model.numbers_at, path, data.start, dtype, shape)
        elif dtype not in model.REAL and len(whole) == prod(shape):
            read = partial(model.nested, whole, shape)
        else:
            read = partial(_not_in_bytes, name, shape)
        return FileTensor(name, shape, dtype, TensorRole.PARAMETER, read)


def _not_in_bytes(name: str, shape: tuple[int, ...]) -> Any:
    """Return the numbers of a tensor that has a field for each, if it has none."""
    if not prod(shape):
        return []
    raise BadFileError(f"keeps {escape(name)} in numbers of a type that is not read here; save it as float32")


def _beside(path: str, name: str, shape: tuple[int, ...], dtype: str, data: dict[str, str]) -> tuple[str, int]:
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
