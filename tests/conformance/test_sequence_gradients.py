"""The backward equations in letters of layers that read several steps, with numbers put in, are those of autograd."""

import re
from collections.abc import Mapping
from itertools import product
from math import sqrt
from typing import Any

import pytest
import torch
from conformance.test_gradient_equations import FUNCTIONS, IN_GRADIENTS, by_rule
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncalc import Attention, Conv1D, Layer, MultiHeadAttention, Network, Transformer
from rnncalc.questions.explain import LayerFormulas, SequenceFormulas, explain_those
from rnncalc.step.equations import Application, Formula, Symbol
from rnncalc.step.gradients import OVER_TIME, gradient_equations

pytestmark = pytest.mark.conformance

Indices = Mapping[str, int]
"""The number of each letter: i of the head, t and s of the step."""


def random(*axes: int) -> Any:
    return (0.7 * torch.randn(axes, dtype=torch.float64)).requires_grad_()


class Sequence:
    """The values of a layer that reads a whole sequence, each number, vector and head by itself."""

    def __init__(self, named: SequenceFormulas, sizes: Mapping[str, int], steps: int) -> None:
        self.named, self.nodes, self.repeats, self.sizes = named, named.trace.nodes, named.trace.repeats, sizes
        self.range = {"t": steps, "s": steps, "i": sizes.get("h", 1)}
        self.x = [random(sizes["m"]) for _ in range(steps)]
        self.known: dict[Any, Any] = {}
        letters = ["t"] if "t" in self.repeats[named.trace.output] else []
        outputs = [self.at(named.trace.output, each) for each in self.every(letters)]
        sum(torch.dot(output, torch.randn_like(output)) for output in outputs).backward()

    def every(self, letters: Any) -> list[dict[str, int]]:
        """Return each choice of numbers for some letters."""
        return [
            dict(zip(letters, each, strict=True)) for each in product(*[range(self.range[each]) for each in letters])
        ]

    def at(self, place: int, at: Indices) -> Any:
        """Return a value; of what differs with s, that at one step s."""
        key = place, *(at[letter] for letter in sorted(self.repeats[place]))
        if key not in self.known:
            self.known[key] = value = self._made(place, at)
            if not value.is_leaf:
                value.retain_grad()
        return self.known[key]

    def _made(self, place: int, at: Indices) -> Any:
        node = self.nodes[place]

        def operand(number: int, **others: int) -> Any:
            return self.at(node.operands[number], {**at, **others})

        match node.operation:
            case "sequence":
                return self.x[at["s"]]
            case "input":
                return self.x[at["t"]]
            case "weights":
                return random(*[self.sizes.get(axis, 1) for axis in node.axes])
            case "heads":
                return operand(0).chunk(self.range["i"])[at["i"]] + 0
            case "concat":
                return torch.cat([operand(0, i=head) for head in range(self.range["i"])])
            case "current":
                return operand(0, s=at["t"]) + 0
            case "dot":
                return torch.dot(operand(0), operand(1))[None]
            case "over_root":
                return operand(0) / sqrt(self.sizes[node.axes[0]])
            case "softmax":
                return torch.softmax(torch.cat([operand(0, s=each) for each in range(self.range["s"])]), 0)[at["s"]][
                    None
                ]
            case "mix":
                return sum(operand(0, s=each) * operand(1, s=each) for each in range(self.range["s"]))
            case name:
                return FUNCTIONS[name](*[self.at(each, at) for each in node.operands])

    def value(self, formula: Formula, at: Indices) -> Any:
        """Return what a formula comes to; a vector over the steps s where its letter has no s."""
        if isinstance(formula, Symbol):
            return self._symbol(formula, at)
        operands = formula.operands
        if formula.operation == OVER_TIME:
            assert isinstance(operands[1], Symbol)
            letters = operands[1].subscript.split(",")
            return sum(self.value(operands[0], {**at, **each}) for each in self.every(letters))
        if formula.operation in ("scale", "over"):
            function: Any = torch.mul if formula.operation == "scale" else torch.div
            return function(*[self.value(each, at) for each in operands])
        functions = {**FUNCTIONS, **IN_GRADIENTS}
        values = [self.value(each, at) for each in operands]
        return (
            functions[formula.operation](*values)
            if formula.operation in functions
            else by_rule(formula.operation, *values)
        )

    def _symbol(self, symbol: Symbol, at: Indices) -> Any:
        if symbol.letter.startswith("√"):
            return torch.tensor(sqrt(self.sizes[symbol.letter[1:]]), dtype=torch.float64)
        gradient, below = symbol.gradient or symbol.letter == "delta", symbol.subscript
        if symbol.letter == "delta":
            letter, _, time = below.partition(",")
            named = next(place for place, each in self.named.names.items() if each.letter == letter)
            place = self.nodes[named].operands[0]
        else:
            time = symbol.time
            place = next(
                place
                for place, node in enumerate(self.nodes)
                if (node.operation not in ("input", "current"))
                and isinstance(each := self.named.formula(place), Symbol)
                and (each.letter, each.subscript) == (symbol.letter, below)
                and ("i" in each.time) == ("i" in time)
            )
        if time in ("t", "s"):  # x_t is one of the x_s, and q_s one of the q_t
            at = {**at, **dict.fromkeys(self.repeats[place], at[time])}
        whole = "s" in self.repeats[place] and time not in ("t", "s") and "s" not in time.split(",")
        every = [{**at, "s": each} for each in range(self.range["s"])] if whole else [at]
        values = [self.at(place, each) for each in every]
        return (
            torch.cat([value.grad if gradient else value.detach() for value in values])
            if whole
            else (values[0].grad if gradient else values[0].detach())
        )


heads = st.integers(1, 3)
whole: st.SearchStrategy[tuple[Layer, int]] = st.one_of(
    st.tuples(st.builds(Attention, st.integers(1, 4)), st.integers(1, 4)),
    heads.flatmap(
        lambda number: st.tuples(
            st.one_of(
                st.builds(
                    MultiHeadAttention,
                    st.just(number),
                    key_size=st.none() | st.integers(1, 3),
                    bias=st.booleans(),
                ),
                st.builds(
                    Transformer,
                    st.just(number),
                    feed_forward=st.integers(1, 4),
                    norm=st.sampled_from(["first", "last"]),
                    activation=st.sampled_from(["relu", "tanh"]),
                    bias=st.booleans(),
                ),
            ),
            st.integers(1, 3).map(lambda each: each * number),
        )
    ),
)


@given(whole, st.integers(1, 4), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_equations_of_whole_sequences_are_true_of_autograd(drawn: tuple[Layer, int], steps: int, seed: int) -> None:
    """For every head and every step, or pair of steps, that the left side has letters for."""
    torch.manual_seed(seed)
    layer, width = drawn
    (derived,) = explain_those(Network(width, (layer,), steps=steps)).layers
    assert isinstance(derived.named, SequenceFormulas)
    done = Sequence(derived.named, derived.placed.sizes, steps)
    equations = gradient_equations(derived.named)
    for left, right in equations:
        time = left.subscript.partition(",")[2] if left.letter == "delta" else left.time
        for at in done.every([each for each in time.split(",") if each]):
            torch.testing.assert_close(done.value(right, at), done.value(left, at), rtol=1e-8, atol=1e-8)
    weights = {left.letter + left.subscript for left, _ in equations if not left.time and left.letter != "delta"}
    assert len(weights) >= sum(node.weights is not None for node in derived.named.trace.nodes)
    assert "x" in {left.letter for left, _ in equations}


@given(st.data(), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_equations_of_convolutions_are_true_of_autograd(data: st.DataObject, seed: int) -> None:
    """Zeros before the first step and after the last; with a stride each remainder has its equation."""
    torch.manual_seed(seed)
    kernel, stride = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    width, steps = data.draw(st.integers(1, 3)), data.draw(st.integers(4, 9))
    layer = Conv1D(
        data.draw(st.integers(1, 3)),
        kernel=kernel,
        stride=stride,
        padding=data.draw(st.sampled_from(["valid", "same"])),
        activation=data.draw(st.sampled_from(["linear", "tanh", "relu"])),
    )
    (derived,) = explain_those(Network(width, (layer,), steps=steps, topology="many-to-many")).layers
    assert isinstance(derived.named, LayerFormulas)
    x = {step: random(width) for step in range(1, steps + 1)}
    weights: dict[str, Any] = {}
    outputs: dict[tuple[str, int], Any] = {}

    def place(time: str, t: int) -> int:
        ((stride, shift),) = re.findall("^([0-9]*)t(.*)$", time)
        return int(stride or 1) * t + int(shift.replace("−", "-") or 0)

    def value(formula: Formula, t: int) -> Any:
        if isinstance(formula, Application) and formula.operation == OVER_TIME:
            return sum(value(formula.operands[0], each) for each in every)
        if isinstance(formula, Application):
            operands = [value(each, t) for each in formula.operands]
            return {**FUNCTIONS, **IN_GRADIENTS}[formula.operation](*operands)
        time = formula.subscript.partition(",")[2]
        if formula.letter in ("W", "b"):
            axes = (layer.filters, width) if formula.letter == "W" else (layer.filters,)
            known = weights.setdefault(formula.letter + formula.subscript, random(*axes))
        elif formula.letter == "x":
            known = x.get(place(formula.time, t), torch.zeros(width, dtype=torch.float64))
        else:
            key = ("delta" if formula.letter == "delta" else "y", place(time or formula.time, t))
            known = outputs.get(key, torch.zeros(layer.filters, dtype=torch.float64))
        if formula.gradient or formula.letter == "delta":
            return torch.zeros_like(known) if known.grad is None else known.grad
        return known if forward else known.detach()

    forward, every = True, range(1, (derived.placed.output_shape[0] or 0) + 1)
    ((_, written),) = derived.equations
    for t in every:
        inside = value(written.operands[0] if layer.activation != "linear" else written, t)  # type: ignore[union-attr]
        outputs["delta", t] = inside
        outputs["y", t] = FUNCTIONS[layer.activation](inside)
    for each in outputs.values():
        each.retain_grad()
    sum(torch.dot(y, torch.randn_like(y)) for (letter, _), y in outputs.items() if letter == "y").backward()
    forward, seen = False, set()
    for left, right in gradient_equations(derived.named):
        time = left.time or left.subscript.partition(",")[2]
        for t in range(-steps, 2 * steps) if "t" in time else [0]:
            if left.letter == "x" and place(time, t) not in x:
                continue
            seen |= {place(time, t)} if left.letter == "x" else set()
            torch.testing.assert_close(value(right, t), value(left, t), rtol=1e-8, atol=1e-8)
    reached = {place(each.time, t) for each in derived.named.window for t in every}
    assert seen >= reached & {*x}
