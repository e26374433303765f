"""How a network is written as source code: one file a framework, and TARGETS, the list of them all.

A new target is a module with `write(program)`, which returns the source, and its line in TARGETS; it is imported when
it is used. What a program consists of, and what flows through it, is `questions/export.py`; nothing here counts.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from rnncalc.errors import RefusedError
from rnncalc.layers.cell import Cell
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

    Raises KeyError for a target that is not in the list, RefusedError for a network too long to be written, and for a
    cell that the convention has and nobody has written for the target.
    """
    found = TARGETS[target]
    program = export(network, target, stacks=found.stacks)
    kinds = {each.layer.kind for each in program.modules if isinstance(each.layer, Cell) and each.cell is None}
    try:
        text: str = import_module(found.module).write(program)
    except KeyError as error:
        if error.args[0] not in kinds:  # a table by the kinds of cells lacks one; another key is a mistake
            raise
        message = f"the convention {target} has a {error.args[0]}, and no module of that cell is written for it"
        file = found.module.rpartition(".")[2]
        raise RefusedError(f"{message}; name one in sources/{file}.py, or export to another target") from None
    return text
