"""What many tests use."""

import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from lacking import skip_what_is_lacking

from rnncalc.cli import call as call_line
from rnncalc.errors import RefusedError, SpecError
from rnncalc.formats import write
from rnncalc.models.files import SUFFIXES
from rnncalc.models.matching import match
from rnncalc.models.read import read_model
from rnncalc.reports.report import Report

skip_what_is_lacking()
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs the tests in the background has it ignored
UNTIMED: dict[str, Any] = {
    "deadline": None,  # how long an example takes is no test, nor how long it takes to draw
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much],  # few networks suit each convention
}
settings.register_profile("few", max_examples=12, **UNTIMED)
settings.register_profile("quick", max_examples=3, **UNTIMED)
settings.load_profile("few")  # `--hypothesis-profile=quick` asks for the other, later


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the first case of each test with the profile `quick`, which is for one environment among several."""
    if config.getoption("--hypothesis-profile") != "quick":
        return
    tests: dict[str, pytest.Item] = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], item)
    few = [*tests.values()]
    config.hook.pytest_deselected(items=[*{*items} - {*few}])
    items[:] = few


class Result(NamedTuple):
    """What one call printed, and how it ended."""

    code: int
    out: str
    err: str


Call = Callable[..., Result]
Screen = Callable[..., str]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    """Call the command line in this process."""

    def call(*args: object) -> Result:
        code = call_line([str(arg) for arg in args])
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return call


def failing_drafts(folder: Path) -> list[tuple[str, list[str]]]:
    """Return the model files below a folder whose draft fails its own check, each with the tensors that differ.

    What a file computes and no spec can say is a finding of the check, and so of the draft's.
    """
    failing = []
    for path in sorted(folder.rglob("*")):
        if not (path.name.endswith(SUFFIXES) and path.is_file()):
            continue
        try:
            reading = read_model(path)
            checks = match(reading.draft.network, reading.file).tensors if reading.draft else ()
        except (
            RefusedError,
            SpecError,
        ) as error:  # a file that cannot be read; only one of many modules is not compared
            if isinstance(error, RefusedError) or str(error).startswith(f"'{path}'"):
                continue
            raise
        if wrong := [check.stored or check.tensor or "" for check in checks if not (check.kept or check.doubt)]:
            failing.append((str(path), wrong))
    return failing


@pytest.fixture(autouse=True)
def _drafts_pass(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check the draft of every model file that a test of these made."""
    of_files = "tmp_path" in request.fixturenames and {"models", "conformance"} & {*request.path.parts}
    folder: Path | None = request.getfixturevalue("tmp_path") if of_files else None
    yield
    assert not folder or failing_drafts(folder) == []


SPEC = "input: 4\nsteps: 3\nlayers:\n  - rnn: 3\noutput: 1\n"  # 24 + 4 parameters, 66 multiply-adds, 127 / 28 dense


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Return the file of a small spec."""
    return file_at(tmp_path / "a.yaml", SPEC)


def reports(call: Call, *args: object) -> list[dict[str, Any]]:
    """Return the reports that `check` gives to programs."""
    data: list[dict[str, Any]] = json.loads(call("check", *args, "-f", "json").out)["reports"]
    return data


def file_at(path: Path, text: str) -> Path:
    """Write a file, and return where it is."""
    path.write_text(text, encoding="utf-8")
    return path


PEAK = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "rnncalc", *sys.argv[1:]], stdout=subprocess.DEVNULL)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_of(*args: object, seconds: float = 300) -> tuple[int, int]:
    """Return the exit code of a call in a process of its own, and the most kilobytes that it took."""
    command = [sys.executable, "-c", PEAK, *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds)
    assert "Traceback" not in done.stderr
    code, kilobytes = map(int, done.stdout.split())
    return code, kilobytes


def declaration(done: Result) -> str:
    """Return the message that refuses a cell or a layer, all that was printed, without the line in these tests."""
    assert (done.code, done.out) == (2, "")
    return re.sub(r" \(test_\w+\.py, line \d+\)\n$|\n$", "", done.err)


def refusal(call: Call, *args: object) -> str:
    """Return what a call says that is refused: with exit code 2, and nothing on standard output."""
    code, out, err = call(*args)
    assert (code, out) == (2, "")
    return str(err)


def report_of(call: Call, *args: object) -> dict[str, Any]:
    """Return the one report that a call gives to programs."""
    (data,) = json.loads(call(*args, "-f", "json").out)["reports"]
    assert isinstance(data, dict)
    return data


def written(report: Report, form: str) -> str:
    """Return a report in a format."""
    file = io.StringIO()
    write([report], form, file)
    return file.getvalue()


@pytest.fixture
def screen(call: Call, monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Return what a call prints on a terminal of so many columns, without colours."""

    def screen(columns: int, *args: object) -> str:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("TERM", "dumb")
        return call(*args).out

    return screen
