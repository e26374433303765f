"""Every number of a backward pass worked by hand is that of PyTorch's autograd, by its name."""

from math import prod
from typing import Any

import numpy as np
import pytest
import torch
from conformance.drawing import cells, numbers
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from rnncalc import Dense, Embedding, Layer, Network, Output
from rnncalc.conventions import NOTATIONS
from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.errors import RefusedError
from rnncalc.forward.arrays import Matrix
from rnncalc.forward.backward_pass import BackwardPass
from rnncalc.forward.tape import TapeValue
from rnncalc.layers.cell import Cell
from rnncalc.questions import work as questions
from rnncalc.questions.work_backward import Variable, gradient_work

pytestmark = pytest.mark.conformance

FUNCTIONS: dict[str, Any] = {
    "plus": torch.add,
    "times": torch.mul,
    "complement": lambda x: 1 - x,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "gelu": torch.nn.functional.gelu,
    "softmax": lambda x: torch.softmax(x, 0),
    "linear": lambda x: x + 0,
    "matrix": torch.mv,
    "join": lambda left, right: torch.cat([left, right]),
    "mean": lambda left, right: (left + right) / 2,
    "row": lambda row: row + 0,
}
BLOCKS = {"gru": "rzn", "lstm": "ifgo", "rnn": "h"}


class Autograd:
    """The values of a pass as tensors, in the order in which they were computed; each use of weights is a leaf."""

    def __init__(self, values: list[TapeValue], outputs: list[TapeValue], target: Any) -> None:
        self.tensors: dict[int, Any] = {}
        self.uses: dict[tuple[Any, ...], list[Any]] = {}
        for value in values:
            if value.row:
                tensor = FUNCTIONS[value.row.name](*map(self._operand, value.operands))
                tensor.retain_grad()
                self.tensors[id(value)] = tensor
        out = torch.stack([self.tensors[id(value)] for value in outputs])
        if isinstance(target, list):
            loss = torch.nn.functional.nll_loss(out.log(), torch.tensor(target), reduction="sum")
        else:
            loss = out.sum() if target is None else ((out - target) ** 2).sum() / 2
        loss.backward()

    def _operand(self, value: TapeValue) -> Any:
        array = value.numbers.rows if isinstance(value.numbers, Matrix) else value.numbers
        tensor = torch.tensor(array, dtype=torch.float64, requires_grad=True)
        if value.weights is None:
            return self.tensors.setdefault(id(value), tensor)
        key = value.layer.name, value.weights.piece
        self.uses[key] = [*self.uses.pop(key, []), tensor]  # the weights that are used last are last
        return tensor


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Draw one or two recurrent layers, small enough to be written by hand."""
    sizes = st.integers(1, 2)
    stack: list[Layer] = draw(st.lists(cells("pytorch", 2), min_size=1, max_size=2))
    if draw(st.booleans()):
        stack.insert(0, Embedding(draw(sizes)))
    if draw(st.booleans()):
        stack.append(Dense(draw(sizes), activation=draw(st.sampled_from(["tanh", "relu", "gelu"]))))
    return Network(
        input=draw(st.integers(1, 3)),
        layers=tuple(stack),
        output=draw(st.none() | st.builds(Output, sizes, activation=st.sampled_from(["linear", "softmax"]))),
        steps=draw(st.integers(1, 3)),
        topology=draw(st.sampled_from(["many-to-many", "many-to-one"])),
        notation=draw(st.none() | st.sampled_from(NOTATIONS)),
        convention="pytorch",
    )


@given(data=st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_number_is_that_of_autograd(data: st.DataObject, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradients of each value, of each function's argument, and of each use of weights."""
    network = data.draw(networks())
    target: Any = data.draw(st.none() | st.floats(-1, 1))
    shape: Any = network.stack[-1].output_shape
    if network.output and shape[-1] > 1 and data.draw(st.booleans()):
        target = data.draw(
            st.lists(st.integers(0, shape[-1] - 1), min_size=prod(shape[:-1]), max_size=prod(shape[:-1]))
        )
    taken: dict[str, Any] = {}

    def kept(network: Network, recorded: BackwardPass, *others: Any) -> Any:
        taken.update(values=[*recorded.tape.values], outputs=[*recorded.outputs])
        return gradient_work(network, recorded, *others)

    monkeypatch.setattr(questions, "gradient_work", kept)
    weights, inputs = numbers(network, data.draw(st.integers(0, 1000)))
    targets = None if target is None else np.full(shape, target) if isinstance(target, float) else target
    targets = targets[0] if isinstance(targets, list) and len(shape) < 2 else targets
    try:
        done = questions.work(network, weights=weights, inputs=inputs, targets=targets, backward=True)
    except RefusedError:  # too many weights to write
        reject()
    assert done.backward is not None
    theirs = Autograd(taken["values"], taken["outputs"], target)
    values = {id(value): value for value in taken["values"]}
    forward: dict[Variable, TapeValue] = {}
    for identity, name in done.names.items():
        if identity in values and not name.gradient:
            forward[name] = values[identity]
    compared = 0
    for step in done.backward.steps:
        for line in step.lines:
            if line.name.uses is not None:
                continue
            if line.name.letter == "delta":
                letter, _, at = line.name.below.partition(",")
                number = int(at) if at else None
                (value,) = forward[Variable(letter, number, step.layer, direction=step.direction)].operands
            else:
                value = forward[line.name._replace(gradient=False)]
            np.testing.assert_allclose(line.value.numbers, theirs.tensors[id(value)].grad, rtol=1e-9, atol=1e-12)
            compared += 1
    assert compared
    if NOTATION_BY_NAME[network.notation or "w"].stacked:
        parts = np.concatenate([np.ravel(part.numbers) for each in done.backward.weights for part in each.parts])
        leaves = np.concatenate([leaf.grad.ravel() for uses in theirs.uses.values() for leaf in uses])
        np.testing.assert_allclose(np.sort(parts), np.sort(leaves), rtol=1e-9, atol=1e-12)
        return
    for (key, uses), mine in zip(theirs.uses.items(), done.backward.weights, strict=True):
        layer, piece = key
        (placed,) = [place for place in network.stack if place.name == layer]
        assert mine.name.layer == placed.name
        if isinstance(placed.layer, Cell) and "hr" not in piece.name and network.notation is None:
            block = BLOCKS[placed.layer.kind][piece.start // placed.layer.units]
            letter = "b" if piece.name.startswith("bias") else "W"
            assert (mine.name.letter, mine.name.below) == (letter, ("x" if "_ih" in piece.name else "h") + block)
        for part, leaf in zip(mine.parts, uses, strict=True):
            np.testing.assert_allclose(part.numbers, leaf.grad, rtol=1e-9, atol=1e-12)
