"""`count --operations` and `explain --operations`: the operations of a forward pass, by kind and by equation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from rnncalc.conventions.formula import Expression, Plus, Times, value
from rnncalc.layers.cell import Cell
from rnncalc.layers.convolution import Sliding
from rnncalc.layers.layer import Dense, External, Shape, length_of
from rnncalc.network.flow import Placement, shapes
from rnncalc.network.network import Network, members_of
from rnncalc.network.stack import Placed
from rnncalc.questions import described_of, network_of, whole
from rnncalc.questions.explain import Derivation, explain_those
from rnncalc.step.costs import OperationCounts, operations, operations_by_node
from rnncalc.step.equations import Symbol, owners
from rnncalc.step.nodes import ONCE, Trace
from rnncalc.step.operations import MERGES, OPERATIONS

if TYPE_CHECKING:
    from rnncalc.network.model import Described


class PassOperations(NamedTuple):
    """The operations of a forward pass over a batch of sequences: of each layer, and of all; None if not known."""

    network: Described
    batch: int
    layers: tuple[OperationCounts | None, ...]
    total: OperationCounts | None


def pass_operations(network: Described, batch: int = 1) -> PassOperations:
    """Count the operations of a forward pass from each layer's step. Raises CallError for an invalid batch.

    They are unknown without the number of steps, and for a part that is counted elsewhere, unless it says its
    multiply-adds.
    """
    network, batch = described_of(network), whole("batch", batch, 1)
    layers = tuple([counts for _, each, calls in members_of(network) for counts in _of_network(each, batch * calls)])
    counted = [counts for counts in layers if counts is not None]
    total = OperationCounts(*map(sum, zip(*counted, strict=True))) if len(counted) == len(layers) else None
    return PassOperations(network, batch, layers, total)


def _of_network(network: Network, batch: int) -> Iterator[OperationCounts | None]:
    widths = shapes(network.flow)
    read = [widths[move.reads[0]] for move in network.flow if isinstance(move, Placement)]
    return (_of_layer(placed, batch, shape) for placed, shape in zip(network.stack, read, strict=True))


def _of_layer(placed: Placed, batch: int, read: Shape) -> OperationCounts | None:
    """Return the operations of a layer; read: the shape of its input."""
    layer, steps = placed.layer, read[0] if len(read) > 1 else 1
    if isinstance(layer, External):
        return None if placed.multiply_adds is None else OperationCounts(batch * placed.multiply_adds, 0, 0, 0)
    if placed.uses is None or (layer.time.whole and not placed.repeats):
        return None
    if placed.step is None:  # a dropout
        return OperationCounts(0, 0, 0, 0)
    done = [OPERATIONS[node.operation] for node in placed.step.nodes if node.operation in OPERATIONS]
    sums = steps is not None and any(each.windowed and each.sums for each in done)
    window = length_of(layer.window_of(0, steps or 1)) if sums else 1
    one = operations(placed.step, placed.sizes, window, placed.repeats or ONCE)
    times = batch * (1 if placed.repeats else placed.uses) * placed.places * layer.directions
    counts = OperationCounts(*[times * number for number in one])
    skipped = batch * layer.outside(steps) * placed.inputs if isinstance(layer, Sliding) and layer.skips and sums else 0
    return counts._replace(elementwise=counts.elementwise + prod(merging(placed, batch)) - skipped)


def merging(placed: Placed, batch: int = 1) -> tuple[int, ...]:
    """Return the operations that join the two directions of a layer, as factors: a batch, steps, width, and how many.

    The steps are those of a sequence that leaves the layer.
    """
    merge = MERGES[placed.layer.merge or "concat"] if isinstance(placed.layer, Cell) else None
    if merge is None or not merge.products + merge.sums:
        return (0,)
    steps = (placed.uses or 1) if placed.sequence else 1
    return batch, steps, placed.outputs, merge.products + merge.sums


class OperationsLine(NamedTuple):
    """The operations of one kind: in an equation, or in several equal ones, in one step of one direction; or of a pass.

    A pass multiplies those of a step by the batch, the steps and the directions; for element-wise operations its
    `expression` also has those that join two directions.
    kind: the name of a field of OperationCounts. lefts: the left sides of the equations; empty for a pass.
    """

    kind: str
    expression: Expression
    number: int
    lefts: tuple[Symbol, ...] = ()


class OperationsDerivation(NamedTuple):
    """The derivation of one layer's operations. sequence: empty if the steps are not known."""

    derivation: Derivation
    step: tuple[OperationsLine, ...]
    sequence: tuple[OperationsLine, ...]
    counts: OperationCounts | None


def explain_operations(counted: PassOperations, only: tuple[str, ...] = ()) -> tuple[OperationsDerivation, ...]:
    """Derive the operations of a forward pass, of the layers of these names or of all.

    Raises RefusedError for sizes in letters.
    """
    network = network_of(counted.network)
    derivations = zip(explain_those(network).layers, counted.layers, strict=True)
    return tuple(
        _derivation(derivation, counts, counted.batch)
        for derivation, counts in derivations
        if not only or derivation.placed.name in only
    )


def _derivation(derivation: Derivation, counts: OperationCounts | None, batch: int) -> OperationsDerivation:
    placed, named = derivation.placed, derivation.named
    step: tuple[OperationsLine, ...] = ()
    sequence: Iterable[OperationsLine] = ()
    if named and isinstance(placed.layer, Cell | Dense):  # a layer around the cells has no equations of a step
        step = tuple(_of_step(placed, named.trace, derivation))
        sequence = _of_sequence(placed, step, counts, batch) if counts else ()
    elif counts and placed.repeats and named:
        sequence = _of_whole(placed, named.trace, batch)
    elif counts:
        times = batch * (placed.uses or 1)
        sequence = [
            OperationsLine(kind, Times((times, number // times)) if times > 1 else number, number)
            for kind, number in counts._asdict().items()
            if number
        ]
    return OperationsDerivation(derivation, step, (*sequence, *_flops(counts)), counts)


def _of_step(placed: Placed, step: Trace, derivation: Derivation) -> Iterator[OperationsLine]:
    """Yield the operations of each equation; equations with the same operations share a line."""
    left_of = owners(step) if isinstance(placed.layer, Cell) else {}
    (alone,) = {equation.left for equation in derivation.equations} if not left_of else (Symbol(""),)
    terms: dict[tuple[Symbol, str], dict[tuple[str, ...], int]] = {}
    for each in operations_by_node(step):
        widths = terms.setdefault((left_of.get(each.place, alone), each.kind), {})
        widths[each.axes] = widths.get(each.axes, 0) + each.times
    alike: dict[tuple[str, tuple[tuple[tuple[str, ...], int], ...]], list[Symbol]] = {}
    for (left, kind), widths in terms.items():
        alike.setdefault((kind, tuple(widths.items())), []).append(left)
    for (kind, factors), lefts in sorted(alike.items(), key=lambda item: OperationCounts._fields.index(item[0][0])):
        one = _products(factors)
        expression = Times((len(lefts), one)) if len(lefts) > 1 else one
        yield OperationsLine(kind, expression, value(expression, placed.sizes), tuple(lefts))


def _of_whole(placed: Placed, step: Trace, batch: int) -> Iterator[OperationsLine]:
    """Yield the operations of each kind of a layer that reads a whole sequence: how often times how many."""
    assert placed.repeats
    terms: dict[str, dict[int, Counter[tuple[str, ...]]]] = {kind: {} for kind in OperationCounts._fields}
    for each in operations_by_node(step):
        times = batch * placed.repeats.number(each.repeats)
        terms[each.kind].setdefault(times, Counter())[each.axes] += each.times
    for kind, done in terms.items():
        if done:
            once = [(times, _products([*widths.items()])) for times, widths in done.items()]
            expression = _sum(tuple([Times((times, one)) if times > 1 else one for times, one in once]))
            yield OperationsLine(kind, expression, value(expression, placed.sizes))


def _products(factors: Sequence[tuple[tuple[str, ...], int]]) -> Expression:
    """Return a sum of products of widths, each so many times."""
    return _sum(
        tuple([(Times((times, *axes)) if times > 1 else Times(axes)) if axes else times for axes, times in factors])
    )


def _of_sequence(
    placed: Placed, step: tuple[OperationsLine, ...], counts: OperationCounts, batch: int
) -> Iterator[OperationsLine]:
    """Yield the operations of each kind over a batch."""
    for kind in OperationCounts._fields:
        numbers = [line.number for line in step if line.kind == kind]
        factors = [number for number in (batch, placed.uses or 1, placed.layer.directions) if number > 1]
        once = _sum(tuple(numbers)) if numbers else 0
        expression: Expression = Times((*factors, once)) if factors and numbers else once
        merge = merging(placed, batch)
        if kind == "elementwise" and merge != (0,):
            joined = Times(tuple(number for number in merge if number > 1) or (1,))
            expression = Plus((expression, joined)) if numbers else joined
        if number := getattr(counts, kind):
            yield OperationsLine(kind, expression, number)


def _flops(counts: OperationCounts | None) -> Iterator[OperationsLine]:
    if counts and counts.flops:
        doubled = Times((2, counts.multiply_adds))
        others = [number for number in counts[1:] if number]
        yield OperationsLine("flops", Plus((doubled, *others)) if others else doubled, counts.flops)


def _sum(terms: tuple[Expression, ...]) -> Expression:
    return terms[0] if len(terms) == 1 else Plus(terms)
