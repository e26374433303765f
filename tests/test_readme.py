"""The README is true: its commands print what it says, its code runs, its files count."""

import doctest
import re
import shlex
from pathlib import Path

import click
import pytest
from conftest import Call
from readme import BLOCK, README, output_of

from rnncalc.cli.commands import COMMANDS, cli

TEXT = README.read_text(encoding="utf-8")


@pytest.mark.parametrize("block", [*BLOCK.finditer(TEXT)], ids=lambda block: block["command"])
def test_a_command_prints_what_the_readme_shows(
    block: re.Match[str], call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Into a pipe, every console block is the program's own output; what one writes is the file in `docs/`."""
    monkeypatch.delenv("COLUMNS", raising=False)
    words = shlex.split(block["command"])
    if "--out" in words and (kept := Path(words[(place := words.index("--out") + 1)])).parts[0] == "docs":
        words[place] = str(tmp_path / kept.name)
        assert call(*words[1:]) == (0, "", block["output"])
        assert (tmp_path / kept.name).read_bytes() == kept.read_bytes()
    elif words[0] == "rnncalc":
        _, out, err = call(*words[1:])
        assert out + err == block["output"]
    else:
        assert output_of(block["command"]) == block["output"]


def test_the_command_itself_prints_it_too() -> None:
    """What holds in this process holds for the installed program."""
    first = next(BLOCK.finditer(TEXT))
    assert output_of(first["command"]) == first["output"]


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found
    return found


def undocumented(of: click.Command, text: str) -> list[str]:
    """Return the flags of a command that a text does not name."""
    options = [option for option in of.get_params(click.Context(of)) if isinstance(option, click.Option)]
    flags = [flag for option in options for flag in (*option.opts, *option.secondary_opts)]
    return [flag for flag in flags if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", text)]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_is_documented(name: str) -> None:
    """The README names each command, and each of its flags, short and long."""
    assert re.search(rf"\brnncalc {name}\b", TEXT)
    assert undocumented(command(name), TEXT) == []


def test_the_flags_of_the_program_are_documented() -> None:
    """Those of rnncalc itself too."""
    assert undocumented(cli, TEXT) == []


def test_the_test_of_the_options_can_fail() -> None:
    """A flag that is part of a longer one is not thereby documented."""
    assert undocumented(command("check"), TEXT.replace("--strict", "--stricter")) == ["--strict"]
    assert undocumented(click.Command("x", params=[click.Option(["--max"])]), TEXT) == ["--max"]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_starts_as_the_list_of_commands_says(name: str, call: Call) -> None:
    """The list is a table of its own, so that the help need not import every command; the two say the same."""
    assert call(name, "--help").out.splitlines()[2] == f"  {COMMANDS[name][1]}"
    assert re.search(rf"^  {name} +{re.escape(COMMANDS[name][1])}$", call("--help").out, re.MULTILINE)


def test_the_python_session_is_real() -> None:
    """The doctest of the library's section passes."""
    results = doctest.testfile(str(README), module_relative=False)
    assert results.attempted > 3
    assert results.failed == 0


SPECS = [
    yaml for yaml in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL) if re.search(r"^layers:", yaml, re.MULTILINE)
]


@pytest.mark.parametrize("yaml", SPECS, ids=lambda yaml: yaml.splitlines()[0])
def test_every_spec_is_a_spec_and_keeps_what_it_says(yaml: str, tmp_path: Path, call: Call) -> None:
    """Its own `expect` and `budget` included, and a forward pass confirms its count."""
    path = tmp_path / "spec.yaml"
    path.write_text(yaml, encoding="utf-8")
    checked = call("check", path)
    assert checked.code == 0, checked.out
    assert call("run", path, "--max-multiply-adds", "1M").code in (0, 2)  # 2: too long a pass for a test
    assert ("expect" in yaml) == ("1 passed" in checked.out)


def test_the_specs_are_found() -> None:
    """The spec that explains the format, with all of its budget, and the one with a start."""
    assert len(SPECS) >= 2
    assert "min_dense_ratio" in SPECS[0]


def test_links_lead_somewhere() -> None:
    """A file that the README names is there."""
    for name in re.findall(r"(?:specs|tests|rnncalc|docs)/[\w/.-]+\w", TEXT):
        assert Path(README.parent, name).exists(), name
