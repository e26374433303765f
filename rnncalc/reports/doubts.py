"""What is said of what a model file does not tell, and of what is noticed in it."""

from __future__ import annotations

from enum import Enum

from rnncalc.modelfiles.model import Remark, Sign
from rnncalc.questions.models.sites import Doubt
from rnncalc.text import all_of

SHOWN = 6
"""How many names of a list are told."""

_SENTENCES: dict[Enum, str] = {
    Doubt.RECURRENT_ACTIVATION: "activation: tanh or relu, the file does not tell",
    Doubt.ACTIVATION: "the activation is not in the file",
    Doubt.OTHERWISE: "its gates' activations or direction are none that a spec has: a run differs from the model's",
    Doubt.TABLE: "a matrix without a bias: a dense layer, or a table of {numbers[0]:,} words",
    Doubt.MODULES: "no layer that is known here: {names}",
    Doubt.WIDTH: "{numbers[0]:,} wide before and {numbers[1]:,} behind; how, the file does not tell",
    Doubt.INPUT: "what it reads is not in the file; input is what it hands on",
    Doubt.PARTLY_FROZEN: "frozen in part: {names}",
    Sign.ROLES_BY_NAME: "the format does not tell parameters from buffers: told apart by names and types",
    Sign.AVERAGES: "not counted, by their names averages of the weights: {names}",
    Sign.FILES: "the tensors are in {names}",
    Sign.NOT_READ: "not counted, since they are no plain tensors: {names}",
    Sign.QUANTISED: "not counted, since they are quantised: {names}; read the model as it was before that",
    Sign.SCRIPT: "an archive of TorchScript: its tensors are listed, its code is not read",
    Sign.ZEROS: "second biases that are all zeros, as exporters add them: {names}",
    Sign.IN_BRANCHES: "branches and loops are not looked into, and weights within them not counted: {names}",
    Sign.NO_CONFIG: "weights alone: activations, and how the layers are joined, are not in the file",
}


def sentence(remark: Remark) -> str:
    """Return what is to be said of a file, or of a layer of its draft."""
    return _SENTENCES[remark.sign].format(names=listed(remark.names), numbers=remark.numbers or (0, 0))


def listed(names: tuple[str, ...]) -> str:
    """Return the first names, and how many more there are."""
    if not names:
        return "the whole file"
    more = [f"{len(names) - SHOWN:,} more"] if len(names) > SHOWN else []
    return all_of([*(name[:100] for name in names[:SHOWN]), *more])
