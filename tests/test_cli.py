"""The command line: what it takes, where it writes, how it ends."""

import csv
import io
import json
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Unpack

import click
import pytest
from conftest import Call, Screen, refusal, report_of

from rnncalc import __version__
from rnncalc.cli.commands import COMMANDS, Command
from rnncalc.cli.flags import NetworkFlags, network_flags, specs_argument
from rnncalc.cli.inputs import read_each
from rnncalc.cli.output import write_text

HOSTILE = "[red]x[/red]\x1b[31m\n=1+1|`<b>\u202e\x9b::error::"


def test_a_spec_alone_is_counted(call: Call) -> None:
    """`rnncalc SPEC` is `rnncalc count SPEC`, and so with flags first."""
    assert call("specs/lstm.yaml") == call("count", "specs/lstm.yaml")
    assert call("-i", 4, "-l", "rnn:3").out == call("count", "-i", 4, "-l", "rnn:3").out


def test_the_version_and_the_help(call: Call) -> None:
    """Both go to standard output; a bare call shows the help."""
    assert call("--version").out == f"rnncalc {__version__}\n"
    assert call().out == call("--help").out
    assert "count" in call("-h").out


@pytest.mark.parametrize("args", [["--foo"], ["schema", "x"], ["count", "-T"]])
def test_what_click_refuses_is_one_line_too(call: Call, args: list[str]) -> None:
    """No usage text, but where to find it."""
    err = refusal(call, *args)
    assert err.startswith("rnncalc: ")
    assert re.search(r"\(see rnncalc( count| schema)? --help\)\n$", err)
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-i", "-l", "rnn:3"], "rnncalc: Option '-i' requires an argument. (see rnncalc count --help)\n"),
        (["-i", "4", "-l", "rnn:3", "-T"], "rnncalc: Option '-T' requires an argument. (see rnncalc count --help)\n"),
        (["-i", "4", "--", "-l"], "rnncalc: -i describes a network, and so does '-l': give one of them\n"),
        (["--", "-c", "-T"], "'-c': no such file\n'-T': no such file\n"),
        (["-xi", "4"], "rnncalc: No such option '-x'. (see rnncalc count --help)\n"),
    ],
)
def test_a_value_that_looks_like_a_flag_is_told_as_it_was_typed(call: Call, args: list[str], message: str) -> None:
    """A flag takes the next word for its value unless that is a flag, and after -- there are no flags."""
    code, out, error = call(*args)
    assert (code, out) == (2, "")
    assert error.replace("option: -x ", "option '-x'. ") == message  # the older of click's ways to say it


def test_short_flags_are_the_long_ones(call: Call) -> None:
    """Apart, joined to their values, in front and behind."""
    long = call("count", "--input", 4, "--layer", "rnn:3", "--output", 1, "--steps", 3, "--format", "csv")
    assert long.code == 0
    assert call("-i", 4, "-l", "rnn:3", "-o", 1, "-T", 3, "-f", "csv") == long
    assert call("-i4", "-lrnn:3", "-o1", "-T3", "-fcsv") == long
    assert call("-fcsv", "-i", 4, "-lrnn:3", "--output=1", "-T", 3) == long
    assert call("count", "-h") == call("count", "--help") == call("-i", 4, "-h")
    assert call("-V") == call("--version")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_help(name: str, call: Call) -> None:
    """On standard output, with its usage; and a flag that it does not know is refused with a look at that help."""
    result = call(name, "-h")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Usage: rnncalc {name} ")
    if name != "answer":  # there -5 is a number
        assert call(name, "--nope").err.endswith(f"(see rnncalc {name} --help)\n")


def test_a_command_is_a_file_and_a_line_in_the_table(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger adds one: it is listed, has its help, takes the flags of a network, and its exit code counts."""

    @click.command(cls=Command)
    @specs_argument
    @network_flags
    def width(specs: tuple[str, ...], **flags: Unpack[NetworkFlags]) -> int:
        """Tell how wide the input is."""
        (width,) = read_each(specs, flags, lambda spec: spec.network.input, one=True)
        write_text(f"{width}\n")
        return 1

    module = ModuleType("rnncalc.cli.width")
    vars(module)["width"] = width
    monkeypatch.setitem(sys.modules, "rnncalc.cli.width", module)
    monkeypatch.setitem(COMMANDS, "width", ("Count", "Tell how wide the input is."))
    assert "  width       Tell how wide the input is.\n\nLearn:\n" in call("--help").out
    assert call("width", "-h").out.splitlines()[2] == "  Tell how wide the input is."
    assert call("width", "-i", 4, "-l", "rnn:3") == (1, "4\n", "")
    assert call("width", "specs/lstm.yaml") == (1, "8\n", "")
    assert call("widht").err == "'widht': no such file; did you mean the command 'width'?\n"


def test_problems_of_all_specs_are_told(call: Call) -> None:
    """Two broken specs and a good one: both are named, and nothing is counted."""
    bad = ["tests/bad_specs/tab.yaml", "specs/lstm.yaml", "tests/bad_specs/empty.yaml"]
    assert [line.split(":")[0] for line in refusal(call, *bad).splitlines()] == [bad[0], bad[2]]


def test_a_hostile_name_is_itself_in_json(call: Call, tmp_path: Path) -> None:
    """Markup, escape sequences, newlines and reversed text; no format lets them act, see reports/test_hostile.py."""
    spec = tmp_path / "hostile.yaml"
    spec.write_text(f"input: 4\nlayers: [{json.dumps({'rnn': 3, 'name': HOSTILE})}]\n")
    assert report_of(call, spec)["layers"][0]["name"] == HOSTILE


def test_a_csv_cell_is_no_formula(call: Call, tmp_path: Path) -> None:
    """A name that a spreadsheet would run is defused with an apostrophe."""
    spec = tmp_path / "formula.yaml"
    spec.write_text("input: 4\nlayers:\n" + "".join(f"  - {{rnn: 3, name: '{sign}1+1'}}\n" for sign in "=+-@"))
    rows = [*csv.DictReader(io.StringIO(call(spec, "-f", "csv").out))]
    assert [row["name"] for row in rows[:4]] == ["'=1+1", "'+1+1", "'-1+1", "'@1+1"]


@pytest.mark.parametrize("spec", sorted(Path("specs").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_table_fits_its_terminal(spec: Path, call: Call, screen: Screen) -> None:
    """No line is wider than the screen, and no number is cut."""
    report = report_of(call, spec)
    for columns in (60, 80, 120, 200):
        out = screen(columns, spec, "--tensors")
        assert max(map(len, out.splitlines())) <= columns
        for params, times in Counter(layer["params"] for layer in report["layers"]).items():
            assert f"{params:,}" in out or f"{params * times:,}" in out  # equal layers of a block are one row


def test_of_thousands_of_rows_the_middle_is_one_with_its_sum(call: Call) -> None:
    """As many layers as there may be have a row each; of more tensors the first and the last are shown."""
    layers = [argument for _ in range(400) for argument in ("-l", "rnn:4", "-l", "rnn:2")]
    of_layers, _, below = call("-i", 2, *layers, "--tensors").out.partition("Tensors\n")
    of_tensors, _, of_roles = below.partition("\nParameters by role\n")
    assert [line.split()[0] for line in of_layers.splitlines() if "rnn_" in line] == [f"rnn_{n}" for n in range(1, 801)]
    lines = of_tensors.splitlines()
    assert len(lines) < 60
    (middle,) = (line for line in lines if line.startswith("…"))
    first, last = 3 * (28 + 14) + 8 + 16, 4 + 2 + 3 * (28 + 14)  # three pairs of layers, and what of one has room
    assert middle.split() == ["…", "2,360", "more", f"{400 * (28 + 14) - first - last:,}"]
    assert lines[-1].split()[:2] == ["Total", f"{400 * (28 + 14):,}"]
    shares = {words[0]: words[1] for line in of_roles.splitlines() if (words := line.split())[2:]}
    assert shares == {"Role": "Parameters", "recurrent": "8,000", "input": "6,400", "bias": "2,400"}  # 400 · (16 + 4)


def test_each_layer_of_a_repeat_has_a_line(call: Call) -> None:
    """In every format under a name of its own; in the table of counts equal ones are one line, with their sum."""
    names = [f"lstm_{number}" for number in range(1, 13)]
    flags = ("-i", 4, "-l", "lstm:20,repeat=12", "-o", 5)
    lines = [line.split("  ")[0] for line in call(*flags).out.splitlines() if line.startswith("lstm_")]
    assert lines == ["lstm_1", "lstm_2 … lstm_11", "lstm_12"]
    assert "10 × 4h(m + h + 1)" in call(*flags).out
    assert "32,800" in call(*flags).out  # 10 · 4 · 20 · (20 + 20 + 1)
    explained = call("explain", *flags).out.splitlines()
    assert [line for line in explained if line in names] == names
    layers = report_of(call, *flags)["layers"]
    assert [layer["name"] for layer in layers] == [*names, "output"]
    assert call("-i", 4, "-l", "lstm:20,repeat=12", "-c", "pytorch", "--tensors").out.count("weight_ih_l") == 12
    assert len(call("-i", 4, "-l", "lstm:20,repeat=12", "-f", "csv").out.splitlines()) == 14
