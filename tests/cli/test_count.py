"""`rnncalc count` of several files, and beside a training step."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Call, report_of

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


FLAGS = ("-i", 13, "-l", "lstm:29", "-T", 100)


def trained(call: Call, *args: object) -> dict[str, Any]:
    training: dict[str, Any] = report_of(call, *args, "--training")["training"]
    return training


def test_what_an_update_is_said_to_be(call: Call) -> None:
    """A chunk of 35 of 100 steps: three updates; many-to-one, the last has 30."""
    params, saved = 4 * 29 * (13 + 29 + 1), 30 * (13 + 7 * 29)
    assert trained(call, *FLAGS, "--chunk", 35, "--batch", 8, "--optimizer", "adam", "--dtype", "float16") == {
        "chunk": 35,
        "batch": 8,
        "optimizer": "adam",
        "updates": 3,
        "states_carried": 35 * 2 * 29,
        "gradients": params,
        "saved": saved,
        "backward_multiply_adds": 4 * (30 * 29 * 13 + (30 + 29) * 29 * 29),
        "bytes": 2 * (4 * params + 8 * saved),
        "dtype": "float16",
    }


def test_flags_stand_instead_of_what_a_spec_says(call: Call, tmp_path: Path) -> None:
    """One by one: what is not given stays the spec's."""
    spec = tmp_path / "a.yaml"
    spec.write_text("input: 3\nsteps: 9\nlayers: [rnn: 4]\ntraining: {batch: 32, chunk: 2, optimizer: momentum}\n")
    keys = ("chunk", "batch", "optimizer")
    assert [trained(call, spec)[key] for key in keys] == [2, 32, "momentum"]
    assert [trained(call, spec, "--batch", 1, "--chunk", 5)[key] for key in keys] == [5, 1, "momentum"]
    assert "training" not in call(spec, "-f", "json").out.replace("training:", "")


WHOLE = "The loss is computed after the last step; backpropagation goes through all steps."


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["-l", "rnn:3"], [WHOLE]),
        (["-l", "rnn:3", "--chunk", 9], [WHOLE]),
        (
            ["-l", "rnn:3", "--chunk", 4],
            [
                "Truncated: chunks of 4 steps, 3 updates per sequence;",
                "The loss is that of the last chunk: a shorter chunk learns nothing from earlier ones.",
            ],
        ),
        (
            ["-l", "rnn:3,bidirectional", "--chunk", 4],
            ["The loss is that of the chunk that each direction reads last: a shorter chunk learns nothing"],
        ),
        (["-l", "rnn:3", "--topology", "many-to-many", "--chunk", 4], ["Every chunk has a loss."]),
        (["-l", "rnn:3", "--topology", "many-to-many"], ["The loss is computed at every step;"]),
        (["-l", "external:3"], ["Not known for what is counted elsewhere: external_1.", "Bytes: 4 × (3 weights + 3"]),
    ],
)
def test_it_says_where_a_loss_stands(call: Call, flags: list[object], said: list[str]) -> None:
    """And that a shorter chunk learns nothing from earlier ones where only the last has a loss."""
    out = " ".join(call("-i", 4, "-T", 9, *flags, "--training").out.split())
    for sentence in said:
        assert sentence in out


def test_the_steps_are_asked_for(call: Call) -> None:
    """Without them nothing is known that hangs on them, and JSON has null for it."""
    update = trained(call, "-i", 4, "-l", "rnn:3", "--chunk", 2)
    unknown = ("updates", "states_carried", "saved", "backward_multiply_adds", "bytes")
    assert [update[key] for key in unknown] == [None] * 5
    assert "give steps" in call("-i", 4, "-l", "rnn:3", "--training").out


def test_cost_and_training_fit_beside_each_other(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 80 columns, in one table, by saying less."""
    monkeypatch.setenv("COLUMNS", "80")
    for spec in ("specs/translation.yaml", "specs/speech-model.yaml", "specs/word-language-model.yaml"):
        out = call(spec, "--cost", "--training", "-T", 35).out
        assert out.count("────\n") == 2
        assert max(map(len, out.split("\n\n")[1].splitlines())) <= 80
        assert {"Parameters", "Saved", "Forward", "Backward"} <= {*out.split()}


def test_rows_a_tensor_are_those_of_the_count(call: Call) -> None:
    """CSV has a row a tensor, which holds nothing; tables have both."""
    assert call(*FLAGS, "--tensors", "--training", "-f", "csv") == call(*FLAGS, "--tensors", "-f", "csv")
    assert "Tensors" in call(*FLAGS, "--tensors", "--training").out


@pytest.mark.parametrize(("flags", "times"), [((), 0), (("--chunk", 4), 0), (("--chunk", 3), 1)])
def test_what_a_chunk_keeps_of_the_terms_is_said_once(call: Call, flags: tuple[object, ...], times: int) -> None:
    """Below the last of the four weights of an LSTM and the only one of an RNN; 4 steps are chunks of 3 and 1.

    One chunk of all steps is not truncated.
    """
    sentence = "Truncated: the last chunk has 1 step, and keeps that many terms of each weight, the first ones."
    for layer, weights in (("lstm:1", 4), ("rnn:1", 1)):
        out = call("run", "-i", 2, "-l", layer, "-T", 4, "--backward", "--verify", "--states", *flags).out
        assert out.count(": the terms of ") == weights
        assert out.count(sentence) == out.count("Truncated") == times
        assert not times or out.index(sentence) > out.rindex(": the terms of ")
