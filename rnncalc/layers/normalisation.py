"""Normalisation: of the numbers of a vector (Ba et al. 2016), or of each feature over a batch (Ioffe and Szegedy 2015).

In training, frameworks use the mean and variance of the batch. All numbers here are computed with the stored ones, as
frameworks do after training. Of a step with places, the channels of each place are normalised.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from rnncalc.layers.layer import ArrayAxes, LayerOperations, Time, Transform
from rnncalc.layers.options import Option, Switch


class LayerNorm(Transform):
    """Makes the mean of a vector 0 and its variance 1, then scales and shifts each number: 2m parameters."""

    kind = "layer_norm"
    number = ""
    time = Time.PLACE

    bias: bool = True
    activation: str = "linear"

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        return (("scale", "m"), ("bias", "m")) if self.bias else (("scale", "m"),)

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        scaled = ops.times(ops.normalise(window[0]), ops.weight("scale"))
        return ops.activate(self.activation, ops.plus(scaled, ops.weight("bias")) if self.bias else scaled)


class BatchNorm(Transform):
    """Makes the stored mean of each feature 0 and its variance 1, then scales and shifts it: 2m parameters, 2m stored.

    The stored means and variances are 2m numbers more, which a framework counts as parameters or keeps apart.
    """

    kind = "batch_norm"
    number = ""
    time = Time.PLACE
    own_options: ClassVar[Mapping[str, Option]] = {
        "scale": Option(Switch(), "a trained factor for each feature; none when false"),
        "center": Option(Switch(), "a trained term for each feature; none when false"),
    }

    scale: bool = True
    center: bool = True
    activation: str = "linear"

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        trained = [("scale", "m")] * self.scale + [("bias", "m")] * self.center
        return (*trained, ("running_mean", "m"), ("running_variance", "m"))

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        result = ops.standardise(window[0], ops.stored("running_mean"), ops.stored("running_variance"))
        if self.scale:
            result = ops.times(result, ops.weight("scale"))
        return ops.activate(self.activation, ops.plus(result, ops.weight("bias")) if self.center else result)
