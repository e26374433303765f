"""The pieces a network is described with: its parts, and what is known or asked of its counts."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer, Output
from rnncalc.letters import has_letters
from rnncalc.records import Frozen

if TYPE_CHECKING:
    from rnncalc.layers.decoder_attention import DecoderAttention

OUTPUT = "output"
"""The name of the output layer."""


class Topology(StrEnum):
    """Which steps of a network have inputs and outputs: one, or all of them."""

    ONE_TO_ONE = "one-to-one"
    ONE_TO_MANY = "one-to-many"
    MANY_TO_ONE = "many-to-one"
    MANY_TO_MANY = "many-to-many"


TOPOLOGIES = tuple(topology.value for topology in Topology)
TopologyName = Literal["one-to-one", "one-to-many", "many-to-one", "many-to-many"]
"""The topologies as a type, so that type checkers catch a typo."""


InitialStates = Literal["all", "last", "zeros"]
"""How the recurrent layers of a decoder start."""


def default_topology(layers: Iterable[Layer]) -> Topology:
    """Return many-to-one if a recurrent layer has a last step, or a layer ends the sequence; else many-to-many."""
    ending = any(isinstance(layer, Cell) or layer.time.ends for layer in layers)
    return Topology.MANY_TO_ONE if ending else Topology.MANY_TO_MANY


def reads_many(topology: str) -> bool:
    """Return whether a network of this topology reads an input at every step, instead of one."""
    return topology in (Topology.MANY_TO_ONE, Topology.MANY_TO_MANY)


class Part(NamedTuple):
    """A stack of layers: a whole network, or one half of an encoder-decoder.

    input: features per step, or the vocabulary when an embedding comes first, or the channels of each place of a step.
    steps: the sequence length T, None when it is not known.
    attention: a decoder's, to the outputs of the encoder.
    initial_states: how a decoder's recurrent layers start: each from the encoder's of its level; the first one from the
    encoder's last, the others from zeros; all from zeros. A decoder with an input of 0 reads a context alone.
    """

    input: int
    layers: tuple[Layer, ...]
    output: Output | None = None
    steps: int | None = None
    attention: DecoderAttention | None = None
    initial_states: InitialStates = "all"

    @property
    def width(self) -> int:
        """The numbers of a step of its input: its channels at each place, where its first layer reads a space."""
        return self.input * prod(self.layers[0].grid) if self.layers else self.input

    @property
    def contexts(self) -> Mapping[int, int]:
        """The width of the context that attention joins to the input of a layer, by the layer's place in `layers`.

        The place after the last is that of the output layer.
        """
        recurrent = [place for place, layer in enumerate(self.layers) if isinstance(layer, Cell)]
        if not self.attention or not recurrent:
            return {}
        places = zip((recurrent[0], self.attention.query_layer(recurrent) + 1), self.attention.joins, strict=True)
        width = self.attention.output_width(0)
        joined = {place: width for place, joins in places if joins}
        return joined if self.attention.context != "added" else {recurrent[0]: 0}


class Expect(Frozen):
    """The known counts of an exercise: the total, and each layer's, the output layer last.

    saved, backward_multiply_adds: the known numbers of training, as the network's `training` says.
    tensors: the known shapes of tensors, by the name of their layer and their own; any of them.
    networks: of a model, the known totals of its networks by name.
    """

    total: int | None = None
    layers: tuple[int, ...] | None = None
    tensors: Mapping[str, Mapping[str, tuple[int, ...]]] | None = None
    saved: int | None = None
    backward_multiply_adds: int | None = None
    networks: Mapping[str, int] = {}

    @property
    def counts(self) -> dict[str, int | None]:
        """The numbers of the whole, by their keys."""
        return {"total": self.total, "saved": self.saved, "backward_multiply_adds": self.backward_multiply_adds}


Parts = Mapping[str | None, Part]
"""The parts of a network by name: `None` for a whole one, or `encoder` and `decoder`."""


def letters_of(parts: Parts) -> list[str]:
    """Return the letters among the sizes of a network, in alphabetical order."""
    if "rnncalc.polynomial" not in sys.modules:  # nothing has made a letter, as in most calls
        return []
    values: list[Any] = []
    for part in parts.values():
        values += (part.input, part.steps)
        for layer in (*part.layers, part.attention, part.output):
            values += (*layer.__dict__.values(), *layer.grid) if layer else ()
    return sorted({name for value in values if has_letters(value) for name in value.letters})


def steps_known(parts: Parts) -> bool:
    """Return whether every part says how many steps it takes."""
    return all(part.steps is not None for part in parts.values())


def part_of(
    input: int,
    layers: Sequence[Layer],
    output: Output | int | None = None,
    steps: int | None = None,
    attention: DecoderAttention | None = None,
    initial_states: InitialStates = "all",
) -> Part:
    """Return a part from a caller's values: any sequence of layers, an output layer or its units."""
    if output is not None and not isinstance(output, Output):
        output = Output(output)
    return Part(input, tuple(layers), output, steps, attention, initial_states)


def attending(parts: dict[str | None, Part]) -> dict[str | None, Part]:
    """Return the parts with the widths of the query and of the keys in a decoder's attention, if it has both halves."""
    encoder, decoder = parts.get("encoder"), parts.get("decoder")
    attention = decoder and decoder.attention
    if not encoder or not decoder or not attention:
        return parts
    memory = [join.outputs for join in joins(encoder)]
    recurrent = [(join.layer, join.outputs) for join in joins(decoder) if isinstance(join.layer, Cell)]
    if not memory or not recurrent:
        return parts
    layer, query = attention.query_layer(recurrent)
    if attention.query == "before":
        query = layer.state_widths()[0]
    return parts | {"decoder": decoder._replace(attention=attention.replace(query_width=query, key_width=memory[-1]))}


class Join(NamedTuple):
    """A layer of a part between its neighbours: its place in `layers`, its copy of a `repeat` and the widths."""

    layer: Layer
    place: int
    copy: int
    inputs: int
    outputs: int


def joins(part: Part) -> Iterator[Join]:
    """Yield the layers of a part, each of a `repeat` by itself, with their input and output widths."""
    width, contexts = part.width, part.contexts
    for place, layer in enumerate(part.layers):
        for copy in range(layer.repeat):
            inputs = width + layer.extra_inputs + (0 if copy else contexts.get(place, 0))
            width = layer.output_width(inputs)
            yield Join(layer, place, copy, inputs, width)


def name_of_start(name: str, state: str) -> str:
    """Return the name of the dense layer that makes a state of a recurrent layer before its first step."""
    return f"{name}_{state}_0"


def name_of(layer: Layer, copy: int, counted: Counter[str]) -> str:
    """Return the name of a layer, or its kind with a number; `counted`: the numbers of each kind so far."""
    counted[layer.kind] += 1
    if layer.name is None:
        return f"{layer.kind}_{counted[layer.kind]}"
    return layer.name if layer.repeat == 1 else f"{layer.name}_{copy + 1}"
