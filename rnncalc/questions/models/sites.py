"""A site: the tensors of one layer in a model file, and the layer that they may belong to.

The layer is guessed from names and shapes, framework by framework, and then compared with the convention. A guess is
dropped if its tensors differ from the site's in a name or a number. Knows no format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto
from math import prod
from typing import Any

from rnncalc.conventions import convention, lacks
from rnncalc.conventions.layout import layout
from rnncalc.conventions.tensor import STORED
from rnncalc.layers import kind
from rnncalc.layers.layer import Dense, Embedding, Layer
from rnncalc.layers.options import OPTIONS
from rnncalc.modelfiles.model import FileModule, FileTensor, ModelFile
from rnncalc.records import Record

Shape = tuple[int, ...]


class Doubt(Enum):
    """What a file leaves open about a layer, for a report."""

    RECURRENT_ACTIVATION = auto()
    ACTIVATION = auto()
    OTHERWISE = auto()
    TABLE = auto()
    MODULES = auto()
    WIDTH = auto()
    INPUT = auto()
    PARTLY_FROZEN = auto()
    WINDOW = auto()
    NORM = auto()
    EPSILON = auto()
    SPACE = auto()
    PLACES = auto()
    PADDING = auto()
    RESHAPED = auto()
    OTHER_EPSILON = auto()


class Site(Record):
    """The tensors of one layer, by the names that its convention gives an unstacked layer.

    path: of the module. number: which of its stacked layers, from 0. inputs: its input width.
    layer: the layer that fits, None if no known layer does. buffers: what the framework keeps beside its parameters.
    """

    path: str
    number: int
    tensors: Mapping[str, FileTensor]
    layer: Layer | None = None
    inputs: int = 0
    doubts: tuple[Doubt, ...] = ()
    buffers: Mapping[str, FileTensor] = {}

    @property
    def params(self) -> int:
        """How many parameters it holds."""
        return sum(tensor.params for tensor in self.tensors.values())

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of its tensors by their names."""
        return {name: tensor.shape for name, tensor in self.tensors.items()}

    def guessed(self, layer: Layer, inputs: int, *doubts: Doubt) -> Site:
        """Return the site with the layer that fits it."""
        return self._replace(layer=layer, inputs=inputs, doubts=doubts)


def sites_of(file: ModelFile) -> tuple[Site, ...]:
    """Return the sites of a file, in its order; a matrix shared by a table and a layer belongs to the table.

    Files that sort their tensors store it under the first name.
    """
    guess = _GUESSERS[file.framework]
    sites = tuple(_confirmed(site, file.framework) for module in file.modules for site in guess(module))
    if file.ordered:
        return sites
    tables = _tables(sites)
    return tuple(_with_owner(site, tables) for site in sites)


def _confirmed(site: Site, framework: str) -> Site:
    """Return a site with its layer if the layer's tensors match the site's, else without a layer."""
    if site.layer is None or expected(site.layer, site.inputs, framework) == site.shapes:
        return site
    return site._replace(layer=None, inputs=0, doubts=())


def expected(layer: Layer, inputs: int, framework: str) -> dict[str, Shape] | None:
    """Return the shapes of a layer's tensors by name, None for an invalid layer."""
    if inputs < 1 or any(layer.value_problems()) or any(lacks(layer, framework)):
        return None
    sizes = layer.sizes(inputs)
    return {tensor.name: tensor.sized(sizes).shape for tensor in layout(layer, inputs, convention(framework)).own}


def in_groups(site: Site, below: int | None) -> Site:
    """Return a convolution of one channel as one in groups, if the layer below outputs several features."""
    if below is None or below == 1 or site.inputs != 1 or Doubt.WINDOW not in site.doubts or site.layer is None:
        return site
    grouped = site.layer.replace(groups=below)
    return site if any(grouped.option_problems()) else site.guessed(grouped, below, *site.doubts)


def inputs_of(layer: Layer, site: Site) -> int:
    """Return what a layer with the tensors of a site reads at each place of a step.

    Weights of a convolution do not tell its groups.
    """
    if site.layer is not None and Doubt.WINDOW in site.doubts:
        return site.inputs * layer.values().get("groups", 1)  # type: ignore[no-any-return]
    return site.inputs // prod(site.layer.grid if site.layer else ())


def in_place(site: Site, layer: Layer) -> Site:
    """Return a site with a matrix as an embedding or as a dense layer, whichever the spec has in its place."""
    if isinstance(layer, Embedding):
        return _table(site) if _may_be_table(site) else site
    if isinstance(site.layer, Embedding) and isinstance(layer, Dense) and "weight" in site.tensors:
        rows, columns = site.shapes["weight"]
        return site.guessed(Dense(rows, bias=False), columns)
    return site


def untrained(layer: Layer, inputs: int, framework: str) -> set[str]:
    """Return the names of a layer's parameters that are stored and never trained."""
    return {tensor.name for tensor in layout(layer, inputs, convention(framework)).own if tensor.role in STORED}


# Finds the matrix of an embedding if its name does not tell, and the layers that share it.

_LAST = re.compile(r"(^|[._/])(fc|out|output|head|classifier|decoder|proj|linear|lm_head|logits)\d*$", re.IGNORECASE)


def named_last(site: Site) -> bool:
    """Return whether a site's name is that of an output layer."""
    return bool(_LAST.search(site.path))


def as_table(site: Site, after: Site | None) -> Site:
    """Return the first matrix as an embedding if the next layer's input width is its number of columns."""
    if after is not None and _may_be_table(site) and after.inputs == site.inputs != site.shapes["weight"][0]:
        return _table(site)
    return site


def _may_be_table(site: Site) -> bool:
    return isinstance(site.layer, Dense) and Doubt.TABLE in site.doubts


def _table(site: Site) -> Site:
    rows, columns = site.shapes["weight"]
    return site.guessed(Embedding(columns), rows)


def _tables(sites: Sequence[Site]) -> dict[str, Site]:
    """Return the tables that share their matrix with another layer, by the name of the matrix."""
    sharing: dict[str, list[Site]] = {}
    for site in sites:
        if "weight" in site.tensors:
            matrix = site.tensors["weight"]
            sharing.setdefault(matrix.shared_with or matrix.name, []).append(site)
    found: dict[str, Site] = {}
    for name, those in sharing.items():
        for site in those:
            if {*site.tensors} == {"weight"} and any(_is_table_of(site, other) for other in those):
                found.setdefault(name, site)
    return found


def _is_table_of(site: Site, other: Site) -> bool:
    """Return whether only the first of two layers that share a matrix is its table."""
    if other is site or isinstance(other.layer, Embedding):
        return False
    is_output = named_last(other) or "bias" in other.tensors
    return isinstance(site.layer, Embedding) or (_may_be_table(site) and is_output)


def _with_owner(site: Site, tables: Mapping[str, Site]) -> Site:
    """Return a site with its matrix marked as shared if a table owns it; the owner becomes the table."""
    matrix = site.tensors.get("weight")
    table = tables.get(matrix.shared_with or matrix.name) if matrix else None
    if matrix is None or table is None:
        return site
    owner = None if table is site else table.tensors["weight"].name
    owned = site._replace(tensors={**site.tensors, "weight": matrix._replace(shared_with=owner)})
    return _table(owned) if table is site else owned


_BY_GATES = {1: "rnn", 3: "gru", 4: "lstm"}
"""The cells that frameworks fuse, by the number of their gates."""


def _kind(name: str, **options: Any) -> Layer:
    made: Any = kind(name)
    layer: Layer = made(**options)
    return layer


# PyTorch: cells by the rows for each column of their recurrent matrix.

_RECURRENT = re.compile(r"(weight_ih|weight_hh|weight_hr|bias_ih|bias_hh)(?:_l([0-9]{1,5}))?(_reverse)?")
_TABLE = re.compile(r"emb|lookup|wte|vocab|token", re.IGNORECASE)


def _pytorch_sites(module: FileModule) -> Iterator[Site]:
    """Yield the recurrent layers stacked in a module by their numbers, and what else it holds as number 0."""
    stacked: dict[int, dict[str, FileTensor]] = {}
    others: dict[str, FileTensor] = {}
    for leaf, tensor in module.tensors.items():
        if found := _RECURRENT.fullmatch(leaf):
            stacked.setdefault(int(found[2] or 0), {})[f"{found[1]}_l0{found[3] or ''}"] = tensor
        else:
            others[leaf] = tensor
    for number in sorted(stacked):
        yield _pytorch_cell(Site(module.path, number, stacked[number]))
    if others or not stacked:
        yield _pytorch_matrix(Site(module.path, 0, others, buffers=module.buffers))


def _pytorch_cell(site: Site) -> Site:
    shapes = site.shapes
    try:
        (rows, columns), (_, inputs) = shapes["weight_hh_l0"], shapes["weight_ih_l0"]
        projection, units = shapes.get("weight_hr_l0", (None, columns))
    except (KeyError, ValueError):
        return site
    name = _BY_GATES.get(rows // units) if units else None
    if name is None:
        return site
    options: dict[str, Any] = {"bidirectional": "weight_hh_l0_reverse" in shapes, "bias": "bias_ih_l0" in shapes}
    if projection is not None and name == "lstm":
        options["projection"] = projection
    doubts = (Doubt.RECURRENT_ACTIVATION,) if name == "rnn" else ()
    return site.guessed(_kind(name, units=units, **options), inputs, *doubts)


def _pytorch_matrix(site: Site) -> Site:
    """Return a dense layer, a convolution or a norm; a matrix without a bias may be a table, and is one by its name."""
    shape = site.shapes.get("weight", ())
    if len(shape) == 3 and not _TURNED.search(site.path):
        filters, channels, kernel = shape
        layer = _kind("conv1d", filters=filters, kernel=kernel, bias="bias" in site.tensors)
        return site.guessed(layer, channels, Doubt.WINDOW)
    if "running_mean" in site.buffers:
        affine = "weight" in site.tensors
        (width,) = of if len(of := site.buffers["running_mean"].shape) == 1 else (0,)
        return site.guessed(_kind("batch_norm", scale=affine, center=affine), width, Doubt.EPSILON)
    if len(shape) == 1 and ("bias" in site.tensors or _NORM.search(site.path)) and not _OTHER_NORM.search(site.path):
        return site.guessed(_kind("layer_norm", bias="bias" in site.tensors), shape[0], Doubt.NORM)
    if len(shape) != 2:
        return site
    rows, columns = shape
    if "bias" in site.tensors:
        return site.guessed(Dense(rows), columns, Doubt.ACTIVATION)
    if _TABLE.search(site.path):
        return site.guessed(Embedding(columns), rows)
    return site.guessed(Dense(rows, bias=False), columns, Doubt.ACTIVATION, Doubt.TABLE)


_NORM = re.compile(r"norm|(^|[._])ln(_|[0-9]|[.]|$)", re.IGNORECASE)
_OTHER_NORM = re.compile(r"(batch|group|weight)_?norm|instance|rms|(^|[._])[bgi]n[0-9]*$", re.IGNORECASE)
"""Norms that have the same tensors as a layer norm."""
_TURNED = re.compile(r"transpose|deconv|upsampl|depthwise|separable", re.IGNORECASE)
"""Convolutions that are no conv1d, though some have the same tensors."""


# Keras: by the configuration of a layer, and without one by its shapes.

_MERGES = ("sum", "mul", "ave")
_CLASSES = {"conv1d": ("", "Conv1D"), "layer_norm": ("", "LayerNormalization")}
"""What a configuration, if there is one, calls a layer that has the same tensors as others."""


def _keras_sites(module: FileModule) -> Iterator[Site]:
    """Yield the one layer of a module."""
    site, settings = Site(module.path, 0, module.tensors), module.settings
    shapes = site.shapes
    if found := _keras_conv_lstm(site, module) or _keras_around(site, module):
        yield found
        return
    ways = any(name.startswith("backward/") for name in shapes)
    mark = "forward/" if ways else ""
    kernel = shapes.get(f"{mark}kernel", shapes.get("embeddings", ()))
    recurrent = shapes.get(f"{mark}recurrent_kernel")
    if len(kernel) != 2:
        yield site
        return
    inputs, columns = kernel
    if "embeddings" in shapes:
        yield site.guessed(Embedding(columns), inputs)
    elif recurrent is None:
        layer, doubts = _keras_active(Dense(columns, bias="bias" in shapes), settings)
        yield site.guessed(layer, inputs, *doubts)
    elif len(recurrent) == 2 and recurrent[0] and (name := _BY_GATES.get(recurrent[1] // recurrent[0])):
        bias = shapes.get(f"{mark}bias")
        options: dict[str, Any] = {"bidirectional": ways, "bias": bias is not None}
        if ways and settings.get("merge_mode") in _MERGES:
            options["merge"] = settings["merge_mode"]
        if name == "gru" and (len(bias) == 1 if bias else settings.get("reset_after") is False):
            options["reset_after"] = False
        layer, doubts = _keras_active(_kind(name, units=recurrent[0], **options), settings)
        yield site.guessed(layer, inputs, *doubts, *_keras_otherwise(settings))
    else:
        yield site


def _keras_conv_lstm(site: Site, module: FileModule) -> Site | None:
    """Return a convolutional LSTM, None if it is none; without a configuration, or a known space, of one place."""
    shapes, settings = site.shapes, module.settings
    kernel, recurrent = (shapes.get(name, ()) for name in ("kernel", "recurrent_kernel"))
    if len(kernel) not in (3, 4) or len(recurrent) != len(kernel) or {*kernel[:-2], *recurrent[:-2]} != {kernel[0]}:
        return None
    usual = {"padding": "same", "strides": 1, "dilation_rate": 1, "data_format": "channels_last"}
    if settings and any(settings.get(word) != value for word, value in usual.items()):
        return None
    space = settings.get("space", (1,) * (len(kernel) - 2))
    layer = _kind("conv_lstm", units=recurrent[-2], kernel=kernel[0], space=space, bias="bias" in shapes)
    inputs = kernel[-2] * prod(space)
    if not settings:
        return site.guessed(layer, inputs, Doubt.SPACE)
    layer, doubts = _keras_active(layer, settings)
    if "space" not in settings:
        doubts = (*doubts, Doubt.PLACES)
    return site.guessed(layer, inputs, *doubts, *_keras_otherwise(settings))


def _keras_otherwise(settings: Mapping[str, Any]) -> tuple[Doubt, ...]:
    """Return the doubt about a cell with other activations of gates, or another direction, than a spec has."""
    otherwise = settings.get("recurrent_activation", "sigmoid") != "sigmoid" or settings.get("go_backwards") is True
    return (Doubt.OTHERWISE,) if otherwise else ()


def _keras_around(site: Site, module: FileModule) -> Site | None:
    """Return a convolution or a norm, None if it is neither."""
    settings, shapes = module.settings, site.shapes
    kernel = shapes.get("kernel", ())
    (width,) = next((shape for shape in shapes.values() if len(shape) == 1), (0,))
    if len(kernel) == 3 and module.kind in _CLASSES["conv1d"] and not _TURNED.search(site.path):
        taps, channels, filters = kernel
        words = {"stride": "strides", "padding": "padding", "dilation": "dilation_rate", "groups": "groups"}
        options = {option: settings[word] for option, word in words.items() if settings.get(word) is not None}
        if any(kind("conv1d").option(option).allowed.problem(value) for option, value in options.items()):
            return None
        layer = _kind("conv1d", filters=filters, kernel=taps, bias="bias" in shapes, **options)
        groups = options.get("groups", 1)
        if not settings:
            return site.guessed(layer, channels, Doubt.WINDOW)
        layer, doubts = _keras_active(layer, settings)
        return site.guessed(layer, channels * groups, *doubts)
    epsilon = settings.get("epsilon")
    doubts = () if epsilon == _EPSILON else (Doubt.EPSILON if epsilon is None else Doubt.OTHER_EPSILON,)
    if "moving_mean" in shapes:
        return site.guessed(_kind("batch_norm", scale="gamma" in shapes, center="beta" in shapes), width, *doubts)
    if "gamma" in shapes and module.kind in _CLASSES["layer_norm"] and not _OTHER_NORM.search(site.path):
        return site.guessed(_kind("layer_norm", bias="beta" in shapes), width, *doubts)
    return None


_EPSILON = 1e-3
"""Keras's own epsilon, in both norms."""


def _keras_active(layer: Layer, settings: Mapping[str, Any]) -> tuple[Layer, tuple[Doubt, ...]]:
    """Return a layer with its activation, and a doubt if it is missing or unknown to specs."""
    activation = settings.get("activation")
    if activation is not None and OPTIONS["activation"].allowed.problem(activation) is None:
        return layer.replace(activation=activation), ()
    return layer, (Doubt.ACTIVATION,)


# ONNX: by the operator.

_OPERATORS = {"RNN": "rnn", "GRU": "gru", "LSTM": "lstm"}
_ACTIVATIONS = {"tanh": "tanh", "relu": "relu", "sigmoid": "sigmoid", "affine": "linear"}


def _onnx_sites(module: FileModule) -> Iterator[Site]:
    """Yield the one layer of an operator."""
    site = Site(module.path, 0, module.tensors, buffers=module.buffers)
    shapes = site.shapes
    if module.kind in _OPERATORS and len(shapes.get("W", ())) == 3 and len(shapes.get("R", ())) == 3:
        (ways, _, inputs), (_, _, units) = shapes["W"], shapes["R"]
        options: dict[str, Any] = {
            "bidirectional": ways == 2,
            "bias": "B" in shapes,
            "learned_state": "initial_h" in shapes,
        }
        if module.kind == "LSTM":
            options["peepholes"] = "P" in shapes
        if module.kind == "GRU" and module.settings.get("linear_before_reset") == [1]:
            options["reset_after"] = True
        activation, doubts = _onnx_activation(module)
        if _onnx_otherwise(module):
            doubts = (*doubts, Doubt.OTHERWISE)
        layer = _kind(_OPERATORS[module.kind], units=units, activation=activation, **options)
        yield site.guessed(layer, inputs, *doubts)
    elif module.kind == "Gather" and len(shapes.get("data", ())) == 2:
        words, width = shapes["data"]
        yield site.guessed(Embedding(width), words)
    elif module.kind in ("Gemm", "MatMul") and len(shapes.get("B", ())) == 2:
        inputs, units = shapes["B"]
        yield site.guessed(Dense(units, bias="C" in shapes), inputs, Doubt.ACTIVATION)
    else:
        yield _onnx_around(site, module)


def _onnx_around(site: Site, module: FileModule) -> Site:
    """Return a convolution or a norm with its layer."""
    settings, shapes = module.settings, site.shapes
    lists = {word: value for word, value in settings.items() if isinstance(value, list)}
    values: dict[str, Any] = {word: value[0] if value else None for word, value in lists.items()}
    epsilon = values.get("epsilon", _ONNX_EPSILON)
    usual = isinstance(epsilon, float) and abs(epsilon - _ONNX_EPSILON) < 1e-9  # it is stored in 32 bits
    doubts: tuple[Doubt, ...] = () if usual else (Doubt.OTHER_EPSILON,)
    if module.kind == "Conv" and len(kernel := shapes.get("W", ())) == 3:
        filters, channels, taps = kernel
        words = {"stride": "strides", "dilation": "dilations", "groups": "group"}
        options = {option: values[word] for option, word in words.items() if word in values}
        if any(kind("conv1d").option(option).allowed.problem(value) for option, value in options.items()):
            return site
        padding, doubts = _onnx_padding(settings, (taps - 1) * options.get("dilation", 1))
        layer = _kind("conv1d", filters=filters, kernel=taps, bias="B" in shapes, padding=padding, **options)
        return site.guessed(layer, channels * options.get("groups", 1), *doubts, Doubt.ACTIVATION)
    if module.kind == "BatchNormalization" and len(shapes.get("scale", ())) == 1:
        return site.guessed(_kind("batch_norm"), shapes["scale"][0], *doubts)
    if module.kind == "LayerNormalization" and len(shapes.get("Scale", ())) == 1:
        return site.guessed(_kind("layer_norm", bias="B" in shapes), shapes["Scale"][0], *doubts)
    return site


_ONNX_EPSILON = 1e-5
"""The default of both operators."""


def _onnx_padding(settings: Mapping[str, Any], needed: int) -> tuple[str, tuple[Doubt, ...]]:
    """Return the padding of a convolution, and a doubt if it is none that a spec has.

    needed: the zeros that keep the number of steps.
    """
    pads, stride = settings.get("pads", [0, 0]), settings.get("strides", [1])
    auto = settings.get("auto_pad")
    if auto in (["SAME_UPPER"], ["SAME_LOWER"]):  # SAME_LOWER has more zeros on the left
        return "same", () if auto == ["SAME_UPPER"] else (Doubt.PADDING,)
    if pads in ([0, 0], [needed, 0]):
        return "causal" if any(pads) else "valid", ()
    half = needed // 2
    same = pads in ([half, needed - half], [needed - half, half])
    usual = pads == [half, needed - half] and stride == [1]  # with a stride, `same` has fewer zeros on the left
    return "same" if same else "valid", () if usual else (Doubt.PADDING,)


def _onnx_otherwise(module: FileModule) -> bool:
    """Return whether an operator with the weights of a known layer computes something else."""
    settings = module.settings
    given = [str(word).lower() for word in words] if isinstance(words := settings.get("activations"), list) else []
    size = {"RNN": 1, "GRU": 2, "LSTM": 3}[module.kind]
    ways = [given[start : start + size] for start in range(0, len(given), size)]
    usual = all(of[0] == "sigmoid" and len({*of[1:]}) == 1 for of in ways) if size > 1 else True
    coupled = settings.get("input_forget", [0]) != [0]  # PyTorch's newer exporter writes it even if it is not
    otherwise = coupled or settings.get("clip") is not None or settings.get("direction") == ["reverse"]
    return otherwise or not usual or len({*map(tuple, ways)}) > 1


def _onnx_activation(module: FileModule) -> tuple[str, tuple[Doubt, ...]]:
    """Return the activation of a cell, which follows those of its gates; by default tanh."""
    given = module.settings.get("activations")
    place = 0 if module.kind == "RNN" else 1
    if not isinstance(given, list):
        return "tanh", ()
    word = _ACTIVATIONS.get(str(given[place]).lower() if len(given) > place else "")
    return (word, ()) if word else ("tanh", (Doubt.ACTIVATION,))


_GUESSERS: dict[str, Callable[[FileModule], Iterator[Site]]] = {
    "pytorch": _pytorch_sites,
    "keras": _keras_sites,
    "onnx": _onnx_sites,
}
"""Yields the layers stacked in a module, each with the layers that may fit."""
