"""`compare`: a network as RNN, GRU, LSTM and dense; several networks side by side; and the growth with T."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import zip_longest
from math import prod
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.conventions import CONVENTIONS
from rnncalc.conventions.formula import Expression, Plus, product
from rnncalc.conventions.layout import Layout
from rnncalc.conventions.tensor import BIASES, STORED, Role
from rnncalc.display import displayed
from rnncalc.errors import CallError, Cure, Problem, RefusedError, SpecError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer, Output
from rnncalc.letters import has_letters
from rnncalc.network.network import Network
from rnncalc.network.parts import Part
from rnncalc.network.stack import Placed
from rnncalc.questions import describe, described_of, network_of, whole, word
from rnncalc.questions.count import count, total
from rnncalc.questions.dense import dense_equivalent, dense_params
from rnncalc.questions.solve import Sized, TriedSizes, solution

if TYPE_CHECKING:
    from rnncalc.network.model import Described

WIDTH = "width of all recurrent layers"
"""The units that `compare_same_params` searches for."""
USUAL_KINDS = ("rnn", "gru", "lstm")
"""The kinds that a network is compared as, unless others are named."""
DENSE = "dense"
CHOSEN_STEPS = (1, 2, 5, 10, 20, 50)
"""The numbers of steps shown for a range, times powers of 100, and its ends."""


class Compared(NamedTuple):
    """One side of a comparison.

    name: the network's. kind: the kind of its recurrent layers if they were exchanged, or `dense`; None for an
        unchanged network.
    params, multiply_adds, multiply_adds_per_step, bytes: the same as in `Count`; a dense network has no steps.
    units: the one width of all recurrent layers, or the size found for `?`, if the comparison searches for one.
    saved: the same as in `Training`; None if the comparison does not search.
    in_letters: the formula of the parameters, if sizes are letters.
    """

    name: str
    kind: str | None
    params: int
    multiply_adds: int | None
    multiply_adds_per_step: int | None
    bytes: int
    units: int | None = None
    saved: int | None = None
    in_letters: Expression | None = None


class Lack(Enum):
    """Why a side is missing: no known number of steps, sizes in letters, or no width that is small enough."""

    STEPS = "steps"
    NUMBERS = "numbers"
    WIDTH = "width"


LayerRow = tuple[Placed | None, ...]
"""The layers of several networks at one place; None for a network without a layer there."""


@displayed("rnncalc.reports.compare:ComparisonReport")
class Comparison(NamedTuple):
    """Networks beside each other, or one network as several kinds.

    networks: the arguments, with the sizes that were found. If sides are kinds and a size is `?`, its networks of the
        smallest and the largest size.
    sides: the sides of the comparison; ratios are to the first. by_kind: whether they are kinds of one network.
    missing: the kinds or networks that are missing, each with the reason.
    budget: the most parameters of a side, if the comparison searches for widths.
    """

    networks: tuple[Described, ...]
    sides: tuple[Compared, ...]
    missing: Mapping[str, Lack | Problem] = {}
    by_kind: bool = False
    budget: int | None = None

    def layers(self) -> Iterator[LayerRow]:
        """Yield the layers of several networks place by place, the output layers beside each other.

        Only layers of the same half share a row, in models those of networks of one name; dense layers that make an
        initial state have their places in the stack.
        """
        halves = dict.fromkeys((placed.network, placed.part) for network in self.networks for placed in network.stack)
        for half in halves:
            stacks = [
                [placed for placed in network.stack if (placed.network, placed.part) == half]
                for network in self.networks
            ]
            outputs = [stack.pop() if stack and isinstance(stack[-1].layer, Output) else None for stack in stacks]
            yield from zip_longest(*stacks)
            if any(outputs):
                yield tuple(outputs)

    def ratio(self, side: Compared) -> float | None:
        """Return the parameters of a side divided by those of the first; None if the first has none, and in letters."""
        first = self.sides[0].params
        return None if not first or has_letters(side.params) or has_letters(first) else side.params / first

    def difference(self, side: Compared) -> int:
        """Return the parameters of a side less those of the first."""
        return side.params - self.sides[0].params

    def remaining(self, side: Compared) -> int | None:
        """Return what a side leaves of the budget; None without one."""
        return None if self.budget is None else self.budget - side.params


@displayed("rnncalc.reports.compare:DenseGrowthReport")
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


def compare(*networks: Described, dtype: str = "float32", kinds: Sequence[str] | None = None) -> Comparison:
    """Return a comparison of several networks, or of one network as several kinds and dense with the same widths.

    kinds: the kinds of recurrent layers, by default USUAL_KINDS. Sizes may be letters.
    Bytes are computed for parameters of the `dtype`, one of `layers.options.DTYPES`.
    Raises CallError if an argument is not a network, if there is none, and for an unknown dtype or kind.
    """
    cells = _cells(networks, kinds)
    networks = tuple(map(described_of, networks))
    sides = [_side(network, dtype) for network in networks]
    if len(networks) > 1:
        return Comparison(networks, tuple(sides))
    (network,) = networks
    missing: dict[str, Lack | Problem] = {}
    for cell in cells:
        try:
            sides.append(_side(network.changed(partial(_exchanged, cell=cell)), dtype, cell.kind))
        except SpecError as error:
            missing[cell.kind] = error.problems[0]
    if dense := dense_equivalent(network):
        multiply_adds = total(layer.multiply_adds for layer in dense.layers)
        owners = {placed.full_name: placed.layer for placed in network.stack}
        size = sum(layer.params * owners[layer.name].bytes_each(dtype) for layer in dense.layers)
        sides.append(Compared(network.name, DENSE, dense.params, multiply_adds, None, size))
    else:
        missing[DENSE] = Lack.NUMBERS if network.letters else Lack.STEPS
    return Comparison(networks, tuple(sides), missing, by_kind=True)


def compare_same_params(
    *networks: Network | Sized, params: int | None = None, kinds: Sequence[str] | None = None, dtype: str = "float32"
) -> Comparison:
    """Return a comparison of kinds, or of several networks, each with the largest width within a budget.

    networks: each a network, whose recurrent layers all get one width, or a function from a size to a network, as for
    `solve`. A decoder's layer gets the width of the encoder's states that it starts from.
    params: the budget, by default the parameters of the first network, which then is the first side, unchanged.
    kinds: the kinds that one network is compared as, by default USUAL_KINDS.
    Raises RefusedError if a network has no recurrent layer, CallError for an unknown dtype or kind, SpecError if no
    size makes a valid network.
    """
    cells = _cells(networks, kinds)
    if params is None and not isinstance(networks[0], Network):
        raise CallError("params: give the budget, because the first network has a size that is not known")
    compared = [] if params is not None else [network_of(networks[0])]
    budget = compared[0].params if params is None else whole("params", params)
    by_kind = len(networks) == 1
    sides = [_side(network, dtype)._replace(units=_one_width(network)) for network in compared]
    missing: dict[str, Lack | Problem] = {}
    if by_kind:
        solutions = {}
        for cell in cells:
            try:
                solutions[cell.kind] = solution(_sizes(networks[0], cell), budget)
            except SpecError as error:
                missing[cell.kind] = error.problems[0]
    else:
        places = enumerate(networks[len(compared) :], len(compared) + 1)
        solutions = {f"network {place}": solution(_sizes(network), budget) for place, network in places}
    for name, best in solutions.items():
        if best.network:
            compared.append(best.network)
            sides.append(_side(best.network, dtype, name if by_kind else None)._replace(units=best.size))
        else:
            missing[name] = Lack.WIDTH
    from rnncalc.questions.training import training  # imported only for a search

    sides = [side._replace(saved=training(each).saved) for side, each in zip(sides, compared, strict=True)]
    if by_kind and isinstance(networks[0], Network):
        compared = [networks[0]]
    elif by_kind:
        ends = solution(_sizes(networks[0]), budget)
        compared = [ends.smallest, ends.largest]
    return Comparison(tuple(compared), tuple(sides), missing, by_kind, budget)


def _cells(networks: Sequence[Described | Sized], kinds: Sequence[str] | None) -> list[type[Cell]]:
    """Return the kinds that a network is compared as. Raises CallError for other kinds, and for several networks."""
    if not networks:
        raise CallError("give a network to compare")
    if kinds is not None:
        if len(networks) > 1:
            raise CallError(f"kinds: one network is compared as several kinds, got {len(networks)} networks")
        if isinstance(kinds, str) or not isinstance(kinds, Sequence):
            raise CallError(f"kinds: expected a list of kinds, such as ['lstm'], got {describe(kinds)}")
        known = tuple(name for name in KINDS if issubclass(kind(name), Cell) and "space" not in kind(name).fields)
        kinds = [word("kinds", name, known) for name in kinds]
    return [cell for cell in map(kind, kinds or USUAL_KINDS) if issubclass(cell, Cell)]


def _sizes(network: Network | Sized, cell: type[Cell] | None = None) -> TriedSizes:
    """Return the widths, or the sizes that a function takes, to try; a kind exchanges every recurrent layer."""
    if not isinstance(network, Network):
        return TriedSizes(lambda size: _exchanged(network_of(network(size)), cell), 1, Cure.ANY_PARAMS)
    fixed = network_of(network)
    if not any(isinstance(layer, Cell) for part in fixed.parts.values() for layer in part.layers):
        raise RefusedError("no layer is recurrent, so there is no width to look for")
    decoder = fixed.parts.get("decoder")
    halved = decoder and any(takes > gives for _, gives, takes in _met(fixed.encoder, decoder))
    return TriedSizes(lambda units: _exchanged(fixed, cell, units), 2 if halved else 1, Cure.ANY_PARAMS, WIDTH)


def dense_growth(network: Network, first: int, last: int) -> DenseGrowth:
    """Return the parameters of the dense equivalent for a few numbers of steps from `first` to `last`.

    Both halves of an encoder-decoder get the same number. Raises RefusedError for a network of one step, CallError for
    numbers of steps below 1 or `first`.
    """
    network = network_of(network)
    whole("last", last, whole("first", first, 1))
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


def _one_width(network: Network) -> int | None:
    """Return the units of the recurrent layers of a network; None if they differ."""
    widths = {placed.units for placed in network.stack if isinstance(placed.layer, Cell)}
    return widths.pop() if len(widths) == 1 else None


def _exchanged(network: Network, cell: type[Cell] | None, units: int | None = None) -> Network:
    """Return the network with every recurrent layer exchanged for one of a kind, and a number of units, if given.

    A decoder's layer gets the units that match the states of the encoder's layer, whose directions have `units` each;
    one with a bridge reads those states, and has `units` itself.
    """
    parts, same = {}, {} if units is None else {"units": units}
    for name, part in network.parts.items():
        rows = [(layer, same) for layer in part.layers]
        if name == "decoder" and units is not None:
            met = [(layer, gives * units, takes) for layer, gives, takes in _met(network.encoder, part)]
            rows = [(layer, {"units": state // takes} | _bridge(layer, state)) for layer, state, takes in met]
        parts[name] = part._replace(layers=tuple(_of_kind(layer, cell, changed) for layer, changed in rows))
    return network.replace(symbols={}).with_parts(parts)  # which are those of other kinds


def _bridge(layer: Layer, state: int) -> dict[str, int]:
    """Return the width that the bridge of a decoder's layer reads, if it has one."""
    return {"initial_state": state} if isinstance(layer, Cell) and layer.initial_state is not None else {}


def _met(encoder: Part | None, decoder: Part) -> Iterator[tuple[Layer, int, int]]:
    """Yield the decoder's layers, each with the directions of the encoder's layer that starts it, and its own.

    A layer with a bridge may have any number of units; its own directions are then as many as the encoder's.
    """
    layers = encoder.layers if encoder else ()
    giving = [layer.directions for layer in layers if isinstance(layer, Cell) for _ in range(layer.repeat)]
    place = 0
    for layer in decoder.layers:
        if isinstance(layer, Cell) and giving:
            yield layer, giving[place], giving[place] if _bridge(layer, 0) else layer.directions
            place += layer.repeat
        else:
            yield layer, 1, 1


def _of_kind(layer: Layer, cell: type[Cell] | None, changed: Mapping[str, int]) -> Layer:
    """Return a layer; a cell is exchanged for one of a kind, its own if none is given, with some options changed."""
    if not isinstance(layer, Cell):
        return layer
    cell = cell or type(layer)
    opened = [option for option, value in layer.values().items() if value is None]  # a convention's, or none
    values = {option: value for option, value in layer.values().items() if option not in opened} | {**changed}
    return cell(**{option: value for option, value in values.items() if option in cell.fields})


def _side(network: Described, dtype: str, kind: str | None = None) -> Compared:
    counted = count(network, dtype)
    work = counted.multiply_adds, counted.multiply_adds_per_step
    return Compared(network.name, kind, counted.params, *work, counted.bytes, in_letters=counted.in_letters)


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

    networks: by convention, a network or a model as the one given; None if the convention cannot express it. problems:
    why it cannot, for those alone.
    """

    network: Described
    networks: Mapping[str, Any]
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


def compare_conventions(network: Described) -> Allocations:
    """Return a network or a model under every convention."""
    networks: dict[str, Any] = {}
    problems: dict[str, Problem] = {}
    for name in CONVENTIONS:
        try:
            networks[name] = network.changed(methodcaller("replace", convention=name, notation=None, symbols={}))
        except SpecError as error:
            networks[name] = None
            problems[name] = error.problems[0]
    return Allocations(network, networks, problems)


def _differences(base: Described, network: Described, name: str) -> Iterator[ConventionDifference]:
    """Yield the differences in biases and stored numbers, one for all layers that differ in the same way."""
    groups: dict[ConventionDifference, list[tuple[int, str]]] = {}
    for was, now in zip(base.stack, network.stack, strict=True):
        more = now.params - was.params
        if more:
            stored = any(tensor.role in STORED for tensor in now.layout.tensors)
            roles = STORED if stored else BIASES
            biases, of_textbook = _total(now.layout, roles), _total(was.layout, roles)
            tensors = tuple(tensor.name for tensor in now.layout.tensors if tensor.role in roles)
            alike = ConventionDifference(name, 0, biases, of_textbook, tensors, stored, ())
            groups.setdefault(alike, []).append((more, now.full_name))
    for alike, layers in groups.items():
        yield alike._replace(params=sum(more for more, _ in layers), layers=tuple(layer for _, layer in layers))


def _total(layout: Layout, roles: tuple[Role, ...]) -> Expression:
    """Return the total size of the tensors of some roles of a layout, in both directions."""
    terms: dict[str, int] = {}
    for tensor in layout.tensors:
        if tensor.role in roles:
            letters = "".join(axis.letter for axis in tensor.axes)
            terms[letters] = terms.get(letters, 0) + prod(axis.times for axis in tensor.axes)
    return Plus(tuple(product(number, *letters) for letters, number in terms.items()))
