"""The names that Flax gives parameters: `params/lstm/cell/hf/kernel`, or with points; without `params` in nnx.

Seen in flax 0.12.8, November 2026: https://github.com/google/flax/blob/main/flax/linen/recurrent.py. Flattened trees
are saved in formats that only name tensors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rnncalc.models.files.model import FileModule, FileTensor, Names, TensorRole, modules_of

_LEAVES = re.compile(r"(^|[./])(kernel|embedding)$|^batch_stats[./]")
_OTHERS = re.compile(r"(^|[./])(weight\w*|recurrent_kernel)$")
"""Names of PyTorch, which has parameters of any name, and of Keras."""
_NNX = re.compile(r"(^|[./])(dense_[ih]|if_|rngs)[./]")
_COLLECTION = re.compile(r"(^|[./])(params|batch_stats)(?=[./])")
_STATISTICS = re.compile(r"(^|[./])batch_stats[./]|(^|[./])(mean|var)$")


def framework_of(names: Names) -> str | None:
    """Return the convention of tensors by their names, None if they are not Flax's; layers around cells are alike."""
    some = names.having(_LEAVES, "kernel", "embedding", "batch_stats")
    if not some or names.having(_OTHERS, "weight", "recurrent_kernel"):
        return None
    return "flax-nnx" if names.having(_NNX, "dense_", "if_", "rngs") else "flax-linen"


def with_roles(tensors: Iterable[FileTensor]) -> Iterator[FileTensor]:
    """Yield tensors with the statistics of batch norms as buffers."""
    for tensor in tensors:
        yield tensor._replace(role=TensorRole.BUFFER) if _STATISTICS.search(tensor.name) else tensor


def modules(tensors: tuple[FileTensor, ...]) -> tuple[FileModule, ...]:
    """Return the modules of tensors, without the names of collections in their paths.

    nnx's OptimizedLSTMCell has the tensors of an LSTMCell side by side.
    """
    return tuple(part for module in _joined(modules_of(tensors, path_and_leaf)) for part in module)


def path_and_leaf(name: str) -> tuple[str, str]:
    """Return the path of a tensor's module, without the names of collections, and its own name in it."""
    path, leaf = re.fullmatch(r"(?:(.*)[./])?([^./]*)", name, re.DOTALL).groups("")  # type: ignore[union-attr]
    return _COLLECTION.sub("", f"{path}/")[:-1].lstrip("./"), leaf


def _joined(every: tuple[FileModule, ...]) -> Iterator[Sequence[FileModule]]:
    paths = {module.path: module.tensors for module in every}
    for module in every:
        cell, _, part = module.path.rpartition("dense_")
        beside: Mapping[str, Any] = paths.get(f"{cell}dense_h", {})
        optimized = part in ("i", "h") and "bias" in beside and "bias" not in paths.get(f"{cell}dense_i", {})
        yield [*_gates(module, cell, part)] if optimized else [module]


def _gates(module: FileModule, cell: str, side: str) -> Iterator[FileModule]:
    """Yield the modules of an LSTM's blocks i, f, g and o from one that has them side by side."""
    for place, gate in enumerate(("i", "f_" if side == "i" else "f", "g", "o")):
        parts = {leaf: _part(tensor, place) for leaf, tensor in module.tensors.items()}
        yield FileModule(f"{cell}{side}{gate}", parts)


def _part(tensor: FileTensor, place: int) -> FileTensor:
    """Return a fourth of the columns of a tensor, named as NumPy writes them."""
    *rows, columns = tensor.shape or (0,)
    first, last = place * columns // 4, (place + 1) * columns // 4
    name = f"{tensor.name}[{':, ' * len(rows)}{first}:{last}]"
    return tensor._replace(name=name, shape=(*rows, last - first), read=lambda: _columns(tensor.read(), first, last))


def _columns(array: Any, first: int, last: int) -> Any:
    rows = array and isinstance(array[0], list)
    return [_columns(row, first, last) for row in array] if rows else array[first:last]
