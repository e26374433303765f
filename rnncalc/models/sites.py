"""A site: the tensors of one layer in a model file, and the layer that they may belong to.

The layer is guessed from names and shapes, framework by framework, and then compared with the convention. A guess is
dropped if its tensors differ from the site's in a name or a number. Knows no format.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, partial
from itertools import product
from math import isclose, prod
from typing import Any, NamedTuple

from rnncalc.conventions import convention
from rnncalc.conventions.layout import layout, shared_layout
from rnncalc.conventions.tensor import STORED, Tensor
from rnncalc.layers.attention import Attention, MultiHeadAttention, Transformer
from rnncalc.layers.cell import Cell
from rnncalc.layers.conv_lstm import ConvLSTM
from rnncalc.layers.convolution import Conv1D, Pool1D
from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Dense, Dropout, Embedding, Layer, Output
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.mgu import MGU
from rnncalc.layers.normalisation import BatchNorm, LayerNorm
from rnncalc.layers.options import OPTIONS, RECURRENT_ACTIVATIONS, Activation
from rnncalc.layers.reshaping import Flatten, RepeatVector
from rnncalc.layers.rnn import RNN
from rnncalc.models.blocks import LI_GRU, RNN_T, SPELLINGS, TABLE, Spelling, joined, of_layer, positioned
from rnncalc.models.files.model import FileModule, FileTensor, ModelFile, RemarkKind

Shape = tuple[int, ...]


Doubt = Enum(
    "Doubt",
    "TANH_OR_RELU ACTIVATION OTHER_ACTIVATION OPERATOR CLIP INPUT_FORGET DIRECTION GO_BACKWARDS "
    "GATE_ACTIVATION ACTIVATIONS CALLS MERGE MASK CUDNN TABLE MODULES TABLE_NOT_FIRST TWO_SEQUENCES BUFFER LENGTHS "
    "BILINEAR WIDTH INPUT PARTLY_FROZEN WINDOW NORM EPSILON GAMMA_OR_BETA SPACE PLACES ALL_STEPS WHOLE LEFT_OUT "
    "NOT_IN_SPEC STEPS FIRST_STEPS ORDER PADDING RESHAPED OTHER_EPSILON FOLDED HEADS TRANSFORMER CAUSAL ATTENTION "
    "DIRECTIONS OR_DIRECTIONS STATISTICS STEP LAST_STEP BOTH TOPOLOGY LENGTH TIMES LI_GRU RNN_T",
)
"""What a file leaves open about a layer, or has it compute that no spec can say, for a report."""


COMPUTES_OTHERWISE: Mapping[Enum, str] = {
    Doubt.CLIP: "clip",
    Doubt.INPUT_FORGET: "input_forget",
    Doubt.DIRECTION: "direction",
    Doubt.GO_BACKWARDS: "go_backwards",
    Doubt.GATE_ACTIVATION: "recurrent_activation",
    Doubt.ACTIVATIONS: "activations",
    Doubt.CALLS: "calls",
    Doubt.MERGE: "merge",
    Doubt.STEP: "step",
    Doubt.MASK: "mask_zero",
    Doubt.OTHER_ACTIVATION: "activation",
    Doubt.PADDING: "padding",
    Doubt.OTHER_EPSILON: "epsilon",
    Doubt.NOT_IN_SPEC: "layers without weights",
    RemarkKind.SEVERAL_INPUTS: "inputs and outputs",
    RemarkKind.JOINS: "order",
    RemarkKind.FORKS: "order",
    RemarkKind.WITHIN: "layers of layers",
    RemarkKind.OPERATORS: "operators",
    RemarkKind.QUANTISED: "quantised weights",
}
"""What a file computes and no spec does, so that a run would differ: a word for each."""


class Site(NamedTuple):
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
    def bare(self) -> bool:
        """Whether it is a layer without weights; a file has its settings alone."""
        return not self.tensors and not self.buffers

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of its tensors by their names."""
        return {name: tensor.shape for name, tensor in self.tensors.items()}

    def guessed(self, layer: Layer, inputs: int, *doubts: Doubt) -> Site:
        """Return the site with the layer that fits it."""
        return self._replace(layer=layer, inputs=inputs, doubts=doubts)


def sites_of(file: ModelFile, layers: Iterable[Collection[str]] = ()) -> tuple[Site, ...]:
    """Return the sites of a file, in its order; a matrix shared by a table and a layer belongs to the table.

    layers: the names of the tensors of layers that may be in several of the file's modules. Files that sort their
    tensors store a shared matrix under the first name.
    """
    modules = file.modules
    blocks = (*SPELLINGS, *positioned(modules)) if file.framework == "pytorch" else _flax_spellings(file.framework)
    cells = _cells(file.framework) if file.framework in FLAX else ()

    def fits(module: FileModule) -> bool:  # a cell whose shapes are wrong is one layer for a comparison
        whole = frozenset(module.tensors) in cells or {"w.weight", "u.weight"} <= module.tensors.keys() <= LI_GRU
        whole = whole or {"x2g.weight", "p2g.weight"} <= module.tensors.keys() <= RNN_T
        return whole or any(site.layer for site in _sites(module, file.framework))

    modules = joined(modules, blocks, fits)
    names = {frozenset(layer): tuple(layer) for layer in layers if layer}
    spellings = tuple(spelling for layer in names.values() for spelling in of_layer(layer))
    if spellings:
        modules = joined(modules, spellings, lambda module: frozenset(module.tensors) in names)
    sites = tuple(_in_lists(site for module in modules for site in _sites(module, file.framework)))
    if file.ordered:
        return sites
    if file.framework in FLAX:
        return tuple(_in_directions(sites))
    tables = _tables(sites)
    return tuple(_with_owner(site, tables) for site in sites)


def _in_lists(sites: Iterable[Site]) -> Iterator[Site]:
    """Yield sites, the transformers of a list of modules as layers stacked in the list."""
    numbers: Counter[str] = Counter()
    for site in sites:
        path, _, last = site.path.rpartition(".")
        if isinstance(site.layer, Transformer) and path and last.isdecimal():
            yield site._replace(path=path, number=numbers[path])
            numbers[path] += 1
        else:
            yield site


def _sites(module: FileModule, framework: str) -> Iterator[Site]:
    """Yield the layers stacked in a module, each with the layer that it is, if one is recognised."""
    alone = Site(module.path, 0, module.tensors, buffers=module.buffers)
    stacked = _stacked(module) if framework in ("pytorch", "paddle") else [alone]
    for site in stacked:
        match _cell(framework, site, module) or _GUESSES[framework](site, module):
            case (layer, inputs, doubts) if expected(layer, inputs, framework) == site.shapes:
                yield site.guessed(convention(framework).opened(layer), inputs, *doubts)
            case _ if site.bare and not _IDENTITY.fullmatch(module.kind):
                yield site._replace(doubts=(Doubt.NOT_IN_SPEC,))
            case _ if module.kind.startswith("CuDNN"):
                yield site._replace(doubts=(Doubt.CUDNN,))
            case _:
                yield site


_IDENTITY = re.compile(".*Dropout([1-3]D)?|Gaussian(Noise|Dropout)|ActivityRegularization|Identity")
"""The classes without weights that output what they read, but for training."""


def expected(layer: Layer, inputs: int, framework: str) -> dict[str, Shape] | None:
    """Return the shapes of a layer's tensors by name, None for an invalid layer."""
    if inputs < 1 or any(layer.value_problems()) or not convention(framework).expresses(layer):
        return None
    sizes = layer.sizes(inputs)
    tensors = shared_layout(layer, inputs, convention(framework)).tensors
    return {tensor.name: tensor.sized(sizes).shape for tensor in tensors}


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
    """Return a site as what the spec has in its place, if its tensors can be either: a table or a dense layer.

    The trained vector of a batch norm may have no name in the file; its name is then that of the spec's.
    """
    if isinstance(layer, BatchNorm) and Doubt.GAMMA_OR_BETA in site.doubts and layer.scale != layer.center:
        name = "beta" if layer.center else "gamma"
        tensors = {name if leaf in ("gamma", "beta") else leaf: tensor for leaf, tensor in site.tensors.items()}
        doubts = tuple(doubt for doubt in site.doubts if doubt is not Doubt.GAMMA_OR_BETA)
        return site._replace(tensors=tensors, layer=BatchNorm(scale=layer.scale, center=layer.center), doubts=doubts)
    if isinstance(layer, Embedding):
        return _table(site) if _may_be_table(site) else site
    if isinstance(site.layer, Embedding) and isinstance(layer, Dense) and "weight" in site.tensors:
        rows, columns = site.shapes["weight"]
        return site.guessed(Dense(rows, bias=False), columns, Doubt.ACTIVATION)
    return site


_OPEN: Mapping[Doubt, set[str]] = {
    Doubt.TANH_OR_RELU: {"activation"},
    Doubt.ACTIVATION: {"activation", "recurrent_activation"},
    Doubt.GATE_ACTIVATION: {"recurrent_activation"},
    Doubt.OTHER_ACTIVATION: {"activation"},
    Doubt.OPERATOR: {"activation"},
    Doubt.WINDOW: {"stride", "padding", "dilation", "groups", "activation"},
    Doubt.PADDING: {"padding"},
    Doubt.NORM: {"activation"},
    Doubt.EPSILON: {"activation"},
    Doubt.MERGE: {"merge"},
    Doubt.SPACE: {"space", "activation"},
    Doubt.PLACES: {"space"},
    Doubt.HEADS: {"heads", "causal"},
    Doubt.TRANSFORMER: {"heads", "norm", "activation", "causal"},
    Doubt.CAUSAL: {"causal"},
    Doubt.ALL_STEPS: {"window", "stride"},
}
"""The options beside its tensors that a file does not give of a layer."""
_SETTINGS = {"merge", "reset_after", "window", "mode"}.union(*_OPEN.values())
"""The options that some files give of a layer."""


def recorded(layer: Layer, site: Site, framework: str) -> dict[str, tuple[Any, Any]]:
    """Return the options that the file gives another value beside the tensors of a site: the layer's, and the file's.

    The stride of a pool1d is its window if it has none of its own.
    """
    options = _SETTINGS.difference(*(_OPEN.get(doubt, ()) for doubt in site.doubts))
    usual: dict[str, Any] = {**convention(framework).usual(layer.kind)}
    if framework in ("keras", "onnx") and Doubt.ACTIVATION not in site.doubts:  # there is a configuration
        usual |= {"merge": "concat", "reset_after": convention(framework).habits(layer.kind).reset_after}
    theirs = {key: value for key, value in site.layer.values().items() if key in options} if site.layer else {}
    both = {option: (getattr(layer, option, value), value) for option, value in theirs.items()}
    pairs = {option: [usual.get(option) if each is None else each for each in pair] for option, pair in both.items()}
    if isinstance(layer, Pool1D) and isinstance(site.layer, Pool1D) and layer.stride != site.layer.stride:
        pairs["stride"] = [layer.every, site.layer.every]
    return {option: (ours, its) for option, (ours, its) in pairs.items() if its not in (None, ours)}


def untrained(layer: Layer, inputs: int, framework: str) -> set[str]:
    """Return the names of a layer's parameters that are stored and never trained."""
    return {tensor.name for tensor in layout(layer, inputs, convention(framework)).tensors if tensor.role in STORED}


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


def as_attention(site: Site, width: int | None, framework: str) -> Site:
    """Return the matrix and the score of an attention as one over the steps if it reads as many numbers as reach it.

    A decoder's reads a query and a key.
    """
    scores = [tensor for name, tensor in site.tensors.items() if name in ("score.weight", "score/kernel")]
    for score, bias, score_bias in product(scores, (True, False), (True, False)):
        layer = Attention(units=score.params, bias=bias, score_bias=score_bias)
        if site.layer is None and width and expected(layer, width, framework) == site.shapes:
            return site.guessed(layer, width)
    return site


def _may_be_table(site: Site) -> bool:
    return isinstance(site.layer, Dense) and Doubt.TABLE in site.doubts and "weight" in site.tensors


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
    tables: dict[str, Site] = {}
    for name, those in sharing.items():
        for site in those:
            others = [other for other in those if other is not site and not isinstance(other.layer, Embedding)]
            output = any(named_last(other) or "bias" in other.tensors for other in others)
            is_table = (others and isinstance(site.layer, Embedding)) or (_may_be_table(site) and output)
            if is_table and {*site.tensors} <= {"weight", "positions"}:
                tables.setdefault(name, site)
    return tables


def _with_owner(site: Site, tables: Mapping[str, Site]) -> Site:
    """Return a site with its matrix marked as shared if a table owns it; the owner becomes the table."""
    matrix = site.tensors.get("weight")
    table = tables.get(matrix.shared_with or matrix.name) if matrix else None
    if matrix is None or table is None:
        return site
    owner = None if table is site else table.tensors["weight"].name
    owned = site._replace(tensors={**site.tensors, "weight": matrix._replace(shared_with=owner)})
    return _table(owned) if table is site else owned


# What recognises a layer returns a guess: the layer, its input width, and what the file leaves open about it.

Guess = tuple[Layer, int, tuple[Doubt, ...]]

_NORM = re.compile(r"norm|(^|[._/])ln(_|[0-9]|[.]|$)", re.IGNORECASE)
_OTHER_NORM = re.compile(r"(batch|group|weight)_?norm|instance|rms|(^|[._/])[bgi]n_?[0-9]*$", re.IGNORECASE)
"""Norms that have the same tensors as a layer norm."""
_BATCH_NORM = re.compile(r"batch_?norm|(^|[._/])bn_?[0-9]*$", re.IGNORECASE)
OF_ATTENTION = re.compile(r"(^|[._/])(attn|attention|align)", re.IGNORECASE)
"""The names of modules of attention."""
_TURNED = re.compile(r"transpose|deconv|upsampl|depthwise|separable|biline|biaff", re.IGNORECASE)
"""Convolutions that are no conv1d, and other layers, though some have the same tensors."""


_WIDE = 11
"""The widest kernel that nothing is said of, which a second input's width may be as well."""


@cache
def _cells(framework: str) -> Mapping[frozenset[str], Sequence[tuple[Cell, Sequence[Tensor]]]]:
    """Return the cells of a convention, each with its tensors in letters, by the names of these.

    nnx has the gates of a GRU in tensors that are called as a SimpleCell's.
    """
    cells: dict[frozenset[str], list[tuple[Cell, Sequence[Tensor]]]] = {}
    for kind, two, bias in product((LSTM, GRU, RNN, MGU), (True, False), (True, False)):
        cell = kind(units=2, bidirectional=two, bias=bias)
        for each in (cell, cell.replace(projection=1)) if isinstance(cell, LSTM) else (cell,):
            if convention(framework).expresses(each):
                tensors = layout(each, 1, convention(framework)).tensors
                cells.setdefault(frozenset(tensor.name for tensor in tensors), []).append((each, tensors))
    return cells


def _cell(framework: str, site: Site, module: FileModule) -> Guess | None:
    """Recognise a cell by the names and shapes of its tensors, if a file of the framework has no more of it."""
    shapes = site.shapes
    by_name = framework in _BY_NAME and "direction" not in module.settings
    for cell, tensors in _cells(framework).get(frozenset(shapes), ()) if by_name else ():
        axes = [pair for each in tensors for pair in zip(each.axes, shapes[each.name], strict=False)]
        sizes = {axis.letter: size // axis.times for axis, size in axes}
        units = sizes.get("h", 0)
        layer = cell.replace(units=units, **{"projection": sizes["p"]} if "p" in sizes else {})
        inputs = sizes.get("m", sizes.get("m+h", 0) - units)
        if expected(layer, inputs, framework) == shapes:
            if isinstance(cell, RNN) and module.settings.get("nonlinearity") in ("tanh", "relu"):
                return layer.replace(activation=module.settings["nonlinearity"]), inputs, ()
            arrays: Any = convention(framework).arrays(cell.kind)
            doubt = Doubt.ACTIVATION if framework in FLAX else Doubt.TANH_OR_RELU
            return layer, inputs, (doubt,) * (len({*arrays.only.get("activation", ())} - {None}) != 1)
    return None


# PyTorch: by names and shapes alone, and for some layers by the name of their module.

_RECURRENT = re.compile(r"(weight_ih|weight_hh|weight_hr|bias_ih|bias_hh)(?:_l([0-9]{1,5}))?(_reverse)?")
_PROJECTED = re.compile(r"([0-9]{1,5})[.](cell(?:_fw|_bw)?[.]weight_ho)")
"""The projection of PaddlePaddle, which only its cell names."""


def _stacked(module: FileModule) -> Iterator[Site]:
    """Yield the recurrent layers stacked in a module by their numbers, and what else it holds as number 0.

    One file of a sharded model may have the upper layers alone, so the lowest is number 0.
    """
    stacked: dict[int, dict[str, FileTensor]] = {}
    others: dict[str, FileTensor] = {}
    for leaf, tensor in module.tensors.items():
        if parts := _RECURRENT.fullmatch(leaf):
            stacked.setdefault(int(parts[2] or 0), {})[f"{parts[1]}_l0{parts[3] or ''}"] = tensor
        elif parts := _PROJECTED.fullmatch(leaf):
            stacked.setdefault(int(parts[1]), {})[f"0.{parts[2]}"] = tensor
        else:
            others[leaf] = tensor
    for number, tensors in sorted(stacked.items()):
        yield Site(module.path, number - min(stacked), tensors)
    if others or not stacked:
        yield Site(module.path, 0, others, buffers=module.buffers)


def _pytorch(site: Site, module: FileModule) -> Guess | None:
    """Recognise a layer; a matrix without a bias may be a table, and is one by its name."""
    path, shapes, kind, settings = site.path, site.shapes, module.kind, module.settings
    bias, affine = "bias" in shapes, "weight" in shapes
    means = {name: tensor.shape for name, tensor in site.buffers.items() if name == "running_mean"}
    match {**shapes, **means}:
        case {"self_attn.in_proj_weight": (_, inputs), "linear1.weight": (units, _)}:
            block = Transformer(heads=1, feed_forward=units, bias="norm1.bias" in shapes)
            if not settings.keys() >= {"num_heads", "norm_first"}:
                return block, inputs, (Doubt.TRANSFORMER,)
            activation = {1: "relu", 2: "gelu"}.get(settings.get("activation_relu_or_gelu", 0))
            norm = "first" if settings["norm_first"] else "last"
            options = {"heads": settings["num_heads"], "norm": norm, "activation": activation or block.activation}
            return block.replace(**options), inputs, (Doubt.CAUSAL, *[Doubt.ACTIVATION] * (activation is None))
        case {"in_proj_weight": (_, inputs)}:
            attention = MultiHeadAttention(settings.get("num_heads", 1), bias="in_proj_bias" in shapes)
            return attention, inputs, (Doubt.CAUSAL if "num_heads" in settings else Doubt.HEADS,)
        case {"positions": (positions, width), "weight": (words, _)}:
            return Embedding(width, positions=positions), words, ()
        case {"weight": (filters, channels, kernel)} if kind in ("", "Conv1d") and not _TURNED.search(path):
            convolution = Conv1D(filters=filters, kernel=kernel, bias=bias)
            if not settings.keys() >= {"stride", "padding", "dilation", "groups"}:
                wide = kernel > _WIDE and not re.search("conv|cnn", path, re.IGNORECASE)
                return convolution, channels, (Doubt.WINDOW, *[Doubt.BILINEAR] * wide)
            options = {option: settings[option] for option in ("stride", "dilation", "groups")}
            if not any(convolution.replace(**options).value_problems()):
                padding, unlike = _torch_padding(settings, (kernel - 1) * options["dilation"])
                layer = convolution.replace(**options, padding=padding)
                return _active(layer, channels * options["groups"], settings, *unlike)
        case {"running_mean": mean}:
            of_norm = _epsilon(settings.get("eps"), _EPSILON)
            batch_norm, width = BatchNorm(scale=affine, center=affine), mean[0] if len(mean) == 1 else 0
            return _active(batch_norm, width, settings, *of_norm) if settings else (batch_norm, width, of_norm)
        case {"weight": (width,)} if kind == "LayerNorm" or (
            not kind and (bias or _NORM.search(path)) and not _OTHER_NORM.search(path)
        ):
            if "normalized_shape" not in settings:
                return LayerNorm(bias=bias), width, (Doubt.NORM,)
            return _active(LayerNorm(bias=bias), width, settings, *_epsilon(settings.get("eps"), _EPSILON))
        case {"weight": (words, width)} if not bias and (kind == "Embedding" or (not kind and TABLE.search(path))):
            return Embedding(width), words, ()
        case {"weight": (units, inputs)}:
            return _active(Dense(units, bias=bias), inputs, settings, *[Doubt.TABLE] * (not bias and not kind))
    return None


def _torch_padding(settings: Mapping[str, Any], needed: int) -> tuple[str, tuple[Doubt, ...]]:
    """Return the padding of a convolution as `_onnx_padding` does."""
    if settings["padding"] == "same":
        padding, doubts = _onnx_padding({"auto_pad": ["SAME_UPPER"]}, needed)
    else:
        around = 0 if settings["padding"] == "valid" else settings["padding"]
        padding, doubts = _onnx_padding({"pads": [around, around], "strides": [settings["stride"]]}, needed)
    return padding, doubts if settings.get("padding_mode", "zeros") == "zeros" else (Doubt.PADDING,)


# Keras: by names and shapes, with the settings of a configuration if there is one.

_BY_GATES: dict[int, Any] = {1: RNN, 3: GRU, 4: LSTM}
"""The cells that Keras fuses, by the number of their gates."""

_AS_CONV_LSTM = {"padding": "same", "strides": 1, "dilation_rate": 1, "data_format": "channels_last"}
_WORDS = {"stride": "strides", "padding": "padding", "dilation": "dilation_rate", "groups": "groups"}


_CLASSES = {"dense": "(Einsum)?Dense", "embedding": "Embedding", "multi_head_attention": "MultiHeadAttention"}
_CLASSES |= {
    kind: f"(CuDNN)?{word}(Cell)?|Bidirectional"
    for kind, word in (("rnn", "SimpleRNN"), ("gru", "GRU"), ("lstm", "LSTM"))
}
"""The classes that Keras has of a layer; any other with the same tensors computes what it likes."""
_USUAL = "ab,bc->ac"
_LAST_AXIS = re.compile(r"([a-z.]+)([a-z]),\2([a-z])->\1\3")
"""The equations of an EinsumDense that is a dense layer."""


def _keras(site: Site, module: FileModule) -> Guess | None:
    """Recognise a layer of Keras's own classes, if there is a configuration."""
    guess, settings = _keras_shapes(site, module), module.settings
    if guess is None:
        return None
    layer, inputs, doubts = guess
    kind = settings.get("cell", module.kind)
    if kind and not re.fullmatch(_CLASSES.get(layer.kind, ".*"), kind):
        return None
    if settings.get("axis") == "another" or not _LAST_AXIS.fullmatch(settings.get("equation", _USUAL)):
        return None
    if settings.get("wrapper") == "TimeDistributed" and not isinstance(layer, Dense | LayerNorm | BatchNorm):
        return None  # it reads a sequence within each step
    otherwise = {
        Doubt.MASK: settings.get("mask_zero") is True,
        Doubt.ACTIVATIONS: settings.get("ways") == "apart",
        Doubt.MERGE: settings.get("merge_mode", "concat") is None,
        Doubt.CALLS: settings.get("calls", 0) > 1 and not site.bare,
        Doubt.CLIP: settings.get("clip") is True,
    }
    return layer, inputs, (*doubts, *[doubt for doubt, holds in otherwise.items() if holds])


def _keras_shapes(site: Site, module: FileModule) -> Guess | None:
    """Recognise a layer; a conv_lstm without a configuration, or a known space, has one place."""
    path, settings = module.path, module.settings
    if not site.tensors:
        return _without_weights(module)
    ways = any(name.startswith("backward/") for name in site.tensors)
    shapes = {name.removeprefix("forward/"): shape for name, shape in site.shapes.items()}
    bias, of_norm = "bias" in shapes, _epsilon(settings.get("epsilon"), 1e-3)
    vectors = [site.tensors[name].name for name in ("gamma", "beta") if name in site.tensors]
    if len(vectors) == 1 and "scale" not in settings and re.search("/[0-9]+$", vectors[0]):
        of_norm = (*of_norm, Doubt.GAMMA_OR_BETA)
    active = settings.get("activation", "linear")  # of a norm, a layer behind it
    if OPTIONS["activation"].allowed.problem(active):
        active, of_norm = "linear", (*of_norm, Doubt.OTHER_ACTIVATION)
    match shapes:
        case {"moving_mean": (width,)}:
            return BatchNorm(scale="gamma" in shapes, center="beta" in shapes, activation=active), width, of_norm
        case {"gamma": (width,)} if module.kind in ("", "LayerNormalization") and not _OTHER_NORM.search(path):
            return LayerNorm(bias="beta" in shapes, activation=active), width, of_norm
        case {"embeddings": (words, width)}:
            return Embedding(width), words, ()
        case {"query/kernel": (inputs, heads, key), "value/kernel": (_, _, value)}:
            size = value if value != key else None
            heads_of_keys = MultiHeadAttention(heads, key_size=key, value_size=size, bias="query/bias" in shapes)
            causal = settings.get("causal")
            return heads_of_keys.replace(causal=causal is True), inputs, (Doubt.CAUSAL,) * (causal is None)
        case {"kernel": (inputs, _), "recurrent_kernel": (units, columns)} if cell := _BY_GATES.get(
            columns // max(units, 1)
        ):
            options: dict[str, Any] = {"bidirectional": ways, "bias": bias}
            if ways and settings.get("merge_mode") in ("sum", "mul", "ave"):
                options["merge"] = settings["merge_mode"]
            if cell is GRU and (len(shapes["bias"]) == 1 if bias else settings.get("reset_after") is False):
                options["reset_after"] = False
            return _active(cell(units=units, **options), inputs, settings)
        case {"kernel": (*kernel, channels, _), "recurrent_kernel": (*window, units, _)} if kernel == window:
            if len({*kernel}) != 1 or len(kernel) > 2 or (settings and not settings.items() >= _AS_CONV_LSTM.items()):
                return None
            space = settings.get("space", (1,) * len(kernel))
            layer = ConvLSTM(units=units, kernel=kernel[0], space=space, bias=bias)
            doubts = (Doubt.PLACES,) if settings and "space" not in settings else ()
            return _active(layer, channels * prod(space), settings, *doubts, without=Doubt.SPACE)
        case {"kernel": (taps, channels, filters)} if module.kind in ("", "Conv1D") and not _TURNED.search(path):
            options = {option: settings[word] for option, word in _WORDS.items() if settings.get(word) is not None}
            convolution = Conv1D(filters=filters, kernel=taps, bias=bias, **options)
            if not any(convolution.value_problems()):
                return _active(convolution, channels * convolution.groups, settings, without=Doubt.WINDOW)
        case {"kernel": (inputs, units)}:
            return _active(
                Dense(units, bias=bias),
                inputs,
                settings,
                *[Doubt.TABLE] * (not bias and not settings and "dense" not in path),
            )
    return None


def _without_weights(module: FileModule) -> Guess | None:
    """Recognise a layer by its class and settings alone; it reads any width, and is recognised as reading 1."""
    mode = "max" if "Max" in module.kind else "average"
    match module.kind, module.settings:
        case _, {"wrapper": _}:  # within a step
            return None
        case "Dropout", {"rate": float(rate)}:
            return Dropout(rate), 1, ()
        case "Flatten", _:
            return Flatten(), 1, ()
        case "RepeatVector", {"n": int(times)}:
            return RepeatVector(times), 1, ()
        case "MaxPooling1D" | "AveragePooling1D", {
            "pool_size": int(window),
            "strides": stride,
            "padding": "valid" | "same" as padding,
        }:
            return Pool1D(window, stride=None if stride == window else stride, mode=mode, padding=padding), 1, ()
        case "GlobalMaxPooling1D" | "GlobalAveragePooling1D", {"keepdims": False}:
            return Pool1D(1, mode=mode), 1, (Doubt.ALL_STEPS,)
    return None


def _active(
    layer: Layer, inputs: int, settings: Mapping[str, Any], *doubts: Doubt, without: Doubt = Doubt.ACTIVATION
) -> Guess:
    """Return a guess with the activation of its settings, and doubts about what a spec cannot say.

    without: the doubt if there is no configuration.
    """
    if not settings:
        return layer, inputs, (without, *doubts)
    activation = settings.get("activation")
    if activation is None or OPTIONS["activation"].allowed.problem(activation):
        doubts = (Doubt.ACTIVATION if activation is None else Doubt.OTHER_ACTIVATION, *doubts)
    else:
        layer = layer.replace(activation=activation)
    if isinstance(layer, Cell):
        gates = settings.get("recurrent_activation", "sigmoid")
        unknown = gates not in RECURRENT_ACTIVATIONS
        if "recurrent_activation" in layer.fields and not unknown:
            layer = layer.replace(recurrent_activation=gates)
        backwards = settings.get("go_backwards") is True
        doubts = (*doubts, *[Doubt.GATE_ACTIVATION] * unknown, *[Doubt.GO_BACKWARDS] * backwards)
    return layer, inputs, doubts


def _epsilon(epsilon: Any, usual: float) -> tuple[Doubt, ...]:
    """Return the doubt about a norm whose epsilon is unknown, or not its framework's own; ONNX stores it in 32 bits."""
    if epsilon is None:
        return (Doubt.EPSILON,)
    return () if isinstance(epsilon, float) and abs(epsilon - usual) < 1e-9 else (Doubt.OTHER_EPSILON,)


# ONNX: by the operator and its attributes.

_CELLS: dict[str, Any] = {"RNN": RNN, "GRU": GRU, "LSTM": LSTM}
_ACTIVATIONS = {"affine": {"linear": (1.0, 0.0)}}
_ACTIVATIONS["hardsigmoid"] = {"hard_sigmoid_0.2": (0.2, 0.5), "hard_sigmoid": (1 / 6, 0.5)}
"""The functions that take alpha and beta, with those of our activations; the default first."""
_EPSILON = 1e-5
"""The default of both norms, and of PyTorch's."""


def _onnx(site: Site, module: FileModule) -> Guess | None:
    """Recognise the layer of an operator."""
    settings, shapes = module.settings, site.shapes
    values = {word: value[0] if value else None for word, value in settings.items() if isinstance(value, list)}
    called = (Doubt.CALLS,) if "calls" in settings else ()
    active, behind = _onnx_behind("softmax" if values.get("softmax") else values.get("activation"))
    of_norm = (*_epsilon(values.get("epsilon", _EPSILON), _EPSILON), *called)
    match module.kind, shapes:
        case "RNN" | "GRU" | "LSTM", {"W": (ways, _, inputs), "R": (_, _, units)}:
            functions, doubts = _onnx_activations(module)
            options: dict[str, Any] = {"bidirectional": ways == 2, "learned_state": "initial_h" in shapes}
            options |= {**functions, "bias": "B" in shapes}
            if module.kind == "LSTM":
                options["peepholes"] = "P" in shapes
            if module.kind == "GRU" and settings.get("linear_before_reset") == [1]:
                options["reset_after"] = True
            if (merge := values.get("merge")) in ("sum", "mul", "ave"):
                options["merge"] = merge
            elif merge:
                doubts = (*doubts, Doubt.MERGE)
            if (step := values.get("step")) is not None and (ways == 2 or step != -1):
                doubts = (*doubts, Doubt.LAST_STEP if step == -1 else Doubt.STEP)
            return _CELLS[module.kind](units=units, **options), inputs, (*doubts, *called)
        case "Gather", {"data": (words, width)}:
            return Embedding(width), words, called
        case "Gemm" | "MatMul", {"B": (inputs, units)}:
            return Dense(units, bias="C" in shapes, activation=active), inputs, (*behind, *called)
        case "Conv", {"W": (filters, channels, taps)}:
            named = {"stride": "strides", "dilation": "dilations", "groups": "group"}
            options = {option: values[word] for option, word in named.items() if word in values}
            convolution = Conv1D(filters=filters, kernel=taps, bias="B" in shapes, **options)
            if not any(convolution.value_problems()):
                padding, doubts = _onnx_padding(settings, (taps - 1) * convolution.dilation)
                layer = convolution.replace(padding=padding, activation=active)
                return layer, channels * convolution.groups, (*doubts, *behind, *called)
        case "BatchNormalization", {"scale": (width,)}:
            folded = (Doubt.FOLDED,) if "folded" in settings else ()
            return BatchNorm(activation=active), width, (*of_norm, *folded, *behind)
        case "LayerNormalization", {"Scale": (width,)}:
            return LayerNorm(bias="B" in shapes, activation=active), width, (*of_norm, *behind)
    return None


def _onnx_behind(operator: Any) -> tuple[Activation, tuple[Doubt, ...]]:
    """Return the activation that the next operator is, and a doubt if it is unknown, or none that a spec has."""
    if operator is None or operator == "Linear":
        return "linear", (Doubt.OPERATOR,) if operator is None else ()
    words: Mapping[str, Activation] = {"Relu": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid", "softmax": "softmax"}
    activation = words.get(operator)
    return activation or "linear", () if activation else (Doubt.OTHER_ACTIVATION,)


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


def _onnx_activations(module: FileModule) -> tuple[dict[str, str], tuple[Doubt, ...]]:
    """Return the activations of a cell that are not the defaults, and doubts if the operator computes something else.

    In each direction that of the gates comes first, if there are gates, then those of the candidate and of the output.
    """
    settings, usual = module.settings, ["tanh"] if module.kind == "RNN" else ["sigmoid", "tanh"]
    size, words = {"RNN": 1, "GRU": 2, "LSTM": 3}[module.kind], settings.get("activations")
    names = [*_onnx_functions(words, settings)] if isinstance(words, list) else usual
    ways = [names[start : start + size] for start in range(0, len(names), size)]
    gates, others = {way[0] for way in ways if size > 1}, {way[-1] for way in ways}
    gate, other = next(iter(gates), "sigmoid"), "".join(names[len(usual) - 1 : len(usual)])
    otherwise = {
        Doubt.OTHER_ACTIVATION: other not in ("tanh", "relu", "sigmoid", "linear"),
        Doubt.CLIP: settings.get("clip") is not None,
        Doubt.INPUT_FORGET: settings.get("input_forget", [0]) != [0],  # PyTorch's newer exporter writes it as 0
        Doubt.DIRECTION: settings.get("direction") == ["reverse"],
        Doubt.GATE_ACTIVATION: len(gates) > 1 or gate not in RECURRENT_ACTIVATIONS,
        Doubt.ACTIVATIONS: len(others) > 1 or any(len({*way[1:]}) > 1 for way in ways),
    }
    doubts = tuple(doubt for doubt, holds in otherwise.items() if holds)
    functions = {"activation": "tanh" if Doubt.OTHER_ACTIVATION in doubts else other}
    return functions | ({"recurrent_activation": gate} if gates and Doubt.GATE_ACTIVATION not in doubts else {}), doubts


def _onnx_functions(words: Sequence[Any], settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of an operator's functions, ours if there is one; each takes the next alpha and beta."""
    alphas, betas = (iter(settings.get(f"activation_{word}") or ()) for word in ("alpha", "beta"))
    for word in words:
        name = str(word).lower()
        functions = _ACTIVATIONS.get(name, {})
        for alpha, beta in [*functions.values()][:1]:
            numbers = next(alphas, alpha), next(betas, beta)
            alike = (ours for ours, its in functions.items() if all(map(partial(isclose, abs_tol=1e-6), numbers, its)))
            name = next(alike, name)
        yield name


# Flax: by the names that its conventions give the tensors of a layer.

FLAX = {"flax-linen", "flax-nnx"}


@cache
def _flax_spellings(framework: str) -> tuple[Spelling, ...]:
    """Return the names of layers of several modules; in a program of `export` directions have names of their own."""
    if framework not in FLAX:
        return ()
    spellings = []
    for names in _cells(framework):
        for home in ("_rnn/cell/", "/cell/", "cell/", ""):
            two = home.startswith(("_", "/"))
            if two == any("ward/" in name for name in names):
                spelled = {name: re.sub("(?<=ward)/" if two else "^", home, name) for name in sorted(names)}
                spellings.append(Spelling({name: [theirs] for name, theirs in spelled.items()}))
    for bias in (True, False):
        tensors = layout(MultiHeadAttention(1, bias=bias), 1, convention(framework)).tensors
        spellings.append(Spelling({tensor.name: [tensor.name] for tensor in tensors}))
    tables = layout(Embedding(1, positions=1), 1, convention(framework)).tensors
    return (*spellings, Spelling({tensor.name: [tensor.name] for tensor in tables}, alone=False))


def _flax(site: Site, module: FileModule) -> Guess | None:
    """Recognise a layer; a layer norm without a bias has the tensor of an RMS norm, unless it is called one."""
    shapes = site.shapes
    norm = not _OTHER_NORM.search(site.path) and ("bias" in shapes or bool(_NORM.search(site.path)))
    match {**shapes, **{name: tensor.shape for name, tensor in site.buffers.items() if name == "mean"}}:
        case {"mean": (width,)}:
            return BatchNorm(scale="scale" in shapes, center="bias" in shapes), width, (Doubt.EPSILON,)
        case {"scale": (width,)} if _BATCH_NORM.search(site.path):
            return BatchNorm(center="bias" in shapes), width, (Doubt.STATISTICS,)
        case {"scale": (width,)} if norm:
            return LayerNorm(bias="bias" in shapes), width, (Doubt.NORM,)
        case {"embedding": (words, width)}:
            positions = shapes.get("positions")
            return Embedding(width, positions=positions[0] if positions else None), words, ()
    guess = _keras(site, module)
    return guess and (*guess[:2], tuple(doubt for doubt in guess[2] if doubt is not Doubt.TABLE))


def _in_directions(sites: Sequence[Site]) -> Iterator[Site]:
    """Yield sites, cells numbered one after the other as a layer's two directions if only both output what one reads.

    A linen module in whose call they are made names them so, whether they are two directions or two layers.
    """
    widths = {(site.inputs, site.layer.output_width(site.inputs)) for site in sites if site.layer}
    read = {inputs for inputs, _ in widths} - {outputs for inputs, outputs in widths if outputs != inputs}
    waiting = [*reversed(sites)]
    while waiting:
        site, after = waiting.pop(), waiting[-1] if waiting else None
        layer, doubts = site.layer, site.doubts
        pair = after and (site.inputs, layer) == (after.inputs, after.layer)
        if after and pair and isinstance(layer, Cell) and _numbered(site.path) + 1 == _numbered(after.path):
            if 2 * layer.units in read and not layer.bidirectional:
                waiting.pop()
                ways = zip(("forward/", "backward/"), (site, after), strict=True)
                tensors = {f"{way}{name}": tensor for way, each in ways for name, tensor in each.tensors.items()}
                layer, site = layer.replace(bidirectional=True), site._replace(tensors=tensors)
                doubts = (*doubts, Doubt.DIRECTIONS)
            elif site.inputs == layer.units:
                doubts = (*doubts, Doubt.OR_DIRECTIONS)
        yield site.guessed(layer, site.inputs, *doubts) if layer else site


def _numbered(path: str) -> int:
    """Return the number at the end of the name of a cell's class, -2 if there is none."""
    number = re.search(r"Cell_([0-9]{1,5})$", path)
    return int(number[1]) if number else -2


# MLX, Equinox, Haiku and PaddlePaddle: by the names that their conventions give the tensors of a layer.


def _named(framework: str, site: Site, module: FileModule) -> Guess | None:
    """Recognise a layer that is no cell; it has PyTorch's names, except in Haiku."""
    shapes = site.shapes
    match framework, shapes:
        case ("haiku", {"w": (inputs, units)}) | ("paddle", {"weight": (inputs, units), "bias": _}):
            return Dense(units, bias=len(shapes) > 1), inputs, (Doubt.ACTIVATION,)
        case "paddle", {"_mean": (width,)}:
            return BatchNorm(scale="weight" in shapes, center="bias" in shapes), width, (Doubt.EPSILON,)
        case "haiku", {"embeddings": (words, width)}:
            return Embedding(width), words, ()
        case "haiku", {"scale": (width,)}:
            return LayerNorm(bias="offset" in shapes), width, (Doubt.NORM,)
        case "haiku", _:
            return None
    return _pytorch(site, module)


def _textbook(site: Site, module: FileModule) -> Guess | None:
    """Recognise a layer of Tesseract's."""
    ways = any(name.startswith("backward/") for name in site.shapes)
    match {name.removeprefix("forward/"): shape for name, shape in site.shapes.items()}:
        case {"W_xi": (units, inputs)}:
            return LSTM(units=units, bidirectional=ways), inputs, (Doubt.DIRECTION,) * ("direction" in module.settings)
        case {"W": (units, inputs)} | {"W_hy": (units, inputs)}:
            return _active(Dense(units) if "W" in site.shapes else Output(units), inputs, module.settings)
    return None


_BY_NAME = {"textbook", "pytorch", "mlx", "equinox", "haiku", "paddle", *FLAX}
"""The frameworks whose files have the tensors of cells under their conventions' names, and no other settings."""

_GUESSES: dict[str, Callable[[Site, FileModule], Guess | None]] = {
    "pytorch": _pytorch,
    "keras": _keras,
    "onnx": _onnx,
    "tfjs": _keras,
    "textbook": _textbook,
    **dict.fromkeys(FLAX, _flax),
    **{framework: partial(_named, framework) for framework in ("mlx", "equinox", "haiku", "paddle")},
}
"""What recognises the layer of a site."""
