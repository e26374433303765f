"""The names of a network's arrays in the files from which a program of `export` loads them."""

from __future__ import annotations

from collections.abc import Mapping

from rnncalc.layers.layer import Embedding
from rnncalc.network.network import Network
from rnncalc.programs import SPELLINGS, spelling
from rnncalc.programs.keras import Keras
from rnncalc.programs.program import program_of


def saved_names(network: Network, *, hdf5: bool = False) -> Mapping[tuple[str, str], list[str]]:
    """Return the names of each array by its layer and tensor; LAYER/ARRAY if no program is written for its convention.

    hdf5: whether they are places in a file that Keras's `save_weights` writes.
    """
    target = network.convention
    names: dict[tuple[str, str], list[str]] = {}
    if target not in SPELLINGS:
        first = ""
        for placed in network.stack:
            first = first if placed.copy else placed.name
            for alone, tensor in zip((*placed.layout.tensors, *placed.layout.buffers), placed.stored, strict=True):
                layer = first if alone.around else placed.name  # a module that has those of a repeat, with numbers
                names[placed.name, tensor.name] = [f"{layer}/{tensor.name}"]
        return names
    spelled = spelling(target)
    writer = spelled(program_of(network, target, stacks=spelled.stacks))
    if hdf5 and isinstance(writer, Keras):
        return {(module.places[0].name, tensor): places for module, tensor, places in writer.in_hdf5()}
    table = None
    for module in writer.program.modules:
        for number, place in enumerate(module.places):
            for alone, tensor in zip((*place.layout.tensors, *place.layout.buffers), place.stored, strict=True):
                names[place.name, tensor.name] = [writer.saved_as(module, alone.sized(place.sizes, number).name)]
            if isinstance(place.layer, Embedding):
                table = place.name, place.stored[0].name
            if table and module.tied and writer.tie:  # a module, which has the table as its own matrix
                names[table] += [writer.saved_as(module, shared.name) for shared in place.shared]
    return names
