"""Programs for Keras: they hold the tensors that are counted, and give the numbers that rnncalc's own pass gives."""

from collections.abc import Iterator
from math import prod
from typing import Any

import jax
import keras
import numpy as np
import pytest
from conformance.programs import Case, cases, hold_saved, modules_of
from conformance.spread import held_by_all, in_parts

from rnncalc.layers.cell import Cell
from rnncalc.programs.program import Module

pytestmark = [
    pytest.mark.conformance,
    # Keras advises against a softmax of one unit; it is drawn, and is one everywhere.
    pytest.mark.filterwarnings(r"ignore:(?s).*You are using a softmax over axis -1:UserWarning"),
]

MARKS = ("forward/", "backward/")
WITHIN = 1e-5
"""On JAX it calculates in float32."""


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    """Draw no weights to begin with: others are put in, and to compile a drawing for each shape took a third."""
    with pytest.MonkeyPatch.context() as patch:
        for of in (keras.initializers.VarianceScaling, keras.initializers.Orthogonal, keras.initializers.RandomUniform):
            patch.setattr(of, "__call__", lambda of, shape, dtype=None: np.zeros(shape, np.float32))
        yield


def arrays(module: Module, identifier: str, weights: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield a layer's arrays by the end of their paths in the program, the parts between left out."""
    layer = module.layer
    marks = MARKS if isinstance(layer, Cell) and layer.bidirectional else ("",)
    states = {f"{letter}_0" for letter, _ in module.states} if isinstance(layer, Cell) and layer.learned_state else ()
    for state in states:
        each = [weights[f"{mark}{state}"] for mark in marks]
        yield f"{identifier}_{state}", np.stack(each) if len(marks) > 1 else each[0]
    for name, array in weights.items():
        if name.split("/")[-1] not in states:
            yield f"{identifier}{'_' if module.tied or name == 'positions' else '/'}{name}", array


ROLES = ("query", "key", "value", "keys", "score", "matrix")


def named(model: Any) -> dict[str, Any]:
    """Return the weights of a model by layer, direction and name."""
    found = {}
    attributes = {each.name: name for name, each in vars(model).items() if isinstance(each, keras.Model)}
    for weight in model.weights:
        first, *path = weight.path.split("/")
        built = first in [each.name for each in model.layers]  # before the model, to be frozen
        path = [first, *path] if built or first in attributes else path  # of the program's own layer
        path[0] = attributes.get(path[0], path[0])  # Keras numbers the models of a process that have no name
        way = [each.split("_")[0] for each in path[1:-1] if each.startswith(("forward_", "backward_"))]
        way += [each for each in path[1:-1] if each in (*ROLES, "attention_output")]
        found["/".join([*path[:1], *way, *path[1:][-1:]])] = weight
    assert len(found) == len(model.weights)
    return found


def built(case: Case) -> tuple[Any, dict[str, Any], list[Any], dict[str, int]]:
    """Return the model that a program makes, its weights by layer and name, and its inputs; JAX's float64 is off.

    The weights have the numbers of the case.
    """
    wanted = {
        name: array
        for module, identifier in modules_of(case.program)
        for place in module.places
        for name, array in arrays(module, identifier, case.weights[place.name])
    }
    of_case = [*case.inputs.values(), *case.extras.values()]
    inputs = [array.astype(np.int32 if array.dtype.kind == "i" else np.float32)[None] for array in of_case]
    steps = {} if case.steps is None else {"steps": case.steps}
    namespace: dict[str, Any] = {"__name__": "exported"}
    exec(compile(case.source, "exported", "exec"), namespace)
    *_, of = (each for each in namespace.values() if isinstance(each, type))
    model = of()
    model(*(keras.KerasTensor(array.shape, str(array.dtype)) for array in inputs), **steps)
    held = named(model)
    assert {name: tuple(weight.shape) for name, weight in held.items()} == {
        name: array.shape for name, array in wanted.items()
    }
    for name, weight in held.items():
        weight.assign(wanted[name].astype(np.float32))
    return model, held, inputs, steps


def hold(case: Case) -> None:
    """Assert that a program has the tensors and gives the numbers that rnncalc says."""
    with jax.enable_x64(False):
        model, _, inputs, steps = built(case)
        assert model.count_params() == case.program.params
        assert sum(prod(weight.shape) for weight in model.trainable_weights) == case.program.trainable
        states = [
            [weight.value for weight in each] for each in (model.trainable_variables, model.non_trainable_variables)
        ]
        done = jax.jit(lambda *given: model.stateless_call(*states, *given, **steps)[0])(*inputs)
        hold_saved(case, "keras", ".weights.h5", model.save_weights)
    given = np.asarray(done)[0].reshape(np.shape(case.outputs))  # the places of a step are joined
    np.testing.assert_allclose(given, case.outputs, rtol=WITHIN, atol=WITHIN)


@in_parts
def test_a_program_for_keras_is_the_network(part: int) -> None:
    """Every tensor, the total, the frozen ones, and the numbers of a pass."""
    held_by_all(part, cases("keras"), hold)
