"""Programs of torch.export: what the list of weights says is compared with the files beside it."""

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from rnncalc.errors import SpecError
from rnncalc.models.files import read
from rnncalc.models.files.model import TensorRole


def entry(*sizes: int, start: int = 0, **others: Any) -> dict[str, Any]:
    """Return what torch 2.13.0 writes of a float32 tensor that is stored row by row in the file weight_0."""
    strides = [1] if len(sizes) == 1 else [sizes[-1], 1]
    meta = {"sizes": [{"as_int": size} for size in sizes], "strides": [{"as_int": step} for step in strides]}
    meta |= {"dtype": 7, "storage_offset": {"as_int": start}, "requires_grad": True} | others.pop("meta", {})
    return {"path_name": "weight_0", "is_param": True, "use_pickle": False, "tensor_meta": meta} | others


def pt2(path: Path, config: Any, order: bytes = b"little", program: Any = None) -> str:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("m/data/weights/weight_0", struct.pack(">6f" if order == b"big" else "<6f", *range(6)))
        file.writestr("m/data/weights/model_weights_config.json", json.dumps({"config": config}))
        file.writestr("m/byteorder", order)
        if program is not None:
            file.writestr("m/models/model.json", json.dumps(program))
    return str(path)


@pytest.mark.parametrize("order", [b"little", b"big"])
def test_weights(tmp_path: Path, order: bytes) -> None:
    """Buffers and parameters are apart; a tensor under two names is one; others may share a file."""
    config = {"w": entry(2, 3), "tied": entry(2, 3), "b": entry(2, start=4), "mask": entry(1, is_param=False)}
    config["frozen"] = entry(1, start=1, meta={"requires_grad": False})
    file = read(pt2(tmp_path / "a.pt2", config, order))
    first, tied, bias, mask, frozen = file.tensors
    assert (first.read(), bias.read()) == ([[0, 1, 2], [3, 4, 5]], [4, 5])
    assert (first.shared_with, tied.shared_with, bias.shared_with) == (None, "w", None)
    assert (mask.role, frozen.frozen, first.frozen) == (TensorRole.BUFFER, True, False)
    assert file.params == 6 + 2 + 1


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"w": entry(2, 4)}, "truncated: w needs 32 bytes, and there are 24"),
        ({"w": entry(2, path_name="weight_1")}, "truncated: w needs 8 bytes, and there are none"),
        ({"w": entry(2, use_pickle=True)}, "w, which is not a plain tensor"),
        ({"w": entry(2, meta={"dtype": 99})}, "w, which is not a plain tensor"),
        ({"w": entry(2, meta={"sizes": [{"as_expr": "s0"}]})}, "w, which is not a plain tensor"),
        ({"w": entry(-2)}, "w, which is not a plain tensor"),
        ({"w": 3}, "w, which is not a plain tensor"),
        ([], "a list of weights that is none"),
    ],
)
def test_what_is_refused(tmp_path: Path, config: Any, said: str) -> None:
    """Sizes that contradict the bytes, and what is no tensor."""
    with pytest.raises(SpecError, match=said):
        read(pt2(tmp_path / "a.pt2", config))


def program(*nodes: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    """Return what torch 2.13.0 writes of a graph: output, operator and arguments of its nodes; all of x.weight's."""
    lines = [
        {
            "target": f"torch.ops.aten.{operator}",
            "inputs": [{"name": key, "arg": value, "kind": 1} for key, value in arguments.items()],
            "outputs": [{"as_tensor": {"name": output}}],
        }
        for output, operator, arguments in nodes
    ]
    weight = {"parameter": {"arg": {"name": "p_x_weight"}, "parameter_name": "x.weight"}}
    return {"graph_module": {"graph": {"nodes": lines}, "signature": {"input_specs": [weight]}}}


def tensor(name: str) -> dict[str, Any]:
    return {"as_tensor": {"name": name}}


LINEAR = "a", "linear.default", {"input": tensor("x"), "weight": tensor("p_x_weight")}
GELU = "b", "gelu.default", {"self": tensor("a"), "approximate": {"as_string": "tanh"}}
SECOND = "c", "linear.default", {"input": tensor("b"), "weight": tensor("p_x_weight")}


@pytest.mark.parametrize(
    ("nodes", "settings"),
    [
        ([LINEAR], {"activation": "linear"}),
        ([LINEAR, ("b", "relu.default", {"self": tensor("a")})], {"activation": "relu"}),
        ([LINEAR, ("b", "relu_.default", {"self": tensor("a")})], {"activation": "relu"}),  # in place
        ([LINEAR, ("b", "dropout.default", {"input": tensor("a")})], {"activation": "linear"}),
        ([LINEAR, GELU], {"activation": "gelu_tanh"}),
        ([LINEAR, GELU, SECOND], {}),  # called twice, with one activation
        ([("y", "rnn_relu.input", {"params": {"as_tensors": [{"name": "p_x_weight"}]}})], {"nonlinearity": "relu"}),
        ([("y", "rnn_tanh_cell.default", {"w_ih": tensor("p_x_weight")})], {"nonlinearity": "tanh"}),
        ([("y", "lstm.input", {"params": {"as_tensors": [{"name": "p_x_weight"}]}})], {}),
    ],
)
def test_activations(tmp_path: Path, nodes: list[Any], settings: dict[str, str]) -> None:
    """What the program calls with a module's weights, and what reads the output of a linear."""
    file = read(pt2(tmp_path / "a.pt2", {"x.weight": entry(2, 3)}, program=program(*nodes)))
    assert [module.settings for module in file.modules] == [settings]


@pytest.mark.parametrize("graph", [3, {"graph_module": []}, program(("y", "relu", {}))])
def test_another_program(tmp_path: Path, graph: Any) -> None:
    """A program of another form is left out, and one that is no object is refused."""
    path = pt2(tmp_path / "a.pt2", {"x.weight": entry(2, 3)}, program=graph)
    if isinstance(graph, int):
        with pytest.raises(SpecError, match="a program that is no JSON object"):
            read(path)
    else:
        assert read(path).modules[0].settings == {}
