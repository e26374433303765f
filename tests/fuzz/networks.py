"""Gives rnncalc networks and cells that are right: `python tests/fuzz/networks.py --seconds 60 --seed 1`.

Networks are those of `strategies.py`, with tied outputs beside; each is given to a command with flags drawn from its
own options. Cells of one's own are drawn as a sum of random operations. No call may raise; a pass must agree with what
is declared and with finite differences; no row of a comparison has 0 units. What breaks one of these is
printed as a call or as the cell's source, and the exit code is 1.
"""

import argparse
import contextlib
import io
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from itertools import count as counting
from pathlib import Path
from typing import Any

import click
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from cells import CELLS  # noqa: E402
from fuzz.run import UNEXPECTED  # noqa: E402  the path comes first
from strategies import Spec, encoder_decoder, network, network_of  # noqa: E402

from rnncalc.cli import call  # noqa: E402
from rnncalc.cli.commands import COMMANDS, cli  # noqa: E402
from rnncalc.errors import SpecError  # noqa: E402
from rnncalc.layers import KINDS  # noqa: E402
from rnncalc.layers import kind as class_of  # noqa: E402

SPEC = "SPEC"
CALLS = {name: [name, SPEC] for name in COMMANDS} | {
    "answer": ["answer", SPEC, "100"],
    "export": ["export", SPEC, "--to", "pytorch"],
    "solve": ["solve", SPEC, "--params", "1k"],
}
"""How each command is called on a network; the two that take none are left out below."""

SKIPPED = {"input", "layers", "output", "help", "feedback", "params", "to"}
"""What the network or the call itself says, and what ends a call."""


@st.composite
def tied(draw: st.DrawFn) -> Spec:
    """Draw a network whose output matrix is its embedding's."""
    spec = draw(network(steps=True))
    width = draw(st.integers(1, 5))
    first = [{"embedding": width}, *(layer for layer in spec["layers"] if "embedding" not in layer)]
    return spec | {"layers": [*first, {"rnn": width}], "output": {"units": spec["input"], "tied": True}}


@st.composite
def around(draw: st.DrawFn) -> Spec:
    """Draw a network with layers around its cells: convolutions, pools, norms and whatever else fits."""
    spec: Spec = draw(st.one_of(network(), network(steps=True)))
    for kind in draw(st.lists(st.sampled_from([name for name in KINDS if name not in CELLS]), min_size=2, max_size=6)):
        layer = {kind: draw(st.integers(1, 3)) if class_of(kind).number else None}
        options = sorted(class_of(kind).options())
        for name in {*class_of(kind).needed(), *draw(st.lists(st.sampled_from(options), max_size=2))}:
            words = getattr(class_of(kind).option(name).allowed, "words", [1, 2, 3, True, False])
            layer[name] = draw(st.sampled_from([*words]))
        at = draw(st.integers(0, len(spec["layers"])))
        more = spec | {"layers": [*spec["layers"][:at], layer, *spec["layers"][at:]]}
        with contextlib.suppress(SpecError):  # it does not fit
            network_of(more)
            spec = more
    return spec


@st.composite
def attending(draw: st.DrawFn) -> Spec:
    """Draw what the other networks have not: a score between widths that may differ, or an attention over the input."""
    if draw(st.booleans()):
        spec = draw(encoder_decoder())
        spec["decoder"]["attention"] = draw(st.sampled_from([{"score": "dot"}, {"heads": 1}]))
        return spec
    spec = draw(network(steps=True))
    layer = {"attention": draw(st.integers(1, 4)), "score_bias": draw(st.booleans())}
    return spec | {"layers": [*spec["layers"], layer]}


@st.composite
def options_of(draw: st.DrawFn, name: str) -> list[str]:
    """Draw some options of a command with the words that it completes them to, files left out."""
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    able = [each for each in command.params if isinstance(each, click.Option) and each.name not in SKIPPED]
    words = []
    for option in able:
        if option.metavar in ("FILE", "PATH") or not draw(st.integers(0, len(able)).map(lambda n: n < 3)):
            continue
        words.append(option.opts[-1])
        if not option.is_flag:
            known = [item.value for item in option.shell_complete(context, "")]
            words.append(draw(st.sampled_from(known or ["1", "2", "3", "5%"])))
    return words


def answered(words: list[str], spec: Spec, folder: Path) -> tuple[int, str]:
    """Return the exit code of a call, and what it printed."""
    path = folder / "spec.yaml"
    path.write_text(json.dumps(spec))
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = call([str(path) if word == SPEC else word for word in words])
    return code, out.getvalue()


def fault_of_call(words: list[str], spec: Spec, folder: Path) -> str:
    """Return what is wrong with how a call on a right network ends, nothing when nothing is."""
    try:
        code, text = answered(words, spec, folder)
    except Exception:
        return traceback.format_exc()
    if UNEXPECTED.search(text) or (code not in (0, 2) and words[0] not in ("answer", "check", "solve")):
        return f"exit {code}: {text[-800:]}"
    if words[0] == "compare" and code == 0:
        code, text = answered(["compare", *words[1:], "-f", "json"], spec, folder)
        if '"units": 0' in text or ("?" in text and code != 0):
            return text[-800:]
    return ""


def calls(folder: Path) -> Callable[[st.DataObject], str]:
    """Return what draws a call on a network, makes it, and returns its fault."""
    names = [name for name in COMMANDS if name not in ("read", "schema")]

    def one(data: st.DataObject) -> str:
        spec = data.draw(
            st.one_of(network(steps=True), network(), around(), around(), tied(), encoder_decoder(), attending())
        )
        name = data.draw(st.sampled_from([*names, "run", "run"]))
        if name == "solve":
            kind = next(iter(spec.get("decoder", spec)["layers"][-1]))
            spec.get("decoder", spec)["layers"][-1][kind] = "?"
        words = [*CALLS[name], *data.draw(options_of(name))]
        told = fault_of_call(words, spec, folder)
        return f"rnncalc {' '.join(words)}  on  {json.dumps(spec)}\n{told}" if told else ""

    return one


# Cells of one's own


HEAD = """
from collections.abc import Mapping
from rnncalc import Cell
from rnncalc.layers.cell import Form, Gate, Product


class Own(Cell):
    kind = "own"

    @property
    def states(self):
        return {states}

    def gates(self, inputs):
        return ({gates},)

    def step(self, ops, x, state):
        {unpacked} = state
"""


@st.composite
def own_cell(draw: st.DrawFn) -> str:
    """Draw the source of a cell: gates of random products, and a step that sums, multiplies and blends them all."""
    states = draw(st.sampled_from([["h"], ["h", "c"]]))
    reads = [
        draw(st.lists(st.sampled_from(["x", *states]), min_size=1, unique=True)) for _ in range(draw(st.integers(1, 3)))
    ]
    lines, gates, made = [], [], []
    for letter, of in zip("abd", reads, strict=False):
        diagonal = [draw(st.booleans()) if each != "x" else False for each in of]
        products = ", ".join(
            f"Product({each!r}{', Form.DIAGONAL' if thin else ''})" for each, thin in zip(of, diagonal, strict=True)
        )
        activation = draw(st.sampled_from(["tanh", "sigmoid", "linear"]))
        gates.append(f"Gate({letter!r}, {activation!r}, ({products},), 'gate', 'a gate')")
        lines.append(f"{letter} = ops.gate({letter!r}, {', '.join(f'{each}={each}' for each in of)})")
        made.append(letter)
    values, unused = [*made, *states], [*made]
    number = counting()
    result = draw(st.sampled_from(values))
    unused = [letter for letter in unused if letter != result]
    while unused or next(number) < 2:
        other = unused.pop() if unused else draw(st.sampled_from(values))
        form = draw(st.sampled_from(["plus({0}, {1})", "times({0}, {1})", "blend({0}, {1}, {2})", "complement({1})"]))
        third = draw(st.sampled_from(values))
        if form.startswith("complement"):
            form = "plus({0}, ops.complement({1}))"
        name = f"v{len(lines)}"
        lines.append(f"{name} = ops.{form.format(result, other, third)}")
        values.append(name)
        result = name
    after = [result, draw(st.sampled_from(values))][: len(states)]
    lines.append(f"return {result}, ({', '.join(after)},)")
    head = HEAD.format(states=dict.fromkeys(states, "h"), gates=", ".join(gates), unpacked=", ".join(states) + ",")
    return head + "".join(f"        {line}\n" for line in lines)


def fault_of_cell(source: str, options: dict[str, Any]) -> str:
    """Return what is wrong with what is said of a cell of one's own, nothing where it is refused."""
    from verified import backward

    from rnncalc import Network, count, explain, run
    from rnncalc.errors import DeclarationError, RefusedError, SpecError

    scope: dict[str, Any] = {}
    exec(source, scope)  # the source that was drawn above
    try:
        net = Network(input=3, layers=[scope["Own"](2, **options)], output=1, steps=3)
        count(net)
        explain(net)
        done = run(net)
        went = backward(net)
    except (DeclarationError, SpecError, RefusedError):
        return ""
    except Exception:
        return traceback.format_exc()
    return "" if done.agrees and went.agrees else f"does not agree: {done}\n{went}"


def cells(data: st.DataObject) -> str:
    """Draw a cell, ask everything of it, and return what is wrong."""
    source = data.draw(own_cell())
    options = data.draw(st.fixed_dictionaries({}, optional={name: st.booleans() for name in ("bias", "frozen")}))
    told = fault_of_cell(source, options)
    return f"{source}\n{options}\n{told}" if told else ""


def batch(of: Callable[[st.DataObject], str], number: int) -> Iterator[str]:
    """Yield what is wrong with each of some examples."""
    found: list[str] = []

    @seed(number)
    @settings(
        max_examples=50, deadline=None, database=None, phases=(Phase.generate,), suppress_health_check=[*HealthCheck]
    )
    @given(st.data())
    def drawn(data: st.DataObject) -> None:
        if told := of(data):
            found.append(told)

    drawn()
    yield from found


def main() -> int:
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    options = parser.parse_args()
    until = time.monotonic() + options.seconds
    tried = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until:
            for of in (calls(Path(folder)), cells):
                for told in batch(of, options.seed * 1_000_003 + tried):
                    wrong += 1
                    print(f"{told}\n", flush=True)
                tried += 50
    print(f"{tried:,} networks and cells, seed {options.seed}: {wrong:,} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
