"""A network as source code for a framework: SPELLINGS, the list of frameworks, and `source`, which writes a program.

A new framework is a class that extends Writer, named in the list under its convention.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rnncalc.conventions import lacks
from rnncalc.errors import CallError, RefusedError
from rnncalc.layers.decoder_attention import DecoderAttention
from rnncalc.layers.layer import CROSS, Transform
from rnncalc.network.flow import Placement, arrays
from rnncalc.network.flow import shapes as shapes_of
from rnncalc.network.network import Network, in_numbers
from rnncalc.printable import escape
from rnncalc.programs.program import program_of
from rnncalc.programs.writer import Writer, attends
from rnncalc.records import Frozen, loaded
from rnncalc.words import not_among, one_of

if TYPE_CHECKING:
    from rnncalc.network.model import Described

SPELLINGS: dict[str, str | type[Writer]] = {
    "pytorch": "rnncalc.programs.pytorch:PyTorch",
    "keras": "rnncalc.programs.keras:Keras",
    "flax-linen": "rnncalc.programs.flax_linen:FlaxLinen",
    "flax-nnx": "rnncalc.programs.flax_nnx:FlaxNNX",
}
"""The writer of each framework, or the module and the name of its class."""


def spelling(target: str) -> type[Writer]:
    """Return the writer of a convention's programs. Raises RefusedError if nobody has written one."""
    if target not in SPELLINGS:
        message = f"the convention {target} has no spelling, so no program can be written for it"
        raise RefusedError(f"{message}; write one in programs/, or export to {one_of([*SPELLINGS])}")
    return loaded(SPELLINGS, target)


def source(described: Described, target: str, loss: str = "") -> str:
    """Return a program in Python that builds a network or a model in a framework and, run, prints its parameters.

    loss: one of LOSSES, whose function the program of a network has too. Raises RefusedError for a target without a
    spelling, and for a cell of the convention that the spelling lacks; CallError for the loss of a model.
    """
    described = in_numbers(described)
    if isinstance(described, Network):
        return _writer(described, target).text(loss)
    if loss:
        raise CallError("loss: it is of the output of one network; export each network by itself")
    from rnncalc.programs.several import program_of_model  # imported only for a model

    networks = {name: member.network.replace(name=name) for name, member in described.networks.items()}
    return program_of_model(described, {name: _writer(each, target) for name, each in networks.items()})


def _writer(network: Network, target: str) -> Writer:
    spelled = spelling(target)
    moves = network.flow
    for placed in network.stack:
        if placed.layer.grid and placed.kind not in spelled.cells:
            message = f"{placed.name}: {placed.kind} cannot be exported to {target}"
            others = [other for other in SPELLINGS if placed.kind in spelling(other).cells]
            raise RefusedError(f"{message}; export to {one_of(others)}" if others else message)
    whole = arrays(moves)
    if network.feedback and len(whole[-1]) != 1 + len(whole[0]):
        message = "feedback cannot be exported here: the next input has places, and the output is a vector"
        raise RefusedError(f"{message}; remove the layer that joins the places, or feedback")
    decoder = network.decoder
    program = program_of(network, target, stacks=spelled.stacks)
    if decoder and any(module.looped and module.recurrent and not module.start for module in program.modules):
        message = "no program is written for a decoder with attention whose states start from zeros"
        raise RefusedError(f"{message}; write initial_states: all")
    sizes = shapes_of(moves)
    shapes = {move.name: sizes[move.reads[0]] for move in moves if isinstance(move, Placement)}
    file = target.replace("-", "_")
    for module in program.modules:
        kind = module.layer.kind
        if module.recurrent and module.cell is None and kind not in spelled.cells:
            message = f"the convention {target} has a {kind}, and no module of that cell is written for it"
            raise RefusedError(f"{message}; name one in programs/{file}.py, or export to another target")
        layer = module.layer
        if isinstance(layer, DecoderAttention) and layer.score == "location":
            raise RefusedError(
                f"{escape(module.name)}: no program is written with location scores; count or run it instead"
            )
        if not isinstance(layer, Transform) or attends(module):
            continue
        if layer.time.begins or module.places[0].buffers or layer.named_as in CROSS:  # no class of a program's own
            for _, problem in lacks(layer, target):
                raise RefusedError(f"{escape(module.name)}: {problem}")
            if layer.named_as not in spelled.transforms:
                raise RefusedError(f"no program for {target} is written with {kind}; write an external layer instead")
        around = spelled.transforms.get(layer.named_as)
        padded = around and around.padded and any(layer.padding_of(None))
        if layer.every > 1 and shapes[module.name][0] is None and padded:
            raise RefusedError(f"{escape(module.name)}: how it is padded depends on the number of steps; give steps")
    return spelled(program)


def export(network: Described, to: str) -> str:
    """Return a program in Python that builds a network or a model in a framework and, run, prints its parameters.

    to: pytorch, keras, flax-linen or flax-nnx. Raises CallError for another, RefusedError for what it cannot express.
    """
    if not isinstance(network, Frozen) or not hasattr(network, "stack"):
        raise CallError(f"expected a Network, such as load('spec.yaml'), got {escape(repr(network))}")
    if to not in SPELLINGS:
        raise CallError(f"to: {not_among((str(to),), tuple(SPELLINGS))}")
    return source(network, to)
