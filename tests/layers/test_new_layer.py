"""A stranger adds a layer around the cells in one file, and everything follows; one that is half right is refused."""

import inspect
import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from case_files import cases
from conftest import Call, report_of
from verified import backward

from rnncalc import Network, register, run, solve
from rnncalc.errors import DeclarationError
from rnncalc.layers import KINDS
from rnncalc.layers.layer import ArrayAxes, LayerOperations, Shape, Time, Transform
from rnncalc.layers.options import Option, Size, Switch

Ops = LayerOperations[Any]


class GatedUnit(Transform):
    """A gated linear unit (Dauphin et al. 2017): half of a dense layer of 2n units gates the other; 2n(m + 1)."""

    kind = "gated_unit"
    number = "units"
    units: int

    def output_width(self, inputs: int) -> int:
        return self.units

    def sizes(self, inputs: int) -> dict[str, int]:
        return {"m": inputs, "n": self.units, "w": 2 * self.units}

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        return (("kernel", "wm"), ("bias", "w"))

    def compute(self, ops: Ops, window: Any) -> Any:
        both = ops.plus(ops.product("kernel", window[0]), ops.weight("bias"))
        return ops.times(ops.part(both, "n", 0), ops.activate("sigmoid", ops.part(both, "n", 1)))


class CausalSkip(Transform):
    """A depthwise causal convolution, added to its input; m(k + 1)."""

    kind = "causal_skip"
    number = "kernel"
    time = Time.WINDOW
    own_options: ClassVar[Mapping[str, Option]] = {"kernel": Option(Size(), "the steps of the window")}
    kernel: int

    def sizes(self, inputs: int) -> dict[str, int]:
        return {"m": inputs, "c": 1, "k": self.kernel}

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        return (("kernel", "mck"), ("bias", "m"))

    def window_of(self, step: int, steps: int) -> range:
        return range(step - self.kernel + 1, step + 1)

    def padding_of(self, steps: int | None) -> tuple[int, int]:
        return self.kernel - 1, 0

    def compute(self, ops: Ops, window: Any) -> Any:
        skipped = ops.name("u", ops.plus(ops.product("kernel", window), ops.weight("bias")))
        return ops.plus(window[-1], skipped)


NETWORK = ("-i", 6, "-l", "gated_unit:4", "-l", "causal_skip:3", "-T", 5)


@pytest.fixture(autouse=True)
def strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the layers, and forget them after the test."""
    for layer in (GatedUnit, CausalSkip):
        monkeypatch.setitem(KINDS, layer.kind, layer)
        register(layer)


def test_it_is_counted(call: Call) -> None:
    """Parameters, tensors and operations, worked out by hand."""
    report = report_of(call, *NETWORK)
    unit, skip = report["layers"]
    assert (unit["params"], unit["formula"]) == (2 * 4 * (6 + 1), "w(m + 1)")
    assert (skip["params"], skip["formula"]) == (4 * (3 + 1), "m(k·c + 1)")
    assert (unit["multiply_adds"], skip["multiply_adds"]) == (5 * 8 * 6, 5 * 4 * 3)
    counted = report_of(call, *NETWORK, "--operations")["layers"]
    assert [layer["operations"]["elementwise"] for layer in counted] == [5 * 4, 5 * 4]  # the gate; the skip
    assert [layer["operations"]["activations"] for layer in counted] == [5 * 4, 0]
    assert solve(lambda size: Network(input=4, layers=[CausalSkip(size)]), 103).size == 24  # 4(24 + 1) = 100


def test_both_passes_agree(call: Call) -> None:
    """Shapes, weights and work; gradients are finite differences; saved activations are those that are read."""
    done = call("run", *NETWORK, "--backward", "--verify", "-f", "json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["reports"][0]["agrees"]
    network = Network(input=3, layers=[GatedUnit(2), CausalSkip(2)], steps=4)
    assert backward(network).agrees
    assert backward(Network(input=3, layers=[TwoGates(2), TwoGates(2)], steps=4)).agrees


def test_it_is_explained_drawn_and_answered(call: Call) -> None:
    """Equations, a picture, a worksheet."""
    told = call("explain", *NETWORK).out
    assert "a_t = W x_t + b" in told
    assert "y_t = a_(1,t) ∘ σ(a_(2,t))" in told
    assert "a_(i,t) = W_(i,1) x_(i,t−2) + W_(i,2) x_(i,t−1) + W_(i,3) x_(i,t)" in told
    assert "y_t = x_t + u_t" in told
    trained = call("explain", *NETWORK, "--training").out
    assert "∂L/∂x_(i,t) = ∂L/∂y_(i,t) + W_(i,1)ᵀ ∂L/∂a_(i,t+2)" in trained
    assert "a_(1,t) and a_(2,t): equal parts of a_t, by their number." in trained
    assert all(f"{name} = " in call("run", *NETWORK, "--work").out for name in ("x_5", "a_5", "a_4,5", "u_5"))
    assert "causal_skip 3" in call("draw", *NETWORK).out
    assert call("answer", *NETWORK, 56 + 16).code == 0
    assert call("exercise", *NETWORK, "-f", "json").code == 0


class HalvesPool(Transform):
    """Ends a sequence in the sum of its vectors' second halves, weighted by a score of their first halves."""

    kind = "halves_pool"
    number = ""
    time = Time.SUMMARY

    def sizes(self, inputs: int) -> dict[str, int]:
        return {"m": inputs, "g": inputs // 2}

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        return (("score", "g"),)

    def output_width(self, inputs: int) -> int:
        return inputs // 2

    def output_shape(self, shape: Shape) -> Shape:
        return (shape[-1] // 2,)

    def compute(self, ops: Ops, window: Any) -> Any:
        weights = ops.activate("softmax", ops.dot(ops.weight("score"), ops.part(window, "g", 0)))
        return ops.mix(weights, ops.part(window, "g", 1))


def test_a_part_of_each_vector_of_a_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal scores weigh the second halves (3, 4), (5, 6) and (7, 8) equally: their mean is (5, 6)."""
    monkeypatch.setitem(KINDS, "halves_pool", HalvesPool)
    network = Network(input=4, layers=[HalvesPool()], steps=3, topology="many-to-one")
    inputs = [[1, 2, 3, 4], [0, 1, 5, 6], [2, 0, 7, 8]]
    assert run(network, weights={"halves_pool_1": {"score": [0, 0]}}, inputs=inputs).outputs == pytest.approx([5, 6])
    assert backward(network).agrees


class TwoGates(GatedUnit):
    """Two matrices through one activation, multiplied."""

    kind = "two_gates"

    def sizes(self, inputs: int) -> dict[str, int]:
        return {"m": inputs, "n": self.units}

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        return (("kernel", "nm"), ("other", "nm"))

    def compute(self, ops: Ops, window: Any) -> Any:
        one, other = (ops.activate("sigmoid", ops.product(role, window[0])) for role in ("kernel", "other"))
        return ops.times(one, other)


class Gated(TwoGates):
    """A gate from 4 units on."""

    kind = "gated"

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        return (("kernel", "nm"), ("other", "nm"))[: 1 + (self.units > 3)]

    def compute(self, ops: Ops, window: Any) -> Any:
        return super().compute(ops, window) if self.units > 3 else ops.product("kernel", window[0])


def test_what_is_declared_may_depend_on_sizes() -> None:
    """2·3 and twice 4·3 parameters, whichever is counted first."""
    for units, params in ((2, 6), (4, 24), (2, 6)):
        network = Network(input=3, layers=[Gated(units)], steps=2)
        assert (network.params, run(network).agrees) == (params, True)


def half_right(case: dict[str, str]) -> type[Transform]:
    """Return the class of a layer that is like another but for some members."""
    like: Any = globals()[case["like"]]
    members: dict[str, Any] = {"kind": "own"}
    for name in case.keys() - {"like", "message"}:
        member = inspect.getattr_static(like, name)
        function = member.fget if isinstance(member, property) else member
        head = f"lambda {', '.join(inspect.signature(function).parameters)}: " if callable(function) else ""
        members[name] = eval(compile(f"{head}{case[name]}", "own.py", "eval"))
        if isinstance(member, property):
            members[name] = property(members[name])
    return type("Own", (like,), members)


@pytest.mark.parametrize("case", cases("layers/half_right_layers.yaml"), ids=lambda case: case["message"])
def test_a_layer_that_is_half_right_is_refused(case: dict[str, str]) -> None:
    """In one line, each time."""
    layer = half_right(case)
    for _ in range(2):
        with pytest.raises(DeclarationError) as refused:
            register(layer)
        expected, cut, _ = f"own: {case['message']}".partition(" …")
        said = re.sub(r" \(\w+\.py, line \d+\)$", "", str(refused.value))
        assert said[: len(expected) if cut else None] == expected


class Misspelt(CausalSkip):
    kind = "misspelt"
    own_options: ClassVar[Mapping[str, Option]] = {"kernal": Option(Size(), "the steps of the window")}


class Misnamed(GatedUnit):
    kind = "misnamed"
    own_options: ClassVar[Mapping[str, Option]] = {"twst": Option(Switch(), "its halves are swapped")}
    twist: bool = False


class Numberless(Transform):
    kind = "numberless"


class Lacking(GatedUnit):
    kind = "lacking"

    def compute(self, ops: Ops, window: Any) -> Any:
        return ops.times(super().compute(ops, window), ops.weight("scale"))


class Listed(CausalSkip):
    kind = "listed"

    def window_of(self, step: int, steps: int) -> Any:
        return [step]


class Nothing(GatedUnit):
    kind = "nothing"

    def compute(self, ops: Ops, window: Any) -> None:
        ops.weight("bias")


HALF_RIGHT: dict[type[Transform], tuple[str, int]] = {
    Misspelt: ("misspelt: own_options: there is no field 'kernal'; did you mean 'kernel'?", 0),
    Misnamed: ("misnamed: twist: its allowed values are not declared; did you mean 'twst'?; add it to own_options", 0),
    Numberless: ("numberless: number: there is no field 'units'; write number = \"\" if the kind takes no number", 0),
    Lacking: ("lacking: compute reads the array scale, which is not declared; there are kernel and bias", 4),
    Listed: ("listed: window_of(0, 1) is [0]; return a range of steps", 3),
    Nothing: ("nothing: what compute returns is None, which is no vector", 3),
}


@pytest.mark.parametrize("layer", HALF_RIGHT, ids=lambda layer: layer.kind)
def test_it_is_refused_where_it_is_wrong(layer: type[Transform]) -> None:
    """With the file and the line of the class, or of the mistake in it."""
    message, line = HALF_RIGHT[layer]
    with pytest.raises(DeclarationError) as refused:
        register(layer)
    at = inspect.getsourcelines(layer)[1] + line
    assert str(refused.value) == f"{message} (test_new_layer.py, line {at})"
