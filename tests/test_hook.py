"""The pre-commit hook, run by pre-commit itself."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkouts import BAD, DASHED, GOOD, committed, git, shell, trapped

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a repository with what is installed from this one, and its commit."""
    folder = tmp_path_factory.mktemp("rnncalc")
    files = ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
    for name in files:
        shutil.copy(ROOT / name, folder)
    (folder / "docs").mkdir()
    for name in ("man.py", "readme.py"):
        shutil.copy(ROOT / "docs" / name, folder / "docs")
    shutil.copytree(ROOT / "rnncalc", folder / "rnncalc", ignore=shutil.ignore_patterns("__pycache__"))
    return folder, committed(folder)


def hooked(project: Path, source: Path, commit: str, **options: Any) -> list[str]:
    """Set a project up to use the hook, with the files that are in it; return the call of pre-commit."""
    hook = {"id": "rnncalc-check", "files": "^specs/", **options}
    config = {"repos": [{"repo": str(source), "rev": commit, "hooks": [hook]}]}
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    committed(project)
    return [sys.executable, "-I", "-m", "pre_commit", "run", "--all-files"]


@pytest.mark.slow
def test_the_hook_runs_in_pre_commit(repository: tuple[Path, str], tmp_path: Path) -> None:
    """It passes a good spec, fails a bad one, and names the line; and runs no module of the project's."""
    project = tmp_path / "project"
    (project / "specs").mkdir(parents=True)
    trapped(project)
    (project / "specs" / "a b ü.yaml").write_text(GOOD)
    command = hooked(project, *repository, entry="rnncalc check --strict --")
    home = {"PRE_COMMIT_HOME": str(tmp_path / "home")}
    done = shell(*command, cwd=project, **home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout
    (project / "specs" / "b.yml").write_text(BAD)
    git(project, "add", "-A")
    done = shell(*command, cwd=project, **home)
    assert done.returncode == 1
    assert "specs/b.yml:5:9: expect.total: expected 29, got 28: 1 fewer" in done.stdout
    assert not (project / "sprung").exists()


def test_a_files_name_is_no_option_of_the_hook(tmp_path: Path) -> None:
    """A name that starts with a dash is no flag of the call."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["entry"] == "rnncalc check --"
    for name in DASHED:
        (tmp_path / name).write_text(BAD)
    done = shell(*hook["entry"].split(), *DASHED, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.count("expected 29, got 28: 1 fewer") == len(DASHED)
