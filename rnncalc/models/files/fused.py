"""Graphs whose recurrent layers are one operator each: their modules under the names of Keras, or of MLX.

The flow of arrays is that of ONNX's graphs. Such an operator has one bias for each gate, as in Keras; the candidate of
a GRU that resets after the product has a second one, as in MLX.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rnncalc.models.files import model
from rnncalc.models.files.model import FileModule, FileTensor, ModelFile, RemarkKind, TensorRole
from rnncalc.models.files.onnx import of_graph
from rnncalc.models.files.onnx_graph import Graph, Operator

STEPS, WAYS, BATCH, UNITS = range(4)


class CellOperator(NamedTuple):
    """A recurrent operator: ONNX's kind, the order of its gates, and its inputs.

    states: how many; they are behind the sequence. lengths: whether those of the sequences follow. The matrices and
    the bias are behind these.
    """

    kind: str
    order: str
    states: int = 1
    lengths: bool = True


_ORDERS = {("keras", "GRU"): "zrn", ("mlx", "GRU"): "rzn", ("keras", "LSTM"): "ifco", ("mlx", "LSTM"): "ifco"}
_NAMES: Mapping[tuple[str, str], Sequence[str]] = {
    ("mlx", "RNN"): ("Wxh", "Whh", "bias"),
    ("mlx", "GRU"): ("Wx", "Wh", "b", "bhn"),
    ("mlx", "LSTM"): ("Wx", "Wh", "bias"),
}
"""The names of arrays where they are not Keras's."""
_OF_KERAS = ("kernel", "recurrent_kernel", "bias")
_CLASSES = {"RNN": "SimpleRNN", "GRU": "GRU", "LSTM": "LSTM"}
_ACTIVATIONS = {"Relu": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid", "Softmax": "softmax", "Linear": "linear"}
_TRACED = re.compile(r"^__module[.]|/(aten|ov_ext|prim)::.*$|/MatMul$")
"""What PyTorch's tracer and OpenVINO add to the name of a module."""


def of_fused(path: str, form: str, graph: Graph, cells: Mapping[str, CellOperator]) -> ModelFile:
    """Return the contents of a graph; cells: its recurrent operators by their kinds."""
    graph.nodes = [each for node in graph.nodes for each in _as_onnx(node, cells.get(node.kind))]
    file = of_graph(path, graph)
    framework = "mlx" if any(module.settings.get("linear_before_reset") for module in file.modules) else "keras"
    times = Counter(_TRACED.sub("", module.path) for module in file.modules)
    modules = tuple(_named(_called(module, times), framework) for module in file.modules)
    remarks = tuple(remark for remark in file.remarks if remark.kind is not RemarkKind.ZEROS)  # of ONNX's second bias
    tensors = tuple(tensor for tensor in file.tensors if tensor.role is not TensorRole.CONSTANT)  # shapes and axes
    return file._replace(format=form, framework=framework, tensors=tensors, modules=modules, remarks=remarks)


def _as_onnx(node: Operator, cell: CellOperator | None) -> Iterator[Operator]:
    """Yield ONNX's operator for a recurrent one, and what gives its outputs the axes (batch, ways, steps, units)."""
    if cell is None:
        yield node
        return
    sequence, *others = node.inputs
    states, others = others[: cell.states], others[cell.states :]
    lengths = [f"{name} of steps" for name in others[: cell.lengths]]
    for name, other in zip(lengths, others, strict=False):
        yield Operator("sequence lengths", "", (other,), (name,), {})
    inputs = (sequence, *others[cell.lengths :][:3], *(lengths or [""]), *states)
    outputs = tuple(f"{name} of ONNX" for name in node.outputs)
    yield Operator(cell.kind, node.name, inputs, outputs, {**node.settings, "order": cell.order})
    perms = [[BATCH, WAYS, STEPS, UNITS], [1, 0, 2], [1, 0, 2]]
    for name, output, perm in zip(node.outputs, outputs, perms, strict=False):
        yield Operator("Transpose", "", (output,), (name,), {"perm": perm})


def _called(module: FileModule, times: Mapping[str, int]) -> FileModule:
    """Return a module without what a tracer adds to its path, unless another has the same then."""
    path = _TRACED.sub("", module.path)
    return module._replace(path=path) if path and times[path] == 1 else module


def _named(module: FileModule, framework: str) -> FileModule:
    """Return a module with the names and the shapes that a framework has; of an unknown operator as it is."""
    tensors = dict(module.tensors)
    activation = (module.settings.get("activation") or ["unknown"])[0]
    settings = {"activation": _ACTIVATIONS.get(activation, activation)}
    match module.kind, tensors:
        case "LSTM" | "GRU" | "RNN" as kind, {"W": _, "R": _}:
            return _cell(module, kind, framework)
        case "MatMul" | "Gemm", {"B": matrix} if len(matrix.shape) == 2:
            other = {"bias": tensors["C"]} if "C" in tensors else {}
            if framework == "keras":
                return module._replace(tensors={"kernel": matrix, **other}, kind="Dense", settings=settings)
            return module._replace(tensors={"weight": model.turned(matrix), **other}, kind="Linear", settings=settings)
        case "Gather", {"data": table} if len(table.shape) == 2:
            name = "embeddings" if framework == "keras" else "weight"
            return module._replace(tensors={name: table}, kind="Embedding", settings={})
    return module._replace(kind="operator", settings={})


def _cell(module: FileModule, kind: str, framework: str) -> FileModule:
    """Return the module of a recurrent operator, in each of its directions."""
    settings, tensors = module.settings, module.tensors
    words = [str(word).lower() for word in settings.get("activations", [])]
    each = {"LSTM": 3, "GRU": 2, "RNN": 1}[kind]
    gates, active = "sigmoid", "tanh"
    if len(words) >= each:
        gates, active = words[0] if each > 1 else gates, words[each > 1]
    alike = all(words[at : at + each] == words[:each] for at in range(0, len(words), each))
    plain = alike and settings.get("step", [-1]) == [-1] and len({*words[1:each]}) < 2
    ways, units = tensors["R"].shape[0], tensors["R"].shape[-1]
    if not plain or (framework == "mlx" and (gates, active) != ("sigmoid", "tanh") and kind != "RNN"):
        return module._replace(kind="operator", settings={})
    order, target = str(settings["order"]), _ORDERS.get((framework, kind), "h")
    parts: dict[str, FileTensor] = {}
    for way, mark in enumerate(("forward/", "backward/")[:ways] if ways > 1 else ("",)):
        names = _NAMES.get((framework, kind), _OF_KERAS)
        for name, leaf in zip(names, ("W", "R", "B", "B"), strict=False):
            if leaf not in tensors:
                continue
            second = name == "bhn"
            blocks = [len(order)] if second else [order.index(gate) for gate in target]
            parts[f"{mark}{name}"] = _blocks(tensors[leaf], way, blocks, units, turned=framework == "keras")
    return module._replace(
        tensors=parts,
        kind="Bidirectional" if ways > 1 else _CLASSES[kind],
        settings={
            "activation": active,
            "recurrent_activation": gates,
            "go_backwards": settings.get("direction") == ["reverse"],
            "clip": bool(settings.get("clip")),
            "merge_mode": (settings.get("merge") or ["concat"])[0],
            "cell": _CLASSES[kind],
        },
        steps=settings.get("steps", 0),
    )


def _blocks(tensor: FileTensor, way: int, blocks: Sequence[int], units: int, *, turned: bool) -> FileTensor:
    """Return some blocks of rows of one direction, in an order; turned: a matrix as its transpose."""
    _, rows, *columns = tensor.shape
    shape = (len(blocks) * units, *columns)

    def read() -> Any:
        every = tensor.read()[way]
        taken = [row for block in blocks for row in every[block * units : (block + 1) * units]]
        return model.transposed(taken) if columns and turned else taken

    name = tensor.name if tensor.shape[0] == 1 and len(blocks) * units == rows else f"{tensor.name} [{way}]"
    name = f"{name} of the candidate" if blocks == [3] else name
    return tensor._replace(name=name, shape=shape[::-1] if columns and turned else shape, read=read)
