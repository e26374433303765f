"""The convolutional LSTM against Keras's ConvLSTM1D and ConvLSTM2D: weights, counts, outputs and gradients."""

from random import Random
from typing import Any

import jax
import keras
import numpy as np
import pytest
from conformance.programs import case_of
from conformance.test_export_keras import _quick, hold  # noqa: F401  a fixture for the whole module

from rnncalc import BatchNorm, ConvLSTM, Dense, Dropout, External, Flatten, LastStep, Layer, LayerNorm, Network, Part
from rnncalc.forward.arrays import filled
from rnncalc.forward.backward_pass import BackwardPass
from rnncalc.programs.program import program_of

pytestmark = pytest.mark.conformance

STEPS = 3


def drawn(number: int) -> tuple[ConvLSTM, int]:
    """Return a random layer and the channels that it reads."""
    draw = Random(number)
    space = tuple(draw.randint(1, 5) for _ in range(draw.randint(1, 2)))
    activation: Any = draw.choice(["tanh", "relu", "gelu", "sigmoid", "linear"])
    bias = draw.random() < 0.8
    layer = ConvLSTM(draw.randint(1, 3), kernel=draw.randint(1, 5), space=space, activation=activation, bias=bias)
    return layer, draw.randint(1, 3)


@pytest.mark.parametrize("number", range(8))
def test_it_is_that_of_keras(number: int) -> None:
    """Random spaces, kernels, channels, filters and activations; Keras convolves in 32 bits, whatever its type."""
    layer, channels = drawn(number)
    assert layer.space
    of = keras.layers.ConvLSTM2D if len(layer.space) == 2 else keras.layers.ConvLSTM1D
    words: dict[str, Any] = {"activation": layer.activation, "use_bias": layer.bias, "dtype": "float64"}
    built = of(layer.units, layer.kernel, padding="same", return_sequences=True, **words)
    net = Network(input=channels, layers=[layer], steps=STEPS, topology="many-to-many", convention="keras")
    (placed,) = net.stack
    shape = (1, STEPS, *layer.space, channels)
    built.build(shape)
    assert [(weight.name, tuple(weight.shape)) for weight in built.weights] == [
        (tensor.name, tensor.shape) for tensor in placed.tensors
    ]
    assert built.count_params() == net.params
    assert tuple(built.compute_output_shape(shape)) == (1, *placed.shape)
    weights = {tensor.name: filled(tensor, 1.0, Random(number).random) for tensor in placed.tensors}
    built.set_weights([np.array(weights[tensor.name]) for tensor in placed.tensors])
    inputs = np.random.default_rng(number).normal(size=shape)
    back = BackwardPass(net, {placed.name: weights}, inputs={None: inputs[0].reshape(STEPS, -1).tolist()})
    theirs = np.asarray(built(inputs))[0].reshape(STEPS, -1)
    np.testing.assert_allclose([each.numbers for each in back.outputs], theirs, atol=1e-5)
    (mine,) = back.backward([(each, [1.0] * len(each.numbers)) for each in back.outputs])

    def total(variables: Any) -> Any:
        outputs, _ = built.stateless_call(variables, [each.value for each in built.non_trainable_variables], inputs)
        return outputs.sum()

    gradients = jax.grad(total)([each.value for each in built.trainable_variables])
    for tensor, gradient in zip(placed.tensors, gradients, strict=True):
        np.testing.assert_allclose(mine.gradients[tensor.name], np.asarray(gradient), atol=1e-5)


GRID, LINE = ConvLSTM(2, space=(4, 3)), ConvLSTM(3, kernel=2, space=(5,), activation="relu", bias=False)
NETWORKS: list[tuple[list[Layer], dict[str, Any]]] = [
    ([GRID], {}),
    ([GRID, Flatten(), Dense(3)], {"output": 2}),
    ([LINE, LastStep(), Flatten(), Dense(3, activation="tanh")], {}),
    ([LINE, Dropout(0.5), External(7), LINE.replace(units=2, repeat=2, frozen=True)], {"topology": "many-to-many"}),
    ([GRID, External(7), External(5, outputs=4), Dense(2)], {"topology": "many-to-many"}),
    ([External(7), GRID], {"input": 24}),
    ([External(7), GRID, External(5, outputs=24), GRID], {"input": 24, "topology": "many-to-many"}),
    ([External(7), GRID, Flatten(), Dense(3)], {"input": 24, "topology": "one-to-one", "steps": 1}),
    ([External(7), GRID], {"input": 24, "topology": "one-to-many"}),
    ([GRID, External(5, outputs=24), GRID], {"topology": "one-to-many", "feedback": True}),
    ([GRID, BatchNorm(), Dropout(0.5), GRID, LayerNorm()], {"topology": "many-to-many", "convention": "keras"}),
    ([LINE, BatchNorm(scale=False), LastStep(), LayerNorm(bias=False), Flatten(), Dense(2)], {"convention": "keras"}),
    ([GRID], {"topology": "one-to-one", "steps": 1}),
    ([GRID, LINE.replace(space=(4, 3)), Flatten(), Dense(2)], {"topology": "one-to-one", "steps": 1}),
    ([LINE, GRID.replace(space=(5,), name="above")], {"topology": "one-to-many"}),
    ([GRID.replace(repeat=2)], {"topology": "one-to-many", "feedback": True}),
]


@pytest.mark.parametrize(("layers", "others"), NETWORKS)
def test_a_program_for_keras_is_the_network(layers: list[Layer], others: dict[str, Any]) -> None:
    """Its places are axes of what the program reads and outputs, until a layer joins them."""
    given: dict[str, Any] = {"input": 2, "steps": STEPS, **others}
    net = Network(layers=layers, **given)
    hold(case_of(program_of(net, "keras"), net, seed=1))


@pytest.mark.parametrize("before", [(), (External(7),)])
def test_a_program_of_two_halves(before: tuple[Layer, ...]) -> None:
    """The final states of the encoder, with their places, start the decoder's."""
    net = Network(
        encoder=Part(24 if before else 2, (*before, GRID, LINE.replace(space=(4, 3))), steps=3),
        decoder=Part(1, (GRID, LINE.replace(space=(4, 3))), steps=2),
    )
    hold(case_of(program_of(net, "keras"), net, seed=1))
