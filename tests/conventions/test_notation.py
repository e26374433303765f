"""A notation holds wherever parameters are shown: equations, tables, tensors and accepted answers agree in it."""

import json
import re
from collections.abc import Iterator
from math import prod
from pathlib import Path
from random import Random

import pytest
from cells import CELLS, network, spelled
from conftest import Call

from rnncalc import GRU, LSTM, SRU, Network, Output, answer, count, draw, explain, load
from rnncalc.conventions import CONVENTIONS, NOTATIONS, convention
from rnncalc.conventions.formula import value
from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.conventions.tensor import Role
from rnncalc.letters import GREEK
from rnncalc.network.stack import symbols_of
from rnncalc.network.writer import spec_of
from rnncalc.questions.run import own_numbers
from rnncalc.reports.count import CountReport
from rnncalc.reports.explain import ExplanationReport
from rnncalc.spec import parse

Shapes = dict[str, tuple[int, ...]]


def test_the_notations_are_those_that_are_listed() -> None:
    """A notation is in two lists: one for those who only name it."""
    assert [*NOTATION_BY_NAME] == [*NOTATIONS]


@pytest.mark.broad
@pytest.mark.parametrize("notation", NOTATION_BY_NAME)
@pytest.mark.parametrize("name", CELLS)
def test_what_is_shown_in_a_notation_agrees(name: str, notation: str) -> None:
    """For every cell, option and convention, and in both directions: names, shapes, and the parameters in all."""
    for case in spelled(name, notation):
        net = network(*case).replace(output=Output(2), notation=notation)
        check(net)
        if not case[2]:
            (layer,) = net.layers
            check(net.replace(layers=(layer.replace(bidirectional=True),)))


def check(net: Network) -> None:
    """Hold what each report shows of a network against the others."""
    tensors = of_count(net)
    for layer, shapes, kept in in_equations(net):
        mine = {name: shape for name, shape in tensors[layer].items() if name not in kept}
        both = {mark for name in mine for mark in (name.rpartition("/")[0],)}
        assert mine == {f"{mark}/{name}" if mark else name: shapes[name] for mark in both for name in shapes}
    for layer, rows in in_tables(net).items():
        assert rows.items() <= tensors[layer].items()
    every = [shape for of_layer in tensors.values() for shape in of_layer.values()]
    assert sum(map(prod, every)) == net.params == net.replace(notation=None, symbols={}).params
    judged = answer(net, *every)
    assert judged.right
    assert [each.shape for each in judged.judged] == every
    if net.symbols:
        named = [f"{layer}.{name} = {each}" for layer, shapes in tensors.items() for name, each in shapes.items()]
        assert answer(net, *named).right


def of_count(net: Network) -> dict[str, Shapes]:
    """Return the shapes of `count --tensors`, as JSON has them."""
    data = CountReport(count(net)).data()
    assert data["notation"] == net.notation
    return {layer["name"]: {each["name"]: each["shape"] for each in layer["tensors"]} for layer in data["layers"]}


def in_equations(net: Network) -> Iterator[tuple[str, Shapes, set[str]]]:
    """Yield of each layer the shapes below its weights, and its tensors that no equation shows: states before them."""
    data = ExplanationReport(explain(net)).data()
    assert data["notation"] == net.notation
    greek = {sign: word for word, sign in GREEK.items()}
    for layer, placed in zip(data["layers"], net.spelled, strict=True):
        names = {tensor.name.rpartition("/")[2]: tensor for tensor in placed.tensors}
        found = {
            name: tuple(shape)
            for line in layer["equations"]
            for shown, shape in line["shapes"].items()
            for bare in (re.sub(r"\^\W?\d\W?(?=_|$)", "", shown),)  # without the number of its layer
            for name in (bare, "".join(greek.get(char, char) for char in bare))
            if name in names
        }
        scalars = {name: (1,) for name, tensor in names.items() if tensor.role is Role.SCALAR and name in found}
        kept = {tensor.name for tensor in placed.tensors if tensor.role is Role.STATE}
        if blocks := getattr(placed.layer, "recurrent_blocks", None):  # an equation has the zeros beside them too
            whole = {name for name in found if names[name].role is Role.RECURRENT}
            assert all(prod(found[name]) == blocks * prod(names[name].shape) for name in whole)
            found |= {name: names[name].shape for name in whole}
        yield layer["name"], found | scalars, kept


def in_tables(net: Network) -> dict[str, Shapes]:
    """Return the shapes that the arithmetic of a derivation multiplies, by tensor."""
    found: dict[str, Shapes] = {}
    for each in explain(net).layers:
        sizes = each.placed.sizes
        found[each.placed.name] = {
            step.name: tuple(value(factor, sizes) for factor in step.expression.factors)  # type: ignore[union-attr]
            for step in each.steps
            if step.name
        }
    return found


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_notation_keeps_the_biases_of_a_convention(name: str) -> None:
    """Where they are and how many there are; gates are spelled one by one."""
    for notation in NOTATION_BY_NAME.values():
        if notation.only in ("", name):
            row = notation.of(convention(name))
            assert row.symbols
            assert notation.of(convention(name)) is row


OF_A_COURSE = {"i": "Γ_u", "f": "Γ_f", "o": "Γ_o", "g": "c̃", "z": "Γ_z", "n": "h′"}
"""Letters for the gates of an LSTM and a GRU."""


def lettered(notation: str) -> Network:
    """Return a network whose gates have these letters."""
    return Network(
        input=4,
        layers=[LSTM(2), GRU(3)],
        steps=2,
        notation=notation,
        symbols=OF_A_COURSE,
        convention=NOTATION_BY_NAME[notation].only or "textbook",
    )


@pytest.mark.parametrize("notation", NOTATION_BY_NAME)
def test_letters_for_gates_hold_wherever_a_notation_does(notation: str) -> None:
    """In equations, tables, tensors and accepted answers, which agree in them."""
    check(lettered(notation))


@pytest.mark.parametrize("notation", NOTATION_BY_NAME)
def test_any_letters_hold_wherever_a_notation_does(notation: str) -> None:
    """Random letters for all symbols: a letter of its own for each, with an accent, an index or the layer's number."""
    draw = Random(notation)
    row = NOTATION_BY_NAME[notation]
    net = lettered(notation).replace(symbols={}, output=Output(2))
    symbols = {
        symbol for _, pairs in symbols_of(net.flow, row.of(convention("textbook")), row, {}) for symbol, _ in pairs
    }
    letters = [*"ABDEFGHIJKLMNPQRSTXYZΓΔΘΛΞΠΣΦΨΩαβγζηθκλμξπρτφχψω"]
    draw.shuffle(letters)
    marks = ["", "\u0303", "′", "_u", "^l", "^(l)", "_2", "^{[l]}"]
    drawn = {symbol: letters.pop() + draw.choice(marks) for symbol in sorted(symbols)}
    for kept in ({}, {"h": "c", "c": "h"}):
        check(net.replace(symbols={**drawn, **kept}))


@pytest.mark.parametrize("path", sorted(Path("specs/letters").glob("*.yaml")), ids=lambda path: path.stem)
def test_letters_of_courses_hold_wherever_a_notation_does(path: Path) -> None:
    check(load(path))


def test_gates_have_the_letters_of_a_course() -> None:
    """A weight has the index of its gate, or the letter if there is no index; no number changes."""
    net = lettered("columns")
    explained = str(explain(net))
    for line in (
        "Γ_u,t = σ(W_u [h_(t−1); x_t] + b_u)",
        "c̃_t = tanh(W_c̃ [h_(t−1); x_t] + b_c̃)",
        "c_t = Γ_f,t ∘ c_(t−1) + Γ_u,t ∘ c̃_t",
        "h_t = Γ_z,t ∘ h_(t−1) + (1 − Γ_z,t) ∘ h′_t",
        "3 gates and the candidate: Γ_u, Γ_f, c̃, Γ_o",
        "Candidate c̃: what could be written.",
    ):
        assert line in explained
    names = [tensor.name for tensor in net.spelled[0].tensors]
    assert names == ["W_u", "W_f", "W_c̃", "W_o", "b_u", "b_f", "b_c̃", "b_o"]
    assert answer(net, "W_c̃=2x6", "W_h′=(3,5)").judged[0].right
    assert "Γ_u,t" in str(draw(net, view="cell"))
    assert parse(json.dumps(spec_of(net)).encode(), "spec").network.replace(name="network") == net
    assert net.params == net.replace(symbols={}).params
    of_lstm = {gate: OF_A_COURSE[gate] for gate in "ifog"}
    weights = {name: [[1.0] * 6] * 2 if name[0] == "W" else [0.0, 0.0] for name in names}
    given = own_numbers(net.replace(layers=net.layers[:1], symbols=of_lstm), {"lstm_1": weights}).weights
    assert given is not None
    assert given["lstm_1"]["W_xi"] == [[1.0] * 4] * 2


def test_letters_for_gates_are_typeset(call: Call, tmp_path: Path) -> None:
    """Greek capitals, accents and primes by their commands in TeX, below another letter too."""
    path = tmp_path / "spec.yaml"
    path.write_text(json.dumps(spec_of(lettered("columns"))), encoding="utf-8")
    latex = call("explain", path, "-f", "latex").out
    for symbol in (r"{\Gamma_{u,t}}", r"{{\tilde{c}}_{t}}", r"W_{{\tilde{c}}}", r"{h'_{t}}"):
        assert symbol in latex, symbol
    assert "<mi>c̃</mi>" in call("explain", path, "-f", "html").out
    worked = call("run", path, "--work", "--backward").out
    assert "Γ_u,2 = σ" in worked
    assert "∂L/∂b_u (step 2) = δ_Γ_u,2 = " in worked


def test_letters_for_gates_are_those_of_states_and_of_sentences(call: Call, tmp_path: Path) -> None:
    """In the titles of `run --states`, in what a gate keeps of a state, and in the gates that have no bias."""
    path = tmp_path / "spec.yaml"
    path.write_text(json.dumps(spec_of(lettered("columns"))), encoding="utf-8")
    ran = call("run", path, "--states", "--backward").out
    lstm, gru, *_ = [set(line.split()) for line in ran.splitlines() if line.startswith("Step ")]
    assert lstm == {"Step", *"xch", "Γ_u", "Γ_f", "c̃", "Γ_o"}
    assert gru == {"Step", *"xhr", "Γ_z", "h′"}
    assert "∏ Γ_f: the product of Γ_f over the later steps, its largest number: what is left of c." in ran
    sru = explain(Network(input=4, layers=[SRU(5)], notation="w", symbols={"n": "h′", "s": "q"}))
    assert "Biases: one bias vector each in f and r, none in h′ and q; " in str(sru)
    after = explain(Network(input=4, layers=[GRU(5, reset_after=True)], notation="w", symbols={"n": "h′"}))
    assert "and that of h′ is outside what is multiplied by a gate." in str(after)
