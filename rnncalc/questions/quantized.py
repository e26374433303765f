"""`count --quantize`: bytes as embedded kernels store a network's weights, biases and states.

The widths are those of CMSIS-NN's LSTM, which follows TensorFlow Lite Micro: `arm_lstm_unidirectional_s8`
has 32-bit biases, `arm_lstm_unidirectional_s16` 64-bit biases; both have 8-bit weights and a 16-bit cell state, and the
state h is as wide as the activations (https://arm-software.github.io/CMSIS-NN/latest/group__LSTM.html).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rnncalc.conventions.tensor import BIASES
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import External
from rnncalc.layers.lstm import LSTM
from rnncalc.network.stack import Placed
from rnncalc.questions import described_of, word
from rnncalc.questions.count import total

if TYPE_CHECKING:
    from rnncalc.network.model import Described

Widths = tuple[int, int, int, int]
"""The bytes of a weight, a bias, an activation (as the state h and what a window reads are) and any other state."""

QUANTIZATIONS: dict[str, Widths] = {"int8": (1, 4, 1, 2), "int16": (1, 8, 2, 2)}
"""The widths by the type of the activations."""


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
    """The bytes of each layer and of all; to: one of QUANTIZATIONS. lacking: the recurrent layers without a kernel."""

    network: Described
    to: str
    layers: tuple[StoredBytes, ...]
    total: StoredBytes
    lacking: tuple[str, ...]


def quantized(network: Described, to: str) -> Quantized:
    """Return the bytes of a network stored in integers. Raises CallError for an unknown type."""
    network = described_of(network)
    widths = QUANTIZATIONS[word("quantize", to, tuple(QUANTIZATIONS))]
    layers = tuple(_of_layer(placed, widths) for placed in network.stack)
    lacking = tuple(placed.full_name for placed in network.stack if not _has_kernel(placed))
    whole = StoredBytes(*map(total, zip(*layers, strict=True)))
    return Quantized(network, to, layers, whole, lacking)


def _has_kernel(placed: Placed) -> bool:
    """Return whether CMSIS-NN computes the layer's cell: an LSTM whose options leave its gates as they are."""
    layer = placed.layer
    if not isinstance(layer, Cell):
        return True
    plain = LSTM(layer.units).gates(placed.inputs)
    return isinstance(layer, LSTM) and layer.projection is None and layer.gates(placed.inputs) == plain


def _of_layer(placed: Placed, widths: Widths) -> StoredBytes:
    layer, (weight, bias, hidden, other) = placed.layer, widths
    if isinstance(layer, External):
        return StoredBytes(None, None, None)
    biases = sum(tensor.params for tensor in placed.tensors if tensor.role in BIASES)
    carried = layer.carried(placed.inputs)
    state = None if carried is None else carried * hidden
    if isinstance(layer, Cell) and carried is not None:
        states = layer.states.items()
        state = sum((hidden if letter == "h" else other) * placed.sizes[width] for letter, width in states)
    return StoredBytes((placed.params - biases) * weight, biases * bias, state and placed.calls * state)
