"""Mutation testing of the model and the questions: `python tests/mutation/run.py`, with mutmut installed; takes long.

Works on a copy of the tracked files, where properties draw fewer examples: a mutant that survives twenty is worth a
look anyway. Prints the share of mutants killed, and leaves the copy for `mutmut show NAME`.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = 20
CONFIGURATION = """
[tool.mutmut]
source_paths = ["rnncalc"]
only_mutate = ["rnncalc/layers/*", "rnncalc/conventions/*", "rnncalc/network/*", "rnncalc/questions/*"]
also_copy = ["specs", "tests", "README.md"]
pytest_add_cli_args = ["-q", "-x", "-p", "no:cacheprovider"]
pytest_add_cli_args_test_selection = [
    "tests/model", "tests/questions", "tests/reports", "tests/spec", "tests/test_bad_specs.py",
    "tests/test_cli.py", "tests/test_readme.py", "tests/test_specs.py",
]
"""


def main() -> None:
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
    print(f"in {copy}", flush=True)
    subprocess.run([sys.executable, "-m", "mutmut", "run"], cwd=copy, check=False)
    command = [sys.executable, "-m", "mutmut", "results", "--all", "true"]
    results = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=True)
    states = [line.rsplit(": ", 1)[-1].strip() for line in results.stdout.splitlines() if ": " in line]
    for state in sorted({*states}):
        print(f"{state}: {states.count(state)}")
    caught = sum(state in ("killed", "timeout", "segfault") for state in states)
    print(f"killed: {caught} of {len(states)}, {caught / max(1, len(states)):.1%}")


if __name__ == "__main__":
    main()
