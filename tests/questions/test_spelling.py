"""Weights in a notation: cut out of the convention's tensors, and put back into them."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from cells import CELLS, network, spelled

from rnncalc import LSTM, MGU, RNN, Network, Output
from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.forward.arrays import filled, flat
from rnncalc.questions.run import own_numbers
from rnncalc.questions.spelling import spelled_weights, stored_weights
from rnncalc.questions.work import work


@pytest.mark.broad
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
                if shapes != {tensor.name: tensor.shape for tensor in placed.tensors}:
                    assert stored_weights(net, {placed.name: {**found}}) == {placed.name: given}


def shape(nested: Any) -> tuple[int, ...]:
    return (len(nested), *shape(nested[0])) if isinstance(nested, list) else ()


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
    assert in_use(net, weights, "columns") == {"W_h": [[5.0, 6.0, 1.0, 2.0], [7.0, 8.0, 3.0, 4.0]], "b_h": [9.0, 0.0]}
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


def test_weights_may_have_the_names_of_the_notation() -> None:
    """Those that it shows, or the convention's. Of names of both, as in rows, the shapes decide."""
    net = Network(input=2, layers=[RNN(2)], steps=1, notation="uvw")
    textbook = {"W_xh": [[1.0, 2.0], [3.0, 4.0]], "W_hh": [[5.0, 6.0], [7.0, 8.0]], "b_h": [9.0, 0.0]}
    uvw = {"U": textbook["W_xh"], "W": textbook["W_hh"], "b": textbook["b_h"]}
    column = {"W_h": [[5.0, 6.0, 1.0, 2.0], [7.0, 8.0, 3.0, 4.0]], "b_h": [9.0, 0.0]}
    expected = {"rnn_1": textbook}
    assert own_numbers(net, {"rnn_1": uvw}).weights == expected
    assert own_numbers(net, expected).weights == expected
    assert own_numbers(net.replace(notation="columns"), {"rnn_1": column}).weights == expected
    assert own_numbers(net.replace(notation="rows"), expected).weights == expected
    rows = {"W_xh": [[1.0, 3.0], [2.0, 4.0]], "W_hh": [[5.0, 7.0], [6.0, 8.0]], "b_h": [[9.0, 0.0]]}
    assert own_numbers(net.replace(notation="rows"), {"rnn_1": rows}).weights == expected
    keras = {"kernel": [[1.0, 2.0, 3.0, 4.0]], "recurrent_kernel": [[5.0, 6.0, 7.0, 8.0]], "bias": [0.0] * 4}
    gates = {f"U_{gate}": [[float(place)]] for place, gate in enumerate("ifgo", 1)}
    gates |= {f"W_{gate}": [[float(place)]] for place, gate in enumerate("ifgo", 5)}
    lstm = Network(input=1, layers=[LSTM(1)], convention="keras", notation="uvw")
    assert own_numbers(lstm, {"lstm_1": gates | {f"b_{gate}": [0.0] for gate in "ifgo"}}).weights == {"lstm_1": keras}
