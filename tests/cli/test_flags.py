"""The flags of a call: what is given twice, what is not known, and everything that is wrong told at once."""

import itertools
import re
from pathlib import Path

import pytest
from conftest import Call

from rnncalc.cli.commands import COMMANDS
from rnncalc.text import one_of

NETWORK = ("-i", "4", "-l", "rnn:3")


@pytest.mark.parametrize(
    ("args", "flag"),
    [
        (["-o", "5", "-o", "6"], "--output"),
        (["-o5", "--output=6"], "--output"),
        (["-i", "4"], "--input"),
        (["--steps", "3", "-T", "3"], "--steps"),
        (["-c", "keras", "-c", "onnx"], "--convention"),
        (["--topology", "one-to-one", "--topology", "one-to-one"], "--topology"),
        (["--dtype", "int8", "--dtype", "int8"], "--dtype"),
    ],
)
def test_a_flag_stands_once(call: Call, args: list[str], flag: str) -> None:
    """As a key in a file does: nothing is silently taken for the last."""
    assert call(*NETWORK, *args) == (2, "", f"{flag}: stands here a second time; remove one\n")


@pytest.mark.parametrize(
    ("command", "args", "flag"),
    [
        ("solve", ["--params", "1k", "--params", "2k"], "--params"),
        ("run", ["--seed", "1", "--seed", "1"], "--seed"),
        ("check", ["--max-params", "1", "--max-params", "2"], "--max-params"),
        ("answer", ["-T", "1", "-T", "2"], "--steps"),
    ],
)
def test_so_do_those_of_every_command(call: Call, command: str, args: list[str], flag: str) -> None:
    """Whatever else is wrong."""
    assert f"{flag}: stands here a second time; remove one\n" in call(command, *args).err


def test_layers_and_formats_may_be_repeated(call: Call) -> None:
    """Layers are many; of formats, which change no answer, the last is taken."""
    assert call(*NETWORK, "-f", "csv", "-f", "json").out == call(*NETWORK, "-f", "json").out
    assert call(*NETWORK, "--tensors", "--tensors").code == 0


@pytest.mark.parametrize(
    ("args", "cure"),
    [
        (["--dtype", "fp16"], "write float16"),
        (["--dtype", "half"], "write float16"),
        (["-f", "md"], "write markdown"),
        (["-c", "jax"], "write flax-linen or flax-nnx"),
        (["-c", "tensorflow"], "write keras"),
        (["-c", "Torch"], "write pytorch"),
        (["--topology", "seq2seq"], "a network of two halves is a spec with encoder and decoder"),
        (["--topology", "n-to-1"], "write many-to-one"),
        (["--topology", "1-to-n"], "write one-to-many"),
        (["--topology", "n-to-n"], "write many-to-many"),
        (["--topology", "1-to-1"], "write one-to-one"),
        (["-f", "jsn"], "did you mean 'json'?"),
    ],
)
def test_the_word_of_another_program_is_told_ours(call: Call, args: list[str], cure: str) -> None:
    """One line, with the flag, the words that there are and the one that is meant."""
    result = call(*NETWORK, *args)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.endswith(f"; {cure}\n")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-i", "10", "lstm:20"], "rnncalc: 'lstm:20': a layer has its flag before it; write -l lstm:20\n"),
        (["lstm:20"], "'lstm:20': no such file; a layer has its flag before it: -l lstm:20\n"),
        (
            ["train"],
            f"'train': no such file, and no command; the commands are {one_of([*COMMANDS])}\n",
        ),
        (["answer", "nowhere", "5"], "'nowhere': no such file\n"),
        (["cuont", "-i", "10"], "rnncalc: 'cuont': no such file; did you mean the command 'count'?\n"),
        (["count", "cuont"], "'cuont': no such file\n"),
        (["-i", "10", "-l", "rnn:3", "draw"], "rnncalc: the command comes first: rnncalc draw -i ...\n"),
        (
            ["-i", "4", "-l", "rnn:3,bidirectional=bidirectional"],
            "--layer 1: bidirectional: expected true or false, got 'bidirectional'; write true\n",
        ),
        (
            ["solve", "specs/lstm.yaml", "--params", "1M"],
            "rnncalc: no size is written ?, so there is nothing to solve for; write one such as lstm: ?, in the file\n",
        ),
        (
            ["solve", "specs/lstm.yaml", "--params", "5,5k"],
            "--params: expected a whole number, or one such as 4M, got '5,5k'; write 5.5k\n",
        ),
        (
            ["check", "specs/lstm.yaml", "--baseline", "specs/lstm.yaml", "--max-bytes-growth", "4kb"],
            "--max-bytes-growth: expected a percentage such as 5%, or a number such as 10kB, got '4kb'; write 4kB\n",
        ),
        (
            ["check", "specs/lstm.yaml", "--baseline", "specs/lstm.yaml", "--max-growth", "5,5 %"],
            "--max-growth: expected a percentage such as 5%, or a number such as 10k, got '5,5 %'; write 5.5%\n",
        ),
        (
            ["answer", "2480"],
            "rnncalc: no network: give a SPEC, or flags such as -i 4 -l rnn:3 -o 1, beside 2480\n",
        ),
        (["answer", "specs/lstm.yaml"], "rnncalc: give the answer to judge: rnncalc answer SPEC ANSWER\n"),
        (
            ["-i", "10,20", "-l", "rnn:3"],
            "--input: expected the number of features, got the shape 10 × 20; write -T 10 -i 20\n",
        ),
        (["-i", "10,200", "-l", "rnn:3"], "--input: expected a positive whole number, got '10,200'; write 10200\n"),
        (
            ["-i", "4", "-l", "dropout:50"],
            "--layer 1: dropout: expected a number from 0 to 1, got 50; write 0.5 for 50%\n",
        ),
        (
            ["-i", "4", "-l", "lstm:64,projection=64", "-c", "pytorch"],
            "--layer 1: projection: pytorch projects to fewer numbers than there are units, 64, got 64; give fewer, or "
            "remove it\n",
        ),
        (
            ["solve", "-i", "4", "-l", "lstm:?", "--bytes", "1 MB"],
            "--bytes: expected a whole number, or one such as 4MB, got '1 MB'; write 1MB, without the space\n",
        ),
        (
            ["solve", "-i", "4", "-l", "lstm:?", "--params", "1__000"],
            "--params: expected a whole number, or one such as 4M, got '1__000'; write 1000\n",
        ),
        (["solve", "-i", "4", "-l", "lstm:?", "--match", "nowhere"], "--match: 'nowhere': no such file\n"),
        (["run", *NETWORK, "--weights", "nowhere"], "--weights: 'nowhere': no such file\n"),
        (["run", *NETWORK, "--inputs", "nowhere"], "--inputs: 'nowhere': no such file\n"),
        (["check", "specs", "--baseline", "nowhere"], "--baseline: 'nowhere': no such file; a commit is git:nowhere\n"),
    ],
)
def test_what_was_meant_is_told(call: Call, args: list[str], message: str) -> None:
    """The cure, or where to look, in one line."""
    assert call(*args) == (2, "", message)


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
        result = call("count", *args)
        assert (result.code, result.out) == (2, "")
        assert {line.split(":")[0] for line in result.err.splitlines()} == {*flags}


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("run", {"--max-multiply-adds": ["--max-multiply-adds", "x"], "--weights": ["--weights", "nowhere"]}),
        ("compare", {"--dtype": ["--dtype", "x"]}),
        ("explain", {"--convention": ["-c", "x"]}),
        ("answer", {"rnncalc": ["many"]}),
    ],
)
def test_the_flags_of_a_command_are_told_with_those_of_the_network(
    call: Call, command: str, args: dict[str, list[str]]
) -> None:
    """A command's own and the network's are wrong together."""
    own = [word for words in args.values() for word in words]
    result = call(command, "-i", "xx", "-l", "lstm:many", *own, "-f", "xls")
    told = {line.split(":")[0] for line in result.err.splitlines()}
    assert told == {"--input", "--layer 1", "--format", *args}


def test_solve_tells_its_own_flags_together(call: Call) -> None:
    """The budget, the multiple and the network's file, each with its line."""
    args = ["--params", "x", "--multiple-of", "0", "--dtype", "y", "-f", "z"]
    told = [line.split(":")[0] for line in call("solve", "nowhere", *args).err.splitlines()]
    assert told == ["--dtype", "--format", "--params", "--multiple-of", "'nowhere'"]


@pytest.mark.parametrize("words", [["-h"], ["--help"], ["-5h"], ["-h", "5"], ["-T", "3", "-h"]])
def test_the_help_is_no_right_answer(call: Call, words: list[str]) -> None:
    """Where the exit code 0 says that a number is right, help is not had beside anything else."""
    result = call("answer", "specs/lstm.yaml", *words)
    assert (result.code, result.out) == (2, "")
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
    """In a file it may stand in quotes."""
    spec = tmp_path / "spec.yaml"
    results = []
    for mark in ("?", '"?"', "'?'"):
        spec.write_text(f"input: 4\nlayers:\n  - lstm: {mark}\n")
        results.append(call("solve", spec, "--params", "1k"))
    assert results[0].code == 0
    assert results[0] == results[1] == results[2]
