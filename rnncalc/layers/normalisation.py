"""Normalisation: of the numbers of a vector (Ba et al. 2016), or of each feature over a batch (Ioffe and Szegedy 2015).

In training, frameworks use the mean and variance of the batch. All numbers here are computed with the stored ones, as
frameworks do after training. Of a step with places, the channels of each place are normalised.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rnncalc.layers.layer import ArrayAxes, Transform, VectorWork
from rnncalc.layers.options import Option, Switch


class LayerNorm(Transform):
    """Makes the mean of a vector 0 and its variance 1, then scales and shifts each number: 2m parameters."""

    kind = "layer_norm"
    number = ""
    by_place = True

    bias: bool = True

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        return (("scale", "m"), ("bias", "m")) if self.bias else (("scale", "m"),)

    def compute(self, ops: Any, vectors: Sequence[Any]) -> Any:
        scaled = ops.times(ops.normalised(vectors[0]), ops.weight("scale"))
        return ops.plus(scaled, ops.weight("bias")) if self.bias else scaled

    def work(self, inputs: int) -> VectorWork:
        # the mean, the difference from it, its squares and their sum, the quotient, and the scale
        return VectorWork(inputs * self.bias, 6 * inputs)

    def saves(self, *, trained: bool, needs: bool) -> tuple[bool, bool]:
        return trained or needs, False


class BatchNorm(Transform):
    """Makes the stored mean of each feature 0 and its variance 1, then scales and shifts it: 2m parameters.

    The stored means and variances are 2m numbers more, which a framework counts as parameters or keeps apart.
    """

    kind = "batch_norm"
    number = ""
    by_place = True
    own_options: ClassVar[Mapping[str, Option]] = {
        "scale": Option(Switch(), "a trained factor for each feature; none when false"),
        "center": Option(Switch(), "a trained term for each feature; none when false"),
    }

    scale: bool = True
    center: bool = True

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        trained = [("scale", "m")] * self.scale + [("bias", "m")] * self.center
        return (*trained, ("running_mean", "m"), ("running_variance", "m"))

    def compute(self, ops: Any, vectors: Sequence[Any]) -> Any:
        made = ops.standardised(vectors[0], ops.stored("running_mean"), ops.stored("running_variance"))
        if self.scale:
            made = ops.times(made, ops.weight("scale"))
        return ops.plus(made, ops.weight("bias")) if self.center else made

    def work(self, inputs: int) -> VectorWork:
        return VectorWork(inputs * self.center, (2 + self.scale) * inputs)

    def saves(self, *, trained: bool, needs: bool) -> tuple[bool, bool]:
        return trained and self.scale, False
