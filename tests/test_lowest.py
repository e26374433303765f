"""The lowest versions that are allowed, which `.ci/run` runs these tests at."""

import re
from pathlib import Path

import lowest
import pytest


def test_every_need_has_a_lowest_version() -> None:
    """Of the four, each to one version exactly; CI installs these and no others."""
    found = lowest.lowest()
    assert [line.partition("==")[0] for line in found] == ["hatchling", "click", "pyyaml", "rich"]
    assert all(re.fullmatch(r"[a-z]+==[0-9.]+", line) for line in found)


def test_a_need_without_one_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It would be tested at whatever version is there."""
    loose = tmp_path / "pyproject.toml"
    loose.write_text(lowest.PROJECT.read_text(encoding="utf-8").replace("rich>=14.3", "rich"), encoding="utf-8")
    monkeypatch.setattr(lowest, "PROJECT", loose)
    with pytest.raises(SystemExit, match="without a lowest version: rich"):
        lowest.lowest()
