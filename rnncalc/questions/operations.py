"""`count --operations`: the operations of a forward pass, by kind."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from rnncalc.conventions.catalogue import convention
from rnncalc.conventions.rules import Convention
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, External
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.questions.given import network_of, whole
from rnncalc.step.costs import OperationCounts, operations
from rnncalc.step.operations import OPERATIONS
from rnncalc.step.trace import trace

_MERGES = {"sum": "plus", "mul": "times", "ave": "mean"}
"""The operation that joins two directions, if there is one."""


class PassOperations(NamedTuple):
    """The operations of a forward pass over a batch of sequences: of each layer, and of all; None if not known."""

    network: Network
    batch: int
    layers: tuple[OperationCounts | None, ...]
    total: OperationCounts | None


def pass_operations(network: Network, batch: int = 1) -> PassOperations:
    """Count the operations of a forward pass from each layer's step. Raises CallError for an invalid batch.

    They are unknown without the number of steps, and for a part that is counted elsewhere.
    """
    network, batch = network_of(network, letters=True), whole("batch", batch, 1)
    row = convention(network.convention)
    layers = tuple([_of_layer(placed, row, batch) for placed in network.stack])
    known = [counts for counts in layers if counts is not None]
    total = OperationCounts(*map(sum, zip(*known, strict=True))) if len(known) == len(layers) else None
    return PassOperations(network, batch, layers, total)


def _of_layer(placed: Placed, row: Convention, batch: int) -> OperationCounts | None:
    layer = placed.layer
    if isinstance(layer, External) or placed.uses is None:
        return None
    if not isinstance(layer, Cell | Dense):
        once, each = layer.work(placed.inputs), batch * placed.uses
        return OperationCounts(each * (placed.multiply_adds_per_step or 0), *[each * number for number in once])
    one = operations(trace(layer, placed.inputs, row), placed.sizes)
    counts = OperationCounts(*[batch * placed.uses * layer.directions * number for number in one])
    return counts._replace(elementwise=counts.elementwise + prod(merging(placed, batch)))


def merging(placed: Placed, batch: int = 1) -> tuple[int, ...]:
    """Return the operations that join the two directions of a layer, as factors: a batch, steps, width, and how many.

    The steps are those of a sequence that leaves the layer.
    """
    merge = OPERATIONS.get(_MERGES.get(placed.layer.merge or "", "")) if isinstance(placed.layer, Cell) else None
    if merge is None:
        return (0,)
    steps = (placed.uses or 1) if placed.sequence else 1
    return batch, steps, placed.outputs, merge.products + merge.sums
