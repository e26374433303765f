"""Which earlier spec is a file's: by its path below the folder that was given, or below one above all."""

from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from conftest import SPEC, Call, reports


def tree(folder: Path, **files: int) -> Path:
    """Make specs that have so many parameters, by their paths."""
    for path, params in files.items():
        file = folder / f"{path.replace('__', '/')}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"input: 1\nlayers: [external: {params}]\n")
    return folder


def pairs(call: Call, *args: object) -> dict[str, int | str | None]:
    """Return what each file was compared to, or the problem of it, by the end of its path."""
    return {
        "/".join(Path(report["file"]).parts[-2:]): report["baseline"]["before"]
        if report["baseline"]
        else report["problems"][0]["message"]
        for report in reports(call, *args)
        if report["status"] != "removed"
    }


def test_files_given_one_by_one_pair_below_a_folder_above_all(tmp_path: Path, call: Call) -> None:
    """As a hook names them: each has the earlier spec of its own path, not one that has no more than its bare name."""
    old = tree(tmp_path / "old", a=1, sub__a=2, sub__c=3)
    new = tree(tmp_path / "new", a=9, sub__a=9, sub__c=9, sub__d=9)
    files = sorted(new.rglob("*.yaml"))
    all_four = {"new/a.yaml": 1, "sub/a.yaml": 2, "sub/c.yaml": 3, "sub/d.yaml": None}
    assert pairs(call, *files, "--baseline", old) == all_four
    assert pairs(call, new, "--baseline", old) == all_four
    for file, was in zip(files, all_four.values(), strict=True):
        assert [*pairs(call, file, "--baseline", old).values()] == [was]
    assert call("check", new / "sub" / "c.yaml", "--baseline", old, "--max-growth", 5).code == 1
    old = tree(tmp_path / "older", a=1)
    assert pairs(call, *files[:2], "--baseline", old) == {"new/a.yaml": 1, "sub/a.yaml": None}
    assert pairs(call, *files[:2], new, "--baseline", old) == {**dict.fromkeys(all_four), "new/a.yaml": 1}


def test_two_files_have_no_earlier_spec_between_them(tmp_path: Path, call: Call) -> None:
    """Where two mean one, or one has but its name in common, that is a problem and no pair."""
    old = tree(tmp_path / "old", a=1, b=1)
    found = pairs(call, tree(tmp_path / "x", a=9), tree(tmp_path / "y", a=9), "--baseline", old)
    assert found["x/a.yaml"] == 1
    assert str(found["y/a.yaml"]).startswith("'a.yaml' of the baseline could be this file's or that of '")
    found = pairs(call, tmp_path / "x" / "a.yaml", tree(tmp_path / "y", b=9) / "b.yaml", "--baseline", old)
    assert found == {
        f"{folder}/{name}.yaml": f"the baseline's '{name}.yaml' has no more than its name in common with this file; "
        "give the folder that the file is in"
        for folder, name in ("xa", "yb")
    }
    assert call("check", tmp_path / "x" / "a.yaml", tmp_path / "y" / "b.yaml", "--baseline", old).code == 2


def test_standard_input_pairs_with_a_spec_alone(spec: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a name, and no path."""
    for baseline, code in ((spec, 0), (spec.parent, 2)):
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(SPEC.encode())))
        assert call("check", "-", "--baseline", baseline, "--max-growth", 0).code == code


def test_a_folder_given_twice_is_one(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is given, and in a folder that is given, pairs by its path in the folder; once."""
    old = tree(tmp_path / "old", a=1, sub__a=2)
    tree(tmp_path / "new", a=9, sub__a=9)
    monkeypatch.chdir(tmp_path)
    assert pairs(call, "new/sub/a.yaml", "new", "new/sub", "--baseline", old) == {"sub/a.yaml": 2, "new/a.yaml": 1}


def test_a_folder_may_hold_the_paths_as_they_are_given(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second checkout has the specs where the first has them."""
    tree(tmp_path / "now" / "specs", a=9)
    old = tree(tmp_path / "old", specs__a=1)
    monkeypatch.chdir(tmp_path / "now")
    assert pairs(call, "specs", "--baseline", old) == {"specs/a.yaml": 1}
    assert pairs(call, "specs/a.yaml", "--baseline", old) == {"specs/a.yaml": 1}
    assert pairs(call, "specs", "--baseline", tree(old, a=2)) == {"specs/a.yaml": 2}
