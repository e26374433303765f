"""A cell of one's own becomes a kind, from a plain script; a half right one is refused in one line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Call, file_at

from rnncalc import GRU, Cell, DeclarationError, Gate, Network, Product, load, register
from rnncalc.layers import KINDS


@pytest.fixture(autouse=True)
def kinds() -> Iterator[None]:
    """Leave the list of kinds as it was."""
    before = dict(KINDS)
    yield
    KINDS.clear()
    KINDS.update(before)


def cell(name: str = "Plain", kind: str = "plain", **parts: Any) -> type[Cell]:
    """Return the class of a cell with one gate, some parts of it replaced."""

    def gates(_: Cell, __: int) -> tuple[Gate, ...]:
        return (Gate("h", "tanh", (Product("x"), Product("h")), "hidden state", "mixes both"),)

    def step(_: Cell, ops: Any, x: Any, state: Any) -> Any:
        h = ops.gate("h", x=x, h=state[0])
        return h, (h,)

    return type(name, (Cell,), {"kind": kind, "gates": gates, "step": step, "__module__": __name__} | parts)


def test_a_kind_of_one_s_own_is_known_everywhere(call: Call, tmp_path: Path) -> None:
    """In specs, in flags, in the help; and what is misspelt is near it."""
    assert register(cell()).kind == "plain"
    spec = file_at(tmp_path / "spec.yaml", "input: 8\nsteps: 2\nlayers:\n  - plain: 16\nexpect: 400\n")
    assert load(spec).params == 400
    assert call("check", spec).code == 0
    assert call("run", spec).code == 0
    assert "400" in call("-i", 8, "-l", "plain:16").out
    assert "did you mean 'plain'?" in call("-i", 8, "-l", "plian:16").err
    assert "\n  plain:UNITS " in call("help", "layers").out


def test_a_class_that_is_defined_anew_takes_the_place_of_the_first() -> None:
    """As a notebook does when it runs a cell twice; another class of that kind is refused."""
    first, again = cell(), cell()
    register(first)
    register(first)
    register(again)
    assert KINDS["plain"] is again
    with pytest.raises(DeclarationError, match="there is a kind or an option 'plain' already"):
        register(cell("Other"))


def wrong_gate(_: Cell, ops: Any, x: Any, state: Any) -> Any:
    h = ops.gate("z", x=x, h=state[0])
    return h, (h,)


HALF_RIGHT: list[tuple[object, str]] = [
    (3, "register: expected the class of a cell, as class MyCell\\(Cell\\) makes one, or of a Transform, got 3"),
    (Network, "register: expected the class of a cell, .*, got Network"),
    (cell(kind=""), 'the class Plain: it has no kind; write kind = "plain" in it'),
    (cell(kind="My Cell"), "the class Plain: the kind 'My Cell' is no word of small letters, digits and _; write kind"),
    (cell(kind="bias"), "there is a kind or an option 'bias' already; write kind = \"plain\" in it"),
    (type("Own", (GRU,), {}), "the class Own: there is a kind or an option 'gru' already; write kind = \"own\" in it"),
    (cell(step=wrong_gate), "plain: the step asks for the gate z, and h are declared"),
    (type("Bare", (Cell,), {"kind": "bare"}), "bare: NotImplementedError: write def gates"),
]


@pytest.mark.parametrize(("wrong", "message"), HALF_RIGHT)
def test_a_half_right_cell_is_refused(wrong: Any, message: str) -> None:
    """In one line, and it does not become a kind."""
    before = dict(KINDS)
    with pytest.raises(DeclarationError, match=message) as caught:
        register(wrong)
    assert "\n" not in str(caught.value)
    assert before == KINDS
