"""The configuration of a Keras model: the layers, their settings, which are not trained, and what joins them.

Nothing in it is built or run, not even a lambda.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, NamedTuple

from rnncalc import bounds
from rnncalc.models.files import model
from rnncalc.models.files.model import Remark, RemarkKind

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
    """A configuration, as a version of Keras wrote it.

    layers: in order, those within models in their places. inputs: the shape of each input, behind the batch.
    outputs: how many the model has. joins: the layers that read several values. forks: those that several layers read,
    or whose second or later value is read. rows: the layers of the model that follow one another, each row
    with how often it is called.
    """

    def __init__(self, config: Any, version: str) -> None:
        self.layers: list[KerasLayer] = []
        self.inputs: list[Sizes] = []
        self.outputs = 1
        self.joins: dict[str, None] = {}
        self.forks: dict[str, None] = {}
        self.rows: list[tuple[list[str], int]] = []
        self._shape: Sizes = ()  # of what the next layer reads, if that is known
        self._lost = False  # whether its number of steps cannot be known
        self._masks: set[str] = set()  # the layers that compute masks alone
        self._ends: dict[tuple[str, ...], int] = {}  # the place of the last layer in each container, by its names
        if config is not None:
            is_text = isinstance(config, str | bytes)
            top = model.json_object(config, "configuration", bounds.MOST_CONFIG) if is_text else config
            if isinstance(_settings(top).get("layers"), list):  # a model of one's own has its code instead
                self._add(top, {}, (), "")
        if not version.startswith("3"):  # which has another function of that name
            for place, layer in enumerate(self.layers):
                if layer.settings.get("recurrent_activation") == "hard_sigmoid":
                    settings = {**layer.settings, "recurrent_activation": "hard_sigmoid_0.2"}
                    self.layers[place] = layer._replace(settings=settings)

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
        reads = {name for (name, *_), _ in _values(nodes)}
        at = self._ends.get((*names[:-1], *reads)) if nodes else len(self.layers) - 1  # it may read an earlier layer
        if at is not None and (activation := self._activation(kind, plain, names, at)):
            before = self.layers[at]
            self.layers[at] = before._replace(settings={**before.settings, "activation": activation})
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
        elif len(read) == 1:
            inputs = read[0] or 0
        self._ends |= {names[:depth]: len(self.layers) for depth in range(1, len(names) + 1)}
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
        yield from model.named_remarks({RemarkKind.JOINS: self.joins, RemarkKind.FORKS: self.forks})

    def _activation(self, kind: str, settings: Mapping[str, Any], names: tuple[str, ...], at: int) -> str | None:
        """Return the activation that a layer is to the dense layer, convolution or norm at a place that has none."""
        before = self.layers[at] if self.layers else UNKNOWN
        whole = before.names[: len(names)]
        if kind not in ("Activation", "ReLU", "Softmax"):
            return None
        free = re.fullmatch("Dense|Conv1D|(Batch|Layer)Normalization", before.kind)
        free = free and before.settings.get("activation", "linear") == "linear"
        if not (free and whole[:-1] == names[:-1] and whole[-1] not in self.forks) or "calls" in settings:
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
            rows: dict[str, tuple[list[str], int]] = {}
            for name, calls in reads.items():
                before = next(iter(calls[0]), None) if len(calls) == 1 == len(calls[0]) else None
                if (
                    before in readers
                    and before
                    and readers[before] == 1
                    and before[0] in rows
                    and rows[before[0]][1] == 1
                ):
                    rows[name] = rows[before[0]]
                    rows[name][0].append(name)
                else:
                    rows[name] = [name], max(1, len(calls))
                    self.rows.append(rows[name])


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

    Masks are no values. https://github.com/keras-team/keras/blob/master/keras/src/saving/serialization_lib.py
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
