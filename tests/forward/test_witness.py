"""The second witness objects: each of its comparisons, alone, to a declaration broken in just that respect."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rnncalc import GRU, LSTM, RNN, Layer, Network
from rnncalc.conventions import CONVENTIONS, flax_linen, keras
from rnncalc.conventions.formula import Plus, value
from rnncalc.conventions.rules import Convention, Side
from rnncalc.conventions.tensor import Axis, Role, Tensor
from rnncalc.forward.arrays import floats
from rnncalc.forward.network_pass import LayerRun, Pass
from rnncalc.network.stack import Placed

Broken = Callable[[Placed], Placed]


def ran(layer: Layer, broken: Broken, **network: object) -> LayerRun:
    """Return what the pass says of a layer whose place in the stack is broken."""
    net = Network(input=5, layers=(layer,), steps=3, **network)  # type: ignore[arg-type]
    net.__dict__["stack"] = tuple(map(broken, net.stack))
    (ran,) = Pass(net, floats).run()
    return ran


def held(of: LayerRun) -> dict[str, bool]:
    """Return which of the comparisons hold."""
    return {
        "reason": of.reason is None,
        "shape": of.shape == of.placed.output_shape,
        "weights": of.weights == of.placed.params,
        "read": of.weights_read == of.to_read,
        "multiplications": of.multiplications == of.placed.multiply_adds,
    }


def declaring(place: Placed, **changed: Any) -> Placed:
    """Return a place whose layout declares something else, and is counted so."""
    layout = place.layout._replace(**changed)
    return place._replace(layout=layout, params=value(layout.params, place.sizes))


def objects(of: LayerRun) -> list[str]:
    assert of.agrees == all(held(of).values())
    return [what for what, holds in held(of).items() if not holds]


def test_an_honest_declaration_is_not_objected_to() -> None:
    """The layers that the cases below break."""
    for layer in (RNN(3), GRU(3), LSTM(3), LSTM(3, bidirectional=True), LSTM(3, projection=2)):
        assert objects(ran(layer, lambda place: place)) == []


@pytest.mark.parametrize(
    ("layer", "topology", "declared"),
    [
        (RNN(3), "many-to-one", (4,)),
        (RNN(3), "many-to-many", (3,)),  # a vector, and a sequence leaves
        (RNN(3, bidirectional=True), "many-to-one", (3,)),  # a sum of two directions, which are concatenated
        (LSTM(3, projection=2), "many-to-one", (3,)),  # the width of the cell, and that of the projection leaves
    ],
)
def test_a_wrong_shape_alone(layer: Layer, topology: str, declared: tuple[int, ...]) -> None:
    """The shape of what leaves the layer is seen, not taken over."""
    assert objects(ran(layer, lambda place: place._replace(output_shape=declared), topology=topology)) == ["shape"]


def test_a_wrong_number_of_weights_alone() -> None:
    """The formula says one more than there are."""

    def broken(place: Placed) -> Placed:
        return declaring(place, params=Plus((place.layout.params, 1)))

    assert objects(ran(GRU(3), broken)) == ["weights"]


def test_a_weight_that_nothing_reads_alone() -> None:
    """A tensor is declared, and counted, that no equation uses."""

    def broken(place: Placed) -> Placed:
        spare = Tensor("spare", Role.BIAS, None, "", (Axis(1, "h"),))
        layout = place.layout
        return declaring(place, tensors=(*layout.tensors, spare), params=Plus((layout.params, "h")))

    assert objects(ran(GRU(3), broken)) == ["read"]


def test_a_wrong_number_of_multiplications_alone() -> None:
    """One more is counted for each step than is done."""

    def broken(place: Placed) -> Placed:
        more: Any = SimpleNamespace(step=place.step, multiply_adds=(place.work.multiply_adds or 0) + 1)
        return place._replace(work=more)

    assert objects(ran(LSTM(3), broken)) == ["multiplications"]


def test_an_input_that_is_not_as_wide_as_the_spec_says() -> None:
    """The inputs are drawn as wide as the spec has them, whatever the stack declares."""

    def broken(place: Placed) -> Placed:
        return place._replace(inputs=10, sizes={**place.sizes, "m": 10})

    assert objects(ran(RNN(3), broken))[0] == "reason"


def under(monkeypatch: pytest.MonkeyPatch, broken: Convention, layer: Layer) -> LayerRun:
    monkeypatch.setitem(CONVENTIONS, broken.name, broken)
    (ran,) = Pass(Network(input=5, layers=(layer,), steps=3, convention=broken.name), floats).run()
    return ran


def with_cell(of: Convention, kind: str, **parts: object) -> Convention:
    assert isinstance(of.cells, dict)
    return of.replace(cells={kind: of.cells[kind].replace(**parts)})


def test_a_wrong_orientation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output by input is declared where the framework has input by output."""
    assert isinstance(keras.CONVENTION.cells, dict)
    row = keras.CONVENTION.cells["rnn"]
    turned = row.input.replace(axes="gates m")
    of = under(monkeypatch, with_cell(keras.CONVENTION, "rnn", input=turned), RNN(3))
    assert of.reason is not None
    assert "cannot multiply 5 numbers" in of.reason


def test_a_bias_on_the_wrong_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flax's LSTM has its biases on the recurrent side; on the input side as many are counted."""
    assert isinstance(flax_linen.CONVENTION.cells, dict)
    bias = flax_linen.CONVENTION.cells["gru"].bias
    moved = with_cell(flax_linen.CONVENTION, "lstm", side=Side.INPUT, bias=bias, recurrent_bias=None)
    of = under(monkeypatch, moved, LSTM(3))
    assert of.reason == "hi/bias: needed, but not declared"
    assert of.placed.params == 4 * 3 * (5 + 3 + 1)
