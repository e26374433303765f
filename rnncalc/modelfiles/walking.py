"""Goes through what a pickle of PyTorch describes, and gathers its tensors under the names that lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rnncalc.modelfiles.machine import Made
from rnncalc.modelfiles.model import MOST_NAME, MOST_TENSORS, BadFileError, Role

MOST_DEPTH = 100
_TENSORS = ("torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3", "torch._utils._rebuild_tensor")
_PARAMETERS = ("torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state")
_SUBCLASS = "torch._tensor._rebuild_from_type_v2"
_WITHIN = {"_parameters": Role.PARAMETER, "_buffers": Role.BUFFER, "_modules": None}
"""What a module keeps its parts in; their names are no part of theirs."""


class PickledTensor(NamedTuple):
    """A tensor as the pickle describes it; role, frozen: None where it does not say."""

    made: Made
    role: Role | None = None
    frozen: bool | None = None


class Found(NamedTuple):
    """The tensors by their names; others: what is said to be a tensor of a kind that is not read.

    whole: whether modules tell their parameters from their buffers.
    """

    tensors: dict[str, PickledTensor]
    others: list[str]
    whole: bool


class _Waiting(NamedTuple):
    name: str
    value: Any
    role: Role | None
    depth: int


def found_in(root: Any) -> Found:
    """Return the tensors below what a pickle describes, in its order; what holds itself is gone into once."""
    tensors: dict[str, PickledTensor] = {}
    others: list[str] = []
    seen: set[int] = set()
    whole = False
    waiting = [_Waiting("", root, None, 0)]
    while waiting:
        name, value, role, depth = waiting.pop()
        if tensor := _tensor(value, role):
            if len(tensors) >= MOST_TENSORS or len(name) > MOST_NAME:
                raise BadFileError(
                    f"holds more than {MOST_TENSORS:,} tensors, or one with a name of {len(name):,} characters"
                )
            tensors[name or "tensor"] = tensor
        elif isinstance(value, Made) and value.name.startswith("torch._utils._rebuild_"):
            others.append(name)
        elif isinstance(value, Made | dict | list | tuple) and id(value) not in seen and depth < MOST_DEPTH:
            seen.add(id(value))
            below = [*_below(value)]
            whole = whole or any(key in _WITHIN for key, _ in below)
            waiting += [_next(name, key, each, role, depth) for key, each in reversed(below)]
    return Found(tensors, others, whole)


def _next(name: str, key: Any, value: Any, role: Role | None, depth: int) -> _Waiting:
    if key in _WITHIN:
        return _Waiting(name, value, _WITHIN[key], depth + 1)
    if key is None:
        return _Waiting(name, value, role, depth + 1)
    path = f"{name}.{key}" if name else str(key)
    return _Waiting(path[: MOST_NAME + 1], value, role, depth + 1)


def _below(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what a value holds, under its keys; None where it has none of its own."""
    match value:
        case dict():
            yield from value.items()
        case Made():
            if value.name == _SUBCLASS and isinstance(value.args, tuple) and len(value.args) > 2:
                yield None, value.args[2]
                return
            yield from _pairs(value.args)
            yield from value.items.items()
            state = value.state[0] if isinstance(value.state, tuple) and value.state else value.state
            if isinstance(state, dict) and not value.items:
                module = not state.keys().isdisjoint(_WITHIN)  # whose other fields hold its weights once more
                yield from ((key, each) for key, each in state.items() if not module or key in _WITHIN)
        case _:
            yield from enumerate(value)


def _pairs(args: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what the arguments of a dictionary hold: a list of keys with their values."""
    of = args[0] if isinstance(args, tuple) and len(args) == 1 else ()
    for pair in of if isinstance(of, list) else ():
        if isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str):
            yield pair[0], pair[1]


def _tensor(value: Any, role: Role | None) -> PickledTensor | None:
    """Return the tensor that a record is of, if it is of one."""
    if not isinstance(value, Made) or not isinstance(value.args, tuple):
        return None
    if value.name in _TENSORS:
        return PickledTensor(value, role)
    if value.name in _PARAMETERS and value.args:
        below = _tensor(value.args[0], role)
        trained = value.args[1] if len(value.args) > 1 else None
        frozen = not trained if isinstance(trained, bool) else None
        return below and below._replace(role=role or Role.PARAMETER, frozen=frozen)
    return None
