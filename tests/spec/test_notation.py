"""`notation:` in a spec, and `--notation` beside one."""

from pathlib import Path

from conftest import Call, refusal

from rnncalc import load

SPEC = "input: 4\nlayers: [{rnn: 3}]\noutput: 1\n"


def test_a_spec_names_its_notation(call: Call, tmp_path: Path) -> None:
    """A flag is instead of it; an expected shape is in it too."""
    spec = tmp_path / "rows.yaml"
    spec.write_text(f"{SPEC}notation: rows\nexpect: {{tensors: {{rnn_1: {{W_xh: [4, 3], b_h: [1, 3]}}}}}}\n")
    assert load(spec).notation == "rows"
    assert load(spec, notation="uvw").notation == "uvw"
    assert call("check", spec).code == 0
    assert ["rnn_1", "W_xh", "input", "(4,", "3)", "12"] in words(call("count", spec, "--tensors").out)
    assert ["rnn_1", "U", "input", "(3,", "4)", "12"] in words(
        call("count", spec, "--tensors", "--notation", "uvw").out
    )


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_a_notation_that_nothing_would_show_is_refused(call: Call) -> None:
    """Of a pass that is not worked by hand, of a picture that is no cell's, of a count alone; not a spec's own."""
    network = ("-i", "4", "-l", "rnn:3", "-o", "1", "--notation", "rows")
    for command, cure in (("run", "--work"), ("draw", "--view cell")):
        assert cure in refusal(call, command, *network)
        assert call(command, *network, *cure.split()).code == 0
    for flags in ((), ("--all-conventions",), ("-f", "csv")):
        err = refusal(call, "count", *network, *flags)
        assert err == "rnncalc: --notation: only tensors are written in a notation here; add --tensors\n"
    assert call("count", *network, "-f", "json").code == 0


def test_all_gates_in_one_matrix_are_a_notation(call: Call) -> None:
    network = ("-i", "4", "-l", "lstm:3", "--notation", "stacked-gates")
    assert ["lstm_1", "W", "kernel", "(7,", "12)", "84"] in words(call("count", *network, "--tensors").out)
    assert call("answer", *network, "(7,12)", "(1,12)").code == 0
    assert "write --notation stacked-gates" in refusal(call, "explain", "-i", "4", "-l", "lstm:3", "--stacked-gates")
