"""Prints how fast rnncalc is, as ratios taken in one run: `python tests/bench/run.py`. A measure, never a test.

Each figure is the median of runs taken in turns with what it is compared to, so that a busy machine slows both.
rnncalc is installed into a fresh environment first, as its users have it.
"""

import json
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
ENV = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


def seconds(command: list[str], *, check: bool = True) -> float:
    """Return the time of a command; without `check` it may end with any exit code."""
    began = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=check)
    return time.perf_counter() - began


def kilobytes(command: list[str], *, check: bool = True) -> int:
    """Return the most memory a command held; without `check` it may end with any exit code."""
    code = (
        "import resource, subprocess, sys; none = subprocess.DEVNULL;"
        f"subprocess.run(sys.argv[1:], stdout=none, stderr=none, check={check});"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code, *command], cwd=ROOT, env=ENV, capture_output=True, check=True)
    return int(done.stdout)


def ratio(of: Callable[[], float], to: Callable[[], float], runs: int) -> float:
    """Return the ratio of two measures' medians, each taken `runs` times in turns after one to warm up."""
    of(), to()
    pairs = [(of(), to()) for _ in range(runs)]
    return statistics.median(first for first, _ in pairs) / statistics.median(second for _, second in pairs)


def show(what: str, value: float, target: float | None = None) -> None:
    print(f"{what:<80}{value:6.2f}{f'  (target ≤ {target})' if target else ''}", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder, "env"), with_pip=True)
        python = str(Path(folder, "env", "bin", "python"))
        subprocess.run([python, "-m", "pip", "install", "-q", str(ROOT)], check=True)
        rnncalc = str(Path(folder, "env", "bin", "rnncalc"))
        start(python, rnncalc)
        large(Path(folder), rnncalc)
        many(Path(folder), rnncalc)
        forward(python, rnncalc)
        models(Path(folder), rnncalc)
        drawing(Path(folder), rnncalc)
        answering(Path(folder), rnncalc)


def models(folder: Path, rnncalc: str) -> None:
    """Compare listing a model file to a small call, and a file of a gigabyte to one of kilobytes."""
    table = [rnncalc, "specs/lstm.yaml"]
    for name in ("tagger.safetensors", "tagger.pt"):
        value = ratio(partial(seconds, [rnncalc, "read", f"specs/models/{name}"]), partial(seconds, table), 15)
        show(f"rnncalc read of {name}, against rnncalc SPEC", value, 2)
    large = folder / "large.safetensors"
    size = 4 * 2**28
    header = json.dumps({"fc.weight": {"dtype": "F32", "shape": [2**14, 2**14], "data_offsets": [0, size]}}).encode()
    with large.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + size)  # sparse: a gigabyte of nothing
    few = [rnncalc, "read", "specs/models/tagger.safetensors"]
    value = ratio(lambda: seconds([rnncalc, "read", str(large)]), lambda: seconds(few), 15)
    show("rnncalc read of a safetensors file of 1 GB, against one of 4 kB", value, 1.1)
    value = ratio(lambda: kilobytes([rnncalc, "read", str(large)]), lambda: kilobytes(few), 3)
    show("its peak memory, against that", value, 1.1)


def start(python: str, rnncalc: str) -> None:
    """Compare a small call to the bare imports it cannot do without."""
    table = [rnncalc, "specs/lstm.yaml"]
    imports = [python, "-c", "import click, yaml, rich.console, rich.table"]
    value = ratio(lambda: seconds(table), lambda: seconds(imports), 25)
    show("rnncalc SPEC, against importing click, yaml, rich.console and rich.table", value, 1.3)
    flags = [rnncalc, *["-i", "8", "-l", "lstm:16", "-o", "1", "-f", "json"]]
    click = [python, "-c", "import click"]
    value = ratio(lambda: seconds(flags), lambda: seconds(click), 25)
    show("rnncalc FLAGS -f json, against importing click", value, 1.6)
    value = ratio(lambda: kilobytes(table), lambda: kilobytes(imports), 5)
    show("peak memory of rnncalc SPEC, against those imports", value, 1.20)


def large(folder: Path, rnncalc: str) -> None:
    """Compare a thousand layers, as many as there may be, to one; and time what takes longest."""
    texts = {
        "equal": "layers: [{lstm: 64, repeat: 1000}]\n",
        "different": "layers:\n" + "".join(f"- lstm: {number % 97 + 1}\n" for number in range(1_000)),
        "tensors": "layers: [rnn: 3]\nexpect:\n  tensors:\n    rnn_1:\n"
        + "".join(f"      W_{number}: [3, 4]\n" for number in range(50_000)),
    }
    files = {name: folder / f"{name}.yaml" for name in texts}
    for name, text in texts.items():
        files[name].write_text(f"input: 64\nsteps: 4\n{text}")

    def timed(*words: object) -> Callable[[], float]:
        return lambda: seconds([rnncalc, *map(str, words)])

    for name in ("equal", "different"):
        for flags in (["-f", "csv"], ["-f", "json"], ["--tensors"]):
            value = ratio(timed(files[name], *flags), timed("specs/lstm.yaml", *flags), 11)
            show(f"1,000 {name} LSTM layers, {' '.join(flags)}, against one", value, 8)
        many, few = timed(files[name], "-f", "csv", "--training", "--chunk", 3), timed(files[name], "-f", "csv")
        show(f"1,000 {name} LSTM layers with --training, against without", ratio(many, few, 7), 2)
    only = [word for number in range(20_000) for word in ("--only", f"rnm_{number}")]
    calls: dict[str, list[object]] = {
        "check of 50,000 expected tensors": ["check", files["tensors"]],
        "explain of 20,000 unknown names": ["explain", files["equal"], *only],
        "explain of 1,000 layers": ["explain", files["different"], "-f", "json"],
        "solve for the width of 1,000 layers": ["solve", "-i", 4, "-l", "lstm:?,repeat=1000", "--params", "1M"],
    }
    for what, words in calls.items():
        command = [rnncalc, *map(str, words)]
        show(f"{what}, in seconds", statistics.median(seconds(command, check=False) for _ in range(3)), 2)
        show(f"{what}, in MB", kilobytes(command, check=False) / 1000, 300)


def many(folder: Path, rnncalc: str) -> None:
    """Time checking a thousand small specs."""
    random.seed(0)
    specs = folder / "many"
    specs.mkdir()
    for number in range(1_000):
        layers = "".join(f"  - {random.choice(['rnn', 'gru', 'lstm'])}: {random.randint(1, 999)}\n" for _ in range(2))
        text = f"name: Spec {number}\ninput: {random.randint(1, 999)}\nsteps: 10\nlayers:\n{layers}output: 10\n"
        (specs / f"{number}.yaml").write_text(f"{text}budget:\n  max_params: 100M\n  max_bytes: 400MB\n")
    times = [seconds([rnncalc, "check", str(specs)]) for _ in range(5)]
    show("check of 1,000 small specs, in seconds", statistics.median(times), 0.5)


def forward(python: str, rnncalc: str) -> None:
    """Compare a forward pass to the products it is made of, and its memory to its weights."""
    script = str(Path(__file__).with_name("forward.py"))
    done = subprocess.run([python, script], env=ENV, capture_output=True, check=True)
    whole, longer, wider, back = map(float, done.stdout.split())
    show("a pass of LSTM 256 → 256, against its bare products", whole, 1.03)
    show("four times the steps, against four times the time", longer)
    show("four times the weights, against four times the time", wider)
    show("a pass back through LSTM 64 → 64 over 50 steps, against its pass forward", back, 4)
    command = [rnncalc, "run", *["-i", "1024", "-l", "lstm:1024", "-T", "1"]]
    weights = 4 * 1024 * (1024 + 1024 + 1)
    idle = kilobytes([rnncalc, "run", *["-i", "1", "-l", "lstm:1", "-T", "1"]])
    show("peak memory of a pass, bytes a weight", (kilobytes(command) - idle) * 1024 / weights, 40)


def drawing(folder: Path, rnncalc: str) -> None:
    """Compare drawing a network to counting it, and many layers and steps to the picture that they are elided to."""

    def timed(*words: str) -> Callable[[], float]:
        return lambda: seconds([rnncalc, *words])

    value = ratio(timed("draw", "specs/lstm.yaml"), timed("specs/lstm.yaml"), 25)
    show("draw of a small network, against its count as a table", value, 1)
    value = ratio(timed("draw", "specs/lstm.yaml", "--view", "cell"), timed("specs/lstm.yaml"), 25)
    show("draw of a cell, against the network's count as a table", value, 1.1)
    files = {}
    for name, layers, steps in (("many", 1_000, 10**12), ("few", 13, 7)):
        files[name] = str(folder / f"{name}.yaml")
        Path(files[name]).write_text(f"input: 8\nsteps: {steps}\nlayers: [{{lstm: 8, repeat: {layers}}}]\n")
    for form in ("svg", "tikz"):
        many, few = (timed("draw", files[name], "-f", form) for name in ("many", "few"))
        show(f"draw -f {form} of 1,000 layers and 10^12 steps, against 13 and 7", ratio(many, few, 11), 1.1)


def answering(folder: Path, rnncalc: str) -> None:
    """Compare judging wrong answers to counting the same network."""
    for layers, numbers in ((1, 1), (10, 1), (100, 1), (1_000, 1), (500, 500), (1_000, 1_000)):
        path = folder / f"{layers} to be judged.yaml"
        lines = "".join(f"  - lstm: {10 + place}\n" for place in range(layers))
        path.write_text(f"input: 10\nsteps: 7\nlayers:\n{lines}")
        wrong = [str(10**9 + 7 + place) for place in range(numbers)]
        judging = [sys.executable, "-c", FAILING, rnncalc, "answer", str(path), *wrong]
        counting = [sys.executable, "-c", FAILING, rnncalc, "count", str(path)]
        value = ratio(partial(seconds, judging), partial(seconds, counting), 5)
        what = f"answer of {numbers:,} wrong number{'s' if numbers > 1 else ''} for {layers:,} different layers"
        show(f"{what}, against its count", value)
        show("its seconds", seconds(judging), 2)
        show("its peak memory, in MB", kilobytes(judging) / 1024, 300)


FAILING = "import subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)"
"""A program that runs another, which may find that the answer is no."""


if __name__ == "__main__":
    main()
