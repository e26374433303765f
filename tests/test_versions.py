"""The versions of Python that are promised are tested, and so are the lowest versions of what the package needs."""

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import lowest
import pytest
import yaml

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
JOB: dict[str, Any] = WORKFLOW["jobs"]["readme"]


def test_the_classifiers_the_workflow_and_the_lowest_version_agree() -> None:
    """Each minor version from the lowest on, without a gap, on three systems."""
    classifiers = "\n".join(PROJECT["project"]["classifiers"])
    matches = re.findall(r"^Programming Language :: Python :: (3\.\d+)$", classifiers, re.MULTILINE)
    assert JOB["strategy"]["matrix"]["python"] == matches
    assert PROJECT["project"]["requires-python"] == f">={matches[0]}"
    assert f"Python {matches[0]} or later" in README
    lowest, highest = (int(version.split(".")[1]) for version in (matches[0], matches[-1]))
    assert matches == [f"3.{minor}" for minor in range(lowest, highest + 1)]
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py3{lowest}"
    assert {*JOB["strategy"]["matrix"]["system"]} == {"ubuntu-latest", "macos-latest", "windows-latest"}


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.name)
def test_a_workflow_pins_the_actions_of_others(path: Path) -> None:
    """By the commit, with the whole version beside it."""
    used = re.findall(r"\buses: (?!\./)(.*)", path.read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each) for each in used)


def run_workflow(tmp_path: Path, *commands: str, system: str = "Linux") -> subprocess.CompletedProcess[str]:
    """Run the last step of the workflow where the README has these commands."""
    blocks = "\n".join(f"```sh\n{command}\n```\n" for command in commands)
    (tmp_path / "README.md").write_text(blocks, encoding="utf-8")
    step = JOB["steps"][-1]
    env = {**os.environ, "RUNNER_TEMP": str(tmp_path), "RUNNER_OS": system}
    command = [step["shell"], "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("system", "out"),
    [("Linux", ".venv/bin/pip\npython3 .venv/bin/x\n"), ("Windows", ".venv/Scripts/pip\npython3 .venv/Scripts/x\n")],
)
def test_the_workflow_runs_the_commands_of_the_readme(system: str, out: str, tmp_path: Path) -> None:
    """As they are; on Windows with that system's paths."""
    done = run_workflow(tmp_path, "echo .venv/bin/pip", "true && echo python3 .venv/bin/x", system=system)
    assert (done.returncode, re.sub("== .*\n", "", done.stdout)) == (0, out)


@pytest.mark.parametrize("commands", [("false && true", "true"), ("true", "true && false"), ("true",)])
def test_the_workflow_fails_if_a_command_fails(commands: tuple[str, ...], tmp_path: Path) -> None:
    """The first too, and if there are not two."""
    assert run_workflow(tmp_path, *commands).returncode != 0


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
