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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

from rnncalc import bounds
from rnncalc.files import open_input
from rnncalc.modelfiles import model
from rnncalc.modelfiles.archive import Archive
from rnncalc.modelfiles.model import BadFileError, FileModule, FileTensor, ModelFile, Remark, RemarkKind, TensorRole
from rnncalc.text import escape

WEIGHTS = "model.weights.h5"


def read(path: str) -> ModelFile:
    """Return the contents of a `.keras` file."""
    with Archive(path) as archive:
        if WEIGHTS not in archive.names:
            raise BadFileError(f"is a zip archive, but no model of Keras: it holds no {WEIGHTS}")
        config = model.json_object(archive.read("config.json", bounds.MOST_CONFIG), "configuration", bounds.MOST_CONFIG)
        span = archive.span(WEIGHTS)
        opened = (
            partial(Region, path, *span) if span else partial(io.BytesIO, archive.read(WEIGHTS, bounds.MOST_INFLATED))
        )
    return _of_arrays(path, "keras", opened, config)


def read_hdf5(path: str) -> ModelFile:
    """Return the contents of a file of weights in HDF5, or of a whole model as Keras 2 wrote it."""
    return _of_arrays(path, "hdf5", partial(Region, path), None)


# HDF5: the arrays of a file, and the attributes of its groups. No link is followed. It is read with h5py, which is an
# extra: the format takes a library.

Opened = Callable[[], io.RawIOBase | io.BytesIO]
"""Opens the file for h5py, which gets no path, because with one it could open other files too."""


class HDF5Array(NamedTuple):
    """An array by its path."""

    path: str
    shape: tuple[int, ...]
    dtype: str


Attributes = Mapping[str, Mapping[str, Any]]
"""The attributes of the groups of a file by path."""


class Region(io.RawIOBase):
    """A part of a file, or all of it, as a file."""

    def __init__(self, path: str, start: int = 0, size: int | None = None) -> None:
        self._file = open_input(path)
        rest = os.fstat(self._file.fileno()).st_size - start
        self._start, self._size, self._at = start, rest if size is None else size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + {0: 0, 1: self._at, 2: self._size}[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._start + self._at)
        data = self._file.read(max(0, min(len(buffer), self._size - self._at)))
        if len(data) < len(buffer):  # h5py would take what was in the memory for the rest
            raise OSError("the file ends before it should")
        buffer[:] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def _open(opened: Opened) -> Iterator[Any]:
    try:
        import h5py
    except ImportError:
        raise BadFileError("is read with h5py, which is not installed: pip install 'rnncalc[models]'") from None
    try:
        with opened() as data, h5py.File(data, "r") as file:
            yield file
    except BadFileError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise BadFileError(f"is truncated, or is not an HDF5 file: {escape(str(error)).lower()}") from None


def contents(opened: Opened) -> tuple[list[HDF5Array], Attributes, list[str]]:
    """Return the arrays of a file by path, the attributes of its groups, and its links, which are not followed."""
    arrays: list[HDF5Array] = []
    groups: dict[str, Mapping[str, Any]] = {}
    links: list[str] = []
    with _open(opened) as file:
        import h5py

        def visit(path: str, item: Any) -> None:
            if isinstance(item, h5py.HardLink):  # its object is visited by itself
                return
            # a virtual array is made of others; asking for its shape would open their files
            array = isinstance(item, h5py.Dataset)
            virtual = array and item.id.get_create_plist().get_layout() == h5py.h5d.VIRTUAL
            if len(arrays) + len(groups) + len(links) > bounds.MOST_GROUPS:
                raise BadFileError(f"holds more than {bounds.MOST_GROUPS:,} arrays, groups and links")
            if path.count("/") > bounds.MOST_GROUP_DEPTH or len(path) > bounds.MOST_NAME:
                raise BadFileError("holds groups within groups to no end")
            if isinstance(item, h5py.Group):
                words = {key: _attribute(item, key) for key in ("name", "model_config", "layer_names")}
                groups[path] = {key: value for key, value in words.items() if value is not None}
            elif virtual or isinstance(item, h5py.SoftLink | h5py.ExternalLink):
                links.append(path)
            elif array:
                kind = item.dtype
                halves = kind.kind == "V" and kind.itemsize == 2  # a type that NumPy has not is stored as bytes
                dtype = "bfloat16" if halves and _attribute(item, "dtype") in (None, "bfloat16") else str(kind.name)
                arrays.append(HDF5Array(path, tuple(int(size) for size in item.shape or ()), dtype))

        visit("", file)
        file.visititems(visit)
        # h5py has visititems_links since 3.11 alone
        file.id.links.visit(lambda name: visit(name.decode(), file.get(name, getlink=True)))
    return arrays, {path: words for path, words in groups.items() if words}, sorted(links)


def _attribute(item: Any, name: str) -> str | list[str] | None:
    """Return an attribute that is text, or a list of words as Keras writes it; None for any other."""
    import h5py

    if name not in item.attrs:
        return None
    attribute = item.attrs.get_id(name)
    kind = attribute.get_type()
    shape = attribute.shape  # None of one that is empty
    if (
        not isinstance(kind, h5py.h5t.TypeStringID)
        or shape is None
        or kind.get_size() * prod(shape) > bounds.MOST_ATTRIBUTE
    ):
        return None
    if shape and kind.is_variable_str():  # each word may be as long as the file
        return None
    value = item.attrs[name]
    return [_word(each) for each in value.ravel()] if shape else _word(value)


def _word(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def numbers(opened: Opened, path: str, shape: tuple[int, ...], dtype: str) -> Any:
    """Return the numbers of an array."""
    with _open(opened) as file:
        item = file[path]
        if item.external:
            raise BadFileError(f"keeps {escape(path)} in another file, which is not opened")
        if dtype != "bfloat16" and item.dtype.kind not in "biuf":
            raise BadFileError(f"holds numbers of the type {dtype}, which are not read here; save them as float32")
        piece = prod(item.chunks or ()) * item.dtype.itemsize
        if piece > bounds.MOST_INFLATED:
            raise BadFileError(
                f"packs {escape(path)} by {piece:,} bytes; at most {bounds.MOST_INFLATED:,} are unpacked"
            )
        array = item[()]
    flat = model.decoded(array.tobytes(), dtype) if dtype == "bfloat16" else array.astype("float64").ravel().tolist()
    return model.nested(flat, shape)


# The configuration: the layers, their settings, and which are not trained


class KerasLayer(NamedTuple):
    """A layer of a configuration: its class, its settings that are plain words and numbers; frozen: not trained."""

    kind: str
    settings: Mapping[str, Any]
    frozen: bool


UNKNOWN = KerasLayer("", {}, frozen=False)
"""A layer that is in no configuration."""


def _config(config: Any) -> tuple[dict[str, KerasLayer], int | None, int | None]:
    """Return the layers of a configuration by name, in order, and the length and width of its input, if given."""
    if config is None:
        return {}, None, None
    top = model.json_object(config, "configuration", bounds.MOST_CONFIG) if isinstance(config, str | bytes) else config
    layers: dict[str, KerasLayer] = {}
    shapes: list[tuple[int | None, ...]] = []
    space: tuple[int | None, ...] = ()
    for kind, settings, frozen, read in _layers(top, frozen=False, calls=0, depth=0):
        name = settings.get("name")
        if kind == "InputLayer":
            shapes.append(_sizes(settings.get("batch_shape", settings.get("batch_input_shape"))))
            space = shapes[-1][1:-1]
        elif isinstance(name, str):
            space = read[1:-1] or space
            plain = _plain(settings)
            if (axes := _SPACES.get(kind)) and len(space) == axes and None not in space:
                plain["space"] = space
            layers.setdefault(name, KerasLayer(kind, plain, frozen))
            if not _KEEPING.fullmatch(kind) and not (axes and settings.get("padding") == "same"):
                space = ()
    kinds = {layer.kind for layer in layers.values()}
    sizes = shapes[0] if len(shapes) == 1 else ()
    if len(sizes) == 2 or (len(sizes) > 2 and kinds & _SPACES.keys()):
        steps, *step = sizes
        return layers, steps, None if None in step else prod(size or 0 for size in step)
    return layers, sizes[0] if len(sizes) == 1 and "Embedding" in kinds else None, None


_SPACES = {"ConvLSTM1D": 1, "ConvLSTM2D": 2}
"""The layers whose steps have places, and along how many axes."""
_KEEPING = re.compile("[A-Za-z]*(Normalization|Dropout([1-3]D)?|Noise|ReLU|ELU|Softmax|Activation|Masking)")
"""The layers that output as many places as they read. Keras 2 writes no shapes into its configurations."""


def _sizes(shape: Any) -> tuple[int | None, ...]:
    """Return the sizes of a shape behind the batch; None for one that is not given."""
    sizes = shape[1:] if isinstance(shape, list) else []
    return tuple(size if type(size) is int and 0 < size <= 10**12 else None for size in sizes)


def _layers(
    node: Any, *, frozen: bool, calls: int, depth: int
) -> Iterator[tuple[str, Mapping[str, Any], bool, tuple[int | None, ...]]]:
    """Yield the class, the settings, whether it is frozen, and the input shape if it is given, of each layer.

    Layers within models are in their places. calls: how often the model around it is called, 0 if that is not said.
    The settings have the `calls` of one called more than once, and as its `cell` the class that a wrapper is around,
    with `ways` of a Bidirectional whose layers have other settings.
    """
    config = _settings(node)
    if not config or depth > bounds.MOST_CONFIG_DEPTH:
        return
    frozen = frozen or config.get("trainable") is False
    nodes = node.get("inbound_nodes")
    calls = max(calls, len(nodes) if isinstance(nodes, list) else 0)
    below = config.get("layers")
    cells = _settings(config.get("cell")).get("cells")
    if isinstance(cells, list):  # each is a layer
        whole = {key: config.get(key) for key in ("return_sequences", "go_backwards")}
        below = [{**each, "config": {**_settings(each), **whole}} for each in cells if isinstance(each, dict)]
    if isinstance(below, list):
        for each in below:
            yield from _layers(each, frozen=frozen, calls=calls, depth=depth + 1)
        return
    inner: Any = config.get("layer")  # a layer that wraps another
    within = _settings(inner)
    if within and node.get("class_name") != "Bidirectional":  # TimeDistributed, which is its layer
        wrapped = {**inner, "config": {**within, "wrapper": str(node.get("class_name"))}}
        yield from _layers(wrapped, frozen=frozen, calls=calls, depth=depth + 1)
        return
    built = node.get("build_config")  # Keras 3 writes it, in `.keras` alone
    read = _sizes(built.get("input_shape") if isinstance(built, dict) else config.get("batch_input_shape"))
    more: dict[str, Any] = {"calls": calls} if calls > 1 else {}
    other = _settings(config.get("backward_layer"))
    if any(other[key] != within.get(key) for key in ("activation", "recurrent_activation") if key in other):
        more["ways"] = "apart"
    cell = within.get("cell", config.get("cell", inner))
    if isinstance(cell, dict):
        more["cell"] = str(cell.get("class_name"))
        within = {**_settings(cell), **within}
    yield str(node.get("class_name")), {**within, **config, **more}, frozen, read


def _settings(node: Any) -> dict[str, Any]:
    """Return the settings of a node, empty if it is no layer."""
    config = node.get("config") if isinstance(node, dict) else None
    return config if isinstance(config, dict) else {}


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that are words and numbers; a list of equal numbers, such as strides, is one of them.

    An activation may be a layer, or a function of one's own.
    """
    alone = {
        key: str(value.get("class_name")) if key.endswith("activation") and isinstance(value, dict) else value
        for key, value in settings.items()
    }
    alone = {
        key: value[0] if isinstance(value, list) and value and value.count(value[0]) == len(value) else value
        for key, value in alone.items()
    }
    return {
        key: value
        for key, value in alone.items()
        if isinstance(value, bool | int | float | None)
        or (isinstance(value, str) and len(value) <= bounds.MOST_SETTING)
    }


def _of_arrays(path: str, format: str, opened: Opened, config: Mapping[str, Any] | None) -> ModelFile:
    """Return a file of arrays in groups, with the settings of their layers if there is a configuration."""
    arrays, attributes, links = contents(opened)
    top = attributes.get("", {})
    layers, steps, inputs = _config(config if config is not None else top.get("model_config"))
    tensors: list[FileTensor] = []
    modules: dict[str, dict[str, FileTensor]] = {}
    names = _names(attributes, layers)
    homes: dict[str, str] = {}  # the layers of the configuration that others are in
    variables = _variables(arrays, names, layers)
    for array in arrays:
        path_of_layer, leaf = _place(array, variables)
        name = names.get(path_of_layer, path_of_layer)
        if name not in layers and (home := _home(array.path, names, layers)):
            name = home if layers[home].kind.endswith("Cell") else name
            homes[name] = home
        role = TensorRole.OPTIMIZER if _OPTIMIZER.match(array.path) else model.role_of(leaf, array.dtype)
        frozen = layers[name].frozen if name in layers and role is TensorRole.PARAMETER else None
        kind = layers.get(name, UNKNOWN).kind or name
        counted = leaf in _STATISTICS or (leaf in _OF_DATA and kind.lower().startswith("normalization"))
        if counted and role is not TensorRole.OPTIMIZER:  # Keras counts them, as not trainable
            role, frozen = TensorRole.PARAMETER, True
        read = partial(numbers, opened, array.path, array.shape, array.dtype)
        tensors.append(FileTensor(array.path, array.shape, array.dtype, role, read, frozen))
        if role is TensorRole.PARAMETER:
            module = modules.setdefault(name, {})
            module[array.path if leaf in module else leaf] = tensors[-1]  # cells of one layer have the same names
    _, of_tensors = model.remarked(tensors)  # the names of scales are known here
    remarks = [*of_tensors] if layers else [Remark(RemarkKind.NO_CONFIG), *of_tensors]
    if links:
        remarks.append(Remark(RemarkKind.NOT_READ, tuple(links)))
    order = [*layers] or [*attributes.get("model_weights", top).get("layer_names", ())]
    places = {name: place for place, name in enumerate(order)}
    places |= {name: places[home] for name, home in homes.items()}
    if modules.keys() <= layers.keys():  # each is known by its name, so the other layers have no weights
        modules = {name: modules.get(name, {}) for name in layers}
    in_order = tuple(
        FileModule(name, modules[name], layer.kind, layer.settings)
        for name in sorted(modules, key=lambda name: places.get(name, len(places)))
        for layer in (layers.get(name, UNKNOWN),)
    )
    return ModelFile(path, format, "keras", tuple(tensors), in_order, bool(places), tuple(remarks), steps, inputs)


def _home(path: str, names: Mapping[str, str], layers: Mapping[str, KerasLayer]) -> str | None:
    """Return the innermost layer of the configuration whose group an array is in."""
    parts = path.split("/")
    groups = (names.get("/".join(parts[:end]), parts[end - 1]) for end in range(len(parts), 0, -1))
    return next((name for name in groups if name in layers), None)


def _names(attributes: Attributes, layers: Collection[str]) -> dict[str, str]:
    """Return the names of layers from their groups, without names that two layers share.

    layers: of the configuration; the name of any other begins with those of the models that it is in.
    """
    named = {
        path.removesuffix("/vars"): words["name"]
        for path, words in attributes.items()
        if path.endswith("/vars") and not path.endswith("/cell/vars") and isinstance(words.get("name"), str)
    }
    names: dict[str, str] = {}
    for path, name in named.items():
        models = [named[above] for above in accumulate(path.split("/"), "{}/{}".format) if above in named]
        names[path] = name if name in layers else "/".join(models)
    times = Counter(names.values())
    return {path: name for path, name in names.items() if times[name] == 1}


_NUMBERED = re.compile(
    r"(?P<layer>.*?)(/(?P<way>forward|backward)_layer)?(?P<cell>/cell)?(/(?P<part>query|key|value|output)_dense)?/vars/(?P<leaf>[0-9]+)"
)
_NAMED = re.compile(
    r"(model_weights/)?(?P<layer>[^/]+)/(.*?/((?P<part>query|key|value|attention_output)/)?)?(?P<leaf>[^/:]+)(:0)?"
)
_WAY = re.compile(r"/(forward|backward)_[^/]+/")
_OPTIMIZER = re.compile(r"(_?optimizer(_weights)?|optimizer_weights)(/|$)")
_DENSE = re.compile(r"dense[0-9]*")
"""The kind of a dense layer, which may have a bias of another length."""
_CELL = ("kernel", "recurrent_kernel", "bias")
_STATISTICS = ("moving_mean", "moving_variance")
_OF_DATA = ("mean", "variance", "count")
"""The variables of a Normalization."""


def _variables(
    arrays: list[HDF5Array], names: Mapping[str, str], layers: Mapping[str, KerasLayer]
) -> dict[str, tuple[str, ...]]:
    """Return the names of each layer's numbered variables, as far as they are known."""
    shapes: dict[str, dict[int, tuple[int, ...]]] = {}
    for array in arrays:
        if (numbered := _NUMBERED.fullmatch(array.path)) and not numbered["cell"] and not numbered["part"]:
            shapes.setdefault(numbered["layer"], {})[int(numbered["leaf"])] = array.shape
    variables = {}
    for layer, those in shapes.items():
        config = layers.get(names.get(layer, layer), UNKNOWN)
        group, name = layer.rpartition("/")[2], names.get(layer, "").rpartition("/")[2]
        kind = config.kind or (name if re.match("embedding|batch_norm", name) else group)  # which may be an attribute
        kind = kind.replace("_", "").lower()
        variables[layer] = _names_in(kind, [shape for _, shape in sorted(those.items())], config.settings)
    return variables


def _place(array: HDF5Array, variables: Mapping[str, tuple[str, ...]]) -> tuple[str, str]:
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
        return ("embeddings", "embeddings_scale")
    if re.fullmatch("(lstm|gru|simplernn)cell[0-9]*", kind):
        return _CELL
    if kind.startswith("prelu"):
        return ("alpha",)
    matrix, *others = shapes
    dense = len(matrix) == 2 and others in ([], [matrix[1:]])  # and at most one vector, as long as its rows
    if _DENSE.fullmatch(kind):  # a quantised one has a scale of its kernel too
        return ("kernel", "kernel_scale") if settings.get("use_bias") is False else ("kernel", "bias", "kernel_scale")
    return ("kernel", "bias") if dense and not settings else ()
