"""`count --quantize`: bytes as programs store a network's weights, biases and states in integers.

By default the program is CMSIS-NN's LSTM, which follows TensorFlow Lite Micro: `arm_lstm_unidirectional_s8`
has 32-bit biases, `arm_lstm_unidirectional_s16` 64-bit biases; both have 8-bit weights and a 16-bit cell state, and the
state h is as wide as the activations (https://arm-software.github.io/CMSIS-NN/latest/group__LSTM.html).
Under a convention of DYNAMIC, int8 is what that framework's dynamic quantisation does, seen in November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from rnncalc.conventions.tensor import BIASES, Role, Tensor
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import External
from rnncalc.layers.lstm import LSTM
from rnncalc.network.stack import Placed
from rnncalc.questions import described_of, whole, word
from rnncalc.questions.count import total

if TYPE_CHECKING:
    from rnncalc.network.model import Described

Widths = tuple[int, int, int, int]
"""The bytes of a weight, a bias, an activation (as the state h and what a window reads are) and any other state."""

QUANTIZATIONS: dict[str, Widths] = {"int8": (1, 4, 1, 2), "int16": (1, 8, 2, 2)}
"""The widths by the type of the activations."""

_MATRICES = (Role.INPUT, Role.RECURRENT, Role.KERNEL, Role.EMBEDDING)


class Dynamic(NamedTuple):
    """A framework's dynamic quantisation. kinds: the layers whose matrices it stores in 8 bits; all else stays float32.

    Of a kind with a beginning of names, only tensors that are called so.
    """

    program: str
    kinds: Mapping[str, str]


DYNAMIC = {
    "pytorch": Dynamic(
        "PyTorch 2.13's quantize_dynamic",
        {**dict.fromkeys(("lstm", "gru", "dense", "attention", "decoder_attention"), ""), "transformer": "linear"},
    ),
    "onnx": Dynamic(
        "onnxruntime 1.31's quantize_dynamic",
        dict.fromkeys(("lstm", "dense", "embedding", "conv1d", "multi_head_attention"), ""),
    ),
}
"""The dynamic quantisation of frameworks, by convention."""


class StoredBytes(NamedTuple):
    """The bytes of weights, biases and numbers carried from step to step; None if not known."""

    weight_bytes: int | None
    bias_bytes: int | None
    state_bytes: int | None

    @property
    def bytes(self) -> int | None:
        """The bytes of weights and biases, which are stored with the program."""
        return total((self.weight_bytes, self.bias_bytes))


class Quantized(NamedTuple):
    """The bytes of each layer and of all; to: one of QUANTIZATIONS.

    lacking: the recurrent layers without a kernel. dynamic: the framework's quantisation, if it is that; floating: the
    layers with parameters and no type of their own that it leaves in float.
    """

    network: Described
    to: str
    layers: tuple[StoredBytes, ...]
    total: StoredBytes
    lacking: tuple[str, ...]
    dynamic: Dynamic | None
    floating: tuple[str, ...]

    @property
    def program(self) -> str:
        """The program that stores them so."""
        return self.dynamic.program if self.dynamic else "CMSIS-NN's LSTM"


def quantized(network: Described, to: str, batch: int = 1) -> Quantized:
    """Return the bytes of a network stored in integers, and of the states of a batch. Raises CallError."""
    network, batch = described_of(network), whole("batch", batch, 1)
    widths = QUANTIZATIONS[word("quantize", to, tuple(QUANTIZATIONS))]
    dynamic = DYNAMIC.get(network.convention or "") if to == "int8" else None
    layers = tuple(_of_layer(placed, widths, dynamic, batch) for placed in network.stack)
    lacking = () if dynamic else tuple(placed.full_name for placed in network.stack if not _has_kernel(placed))
    floating = tuple(placed.full_name for placed in network.stack if dynamic and _is_float(placed, dynamic))
    sums = StoredBytes(*map(total, zip(*layers, strict=True)))
    return Quantized(network, to, layers, sums, lacking, dynamic, floating)


def _in_integers(placed: Placed, tensor: Tensor, dynamic: Dynamic) -> bool:
    """Return whether dynamic quantisation stores a tensor in 8 bits.

    PyTorch loses the projection of an LSTM, so that its output is an error: it is left in float.
    """
    begin = dynamic.kinds.get(placed.layer.named_as)
    applies = begin is not None and placed.layer.dtype is None and "p" not in placed.sizes
    return applies and tensor.role in _MATRICES and tensor.name.startswith(begin or "")


def _is_float(placed: Placed, dynamic: Dynamic) -> bool:
    """Return whether dynamic quantisation leaves all parameters of a layer in float."""
    if not placed.tensors or placed.layer.dtype or isinstance(placed.layer, External):
        return False
    return not any(_in_integers(placed, tensor, dynamic) for tensor in placed.tensors)


def _has_kernel(placed: Placed) -> bool:
    """Return whether CMSIS-NN computes the cell in integers: an LSTM whose options leave its gates as they are."""
    layer = placed.layer
    if not isinstance(layer, Cell) or layer.dtype:  # which is not stored in integers
        return True
    plain = LSTM(layer.units).gates(placed.inputs)
    return isinstance(layer, LSTM) and layer.projection is None and layer.gates(placed.inputs) == plain


def _of_layer(placed: Placed, widths: Widths, dynamic: Dynamic | None, batch: int) -> StoredBytes:
    layer, (weight, bias, hidden, other) = placed.layer, widths
    if isinstance(layer, External) and not layer.dtype:
        return StoredBytes(None, None, None)
    if dynamic or layer.dtype:  # what is not in integers is as in training
        weight = bias = hidden = other = layer.bytes_each("float32")
    biases = sum(tensor.params for tensor in placed.tensors if tensor.role in BIASES)
    integers = sum(each.params for each in placed.tensors if dynamic and _in_integers(placed, each, dynamic))
    carried = layer.carried(placed.inputs)
    state = None if carried is None else carried * hidden
    if isinstance(layer, Cell) and carried is not None:
        states = layer.states.items()
        state = sum((hidden if letter == "h" else other) * placed.sizes[width] for letter, width in states)
    weights = (placed.params - biases - integers) * weight + integers
    return StoredBytes(weights, biases * bias, state and batch * placed.calls * state)
