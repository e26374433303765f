"""How a network is written as source code: one file a framework, and TARGETS, the list of them all.

A new target is a module with `write(program)`, which returns the source, and its line in TARGETS; it is imported when
it is used. What a program consists of, and what flows through it, is `questions/export.py`; nothing here counts.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from rnncalc.network.network import Network
from rnncalc.questions.export import export


class Target(NamedTuple):
    """A framework to write for: the module whose `write(program)` writes it.

    stacks: whether one module of the framework may be several equal layers, as `nn.LSTM(num_layers=2)` is.
    """

    module: str
    stacks: bool = False


TARGETS: dict[str, Target] = {
    "pytorch": Target("rnncalc.sources.pytorch", stacks=True),
    "keras": Target("rnncalc.sources.keras"),
    "flax-linen": Target("rnncalc.sources.flax_linen"),
    "flax-nnx": Target("rnncalc.sources.flax_nnx"),
}
"""Every target by the name of its convention."""


def source(network: Network, target: str) -> str:
    """Return a program in Python that builds the network in a framework and, run, prints its parameters.

    Raises KeyError for a target that is not in the list, RefusedError for a network too long to be written.
    """
    found = TARGETS[target]
    text: str = import_module(found.module).write(export(network, target, stacks=found.stacks))
    return text
