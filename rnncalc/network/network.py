"""A network, and what follows from it: its parts, its stack, its counts.

Knows nothing of files or of questions about a network. `validation.py` says what can be wrong with one.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from rnncalc.conventions import convention
from rnncalc.conventions.rules import Convention
from rnncalc.errors import LettersError, SpecError, first
from rnncalc.letters import has_letters
from rnncalc.network.flow import Move, flow
from rnncalc.network.parts import Part, Parts, Topology, attending, default_topology, letters_of, part_of
from rnncalc.network.stack import Placed, stack, without_clashes
from rnncalc.network.validation import Description, parts_of, problems, type_problems
from rnncalc.words import all_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rnncalc.conventions.notation import Notation

    class Lettered(Protocol):
        """A network, or a model of several."""

        @property
        def letters(self) -> Mapping[str, Any]: ...

        @property
        def networks(self) -> Mapping[str, Any]: ...

        @property
        def stack(self) -> tuple[Placed, ...]: ...


class Network(Description):
    """A recurrent network, as a spec file describes it: `Network(input=4, layers=[RNN(3)], output=1)`.

    input: features per step, or the vocabulary when an embedding comes first. layers: a list or tuple of layers.
    output: a layer, or its number of units. steps: the length T of the sequence.
    An encoder-decoder has an `encoder` and a `decoder`, which hold those four, in their place.
    feedback: whether, in one-to-many, each output is the next input; else zeros follow.
    notation: how its parameters are spelled where they are shown; by default as the convention has them. symbols: a
        course's letters for those of the notation, as in `{"h": "a", "i": "Γ_u", "W_hy": "W_ya"}`.
    rate: the steps per second, when it runs on a live signal.
    sizes: its sizes with names, as a spec has them; `load` reads them.
    Raises SpecError naming everything that is wrong with it.
    """

    def __post_init__(self) -> None:
        if problem_tuple := first(type_problems(self)):
            raise SpecError(problem_tuple)
        for key in ("encoder", "decoder"):
            if half := getattr(self, key):
                self.__dict__[key] = part_of(*half)
        whole = part_of(0, self.layers, self.output)
        self.__dict__.update(layers=whole.layers, output=whole.output)
        if problem_tuple := first(problems(self)):
            raise SpecError(problem_tuple)

    @cached_property
    def parts(self) -> dict[str | None, Part]:
        """The parts by name: `None` for a whole network, or `encoder` and `decoder`."""
        return attending(parts_of(self))

    def with_parts(self, parts: Parts, sizes: Mapping[str, int] | None = None, convention: str = "") -> Network:
        """Return the network with other parts under the same names; what is expected of its counts stays behind.

        sizes: other values of its named sizes. convention: another one.

        Raises SpecError when they do not fit.
        """
        keys = {str(name): part for name, part in parts.items()}
        if None in parts:
            keys = {key: value for key, value in parts[None]._asdict().items() if key in self.fields}
        convention = convention or self.convention
        return self.replace(**keys, convention=convention, sizes=sizes or self.sizes, expect=None, budget=None)

    @property
    def networks(self) -> Mapping[str, Any]:
        """The networks of a model by name; a network by itself has none."""
        return {}

    def changed(self, change: Callable[[Network], Network]) -> Network:
        """Return the changed network; a model changes each of its networks."""
        return change(self)

    def topology_of(self, part: str | None) -> str:
        """Return the topology of a part: an encoder outputs its final state, a decoder a sequence."""
        if part is not None:
            return Topology.MANY_TO_ONE if part == "encoder" else Topology.MANY_TO_MANY
        return self.topology or default_topology(self.layers)

    @cached_property
    def letters(self) -> Mapping[str, Any]:
        """The letters among its sizes by name, in alphabetical order, each a `polynomial.Polynomial`."""
        if not (names := letters_of(self.parts)):
            return {}
        from rnncalc.polynomial import letter

        return {name: letter(name) for name in names}

    @property
    def topology_name(self) -> str:
        """The topology as reports name it; an encoder-decoder is one of its own."""
        return "encoder-decoder" if self.encoder else self.topology_of(None)

    @cached_property
    def flow(self) -> tuple[Move, ...]:
        """How a sequence moves through its layers."""
        return flow(self.parts, self.topology_of(None), feedback=self.feedback)

    @cached_property
    def stack(self) -> tuple[Placed, ...]:
        """The layers in their places, a part's output layer last."""
        return self._stack()

    @cached_property
    def spelled(self) -> tuple[Placed, ...]:
        """The stack to show: with the tensors of the notation, if one is named."""
        return self._stack(self.spelling) if self.notation else self.stack

    def _stack(self, spelling: Notation | None = None) -> tuple[Placed, ...]:
        placed = stack(self.flow, convention(self.convention), spelling)
        if not self.sizes:
            return tuple(without_clashes(placed, self.letters) if self.letters else placed)
        from rnncalc.network.named_sizes import with_names  # imported only for a network with named sizes

        return tuple(with_names(placed, self.sizes, self.parts, self.topology_of(None), feedback=self.feedback))

    @cached_property
    def spelling(self) -> Notation:
        """The notation of equations: the textbook's if none is named."""
        from rnncalc.conventions.notation import NOTATION_BY_NAME  # few calls need it

        notation = NOTATION_BY_NAME[self.notation or "w"]
        return notation.with_letters(self.symbols) if self.symbols else notation

    @property
    def shown(self) -> Convention:
        """The convention of the tensors that are shown: its own, or that of the notation."""
        row = convention(self.convention)
        return self.spelling.of(row) if self.notation else row

    @property
    def params(self) -> int:
        """The number of parameters."""
        return sum(placed.params for placed in self.stack)

    @property
    def trainable(self) -> int:
        """The number of parameters that training changes."""
        return sum(placed.trainable for placed in self.stack)


Read = TypeVar("Read", bound="Lettered")


def members_of(described: Lettered) -> list[tuple[str | None, Network, int]]:
    """Return each network of a model with its name and its calls; a network alone has no name and one call."""
    if isinstance(described, Network):
        return [(None, described, 1)]
    return [(name, each.network, each.calls) for name, each in described.networks.items()]


def in_numbers(network: Read) -> Read:
    """Return a network or model whose sizes are numbers. Raises LettersError for letters."""
    if letters := network.letters:
        such = "the size {}{} is a letter" if len(letters) == 1 else "the sizes {}{} are letters"
        grids = (f", the space of {each.name}," for each in network.stack if any(map(has_letters, each.layer.grid)))
        raise LettersError(such.format(all_of([*letters]), next(grids, "")))
    return network
