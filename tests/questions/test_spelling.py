"""The weights of a pass in each notation: those of the tensors, each once, in the shapes that tensors have."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from cells import CELLS, network, spelled

from rnncalc import LSTM, MGU, RNN, Network, Output, SpecError
from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.forward.arrays import filled
from rnncalc.questions.spelling import spelled_weights
from rnncalc.questions.work import work
from rnncalc.reports.equations import Term
from rnncalc.reports.sheet import Block, WorkPiece
from rnncalc.reports.work import WorkReport


@pytest.mark.parametrize("notation", NOTATION_BY_NAME)
@pytest.mark.parametrize("name", CELLS)
def test_each_weight_is_there_once(name: str, notation: str) -> None:
    """For every cell, option, convention and direction, cut out by the bindings that are written by hand."""
    number = Random(0).random
    for case in spelled(name, notation):
        (layer,) = network(*case).layers
        for bidirectional in (False, True) if len(case[2]) < 2 else (False,):
            layers = (layer.replace(bidirectional=bidirectional),)
            net = network(*case).replace(layers=layers, output=Output(2), notation=notation)
            for placed, shown in zip(net.stack, net.spelled, strict=True):
                given = {tensor.name: filled(tensor, 1.0, number) for tensor in placed.tensors}
                found = spelled_weights(net, placed, given)
                shapes = {of: shape(nested) for of, nested in found.items()}
                assert shapes == {of.name: of.shape for of in shown.tensors}
                assert sorted(flat([*found.values()])) == sorted(flat([*given.values()]))


def shape(nested: Any) -> tuple[int, ...]:
    return (len(nested), *shape(nested[0])) if isinstance(nested, list) else ()


def flat(nested: Any) -> list[float]:
    return [number for each in nested for number in flat(each)] if isinstance(nested, list) else [nested]


def test_a_matrix_is_turned_and_stacked() -> None:
    """[h, x] W: the rows of h above those of x, each a column of the textbook's; a keras kernel is cut by gates."""
    weights = {"W_xh": [[1.0, 2.0], [3.0, 4.0]], "W_hh": [[5.0, 6.0], [7.0, 8.0]], "b_h": [9.0, 0.0]}
    net = Network(input=2, layers=[RNN(2)], steps=1)
    assert in_use(net, weights, "rows") == {
        "W_xh": [[1.0, 3.0], [2.0, 4.0]],
        "W_hh": [[5.0, 7.0], [6.0, 8.0]],
        "b_h": [[9.0, 0.0]],
    }
    assert in_use(net, weights, "stacked") == {
        "W_h": [[5.0, 7.0], [6.0, 8.0], [1.0, 3.0], [2.0, 4.0]],
        "b_h": [[9.0, 0.0]],
    }
    assert in_use(net, weights, "stacked-gates") == in_use(net, weights, "stacked")
    gates = {"W_xf": [[1.0]], "W_xn": [[2.0]], "W_hf": [[3.0]], "W_hn": [[4.0]], "b_f": [5.0], "b_n": [6.0]}
    assert in_use(Network(input=1, layers=[MGU(1)], steps=1), gates, "stacked-gates") == {
        "W_f": [[3.0], [1.0]],
        "W_n": [[4.0], [2.0]],
        "b_f": [[5.0]],
        "b_n": [[6.0]],
    }
    assert in_use(net, weights, "uvw") == {"U": weights["W_xh"], "W": weights["W_hh"], "b": weights["b_h"]}
    keras = {"kernel": [[1.0, 2.0, 3.0, 4.0]], "recurrent_kernel": [[5.0, 6.0, 7.0, 8.0]], "bias": [0.0] * 4}
    found = in_use(Network(input=1, layers=[LSTM(1)], steps=1, convention="keras"), keras, "w")
    assert (found["W_xf"], found["W_ho"]) == ([[2.0]], [[8.0]])


def in_use(net: Network, weights: dict[str, Any], notation: str) -> Mapping[str, Any]:
    (placed,) = net.stack
    (layer,) = work(net.replace(notation=notation), weights={placed.name: weights}).layers
    return layer.weights


def test_the_numbers_stand_as_the_equations_have_them() -> None:
    """Rows before their matrices; what is stacked in one vector before one matrix. tanh(11) is 6e-10 less than 1."""
    net = Network(input=1, layers=[RNN(2)], steps=1)
    weights = {"rnn_1": {"W_xh": [[1.0], [2.0]], "W_hh": [[3.0, 4.0], [5.0, 6.0]], "b_h": [0.0, 1.0]}}
    text = {
        notation: done(net.replace(notation=notation), weights, [[0.0]], {"rnn_1": {"h": [1.0, 2.0]}})
        for notation in ("rows", "stacked")
    }
    assert text["rows"] == "h_1 = tanh(0·[1 2] + [1 2] [3 5; 4 6] + [0 1]) = tanh([11 18]) = [1.0000 1]"
    assert text["stacked"] == "h_1 = tanh([1 2 0] [3 5; 4 6; 1 2] + [0 1]) = tanh([11 18]) = [1.0000 1]"


def done(net: Network, weights: Any, inputs: Any, start: Any) -> str:
    """Return the last line of the work, a matrix on one line with its rows apart."""
    sheets = WorkReport(work(net, weights=weights, inputs=inputs, start=start)).sheets()
    *_, line = [line for sheet in sheets for line in sheet.work]
    return "".join(on_one_line(piece) for piece in line)


def on_one_line(piece: WorkPiece) -> str:
    if isinstance(piece, Block):
        return f"[{'; '.join(' '.join(row) for row in piece.rows)}]"
    return piece if isinstance(piece, str) else piece.name if isinstance(piece, Term) else piece.text


def test_weights_for_a_run_keep_the_shapes_of_the_convention() -> None:
    """And a wrong shape says so under a notation."""
    net = Network(input=1, layers=[RNN(2)], steps=1, notation="rows")
    message = r"W_xh: expected shape \(2, 1\), got 1 row; weights are in the shapes of textbook, not of the notation"
    with pytest.raises(SpecError, match=message):
        work(net, weights={"rnn_1": {"W_xh": [[1, 2]], "W_hh": [[1, 2], [3, 4]], "b_h": [0, 0]}})
