"""What Pyodide runs: every command's examples, then the default tests of most rooms, a few cases of each."""

import contextlib
import io
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

CHECKOUT = Path("/checkout")
LONG = "questions"
"""The room whose tests draw hundreds of networks each: they would take ten minutes here."""


def main(args: list[str]) -> int:
    """Return the exit code: 0 if every command works and the tests of every room pass."""
    print(f"Python {sys.version.split()[0]} on {sys.platform}", flush=True)
    os.chdir(CHECKOUT)
    sys.path.append(str(CHECKOUT / "tests"))
    failed = broken_commands()
    if failed:
        print(*failed, sep="\n")
        return 1
    counted = Counted()
    options = ["-q", "-p", "no:cacheprovider", "--hypothesis-profile=quick"]
    # those of pyproject.toml without xdist's
    options += ["-o", "addopts=--strict-markers --import-mode=importlib -m 'not slow and not broad'"]
    code = int(pytest.main([*options, *(args or [f"--ignore=tests/{LONG}"])], [counted]))
    print(*(f"{number} {reason}" for reason, number in counted.reasons.most_common()), sep="\n")
    untested = sorted(counted.rooms - {LONG, *counted.passed}) if not args else []
    print(*(f"of {room} no test has run" for room in untested), sep="\n", end="\n" if untested else "")
    return code or int(bool(untested)) or int(not counted.passed)


def broken_commands() -> list[str]:
    """Run the examples of every command, and its help; return what ended otherwise than they should."""
    from examples import examples, make_files

    from rnncalc.cli import call
    from rnncalc.cli.commands import COMMANDS

    folder = Path(tempfile.mkdtemp())
    make_files(folder)
    os.chdir(folder)  # some write a file
    broken, calls = [], 0
    for name in COMMANDS:
        for args in [*examples(name), [name, "--help"]]:
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = call(args)
            calls += 1
            if code not in ((0, 1) if name in ("answer", "check") else (0,)) or (
                err.getvalue() and "comments on it" not in err.getvalue()
            ):
                broken.append(f"rnncalc {' '.join(args)}: exit code {code}\n{err.getvalue()}")
    os.chdir(CHECKOUT)
    print(f"{len(COMMANDS)} commands, {calls} calls, {len(broken)} broken", flush=True)
    return broken if calls > len(COMMANDS) else ["no command has an example"]


class Counted:
    """Counts the tests that passed in each room of the package, and the reasons for which others were skipped."""

    def __init__(self) -> None:
        rooms = (path.parent for path in (CHECKOUT / "rnncalc").glob("*/__init__.py"))
        self.rooms = {path.name for path in rooms if (CHECKOUT / "tests" / path.name).is_dir()}
        self.passed: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed[report.nodeid.split("/")[1]] += 1
        elif report.skipped and isinstance(report.longrepr, tuple):
            self.reasons[report.longrepr[2].splitlines()[0]] += 1
