"""One of a thing is never several: what every command says of networks in which everything is one."""

import re
from pathlib import Path

import pytest
from conftest import Call, Result, file_at

from rnncalc.network.budget import BUDGET_KEYS, GROWING
from rnncalc.programs import SPELLINGS
from rnncalc.questions.quantized import QUANTIZATIONS

NETWORKS = (
    "-i 1 -l rnn:1,bias=false -T 1",
    "-i 1 -l lstm:1 -T 1",
    "-i 1 -l gru:1,bidirectional -o 1 -T 1",
    "-i 1 -l dense:1,bias=false -T 1",
    "-i 1 -l embedding:1 -T 1",
    "-i 1 -l conv1d:1,kernel=1,bias=false -T 1",
    "-i 1 -l external:1 -T 1",
    "-i 1 -l rnn:1 -l flatten -T 1 --topology many-to-many",
    "-i 1 -T 1 -l rnn:1 -l last -l repeat_vector:1 --topology many-to-many",
    "-i 1 -l conv_lstm:1,kernel=1,space=1 -T 1",
)
CALLS = (
    *("count", "count --tensors", "count --cost --dtype int8", "count --dense", "count --all-conventions"),
    *("count --operations", "count --shapes", "count --stream --rate 1 --dtype int8", "count --training --chunk 1"),
    *(f"count --quantize {name}" for name in QUANTIZATIONS),
    *("explain", "explain --operations", "explain --training", "explain -f latex", "explain -f html"),
    *("run", "run --states", "run --work", "run --backward --states", "run --backward --chunk 1"),
    *(
        "draw",
        "draw --view cell",
        "draw --view growth",
        "compare",
        "compare --same-params",
        "answer -- 1",
        "answer -- 2",
    ),
    *("exercise", "exercise --ask layers --key", "solve --params 1", "solve --bytes 1"),
    *(f"export --to {name}" for name in SPELLINGS),
)
ONES = re.compile(r"(?<![\d.,_·×²/+\-−–(] )(?<![\d.,_])\b1 (?:[a-z]+ )?([a-z-]+s)\b")
SINGULAR = {
    "is",
    "this",
    "bias",
    "times",
    "as",
    "less",
    "plus",
    "gives",
    "has",
    "was",
    "its",
    "reads",
    "needs",
    "across",
}
"""Words that end in an s, and are no plurals."""


def plurals(result: Result) -> list[str]:
    """Return the plurals that follow a 1 in whatever a call prints, on either stream."""
    return [match for match in ONES.findall(result.out + result.err) if match not in SINGULAR]


@pytest.mark.broad
@pytest.mark.parametrize("call_of", CALLS)
def test_one_is_no_plural(call_of: str, call: Call) -> None:
    """In every report on a network in which everything is one."""
    command, *words = call_of.split()
    for network in NETWORKS:
        sized = re.sub("(rnn|lstm|gru|dense|conv1d|embedding):1", r"\1:?", network) if command == "solve" else network
        result = call(command, *sized.split(), *words)
        assert not plurals(result), (network, result)


LIMITS = [f"--limit {key}=1" for key in BUDGET_KEYS] + [f"--max-growth {quantity}=1" for quantity in GROWING]
SPEC = "input: 1\nsteps: 1\nrate: 1\nlayers: [rnn: 2]\noutput: 1\nexpect: 1\n"


@pytest.mark.parametrize("limit", LIMITS)
def test_one_is_no_plural_in_a_check(limit: str, call: Call, tmp_path: Path) -> None:
    """Of each limit of 1, also of a growth by at most 1 over an earlier file."""
    before, after = file_at(tmp_path / "a.yaml", SPEC), file_at(tmp_path / "b.yaml", SPEC.replace("rnn: 2", "rnn: 9"))
    for form in ("table", "markdown", "junit"):
        result = call("check", after, "--baseline", before, *limit.split(), "-f", form)
        assert not plurals(result), result


def test_one_is_no_plural_in_growth(call: Call) -> None:
    """Of one number of steps."""
    assert not plurals(call("compare", "-i", 1, "-l", "rnn:1", "--steps", "1..1"))
