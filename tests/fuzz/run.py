"""Feeds rnncalc what no one would write: `python tests/fuzz/run.py [specs|models|answers] --seconds 60 --seed 1`.

Without a word it takes all three in turn. What breaks a rule of one is printed, and the exit code is 1.

specs: specs are mutated byte by byte, word by word and part by part, or not at all, and each is given to a command in a
process of its own: to every command, in every format, as the spec and as the file of weights, inputs or earlier counts
that it reads beside one; strangers' words are where a command takes a name, a number or a layer; and a folder of named
pipes, devices, sockets and links is where it takes a file, to read or to write.
models: model files likewise (`model_files.py`). answers: answers whose verdict is known (`answers.py`).

Whatever it is, the call must end with 0, 1 or 2, within 2 s and 300 MB, without a traceback; must write nothing, start
nothing and open no connection; and must print nothing that acts on a terminal or on GitHub's runner. The file that
breaks one of these is kept in the folder `found` for `tests/bad_specs/`.
"""

import argparse
import io
import os
import random
import re
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from rnncalc.cli.commands import COMMANDS, cli  # noqa: E402  the path comes first

SECONDS, KILOBYTES = 2.0, 300_000
SPEC, GOOD, WORD = "SPEC", "GOOD", "WORD"
"""In a call: the mutated file, a file that is right, and a stranger's word."""
FOLDER, ODD = "odd", "odd/ANY"
"""In a call: a folder with the mutated file and what is no regular file, and one of these, before its suffix."""
ODDITIES = ["pipe", "device", "endless", "terminal", "socket", "loop", "spec", "stdin", "log"]

LINES = (Path(__file__).parent / "calls.txt").read_text().splitlines()
CALLS = [[*call] for line in LINES if line[0] != "#" for call in product(*(word.split("|") for word in line.split()))]
BESIDE = {"answer": [GOOD, "25"], "solve": ["-i", "4", "-l", "lstm:?", "--params", "1k"]}
"""What a command is called with beside an option that a stranger sets; the others take a file, if they take any."""

for name in COMMANDS:
    command = cli.get_command(click.Context(cli), name)
    assert command
    taking = [each for each in command.params if isinstance(each, click.Option) and not each.is_flag]
    named = [each for each in taking if each.metavar not in ("FILE", "PATH")]  # files are named in the calls above
    beside = BESIDE.get(name, [GOOD] if any(isinstance(each, click.Argument) for each in command.params) else [])
    CALLS += [[name, WORD], *([name, each.opts[-1], WORD, *beside] for each in named)]

HOSTILE = ["\x1b[31m", "::error::x", "##[error]x", "\u202e", "\x9b", "=1+1", "<b>", "\r\n", "\0", "`", "|", "\ud800"]
WORDS = ["010", "1:30", "1e3", "3.0", "yes", "~", "?", "-1", "0", "1_0", "9" * 50, ".inf", "10G", "null", "*a", "&a"]
WORDS += ["!!python/object/apply:os.system", "<<", "- ", *"{}[]#\t'\"", ": ", "---", "%YAML 1.1"]
UNEXPECTED = re.compile(r"\(\w+\.py, line \d+\)$", re.MULTILINE)
"""The end of the line that an unexpected exception becomes."""
UNKNOWN = "it may be damaged:"
"""What is told of a failure that is none of those that a reader of model files expects."""
GOOD_FILE = str(ROOT / "specs" / "rnn.yaml")
KEYS = ["name", "repeat", "bias", "bidirectional", "merge", "projection", "peepholes", "frozen", "extra_inputs"]
KEYS += ["lstm", "gru", "rnn", "mgu", "dense", "embedding", "dropout", "external", "outputs", "expect", "budget"]
KEYS += ["layers", "input", "output", "steps", "topology", "encoder", "decoder", "tied", "convention", "weights"]
KEYS += ["inputs", "start", "targets", "feedback", "rnn_1", "h", "c", "true", "sizes", "D", "2*D", "(D + E)/2", "D - E"]
KEYS += ["attention", "multi_head_attention", "transformer", "feed_forward", "heads", "key_size", "score", "query"]
KEYS += ["context", "units", "before", "both", "additive", "{heads: 2}", "positions", "causal"]
KEYS += ["state", "trainable", "W", "[D, 3]", "{W: [D, 3], b: [3]}"]
GIVEN = ["weights", "inputs", "start", "targets"]
KINDS = [*KEYS[9:17], "attention", "multi_head_attention", "transformer"]
Bytes = Callable[[random.Random, bytes], bytes]


def flip(chance: random.Random, data: bytes) -> bytes:
    """Change, drop or add a few bytes."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(changed) + 1)
        end = at + chance.choice([0, 0, 1, 1, chance.randint(1, 40)])
        changed[at:end] = chance.choice([b"", bytes([chance.randrange(256)]), changed[at:end] * 2])
    return bytes(changed)


def reword(chance: random.Random, data: bytes) -> bytes:
    """Put a word that means something in place of another."""
    words = re.split(rb"(\s+|[:,{}\[\]-])", data)
    for _ in range(chance.randint(1, 4)):
        words[chance.randrange(len(words))] = chance.choice(WORDS + HOSTILE + KEYS).encode("utf-8", "surrogatepass")
    return b"".join(words)


def relined(chance: random.Random, data: bytes) -> bytes:
    """Move, repeat or indent lines."""
    lines = data.split(b"\n")
    for _ in range(chance.randint(1, 4)):
        at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
        lines[at:at] = [b" " * chance.randint(0, 6) + lines[to].strip()] * chance.choice([1, 1, 2, 500])
    return b"\n".join(lines)


def grown(chance: random.Random, data: bytes) -> bytes:
    """Write a spec of random keys and values, most of them legal, and forget what was there."""
    del data

    def number() -> str:
        return chance.choice(["1", "3", "512", "1000", "1001", str(10**12), chance.choice(WORDS)])

    text = "".join(chance.choice([*HOSTILE, "a", " ", "ü"]) for _ in range(3))
    safe = re.sub(r"[\x00-\x1f\ud800]", lambda found: f"\\x{ord(found[0]) % 256:02x}", text.replace('"', ""))
    layers = []
    for _ in range(chance.choice([1, 2, 3, 3_000])):
        options = [f"{chance.choice(KEYS[:9])}: {chance.choice(['true', 'false', 'sum', number()])}"]
        layers.append(f"  - {{{chance.choice(KINDS)}: {number()}, {', '.join(options * chance.randint(0, 1))}}}")
    head = f'name: "{safe}"\ninput: {number()}\nsteps: {number()}\nlayers:\n'
    nested = chance.choice(["{rnn_1: {h: [%s]}}", "[[%s], [1]]", "{lstm_1: {c: [[%s]]}, gru_1: %s}", "[%s"])
    own = f"{chance.choice(GIVEN)}: {nested.replace('%s', number())}\n" * chance.randint(0, 2)
    budget = f"budget: {{max_params: {number()}, min_dense_ratio: {number()}}}"
    tail = f"{own}output: {number()}\nexpect: {number()}\n{budget}\n"
    return "\n".join([head + "\n".join(layers), tail]).encode("utf-8", "replace")


def stranger(chance: random.Random) -> str:
    """Return a word as a stranger may write it: a call's arguments have no zero byte and no half of a pair."""
    start = chance.choice(["", "lstm:3", "rnn:3,name=", "25", "lstm_1", "--", "-x", "1e", "git:", "12 ", "rnn_1,"])
    rest = "".join(chance.choice([*HOSTILE, *WORDS, *KEYS]) for _ in range(chance.choice([0, 1, 1, 2, 500])))
    return (start + rest).replace("\0", "").encode("utf-8", "replace").decode()


def make_odd(folder: Path) -> None:
    """Make a folder of what is no regular file, and of the spec under other names."""
    (folder / FOLDER).mkdir()
    os.mkfifo(folder / "pipe")
    targets = {"device": "/dev/null", "endless": "/dev/zero", "terminal": "/dev/tty", "stdin": "/dev/stdin"}
    targets |= {"log": "/proc/kmsg", "spec": "../spec.yaml", "pipe": "../pipe", "socket": "../socket"}
    for suffix in (".yaml", ".svg", ".py", ".pt", ".safetensors"):
        for name in ODDITIES:
            (folder / FOLDER / f"{name}{suffix}").symlink_to(targets.get(name, f"{name}{suffix}"))
    os.mkfifo(folder / FOLDER / "own pipe.yaml")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / "socket"))


MUTATIONS: tuple[Bytes, ...] = (flip, flip, reword, reword, relined, grown)


def watch(event: str, args: tuple[Any, ...]) -> None:
    """Refuse what reading a spec never needs."""
    writing = event == "open" and isinstance(args[1], str) and {*args[1]} & {*"wax+"}
    if writing or event.split(".")[0] in ("subprocess", "socket", "shutil") or event.startswith(("os.", "pty.")):
        if event in ("os.listdir", "os.scandir", "os.walk", "os.putenv"):
            return
        raise SystemExit(f"forbidden: {event} {args!r}")


def child(words: list[str], out: int) -> int:
    """Make the call, its output into a file; return its exit code, 99 for anything that is none."""
    os.dup2(out, 1)
    os.dup2(out, 2)
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8", write_through=True)
    from rnncalc.cli import call

    sys.addaudithook(watch)
    try:
        code = call(words)
        sys.stdout.flush()
    except BaseException as error:
        sys.stderr.write(f"Traceback: {error!r}")
        return 99
    return code


def fault(data: bytes, call: list[str], folder: Path, word: str = "", name: str = "spec.yaml") -> str:
    """Return what is wrong with how a call ends on these bytes, nothing when nothing is.

    A call that has no place for a file or a word takes the file last.
    """
    path, output = folder / name, folder / "output"
    path.write_bytes(data)
    meant = {SPEC: str(path), GOOD: GOOD_FILE, WORD: word}
    meant |= {each: str(folder / each) for each in call if Path(each).parts[:1] == (FOLDER,)}
    words = [meant.get(each, each) for each in call] + ([] if {*meant} & {*call} else [str(path)])
    with output.open("wb") as file:
        began = time.monotonic()
        process = os.fork()
        if not process:
            signal.alarm(20)
            os._exit(child(words, file.fileno()))
        _, status, usage = os.wait4(process, 0)
        spent = usage.ru_utime + usage.ru_stime
        waited = time.monotonic() - began
    text = output.read_bytes().decode("utf-8", "replace")
    if os.waitstatus_to_exitcode(status) not in (0, 1, 2) or "Traceback" in text or UNEXPECTED.search(text):
        return f"exit {os.waitstatus_to_exitcode(status)}: {text[-500:]}"
    if UNKNOWN in text:
        return "a failure that no reader knows"
    if spent > SECONDS or waited > 10 * SECONDS:
        return f"{spent:.1f} s"
    if usage.ru_maxrss > KILOBYTES:
        return f"{usage.ru_maxrss:,} kB"
    if strange := next((char for char in text if not char.isprintable() and char != "\n"), ""):
        return f"prints {strange!r}"
    if "##[" in text:
        return "prints ##["
    for line in text.splitlines():
        ours = ("github" in words and re.match(r"::(error|notice) [^:]*::", line)) or "gift" in words  # its titles
        if line.strip().startswith("::") and not ours:
            return f"prints {line[:80]}"
    return ""


class Attempt(NamedTuple):
    """A call on the bytes of a file, and a stranger's word in it."""

    data: bytes
    call: list[str]
    word: str = ""
    name: str = "spec.yaml"


Draw = Callable[[random.Random], Attempt]
Try = Callable[[random.Random], str]
"""What makes an attempt, and returns what is wrong, nothing when nothing is."""


def calling(draw: Draw, folder: Path) -> Try:
    """Return what makes the calls that are drawn, and keeps the files that break one."""
    found = ROOT / "tests" / "fuzz" / "found"

    def attempt(chance: random.Random) -> str:
        data, call, word, name = draw(chance)
        if not (told := fault(data[:999_999], call, folder, word, name)):
            return ""
        found.mkdir(exist_ok=True)
        kept = found / f"{sha256(data).hexdigest()[:12]}-{name.replace('/', '-')}"
        kept.write_bytes(data[:999_999])
        return f"{kept.name}: rnncalc {' '.join(call)} {word!a}: {told}"

    return attempt


def main() -> int:
    """Make as many attempts as there is time for, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("of", nargs="*", choices=[*GENERATORS, []], help="all by default")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    options = parser.parse_args()
    import resource  # not on every system

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.dont_write_bytecode = True
    for module in ("rich.console", "rich.table", "yaml", "zipfile", "rnncalc.cli", "rnncalc.models.files.pytorch"):
        import_module(module)  # which every child would import anew
    faults = 0
    for name in options.of or GENERATORS:
        module, _, generator = GENERATORS[name].partition(":")
        chance, tried, wrong = random.Random(options.seed), 0, 0
        with tempfile.TemporaryDirectory() as folder:
            attempt = getattr(import_module(module), generator)(Path(folder))
            until = time.monotonic() + options.seconds
            while time.monotonic() < until:
                tried += 1
                if told := attempt(chance):
                    wrong += 1
                    print(f"{tried}: {told}", flush=True)
        print(f"{tried:,} {name}, seed {options.seed}: {wrong:,} faults")
        faults += wrong
    return 1 if faults else 0


GENERATORS = {"specs": "fuzz.run:specs", "models": "fuzz.model_files:models", "answers": "fuzz.answers:answers"}
"""What is fuzzed, each with the module and the function that makes its attempts in a folder."""


def specs(folder: Path) -> Try:
    """Return what makes a call on a changed spec."""
    make_odd(folder)
    paths = [path for of in ("specs", "tests/bad_specs") for path in sorted((ROOT / of).glob("*.yaml"))]
    seeds = [data for path in paths if len(data := path.read_bytes()) < 20_000]

    def draw(chance: random.Random) -> Attempt:
        data = chance.choice(seeds)
        for _ in range(chance.choice([0, 1, 1, 2, 3])):
            data = chance.choice(MUTATIONS)(chance, data)
        call, word = chance.choice(CALLS), stranger(chance)
        return Attempt(data, [each.replace(ODD, f"{FOLDER}/{chance.choice(ODDITIES)}") for each in call], word)

    return calling(draw, folder)


if __name__ == "__main__":
    sys.exit(main())
