"""What modules read and return. The frameworks themselves are asked in `conformance/test_returned_shapes.py`."""

from typing import Any

import pytest
from conftest import Call, report_of

from rnncalc import (
    GRU,
    LSTM,
    RNN,
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
from rnncalc.questions.shapes import Axes, shapes

FLAGS = ("-i", 10, "-l", "lstm:16,bidirectional,repeat=2", "-o", 5, "--shapes")


def _shapes(call: Call, *flags: object) -> Any:
    report = report_of(call, *FLAGS, *flags)
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


def written(network: Network, *, time_first: bool = False) -> list[str]:
    """Return a line for each module of a batch of 2: its layers, what it reads, and what it returns."""

    def array(of: Axes) -> str:
        return " ".join(["".join(of), *map(str, of.values())])

    return [
        ": ".join(
            [
                " ".join(placed.name for placed in module.places),
                array(module.input),
                ", ".join(f"{name} {array(of)}" for name, of in module.returns.items()),
            ]
        )
        for module in shapes(network, 2, time_first=time_first).modules
    ]


WORDS = Network(input=9, layers=[Embedding(3), GRU(4, repeat=2), LSTM(5, bidirectional=True)], output=2, steps=7)
AROUND = [Conv1D(4, 3), Pool1D(2), GRU(6, bidirectional=True), LayerNorm(), Flatten(), Dense(2)]
FILTERED = Network(input=3, layers=AROUND, steps=8)
CODE = Network(input=3, layers=[GRU(4), LastStep(), RepeatVector(5), GRU(3)], steps=6, topology="many-to-many")
BOTH = "forward/{0}_h BW 2 5, forward/{0}_c BW 2 5, backward/{0}_h BW 2 5, backward/{0}_c BW 2 5"


@pytest.mark.parametrize(
    ("network", "lines"),
    [
        (
            WORDS.replace(convention="pytorch"),
            [
                "embedding_1: BT 2 7: output BTW 2 7 3",
                "gru_1 gru_2: BTW 2 7 3: output BTW 2 7 4, h_n LBW 2 2 4",
                "lstm_1: BTW 2 7 4: output BTW 2 7 10, h_n LBW 2 2 5, c_n LBW 2 2 5",
                "output: BW 2 10: output BW 2 2",
            ],
        ),
        (
            WORDS.replace(convention="keras"),
            [
                "embedding_1: BT 2 7: output BTW 2 7 3",
                "gru_1: BTW 2 7 3: output BTW 2 7 4, state_h BW 2 4",
                "gru_2: BTW 2 7 4: output BTW 2 7 4, state_h BW 2 4",
                f"lstm_1: BTW 2 7 4: output BW 2 10, {BOTH.format('state')}",
                "output: BW 2 10: output BW 2 2",
            ],
        ),
        (
            WORDS.replace(convention="flax-nnx"),
            [
                "embedding_1: BT 2 7: output BTW 2 7 3",
                "gru_1: BTW 2 7 3: output BTW 2 7 4, carry_h BW 2 4",
                "gru_2: BTW 2 7 4: output BTW 2 7 4, carry_h BW 2 4",
                f"lstm_1: BTW 2 7 4: output BTW 2 7 10, {BOTH.format('carry')}",
                "output: BW 2 10: output BW 2 2",
            ],
        ),
        (
            WORDS.replace(convention="onnx"),
            [
                "embedding_1: TB 7 2: Y TBW 7 2 3",
                "gru_1: TBW 7 2 3: Y TDBW 7 1 2 4, Y_h DBW 1 2 4",
                "gru_2: TBW 7 2 4: Y TDBW 7 1 2 4, Y_h DBW 1 2 4",
                "lstm_1: TBW 7 2 4: Y TDBW 7 2 2 5, Y_h DBW 2 2 5, Y_c DBW 2 2 5",
                "output: BW 2 10: Y BW 2 2",
            ],
        ),
        (
            FILTERED,
            [
                "conv1d_1: BTW 2 8 3: output BTW 2 6 4",
                "pool1d_1: BTW 2 6 4: output BTW 2 3 4",
                "gru_1: BW 2 4: h_t BW 2 12, forward/h_t BW 2 6, backward/h_t BW 2 6",
                "layer_norm_1: BW 2 12: output BW 2 12",
                "flatten_1: BTW 2 3 12: output BW 2 36",
                "dense_1: BW 2 36: output BW 2 2",
            ],
        ),
        (
            FILTERED.replace(convention="pytorch"),
            [
                "conv1d_1: BWT 2 3 8: output BWT 2 4 6",
                "pool1d_1: BWT 2 4 6: output BWT 2 4 3",
                "gru_1: BTW 2 3 4: output BTW 2 3 12, h_n LBW 2 2 6",
                "layer_norm_1: BTW 2 3 12: output BTW 2 3 12",
                "flatten_1: BTW 2 3 12: output BW 2 36",
                "dense_1: BW 2 36: output BW 2 2",
            ],
        ),
        (
            FILTERED.replace(convention="onnx"),
            [
                "conv1d_1: BWT 2 3 8: Y BWT 2 4 6",
                "pool1d_1: BWT 2 4 6: Y BWT 2 4 3",
                "gru_1: TBW 3 2 4: Y TDBW 3 2 2 6, Y_h DBW 2 2 6",
                "layer_norm_1: TBW 3 2 12: Y TBW 3 2 12",
                "flatten_1: TBW 3 2 12: Y BW 2 36",
                "dense_1: BW 2 36: Y BW 2 2",
            ],
        ),
        (
            CODE.replace(convention="keras"),
            [
                "gru_1: BTW 2 6 3: output BW 2 4, state_h BW 2 4",
                "last_1: BW 2 4: output BW 2 4",
                "repeat_vector_1: BW 2 4: output BTW 2 5 4",
                "gru_2: BTW 2 5 4: output BTW 2 5 3, state_h BW 2 3",
            ],
        ),
        (
            CODE,
            [
                "gru_1: BW 2 3: h_t BW 2 4",
                "last_1: BW 2 4: output BW 2 4",
                "repeat_vector_1: BW 2 4: output BW 2 4",
                "gru_2: BW 2 4: h_t BW 2 3",
            ],
        ),
        (
            Network(
                input=3,
                layers=[
                    *(GRU(4, repeat=2, extra_inputs=1), LSTM(4, repeat=2, bidirectional=True, merge="mul")),
                    *(RNN(5, repeat=2, bidirectional=True, merge="concat"), RNN(5)),
                ],
                convention="pytorch",
            ),
            [
                "gru_1: BTW 2 None 4: output BTW 2 None 4, h_n LBW 1 2 4",
                "gru_2: BTW 2 None 5: output BTW 2 None 4, h_n LBW 1 2 4",
                "lstm_1: BTW 2 None 4: output BTW 2 None 8, h_n LBW 2 2 4, c_n LBW 2 2 4",
                "lstm_2: BTW 2 None 4: output BTW 2 None 8, h_n LBW 2 2 4, c_n LBW 2 2 4",
                "rnn_1 rnn_2: BTW 2 None 4: output BTW 2 None 10, h_n LBW 4 2 5",
                "rnn_3: BTW 2 None 10: output BTW 2 None 5, h_n LBW 1 2 5",
            ],
        ),
        (
            Network(input=4, layers=[GRU(4, initial_state=7, repeat=2)], convention="pytorch"),
            [
                "gru_1_h_0: BW 2 7: output BW 2 4",
                "gru_1: BTW 2 None 4: output BTW 2 None 4, h_n LBW 1 2 4",
                "gru_2_h_0: BW 2 7: output BW 2 4",
                "gru_2: BTW 2 None 4: output BTW 2 None 4, h_n LBW 1 2 4",
            ],
        ),
        (
            Network(input=3, layers=[Dense(2), GRU(4)], output=3, topology="one-to-many", steps=5, convention="keras"),
            [
                "dense_1: BW 2 3: output BW 2 2",
                "gru_1: BTW 2 5 2: output BTW 2 5 4, state_h BW 2 4",
                "output: BTW 2 5 4: output BTW 2 5 3",
            ],
        ),
        (
            Network(input=3, layers=[GRU(4)], output=3, topology="one-to-many", feedback=True, convention="pytorch"),
            ["gru_1: BTW 2 1 3: output BTW 2 1 4, h_n LBW 1 2 4", "output: BTW 2 1 4: output BTW 2 1 3"],
        ),
        (
            Network(input=8, layers=[ConvLSTM(3, space=(4,))], steps=6, convention="keras"),
            ["conv_lstm_1: BTPW 2 6 4 8: output BPW 2 4 3, state_h BPW 2 4 3, state_c BPW 2 4 3"],
        ),
    ],
)
def test_what_each_module_reads_and_returns(network: Network, lines: list[str]) -> None:
    """The order of its axes, and their sizes, in the names that the framework has for what it returns."""
    assert written(network) == lines


def test_the_steps_in_front_of_the_batch() -> None:
    """In all but a convolution, which has the features before the steps."""
    layers = [Conv1D(4, 3), LSTM(6, bidirectional=True), Dense(3)]
    network = Network(input=3, layers=layers, topology="many-to-many", steps=8, convention="pytorch")
    assert written(network, time_first=True) == [
        "conv1d_1: BWT 2 3 8: output BWT 2 4 6",
        "lstm_1: TBW 6 2 4: output TBW 6 2 12, h_n LBW 2 2 6, c_n LBW 2 2 6",
        "dense_1: TBW 6 2 12: output TBW 6 2 3",
    ]
