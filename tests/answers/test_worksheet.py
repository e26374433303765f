"""A line of the worksheet, and the right one: what they come to and how they are written."""

import pytest
from finding import evaluated
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc import LSTM, RNN, SRU, Dense, Embedding, External, Layer, Network, Output
from rnncalc.answers.worksheet import GateInput, GateLine, Products, sum_of, times, worksheet_of, write
from rnncalc.conventions import CONVENTIONS
from rnncalc.questions.compare import compare_conventions

INPUT, PAST = GateInput("input", 8), GateInput("past", 16)


@pytest.mark.parametrize(
    ("gates", "others", "text", "params"),
    [
        ([GateLine((INPUT, PAST), 1)] * 3, {}, "3 × 16 × (8 + 16 + 1)", 1_200),
        ([GateLine((INPUT,), 1)] * 2, {}, "2 × 16 × (8 + 1)", 288),  # a minGRU: no gate looks at the past
        (  # an SRU: two gates look at the cell state, unit by unit, and have a bias; the others do neither
            [GateLine((INPUT,)), *[GateLine((INPUT, GateInput("past", 1)), 1)] * 2, GateLine((INPUT,))],
            {},
            "2 × 16 × 8 + 2 × 16 × (8 + 1 + 1)",
            576,
        ),
        (  # a FastGRNN: two gates share one pair of matrices, each with a bias of its own, and there are two numbers
            [GateLine((GateInput("input", 8, "W"), GateInput("past", 16, "U")), 1)] * 2,
            {"scalars": times(2)},
            "16 × (8 + 16) + 2 × 16 + 2",
            418,
        ),
        ([GateLine((INPUT, PAST), 1), GateLine((INPUT, PAST), 2)], {}, "2 × 16 × (8 + 16) + 3 × 16", 816),
        (
            [GateLine((INPUT, PAST, GateInput("peephole", 1)), 1), GateLine((INPUT, PAST), 1)],
            {"state": times(16)},
            "2 × 16 × (8 + 16 + 1) + 16 + 16",
            832,
        ),
        (  # peepholes counted once a step
            [GateLine((INPUT, PAST, GateInput("peephole", 1, times=3)), 1)] * 2,
            {},
            "2 × 16 × (8 + 16 + 1) + 3 × 2 × 16",
            896,
        ),
        ([], {}, "0", 0),
    ],
)
def test_gates_that_read_unlike_things(
    gates: list[GateLine], others: dict[str, Products], text: str, params: int
) -> None:
    """Gates that read alike are in one product, others in one of their own; a shared matrix is counted once."""
    (right,) = worksheet_of(Network(input=8, layers=(LSTM(16),)))
    line = right._replace(gates=tuple(gates), others=others)
    assert write(line.expression) == text
    assert line.params == params == evaluated(line.expression)
    doubled = line._replace(directions=2)
    assert doubled.params == 2 * params == evaluated(doubled.expression)


@given(st.one_of(network(), encoder_decoder()), st.sampled_from([*CONVENTIONS]))
def test_the_right_sums_are_the_counts(spec: Spec, convention: str) -> None:
    """A learner's formula, its arithmetic and the tensors give one number, under every convention."""
    here = network_of(spec)
    net = compare_conventions(here).networks[convention]
    assume(net is not None)
    assert net is not None
    lines = worksheet_of(net)
    for line, placed in zip(lines, net.stack, strict=True):
        assert line.params == placed.params == evaluated(line.expression)
    assert sum(line.params for line in lines) == net.params == evaluated(sum_of(lines))


def test_layers_of_any_kind_have_sums() -> None:
    """A layer without parameters adds nothing."""
    layers: tuple[Layer, ...] = (Dense(3), RNN(2))
    assert sum(each.params for each in worksheet_of(Network(input=4, layers=layers))) == 15 + 12


@pytest.mark.parametrize(
    ("net", "params", "text"),
    [
        (Network(input=5, layers=(SRU(5),)), 95, "5 × 5 + 2 × 5 × (5 + 1 + 1)"),
        (
            Network(input=3, layers=(LSTM(5, bidirectional=True),), convention="onnx"),
            400,
            "2 × 4 × 5 × (3 + 5 + 2)",
        ),
        (
            Network(input=3, layers=(LSTM(5), RNN(5, repeat=2)), output=Output(5)),
            180 + 2 * 55 + 30,
            "4 × 5 × (3 + 5 + 1) + 2 × 5 × (5 + 5 + 1) + 5 × (5 + 1)",
        ),
        (Network(input=5, layers=(LSTM(5, repeat=3),)), 3 * 220, "3 × 4 × 5 × (5 + 5 + 1)"),
        (Network(input=9, layers=(Embedding(4), RNN(4), External(7))), 36 + 36 + 7, "9 × 4 + 4 × (4 + 4 + 1) + 7"),
    ],
)
def test_a_right_sum_is_written_as_on_paper(net: Network, params: int, text: str) -> None:
    """Equal neighbours are in one product, without brackets that nobody needs; layer by layer it comes to as much."""
    lines = worksheet_of(net)
    assert (sum(line.params for line in lines), write(sum_of(lines))) == (params, text)
    assert [(line.name, line.params) for line in lines] == [(placed.name, placed.params) for placed in net.stack]
