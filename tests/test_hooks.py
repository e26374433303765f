"""What CI runs: the pre-commit hook through pre-commit itself, and the action's own shell steps."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
GOOD = "input: 4\nlayers:\n  - rnn: 3\noutput: 1\nexpect: 28\n"
BAD = GOOD.replace("28", "29")


def shell(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT"))}
    env |= {"PATH": f"{Path(sys.executable).parent}:{env['PATH']}", "PYTHONUTF8": "1", **environment}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8", check=False)


def git(folder: Path, *args: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"]
    done = shell("git", *who, *args, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def committed(folder: Path) -> str:
    """Make a repository of a folder's files, and return its commit."""
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "files")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a repository with what is installed from this one, and its commit."""
    folder = tmp_path_factory.mktemp("rnncalc")
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml", "action.yml"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "rnncalc", folder / "rnncalc", ignore=shutil.ignore_patterns("__pycache__"))
    return folder, committed(folder)


def test_the_hook_runs_in_pre_commit(repository: tuple[Path, str], tmp_path: Path) -> None:
    """Installed from its repository, it passes a good spec, fails a bad one, and names the line."""
    source, commit = repository
    hook = {"id": "rnncalc-check", "files": "^specs/", "args": ["--strict"]}
    config = {"repos": [{"repo": str(source), "rev": commit, "hooks": [hook]}]}
    project = tmp_path / "project"
    (project / "specs").mkdir(parents=True)
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    (project / "specs" / "a b ü.yaml").write_text(GOOD)
    committed(project)
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files"]
    home = {"PRE_COMMIT_HOME": str(tmp_path / "home")}
    done = shell(*command, cwd=project, **home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout
    (project / "specs" / "b.yml").write_text(BAD)
    git(project, "add", "-A")
    done = shell(*command, cwd=project, **home)
    assert done.returncode == 1
    assert "specs/b.yml:5:9: expect.total: expected 29, got 28: 1 fewer" in done.stdout


def test_the_action_runs(repository: tuple[Path, str], tmp_path: Path) -> None:
    """Its steps install rnncalc, write the summary and the annotations, and end as check does."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    assert {step["shell"] for step in action["runs"]["steps"]} == {"bash"}
    assert not any("${{" in step["run"] for step in action["runs"]["steps"])  # an expression in it could run anything
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "a b.yaml").write_text(GOOD)
    (tmp_path / "c.yaml").write_text(GOOD)
    inputs = {"paths": "specs\nc.yaml\n", "args": "--max-params=1k\n--strict"}
    assert run_action(action, repository[0], tmp_path, inputs)[-1].returncode == 0
    (tmp_path / "specs" / "d, e.yaml").write_text(BAD)
    *_, check = run_action(action, repository[0], tmp_path, inputs, first=1)
    assert check.returncode == 1
    assert check.stdout == (
        "::error file=specs/d%2C e.yaml,line=5,col=9,title=expect.total::expected 29, got 28: 1 fewer\n"
    )
    summary = (tmp_path / "summary").read_text(encoding="utf-8")
    assert "| ✗ | specs/d, e.yaml | expect.total | 29 | 28 |" in summary


def run_action(
    action: dict[str, Any], source: Path, work: Path, inputs: dict[str, str], first: int = 0
) -> list[subprocess.CompletedProcess[str]]:
    """Run the steps as GitHub's runner would, from the `first`."""
    values = {"github.action_path": str(source), **{f"inputs.{key}": value for key, value in inputs.items()}}
    assert {*action["inputs"]} == {*inputs}
    done = []
    for step in action["runs"]["steps"][first:]:
        env = {}
        for key, text in step.get("env", {}).items():
            for name, value in values.items():
                text = text.replace(f"${{{{ {name} }}}}", value)
            assert "${{" not in text
            env[key] = text
        env |= {"RUNNER_TEMP": str(work), "GITHUB_STEP_SUMMARY": str(work / "summary")}
        done.append(shell("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], cwd=work, **env))
        if done[-1].returncode:
            break
    assert len(done) == len(action["runs"]["steps"][first:]), done[-1].stderr
    return done
