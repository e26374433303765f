"""The values and gradients that exercises ask for are those of PyTorch, on the numbers that they draw."""

import json
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from conformance import with_torch
from conformance.drawing import turn_of

from rnncalc import GRU, LSTM, RNN, Network, Output, exercise
from rnncalc.reports.exercise import of_exercises
from rnncalc.spec import parse, parse_data

pytestmark = pytest.mark.conformance

BLOCKS = {"gru": "rzn", "lstm": "ifgo", "rnn": "h"}


def drawn(random: Random) -> Network:
    """Return one or two recurrent layers, with or without an output."""
    layers = [random.choice((RNN, GRU, LSTM))(random.randint(1, 2)) for _ in range(random.randint(1, 2))]
    outputs = (None, 1, 2, Output(2, activation="softmax"))
    topology: Any = random.choice(("many-to-one", "many-to-many"))
    return Network(
        input=random.randint(1, 2),
        layers=tuple(layers),
        output=random.choice(outputs),
        steps=random.randint(1, 4),
        topology=topology,
        convention="pytorch",
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_answers_are_those_of_pytorch(seed: int) -> None:
    """The last output, the loss, and the gradients of the recurrent layers' weights, from the JSON of the exercise."""
    network = drawn(Random(seed))
    for ask in ("values", "gradients"):
        compare(network, ask, seed)


def compare(network: Network, ask: str, seed: int) -> None:
    (data,) = of_exercises(exercise(network, ask=ask, seed=seed)).data()
    spec = parse(json.dumps(data["spec"]).encode(), "exercise.json")
    numbers: Any = parse_data(spec)
    made = {place.name: with_torch.built(place, numbers.weights[place.name]) for place in spec.network.stack}
    flow = torch.tensor(np.asarray(numbers.inputs[None]))
    for place in spec.network.stack:
        flow = with_torch.leaving(place.layer, made[place.name], flow, final=place is turn_of(spec.network))
    answers = dict(zip(data["values"], data["right_answer"], strict=True))
    if ask == "values":
        last = np.ravel(flow.detach().numpy())[-spec.network.stack[-1].outputs :]
        np.testing.assert_allclose(np.ravel([*answers.values()][-1]), last, rtol=1e-9, atol=1e-12)
        return
    targets = numbers.targets
    if data["loss"] == "cross_entropy":
        classes = torch.tensor([targets] if isinstance(targets, int) else targets)
        loss = torch.nn.functional.nll_loss(flow.log().reshape(len(classes), -1), classes, reduction="sum")
    else:
        loss = ((flow.reshape(-1) - torch.tensor(targets, dtype=torch.float64).reshape(-1)) ** 2).sum() / 2
    loss.backward()
    compared = 0
    for name, answer in answers.items():
        layer, _, value = name.rpartition(".")
        if value == "L":
            np.testing.assert_allclose(answer, loss.item(), rtol=1e-9)
            continue
        letters = value.removeprefix("∂L/∂")
        place = next(each for each in spec.network.stack if layer in ("", each.name) and each.layer.kind in BLOCKS)
        if not layer:
            place = [each for each in spec.network.stack if each.layer.kind in BLOCKS][-1]
        kind = {"W": "weight", "b": "bias"}[letters[0]]
        side = {"x": "ih", "h": "hh"}[letters[2]]
        block = BLOCKS[place.layer.kind].index(letters[3])
        theirs = made[place.name].get_parameter(f"{kind}_{side}_l0").grad.numpy()
        rows = theirs[block * place.outputs : (block + 1) * place.outputs]
        np.testing.assert_allclose(np.reshape(answer, rows.shape), rows, rtol=1e-9, atol=1e-12)
        compared += 1
    assert compared
