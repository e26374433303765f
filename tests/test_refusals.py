"""Calls that are refused: `refusals/NAME.txt` holds calls, and below each the lines that it ends in.

A block begins with `#` lines that say what its calls have in common, and ends with a blank line. `$ cat > FILE` writes
the `> ` lines below it. A call is refused with exit code 2 and exactly the lines below it on standard error, prints
nothing, and changes no file. Lists of what is registered are written as `{kinds}` (`lists.py`). `=> TEXT` below a call
is a cure that is followed: exit code 0, no error, and TEXT in the output.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Call, Result
from cures import followed
from lists import listed

ROOT = Path(__file__).parent.parent
REFUSALS = sorted((ROOT / "tests" / "refusals").glob("*.txt"))


def blocks() -> Iterator[Any]:
    """Yield the commands of each block, each with the lines below it."""
    for path in REFUSALS:
        for block in re.split(r"\n{2,}", path.read_text(encoding="utf-8").strip()):
            title, *parts = re.split(r"^\$ (.*)\n?", block, flags=re.MULTILINE)
            yield pytest.param([*zip(parts[::2], parts[1::2], strict=True)], id=f"{path.stem}: {title.splitlines()[0]}")


@pytest.mark.parametrize("block", [*blocks()])
def test_a_call_is_refused_or_its_cure_helps(
    block: list[tuple[str, str]], call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder with specs/ and the files that the block writes."""
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    monkeypatch.chdir(tmp_path)
    for command, below in block:
        program, *words = shlex.split(command)
        if program == "cat":
            path = Path(words[1])
            path.parent.mkdir(exist_ok=True)
            path.write_text(re.sub("^> ?", "", below, flags=re.MULTILINE), encoding="utf-8")
            continue
        assert program == "rnncalc"
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        done = call(*words)
        if below.startswith("=> "):
            assert (done.code, done.err) == (0, ""), command
            assert below.removeprefix("=> ").rstrip("\n") in done.out, command
        else:
            assert below, f"a refusal says something: {command}"
            said = listed(below if below.endswith("\n") else f"{below}\n")
            assert done == (2, "", said), command
            assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before, command
            for line in said.splitlines():
                for cured in followed(words, line):
                    check(cured, words, "write rnncalc" in line, said, call(*cured))


def check(cured: list[str], words: list[str], whole: bool, before: str, done: Result) -> None:
    """Check that a call that follows a cure is accepted, or refused for what is not in the cure.

    words: the call that was refused. whole: whether the cure is a whole call. before: what was wrong.
    """
    added = {*cured} - {*words}
    earlier = {re.sub("[0-9]", "", line) for line in before.splitlines()}
    problems = [line for line in done.err.splitlines() if re.sub("[0-9]", "", line) not in earlier]
    typed = " ".join(words)
    problems = [line for line in problems if not re.search(": needs | missing;|give the steps", line)]
    problems = [line for line in problems if not ((got := re.search("'(.+?)'", line)) and got[1] in typed)]
    parts = {part.strip("-").replace("-", "_") for word in added for part in re.split("[,=: ]", word)}
    named = {part for line in problems for part in re.split(r"[^\w]+", line.replace("-", "_")) if part in parts}
    assert done.code < 2 or not (problems if whole else named), (cured, done.err)
