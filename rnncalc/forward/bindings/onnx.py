"""ONNX: RNN, GRU and LSTM take W, R, B, P with the directions in front; B has the input biases, then the recurrent."""

from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights, TransformNames, of_dense
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import CROSS

ORDERS = {"rnn": "h", "gru": "zrn", "lstm": "iofg"}
STATES = {"rnn": "h", "gru": "h", "lstm": "hc"}


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    way = (int(backward),)
    order, h = ORDERS[layer.kind], layer.units
    products = {
        (gate, vector): arrays.matrix(name, rows, at=way)
        for vector, name in (("x", "W"), ("h", "R"))
        for gate, rows in arrays.gates(name, order, h).items()
    }
    peepholes = arrays.gates("P", "iof", h) if getattr(layer, "peepholes", False) else {}
    looks = {(gate, "c"): arrays.vector("P", numbers, at=way) for gate, numbers in peepholes.items()}
    biases = {}
    for gate, numbers in arrays.gates("B", order, h).items() if layer.bias else ():
        after = slice(numbers.start + len(order) * h, numbers.stop + len(order) * h)
        biases[gate, "input"] = arrays.vector("B", numbers, at=way)
        biases[gate, "recurrent"] = arrays.vector("B", after, at=way)
    letters = STATES[layer.kind] if layer.learned_state else ""
    states = {letter: arrays.vector(f"initial_{letter}", at=(*way, 0)) for letter in letters}
    return GateWeights({**products, **looks}, biases, {}, states)


TRANSFORMS = TransformNames(
    {
        "dense": {"kernel": "B", "bias": "C"},
        "embedding": {"embedding": "data", "position_embedding": "positions"},
        "conv1d": {"kernel": "W", "bias": "B"},
        "layer_norm": {"scale": "Scale", "bias": "B"},
        "batch_norm": {"scale": "scale", "bias": "B", "running_mean": "input_mean", "running_variance": "input_var"},
        **dict.fromkeys(("attention", *CROSS), of_dense("/B", "/C")),
        "decoder_attention": of_dense("/B", "/C")
        | {"convolution": "convolution/W", "convolution_bias": "convolution/B"},
    },
    taps_first=False,
    transposed=True,
)

BINDING = Binding(cell=_cell, transforms=TRANSFORMS)
