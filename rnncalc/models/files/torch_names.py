"""What the names of PyTorch's tensors tell: modules, weights that are stored in parts, and a matrix that is left out.

`weight_norm` stores lengths and directions, `spectral_norm` and pruning a matrix and what it is divided or multiplied
by, and fastai's WeightDropout a matrix apart from its module.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import chain, islice
from math import prod
from typing import Any, NamedTuple

from rnncalc.bounds import MOST_PICKLE_DEPTH
from rnncalc.models.files import model
from rnncalc.models.files.model import BadFileError, FileModule, FileTensor, Names, Remark, RemarkKind, TensorRole
from rnncalc.printable import escape

Shape = tuple[int, ...]


class _Storage(NamedTuple):
    """How a weight is stored: its name, that of a tensor beside it, and the name under which a layer has the weight.

    The names are the ends of those in the file. no_params: the ends of those beside it that are never trained.
    fits: whether the shapes of both can be stored so. used: returns the numbers that the layer uses, as
    one list; None if a run refuses it.
    """

    name: str
    beside: str
    plain: str
    fits: Callable[[Shape, Shape], bool]
    used: Callable[[Sequence[float], Sequence[Sequence[float]]], Sequence[float]] | None
    no_params: tuple[str, ...] = ()


def _divided(rows: Sequence[float], others: Sequence[Sequence[float]]) -> list[float]:
    """Return a matrix divided by its largest singular value, which u and v tell: u · W v."""
    u, v = others
    size = len(v)
    value = sum(
        one * sum(number * other for number, other in zip(rows[place * size :], v, strict=False))
        for place, one in enumerate(u)
    )
    return [number / value for number in rows]


def _of_lengths(shape: Shape, lengths: Shape) -> bool:
    return prod(lengths) == 1 or lengths == (*shape[:1], *[1] * len(shape[1:]))


_WITHIN = r"parametrizations[.](\w+)[.]original"
_STORAGES = (
    # https://github.com/pytorch/pytorch/blob/main/torch/nn/utils/parametrizations.py
    _Storage(rf"{_WITHIN}1", r"parametrizations.\2.original0", r"\2", _of_lengths, None),
    _Storage(r"(\w+)_v", r"\2_g", r"\2", _of_lengths, None),
    *(
        _Storage(name, vectors[0], r"\2", lambda shape, u: u == shape[:1], _divided, vectors)
        for name, vectors in (
            (_WITHIN, (r"parametrizations.\2.0._u", r"parametrizations.\2.0._v")),
            (r"(\w+)_orig", (r"\2_u", r"\2_v")),
        )
    ),
    _Storage(_WITHIN, "", r"\2", lambda *_: True, None, (r"parametrizations.\2.0.base",)),
    _Storage(  # https://github.com/pytorch/pytorch/blob/main/torch/nn/utils/prune.py
        r"(\w+)_orig",
        r"\2_mask",
        r"\2",
        lambda shape, mask: shape == mask,
        lambda rows, others: [number * kept for number, kept in zip(rows, others[0], strict=True)],
        (r"\2_mask",),
    ),
    _Storage(  # https://github.com/fastai/fastai/blob/main/fastai/text/models/awdlstm.py
        r"weight_hh(\w*)_raw",
        r"module.weight_ih\2",
        r"module.weight_hh\2",
        lambda *_: True,
        lambda rows, _: rows,
        (r"module.weight_hh\2",),
    ),
)
_BESIDE = {"drop_mask_te": "h_init", "embed_avg": "embed"}
"""Buffers of SpeechBrain's cells and of books of codes, beside those of unmistakable names:
https://github.com/speechbrain/speechbrain/blob/develop/speechbrain/nnet/RNN.py"""
_WITH_BESIDE = re.compile(f"(^|[.])({'|'.join(_BESIDE)})$")
_OF_LOSS = re.compile(r"(^|[.])(crit\w*|(\w+_)?loss(_\w+)?)[.](pos_)?weight$")
"""The weights of classes."""
_AVERAGED = re.compile(r"[.]n_averaged\Z")
_MAY_BE = re.compile(r"_(v|orig|raw)$|(^|[.])parametrizations[.]")


def _stored(tensors: Sequence[FileTensor], every: Names) -> Iterator[tuple[FileTensor, _Storage, re.Match[str]]]:
    """Yield the tensors that are stored in some way of _STORAGES, with the match of their names, which are in every."""
    names = every.having(_MAY_BE, "_v", "_orig", "_raw", "parametrizations.")
    by_name = {tensor.name: tensor for tensor in tensors if names}
    for tensor in by_name.values():
        for storage in _STORAGES if tensor.name in names else ():
            match = re.fullmatch(rf"((?:.*[.])?){storage.name}", tensor.name, re.DOTALL)
            other = by_name.get(match.expand(rf"\1{storage.beside}")) if match and storage.beside else tensor
            if match and other and storage.fits(tensor.shape, other.shape):
                yield tensor, storage, match
                break


def divisions(name: str) -> Iterator[tuple[str, str]]:
    """Yield the first parts of a name with the rest, up to as many as the levels of a pickle."""
    for point in islice(re.finditer("[.]", name), MOST_PICKLE_DEPTH):
        yield name[: point.start()], name[point.end() :]


def no_params(tensors: Sequence[FileTensor], every: Names) -> set[str]:
    """Return the names of tensors that are never trained: those beside stored weights, and weights of classes."""
    names = {match.expand(rf"\1{end}") for _, each, match in _stored(tensors, every) for end in each.no_params}
    for name in every.having(_WITH_BESIDE, *_BESIDE):
        path, point, leaf = name.rpartition(".")
        names.add(f"{path}{point}{_BESIDE[leaf]}")
    of_loss = every.having(_OF_LOSS, "crit", "loss")
    names |= {each.name for each in (tensors if of_loss else ()) if each.name in of_loss and len(each.shape) == 1}
    return names | _not_optimised(tensors, every)


_STATE = re.compile(r"(.*)[.]state[.](\d{1,9})[.](exp_avg|exp_inf|momentum_buffer|square_avg|sum)")


def _not_optimised(tensors: Sequence[FileTensor], every: Names) -> set[str]:
    """Return vectors alone in their modules, as weights of classes are, if an optimizer has states of all the rest."""
    optimizers: dict[str, dict[int, Shape]] = {}
    for tensor in tensors if every.having(_STATE, ".state.") else ():
        if match := _STATE.fullmatch(tensor.name):
            optimizers.setdefault(match[1], {})[int(match[2])] = tensor.shape
    if not optimizers:
        return set()
    trained = [tensor for tensor in tensors if tensor.is_parameter and not tensor.shared_with]
    paths = Counter(model.path_and_leaf(tensor.name)[0] for tensor in trained)
    alone = {each.name for each in trained if len(each.shape) == 1 and paths[model.path_and_leaf(each.name)[0]] == 1}
    for states in optimizers.values():
        shapes = [states[number] for number in sorted(states)]
        for names in (alone, *({name} for name in alone)) if len(trained) > len(shapes) else ():
            if [tensor.shape for tensor in trained if tensor.name not in names] == shapes:
                return names
    return set()


def modules_of(tensors: Sequence[FileTensor]) -> tuple[FileModule, ...]:
    """Return the modules; their weights have the names and the numbers that their layers use.

    Lengths of weight_norm's rows have a module of their own, where they are called `LENGTHS`.
    """
    stored = [*_stored(tensors, Names([tensor.name for tensor in tensors]))]
    if not stored:
        return model.modules_of(tuple(tensors))
    by_name = {tensor.name: tensor for tensor in tensors}
    names: dict[str, str] = {}
    used = {**by_name}
    for tensor, storage, match in stored:
        ends = storage.no_params or (storage.beside,)
        others = [by_name[name] for end in ends if (name := match.expand(rf"\1{end}")) in by_name]
        used[tensor.name] = tensor._replace(read=partial(_read, storage, tensor, others))
        names[tensor.name] = match.expand(rf"\1{storage.plain}")
        if storage.fits is _of_lengths:
            names |= {other.name: f"{other.name}.{LENGTHS}" for other in others}
    return model.modules_of((*used.values(),), lambda name: model.path_and_leaf(names.get(name, name)))


LENGTHS = "lengths"
"""What the lengths of weight_norm's rows are called in the module of their own."""


def _read(storage: _Storage, tensor: FileTensor, others: Sequence[FileTensor]) -> Any:
    if storage.used is None:
        raise BadFileError(f"has a parametrization in {escape(tensor.name)}, which is not computed here")
    try:
        used = storage.used(model.flat(tensor), [model.flat(other) for other in others])
    except ZeroDivisionError:
        raise BadFileError(f"divides {escape(tensor.name)} by zero") from None
    return model.nested(used, tensor.shape)


def remarked(
    tensors: Sequence[FileTensor], quantised: Mapping[str, int] | None = None, copies: Collection[str] = ()
) -> tuple[tuple[FileTensor, ...], tuple[Remark, ...]]:
    """Return tensors as `model.remarked` does, without empty ones, and with tied matrices that were left out.

    Averages and other copies of all weights are of unknown role, unless a file has nothing else. copies: their names.
    """
    tensors = [tensor for tensor in tensors if 0 not in tensor.shape]
    every = Names([tensor.name for tensor in tensors])
    averaged = {name.removesuffix(".n_averaged") for name in every.having(_AVERAGED, ".n_averaged")}
    second = {*copies}.intersection(every.names) | model.averages(every)
    for name in every.names if averaged else ():
        second |= {name} if any(path in averaged for path, _ in divisions(name)) else set()
    if not any(each.is_parameter and each.name not in second for each in tensors):
        second = set()
    roles = dict.fromkeys(no_params(tensors, every), TensorRole.BUFFER) | dict.fromkeys(second, TensorRole.UNKNOWN)
    stored = (TensorRole.PARAMETER, TensorRole.BUFFER)
    changed = {each.name: roles[each.name] for each in tensors if each.name in roles and each.role in stored}
    tensors, remarks = model.remarked(model.with_roles(tensors, changed), quantised)
    heads = _heads(tensors)
    kinds: dict[Enum, list[str]] = {
        RemarkKind.AVERAGES: [each.name for each in tensors if each.name in second and each.role is TensorRole.UNKNOWN],
        RemarkKind.LEFT_OUT: [f"{head.name} ({head.shared_with})" for head in heads.values()],
    }
    remarks += tuple(model.named_remarks(kinds))
    if heads:
        pairs = ((heads[each.name], each) if each.name in heads else (each,) for each in tensors)
        tensors = tuple(chain.from_iterable(pairs))
    return tensors, remarks


def _heads(tensors: Sequence[FileTensor]) -> dict[str, FileTensor]:
    """Return the matrices that a file lacks because they are a table's, by the names of the biases beside them.

    Tools that save no tensor twice leave them out: https://huggingface.co/docs/safetensors/torch_shared_tensors.
    """
    biases = [tensor.name for tensor in tensors if tensor.name.endswith(".bias")]
    matrices = {tensor.name for tensor in tensors if biases and tensor.is_parameter}
    if all(f"{name[:-4]}weight" in matrices for name in biases):
        return {}
    leaves: dict[str, dict[str, FileTensor]] = {}
    for tensor in tensors:
        if tensor.is_parameter:
            path, leaf = model.path_and_leaf(tensor.name)
            leaves.setdefault(path, {})[leaf] = tensor
    tables: dict[int, list[FileTensor]] = {}
    for those in leaves.values():
        match [*those.items()]:
            case [("weight", FileTensor(shape=(rows, _), shared_with=None) as matrix)]:
                tables.setdefault(rows, []).append(matrix)
    return {
        those["bias"].name: table._replace(name=f"{path}.weight", shared_with=table.name)
        for path, those in leaves.items()
        if path and those.keys() == {"bias"} and len(alike := tables.get(prod(those["bias"].shape), [])) == 1
        for table in alike
    }
