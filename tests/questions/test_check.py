"""`check`: limits, where they come from, what they are compared with, and how it ends."""

import os
import re
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import SPEC, Call, file_at, peak_of, reports
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc import RNN, Network
from rnncalc.cli.check import read_limits
from rnncalc.errors import SpecError
from rnncalc.network.budget import BUDGET_KEYS, BY_NAME, Budget, Quantity, Rule
from rnncalc.questions.check import Difference, Limit, Numbers, Status, Unknown, Verdict, check, check_difference
from rnncalc.questions.count import count
from rnncalc.spec import parse
from rnncalc.spec.schema import schema

LIMITS = Path(__file__).with_name("limits.txt").read_text(encoding="utf-8").strip().split("\n\n")[1:]


@pytest.mark.parametrize("block", LIMITS)
def test_a_limit_is_kept_or_told_with_its_place(spec: Path, call: Call, block: str) -> None:
    """Exactly the limit is kept; one more is not, and the line says where the limit was set and by how much."""
    limits, _, line = re.sub("^#.*\n", "", block).partition("\n=> ")
    spec.write_text(f"{SPEC}{limits}\n")
    result = call("check", spec)
    assert (result.code, result.err) == (1 if line else 0, "")
    if line:
        assert f"{spec}:{line}" in result.out.splitlines()
        assert call("check", spec, "-f", "json").err == f"{spec}:{line}\n"


@pytest.mark.parametrize("earlier", [("check",), ("count", "--stream")])
def test_a_state_that_grew(spec: Path, tmp_path: Path, call: Call, earlier: tuple[str, ...]) -> None:
    """Against a spec, or the JSON of an earlier call that has a state."""
    spec.write_text("input: 4\nrate: 10\nlayers: [{gru: 3}]\n")
    before = file_at(tmp_path / "before.json", call(*earlier, spec, "-f", "json").out)
    spec.write_text("input: 4\nrate: 10\nlayers: [{gru: 4}]\n")
    limits = ("--max-growth", "state=33%", "--max-growth", "state_bytes=4B")
    result = call("check", spec, "--baseline", before, *limits, "--max-growth", "multiply_adds_per_step=33")
    assert "--max-growth state: expected at most 33% more numbers of state than before, got +1" in result.out
    assert result.out.splitlines()[-1] == "1 failed."
    assert tuple(
        line[0]
        for line in result.out.splitlines()
        if "growth state_bytes" in line or "growth multiply_adds_per_step" in line
    ) == ("✓", "✓")


def test_every_spec_is_checked_and_two_wins(tmp_path: Path, call: Call) -> None:
    """A broken spec is one among the others: all failures are shown, and the exit code is 2."""
    for name, text in {
        "a": SPEC + "expect: 1\n",
        "b": "input: xx\nlayers: [rnn: 3]\n",
        "c": SPEC + "expect: 2\n",
    }.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    files = reports(call, tmp_path)
    assert [report["status"] for report in files] == ["failed", "broken", "failed"]
    assert files[1]["problems"][0] | {"message": ""} == {"line": 1, "column": 8, "path": "input", "message": ""}
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
    files = [os.path.relpath(report["file"], tmp_path) for report in reports(call, tmp_path, tmp_path / "b.yml")]
    assert files == ["a b/x.YAML", "a b/ü.yaml", "b.yml", "linked.yaml", "z/y/x/w.yaml"]


def test_paths_below_a_dot_are_as_annotations_need_them(
    spec: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`check .` names a file as the repository does, without ./ before it."""
    monkeypatch.chdir(spec.parent)
    assert reports(call, ".")[0]["file"] == "a.yaml"


def test_what_cannot_be_read_is_an_error_among_the_others(tmp_path: Path, call: Call) -> None:
    """A link that leads nowhere or to itself, an endless pipe, a folder without specs, a file that fails."""
    (tmp_path / "a.yaml").write_text(SPEC)
    (tmp_path / "dangling.yaml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "empty").mkdir()
    files = reports(call, tmp_path, tmp_path / "empty", "/proc/self/mem", "no\0where")
    assert [(report["status"], *[problem["message"] for problem in report["problems"]]) for report in files] == [
        ("unchecked",),
        ("broken", "is a link that leads nowhere"),
        ("broken", "too many levels of symbolic links"),
        ("broken", "is a pipe; only regular files are read"),
        ("broken", "no .yaml or .yml file below this folder; a model file in it is named by itself"),
        ("broken", "input/output error"),
        ("broken", "no such file"),
    ]


def test_a_folder_that_may_not_be_read_is_an_error(tmp_path: Path, spec: Path, call: Call) -> None:
    """Permission denied, for a file and for a folder, stops nothing else."""
    (tmp_path / "closed").mkdir(mode=0)
    spec.chmod(0)
    if os.access(spec, os.R_OK):
        pytest.skip("root may read everything")
    assert [report["status"] for report in reports(call, tmp_path)] == ["broken", "broken"]


@given(st.one_of(network(), encoder_decoder()), st.integers(0, 3))
def test_a_limit_is_the_first_number_that_passes(spec: Spec, more: int) -> None:
    """For each count: the count itself is kept, one less is not."""
    net = network_of(spec)
    counted = count(net)
    for key in ("params", "bytes", "multiply_adds"):
        number = getattr(counted, key)
        for limit in (number or 0) + more, (number or 0) - 1 - more:
            (checked,) = check(
                net, [Limit(Rule.AT_MOST, BUDGET_KEYS[f"max_{key}"].quantity, limit, flag="--max")]
            ).limits
            assert checked.kept == (number is not None and number <= limit)
            assert checked.actual == number
            assert (checked.unknown is None) == (number is not None)


def test_a_verdict_is_numbers_names_and_places() -> None:
    """Each limit with where it is written, what it was compared with, and why that is not known."""
    text = SPEC.replace("steps: 3\n", "") + "expect: {total: 28, layers: [25, 4]}\nbudget: {max_multiply_adds: 9}\n"
    spec = parse(text.encode(), "spec")
    verdict = check(spec.network, [Limit(Rule.AT_MOST, Quantity.PARAMS, 27, flag="--max-params")], locate=spec.place)
    assert verdict.numbers == Numbers(params=28, bytes=112, state=3, state_bytes=12, multiply_adds_per_step=3 * 7 + 3)
    assert [
        (
            checked.limit.rule,
            checked.limit.quantity,
            checked.limit.layer,
            checked.actual,
            checked.kept,
            checked.line,
            checked.column,
        )
        for checked in verdict.limits
    ] == [
        (Rule.EXACTLY, Quantity.PARAMS, None, 28, True, 5, 17),
        (Rule.EXACTLY, Quantity.PARAMS, "rnn_1", 24, False, 5, 30),
        (Rule.EXACTLY, Quantity.PARAMS, "output", 4, True, None, None),
        (Rule.AT_MOST, Quantity.PARAMS, None, 28, False, None, None),
        (Rule.AT_MOST, Quantity.MULTIPLY_ADDS, None, None, False, 6, 29),
    ]
    assert [checked.unknown for checked in verdict.limits] == [None, None, None, None, Unknown.STEPS_NOT_GIVEN]
    assert [checked.limit.path or checked.limit.flag for checked in verdict.limits][2:] == [
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
        *(good, bad, bare, bare._replace(strict=True)),
        *(Verdict("f", problems=error.value.problems), Verdict("f")),
    ]
    assert [file.status for file in files] == [
        *(Status.PASSED, Status.FAILED, Status.UNCHECKED, Status.FAILED, Status.BROKEN, Status.REMOVED)
    ]


@pytest.mark.parametrize(
    ("before", "after", "growth", "kept"),
    [
        *((100, 105, "5%", True), (100, 106, "5%", False), (100, 50, "0%", True), (100, 101, "0%", False)),
        *((1_000, 1_025, "2.5%", True), (1_000, 1_026, "2.5%", False)),
        *((100, 110, "10", True), (100, 111, "10", False)),
        *((0, 0, "5%", True), (0, 1, "5%", False), (0, 7, "7", True)),
        (689_000, 727_584, "5.6%", True),
        (689_000, 727_585, "5.6%", False),
        (10**15 + 1, (10**15 + 1) * 11 // 10, "10%", True),
        (10**30, 10**30 + 10**14, "0.00000000000001%", True),
        (10**30, 10**30 + 10**14 + 1, "0.00000000000001%", False),
    ],
)
def test_growth_is_held_to_the_last_parameter(before: int, after: int, growth: str, kept: bool) -> None:
    """Percent are of what it was before: 5.6% of 689,000 are 38,584 exactly, and no size is too large to tell."""
    (limit,) = read_limits({"max_growth": (growth,)})
    assert check_difference(limit, Difference(before, after)).kept == kept


@given(st.fractions(0, 10**6), st.fractions(0, 10**6), st.fractions(0, 10**3))
def test_a_percentage_kept_is_a_number_kept(before: Fraction, after: Fraction, percent: Fraction) -> None:
    """Percent of before are so much."""
    share = Limit(Rule.GROWTH, Quantity.PARAMS, percent, percent=True)
    number = Limit(Rule.GROWTH, Quantity.PARAMS, percent * before / 100)
    checked, counted = (check_difference(limit, Difference(before, after)) for limit in (share, number))
    if before or before == after:
        assert checked.kept == counted.kept
    if before and checked.actual is not None:
        assert checked.actual * before == 100 * (counted.actual or 0)


def test_a_ratio_is_held_to_the_last_digit() -> None:
    """127 / 28 is 4.5357142857142857142...: what is a hair more is more."""
    network = parse(f"{SPEC}budget: {{min_dense_ratio: 4.53571428571428571429}}".encode(), "spec").network
    assert not check(network).limits[0].kept
    assert check(network.replace(budget=Budget(min_dense_ratio=4.5))).limits[0].kept


def test_a_budget_from_python() -> None:
    """A Fraction, a float and a dict of layers are limits."""
    for budget in (Budget(min_dense_ratio=Fraction(1, 3)), Budget(min_dense_ratio=2), Budget(layers={"rnn_1": 3})):
        assert len(check(Network(input=1, layers=[RNN(1)], steps=2, budget=budget)).limits) == 1


def test_the_limits_of_a_budget_are_flags_and_schema_too(call: Call) -> None:
    """Whatever the one declaration has, the help lists, the schema describes and a flag sets."""
    printed = " ".join(call("check", "--help").out.split())
    keys = schema()["properties"]["budget"]["properties"]
    others = {"max_growth", *BY_NAME}
    assert {*BUDGET_KEYS} == {*keys} - others == {*Budget._fields} - others
    for key, entry in BUDGET_KEYS.items():
        assert key in printed or (f"--{key.replace('_', '-')}" in printed and entry.meaning in printed)
        assert keys[key]["description"] == entry.meaning


@pytest.mark.slow
def test_of_a_file_only_its_numbers_stay(tmp_path: Path) -> None:
    """A thousand files of 100 layers each, and their baseline, take less than 100 MB: one is held at a time."""
    for number in range(1_000):
        text = f"input: {number + 1}\nlayers: [{{lstm: {number + 2}, repeat: 100}}]\nexpect: {number}\n"
        (tmp_path / f"{number}.yaml").write_text(text)
    code, kilobytes = peak_of("check", tmp_path, "--baseline", tmp_path)
    assert (code, kilobytes < 100_000) == (1, True)


def test_more_limits_than_memory_holds_are_refused(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another way."""
    monkeypatch.setattr("rnncalc.cli.check.MOST_FINDINGS", 5)
    for name in "abcd":
        (tmp_path / f"{name}.yaml").write_text(f"{SPEC}expect: {{total: 28, layers: [24, 4]}}\n")
    assert call("check", tmp_path / "a.yaml").code == 0
    message = "5 limits and problems are too many for one call; check fewer files at a time\n"
    assert call("check", tmp_path) == (2, "", f"rnncalc: {tmp_path / 'b.yaml'}: {message}")


@pytest.mark.parametrize(
    ("text", "before", "unknown"),
    [
        ("input: 4\nlayers: [rnn: 3]\n", 100, Unknown.STEPS_NOT_GIVEN),
        ("input: 4\nsteps: 3\nlayers: [external: 9, rnn: 3]\n", 100, Unknown.COUNTED_ELSEWHERE),
        ("input: 4\nsteps: 3\nlayers: [rnn: 3]\n", None, Unknown.NOT_KNOWN_BEFORE),
    ],
)
def test_what_is_not_known_has_not_grown_within_a_limit(text: str, before: int | None, unknown: Unknown) -> None:
    """It is said why: of now, or else of the baseline."""
    limit = Limit(Rule.GROWTH, Quantity.MULTIPLY_ADDS, 1_000, flag="--max-growth")
    (checked,) = check(parse(text.encode(), "spec").network, [limit], before=Numbers(24, 96, before)).limits
    assert (checked.kept, checked.actual, checked.unknown) == (False, None, unknown)


def test_growth_in_a_budget(spec: Path, tmp_path: Path, call: Call) -> None:
    """A limit alone is that of the parameters; without a baseline there is nothing to compare with."""
    old = file_at(tmp_path / "old.yaml", SPEC)  # 3 (4 + 3 + 1) + 4 = 28
    for written, failures in {
        "50%": [],
        "13": [],
        "12": ["budget.max_growth.params"],
        "{params: 46%, bytes: 52B}": ["budget.max_growth.params"],
        "{state: 0, bytes: 51}": ["budget.max_growth.state", "budget.max_growth.bytes"],
    }.items():  # 4 (4 + 4 + 1) + 5 = 41 parameters
        spec.write_text(SPEC.replace("rnn: 3", "rnn: 4") + f"budget: {{max_growth: {written}}}\n")
        (report,) = reports(call, spec, "--baseline", old)
        assert [check["name"] for check in report["checks"] if not check["ok"]] == failures
        assert {check["line"] for check in report["checks"]} == {6}
        assert reports(call, spec)[0]["checks"] == []
