"""Prints what calls take: `python tests/bench.py [--against COMMIT] [--runs 5] [WORD]...`. A measure, never a test.

Each row is a call whose name contains the words: the median of its seconds of a processor, its megabytes, and, against
a commit, the ratio of both medians, taken in turns so that a busy machine slows both. rnncalc is installed into a fresh
environment first, as its users have it. No call should take over 2 seconds or 300 MB (marked !).
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
from operator import mul
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
ENV = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
MOST_SECONDS, MOST_MB, LONGEST = 2, 300, 60


class Row(NamedTuple):
    """A call by its name; target: the ratio to the commit before that is wanted."""

    name: str
    words: list[str]
    target: float | None = None


def rows(folder: Path) -> Iterator[Row]:
    """Yield the calls, their files written into a folder."""
    yield Row("SPEC", ["specs/lstm.yaml"], 0.8)
    yield Row("SPEC -f json", ["specs/lstm.yaml", "-f", "json"], 0.9)
    yield Row("check of 1,000 specs", ["check", str(small_specs(folder / "many"))], 0.35)
    five = ["-i", "8", *(f"-llstm:{units}" for units in (16, 15, 14, 13, 12))]
    (folder / "class.csv").write_text("name,answer\n" + "".join(f"n{n},{3_000 + n}\n" for n in range(20_000)))
    yield Row("a class of 20,000 answers", ["answer", *five, "--from", str(folder / "class.csv")], 0.25)
    variants = ["exercise", "-i", "8", "-l", "lstm:16", "--vary", "lstm_1=2..9999", "--variants", "1000"]
    yield Row("1,000 variants", variants, 0.25)
    backward = ["run", "-i", "8", "-l", "lstm:16", "-T", "100", "--backward", "--verify"]
    yield Row("run --backward --verify", [*backward, "--max-multiply-adds", "100G"], 0.3)
    spec, model = many_tensors(folder, 50_000)
    yield Row("check --model, 50,000 tensors", ["check", spec, "--model", model], 0.35)
    yield Row("read of 1 GB", ["read", sparse(folder / "large.safetensors")])
    deep = ["-i", "16", "-T", "7", *["-l", "lstm:16,bidirectional"] * 1_000, "-o", "5"]
    other = ["-i", "16", "-T", "7", *(f"-lgru:{units}" for units in range(1, 1_000)), "-o", "5"]
    letters = ["-i", "16", "-T", "7", *(f"-llstm:h_{number % 29},bidirectional" for number in range(99)), "-o", "m"]
    networks = {"1,000 layers": deep, "1,000 different layers": other, "30 letters in 100 layers": letters}
    for (name, network), question in product(networks.items(), QUESTIONS):
        command, *flags = question.split()
        yield Row(f"{name}: {question}", [command, *network, *flags])
    long, small = "x" * 10_000, ["-i", "4", "-l", "rnn:3"]
    only = [word for number in range(10_000) for word in ("--only", f"rnm_{number}")]
    for words in (
        *(["count", "-i", "4", "-l", f"rnn:3,name={long}"], ["count", "-i", "4", "-l", f"{long}:3"], [long]),
        *(["explain", *deep, *only], ["count", "-i", "4", *["-l", "rnnn:3x,biass=5"] * 1_000], ["read", long]),
        *(["count", *small, *[f"--flag{number}" for number in range(10_000)]], ["check", *["specs/x.yaml"] * 10_000]),
        *(["compare", *["--network", "-i 9 -l lstm:20 -o 3"] * 1_000], ["count", *small, *["-c", "keras"] * 10_000]),
        ["exercise", *small, "--vary", "rnn_1=" + "1." * 15_000],
    ):
        yield Row(f"words: {' '.join(words)[:40]}", words)


QUESTIONS = (
    """
count; count --tensors; count --cost; count --operations; count --shapes; count --training --chunk 3; count -f json
count --all-conventions; count -f html; explain -f json; explain --training; draw -f svg; draw --view growth
answer 12345; answer 1 2 3; run; compare --same-params; export --to pytorch; exercise --ask formula
""".strip()
    .replace("\n", "; ")
    .split("; ")
)


def small_specs(folder: Path) -> Path:
    folder.mkdir()
    chance = random.Random(0)
    for number in range(1_000):
        layers = "".join(f"  - {chance.choice(['rnn', 'gru', 'lstm'])}: {chance.randint(1, 999)}\n" for _ in range(2))
        text = f"name: Spec {number}\ninput: {chance.randint(1, 999)}\nsteps: 10\nlayers:\n{layers}output: 10\n"
        (folder / f"{number}.yaml").write_text(f"{text}budget: {{max_params: 100M, max_bytes: 400MB}}\n")
    return folder


def many_tensors(folder: Path, count: int) -> tuple[str, str]:
    """Write a spec of an external layer with so many tensors, and a model file that has them."""
    names = [f"W_{number}" for number in range(count)]
    spec, model = folder / "tensors.yaml", folder / "tensors.safetensors"
    spec.write_text("convention: pytorch\ninput: 4\nlayers:\n  - external: " + f"{2 * count}\n    outputs: 3\n")
    places = {name: {"dtype": "F32", "shape": [2], "data_offsets": [8 * n, 8 * n + 8]} for n, name in enumerate(names)}
    header = json.dumps(places).encode()
    model.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8 * count))
    return str(spec), str(model)


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
    """Print the time of a pass of an LSTM as a ratio to that of its bare products; run in the environment."""
    from rnncalc import LSTM, Network
    from rnncalc.forward.arrays import PassData, floats
    from rnncalc.forward.network_pass import Pass

    def by_pairs(one: list[float], other: list[float]) -> float:
        total: float = sum(map(mul, one, other))
        return total

    sumprod: Callable[[list[float], list[float]], float] = getattr(math, "sumprod", by_pairs)  # of Python 3.12
    network = Network(input=256, layers=(LSTM(256),), steps=10)
    (placed,) = network.stack
    weights = {placed.name: PassData().weights_of(placed)}
    matrix = [[random.random() for _ in range(256)] for _ in range(256)]

    def seconds(work: Callable[[], object]) -> float:
        began = perf_counter()
        work()
        return perf_counter() - began

    def products() -> None:
        for _ in range(80):  # eight in each step
            [sumprod(row, matrix[0]) for row in matrix]

    passes = [Pass(network, floats, weights=weights, inputs={None: matrix[:10]}) for _ in range(7)]
    pairs = [(seconds(partial(deque, each.run(), maxlen=0)), seconds(products)) for each in passes]
    print(f"a pass against its bare products: {median(one / other for one, other in pairs):.2f} (target 1.03)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", metavar="COMMIT")
    parser.add_argument("--runs", type=int, default=5)
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
            if not all(word in row.name for word in options.words):
                continue
            turns = [
                [measured([python, "-m", "rnncalc", *row.words]) for python in pythons] for _ in range(options.runs)
            ]
            times = [median(seconds for seconds, _ in of) for of in zip(*turns, strict=True)]
            megabytes = max(most for (_, most), *_ in turns)
            much = "!" if times[0] > MOST_SECONDS or megabytes > MOST_MB else " "
            ratio = f"{times[0] / times[-1]:8.2f}" + (f" (target {row.target})" if row.target else "")
            print(
                f"{much} {row.name:55}{times[0]:7.2f} s{megabytes:7.0f} MB{ratio if options.against else ''}",
                flush=True,
            )
        if not options.words:
            subprocess.run([pythons[0], "-c", PASS, str(ROOT / "tests")], env=ENV, cwd=folder, check=True)


PASS = "import sys; sys.path.append(sys.argv[1]); from bench import forward_pass; forward_pass()"

if __name__ == "__main__":
    main()
