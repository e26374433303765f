"""The textbook: a matrix for each gate and each vector that it reads, as the cell's step asks for them.

The cell's step decides which weights are requested, not its declared gates, and the names are written by hand. Only
whether a matrix is diagonal or shared is read from the gates, so that users' own cells work too.
"""

from rnncalc.forward.arrays import Arrays, Matrix, WeightVector
from rnncalc.forward.bindings import Binding, Product, TransformNames, prefix
from rnncalc.layers.cell import Cell, Form
from rnncalc.layers.layer import CROSS


class _TextbookWeights:
    """The weights of one direction of a layer. The cell declares which matrices are shared and which are diagonal."""

    def __init__(self, arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> None:
        self.arrays = arrays
        self.layer = layer
        self.before = prefix(layer, backward)
        self.gates = {gate.letter: gate for gate in layer.gates(inputs)}
        self.bound: dict[tuple[str, str], Product] = {}
        self.factors: dict[tuple[str, ...], Matrix] = {}

    def product(self, letter: str, vector: str) -> Product:
        if (letter, vector) not in self.bound:
            self.bound[letter, vector] = self._product(letter, vector)
        return self.bound[letter, vector]

    def _product(self, letter: str, vector: str) -> Product:
        products = [each for each in self.gates[letter].products if each.vector == vector]
        shared = products[0].matrix if products else None
        word = f"{vector}{letter if shared is None else shared}"
        first = next(iter(self.layer.states))
        diagonal = bool(products) and products[0].form is Form.DIAGONAL
        if vector == "h" and "recurrence" in self.layer.fields:
            diagonal = self.layer.__dict__["recurrence"] == "diagonal"
        if products and products[0].form is Form.CONVOLUTION:
            kernel: int = self.layer.__dict__["kernel"]
            return self.arrays.convolution(f"{self.before}W_{word}", slice(None), self.layer.grid, kernel)
        if products and products[0].form is Form.BLOCKS:
            rows = self.layer.units // (blocks := self.layer.__dict__["recurrent_blocks"])
            starts = [block * rows for block in range(blocks)]
            return tuple([self.arrays.matrix(f"{self.before}W_{word}", slice(at, at + rows)) for at in starts])
        if not diagonal:
            return self.arrays.matrix(f"{self.before}W_{word}")
        return self.arrays.vector(f"{self.before}{'W' if vector in ('x', first) else 'w'}_{word}")

    def factor(self, letter: str, vector: str, side: str) -> Matrix:
        if (letter, vector, side) not in self.factors:
            name = f"{self.before}{'A' if side == 'left' else 'B'}_{vector}{letter}"
            self.factors[letter, vector, side] = self.arrays.matrix(name)
        return self.factors[letter, vector, side]

    def bias(self, letter: str, side: str) -> WeightVector | None:
        if side == "recurrent" or not self.layer.bias or not self.gates[letter].bias:
            return None
        return self.arrays.vector(f"{self.before}b_{letter}")

    def matrix(self, letter: str) -> Matrix:
        return self.arrays.matrix(f"{self.before}W_h{letter}")

    def gain(self, letter: str) -> WeightVector:
        return self.arrays.vector(f"{self.before}gamma_{letter}")

    def vector(self, letter: str) -> WeightVector:
        return self.arrays.vector(f"{self.before}{letter}")

    def state(self, letter: str) -> WeightVector:
        return self.arrays.vector(f"{self.before}{letter}_0")


HEADS = {"query": "W_q", "key": "W_k", "value": "W_v", "output": "W_o"}
HEADS |= {"query_bias": "b_q", "key_bias": "b_k", "value_bias": "b_v", "output_bias": "b_o"}

TRANSFORMS = TransformNames(
    {
        "output": {"kernel": "W_hy", "bias": "b_y"},
        "embedding": {"embedding": "E", "position_embedding": "P"},
        "conv1d": {"kernel": "W", "bias": "b"},
        "layer_norm": {"scale": "g", "bias": "b"},
        "transformer": HEADS
        | {"up": "W_1", "up_bias": "b_1", "down": "W_2", "down_bias": "b_2"}
        | {"norm_1_scale": "gamma_1", "norm_2_scale": "gamma_2", "norm_1_bias": "beta_1", "norm_2_bias": "beta_2"},
        "attention": {"kernel": "W", "bias": "b", "score": "v", "score_bias": "c", "step_bias": "beta"},
        "batch_norm": {"scale": "g", "bias": "b", "running_mean": "mean", "running_variance": "variance"},
        "decoder_attention": {"query": "W_q", "keys": "W_k", "kernel": "W", "convolution": "F", "location": "W_f"}
        | {"query_bias": "b_q", "keys_bias": "b_k", "bias": "b", "convolution_bias": "b_F", "location_bias": "b_f"}
        | {"score": "v", "score_bias": "b_v"},
        **dict.fromkeys(("multi_head_attention", *CROSS), HEADS),
    },
    taps_first=True,
    others={"kernel": "W", "bias": "b", "scale": "g"},
)

BINDING = Binding(cell=_TextbookWeights, transforms=TRANSFORMS)
