"""What PyTorch 2.13 keeps on the CPU for a backward pass, in bytes; docs/training.md derives it.

Every storage that autograd saves counts once, parameters left out. Measured with the steps before the batch.
"""

from __future__ import annotations

from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Dense, Dropout, Embedding, Layer
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.rnn import RNN
from rnncalc.network.stack import Placed
from rnncalc.questions.count import bytes_of
from rnncalc.questions.counters import FREE, MEASURED, is_plain
from rnncalc.questions.training import Training


class AutogradMemory(NamedTuple):
    """What PyTorch keeps: numbers, token numbers of 8 bytes, the bytes of oneDNN's workspaces, and all in bytes."""

    numbers: int
    tokens: int
    workspace: int
    bytes: int


def kept(training: Training) -> AutogradMemory | None:
    """Return what PyTorch keeps for the batch of a training step; None if that was not measured."""
    network, batch, dtype = training.network, training.batch, training.dtype
    steps = network.topology_name in MEASURED and not network.letters and network.steps
    if not steps or training.truncated or network.convention != "pytorch" or dtype not in ("float32", "float64"):
        return None
    numbers = tokens = workspace = 0
    size, saved, trained = batch * network.stack[0].inputs * steps, False, False  # of the storage read
    for placed in network.stack:
        layer, output = placed.layer, batch * (placed.uses or 0) * placed.outputs
        if not _is_measured(layer):
            return None
        if isinstance(layer, Embedding):
            tokens = batch * (placed.uses or 0)
        elif isinstance(layer, Dropout):
            numbers += output if trained else 0  # its mask, which multiplies
        else:
            numbers += 0 if saved else size
        size, saved = output, False
        if isinstance(layer, Cell):
            fused = isinstance(layer, LSTM) and layer.projection is None and dtype == "float32"
            numbers += layer.directions * _states(placed, batch, fused=fused)
            workspace += layer.directions * _workspace(placed, batch) if fused else 0
            saved = fused and layer.directions == 1
            if layer.directions == 2 and not placed.sequence:
                size = batch * placed.outputs  # the last states of both, joined
        trained = trained or not isinstance(layer, Dropout)
    return AutogradMemory(numbers, tokens, workspace, numbers * bytes_of(dtype) + 8 * tokens + workspace)


def _is_measured(layer: Layer) -> bool:
    if isinstance(layer, Dropout):
        return 0 < layer.rate < 1
    free = FREE | {"activation"} if isinstance(layer, RNN) else FREE
    return isinstance(layer, Dense | Embedding | RNN | GRU | LSTM) and not layer.frozen and is_plain(layer, free)


def _states(placed: Placed, batch: int, *, fused: bool) -> int:
    """Return the numbers that one direction keeps beside its input."""
    units, steps, ways = placed.sizes["h"], placed.uses or 0, placed.layer.directions
    if fused:  # for biases that it lacks oneDNN is given zeros, as many as there are weights
        return batch * (steps + 4) * units + (0 if placed.layer.values()["bias"] else placed.params // ways)
    if placed.kind == "rnn":
        return batch * (steps + 1) * units
    return batch * steps * (7 * units + placed.sizes.get("p", 0))


def _workspace(placed: Placed, batch: int) -> int:
    """Return the bytes of oneDNN's workspace of one direction: `set_offsets` of its src/cpu/rnn/rnn_utils."""
    units, steps, inputs = placed.sizes["h"], placed.uses or 0, placed.inputs
    gates = _page(4 * steps * batch * _row(4 * units)) + _page(4 * steps * batch * _row(units))
    states = 8 * (steps + 1) * batch
    return gates + 3 * _page(states * _row(max(inputs, units))) + 2 * _page(states * units)


def _page(size: int) -> int:
    return -(-size // 4096) * 4096


def _row(numbers: int) -> int:
    """Return the length of a row in memory: whole cache lines, and one more for a multiple of 256 (`get_good_ld`)."""
    rounded = -(-numbers // 16) * 16
    return rounded + 16 * (rounded % 256 == 0)
