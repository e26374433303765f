"""Calls from Python that are refused: `refusals/python/NAME.txt` holds calls, and below each what it raises.

A block begins with a line that says what its calls have in common, and ends with a blank line. Below a call are the
problems of a SpecError, or the message of another error behind its name, or `valid`. A problem that may only be the
consequence of another one has `(follows)` behind it, and one of sizes by how much each misses the other.
"""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lists import listed

import rnncalc
from rnncalc import GRU, LSTM, RNN, CallError, ConvLSTM, Network, Output, Part, RefusedError, SpecError
from rnncalc.answers.gradebook import read_answer_file
from rnncalc.answers.reading import read_answer
from rnncalc.errors import Problem
from rnncalc.questions.compare import compare_same_params, dense_growth
from rnncalc.questions.operations import pass_operations
from rnncalc.questions.quantized import quantized
from rnncalc.questions.stream import stream
from rnncalc.questions.work import work
from rnncalc.spec import parse


class Index:
    """A whole number that is no int, as NumPy's are."""

    def __index__(self) -> int:
        return 3

    def __repr__(self) -> str:
        return "int64(3)"


NAMES = {
    **{name: getattr(rnncalc, name) for name in rnncalc.__all__},
    **{each.__name__: each for each in (compare_same_params, dense_growth, pass_operations, quantized, read_answer)},
    **{each.__name__: each for each in (read_answer_file, stream, work)},
    "Index": Index,
    "math": math,
    "DECODER": Part(input=2, layers=(RNN(4),), output=Output(2)),
    "ENCODER": Part(input=3, layers=(RNN(4),)),
    "GRID": ConvLSTM(4, space=(8, 8)),
    "HALVES": Network(encoder=Part(2, (RNN(2),)), decoder=Part(2, (RNN(2),))),
    "LETTERS": parse(b"{input: m, layers: [lstm: h], steps: T}", "letters.yaml").network,
    "NETWORK": Network(input=2, layers=[RNN(1)], steps=2),
    "STATES": Network(
        input=2, steps=2, output=1, layers=[RNN(2), LSTM(2, bidirectional=True), GRU(2, learned_state=True)]
    ),
    "WEIGHTS": {"rnn_1": {"W_xh": [[1, -0.25]], "W_hh": [[0.5]], "b_h": [0]}},
}


def cases() -> Iterator[Any]:
    """Yield each call with the lines below it."""
    for path in sorted((Path(__file__).parent / "refusals" / "python").glob("*.txt")):
        for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
            title, _, calls = block.partition("\n")
            for call, below in re.findall(r"^(\S.*)\n?((?:  .*\n?)*)", calls, flags=re.MULTILINE):
                lines = [listed(line[2:]) for line in below.splitlines()]
                yield pytest.param(call, lines, id=f"{title[2:].split('.')[0]}: {call}")


def shown(problem: Problem) -> str:
    """Return a problem with what else it says in brackets."""
    gaps = ["off by " + ", ".join(map(str, problem.gaps))] if problem.gaps else []
    remarks = ", ".join(["follows"] * problem.follows + gaps)
    return f"{problem} ({remarks})" if remarks else str(problem)


def outcome(call: str) -> list[str]:
    """Return the lines of what a call raises."""
    try:
        eval(call, NAMES)
    except SpecError as error:
        return [*map(shown, error.problems)]
    except (CallError, RefusedError) as error:
        return f"{type(error).__name__}: {error}".splitlines()
    return ["valid"]


@pytest.mark.broad
@pytest.mark.parametrize(("call", "lines"), [*cases()])
def test_a_call_is_refused_with_every_problem_and_its_place(call: str, lines: list[str]) -> None:
    """With the class of the error, and exactly the expected lines."""
    assert outcome(call) == lines
