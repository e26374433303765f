"""The README is true: its commands print what it says, its code runs, its files count."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from conftest import Call
from readme import BLOCK, README, output_of

from rnncalc import Network
from rnncalc.spec import parse

TEXT = README.read_text(encoding="utf-8")


@pytest.mark.parametrize("block", [*BLOCK.finditer(TEXT)], ids=lambda block: block["command"])
def test_a_command_prints_what_the_readme_shows(
    block: re.Match[str], call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into a pipe, every console block is the program's own output."""
    monkeypatch.delenv("COLUMNS", raising=False)
    words = shlex.split(block["command"])
    if words[0] == "rnncalc":
        _, out, err = call(*words[1:])
        assert out + err == block["output"]
    else:
        assert output_of(block["command"]) == block["output"]


def test_the_command_itself_prints_it_too() -> None:
    """What holds in this process holds for the installed program."""
    first = next(BLOCK.finditer(TEXT))
    assert output_of(first["command"]) == first["output"]


def test_the_python_session_is_real() -> None:
    """The doctest of the library's section passes."""
    results = doctest.testfile(str(README), module_relative=False)
    assert results.attempted > 3
    assert results.failed == 0


def test_the_example_file_counts_what_it_expects() -> None:
    """The spec that explains the format is a spec, and keeps its own expect."""
    (yaml,) = re.findall(r"```yaml\n(name: Two.*?)```", TEXT, re.DOTALL)
    network = parse(yaml.encode(), "README.md").network
    assert isinstance(network, Network)
    assert network.expect
    assert network.expect.total == network.params


def test_links_lead_somewhere() -> None:
    """A file that the README names is there."""
    for name in re.findall(r"(?:specs|tests|rnncalc)/[\w/.-]+\w", TEXT):
        assert Path(README.parent, name).exists(), name
