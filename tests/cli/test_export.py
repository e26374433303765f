"""`rnncalc export`: what it prints, what it writes, and what it refuses."""

from pathlib import Path

import pytest
from conftest import Call

from rnncalc import load
from rnncalc.programs import SPELLINGS, source


@pytest.mark.parametrize("target", SPELLINGS)
def test_it_prints_the_program(target: str, call: Call) -> None:
    """As the library writes it, and nothing else."""
    done = call("export", "specs/lstm.yaml", "--to", target)
    assert done == (0, source(load("specs/lstm.yaml"), target), "")


def test_a_file_holds_what_would_be_printed(tmp_path: Path, call: Call) -> None:
    """`--out` writes it in UTF-8, over an earlier file too, and prints nothing."""
    path = tmp_path / "model.py"
    words = ("export", "-i", 4, "-l", "gru:3,name=Übergang", "--output", 2, "--to", "keras")
    for _ in range(2):
        assert call(*words, "--out", path) == (0, "", "")
        assert path.read_text(encoding="utf-8") == call(*words).out
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("target", SPELLINGS)
def test_a_loss_is_a_function_of_the_program(target: str, call: Call) -> None:
    """Of the output and its targets; the output under a cross-entropy is a softmax."""
    program = call("export", "specs/classes.yaml", "--to", target, "--loss", "cross_entropy").out
    compile(program, target, "exec")
    assert "softmax" in program
    assert "sum(targets * " in program
    assert "def loss(" not in call("export", "specs/classes.yaml", "--to", target).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-i", 2, "-l", "gru:2", "--loss", "cross_entropy"), "cross_entropy needs an output layer"),
        (("specs/several/lstm-fcn.yaml", "--loss", "sum"), "export each network by itself"),
    ],
)
def test_a_loss_that_a_program_cannot_have_is_refused(words: tuple[object, ...], message: str, call: Call) -> None:
    """In one line."""
    done = call("export", *words, "--to", "pytorch")
    assert (done.code, done.out, message in done.err) == (2, "", True)
