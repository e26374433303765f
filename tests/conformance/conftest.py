"""The frameworks are imported only where these tests are asked for: `pytest -m conformance`."""

import os
from pathlib import Path

import pytest

os.environ["KERAS_BACKEND"] = "jax"  # read when a framework is first imported, so before any test module is
os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"  # most time is compiling, and each program runs once


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave these modules alone, frameworks and all, in a run that is not theirs."""
    asked = config.getoption("markexpr") == "conformance"
    return None if asked or collection_path.suffix != ".py" else True
