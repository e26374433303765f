"""A decoder's attention: its count and tensors, and the widths of what reads its context."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from strategies import network_of
from verified import backward

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    DecoderAttention,
    Dense,
    Dropout,
    MultiHeadAttention,
    Network,
    Output,
    Part,
    SpecError,
    count,
    letter,
)
from rnncalc.network.writer import spec_of

COUNTS: dict[str, Callable[[int, int, int, bool], int]] = {
    "additive": lambda u, q, k, bias: u * q + u * k + u + (2 * u + 1 if bias else 0),
    "concat": lambda u, q, k, bias: u * (q + k) + u + (u + 1 if bias else 0),
    "general": lambda u, q, k, bias: q * k,
    "dot": lambda u, q, k, bias: 0,
}
"""The parameters of each score, as the papers have them, with all biases or none."""


def network(encoder: Any, decoder: Any, output: int | None = 3, **options: Any) -> Network:
    return Network(
        encoder=Part(4, (encoder,)),
        decoder=Part(5, (decoder,), None if output is None else Output(output), attention=DecoderAttention(**options)),
    )


@given(
    score=some.sampled_from([*COUNTS]),
    sizes=some.tuples(*[some.integers(1, 40)] * 3),
    both=some.booleans(),
    query=some.sampled_from(["before", "after"]),
    context=some.sampled_from(["input", "output", "both", None]),
    bias=some.booleans(),
)
def test_it_is_counted_and_widens_what_reads_its_context(
    score: Any, sizes: tuple[int, int, int], both: bool, query: Any, context: Any, bias: bool
) -> None:
    """By hand: q is the decoder's state, k the encoder's output in all directions; a GRU has 3h(m + h + 1)."""
    u, h, units = sizes
    k = 2 * units if both else units
    q = k if score == "dot" else h
    options = {"units": u} if score in ("additive", "concat") else {}
    cells = GRU(units, bidirectional=both), GRU(q, initial_state=k)
    of = network(*cells, score=score, query=query, context=context, bias=bias or score in ("dot", "general"), **options)
    encoder, bridge, *others = of.stack
    by_name = {placed.name: placed for placed in others}
    assert (by_name["attention"].params, encoder.outputs) == (COUNTS[score](u, q, k, bias), k)
    joined = context or ("input" if query == "before" else "output")
    m = 5 + (k if joined in ("input", "both") else 0)
    n = q + (k if joined in ("output", "both") else 0)
    assert (by_name["gru_2"].params, by_name["output"].params) == (3 * q * (m + q + 1), 3 * (n + 1))
    assert bridge.params == q * (k + 1)
    assert of.params == sum(placed.params for placed in of.stack)
    assert network_of(spec_of(of)).parts == of.parts


def test_the_units_are_the_querys_by_default() -> None:
    """A state of 6 and encoder outputs of 6: 6·6 + 6·6 + 6, and biases of 6, 6 and 1."""
    assert network(RNN(6), RNN(6)).stack[1].params == 36 + 36 + 6 + 13


def test_a_layer_that_reads_the_context_is_checked_at_its_whole_width() -> None:
    """Five heads divide the state's 6 and the context's 4 together: 4·10·11 parameters."""
    layers = (GRU(6, initial_state=4), MultiHeadAttention(5))
    decoder = Part(3, layers, Output(2), attention=DecoderAttention("general", query="after"))
    assert Network(encoder=Part(3, (GRU(4),)), decoder=decoder).stack[-2].params == 440


@pytest.mark.parametrize(
    ("bias", "params"),
    [({"query": False}, 91 - 6), ({"score": False, "keys": False}, 91 - 7), (True, 91), (False, 91 - 13)],
)
def test_each_bias_may_be_left_out(bias: Any, params: int) -> None:
    """The others stay; Python takes a mapping, as a spec does."""
    assert network(RNN(6), RNN(6), bias=bias).stack[1].params == params
    assert network_of(spec_of(network(RNN(6), RNN(6), bias=bias))).stack[1].params == params


@pytest.mark.parametrize(
    ("options", "formula"),
    [
        ({}, "u(q + 1) + u(k + 1) + u + 1"),  # TensorFlow's tutorial, "Neural machine translation with attention"
        ({"bias": False}, "u·q + u·k + u"),  # Zhang et al., "Dive into deep learning"
        ({"score": "concat", "bias": {"score": False}}, "u(q + k + 1) + u"),  # pytorch-seq2seq, notebook 3
    ],
)
def test_its_formula_is_that_of_its_source(options: Any, formula: str) -> None:
    """Each bias is in the bracket of its matrix."""
    assert network(RNN(6), RNN(6), **options).stack[1].formula == formula


@pytest.mark.parametrize(
    ("convention", "shapes"),
    [
        ("textbook", {"W_q": (7, 4), "b_q": (7,), "W_k": (7, 8), "b_k": (7,), "v": (1, 7), "b_v": (1,)}),
        (
            "pytorch",  # nn.Linear(4, 7), nn.Linear(8, 7), nn.Linear(7, 1)
            {
                "query.weight": (7, 4),
                "query.bias": (7,),
                "keys.weight": (7, 8),
                "keys.bias": (7,),
                "score.weight": (1, 7),
                "score.bias": (1,),
            },
        ),
        (
            "keras",  # Dense(7), Dense(7), Dense(1)
            {
                "query/kernel": (4, 7),
                "query/bias": (7,),
                "keys/kernel": (8, 7),
                "keys/bias": (7,),
                "score/kernel": (7, 1),
                "score/bias": (1,),
            },
        ),
    ],
)
def test_its_tensors_are_those_of_dense_layers(convention: str, shapes: dict[str, Any]) -> None:
    """In a framework they have its axes; the count is the same under all."""
    of = network(RNN(4, bidirectional=True), RNN(4, initial_state=8), units=7).replace(convention=convention)
    tensors = next(placed for placed in of.stack if placed.name == "attention").tensors
    assert {tensor.name: tensor.shape for tensor in tensors} == shapes


def test_a_dense_layer_before_the_output_reads_the_context() -> None:
    """Luong's attentional vector: tanh(W_c [c; s]), 4·(6 + 6 + 1), and the output reads its 4 numbers."""
    of = Network(
        encoder=Part(2, (RNN(6),)),
        decoder=Part(
            *(2, (RNN(6), Dropout(0.5), Dense(4, activation="tanh")), Output(9)),
            attention=DecoderAttention(score="dot", query="after"),
        ),
    )
    assert [placed.params for placed in of.stack] == [6 * 9, 6 * 9, 0, 0, 4 * 13, 9 * 5]


def test_an_lstms_query_is_its_projected_state() -> None:
    """The state h of an LSTM with a projection has p numbers: 2·3 + 2·3 + 2 with u = 2 and no biases."""
    cell = LSTM(5, projection=3)
    assert network(cell, cell, units=2, bias=False).stack[1].params == 2 * 3 + 2 * 3 + 2


def test_the_context_of_several_layers_joins_the_first_and_the_query_is_the_last() -> None:
    """The first reads 5 + 2 numbers, the second 3; the query has its 4."""
    of = Network(
        encoder=Part(1, (RNN(3), RNN(4))), decoder=Part(5, (RNN(3), RNN(4)), attention=DecoderAttention(bias=False))
    )
    assert [placed.params for placed in of.stack[2:]] == [4 * 4 + 4 * 4 + 4, 3 * (5 + 4 + 3 + 1), 4 * (3 + 4 + 1)]


def test_its_sizes_may_be_letters() -> None:
    """u(q + k + 1) and the biases, in the letters of the network."""
    h, u = letter("h"), letter("u")
    of = network(GRU(h), GRU(h), units=u, bias=False)
    assert count(of).layers[1].params == u * (h + h + 1)


def test_without_attention_an_encoder_outputs_its_last_step() -> None:
    """With it all steps; the final state of both is one vector."""
    attending = network(RNN(6), RNN(6))
    assert attending.stack[0].output_shape == (None, 6)
    assert Network(encoder=attending.encoder, decoder=Part(5, (RNN(6),))).stack[0].output_shape == (6,)


def test_what_python_gives_is_checked_as_a_spec_is() -> None:
    """Each problem has its path."""
    with pytest.raises(SpecError, match=r"decoder\.attention: expected a DecoderAttention, got 'dot'"):
        Network(encoder=Part(4, (RNN(6),)), decoder=Part(5, (RNN(6),), attention="dot"))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match=r"attention.bias: expected true or false, or keys \(query, keys"):
        network(RNN(6), RNN(6), bias={"keys": 1})


def test_its_sizes_may_have_names() -> None:
    """D = 8: u = 2D, and a state of D reads D outputs: 16·8 + 16·8 + 16 and 33 biases."""
    half = {"input": 3, "layers": [{"rnn": "D"}]}
    of = network_of({"sizes": {"D": 8}, "encoder": half, "decoder": {**half, "attention": {"units": "2*D"}}})
    assert of.stack[1].params == 16 * 8 + 16 * 8 + 16 + 33
    assert count(of).params == of.params


@given(
    h=some.integers(1, 8),
    each=some.integers(1, 8),
    units=some.integers(1, 40),
    both=some.booleans(),
    key=some.integers(1, 9) | some.none(),
    value=some.integers(1, 9) | some.none(),
    bias=some.booleans(),
)
def test_heads_project_queries_keys_and_values(
    h: int, each: int, units: int, both: bool, key: int | None, value: int | None, bias: bool
) -> None:
    """By hand: of q, k and k numbers h·d, h·d and h·v are made, and of the last q; what is added to each is a bias."""
    q, k = h * each, 2 * units if both else units
    d = each if key is None else key
    v = d if value is None else value
    of = network(
        *(GRU(units, bidirectional=both), GRU(q, initial_state=k)),
        heads=h,
        key_size=key,
        value_size=value,
        bias=bias,
        context="both",
    )
    by_name = {placed.name: placed for placed in of.stack}
    one = int(bias)
    assert by_name["attention"].params == h * d * (q + one) + h * (d + v) * (k + one) + q * (h * v + one)
    assert (by_name["gru_2"].params, by_name["output"].params) == (3 * q * (5 + q + q + 1), 3 * (q + q + 1))
    assert network_of(spec_of(of)).parts == of.parts


@pytest.mark.parametrize(
    ("convention", "h", "shapes"),
    [
        ("textbook", 4, {"W_q": (8, 8), "W_k": (8, 12), "W_v": (8, 12), "W_o": (8, 8)}),
        (
            "pytorch",  # nn.MultiheadAttention(8, 4, kdim=12, vdim=12)
            4,
            {"q_proj_weight": (8, 8), "k_proj_weight": (8, 12), "v_proj_weight": (8, 12), "out_proj.weight": (8, 8)},
        ),
        (
            "keras",  # MultiHeadAttention(4, 2)(query, value), of widths 8 and 12
            4,
            {
                "query/kernel": (8, 4, 2),
                "key/kernel": (12, 4, 2),
                "value/kernel": (12, 4, 2),
                "attention_output/kernel": (4, 2, 8),
            },
        ),
        ("onnx", 4, {"query/B": (8, 8), "key/B": (12, 8), "value/B": (12, 8), "output/B": (8, 8)}),
    ],
)
def test_the_tensors_of_heads(convention: str, h: int, shapes: dict[str, Any]) -> None:
    """Of a query of 8 and encoder outputs of 12, without biases."""
    cells = GRU(6, bidirectional=True), GRU(8, initial_state=12)
    of = network(*cells, heads=h, bias=False).replace(convention=convention)
    tensors = next(placed for placed in of.stack if placed.name == "attention").tensors
    assert {tensor.name: tensor.shape for tensor in tensors} == shapes


def test_pytorch_has_one_tensor_for_queries_and_keys_of_one_width() -> None:
    """nn.MultiheadAttention(6, 2) has in_proj_weight; with kdim=5 it has three."""
    tensors = network(RNN(6), RNN(6), heads=2).replace(convention="pytorch").stack[1].tensors
    assert {tensor.name: tensor.shape for tensor in tensors} == {
        "in_proj_weight": (18, 6),
        "in_proj_bias": (18,),
        "out_proj.weight": (6, 6),
        "out_proj.bias": (6,),
    }


def test_what_heads_cost() -> None:
    """Keys and values once for each of 5 steps, a query and an output for each of 3, scores and contexts for 15."""
    of = Network(
        encoder=Part(4, (RNN(6),), steps=5), decoder=Part(4, (RNN(6),), steps=3, attention=DecoderAttention(heads=2))
    )
    assert of.stack[1].multiply_adds == 5 * 2 * 36 + 3 * 2 * 36 + 15 * (6 + 6)


@pytest.mark.broad
@pytest.mark.parametrize("query", ["before", "after"])
@pytest.mark.parametrize("context", ["input", "output", "both"])
@pytest.mark.parametrize("convention", ["textbook", "pytorch", "keras"])
def test_the_gradients_of_heads_are_finite_differences(query: Any, context: Any, convention: str) -> None:
    """Of every tensor, in the widths that share a tensor in PyTorch and in those that do not."""
    for units in (1, 2):
        cells = RNN(units, bidirectional=True), RNN(2, initial_state=2 * units)
        of = Network(
            encoder=Part(1, (cells[0],), steps=2),
            decoder=Part(
                *(1, (cells[1],), Output(1), 2), attention=DecoderAttention(heads=2, query=query, context=context)
            ),
            convention=convention,
        )
        assert all(layer.agrees for layer in backward(of).layers)


def test_the_first_query_is_saved_with_the_keys() -> None:
    """The state that the decoder begins with is the encoder's last output, one vector: 2·2 + (3 − 1)·2 of both.

    With the products W h, 2·2, and the weights of 2 steps for each query, 3·2, 18 numbers.
    """
    attention = DecoderAttention(score="general")
    encoder, decoder = Part(3, (RNN(2),), steps=2), Part(5, (RNN(2),), Output(2), 3, attention)
    done = backward(Network(encoder=encoder, decoder=decoder))
    assert all(layer.agrees for layer in done.layers)
    assert done.layers[1].declared.saved == 18
