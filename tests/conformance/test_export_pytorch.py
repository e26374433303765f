"""Programs for PyTorch: they hold the tensors that are counted, and give the numbers that rnncalc's own pass gives."""

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import pytest
import torch
from conformance.programs import Case, cases, hold_saved, modules_of
from conformance.spread import held_by_all, in_parts

from rnncalc import load
from rnncalc.layers.cell import Cell
from rnncalc.programs import source
from rnncalc.programs.program import Module
from rnncalc.questions.backward import with_loss

pytestmark = pytest.mark.conformance

MARKS = ("forward/", "backward/")


def built(case: Case) -> Any:
    """Return the model that a program makes, in float64."""
    namespace: dict[str, Any] = {"__name__": "exported"}
    exec(compile(case.source, "exported", "exec"), namespace)
    *_, of = (each for each in namespace.values() if isinstance(each, type))
    return of().double().eval()


def arrays(module: Module, identifier: str, weights: dict[str, dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield a module's arrays under the names that they have in the program."""
    layer = module.layer
    marks = MARKS if isinstance(layer, Cell) and layer.bidirectional else ("",)
    states = [f"{letter}_0" for letter, _ in module.states] if isinstance(layer, Cell) and layer.learned_state else []
    for state in states:
        each = [weights[place.name][f"{mark}{state}"] for place in module.places for mark in marks]
        yield f"{identifier}_{state}", np.stack(each)[:, None]
    for place in module.places:
        for name, array in weights[place.name].items():
            if name.split("/")[-1] in states:
                continue
            if module.cell:
                way = MARKS.index(name.split("/")[0] + "/") if "/" in name else 0
                yield f"{identifier}.cells.{way}.{name.split('/')[-1]}", array
            elif name == "positions":
                yield f"{identifier}_{name}", array
            elif len(module.places) == 1:
                yield f"{identifier}.{name.replace(f'_l{place.copy}', '_l0')}", array
            else:
                yield f"{identifier}.{name}", array


def hold(case: Case) -> None:
    """Assert that a program has the tensors and gives the numbers that rnncalc says."""
    model = built(case)
    named = {
        name: array
        for module, identifier in modules_of(case.program)
        for name, array in arrays(module, identifier, case.weights)
    }
    held = dict(model.named_parameters())
    stored = {name: of for name, of in model.named_buffers() if not name.endswith("num_batches_tracked")}
    assert {name: tuple(parameter.shape) for name, parameter in (held | stored).items()} == {
        name: array.shape for name, array in named.items()
    }
    assert sum(prod(parameter.shape) for parameter in held.values()) == case.program.params
    assert sum(parameter.numel() for parameter in held.values() if parameter.requires_grad) == case.program.trainable
    with torch.no_grad():
        for name, parameter in (held | stored).items():
            parameter.copy_(torch.tensor(named[name]))
        inputs = [torch.tensor(array)[None] for array in case.inputs.values()]
        extras = [torch.tensor(array)[None] for array in case.extras.values()]
        done = model(*inputs, *extras, **({} if case.steps is None else {"steps": case.steps}))
    np.testing.assert_allclose(done[0].numpy(), case.outputs, rtol=1e-9, atol=1e-9)
    hold_saved(case, "pytorch", ".pt", lambda path: torch.save(model.state_dict(), path))


@in_parts
def test_a_program_is_the_network(part: int) -> None:
    """Every tensor, the total, the frozen ones, and the numbers of a pass."""
    held_by_all(part, cases("pytorch"), hold)


def test_a_loss_and_its_gradients_are_those_worked_by_hand() -> None:
    """Of specs/classes.yaml: L = −log 0.2365 = 1.4417, and the gradients in docs/run.md, by autograd."""
    namespace: dict[str, Any] = {"__name__": "exported"}
    exec(source(with_loss(load("specs/classes.yaml"), "cross_entropy"), "pytorch", "cross_entropy"), namespace)
    *_, of = (each for each in namespace.values() if isinstance(each, type))
    model = of().double()
    values = {"rnn_1.weight_ih_l0": [[0.5]], "rnn_1.weight_hh_l0": [[0.2]], "rnn_1.bias_ih_l0": [0.1]}
    values |= {"rnn_1.bias_hh_l0": [0.0], "output.weight": [[1.0], [-1.0]], "output.bias": [0.0, 0.5]}
    model.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
    loss = namespace["loss"](model(torch.tensor([[[1.0], [2.0]]]).double()), torch.tensor([[0.0, 1.0]]))
    loss.backward()
    gradients = {name: parameter.grad.flatten().tolist() for name, parameter in model.named_parameters()}
    assert loss.item() == pytest.approx(1.4417, abs=5e-5)
    assert gradients["rnn_1.weight_ih_l0"] == pytest.approx([0.9855], abs=5e-5)
    assert gradients["rnn_1.weight_hh_l0"] == pytest.approx([0.2471], abs=5e-5)
    assert gradients["output.weight"] == pytest.approx([0.6382, -0.6382], abs=5e-5)
