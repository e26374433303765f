"""What a pass takes in memory, compared with what it is told to take; measured in processes of their own."""

import subprocess
import sys
from typing import Any

import pytest
from conftest import Call

from rnncalc import GRU, RNN, Dense, Dropout, Embedding, External, Network
from rnncalc.questions.price import peak, work_of

CASES = """
4 - 1 textbook - - rnn:3,repeat=1000
300 - 1 flax-linen - - gru:300,bidirectional
1 - 12000 textbook many-to-many s lstm:1
1 - 1 textbook - - dense:100000
1000000 - 1 textbook - - external:3,outputs=5 rnn:2
300 300 1 pytorch feedback - rnn:500 gru:300 lstm:300
"""
"""The input, the output, the steps, the convention, the topology, whether states are kept, the layers."""

OTHERS = """
1 - 5000 keras many-to-many s lstm:8,bidirectional,merge=sum
10 - 10000 textbook many-to-many s fastgrnn:3 mgu:2 minlstm:2
2 2 10000 textbook feedback s rnn:3 lstm:2
300 - 1 pytorch - - lstm:600
3 - 10000 textbook many-to-many s sru:4 sru:2,extra_inputs=5
1 - 12000 pytorch many-to-one s gru:2,bidirectional
4 3 20000 keras many-to-many - dropout:0.5 rnn:8 dropout:0.5
1 - 18000 textbook many-to-many - lstm:1
300 - 1 onnx - - lstm:500,peepholes,learned_state
1 - 8000 pytorch many-to-many s lstm:8,projection=2
1 - 8000 keras many-to-many - lstm:8,bidirectional
300 - 1 flax-nnx - - gru:500
300 - 1 keras - - lstm:500
30000 30000 5 pytorch - - embedding:64 rnn:64
4 - 2000 textbook many-to-many - rnn:8,extra_inputs=300 rnn:8
1 50 10000 textbook one-to-many - rnn:3
400 - 2 textbook - - sru:600,bidirectional
"""

ARENA = 2**20
"""Python takes memory in arenas of so many bytes; what is left of one that was begun before serves the pass too."""

MEASURE = """
import gc, os, re, sys
from rnncalc.questions.price import peak, work_of
from rnncalc.questions.run import run, with_steps_to_run
from rnncalc.spec import from_flags

def now(key):
    return int(re.search(key + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024

def measure(line):
    given = [None if word == "-" else word for word in line.split()]
    input, output, steps, convention, topology, states, *layers = given
    feedback = "true" if topology == "feedback" else None
    flags = dict(steps=steps, convention=convention, topology="one-to-many" if feedback else topology)
    small, network = (from_flags(input, of, output, **flags).network for of in (("rnn:2",), tuple(layers)))
    network = network.replace(feedback=feedback is not None)
    run(small.replace(input=2, steps=2), states=bool(states))
    gc.disable()
    told, before = peak(network, traced=bool(states)), now("VmRSS")
    run(network, states=bool(states), most_multiply_adds=10**12)
    print(told, now("VmHWM") - before, line, flush=True)

for line in sys.stdin:
    if not os.fork():
        measure(line.strip())
        os._exit(0)
    assert os.wait()[1] == 0
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
@pytest.mark.parametrize("cases", [CASES, pytest.param(OTHERS, marks=pytest.mark.slow)], ids=["some", "others"])
def test_the_memory_that_is_told_is_the_memory_that_is_used(cases: str) -> None:
    """Never more is used, and at least two thirds of it but an arena: over conventions, cells, topologies, options."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], input=cases.strip(), capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == len(cases.strip().splitlines())
    for line in lines:
        told, used = map(int, line.split()[:2])
        assert used <= told <= 1.5 * used + ARENA, f"told {told:,}, used {used:,}: {line}"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("-i 1000000000000 -l external:1,outputs=4 -l rnn:2 -T 1", "41,000.0 GB"),
        ("-i 1 -l lstm:1 -T 20000000", "5.8 GB"),
        ("-i 1 -l lstm:1 -T 4000000 --states", "6.2 GB"),
        ("-i 9000 -l lstm:5000 -T 1 -c keras", "5.0 GB"),
    ],
)
def test_what_would_not_fit_is_not_begun(words: str, told: str, call: Call) -> None:
    """Inputs, short steps with their states, and turned matrices are in the price."""
    code, _, error = call("run", *words.split(), "--max-multiply-adds", "1000G")
    assert code == 2
    assert "and the limit is 2 GB" in error
    assert told in error


def test_with_feedback_the_weights_of_all_layers_are_in_memory_together() -> None:
    """Else a layer's are left before those of the next are drawn, here each 300 × 601 numbers."""

    def of(number: int, **given: Any) -> int:
        return peak(Network(input=300, layers=[RNN(300)] * number, steps=1, **given))

    fed_back: dict[str, Any] = {"topology": "one-to-many", "feedback": True}
    assert of(3) < 1.1 * of(1)
    assert 2.8 * of(1, **fed_back) < of(3, **fed_back) < 3 * of(1, **fed_back)


def row(places: int) -> int:
    """Return the bytes of a list without its items."""
    return 96 + 9 * places


def vectors(count: int, width: int) -> int:
    """Return the bytes of a list of vectors with numbers of their own."""
    return row(count) + count * (row(width) + 32 * width)


OF_RNN = 2 * row(2) + row(1)  # matrices as rows of 3 and of 2 numbers, and a bias
ONE_STEP = vectors(2 + 1 + 4, 2)  # two products, a sum, and the blank sheets of a step
MANY: dict[str, Any] = {"steps": 4, "topology": "many-to-many"}


@pytest.mark.parametrize(
    ("network", "asked", "bytes_"),
    [
        (Network(input=3, layers=[RNN(2)], **MANY), {}, OF_RNN + ONE_STEP + 1_000 + vectors(4, 2)),
        (
            Network(input=3, layers=[RNN(2)], steps=4),
            {},
            OF_RNN + ONE_STEP + vectors(4, 2) + 1_000 + vectors(1, 2),
        ),
        (
            Network(input=3, layers=[RNN(2)], **MANY),
            {"inputs": True},
            OF_RNN + ONE_STEP + 1_000 + vectors(4, 2) + vectors(4, 3),
        ),
        (
            Network(input=3, layers=[RNN(2, bidirectional=True)], **MANY),
            {},
            2 * OF_RNN + ONE_STEP + 1_000 + 2 * vectors(4, 2) + 4 * row(4),
        ),
        (
            Network(input=3, layers=[RNN(2, bidirectional=True, merge="sum")], **MANY),
            {},
            2 * OF_RNN + ONE_STEP + 1_000 + 2 * vectors(4, 2) + 4 * (row(2) + 32),
        ),
        (
            Network(input=3, layers=[RNN(2, extra_inputs=5)], **MANY),
            {},
            OF_RNN + ONE_STEP + 1_000 + vectors(4, 2) + 4 * (row(8) + 5 * 32),
        ),
        (
            Network(input=3, layers=[RNN(2)], **MANY),
            {"traced": True},
            OF_RNN + ONE_STEP + 1_000 + vectors(4, 2) + 4 * (300 + 2 * (row(2) + 2 * 32)),
        ),
        (
            Network(input=3, layers=[Dense(5)], **MANY),
            {},
            row(5) + row(1) + 2 * vectors(1, 5) + 1_000 + vectors(4, 5),
        ),
        (
            Network(input=3, layers=[External(9, outputs=5)], **MANY),
            {"weights": True},
            1_000 + vectors(4, 5),
        ),
        (
            Network(input=9, layers=[Embedding(5)], **MANY),
            {"inputs": True},
            row(9) + 1_000 + row(4) + row(4) + 4 * 32,
        ),
        (
            Network(input=3, layers=[External(9), Dropout(0.5)], **MANY),
            {},
            2 * 1_000 + vectors(4, 3) + row(4),
        ),
        (
            Network(input=3, layers=[RNN(3), RNN(3)], steps=4, topology="one-to-many", feedback=True),
            {},
            2 * (2 * row(3) + row(1) + vectors(7, 3) + 1_000 + vectors(4, 3)),
        ),
        (
            Network(input=3, layers=[RNN(3), RNN(3)], **MANY),
            {},
            2 * row(3) + row(1) + vectors(7, 3) + 2 * (1_000 + vectors(4, 3)),
        ),
    ],
)
def test_the_memory_of_a_pass_by_hand(network: Network, asked: dict[str, bool], bytes_: int) -> None:
    """Lists of 96 bytes and 9 a place, numbers of 32, 1,000 a layer, 300 a step whose states are kept."""
    assert peak(network, **{"weights": False, "inputs": False, **asked}) == bytes_


def test_the_work_of_a_pass_by_hand() -> None:
    """Products; 400 a gate and step of each direction, 4,000 a layer."""
    layers = [GRU(3, bidirectional=True), Dense(5)]
    network = Network(input=4, layers=layers, steps=7)  # 2·3·3·(4 + 3) products per step, and 5·6
    assert work_of(network) == 7 * 126 + 30 + 2 * 4_000 + 400 * (7 * 2 * 3 + 1)
