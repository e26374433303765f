"""A stranger adds a spelling: a framework that does not come with the package, half right and wrong too."""

import re
from collections.abc import Iterator
from typing import ClassVar

import pytest
from case_files import ROOT
from conftest import Call

from rnncalc import GRU, LSTM, MGU, Cell, Dense, Dropout, Network, Transform
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.errors import RefusedError
from rnncalc.layers import KINDS, kind
from rnncalc.programs import SPELLINGS, source, spelling
from rnncalc.programs.formulas import Expressions
from rnncalc.programs.program import Module, OwnCell
from rnncalc.programs.writer import Writer
from rnncalc.step.operations import OPERATIONS


class Loom(Writer):
    """Writes a program for a framework that there is not."""

    imports = ("import loom",)
    base = "loom.Cloth"
    setup = ("def __init__(self):",)
    forward = "weave"
    layers: ClassVar = {
        "dense": "loom.Plain({inputs}, {units}{bias})",
        "embedding": "loom.Table({inputs}, {units})",
        "dropout": "loom.Holes({rate})",
        "external": "External({outputs}, {shapes})",
    }
    without_bias = ", bias=None"
    cells: ClassVar = {"gru": "Gated", "lstm": "Long"}
    parameter = "loom.{start}({shape})"
    matrix = "loom.random({shape})"
    tied = "loom.back({x}, self.{table})"
    own_class = "class {name}(loom.Thread):"
    external = "class External(loom.Cloth):\n    pass"
    main = "def main():\n    print(loom.count({name}()))"
    library = "loom"
    half = "loom.half(x, self.second)"
    join = "loom.join"
    axis = "along"
    one_step = "loom.one({x})"
    zeros = "loom.zeros(({x}.rows, {steps}, {width}))"
    looped = "x, {module}_end = self.{module}({x}, {module}_end)"

    def recurrent(self, module: Module, direction: int) -> str:
        if module.cell:
            return f"loom.Along({self.own_cell(module, direction)})"
        return f"loom.{self.cells[module.layer.kind]}({module.inputs}, {module.outputs})"

    def cell(self, cell: OwnCell) -> Iterator[str]:
        lines, states, output = self.step_of(cell)
        yield from ("def step(self, x, state):", "    (h,) = state", *(f"    {line}" for line in lines))
        yield f"    return {output}, ({states[0]},)"

    def recur(self, module: Module, x: str) -> Iterator[str]:
        yield f"x = self.{self.identifier(module)}({x})"
        yield from self.merged(module)

    def learned(self, module: Module, x: str, name: str) -> Iterator[str]:
        yield f"{name} = loom.rows({x}, self.{self.identifier(module)}_h_0)"


PROGRAM = (ROOT / "tests" / "programs" / "loom_program.txt").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _loom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what naming the convention and the spelling in their lists does."""
    monkeypatch.setitem(CONVENTIONS, "loom", convention("pytorch").replace(name="loom", title="Loom"))
    monkeypatch.setitem(SPELLINGS, "loom", Loom)


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
    monkeypatch.setattr(spelling(target), "cells", {"gru": name})
    text = source(Network(input=4, layers=[GRU(3)]), target)
    assert f"{name}(" in text
    assert "GRU(" not in text
    assert "GRUCell" not in text


def test_what_it_has_no_words_for_it_is_asked_for_in_its_own() -> None:
    """Loops and joined features are the writer's, in the arrays of the spelling."""
    looped = Network(
        input=4, layers=[LSTM(3, extra_inputs=2, learned_state=True)], output=4, topology="one-to-many", feedback=True
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
    with pytest.raises(RefusedError, match=r"convention loom has no spelling, so .*; write one in programs/, or"):
        source(net(), "loom")
    done = call("export", "-i", 4, "-l", "gru:3", "--to", "loom")
    assert done == (2, "", "--to: expected pytorch, keras, flax-linen or flax-nnx, got 'loom'\n")


PLACES = {
    "parameter": ({"start"}, {"shape", "sizes", "name", "frozen"}),
    "matrix": (set(), {"shape", "sizes", "name"}),
    "tie": ({"module", "table"}, set()),
    "tied": ({"x", "table"}, set()),
    "freeze": ({"module"}, set()),
    "own_class": ({"name"}, set()),
    "transposed": ({"matrix"}, set()),
    "number": ({"parameter"}, set()),
    "one_step": ({"x"}, set()),
    "reshaped": ({"x", "shape"}, set()),
    "zeros": ({"x", "steps", "width"}, set()),
    "looped": ({"module", "x"}, set()),
}
"""The places that each template must have, and those that it may have."""


@pytest.mark.parametrize("target", SPELLINGS)
def test_each_spelling_has_every_part(target: str) -> None:
    """Every template has its places, and nothing is named that the package lacks."""
    writer = spelling(target)
    parts = {**Expressions.__annotations__, **Writer.__annotations__}
    assert not [part for part in parts if not hasattr(writer, part)]
    templates = {part: getattr(writer, part) for part in PLACES if getattr(writer, part)}
    assert ("tie" in templates) != ("tied" in templates)
    for part, template in templates.items():
        needed, known = PLACES[part]
        assert needed <= {*re.findall(r"{(.*?)}", template)} <= needed | known, part
    kinds = {name: kind(name) for name in KINDS if not issubclass(kind(name), Cell | Transform)}
    layers = {name: {*each.needed()} - {"params"} for name, each in kinds.items()}  # which the shapes say
    assert {*writer.layers} == {*layers}
    for name, needed in layers.items():
        assert needed <= {*re.findall(r"{(.*?)}", writer.layers[name])}, name
    assert {*writer.functions, *writer.helpers} <= {*OPERATIONS}
    assert all(convention(target).arrays(cell) is not None for cell in writer.cells)
