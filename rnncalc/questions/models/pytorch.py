"""Which layers the modules of a PyTorch file may be: cells by the rows for each column of their recurrent matrix."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rnncalc.layers.kinds import kind
from rnncalc.layers.layer import Dense, Embedding
from rnncalc.modelfiles.model import FileTensor, Module
from rnncalc.questions.models.site import BY_GATES, Doubt, Guess

_RECURRENT = re.compile(r"(weight_ih|weight_hh|weight_hr|bias_ih|bias_hh)(?:_l([0-9]{1,5}))?(_reverse)?")
_TABLE = re.compile(r"emb|lookup|wte|vocab|token", re.IGNORECASE)

Tensors = Mapping[str, FileTensor]


def guesses(module: Module) -> Iterator[tuple[int, Tensors, tuple[Guess, ...]]]:
    """Yield the recurrent layers stacked in a module by their numbers, and what else it holds as number 0."""
    stacked: dict[int, dict[str, FileTensor]] = {}
    others: dict[str, FileTensor] = {}
    for leaf, tensor in module.tensors.items():
        if found := _RECURRENT.fullmatch(leaf):
            stacked.setdefault(int(found[2] or 0), {})[f"{found[1]}_l0{found[3] or ''}"] = tensor
        else:
            others[leaf] = tensor
    for number in sorted(stacked):
        yield number, stacked[number], tuple(_cells(stacked[number]))
    if others:
        yield 0, others, tuple(_others(module.path, others))


def _cells(tensors: Tensors) -> Iterator[Guess]:
    try:
        (rows, columns), (_, inputs) = tensors["weight_hh_l0"].shape, tensors["weight_ih_l0"].shape
        projection, units = tensors["weight_hr_l0"].shape if "weight_hr_l0" in tensors else (None, columns)
    except (KeyError, ValueError):
        return
    name = BY_GATES.get(rows // units) if units else None
    if name is None:
        return
    options: dict[str, Any] = {
        "bidirectional": "weight_hh_l0_reverse" in tensors,
        "bias": "bias_ih_l0" in tensors,
    }
    if projection is not None and name == "lstm":
        options["projection"] = projection
    made: Any = kind(name)
    yield Guess(made(units=units, **options), inputs, (Doubt.RECURRENT_ACTIVATION,) if name == "rnn" else ())


def _others(path: str, tensors: Tensors) -> Iterator[Guess]:
    """Yield a dense layer, and a table where there is no bias: which is likelier, the name says."""
    weight = tensors.get("weight")
    if weight is None or len(weight.shape) != 2:
        return
    rows, columns = weight.shape
    dense = Guess(Dense(rows, bias="bias" in tensors), columns, (Doubt.ACTIVATION,))
    if "bias" in tensors:
        yield dense
        return
    table = Guess(Embedding(columns), rows)
    if _TABLE.search(path):
        yield table
    else:
        yield dense._replace(doubts=(Doubt.ACTIVATION, Doubt.TABLE))
