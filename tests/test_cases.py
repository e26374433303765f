"""What a call reports, worked out by hand: each case of `cases/*.yaml` is a call, and what must be so of it.

`holds` has what is at paths of the JSON: `rows.params` is that of every row, `rows.0.params` of the first, and
`rows.name params` a pair of each. A text that begins with `= ` is the arithmetic of its number. `is` is the whole JSON.
`says`, `lacks` and `times` are texts that the plain output has, has not, and has so often, however its lines end; `err`
is in the error. `with` has more words for the call, with what it `holds` or `says` then, or all of these. `files` are
written first.
"""

import shlex
from pathlib import Path
from typing import Any

import pytest
from case_files import ROOT, cases, worked_out
from conftest import Call, report_of

CASES = [
    pytest.param(case, id=f"{path.stem}: {case['call']}")
    for path in sorted((ROOT / "tests" / "cases").glob("*.yaml"))
    for case in cases(path)
]
PARTS = {"is", "holds", "says", "lacks", "times", "err", "code", "with"}


def at(value: Any, path: list[str]) -> Any:
    """Return what is at a path, or the list of it in every element of a list."""
    if not path:
        return value
    if isinstance(value, list) and not path[0].isdigit():
        return [at(each, path) for each in value]
    if isinstance(value, list):
        return at(value[int(path[0])], path[1:])
    keys = path[0].split()
    return at(value[keys[0]], path[1:]) if len(keys) == 1 else [value[key] for key in keys]


def hold(case: dict[str, Any], words: list[str], call: Call) -> None:
    """Hold a call to all that a case says of it."""
    if "is" in case or "holds" in case:
        report = report_of(call, *words)
        assert case.get("is", report) == report
        values = case.get("holds", {})
        assert {path: at(report, path.split(".")) for path in values} == {
            path: worked_out(value) for path, value in values.items()
        }
    if {"code", "err", "says", "lacks", "times"} & {*case}:
        done = call(*words)
        out = " ".join(done.out.split())
        assert (done.code, case.get("err", done.err) in done.err) == (case.get("code", 0), True), done.err
        assert [text for text in case.get("says", ()) if " ".join(text.split()) not in out] == [], out
        assert [text for text in case.get("lacks", ()) if text in out] == [], out
        times = case.get("times", {})
        assert {text: out.count(text) for text in times} == times


@pytest.mark.parametrize("case", CASES)
def test_a_call_worked_out_by_hand(
    case: dict[str, Any], call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each says something, and is made in a folder with specs/ and its files."""
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    monkeypatch.chdir(tmp_path)
    for name, text in case.get("files", {}).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert PARTS & {*case} == {*case} - {"call", "files"} != set()
    words = shlex.split(case["call"])
    hold(case, words, call)
    for more, what in case.get("with", {}).items():
        assert isinstance(what, list) or not PARTS & {*what} or {*what} <= PARTS, "a part beside paths is not read"
        expected = {"says": what} if isinstance(what, list) else what if PARTS & {*what} else {"holds": what}
        hold(expected, [*words, *shlex.split(more)], call)
