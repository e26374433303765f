"""The flags of a call: what is given twice, what is not known, and everything that is wrong told at once."""

import itertools
import re
from pathlib import Path

import pytest
from conftest import Call, refusal

from rnncalc.cli.commands import COMMANDS

NETWORK = ("-i", "4", "-l", "rnn:3")


def test_layers_and_formats_may_be_repeated(call: Call) -> None:
    """Layers are many; of formats, which change no answer, the last is taken."""
    assert call(*NETWORK, "-f", "csv", "-f", "json").out == call(*NETWORK, "-f", "json").out
    assert call(*NETWORK, "--tensors", "--tensors").code == 0
    assert call(*NETWORK, "-l", "rnn:3").code == 0
    assert call("explain", *NETWORK, "-o", 1, "--only", "rnn_1", "--only", "output").code == 0


@pytest.mark.parametrize("word", ["x" * 20_000, "--" + "x" * 20_000, "-x=" + "x y" * 9_000, "x " * 9_000])
@pytest.mark.parametrize("before", [["schema"], ["run", *NETWORK, "-T", 1], [], ["answer", "-i"], ["run", "--seed"]])
def test_no_word_is_told_at_length(word: str, before: list[object], call: Call) -> None:
    """However long it is, and whoever reads the call."""
    for words in ([*before, word], [*before, *word.split()[:500]]):
        assert all(len(line) < 1_000 for line in refusal(call, *words).splitlines())


def test_a_folder_instead_of_a_spec(call: Call, tmp_path: Path) -> None:
    """All specs below it, in order; a folder without any is told to be one."""
    result = call("run", "specs/onnx", "-f", "csv")
    assert (result.code, result.err) == (0, "")
    assert result.out.count("\n") > 4
    assert refusal(call, "run", tmp_path).endswith("; a model file in it is named by itself\n")


WRONG = {
    "--input": ["-i", "xx"],
    "--layer 1": ["-l", "lstm:many"],
    "--output": ["-o", "0"],
    "--steps": ["-T", "many"],
    "--topology": ["--topology", "sideways"],
    "--convention": ["-c", "none"],
    "--dtype": ["--dtype", "float31"],
    "--format": ["-f", "xls"],
}


@pytest.mark.parametrize("count", [1, 2, 3, len(WRONG)])
def test_every_combination_of_mistakes_is_told_whole(call: Call, count: int) -> None:
    """However many flags are wrong, each has its line, and those that are right have none."""
    right = {"--input": ["-i", "4"], "--layer 1": ["-l", "rnn:3"]}
    for flags in itertools.combinations(WRONG, count):
        args = [
            word for flag, words in (right | {flag: WRONG[flag] for flag in flags}).items() if words for word in words
        ]
        assert {line.split(":")[0] for line in refusal(call, "count", *args).splitlines()} == {*flags}


@pytest.mark.parametrize("words", [["-h"], ["--help"], ["-5h"], ["-h", "5"], ["-T", "3", "-h"]])
def test_the_help_is_no_right_answer(call: Call, words: list[str]) -> None:
    """Where the exit code 0 says that a number is right, help is not had beside anything else."""
    refusal(call, "answer", "specs/lstm.yaml", *words)
    assert call("answer", "--help").code == 0


def test_a_question_mark_is_quoted_wherever_it_is_shown(call: Call) -> None:
    """To a shell a bare one is any letter: zsh refuses it, and a file of one letter swallows it."""
    documents = [Path("README.md"), *Path("docs").glob("*.md")]
    texts = [path.read_text(encoding="utf-8") for path in documents]
    texts += [call(name, "--help").out for name in COMMANDS]
    texts += [call("solve", "-i", "4", "-l", "rnn:3", "--params", "9").err, call("solve", "--params", "9").err]
    for text in texts:
        for line in text.splitlines():
            assert not re.search(r"""(-[loiT] |--\w+ )\S*(?<!')\?(?!')""", line.replace("'?'", "")), line
    assert call("solve", "-i", "4", "-l", "rnn:?", "--params", "1k").code == 0


def test_a_quoted_question_mark_is_one(call: Call, tmp_path: Path) -> None:
    """In a file it may be in quotes."""
    spec = tmp_path / "spec.yaml"
    results = []
    for mark in ("?", '"?"', "'?'"):
        spec.write_text(f"input: 4\nlayers:\n  - lstm: {mark}\n")
        results.append(call("solve", spec, "--params", "1k"))
    assert results[0].code == 0
    assert results[0] == results[1] == results[2]
