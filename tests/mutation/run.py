"""Mutation testing of the rooms that compute: `python tests/mutation/run.py --sample 1000`, with mutmut 3 and mypy.

mutmut makes the mutants, in a copy of the tracked files, and sees which tests reach which function. Each mutant of a
sample, drawn by the seed, then meets the tests that reach it, quick ones first; what survives that meets the tests of
whole calls, those of its room and the slower ones in a process of its own, where what is called as a module is imported
is reached too, and then mypy, which CI runs beside the tests. A mutant that so many seconds of tests do not kill counts
as survived, which can only make the figure worse. Properties draw fewer examples in the copy, for the same reason, and
a test that fails there without a mutant (it may measure memory, or read the name of a function) is left out. What
nobody can see is not drawn: the `strict` of a zip over lists of one length, and the message of an `assert`.

Prints the survivors, and how many of the sample were killed, by tests and by mypy; leaves the copy for `mutmut show`.
"""

import argparse
import ast
import inspect
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = 10
WORKERS = os.cpu_count() or 1
ROOMS = ("layers", "conventions", "network", "forward", "questions", "programs", "step")
SELECTION = (
    *("cli", "conventions", "formats", "forward", "layers", "answers", "models", "network", "programs", "questions"),
    *("reports", "spec", "step", "test_bad_specs.py", "test_refusals.py", "test_cli.py", "test_bounds.py"),
    *("test_specs.py", "test_cases.py", "test_python_refusals.py"),
)
ARGUMENTS = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "--maxfail=1000"]
"""The last one overrides mutmut's own -x, so that one run tells every test that fails without a mutant."""
CONFIGURATION = f"""
[tool.mutmut]
source_paths = ["rnncalc"]
only_mutate = {[f"rnncalc/{room}/*" for room in ROOMS]}
also_copy = ["specs", "tests", "docs", "README.md", "CHANGELOG.md"]
pytest_add_cli_args = {ARGUMENTS}
pytest_add_cli_args_test_selection = {[f"tests/{name}" for name in SELECTION]}
"""
ALONE = """

import os
import subprocess

started = subprocess.Popen.__init__


def start(self, *words, env=None, **named):
    env = dict(os.environ if env is None else env)
    if env.get("MUTANT_UNDER_TEST") == "stats":
        env["MUTANT_UNDER_TEST"] = "none"
    started(self, *words, env=env, **named)


subprocess.Popen.__init__ = start


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if os.environ.get("MUTANT_UNDER_TEST") == "stats":
        session.exitstatus = 0
"""
"""mutmut asks its own process alone what is reached: another would look for its settings where it runs.

A test that fails without a mutant does not discard what the others reach: it is left out later.
"""

FORKING = """
import json
import os
import resource
import signal
from pathlib import Path

from _pytest.runner import runtestprotocol


def pytest_runtestloop(session):
    items = {item.nodeid: item for item in session.items}
    fates = Path(os.environ["FATES"]).open("w")
    for name, tests in json.loads(Path(os.environ["MUTANTS"]).read_text()):
        child = os.fork()
        if not child:
            signal.alarm(int(os.environ["MOST"]))
            resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, 3 * 10**9))
            os.environ["MUTANT_UNDER_TEST"] = name
            os._exit(_fails([items[test] for test in tests if test in items]))
        fates.write(f"{int(os.waitpid(child, 0)[1] != 0)} {name}\\n")
        fates.flush()
    return True


def _fails(chosen):
    for item, following in zip(chosen, [*chosen[1:], None]):
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
            return 1
    return 0
"""
"""A plugin that collects the tests once, and has each mutant meet its own in a process that is split off."""


class Reach(NamedTuple):
    """The tests that reach each function, and how long each takes, in seconds."""

    tests: dict[str, list[str]]
    seconds: dict[str, float]

    def reaching(self, mutant: str, most: float, *, room: bool) -> list[str]:
        """Return the tests that reach a mutant, as many as take so many seconds together.

        room: whether those of whole calls and, for as long again, of its room are met in place of these, as mutmut does
        not see what is called as a module is imported, and then those that there was no time for.
        """
        reached = self._in_turn(self.tests.get(mutant.partition("__mutmut_")[0], ()))
        quickest = self._within(reached, most)
        if not room:
            return quickest
        calls = self._in_turn(test for test in self.seconds if test.startswith("tests/test_"))
        further = dict.fromkeys([*self._in_turn(self._of_room(mutant)), *reached[len(quickest) :]])
        return [*dict.fromkeys([*self._within(calls, most), *self._within([*further], most)])]

    def without(self, left_out: Sequence[str]) -> "Reach":
        """Return the same without some tests."""
        tests = {name: [test for test in reaching if test not in left_out] for name, reaching in self.tests.items()}
        return Reach(tests, {test: seconds for test, seconds in self.seconds.items() if test not in left_out})

    def _within(self, tests: Sequence[str], most: float) -> list[str]:
        """Return the first tests, as many as take so many seconds together."""
        took = accumulate(map(self.seconds.__getitem__, tests))
        return [test for test, seconds in zip(tests, took, strict=True) if seconds <= most]

    def _in_turn(self, tests: Iterable[str]) -> list[str]:
        """Return the tests so that each test function has as much time as any other, for its quickest cases first."""
        spent: defaultdict[str, float] = defaultdict(float)
        ordered: list[tuple[float, str]] = []
        for seconds, test in sorted((self.seconds[test], test) for test in tests):
            spent[test.partition("[")[0]] += seconds
            ordered.append((spent[test.partition("[")[0]], test))
        return [test for _, test in sorted(ordered)]

    def _of_room(self, mutant: str) -> list[str]:
        """Return the tests of the innermost room that has any."""
        _, *rooms = mutant.split(".")
        while rooms:
            rooms.pop()
            if tests := [test for test in self.seconds if test.startswith("/".join(("tests", *rooms, "")))]:
                return tests
        return []


def copied() -> Path:
    """Return a folder with the tracked files, set up for mutmut."""
    copy = Path(tempfile.mkdtemp(prefix="rnncalc-mutants-"))
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    for test in copy.glob("tests/**/*.py"):
        text = test.read_text(encoding="utf-8")
        test.write_text(re.sub(r"max_examples=\d+", f"max_examples={EXAMPLES}", text), encoding="utf-8")
    conftest = copy / "tests/conftest.py"
    conftest.write_text(f"{conftest.read_text(encoding='utf-8')}{ALONE}", encoding="utf-8")
    with (copy / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write(CONFIGURATION)
    return copy


def mutmut(copy: Path, *words: str) -> str:
    """Return what a call of mutmut prints; it goes to the copy's log as well."""
    command = [sys.executable, "-m", "mutmut", *words]
    done = subprocess.run(command, cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    with (copy / "mutmut.log").open("a", encoding="utf-8") as log:
        log.write(done.stdout)
    return done.stdout


def reach_of(copy: Path, seconds: float) -> Reach:
    """Return what mutmut sees the tests reach, of those that pass without a mutant, and print the others.

    This makes the mutants as well.
    """
    statistics = copy / "mutants/mutmut-stats.json"
    if not statistics.exists():  # of an earlier run
        mutmut(copy, "run", "no mutant of this name")
    measured = json.loads(statistics.read_text())
    reach = Reach(measured["tests_by_mangled_function_name"], measured["duration_by_test"])
    (copy / "mutants/forking.py").write_text(FORKING)
    alone = Reach({f"none {test}": [test] for test in reach.seconds}, dict.fromkeys(reach.seconds, 0.0))
    fails = shared_fates(copy, [*alone.tests], alone, seconds)
    left_out = [name.removeprefix("none ") for name, failed in fails.items() if failed]
    for test in left_out:
        print(f"left out: {test}", flush=True)
    return reach.without(left_out)


def every_mutant(copy: Path) -> list[str]:
    """Return the names of all mutants, sorted."""
    lines = mutmut(copy, "results", "--all", "true").splitlines()
    return sorted(line.rpartition(": ")[0].strip() for line in lines if ": " in line)


def fates(copy: Path, mutants: Sequence[str], reach: Reach, seconds: float, *, fresh: bool) -> dict[str, bool]:
    """Return whether each of some mutants is killed: a test fails with it in its place, never ends or takes the memory.

    fresh: whether each meets the tests of its room and the slower ones, where modules are imported with it.
    """
    with tempfile.TemporaryDirectory() as folder:
        asked, answers = Path(folder, "asked.json"), Path(folder, "fates.txt")
        chosen = [(name, reach.reaching(name, seconds, room=fresh)) for name in mutants]
        asked.write_text(json.dumps(chosen))
        env = {**os.environ, "MUTANTS": str(asked), "FATES": str(answers), "MOST": str(int(3 * seconds * (1 + fresh)))}
        env |= {"PYTHONDONTWRITEBYTECODE": "1", "MUTANT_UNDER_TEST": mutants[0] if fresh else "none"}
        command = [sys.executable, "-m", "pytest", *ARGUMENTS, "-p", "forking"]
        files = sorted({test.partition("::")[0] for _, tests in chosen for test in tests})
        if not files:  # pytest would collect everything
            return dict.fromkeys(mutants, False)
        subprocess.run([*command, *files], cwd=copy / "mutants", env=env, capture_output=True, check=False)
        lines = answers.read_text().splitlines() if answers.exists() else [f"1 {name}" for name in mutants if fresh]
    return {name: fate == "1" for fate, name in (line.split(" ", 1) for line in lines)}


def shared_fates(copy: Path, mutants: Sequence[str], reach: Reach, seconds: float) -> dict[str, bool]:
    """Return the fates of some mutants, a share of them in a process for each core."""
    shares = [share for number in range(WORKERS) if (share := mutants[number::WORKERS])]
    with ThreadPoolExecutor(WORKERS) as pool:
        fates_of_shares = pool.map(lambda share: fates(copy, share, reach, seconds, fresh=False), shares)
        return {name: killed for some in fates_of_shares for name, killed in some.items()}


def module_of(folder: Path, mutant: str) -> Path:
    """Return the file of the module that a mutant is of."""
    module = folder.joinpath(*mutant.rpartition(".")[0].split("."))
    return module / "__init__.py" if module.is_dir() else module.with_suffix(".py")


def is_seen(copy: Path, mutant: str) -> bool:
    """Return whether a mutant changes more than the `strict` of a zip or the message of an `assert`."""
    lines = module_of(copy / "mutants", mutant).read_text(encoding="utf-8").splitlines(keepends=True)
    codes = []
    for name in (mutant.rpartition(".")[2], f"{mutant.rpartition('.')[2].rpartition('__')[0]}__mutmut_orig"):
        first = next(number for number, line in enumerate(lines) if f"def {name}(" in line)
        function = ast.parse(textwrap.dedent("".join(inspect.getblock(lines[first:]))).replace(name, "function"))
        for node in ast.walk(function):
            if isinstance(node, ast.Assert):
                node.msg = None
            elif isinstance(node, ast.Call):
                node.keywords = [word for word in node.keywords if word.arg != "strict"]
        codes.append(ast.dump(function))
    return codes[0] != codes[1]


def refused(copy: Path, mutant: str) -> bool:
    """Return whether mypy refuses a mutant."""
    path = module_of(copy, mutant)
    text, changed = path.read_text(encoding="utf-8"), path.stat().st_mtime
    try:
        mutmut(copy, "apply", mutant)
        return subprocess.run([sys.executable, "-m", "mypy", "rnncalc"], cwd=copy, capture_output=True).returncode == 1
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, (changed, changed))  # else mypy may take it for the mutant, which has its size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=25.0, help="of tests that each mutant meets at the most")
    parser.add_argument("--copy", type=Path, help="one that an earlier run left, which is gone on with")
    options = parser.parse_args()
    copy = options.copy or copied()
    print(f"in {copy}", flush=True)
    reach = reach_of(copy, options.seconds)
    every = every_mutant(copy)
    drawn = random.Random(options.seed).sample(every, len(every))
    sample = [*islice((name for name in drawn if is_seen(copy, name)), options.sample)]
    killed = shared_fates(copy, sample, reach, options.seconds)
    left = [name for name in sample if not killed[name]]
    print(f"the tests that reach them leave {len(left)} of {len(sample)}", flush=True)
    with ThreadPoolExecutor(WORKERS) as pool:
        for some in pool.map(lambda name: fates(copy, [name], reach, options.seconds, fresh=True), left):
            killed |= some
    left = [name for name in sample if not killed[name]]
    survivors = [name for name in left if not refused(copy, name)]
    for name in survivors:
        print(f"survived: {name}")
    print(f"{len(every):,} mutants, {len(sample):,} drawn by seed {options.seed}")
    number, by_mypy = len(sample) - len(survivors), len(left) - len(survivors)
    print(f"killed: {number} of {len(sample)}, {number / len(sample):.1%}, {by_mypy} of them by mypy alone")


if __name__ == "__main__":
    main()
