"""A training step and its keys: the one declaration for specs, flags and Python.

Imported only when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rnncalc.errors import Problem
from rnncalc.layers.options import Choice, Option, Size

OPTIMIZERS = {"sgd": 0, "momentum": 1, "adam": 2}
"""The optimizers, and how many numbers each keeps for a parameter."""


class Update(NamedTuple):
    """An update by backpropagation through time.

    chunk: the steps that the gradient passes through, all of them if it is None. batch: the sequences.
    optimizer: one of OPTIMIZERS. sequences: those of an epoch, None if not known.
    """

    chunk: int | None = None
    batch: int = 1
    optimizer: str = "sgd"
    sequences: int | None = None


UPDATE_KEYS = {
    "chunk": Option(Size(), "the steps that the gradient passes through; all of them by default"),
    "batch": Option(Size(), "the sequences of a training step; 1 by default"),
    "optimizer": Option(Choice(OPTIMIZERS), "the optimizer; sgd by default"),
    "sequences": Option(Size(), "the sequences of an epoch, for its work"),
}


def problems_of(update: object) -> Iterator[Problem]:
    """Yield what is wrong with a training step."""
    if not isinstance(update, Update):
        yield Problem(("training",), f"expected an Update, such as Update(chunk=35), got {update!r}")
        return
    for key, option in UPDATE_KEYS.items():
        value = getattr(update, key)
        if not (value is None and Update._field_defaults[key] is None) and (problem := option.allowed.problem(value)):
            yield Problem(("training", key), problem)
