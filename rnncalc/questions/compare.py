"""`compare`: a network as RNN, GRU, LSTM and dense; several networks side by side; and the growth with T."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import zip_longest
from math import prod
from typing import NamedTuple

from rnncalc.conventions import CONVENTIONS
from rnncalc.conventions.formula import Expression, Plus, Times
from rnncalc.conventions.layout import Layout
from rnncalc.conventions.tensor import BIASES, STORED, Role
from rnncalc.display import displayed
from rnncalc.errors import CallError, Cure, Problem, RefusedError, SpecError
from rnncalc.layers.cell import Cell
from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Layer, Output
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.rnn import RNN
from rnncalc.network.network import Network
from rnncalc.network.parts import Part
from rnncalc.network.stack import Placed
from rnncalc.questions.count import bytes_of, count, total
from rnncalc.questions.dense import dense_equivalent, dense_params
from rnncalc.questions.given import network_of
from rnncalc.questions.solve import TriedSizes, solution

WIDTH = "width of all recurrent layers"
"""The units that `compare_same_params` searches for."""
KINDS: tuple[type[Cell], ...] = (RNN, GRU, LSTM)
DENSE = "dense"
CHOSEN_STEPS = (1, 2, 5, 10, 20, 50)
"""The numbers of steps shown for a range, times powers of 100, and its ends."""


class Compared(NamedTuple):
    """One side of a comparison.

    name: the network's. kind: the kind of its recurrent layers if they were exchanged, or `dense`; None for an
        unchanged network.
    params, multiply_adds, bytes: the same as in `Count`; multiply_adds is None if unknown.
    units: the width found for every recurrent layer, if the comparison searches for one.
    """

    name: str
    kind: str | None
    params: int
    multiply_adds: int | None
    bytes: int
    units: int | None = None


class Lack(Enum):
    """Why a side is missing: no known number of steps, or no width that is small enough."""

    STEPS = "steps"
    WIDTH = "width"


LayerRow = tuple[Placed | None, ...]
"""The layers of several networks at one place; None for a network without a layer there."""


@displayed
class Comparison(NamedTuple):
    """Networks beside each other, or one network as several kinds.

    networks: the arguments. sides: the sides of the comparison; ratios are to the first.
    missing: the kinds that are missing, each with the reason.
    same_params: whether widths were searched for.
    """

    networks: tuple[Network, ...]
    sides: tuple[Compared, ...]
    missing: Mapping[str, Lack | Problem] = {}
    same_params: bool = False

    def layers(self) -> Iterator[LayerRow]:
        """Yield the layers of several networks place by place, the output layers beside each other.

        Only layers of the same half share a row; dense layers that make an initial state have their places in the
        stack.
        """
        halves = dict.fromkeys(name for network in self.networks for name in network.parts)
        for half in halves:
            stacks = [[placed for placed in network.stack if placed.part == half] for network in self.networks]
            outputs = [stack.pop() if stack and isinstance(stack[-1].layer, Output) else None for stack in stacks]
            yield from zip_longest(*stacks)
            if any(outputs):
                yield tuple(outputs)

    def ratio(self, side: Compared) -> float | None:
        """Return the parameters of a side divided by those of the first; None if the first has none."""
        first = self.sides[0].params
        return side.params / first if first else None


@displayed
class DenseGrowth(NamedTuple):
    """The growth of the dense equivalent with the steps, while the network stays the same: its parameters by steps."""

    network: Network
    dense: Mapping[int, int]


def same_layers(row: LayerRow) -> bool:
    """Return whether the layers of a row are equal apart from their names."""
    first, *others = [
        placed and (placed.layer.replace(name=None, path=None, repeat=1), placed.inputs, placed.params)
        for placed in row
    ]
    return all(other == first for other in others)


def compare(*networks: Network, dtype: str = "float32") -> Comparison:
    """Return a comparison of several networks, or of one network as RNN, GRU, LSTM and dense with the same widths.

    Bytes are computed for parameters of the `dtype`, one of `questions.count.DTYPES`.
    Raises CallError if an argument is not a network, if there is none, and for an unknown dtype.
    """
    if not networks:
        raise CallError("give a network to compare")
    networks = tuple(map(network_of, networks))
    sides = [_side(network, dtype) for network in networks]
    if len(networks) > 1:
        return Comparison(networks, tuple(sides))
    (network,) = networks
    missing: dict[str, Lack | Problem] = {}
    for kind in KINDS:
        try:
            sides.append(_side(_exchanged(network, kind), dtype, kind.kind))
        except SpecError as error:
            missing[kind.kind] = error.problems[0]
    if dense := dense_equivalent(network):
        multiply_adds = total(layer.multiply_adds for layer in dense.layers)
        sides.append(Compared(network.name, DENSE, dense.params, multiply_adds, dense.params * bytes_of(dtype)))
    else:
        missing[DENSE] = Lack.STEPS
    return Comparison(networks, tuple(sides), missing)


def compare_same_params(network: Network, dtype: str = "float32") -> Comparison:
    """Return a comparison in which each kind has the largest width within the network's parameters.

    All recurrent layers get that width; a decoder's layer gets the width of the encoder's states that it starts from.
    Raises RefusedError if the network has no recurrent layer, CallError for an unknown dtype.
    """
    network = network_of(network)
    if not any(isinstance(layer, Cell) for part in network.parts.values() for layer in part.layers):
        raise RefusedError("no layer is recurrent, so there is no width to look for")
    sides = [_side(network, dtype)]
    missing: dict[str, Lack | Problem] = {}
    decoder = network.parts.get("decoder")
    halved = decoder and any(takes > gives for _, gives, takes in _met(network.encoder, decoder))
    for kind in KINDS:

        def sized(units: int, kind: type[Cell] = kind) -> Network:
            return _exchanged(network, kind, units)

        try:
            best = solution(TriedSizes(sized, 2 if halved else 1, Cure.ANY_PARAMS, WIDTH), network.params)
        except SpecError as error:
            missing[kind.kind] = error.problems[0]
            continue
        if best.network:
            sides.append(_side(best.network, dtype, kind.kind)._replace(units=best.size))
        else:
            missing[kind.kind] = Lack.WIDTH
    return Comparison((network,), tuple(sides), missing, same_params=True)


def dense_growth(network: Network, first: int, last: int) -> DenseGrowth:
    """Return the parameters of the dense equivalent for a few numbers of steps from `first` to `last`.

    Both halves of an encoder-decoder get the same number. Raises RefusedError for a network of one step.
    """
    network = network_of(network)
    if network.topology == "one-to-one":
        raise RefusedError("a one-to-one network has 1 step, so nothing grows; choose another topology")
    return DenseGrowth(network, {steps: dense_params(network, steps) for steps in chosen(first, last)})


def chosen(first: int, last: int) -> list[int]:
    """Return some numbers of a range: its ends, and 1, 2, 5, 10 ... between them."""
    scale = 1
    numbers = {first, last}
    while scale <= last:
        numbers |= {scale * step for step in CHOSEN_STEPS if first <= scale * step <= last}
        scale *= 100
    return sorted(numbers)


def _exchanged(network: Network, kind: type[Cell], units: int | None = None) -> Network:
    """Return the network with every recurrent layer exchanged for one of a kind, with a number of units if given.

    A decoder's layer gets the units that match the states of the encoder's layer, whose directions have `units` each.
    """
    parts = {}
    for name, part in network.parts.items():
        rows = [(layer, units) for layer in part.layers]
        if name == "decoder" and units is not None:
            rows = [(layer, units * gives // takes) for layer, gives, takes in _met(network.encoder, part)]
        parts[name] = part._replace(layers=tuple(_of_kind(layer, kind, width) for layer, width in rows))
    return network.with_parts(parts)


def _met(encoder: Part | None, decoder: Part) -> Iterator[tuple[Layer, int, int]]:
    """Yield the decoder's layers, each with the directions of the encoder's layer that starts it, and its own."""
    layers = encoder.layers if encoder else ()
    giving = [layer.directions for layer in layers if isinstance(layer, Cell) for _ in range(layer.repeat)]
    place = 0
    for layer in decoder.layers:
        if isinstance(layer, Cell) and giving:
            yield layer, giving[place], layer.directions
            place += layer.repeat
        else:
            yield layer, 1, 1


def _of_kind(layer: Layer, kind: type[Cell], units: int | None) -> Layer:
    """Return a layer; a cell is exchanged for one of a kind, with its own units if none are given."""
    if not isinstance(layer, Cell):
        return layer
    values = layer.values() | {"units": layer.units if units is None else units}
    return kind(**{option: value for option, value in values.items() if option in kind.fields})


def _side(network: Network, dtype: str, kind: str | None = None) -> Compared:
    counted = count(network, dtype)
    return Compared(network.name, kind, counted.params, counted.multiply_adds, counted.bytes)


BASE = "textbook"
"""The convention that the others are compared with."""


class ConventionDifference(NamedTuple):
    """A difference between a convention's count and the textbook's, for all layers that differ in the same way.

    params: how many more parameters it has; fewer if negative.
    biases, biases_of_textbook: the sizes of the biases, or of the stored means and variances, which the textbook does
    not count. tensors: the names of the convention's own. layers: the names of the layers.
    stored: whether the difference is the stored means and variances.
    """

    convention: str
    params: int
    biases: Expression
    biases_of_textbook: Expression
    tensors: tuple[str, ...]
    stored: bool
    layers: tuple[str, ...]


class Allocations(NamedTuple):
    """The tensors of a network under each convention.

    networks: by convention, None if the convention cannot express it. problems: why it cannot, for those alone.
    """

    network: Network
    networks: Mapping[str, Network | None]
    problems: Mapping[str, Problem]

    @property
    def differences(self) -> tuple[ConventionDifference, ...]:
        """The differences from the textbook, convention by convention."""
        base = self.networks[BASE]
        return tuple(
            difference
            for name, network in self.networks.items()
            if base and network
            for difference in _differences(base, network, name)
        )


def compare_conventions(network: Network) -> Allocations:
    """Return a network under every convention."""
    networks: dict[str, Network | None] = {}
    problems: dict[str, Problem] = {}
    for name in CONVENTIONS:
        try:
            networks[name] = network.replace(convention=name, notation=None)
        except SpecError as error:
            networks[name] = None
            problems[name] = error.problems[0]
    return Allocations(network, networks, problems)


def _differences(base: Network, network: Network, name: str) -> Iterator[ConventionDifference]:
    """Yield the differences in biases and stored numbers, one for all layers that differ in the same way."""
    groups: dict[ConventionDifference, list[tuple[int, str]]] = {}
    for was, now in zip(base.stack, network.stack, strict=True):
        more = now.params - was.params
        if more:
            stored = any(tensor.role in STORED for tensor in now.layout.own)
            roles = STORED if stored else BIASES
            biases, of_textbook = _total(now.layout, roles), _total(was.layout, roles)
            tensors = tuple(tensor.name for tensor in now.layout.own if tensor.role in roles)
            alike = ConventionDifference(name, 0, biases, of_textbook, tensors, stored, ())
            groups.setdefault(alike, []).append((more, now.name))
    for alike, layers in groups.items():
        yield alike._replace(params=sum(more for more, _ in layers), layers=tuple(layer for _, layer in layers))


def _total(layout: Layout, roles: tuple[Role, ...]) -> Expression:
    """Return the total size of the tensors of some roles of a layout, in both directions."""
    terms: dict[str, int] = {}
    for tensor in layout.own:
        if tensor.role in roles:
            letters = "".join(axis.letter for axis in tensor.axes)
            terms[letters] = terms.get(letters, 0) + prod(axis.times for axis in tensor.axes)
    return Plus(tuple(Times((number, *letters) if number > 1 else (*letters,)) for letters, number in terms.items()))
