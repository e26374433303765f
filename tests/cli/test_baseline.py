"""`check --baseline`: how earlier specs and reports are read, and paired with those of today."""

import json
import re
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from conftest import SPEC, Call, file_at, peak_of, reports


def test_a_baseline_spec_is_compared(tmp_path: Path, spec: Path, call: Call) -> None:
    """Before, after, change, percent of before: 28 → 41 is +13, +46.43%, and limits are on either."""
    grown = file_at(tmp_path / "b.yaml", SPEC.replace("rnn: 3", "rnn: 4"))
    (report,) = reports(call, grown, "--baseline", spec)
    assert report["baseline"] == {"before": 28, "after": 41, "change": 13, "percent": 1300 / 28}
    for limit, code in [("46%", 1), ("47%", 0), ("12", 1), ("13", 0), ("0.1k", 0), ("0", 1)]:
        assert call("check", grown, "--baseline", spec, "--max-growth", limit).code == code
    out = call("check", grown, "--baseline", spec, "--max-growth", "5%").out
    assert f"{grown}: --max-growth: expected at most 5% more than before, got +13 (+46.43%): 28 before, 41 now" in out
    assert call("check", spec, "--baseline", grown, "--max-growth", "0%").code == 0


def test_a_folder_pairs_by_relative_path(tmp_path: Path, call: Call) -> None:
    """New and removed specs are named, a broken one is neither, and rows sum to the total."""
    for folder, files in {"old": "abc", "new": "bcd"}.items():
        (tmp_path / folder).mkdir(parents=True)
        for number, name in enumerate(files):
            (tmp_path / folder / f"{name}.yaml").write_text(SPEC.replace("rnn: 3", f"rnn: {number + 3}"))
    (tmp_path / "new" / "c.yaml").write_text("input: x")
    old, new = tmp_path / "old", tmp_path / "new"
    verdicts = reports(call, new, "--baseline", old)
    states = {Path(report["file"]).name: (report["status"], report["baseline"]) for report in verdicts}
    assert states["b.yaml"][1] == {"before": 41, "after": 28, "change": -13, "percent": -1300 / 41}
    assert states["c.yaml"][0] == "broken"
    assert states["d.yaml"][1] == {"before": None, "after": 56, "change": 56, "percent": None}
    assert states["a.yaml"] == ("removed", {"before": 28, "after": None, "change": -28, "percent": None})
    text = call("check", new, "--baseline", old, "-f", "markdown").out.split("Changes")[1]
    rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in text.splitlines() if line[:1] == "|"][2:]
    assert [row[-2:] for row in rows[:-1]] == [["-31.71%", ""], ["", "new"], ["", "removed"]]
    assert rows[-1][:4] == ["Total", "69", "84", "+15"]
    (old / "b.yaml").write_text("input: y")
    repaired = call("check", new / "d.yaml", "--baseline", old, "--max-params", "1k")
    assert repaired.code == 0  # what was broken once says nothing against the specs of today
    assert f"baseline {old / 'b.yaml'}:1:1: layers: missing" in repaired.out
    assert "removed" not in repaired.out  # a single file says nothing of others


@pytest.mark.parametrize(
    ("limit", "kept", "broken", "message"),
    [
        ("bytes", "52B", "51", "at most 51 more bytes than before, got +52 (+46.43%): 112 before, 164 now"),
        ("bytes", "46.5%", "46.4%", "at most 46.4% more bytes than before, got +52 (+46.43%)"),
        ("multiply_adds", "34", "33", "at most 33 more multiply-adds than before, got +34 (+51.52%): 66 before"),
    ],
)
def test_all_that_grows_may_be_limited(
    tmp_path: Path, spec: Path, call: Call, limit: str, kept: str, broken: str, message: str
) -> None:
    """Bytes and multiply-adds, against a spec, a folder, and the JSON of count and of check."""
    flag = "--max-growth"
    grown = tmp_path / "new" / "a.yaml"
    grown.parent.mkdir()
    grown.write_text(SPEC.replace("rnn: 3", "rnn: 4"))
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a.yaml").write_text(SPEC)
    for command in ("count", "check"):
        (tmp_path / f"{command}.json").write_text(call(command, spec, "-f", "json").out)
    for baseline in (spec, tmp_path / "old", tmp_path / "count.json", tmp_path / "check.json"):
        assert call("check", grown, "--baseline", baseline, flag, f"{limit}={kept}").code == 0
        result = call("check", grown, "--baseline", baseline, flag, f"{limit}={broken}")
        assert result.code == 1
        assert f"{grown}: {flag} {limit}: expected {message}" in result.out


def test_what_was_not_known_keeps_no_limit_on_growth(spec: Path, tmp_path: Path, call: Call) -> None:
    """A baseline without steps has no multiply-adds: that is said, and it is no 0."""
    old = file_at(tmp_path / "old.yaml", SPEC.replace("steps: 3\n", ""))
    result = call("check", spec, "--baseline", old, "--max-growth", "multiply_adds=1G")
    assert result.code == 1
    assert "cannot be judged: multiply-adds are not known of the baseline" in result.out
    assert call("check", spec, "--baseline", old, "--max-growth", "multiply_adds=0", "-T", 3).code == 0
    assert call("check", spec, "--baseline", old, "--max-growth", "bytes=0").code == 0


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
    paired = pairs(call, tree(tmp_path / "x", a=9), tree(tmp_path / "y", a=9), "--baseline", old)
    assert paired["x/a.yaml"] == 1
    assert str(paired["y/a.yaml"]).startswith("'a.yaml' of the baseline could be this file's or that of '")
    paired = pairs(call, tmp_path / "x" / "a.yaml", tree(tmp_path / "y", b=9) / "b.yaml", "--baseline", old)
    assert paired == {
        f"{folder}/{name}.yaml": f"the baseline's '{name}.yaml' shares only its name with this file; "
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


def test_an_earlier_report_pairs_by_name(tmp_path: Path, call: Call) -> None:
    """The JSON of count and of check itself; a single spec with a single report whatever their names."""
    before = file_at(tmp_path / "before.json", call("count", "specs/lstm.yaml", "specs/gru.yaml", "-f", "json").out)
    verdicts = reports(call, "specs/gru.yaml", "specs/rnn.yaml", "--baseline", before)
    assert [report["baseline"]["before"] for report in verdicts] == [1200, None, 1600]
    assert [report["status"] for report in verdicts] == ["passed", "passed", "removed"]
    before.write_text(call("check", "specs/lstm.yaml", "-f", "json").out)
    assert reports(call, "specs/rnn.yaml", "--baseline", before)[0]["baseline"]["before"] == 1600
    twice = tmp_path / "twice"
    twice.mkdir()
    for name in "ab":
        (twice / f"{name}.yaml").write_text(f"name: LSTM, one layer\n{SPEC}")
    assert [report["status"] for report in reports(call, twice, "--baseline", before)] == ["unchecked", "broken"]


def test_a_report_may_be_written_by_any_shell(spec: Path, tmp_path: Path, call: Call) -> None:
    """UTF-16, as one of them redirects it, and UTF-8 with its mark are read as they are."""
    spec.write_text(f"name: Übung\n{SPEC}")
    text = call("count", spec, "-f", "json").out
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"):
        (tmp_path / "before.json").write_bytes(text.encode(encoding))
        (report,) = reports(call, spec, "--baseline", tmp_path / "before.json")
        assert report["baseline"]["before"] == 28


def doc(report: str) -> str:
    return f'{{"version": 1, "reports": [{report}]}}'


GOOD = '{"name": "x", "params": 1}'


TEXT = Path(__file__).with_name("baselines.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(("text", "message"), re.findall(r"^([^#\s].*)\n  (.*)$", TEXT, re.MULTILINE))
def test_a_baseline_that_is_no_report_is_refused(tmp_path: Path, call: Call, text: str, message: str) -> None:
    """One line, exit 2, whatever the JSON: its place where it is none, the path where it is no report."""
    if sys.platform == "emscripten" and "nested too deep" in message:
        pytest.skip("Python reads deeper lists where its stack is that of Node")
    before = tmp_path / "before.json"
    before.write_bytes(eval(text).encode("utf-8", "surrogateescape"))
    place = "" if message[0].isdigit() else " "
    assert call("check", "specs", "--baseline", before) == (2, "", f"{before}:{place}{message}\n")


def test_a_baseline_of_too_many_bytes_is_refused_unread(tmp_path: Path, call: Call) -> None:
    """By its size alone."""
    before = tmp_path / "before.json"
    before.write_bytes(b"[" * 30_000_001)
    message = f"{before}: a baseline has at most 30,000,000 bytes, this has more\n"
    assert call("check", "specs", "--baseline", before) == (2, "", message)


def test_what_a_baseline_says_beside_its_numbers_is_passed_over(tmp_path: Path, call: Call) -> None:
    """Any JSON, strings with brackets and escapes too, may be beside the numbers."""
    other = {"a": [1.5e-3, -0, True, None, {"}": ']\\"[', "ü\n\t": [[]]}], "b": {}, "c": "\\" * 5, "d": "\ud800"}
    before = tmp_path / "before.json"
    for indent in (None, 2):
        before.write_text(json.dumps({"x": other, "reports": [{"y": other, "name": "z", "params": 5}]}, indent=indent))
        assert reports(call, "specs/rnn.yaml", "--baseline", before)[0]["baseline"]["before"] == 5


@pytest.mark.parametrize("form", ["table", "json", "markdown", "junit", "github"])
def test_half_of_a_surrogate_pair_in_a_name_can_be_printed(tmp_path: Path, call: Call, form: str) -> None:
    """JSON can have one, no encoding has."""
    before = file_at(tmp_path / "before.json", doc(r'{"name": "\ud800", "params": 1}, {"name": "y", "params": 1}'))
    done = call("check", "specs/rnn.yaml", "--baseline", before, "-f", form)
    assert (done.code, done.err) == (0, "")


@pytest.mark.slow
def test_layers_of_a_baseline_take_little_memory(tmp_path: Path) -> None:
    """Of 29 MB of them nothing is kept but the numbers of the network: under 250 MB."""
    tensor = '{"name": "weight_ih_l0", "role": "input", "direction": "forward", "shape": [80, 20], "params": 1600}'
    layers = f"[{tensor}{f', {tensor}' * 1_000}]"
    report = '{"layers": %s, "name": "%d", "params": 1600}'
    before = tmp_path / "before.json"
    before.write_text(doc(", ".join(report % (layers, number) for number in range(285))))
    assert 28_000_000 < before.stat().st_size < 30_000_000
    exit_code, kilobytes = peak_of("check", "specs/lstm.yaml", "--baseline", before)
    assert (exit_code, kilobytes < 250_000) == (0, True)
