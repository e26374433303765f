"""The costs of a step, computed from its trace: how many operations of each kind there are.

Each operation's row gives its products, sums and activations. Knows no sequence and no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import NamedTuple

from rnncalc.step.nodes import MATRICES, ONCE, ONE, PAIRED, STEPS, WEIGHTS, Repeats, Trace
from rnncalc.step.operations import OPERATIONS


class OperationCounts(NamedTuple):
    """How many operations there are of each kind; `elementwise` are products, quotients and sums of two numbers."""

    multiply_adds: int
    bias_additions: int
    elementwise: int
    activations: int

    @property
    def flops(self) -> int:
        """The floating-point operations: two for a multiply-add, one for any other."""
        return 2 * self.multiply_adds + self.bias_additions + self.elementwise + self.activations


class NodeOperations(NamedTuple):
    """The operations of one kind at a node of a step: their number for each place of the axes, by their letters.

    kind: the name of a field of OperationCounts. repeats: what they are done for, as in `Trace.repeats`.
    """

    place: int
    kind: str
    times: int
    axes: tuple[str, ...]
    repeats: frozenset[str]


def operations(trace: Trace, sizes: Mapping[str, int], window: int = 1, repeats: Repeats = ONCE) -> OperationCounts:
    """Return how many operations one step of one direction takes, or one vector of a layer around the cells.

    sizes: the numbers of the letters of widths. window: how many vectors the layer reads. repeats: how often it
    computes what.
    """
    numbers = dict.fromkeys(OperationCounts._fields, 0)
    for each in operations_by_node(trace, window):
        at_once = each.times * prod([sizes[letter] for letter in each.axes])
        numbers[each.kind] += repeats.number(each.repeats) * at_once
    return OperationCounts(**numbers)


def operations_by_node(trace: Trace, window: int = 1) -> Iterator[NodeOperations]:
    """Yield the operations of a step, node by node; window: the number of vectors that a layer reads.

    The sum of two matrix products is not counted as element-wise: their multiply-adds include it. They do not if it is
    done more often than either, as for each pair of a query and a key.
    """
    added_up: set[int] = set()  # the matrix products, and their sums with one another and with biases
    for place, node in enumerate(trace.nodes):
        row = OPERATIONS.get(node.operation)
        if row is None:
            continue
        axes, repeats = () if node.width in (ONE, STEPS) else (node.width,), trace.repeats[place]
        biases = [operand for operand in node.operands if trace.nodes[operand].operation == WEIGHTS]
        if row.name in (*MATRICES, *PAIRED):
            added_up.add(place)
            yield NodeOperations(place, "multiply_adds", 1, *trace.work(place))
        elif row.name in ("plus", "everywhere") and {*node.operands} <= {*added_up, *biases}:
            added_up.add(place)
            if biases:
                yield NodeOperations(place, "bias_additions", len(biases), axes, repeats)
            elif repeats not in [trace.repeats[operand] for operand in node.operands]:
                yield NodeOperations(place, "elementwise", 1, axes, repeats)
        elif row.name == "plus" and biases:
            yield NodeOperations(place, "bias_additions", 1, axes, repeats)
        else:
            if times := row.products + row.sums * (window - 1 if row.windowed else 1):
                yield NodeOperations(place, "elementwise", times, axes, repeats)
            if row.activations:
                yield NodeOperations(place, "activations", row.activations, axes, repeats)
