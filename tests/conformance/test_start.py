"""A start, and feedback, against PyTorch: its own modules, called with h_0 and c_0, and one step at a time."""

from typing import Any

import numpy as np
import pytest
import torch
from conformance.drawing import numbers
from conformance.programs import case_of
from conformance.test_around import HOLDS, compare_gradients
from conformance.test_export_keras import _quick  # noqa: F401  a fixture for the whole module
from torch import nn

from rnncalc import GRU, LSTM, MGU, RNN, Dense, MinGRU, Network, Output, Part
from rnncalc.forward.arrays import Floats, PassData
from rnncalc.forward.network_pass import Pass
from rnncalc.programs import spelling
from rnncalc.programs.program import program_of
from rnncalc.questions.run import run

pytestmark = pytest.mark.conformance

KINDS: dict[str, tuple[Any, Any]] = {"rnn": (RNN, nn.RNN), "gru": (GRU, nn.GRU), "lstm": (LSTM, nn.LSTM)}
M, H, T = 4, 3, 6


def built(of: Any, inputs: int, weights: dict[str, Any], **options: Any) -> Any:
    """Return a module of PyTorch with these weights."""
    module = of(inputs, H, **options).double()
    module.load_state_dict({name: torch.tensor(array, dtype=torch.float64) for name, array in weights.items()})
    return module


def tensor(numbers: Any) -> Any:
    return torch.tensor(np.asarray(numbers), dtype=torch.float64)


@pytest.mark.parametrize("both", [False, True], ids=["one way", "both ways"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_start_is_the_h_0_and_c_0_of_pytorch(kind: str, both: bool) -> None:
    """A row a direction where there are two, as PyTorch has them; a projected LSTM starts from a narrower h."""
    ours, theirs = KINDS[kind]
    for projection in (None, 2) if kind == "lstm" else (None,):
        options = {"projection": projection} if projection else {}
        layer = ours(H, bidirectional=both, **options)
        net = Network(input=M, layers=(layer,), topology="many-to-many", steps=T, convention="pytorch")
        weights, inputs = numbers(net, 1)
        widths = {"h": projection or H, **({"c": H} if kind == "lstm" else {})}
        drawn = np.random.default_rng(2)
        start = {letter: drawn.normal(size=(1 + both, width)) for letter, width in widths.items()}
        given = {letter: rows if both else rows[0] for letter, rows in start.items()}
        done = run(net, weights=weights, inputs=inputs, start={f"{kind}_1": given})
        module = built(theirs, M, weights[f"{kind}_1"], bidirectional=both, **({"proj_size": 2} if projection else {}))
        state = tuple(map(tensor, start.values()))
        with torch.no_grad():
            expected, _ = module(tensor(inputs), state if kind == "lstm" else state[0])
        np.testing.assert_allclose(done.outputs, expected.numpy(), rtol=1e-9, atol=1e-9)


V = 7


@pytest.mark.parametrize("both", [False, True], ids=["one way", "both ways"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_initial_state_is_a_linear_module_before_the_recurrent_one(kind: str, both: bool) -> None:
    """One for each state, of both directions; each direction takes its half."""
    ours, theirs = KINDS[kind]
    layer = ours(H, bidirectional=both, initial_state=V)
    net = Network(input=M, layers=(layer,), topology="many-to-many", steps=T, convention="pytorch")
    weights = numbers(net, 1)[0]
    inputs = np.random.default_rng(2).normal(size=(T, M)).tolist()
    seen: list[list[float]] = []

    class Recording(Floats):
        def constant(self, numbers: list[float]) -> list[float]:
            seen.append(numbers)
            return numbers

    *_, done = Pass(net, lambda _, meter: Recording(meter), weights=weights, inputs={None: inputs}).run()
    (vector,) = [each for each in seen if len(each) == V]
    states = []
    for letter in layer.states:
        linear = nn.Linear(V, (1 + both) * H).double()
        arrays = weights[f"{kind}_1_{letter}_0"]
        linear.load_state_dict({name: tensor(array) for name, array in arrays.items()})
        states.append(linear(tensor(vector)).reshape(1 + both, H))
    module = built(theirs, M, weights[f"{kind}_1"], bidirectional=both)
    with torch.no_grad():
        expected, _ = module(tensor(inputs), tuple(states) if kind == "lstm" else states[0])
    np.testing.assert_allclose(done.output, expected.numpy(), rtol=1e-9, atol=1e-9)


BOTH: dict[str, Any] = {"bidirectional": True}
NETWORKS: list[dict[str, Any]] = [
    {"layers": [LSTM(H, initial_state=V)], "topology": "many-to-many"},
    {"layers": [GRU(H, **BOTH, initial_state=V), Dense(3), LSTM(H, **BOTH, merge="sum", initial_state=2)]},
    {"layers": [RNN(H, initial_state=V, extra_inputs=2, repeat=2, frozen=True)], "topology": "one-to-many"},
    {"layers": [LSTM(H, initial_state=V)], "topology": "one-to-one", "steps": 1},
    {"layers": [GRU(H, initial_state=M), LSTM(H, initial_state=V)], "topology": "one-to-many", "feedback": True},
    {
        "encoder": Part(M, (GRU(6, **BOTH), LSTM(4), LSTM(2, **BOTH)), steps=3),
        "decoder": Part(5, (LSTM(4, initial_state=12), LSTM(4), GRU(2, **BOTH, initial_state=4)), Output(M), 2),
    },
]
"""Vectors that start layers of one and two directions, and bridges from an encoder to a decoder of other kinds."""

OWN_CELLS: dict[str, Any] = {"layers": [MGU(H, **BOTH, initial_state=V), MinGRU(H, initial_state=2)]}


def network(given: dict[str, Any]) -> Network:
    return Network(**given if "encoder" in given else {"input": M, "output": M, "steps": 3} | given)


@pytest.mark.parametrize("given", [*NETWORKS, OWN_CELLS])
@pytest.mark.parametrize("target", HOLDS)
def test_a_program_makes_its_initial_states(target: str, given: dict[str, Any]) -> None:
    """In the framework's own modules, and in those that are written from a cell's equations."""
    net = network(given)
    HOLDS[target](case_of(program_of(net, target, stacks=spelling(target).stacks), net, seed=1))


@pytest.mark.parametrize("given", NETWORKS)
def test_gradients_of_an_initial_state_are_those_of_autograd(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every weight, the dense layers' too; a vector from outside depends here on its width alone."""
    monkeypatch.setattr(PassData, "elsewhere", lambda _, count: vector(count))
    net = network(given).replace(convention="pytorch")
    case = case_of(program_of(net, "pytorch", stacks=True), net, seed=1)
    drawn = {of: np.resize(vector(array.shape[-1]), array.shape) for of, array in case.extras.items()}
    compare_gradients(case._replace(extras=drawn), net)


def vector(count: int) -> list[float]:
    return np.random.default_rng(count).uniform(-1, 1, count).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("upper", KINDS)
@pytest.mark.parametrize("lower", KINDS)
def test_feedback_is_a_loop_over_single_steps(lower: str, upper: str) -> None:
    """Two recurrent layers and an output, each from a start, called step by step; each output is the next input."""
    layers = (KINDS[lower][0](H), KINDS[upper][0](H))
    net = Network(
        input=M, layers=layers, output=M, topology="one-to-many", steps=T, feedback=True, convention="pytorch"
    )
    weights, inputs = numbers(net, 3)
    names = [place.name for place in net.stack]
    drawn = np.random.default_rng(4)
    states, start = [], {}
    for name in names[:2]:
        letters = "hc" if name.startswith("lstm") else "h"
        vectors = {letter: drawn.normal(size=H) for letter in letters}
        start[name] = vectors
        states.append(tuple(tensor(vector[None]) for vector in vectors.values()))
    done = run(net, weights=weights, inputs=inputs[:1], start=start)
    assert done.agrees
    modules = [built(KINDS[lower][1], M, weights[names[0]]), built(KINDS[upper][1], H, weights[names[1]])]
    last = weights[names[2]]
    x = tensor(inputs[:1])
    for ours in done.outputs:
        with torch.no_grad():
            for number, module in enumerate(modules):
                x, state = module(x, states[number] if len(states[number]) > 1 else states[number][0])
                states[number] = state if isinstance(state, tuple) else (state,)
            x = x @ tensor(last["weight"]).T + tensor(last["bias"])
        np.testing.assert_allclose(ours, x[0].numpy(), rtol=1e-9, atol=1e-9)
