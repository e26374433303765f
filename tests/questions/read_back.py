"""Drafts of files, held as they are made: each counts what its file holds."""

from typing import Any

from questions.models.made import cell, file, module

from rnncalc.layers.layer import Layer
from rnncalc.modelfiles.model import FileModule, ModelFile, Remark
from rnncalc.questions.models.sites import Doubt
from rnncalc.questions.read import Draft, read

TABLE = {"weight": (20, 4)}
NORM = {"weight": (4,), "bias": (4,)}
RNN = module("rnn", cell(4, 4, 4))
ACTIVE = Remark(Doubt.ACTIVATION)


def drafted(file: ModelFile) -> Draft:
    """Return the draft of a file, which counts what the file holds, layer by layer what the network has."""
    draft = read(file).draft
    assert draft is not None
    network = draft.network
    assert network.params == file.params
    assert network.convention == file.framework
    output = [network.output] if network.output else []
    assert [*draft.layers] == [*network.layers, *output]
    assert len(draft.doubts) == len(draft.layers)
    return draft


def of(*modules: FileModule, **more: Any) -> Draft:
    return drafted(file("pytorch", *modules, **more))


def layers(draft: Draft) -> list[Layer]:
    return [*draft.layers]


def doubts(draft: Draft) -> list[tuple[Remark, ...]]:
    return [*draft.doubts]
