"""The learner's worksheet: a third way to the counts, held against the tensors and against its own arithmetic."""

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network

from rnncalc import LSTM, RNN, Dense, Layer, Network
from rnncalc.conventions.catalogue import CONVENTIONS
from rnncalc.conventions.formula import Expression
from rnncalc.questions.allocation import compare_conventions
from rnncalc.questions.answer.arithmetic import write
from rnncalc.questions.answer.worksheet import GateLine, Line, Other, Read, one_by_one, sum_of, worksheet_of
from rnncalc.spec import parse


@given(st.one_of(network(), encoder_decoder()), st.sampled_from([*CONVENTIONS]))
@settings(max_examples=200)
def test_the_right_sums_are_the_counts(spec: Spec, convention: str) -> None:
    """A learner's formula, its arithmetic and the tensors give one number, under every convention."""
    here = parse(yaml.safe_dump(spec, sort_keys=False).encode(), "spec").network
    net = compare_conventions(here).networks[convention]
    assume(net is not None)
    assert net is not None
    for line, placed in zip(one_by_one(net), net.placed, strict=True):
        assert line.params == placed.params == evaluated(line.of_one)
    lines = worksheet_of(net)
    assert sum(line.params for line in lines) == net.params == evaluated(sum_of(lines))
    assert sum(line.copies for line in lines) == len(net.placed)
    names = {placed.name for placed in net.placed}
    assert {line.name for line in lines} | {line.last_name for line in lines} <= names


def evaluated(expression: Expression) -> int:
    """Return what the arithmetic comes to as it is written."""
    number: int = eval(write(expression).replace("×", "*"))
    return number


def test_equal_layers_above_equal_ones_are_one_line() -> None:
    """The first of them stands for itself: what it is fed with is another layer's."""
    net = Network(input=4, layers=(RNN(4, repeat=3), RNN(4), RNN(5, repeat=3), Dense(5), Dense(5)))
    assert [(line.name, line.last_name, line.copies) for line in worksheet_of(net)] == [
        ("rnn_1", "rnn_1", 1),
        ("rnn_2", "rnn_3", 2),
        ("rnn_4", "rnn_4", 1),
        ("rnn_5", "rnn_5", 1),
        ("rnn_6", "rnn_6", 1),
        ("rnn_7", "rnn_7", 1),
        ("dense_1", "dense_1", 1),
        ("dense_2", "dense_2", 1),
    ]


def test_layers_of_any_kind_have_sums() -> None:
    """A layer without parameters adds nothing."""
    layers: tuple[Layer, ...] = (Dense(3), RNN(2))
    assert sum(each.params for each in worksheet_of(Network(input=4, layers=layers))) == 15 + 12


INPUT, PAST = Read("input", 8), Read("past", 16)


@pytest.mark.parametrize(
    ("gates", "others", "text", "params"),
    [
        ([GateLine((INPUT, PAST), 1)] * 3, [], "3 × 16 × (8 + 16 + 1)", 1_200),
        ([GateLine((INPUT,), 1)] * 2, [], "2 × 16 × (8 + 1)", 288),  # a minGRU: no gate looks at the past
        (  # an SRU: two gates look at the cell state, unit by unit, and have a bias; the others do neither
            [GateLine((INPUT,)), *[GateLine((INPUT, Read("past", 1)), 1)] * 2, GateLine((INPUT,))],
            [],
            "2 × 16 × 8 + 2 × 16 × (8 + 1 + 1)",
            576,
        ),
        (  # a FastGRNN: two gates share one pair of matrices, each with a bias of its own, and there are two numbers
            [GateLine((Read("input", 8, "W"), Read("past", 16, "U")), 1)] * 2,
            [Other("scalars", 2)],
            "16 × (8 + 16) + 2 × 16 + 2",
            418,
        ),
        ([GateLine((INPUT, PAST), 1), GateLine((INPUT, PAST), 2)], [], "2 × 16 × (8 + 16) + 3 × 16", 816),
        (
            [GateLine((INPUT, PAST, Read("peephole", 1)), 1), GateLine((INPUT, PAST), 1)],
            [Other("state", 16)],
            "2 × 16 × (8 + 16 + 1) + 16 + 16",
            832,
        ),
        ([], [], "0", 0),
    ],
)
def test_gates_that_read_unlike_things(gates: list[GateLine], others: list[Other], text: str, params: int) -> None:
    """Gates that read alike stand in one product, others in one of their own; a shared matrix is counted once."""
    (placed,) = Network(input=8, layers=(LSTM(16),)).placed
    line = Line(placed, 16, tuple(gates), tuple(others), bias_size=16)
    assert write(line.of_one) == text
    assert line.params == params == evaluated(line.of_one)
    doubled = line._replace(directions=2)
    assert doubled.params == 2 * params == evaluated(doubled.of_one)
