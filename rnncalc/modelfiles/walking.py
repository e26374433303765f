"""Goes through what a pickle of PyTorch describes, and gathers its tensors under the names that lead to them."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any, NamedTuple

from rnncalc.modelfiles.machine import Made
from rnncalc.modelfiles.model import MOST_NAME, MOST_TENSORS, BadFileError, Role

MOST_DEPTH = 100
_TENSORS = ("torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3", "torch._utils._rebuild_tensor")
_PARAMETERS = ("torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state")
_SUBCLASS = "torch._tensor._rebuild_from_type_v2"
_PACKED = "torch.ScriptObject"
"""What holds the weights of a layer that PyTorch has quantised dynamically."""
_QUANTISED = ("torch._utils._rebuild_qtensor", _PACKED)
_WITHIN = {"_parameters": Role.PARAMETER, "_buffers": Role.BUFFER, "_modules": None}
"""What a module keeps its parts in; their names are no part of theirs."""


class PickledTensor(NamedTuple):
    """A tensor as the pickle describes it; role, frozen: None where it does not say."""

    made: Made
    role: Role | None = None
    frozen: bool | None = None


class Found(NamedTuple):
    """The tensors by their names.

    others: the names of tensors of a kind that is not read; quantised: of those that are packed in whole numbers.
    whole: whether modules tell their parameters from their buffers.
    """

    tensors: dict[str, PickledTensor]
    others: list[str]
    quantised: list[str]
    whole: bool


def found_in(root: Any) -> Found:
    """Return the tensors below what a pickle describes, in its order; what holds itself is gone into once."""
    walk = _Walk()
    walk.into("", root, None, 0)
    return Found(walk.tensors, walk.others, walk.quantised, walk.whole)


class _Walk:
    """A way through what a pickle describes, no deeper than MOST_DEPTH."""

    def __init__(self) -> None:
        self.tensors: dict[str, PickledTensor] = {}
        self.others: list[str] = []
        self.quantised: list[str] = []
        self.whole = False
        self.seen: set[int] = set()

    def into(self, name: str, value: Any, role: Role | None, depth: int) -> None:
        """Take a value if it is a tensor, and go into what it holds if it is not."""
        if not isinstance(value, Made | dict | list | tuple):
            return
        if tensor := _tensor(value, role):
            _check(name, self.tensors)
            self.tensors[name or "tensor"] = tensor
        elif isinstance(value, Made) and value.name in _QUANTISED:
            _check(name, self.quantised)
            self.quantised.append(name)
        elif isinstance(value, Made) and value.name.startswith("torch._utils._rebuild_"):
            _check(name, self.others)
            self.others.append(name)
        elif id(value) not in self.seen and depth < MOST_DEPTH:
            self.seen.add(id(value))
            for key, each in _below(value):
                if key in _WITHIN:
                    self.whole = True
                    self.into(name, each, _WITHIN[key], depth + 1)
                else:
                    self.into(_joined(name, key), each, role, depth + 1)


def _check(name: str, found: Sized) -> None:
    """Raise BadFileError for a name that is too long, or one too many."""
    if len(found) >= MOST_TENSORS or len(name) > MOST_NAME:
        raise BadFileError(
            f"holds more than {MOST_TENSORS:,} tensors, or one with a name of more than {MOST_NAME:,} characters"
        )


def _joined(name: str, key: Any) -> str:
    """Return the name of what stands under a key, cut behind MOST_NAME: a key may have millions of characters."""
    if key is None:
        return name
    last = str(key[: MOST_NAME + 1] if isinstance(key, str | bytes) else key)
    return (f"{name}.{last}" if name else last)[: MOST_NAME + 1]


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
                yield from (
                    (key, each)
                    for key, each in state.items()
                    if not module or key in _WITHIN or (isinstance(each, Made) and each.name == _PACKED)
                )
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
        below, *more = value.args
        frozen = not more[0] if more and isinstance(more[0], bool) else None
        if isinstance(below, Made) and isinstance(below.args, tuple) and below.name in _TENSORS:
            return PickledTensor(below, role or Role.PARAMETER, frozen)
    return None
