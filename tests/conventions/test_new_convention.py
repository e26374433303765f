"""A stranger adds a framework: a convention, and a binding by hand, each named in its list."""

from math import exp, tanh

import pytest
from conftest import Call, refusal, report_of

from rnncalc import GRU, Network, run
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.conventions.rules import Array, CellArrays, Convention, TransformArrays, restricted
from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import BINDINGS, Binding, GateWeights, TransformNames
from rnncalc.layers.cell import Cell, Habits
from rnncalc.programs import SPELLINGS

LOOM = Convention(
    name="loom",
    title="Loom",
    note="one bias vector per gate",
    why="it was woven so",
    cells={
        "gru": CellArrays(
            input=Array("warp.{gate}", "m h"),
            recurrent=Array("weft", "gates reads"),
            bias=Array("knot", "gates"),
            order="nzr",
            only=restricted(bidirectional=(False,)),
        )
    },
    transforms={
        "embedding": TransformArrays({"embedding": "E"}),
        "dense": TransformArrays({"kernel": "W", "bias": "b"}),
    },
)


def bound(arrays: Arrays, layer: Cell, *_: object) -> GateWeights:
    products = {(gate, "x"): arrays.matrix(f"warp.{gate}", transposed=True) for gate in "zrn"}
    recurrent = {
        (gate, "h"): arrays.matrix("weft", rows) for gate, rows in arrays.gates("weft", "nzr", layer.units).items()
    }
    if not layer.bias:
        return GateWeights({**products, **recurrent})
    biases = {
        (gate, "input"): arrays.vector("knot", at) for gate, at in arrays.gates("knot", "nzr", layer.units).items()
    }
    return GateWeights({**products, **recurrent}, biases)


TABLE = TransformNames({"embedding": {"embedding": "E"}, "dense": {"kernel": "W", "bias": "b"}}, taps_first=False)
BINDING = Binding(cell=bound, transforms=TABLE)


@pytest.fixture(autouse=True)
def _loom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what naming the convention in its list does."""
    monkeypatch.setitem(CONVENTIONS, "loom", LOOM)


def test_it_is_counted_and_explained(call: Call) -> None:
    """Its names, its shapes and its total."""
    report = report_of(call, "-i", 5, "-l", "gru:3", "-o", 2, "-c", "loom")
    shapes = {tensor["name"]: tensor["shape"] for tensor in report["layers"][0]["tensors"]}
    warps = {f"warp.{gate}": [5, 3] for gate in "nzr"}
    assert shapes == {**warps, "weft": [9, 3], "knot": [9]}
    assert report["params"] == 3 * 3 * (5 + 3 + 1) + 2 * (3 + 1)
    assert "warp.n" in call("explain", "-i", 5, "-l", "gru:3", "-c", "loom").out
    assert "loom" in call("-i", 5, "-l", "gru:3", "--all-conventions").out


def test_without_a_binding_run_refuses_in_one_clear_line(call: Call) -> None:
    """No KeyError, and the way out."""
    assert refusal(call, "run", "-i", 5, "-l", "gru:3", "-c", "loom") == (
        "rnncalc: the convention loom has no binding by hand, so its weights cannot be run; "
        "write one in forward/bindings, or count without running\n"
    )


def test_with_its_binding_it_is_run(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """The witness agrees with the row."""
    monkeypatch.setitem(BINDINGS, "loom", BINDING)
    assert call("run", "-i", 5, "-l", "gru:3", "-l", "gru:4,bias=false", "-o", 2, "-T", 3, "-c", "loom").code == 0


@pytest.mark.parametrize(
    ("reset_after", "past"),
    [
        (False, 2 / (1 + exp(-2))),
        (True, 2 / (1 + exp(0))),
    ],  # the second unit's state times its own reset, or the first's
)
def test_its_habits_are_said_once(reset_after: bool, past: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The convention says them, and a pass has them: one step from the state (0, 2), which alone is not zero."""
    cells = LOOM.cells
    assert isinstance(cells, dict)
    gru = cells["gru"].replace(habits=Habits(reset_after=reset_after))
    monkeypatch.setitem(CONVENTIONS, "loom", LOOM.replace(cells={"gru": gru}))
    monkeypatch.setitem(BINDINGS, "loom", BINDING)
    n, z, r = [[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]
    weights = {**{f"warp.{gate}": [[0.0, 0.0]] for gate in "nzr"}, "weft": [*n, *z, *r], "knot": [0.0] * 6}
    network = Network(input=1, layers=[GRU(2)], convention="loom", steps=1)
    found = run(network, weights={"gru_1": weights}, inputs={None: [[0.0]]}, start={"gru_1": {"h": [0.0, 2.0]}})
    assert found.agrees
    assert found.outputs == pytest.approx([tanh(past) / 2, 2 / 2])


def test_an_order_that_its_binding_has_not_is_told(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a weight is read for another gate's."""
    cells = LOOM.cells
    assert isinstance(cells, dict)
    monkeypatch.setitem(CONVENTIONS, "loom", LOOM.replace(cells={"gru": cells["gru"].replace(order="rzn")}))
    monkeypatch.setitem(BINDINGS, "loom", BINDING)
    done = call("run", "-i", 5, "-l", "gru:3", "-T", 2, "-c", "loom")
    assert done.code == 1
    assert "weft: the gates lie in it as nzr, and rzn is declared" in done.out


@pytest.mark.parametrize(
    ("name", "biases"), [("pytorch", 2), ("keras", 1), ("onnx", 2), ("flax-nnx", 1), ("flax-linen", 1)]
)
def test_a_cell_that_its_binding_and_its_target_lack(
    name: str, biases: int, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A convention that gains a cell counts it; run and export refuse it until it is written there too."""
    row = convention(name)
    assert not isinstance(row.cells, CellArrays)
    gained = row.cells["rnn"].replace(order="zn")
    monkeypatch.setitem(CONVENTIONS, name, row.replace(cells={**row.cells, "mingru": gained}))
    args = ("-i", 3, "-l", "mingru:4,activation=tanh", "-T", 2)
    assert report_of(call, *args, "-c", name)["params"] == 2 * 4 * (3 + biases)
    assert call("run", *args, "-c", name) == (
        2,
        "",
        f"rnncalc: the binding by hand of the convention {name} has no mingru, so it cannot be run; "
        "write it in forward/bindings, or count without running\n",
    )
    if name in SPELLINGS:
        module = name.replace("-", "_")
        assert call("export", *args, "--to", name) == (
            2,
            "",
            f"rnncalc: the convention {name} has a mingru, and no module of that cell is written for it; "
            f"name one in programs/{module}.py, or export to another target\n",
        )


def test_another_key_that_is_missing_is_no_missing_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake in a binding is not taken for a cell that is not there."""

    def mistaken(*_: object) -> GateWeights:
        raise KeyError("zrn")

    network = Network(input=5, layers=[GRU(3)], convention="loom", steps=2)
    monkeypatch.setitem(BINDINGS, "loom", Binding(cell=mistaken, transforms=TABLE))
    with pytest.raises(KeyError, match="zrn"):
        run(network)


def test_a_product_that_the_binding_forgets(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """The witness says which, as it does of a tensor that is not declared."""

    def forgetful(arrays: Arrays, layer: Cell, *_: object) -> GateWeights:
        whole = bound(arrays, layer)
        return whole._replace(products={use: each for use, each in whole.products.items() if use != ("n", "h")})

    monkeypatch.setitem(BINDINGS, "loom", Binding(cell=forgetful, transforms=TABLE))
    done = call("run", "-i", 5, "-l", "gru:3", "-T", 2, "-c", "loom")
    assert done.code == 1
    assert "gate n's product of h: needed, but not bound" in done.out


def test_what_it_lacks_is_refused_with_those_that_can(call: Call) -> None:
    """It is asked as every other convention is."""
    err = call("-i", 5, "-l", "gru:3,bidirectional", "-c", "loom").err
    assert err.startswith("--layer 1: bidirectional: loom cannot express bidirectional: true; textbook, pytorch")
    assert "textbook has it" not in call("-i", 5, "-l", "lstm:3", "-c", "loom").err.split(";")[0]
