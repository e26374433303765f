"""A stranger adds a cell in one place, and everything follows."""

from typing import ClassVar

import pytest
from conftest import Call

from rnncalc import Cell
from rnncalc.forward.vectors import Vector, blend
from rnncalc.layers.cell import Gate, Gates
from rnncalc.spec import reader


class Leaky(Cell):
    """A cell of one gate and a candidate that does not look at the past: h = f ∘ h + (1 - f) ∘ n."""

    kind = "leaky"
    all_gates: ClassVar[tuple[Gate, ...]] = (
        Gate("f", "sigmoid", "leak", "how much of the old state stays"),
        Gate("n", None, "candidate", "the new state"),
    )

    def step(self, gates: Gates, x: Vector, state: tuple[Vector, ...]) -> tuple[Vector, ...]:
        (h,) = state
        return (blend(gates("f", x, h), h, gates("n", x, h)),)


@pytest.fixture(autouse=True)
def leaky(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what naming the class in CELLS does."""
    monkeypatch.setitem(reader.KINDS, "leaky", Leaky)
    monkeypatch.setitem(reader.OPTIONS_OF, "leaky", reader.OPTIONS_OF["rnn"])


def test_it_is_counted_explained_and_run(call: Call) -> None:
    """2·h(m + h + 1) with its own gates, names and equations."""
    assert call("-i", 3, "-l", "leaky:4", "-f", "csv").out.splitlines()[1].split(",")[8:11] == [
        "2h(m + h + 1)",
        "2 × 4 × (3 + 4 + 1)",
        "64",
    ]
    assert "Gate f, leak: how much of the old state stays." in call("explain", "-i", 3, "-l", "leaky:4").out
    assert call("run", "-i", 3, "-l", "leaky:4,bidirectional", "-o", 2, "-T", 3).code == 0
    assert "leaves out all biases" in call("answer", "-i", 3, "-l", "leaky:4", 56).out


def test_no_framework_is_taken_to_have_it(call: Call) -> None:
    """Only the textbook has a cell that no row names."""
    err = call("-i", 3, "-l", "leaky:4", "-c", "flax-linen").err
    assert err == "--layer 1: leaky: flax-linen has no leaky; textbook has it\n"
