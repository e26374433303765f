"""Each cell computes what its paper says: its outputs are compared with steps written out here, for one unit."""

from collections.abc import Callable
from math import exp, sin, tanh
from random import Random
from statistics import NormalDist
from typing import Any

import pytest
from cells import CELLS, OPTIONS

from rnncalc import LSTM, Cell, Network, run
from rnncalc.forward.arrays import filled
from rnncalc.layers import kind


def sigmoid(number: float) -> float:
    return 1 / (1 + exp(-number))


ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "tanh": tanh,
    "sigmoid": sigmoid,
    "relu": lambda number: max(0.0, number),
    "gelu": lambda number: number * NormalDist().cdf(number),
    "linear": lambda number: number,
    "hard_sigmoid": lambda number: max(0.0, min(1.0, number / 6 + 1 / 2)),
    "hard_sigmoid_0.2": lambda number: max(0.0, min(1.0, number / 5 + 1 / 2)),
}


class Unit:
    """A layer of one unit: its weights by the textbook's names, what it reads at a step, and its states before it."""

    def __init__(self, layer: Any, arrays: dict[str, Any]) -> None:
        self.layer = layer
        self.arrays = arrays
        self.read: set[str] = set()
        self.x: list[float] = []
        self.h, self.c = self["h_0"][0], self["c_0"][0]

    def __getitem__(self, name: str) -> list[float]:
        self.read.add(name)
        numbers = self.arrays.get(name, [0.0])
        return numbers[0] if isinstance(numbers[0], list) else numbers

    def sum(self, gate: str, **states: float) -> float:
        """Return the products of a gate with x and these states, and its bias."""
        return self[f"b_{gate}"][0] + self.product(gate, "x", self.x) + self.past(gate, **states)

    def past(self, gate: str, **states: float) -> float:
        return sum(self.product(gate, letter, [state]) for letter, state in states.items())

    def product(self, gate: str, of: str, values: list[float]) -> float:
        if f"A_{of}{gate}" in self.arrays:  # of rank 1
            return self[f"A_{of}{gate}"][0] * self[f"B_{of}{gate}"][0] * values[0]
        name = next(name for name in (f"W_{of}{gate}", f"w_{of}{gate}", f"W_{of}") if name in self.arrays)
        return sum(weight * number for weight, number in zip(self[name], values, strict=True))

    def option(self, name: str) -> Any:
        """Return the value of an option, or what it means if it is left open."""
        value = self.layer.values().get(name)
        return Cell.usual[name] if value is None else value

    def activate(self, number: float) -> float:
        return ACTIVATIONS[self.option("activation")](number)

    def gate(self, letter: str, **states: float) -> float:
        """Return a gate: the sum of its products through its activation."""
        return ACTIVATIONS[self.option("recurrent_activation")](self.sum(letter, **states))


def rnn(u: Unit) -> None:
    u.h = u.activate(u.sum("h", h=u.h))


def gru(u: Unit) -> None:
    z = u.gate("z", h=u.h)
    r = u.gate("r", h=u.h) if u.layer.reset_gate else 1.0
    n = u.activate(u.sum("n") + r * u.past("n", h=u.h) if u.layer.reset_after else u.sum("n", h=r * u.h))
    u.h = z * u.h + (1 - z) * n if u.option("update_gate") == "keeps" else z * n + (1 - z) * u.h


def lstm(u: Unit) -> None:
    def gate(letter: str) -> float:
        return u.gate(letter, h=u.h, c=u.c) if u.layer.peepholes else u.gate(letter, h=u.h)

    f = gate("f")
    u.c = f * u.c + (1 - f if u.layer.coupled else gate("i")) * u.activate(u.sum("g", h=u.h))
    u.h = (gate("o") if u.layer.output_gate else 1.0) * u.activate(u.c)


def mgu(u: Unit) -> None:
    f = u.gate("f", h=u.h)
    u.h = (1 - f) * u.h + f * u.activate(u.sum("n", h=f * u.h))


def mingru(u: Unit) -> None:
    z = sigmoid(u.sum("z"))
    u.h = (1 - z) * u.h + z * u.activate(u.sum("n"))


def minlstm(u: Unit) -> None:
    f, i = sigmoid(u.sum("f")), sigmoid(u.sum("i"))
    u.h = (f * u.h + i * u.activate(u.sum("n"))) / (f + i)


def sru(u: Unit) -> None:
    f, r = sigmoid(u.sum("f", c=u.c)), sigmoid(u.sum("r", c=u.c))
    u.c = f * u.c + (1 - f) * u.sum("n")
    u.h = r * u.c + (1 - r) * u.sum("s")


def fastgrnn(u: Unit) -> None:
    z, n = sigmoid(u.sum("z", h=u.h)), u.activate(u.sum("n", h=u.h))
    u.h = (sigmoid(u["zeta"][0]) * (1 - z) + sigmoid(u["nu"][0])) * n + z * u.h


STEPS: dict[str, Callable[[Unit], None]] = {
    step.__name__: step for step in (rnn, gru, lstm, mgu, mingru, minlstm, sru, fastgrnn)
}

VECTORS = ("projection", "layer_norm", "recurrent_blocks")
"""Options that say nothing of one unit; tests/conformance compares them with frameworks."""


@pytest.mark.broad
@pytest.mark.parametrize("name", CELLS)
def test_a_cell_computes_the_step_of_its_paper(name: str) -> None:
    """With each option alone, and with two; a convolution is worked out in test_conv_lstm.py."""
    of: Any = kind(name)
    values = [{option: each} for option in of.fields if option not in VECTORS for each in OPTIONS.get(option, ())]
    for options in ({}, *(one | other for one in values for other in values)):
        layer = of(1, **options)
        if any(layer.option_problems()):
            continue
        network = Network(input=2, layers=[layer], steps=3, topology="many-to-many")
        number = Random(4).random
        arrays: dict[str, Any] = {tensor.name: filled(tensor, 1.5, number) for tensor in network.stack[0].tensors}
        inputs = [[2 * number() - 1, 2 * number() - 1] for _ in range(3)]
        (ran,) = run(network, weights={f"{name}_1": arrays}, inputs={None: inputs}).layers
        unit, outputs = Unit(layer, arrays), []
        for unit.x in inputs:
            STEPS[name](unit)
            outputs.append(unit.h)
        assert unit.read >= {*arrays}
        assert [vector[0] for vector in ran.output] == pytest.approx(outputs, abs=1e-12), layer


def test_a_normalised_lstm_is_that_of_sketch_rnn() -> None:
    """Outputs seen in magenta 2.1.4: the LayerNormLSTMCell(2) with weights sin 1, sin 2 and so on reads 1, -2."""
    weights: dict[str, Any] = {"gamma_c": sines(41, 2), "b_c": sines(43, 2)}
    for place, gate in enumerate("igfo"):
        column, past = sines(1 + 2 * place, 2), [sines(9 + 8 * row + 2 * place, 2) for row in range(2)]
        bias = [number + (gate == "f") for number in sines(33 + 2 * place, 2)]  # the cell adds 1 when it runs
        weights |= {
            f"W_x{gate}": [[number] for number in column],
            f"W_h{gate}": [list(row) for row in zip(*past, strict=True)],
        }
        weights |= {f"gamma_{gate}": sines(25 + 2 * place, 2), f"b_{gate}": bias}
    network = Network(input=1, layers=[LSTM(2, layer_norm=True)], steps=2, topology="many-to-many")
    seen = [pytest.approx([-0.6027931, 0.5733711], abs=1e-6), pytest.approx([-0.4886079, 0.4096999], abs=1e-6)]
    assert run(network, weights={"lstm_1": weights}, inputs=[[1.0], [-2.0]]).outputs == seen


def sines(first: int, count: int) -> list[float]:
    return [sin(number) for number in range(first, first + count)]
