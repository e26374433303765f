"""Attention over a sequence: layers that read all of it for each vector that they output.

`attention` is the additive score of Bahdanau et al. (2015) with a trained vector instead of a query, which ends a
sequence in one vector. `multi_head_attention` and `transformer` are those of Vaswani et al. (2017).
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from rnncalc.layers.layer import ArrayAxes, LayerOperations, Shape, Transform
from rnncalc.layers.options import Option, Switch


class Attention(Transform):
    """Ends a sequence in a weighted sum of its vectors, with a score for each: u·m + 2u parameters."""

    kind = "attention"
    reads = "a sequence"
    along = True
    whole = True
    ends = True
    own_options: ClassVar[Mapping[str, Option]] = {
        "score_bias": Option(Switch(), "a trained number added to each score, which the softmax takes out again"),
    }

    units: int
    bias: bool = True
    score_bias: bool = False

    def sizes(self, inputs: int) -> dict[str, int]:
        return {"u": self.units, "m": inputs}

    @property
    def arrays(self) -> tuple[ArrayAxes, ...]:
        biases = [("bias", "u")] * self.bias
        return (("kernel", "um"), *biases, ("score", "u"), *[("score_bias", "1")] * self.score_bias)

    def output_shape(self, shape: Shape) -> Shape:
        return shape[-1:]

    def compute(self, ops: LayerOperations[Any], window: Any) -> Any:
        total = ops.product("kernel", window)
        if self.bias:
            total = ops.plus(total, ops.weight("bias"))
        scores = ops.dot(ops.weight("score"), ops.name("k", ops.activate("tanh", total)))
        if self.score_bias:
            scores = ops.shift(scores, ops.weight("score_bias"))
        weights = ops.name("alpha", ops.activate("softmax", ops.name("e", scores)))
        return ops.mix(weights, window)
