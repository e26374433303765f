"""The table of commands, and a command of a stranger's own that raises."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Call

import rnncalc.cli
from rnncalc.cli.commands import COMMANDS

MODULE = "rnncalc.cli.total"


@pytest.fixture(autouse=True)
def _line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what the line in the table does."""
    monkeypatch.setitem(COMMANDS, "total", ("Count", "Print the total."))


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
