"""Keras' weights in HDF5: `.weights.h5` as Keras 3 writes it, and whole models as Keras 2 did.

Keras 3 numbers the variables of a layer in the order in which they were made; Keras 2 names them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from rnncalc.modelfiles.configured import Configured, configured
from rnncalc.modelfiles.groups import Array, Groups, Opened, Region, groups_of, numbers
from rnncalc.modelfiles.model import FileTensor, ModelFile, Module, Remark, Role, Sign
from rnncalc.modelfiles.roles import role_of

_NUMBERED = re.compile(r"(?P<layer>.*?)(/(?P<way>forward|backward)_layer)?(?P<cell>/cell)?/vars/(?P<leaf>[0-9]+)")
_NAMED = re.compile(r"(model_weights/)?(?P<layer>[^/]+)/(.*/)?(?P<leaf>[^/:]+)(:0)?")
_WAY = re.compile(r"/(forward|backward)_[^/]+/")
_OPTIMIZER = re.compile(r"(_?optimizer(_weights)?|optimizer_weights)(/|$)")
_DENSE = re.compile(r"dense(_[0-9]+)?")
"""What Keras calls the group of a dense layer: it is one even if its bias is not as long as its rows."""
_CELL = ("kernel", "recurrent_kernel", "bias")
_MOVING = ("gamma", "beta", "moving_mean", "moving_variance")


class _Place(NamedTuple):
    """Which layer an array belongs to, and what it is there."""

    layer: str
    leaf: str


def read(path: str) -> ModelFile:
    """Return what a file holds."""
    return of_groups(path, "hdf5", partial(Region, path), None)


def of_groups(path: str, format: str, opened: Opened, config: Mapping[str, Any] | None) -> ModelFile:
    """Return a file of arrays in groups, with the settings of their layers where a config tells them."""
    groups = groups_of(opened)
    known = configured(config if config is not None else groups.said.get("", {}).get("model_config"))
    tensors: list[FileTensor] = []
    modules: dict[str, dict[str, FileTensor]] = {}
    names = _names(groups)
    for array in groups.arrays:
        place = _place(array, groups)
        name = names.get(place.layer, place.layer)
        frozen = known.layers[name].frozen if name in known.layers else None
        role = _role(array, place)
        read = partial(numbers, opened, array.path, array.shape, array.dtype)
        tensor = FileTensor(
            array.path, array.shape, array.dtype, role, read, frozen if role is Role.PARAMETER else None
        )
        tensors.append(tensor)
        if role is Role.PARAMETER:
            modules.setdefault(name, {})[place.leaf] = tensor
    return _file(path, format, tuple(tensors), modules, known, groups)


def _file(
    path: str,
    format: str,
    tensors: tuple[FileTensor, ...],
    modules: dict[str, dict[str, FileTensor]],
    known: Configured,
    groups: Groups,
) -> ModelFile:
    remarks = [] if known.layers else [Remark(Sign.NO_CONFIG)]
    if groups.links:
        remarks.append(Remark(Sign.NOT_READ, groups.links))
    order = [*known.layers] or [*groups.said.get("model_weights", groups.said.get("", {})).get("layer_names", ())]
    places = {name: place for place, name in enumerate(order)}
    made = [
        Module(name, of, known.layers[name].kind, known.layers[name].settings)
        if name in known.layers
        else Module(name, of)
        for name, of in sorted(modules.items(), key=lambda item: places.get(item[0], len(places)))
    ]
    ordered = bool(places)
    return ModelFile(path, format, "keras", tensors, tuple(made), ordered, tuple(remarks), known.steps, known.inputs)


def _names(groups: Groups) -> dict[str, str]:
    """Return the names that layers were given by the groups that they are in, but for those that two have."""
    said = {
        path.removesuffix("/vars"): words["name"]
        for path, words in groups.said.items()
        if path.endswith("/vars") and not path.endswith("/cell/vars") and isinstance(words.get("name"), str)
    }
    times = Counter(said.values())
    return {path: name for path, name in said.items() if times[name] == 1}


def _place(array: Array, groups: Groups) -> _Place:
    """Return which layer an array belongs to: numbered within it, or named."""
    if found := _NUMBERED.fullmatch(array.path):
        mark = f"{found['way']}/" if found["way"] else ""
        layer = found["layer"]
        return _Place(layer, mark + _leaf(int(found["leaf"]), layer, array, groups, cell=bool(found["cell"])))
    if found := _NAMED.fullmatch(array.path):
        way = _WAY.search(array.path)
        return _Place(found["layer"], f"{way[1]}/{found['leaf']}" if way else found["leaf"])
    layer, _, leaf = array.path.rpartition("/")
    return _Place(layer, leaf)


def _leaf(number: int, layer: str, array: Array, groups: Groups, *, cell: bool) -> str:
    """Return the name that Keras has for a numbered variable of a layer."""
    kind = layer.rpartition("/")[2]
    if cell and number < len(_CELL):
        return _CELL[number]
    if kind.startswith("batch_normalization") and number < len(_MOVING):
        return _MOVING[number]
    if kind.startswith("embedding") and number == 0:
        return "embeddings"
    if kind.startswith(("normalization", "seed_generator")):
        return "moving_mean"
    if number < 2 and (_DENSE.fullmatch(kind) or _is_dense(layer, array, groups)):
        return ("kernel", "bias")[number]
    return str(number)


def _is_dense(layer: str, array: Array, groups: Groups) -> bool:
    """Return whether the variables of a layer are a matrix and, it may be, a vector as long as its rows."""
    shapes = (
        [each.shape for each in groups.arrays if each.path.startswith(f"{layer}/vars/")]
        if len(groups.arrays) < 2_000
        else [array.shape]
    )
    first = next(iter(shapes), ())
    return len(first) == 2 and (len(shapes) == 1 or (len(shapes) == 2 and shapes[1] == first[1:]))


def _role(array: Array, place: _Place) -> Role:
    return Role.OPTIMIZER if _OPTIMIZER.match(array.path) else role_of(place.leaf, array.dtype)
