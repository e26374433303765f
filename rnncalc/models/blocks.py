"""Layers of a model file that have their tensors in several modules: attention, transformers, tables with positions.

Libraries have other names for the tensors of PyTorch's `nn.TransformerEncoderLayer`; their queries, keys and values may
be three matrices, and all matrices input by output.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

from rnncalc.conventions import convention
from rnncalc.conventions.layout import layout
from rnncalc.layers.decoder_attention import BIASED, DecoderAttention
from rnncalc.models.files.model import FileModule, FileTensor, transposed


class Spelling(NamedTuple):
    """The names of a layer's tensors in a library, by their names in PyTorch; several are one below the other.

    alone: whether nothing else may be below the module that they are in.
    """

    names: Mapping[str, Sequence[str]]
    alone: bool = True


_BLOCK = ("self_attn.in_proj_", "self_attn.out_proj.", "norm1.", "linear1.", "linear2.", "norm2.")


def _spelling(*parts: str, keys: Sequence[str] = _BLOCK) -> Spelling:
    """Return the spelling of modules that may have a bias; the words of a part are joined."""
    pairs = [(key, part.split(), end) for key, part in zip(keys, parts, strict=True) for end in ("weight", "bias")]
    return Spelling({f"{key}{end}": [f"{word}{end}" for word in words] for key, words, end in pairs})


_PROJECTIONS = "self_attn.q_proj. self_attn.k_proj. self_attn.v_proj.", "self_attn.out_proj."
_BERT = "attention.self.query. attention.self.key. attention.self.value."
_DISTILBERT = "attention.q_lin. attention.k_lin. attention.v_lin."
_VIT = "attention.attention.query. attention.attention.key. attention.attention.value."
_VIT_5 = "attention.q_proj. attention.k_proj. attention.v_proj."  # in memory; it saves those above
_DENSE = "intermediate.dense.", "output.dense."

LI_GRU = {"w.weight", "u.weight", "norm.weight", "norm.bias"}
RNN_T = {f"{part}.{leaf}" for part in ("x2g", "p2g", "c_norm", "g_norm") for leaf in ("weight", "bias")}
"""The tensors of SpeechBrain's Li-GRU and of the LSTM of torchaudio's RNN-T, which no layer here has."""

SPELLINGS = (
    _spelling(*_BLOCK),
    _spelling("in_proj_", "out_proj.", keys=("in_proj_", "out_proj.")),  # nn.MultiheadAttention
    _spelling(_BERT, "attention.output.dense.", "attention.output.LayerNorm.", *_DENSE, "output.LayerNorm."),
    _spelling(_DISTILBERT, "attention.out_lin.", "sa_layer_norm.", "ffn.lin1.", "ffn.lin2.", "output_layer_norm."),
    _spelling(_VIT, "attention.output.dense.", "layernorm_before.", *_DENSE, "layernorm_after."),
    _spelling(_VIT_5, "attention.o_proj.", "layernorm_before.", "mlp.fc1.", "mlp.fc2.", "layernorm_after."),
    _spelling("attn.c_attn.", "attn.c_proj.", "ln_1.", "mlp.c_fc.", "mlp.c_proj.", "ln_2."),  # GPT-2
    _spelling("attn.qkv.", "attn.proj.", "norm1.", "mlp.fc1.", "mlp.fc2.", "norm2."),  # timm
    _spelling(*_PROJECTIONS, "self_attn_layer_norm.", "fc1.", "fc2.", "final_layer_norm."),  # BART
    _spelling(*_PROJECTIONS, "layer_norm1.", "mlp.fc1.", "mlp.fc2.", "layer_norm2."),  # CLIP
    *(Spelling({name: [name] for name in sorted(names)[::-1]}) for names in (LI_GRU, RNN_T)),
)


_OF_DECODER = (
    *("self_attn.in_proj_", "self_attn.out_proj.", "multihead_attn.in_proj_", "multihead_attn.out_proj."),
    *("linear1.", "linear2.", "norm1.", "norm2.", "norm3."),
)


@cache
def readers_of_two(framework: str) -> tuple[tuple[str, ...], ...]:
    """Return the names of the tensors of each layer that reads a second sequence, such as an encoder's outputs.

    They are an `nn.TransformerDecoderLayer`, and a decoder's attention with any of its biases; with heads it has the
    names of an `nn.MultiheadAttention` with a kdim or a vdim.
    """
    of_heads = DecoderAttention(heads=1, key_width=2)
    layers = [each for layer in (of_heads, DecoderAttention(), DecoderAttention("concat")) for each in biased(layer)]
    attentions = [layout(layer, 1, convention(framework)).tensors for layer in layers]
    blocks = [[f"{part}{end}" for part in _OF_DECODER for end in ends] for ends in (("weight", "bias"), ("weight",))]
    return (*[tuple([tensor.name for tensor in tensors]) for tensors in attentions], *map(tuple, blocks))


def biased(attention: DecoderAttention) -> Iterator[DecoderAttention]:
    """Yield a decoder's attention with each choice of its biases."""
    names = ["heads"] if attention.heads else BIASED[attention.scoring]
    for choice in product((True, False), repeat=len(names)):
        same = len({*choice}) < 2
        yield attention.replace(bias=all(choice) if same else dict(zip(names, choice, strict=True)))


_OF_SCORES: tuple[Mapping[str, str], ...] = (
    {},
    {"query": "Wa", "keys": "Ua", "score": "Va"},  # PyTorch's tutorial of translation
    {"query": "W_q", "keys": "W_k", "score": "w_v"},  # d2l
    {"matrix": "attn", "score": "v"},
)
"""The words of programs for the matrices of a decoder's attention, by those that PyTorch's convention has for them."""


def of_layer(names: Iterable[str]) -> Iterator[Spelling]:
    """Yield the spellings of a layer with tensors of these names: its own, and programs' of a decoder's attention."""
    words = [(name, *name.partition(".")) for name in names]
    for theirs in _OF_SCORES:
        if not theirs or all(word in theirs for _, word, _, _ in words):
            spelled = {name: [f"{theirs.get(word, word)}{dot}{end}"] for name, word, dot, end in words}
            yield Spelling(spelled, alone=not theirs or len(words) > 1)


def joined(
    modules: Sequence[FileModule], spellings: Iterable[Spelling], fits: Callable[[FileModule], bool]
) -> tuple[FileModule, ...]:
    """Return the modules of a file, those that are parts of one layer as one module in the place of the first.

    The parts of a name are separated by any of `.`, `/` and `_`, so `embedding_1.weight` and `embedding_1_positions`
    are of one layer; positions may have an axis for a batch. fits: whether the tensors of a module are a layer's.
    """
    lines = "\n".join([f".{module.path}.{leaf}" for module in modules for leaf in module.tensors])
    lines = lines.replace("/", ".").replace("_", ".") + "\n"
    spellings = [spelling for spelling in spellings if f"{_parts(next(iter(spelling.names.values()))[0])}\n" in lines]
    if not spellings:
        return tuple(modules)
    stored = {(place, leaf): tensor for place, each in enumerate(modules) for leaf, tensor in each.tensors.items()}
    places = {_parts(f"{modules[place].path}.{leaf}"): (place, leaf) for place, leaf in stored}
    names = sorted(places)
    blocks: dict[tuple[int, str], FileModule] = {}  # by each of their tensors
    for spelling in spellings:
        ends = {key: [_parts(name) for name in several] for key, several in spelling.names.items()}
        key, (first, *_) = next(iter(ends.items()))
        for root in [name.removesuffix(first) for name in places if name.endswith(first)]:
            every = {key: [f"{root}{end}" for end in several] for key, several in ends.items()}
            parts = {key: several for key, several in every.items() if not places.keys().isdisjoint(several)}
            taken = {name for several in parts.values() for name in several}
            below = bisect_left(names, f"{root}/") - bisect_left(names, f"{root}.")
            if not (below == len(taken) if spelling.alone else parts == every) or not taken <= places.keys():
                continue
            tensors = {key: [stored[places[name]] for name in several] for key, several in parts.items()}
            if any(len({(tensor.shape, tensor.shared_with) for tensor in several}) > 1 for several in tensors.values()):
                continue
            place, leaf = places[f"{root}{first}"]
            path = modules[place].path
            if len({places[name][0] for name in taken}) == 1 and len(f"{root}.") >= len(_parts(f"{path}.")):
                continue  # they are one module's, at its path or in its names
            if spelling.alone:
                path = f"{path}.{leaf}"[: -len(first)].lstrip(".")
            rows, *columns = tensors[key][0].shape or (0,)
            turned = "in_proj" in key and columns == [3 * rows]
            as_one = {key: _one(each, turned=turned) for key, each in tensors.items()}
            if (positions := as_one.get("positions")) and positions.shape[2:]:
                read = partial(_first, positions)
                as_one["positions"] = positions._replace(shape=positions.shape[1:], read=read)
            block = FileModule(path, as_one, settings=modules[place].settings)
            if fits(block):
                blocks |= dict.fromkeys([places.pop(name) for name in taken], block)
    result: dict[int, FileModule] = {}
    for place, module in enumerate(modules):
        kept = {leaf: tensor for leaf, tensor in module.tensors.items() if (place, leaf) not in blocks}
        for block in (blocks[place, leaf] for leaf in module.tensors if leaf not in kept):
            result[id(block)] = block
        if kept or not module.tensors:
            result[id(module)] = module._replace(tensors=kept)
    return tuple(result.values())


def _parts(name: str) -> str:
    """Return a name as its parts, a point before each."""
    return "." + name.replace("/", ".").replace("_", ".").lstrip(".")


TABLE = re.compile(r"emb|lookup|wte|vocab|(^|[._])tok", re.IGNORECASE)
"""The names of tables."""
_POSITION = re.compile("pos|wpe", re.IGNORECASE)
_POSITIONS = re.compile(f"(^|_)({_POSITION.pattern})", re.IGNORECASE)
_TYPES = re.compile(r"type|segment", re.IGNORECASE)


def positioned(modules: Sequence[FileModule]) -> Iterator[Spelling]:
    """Yield the names of each table that has learned positions of its width beside it, a module or a parameter."""
    if not any(_POSITION.search("\n".join((module.path, *module.tensors))) for module in modules):
        return
    names: dict[tuple[str, int], dict[str, str]] = {}  # by the last word of each, of those beside each other
    for module in modules:
        for leaf, tensor in module.tensors.items():
            name = f"{module.path}.{leaf}".lstrip(".")
            path, _, word = name.removesuffix(".weight").rpartition(".")
            named = module.kind == "Embedding" or TABLE.search(word) or _POSITIONS.search(word)
            match tensor.shape:
                case (_, width) | (1, _, width) if named and "bias" not in module.tensors:
                    names.setdefault((path, width), {})[word] = name
    for beside in names.values():
        tables = [word for word in beside if not (_POSITIONS.search(word) or _TYPES.search(word))]
        for word in filter(_POSITIONS.search, beside):
            several = [table for table in tables if word.startswith(table)] or tables
            if len(several) == 1:
                yield Spelling({"weight": [beside[several[0]]], "positions": [beside[word]]}, alone=False)


def _first(tensor: FileTensor) -> Any:
    return tensor.read()[0]


def _one(tensors: Sequence[FileTensor], *, turned: bool) -> FileTensor:
    """Return tensors of one shape one below the other as one; turned: whether matrices are input by output."""
    first, *others = tensors
    shape = first.shape[::-1] if turned else first.shape
    if not (others or turned):
        return first

    def read() -> Any:
        arrays = [tensor.read() for tensor in tensors]
        return [row for array in arrays for row in (transposed(array) if turned and shape[1:] else array)]

    shape = (len(tensors) * shape[0], *shape[1:]) if shape else shape
    return first._replace(name=" + ".join(tensor.name for tensor in tensors), shape=shape, read=read)
