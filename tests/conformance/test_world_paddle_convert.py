"""Weights of PaddlePaddle as those of every other framework and back, in an environment of its own."""

import numpy as np
import pytest
from conformance.drawing import numbers
from conformance.test_world_paddle import by_paddle

from rnncalc import GRU, LSTM, RNN, Layer, Network, SpecError, convert, run
from rnncalc.conventions import CONVENTIONS

pytestmark = [pytest.mark.world, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("layer", [RNN(3), GRU(4, reset_after=True), LSTM(3, bidirectional=True)])
@pytest.mark.parametrize("name", [name for name in CONVENTIONS if name != "paddle"])
def test_both_ways_give_the_same_outputs(name: str, layer: Layer) -> None:
    """What PaddlePaddle computes is what the passes of the others do, which are held to those themselves."""
    for one, other in ((name, "paddle"), ("paddle", name)):
        try:
            network = Network(input=2, layers=[layer], steps=4, topology="many-to-many", convention=one)
            weights, inputs = numbers(network, 0)
            zeros = {
                (each.placed.name, part.tensor.name)
                for each in convert(network, other).conversions
                for part in each.zeros
            }
        except SpecError:
            continue
        for place, tensor in zeros:
            weights[place][tensor] = np.zeros_like(weights[place][tensor]).tolist()
        done = convert(network, other, weights=weights)
        assert done.arrays
        x = np.array(inputs)
        made = [(done.source, weights), (done.target, done.arrays)]
        outputs = [
            by_paddle(net.stack[0].layer, 2).run(arrays[net.stack[0].name], x)
            if net.convention == "paddle"
            else run(net, weights=arrays, inputs=inputs).outputs
            for net, arrays in made
        ]
        np.testing.assert_allclose(*outputs, rtol=1e-5, atol=1e-5, err_msg=f"{one} {other} {layer}")
