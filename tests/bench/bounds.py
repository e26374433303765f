"""Prints seconds and megabytes of calls that could grow without bound: `python tests/bench/bounds.py [WORD]...`.

A measure, never a test. WORD: only the calls whose names contain it. No call should take over 2 seconds of a processor
or 300 MB.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

MOST_SECONDS, MOST_MB, LONGEST = 2, 300, 60


def stack(layers: list[str], output: str = "5") -> list[str]:
    return ["-i", "16", "-T", "7", *(word for layer in layers for word in ("-l", layer)), "-o", output]


def calls(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the arguments of each call."""
    rnn, deep = ["-i", "4", "-l", "rnn:3", "-o", "2"], stack(["rnn:3"] * 1_000)
    letters = stack([f"lstm:h_{number}" for number in range(1, 999)], "h_999")
    yield from on_networks("999 letters", letters)
    yield from on_networks("30 letters", stack([f"lstm:h_{number}" for number in range(1, 29)], "h_29"))
    yield from on_networks("100 layers", stack([f"lstm:{number},bidirectional" for number in range(1, 100)]))
    letters = [f"lstm:h_{number % 29},bidirectional" for number in range(99)]
    yield from on_networks("30 letters in 100 layers", stack(letters, "m"))
    pairs = [f"lstm:h_{number}" for one in range(1, 29) for other in range(one + 1, 30) for number in (one, other)]
    yield from on_networks("30 letters, all pairs", stack(["lstm:h_1", *pairs[:800]], "h_29"))
    yield from on_networks("2 letters in 1,000 layers", stack(["lstm:h"] * 1_000, "n"))
    yield from on_networks(
        "1,000 layers", stack(["lstm:16,bidirectional,learned_state,peepholes,projection=9"] * 1_000)
    )
    yield from on_networks("1,000 different layers", stack([f"gru:{number}" for number in range(1, 1_001)]))
    halves = folder / "halves.yaml"
    layers = "  layers:\n" + "".join(f"    - {{gru: 8, name: {{}}{number}}}\n" for number in range(1_000))
    text = f"encoder:\n  input: 8\n  steps: 7\n{layers.replace('{}', 'e')}"
    halves.write_text(f"{text}decoder:\n  input: 8\n  steps: 7\n{layers.replace('{}', 'd')}  output: 5\n")
    yield from on_networks("2 x 1,000 layers", [str(halves)])
    long = "x" * 10_000
    for name, words in {
        "name": ["-i", "4", "-l", f"rnn:3,name={long}"],
        "kind": ["-i", "4", "-l", f"{long}:3"],
        "size": ["-i", "4", "-l", f"rnn:{long}"],
        "digits": ["-i", "4", "-l", f"rnn:{'9' * 10_000}"],
        "option": ["-i", "4", "-l", f"rnn:3,{long}"],
        "options": ["-i", "4", "-l", "rnn:3" + ",bias" * 3_000],
        "wrong options": ["-i", "4", "-l", "rnn:3" + "".join(f",bia{n}" for n in range(3_000))],
        "path": [long],
        "convention": [*rnn, "-c", long],
        "flag": [*rnn, f"--{long}"],
        "1,000 wrong layers": ["-i", "4", *["-l", "rnnn:3x,biass=5"] * 1_000],
        "1,000 wrong flags": [*rnn, *[f"--flag{number}" for number in range(10_000)]],
        "1,000 conventions": [*rnn, *["-c", "keras"] * 10_000],
        "10,000 missing paths": [f"specs/x{number}.yaml" for number in range(10_000)],
        "only": ["explain", *rnn, *["--only", "rnn_1"] * 10_000],
        "wrong only": ["explain", *rnn, *[w for n in range(10_000) for w in ("--only", f"rnn_{n}")]],
        "wrong only of 1,000": ["explain", *deep, *[w for n in range(10_000) for w in ("--only", f"rnn{n}")]],
        "1,000 networks": ["compare", *["--network", "-i 9 -l lstm:20 -o 3"] * 1_000],
        "1,000 vary": ["exercise", *deep, *[w for n in range(1, 1_001) for w in ("--vary", f"rnn_{n}=2..9")]],
        "1,000 variants": ["exercise", *rnn, "--vary", "rnn_1=2..99999", "--variants", "1000"],
        "vary long": ["exercise", *rnn, "--vary", "=" * 30_000],
        "vary dots": ["exercise", *rnn, "--vary", "rnn_1=" + "1." * 15_000],
        "help": ["help", long],
        "schema": ["schema"],
        "read": ["read", long],
    }.items():
        yield f"words: {name}", words
    for kind in ("conv_lstm:8,kernel=3,space=8x8", "lstm:64"):
        flags = ["-i", "8", "-T", "8", "-l", kind]
        yield f"run --backward {kind}", ["run", *flags, "--backward"]


ON_NETWORKS = """
count; count --tensors; count --cost; count --operations; count --shapes; count --stream --rate 100; count --dense
count --training --chunk 3; count --all-conventions; count -f json; count -f html; count --quantize int8
count -c keras; count -c onnx -f markdown
explain; explain --training; explain --operations; explain -f json; explain -f html; explain -f latex
draw; draw --view cell; draw --view growth; draw --bare -f svg; draw -f tikz
answer 12345; answer -f json 12345; answer 4h(m+h+1); answer 1 2 3
run; run --backward; run --states; compare; compare --same-params
export --to pytorch; export --to keras; export --to flax-linen; export --to flax-nnx
exercise; exercise --ask layers; exercise --ask tensors; exercise --ask formula; exercise --ask saved; exercise -f json
"""


def on_networks(name: str, network: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield every question about a network."""
    for words in ON_NETWORKS.strip().replace("\n", "; ").split("; "):
        command, *rest = words.split()
        yield f"{name}: {words}", [command, *network, *rest]
    if network[0].endswith(".yaml"):
        yield f"{name}: check", ["check", *network]
        yield f"{name}: answer", ["answer", *network, *map(str, range(2_000, 4_001))]


def measured(words: list[str]) -> tuple[float, float, int, str]:
    """Return the seconds of a processor, the megabytes, the exit code and the first line of a call."""
    with tempfile.TemporaryFile() as out:
        limit = f'ulimit -t {LONGEST}; exec "$@"'
        command = ["sh", "-c", limit, "sh", sys.executable, "-m", "rnncalc", *words]
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        first, *_ = out.read(100).decode(errors="replace").split("\n")
    seconds, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    process.returncode = os.waitstatus_to_exitcode(status)
    return seconds, megabytes, process.returncode, first


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, words in calls(Path(folder)):
            if all(word in name for word in sys.argv[1:]):
                seconds, megabytes, code, first = measured(words)
                much = "!" if seconds > MOST_SECONDS or megabytes > MOST_MB else " "
                print(
                    f"{much} {seconds:6.2f} s {megabytes:6.0f} MB  exit {code:>2}  {name:<50} {first[:60]}", flush=True
                )


if __name__ == "__main__":
    main()
