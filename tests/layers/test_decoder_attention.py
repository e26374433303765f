"""A decoder's attention: its count and tensors, and the widths of what reads its context."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from strategies import network_of
from verified import backward

from rnncalc import GRU, RNN, DecoderAttention, Network, Output, Part, SpecError, count, letter
from rnncalc.network.writer import spec_of

COUNTS: dict[str, Callable[[int, int, int, bool], int]] = {
    "additive": lambda u, q, k, bias: u * q + u * k + u + (2 * u + 1 if bias else 0),
    "location": lambda u, q, k, bias: u * q + u * k + 2 * 2 * 3 + u * 2 + u + (3 * u + 2 + 1 if bias else 0),
    "concat": lambda u, q, k, bias: u * (q + k) + u + (u + 1 if bias else 0),
    "general": lambda u, q, k, bias: q * k,
    "dot": lambda u, q, k, bias: 0,
}
"""The parameters of each score, as the papers have them, with all biases or none; 2 filters read 2 × 3 weights."""


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
    options: dict[str, Any] = {"units": u} if score in ("additive", "concat", "location") else {}
    options |= {"filters": 2, "kernel": 3, "past": "both"} if score == "location" else {}
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


def test_its_sizes_may_be_letters() -> None:
    """u(q + k + 1) and the biases, in the letters of the network."""
    h, u = letter("h"), letter("u")
    of = network(GRU(h), GRU(h), units=u, bias=False)
    assert count(of).layers[1].params == u * (h + h + 1)


def test_what_python_gives_is_checked_as_a_spec_is() -> None:
    """Each problem has its path."""
    with pytest.raises(SpecError, match=r"decoder\.attention: expected a DecoderAttention, got 'dot'"):
        Network(encoder=Part(4, (RNN(6),)), decoder=Part(5, (RNN(6),), attention="dot"))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match=r"attention.bias: expected true or false, or keys \(query, keys"):
        network(RNN(6), RNN(6), bias={"keys": 1})


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


@pytest.mark.parametrize("query", ["before", "after"])
@pytest.mark.parametrize("score", ["general", "location"])
def test_a_layer_above_the_querys_may_start_from_a_dense_layer(query: Any, score: Any) -> None:
    """Its state is made once, and what it reads at each step; the gradients are finite differences."""
    options: Any = {"units": 1, "filters": 1, "kernel": 2, "past": "both"} if score == "location" else {}
    of = Network(
        encoder=Part(1, (RNN(1), RNN(2)), steps=2),
        decoder=Part(
            *(0 if score == "general" else 1, (RNN(2, initial_state=1), GRU(1, initial_state=2)), Output(1), 3),
            attention=DecoderAttention(score, query=query, layer="first", context="both", **options),
        ),
    )
    assert all(layer.agrees for layer in backward(of).layers)
