"""`--baseline` with the JSON of an earlier call: read as strictly as a spec, whatever it is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SPEC, Call, reports


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


def test_a_report_may_be_written_by_any_shell(spec: Path, tmp_path: Path, call: Call) -> None:
    """UTF-16, as one of them redirects it, and UTF-8 with its mark are read as they are."""
    spec.write_text(f"name: Übung\n{SPEC}")
    text = call("count", spec, "-f", "json").out
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"):
        (tmp_path / "before.json").write_bytes(text.encode(encoding))
        (report,) = reports(call, spec, "--baseline", tmp_path / "before.json")
        assert report["baseline"]["before"] == 28


def of(report: str) -> str:
    return f'{{"version": 1, "reports": [{report}]}}'


GOOD = '{"name": "x", "params": 1}'
FROM_COUNT = "the JSON that rnncalc count -f json prints"
WHOLE = "expected a whole number, 0 or more, got"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", f" expected a spec, or {FROM_COUNT}"),
        ("9" * 5000, f" expected a spec, or {FROM_COUNT}"),
        ("[" * 100_000, " lists and objects stand too deep for a report"),
        (of(f'{{"layers": {"[" * 100_000}'), " lists and objects stand too deep for a report"),
        ("\udcff", " no UTF-8 text"),
        ('{"reports": 3}', " reports: expected a list, got 3"),
        (of("1"), " reports[0]: expected an object, got 1"),
        (of("{}"), f" reports[0]: params: missing; give {FROM_COUNT}"),
        (of('{"name": "x", "params": -1}'), f" reports[0].params: {WHOLE} -1"),
        (of('{"name": "x", "params": true}'), f" reports[0].params: {WHOLE} true"),
        (of('{"name": "x", "params": 1.0}'), f" reports[0].params: {WHOLE} 1.0"),
        (of('{"name": "x", "params": "1"}'), f' reports[0].params: {WHOLE} "1"'),
        (of('{"name": "x", "params": NaN}'), f" reports[0].params: {WHOLE} NaN"),
        (of(f'{{"name": "x", "params": [{"1," * 999}1]}}'), f" reports[0].params: {WHOLE} [{'1, ' * 26}…"),
        (of('{"name": "x", "params": 1, "bytes": -1}'), f" reports[0].bytes: {WHOLE} -1"),
        (of('{"name": "x", "params": 1, "dense": {"params": -1}}'), f" reports[0].dense.params: {WHOLE} -1"),
        (of('{"name": "x", "params": 01}'), "1:53: not valid JSON: Expecting ',' delimiter"),
        (of(f'{{"name": "x", "params": {"9" * 400}}}'), " reports[0].params: expected at most 40 digits"),
        (of(f'{{"name": "x", "params": {"9" * 5000}}}'), " reports[0].params: expected at most 40 digits"),
        (
            of(f"{GOOD}, {GOOD}"),
            " reports[1]: two reports are called 'x'; compare to a folder, or name them apart",
        ),
        (
            of('{"name": "x", "params": 1, "params": 2}'),
            " the key params stands twice in one object; remove one",
        ),
        ('{"reports": [], "reports": []}', " the key reports stands twice in one object; remove one"),
        (
            of('{"name": null, "params": 1}'),
            " reports[0]: expected a name and params, or null for both: a file that is no spec",
        ),
        (of('{"name": "", "params": 1}'), " reports[0].name: expected text, got ''"),
        (of('{"name": 3, "params": 1}'), " reports[0].name: expected text, got 3"),
        (
            of(f'{{"name": "{"x" * 201}", "params": 1}}'),
            " reports[0].name: expected at most 200 characters, got 201",
        ),
        (f"{of(GOOD)}\n{{}}", "2:1: not valid JSON: Extra data"),
        (of(GOOD)[:-1], "1:55: not valid JSON: Expecting ',' delimiter"),
        ("", "1:1: not valid JSON: Expecting value"),
        ('{"version": 2, "reports": []}', " version: expected 1, got 2: made by another rnncalc"),
    ],
)
def test_a_baseline_that_is_no_report_is_refused(tmp_path: Path, call: Call, text: str, message: str) -> None:
    """One line, exit 2, whatever the JSON: its place where it is none, the path where it is no report."""
    if sys.platform == "emscripten" and "stand too deep" in message:
        pytest.skip("Python reads deeper lists where its stack is that of Node")
    before = tmp_path / "before.json"
    before.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert call("check", "specs", "--baseline", before) == (2, "", f"{before}:{message}\n")


def test_a_baseline_of_too_many_bytes_is_refused_unread(tmp_path: Path, call: Call) -> None:
    """By its size alone."""
    before = tmp_path / "before.json"
    before.write_bytes(b"[" * 30_000_001)
    said = f"{before}: a baseline has at most 30,000,000 bytes, this has more\n"
    assert call("check", "specs", "--baseline", before) == (2, "", said)


def test_what_a_baseline_says_beside_its_numbers_is_passed_over(tmp_path: Path, call: Call) -> None:
    """Any JSON, strings with brackets and escapes too, may stand beside the numbers."""
    other = {"a": [1.5e-3, -0, True, None, {"}": ']\\"[', "ü\n\t": [[]]}], "b": {}, "c": "\\" * 5, "d": "\ud800"}
    before = tmp_path / "before.json"
    for indent in (None, 2):
        before.write_text(json.dumps({"x": other, "reports": [{"y": other, "name": "z", "params": 5}]}, indent=indent))
        assert reports(call, "specs/rnn.yaml", "--baseline", before)[0]["baseline"]["before"] == 5


@pytest.mark.parametrize("form", ["table", "json", "markdown", "junit", "github"])
def test_half_of_a_surrogate_pair_in_a_name_can_be_printed(tmp_path: Path, call: Call, form: str) -> None:
    """JSON can have one, no encoding has."""
    before = tmp_path / "before.json"
    before.write_text(of(r'{"name": "\ud800", "params": 1}, {"name": "y", "params": 1}'))
    done = call("check", "specs/rnn.yaml", "--baseline", before, "-f", form)
    assert (done.code, done.err) == (0, "")


@pytest.mark.slow
def test_layers_of_a_baseline_take_little_memory(tmp_path: Path) -> None:
    """Of 29 MB of them nothing is kept but the numbers of the network: under 250 MB."""
    tensor = '{"name": "weight_ih_l0", "role": "input", "direction": "forward", "shape": [80, 20], "params": 1600}'
    layers = f"[{tensor}{f', {tensor}' * 1_000}]"
    report = '{"layers": %s, "name": "%d", "params": 1600}'
    before = tmp_path / "before.json"
    before.write_text(of(", ".join(report % (layers, number) for number in range(285))))
    assert 28_000_000 < before.stat().st_size < 30_000_000
    watch = (
        "import resource, subprocess, sys; done = subprocess.run([sys.executable, '-m', 'rnncalc', *sys.argv[1:]],"
        "stdout=subprocess.DEVNULL); usage = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(done.returncode, usage.ru_maxrss)"
    )
    words = [sys.executable, "-c", watch, "check", "specs/lstm.yaml", "--baseline", str(before)]
    exit_code, kilobytes = map(int, subprocess.run(words, capture_output=True, check=True).stdout.split())
    assert (exit_code, kilobytes < 250_000) == (0, True)
