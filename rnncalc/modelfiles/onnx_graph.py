"""The messages of an ONNX file that tensors are in: graphs, nodes, attributes, tensors, those within branches too.

The numbers of the fields are those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). A reader of
its own, since the package loads all weights, and NumPy with them, before the first name can be looked at.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from rnncalc.modelfiles.model import MOST_AXES, MOST_NAME, MOST_SIZE, MOST_TENSORS, BadFileError
from rnncalc.modelfiles.numbers import DTYPES
from rnncalc.modelfiles.wire import Piece, Wire
from rnncalc.text import escape

MOST_DEPTH = 30
MOST_SETTING = 100
"""Settings of more bytes are none that a layer has."""
TYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool"}
TYPES |= {10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16"}
_TYPED = {4: "float32", 10: "float64"}
"""The fields of numbers that are no raw bytes, packed in a row."""


class Stored(NamedTuple):
    """A tensor: its shape, its type, and where its bytes are, in this file or in another beside it.

    numbers: whole numbers that stand in fields of their own. depth: in how many branches it is.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    data: Piece | None
    elsewhere: tuple[str, int, int] | None = None
    from_node: bool = False
    depth: int = 0


class Node(NamedTuple):
    """An operator with its inputs and outputs by name; settings: its numbers and words; looped: it is run again."""

    operator: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    settings: dict[str, object]
    looped: bool = False


class Graph(NamedTuple):
    """All nodes and tensors, those of branches after the node they are in."""

    nodes: list[Node]
    tensors: list[Stored]


def graph_of(wire: Wire) -> Graph:
    """Return the graph of a file. Raises BadFileError where there is none."""
    graph, versions = None, 0
    for number, value in wire.fields(Piece(0, len(wire.data))):
        if number == 7 and isinstance(value, Piece):
            graph = value
        versions += number == 8
    if graph is None or not versions:
        raise BadFileError("is cut off, or no ONNX file: it has no graph, or no version of its operators")
    found = Graph([], [])
    _graph(wire, graph, found, 0, looped=False)
    return found


def _graph(wire: Wire, piece: Piece, into: Graph, depth: int, *, looped: bool) -> None:
    if depth > MOST_DEPTH:
        raise BadFileError("has branches within branches to no end")
    for number, value in wire.fields(piece):
        if isinstance(value, Piece) and number == 1:
            _node(wire, value, into, depth, looped=looped)
        elif isinstance(value, Piece) and number == 5:
            into.tensors.append(_tensor(wire, value)._replace(depth=depth))
        elif number == 15:
            raise BadFileError("holds sparse tensors, which are not read here")
        if len(into.tensors) > MOST_TENSORS or len(into.nodes) > 4 * MOST_TENSORS:
            raise BadFileError(f"holds more than {MOST_TENSORS:,} tensors, or four times as many operators")


def _node(wire: Wire, piece: Piece, into: Graph, depth: int, *, looped: bool) -> None:
    words: dict[int, list[str]] = {1: [], 2: [], 3: [], 4: []}
    attributes: list[Piece] = []
    for number, value in wire.fields(piece):
        if number in words:
            words[number].append(wire.text(value))
        elif number == 5 and isinstance(value, Piece):
            attributes.append(value)
    node = Node("".join(words[4][:1]), "".join(words[3][:1]), tuple(words[1]), tuple(words[2]), {}, looped)
    into.nodes.append(node)
    for attribute in attributes:
        _attribute(wire, attribute, node, into, depth)


def _attribute(wire: Wire, piece: Piece, node: Node, into: Graph, depth: int) -> None:
    """Take an attribute: numbers and words into the node's settings, a tensor or a branch into the graph."""
    name = ""
    whole: list[int] = []
    texts: list[str] = []
    reals: list[float] = []
    for number, value in wire.fields(piece):
        if number == 1:
            name = wire.text(value)
        elif number in (3, 8) and not (isinstance(value, Piece) and value.size > MOST_SETTING):
            whole += wire.numbers(value)
        elif number in (4, 9) and isinstance(value, Piece) and value.size <= MOST_SETTING:
            texts.append(wire.text(value))
        elif number in (2, 7) and isinstance(value, Piece) and value.size <= MOST_SETTING:
            reals += wire.reals(value)
        elif number in (5, 10) and isinstance(value, Piece):
            tensor = _tensor(wire, value)
            called = node.outputs[0] if node.operator == "Constant" and node.outputs else tensor.name or node.name
            into.tensors.append(tensor._replace(name=called[:MOST_NAME], from_node=True, depth=depth))
        elif number in (6, 11) and isinstance(value, Piece):
            _graph(wire, value, into, depth + 1, looped=node.looped or node.operator in ("Loop", "Scan"))
    value_of = texts or reals or whole
    if name and value_of:
        node.settings[name] = value_of


def _tensor(wire: Wire, piece: Piece) -> Stored:
    shape: list[int] = []
    name, dtype, data, apart, count = "", "", None, False, 0
    said: dict[str, str] = {}
    for number, value in wire.fields(piece):
        if number == 1:
            shape += wire.numbers(value)
        elif number == 2 and isinstance(value, int):
            dtype = TYPES.get(value, f"type {value % 1000}")
        elif number == 8:
            name = wire.text(value)
        elif number in (9, *_TYPED) and isinstance(value, Piece):
            data = value
        elif number in (5, 7, 11):
            count += wire.count(value)
        elif number == 13 and isinstance(value, Piece):
            said |= dict([_pair(wire, value)])
        elif number == 14:
            apart = value == 1
    if len(name) > MOST_NAME or len(shape) > MOST_AXES or not all(0 <= size < MOST_SIZE for size in shape):
        raise BadFileError(f"says of {escape(name)} nothing that a tensor can be")
    elsewhere = _elsewhere(name, said) if apart else None
    found = Stored(name, tuple(shape), dtype, data, elsewhere)
    _refuse_lies(found, count)
    return found


def _refuse_lies(tensor: Stored, count: int) -> None:
    """Refuse a tensor whose shape is not that of its numbers."""
    if tensor.dtype not in DTYPES or tensor.elsewhere:
        return
    numbers = prod(tensor.shape)
    held = tensor.data.size // DTYPES[tensor.dtype].size if tensor.data else count
    if held != numbers:
        raise BadFileError(f"says that {escape(tensor.name)} has {numbers:,} numbers, and holds {held:,}")


def _pair(wire: Wire, piece: Piece) -> tuple[str, str]:
    found = {number: wire.text(value) for number, value in wire.fields(piece) if number in (1, 2)}
    return found.get(1, ""), found.get(2, "")


def _elsewhere(name: str, said: dict[str, str]) -> tuple[str, int, int]:
    """Return the file beside this one that a tensor's numbers are in, from where on, and how many bytes; 0 for all."""
    sizes = [said.get(key, "0") for key in ("offset", "length")]
    if not said.get("location") or not all(size.isascii() and size.isdecimal() and len(size) < 20 for size in sizes):
        raise BadFileError(f"does not say where the numbers of {escape(name)} are")
    return said["location"], int(sizes[0]), int(sizes[1])
