"""`check`: limits, where they come from, what they are held against, and how it ends."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Call
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network

from rnncalc.errors import SpecError
from rnncalc.questions.check import LIMIT_OF, CheckedFile, Limit, Quantity, Rule, Status, Unknown, check
from rnncalc.questions.count import count
from rnncalc.spec import parse

SPEC = "input: 4\nsteps: 3\nlayers:\n  - rnn: 3\noutput: 1\n"  # 24 + 4 parameters, 66 multiply-adds, 127 / 28 dense


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "a.yaml"
    path.write_text(SPEC)
    return path


def reports(call: Call, *args: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(call("check", *args, "-f", "json").out)["reports"]
    return found


@pytest.mark.parametrize(
    ("limits", "line"),
    [
        ("expect: 28", ""),
        ("expect: 29", "6:9: expect.total: expected 29, got 28: 1 fewer"),
        ("expect: {total: 27}", "6:17: expect.total: expected 27, got 28: 1 more"),
        ("expect: {layers: [24, 5]}", "6:23: expect.layers[1]: expected 5 in output, got 4: 1 fewer"),
        ("budget: {max_params: 28, max_bytes: 112, max_multiply_adds: 66, min_dense_ratio: 4.5}", ""),
        ("budget: {max_params: 27}", "6:22: budget.max_params: expected at most 27 parameters, got 28: 1 too many"),
        ("budget: {max_bytes: 111B}", "6:21: budget.max_bytes: expected at most 111 bytes, got 112: 1 too many"),
        (
            "budget: {max_multiply_adds: 65}",
            "6:29: budget.max_multiply_adds: expected at most 65 multiply-adds, got 66: 1 too many",
        ),
        (
            "budget:\n  min_dense_ratio: 4.6",
            "7:20: budget.min_dense_ratio: expected 4.6 dense-equivalent parameters for each one at least, "
            "got 4.535714285714286",
        ),
    ],
)
def test_a_limit_is_kept_or_told_with_its_place(spec: Path, call: Call, limits: str, line: str) -> None:
    """Exactly the limit is kept; one more is not, and the line says where the limit was set and by how much."""
    spec.write_text(f"{SPEC}{limits}\n")
    result = call("check", spec)
    assert (result.code, result.err) == (1 if line else 0, "")
    if line:
        assert f"{spec}:{line}" in result.out.splitlines()
        assert call("check", spec, "-f", "json").err == f"{spec}:{line}\n"


@pytest.mark.parametrize("key", ["max_multiply_adds: 10M", "min_dense_ratio: 1"])
def test_what_is_not_known_keeps_no_limit(spec: Path, call: Call, key: str) -> None:
    """Without steps there is no cost of a pass: that is a failure which says what to give, and -T gives it."""
    spec.write_text(SPEC.replace("steps: 3\n", "") + f"budget: {{{key}}}\n")
    result = call("check", spec)
    assert result.code == 1
    assert "not known without the number of steps; give steps, or -T" in result.out
    assert call("check", spec, "-T", 3).code == 0


def test_what_cannot_be_known_says_what_stands_in_the_way(spec: Path, call: Call) -> None:
    """The cost of an external part is not known, with or without steps; no parameters, no ratio."""
    spec.write_text(SPEC.replace("- rnn: 3", "- external: 3\n  - rnn: 3"))
    assert "what an external part costs is not known" in call("check", spec, "--max-multiply-adds", "1G").out
    spec.write_text("input: 3\nsteps: 2\nlayers: [dropout: 0.5]\n")
    assert "a network without parameters has no ratio" in call("check", spec, "--min-dense-ratio", 1).out


def test_flags_add_limits_and_stand_in_place_of_the_specs_own(spec: Path, call: Call) -> None:
    """--max-params replaces budget.max_params, and leaves the other keys of the budget alone."""
    spec.write_text(SPEC + "budget: {max_params: 1, max_bytes: 1}\n")
    (report,) = reports(call, spec, "--max-params", "1k", "--max-multiply-adds", "10M", "--min-dense-ratio", "4")
    assert [(of["name"], of["limit"], of["ok"]) for of in report["checks"]] == [
        ("--max-params", 1000, True),
        ("budget.max_bytes", 1, False),
        ("--max-multiply-adds", 10_000_000, True),
        ("--min-dense-ratio", 4, True),
    ]
    assert report["checks"][1]["line"] == 6
    assert report["checks"][0]["line"] is None
    assert call("check", spec, "--max-params", "28", "--max-bytes", "4MB").code == 0
    assert call("check", spec, "--max-params", "28", "--max-bytes", "56", "--dtype", "float16").code == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "rnncalc: nothing to check: give a PATH, such as a folder of specs\n"),
        (
            ["specs", "--max-params", "1.5"],
            "--max-params: expected a whole number, or one such as 4M, got '1.5'\n",
        ),
        (["specs", "-T", "x"], "--steps: expected a positive whole number, got 'x'\n"),
        (["specs", "--max-growth", "5%"], "rnncalc: --max-growth compares: give --baseline too\n"),
        (
            ["specs", "--baseline", "specs", "--max-growth", "much"],
            "--max-growth: expected a percentage such as 5%, or a number such as 10k, got 'much'\n",
        ),
        (["specs", "--baseline", "nowhere"], "'nowhere': no such file\n"),
        (
            ["specs", "--baseline", "specs/rnn.yaml"],
            "rnncalc: --baseline: one spec, 'specs/rnn.yaml', for 44: give a folder, or JSON of them all\n",
        ),
    ],
)
def test_a_mistaken_call_ends_in_one_line(call: Call, args: list[str], message: str) -> None:
    """What is wrong with the call is told once, not once a spec."""
    assert call("check", *args) == (2, "", message)


def test_a_convention_given_by_flag_leaves_expect_out(spec: Path, call: Call) -> None:
    """`expect` counts the spec's own convention; under another it is said to be left out, and the budget stays."""
    spec.write_text(SPEC + "expect: 28\nbudget: {max_params: 31}\n")
    (report,) = reports(call, spec, "-c", "pytorch")
    assert [of["name"] for of in report["checks"]] == ["budget.max_params"]
    assert report["skipped"] == "expect is not checked: it counts what textbook has, and -c says pytorch"
    assert report["params"] == 31
    (report,) = reports(call, spec, "-c", "textbook")
    assert (report["skipped"], len(report["checks"])) == (None, 2)
    spec.write_text(SPEC + "convention: pytorch\nexpect: 31\n")
    assert call("check", spec).code == 0
    assert reports(call, spec, "-c", "textbook")[0]["status"] == "unchecked"


def test_nothing_to_check_is_said_and_fails_when_strict(spec: Path, call: Call) -> None:
    """A spec without expect and budget passes with a word about it; under --strict it does not pass."""
    result = call("check", spec)
    assert result.code == 0
    assert "nothing to check" in result.out
    strict = call("check", spec, "--strict")
    assert strict.code == 1
    assert "give expect or budget" in strict.out
    assert call("check", spec, "--strict", "--max-params", 28).code == 0


def test_every_spec_is_checked_and_two_wins(tmp_path: Path, call: Call) -> None:
    """A broken spec is one among the others: all failures are shown, and the exit code is 2."""
    for name, text in {
        "a": SPEC + "expect: 1\n",
        "b": "input: x\nlayers: [rnn: 3]\n",
        "c": SPEC + "expect: 2\n",
    }.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    found = reports(call, tmp_path)
    assert [report["status"] for report in found] == ["failed", "broken", "failed"]
    assert found[1]["problems"][0] | {"message": ""} == {"line": 1, "column": 8, "path": "input", "message": ""}
    assert call("check", tmp_path).code == 2
    (tmp_path / "b.yaml").unlink()
    assert call("check", tmp_path).code == 1


def test_folders_are_searched_in_order(tmp_path: Path, call: Call) -> None:
    """Every .yaml and .yml below, sorted; hidden files and folders, other files and linked folders are left alone."""
    for name in ["b.yml", "a b/ü.yaml", "a b/x.YAML", ".hidden/c.yaml", ".d.yaml", "e.txt", "z/y/x/w.yaml"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SPEC)
    (tmp_path / "z" / "loop").symlink_to(tmp_path)
    (tmp_path / "linked.yaml").symlink_to(tmp_path / "b.yml")
    found = [os.path.relpath(report["file"], tmp_path) for report in reports(call, tmp_path, tmp_path / "b.yml")]
    assert found == ["a b/x.YAML", "a b/ü.yaml", "b.yml", "linked.yaml", "z/y/x/w.yaml"]


def test_paths_below_a_dot_are_as_annotations_need_them(
    spec: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`check .` names a file as the repository does, without ./ before it."""
    monkeypatch.chdir(spec.parent)
    assert reports(call, ".")[0]["file"] == "a.yaml"


def test_what_cannot_be_read_is_an_error_among_the_others(tmp_path: Path, call: Call) -> None:
    """A link that leads nowhere, a pipe that would never end, a folder without specs, a file that fails."""
    (tmp_path / "a.yaml").write_text(SPEC)
    (tmp_path / "dangling.yaml").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "empty").mkdir()
    found = reports(call, tmp_path, tmp_path / "empty", "/proc/self/mem", "no\0where")
    assert [(report["status"], *[of["message"] for of in report["problems"]]) for report in found] == [
        ("unchecked",),
        ("broken", "leads nowhere"),
        ("broken", "is no regular file"),
        ("broken", "no .yaml or .yml file below this folder"),
        ("broken", "input/output error"),
        ("broken", "no such file"),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_an_error(tmp_path: Path, spec: Path, call: Call) -> None:
    """Permission denied, for a file and for a folder, stops nothing else."""
    (tmp_path / "closed").mkdir(mode=0)
    spec.chmod(0)
    assert [report["status"] for report in reports(call, tmp_path)] == ["broken", "broken"]


def test_a_baseline_spec_is_compared(tmp_path: Path, spec: Path, call: Call) -> None:
    """Before, after, change, percent of before: 28 → 41 is +13, +46.43%, and limits are on either."""
    grown = tmp_path / "b.yaml"
    grown.write_text(SPEC.replace("rnn: 3", "rnn: 4"))
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
    found = reports(call, new, "--baseline", old)
    states = {Path(report["file"]).name: (report["status"], report["baseline"]) for report in found}
    assert states["b.yaml"][1] == {"before": 41, "after": 28, "change": -13, "percent": -1300 / 41}
    assert states["c.yaml"][0] == "broken"
    assert states["d.yaml"][1] == {"before": None, "after": 56, "change": 56, "percent": None}
    assert states["a.yaml"] == ("removed", {"before": 28, "after": None, "change": -28, "percent": None})
    lines = [line.split() for line in call("check", new, "--baseline", old).out.split("Changes")[1].splitlines()]
    rows = [words for words in lines if words and words[0].endswith(("a.yaml", "b.yaml", "d.yaml"))]
    assert [words[-1] for words in rows] == ["-31.71%", "new", "removed"]
    (total,) = (words for words in lines if words[:1] == ["Total"])
    assert total[1:4] == ["69", "84", "+15"]
    (old / "b.yaml").write_text("input: y")
    repaired = call("check", new / "d.yaml", "--baseline", old, "--max-params", "1k")
    assert repaired.code == 0  # what was broken once says nothing against the specs of today
    assert f"baseline {old / 'b.yaml'}:1:1: layers: missing" in repaired.out
    assert "removed" not in repaired.out  # a single file says nothing of others


def test_a_link_to_itself_is_one_broken_spec(tmp_path: Path, call: Call) -> None:
    """The others of the folder are checked all the same."""
    (tmp_path / "good.yaml").write_text(SPEC)
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    result = call("check", tmp_path, "--max-params", "1k")
    assert result.code == 2
    assert "✓  " in result.out
    assert "loop.yaml" in result.out


def test_an_earlier_report_pairs_by_name(tmp_path: Path, call: Call) -> None:
    """The JSON of count and of check itself; a single spec with a single report whatever their names."""
    before = tmp_path / "before.json"
    before.write_text(call("count", "specs/lstm.yaml", "specs/gru.yaml", "-f", "json").out)
    found = reports(call, "specs/gru.yaml", "specs/rnn.yaml", "--baseline", before)
    assert [report["baseline"]["before"] for report in found] == [1200, None, 1600]
    assert [report["status"] for report in found] == ["passed", "passed", "removed"]
    before.write_text(call("check", "specs/lstm.yaml", "-f", "json").out)
    assert reports(call, "specs/rnn.yaml", "--baseline", before)[0]["baseline"]["before"] == 1600
    twice = tmp_path / "twice"
    twice.mkdir()
    for name in "ab":
        (twice / f"{name}.yaml").write_text(f"name: LSTM, one layer\n{SPEC}")
    assert [report["status"] for report in reports(call, twice, "--baseline", before)] == ["unchecked", "broken"]


@pytest.mark.parametrize(
    "text",
    [
        *("{}", "[" * 100_000, "9" * 5000, "\udcff"),
        *('{"reports": 3}', '{"reports": [1]}', '{"reports": [{}]}'),
        '{"reports": [{"name": "x", "params": -1}]}',
        '{"reports": [{"name": "x", "params": true}]}',
        '{"reports": [{"name": "x", "params": 1}, {"name": "x", "params": 1}]}',
    ],
)
def test_a_baseline_that_is_no_report_is_refused(tmp_path: Path, call: Call, text: str) -> None:
    """One line, exit 2, whatever the JSON."""
    before = tmp_path / "before.json"
    before.write_bytes(text.encode("utf-8", "surrogateescape"))
    result = call("check", "specs", "--baseline", before)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith(f"{before}: ")


@given(st.one_of(network(), encoder_decoder()), st.integers(0, 3))
def test_a_limit_is_the_first_number_that_passes(spec: Spec, more: int) -> None:
    """For each count: the count itself is kept, one less is not."""
    net = parse(yaml.safe_dump(spec).encode(), "spec").network
    counted = count(net)
    for key in ("params", "bytes", "multiply_adds"):
        number = getattr(counted, key)
        for limit in (number or 0) + more, (number or 0) - 1 - more:
            (held,) = check(net, [Limit(*LIMIT_OF[f"max_{key}"], limit, flag="--max")]).limits
            assert held.kept == (number is not None and number <= limit)
            assert held.actual == number
            assert (held.unknown is None) == (number is not None)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 200))
def test_growth_is_in_percent_of_before(before: int, after: int, percent: int) -> None:
    """Whatever grew by no more than the percentage of what it was is kept, in whole-number arithmetic."""
    net = parse(f"input: 1\nlayers: [external: {after}]\n".encode(), "spec").network
    limit = Limit(Rule.GROWTH, Quantity.PARAMS, percent, flag="--max-growth", percent=True)
    (held,) = check(net, [limit], before=before).limits
    assert held.kept == (100 * (after - before) <= percent * before)


def test_a_verdict_is_numbers_names_and_places() -> None:
    """Each limit with where it is written, what it was held against, and why that is not known."""
    text = SPEC.replace("steps: 3\n", "") + "expect: {total: 28, layers: [25, 4]}\nbudget: {max_multiply_adds: 9}\n"
    spec = parse(text.encode(), "spec")
    verdict = check(spec.network, [Limit(Rule.AT_MOST, Quantity.PARAMS, 27, flag="--max-params")], locate=spec.place)
    assert verdict.numbers == (28, 112, None, None)
    assert [
        (held.limit.rule, held.limit.quantity, held.limit.layer, held.actual, held.kept, held.line, held.column)
        for held in verdict.limits
    ] == [
        (Rule.EXACTLY, Quantity.PARAMS, None, 28, True, 5, 17),
        (Rule.EXACTLY, Quantity.PARAMS, "rnn_1", 24, False, 5, 30),
        (Rule.EXACTLY, Quantity.PARAMS, "output", 4, True, None, None),
        (Rule.AT_MOST, Quantity.PARAMS, None, 28, False, None, None),
        (Rule.AT_MOST, Quantity.MULTIPLY_ADDS, None, None, False, 6, 29),
    ]
    assert [held.unknown for held in verdict.limits] == [None, None, None, None, Unknown.STEPS_NOT_GIVEN]
    assert [held.limit.path or held.limit.flag for held in verdict.limits][2:] == [
        ("expect", "layers", 1),
        "--max-params",
        ("budget", "max_multiply_adds"),
    ]


def test_a_file_is_as_its_limits_are() -> None:
    """Passed, failed, unchecked, failed for being unchecked, broken, removed."""
    good, bad, bare = (
        check(parse(f"{SPEC}{expect}".encode(), "spec").network) for expect in ("expect: 28", "expect: 29", "")
    )
    with pytest.raises(SpecError) as error:
        parse(b"input: x", "spec")
    files = [
        *(CheckedFile("f", good), CheckedFile("f", bad), CheckedFile("f", bare)),
        *(CheckedFile("f", bare, strict=True), CheckedFile("f", problems=error.value.problems), CheckedFile("f")),
    ]
    assert [file.status for file in files] == [
        *(Status.PASSED, Status.FAILED, Status.UNCHECKED, Status.FAILED, Status.BROKEN, Status.REMOVED)
    ]


@pytest.mark.parametrize(
    ("before", "after", "growth", "kept"),
    [
        (100, 105, "5%", True),
        (100, 106, "5%", False),
        (100, 100, "0%", True),
        (100, 101, "0%", False),
        (100, 50, "0%", True),
        (1_000, 1_025, "2.5%", True),
        (1_000, 1_026, "2.5%", False),
        (100, 110, "10", True),
        (100, 111, "10", False),
        (0, 0, "5%", True),
        (0, 1, "5%", False),
        (0, 7, "7", True),
    ],
)
def test_growth_is_held_to_the_last_parameter(
    tmp_path: Path, call: Call, before: int, after: int, growth: str, kept: bool
) -> None:
    """Percent are of what it was before, and whole numbers of parameters decide."""
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    for path, params in ((old, before), (new, after)):
        path.write_text(f"input: 3\nlayers: [{{external: {params}}}]\n")
    (found,) = reports(call, new, "--baseline", old, "--max-growth", growth)
    (check,) = found["checks"]
    assert check["ok"] == kept
    assert found["status"] == ("passed" if kept else "failed")
    assert found["baseline"]["change"] == after - before
    assert found["baseline"]["percent"] == ((after - before) * 100 / before if before else None)
    assert (check["message"] is None) == kept


def test_limits_may_be_met_exactly(tmp_path: Path, call: Call) -> None:
    """28 parameters, 112 bytes, 66 multiply-adds and 127 / 28 dense: each limit is kept by what equals it."""
    spec = tmp_path / "spec.yaml"
    spec.write_text("input: 4\nsteps: 3\nlayers: [{rnn: 3}]\noutput: 1\n")
    limits = ["--max-params", 28, "--max-bytes", 112, "--max-multiply-adds", 66]
    assert call("check", spec, *limits).code == 0
    for flag, limit in zip(limits[::2], limits[1::2], strict=True):
        assert isinstance(limit, int)
        assert call("check", spec, flag, limit - 1).code == 1
    spec.write_text("input: 2\nsteps: 2\nlayers: [{rnn: 2, bias: false}]\n")  # 8, and 4 × 4
    assert call("check", spec, "--min-dense-ratio", 2).code == 0
    assert call("check", spec, "--min-dense-ratio", "2.01").code == 1
