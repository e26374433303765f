"""What `count` prints, against the example that the interface documents."""

import json
from pathlib import Path

import pytest
from conftest import Call, file_at


def test_the_report_is_the_documented_example(call: Call, tmp_path: Path) -> None:
    """The JSON of input 4, an RNN of 3, output 1 and three steps, each number worked out by hand."""
    spec = file_at(tmp_path / "example.yaml", "input: 4\nsteps: 3\nlayers: [{rnn: 3}]\noutput: 1\n")
    example = Path(__file__).with_name("count.json").read_text(encoding="utf-8")
    assert json.loads(call(spec, "-f", "json").out) == json.loads(example)


@pytest.mark.parametrize(
    ("layer", "title"),
    [
        ("lstm:4,projection=2", "lstm 4→2"),
        ("gru:20,recurrence=diagonal", "diagonal gru 20"),
        ("lstm:4,peepholes,bidirectional,repeat=3", "bidirectional peephole lstm 4 ×3"),
        ("lstm:4,recurrence=full,peepholes=false", "lstm 4"),
    ],
)
def test_a_title_tells_what_changes_the_cell(call: Call, layer: str, title: str) -> None:
    """A projection, a diagonal recurrence and peepholes, in a word each."""
    assert call("-i", 3, "-l", layer).out.splitlines()[0] == title


OPTIONS = (
    *("--tensors", "--cost", "--dense", "--operations", "--shapes", "--stream", "--quantize=int8", "--all-conventions"),
    *("--cost --dtype=int8", "--stream --rate=100", "--operations --batch=64", "--shapes --batch=64"),
)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", ["table", "json", "markdown", "html"])
def test_letters_have_no_amount(call: Call, options: str, kind: str) -> None:
    """However large the numbers beside them are: 3,000,000 inputs of a letter are certainly more than 1,024 bytes."""
    network = ("-i", 3_000_000, "-l", "lstm:h", "-l", "gru:4000,bidirectional", "-o", 5, "-T", 1_000_000)
    done = call(*network, *options.split(), "-f", kind)
    assert (done.code, done.err) == (0, "")
