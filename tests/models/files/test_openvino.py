"""OpenVINO's models: layers and edges in XML, and constants in a file beside it."""

import struct
from pathlib import Path

import pytest
from conftest import Call

from rnncalc.errors import SpecError
from rnncalc.models.files import read

GATES = "fico"


def port(number: int) -> str:
    return f'<port id="{number}" precision="FP32" />'


def layer(number: int, kind: str, inputs: int, outputs: int, data: str = "") -> str:
    """Return a layer: its inputs are the ports from 0, and its outputs those that follow."""
    reads = "".join(map(port, range(inputs)))
    writes = "".join(port(inputs + each) for each in range(outputs))
    return (
        f'<layer id="{number}" name="{kind.lower()}" type="{kind}" version="opset1"><data {data} />'
        f"<input>{reads}</input><output>{writes}</output></layer>"
    )


def lstm(folder: Path, *, data: str = 'hidden_size="1"', shape: str = "1,4,2", size: int = 32, head: str = "") -> str:
    """Write an LSTM of 2 inputs and 1 unit: the rows of its blocks f, i, c, o are 0, 10, 20 and 30."""
    rows = [10.0 * gate + place for gate in range(4) for place in range(2)]
    recurrent, bias = [10.0 * gate + 2 for gate in range(4)], [10.0 * gate + 3 for gate in range(4)]
    (folder / "a.bin").write_bytes(struct.pack("<16f", *rows, *recurrent, *bias))
    consts = [
        layer(3, "Const", 0, 1, f'element_type="f32" shape="{shape}" offset="0" size="{size}"'),
        layer(4, "Const", 0, 1, 'element_type="f32" shape="1,4,1" offset="32" size="16"'),
        layer(5, "Const", 0, 1, 'element_type="f32" shape="1,4" offset="48" size="16"'),
    ]
    layers = [layer(0, "Parameter", 0, 1), *consts, layer(6, "LSTMSequence", 7, 3, data), layer(7, "Result", 1, 0)]
    pairs = [(0, 0, 6, 0), (3, 0, 6, 4), (4, 0, 6, 5), (5, 0, 6, 6), (6, 7, 7, 0)]
    edges = [
        f'<edge from-layer="{one}" from-port="{out}" to-layer="{other}" to-port="{into}" />'
        for one, out, other, into in pairs
    ]
    text = f'<net name="a" version="11"><layers>{"".join(layers)}</layers><edges>{"".join(edges)}</edges></net>'
    (folder / "a.xml").write_text(f'<?xml version="1.0"?>\n{head}{text}')
    return str(folder / "a.xml")


def test_gates_are_in_the_order_of_keras(tmp_path: Path) -> None:
    """f, i, c, o become i, f, c, o, as columns."""
    (module,) = read(lstm(tmp_path)).modules
    arrays = {name: tensor.read() for name, tensor in module.tensors.items()}
    assert arrays["kernel"] == [[10, 0, 20, 30], [11, 1, 21, 31]]
    assert (arrays["recurrent_kernel"], arrays["bias"]) == ([[12, 2, 22, 32]], [13, 3, 23, 33])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ('hidden_size="1" clip="0.5"', "(clip): a run differs"),
        ('hidden_size="1" direction="reverse"', "go_backwards"),
        ('hidden_size="1" activations="sigmoid, relu, tanh"', "no layer that is known here"),
        ('hidden_size="1" activations="hardsigmoid, tanh, tanh"', "a run differs"),
    ],
)
def test_what_no_lstm_computes(tmp_path: Path, data: str, said: str, call: Call) -> None:
    """It is said, whether or not the layer is recognised."""
    assert said in call("read", lstm(tmp_path, data=data)).out


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ({"shape": "1,4,3"}, "const of 32 bytes, which its shape and type do not need"),
        ({"shape": "1,4,x"}, "const, a constant without a shape or a place"),
        ({"shape": "1,4,1000", "size": 16000}, "keeps const in a.bin, which has 64 bytes"),
        ({"head": '<!DOCTYPE net [<!ENTITY a "b">]>'}, "is not a model file|a document type"),
    ],
)
def test_what_is_refused(tmp_path: Path, file: dict[str, str], said: str) -> None:
    """Sizes that contradict the bytes, and what may grow when it is read."""
    with pytest.raises(SpecError, match=said):
        read(lstm(tmp_path, **file))  # type: ignore[arg-type]
    (tmp_path / "a.xml").write_text('<?xml version="1.0"?>\n<net ')
    with pytest.raises(SpecError, match="is truncated, or is not XML"):
        read(str(tmp_path / "a.xml"))
