"""Calls that go wrong at the door: told in one line, with what helps."""

from pathlib import Path

import pytest
from conftest import Call

KERAS = len([*Path("specs/keras").glob("*.yaml")])
EMPTY = "rnncalc: a PATH is empty: give a spec or a folder of specs, or leave it out"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--steps",), "rnncalc: Option '--steps' requires an argument. (see rnncalc count --help)"),
        (("run", "--seed"), "rnncalc: Option '--seed' requires an argument. (see rnncalc run --help)"),
        (("-i", 4, "-l", "rnn:3", "-T", 2, "-T", 3), "--steps: stands here a second time; remove one"),
        (("-i", 4, "-l", "rnn:3", "-o", 5, "--output=6"), "--output: stands here a second time; remove one"),
        (("check", "specs", "-c", "keras", "-connx"), "--convention: stands here a second time; remove one"),
        (("run", "specs/lstm.yaml", "--weights", ""), "--weights: '': no such file"),
        (("run", "specs/lstm.yaml", "--inputs", ""), "--inputs: '': no such file"),
        (("run", "specs/lstm.yaml", "--start", ""), "--start: '': no such file"),
        (("run", "specs/lstm.yaml", "--backward", "--targets", ""), "--targets: '': no such file"),
        (
            ("compare", "specs/lstm.yaml", "--same-params", "--steps", "1..5"),
            "rnncalc: --steps FIRST..LAST and --same-params ask different things: give one of them",
        ),
        (
            ("compare", "specs/lstm.yaml", "--steps", "10..1"),
            "rnncalc: --steps: expected FIRST..LAST, the smaller first; write 1..10",
        ),
        (("answer", "specs/keras", 5), f"rnncalc: expected one network, got {KERAS}; name one spec"),
        (("check", ""), EMPTY),
        (("check", "", "specs", "--baseline", "specs"), EMPTY),
    ],
)
def test_a_flag_that_is_wrong(words: tuple[object, ...], said: str, call: Call) -> None:
    """Without its value, with the help that lists it; given twice, where only one can be meant."""
    result = call(*words)
    assert (result.code, result.out, result.err) == (2, "", f"{said}\n")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("x" * 20_000, f"--seed: expected a whole number, 0 or more, got '{'x' * 79}…'"),
        ("1.5", "--seed: expected a whole number, 0 or more, got '1.5'"),
        ("-1", "--seed: expected a whole number, 0 or more, got '-1'"),
    ],
)
def test_a_seed_that_is_none(word: str, said: str, call: Call) -> None:
    """As any other number of a flag; a negative one would be the same as its positive."""
    assert call("run", "-i", 1, "-l", "rnn:1", "-T", 1, "--seed", word) == (2, "", f"{said}\n")
    assert call("run", "-i", 1, "-l", "rnn:1", "-T", 1, "--seed", "1_000").code == 0


@pytest.mark.parametrize("word", ["x" * 20_000, "--" + "x" * 20_000, "-x=" + "x y" * 9_000, "x " * 9_000])
@pytest.mark.parametrize("before", [["schema"], ["run", "-i", 1, "-l", "rnn:1", "-T", 1], [], ["answer", "-i"]])
def test_no_word_is_told_at_length(word: str, before: list[object], call: Call) -> None:
    """However long it is, and whoever reads the call."""
    for words in ([*before, word], [*before, *word.split()[:500]]):
        result = call(*words)
        assert (result.code, result.out) == (2, "")
        assert all(len(line) < 1_000 for line in result.err.splitlines())


def test_which_of_several_specs_is_refused(call: Call) -> None:
    """By its file; of one spec alone, or of flags, there is no doubt."""
    asked = "a step would write 1,600 weights"
    assert call("run", "specs/lstm.yaml", "specs/gru.yaml", "--work").err.startswith(
        f"rnncalc: specs/lstm.yaml: {asked}"
    )
    assert call("run", "specs/lstm.yaml", "--work").err.startswith(f"rnncalc: {asked}")


def test_what_may_be_repeated_is_not_refused(call: Call) -> None:
    """Layers and names are several, and a value may look like a flag that was given."""
    assert call("-i", 4, "-l", "rnn:3", "-l", "rnn:3").code == 0
    assert call("explain", "-i", 4, "-l", "rnn:3", "-o", 1, "--only", "rnn_1", "--only", "output").code == 0


def test_a_folder_in_place_of_a_spec(call: Call, tmp_path: Path) -> None:
    """All specs below it, in order; a folder without any is told to be one."""
    result = call("run", "specs/keras", "-f", "csv")
    assert (result.code, result.err) == (0, "")
    assert result.out.count("\n") > 4
    empty = call("run", tmp_path)
    assert (empty.code, empty.out) == (2, "")
    assert empty.err.endswith(": is a folder; give a file in it, or all of it to rnncalc check\n")


def test_all_wrong_names_are_told_at_once(call: Call) -> None:
    """Not the first alone."""
    result = call("explain", "-i", 4, "-l", "gru:5", "--only", "gru_1", "--only", "nix", "--only", "gru1")
    assert result.err == "rnncalc: --only: expected gru_1, got 'nix' and 'gru1'; did you mean 'gru_1'?\n"


def test_weights_and_inputs_are_told_at_once(call: Call, tmp_path: object) -> None:
    """What is wrong with the inputs is not held back by what is wrong with the weights."""
    from pathlib import Path

    spec = Path(str(tmp_path), "spec.yaml")
    spec.write_text("input: 2\nsteps: 1\nlayers:\n  - rnn: 1\nweights: {nix: 1}\ninputs: [[1]]\n")
    lines = call("run", spec).err.splitlines()
    assert any("weights.nix" in line for line in lines)
    assert any("inputs[0]" in line for line in lines)
