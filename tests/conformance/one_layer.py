"""One layer at a time in a package: the names and shapes of its arrays, its outputs, and what it reads."""

from collections.abc import Callable, Iterator, Mapping
from math import prod
from random import Random
from typing import Any, NamedTuple

import numpy as np
from conformance.drawing import CELLS, Shapes, kinds_of, numbers, options_of, values

from rnncalc import Embedding, Layer, LayerNorm, Network, Output
from rnncalc.conventions import convention as row
from rnncalc.questions.run import run

NUMBER = 200
"""How many random layers each package is held to."""


class Built(NamedTuple):
    """A layer in a package: the shapes of its arrays by rnncalc's names, and what runs it on a sequence."""

    arrays: Shapes
    run: Callable[[Mapping[str, Any], Any], Any]


Build = Callable[[Layer, int], Built]
"""What builds a layer that reads a width."""


def drawn(convention: str, *without: str) -> Iterator[Network]:
    """Yield networks of one random cell each, with the options that the convention can express, but for some."""
    random = Random(convention)
    sizes = [(random.randint(1, 5), random.randint(2, 5)) for _ in range(4)]  # JAX compiles each anew
    for _ in range(NUMBER):
        kind = random.choice(kinds_of(convention))
        inputs, units = random.choice(sizes)
        options: dict[str, Any] = {}
        for option in options_of(kind):
            can = values(kind, option, convention)
            if option in without or (option == "merge" and not options["bidirectional"]):
                continue
            options[option] = random.choice(can if option != "projection" or len(can) < 2 else [None, units - 1])
        yield of(convention, CELLS[kind](units=units, **options), inputs=inputs)


def of(convention: str, *layers: Layer, inputs: int = 3, output: Output | None = None) -> Network:
    """Return a network that outputs at each of four steps."""
    topology: Any = "many-to-many"
    return Network(input=inputs, layers=layers, output=output, steps=4, topology=topology, convention=convention)


def hold(network: Network, build: Build, within: float, seed: int = 0) -> None:
    """Assert that each layer has the package's arrays, and outputs what the package does."""
    weights, flow = numbers(network, seed)
    done = run(network, weights=weights, inputs={None: flow})
    assert done.agrees
    flow = np.asarray(flow)
    for place, ran in zip(network.stack, done.layers, strict=True):
        built = build(place.layer, place.inputs)
        assert {tensor.name: tensor.shape for tensor in place.tensors} == built.arrays, place
        assert place.params == sum(map(prod, built.arrays.values()))
        flow = built.run(weights[place.name], flow)
        np.testing.assert_allclose(ran.output, flow, rtol=within, atol=within, err_msg=str(place))


def hold_layers(convention: str, build: Build, within: float, *without: str) -> None:
    """Assert it of random cells, and of two of each kind behind an embedding, with what can be behind them."""
    for seed, network in enumerate(drawn(convention, *without)):
        hold(network, build, within, seed)
    for kind in kinds_of(convention):
        cell = CELLS[kind](units=3)
        more = (LayerNorm(),) if "layer_norm" in row(convention).transforms else ()
        hold(of(convention, Embedding(4), cell, cell, *more, inputs=7, output=Output(2)), build, within)


def hold_read(convention: str, build: Build) -> None:
    """Assert that each number of the arrays of each kind of cell changes what the package outputs."""
    for kind in kinds_of(convention):
        (place,) = of(convention, CELLS[kind](units=2), inputs=2).stack
        built, random = build(place.layer, 2), np.random.default_rng(0)
        weights = {name: random.uniform(0.1, 0.5, shape) for name, shape in built.arrays.items()}
        flow = random.uniform(0.1, 1, (3, 2))
        outputs = built.run(weights, flow)
        for name, array in weights.items():
            for index in np.ndindex(array.shape):
                moved = array.copy()
                moved[index] += 0.1
                assert abs(built.run({**weights, name: moved}, flow) - outputs).max() > 1e-5, (kind, name, index)
