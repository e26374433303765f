"""Exact parameter counts of recurrent networks, without a framework.

    from rnncalc import LSTM, Network, Output, load

    load("specs/lstm.yaml").params
    Network(input=10, layers=(LSTM(20),), output=Output(5)).params

A Network and its layers are frozen; widths are numbers of features or units; whatever cannot be raises SpecError, whose
`problems` name everything that is wrong. The formulas and their sources stand in the layers' own documentation.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rnncalc.conventions.tensor import Tensor
    from rnncalc.errors import Problem, SpecError
    from rnncalc.layers.cell import GRU, LSTM, MGU, RNN, Cell
    from rnncalc.layers.layer import Dense, Dropout, Embedding, External, Layer, Output
    from rnncalc.network.budget import Budget
    from rnncalc.network.network import Network
    from rnncalc.network.parts import Expect, Part
    from rnncalc.spec import load

__version__ = "0.1.0"

_HOMES = {
    "rnncalc.errors": ("Problem", "SpecError"),
    "rnncalc.layers.cell": ("GRU", "LSTM", "MGU", "RNN", "Cell"),
    "rnncalc.layers.layer": ("Dense", "Dropout", "Embedding", "External", "Layer", "Output"),
    "rnncalc.network.network": ("Network",),
    "rnncalc.network.budget": ("Budget",),
    "rnncalc.network.parts": ("Expect", "Part"),
    "rnncalc.conventions.tensor": ("Tensor",),
    "rnncalc.spec": ("load",),
}

__all__ = [
    "GRU",
    "LSTM",
    "MGU",
    "RNN",
    "Budget",
    "Cell",
    "Dense",
    "Dropout",
    "Embedding",
    "Expect",
    "External",
    "Layer",
    "Network",
    "Output",
    "Part",
    "Problem",
    "SpecError",
    "Tensor",
    "load",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the command line starts without those it does not need."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'rnncalc' has no attribute {name!r}")
