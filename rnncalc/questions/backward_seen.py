"""What going back was seen to do, beside what is declared of it: the result of `run --backward`. Numbers only."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import NamedTuple

from rnncalc.forward.arrays import shape_of
from rnncalc.forward.backward_pass import WentBack
from rnncalc.forward.differences import TOLERANCE
from rnncalc.forward.network_pass import LayerRun
from rnncalc.questions.norms import Norms
from rnncalc.questions.run import Run
from rnncalc.questions.terms import Terms
from rnncalc.questions.training import LayerTraining


class LayerBackward(NamedTuple):
    """What going back through one layer was seen to do, beside what is declared of it.

    ran: the forward pass; went: the backward pass. declared: gradients, saved activations, multiply-adds.
    worst_difference: how far a gradient of its weights is at most from its finite difference, of the largest of 1, the
        gradient and the loss; None where nothing in it is trained.
    norms: how long the gradients are at each step, and terms: of each recurrent weight of a layer of one unit, where
        states were asked for.
    errors: for each trained tensor how far its truncated gradient is from the full one, of the length of that; None
        where the full one is zero. Empty where nothing is truncated.
    """

    ran: LayerRun
    went: WentBack
    declared: LayerTraining
    worst_difference: float | None
    errors: Mapping[str, float | None]
    norms: tuple[Norms, ...] = ()
    terms: tuple[Terms, ...] = ()

    @property
    def gradients(self) -> int:
        """The number of its gradients, one a weight that is trained."""
        return sum(prod(shape_of(gradient)) for gradient in self.went.gradients.values())

    @property
    def shapes_agree(self) -> bool:
        """Whether each trained tensor has a gradient in its own shape, and no other has one."""
        tensors = self.ran.placed.tensors if self.ran.placed.trainable else ()
        return {tensor.name: tensor.shape for tensor in tensors} == {
            name: shape_of(gradient) for name, gradient in self.went.gradients.items()
        }

    @property
    def agrees(self) -> bool:
        """Whether shapes, saved activations, multiplications and gradients are as they should be."""
        return (
            self.shapes_agree
            and self.went.saved_read == self.declared.saved
            and self.went.multiplications == self.declared.backward_multiply_adds
            and (self.worst_difference is None or self.worst_difference <= TOLERANCE)
        )


class Backward(NamedTuple):
    """A pass forward and back.

    run: the pass forward. layers: what each layer was seen to do, none where the pass forward could not be done.
    chunk: the steps that were gone back through together, None for all of them.
    name_of_loss: one of LOSSES; loss: its value, None where the pass forward could not be done.
    compared: how many weights were held against finite differences; weights: how many are trained. kinks: at how many
        of those compared the slope changes at once, so that any between the slopes of both sides is right.
    """

    run: Run
    layers: tuple[LayerBackward, ...]
    chunk: int | None
    name_of_loss: str
    loss: float | None
    compared: int
    weights: int
    kinks: int = 0

    @property
    def agrees(self) -> bool:
        """Whether every layer did, forward and back, what is declared of it."""
        return self.run.agrees and all(layer.agrees for layer in self.layers)
