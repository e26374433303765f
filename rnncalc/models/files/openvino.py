"""OpenVINO's models: layers and edges in XML, and a file of their constants beside it.

https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets.html; seen in openvino 2025.4.1, November
2026. The operators are read as those of ONNX that compute the same. Gates are f, i, c, o. There is one bias for each,
and a second one for the candidate of a GRU that resets after the product.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from math import prod
from typing import Any, NamedTuple

from rnncalc.bounds import MOST_AXES, MOST_NAME, MOST_PICKLE, MOST_PICKLE_DEPTH, MOST_TENSORS
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.fused import CellOperator, of_fused
from rnncalc.models.files.model import BadFileError, FileTensor, ModelFile, TensorRole
from rnncalc.models.files.onnx_graph import Graph, Operator
from rnncalc.printable import escape

_TYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "boolean": "bool", **model.WHOLE}
_SAME = {"Add": "Add", "Multiply": "Mul", "Subtract": "Sub", "Divide": "Div", "ReLU": "Relu", "Relu": "Relu"}
_SAME |= {word: word for word in ("Tanh", "Sigmoid", "Elu", "Gelu", "HardSigmoid", "Reshape", "Squeeze", "Unsqueeze")}
_SAME |= {"Softmax": "Softmax", "SoftMax": "Softmax", "Broadcast": "Expand", "ShapeOf": "Shape", "Convert": "Cast"}
_SAME |= {word: word for word in ("Concat", "Gather", "Transpose", "Split", "Clamp", "MatMul")}
"""ONNX's operators by those that compute the same."""
_CELLS = {
    "LSTMSequence": CellOperator("LSTM", "fico", states=2),
    "GRUSequence": CellOperator("GRU", "zrn"),
    "RNNSequence": CellOperator("RNN", "h"),
}


class _Layer(NamedTuple):
    """An element `layer`: its attributes, those of its `data`, and the ids of its ports; ranks: their axes."""

    name: str
    kind: str
    data: Mapping[str, str]
    inputs: list[str]
    outputs: list[str]
    ranks: dict[str, int]


def read(path: str) -> ModelFile:
    """Return the contents of a file and of the constants beside it."""
    with open_input(path) as file:
        text = file.read(MOST_PICKLE + 1)
    model.refuse_long("graph", len(text), MOST_PICKLE)
    layers, edges = _parsed(text)
    return of_fused(path, "openvino", _graph(os.path.splitext(path)[0] + ".bin", layers, edges), _CELLS)


def _parsed(text: bytes) -> tuple[dict[str, _Layer], dict[tuple[str, str], tuple[str, str]]]:
    """Return the layers by their ids, and the layer and port that each port of a layer reads.

    Layers within others, such as a loop's, are not read. A document type could make a text of any length.
    """
    from xml.parsers import expat  # of all formats this one alone is XML

    layers: dict[str, _Layer] = {}
    edges: dict[tuple[str, str], tuple[str, str]] = {}
    above: list[str] = []

    def start(name: str, words: dict[str, str]) -> None:
        at = "/".join(above)
        above.append(name)
        if len(above) > MOST_PICKLE_DEPTH or len(layers) > 4 * MOST_TENSORS:
            raise BadFileError("has more layers, or layers within layers, than are read")
        if at == "net/layers" and name == "layer":
            layers[words.get("id", "")] = _Layer(
                words.get("name", "")[:MOST_NAME], words.get("type", ""), {}, [], [], {}
            )
        elif at == "net/edges":
            places = [words.get(word, "") for word in ("to-layer", "to-port", "from-layer", "from-port")]
            edges[places[0], places[1]] = places[2], places[3]
        elif at == "net/layers/layer" and name == "data":
            last = next(reversed(layers))
            layers[last] = layers[last]._replace(data=words)
        elif name == "dim" and at == "net/layers/layer/output/port":
            layer = layers[next(reversed(layers))]
            layer.ranks[layer.outputs[-1]] = layer.ranks.get(layer.outputs[-1], 0) + 1
        elif name == "port" and at in ("net/layers/layer/input", "net/layers/layer/output"):
            layer = layers[next(reversed(layers))]
            (layer.inputs if at.endswith("input") else layer.outputs).append(words.get("id", ""))

    def refuse(*_: Any) -> None:
        raise BadFileError("has a document type, which no model has")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: above.pop()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise BadFileError(f"is truncated, or is not XML: {escape(str(error))}") from None
    if not layers:
        raise BadFileError("is XML without the layers of a model")
    return layers, edges


def _graph(beside: str, layers: Mapping[str, _Layer], edges: Mapping[tuple[str, str], tuple[str, str]]) -> Graph:
    """Return the layers as operators of ONNX."""
    graph = Graph()
    names = {layer_id: f"{layer.name or layer.kind} {layer_id}" for layer_id, layer in layers.items()}
    room = os.path.getsize(beside) if os.path.exists(beside) else 0
    for layer_id, layer in layers.items():
        reads = [edges.get((layer_id, port), ("", "")) for port in layer.inputs]
        inputs = tuple(f"{names.get(source, source)}:{port}" for source, port in reads)
        outputs = tuple(f"{names[layer_id]}:{port}" for port in layer.outputs)
        graph.ranks |= {f"{names[layer_id]}:{port}": rank for port, rank in layer.ranks.items()}
        if layer.kind == "Const":
            tensor = _constant(beside, room, layer)
            graph.tensors[outputs[0]], graph.places[outputs[0]] = tensor._replace(name=outputs[0]), ()
            graph.constants.add(outputs[0])
        elif layer.kind == "Result":
            graph.outputs += inputs
        elif layer.kind != "Parameter" and outputs:
            _translate(graph, Operator(layer.kind, layer.name, inputs, outputs, dict(layer.data)))
    return graph


def _constant(beside: str, room: int, layer: _Layer) -> FileTensor:
    data, shown = layer.data, escape(layer.name)
    sizes = [size.strip() for size in data.get("shape", "").split(",") if size.strip()]
    whole = [*sizes, data.get("offset", ""), data.get("size", "")]
    if not all(size.isdecimal() and len(size) < 19 for size in whole) or len(sizes) > MOST_AXES or not layer.outputs:
        raise BadFileError(f"has {shown}, a constant without a shape or a place")
    shape, dtype = tuple(map(int, sizes)), _TYPES.get(data.get("element_type", ""), data.get("element_type", ""))
    start, length = int(data["offset"]), int(data["size"])
    model.check_length(layer.name, shape, dtype, length)
    if start + length > room:
        there = f"has {room:,} bytes" if room else "is empty, or is not there"
        raise BadFileError(f"keeps {shown} in {escape(os.path.basename(beside))}, which {there}")
    read = partial(model.numbers_at, beside, start, dtype, shape)
    return FileTensor(layer.name, shape, dtype, TensorRole.PARAMETER, read)


def _translate(graph: Graph, node: Operator) -> None:
    """Add the operators of ONNX that compute what a layer does; of one that is unknown, it under its own name."""
    kind, data, inputs = _SAME.get(node.kind, node.kind), node.settings, node.inputs
    settings: dict[str, Any] = {}
    if node.kind in _CELLS:
        words = [word.strip() for word in data.get("activations", "").split(",") if word.strip()]
        clip = data.get("clip", "0").strip("0.") != ""
        before = data.get("linear_before_reset") in ("true", "1")
        settings = {"activations": words, "direction": [data.get("direction", "forward")], "clip": clip}
        graph.nodes.append(node._replace(settings=settings | {"linear_before_reset": before}))
        return
    if kind == "MatMul" and data.get("transpose_b") in ("true", "1"):
        turned = f"{inputs[1]} transposed"
        graph.nodes.append(Operator("Transpose", "", inputs[1:2], (turned,), {"perm": [1, 0]}))
        inputs = (inputs[0], turned)
    if kind == "MatMul" and data.get("transpose_a") in ("true", "1"):
        kind = "MatMul of a transposed input"
    if kind in ("Gather", "Split", "Transpose") and len(inputs) > 1:  # the axes are the last input
        last = graph.tensors.get(inputs[-1])
        numbers = model.flat(last) if last and prod(last.shape) <= MOST_AXES and last.dtype[:3] == "int" else [0.5]
        settings = {"perm" if kind == "Transpose" else "axis": [int(number) for number in numbers]}
        kind, inputs = (kind, inputs[:-1]) if 0.5 not in numbers else (node.kind + " along an axis", inputs)
    if kind in ("Concat", "Softmax"):
        settings = {"axis": [int(data["axis"]) if data.get("axis", "").lstrip("-").isdecimal() else 0]}
    if kind == "Cast":
        settings = {"to": [1 if _TYPES.get(data.get("destination_type", ""), "") in model.REAL else 7]}
    graph.nodes.append(Operator(kind, node.name, inputs, node.outputs, settings))
