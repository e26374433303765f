"""`rnncalc count` of several files, and what it says of the dense equivalent."""

import json
import re
from pathlib import Path

import pytest
from conftest import Call

FILES = ("specs/gru.yaml", "specs/lstm.yaml")


@pytest.mark.parametrize("flags", [(), ("--training",), ("--cost", "--tensors")])
def test_each_of_several_files_is_named_above_its_table(call: Call, flags: tuple[str, ...]) -> None:
    """And a line for each ends it."""
    out = call(*FILES, *flags).out
    assert [line for line in out.splitlines() if line in FILES] == [*FILES]
    assert call(FILES[1], *flags).out in out
    summary = out.partition("\nSummary\n")[2]
    assert summary.startswith("2 networks\n")
    rows = dict(re.findall(r"^(specs/\S+) .* ([0-9,]+)$", summary, re.MULTILINE))
    assert rows == {"specs/gru.yaml": "1,200", "specs/lstm.yaml": "1,600"}


def test_a_folder_is_several_files(call: Call, tmp_path: Path) -> None:
    """Of one spec alone there is no summary."""
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text("input: 3\nlayers: [rnn: 2]\n")
        assert call(tmp_path).out.count("\nSummary\n") == (name == "b")


def test_programs_get_no_titles(call: Call) -> None:
    """JSON and CSV are reports alone."""
    reports = json.loads(call(*FILES, "-f", "json").out)["reports"]
    assert [report["params"] for report in reports] == [1200, 1600]
    assert "Summary" not in call(*FILES, "-f", "csv").out
    assert "### specs/gru.yaml\n" in call(*FILES, "-f", "markdown").out
    assert "Summary" in call(*FILES, "-f", "html").out


def test_every_convention_of_several_files(call: Call) -> None:
    """Each below the name of its file."""
    out = call(*FILES, "--all-conventions").out
    assert [line for line in out.splitlines() if line in FILES] == [*FILES]


def test_the_dense_equivalent_is_told_where_it_is_known(call: Call) -> None:
    """Without steps nothing is said of it, unless it is asked for."""
    lacking = "Dense equivalent: not known without the number of steps; give steps, or -T.\n"
    assert "Dense" not in call("specs/lstm.yaml").out
    assert call("specs/lstm.yaml", "--dense").out.endswith(lacking)
    assert "Dense equivalent for 3 steps" in call("specs/lstm.yaml", "-T", 3).out
    assert call("specs/lstm.yaml", "-T", 3, "--dense") == call("specs/lstm.yaml", "-T", 3)


def test_conventions_that_count_stored_numbers_say_so(call: Call) -> None:
    """Keras has the means and variances of a batch_norm among its parameters; they are no biases."""
    lines = call("count", "-i", 9, "-l", "gru:8", "-l", "batch_norm", "--all-conventions").out.splitlines()
    assert (
        "keras: 16 more in batch_norm_1 than the textbook, which does not count the stored means and variances "
        "(moving_mean, moving_variance)." in lines
    )
    assert "keras: 24 more in gru_1 than the textbook, biases of 6h instead of 3h (bias)." in lines
