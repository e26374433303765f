"""Programs for Flax: they hold the tensors that are counted, and give the numbers that rnncalc's own pass gives."""

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conformance.programs import Case, cases, modules_of
from conformance.spread import held_by_all, in_parts
from flax import nnx
from flax.traverse_util import flatten_dict, unflatten_dict

from rnncalc.layers.cell import Cell
from rnncalc.programs.program import Module

pytestmark = pytest.mark.conformance

MARKS = ("forward/", "backward/")
WITHIN = 1e-5
"""Its modules calculate in float32 unless each is told otherwise."""


def loaded(case: Case) -> tuple[Any, dict[str, Any]]:
    """Return the class that a program defines, and what else is in it."""
    namespace: dict[str, Any] = {"__name__": "exported"}
    exec(compile(case.source, "exported", "exec"), namespace)
    *_, of = (each for each in namespace.values() if isinstance(each, type))
    return of, namespace


def arrays(module: Module, identifier: str, weights: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield a module's arrays under the paths that they have in the program."""
    layer = module.layer
    if not isinstance(layer, Cell):
        for name, array in weights.items():
            yield f"{identifier}{'_' if module.tied or name == 'positions' else '/'}{name}", array
        return
    marks = MARKS if layer.bidirectional else ("",)
    states = {f"{letter}_0" for letter, _ in module.states} if layer.learned_state else set()
    for state in states:
        each = [weights[f"{mark}{state}"] for mark in marks]
        yield f"{identifier}_{state}", np.stack(each) if layer.bidirectional else each[0]
    for name, array in weights.items():
        mark = next(mark for mark in marks if name.startswith(mark))
        if (own := name.removeprefix(mark)) not in states:
            yield f"{identifier}{'_' * bool(mark)}{mark.removesuffix('/')}/cell/{own}", array


def given_to(case: Case) -> tuple[list[Any], dict[str, int]]:
    inputs = [array if array.dtype.kind == "i" else array.astype(np.float32) for array in case.inputs.values()]
    extras = [array.astype(np.float32) for array in case.extras.values()]
    return [jnp.asarray(array)[None] for array in (*inputs, *extras)], {} if case.steps is None else {
        "steps": case.steps
    }


def hold(case: Case, run: Callable[[Any, dict[str, Any], list[Any], dict[str, int]], tuple[Any, Any]]) -> None:
    """Assert that a program has the tensors and gives the numbers that rnncalc says."""
    named = {
        name: array
        for module, identifier in modules_of(case.program)
        for place in module.places
        for name, array in arrays(module, identifier, case.weights[place.name])
    }
    with jax.enable_x64(False):
        of, namespace = loaded(case)
        held, done = run(of, named, *given_to(case))
    assert held == {name: array.shape for name, array in named.items()}
    buffers = {
        f"{identifier}/{tensor.name}"
        for module, identifier in modules_of(case.program)
        for place in module.places
        for tensor in place.buffers
    }
    held = {name: shape for name, shape in held.items() if name not in buffers}
    assert sum(map(prod, held.values())) == case.program.params
    frozen = namespace.get("FROZEN", set())
    assert sum(prod(shape) for name, shape in held.items() if name.split("/")[0] not in frozen) == (
        case.program.trainable
    )
    np.testing.assert_allclose(np.asarray(done)[0], case.outputs, rtol=WITHIN, atol=WITHIN)


def linen(of: Any, named: dict[str, Any], arguments: list[Any], steps: dict[str, int]) -> tuple[Any, Any]:
    """Return what a module of linen holds, whose initialization is traced and not run, and what it gives."""
    model = of()
    made = jax.eval_shape(lambda key, *given: model.init(key, *given, **steps), jax.random.key(0), *arguments)
    flat = {part: flatten_dict(of, sep="/") for part, of in made.items()}
    own = {
        part: unflatten_dict({name: jnp.asarray(named[name], jnp.float32) for name in of if name in named}, sep="/")
        for part, of in flat.items()
    }
    done = jax.jit(lambda own, *given: model.apply(own, *given, **steps))(own, *arguments)
    return {name: tuple(array.shape) for of in flat.values() for name, array in of.items()}, done


def nnx_(of: Any, named: dict[str, Any], arguments: list[Any], steps: dict[str, int]) -> tuple[Any, Any]:
    """Return the same of a module of nnx."""

    def made() -> Any:
        model = of(rngs=nnx.Rngs(0))
        model.eval()
        return model

    graph, params, others = nnx.split(nnx.eval_shape(made), (nnx.Param, nnx.BatchStat), ...)
    held = {"/".join(map(str, path)): param for path, param in nnx.to_flat_state(params)}
    real = [
        (path, param.replace(jnp.asarray(named["/".join(map(str, path))], jnp.float32)))
        for path, param in nnx.to_flat_state(params)
    ]

    def run(own: Any, *given: Any) -> Any:
        rest = jax.tree.map(lambda each: jnp.zeros(each.shape, jnp.uint32) if _plain(each) else KEY, others)
        return nnx.merge(graph, own, rest)(*given, **steps)

    done = jax.jit(run)(nnx.from_flat_state(real), *arguments)
    return {name: tuple(param.shape) for name, param in held.items()}, done


KEY = jax.random.key(0)


def _plain(each: Any) -> bool:
    return not jnp.issubdtype(each.dtype, jax.dtypes.prng_key)


@in_parts
def test_a_program_for_linen_is_the_network(part: int) -> None:
    """Every tensor, the total, the frozen ones, and the numbers of a pass."""
    held_by_all(part, cases("flax-linen"), lambda case: hold(case, linen))


@in_parts
def test_a_program_for_nnx_is_the_network(part: int) -> None:
    """Every tensor, the total, the frozen ones, and the numbers of a pass."""
    held_by_all(part, cases("flax-nnx"), lambda case: hold(case, nnx_))
