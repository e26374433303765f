"""What PyTorch keeps for a backward pass, on numbers that were seen; tests/conformance has random networks."""

import json

import pytest
from conftest import Call

LINES = {
    "-l lstm:16": "29,888 bytes: 304 numbers and a workspace of 28,672 bytes",
    "-l lstm:16,bidirectional": "59,456 bytes: 528 numbers and a workspace of 57,344 bytes",
    "-l lstm:16,repeat=2": "59,456 bytes: 528 numbers and a workspace of 57,344 bytes",
    "-l lstm:16 -l dropout:0.5 -l lstm:16": "60,736 bytes: 848 numbers and a workspace of 57,344 bytes",
    "-l lstm:16,bidirectional --dtype float64": "18,560 bytes: 2,320 numbers",
    "-l gru:16 -l dropout:0.5 -l gru:16": "10,560 bytes: 2,640 numbers",
    "-l embedding:6 -l rnn:16 --batch 2": "2,048 bytes for 2 sequences: 472 numbers and 20 token numbers",
    "-l lstm:16,bias=false": "36,032 bytes: 1,840 numbers and a workspace of 28,672 bytes",
}
"""On 8 inputs over 10 steps; the last two are by hand: 2 × (60 + 11 × 16), and 4 × 16 × 24 more than the first."""


@pytest.mark.parametrize(("flags", "line"), LINES.items())
def test_numbers_that_were_seen(call: Call, flags: str, line: str) -> None:
    out = call("-i", 8, *flags.split(), "-T", 10, "-c", "pytorch", "--training").out
    assert f"PyTorch 2.13 on the CPU keeps {line}.\n" in out


def test_json_has_the_parts(call: Call) -> None:
    """Null where it is not known: another framework, type, layer or option, and chunks."""
    flags = ("-i", 8, "-T", 10, "--training", "-f", "json")

    def kept(*others: str) -> object:
        return json.loads(call(*flags, *others).out)["reports"][0]["training"]["kept"]

    numbers = {"numbers": 304, "tokens": 0, "workspace": 28_672, "bytes": 29_888}
    assert kept("-l", "lstm:16", "-c", "pytorch") == numbers
    for others in ("", "-c pytorch --dtype float16", "-c pytorch --chunk 5", "-c pytorch -l layer_norm"):
        assert kept("-l", "lstm:16", *others.split()) is None
    assert kept("-l", "lstm:16,frozen", "-c", "pytorch") is None
