"""The backward equations in letters, with numbers put in, are the gradients of PyTorch's autograd."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import pytest
import torch
from conformance.drawing import cells
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from rnncalc import ConvLSTM, Dense, Layer, LayerNorm, Network, SpecError
from rnncalc.conventions import NOTATIONS
from rnncalc.questions.explain import explain_those
from rnncalc.step.equations import STACKED, Equation, Formula, NamedValues, Symbol
from rnncalc.step.gradients import ABOVE, OVER_TIME, gradient_equations
from rnncalc.step.nodes import Node
from rnncalc.step.operations import EPSILON

pytestmark = pytest.mark.conformance


def norm(x: Any) -> Any:
    return (x - x.mean()) / (x.var(correction=0) + EPSILON).sqrt()


def convolve(kernel: Any, x: Any) -> Any:
    """A convolution along a line, on a vector of places, each with its channels."""
    channels = x.reshape(-1, kernel.shape[1]).T[None]
    return torch.nn.functional.conv1d(channels, kernel, padding="same")[0].T.reshape(-1)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "plus": lambda *terms: sum(terms[1:], terms[0]),
    "times": torch.mul,
    "over": torch.div,
    "complement": lambda x: 1 - x,
    "scale": torch.mul,
    "shift": torch.add,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "hard_sigmoid": lambda x: torch.clamp(x / 6 + 0.5, 0, 1),
    "hard_sigmoid_0.2": lambda x: torch.clamp(x / 5 + 0.5, 0, 1),
    "gelu": torch.nn.functional.gelu,
    "softmax": lambda x: torch.softmax(x, -1),
    "linear": lambda x: x + 0,
    "normalise": norm,
    "matrix": torch.mv,
    "convolve": convolve,
    "everywhere": lambda x, bias: (x.reshape(-1, len(bias)) + bias).reshape(-1),
}
"""What each operation computes."""

IN_GRADIENTS: dict[str, Callable[..., Any]] = {
    "negative": lambda x: -x,
    "positive": lambda x: (x > 0) * 1.0,
    "gelu_slope": lambda x: torch.autograd.functional.vjp(torch.nn.functional.gelu, x, torch.ones_like(x))[1],
    "hard_sigmoid_slope": lambda y: ((y > 0) & (y < 1)) / 6.0,  # of a result
    "hard_sigmoid_0.2_slope": lambda y: ((y > 0) & (y < 1)) / 5.0,
    "total": lambda x: x.sum()[None],
    "lowered": lambda x, number: x - number,
    "inner": lambda left, right: torch.dot(left, right)[None],
    "outer": torch.outer,
    "through": lambda matrix, vector: matrix.T @ vector,
    "join": lambda *parts: torch.cat(parts),
    STACKED: lambda *products: sum(products),  # the joined matrix itself is left out
}
"""What is in equations alone."""


def by_rule(name: str, *operands: Any) -> Any:
    """Return what is written as a rule of its own: the gradient of the first operand is that of a result."""

    def gradient(function: Callable[[Any], Any], at: Any, of_result: Any) -> Any:
        return torch.autograd.functional.vjp(function, at, of_result)[1]

    match name, [*operands]:
        case "norm′", [of_result, x]:
            return gradient(norm, x, of_result)
        case "half′", [of_result, width]:
            return torch.cat([of_result, torch.zeros(width - len(of_result), dtype=torch.float64)])
        case "everywhere′", [of_result, width]:
            return of_result.reshape(-1, width).sum(0)
        case "convolve′", [kernel, of_result]:
            zeros = torch.zeros(len(of_result) // len(kernel) * kernel.shape[1], dtype=torch.float64)
            return gradient(lambda x: convolve(kernel, x), zeros, of_result)
        case "convolve′", [kernel, of_result, x]:
            return gradient(lambda kernel: convolve(kernel, x), kernel, of_result)
    raise AssertionError(name)


class Steps:
    """The values of some steps of a layer as tensors, by their places.

    above: the gradient from outside the layer that its output has at each step, and its first state at step −1.
    """

    def __init__(self, named: NamedValues, sizes: Mapping[str, int]) -> None:
        self.named, self.trace, self.sizes = named, named.trace, sizes
        nodes = self.trace.nodes
        self.weights = {place: self._random(node) for place, node in enumerate(nodes) if node.weights}
        self.start = self.state = {letter: self._random(nodes[place]) for letter, place in self.trace.before.items()}
        self.steps: list[dict[int, Any]] = []
        self.above: dict[int, Any] = {}
        formulas = [named.formula(place) for place in range(len(nodes))]
        self.places = {
            (each.letter, each.subscript): place
            for place, each in reversed([*enumerate(formulas)])  # the first of two values with one name
            if isinstance(each, Symbol) and each.time != "t−1"
        }
        self.places = {(letter, ""): place for letter, place in self.trace.after.items()} | self.places
        for place, name in named.names.items():
            if nodes[place].operands:
                self.places.setdefault(("delta", name.letter), nodes[place].operands[0])

    @property
    def count(self) -> int:
        return len(self.steps)

    def take(self, x: Any = None) -> Any:
        """Take a step, and return its output; x: its input, by default random."""
        at = self.weights | {self.trace.before[letter]: value for letter, value in self.state.items()}
        if x is not None:
            at[self.trace.x] = x
        for place, node in enumerate(self.trace.nodes):
            if place not in at:
                at[place] = self._value(node, [at[operand] for operand in node.operands])
        self.steps.append(at)
        self.state = {letter: at[place] for letter, place in self.trace.after.items()}
        return at[self.trace.output]

    def check(self, equations: Sequence[Equation]) -> None:
        """Compare both sides of each equation, at every step of which it is one."""
        for left, right in equations:
            for step in range(self.count) if "t" in (left.time, left.subscript.partition(",")[2]) else [0]:
                torch.testing.assert_close(self.value(right, step), self.value(left, step), rtol=1e-8, atol=1e-8)

    def _random(self, node: Node) -> Any:
        axes = node.axes if node.weights else (node.width,)
        return (
            0.7 * torch.randn([self.sizes.get(letter, 1) for letter in axes or "1"], dtype=torch.float64)
        ).requires_grad_()

    def _value(self, node: Node, operands: list[Any]) -> Any:
        if node.operation == "input":
            return self._random(node)
        if node.operation == "half":  # of the direction that reads forward
            value = operands[0][: len(operands[0]) // 2] + 0
        else:
            value = FUNCTIONS[node.operation](*operands)
        value.retain_grad()
        return value

    def _symbol(self, symbol: Symbol, step: int) -> Any:
        """Return the numbers of a letter, or the gradient with respect to it, in the equations of a step."""
        if symbol.letter == ABOVE:
            return self.above[-1 if symbol.time == "0" else step]
        if symbol.letter in self.sizes and not (symbol.axes or symbol.subscript or symbol.gradient):
            return self.sizes[symbol.letter]
        if blocks := self.named.arrays.get(Symbol(symbol.letter, symbol.subscript)):
            gates = [[self._symbol(block.replace(gradient=True), step) for block in gate] for gate in blocks]
            return torch.cat([torch.cat(gate, -1) for gate in gates])
        below, _, time = symbol.subscript.partition(",")
        step = {"t": step, "t−1": step - 1, "t+1": step + 1, "0": -1, "1": 0}.get(time or symbol.time, step)
        if step < 0:
            value = self.start[symbol.letter]
        else:
            value = self.steps[min(step, self.count - 1)][
                self.places[("delta", below) if symbol.letter == "delta" else (symbol.letter, symbol.subscript)]
            ]
        if not symbol.gradient and symbol.letter != "delta":
            return value.detach()
        return torch.zeros_like(value) if step == self.count or value.grad is None else value.grad

    def value(self, formula: Formula, step: int = 0) -> Any:
        """Return what a formula comes to in the equations of a step."""
        if isinstance(formula, Symbol):
            return self._symbol(formula, step)
        if formula.operation == OVER_TIME:
            return sum(self.value(formula.operands[0], each) for each in range(self.count))
        operands = formula.operands[formula.operation == STACKED :]
        function = {**FUNCTIONS, **IN_GRADIENTS}.get(formula.operation) or partial(by_rule, formula.operation)
        return function(*[self.value(operand, step) for operand in operands])


@st.composite
def layers(draw: st.DrawFn) -> Layer:
    sizes = st.integers(1, 4)
    dense = st.builds(
        Dense, sizes, bias=st.booleans(), activation=st.sampled_from(["tanh", "relu", "gelu", "softmax", "linear"])
    )
    line = st.builds(ConvLSTM, st.integers(1, 3), space=st.integers(1, 4).map(lambda places: (places,)))
    drawn: Layer = draw(cells("textbook", 4) | cells("pytorch", 4) | dense | st.builds(LayerNorm) | line)
    return drawn


@given(layers(), st.sampled_from(["textbook", "pytorch"]), st.sampled_from(NOTATIONS), st.integers(0, 10**6), st.data())
@settings(max_examples=100, deadline=None)
def test_every_equation_is_true_of_the_gradients_of_autograd(
    layer: Layer, convention: str, notation: str, seed: int, data: st.DataObject
) -> None:
    """Of each value, each function's argument, the input, the first state and the weights, in every notation."""
    width, steps = prod(layer.grid) * data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    try:
        network = Network(
            width, (layer,), steps=steps, topology="many-to-many", notation=notation, convention=convention
        )
    except SpecError:  # the convention lacks the layer, or has another notation
        reject()
    (derived,) = explain_those(network).layers
    assert derived.named
    torch.manual_seed(seed)
    done = Steps(derived.named, derived.placed.sizes)
    outputs = [done.take() for _ in range(steps)]
    done.above = {step: torch.randn(len(output), dtype=torch.float64) for step, output in enumerate(outputs)}
    sum(torch.dot(output, done.above[step]) for step, output in enumerate(outputs)).backward()
    equations = gradient_equations(derived.named, start=True)
    done.check(equations)
    blocks = sum(len(gate) for array in derived.named.arrays.values() for gate in array) - len(derived.named.arrays)
    assert len(equations) + blocks > sum(node.weights is not None for node in derived.named.trace.nodes)
    assert "x" in {left.letter for left, _ in equations}
