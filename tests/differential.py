"""Compares the outputs of two commits: `python tests/differential.py main HEAD`; without B, the working tree.

Both run the same calls, each in its own checkout: every command and format on every spec of the first commit, exports,
answers that are wrong, and random networks of all kinds under every convention. Each call whose output, errors or exit
code differ is printed with its first different line; the exit code is 1 if there is one.
"""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).parent.parent
CALLS = """
count; count --tensors; count --cost; count --operations; count --shapes --batch 2; count --stream --rate 10
count --all-conventions; count --training; count --dense; count -f json --operations; count -f csv; count -f html
count --quantize int8; explain; explain --training; explain --operations; explain -f json; explain -f latex
explain --notation uvw; compare; compare -f json; draw; draw -f svg; draw --view cell; draw --view growth
answer 12345; answer -f json 1200; exercise -f json; exercise --ask layers --key; exercise --ask saved --seed 3
run --seed 1; run --seed 1 --backward; run --seed 1 --backward -f json; run --seed 1 --states; run --work
export --to pytorch; export --to keras; export --to flax-linen; export --to flax-nnx; check; solve --params 5000
"""
CONVENTIONS = ("textbook", "pytorch", "keras", "flax-linen", "flax-nnx", "onnx")
CELLS = ("rnn", "gru", "lstm", "mgu", "mingru", "minlstm", "sru", "fastgrnn")
OPTIONS = (
    "bidirectional",
    "bias=false",
    "learned_state",
    "repeat=2",
    "frozen",
    "extra_inputs=2",
    "layer_norm",
    "coupled",
)
AROUND = (
    *("dense:3", "dense:4,activation=relu", "dropout:0.5", "layer_norm", "layer_norm:,bias=false", "batch_norm"),
    *("batch_norm:,scale=false", "conv1d:4,kernel=2", "conv1d:4,kernel=3,groups=2,padding=same,activation=tanh"),
    *("conv1d:2,kernel=2,stride=2", "conv1d:3,kernel=2,dilation=2,padding=causal,bias=false", "pool1d:2"),
    *("pool1d:3,stride=1,mode=average", "flatten", "last", "repeat_vector:3", "external:7"),
)


def random_networks(number: int, seed: int) -> Iterator[list[str]]:
    """Yield the flags of random networks; some are invalid, and must be refused in the same words."""
    random = Random(seed)
    for _ in range(number):
        layers = []
        for _ in range(random.randint(1, 4)):
            if random.random() < 0.5:
                layers.append(random.choice(AROUND))
            else:
                options = random.sample(OPTIONS, random.choice((0, 0, 1, 2)))
                layers.append(",".join([f"{random.choice(CELLS)}:{random.randint(1, 4)}", *options]))
        flags = ["-i", str(random.randint(1, 4)), "-T", str(random.randint(1, 6)), "-c", random.choice(CONVENTIONS)]
        yield [*flags, *(word for layer in layers for word in ("-l", layer)), *random.choice(([], ["-o", "2"]))]


def calls(specs: list[str], number: int, seed: int) -> Iterator[list[str]]:
    """Yield every call."""
    asked = [words.split() for words in CALLS.strip().replace("\n", ";").split(";")]
    for spec in specs:
        for command, *rest in asked:
            yield [command, spec, *rest]
    random = Random(seed)
    for network in random_networks(number, seed):
        for command, *rest in random.sample(asked, 6):
            yield [command, *network, *rest]


def run(checkout: str, listed: str, results: str) -> None:
    """Make the calls of a file with the package of a checkout, and write what each printed."""
    sys.path.insert(0, checkout)
    os.environ["COLUMNS"] = "200"
    from rnncalc.cli import call

    with open(results, "w") as file:
        for words in json.loads(Path(listed).read_text()):
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    code: object = call(words)
                except Exception as error:  # what raises here is a difference to see
                    code = repr(error)
            file.write(json.dumps([code, out.getvalue(), err.getvalue()]) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("a")
    parser.add_argument("b", nargs="?")
    parser.add_argument("--networks", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checkouts = []
        for name, commit in (("a", args.a), ("b", args.b)):
            checkouts.append(f"{folder}/{name}" if commit else str(ROOT))
            if commit:
                subprocess.run(
                    ["git", "worktree", "add", "-q", "--detach", checkouts[-1], commit], cwd=ROOT, check=True
                )
        try:
            specs = sorted(str(path.relative_to(checkouts[0])) for path in Path(checkouts[0], "specs").glob("*.yaml"))
            listed = Path(folder, "calls")
            listed.write_text(json.dumps([*calls(specs, args.networks, args.seed)]))
            running = [
                subprocess.Popen(
                    [sys.executable, __file__, "--run", path, str(listed), f"{folder}/{name}.results"], cwd=checkouts[0]
                )
                for name, path in zip("ab", checkouts, strict=True)
            ]
            if sum(process.wait() for process in running):
                return 1
            results = [Path(folder, f"{name}.results").read_text().splitlines() for name in "ab"]
        finally:
            for path, commit in zip(checkouts, (args.a, args.b), strict=True):
                if commit:
                    subprocess.run(["git", "worktree", "remove", "--force", path], cwd=ROOT, check=True)
        different = 0
        for words, one, other in zip(json.loads(listed.read_text()), *results, strict=True):
            if one == other:
                continue
            different += 1
            print("rnncalc", *words)
            for before, after in zip(json.loads(one), json.loads(other), strict=True):
                lines = [str(before).split("\n"), str(after).split("\n")]
                lines = [[*each, *[""] * (max(map(len, lines)) - len(each))] for each in lines]
                for left, right in zip(*lines, strict=True):
                    if left != right:
                        print(f"  - {left[:300]}\n  + {right[:300]}")
                        break
        print(f"{different:,} of {len(results[0]):,} calls differ")
    return int(different > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(*sys.argv[2:])
    else:
        sys.exit(main())
