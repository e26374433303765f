"""A stranger adds a spelling: a framework that does not come with the package, half right and wrong too."""

import re
from collections.abc import Iterator

import pytest
from conftest import Call

from rnncalc import GRU, LSTM, MGU, Dense, Dropout, Network
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.errors import RefusedError
from rnncalc.export import SPELLINGS, source, spelling
from rnncalc.export.program import Module, OwnCell
from rnncalc.export.writer import Spelling, Writer, step_of
from rnncalc.step.operations import OPERATIONS


def recurrent(module: Module, _: int, writer: Writer) -> str:
    if module.cell:
        return f"loom.Along({writer.own_cell(module, 0)})"
    return f"loom.{writer.spelling.cells[module.layer.kind]}({module.inputs}, {module.outputs})"


def cell(own: OwnCell, writer: Writer) -> Iterator[str]:
    lines, states, output = step_of(own, writer.spelling)
    yield from ("def step(self, x, state):", "    (h,) = state", *(f"    {line}" for line in lines))
    yield f"    return {output}, ({states[0]},)"


def recur(module: Module, x: str, writer: Writer) -> Iterator[str]:
    yield f"x = self.{writer.of(module)}({x})"
    yield from writer.merged(module)


def learned(module: Module, x: str, name: str, writer: Writer) -> Iterator[str]:
    yield f"{name} = loom.rows({x}, self.{writer.of(module)}_h_0)"


LOOM = Spelling(
    imports=("import loom",),
    base="loom.Cloth",
    setup=("def __init__(self):",),
    forward="weave",
    layers={
        "dense": "loom.Plain({inputs}, {units}{bias})",
        "embedding": "loom.Table({inputs}, {units})",
        "dropout": "loom.Holes({rate})",
        "external": "External({params}, {outputs})",
    },
    without_bias=", bias=None",
    cells={"gru": "Gated", "lstm": "Long"},
    recurrent=recurrent,
    parameter="loom.zeros({shape})",
    tied="loom.back({x}, self.{table})",
    own_class="class {name}(loom.Thread):",
    cell=cell,
    external="class External(loom.Cloth):\n    pass",
    main="def main():\n    print(loom.count({name}()))",
    library="loom",
    half="loom.half(x, self.second)",
    join="loom.join",
    axis="along",
    one_step="loom.one({x})",
    zeros="loom.zeros(({x}.rows, steps - 1, {width}))",
    recur=recur,
    looped="x, {own}_end = self.{own}({x}, {own}_end)",
    learned=learned,
)

PROGRAM = '''import loom


class MGUCell(loom.Thread):
    """A step of MGU, in the textbook's letters."""

    def step(self, x, state):
        (h,) = state
        f = loom.sigmoid(x @ self.W_xf.T + h @ self.W_hf.T + self.b_f)
        n = loom.tanh(x @ self.W_xn.T + (f * h) @ self.W_hn.T + self.b_n)
        h = f * n + (1 - f) * h
        return h, (h,)


class Network(loom.Cloth):
    """Network: 153 parameters.

    Reads x (batch, steps, 4); gives (batch, 2).

    Loom has no module for some of the layers; the cells above are written from their
    equations, one matrix a gate.
    """

    def __init__(self):
        self.gru_1 = loom.Gated(4, 3)  # 81 parameters
        self.dropout_1 = loom.Holes(0.5)
        self.mgu_1 = loom.Along(MGUCell(3, 4))  # 64 parameters
        self.dense_1 = loom.Plain(4, 2, bias=None)  # 8 parameters

    def weave(self, x):
        x = self.gru_1(x)
        x = self.dropout_1(x)  # (batch, steps, 3)
        x = self.mgu_1(x)
        x = x[:, -1]  # (batch, 4)
        return self.dense_1(x)  # (batch, 2)


def main():
    print(loom.count(Network()))


if __name__ == "__main__":
    main()
'''


@pytest.fixture(autouse=True)
def _loom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what naming the convention and the spelling in their lists does."""
    monkeypatch.setitem(CONVENTIONS, "loom", convention("pytorch").replace(name="loom", title="Loom"))
    monkeypatch.setitem(SPELLINGS, "loom", LOOM)


def net(**given: object) -> Network:
    layers = [GRU(3), Dropout(0.5), MGU(4), Dense(2, bias=False)]
    return Network(input=4, layers=layers, **given)  # type: ignore[arg-type]


def test_it_writes_programs(call: Call) -> None:
    """With its words, from Python and from the command line."""
    assert source(net(), "loom") == PROGRAM
    args = ("-i", 4, "-l", "gru:3", "-l", "dropout:0.5", "-l", "mgu:4", "-l", "dense:2,bias=false")
    assert call("export", *args, "--to", "loom") == (0, PROGRAM, "")


@pytest.mark.parametrize(
    ("target", "name"),
    [("pytorch", "nn.Gated"), ("keras", "layers.Gated"), ("flax-linen", "Gated"), ("flax-nnx", "Gated")],
)
def test_a_derived_spelling_has_its_own_class_names(target: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names in `cells` are those that are written."""
    monkeypatch.setitem(SPELLINGS, target, spelling(target).replace(cells={"gru": name}))
    text = source(Network(input=4, layers=[GRU(3)]), target)
    assert f"{name}(" in text
    assert "GRU(" not in text
    assert "GRUCell" not in text


def test_what_it_has_no_words_for_it_is_asked_for_in_its_own() -> None:
    """Loops and joined features are the writer's, in the arrays of the spelling."""
    looped = Network(
        input=4,
        layers=[LSTM(3, extra_inputs=2, learned_state=True)],
        output=4,
        topology="one-to-many",
        feedback=True,
    )
    text = source(looped, "loom")
    for line in (
        "        self.lstm_1_h_0 = loom.zeros((3,))",
        "        x = loom.one(x)  # one step",
        "        lstm_1_end = loom.rows(x, self.lstm_1_h_0)",
        "            x = loom.join([x, lstm_1_extra[:, step : step + 1]], along=-1)",
        "            x, lstm_1_end = self.lstm_1(x, lstm_1_end)  # (batch, 1, 3)",
        "        return loom.join(outputs, along=1)  # (batch, steps, 4)",
    ):
        assert line in text.split("\n")


def test_without_a_spelling_export_refuses_in_one_line(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the way out."""
    monkeypatch.delitem(SPELLINGS, "loom")
    with pytest.raises(RefusedError, match=r"the convention loom has no spelling, so .*; write one in export/, or exp"):
        source(net(), "loom")
    done = call("export", "-i", 4, "-l", "gru:3", "--to", "loom")
    assert done == (2, "", "--to: expected pytorch, keras, flax-linen or flax-nnx, got 'loom'\n")


PLACES = {
    "parameter": "shape",
    "tie": "own table",
    "tied": "x table",
    "freeze": "own",
    "own_class": "name",
    "transposed": "matrix",
    "number": "parameter",
    "one_step": "x",
    "reshaped": "x shape",
    "zeros": "x width",
    "looped": "own x",
}
"""The places that each template must have, beside those of layers."""

LAYERS = {"dense": "units", "embedding": "inputs units", "dropout": "rate", "external": "params outputs"}
"""The same of each kind of layer without recurrence."""


def check(target: str) -> None:
    """Fail if a spelling has a template without a place that is filled, or words for what does not exist."""
    spelled = spelling(target)
    assert all(map(convention(target).arrays, spelled.cells)), "a cell that the convention lacks"
    assert {*spelled.functions, *spelled.helpers} <= {*OPERATIONS}, "a function of no operation"
    assert bool(spelled.tie) != bool(spelled.tied), "how an output shares the matrix of the embedding: one of the two"
    assert {*spelled.layers} == {*LAYERS}
    known = {"bias", "activation", "name", *" ".join(LAYERS.values()).split()}
    for name, needed in LAYERS.items():
        assert {*needed.split()} <= {*re.findall(r"{(.*?)}", spelled.layers[name])} <= known, name
    for part, names in PLACES.items():
        if template := getattr(spelled, part):
            optional = {"name", "frozen"} if part == "parameter" else set()
            places = {*re.findall(r"{(.*?)}", template)}
            assert {*names.split()} <= places <= {*names.split()} | optional, part


@pytest.mark.parametrize("target", SPELLINGS)
def test_a_spelling_has_its_places(target: str) -> None:
    """Tests of programs (test_code.py, tests/conformance) run what it writes."""
    check(target)


@pytest.mark.parametrize(
    "changes",
    [
        {"layers": {**LOOM.layers, "dens": ""}},
        {"layers": {"dense": "loom.Plain({inputs}, {units})"}},
        {"layers": {**LOOM.layers, "dropout": "loom.Holes()"}},
        {"layers": {**LOOM.layers, "dense": "P({units}, {bais})"}},
        {"looped": "x = self.{own}()"},
        {"zeros": "loom.zeros({x}, {with})"},
        {"functions": {"tahn": ("loom.th",)}},
        {"tied": ""},
        {"tie": "self.{own}.weight = self.{table}.weight"},
        {"cells": {"gur": "Gated"}},
    ],
    ids=str,
)
def test_a_half_right_spelling_fails(changes: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has one part that is missing, unknown or misspelt."""
    check("loom")
    monkeypatch.setitem(SPELLINGS, "loom", LOOM.replace(**changes))
    with pytest.raises(AssertionError):
        check("loom")
