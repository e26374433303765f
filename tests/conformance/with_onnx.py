"""rnncalc's layers as nodes of ONNX, which ONNX Runtime runs in float32 or refuses."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
from conformance.drawing import Shapes, only
from conformance.ways import MERGES
from onnx import helper, numpy_helper

from rnncalc import GRU, LSTM, RNN, Dense, Dropout, Embedding
from rnncalc.layers.cell import Cell
from rnncalc.network.stack import Placed

OPSET = 22
ACTIVATIONS = {
    "tanh": "Tanh",
    "relu": "Relu",
    "gelu": "Gelu",
    "sigmoid": "Sigmoid",
    "linear": "Affine",
    "softmax": "Softmax",
    "hard_sigmoid": "HardSigmoid",
    "hard_sigmoid_0.2": "HardSigmoid",
}
NUMBERS = {"linear": (1.0, 0.0), "hard_sigmoid": (1 / 6, 0.5), "hard_sigmoid_0.2": (0.2, 0.5)}
"""The alpha and beta of activations that have them."""


class Asked(NamedTuple):
    """A node: the operator, its inputs in order (a left-out one is empty), attributes, output shapes if declared."""

    operator: str
    inputs: tuple[str, ...]
    attributes: dict[str, Any]
    outputs: Mapping[str, tuple[int, ...] | None]


def node(place: Placed, steps: int) -> Asked:
    """Return the node a layer is in ONNX."""
    layer = place.layer
    match layer:
        case RNN():
            only(layer, "bias", "bidirectional", "merge", "activation", "learned_state")
            return _recurrent(layer, steps, [layer.activation or "tanh"])
        case GRU():
            only(
                layer,
                "bias",
                "bidirectional",
                "merge",
                "activation",
                "recurrent_activation",
                "learned_state",
                "reset_after",
            )
            asked = _recurrent(layer, steps, [layer.recurrent_activation or "sigmoid", layer.activation])
            if layer.reset_after is not None:
                asked.attributes["linear_before_reset"] = int(layer.reset_after)
            return asked
        case LSTM():
            only(
                layer,
                "bias",
                "bidirectional",
                "merge",
                "activation",
                "recurrent_activation",
                "learned_state",
                "peepholes",
            )
            return _recurrent(layer, steps, [layer.recurrent_activation or "sigmoid", *[layer.activation] * 2])
        case Dense():
            return Asked("Gemm", ("X", "B", *(["C"] if layer.bias else [])), {}, {"Y": (steps, layer.units)})
        case Embedding():
            return Asked("Gather", ("data", "X"), {}, {"Y": (steps, layer.units)})
        case Dropout():
            return Asked("Dropout", ("X",), {}, {"Y": (steps, place.inputs)})
        case _:
            raise AssertionError(layer)


def _recurrent(layer: Cell, steps: int, activations: list[str]) -> Asked:
    ways, states = layer.directions, layer.learned_state
    inputs = ["X", "W", "R", "B" if layer.bias else "", "", "initial_h" if states else ""]
    if isinstance(layer, LSTM):
        inputs += ["initial_c" if states else "", "P" if layer.peepholes else ""]
    attributes: dict[str, Any] = {
        "hidden_size": layer.units,
        "direction": "bidirectional" if layer.bidirectional else "forward",
        "activations": [ACTIVATIONS[name] for name in activations] * ways,
    }
    if numbers := [NUMBERS[name] for name in activations * ways if name in NUMBERS]:
        attributes |= {"activation_alpha": [a for a, _ in numbers], "activation_beta": [b for _, b in numbers]}
    shapes = {"Y": (steps, ways, 1, layer.units), "Y_h": (ways, 1, layer.units)}
    return Asked(layer.kind.upper(), tuple(inputs), attributes, shapes)


def run_node(asked: Asked, tensors: dict[str, Any], x: Any, after: str = "") -> list[Any]:
    """Return what ONNX Runtime makes of a node with these arrays for weights, or raise what it says against them.

    The shapes of the outputs are declared, and one that differs is refused. `after`: an activation that follows.
    """
    assert {*tensors} == {*asked.inputs} - {"X", ""}  # the runtime drops an array that no input names
    last = "before" if after else "Y"
    names = [last if name == "Y" else name for name in asked.outputs]
    nodes = [helper.make_node(asked.operator, asked.inputs, names, **asked.attributes)]
    if after:
        nodes.append(helper.make_node(after, ["before"], ["Y"]))
    graph = helper.make_graph(
        nodes,
        "one",
        [helper.make_tensor_value_info("X", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)],
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in asked.outputs.items()],
        [numpy_helper.from_array(np.asarray(array, np.float32), name) for name, array in tensors.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # a refusal is raised too
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.strict_shape_type_inference", "1")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, {"X": x}))


def some_input(place: Placed, steps: int) -> Any:
    """Return an input that a layer can read; for a look-up the last row of the table."""
    if isinstance(place.layer, Embedding):
        return np.full(steps, place.inputs - 1, np.int64)
    shape = (steps, 1, place.inputs) if isinstance(place.layer, Cell) else (steps, place.inputs)
    return np.ones(shape, np.float32)


def judge(place: Placed, shapes: Shapes, steps: int = 3) -> list[Any]:
    """Let ONNX Runtime run a layer with weights of these shapes."""
    arrays = {name: np.ones(shape) for name, shape in shapes.items()}
    return run_node(node(place, steps), arrays, some_input(place, steps))


def tensors(place: Placed) -> Shapes:
    """Return the names and shapes that ONNX Runtime accepted: rnncalc's, since an operator holds none of its own."""
    shapes = {tensor.name: tensor.shape for tensor in place.tensors}
    judge(place, shapes)
    return shapes


def apply(place: Placed, weights: dict[str, Any], flow: Any, *, final: bool) -> Any:
    """Return what leaves a layer: its whole sequence, or where `final` its last state."""
    layer = place.layer
    rows = np.asarray(flow)
    if isinstance(layer, Embedding):
        return run_node(node(place, len(rows)), weights, rows.astype(np.int64))[0]
    rows = rows.astype(np.float32)
    if isinstance(layer, Cell):
        outputs, last = run_node(node(place, len(rows)), weights, rows[:, None])
        ways = last[:, 0] if final else np.moveaxis(outputs[:, :, 0], 1, 0)
        return MERGES[layer.merge](*ways) if layer.bidirectional else ways[0]  # operators behind it merge them
    after = ACTIVATIONS[layer.activation] if isinstance(layer, Dense) and layer.activation != "linear" else ""
    many = rows.ndim == 2
    (done,) = run_node(node(place, len(rows) if many else 1), weights, rows if many else rows[None], after)
    return done if many else done[0]
