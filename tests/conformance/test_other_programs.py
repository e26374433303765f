"""What docs/conventions.md and docs/counters.md say of programs that have no convention here, seen in them."""

import re
from math import prod
from typing import Any

import equinox
import haiku
import jax
import mlx.nn
import mlx.utils
import numpy as np
import pytest
import torch
from documents import ROOT
from thop import profile
from torch.utils.flop_counter import FlopCounterMode

pytestmark = pytest.mark.conformance

CONVENTIONS = (ROOT / "docs/conventions.md").read_text(encoding="utf-8")
KEY = jax.random.PRNGKey(0)


def row(beginning: str) -> list[int | None]:
    """Return the numbers of an RNN, a GRU and an LSTM in a row of the table of other programs."""
    (found,) = re.findall(rf"^\| {re.escape(beginning)}[^|]*\| ([^|]+) \|", CONVENTIONS, re.MULTILINE)
    return [None if number == "–" else int(number.replace(",", "")) for number in found.split(", ")]


def size(tree: Any) -> int:
    return sum(prod(leaf.shape) for leaf in jax.tree_util.tree_leaves(tree) if hasattr(leaf, "shape"))


def of_haiku(core: Any) -> int:
    def step(x: Any) -> Any:
        cell = core(16)
        return cell(x, cell.initial_state(1))

    return size(jax.eval_shape(haiku.transform(step).init, KEY, jax.numpy.ones((1, 8))))


def of_equinox(cell: Any) -> int:
    return size(equinox.filter_eval_shape(cell, 8, 16, key=KEY))


def test_programs_have_the_numbers_of_their_rows() -> None:
    assert row("Haiku 0.0.17: VanillaRNN") == [of_haiku(haiku.VanillaRNN), None, None]
    assert row("Haiku 0.0.17: GRU, LSTM") == [None, of_haiku(haiku.GRU), of_haiku(haiku.LSTM)]
    cells = (mlx.nn.RNN, mlx.nn.GRU, mlx.nn.LSTM)
    assert row("MLX 0.32.4") == [size([*dict(mlx.utils.tree_flatten(cell(8, 16))).values()]) for cell in cells]
    assert row("Equinox 0.13.8") == [None, of_equinox(equinox.nn.GRUCell), of_equinox(equinox.nn.LSTMCell)]


def test_haiku_replaces_where_others_keep() -> None:
    """With an update gate of 1 the new state of Haiku's GRU is the candidate, that of Equinox's the old state."""

    def step(x: Any, state: Any) -> Any:
        return haiku.GRU(2)(x, state)

    x, state = np.zeros(1), np.array([0.3, -0.6])
    weights = {
        "gru": {"w_i": np.zeros((1, 6)), "w_h": np.zeros((2, 6)), "b": np.array([50.0, 50, 0, 0, 0, 0])}
    }  # z, r, n
    assert haiku.transform(step).apply(weights, None, x, state)[0].tolist() == pytest.approx([0, 0], abs=1e-6)
    other = equinox.nn.GRUCell(1, 2, key=KEY)
    other = equinox.tree_at(lambda gru: gru.bias, other, np.array([0.0, 0, 50, 50, 0, 0]))  # r, z, n
    assert other(x, state).tolist() == pytest.approx([0.3, -0.6], abs=1e-6)


def test_flop_counter_counts_an_lstm_in_float64() -> None:
    """15,360 multiply-adds, which oneDNN does in float32 alone."""
    with FlopCounterMode(display=False) as flops:
        torch.nn.LSTM(8, 16).double()(torch.zeros(10, 1, 8, dtype=torch.float64))
    assert flops.get_total_flops() == 30_720


def test_ultralytics_thop_counts_attention() -> None:
    layer, words = torch.nn.MultiheadAttention(512, 8, batch_first=True), torch.zeros(1, 10, 512)
    assert profile(layer, (words, words, words), verbose=False)[0] == 10_590_480
