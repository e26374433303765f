"""`rnncalc count` of several files, and beside a training step."""

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


FLAGS = ("-i", 13, "-l", "lstm:29", "-T", 100)


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


def rows(out: str) -> list[list[str]]:
    """Return the cells of the lines of a table."""
    return [re.split(r"\s{2,}", line.strip()) for line in out.split("\n\n")[1].splitlines() if "───" not in line]


def test_bytes_in_integers_are_beside_the_cost(call: Call) -> None:
    """3 · 16 · (8 + 16) multiply-adds at each of 4 steps, and 16 · 3 of the output."""
    header, gru, output, total = rows(
        call("-i", 8, "-l", "gru:16", "-o", 3, "-T", 4, "--cost", "--quantize", "int8").out
    )
    place = header.index("Multiply-adds")
    assert [gru[place], output[place], total[place - 1]] == ["4,608", "48", "4,656"]


@pytest.mark.parametrize(
    ("flags", "lacking"),
    [
        ("-i 3 -l external:9 --cost", "Multiply-adds per step"),
        ("-i 3 -l external:9 -l external:4 --quantize int8", "Weight bytes"),
        ("-i 3 -l rnn:4 --operations", "FLOPs"),
    ],
)
def test_a_column_without_a_number_is_left_out(flags: str, lacking: str, call: Call) -> None:
    """A sentence says why."""
    out = call(*flags.split()).out
    assert lacking not in rows(out)[0]
    assert "–" not in out
    assert re.search("[Nn]ot known", out)


@pytest.mark.parametrize(
    ("words", "label", "number"),
    [
        ("specs/mamba-130m.yaml --cost", ["block_1 … block_24", "external ×24"], 24 * 3_771_648),
        ("-i 3 -l lstm:4,repeat=5 -T 2", ["lstm_2 … lstm_4", "lstm ×3"], 3 * 4 * 4 * 9),
        ("-i 9 -l rnn:9,repeat=3 -o 2 --stream --topology many-to-many", ["rnn_1 … rnn_3 ×3"], 3 * 9 * 19),
    ],
)
def test_equal_rows_of_a_repeated_block_are_one(
    words: str, label: list[str], number: int, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With their sum; two rows stay two."""
    monkeypatch.setenv("COLUMNS", "200")
    (row,) = (row for row in rows(call(*words.split()).out) if "…" in row[0])
    assert row[: len(label)] == label
    assert f"{number:,}" in row
    assert "…" not in call("-i", 9, "-l", "rnn:9,repeat=2", "-o", 2, "--topology", "many-to-many").out


def test_numbers_of_one_sentence_are_grouped_alike(call: Call) -> None:
    """In thousands, or none of them."""
    assert "At 16,000 steps per second: 448,000" in call("-i", 3, "-l", "rnn:4", "--stream", "--rate", 16000).out
    assert "1,024" not in call("explain", "specs/pytorch/translation-attention.yaml", "--only", "output").out


@pytest.mark.parametrize(
    ("network", "sentence"),
    [
        ("-i 8 -l external:1000,outputs=32 -l gru:16 -o 3", "128 → 64 → 3, external_1 unchanged, 9,451 parameters"),
        ("-i 8 -l external:1000", "external_1 unchanged, 1,000 parameters"),
        ("-i 50 -l embedding:8 -l gru:16", "32 → 64, embedding_1 unchanged, 2,512 parameters"),
        ("-i 8 -l gru:16 -o 3", "32 → 64 → 3, 2,307 parameters"),
    ],
)
def test_the_dense_equivalent_says_what_it_keeps(network: str, sentence: str, call: Call) -> None:
    """32 · 64 + 64 of a GRU, 4 · 16 · 3 + 3 of an output; a table and a part counted elsewhere are counted too."""
    assert f"Dense equivalent for 4 steps: {sentence}, " in call(*network.split(), "-T", 4).out
