"""What CI runs: the pre-commit hook through pre-commit itself, and the action's own shell steps."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
REQUIREMENTS = ROOT / "action-requirements.txt"
GOOD = "input: 4\nlayers:\n  - rnn: 3\noutput: 1\nexpect: 28\n"
BAD = GOOD.replace("28", "29")


def shell(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT"))}
    env |= {"PATH": f"{Path(sys.executable).parent}:{env['PATH']}", "PYTHONUTF8": "1", "PIP_NO_COMPILE": "1"}
    env |= environment
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
    files = ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml", "action.yml", REQUIREMENTS.name)
    for name in files:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "rnncalc", folder / "rnncalc", ignore=shutil.ignore_patterns("__pycache__"))
    return folder, committed(folder)


TRAPS = (
    *("venv", "pip", "ensurepip", "rnncalc", "click", "yaml", "rich", "hatchling", "site", "sitecustomize"),
    *("usercustomize", "encodings", "codecs", "os", "re", "json", "runpy", "subprocess", "typing", "fractions"),
)
"""What Python, its installer or rnncalc import; in the root of a checkout, each would be run in place of the real."""


def trapped(folder: Path) -> None:
    """Put the traps into the root of a checkout, each to tell when it is run."""
    for name in TRAPS:
        (folder / f"{name}.py").write_text(f"open({str(folder / 'sprung')!r}, 'a').write(__name__ + ' ')\n")


def hooked(project: Path, source: Path, commit: str, **options: Any) -> list[str]:
    """Set a project up to use the hook, with the files that are in it; return the call of pre-commit."""
    hook = {"id": "rnncalc-check", "files": "^specs/", **options}
    config = {"repos": [{"repo": str(source), "rev": commit, "hooks": [hook]}]}
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    committed(project)
    return [sys.executable, "-I", "-m", "pre_commit", "run", "--all-files"]


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


def test_a_files_name_is_no_option(repository: tuple[Path, str], runner: Path, tmp_path: Path) -> None:
    """Neither the hook nor the action takes a name that starts with a dash for a flag of the call."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["entry"] == "rnncalc check --"
    names = ["--baseline=evil.yaml", "-h.yaml", "--help", "-f=json.yaml"]
    for name in names:
        (tmp_path / name).write_text(BAD)
    done = shell(*hook["entry"].split(), *names, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.count("expected 29, got 28: 1 fewer") == len(names)
    (check,) = run_action(repository[0], tmp_path, {"paths": "\n".join(names)}, "Check", runner=runner)
    assert check.returncode == 1
    assert check.stdout.count("::error file=-") == len(names)


def action() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return found


def test_the_action_is_what_a_runner_takes() -> None:
    """Steps in bash as old as macOS has it, no expression in a script, another's action by its commit."""
    assert action()["runs"]["using"] == "composite"
    for step in action()["runs"]["steps"]:
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"])
        else:
            assert step["shell"] == "bash"
            assert "${{" not in step["run"]  # an expression in it could run anything
            assert not re.search(r"mapfile|readarray|declare -[An]|\$\{\w+,|\|&", step["run"])


@pytest.fixture(scope="module")
def runner(repository: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the action has installed rnncalc, called in a checkout full of traps beside it.

    The tests may run in several processes: the first that comes installs for all.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, checkout = shared / "runner", shared / "checkout"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not checkout.exists():
            checkout.mkdir()
            trapped(checkout)
            (checkout / "spec.yaml").write_text(GOOD)
            assert run_action(repository[0], checkout, {}, runner=folder)[-1].returncode == 0
    return folder


def test_the_action_runs_nothing_of_the_checkout(repository: tuple[Path, str], runner: Path) -> None:
    """With twenty modules in its root, whatever formats and baselines are asked for."""
    checkout = runner.parent / "checkout"
    assert not (checkout / "sprung").exists()
    committed(checkout)
    inputs = {"baseline": "HEAD", "args": "--max-growth=5%"}
    assert run_action(repository[0], checkout, inputs, "Check", runner=runner)[-1].returncode == 0
    assert not (checkout / "sprung").exists()
    shell(sys.executable, "-m", "venv", "--help", cwd=checkout)
    assert (checkout / "sprung").exists()  # so would the traps spring


def pins() -> dict[str, str]:
    """Return the version of each package that the action installs."""
    return dict(re.findall(r"^([a-z-]+)==([0-9.]+) \\$", REQUIREMENTS.read_text(encoding="utf-8"), re.MULTILINE))


def test_the_action_pins_what_the_package_needs() -> None:
    """At versions that the project's own bounds allow, each file by its hash."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    others = [line for line in lines if not re.fullmatch(r"#.*|    --hash=sha256:[0-9a-f]{64}( \\)?", line)]
    assert [f"{name}=={version} \\" for name, version in pins().items()] == others
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for need in map(Requirement, (*project["build-system"]["requires"], *project["project"]["dependencies"])):
        assert need.specifier.contains(pins()[need.name])


def test_the_action_installs_its_pins_and_nothing_else(runner: Path) -> None:
    """The package, what it needs at the versions that were pinned, and the installer that came with Python."""
    done = shell(str(runner / "rnncalc/bin/python"), "-I", "-m", "pip", "list", "--format=json", cwd=runner)
    found = {each["name"].lower(): each["version"] for each in json.loads(done.stdout)}
    assert {name: found[name] for name in pins()} == pins()
    assert {*found} - {*pins(), "pip", "setuptools"} == {"rnncalc"}


def test_the_actions_summary_keeps_within_what_github_shows(
    repository: tuple[Path, str], runner: Path, tmp_path: Path
) -> None:
    """A mebibyte, with a thousand failures in a file whose path is long: whole lines, and how many are left out."""
    folder = tmp_path.joinpath(*["n" * 200] * 6)
    folder.mkdir(parents=True)
    wrong = f"input: 4\nlayers: [{{rnn: 3, repeat: 1000}}]\nexpect: {{layers: [{'1, ' * 1_000}]}}\n"
    (folder / "wrong.yaml").write_text(wrong)
    (done,) = run_action(repository[0], tmp_path, {}, "Check", runner=runner)
    assert done.returncode == 1
    summary = (tmp_path / "summary").read_bytes()
    assert 900_000 < len(summary) < 2**20
    *_, last, _, note = summary.decode().splitlines()
    assert re.fullmatch(r"`n.*` expect.* expected 1 in rnn\\_\d+, got 21: 20 more", last)
    assert re.fullmatch(r"… and [\d,]+ more lines, left out because GitHub shows a megabyte at most\.", note)


def test_the_action_writes_a_summary_and_annotations(
    repository: tuple[Path, str], runner: Path, tmp_path: Path
) -> None:
    """And ends as check does; flags on one line or on several, and none that turns the summary into JSON."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "a b.yaml").write_text(GOOD)
    (tmp_path / "c.yaml").write_text(GOOD)
    for args in ("--max-params=1k\n--strict", "--max-params 1k  --strict", "--strict\r\n", ""):
        inputs = {"paths": "specs\r\nc.yaml\n\n", "args": args}
        (done,) = run_action(repository[0], tmp_path, inputs, "Check", runner=runner)
        assert (done.returncode, done.stdout) == (0, "")
    (tmp_path / "specs" / "d, e ü.yaml").write_text(BAD)
    for format_ in ("-f json", "-fjson", "--format json", "--strict\n--format=json"):
        (done,) = run_action(repository[0], tmp_path, {"paths": "specs", "args": format_}, "Check", runner=runner)
        assert (done.returncode, done.stdout.startswith("::error title=rnncalc::args sets the format")) == (2, True)
    (done,) = run_action(repository[0], tmp_path, {"paths": "specs", "args": ""}, "Check", runner=runner)
    assert done.returncode == 1
    assert done.stdout == (
        "::error file=specs/d%2C e ü.yaml,line=5,col=9,title=expect.total::expected 29, got 28: 1 fewer\n"
    )
    summary = (tmp_path / "summary").read_text(encoding="utf-8")
    assert summary.count("### Checks") == 5
    assert "| ✗ | specs/d, e ü.yaml | expect.total | 29 | 28 |" in summary
    (done,) = run_action(repository[0], tmp_path, {"args": "--strict -- -f json"}, "Check", runner=runner)
    assert done.returncode == 2
    assert done.stdout == "::error title=rnncalc::args has a --, which ends the flags; name files in paths\n"


def test_the_action_finds_the_specs_of_a_repository(repository: tuple[Path, str], runner: Path, tmp_path: Path) -> None:
    """By default all of them, among whatever other YAML there is, compared with a branch."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "a.yaml").write_text(GOOD)
    (tmp_path / ".github").mkdir()
    (tmp_path / "docker-compose.yml").write_text("services: {a: {image: b}}\n")
    (tmp_path / "chart.yaml").write_text("name: {{ .Values.name }}\n---\nb: [\n")
    committed(tmp_path)
    (tmp_path / "specs" / "a.yaml").write_text(GOOD.replace("rnn: 3", "rnn: 4").replace("28", "41"))
    inputs = {"baseline": "HEAD", "args": "--max-growth 10"}
    (done,) = run_action(repository[0], tmp_path, inputs, "Check", runner=runner)
    assert done.returncode == 1
    assert done.stdout == (
        "::error file=specs/a.yaml,title=--max-growth::"
        "expected at most 10 more than before, got +13 (+46.43%25): 28 before, 41 now\n"
    )
    assert "left out, as no specs by their keys: 2 YAML files" in (tmp_path / "summary").read_text(encoding="utf-8")
    inputs["baseline"] = "--output=x"
    (done,) = run_action(repository[0], tmp_path, inputs, "Check", runner=runner)
    assert done.returncode == 2
    assert "expected git: and a commit, a tag or a branch, got '--output=x'" in done.stderr


def run_action(
    source: Path, work: Path, inputs: dict[str, str], only: str = "", *, runner: Path | None = None
) -> list[subprocess.CompletedProcess[str]]:
    """Run the steps as GitHub's runner would, all or `only` one, with the defaults of the inputs not given."""
    given = {key: of["default"] for key, of in action()["inputs"].items()}
    assert {*given} >= {*inputs}
    values = {f"inputs.{key}": value for key, value in (given | inputs).items()}
    values |= {"github.action_path": str(source), "steps.python.outputs.python-path": sys.executable}
    folder = runner or work.parent / f"{work.name}-runner"
    folder.mkdir(exist_ok=True)
    done = []
    for step in action()["runs"]["steps"]:
        if "uses" in step or (only and step["name"] != only):
            continue
        env = {}
        for key, text in step.get("env", {}).items():
            for name, value in values.items():
                text = text.replace(f"${{{{ {name} }}}}", value)
            assert "${{" not in text
            env[key] = text
        env |= {"RUNNER_TEMP": str(folder), "GITHUB_STEP_SUMMARY": str(work / "summary")}
        done.append(shell("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], cwd=work, **env))
        assert step["name"] == "Check" or done[-1].returncode == 0, done[-1].stderr
    return done
