"""`--baseline` with the JSON of an earlier call: read as strictly as a spec, whatever it is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SPEC, Call, reports
from hypothesis import given
from hypothesis import strategies as st

from rnncalc.cli.json_text import MOST_DEPTH, JsonText
from rnncalc.errors import SpecError


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

DEEP = "no JSON, or lists and objects more than 5 deep"

MANY = ", ".join(f'"k{n}": 1' for n in range(200))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "1:3: expected a spec, or the JSON that rnncalc count -f json prints"),
        ("[" * 100_000, "1:1: expected a spec, or the JSON that rnncalc count -f json prints"),
        ("9" * 5000, "1:1: expected a spec, or the JSON that rnncalc count -f json prints"),
        ("\udcff", "1:1: no UTF-8 text"),
        ('{"reports": 3}', "1:13: reports: expected a list, got 3}"),
        (of("1"), "1:28: reports[0]: expected an object, got 1]}"),
        (of("{}"), "1:28: reports[0]: params: missing; give the JSON that rnncalc count -f json prints"),
        (of('{"name": "x", "params": -1}'), "1:52: reports[0].params: expected a whole number, 0 or more, got -1"),
        (of('{"name": "x", "params": true}'), "1:52: reports[0].params: expected a whole number, 0 or more, got true"),
        (of('{"name": "x", "params": 1.0}'), "1:52: reports[0].params: expected a whole number, 0 or more, got 1.0"),
        (of('{"name": "x", "params": "1"}'), '1:52: reports[0].params: expected a whole number, 0 or more, got "1"'),
        (of('{"name": "x", "params": NaN}'), "1:52: reports[0].params: expected a number, text or null, got NaN}]}"),
        (of('{"name": "x", "params": 01}'), "1:53: reports[0]: expected ',', got 1}]}"),
        (of(f'{{"name": "x", "params": {"9" * 400}}}'), "1:52: reports[0].params: expected at most 40 digits, got 400"),
        (
            of(f'{{"name": "x", "params": {"9" * 5000}}}'),
            "1:52: reports[0].params: expected at most 40 digits, got 5,000",
        ),
        (
            of(f"{GOOD}, {GOOD}"),
            "1:56: reports[1]: two reports are called 'x'; compare to a folder, or name them apart",
        ),
        (
            of('{"name": "x", "params": 1, "params": 2}'),
            "1:55: reports[0].params: stands here a second time; remove one",
        ),
        ('{"reports": [], "reports": []}', "1:17: reports: stands here a second time; remove one"),
        (
            of('{"name": null, "params": 1}'),
            "1:28: reports[0]: expected a name and params, or null for both: a file that is no spec",
        ),
        (of('{"name": "", "params": 1}'), "1:37: reports[0].name: expected text, got ''"),
        (
            of(f'{{"name": "{"x" * 201}", "params": 1}}'),
            "1:37: reports[0].name: expected at most 200 characters, got 201",
        ),
        (of(r'{"name": "\ud800", "params": 1}'), "1:37: reports[0].name: half of a surrogate pair is no text"),
        (of('{"name": 3, "params": 1}'), '1:37: reports[0].name: expected text, got 3, "params": 1}]}'),
        (f"{of(GOOD)}\n{{}}", "2:1: the JSON ends here, and more follows; remove it"),
        (of(GOOD)[:-1], "1:55: expected ',', got the end"),
        (of(f"{GOOD},"), "1:55: reports[1]: expected an object, got ]}"),
        ('{"version": 2, "reports": []}', "1:14: version: expected 1, got 2: made by another rnncalc"),
        (
            of(f'{{"layers": {"[" * 9}{"]" * 9}}}'),
            f"1:39: reports[0].layers: {DEEP}",
        ),
        (of('{"layers": [1,]}'), f"1:39: reports[0].layers: {DEEP}"),
        (
            of(f"{{{MANY}}}"),
            "1:1019: reports[0]: expected at most 100 keys",
        ),
    ],
)
def test_a_baseline_that_is_no_report_is_refused(tmp_path: Path, call: Call, text: str, message: str) -> None:
    """One line, exit 2, whatever the JSON; a report is read as strictly as a spec, and told where it is wrong."""
    before = tmp_path / "before.json"
    before.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert call("check", "specs", "--baseline", before) == (2, "", f"{before}:{message}\n")


def test_what_a_baseline_says_beside_its_numbers_is_passed_over(tmp_path: Path, call: Call) -> None:
    """Any JSON, strings with brackets and escapes too, may stand beside the numbers."""
    other = {"a": [1.5e-3, -0, True, None, {"}": ']\\"[', "ü\n\t": [[]]}], "b": {}, "c": "\\" * 5}
    before = tmp_path / "before.json"
    for indent in (None, 2):
        before.write_text(json.dumps({"x": other, "reports": [{"y": other, "name": "z", "params": 5}]}, indent=indent))
        assert reports(call, "specs/rnn.yaml", "--baseline", before)[0]["baseline"]["before"] == 5


SIMPLE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()

ANY = st.recursive(SIMPLE, lambda below: st.lists(below) | st.dictionaries(st.text(), below), max_leaves=30)


@given(ANY, st.data())
def test_what_is_passed_over_is_what_json_is(value: object, data: st.DataObject) -> None:
    """Python's own reader and this one agree on what is a value, whole or with a character changed."""
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()), indent=data.draw(st.sampled_from([None, 1])))
    at = data.draw(st.integers(0, len(text)))
    changed = text[:at] + data.draw(st.sampled_from([*'[]{},:"\\0-.eEtu \n\t\x00', ""])) + text[at + 1 :]
    for each in (text, changed):
        try:
            json.loads(each, parse_constant=lambda constant: pytest.fail(constant))
            valid = depth(each) <= MOST_DEPTH
        except ValueError:
            valid = False
        try:
            reader = JsonText(each.encode("utf-8", "surrogatepass"), "text")
            reader.skip(())
            reader.end()
            read = True
        except SpecError:
            read = False
        assert read == valid, each


def depth(text: str) -> int:
    """Return how deep lists and objects stand."""

    def of(value: object) -> int:
        if isinstance(value, list | dict):
            return 1 + max(map(of, value if isinstance(value, list) else value.values()), default=0)
        return 0

    return of(json.loads(text))


@pytest.mark.slow
def test_a_baseline_of_any_length_takes_little_memory(tmp_path: Path) -> None:
    """33 MB of layers, of one string, of one list: under 100 MB, whether it is a report or not."""
    tensor = '{"name": "weight_ih_l0", "role": "input", "direction": "forward", "shape": [80, 20], "params": 1600}'
    long = {
        "layers": tensor + f", {tensor}" * (33_000_000 // len(tensor) - 7_000),
        "string": '"' + r"\n" * 16_500_000 + '"',
    }
    long["open"] = "[" * 33_000_000
    before = tmp_path / "before.json"
    watch = (
        "import resource, subprocess, sys; done = subprocess.run([sys.executable, '-m', 'rnncalc', *sys.argv[1:]],"
        "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); usage = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(done.returncode, usage.ru_maxrss)"
    )
    for name, code in (("layers", 0), ("string", 0), ("open", 2)):
        before.write_text(of(f'{{"layers": [{long[name]}], "name": "LSTM, one layer", "params": 1600}}'))
        assert 30_000_000 < before.stat().st_size < 33_500_000
        words = [sys.executable, "-c", watch, "check", "specs/lstm.yaml", "--baseline", str(before)]
        exit_code, kilobytes = map(int, subprocess.run(words, capture_output=True, check=True).stdout.split())
        assert (exit_code, kilobytes < 100_000) == (code, True)
