"""The fuzzer in `tests/fuzz/`: a short run finds nothing, and it does find what is there to be found."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.model_files import CALLS as OF_MODELS
from fuzz.model_files import GROWN
from fuzz.model_files import MUTATIONS as OF_BYTES
from fuzz.run import CALLS, GENERATORS, GOOD, MUTATIONS, SPEC, WORD

from rnncalc.cli.commands import COMMANDS


def test_a_short_run_finds_nothing() -> None:
    """A tenth of a second of each, seeded; `.ci/run` takes longer and the script itself three minutes."""
    script = Path(__file__).parent / "fuzz" / "run.py"
    done = subprocess.run(
        [sys.executable, script, "--seconds", "0.1", "--seed", "7"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("seed 7: 0 faults\n") == len(GENERATORS)


@pytest.mark.parametrize("mutation", [*MUTATIONS, *OF_BYTES, *GROWN.values()], ids=lambda mutation: mutation.__name__)
def test_a_mutation_is_the_same_for_the_same_seed(mutation: object) -> None:
    """So that a fault can be found again."""
    assert callable(mutation)
    one, two = (mutation(random.Random(3), b"input: 4\nlayers:\n  - rnn: 3\n") for _ in range(2))
    assert one == two


def test_every_command_is_fuzzed() -> None:
    """With a file of strangers, with their words, or with both; and each option that takes a word."""
    assert {*COMMANDS} <= {call[0] for call in [*CALLS, *OF_MODELS]}
    assert {SPEC, GOOD, WORD} <= {word for call in CALLS for word in call}
    for call in (["count", "--dtype"], ["compare", "--steps"], ["solve", "--multiple-of"], ["check", "--max-growth"]):
        assert [*call, WORD] in [of[:3] for of in CALLS]


BROKEN = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from fuzz.run import fault
from rnncalc import formats
folder = Path(sys.argv[2])
for escape in sys.argv[3:]:
    formats.escape = eval(escape)
    print(fault(b"", ["explain", "GOOD", "--only", "WORD"], folder, word="x\\n::error::y"), end=" ")
    print(fault(b'name: "\\\\e[31m"\\ninput: 4\\nlayers: [rnn: 3]\\n', ["count"], folder).replace("\\n", " "))
"""
FAULTS = {
    "formats.escape": "",
    "lambda text, *_: text": r"prints '\x1b'",
    "lambda *_: '::error::x'": "prints ::error::x",
    "lambda *_: str(1 // 0)": "ZeroDivisionError",
    "lambda text, *_: str((folder / 'x').write_text(text))": "forbidden: open",
}
"""What text is escaped with, and what the fuzzer says of it."""


@pytest.mark.broad
def test_the_fuzzer_can_find_faults(tmp_path: Path) -> None:
    """Broken on purpose, rnncalc is caught: an escape that is let through, an exception, a file that is written.

    In a process of its own, whose memory is not that of all the tests before.
    """
    command = [sys.executable, "-c", BROKEN, str(Path(__file__).parent), str(tmp_path), *FAULTS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line, found in zip(done.stdout.splitlines(), FAULTS.values(), strict=True):
        assert line.strip() == found if found in ("", r"prints '\x1b'") else found in line
