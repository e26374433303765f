"""What is wrong with a network that is made in Python: each problem with the path that it would have in a spec.

`problems.txt` holds calls, and below each the problems that it raises, or `valid`. A problem that may only be the
consequence of another one has `(follows)` behind it, and one of sizes by how much each misses the other.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rnncalc
from rnncalc import RNN, ConvLSTM, Network, Output, Part, SpecError
from rnncalc.errors import Problem

NAMES = {
    **{name: getattr(rnncalc, name) for name in rnncalc.__all__},
    "ENCODER": Part(input=3, layers=(RNN(4),)),
    "DECODER": Part(input=2, layers=(RNN(4),), output=Output(2)),
    "GRID": ConvLSTM(4, space=(8, 8)),
}


def cases() -> Iterator[Any]:
    """Yield each call with the lines below it."""
    blocks = Path(__file__).with_name("problems.txt").read_text(encoding="utf-8").strip().split("\n\n")
    for title, *lines in (block.splitlines() for block in blocks):
        for call, below in re.findall(r"^(\S.*)\n((?:  .*\n?)*)", "\n".join(lines), flags=re.MULTILINE):
            yield pytest.param(call, [line[2:] for line in below.splitlines()], id=f"{title[2:].split('.')[0]}: {call}")


def shown(problem: Problem) -> str:
    gaps = [" off by " + ", ".join(map(str, problem.gaps))] if problem.gaps else []
    remarks = ",".join(["follows"] * problem.follows + gaps).strip()
    return f"{problem} ({remarks})" if remarks else str(problem)


@pytest.mark.parametrize(("call", "lines"), [*cases()])
def test_all_problems_of_a_network_are_told_at_once(call: str, lines: list[str]) -> None:
    """Each with its place, in the order of the layers."""
    problems: tuple[Problem, ...] = ()
    try:
        eval(call, NAMES)
    except SpecError as error:
        problems = error.problems
    assert ([*map(shown, problems)] or ["valid"]) == lines


def test_the_options_of_an_output() -> None:
    assert Output.options() == ("bias", "activation", "tied", "frozen", "path")


def test_the_layers_by_default_names_do_not_clash() -> None:
    """Each kind has numbers of its own, and a name that is no layer's default is free."""
    net = Network(input=3, layers=[RNN(3), RNN(3, name="rnn_0"), RNN(3, repeat=2), RNN(3, name="a", repeat=2)])
    assert [placed.name for placed in net.stack] == ["rnn_1", "rnn_0", "rnn_3", "rnn_4", "a_1", "a_2"]
