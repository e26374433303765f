"""Drafts of files, held as they are made: each counts what its file holds."""

from typing import Any

from questions.models.made import cell, file, module

from rnncalc.layers.layer import Layer
from rnncalc.modelfiles.model import ModelFile, Module
from rnncalc.questions.models.site import Doubt
from rnncalc.questions.read import Doubted, Draft, read

TABLE = {"weight": (20, 4)}
NORM = {"weight": (4,), "bias": (4,)}
RNN = module("rnn", cell(4, 4, 4))
ACTIVE = Doubted(Doubt.ACTIVATION)


def drafted(file: ModelFile) -> Draft:
    """Return the draft of a file, which counts what the file holds, layer by layer what the network has."""
    draft = read(file).draft
    assert draft is not None
    network = draft.network
    assert network.params == file.params
    assert network.convention == file.framework
    output = [network.output] if network.output else []
    assert [each.layer for each in draft.layers] == [*network.layers, *output]
    return draft


def of(*modules: Module, **more: Any) -> Draft:
    return drafted(file("pytorch", *modules, **more))


def layers(draft: Draft) -> list[Layer]:
    return [each.layer for each in draft.layers]


def doubts(draft: Draft) -> list[tuple[Doubted, ...]]:
    return [each.doubts for each in draft.layers]
