"""A stranger adds a cell in one place, and everything follows: hard cells, that do not come with the package."""

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from conftest import Call, refusal, report_of
from verified import backward

from rnncalc import LSTM, Cell, Network
from rnncalc.cli.suggestions import layers
from rnncalc.layers import KINDS
from rnncalc.layers.cell import Form, Gate, Operations, Product, Value, Weight
from rnncalc.layers.options import Option, Size, Switch

X, H = Product("x"), Product("h")
Step = tuple[Value, tuple[Value, ...]]


class Gaze(Cell):
    """Gates that do not look at the past: h = z ∘ n + (1 − z) ∘ h, 2·h(m + 1)."""

    kind = "gaze"

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return (
            Gate("z", "sigmoid", (X,), "update gate", "how much to replace"),
            Gate("n", "linear", (X,), "candidate", "the new state"),
        )

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        (h,) = state
        h = ops.blend(ops.gate("z", x=x), ops.gate("n", x=x), h)
        return h, (h,)


class Pair(Cell):
    """Two states that are not an LSTM's: a fast one of its own gate, a slow one that follows it, 2·h(m + h + 1) + h."""

    kind = "pair"

    @property
    def states(self) -> Mapping[str, str]:
        return {"h": "h", "s": "h"}

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        slow = Product("s", Form.DIAGONAL)
        return (
            Gate("q", "tanh", (X, H, slow), "fast state", "what is new"),
            Gate("l", "sigmoid", (X, H), "leak", "how much of the slow state stays"),
        )

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        h, s = state
        q = ops.gate("q", x=x, h=h, s=s)
        s = ops.blend(ops.gate("l", x=x, h=h), s, q)
        return q, (q, s)


class Twin(Cell):
    """Two gates that share the recurrent matrix, each with an input matrix of its own: h(2m + h + 2)."""

    kind = "twin"

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        shared = Product("h", matrix="")
        return (
            Gate("z", "sigmoid", (X, shared), "update gate", "how much to keep"),
            Gate("n", "tanh", (X, shared), "candidate", "the new state"),
        )

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        (h,) = state
        h = ops.blend(ops.gate("z", x=x, h=h), h, ops.gate("n", x=x, h=h))
        return h, (h,)


class Scaled(Cell):
    """An RNN whose state is scaled by a trained number that goes through nothing: h(m + h + 1) + 1."""

    kind = "scaled"

    @property
    def weights(self) -> tuple[Weight, ...]:
        return (Weight("a", (), "scale"),)

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return (Gate("n", "tanh", (X, H), "candidate", "the new state"),)

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        (h,) = state
        h = ops.scale(ops.scalar("a"), ops.gate("n", x=x, h=h))
        return h, (h,)


class Alone(Cell):
    """Units that see their own past alone, always: h(m + 1 + 1)."""

    kind = "alone"

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return (Gate("n", "tanh", (X, Product("h", Form.DIAGONAL)), "candidate", "the new state"),)

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        (h,) = state
        h = ops.gate("n", x=x, h=h)
        return h, (h,)


class Noted(Cell):
    """A second state of a width of its own, that a matrix beside the gates writes: h(m + h + k + 1) + h·k."""

    kind = "noted"
    own_options: ClassVar[Mapping[str, Option]] = {
        "notes": Option(Size(letters=True), "the width of the notes"),
        "rewritten": Option(Switch(), "the notes are bent by tanh"),
    }
    notes: int = 2
    rewritten: bool = False

    @property
    def states(self) -> Mapping[str, str]:
        return {"h": "h", "s": "k"}

    @property
    def weights(self) -> tuple[Weight, ...]:
        return (Weight("q", ("k", "h"), "what is noted down"),)

    def sizes(self, inputs: int) -> dict[str, int]:
        return super().sizes(inputs) | {"k": self.notes}

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return (Gate("n", "tanh", (X, H, Product("s")), "candidate", "the new state"),)

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        h, s = state
        h = ops.gate("n", x=x, h=h, s=s)
        s = ops.product("q", h)
        return h, (h, ops.activate("tanh", s) if self.rewritten else s)


class Half(Gaze):
    """Gaze with a recurrent product declared that its step does not sum: counted 48 where 30 is right."""

    kind = "half"

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return tuple(gate._replace(products=(X, H)) for gate in super().gates(inputs))


BY_HAND = {
    "gaze": ("2h(m + 1)", 2 * 3 * (4 + 1), 2 * 3 * 4),
    "pair": ("2h(m + h + 1) + h", 2 * 3 * (4 + 3 + 1) + 3, 2 * 3 * (4 + 3)),
    "twin": ("h(2m + h + 2)", 3 * (2 * 4 + 3 + 2), 2 * 3 * 4 + 3 * 3),
    "scaled": ("h(m + h + 1) + 1", 3 * (4 + 3 + 1) + 1, 3 * (4 + 3)),
    "alone": ("h(m + 1 + 1)", 3 * (4 + 1 + 1), 3 * 4),
    "noted": ("h(m + h + k + 1) + h·k", 3 * (4 + 3 + 2 + 1) + 2 * 3, 3 * (4 + 3 + 2) + 2 * 3),
}
"""The formula, the parameters and the multiply-adds of a step, of a layer of 3 units that reads 4 features."""


@pytest.fixture(autouse=True)
def strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what naming the classes in the list does."""
    for cell in (Gaze, Pair, Twin, Scaled, Alone, Noted, Half):
        monkeypatch.setitem(KINDS, cell.kind, cell)


@pytest.mark.parametrize("kind", BY_HAND)
def test_it_is_counted(kind: str, call: Call) -> None:
    """Formula, count, tensors and multiply-adds, worked out by hand."""
    report = report_of(call, "-i", 4, "-l", f"{kind}:3", "-T", 5)
    (layer,) = report["layers"]
    assert (layer["formula"], layer["params"], layer["multiply_adds"] // 5) == BY_HAND[kind]
    assert layer["params"] == sum(tensor["params"] for tensor in layer["tensors"])


@pytest.mark.parametrize("kind", BY_HAND)
@pytest.mark.parametrize("options", ["", ",bidirectional", ",learned_state,bidirectional,merge=sum,bias=false"])
def test_it_is_run(kind: str, options: str, call: Call) -> None:
    """Shapes, weights read and multiplications are what is declared, from its step alone."""
    done = call("run", "-i", 4, "-l", f"{kind}:3{options}", "-o", 2, "-T", 3, "-f", "json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["reports"][0]["agrees"]


@pytest.mark.parametrize("kind", BY_HAND)
def test_its_backward_pass_agrees(kind: str) -> None:
    """Gradients are those of differences; saved activations and multiplications are counted from its step alone."""
    of: Any = KINDS[kind]
    network = Network(input=2, layers=[of(3), of(3)], steps=4, topology="many-to-many")
    done = backward(network, chunk=2)
    assert done.agrees
    if kind == "scaled":  # x, h before and n at each step, and no number for the scale
        assert done.layers[0].declared.saved == 2 * (2 + 3 + 3)


@pytest.mark.parametrize("kind", BY_HAND)
def test_it_is_explained_solved_and_compared(kind: str, call: Call) -> None:
    """Gates, equations, a width for a budget, a row beside the others."""
    explained = call("explain", "-i", 4, "-l", f"{kind}:3").out
    of: Any = KINDS[kind]
    for gate in of(3).gates(4):
        assert f" {gate.letter}: {gate.meaning}." in explained
    assert "h_t = " in explained or "q_t = " in explained
    assert call("solve", "-i", 4, "-l", f"{kind}:?", "--params", BY_HAND[kind][1], "--exact").code == 0
    assert call("compare", "-i", 4, "-l", f"{kind}:3", "-T", 2).code == 0
    assert f'"{kind}"' in call("schema").out


@pytest.mark.parametrize("kind", ["gaze", "pair", "twin", "alone", "noted"])
def test_an_answer_is_judged_by_its_own_gates(kind: str, call: Call) -> None:
    """A right number is right; a cell that does not look at the past is not said to lack it."""
    assert call("answer", "-i", 4, "-l", f"{kind}:3", BY_HAND[kind][1]).code == 0
    of: Any = KINDS[kind]
    wrong = call("answer", "-i", 4, "-l", f"{kind}:3", BY_HAND[kind][1] - 3 * len(of(3).gates(4)))
    assert wrong.code == 1
    assert "leaves out all biases" in wrong.out
    told = call("answer", "-i", 4, "-l", "gaze:3", 48).out
    assert "counts recurrent matrices; no gate of this cell reads the past" in told
    assert "forgets the recurrent matrices" not in told


def test_it_is_public() -> None:
    """What the list of kinds names can be imported beside the others."""
    import rnncalc

    assert rnncalc.Gaze is Gaze
    assert "Gaze" in dir(rnncalc)


def test_an_option_of_its_own(monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    """Said in its file it is read; said nowhere it is refused by name."""

    class Slow(Gaze):
        kind = "slow"
        own_options: ClassVar[Mapping[str, Option]] = {"pace": Option(Size(), "how many steps it takes to turn")}
        pace: int = 1

    class Mute(Gaze):
        kind = "mute"
        pace: int = 1

    for cell in (Slow, Mute):
        monkeypatch.setitem(KINDS, cell.kind, cell)
    assert call("-i", 4, "-l", "slow:3,pace=2").code == 0
    assert "expected a positive whole number" in call("-i", 4, "-l", "slow:3,pace=no").err
    err = call("-i", 4, "-l", "mute:3,pace=2").err
    assert re.fullmatch(r"rnncalc: mute: pace: .*; add it to own_options \(test_new_cell.py, line \d+\)\n", err)


def test_options_of_its_own_are_in_the_help_and_completed(call: Call) -> None:
    """A switch among them may be written alone, as every other may."""
    wrong = report_of(call, "answer", "-i", 4, "-l", "noted:3", "h(m + h + k) + h·k")
    assert [each["text"] for each in wrong["mistakes"]] == ["leaves out all biases"]
    report = report_of(call, "-i", 4, "-l", "noted:3,rewritten,notes=5")
    assert report["layers"][0]["params"] == 3 * (4 + 3 + 5 + 1) + 5 * 3
    told = call("help", "layers").out
    assert "notes=N" in told
    assert "rewritten[=true|false]" in told
    assert "the width of the notes" in told

    def completed(word: str) -> list[str]:
        return [item.value for item in layers(word)]

    assert completed("noted:3,no") == ["noted:3,notes="]
    assert completed("noted:3,re") == [f"noted:3,{option}" for option in ("repeat=", "rewritten", "rewritten=false")]


def test_gates_that_follow_the_input_s_width(monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    """One gate more where the input is wider than the cell: layers of one network are each counted by their own."""

    class Wide(Gaze):
        kind = "wide"

        def gates(self, inputs: int) -> tuple[Gate, ...]:
            more = Gate("q", "linear", (X,), "more", "what else there is")
            return (*super().gates(inputs), more) if inputs > self.units else super().gates(inputs)

        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            _, (h,) = super().step(ops, x, state)
            h = ops.plus(h, ops.gate("q", x=x)) if ops.has("q") else h
            return h, (h,)

    monkeypatch.setitem(KINDS, "wide", Wide)
    report = report_of(call, "-i", 2, "-l", "wide:3", "-l", "wide:2")
    assert [layer["params"] for layer in report["layers"]] == [2 * 3 * (2 + 1), 3 * 2 * (3 + 1)]


def test_no_framework_is_taken_to_have_it(call: Call) -> None:
    """Only the textbook has a cell that no convention names."""
    err = call("-i", 3, "-l", "gaze:4", "-c", "flax-linen").err
    assert err == "--layer 1: gaze: no gaze of flax-linen is known here; textbook has it\n"


def test_no_framework_is_taken_to_have_an_option_that_none_was_asked_for(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An LSTM with an option more is the textbook's alone, unless the option is left as it is."""

    class Twisted(LSTM):
        kind = "lstm"
        own_options: ClassVar[Mapping[str, Option]] = {"twist": Option(Switch(), "its gates are turned")}
        twist: bool = False

    monkeypatch.setitem(KINDS, "lstm", Twisted)
    assert call("-i", 3, "-l", "lstm:4", "-c", "pytorch").code == 0
    assert call("-i", 3, "-l", "lstm:4,twist").code == 0
    err = call("-i", 3, "-l", "lstm:4,twist", "-c", "pytorch").err
    assert err == "--layer 1: twist: pytorch cannot express twist: true; textbook can\n"


def test_a_matrix_beside_the_gates_is_called_what_it_is(call: Call) -> None:
    """One that is no projection of the output is not said to be one; a worksheet counts it."""
    told = call("explain", "-i", 4, "-l", "noted:3").out
    assert "matrix beside the gates" in told
    assert "projection" not in told
    assert "projected" not in call("explain", "-i", 4, "-l", "noted:3", "-T", 3, "--training").out
    report = report_of(call, "-i", 4, "-l", "noted:3")
    assert {each["name"]: each["role"] for each in report["layers"][0]["tensors"]}["W_hq"] == "matrix"
    assert call("answer", "-i", 4, "-l", "noted:3", 30).code == 1


def test_a_cell_that_is_half_right_is_refused_before_a_number(call: Call) -> None:
    """One line, with the cell, the gate and the product."""
    err = refusal(call, "-i", 4, "-l", "half:3")
    message = "rnncalc: half: gate z declares a product of h, and the step does not give it h"
    assert err == f"{message} (test_new_cell.py, line {Gaze.step.__code__.co_firstlineno + 2})\n"
