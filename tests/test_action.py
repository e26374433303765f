"""The action's own shell steps, run as GitHub's runner would."""

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
from checkouts import BAD, DASHED, GOOD, committed, shell, trapped
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
REQUIREMENTS = ROOT / "action-requirements.txt"


def action() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return data


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
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
            assert run_action(checkout, {}, runner=folder)[-1].returncode == 0
    return folder


@pytest.mark.slow
def test_the_action_runs_nothing_of_the_checkout(runner: Path) -> None:
    """With twenty modules in its root, whatever formats and baselines are asked for."""
    checkout = runner.parent / "checkout"
    assert not (checkout / "sprung").exists()
    committed(checkout)
    inputs = {"baseline": "HEAD", "args": "--max-growth=5%"}
    assert run_action(checkout, inputs, "Check", runner=runner)[-1].returncode == 0
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


@pytest.mark.slow
def test_the_action_installs_its_pins_and_nothing_else(runner: Path) -> None:
    """The package, what it needs at the versions that were pinned, and the installer that came with Python."""
    done = shell(str(runner / "rnncalc/bin/python"), "-I", "-m", "pip", "list", "--format=json", cwd=runner)
    found = {each["name"].lower(): each["version"] for each in json.loads(done.stdout)}
    assert {name: found[name] for name in pins()} == pins()
    assert {*found} - {*pins(), "pip", "setuptools"} == {"rnncalc"}


@pytest.mark.slow
def test_the_actions_summary_keeps_within_what_github_shows(runner: Path, tmp_path: Path) -> None:
    """A mebibyte, with a thousand failures in a file whose path is long: whole lines, and how many are left out."""
    folder = tmp_path.joinpath(*["n" * 200] * 3)
    folder.mkdir(parents=True)
    wrong = f"input: 4\nlayers: [{{rnn: 3, repeat: 1000}}]\nexpect: {{layers: [{'1, ' * 1_000}]}}\n"
    (folder / "wrong.yaml").write_text(wrong)
    (done,) = run_action(tmp_path, {}, "Check", runner=runner)
    assert done.returncode == 1
    summary = (tmp_path / "summary").read_bytes()
    assert 900_000 < len(summary) < 2**20
    *_, last, _, note = summary.decode().splitlines()
    assert re.fullmatch(r"`n.*` expect.* expected 1 in rnn\\_\d+, got 21: 20 more", last)
    assert re.fullmatch(r"… and [\d,]+ more lines, left out because GitHub shows a megabyte at most\.", note)


@pytest.mark.slow
def test_a_files_name_is_no_option_of_the_action(runner: Path, tmp_path: Path) -> None:
    """A name that starts with a dash is no flag of the call."""
    for name in DASHED:
        (tmp_path / name).write_text(BAD)
    (check,) = run_action(tmp_path, {"paths": "\n".join(DASHED)}, "Check", runner=runner)
    assert check.returncode == 1
    assert check.stdout.count("::error file=-") == len(DASHED)


@pytest.mark.slow
def test_the_action_writes_a_summary_and_annotations(runner: Path, tmp_path: Path) -> None:
    """And ends as check does; flags on one line or on several, and none that turns the summary into JSON."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "a b.yaml").write_text(GOOD)
    (tmp_path / "c.yaml").write_text(GOOD)
    for args in ("--max-params=1k\n--strict", "--max-params 1k  --strict", "--strict\r\n", ""):
        inputs = {"paths": "specs\r\nc.yaml\n\n", "args": args}
        (done,) = run_action(tmp_path, inputs, "Check", runner=runner)
        assert (done.returncode, done.stdout) == (0, "")
    (tmp_path / "specs" / "d, e ü.yaml").write_text(BAD)
    for format_ in ("-f json", "-fjson", "--format json", "--strict\n--format=json"):
        (done,) = run_action(tmp_path, {"paths": "specs", "args": format_}, "Check", runner=runner)
        assert (done.returncode, done.stdout.startswith("::error title=rnncalc::args sets the format")) == (2, True)
    (done,) = run_action(tmp_path, {"paths": "specs", "args": ""}, "Check", runner=runner)
    assert done.returncode == 1
    assert done.stdout == (
        "::error file=specs/d%2C e ü.yaml,line=5,col=9,title=expect.total (textbook)::expected 29, got 28: 1 fewer\n"
    )
    summary = (tmp_path / "summary").read_text(encoding="utf-8")
    assert summary.count("### Checks") == 5
    assert "| ✗ | specs/d, e ü.yaml | expect.total | 29 | 28 |" in summary
    (done,) = run_action(tmp_path, {"args": "--strict -- -f json"}, "Check", runner=runner)
    assert done.returncode == 2
    assert done.stdout == "::error title=rnncalc::args has a --, which ends the flags; name files in paths\n"


@pytest.mark.slow
def test_the_action_says_what_is_wrong_with_its_args(runner: Path, tmp_path: Path) -> None:
    """Each line is an annotation, and asking for help is no check that passed."""
    (tmp_path / "a.yaml").write_text(GOOD)
    for args in ("-h", "--help", "--strict -hT5", "--strict\n--help"):
        (done,) = run_action(tmp_path, {"args": args}, "Check", runner=runner)
        assert (done.returncode, done.stdout.count("\n")) == (2, 1)
        assert done.stdout.startswith("::error title=rnncalc::args asks for help, which checks nothing; remove -")
    committed(tmp_path)
    for args, said in {
        "--out report.json": "sets --out, and the file is the action's own, its output report; remove --out",
        "--strict --out=a.md": "sets --out, and the file is the action's own, its output report; remove --out=a.md",
        "--baseline=specs": "sets --baseline, and so does the input baseline; remove --baseline=specs",
    }.items():
        (done,) = run_action(tmp_path, {"args": args, "baseline": "HEAD"}, "Check", runner=runner)
        assert (done.returncode, done.stdout) == (2, f"::error title=rnncalc::args {said}\n")
    for args, said in {
        "--max-parms=1k": "rnncalc: No such option '--max-parms'; did you mean '--max-params'?",
        "--max-growth 5%": "--max-growth: needs --baseline; add it, or remove --max-growth",
        "--max-params 5%": "--max-params: expected a whole number, or one such as 4M, got '5%'",
        "--max-params": "",
        "--model nowhere.pt": "--model: 'nowhere.pt': no such file or directory",
    }.items():
        (done,) = run_action(tmp_path, {"args": args}, "Check", runner=runner)
        assert done.returncode == 2
        assert done.stderr.count("\n") == done.stdout.count("\n") > 0
        for line in done.stdout.splitlines():
            assert line.startswith(f"::error title=rnncalc::{said.replace('%', '%25')}")
    (tmp_path / "a.yaml").write_text("input: xx\nlayers: [rnn: 3]\n")
    (done,) = run_action(tmp_path, {}, "Check", runner=runner)
    assert (done.returncode, done.stdout.count("\n")) == (2, 1)
    assert done.stdout.startswith("::error file=a.yaml,line=1,")


@pytest.mark.slow
def test_the_action_finds_the_specs_of_a_repository(runner: Path, tmp_path: Path) -> None:
    """By default all of them, among whatever other YAML there is, compared with a branch."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "a.yaml").write_text(GOOD)
    (tmp_path / ".github").mkdir()
    (tmp_path / "docker-compose.yml").write_text("services: {a: {image: b}}\n")
    (tmp_path / "chart.yaml").write_text("name: {{ .Values.name }}\n---\nb: [\n")
    committed(tmp_path)
    (tmp_path / "specs" / "a.yaml").write_text(GOOD.replace("rnn: 3", "rnn: 4").replace("28", "41"))
    inputs = {"baseline": "HEAD", "args": "--max-growth 10"}
    (done,) = run_action(tmp_path, inputs, "Check", runner=runner)
    assert done.returncode == 1
    assert done.stdout == (
        "::error file=specs/a.yaml,title=--max-growth (textbook)::"
        "expected at most 10 more than before, got +13 (+46.43%25): 28 before, 41 now\n"
    )
    assert "2 YAML files without the keys of a spec were left out" in (tmp_path / "summary").read_text(encoding="utf-8")
    inputs["baseline"] = "--output=x"
    (done,) = run_action(tmp_path, inputs, "Check", runner=runner)
    assert done.returncode == 2
    assert "expected git: and a commit, a tag or a branch, got '--output=x'" in done.stderr


EXAMPLE = ROOT / "tests" / "action"
WORKFLOW = EXAMPLE / ".github/workflows/rnncalc.yml"


def outputs(runner: Path) -> dict[str, str]:
    """Return what the last run gave to later steps, under the names that the action declares."""
    lines = (runner / "outputs").read_text(encoding="utf-8").splitlines()
    values = dict(line.split("=", 1) for line in lines)
    assert {*values} == {*action()["outputs"]}
    return values


def test_the_page_has_the_workflow_of_the_example() -> None:
    """And a later step reads outputs that the action has."""
    text = WORKFLOW.read_text(encoding="utf-8")
    assert f"```yaml\n{text}```\n" in (ROOT / "docs/check.md").read_text(encoding="utf-8")
    assert {*re.findall(r"steps\.rnncalc\.outputs\.(\w+)", text)} <= {*action()["outputs"]}
    values = {name: each["value"] for name, each in action()["outputs"].items()}
    assert values == {name: f"${{{{ steps.check.outputs.{name} }}}}" for name in values}
    assert {*action()["branding"]} == {"icon", "color"}


@pytest.mark.slow
def test_a_repository_uses_the_action(runner: Path, tmp_path: Path) -> None:
    """As its workflow says: a pull request that keeps its budgets, one that breaks one, and an invalid spec."""
    shutil.copytree(EXAMPLE, tmp_path / "repository")
    work = tmp_path / "repository"
    committed(work)
    (inputs,) = (
        step["with"]
        for step in yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["rnncalc"]["steps"]
        if step.get("uses", "").startswith("OWNER/rnncalc@")
    )
    assert inputs["baseline"] == "origin/${{ github.base_ref }}"
    inputs["baseline"] = "HEAD"
    tagger, keyword = 2 * 4 * 20 * (50 + 20 + 1) + 9 * (2 * 20 + 1), 3 * 16 * (40 + 16 + 1) + 12 * (16 + 1)
    for text, code, status, params in (
        ("lstm: 20", 0, "passed", tagger),
        ("lstm: 21", 1, "failed", 2 * 4 * 21 * (50 + 21 + 1) + 9 * (2 * 21 + 1)),
        ("lstm: x x", 2, "invalid", None),
    ):
        spec = (EXAMPLE / "specs/tagger.yaml").read_text(encoding="utf-8")
        (work / "specs/tagger.yaml").write_text(spec.replace("lstm: 20", text))
        (done,) = run_action(work, inputs, "Check", runner=runner)
        given = outputs(runner)
        assert (done.returncode, given["status"]) == (code, status), done.stdout
        assert json.loads(given["params"]) == {"specs/small/keyword.yaml": keyword, "specs/tagger.yaml": params}
        assert len(json.loads(Path(given["report"]).read_text(encoding="utf-8"))["reports"]) == 2
    run_action(work, {"args": "--nonsense"}, "Check", runner=runner)
    assert (outputs(runner)["status"], outputs(runner)["params"]) == ("invalid", "{}")


def run_action(
    work: Path, inputs: dict[str, str], only: str = "", *, runner: Path | None = None
) -> list[subprocess.CompletedProcess[str]]:
    """Run the steps as GitHub's runner would, all or `only` one, with the defaults of the inputs not given."""
    given = {key: of["default"] for key, of in action()["inputs"].items()}
    assert {*given} >= {*inputs}
    values = {f"inputs.{key}": value for key, value in (given | inputs).items()}
    values |= {"github.action_path": str(ROOT), "steps.python.outputs.python-path": sys.executable}
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
        env["GITHUB_OUTPUT"] = str(folder / "outputs")
        (folder / "outputs").unlink(missing_ok=True)
        done.append(shell("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], cwd=work, **env))
        assert step["name"] == "Check" or done[-1].returncode == 0, done[-1].stderr
    return done
