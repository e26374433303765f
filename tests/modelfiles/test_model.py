"""What the names of tensors speak for."""

import pytest

from rnncalc.modelfiles.model import TensorRole, role_of


@pytest.mark.parametrize(
    "name",
    ["ema.w", "model_ema.w", "unet_ema_1.w", "ema2.w", "EMA/w", "swa_model.w", "averaged_model.w", "average_weights.w"],
)
def test_averages_of_weights(name: str) -> None:
    """A second set beside those that are trained."""
    assert role_of(name, "float32") is TensorRole.UNKNOWN


@pytest.mark.parametrize("name", ["semantic.w", "schema.w", "remaining.w", "ema", "w.ema", "averaged.w", "nemat/w"])
def test_names_that_are_no_averages(name: str) -> None:
    """Words that have the letters in them, and a tensor's own name."""
    assert role_of(name, "float32") is TensorRole.PARAMETER
