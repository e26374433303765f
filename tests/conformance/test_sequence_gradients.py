"""The backward equations in letters of layers that read several steps, with numbers put in, are those of autograd."""

import re
from collections.abc import Mapping
from itertools import product
from math import sqrt
from typing import Any

import pytest
import torch
from conformance.test_gradient_equations import FUNCTIONS, IN_GRADIENTS, Steps, by_rule
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    Attention,
    Conv1D,
    DecoderAttention,
    Layer,
    MultiHeadAttention,
    Network,
    Output,
    Part,
    SpecError,
    Transformer,
)
from rnncalc.conventions import NOTATIONS
from rnncalc.layers.layer import Time, Transform
from rnncalc.questions.explain import explain_those
from rnncalc.step import equations as written
from rnncalc.step.equations import ROOT, STACKED, Application, Formula, LayerFormulas, Symbol
from rnncalc.step.gradients import OVER_TIME, gradient_equations

pytestmark = pytest.mark.conformance

Indices = Mapping[str, int]
"""The number of each letter: i of the head, t and s of the step."""


def random(*axes: int) -> Any:
    return (0.7 * torch.randn(axes, dtype=torch.float64)).requires_grad_()


class Sequence:
    """The values of a layer that reads a whole sequence, each number, vector and head by itself.

    queries: of a decoder's attention, else the steps of the sequence themselves.
    """

    def __init__(self, named: LayerFormulas, sizes: Mapping[str, int], x: list[Any], queries: list[Any]) -> None:
        self.named, self.nodes, self.repeats, self.sizes = named, named.trace.nodes, named.trace.repeats, sizes
        self.x, self.queries = x, queries
        self.known: dict[Any, Any] = {}

    @property
    def range(self) -> dict[str, int]:
        """How many numbers each letter has."""
        return {"t": len(self.queries), "s": len(self.x), "i": self.sizes.get("h", 1)}

    def outputs(self) -> list[Any]:
        """Return the output of each step, or the only one."""
        output = self.named.trace.output
        return [self.at(output, each) for each in self.every({"t"} & self.repeats[output])]

    def check(self, equations: Any) -> None:
        """Compare both sides of each equation, for every head and every step that its left side has letters for."""
        for left, right in equations:
            time = left.subscript.partition(",")[2] if left.letter == "delta" else left.time
            for at in self.every([each for each in time.split(",") if each]):
                torch.testing.assert_close(self.value(right, at), self.value(left, at), rtol=1e-8, atol=1e-8)

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
                return self.queries[at["t"]]
            case "weights":
                return random(*[self.sizes.get(axis, 1) for axis in node.axes])
            case "heads":
                return operand(0).chunk(self.range["i"])[at["i"]] + 0
            case "join":
                return torch.cat([operand(0), operand(1)])
            case "joined":
                return operand(0) + 0
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
        if formula.operation == STACKED:
            vectors = [self.value(each.operands[1], at) for each in operands[1:] if isinstance(each, Application)]
            return torch.mv(self.value(operands[0], at), torch.cat(vectors))
        if formula.operation == ROOT and isinstance(operands[0], Symbol):
            return torch.tensor(sqrt(self.sizes[operands[0].letter]), dtype=torch.float64)
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
        gradient, below = symbol.gradient or symbol.letter == "delta", symbol.subscript
        if symbol.letter == "W" and any(node.operation == "join" for node in self.nodes):  # a part of the joined one
            matrix = self.at(next(place for place, node in enumerate(self.nodes) if len(node.axes) == 2), at)
            first = self.sizes.get("q", self.sizes.get("m"))
            columns = {"": slice(None), "q": slice(first), "1": slice(first)}.get(below, slice(first, None))
            return numbers_of(matrix, gradient=gradient)[:, columns]
        if symbol.letter == "delta":
            letter, _, time = below.partition(",")
            named = next(place for place, each in self.named.names.items() if each.letter == letter)
            place = self.nodes[named].operands[0]
        else:
            time = symbol.time
            place = next(
                place
                for place, node in enumerate(self.nodes)
                if (node.operation not in ("input", "current") or node.letter not in ("", self.nodes[0].letter))
                and isinstance(each := self.named.formula(place), Symbol)
                and (each.letter, each.subscript) == (symbol.letter, below)
                and ("i" in each.time) == ("i" in time)
            )
        one = time in ("t", "s") and len(self.repeats[place]) == 1
        if one:  # x_t is one of the x_s, and q_s one of the q_t
            at = {**at, **dict.fromkeys(self.repeats[place], at[time])}
        if "s,t" in time:  # the first is the step of the output
            at = {**at, "t": at["s"], "s": at["t"]}
        whole = "s" in self.repeats[place] and not one and "s" not in time.split(",")
        every = [{**at, "s": each} for each in range(self.range["s"])] if whole else [at]
        values = [numbers_of(self.at(place, each), gradient=gradient) for each in every]
        return torch.cat(values) if whole else values[0]


def numbers_of(value: Any, *, gradient: bool) -> Any:
    """Return a value, or its gradient; 0 if nothing that the loss depends on reads it."""
    if not gradient:
        return value.detach()
    return torch.zeros_like(value) if value.grad is None else value.grad


class Nameless(Transform):
    """An attention whose `compute` gives no value a letter; a query is joined with each step."""

    kind = "nameless"
    number = ""
    time = Time.SEQUENCE

    def sizes(self, inputs: int) -> dict[str, int]:
        return {"m": inputs, "u": 2, "m+m": 2 * inputs}

    def output_width(self, inputs: int) -> int:
        return inputs

    @property
    def arrays(self) -> Any:
        return ("kernel", ("u", "m+m")), ("score", ("1", "u"))

    def compute(self, ops: Any, window: Any) -> Any:
        both = ops.join(ops.activate("tanh", window.current), window, "m+m")
        scores = ops.joined(ops.product("score", ops.activate("tanh", ops.product("kernel", both))))
        return ops.mix(ops.activate("softmax", scores), window)


heads = st.integers(1, 3)
whole: st.SearchStrategy[tuple[Layer, int]] = st.one_of(
    st.tuples(st.builds(Attention, st.integers(1, 4)) | st.builds(Nameless), st.integers(1, 4)),
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
                    activation=st.sampled_from(["relu", "gelu", "tanh"]),
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
    assert isinstance(derived.named, LayerFormulas)
    x = [random(width) for _ in range(steps)]
    done = Sequence(derived.named, derived.placed.sizes, x, x)
    sum(torch.dot(output, torch.randn_like(output)) for output in done.outputs()).backward()
    equations = gradient_equations(derived.named)
    done.check(equations)
    weights = {left.letter + left.subscript for left, _ in equations if not left.time and left.letter != "delta"}
    assert len(weights) >= sum(node.weights is not None for node in derived.named.trace.nodes)
    assert "x" in {left.letter for left, _ in equations}


@st.composite
def decoders(draw: st.DrawFn) -> Network:
    """Return an encoder-decoder with attention of any kind, whose decoder has one recurrent layer."""
    score = draw(st.sampled_from(["additive", "concat", "general", "dot", "heads"]))
    units, keys = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    keys = units if score == "dot" else keys
    options: dict[str, Any] = {"score": score} if score != "heads" else {"heads": draw(st.integers(1, 3))}
    if score == "heads":
        options["key_size"], options["value_size"] = draw(st.integers(1, 3)), draw(st.none() | st.integers(1, 3))
    elif score in ("additive", "concat"):
        options["units"] = draw(st.none() | st.integers(1, 3))
    if score not in ("general", "dot"):
        options["bias"] = draw(st.booleans())
    attention = DecoderAttention(
        query=draw(st.sampled_from(["before", "after"])),
        context=draw(st.sampled_from(["input", "output", "both"])),
        **options,
    )
    cell = draw(st.sampled_from([RNN, GRU, LSTM]))(units, initial_state=keys)
    notation = draw(st.sampled_from(NOTATIONS))
    try:
        return Network(
            encoder=Part(2, (GRU(keys),), steps=draw(st.integers(1, 3))),
            decoder=Part(draw(st.integers(1, 3)), (cell,), Output(2), draw(st.integers(1, 3)), attention),
            notation=notation,
            convention="pytorch" if notation == "pytorch" else "textbook",
        )
    except SpecError:  # PyTorch has no key_size
        reject()


@given(decoders(), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_equations_of_a_decoder_with_attention_are_true_of_autograd(network: Network, seed: int) -> None:
    """Of its attention, of the cell beside it, and of the output: what one calls above is what the others give it."""
    torch.manual_seed(seed)
    attention: Any = network.parts["decoder"].attention
    by_name = {each.placed.name: each for each in explain_those(network).layers}
    read, output_of = by_name["attention"], by_name["output"]
    (cell_of,) = [each for each in by_name.values() if each.gates and each.placed.part == "decoder"]
    assert isinstance(read.named, LayerFormulas)
    assert cell_of.named
    assert output_of.named
    before, (joins_input, joins_output) = attention.query == "before", attention.joins
    keys = [random(read.placed.sizes["k"]) for _ in range(network.parts["encoder"].steps or 0)]
    attends = Sequence(read.named, read.placed.sizes, keys, [])
    cell, output = Steps(cell_of.named, cell_of.placed.sizes), Steps(output_of.named, output_of.placed.sizes)
    contexts: list[Any] = [torch.zeros(read.placed.outputs, dtype=torch.float64)]

    def kept(value: Any) -> Any:
        value.retain_grad()
        return value

    def attend(query: Any) -> None:
        attends.queries.append(kept(query + 0))
        contexts.append(attends.outputs()[-1])

    for _ in range(network.parts["decoder"].steps or 0):
        if before:
            attend(cell.state[cell_of.asked])
        x = random(network.parts["decoder"].width)
        h = cell.take(kept(torch.cat([x, contexts[-1]])) if joins_input else x)
        if not before:
            attend(h)
        output.take(kept(torch.cat([h, contexts[-1]])) if joins_output else kept(h + 0))
    ys = [step[output.trace.output] for step in output.steps]
    output.above = {step: torch.randn(2, dtype=torch.float64) for step in range(len(ys))}
    sum(torch.dot(y, output.above[step]) for step, y in enumerate(ys)).backward()
    units, last = cell_of.placed.sizes["h"], len(ys)

    def of_context(done: Steps, step: int) -> Any:
        """Return the context's part of the gradient of a layer's input; 0 after the last step."""
        return done.steps[step][done.trace.x].grad[-width:] if step < last else 0.0

    width = len(contexts[0])
    for step, context in enumerate(contexts[1:]):
        parts = [of_context(cell, step + (not before))] * joins_input + [of_context(output, step)] * joins_output
        expected = sum(parts, torch.zeros(width, dtype=torch.float64))
        torch.testing.assert_close(numbers_of(context, gradient=True), expected)
    for step in range(-1, last):
        cell.above[step] = torch.zeros(units, dtype=torch.float64)
        if 0 <= step + before < last:
            cell.above[step] += numbers_of(attends.queries[step + before], gradient=True)
        if step >= 0:
            cell.above[step] += output.steps[step][output.trace.x].grad[:units]
    output.check(gradient_equations(output_of.named))
    cell.check(gradient_equations(cell_of.named, start=True, asked=cell_of.asked))
    attends.check(gradient_equations(read.named, start=True))


@pytest.fixture(autouse=True)
def _whole_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write every term of a sum, without dots."""
    monkeypatch.setattr(written, "MOST_TERMS", 12)


@given(st.data(), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_equations_of_convolutions_are_true_of_autograd(data: st.DataObject, seed: int) -> None:
    """Zeros before the first step and after the last; with a stride each remainder has its equation."""
    torch.manual_seed(seed)
    stride, groups = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    kernel = data.draw(st.integers(1, 12))
    width, steps = groups * data.draw(st.integers(1, 3)), data.draw(st.integers(kernel, 12))
    layer = Conv1D(
        groups * data.draw(st.integers(1, 3)),
        groups=groups,
        kernel=kernel,
        stride=stride,
        padding=data.draw(st.sampled_from(["valid", "same"])),
        activation=data.draw(st.sampled_from(["linear", "tanh", "relu", "gelu"])),
    )
    (derived,) = explain_those(Network(width, (layer,), steps=steps, topology="many-to-many")).layers
    assert isinstance(derived.named, LayerFormulas)
    x = {step: random(width) for step in range(1, steps + 1)}
    weights: dict[str, Any] = {}
    outputs: dict[tuple[str, int], Any] = {}

    def place(time: str, t: int) -> int:
        ((stride, shift),) = re.findall("^([0-9]*)t(.*)$", time)
        return int(stride or 1) * t + int(shift.replace("−", "-") or 0)

    def value(formula: Formula, t: int, i: int = 0) -> Any:
        if isinstance(formula, Application) and formula.operation == OVER_TIME:
            return sum(value(formula.operands[0], each, i) for each in every)
        if isinstance(formula, Application):
            operands = [value(each, t, i) for each in formula.operands]
            return {**FUNCTIONS, **IN_GRADIENTS}[formula.operation](*operands)
        in_group, _, time = (formula.subscript.partition(",")[2] or formula.time).rpartition(",")
        if formula.letter in ("W", "b"):
            axes = (layer.filters // groups, width // groups) if formula.letter == "W" else (layer.filters,)
            known, in_group = weights.setdefault(f"{formula.letter}{formula.subscript}{time}{i}", random(*axes)), ""
        elif formula.letter == "x":
            known = x.get(place(time, t), torch.zeros(width, dtype=torch.float64))
        else:
            key = (formula.letter, place(time, t))
            known = outputs.get(key, torch.zeros(layer.filters, dtype=torch.float64))
        if formula.gradient or formula.letter == "delta":
            known = torch.zeros_like(known) if known.grad is None else known.grad
        known = known if forward else known.detach()
        return known.chunk(groups)[i] if in_group else known

    forward, every = True, range(1, (derived.placed.output_shape[0] or 0) + 1)
    *made_in_groups, (_, output) = derived.equations
    formula: Any = output
    for t in every:
        for _, of_group in made_in_groups:
            outputs["a", t] = torch.cat([value(of_group, t, i) for i in range(groups)])
        inside = value(formula.operands[0] if layer.activation != "linear" else formula, t)
        outputs["delta", t] = inside
        outputs["y", t] = FUNCTIONS[layer.activation](inside)
    for each in outputs.values():
        each.retain_grad()
    sum(torch.dot(y, torch.randn_like(y)) for (letter, _), y in outputs.items() if letter == "y").backward()
    forward, seen = False, set()
    for left, right in gradient_equations(derived.named):
        in_group, _, time = (left.time or left.subscript.partition(",")[2]).rpartition(",")
        for t, i in product(range(-steps, 2 * steps) if "t" in time else [0], range(groups if in_group else 1)):
            if left.letter == "x" and place(time, t) not in x:
                continue
            seen |= {place(time, t)} if left.letter == "x" else set()
            torch.testing.assert_close(value(right, t, i), value(left, t, i), rtol=1e-8, atol=1e-8)
    window = derived.named.window
    reached = {place(window.at(apart).time, t) for apart in window.apart for t in every}
    assert seen >= reached & {*x}
