"""PaddlePaddle: its recurrent layers are PyTorch's, its Linear is input by output, and so is a projection."""

from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights, TransformNames, of_dense, pytorch
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import CROSS


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    bound = pytorch.recurrent(arrays, layer, backward)
    if getattr(layer, "projection", None) is None:
        return bound
    way = ("_bw" if backward else "_fw") if layer.bidirectional else ""
    projection = arrays.matrix(f"{arrays.copy}.cell{way}.weight_ho", transposed=True)
    return bound._replace(matrices={"p": projection})


TRANSFORMS = TransformNames(
    {kind: pytorch.TRANSFORMS.names[kind] for kind in ("dense", "embedding", "conv1d", "layer_norm")}
    | {
        "batch_norm": {"scale": "weight", "bias": "bias", "running_mean": "_mean", "running_variance": "_variance"},
        **dict.fromkeys(("attention", "decoder_attention", *CROSS), of_dense(".weight", ".bias")),
    },
    taps_first=False,
    transposed=True,
)

BINDING = Binding(cell=_cell, transforms=TRANSFORMS)
