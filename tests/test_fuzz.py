"""The fuzzer in `tests/fuzz/`: a short run finds nothing, and it does find what is there to be found."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.run import MUTATIONS, fault


def test_a_short_run_finds_nothing() -> None:
    """Two seconds of it, seeded; `.ci/run` takes longer and the script itself a minute."""
    script = Path(__file__).parent / "fuzz" / "run.py"
    done = subprocess.run(
        [sys.executable, script, "--seconds", "2", "--seed", "7"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("seed 7: 0 faults\n")


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_a_mutation_is_the_same_for_the_same_seed(mutation: object) -> None:
    """So that a fault can be found again."""
    assert callable(mutation)
    one, two = (mutation(random.Random(3), b"input: 4\nlayers:\n  - rnn: 3\n") for _ in range(2))
    assert one == two


def test_the_fuzzer_can_find_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken on purpose, rnncalc is caught: an escape that is let through, an exception, a file that is written."""
    spec = b'name: "\\e[31m"\ninput: 4\nlayers: [rnn: 3]\n'
    assert fault(spec, ["count"], tmp_path) == ""
    from rnncalc.formats import values

    monkeypatch.setattr(values, "escape", lambda text, *_: text)
    assert fault(spec, ["count"], tmp_path) == "prints '\\x1b'"
    monkeypatch.setattr(values, "escape", lambda *_: "::error::x")
    assert fault(spec, ["count"], tmp_path) == "prints ::error::x"
    monkeypatch.setattr(values, "escape", lambda *_: str(1 // 0))
    assert "ZeroDivisionError" in fault(spec, ["count"], tmp_path)
    monkeypatch.setattr(values, "escape", lambda text, *_: str((tmp_path / "x").write_text(text)))
    assert "forbidden: open" in fault(spec, ["count"], tmp_path)
