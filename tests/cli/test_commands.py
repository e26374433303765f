"""A command of a stranger's own that is half right ends in one line that names the list and the line's command."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from conftest import Call

import rnncalc.cli
from rnncalc.cli.commands import COMMANDS, Command

MODULE = "rnncalc.cli.total"
WHERE = f"rnncalc: total: in rnncalc/cli/commands.py, {MODULE!r}"


@pytest.fixture(autouse=True)
def _line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what the line in the table does."""
    monkeypatch.setitem(COMMANDS, "total", ("Count", "Print the total."))


def test_a_command_without_a_file(call: Call) -> None:
    """In a call, and in one for its help."""
    for words in (("total", "specs/lstm.yaml"), ("total", "--help")):
        done = call(*words)
        assert done == (2, "", f"{WHERE} cannot be imported: ModuleNotFoundError: No module named '{MODULE}'\n")


@pytest.mark.parametrize(
    "parts",
    [{"totals": Command("total")}, {"total": print}, {"total": click.Command("total")}],
    ids=["misspelt", "function", "click's own"],
)
def test_a_file_without_the_command(parts: dict[str, Any], call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another name, a function that is no command, or a command of click's own class, which takes the last of two."""
    module = ModuleType(MODULE)
    vars(module).update(parts)
    monkeypatch.setitem(sys.modules, MODULE, module)
    message = "no command total is there; write one with @click.command(cls=Command)"
    assert call("total") == (2, "", f"{WHERE}: {message}\n")


@pytest.mark.parametrize("entry", [("Cuont", "Print the total."), ("Count",), "Count"])
def test_an_entry_that_is_half_right(entry: Any, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt group would stand in the help as one more, and a line of help may be forgotten."""
    monkeypatch.setitem(COMMANDS, "total", entry)
    message = f"expected the group Count, Learn, Code or Help and a line of help, got {entry!r}"
    assert call("--help") == (2, "", f"rnncalc: total: in rnncalc/cli/commands.py: {message}\n")


BODY = """import click
from rnncalc.cli.commands import Command

@click.command(cls=Command)
def total():
    print("a" / 2)
"""


def test_a_command_that_raises(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An exception that no command should raise is a line with the file and the line of the command."""
    (tmp_path / "total.py").write_text(BODY)
    monkeypatch.setattr(rnncalc.cli, "__path__", [*rnncalc.cli.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    message = "TypeError: unsupported operand type(s) for /: 'str' and 'int' (total.py, line 6)"
    assert call("total") == (2, "", f"rnncalc: total: {message}\n")
    del sys.modules[MODULE]


def test_development_mode_shows_the_traceback(tmp_path: Path) -> None:
    """For who works on the package."""
    (tmp_path / "total.py").write_text(BODY)
    code = (
        "import sys, rnncalc.cli.commands as of; of.COMMANDS['total'] = ('Count', 'Print the total.');"
        "rnncalc = sys.modules['rnncalc']; rnncalc.cli.__path__.append(sys.argv[1]); rnncalc.cli.call(['total'])"
    )
    command = [sys.executable, "-X", "dev", "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback")
    assert done.stderr.endswith("'str' and 'int'\n")
