"""What modules read and return. The frameworks themselves are asked in `conformance/test_returned_shapes.py`."""

import json
from typing import Any

import pytest
from conftest import Call

from rnncalc import LSTM, ConvLSTM, Network
from rnncalc.conventions.catalogue import CONVENTIONS, convention
from rnncalc.errors import CallError, DeclarationError
from rnncalc.questions.shapes import shapes

FLAGS = ("-i", 10, "-l", "lstm:16,bidirectional,repeat=2", "-o", 5, "--shapes")


def _shapes(call: Call, *flags: object) -> Any:
    (report,) = json.loads(call(*FLAGS, *flags, "-f", "json").out)["reports"]
    return report["shapes"]


def test_pytorch_stacks_layers(call: Call) -> None:
    """Two layers of two directions are four states in front; a batch and steps that nobody gives are null."""
    stack, output = _shapes(call, "-c", "pytorch")
    states = {"h_n": [4, None, 16], "c_n": [4, None, 16]}
    assert stack == {
        "layers": ["lstm_1", "lstm_2"],
        "input": [None, None, 10],
        "returns": {"output": [None, None, 32], **states},
    }
    assert output == {"layers": ["output"], "input": [None, 32], "returns": {"output": [None, 5]}}
    stack, _ = _shapes(call, "-c", "pytorch", "--batch", 4, "-T", 7, "--time-first")
    assert (stack["input"], stack["returns"]["output"]) == ([7, 4, 10], [7, 4, 32])


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_convention_says_it_in_every_format(call: Call, name: str) -> None:
    """A row for each array, and letters for what is not given."""
    assert sum(len(module["returns"]) for module in _shapes(call, "-c", name)) >= 4
    table = call(*FLAGS, "-c", name, "-f", "csv").out.splitlines()
    assert table[0] == "network,layers,kind,part,input,returns,shape"
    assert "(B, 16)" in call(*FLAGS, "-c", name).out or name in ("pytorch", "onnx")


def test_a_convention_that_says_nothing_or_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is refused when it is asked, the second when it is built."""
    keras = convention("keras")
    assert keras.returns
    monkeypatch.setitem(CONVENTIONS, "keras", keras.replace(returns=None))
    with pytest.raises(CallError, match="Keras: what its modules return is not known"):
        shapes(Network(input=3, layers=[LSTM(2)], convention="keras"))
    for part, got, message in (
        ("sequence", "BTWW", "expected BW and any of T, each once, got 'BTWW'"),
        ("axes", "BTX", "expected BW and any of TD, each once, got 'BTX'"),
        ("state_axes", "BTW", "expected BW and any of DL, each once, got 'BTW'"),
        ("state", "h", "expected a name with {} for the letter of the state, got 'h'"),
    ):
        with pytest.raises(DeclarationError) as caught:
            keras.replace(returns=keras.returns.replace(**{part: got}))
        assert str(caught.value) == f"keras: returns: {part}: {message}"


def test_the_places_of_a_convolution_stand_before_its_filters() -> None:
    """As Keras's ConvLSTM2D returns them; a dense layer reads them in a row."""
    layer = ConvLSTM(2, space=(4, 5))
    network = Network(input=3, layers=[layer, layer], steps=6, convention="keras")
    one, other = shapes(network, 7).modules
    assert one.input.shape == (7, 6, 4, 5, 3)
    assert [array.shape for array in one.returns.values()] == [(7, 6, 4, 5, 2), (7, 4, 5, 2), (7, 4, 5, 2)]
    assert other.returns["output"].shape == (7, 4, 5, 2)
