"""ONNX files: tensors, and the operators that read them, which say what they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import Enum, auto
from functools import partial
from itertools import accumulate
from math import prod
from typing import Any

from rnncalc.files import open_input
from rnncalc.modelfiles.model import BadFileError, FileTensor, ModelFile, Remark, Role, Sign
from rnncalc.modelfiles.numbers import DTYPES, decoded, nested
from rnncalc.modelfiles.onnx_graph import Graph, Node, Stored, graph_of
from rnncalc.modelfiles.onnx_modules import modules_of
from rnncalc.modelfiles.roles import REAL
from rnncalc.modelfiles.wire import FileBytes, Piece, Wire
from rnncalc.text import escape

MOST_LOOKED_AT, MOST_IN_ALL = 100_000, 1_000_000
"""Biases of more numbers are not looked at for zeros, nor for copies; nor more numbers of one file."""


def read(path: str) -> ModelFile:
    """Return what a file holds."""
    with open_input(path) as file:
        graph = graph_of(Wire(FileBytes(file)))
    look = _Look()
    tensors = _tensors(path, graph, look)
    modules = modules_of(graph.nodes, {tensor.name: tensor for tensor in tensors if tensor.role is Role.PARAMETER})
    remarks = []
    inner = {tensor.name for tensor in graph.tensors if tensor.depth or tensor.from_node}
    if hidden := tuple(tensor.name for tensor in tensors if tensor.role is Role.PARAMETER and tensor.name in inner):
        remarks.append(Remark(Sign.IN_BRANCHES, hidden))
    if zeros := tuple(
        module.tensors["B"].name for module in modules if "R" in module.tensors and _half_zeros(module.tensors, look)
    ):
        remarks.append(Remark(Sign.ZEROS, zeros))
    return ModelFile(path, "onnx", "onnx", tensors, modules, True, tuple(remarks))


class _Look:
    """Reads the numbers of a tensor, those of so many and no more."""

    def __init__(self) -> None:
        self.left = MOST_IN_ALL

    def at(self, tensor: FileTensor) -> Any:
        """Return the numbers of a tensor, None where they are too many."""
        if prod(tensor.shape) > min(self.left, MOST_LOOKED_AT):
            return None
        self.left -= prod(tensor.shape)
        return tensor.read()


def _tensors(path: str, graph: Graph, look: _Look) -> tuple[FileTensor, ...]:
    """Return the tensors with what they are; names of branches that stand elsewhere too get a number."""
    reads: dict[str, set[_Use]] = {}
    for node in graph.nodes:
        for place, name in enumerate(node.inputs):
            reads.setdefault(name, set()).add(_use(node.operator, place))
    starts = _starts(graph.nodes)
    made: dict[str, FileTensor] = {}
    numbers: dict[str, int] = {}  # the last one that a name was given
    for stored in graph.tensors:
        name = stored.name
        while name in made:
            numbers[stored.name] = numbers.get(stored.name, 1) + 1
            name = f"{stored.name}#{numbers[stored.name]}"
        file, piece = _where(path, stored)
        read = partial(_numbers, file, piece, stored.dtype, stored.shape, stored.name)
        tensor = FileTensor(name, stored.shape, stored.dtype, Role.PARAMETER, read)
        made[name] = tensor._replace(
            role=_role(tensor, reads.get(stored.name, set()), look, from_node=stored.from_node)
        )
    for name in _made_beforehand([made[name] for name in made if name in starts], [*made.values()]):
        made[name] = made[name]._replace(role=Role.CONSTANT)
    return tuple(made.values())


def _starts(nodes: list[Node]) -> set[str]:
    """Return what is added right before an activation, as the state's product is in a step that is written out."""
    activated = {name for node in nodes if node.operator in ("Tanh", "Relu") for name in node.inputs}
    sums = [node for node in nodes if node.operator == "Add" and not activated.isdisjoint(node.outputs)]
    return {name for node in sums for name in node.inputs}


def _made_beforehand(added: list[FileTensor], tensors: list[FileTensor]) -> Iterator[str]:
    """Yield the names of what a step makes of a state of zeros: a copy of a bias, or zeros where there is none.

    An exporter that writes out the steps calculates it for the first of them, with the axes of a step; a bias has one.
    """
    rows = [each for each in added if len(each.shape) > 2 and prod(each.shape[:-1]) == 1]
    sizes = {each.shape[-1:] for each in rows}
    copied = {tuple(each.read()) for each in _looked_at([each for each in tensors if each.shape in sizes])}
    for each in _looked_at(rows):
        numbers = _flat(each.read())
        if not any(numbers) or tuple(numbers) in copied:
            yield each.name


def _looked_at(tensors: list[FileTensor]) -> list[FileTensor]:
    """Return the parameters among tensors, the first ones where they have too many numbers to be looked at together."""
    parameters = [each for each in tensors if each.role is Role.PARAMETER and each.dtype in ("float32", "float64")]
    ends = [*accumulate(each.params for each in parameters)]
    return [each for each, end in zip(parameters, ends, strict=True) if end <= MOST_LOOKED_AT]


_STATES = (("LSTM", 5), ("LSTM", 6), ("GRU", 5), ("RNN", 5))
_MOVED = ("Expand", "Slice", "Concat", "Tile", "Identity", "Squeeze", "Unsqueeze", "Reshape")
_MOMENTS = (("BatchNormalization", 3), ("BatchNormalization", 4))


class _Use(Enum):
    """What an operator reads something as."""

    MOMENT = auto()
    STATE = auto()
    MOVED = auto()
    OTHER = auto()


def _use(operator: str, place: int) -> _Use:
    if (operator, place) in _MOMENTS:
        return _Use.MOMENT
    if (operator, place) in _STATES:
        return _Use.STATE
    return _Use.MOVED if operator in _MOVED else _Use.OTHER


def _role(tensor: FileTensor, reads: set[_Use], look: _Look, *, from_node: bool) -> Role:
    """Return what a tensor is by who reads it: whole numbers are shapes and axes, a single number may be anything."""
    if tensor.dtype not in REAL:
        return Role.CONSTANT
    if _Use.MOMENT in reads:
        return Role.BUFFER
    if not tensor.shape or (from_node and prod(tensor.shape) <= 1):
        return Role.CONSTANT if from_node else Role.UNKNOWN
    states = reads and reads <= ({_Use.STATE, _Use.MOVED} if from_node else {_Use.STATE})
    if states and (numbers := look.at(tensor)) is not None and not any(_flat(numbers)):
        return Role.CONSTANT  # the state before the first step, which is zeros and no weight
    return Role.PARAMETER


def _half_zeros(tensors: Any, look: _Look) -> bool:
    """Return whether the second half of the biases of an operator is zeros, which exporters put there."""
    biases: FileTensor | None = tensors.get("B")
    if biases is None or len(biases.shape) != 2 or biases.shared_with:
        return False
    rows = look.at(biases)
    return rows is not None and all(any(row) and not any(row[len(row) // 2 :]) for row in rows)


def _flat(numbers: Any) -> list[float]:
    while isinstance(numbers, list) and numbers and isinstance(numbers[0], list):
        numbers = [number for row in numbers for number in row]
    return numbers if isinstance(numbers, list) else [numbers]


def _where(path: str, stored: Stored) -> tuple[str, Piece | None]:
    """Return the file and the place in it where the numbers of a tensor are; only files beside this one are read."""
    if stored.elsewhere is None:
        return path, stored.data
    location, start, length = stored.elsewhere
    folder = os.path.realpath(os.path.dirname(path) or ".")
    file = os.path.realpath(os.path.join(folder, location))
    if os.path.isabs(location) or os.path.commonpath((folder, file)) != folder or "\0" in location:
        raise BadFileError(f"keeps {escape(stored.name)} in {escape(location)}, which is not in its folder")
    try:
        with open_input(file) as beside:
            size = os.fstat(beside.fileno()).st_size
    except OSError as error:
        raise BadFileError(
            f"keeps {escape(stored.name)} in {escape(location)}: {(error.strerror or '').lower()}"
        ) from None
    needed = prod(stored.shape) * DTYPES[stored.dtype].size if stored.dtype in DTYPES else length
    if (length and length != needed) or start + needed > size:
        raise BadFileError(f"keeps {escape(stored.name)} in {escape(location)}, which has not the bytes it needs")
    return file, Piece(start, start + needed)


def _numbers(path: str, piece: Piece | None, dtype: str, shape: tuple[int, ...], name: str) -> Any:
    if piece is None:
        if not prod(shape):
            return []
        raise BadFileError(f"keeps {escape(name)} in numbers of a type that is not read here; save it as float32")
    with open_input(path) as file:
        file.seek(piece.start)
        data = file.read(piece.size)
    if len(data) < piece.size:
        raise BadFileError("is cut off")
    return nested(decoded(data, dtype), shape)
