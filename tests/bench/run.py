"""Prints what calls take: `python tests/bench/run.py [--against COMMIT] [--goals] [WORD]...`. A measure, never a test.

Each row is a call whose name contains the words: the median of its seconds of a processor, and its megabytes; against
a commit, the ratios of both, taken in turns so that a busy machine slows both. rnncalc is installed into a fresh
environment first, as its users have it. No call should take over 2 seconds or 300 MB (marked !).

--goals: only the calls whose ratio has a goal, then a pass beside its bare products.
--growth: also how the time of calls grows with their size: as n to a power, which should be at most 1.1 (marked !).
--peers PYTHON: also how many times as long other programs take for a count, in an environment that has them.
"""

import argparse
import json
import math
import os
import random
import struct
import subprocess
import tempfile
import venv
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import log
from operator import mul
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
ENV = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
MOST_SECONDS, MOST_MB, LONGEST = 2, 300, 60
CALL = "-P", "-m", "rnncalc"
"""Runs the build that is installed: without -P the checkout, in which calls run, would be imported."""


class Row(NamedTuple):
    """A call by its name; goal, memory: the ratios of its time and its memory to an earlier commit that are wanted."""

    name: str
    words: list[str]
    goal: float | None = None
    memory: float | None = None


def rows(folder: Path) -> Iterator[Row]:
    """Yield the calls, their files written into a folder."""
    yield Row("SPEC", ["specs/lstm.yaml"], 0.8, 0.9)
    yield Row("SPEC -f json", ["specs/lstm.yaml", "-f", "json"], 0.9)
    yield Row("check of 1,000 specs", specs(folder, 1_000), 0.35)
    for layers in (1, 5):
        yield Row(f"a class of 20,000 answers, layers: {layers}", answers(folder, 20_000, layers), 0.25)
    yield Row("1,000 variants", variants(folder, 1_000), 0.25, 0.5)
    backward = ["run", "-i", "8", "-l", "lstm:16", "-T", "100", "--backward", "--verify"]
    yield Row("run --backward --verify", [*backward, "--max-multiply-adds", "100G"], 0.3)
    yield Row("a wrong answer, 100 layers", ["answer", *different(99), "12345"], 0.4)
    yield Row("a wrong answer, 1,000 layers", ["answer", *different(999), "12345"], 0.6)
    yield Row("check --model, 50,000 tensors", tensors(folder, 50_000), 0.35)
    yield Row("read of 1 GB", ["read", sparse(folder / "large.safetensors")])
    letters = ["-i", "16", "-T", "7", *(f"-llstm:h_{number % 29},bidirectional" for number in range(99)), "-o", "m"]
    networks = {"1,000 layers": deep(1_000), "1,000 different layers": different(999), "30 letters": letters}
    goals = {"1,000 layers: count": 0.7, "1,000 layers: draw": 0.6, "1,000 layers: explain": 0.6}
    for (name, network), question in product(networks.items(), QUESTIONS):
        command, *flags = question.split()
        title = f"{name}: {question}"
        yield Row(title, [command, *network, *flags], goals.get(title))
    long, small = "x" * 10_000, ["-i", "4", "-l", "rnn:3"]
    only = [word for number in range(10_000) for word in ("--only", f"rnm_{number}")]
    for words in (
        *(["count", "-i", "4", "-l", f"rnn:3,name={long}"], ["count", "-i", "4", "-l", f"{long}:3"], [long]),
        *(["explain", *deep(1_000), *only], ["count", "-i", "4", *["-l", "rnnn:3x,biass=5"] * 1_000], ["read", long]),
        *(["count", *small, *[f"--flag{number}" for number in range(10_000)]], ["check", *["specs/x.yaml"] * 10_000]),
        *(["compare", *["--network", "-i 9 -l lstm:20 -o 3"] * 1_000], ["count", *small, *["-c", "keras"] * 10_000]),
        ["exercise", *small, "--vary", "rnn_1=" + "1." * 15_000],
    ):
        yield Row(f"words: {' '.join(words)[:40]}", words)


QUESTIONS = (
    """
count; explain; draw; count --tensors; count --cost; count --operations; count --shapes
count --training --chunk 3; count -f json; count --all-conventions
count -f html; explain -f json; explain --training; draw -f svg; draw --view growth
answer 12345; answer 1 2 3; run; compare --same-params; export --to pytorch; exercise --ask formula
""".strip()
    .replace("\n", "; ")
    .split("; ")
)


def different(number: int) -> list[str]:
    """Return the flags of a network of so many layers, no two of one size."""
    layers = [word for units in range(1, number + 1) for word in ("-l", f"gru:{units}")]
    return ["-i", "16", "-T", "7", *layers, "-o", "5"]


def deep(number: int) -> list[str]:
    """Return the flags of a network of so many equal layers."""
    return ["-i", "16", "-T", "7", *["-l", "lstm:16,bidirectional"] * number, "-o", "5"]


def specs(folder: Path, count: int) -> list[str]:
    """Return the check of so many specs."""
    (folder := folder / f"specs-{count}").mkdir(exist_ok=True)
    chance = random.Random(0)
    for number in range(count):
        layers = "".join(f"  - {chance.choice(['rnn', 'gru', 'lstm'])}: {chance.randint(1, 999)}\n" for _ in range(2))
        text = f"name: Spec {number}\ninput: {chance.randint(1, 999)}\nsteps: 10\nlayers:\n{layers}output: 10\n"
        (folder / f"{number}.yaml").write_text(f"{text}budget: {{max_params: 100M, max_bytes: 400MB}}\n")
    return ["check", str(folder)]


def answers(folder: Path, count: int, layers: int = 1) -> list[str]:
    """Return the grading of a class of so many different answers."""
    path = folder / f"class-{count}.csv"
    path.write_text("name,answer\n" + "".join(f"n{n},{3_000 + n}\n" for n in range(count)))
    return ["answer", "-i", "8", *(f"-llstm:{16 - layer}" for layer in range(layers)), "--from", str(path)]


def variants(_: Path, count: int) -> list[str]:
    """Return an exercise of so many variants."""
    return ["exercise", "-i", "8", "-l", "gru:16", "--vary", "gru_1=2..9999", "--variants", str(count)]


def tensors(folder: Path, count: int) -> list[str]:
    """Return the check of a spec with an external layer of so many tensors, and of a model file that has them."""
    return stored(folder / f"tensors-{count}", {f"W_{number}": [2] for number in range(count)})


def lstms(folder: Path, count: int) -> list[str]:
    """Return the check of a spec with an external layer, and of a model file that has so many LSTMs instead."""
    leaves = {"weight_ih_l0": [8, 2], "weight_hh_l0": [8, 2], "bias_ih_l0": [8], "bias_hh_l0": [8]}
    shapes = {f"blocks.{number}.rnn.{leaf}": shape for number in range(count) for leaf, shape in leaves.items()}
    return stored(folder / f"lstms-{count}", shapes)


def stored(path: Path, shapes: dict[str, list[int]]) -> list[str]:
    """Return the check of a spec with an external layer, and of a safetensors file with tensors of these shapes."""
    spec, model = path.with_suffix(".yaml"), path.with_suffix(".safetensors")
    places, size = {}, 0
    for name, shape in shapes.items():
        places[name] = {"dtype": "F32", "shape": shape, "data_offsets": [size, size + 4 * math.prod(shape)]}
        size += 4 * math.prod(shape)
    spec.write_text("convention: pytorch\ninput: 4\nlayers:\n  - external: " + f"{size // 4}\n    outputs: 3\n")
    header = json.dumps(places).encode()
    model.write_bytes(struct.pack("<Q", len(header)) + header + bytes(size))
    return ["check", str(spec), "--model", str(model)]


def steps(_: Path, count: int) -> list[str]:
    """Return a pass over so many steps."""
    return ["run", "-i", "4", "-l", "lstm:4", "-T", str(count)]


GROWING: dict[str, tuple[int, Callable[[Path, int], list[str]]]] = {
    "layers counted": (1_000, lambda _, count: ["count", *deep(count)]),
    "layers explained": (1_000, lambda _, count: ["explain", *deep(count)]),
    "layers drawn": (1_000, lambda _, count: ["draw", *deep(count)]),
    "layers answered": (1_000, lambda _, count: ["answer", *different(count - 1), "12345"]),
    "layers trained": (1_000, lambda _, count: ["count", "--training", *different(count - 1)]),
    "variants": (1_000, variants),
    "specs": (1_000, specs),
    "tensors": (50_000, tensors),
    "LSTMs of a file": (2_000, lstms),
    "answers": (20_000, answers),
    "steps": (10_000, steps),
}
"""What is doubled twice, up to a number: from it and a folder, a call."""

STEEPEST = 1.1


def print_growth(python: str, folder: Path, runs: int, words: list[str]) -> None:
    """Print the exponent with which the time of each call grows, the start left out, as a line through three sizes."""

    def seconds(call: list[str]) -> float:
        return median(measured([python, *CALL, *call])[0] for _ in range(runs))

    start = seconds(["--version"])
    for name, (most, call) in GROWING.items():
        if all(word in name for word in words):
            few, many = (seconds(call(folder, count)) - start for count in (most // 4, most))
            exponent = log(many / few, 4)
            print(f"{'!' if exponent > STEEPEST else ' '} {name:20} up to {most:6,}: n^{exponent:.2f}", flush=True)


def sparse(path: Path) -> str:
    """Write a safetensors file of a gigabyte of nothing."""
    place = {"dtype": "F32", "shape": [2**14, 2**14], "data_offsets": [0, 2**30]}
    header = json.dumps({"fc.weight": place}).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + 2**30)
    return str(path)


def measured(command: list[str]) -> tuple[float, float]:
    """Return the seconds of a processor and the megabytes that a command takes, stopped after LONGEST seconds."""
    limited = ["sh", "-c", f'ulimit -t {LONGEST}; exec "$@"', "sh", *command]
    none = subprocess.DEVNULL
    with subprocess.Popen(limited, cwd=ROOT, env=ENV, stdout=none, stderr=none) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def installed(source: str, folder: Path) -> str:
    """Return the Python of a fresh environment with rnncalc from a folder."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", source], check=True)
    return python


def forward_pass() -> None:
    """Print the time of a pass of an LSTM as a ratio to that of its bare products, those of its own matrices, and that
    of a pass with its gradients as one to that of the pass; run in the environment.
    """
    from rnncalc import LSTM, Network
    from rnncalc.forward.arrays import PassData, floats
    from rnncalc.forward.backward_pass import backward_pass
    from rnncalc.forward.network_pass import Pass
    from rnncalc.questions.backward import LOSSES

    def by_pairs(one: list[float], other: list[float]) -> float:
        total: float = sum(map(mul, one, other))
        return total

    sumprod: Callable[[list[float], list[float]], float] = getattr(math, "sumprod", by_pairs)  # of Python 3.12
    network = Network(input=256, layers=(LSTM(256),), steps=10)
    (placed,) = network.stack
    weights = {placed.name: PassData().weights_of(placed)}
    inputs = [[random.random() for _ in range(256)] for _ in range(10)]
    rows = [row for array in weights[placed.name].values() if isinstance(array[0], list) for row in array]

    def seconds(work: Callable[[], object]) -> float:
        began = perf_counter()
        work()
        return perf_counter() - began

    def products() -> None:
        for vector in inputs:  # each gate has a matrix for the input and one for the past
            [sumprod(row, vector) for row in rows]

    passes = [Pass(network, floats, weights=weights, inputs={None: inputs}) for _ in range(7)]
    pairs = [(seconds(partial(deque, each.run(), maxlen=0)), seconds(products)) for each in passes]
    print(f"a pass against its bare products: {median(one / other for one, other in pairs):.2f} (goal 1.03)")
    loss = LOSSES["sum"]([[]])
    back = [
        seconds(partial(backward_pass, network, loss, weights, inputs={None: inputs})) / alone for alone, _ in pairs
    ]
    print(f"a pass and its gradients against the pass: {median(back):.2f} (goal 3.0)")


PEERS = {
    "torchinfo": "import torch, torchinfo; print(torchinfo.summary(torch.nn.LSTM(8, 16), input_size=(7, 1, 8)))",
    "torch on the device meta": "import torch; torch.set_default_device('meta'); "
    "print(sum(each.numel() for each in torch.nn.LSTM(8, 16).parameters()))",
    "Keras": "import os; os.environ['KERAS_BACKEND'] = 'jax'; "
    "import keras; keras.Sequential([keras.Input((7, 8)), keras.layers.LSTM(16)]).summary()",
    "Flax": "import jax; from flax import linen; inputs = jax.numpy.ones((1, 7, 8)); "
    "print(linen.RNN(linen.LSTMCell(16)).tabulate(jax.random.key(0), inputs))",
}
"""Programs of others that count an LSTM of 16 units with 8 inputs."""


def print_peers(python: str, theirs: str, runs: int) -> None:
    """Print how many times as long each of PEERS takes as rnncalc; theirs: the Python of an environment with them."""
    for name, program in PEERS.items():
        turns = [
            (measured([theirs, "-c", program])[0], measured([python, *CALL, "-i", "8", "-l", "lstm:16"])[0])
            for _ in range(runs)
        ]
        print(f"{name:30} {median(one / other for one, other in turns):5.1f} times (goal 11)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", metavar="COMMIT")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--goals", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--peers", metavar="PYTHON")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pythons = [installed(str(ROOT), folder / "here")]
        if options.against:
            (folder / "source").mkdir()
            archive = subprocess.run(["git", "archive", options.against], cwd=ROOT, capture_output=True, check=True)
            subprocess.run(["tar", "x", "-C", str(folder / "source")], input=archive.stdout, check=True)
            pythons.append(installed(str(folder / "source"), folder / "there"))
        for row in rows(folder):
            if not all(word in row.name for word in options.words) or (options.goals and row.goal is None):
                continue
            turns = [[measured([python, *CALL, *row.words]) for python in pythons] for _ in range(options.runs)]
            times = [median(seconds for seconds, _ in of) for of in zip(*turns, strict=True)]
            sizes = [max(most for _, most in of) for of in zip(*turns, strict=True)]
            much = "!" if times[0] > MOST_SECONDS or sizes[0] > MOST_MB else " "
            text = f"{times[0]:7.2f} s{sizes[0]:7.0f} MB"
            if options.against:
                goal, memory = (f" (goal {each})" if each else "" for each in row[2:])
                text = f"{times[0] / times[1]:7.2f}{goal}, memory {sizes[0] / sizes[1]:.2f}{memory}"
            print(f"{much} {row.name:55}{text}", flush=True)
        if not options.words:
            subprocess.run([pythons[0], "-c", PASS, str(Path(__file__).parent)], env=ENV, cwd=folder, check=True)
        if options.growth:
            print_growth(pythons[0], folder, options.runs, options.words)
        if options.peers:
            print_peers(pythons[0], options.peers, options.runs)


PASS = "import sys; sys.path.append(sys.argv[1]); from run import forward_pass; forward_pass()"

if __name__ == "__main__":
    main()
