"""What runs under Pyodide: its parts are pinned, and a command that fails there is seen to fail."""

import json
import os
import re
from pathlib import Path

import examples
import pytest
from wasm import bundle, inside

from rnncalc.cli import commands

WASM = Path(inside.__file__).parent


def test_every_part_is_of_one_version() -> None:
    """Pyodide, what it brings, what the tests need, and what rnncalc needs, which the action pins."""
    assert re.fullmatch(r"314\.\d+\.\d+", json.loads((WASM / "package.json").read_text())["dependencies"]["pyodide"])
    assert all(
        name == "" or part["integrity"]
        for name, part in json.loads((WASM / "package-lock.json").read_text())["packages"].items()
    )
    needs = [line for line in (WASM / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert all(bundle.PINNED.fullmatch(line) for line in needs)
    pinned = bundle.PINNED.findall((bundle.ROOT / "action-requirements.txt").read_text(encoding="utf-8"))
    assert {"click", "pyyaml", "rich"} <= {pin.split("==")[0] for pin in pinned}


@pytest.mark.parametrize(
    ("shown", "said"),
    [([["schema"]], []), ([["schema", "--nope"]], ["rnncalc schema --nope: exit code 2"]), ([], ["no command has an"])],
)
def test_a_broken_command_is_told(
    shown: list[list[str]], said: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And that none was called."""
    monkeypatch.chdir(os.getcwd())  # and back
    monkeypatch.setattr(inside, "CHECKOUT", bundle.ROOT)
    monkeypatch.setattr("tempfile.mkdtemp", lambda: str(tmp_path))
    monkeypatch.setattr(commands, "COMMANDS", {"schema": ""})
    monkeypatch.setattr(examples, "examples", lambda _: shown)
    found = inside.broken_commands()
    assert len(found) == len(said)
    assert all(line.startswith(start) for line, start in zip(found, said, strict=True))
