"""The losses that a pass goes back from: of the outputs, the loss and its gradient with respect to each of them."""

from __future__ import annotations

from collections.abc import Callable

from rnncalc.step.operations import Vector, plus

Outputs = list[Vector]
"""What leaves a network: a vector for each step that has one."""

Loss = Callable[[Outputs], tuple[float, Outputs]]
"""Of the outputs: the loss, and its gradient with respect to them."""


def the_sum(outputs: Outputs) -> tuple[float, Outputs]:
    """Return the sum of all outputs, whose gradient is one everywhere."""
    return sum(number for output in outputs for number in output), [[1.0] * len(output) for output in outputs]


def squared(targets: Outputs) -> Loss:
    """Return the squared error ½ Σ (y − target)², whose gradient is y − target."""

    def loss(outputs: Outputs) -> tuple[float, Outputs]:
        errors = [plus(output, [-number for number in target]) for output, target in zip(outputs, targets, strict=True)]
        return sum(error * error for vector in errors for error in vector) / 2.0, errors

    return loss
