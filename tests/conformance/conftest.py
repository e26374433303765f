"""The frameworks are imported only where these tests are asked for: `pytest -m conformance`, or `-m world`."""

import os
from pathlib import Path

import pytest

# read when a framework is first imported, so before any test module is
os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"  # most time is compiling, and each program runs once


def pytest_configure(config: pytest.Config) -> None:
    """Choose what Keras computes with; the programs that convert its models read those of TensorFlow."""
    os.environ["KERAS_BACKEND"] = "tensorflow" if config.getoption("markexpr") == "world" else "jax"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave these modules alone, frameworks and all, in a run that is not theirs."""
    mark = "world" if collection_path.name.startswith("test_world_") else "conformance"
    return None if config.getoption("markexpr") == mark or collection_path.suffix != ".py" else True
