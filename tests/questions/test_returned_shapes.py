"""What modules read and return. The frameworks themselves are asked in `conformance/test_returned_shapes.py`."""

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Call, report_of

from rnncalc import *  # noqa: F403  # what the calls of the file may name
from rnncalc import (
    GRU,
    LSTM,
    Conv1D,
    ConvLSTM,
    Dense,
    Embedding,
    Flatten,
    LastStep,
    LayerNorm,
    Network,
    Pool1D,
    RepeatVector,
)
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.errors import CallError
from rnncalc.questions.shapes import Axes, NetworkShapes, shapes

FLAGS = ("-i", 10, "-l", "lstm:16,bidirectional,repeat=2", "-o", 5, "--shapes")


def _shapes(call: Call, *flags: object) -> Any:
    report = report_of(call, *FLAGS, *flags)
    return report["shapes"]


def test_pytorch_stacks_layers(call: Call) -> None:
    """Two layers of two directions are four states in front; a batch and steps that nobody gives are null."""
    stack, output = _shapes(call, "-c", "pytorch")
    states = {"h_n": [4, None, 16], "c_n": [4, None, 16]}
    assert stack == {
        "network": None,
        "layers": ["lstm_1", "lstm_2"],
        "input": [None, None, 10],
        "returns": {"output": [None, None, 32], **states},
    }
    assert output == {"network": None, "layers": ["output"], "input": [None, 32], "returns": {"output": [None, 5]}}
    stack, _ = _shapes(call, "-c", "pytorch", "--batch", 4, "-T", 7, "--time-first")
    assert (stack["input"], stack["returns"]["output"]) == ([7, 4, 10], [7, 4, 32])


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_convention_says_it_in_every_format(call: Call, name: str) -> None:
    """A row for each array, and letters for what is not given."""
    assert sum(len(module["returns"]) for module in _shapes(call, "-c", name)) >= 4
    table = call(*FLAGS, "-c", name, "-f", "csv").out.splitlines()
    assert table[0] == "network,layers,kind,part,input,returns,shape"
    assert re.search(r"\((B, )?(T, )?(\d, )*(T, )?(B, )?(T, )?16\)", call(*FLAGS, "-c", name).out)


def test_a_convention_whose_returns_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused when it is asked."""
    keras = convention("keras")
    assert keras.returns
    monkeypatch.setitem(CONVENTIONS, "keras", keras.replace(returns=None))
    with pytest.raises(CallError, match="Keras: what its modules return is not known"):
        shapes(Network(input=3, layers=[LSTM(2)], convention="keras"))


def test_the_places_of_a_convolution_stand_before_its_filters() -> None:
    """As Keras's ConvLSTM2D returns them; a dense layer reads them in a row."""
    layer = ConvLSTM(2, space=(4, 5))
    network = Network(input=3, layers=[layer, layer], steps=6, convention="keras")
    one, other = shapes(network, 7).modules
    assert tuple(one.input.values()) == (7, 6, 4, 5, 3)
    assert [tuple(array.values()) for array in one.returns.values()] == [(7, 6, 4, 5, 2), (7, 4, 5, 2), (7, 4, 5, 2)]
    assert tuple(other.returns["output"].values()) == (7, 4, 5, 2)


def written(found: NetworkShapes) -> list[str]:
    """Return a line for each module: its layers, what it reads, and what it returns."""

    def array(axes: Axes) -> str:
        return " ".join(["".join(axes), *map(str, axes.values())])

    return [
        f"{' '.join(placed.name for placed in module.places)}: {array(module.input)}: "
        + ", ".join(f"{name} {array(axes)}" for name, axes in module.returns.items())
        for module in found.modules
    ]


WORDS = Network(input=9, layers=[Embedding(3), GRU(4, repeat=2), LSTM(5, bidirectional=True)], output=2, steps=7)
AROUND = [Conv1D(4, 3), Pool1D(2), GRU(6, bidirectional=True), LayerNorm(), Flatten(), Dense(2)]
FILTERED = Network(input=3, layers=AROUND, steps=8)
CODE = Network(input=3, layers=[GRU(4), LastStep(), RepeatVector(5), GRU(3)], steps=6, topology="many-to-many")


TEXT = Path(__file__).with_name("returned_shapes.txt").read_text(encoding="utf-8")
CASES = re.findall(r"^(shapes.*)\n((?:  .*\n)+)", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("call", "below"), CASES, ids=lambda text: text if "(" in text else "")
def test_what_each_module_reads_and_returns(call: str, below: str) -> None:
    """The order of its axes, and their sizes, in the names that the framework has for what it returns."""
    assert written(eval(call)) == [line.strip() for line in below.splitlines()]
