"""The SRU in both directions: its skip is the input itself where that is as wide as both, as in the package sru."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Call
from verified import backward

from rnncalc import SRU, Cell, Gate, Network, Product, run
from rnncalc.layers import KINDS


@pytest.mark.parametrize(
    ("inputs", "units", "params"),
    [
        (128, 128, 2 * (4 * 128 * 128 + 4 * 128)),  # 132,096, as the package sru 2.6.0 has
        (256, 128, 2 * (3 * 128 * 256 + 4 * 128)),  # 197,632, as that has
        (3, 1, 2 * (4 * 3 + 4)),
        (2, 1, 2 * (3 * 2 + 4)),
        (1, 1, 2 * (4 * 1 + 4)),
    ],
)
def test_both_directions_are_counted(inputs: int, units: int, params: int) -> None:
    """Three matrices each where m = 2h, else four; whatever becomes of the outputs."""
    for merge in (None, "concat", "sum", "mul", "ave"):
        assert Network(input=inputs, layers=[SRU(units, bidirectional=True, merge=merge)]).params == params
    one = Network(input=inputs, layers=[SRU(units)]).params
    assert one == (3 if inputs == units else 4) * inputs * units + 4 * units


def test_layers_of_one_network_are_each_counted_by_their_own_width() -> None:
    """128 → 2·64 → 2·64: the first and the second read 128 and have three matrices, the third of 32 four."""
    layers = [SRU(64, bidirectional=True, repeat=2), SRU(32, bidirectional=True), SRU(64)]
    found = [place.params for place in Network(input=128, layers=layers).stack]
    three = 2 * (3 * 64 * 128 + 4 * 64)
    assert found == [three, three, 2 * (4 * 32 * 128 + 4 * 32), 3 * 64 * 64 + 4 * 64]


def test_each_direction_shows_its_half_of_the_input() -> None:
    """Gates of ½, σ(0), and a cell state of 0: h = x/2, the first number forwards and the second backwards."""
    one: dict[str, Any] = {f"W_x{gate}": [[0.0, 0.0]] for gate in "nfr"}
    one |= {name: [0.0] for name in ("W_cf", "W_cr", "b_f", "b_r")}
    weights = {"sru_1": {f"{way}/{name}": array for way in ("forward", "backward") for name, array in one.items()}}
    inputs = [[2.0, 30.0], [4.0, 50.0]]
    network = Network(input=2, layers=[SRU(1, bidirectional=True)], steps=2, topology="many-to-many")
    (layer,) = run(network, weights=weights, inputs=inputs).layers
    assert layer.output == [[1.0, 15.0], [2.0, 25.0]]


@pytest.mark.broad
@pytest.mark.parametrize("topology", ["many-to-many", "many-to-one", "one-to-many"])
@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize(("frozen", "merge", "chunk"), [(False, None, None), (True, "mul", 2)])
def test_its_backward_pass_agrees(topology: Any, below: bool, frozen: bool, merge: Any, chunk: int | None) -> None:
    """Gradients are those of differences, and a half of x is saved as x is, once."""
    layers = [*([SRU(2, bidirectional=True)] if below else []), SRU(2, bidirectional=True, frozen=frozen, merge=merge)]
    network = Network(input=4, layers=layers, steps=3, topology=topology)
    assert backward(network, chunk=chunk, states=True).agrees


def test_its_equations_and_programs_say_which_half(call: Call) -> None:
    """A program's cell of the backward direction is told that it reads the second."""
    told = call("explain", "-i", 4, "-l", "sru:2,bidirectional").out
    assert "h_t = r_t ∘ c_t + (1 − r_t) ∘ x_half" in told
    assert "x_half: the first 2 numbers of x_t in the forward direction, the last 2 in the backward one." in told
    assert "x_half" not in call("explain", "-i", 2, "-l", "sru:2").out
    assert "h_t = r_t ∘ c_t + (1 − r_t) ∘ s_t" in call("explain", "-i", 2, "-l", "sru:2,bidirectional").out
    for target in ("pytorch", "keras", "flax-linen", "flax-nnx"):
        program = call("export", "-i", 4, "-l", "sru:2,bidirectional", "--to", target).out
        assert "h = r * c + (1 - r) * x_half" in program
        assert program.count("second=True") == 1
        assert "64 parameters" in program  # 2(3·2·4 + 4·2)
        program = call("export", "-i", 2, "-l", "sru:2,bidirectional", "--to", target).out
        assert "48 parameters" in program  # 2(4·2·2 + 4·2)
        assert "W_xs" in program
        assert "W_xs" not in call("export", "-i", 2, "-l", "sru:2", "--to", target).out


def halved(of: Callable[[Any, Any, Any], Any]) -> type[Cell]:
    """Return the class of a cell whose step adds half of something to its gate."""

    class Own(Cell):
        kind = "own"

        def gates(self, inputs: int) -> tuple[Gate, ...]:
            return (Gate("n", "tanh", (Product("x"), Product("h")), "candidate", "the new state"),)

        def step(self, ops: Any, x: Any, state: Any) -> Any:
            (h,) = state
            h = ops.plus(ops.gate("n", x=x, h=h), of(ops, x, h))
            return h, (h,)

    return Own


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Return what makes `own` the kind of such a cell."""
    return lambda of: monkeypatch.setitem(KINDS, "own", halved(of))


def test_half_of_what_has_no_half_is_refused(call: Call, own: Callable[[Any], None]) -> None:
    """Of an x that is not as wide as both directions, or of anything else; one direction has all of an x of h."""
    own(lambda ops, x, h: ops.half(x))
    wrong = "own: the step takes half of what is not x, or of an x that is not as wide as both directions"
    assert call("-i", 6, "-l", "own:3,bidirectional").code == 0
    assert call("-i", 3, "-l", "own:3").code == 0
    for flags in (["-i", 6], ["-i", 6, "-l", "own:3,bidirectional,merge=sum"]):
        assert call("count", *flags, "-l", "own:2,bidirectional") == (2, "", f"rnncalc: {wrong}\n")
    narrow = "own: what stands for a whole input has the width m, and h is declared"
    assert call("-i", 4, "-l", "own:3") == (2, "", f"rnncalc: {narrow}\n")
    own(lambda ops, x, h: ops.half(h))
    assert call("-i", 6, "-l", "own:3,bidirectional") == (2, "", f"rnncalc: {wrong}\n")
