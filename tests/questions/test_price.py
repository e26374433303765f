"""The memory of a pass as estimated, compared with what it takes; measured in processes of their own."""

import subprocess
import sys
from typing import Any

import pytest
from conftest import Call

from rnncalc import GRU, RNN, Dense, Network
from rnncalc.questions.price import memory_of, work_of

CASES = """
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

MEASURE = """
import gc, os, re, sys
from rnncalc.questions.price import memory_of
from rnncalc.questions.run import run, with_steps_to_run
from rnncalc.spec import spec_in_flags

def now(key):
    return int(re.search(key + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024

def measure(line):
    words = [None if word == "-" else word for word in line.split()]
    input, output, steps, convention, topology, states, *layers = words
    feedback = "true" if topology == "feedback" else None
    flags = dict(steps=steps, convention=convention, topology="one-to-many" if feedback else topology)
    small, network = (spec_in_flags(input, each, output, **flags).network for each in (("rnn:2",), tuple(layers)))
    network = network.replace(feedback=feedback is not None)
    run(small.replace(input=2, steps=2), states=bool(states))
    gc.disable()
    estimate, before = memory_of(network, traced=bool(states)), now("VmRSS")
    run(network, states=bool(states), most_multiply_adds=10**12)
    print(estimate, now("VmHWM") - before, line, flush=True)

for line in sys.stdin:
    if not os.fork():
        measure(line.strip())
        os._exit(0)
    assert os.wait()[1] == 0
"""


@pytest.mark.broad
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
@pytest.mark.parametrize("cases", [CASES, pytest.param(OTHERS, marks=pytest.mark.slow)], ids=["some", "others"])
def test_the_estimate_of_memory_is_near_what_is_used(cases: str) -> None:
    """Over conventions, cells, topologies and options; PyTorch's matrices are counted twice, and stored once."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], input=cases.strip(), capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == len(cases.strip().splitlines())
    for line in lines:
        estimate, used = map(int, line.split()[:2])
        assert 0.7 * used <= estimate <= 2.5 * used, f"estimated {estimate:,}, used {used:,}: {line}"


@pytest.mark.parametrize(
    ("words", "size"),
    [
        ("-i 1000000000000 -l external:1,outputs=4 -l rnn:2 -T 1", "41,000.0 GB"),
        ("-i 1 -l lstm:1 -T 20000000", "5.6 GB"),
        ("-i 1 -l lstm:1 -T 4000000 --states", "4.5 GB"),
        ("-i 9000 -l lstm:5000 -T 1 -c keras", "5.0 GB"),
        ("-i 1500000 -l embedding:100 -T 1", "2.9 GB"),
    ],
)
def test_what_would_not_fit_is_not_begun(words: str, size: str, call: Call) -> None:
    """Inputs, short steps with their states, matrices, and a table that is looked up in once."""
    code, _, error = call("run", *words.split(), "--max-multiply-adds", "1000G")
    assert code == 2
    assert f"about {size}, and the limit is 2 GB" in error


def test_with_feedback_the_weights_of_all_layers_are_in_memory_together() -> None:
    """Else a layer's are left before those of the next are drawn, here each 300 × 601 numbers."""

    def memory(layers: int, **options: Any) -> int:
        return memory_of(Network(input=300, layers=[RNN(300)] * layers, steps=1, **options))

    fed_back: dict[str, Any] = {"topology": "one-to-many", "feedback": True}
    assert memory(3) < 1.1 * memory(1)
    assert 2.8 * memory(1, **fed_back) < memory(3, **fed_back) < 3 * memory(1, **fed_back)


def test_the_work_of_a_pass_by_hand() -> None:
    """Products, and 400 per gate, step and direction."""
    layers = [GRU(3, bidirectional=True), Dense(5)]
    network = Network(input=4, layers=layers, steps=7)  # 2·3·3·(4 + 3) products per step, and 5·6
    assert work_of(network) == 7 * 126 + 30 + 400 * (7 * 2 * 3 + 1)
