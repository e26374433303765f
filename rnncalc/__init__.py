"""Exact parameter counts of recurrent networks, without a framework.

    from rnncalc import LSTM, Network, Output, count, load

    count(load("specs/lstm.yaml")).params
    Network(input=10, layers=[LSTM(20)], output=5).params

A network and its layers are frozen; widths are numbers of features or units; whatever cannot be raises SpecError, whose
`problems` name everything that is wrong. The formulas and their sources are in the layers' own documentation.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rnncalc.errors import CallError, DeclarationError, Problem, RefusedError, SpecError
    from rnncalc.export import export
    from rnncalc.layers.attention import Attention, MultiHeadAttention, Transformer
    from rnncalc.layers.cell import Cell, Gate, Product
    from rnncalc.layers.conv_lstm import ConvLSTM
    from rnncalc.layers.convolution import Conv1D, Pool1D
    from rnncalc.layers.decoder_attention import DecoderAttention
    from rnncalc.layers.fastgrnn import FastGRNN
    from rnncalc.layers.gru import GRU
    from rnncalc.layers.layer import Dense, Dropout, Embedding, External, Layer, Output, Transform
    from rnncalc.layers.lstm import LSTM
    from rnncalc.layers.mgu import MGU
    from rnncalc.layers.mingru import MinGRU
    from rnncalc.layers.minlstm import MinLSTM
    from rnncalc.layers.normalisation import BatchNorm, LayerNorm
    from rnncalc.layers.reshaping import Flatten, LastStep, RepeatVector
    from rnncalc.layers.rnn import RNN
    from rnncalc.layers.sru import SRU
    from rnncalc.network.budget import Budget
    from rnncalc.network.network import Network
    from rnncalc.network.own_kinds import register
    from rnncalc.network.parts import Expect, Part
    from rnncalc.network.training import Update
    from rnncalc.polynomial import letter
    from rnncalc.questions.answer.grading import answer
    from rnncalc.questions.backward import backward
    from rnncalc.questions.check import check_network as check
    from rnncalc.questions.compare import compare
    from rnncalc.questions.count import count
    from rnncalc.questions.exercise import exercise
    from rnncalc.questions.explain import explain
    from rnncalc.questions.read import read_model as read
    from rnncalc.questions.run import run
    from rnncalc.questions.solve import solve
    from rnncalc.questions.training import training
    from rnncalc.reports.draw import draw
    from rnncalc.spec import load, load_data

__version__ = "1.0.0rc1"

_HOMES = {
    "rnncalc.errors": "CallError DeclarationError Problem RefusedError SpecError",
    "rnncalc.export": "export",
    "rnncalc.layers.cell": "Cell Gate Product",
    "rnncalc.layers.decoder_attention": "DecoderAttention",
    "rnncalc.layers.layer": "Layer Output Transform",
    "rnncalc.network.network": "Network",
    "rnncalc.network.own_kinds": "register",
    "rnncalc.network.budget": "Budget",
    "rnncalc.network.parts": "Expect Part",
    "rnncalc.network.training": "Update",
    "rnncalc.polynomial": "letter",
    "rnncalc.questions.answer.grading": "answer",
    "rnncalc.questions.backward": "backward",
    "rnncalc.questions.check": "check=check_network",
    "rnncalc.questions.compare": "compare",
    "rnncalc.questions.count": "count",
    "rnncalc.questions.exercise": "exercise",
    "rnncalc.questions.explain": "explain",
    "rnncalc.questions.read": "read=read_model",
    "rnncalc.questions.run": "run",
    "rnncalc.questions.solve": "solve",
    "rnncalc.questions.training": "training",
    "rnncalc.reports.draw": "draw",
    "rnncalc.spec": "load load_data",
}
"""The public names of each module, some with the name that they have there."""

__all__ = [
    "GRU",
    "LSTM",
    "MGU",
    "RNN",
    "SRU",
    "Attention",
    "BatchNorm",
    "Budget",
    "CallError",
    "Cell",
    "Conv1D",
    "ConvLSTM",
    "DeclarationError",
    "DecoderAttention",
    "Dense",
    "Dropout",
    "Embedding",
    "Expect",
    "External",
    "FastGRNN",
    "Flatten",
    "Gate",
    "LastStep",
    "Layer",
    "LayerNorm",
    "MinGRU",
    "MinLSTM",
    "MultiHeadAttention",
    "Network",
    "Output",
    "Part",
    "Pool1D",
    "Problem",
    "Product",
    "RefusedError",
    "RepeatVector",
    "SpecError",
    "Transform",
    "Transformer",
    "Update",
    "answer",
    "backward",
    "check",
    "compare",
    "count",
    "draw",
    "exercise",
    "explain",
    "export",
    "letter",
    "load",
    "load_data",
    "read",
    "register",
    "run",
    "solve",
    "training",
]


def _layers() -> dict[str, str]:
    """Return the kind of each layer class in the list of kinds, by the name of the class: every one is public."""
    from rnncalc.layers import KINDS

    return {
        layer.rpartition(":")[2] if isinstance(layer, str) else layer.__name__: name for name, layer in KINDS.items()
    }


def __dir__() -> list[str]:
    """Return the public names, and not the rooms behind them."""
    return sorted({*__all__, *_layers()})


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the command line starts without those it does not need."""
    for home, names in _HOMES.items():
        for public, _, there in (each.partition("=") for each in names.split()):
            if public == name:
                return getattr(import_module(home), there or name)
    if layer := _layers().get(name):
        from rnncalc.layers import kind

        return kind(layer)
    raise AttributeError(f"module 'rnncalc' has no attribute {name!r}")
