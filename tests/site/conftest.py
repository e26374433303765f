"""The site of the documents, built only where it is asked for: `pytest tests/site -m site`."""

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave this folder alone in a run that is not its own: Sphinx need not be there."""
    asked = config.getoption("markexpr") == "site"
    return None if asked or collection_path.suffix != ".py" else True
