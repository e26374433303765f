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
    from rnncalc.answers.exercise import exercise as exercise
    from rnncalc.answers.grading import answer as answer
    from rnncalc.errors import CallError as CallError
    from rnncalc.errors import DeclarationError as DeclarationError
    from rnncalc.errors import Problem as Problem
    from rnncalc.errors import RefusedError as RefusedError
    from rnncalc.errors import SpecError as SpecError
    from rnncalc.layers.attention import Attention as Attention
    from rnncalc.layers.attention import MultiHeadAttention as MultiHeadAttention
    from rnncalc.layers.attention import Transformer as Transformer
    from rnncalc.layers.cell import Cell as Cell
    from rnncalc.layers.cell import Gate as Gate
    from rnncalc.layers.cell import Product as Product
    from rnncalc.layers.conv_lstm import ConvLSTM as ConvLSTM
    from rnncalc.layers.convolution import Conv1D as Conv1D
    from rnncalc.layers.convolution import Pool1D as Pool1D
    from rnncalc.layers.decoder_attention import DecoderAttention as DecoderAttention
    from rnncalc.layers.fastgrnn import FastGRNN as FastGRNN
    from rnncalc.layers.gru import GRU as GRU
    from rnncalc.layers.layer import Dense as Dense
    from rnncalc.layers.layer import Dropout as Dropout
    from rnncalc.layers.layer import Embedding as Embedding
    from rnncalc.layers.layer import External as External
    from rnncalc.layers.layer import Layer as Layer
    from rnncalc.layers.layer import Output as Output
    from rnncalc.layers.layer import Transform as Transform
    from rnncalc.layers.lstm import LSTM as LSTM
    from rnncalc.layers.mgu import MGU as MGU
    from rnncalc.layers.mingru import MinGRU as MinGRU
    from rnncalc.layers.minlstm import MinLSTM as MinLSTM
    from rnncalc.layers.normalisation import BatchNorm as BatchNorm
    from rnncalc.layers.normalisation import LayerNorm as LayerNorm
    from rnncalc.layers.reshaping import Flatten as Flatten
    from rnncalc.layers.reshaping import LastStep as LastStep
    from rnncalc.layers.reshaping import RepeatVector as RepeatVector
    from rnncalc.layers.rnn import RNN as RNN
    from rnncalc.layers.sru import SRU as SRU
    from rnncalc.models.read import read_model
    from rnncalc.network.budget import Budget as Budget
    from rnncalc.network.model import Member as Member
    from rnncalc.network.model import Model as Model
    from rnncalc.network.network import Network as Network
    from rnncalc.network.own_kinds import register as register
    from rnncalc.network.parts import Expect as Expect
    from rnncalc.network.parts import Part as Part
    from rnncalc.network.training import Update as Update
    from rnncalc.polynomial import letter as letter
    from rnncalc.programs import export as export
    from rnncalc.questions.backward import backward as backward
    from rnncalc.questions.check import check_network
    from rnncalc.questions.compare import compare as compare
    from rnncalc.questions.convert import convert as convert
    from rnncalc.questions.count import count as count
    from rnncalc.questions.explain import explain as explain
    from rnncalc.questions.run import run as run
    from rnncalc.questions.solve import solve as solve
    from rnncalc.questions.training import training as training
    from rnncalc.reports.draw import draw as draw
    from rnncalc.spec import load as load
    from rnncalc.spec import load_data as load_data
    from rnncalc.spec import load_model as load_model

    check, read = check_network, read_model
    __all__: list[str]

__version__ = "1.0.0rc1"

_HOMES = {
    "rnncalc.errors": "CallError DeclarationError Problem RefusedError SpecError",
    "rnncalc.programs": "export",
    "rnncalc.layers.cell": "Cell Gate Product",
    "rnncalc.layers.decoder_attention": "DecoderAttention",
    "rnncalc.layers.layer": "Layer Output Transform",
    "rnncalc.network.model": "Member Model",
    "rnncalc.network.network": "Network",
    "rnncalc.network.own_kinds": "register",
    "rnncalc.network.budget": "Budget",
    "rnncalc.network.parts": "Expect Part",
    "rnncalc.network.training": "Update",
    "rnncalc.polynomial": "letter",
    "rnncalc.answers.grading": "answer",
    "rnncalc.questions.backward": "backward",
    "rnncalc.questions.check": "check=check_network",
    "rnncalc.questions.compare": "compare",
    "rnncalc.questions.convert": "convert",
    "rnncalc.questions.count": "count",
    "rnncalc.answers.exercise": "exercise",
    "rnncalc.questions.explain": "explain",
    "rnncalc.models.read": "read=read_model",
    "rnncalc.questions.run": "run",
    "rnncalc.questions.solve": "solve",
    "rnncalc.questions.training": "training",
    "rnncalc.reports.draw": "draw",
    "rnncalc.spec": "load load_data load_model",
}
"""The public names of each module, some with the name that they have there."""


def _layers() -> dict[str, str]:
    """Return the kind of each layer class in the list of kinds, by the name of the class: every one is public."""
    from rnncalc.layers import KINDS

    return {
        layer.rpartition(":")[2] if isinstance(layer, str) else layer.__name__: name for name, layer in KINDS.items()
    }


def __dir__() -> list[str]:
    """Return the public names, and not the rooms behind them."""
    named = (each.partition("=")[0] for names in _HOMES.values() for each in names.split())
    return sorted({*named, *_layers()})


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the command line starts without those it does not need."""
    if name == "__all__":
        return __dir__()
    for home, names in _HOMES.items():
        for public, _, there in (each.partition("=") for each in names.split()):
            if public == name:
                return getattr(import_module(home), there or name)
    if layer := _layers().get(name):
        from rnncalc.layers import kind

        return kind(layer)
    raise AttributeError(f"module 'rnncalc' has no attribute {name!r}")
