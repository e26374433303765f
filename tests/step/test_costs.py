"""The operations of a step, counted by hand from the equations of each cell."""

from typing import Any

import pytest
from case_files import cases, worked_out
from strategies import network_of

from rnncalc.conventions import convention
from rnncalc.step.costs import OperationCounts, operations
from rnncalc.step.trace import trace


@pytest.mark.parametrize("case", cases("step/operations.yaml"), ids=str)
def test_operations_by_hand(case: dict[str, Any]) -> None:
    """Multiply-adds are those of the stack; FLOPs are twice these, and one for each other operation."""
    network = network_of({"input": 5, "layers": [case["layer"]], "convention": case.get("convention", "textbook")})
    (placed,) = network.stack
    layer: Any = placed.layer
    counts = operations(trace(layer, 5, convention(network.convention)), placed.sizes)
    assert counts == OperationCounts(*worked_out(case["counts"]))
    assert counts.flops == 2 * counts.multiply_adds + sum(counts[1:])
    assert counts.multiply_adds == placed.multiply_adds_per_step
