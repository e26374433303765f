"""A trained number beside the gates does not depend on the step: what an activation makes of it is saved once."""

from typing import Any

import pytest
from verified import backward

from rnncalc import Cell, FastGRNN, Gate, Network, Product, training
from rnncalc.layers.cell import Weight

M, H = 2, 3
A_STEP = M + 4 * H  # x, h before, z, n and σ(ζ)(1 − z) + σ(ν)


@pytest.mark.parametrize("topology", ["many-to-many", "many-to-one", "one-to-many"])
@pytest.mark.parametrize(("steps", "chunk"), [(1, None), (2, None), (5, None), (9, None), (9, 4), (9, 1), (100, None)])
def test_a_fastgrnn_holds_both_numbers_once(topology: Any, steps: int, chunk: int | None) -> None:
    """K(m + 4h) + 2 for the steps of one backward pass, counted and seen.

    In many-to-one that is the last chunk alone, which may be shorter.
    """
    together = min(chunk or steps, steps)
    if topology == "many-to-one":
        together = steps % together or together
    network = Network(input=M, layers=[FastGRNN(H)], topology=topology, steps=steps)
    counted = training(network, chunk=chunk)
    assert counted.saved == together * A_STEP + 2
    if steps < 10:
        (layer,) = backward(network, chunk=chunk).layers
        assert layer.seen.saved_read == layer.declared.saved == counted.saved
        assert layer.agrees


@pytest.mark.broad
@pytest.mark.parametrize("topology", ["many-to-many", "many-to-one"])
@pytest.mark.parametrize("chunk", [None, 1, 2])
@pytest.mark.parametrize("frozen", [False, True])
def test_each_direction_and_each_layer_has_its_own(topology: Any, chunk: int | None, frozen: bool) -> None:
    """Seen as counted, also in chunks in which one direction ends and the other begins."""
    layers = [FastGRNN(H, bidirectional=True, merge="sum"), FastGRNN(H, bidirectional=True, frozen=frozen)]
    network = Network(input=M, layers=layers, topology=topology, steps=3)
    done = backward(network, chunk=chunk)
    assert done.agrees
    if chunk is None and topology == "many-to-many":  # what both directions read, x, is saved once
        assert done.layers[0].seen.saved_read == 3 * (M + 2 * 4 * H) + 2 * 2


class Bent(Cell):
    """A unit whose state is scaled twice by one number, bent by tanh: h = a(a n), a = tanh(α)."""

    kind = "bent"

    @property
    def weights(self) -> tuple[Weight, ...]:
        return (Weight("a", (), "scale", "tanh"),)

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return (Gate("n", "tanh", (Product("x"), Product("h")), "candidate", "the new state"),)

    def step(self, ops: Any, x: Any, state: Any) -> Any:
        (h,) = state
        h = ops.scale(ops.scalar("a"), ops.scale(ops.scalar("a"), ops.gate("n", x=x, h=h)))
        return h, (h,)


@pytest.mark.parametrize("chunk", [None, 2])
def test_a_number_that_a_step_uses_twice_is_held_once(chunk: int | None) -> None:
    """x, h before, n and a∘n at each step, and one number."""
    network = Network(input=M, layers=[Bent(H)], topology="many-to-many", steps=6)
    (layer,) = backward(network, chunk=chunk).layers
    assert layer.declared.saved == (chunk or 6) * (M + 3 * H) + 1
    assert layer.agrees
