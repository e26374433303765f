"""Published cells and rnncalc's have the same number of parameters, and give the same numbers for the same weights."""

from math import prod
from typing import Any

import numpy as np
import pytest
from conformance.drawing import numbers
from conformance.frameworks import hold
from conformance.packages import PACKAGES, Options, Package, layers
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncalc import Cell, Network
from rnncalc.questions.run import run

pytestmark = pytest.mark.conformance

SIZES = [(3, 3), (1, 5), (6, 3), (4, 3)]
"""Inputs and units: equal, narrower, twice as wide, which the SRU's skip looks at, and wider."""

each = pytest.mark.parametrize("name", PACKAGES)

ONE_OPTION = [
    pytest.param(name, chosen, id=f"{name}({', '.join(f'{option}={value}' for option, value in chosen.items())})")
    for name, package in PACKAGES.items()
    for chosen in package.one_option_at_a_time()
]


def stacked(layer: Cell, inputs: int, copies: int = 2) -> Network:
    """Return a network of equal layers."""
    return Network(input=inputs, layers=(layer,) * copies, steps=5, topology="many-to-many")


def held(package: Package, network: Network) -> int:
    """Return how many parameters the package has in a network's layers."""
    return sum(prod(shape) for place in network.stack for shape in package.framework.tensors(place).values())


@pytest.mark.parametrize(("name", "chosen"), ONE_OPTION)
def test_every_option_of_every_cell(name: str, chosen: Options) -> None:
    """Two stacked layers, one value of one option at a time, one-way and bidirectional.

    As many parameters, but for a learned state, which no package counts; every h_t; and what a sequence comes to.
    """
    package = PACKAGES[name]
    for inputs, units in SIZES:
        layer = package.layer(units, **chosen)
        network = stacked(layer, inputs)
        states = 2 * units * layer.directions * len(layer.states) if chosen.get("learned_state") else 0
        assert network.params == held(package, network) + states
        hold(network, [package.framework] * 2, *numbers(network, seed=1))
    hold(network.replace(topology="many-to-one"), [package.framework] * 2, *numbers(network, seed=2))


@given(st.lists(layers(), min_size=1, max_size=3), st.integers(1, 4), st.integers(1, 4), st.data())
@settings(max_examples=100)
def test_any_stack(stack: list[tuple[Package, Cell]], inputs: int, steps: int, data: st.DataObject) -> None:
    """Cells of all packages on top of each other, over all their options together."""
    network = Network(
        input=inputs,
        layers=[layer for _, layer in stack],
        steps=steps,
        topology=data.draw(st.sampled_from(["many-to-many", "many-to-one"])),
    )
    hold(network, [package.framework for package, _ in stack], *numbers(network, data.draw(st.integers(0, 1000))))


def moved(array: Any, place: tuple[int, ...]) -> Any:
    """Return an array with one more in one place."""
    other = np.array(array)
    other[place] += 1.0
    return other.tolist()


@each
@pytest.mark.parametrize("inputs", [3, 4])
def test_every_number_matters(name: str, inputs: int) -> None:
    """The comparison can fail: any one weight, moved in the package alone, moves what comes out of it."""
    package = PACKAGES[name]
    network = stacked(package.layer(3, learned_state=True), inputs, copies=1)
    weights, x = numbers(network, seed=3)
    (place,), (ran,) = network.stack, run(network, weights=weights, inputs={None: x}).layers
    own = weights[place.name]
    for tensor in place.tensors:
        for index in np.ndindex(tensor.shape):
            other = own | {tensor.name: moved(own[tensor.name], index)}
            gives = package.framework.apply(place, other, np.asarray(x), final=False)
            assert not np.allclose(ran.output, gives, rtol=0, atol=1e-4), (tensor.name, index)
