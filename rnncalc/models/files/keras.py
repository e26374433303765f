"""Keras' files: `.keras`, its weights in `.weights.h5` as Keras 3 writes them, and whole models as Keras 2 did.

A `.keras` file is a zip archive of a configuration and of the weights in HDF5. Keras 3 numbers the variables of a layer
in the order in which they were made; Keras 2 names them. The configuration gives the layers' order and settings, and
which are not trained. Nothing in it is built or run, not even a lambda.
"""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain
from math import prod
from typing import Any

from rnncalc import bounds
from rnncalc.models.files import model
from rnncalc.models.files.archive import Archive
from rnncalc.models.files.by_name import of_names
from rnncalc.models.files.hdf5 import Attributes, Contents, Region, StoredArray, contents
from rnncalc.models.files.keras_config import UNKNOWN, Configuration, KerasLayer
from rnncalc.models.files.model import BadFileError, FileModule, FileTensor, ModelFile, Remark, RemarkKind, TensorRole
from rnncalc.printable import escape

WEIGHTS = "model.weights.h5"


def read(path: str) -> ModelFile:
    """Return the contents of a `.keras` file."""
    with Archive(path) as archive:
        if WEIGHTS not in archive.names:
            raise BadFileError(f"is a zip archive, but no model of Keras: it holds no {WEIGHTS}")
        config = model.json_object(archive.read("config.json", bounds.MOST_CONFIG), "configuration", bounds.MOST_CONFIG)
        metadata = "metadata.json"
        head = archive.read(metadata, bounds.MOST_CONFIG) if metadata in archive.names else "{}"
        version = str(model.json_object(head, metadata, bounds.MOST_CONFIG).get("keras_version", "3"))
        span = archive.span(WEIGHTS)
        opened = (
            partial(Region, path, *span) if span else partial(io.BytesIO, archive.read(WEIGHTS, bounds.MOST_INFLATED))
        )
    return of_arrays(path, "keras", contents(opened), config, version=version)


_OF_KERAS = re.compile(r"(^|/)vars/|:0$|(^|/)(optimizer_weights|kernel|recurrent_kernel|embeddings|gamma)$")
"""Of the path of an array in a file of Keras."""


def read_hdf5(path: str) -> ModelFile:
    """Return the contents of a file of weights in HDF5, or of a whole model as Keras 2 wrote it.

    If none of its arrays is called as Keras calls one, it is another program's.
    """
    held = contents(partial(Region, path))
    paths = [array.path for array in held.arrays]
    _refuse_shard(path, [*paths, *held.links])
    if paths and not held.attributes and not held.links and not any(map(_OF_KERAS.search, paths)):
        names = [each.replace("/", ".") for each in paths]
        role_of = model.roles_of(names)
        tensors = [
            FileTensor(name, array.shape, array.dtype, role_of(name, array.dtype), array.read)
            for name, array in zip(names, held.arrays, strict=True)
        ]
        return of_names(path, "plain-hdf5", tensors)
    return of_arrays(path, "hdf5", held)


def read_shards(path: str) -> ModelFile:
    """Return the contents of all files that `save_weights` split a model into, from their index.

    Its `weight_map` has the files of each layer; the arrays of one layer may be in several.
    """
    places = model.json_in(path, "list of files", bounds.MOST_INDEX).get("weight_map")
    if not isinstance(places, dict):
        raise BadFileError("is no index of a model: it has no weight_map")
    lists = (name if isinstance(name, list) else [name] for name in places.values())
    files = sorted({*map(str, chain.from_iterable(lists))})
    shards = [contents(partial(Region, model.beside(path, name))) for name in files]
    arrays = [array for shard in shards for array in shard.arrays]
    if len({array.path for array in arrays}) < len(arrays):
        raise BadFileError("names files that hold an array of the same name")
    attributes = {group: words for shard in shards for group, words in shard.attributes.items()}
    held = Contents(arrays, attributes, [link for shard in shards for link in shard.links])
    return of_arrays(path, "hdf5", held, None, Remark(RemarkKind.FILES, tuple(files)))


def of_arrays(
    path: str,
    form: str,
    held: Contents,
    config: Mapping[str, Any] | None = None,
    *of_file: Remark,
    framework: str = "keras",
    version: str = "",
) -> ModelFile:
    """Return a file of arrays in groups, with the settings of their layers if there is a configuration.

    version: of the Keras that wrote it, if the arrays' attributes do not have it.
    """
    arrays, attributes, links = held
    top = attributes.get("", {})
    configuration = Configuration(
        config if config is not None else top.get("model_config"), version or str(top.get("keras_version"))
    )
    layers = _named(configuration.layers)
    homes = _Homes(layers, attributes)
    tensors: list[FileTensor] = []
    modules: dict[str, dict[str, FileTensor]] = {name: {} for name in layers}
    order = [*layers] or [*attributes.get("model_weights", top).get("layer_names", ())]
    places: dict[str, float] = {name: place for place, name in enumerate(order)}
    variables = _variables(arrays, homes)
    quantised: dict[str, dict[str, FileTensor]] = {}
    parts: dict[str, None] = {}  # the layers that others are in
    lora: dict[str, int] = {}  # what Keras adds to layers that it loads
    shapes = {array.path: array.shape for array in arrays}
    for array in arrays:
        group, leaf = _place(array, variables)
        name, home = homes.name(array.path, group), homes.home(group)
        layer = layers.get(name, UNKNOWN)
        role = model.role_of(leaf, array.dtype)
        if _OPTIMIZER.match(array.path):
            role = TensorRole.OPTIMIZER
        elif _METRIC.search(array.path):
            role = TensorRole.BUFFER
        frozen = layer.frozen if layer is not UNKNOWN and role is TensorRole.PARAMETER else None
        counted = leaf in _STATISTICS or (leaf in _OF_DATA and (layer.kind or name).lower().startswith("normalization"))
        if counted and role is not TensorRole.OPTIMIZER:  # Keras counts them, as not trainable
            role, frozen = TensorRole.PARAMETER, True
        shared = None
        kernel = f"{group}/layer/vars/0"
        if leaf == "vector_u" or kernel in shapes:  # of a SpectralNormalization, which has its kernel too
            name, frozen = group, True
            shared = kernel if shapes.get(kernel) == array.shape else None
        if layer.settings.get("lora_rank") and leaf in ("kernel", "embeddings"):
            frozen = True
            if array.path[-1].isdecimal():  # added to the kernel, and not kept
                lora[name] = int(layer.settings["lora_rank"]) * sum(array.shape)
        tensors.append(FileTensor(array.path, array.shape, array.dtype, role, array.read, frozen, shared))
        if role is TensorRole.PARAMETER:
            module = modules.setdefault(name, {})
            module[array.path if leaf in module else leaf] = tensors[-1]  # cells of one layer have the same names
            if home and home != name:
                parts[home] = None
                if not modules.get(home):
                    modules.pop(home, None)
                places[name] = places[home]
        elif role is TensorRole.BUFFER and leaf.endswith(_QUANTISED):
            quantised.setdefault(name, {})[leaf] = tensors[-1]
    remarks = [*of_file, *([] if layers else [Remark(RemarkKind.NO_CONFIG)])]
    remarks += model.quantised_remarks(dict(chain.from_iterable(map(_unpacked, quantised.values()))))
    remarks += model.named_remarks({RemarkKind.NOT_READ: links})
    remarks += configuration.remarks()
    remarks += model.named_remarks({RemarkKind.WITHIN: parts})
    if lora:
        remarks.append(Remark(RemarkKind.LORA, tuple(lora), (sum(lora.values()),)))
    in_order = tuple(
        FileModule(name, modules[name], layer.kind, layer.settings, quantised.get(name, {}), layer.steps, layer.inputs)
        for name in sorted(modules, key=lambda name: places.get(name, len(places)))
        for layer in (layers.get(name, UNKNOWN),)
    )
    steps, inputs = configuration.reads()
    file = ModelFile(path, form, framework, tuple(tensors), in_order, bool(places), tuple(remarks), steps, inputs)
    tops = {name for row, _ in configuration.rows for name in row}
    if not tops.issuperset((*configuration.joins, *configuration.forks)):  # of a model within it
        return file
    rows = [({*row} - configuration.joins.keys(), calls) for row, calls in configuration.rows]
    paths = [(frozenset(name for name, layer in layers.items() if layer.names[0] in row), calls) for row, calls in rows]
    return file._replace(rows=tuple(each for each in paths if any(modules.get(name) for name in each[0])))


def _refuse_shard(path: str, names: Sequence[str]) -> None:
    """Refuse one of the files that `save_weights` splits a model into, which has some variables of a layer alone."""
    numbers: dict[str, set[str]] = {}
    for name in names:
        group, _, number = name.rpartition("/vars/")
        if group and number.isdecimal():
            numbers.setdefault(group, set()).add(number)
    split = any({*map(str, range(len(several)))} != several for several in numbers.values())
    both = [(each, numbers.get(re.sub("/forward_layer", "/backward_layer", group))) for group, each in numbers.items()]
    split |= any(other not in (None, each) for each, other in both)
    index = re.sub(r"_[0-9]{5}\.weights\.h5$", ".weights.json", path)
    if split or (index != path and os.path.exists(index)):
        name = escape(os.path.basename(index))
        raise BadFileError(f"is one of several files of a Keras model; name {name}, their index")


_QUANTISED = ("kernel", "embeddings", "_scale", "g_idx")


def _unpacked(tensors: Mapping[str, FileTensor]) -> Iterator[tuple[str, int]]:
    """Yield the quantised weights of a layer, with how many numbers each has; two of four bits are in a byte."""
    for leaf, tensor in tensors.items():
        if leaf.endswith(("kernel", "embeddings")):
            *rows, columns = tensor.shape or (0,)
            if "g_idx" in tensors:  # of four bits
                wide = tensors.get("g_idx" if leaf == "embeddings" else f"{leaf}_scale", tensor)
                columns = prod(wide.shape[-1:])
            yield tensor.name, prod(rows) * columns


def _named(layers: Sequence[KerasLayer]) -> dict[str, KerasLayer]:
    """Return layers by their names, those that share one with the names of the models that they are in."""
    times = Counter(layer.names[-1] for layer in layers)
    return {layer.names[-1] if times[layer.names[-1]] == 1 else "/".join(layer.names): layer for layer in layers}


class _Homes:
    """The layers that arrays belong to: those of the configuration, or else groups of the file."""

    def __init__(self, layers: Mapping[str, KerasLayer], attributes: Attributes) -> None:
        self.layers = layers
        named = {path.removesuffix("/vars"): words.get("name") for path, words in attributes.items()}
        self.groups = {path: name for path, name in named.items() if name in layers}  # a class may have two names
        self.groups |= {layer.group: name for name, layer in layers.items()}
        self._tops: dict[str, list[str]] = {}
        self._within: dict[
            tuple[str, str], list[str]
        ] = {}  # by the names of a layer and of that around it, and the top
        for name, layer in layers.items():
            top, *below = layer.names
            self._tops.setdefault(top, []).append(name)
            for word in {*below[-2:]}:
                self._within.setdefault((top, word), []).append(name)
        self._names = _names(attributes)

    def home(self, group: str) -> str | None:
        """Return the innermost layer of the configuration that has a group, or is around it."""
        above = [*accumulate(group.split("/"), "{}/{}".format)]
        return next((self.groups[each] for each in reversed(above) if each in self.groups), None)

    def name(self, path: str, group: str) -> str:
        """Return the name of the layer of an array, in whose group it is."""
        if several := self._tops.get(group):  # as Keras 2 writes it
            words = {*path.split("/")}
            if len(several) > 1:
                several = [
                    name for word in words for name in self._within.get((group, word), ())[: bounds.MOST_COMPARED]
                ]
            scores = {name: sum(1 if word in words else -1 for word in self.layers[name].names[1:]) for name in several}
            best = [name for name in scores if scores[name] == max(scores.values())]
            return best[0] if len(best) == 1 else group
        home = self.home(group)
        whole = home and (home == self.groups.get(group) or _WHOLE.fullmatch(self.layers[home].kind))
        return home if home and whole else self._names.get(group, group)


def _names(attributes: Attributes) -> dict[str, str]:
    """Return the names that Keras 3 writes beside groups, with those of the models around, except shared ones."""
    named = {
        path.removesuffix("/vars"): words["name"]
        for path, words in attributes.items()
        if path.endswith("/vars") and not path.endswith("/cell/vars") and isinstance(words.get("name"), str)
    }
    names = {
        path: "/".join(named[above] for above in accumulate(path.split("/"), "{}/{}".format) if above in named)
        for path in named
    }
    times = Counter(names.values())
    return {path: name for path, name in names.items() if times[name] == 1}


_WHOLE = re.compile("Bidirectional|.*Cell|RNN")
"""The layers within which others are not apart."""
# https://github.com/keras-team/keras/blob/master/keras/src/saving/saving_lib.py
_NUMBERED = re.compile(
    r"(?P<layer>.*?)(/(?P<way>forward|backward)_layer)?(?P<cell>/cell)?(/(?P<part>query|key|value|output)_dense)?/vars/(?P<leaf>[0-9]+)"
)
# https://github.com/keras-team/keras/blob/master/keras/src/legacy/saving/legacy_h5_format.py
_NAMED = re.compile(
    r"(model_weights/)?(?P<layer>[^/]+)/(.*?/((?P<part>query|key|value|attention_output)/)?)?(?P<leaf>[^/:]+)(:0)?"
)
_WAY = re.compile(r"/(forward|backward)_[^/]+/")
_OPTIMIZER = re.compile(r"(_?optimizer(_weights)?|optimizer_weights)(/|$)")
_METRIC = re.compile(r"(^|/)(metrics/[^/]+|[^/]+_tracker)/vars/[0-9]+$")
"""What a compiled model keeps between its batches."""
_DENSE = re.compile(r"dense[0-9]*")
"""The kind of a dense layer, which may have a bias of another length."""
_CELL = ("kernel", "recurrent_kernel", "bias")
_STATISTICS = ("moving_mean", "moving_variance")
_OF_DATA = ("mean", "variance", "count")
"""The variables of a Normalization."""


def _variables(arrays: Sequence[StoredArray], homes: _Homes) -> dict[str, tuple[str, ...]]:
    """Return the names of the numbered variables of each group, as far as they are known."""
    shapes: dict[str, dict[int, tuple[int, ...]]] = {}
    for array in arrays:
        if (numbered := _NUMBERED.fullmatch(array.path)) and not numbered["cell"] and not numbered["part"]:
            shapes.setdefault(numbered["layer"], {})[int(numbered["leaf"])] = array.shape
    variables = {}
    for group, those in shapes.items():
        name = homes.name("", group)
        config, word = homes.layers.get(name, UNKNOWN), name.rpartition("/")[2]
        kind = config.kind or (word if re.match("embedding|batch_norm", word) else group.rpartition("/")[2])
        kind = kind.replace("_", "").lower()  # the group may be that of an attribute
        variables[group] = _names_in(kind, [shape for _, shape in sorted(those.items())], config.settings)
    return variables


def _place(array: StoredArray, variables: Mapping[str, tuple[str, ...]]) -> tuple[str, str]:
    """Return the layer that an array belongs to, and its name there, which may be a number."""
    if match := _NUMBERED.fullmatch(array.path):
        part = match["way"] or {"output": "attention_output"}.get(match["part"], match["part"])
        mark = f"{part}/" if part else ""
        layer, number = match["layer"], int(match["leaf"])
        names = _CELL if match["cell"] else ("kernel", "bias") if match["part"] else variables[layer]
        return layer, mark + (names[number] if number < len(names) else str(number))
    if match := _NAMED.fullmatch(array.path):
        way = _WAY.search(array.path)
        part = way[1] if way else match["part"]
        return match["layer"], f"{part}/{match['leaf']}" if part else match["leaf"]
    layer, _, leaf = array.path.rpartition("/")
    return layer, leaf


def _names_in(kind: str, shapes: Sequence[tuple[int, ...]], settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names that Keras has for the numbered variables of a layer, as far as they are known.

    kind: its class, or the name of its group, in small letters.
    """
    vectors = len({*shapes}) == 1 and len(shapes[0]) == 1
    if kind.startswith("seedgenerator"):
        return ("seed_generator_state",) * len(shapes)
    if kind.startswith("normalization"):
        return _OF_DATA
    if "norm" in kind and vectors and len(shapes) > 2 - ("batch" in kind):
        # a batch norm; of three variables, the configuration tells whether the first is gamma or beta
        scale = settings.get("scale", len(shapes) == 4)
        trained = {4: ("gamma", "beta"), 3: ("gamma",) if scale is True else ("beta",)}
        return (*trained.get(len(shapes), ()), *_STATISTICS) if len(shapes) <= 4 else ()
    if "norm" in kind and vectors:
        return ("beta",) if settings.get("scale") is False else ("gamma", "beta")
    if "conv" in kind and shapes[0][2:]:
        return ("kernel", "bias")
    if kind.startswith("embedding"):
        return ("embeddings", "embeddings_scale", "embeddings_zero", "g_idx")
    if re.fullmatch("(lstm|gru|simplernn)cell[0-9]*", kind):
        return _CELL
    if kind.startswith("prelu"):
        return ("alpha",)
    matrix, *others = shapes
    dense = len(matrix) == 2 and others in ([], [matrix[1:]])  # and at most one vector, as long as its rows
    # in 8 bits it has a scale of its kernel, in 4 a zero point too, in float8 these six: https://github.com/keras-team/keras/blob/master/keras/src/layers/core/dense.py
    if _DENSE.fullmatch(kind):
        wide = ("inputs", "kernel", "outputs_grad")
        more: tuple[str, ...] = ("kernel_scale", "kernel_zero", "g_idx")
        more = tuple(f"{word}_{end}" for word in wide for end in ("scale", "amax_history")) if shapes[6:] else more
        return ("kernel", *([] if settings.get("use_bias") is False else ["bias"]), *more)
    return ("kernel", "bias") if dense and not settings else ()
