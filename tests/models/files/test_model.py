"""What the names of tensors speak for."""

import re
from math import cos, inf, sin
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncalc.models.files import by_name, flax, model, torch_names
from rnncalc.models.files.model import FileTensor, Names, TensorRole, averages, remarked


@pytest.mark.parametrize(
    "name",
    ["ema.w", "unet_ema_1.w", "ema2.w", "EMA/w", "swa_model.w", "averaged_model.w", "average_model_state.w"],
)
def test_averages_of_weights(name: str) -> None:
    """A second set beside those that are trained."""
    assert averages(Names([name, "w"])) == {name}


@pytest.mark.parametrize("name", ["semantic.w", "schema.w", "remaining.w", "ema", "w.ema", "averaged.w", "nemat/w"])
def test_names_that_are_no_averages(name: str) -> None:
    """Words that have the letters in them, and a tensor's own name."""
    assert not averages(Names([name, "w"]))


@pytest.mark.parametrize(
    ("name", "rows", "role"),
    [
        ("attn.bias", [[[1.0, 0.0], [1.0, 1.0]]], TensorRole.BUFFER),
        ("mask", [[0.0, -inf], [0.0, 0.0]], TensorRole.BUFFER),
        ("pe", [[[0.0, 1.0]], [[sin(1), cos(1)]], [[sin(2), cos(2)]]], TensorRole.BUFFER),
        ("position", [[0.0, 0.0, 1.0, 1.0], [sin(1), sin(0.01), cos(1), cos(0.01)]], TensorRole.BUFFER),
        ("mask", [[1.0, 1.0], [1.0, 1.0]], TensorRole.PARAMETER),
        ("pe", [[0.0, 1.0], [0.5, 0.5], [0.1, 0.2]], TensorRole.PARAMETER),
        ("fc.weight", [[1.0, 0.0], [1.0, 1.0]], TensorRole.PARAMETER),
    ],
)
def test_buffers_by_their_numbers(name: str, rows: Any, role: TensorRole) -> None:
    """Triangles and sines of positions, whatever axes of 1 they have; no other numbers, and nothing of another name."""
    shape = (len(rows), *(len(axis) for axis in (rows[0], rows[0][0]) if isinstance(axis, list)))
    ((found,), _) = remarked((FileTensor(name, shape, "float32", TensorRole.PARAMETER, lambda: rows),))
    assert found.role is role


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (model._OPTIMIZER, model._OF_OPTIMIZER),
        (model._BUFFER, model._OF_BUFFER),
        (torch_names._OF_LOSS, ("crit", "loss")),
        *by_name._OWN.values(),
        (flax._LEAVES, ("kernel", "embedding", "batch_stats")),
        (flax._OTHERS, ("weight", "recurrent_kernel")),
        (flax._NNX, ("dense_", "if_", "rngs")),
        (torch_names._AVERAGED, (".n_averaged",)),
    ],
)
@given(data=st.data())
def test_each_name_of_a_pattern_has_one_of_its_words(
    pattern: re.Pattern[str], words: tuple[str, ...], data: st.DataObject
) -> None:
    """A file without these words is not searched for the pattern."""
    name = data.draw(st.from_regex(pattern))
    assert Names([name]).having(pattern, *words) == {name}
