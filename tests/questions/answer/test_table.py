"""Each mistake is found by its id; wrong answers of lectures and forums are explained by the reason they have."""

import json
import shlex
from typing import NamedTuple

import pytest
from conftest import Call
from finding import PLACES, ids, ids_of, judged, variants_made
from hypothesis import given, settings
from hypothesis import strategies as st
from wrong_counts import WRONG

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    SRU,
    BatchNorm,
    Cell,
    Conv1D,
    Dense,
    Embedding,
    FastGRNN,
    Flatten,
    Layer,
    MinGRU,
    MinLSTM,
    Network,
    Output,
    Part,
    Pool1D,
    RepeatVector,
    answer,
)
from rnncalc.questions.answer.table import TABLE

SIZE = st.integers(2, 40)


@pytest.mark.parametrize("id_", PLACES)
@given(m=SIZE, h=SIZE, k=SIZE, n=SIZE)
@settings(max_examples=5)
def test_each_mistake_is_found(id_: str, m: int, h: int, k: int, n: int) -> None:
    """A number that the mistake gives, at any sizes, is traced to it, or to one before it that gives the same sum.

    Each mistake that is named has its numbers and names in it.
    """
    net, number = WRONG[id_](m, h, k, n)
    found = judged(net, number)
    assert found.right == (number == net.params)
    if not found.right:
        first, *others = ids_of(found)
        assert id_ in (first, *others) or ("+" not in first and PLACES[first] < PLACES[id_]), (id_, first)
    for diagnosis in found.diagnoses:
        for mistake in diagnosis.mistakes:
            assert not {*"{}"} & {*mistake.id, *mistake.text}


def test_the_table_and_the_counts_by_hand_have_the_same_ids() -> None:
    """A new mistake needs a computation by hand, and one that is gone leaves none behind."""
    assert {*WRONG} == {*PLACES}
    assert len(PLACES) == len(TABLE)


def test_the_steps_of_a_flatten() -> None:
    """Those before a convolution or a pooling, in a count of each layer too; a sequence begun again has its own."""
    net = Network(input=6, layers=[Conv1D(64, kernel=5), Pool1D(2), Flatten(), Dense(12)], steps=98)
    said = "flattens the {} that reach {}, instead of those that leave it"
    for number, steps, layer in ((75_276, 98, "conv1d_1"), (72_204, 94, "pool1d_1")):
        _, dense = answer(net, 1984, number).judged
        assert [each.mistakes[0].text for each in dense.diagnoses] == [said.format(f"{steps} steps", layer)]
    assert ids(net, 1984 + 12 * 65) == ["not-flattened"]
    assert not variants_made("steps-before-{layer}", net.replace(layers=net.layers[:2], steps=None), 7)
    again = net.replace(layers=(Flatten(), RepeatVector(9), Pool1D(3), Flatten(), Dense(2)))
    assert ids(again, 2 * (9 * 588 + 1)) == ["steps-before-{layer}"]


def test_the_layers_that_make_a_state() -> None:
    """Both of an LSTM forgotten are one mistake; one of them is a layer left out."""
    net = Network(input=10, layers=[LSTM(20, initial_state=5)], output=3)
    assert ids(net, 2480 + 63) == ["no-initial-state"]
    assert ids(net, 2480 + 63 + 120)[0] == "no-layer"
    two = Network(input=10, layers=[GRU(20, initial_state=5), LSTM(8, initial_state=4)])
    assert ids(two, 3 * 20 * 31 + 4 * 8 * 29)[0] == "no-initial-state"


def test_the_biases_of_filters_that_have_none() -> None:
    """Whether the cells above have biases or not."""
    filters = Conv1D(16, kernel=5, bias=False)
    for bias in (True, False):
        net = Network(input=6, layers=[filters, LSTM(4, bias=bias)], convention="pytorch")
        assert "biases-counted" in ids(net, net.params + 16 + (0 if bias else 16))


def test_every_layer_counts_as_a_layer() -> None:
    """Convolutions and normalisations are left out with what is not recurrent, and multiplied with all."""
    layers = [Conv1D(6, kernel=1), GRU(4), GRU(4)]
    assert ids(Network(input=6, layers=layers, output=2), 132 + 108)[0] == "only-recurrent"
    normal = Network(input=6, layers=[Conv1D(6, kernel=3), BatchNorm(), GRU(4)], steps=7)
    assert ids(normal, 7 * normal.params) == ["copy-a-step"]
    assert ids(normal.replace(steps=None), 7 * normal.params) == ["whole-times-{times}"]


def test_a_mistake_of_another_convention_is_named() -> None:
    """1,248 of a GRU has two biases in each gate: 3·16·(8 + 16 + 2)."""
    first = answer(Network(input=8, layers=[GRU(16)]), 3 * 16 * (8 + 16 + 2)).judged[0].diagnoses[0].mistakes[0]
    assert first == ("convention-pytorch", "counts as pytorch, keras and onnx do, not as textbook")


def test_forgotten_peepholes_are_told_first() -> None:
    """208 is 4·4·(8 + 4 + 1) without the 3·4 of the peepholes; one bias vector for all gates is 12 less by chance."""
    texts = said(Network(input=8, layers=[LSTM(4, peepholes=True)]), 4 * 4 * (8 + 4 + 1))
    assert texts[:2] == ["ignores the peepholes", "counts one bias vector for all gates"]


def said(network: Network, number: int) -> list[str]:
    """Return the explanations of a number, in order."""
    found = answer(network, number).judged[0].diagnoses
    return [mistake.text for each in found for mistake in each.mistakes]


@pytest.mark.parametrize(("layer", "number"), [(MinGRU(5), 100), (MinLSTM(5), 150)])
def test_the_mistake_that_a_cell_invites_is_told_first(layer: Cell, number: int) -> None:
    """Matrices of a past that the gates do not see come before all that happens to give the same number."""
    first, *others = said(Network(input=4, layers=[layer]), number)
    assert first == "counts recurrent matrices, and no gate of this cell looks at the past"
    assert others


def test_conventions_that_count_alike_are_one_mistake() -> None:
    """One row for all of them, and none beside it for the bias in which they differ."""
    network = Network(input=3, layers=[LSTM(5)], convention="pytorch")
    assert said(network, 4 * 5 * (3 + 5 + 1)) == [
        "counts as textbook, keras, flax-linen and flax-nnx do, not as pytorch"
    ]
    assert said(Network(input=4, layers=[GRU(5)]), 155)[0] == "counts as flax-linen does, not as textbook"


def test_one_of_two_learned_states_may_be_forgotten() -> None:
    """With a projection the two widths tell which."""
    assert said(Network(input=4, layers=[LSTM(5, learned_state=True)]), 205) == [
        "counts h_0 alone of the learned initial states"
    ]
    projected = Network(input=4, layers=[LSTM(5, projection=3, learned_state=True)])
    assert "counts c_0 alone of the learned initial states" in said(projected, projected.params - 3)


def net(m: int, *layers: Layer, n: int = 0, steps: int | None = None, convention: str = "textbook") -> Network:
    """Return a network of m inputs, some layers and, if there are n, as many outputs."""
    output = Output(n) if n else None
    return Network(input=m, layers=layers, output=output, steps=steps, convention=convention)


CLASSIC = net(10, LSTM(20), n=5)  # 4·20·(10 + 20 + 1) + 5·(20 + 1) = 2,480 + 105 = 2,585
SEQUENCE = net(10, LSTM(20), n=5, steps=15)
CLASS = net(4, RNN(3), n=1, steps=3)  # 3·8 + 4 = 28
REVIEWS = net(10_000, Embedding(32), LSTM(32), n=1)  # 320,000 + 4·32·65 + 33 = 328,353
FORECAST = net(8, GRU(16), n=10)  # 3·16·25 + 10·17 = 1,370
SPEECH = net(100, LSTM(64, bidirectional=True), n=2)  # 2·4·64·165 + 2·129 = 84,480 + 258 = 84,738
DIGITS = net(28, LSTM(128), LSTM(128), n=10, steps=28)  # 4·128·157 + 4·128·257 + 10·129 = 80,384 + 131,584 + 1,290
LETTERS = net(65, RNN(256), n=65)  # 256·322 + 65·257 = 82,432 + 16,705 = 99,137
TORCH = net(10, LSTM(20), convention="pytorch")  # 4·20·(10 + 20 + 2) = 2,560
TRANSLATION = Network(encoder=Part(71, (LSTM(256),)), decoder=Part(93, (LSTM(256),), Output(93)))
# 4·256·328 + 4·256·350 + 93·257 = 335,872 + 358,400 + 23,901 = 718,173
PROJECTED = net(40, LSTM(100, projection=50), n=10)  # 4·100·91 + 50·100 + 10·51 = 36,400 + 5,000 + 510 = 41,910
PEEPHOLES = net(5, LSTM(8, peepholes=True))  # 4·8·14 + 3·8 = 448 + 24 = 472
DEEP = net(16, GRU(16, repeat=3))  # 3·3·16·33 = 4,752
TIED = Network(input=1_000, layers=(Embedding(64), LSTM(64)), output=Output(1_000, tied=True))
# 64,000 + 4·64·129 + 1,000 = 64,000 + 33,024 + 1,000 = 98,024
MIXED = net(12, Dense(30), GRU(20), n=4, steps=9)  # 30·13 + 3·20·51 + 4·21 = 390 + 3,060 + 84 = 3,534


class Wrong(NamedTuple):
    """A wrong answer: the network, the number, and the reason by its id in the table."""

    network: Network
    number: int
    reason: str


LECTURES = (
    Wrong(CLASSIC, 2_500, "no-biases"),  # 4·20·30 + 5·20
    Wrong(CLASSIC, 2_505, "no-hidden-biases"),  # 4·20·30 + 105
    Wrong(CLASSIC, 2_580, "no-output-bias"),  # 2,480 + 5·20
    Wrong(CLASSIC, 2_480, "no-output"),
    Wrong(CLASSIC, 725, "gates-1"),  # 20·31 + 105: a plain RNN
    Wrong(CLASSIC, 1_345, "gates-2"),  # 2·20·31 + 105
    Wrong(CLASSIC, 1_965, "gates-3"),  # 3·20·31 + 105: a GRU
    Wrong(CLASSIC, 3_205, "other-gates-{count}"),  # 5·20·31 + 105: the cell state taken for a gate
    Wrong(CLASSIC, 985, "no-recurrent"),  # 4·20·11 + 105
    Wrong(CLASSIC, 1_785, "no-input"),  # 4·20·21 + 105
    Wrong(CLASSIC, 2_665, "convention-{name}"),  # 4·20·32 + 105: what torch has
    Wrong(CLASSIC, 325, "as-dense"),  # 20·11 + 105
    Wrong(CLASSIC, 2_525, "one-bias-in-all"),  # 4·20·30 + 20 + 105
    Wrong(CLASSIC, 2_509, "scalar-biases"),  # 4·(20·30 + 1) + 105
    Wrong(CLASSIC, 2_545, "bias-of-input"),  # 4·(20·30 + 10) + 105
    Wrong(CLASSIC, 2_581, "scalar-output-bias"),  # 2,480 + 5·20 + 1
    Wrong(CLASSIC, 2_600, "output-bias-of-inputs"),  # 2,480 + 5·20 + 20
    Wrong(CLASSIC, 2_535, "output-of-input"),  # 2,480 + 5·11
    Wrong(CLASSIC, 2_685, "output-of-both-states"),  # 2,480 + 5·41
    Wrong(CLASSIC, 2_635, "output-of-state-and-input"),  # 2,480 + 5·31
    Wrong(CLASSIC, 1_295, "swapped"),  # 4·10·31 + 5·11
    Wrong(CLASSIC, 5_065, "two-directions"),  # 2·2,480 + 105
    Wrong(CLASSIC, 5_165, "two-directions-deeper"),  # 2·2,480 + 5·41
    Wrong(CLASSIC, 4_185, "cell-state-in-gates"),  # 4·20·(10 + 40 + 1) + 105
    Wrong(CLASSIC, 2_645, "peepholes-counted"),  # 2,480 + 3·20 + 105
    Wrong(CLASSIC, 2_985, "output-in-cell"),  # 2,480 + 20·20 + 105
    Wrong(CLASSIC, 3_785, "square"),  # 4·(30·30 + 20) + 105
    Wrong(CLASSIC, 12_505, "times-{times}"),  # 5·2,480 + 105, and nobody spoke of steps
    Wrong(CLASSIC, 18_095, "whole-times-{times}"),  # 7·2,585
    Wrong(CLASSIC, 785, "matrices-of-one-gate"),  # 20·30 + 4·20 + 105
    Wrong(CLASSIC, 1_785, "recurrent-of-inputs"),  # 4·20·(10 + 10 + 1) + 105
    Wrong(CLASSIC, 1_385, "recurrent-among-inputs"),  # 4·(20·11 + 10·10) + 105
    Wrong(CLASSIC, 3_385, "input-of-units"),  # 4·20·(20 + 20 + 1) + 105
    Wrong(CLASSIC, 2_900, "output-in-each-gate"),  # 2,480 + 4·105
    Wrong(CLASSIC, 3_000, "output-as-cell"),  # 2,480 + 4·5·(20 + 5 + 1)
    Wrong(DIGITS, 131_584, "only-layer"),  # 4·128·257
    Wrong(SEQUENCE, 36_185, "weights-times-steps"),  # 15·4·20·30 + 4·20 + 105
    Wrong(SEQUENCE, 1_640, "steps-for-units"),  # 4·15·(10 + 15 + 1) + 5·16
    Wrong(SEQUENCE, 37_305, "times-steps"),  # 15·2,480 + 105
    Wrong(SEQUENCE, 38_775, "copy-a-step"),  # 15·2,585
    Wrong(SEQUENCE, 4_055, "output-times-steps"),  # 2,480 + 15·105
    Wrong(SEQUENCE, 13_785, "steps-as-features"),  # 4·20·(150 + 20 + 1) + 105
    Wrong(SEQUENCE, 3_985, "output-of-all-steps"),  # 2,480 + 5·(15·20 + 1)
    Wrong(SEQUENCE, 24_985, "recurrent-times-steps"),  # 4·20·(10 + 15·20 + 1) + 105
    Wrong(SEQUENCE, 23_385, "recurrent-between-steps"),  # 4·20·(10 + 14·20 + 1) + 105
    Wrong(CLASS, 76, "times-steps"),  # 3·24 + 4
    Wrong(CLASS, 84, "copy-a-step"),  # 3·28
    Wrong(CLASS, 25, "no-hidden-biases"),  # 3·7 + 4
    Wrong(CLASS, 52, "steps-as-features"),  # 3·(12 + 3 + 1) + 4
    Wrong(CLASS, 48, "no-output+steps-as-features"),  # 3·(12 + 3 + 1)
    Wrong(REVIEWS, 8_353, "no-embedding"),  # 4·32·65 + 33
    Wrong(REVIEWS, 328_385, "embedding-bias"),  # 320,032 + 8,320 + 33
    Wrong(REVIEWS, 1_284_257, "one-hot"),  # 4·32·(10,000 + 32 + 1) + 33
    Wrong(REVIEWS, 1_604_257, "network-input-deeper"),  # 320,000 + 4·32·10,033 + 33
    Wrong(REVIEWS, 326_273, "gates-3"),  # 320,000 + 3·32·65 + 33
    Wrong(REVIEWS, 328_352, "no-output-bias"),
    Wrong(FORECAST, 1_418, "convention-{name}"),  # 3·16·26 + 170: what Keras and torch have
    Wrong(FORECAST, 570, "gates-1"),  # 16·25 + 170
    Wrong(FORECAST, 970, "gates-2"),  # 2·16·25 + 170
    Wrong(FORECAST, 1_770, "gates-4"),  # 4·16·25 + 170
    Wrong(SPEECH, 42_498, "one-direction"),  # 42,240 + 2·129
    Wrong(SPEECH, 84_610, "one-direction-deeper"),  # 84,480 + 2·65
    Wrong(SPEECH, 42_370, "no-second-direction"),  # 42,240 + 2·65
    Wrong(SPEECH, 169_218, "directions-twice"),  # 4·42,240 + 258
    Wrong(DIGITS, 162_058, "network-input-deeper"),  # 2·80,384 + 1,290
    Wrong(DIGITS, 81_674, "no-layer"),  # 80,384 + 1,290
    Wrong(DIGITS, 280_074, "deeper-of-both-states"),  # 80,384 + 4·128·(256 + 128 + 1) + 10·257
    Wrong(DIGITS, 5_936_394, "times-steps"),  # 28·(80,384 + 131,584) + 1,290
    Wrong(LETTERS, 50_241, "recurrent-of-output"),  # 256·(65 + 65 + 1) + 16,705: Jordan's network
    Wrong(LETTERS, 33_857, "diagonal"),  # 256·(65 + 1 + 1) + 16,705
    Wrong(TORCH, 2_480, "convention-{name}"),  # 4·20·31: the lecture's
    Wrong(TRANSLATION, 382_301, "no-encoder"),  # 358,400 + 23,901
    Wrong(TRANSLATION, 335_872, "no-decoder"),
    Wrong(TRANSLATION, 695_645, "encoder-input"),  # 2·335,872 + 23,901
    Wrong(TRANSLATION, 980_317, "state-beside-input"),  # 335,872 + 4·256·(93 + 256 + 256 + 1) + 23,901
    Wrong(PROJECTED, 57_410, "no-projection"),  # 4·100·141 + 10·101
    Wrong(PROJECTED, 36_910, "no-projection-matrix"),  # 36,400 + 510
    Wrong(PEEPHOLES, 448, "no-peepholes"),
    Wrong(PEEPHOLES, 640, "full-peepholes"),  # 448 + 3·8·8
    Wrong(PEEPHOLES, 480, "peephole-in-each-gate"),  # 448 + 4·8
    Wrong(DEEP, 1_584, "repeat-once"),  # 3·16·33
    Wrong(TIED, 162_024, "tied-twice"),  # 98,024 + 64,000
    Wrong(TIED, 97_024, "no-output-bias"),
    Wrong(MIXED, 28_014, "times-steps"),  # 390 + 9·3,060 + 84
    Wrong(MIXED, 2_934, "own-width-deeper"),  # 390 + 3·20·41 + 84
    Wrong(MIXED, 2_454, "network-input-deeper"),  # 390 + 3·20·33 + 84
    Wrong(net(8, MinGRU(16)), 800, "recurrence-counted"),  # 2·16·25: its gates do not look at the past
    Wrong(net(8, MinGRU(16)), 256, "no-biases"),  # 2·16·8
    Wrong(net(8, MinLSTM(16)), 576, "other-gates-{count}"),  # 4·16·9: an output gate that it has not
    Wrong(net(8, SRU(16)), 1_600, "gates-4"),  # 4·16·25: an LSTM
    Wrong(net(8, SRU(16)), 448, "no-gate"),  # 3·16·8 + 4·16: no skip
    Wrong(net(8, FastGRNN(16)), 802, "shared-twice"),  # 2·16·25 + 2
    Wrong(net(8, FastGRNN(16)), 416, "no-scalars"),  # 16·24 + 2·16
)


def test_a_wrong_answer_has_its_reason() -> None:
    """Nine of ten are told first; before the others stands what gives the same number and is as likely."""
    later = []
    for wrong in LECTURES:
        found = ["+".join(sorted(each.split("+"))) for each in ids(wrong.network, wrong.number)]
        assert wrong.reason in found, wrong
        if found[0] != wrong.reason:
            later.append(wrong)
    assert len(later) <= 0.1 * len(LECTURES), later


@pytest.mark.parametrize("number", [2_583, 2_587, 3_003, 10_007])
def test_what_has_no_reason_gets_none(number: int) -> None:
    """Nothing is made up for a number that no mistake gives."""
    assert not judged(CLASSIC, number).diagnoses


PUBLISHED = (
    ("-i 1 -l lstm:2 -T 3 -c keras", "48", "steps-as-features"),  # Stack Overflow 52759193
    ("-i 5 -l lstm:8 -o 3 -T 2", "448 132", "no-biases+output-as-cell"),  # 4·3·(8 + 3): Dense as an LSTM
    ("-i 160 -l lstm:100 -c pytorch", "10240000 6400000 400 400", "times-160"),  # RNN_HLS issue 5: one set a feature
    ("-i 59 -l lstm:59 -o 59", "28084 60", "output-width"),  # Data Science 85199: features + 1
    ("-i 1 -l lstm:16 -c pytorch", "256", "only-one-recurrent"),  # 16·16
    ("-i 1 -l lstm:16 -c pytorch", "17", "widths-added"),  # 16 + 1
    ("-i 10 -l rnn:20", "200 200 20", "other-tensor"),  # W_h as W_x
    ("-i 10 -l gru:20,bidirectional,reset_after=false -c keras", "4960", "gates-4"),  # Keras issue 9426
    ("-i 128 -l lstm:256 -c pytorch", "790528", "two-directions"),  # eight times an RNN
    ("-i 128 -l gru:256 -c pytorch", "395264", "gates-4"),  # as many as an LSTM
    ("-i 100 -l lstm:256 -c pytorch", "91648", "gates-1"),  # as many as an RNN
    ("-i 100 -l lstm:64,bias=false -o 10,bias=false", "44544", "output-in-each-gate"),  # 4·64·164 + 4·10·64
    ("-i 65 -l lstm:128,repeat=2 -o 65 -c pytorch", "33024", "one-plain-rnn"),  # char-rnn issue 187: n² + mn + kn
    ("-i 400 -l lstm:32 -o 1 -c keras", "55585", "convention-pytorch"),  # Keras issue 8860: two biases
    ("-i 500 -l lstm:500 -c pytorch", "2002000", "convention-textbook"),  # OpenNMT issue 127: one bias
    ("-i 3 -l lstm:3,bidirectional -c onnx", '"(24,3)" "(24,3)" "(48)"', "axes"),  # PyTorch issue 6879
    ("-i 5 -l lstm:10 -c keras", '"(5,40)" "(10,40)" "(10)"', "one-gate"),  # the bias of one gate
    ("-i 5 -l lstm:5 -T 8", "448", "steps-for-units"),  # 4·8·(5 + 8 + 1)
    ("-i 100 -l rnn:64 -o 10", "11136", "no-biases"),  # Data Science 10589
    ("-i 128 -l gru:256", "492800", "other-gates-5"),  # five times an RNN
    ("-i 32 -l mgu:50", "8400", "two-biases"),
    ("-i 3 -l lstm:150 -o 2 -T 50 -c keras", "92400 453", "output-width"),  # Keras issue 2074: 3·151
)


@pytest.mark.parametrize(("flags", "numbers", "mistake"), PUBLISHED, ids=[each[1] for each in PUBLISHED])
def test_the_mistake_of_a_published_answer_is_told_first(call: Call, flags: str, numbers: str, mistake: str) -> None:
    """The first of the report is the one that its author made."""
    done = call("answer", *shlex.split(flags), *shlex.split(numbers), "-f", "json")
    (report,) = json.loads(done.out)["reports"]
    assert report["mistakes"][0]["id"] == mistake


RIGHT = (
    ("-i 1 -l lstm:2 -T 3 -c keras", "32"),
    ("-i 100 -l lstm:256", "365568"),
    ("-i 5 -l lstm:8 -o 3 -T 2", "448 27"),
    ("-i 160 -l lstm:100 -c pytorch -T 10", "64000 40000 400 400"),
    ("-i 59 -l lstm:59 -o 59", "28084 3540"),
    ("-i 1 -l lstm:16 -c pytorch", "1216"),
    ("-i 10 -l rnn:20", "200 400 20"),
    ("-i 10 -l gru:20,bidirectional,reset_after=false -c keras", "3720"),
    ("-i 5 -l lstm:64 -c pytorch", "18176"),
    ("-i 128 -l lstm:256 -c pytorch", "395264"),
    ("-i 128 -l gru:256 -c pytorch", "296448"),
    ("-i 100 -l lstm:256 -c pytorch", "366592"),
    ("-i 100 -l lstm:64,bias=false -o 10,bias=false", "42624"),
    ("-i 400 -l lstm:32 -o 1 -c keras", "55457"),
    ("-i 500 -l lstm:500 -c pytorch", "2004000"),
    ("-i 65 -l lstm:128,repeat=2 -o 65 -c pytorch", "240321"),
    ("-i 3 -l lstm:3,bidirectional -c onnx", '"(2,12,3)" "(2,12,3)" "(2,24)"'),
    ("-i 5 -l lstm:10 -c keras", '"(5,40)" "(10,40)" "(40)"'),
    ("-i 5 -l lstm:5 -T 8", "220"),
    ("-i 100 -l rnn:64 -o 10", "11210"),
    ("-i 128 -l gru:256", "295680"),
    ("-i 32 -l mgu:50", "8300"),
    ("-i 3 -l lstm:150 -o 2 -T 50 -c keras", "92400 302"),
)
"""The right answers to the same questions, as their sources have them in the end."""


@pytest.mark.parametrize(("flags", "numbers"), RIGHT, ids=[each[1] for each in RIGHT])
def test_no_right_answer_is_called_wrong(call: Call, flags: str, numbers: str) -> None:
    """With the exit code of a right one."""
    assert call("answer", *shlex.split(flags), *shlex.split(numbers)).code == 0
