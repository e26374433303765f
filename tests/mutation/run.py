"""Mutation testing of the rooms that compute: `python tests/mutation/run.py --sample 1000`, with mutmut 3 installed.

Works on a copy of the tracked files, where properties draw fewer examples: a mutant that survives twenty is worth a
look anyway. A sample is drawn by the seed from all mutants and run in its order until `--seconds` are over, so that a
longer run goes on where a shorter one ended. Prints how many were drawn, run and killed, with the survivors, and leaves
the copy for `mutmut show NAME`.
"""

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = 20
BATCH = 20
ROOMS = ("layers", "conventions", "network", "forward", "questions")
SELECTION = (
    *("tests/layers", "tests/conventions", "tests/forward", "tests/questions", "tests/reports", "tests/spec"),
    *("tests/test_bad_specs.py", "tests/test_cli.py", "tests/test_large.py", "tests/test_specs.py"),
)
CONFIGURATION = f"""
[tool.mutmut]
source_paths = ["rnncalc"]
only_mutate = {[f"rnncalc/{room}/*" for room in ROOMS]}
also_copy = ["specs", "tests", "README.md"]
pytest_add_cli_args = ["-q", "-x", "-p", "no:cacheprovider"]
pytest_add_cli_args_test_selection = {[*SELECTION]}
"""
KILLED = ("killed", "timeout", "segfault")


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
    text = conftest.read_text(encoding="utf-8")
    conftest.write_text(text.replace("deadline=None)", f"deadline=None, max_examples={EXAMPLES})"), encoding="utf-8")
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


def states(copy: Path) -> dict[str, str]:
    """Return how each mutant fared; one that was not run is `not checked`."""
    lines = mutmut(copy, "results", "--all", "true").splitlines()
    return {name.strip(): state.strip() for name, colon, state in (line.rpartition(": ") for line in lines) if colon}


def drawn(names: list[str], sample: int, seed: int) -> list[str]:
    """Return a sample in a random order, the same for the same seed."""
    return random.Random(seed).sample(sorted(names), min(sample, len(names)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    copy = copied()
    print(f"in {copy}", flush=True)
    mutmut(copy, "run", "no mutant of this name")  # makes the mutants, and sees which tests reach them
    every = [*states(copy)]
    sample = drawn(every, options.sample, options.seed)
    until = time.monotonic() + options.seconds
    run: list[str] = []
    while len(run) < len(sample) and time.monotonic() < until:
        batch = sample[len(run) : len(run) + BATCH]
        mutmut(copy, "run", *batch)
        run += batch
    found = states(copy)
    counts = Counter(found[name] for name in run)
    for name in run:
        if found[name] not in KILLED:
            print(f"{found[name]}: {name}")
    caught = sum(counts[state] for state in KILLED)
    print(f"{len(every):,} mutants, {len(sample):,} drawn by seed {options.seed}, {len(run):,} run: {dict(counts)}")
    print(f"killed: {caught} of {len(run)}, {caught / max(1, len(run)):.1%}")


if __name__ == "__main__":
    main()
