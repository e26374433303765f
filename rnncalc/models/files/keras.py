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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate, chain
from math import prod
from typing import Any, NamedTuple

from rnncalc import bounds
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.archive import Archive
from rnncalc.models.files.model import BadFileError, FileModule, FileTensor, ModelFile, Remark, RemarkKind, TensorRole
from rnncalc.printable import escape

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


# The configuration: the layers, their settings, which are not trained, and what joins them

Sizes = tuple[int | None, ...]


class KerasLayer(NamedTuple):
    """A layer of a configuration.

    kind: its class. settings: those that are plain words and numbers. frozen: whether it is not trained.
    names: those of the models and wrappers that it is in, from the outermost, and its own.
    group: where Keras 3, and TensorFlow from 2.12 on, have its variables.
    steps, inputs: of the sequence that it reads, as in a module of a file.
    """

    kind: str
    settings: Mapping[str, Any]
    frozen: bool
    names: tuple[str, ...] = ()
    group: str = ""
    steps: int | None = 0
    inputs: int = 0


UNKNOWN = KerasLayer("", {}, frozen=False)
"""A layer that is in no configuration."""

_SPACES = {"ConvLSTM1D": 1, "ConvLSTM2D": 2}
"""The layers whose steps have places, and along how many axes."""
_KEEPING = re.compile("[A-Za-z]*(Normalization(V1)?|Dropout([1-3]D)?|Noise|ReLU|ELU|Softmax|Activation|Masking)")
"""The layers that output as many places as they read. Keras 2 writes no shapes into its configurations."""
_FOLLOWED = re.compile(
    "(CuDNN)?(LSTM|GRU)(Cell)?|SimpleRNN(Cell)?|RNN|Bidirectional|ConvLSTM[12]D|Conv1D|Dense|Embedding|Flatten"
    "|MultiHeadAttention|(Global)?(Max|Average)Pooling1D|RepeatVector|Identity|Add"
)
"""The layers that change the number of steps as a spec says, or not at all."""


class Configuration:
    """A configuration.

    layers: in order, those within models in their places. inputs: the shape of each input, behind the batch.
    outputs: how many the model has. joins: the layers that read several values. forks: those that several layers read,
    or of which another value than the first is read.
    """

    def __init__(self, config: Any) -> None:
        self.layers: list[KerasLayer] = []
        self.inputs: list[Sizes] = []
        self.outputs = 1
        self.joins: dict[str, None] = {}
        self.forks: dict[str, None] = {}
        self._shape: Sizes = ()  # of what the next layer reads, if that is known
        self._lost = False  # whether its number of steps cannot be known
        self._masks: set[str] = set()  # the layers that compute masks alone
        if config is not None:
            is_text = isinstance(config, str | bytes)
            top = model.json_object(config, "configuration", bounds.MOST_CONFIG) if is_text else config
            if isinstance(_settings(top).get("layers"), list):  # a model of one's own has its code instead
                self._add(top, {}, (), "")

    def _add(self, node: Any, more: Mapping[str, Any], names: tuple[str, ...], group: str) -> None:
        """Add the layers of a node. more: settings from around it."""
        config = {**_settings(node), **more}
        if not config or len(names) > bounds.MOST_CONFIG_DEPTH:
            return
        if _settings(node).get("trainable") is False:
            more = {**more, "trainable": False}
        kind, nodes = str(node.get("class_name")), node.get("inbound_nodes")
        if isinstance(nodes, list) and len(nodes) > max(1, more.get("calls", 0)):
            more = {**more, "calls": len(nodes)}
        below, inner = config.get("layers"), config.get("layer")
        cells = _settings(config.get("cell")).get("cells")
        if isinstance(below, list):
            self._join(config, top=not names)
            self._several(below, more, names, f"{group}/layers/".lstrip("/"))
        elif isinstance(cells, list):  # each is a layer
            whole = {key: config.get(key) for key in ("return_sequences", "go_backwards")}
            self._several(cells, {**more, **whole}, names, f"{group}/cell/cells/")
        elif _settings(inner) and kind != "Bidirectional":  # TimeDistributed, which is its layer
            names = (*names, str(_settings(inner).get("name")))
            reads = {key: node.get(key) for key in ("build_config", "inbound_nodes")}
            more = {**more, "wrapper": kind, "within": "layers" in _settings(inner)}
            self._add({**(inner or {}), **reads}, more, names, f"{group}/layer")
        else:
            self._leaf(node, kind, {**_around(config, inner), **more}, names, group)

    def _several(self, nodes: list[Any], more: Mapping[str, Any], names: tuple[str, ...], start: str) -> None:
        """Add layers that are in one container, which numbers those of a class."""
        times: Counter[str] = Counter()
        for node in nodes:
            if isinstance(node, dict):
                words = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", str(node.get("class_name"))))
                word = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
                group = f"{start}{word}_{times[word]}" if times[word] else f"{start}{word}"
                times[word] += 1
                name = str(_settings(node).get("name", node.get("name", group.rpartition("/")[2])))
                if name not in self._masks:
                    self._add(node, more, (*names, name), group)

    def _leaf(self, node: Any, kind: str, config: dict[str, Any], names: tuple[str, ...], group: str) -> None:
        """Add one layer, with the shape of what it reads if that is known."""
        if kind == "InputLayer":
            sizes = _sizes(config.get("batch_shape", config.get("batch_input_shape")))
            self._shape = sizes if len(names) == 1 else self._shape or sizes
            self.inputs += [sizes] if len(names) == 1 else []  # of the whole model
            return
        read = () if len(self.inputs) > 1 else self._shape
        read = _read(node) or read or _sizes(config.get("batch_input_shape"))
        axes, plain = _SPACES.get(kind, 0), _plain(config)
        if "Norm" in kind and read and plain.get("axis", -1) not in (-1, len(read)):
            plain["axis"] = "another"
        nodes = node.get("inbound_nodes")
        if kind == "MultiHeadAttention" and isinstance(nodes, list):  # an argument of the call
            plain["causal"] = _has(nodes, "use_causal_mask")
        if activation := self._activation(kind, plain, names, nodes):
            before = self.layers[-1]
            self.layers[-1] = before._replace(settings={**before.settings, "activation": activation})
            return
        if axes and len(read) == 2 + axes and None not in read[1:-1]:
            plain["space"] = read[1:-1]
        steps: int | None = None if self._lost and not read else 0
        inputs = 0
        if config.get("within"):  # a model that is applied to each step
            steps = 0
        elif len(read) == 2 + axes or (len(read) > 1 and "wrapper" in config):
            steps, *step = read
            inputs = 0 if None in step else prod(size or 0 for size in step)
        elif kind == "Embedding" and len(read) == 1:
            (steps,) = read
        self.layers.append(KerasLayer(kind, plain, config.get("trainable") is False, names, group, steps, inputs))
        keeping = bool(_KEEPING.fullmatch(kind))
        places = axes and config.get("padding") == "same" and config.get("return_sequences") is True
        self._shape = read if keeping else (*read[:-1], None) if places else ()
        if keeping or "wrapper" in config or _FOLLOWED.fullmatch(kind):
            self._lost = self._lost and not read and kind != "RepeatVector"
        else:
            self._lost = True

    def reads(self) -> tuple[int | None, int | None]:
        """Return the steps and the width of the one input, None if they are not known or there are several."""
        kinds = {layer.kind for layer in self.layers}
        sizes = self.inputs[0] if len(self.inputs) == 1 else ()
        if len(sizes) == 2 or (len(sizes) > 2 and kinds & _SPACES.keys()):
            steps, *step = sizes
            return steps, None if None in step else prod(size or 0 for size in step)
        return sizes[0] if len(sizes) == 1 and "Embedding" in kinds else None, None

    def remarks(self) -> Iterator[Remark]:
        """Yield what joins the layers if they are not a row of layers, each behind the one before."""
        if len(self.inputs) > 1 or self.outputs > 1:
            yield Remark(RemarkKind.SEVERAL_INPUTS, (), (len(self.inputs), self.outputs))
        if self.joins:
            yield Remark(RemarkKind.JOINS, tuple(self.joins))
        if self.forks:
            yield Remark(RemarkKind.FORKS, tuple(self.forks))

    def _activation(self, kind: str, settings: Mapping[str, Any], names: tuple[str, ...], nodes: Any) -> str | None:
        """Return the activation that a layer is, of the dense layer, convolution or norm before it that has none."""
        before = self.layers[-1] if self.layers else UNKNOWN
        whole = before.names[: len(names)]
        if kind not in ("Activation", "ReLU", "Softmax"):
            return None
        behind = not nodes or {name for (name, *_), _ in _values(nodes)} == {*whole[-1:]}
        free = re.fullmatch("Dense|Conv1D|(Batch|Layer)Normalization", before.kind)
        free = free and before.settings.get("activation", "linear") == "linear"
        if not (free and behind and whole[:-1] == names[:-1] and whole[-1] not in self.forks) or "calls" in settings:
            return None
        match kind, settings:
            case "Activation", {"activation": str(word)}:
                return word
            case "ReLU", {"max_value": None, "negative_slope": 0, "threshold": 0}:
                return "relu"
            case "Softmax", {"axis": -1}:
                return "softmax"
        return None

    def _join(self, config: Mapping[str, Any], *, top: bool) -> None:
        """Find the layers of a model that are not in a row, and how many outputs it has."""
        below = [node for node in config["layers"] if isinstance(node, dict)]
        nodes = {str(node.get("name")): node.get("inbound_nodes") for node in below}
        ends = {each for each, _ in _values(config.get("output_layers")) if each[0] in nodes}
        reads = {
            name: [{each for each, _ in _values(call) if each[0] in nodes} for call in calls]
            for name, calls in nodes.items()
            if isinstance(calls, list)
        }
        waiting, reached = [*ends], {name for name, *_ in ends}
        while waiting:
            sources = {each for values in reads.get(waiting.pop()[0], ()) for each in values if each[0] not in reached}
            waiting += sources
            reached |= {name for name, *_ in sources}
        if ends:
            self._masks |= reads.keys() - reached
            reads = {name: calls for name, calls in reads.items() if name in reached}
        readers = Counter([*ends, *(each for calls in reads.values() for values in calls for each in values)])
        self.joins |= dict.fromkeys(name for name, calls in reads.items() if any(len(each) > 1 for each in calls))
        forks = {name for (name, _, place), times in readers.items() if times > 1 or place}
        self.forks |= dict.fromkeys(name for name in nodes if name in forks)
        if top:
            self.outputs = max(1, len(ends))


def _around(config: dict[str, Any], inner: Any) -> dict[str, Any]:
    """Return the settings of a layer with those of the layer, or the cell, that it is around.

    `cell` is then the class of that, and `ways` those of a Bidirectional whose layers have other settings.
    """
    within = _settings(inner)
    other = _settings(config.get("backward_layer"))
    more: dict[str, Any] = {}
    if any(other[key] != within.get(key) for key in ("activation", "recurrent_activation") if key in other):
        more["ways"] = "apart"
    cell = within.get("cell", config.get("cell", inner))
    if isinstance(cell, dict):
        more["cell"] = str(cell.get("class_name"))
        within = {**_settings(cell), **within}
    return {**within, **config, **more}


def _read(node: Any) -> Sizes:
    """Return the shape of what a layer reads if the file has it, as those of Keras 3 do, and TensorFlow's `.keras`."""
    built = node.get("build_config")
    shape = built.get("input_shape") if isinstance(built, dict) else None
    if isinstance(shape, list) and not any(isinstance(size, list) for size in shape):
        return _sizes(shape)
    shapes = [shape for _, shape in _values(node.get("inbound_nodes"))]
    return _sizes(shapes[0]) if shapes and all(shape == shapes[0] for shape in shapes) else ()


def _values(nodes: Any) -> Iterator[tuple[tuple[str, int, int], Any]]:
    """Yield the layer, the call and the number of each value in some calls' arguments, and its shape if it is given.

    Masks are no values.
    """
    waiting = [nodes]
    while waiting:
        match waiting.pop():
            case {
                "class_name": "__keras_tensor__",
                "config": {"keras_history": [name, int(call), int(place)], **config},
            }:
                yield (str(name), call, place), config.get("shape")
            case [str(name), int(call), int(place), *more]:  # as Keras 2 writes it
                yield (name, call, place), None
                waiting += more
            case dict(several):
                waiting += [value for key, value in several.items() if not str(key).endswith("mask")]
            case list(several):
                waiting += several


def _has(nodes: Any, word: str) -> bool:
    """Return whether an argument of some calls is true."""
    waiting = [nodes]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict) and each.get(word) is True:
            return True
        waiting += each.values() if isinstance(each, dict) else each if isinstance(each, list) else []
    return False


def _sizes(shape: Any) -> Sizes:
    """Return the sizes of a shape behind the batch; None for one that is not given."""
    sizes = shape[1:] if isinstance(shape, list) else []
    return tuple(size if type(size) is int and 0 < size <= 10**12 else None for size in sizes)


def _settings(node: Any) -> dict[str, Any]:
    """Return the settings of a node, empty if it is no layer; before Keras 2.2.3 a Sequential's were its layers."""
    config = node.get("config") if isinstance(node, dict) else None
    return config if isinstance(config, dict) else {"layers": config} if isinstance(config, list) else {}


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
    _refuse_shard(path, [*(array.path for array in arrays), *links])
    configuration = Configuration(config if config is not None else top.get("model_config"))
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
        read = partial(numbers, opened, array.path, array.shape, array.dtype)
        tensors.append(FileTensor(array.path, array.shape, array.dtype, role, read, frozen, shared))
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
    remarks = [] if layers else [Remark(RemarkKind.NO_CONFIG)]
    remarks += model.quantised_remarks(dict(chain.from_iterable(map(_stand_for, quantised.values()))))
    if links:
        remarks.append(Remark(RemarkKind.NOT_READ, tuple(links)))
    remarks += configuration.remarks()
    if parts:
        remarks.append(Remark(RemarkKind.WITHIN, tuple(parts)))
    if lora:
        remarks.append(Remark(RemarkKind.LORA, tuple(lora), (sum(lora.values()),)))
    in_order = tuple(
        FileModule(name, modules[name], layer.kind, layer.settings, quantised.get(name, {}), layer.steps, layer.inputs)
        for name in sorted(modules, key=lambda name: places.get(name, len(places)))
        for layer in (layers.get(name, UNKNOWN),)
    )
    steps, inputs = configuration.reads()
    return ModelFile(path, format, "keras", tuple(tensors), in_order, bool(places), tuple(remarks), steps, inputs)


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
        raise BadFileError("is one of several files of a Keras model; load it in Keras and save model.weights.h5 whole")


_QUANTISED = ("kernel", "embeddings", "_scale", "g_idx")


def _stand_for(tensors: Mapping[str, FileTensor]) -> Iterator[tuple[str, int]]:
    """Yield the quantised weights of a layer, with how many numbers each stands for; two of four bits are in a byte."""
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
_NUMBERED = re.compile(
    r"(?P<layer>.*?)(/(?P<way>forward|backward)_layer)?(?P<cell>/cell)?(/(?P<part>query|key|value|output)_dense)?/vars/(?P<leaf>[0-9]+)"
)
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


def _variables(arrays: list[HDF5Array], homes: _Homes) -> dict[str, tuple[str, ...]]:
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
        return ("embeddings", "embeddings_scale", "embeddings_zero", "g_idx")
    if re.fullmatch("(lstm|gru|simplernn)cell[0-9]*", kind):
        return _CELL
    if kind.startswith("prelu"):
        return ("alpha",)
    matrix, *others = shapes
    dense = len(matrix) == 2 and others in ([], [matrix[1:]])  # and at most one vector, as long as its rows
    if _DENSE.fullmatch(kind):  # in 8 bits it has a scale of its kernel, in 4 a zero point too, in float8 these six
        wide = ("inputs", "kernel", "outputs_grad")
        more: tuple[str, ...] = ("kernel_scale", "kernel_zero", "g_idx")
        more = tuple(f"{word}_{end}" for word in wide for end in ("scale", "amax_history")) if shapes[6:] else more
        return ("kernel", *([] if settings.get("use_bias") is False else ["bias"]), *more)
    return ("kernel", "bias") if dense and not settings else ()
