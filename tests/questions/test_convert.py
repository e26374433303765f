"""Weights of one framework as those of another: equal outputs, the way back, and what is refused."""

from itertools import chain, islice, product
from typing import Any

import pytest
from around import networks
from cells import cases, cell
from cells import network as of_cell

from rnncalc import GRU, LSTM, MGU, RNN, BatchNorm, Cell, External, Layer, LayerNorm, Network, SpecError, convert
from rnncalc.conventions import CONVENTIONS
from rnncalc.forward.arrays import PassData
from rnncalc.layers import KINDS, kind
from rnncalc.questions.convert import Converted

WITHIN = 1e-6


def with_weights(network: Network, to: str) -> Converted | None:
    """Return a network converted with random weights, of which those are zeros that must be; None if it is refused."""
    try:
        zeros = {(each.placed.name, one.tensor.name) for each in convert(network, to).conversions for one in each.zeros}
    except SpecError:
        return None
    weights = PassData(1).weights_of_all(network)
    for layer, tensor in zeros:
        weights[layer][tensor] = times(weights[layer][tensor], 0.0)
    return convert(network, to, weights=weights)


def times(nested: Any, factor: float) -> Any:
    """Return nested lists with each number multiplied."""
    return [times(each, factor) for each in nested] if isinstance(nested, list) else nested * factor


@pytest.mark.parametrize("every", [58, pytest.param(29, marks=pytest.mark.broad)])
@pytest.mark.parametrize("one", CONVENTIONS)
def test_both_give_the_same_outputs(one: str, every: int) -> None:
    """Every cell with one of its options, and layers around the cells; the way back gives the arrays again.

    But biases that were added: their sum is then in the first of the two.
    """
    cells = [of_cell(*case) for case in cases() if case[1] == 4 and case[3] == one and len(case[2]) < 2]
    ways = [net.replace(layers=[net.layers[0].replace(bidirectional=True), *net.layers]) for net in cells[::3]]
    around = networks(1, 10, one)
    pairs = [(network, to) for network in chain(cells, ways, around) for to in CONVENTIONS]
    done = [
        (each, to)
        for number, (network, to) in enumerate(pairs)
        if number % every == 0 and (each := with_weights(network, to))
    ]
    assert len(done) > 1
    for each, to in done:
        assert each.largest_difference is not None
        assert each.largest_difference <= WITHIN, (each.source, to)
        back = convert(each.target, one, weights=each.arrays)
        assert back.largest_difference is not None
        assert back.largest_difference <= WITHIN, (each.source, to)
        again = convert(back.target, to, weights=back.arrays)
        assert again.numbers is not None
        for layer, arrays in (each.numbers or {}).items():
            for tensor, numbers in arrays.items():
                assert numbers == pytest.approx(again.numbers[layer][tensor], abs=WITHIN), (each.source, to, tensor)


def alone(name: str) -> Layer:
    """Return a layer of a kind with what it needs."""
    cls: Any = kind(name)
    number = [0.5 if name == "dropout" else 2][: bool(cls.number)]
    made = cell(name, 2) if issubclass(cls, Cell) else cls(*number, **dict.fromkeys(cls.needed(), 2))
    assert isinstance(made, Layer)
    return made


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.broad)])
@pytest.mark.parametrize("one", CONVENTIONS)
def test_every_kind_has_a_report_or_a_reason(one: str, every: int) -> None:
    """Under every other convention."""
    for name, to in islice(product(KINDS, CONVENTIONS), [*CONVENTIONS].index(one) % every, None, every):
        try:
            network = Network(input=4, layers=[alone(name)], steps=3, convention=one)
            report = str(convert(network, to))
        except SpecError as error:
            report = str(error)
        assert name in report


REFUSED = [
    (GRU(3, reset_after=False), "keras", "pytorch", "gru_1: pytorch cannot express reset_after: false; "),
    (GRU(3), "onnx", "flax-nnx", "gru_1: flax-nnx cannot express reset_after: false; "),
    (LSTM(3, activation="relu"), "keras", "pytorch", "lstm_1: pytorch cannot express activation: relu; "),
    (LSTM(3, peepholes=True), "onnx", "keras", "lstm_1: keras cannot express peepholes: true; "),
    (LSTM(3, learned_state=True), "onnx", "pytorch", "lstm_1: pytorch cannot express learned_state: true; "),
    (LSTM(3, projection=2), "pytorch", "keras", "lstm_1: keras cannot express projection: 2; "),
    (MGU(3), "flax-linen", "keras", "mgu_1: no mgu of keras is known here; "),
    (MGU(3), "flax-linen", "textbook", "mgu_1: textbook computes another mgu than flax-linen"),
    (LayerNorm(), "keras", "pytorch", "layer_norm_1: keras adds 0.001 to a variance, and pytorch 1e-05; "),
    (External(5), "keras", "pytorch", "external_1: is counted elsewhere, so its arrays are not known; "),
]


@pytest.mark.parametrize(("layer", "one", "to", "message"), REFUSED)
def test_what_no_weights_make_equal_is_refused_with_the_reason(layer: Layer, one: str, to: str, message: str) -> None:
    """The layer, and why."""
    with pytest.raises(SpecError) as error:
        convert(Network(input=4, layers=[layer], convention=one), to)
    assert str(error.value).startswith(message)


def test_a_bias_within_the_reset_product_must_be_zero() -> None:
    """PyTorch's b_hn has no place in Flax nnx's GRU; the blocks r and z of the same array are added."""
    network = Network(input=1, layers=[GRU(1)], convention="pytorch")
    weights: dict[str, dict[str, Any]] = {"gru_1": {"weight_ih_l0": [[1], [2], [3]], "weight_hh_l0": [[4], [5], [6]]}}
    weights["gru_1"] |= {"bias_ih_l0": [1, 2, 3], "bias_hh_l0": [10, 20, 0]}
    done = convert(network, "flax-nnx", weights=weights)
    assert done.arrays == {
        "gru_1": {"dense_i/kernel": [[1, 2, 3]], "dense_h/kernel": [[4, 5, 6]], "dense_i/bias": [11, 22, 3]}
    }
    weights["gru_1"]["bias_hh_l0"][2] = 1
    with pytest.raises(SpecError, match="the bias of gate n in it is not zero; flax-nnx has no place for it"):
        convert(network, "flax-nnx", weights=weights)


def test_numbers_follow_the_blocks() -> None:
    """An LSTM of one unit: PyTorch i f g o in rows, Keras in columns, ONNX i o f g with both biases in a row."""
    pytorch = {"weight_ih_l0": [[1], [2], [3], [4]], "weight_hh_l0": [[5], [6], [7], [8]]}
    biases = {"bias_ih_l0": [1, 2, 3, 4], "bias_hh_l0": [10, 20, 30, 40]}
    network = Network(input=1, layers=[LSTM(1)], convention="pytorch")
    keras = convert(network, "keras", weights={"lstm_1": pytorch | biases})
    assert keras.arrays == {
        "lstm_1": {"kernel": [[1, 2, 3, 4]], "recurrent_kernel": [[5, 6, 7, 8]], "bias": [11, 22, 33, 44]}
    }
    assert convert(network, "onnx", weights={"lstm_1": pytorch | biases}).arrays == {
        "lstm_1": {"W": [[[1], [4], [2], [3]]], "R": [[[5], [8], [6], [7]]], "B": [[1, 4, 2, 3, 10, 40, 20, 30]]}
    }


def test_a_variance_has_the_difference_of_what_is_added_to_it() -> None:
    """0.5 + 0.00001, as PyTorch has it, is 0.49901 + 0.001, as Keras has it; one of 0.0005 would be below 0 there."""
    network = Network(input=1, layers=[BatchNorm()], steps=1, convention="pytorch")
    weights: dict[str, Any] = {"weight": [2], "bias": [3], "running_mean": [4], "running_var": [0.5]}
    done = convert(network, "keras", weights={"batch_norm_1": weights})
    assert (done.arrays or {})["batch_norm_1"]["moving_variance"] == pytest.approx([0.49901])
    with pytest.raises(SpecError, match=r"running_var: has a variance below 0.00099; keras adds so much more"):
        convert(network, "keras", weights={"batch_norm_1": weights | {"running_var": [0.0005]}})


def test_a_gate_that_replaces_is_the_negative_of_one_that_keeps() -> None:
    """The signs of block z alone change, those of its bias too; Keras then resets before the product as well."""
    network = Network(input=1, layers=[GRU(1, update_gate="replaces")])
    weights = {name: [[number]] for number, name in enumerate(("W_xz", "W_xr", "W_xn", "W_hz", "W_hr", "W_hn"), 1)}
    done = convert(network, "keras", weights={"gru_1": weights | {"b_z": [7], "b_r": [8], "b_n": [9]}})
    assert done.arrays == {"gru_1": {"kernel": [[-1, 2, 3]], "recurrent_kernel": [[-4, 5, 6]], "bias": [-7, 8, 9]}}
    assert "In Keras, gru_1 needs reset_after: false." in str(done)


def test_a_pass_that_would_cost_too_much_is_left_out() -> None:
    """The arrays are there, and the report says so."""
    network = Network(input=1, layers=[RNN(1)], steps=10)
    done = convert(network, "keras", weights=PassData(0).weights_of_all(network), most_multiply_adds=19)
    assert done.agrees
    assert (done.numbers is None, done.largest_difference) == (False, None)
    assert "No pass compares the two" in str(done)
