"""`count --training`: what one update by backpropagation through time takes, full or truncated. Numbers only."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.network.network import Network
from rnncalc.questions.backward_flow import LayerTraining, layers_of
from rnncalc.questions.count import bytes_of


class Optimizer(Enum):
    """An optimizer, by the numbers that it keeps for each parameter."""

    SGD = 0
    MOMENTUM = 1
    ADAM = 2


OPTIMIZERS = {"sgd": Optimizer.SGD, "momentum": Optimizer.MOMENTUM, "adam": Optimizer.ADAM}


class Training(NamedTuple):
    """What one update takes: of one sequence, but for `bytes`, which are those of the batch.

    chunk: the steps that are gone back through together, K; steps: T, None when it is not known.
    updates: how many chunks there are; states_held: the numbers of states of one chunk.
    bytes: of the weights, their gradients, what the optimizer keeps and the held values of the batch.
    """

    network: Network
    layers: tuple[LayerTraining, ...]
    chunk: int | None
    batch: int
    optimizer: Optimizer
    dtype: str
    gradients: int
    updates: int | None
    states_held: int | None
    held: int | None
    multiply_adds: int | None
    bytes: int | None


def training(
    network: Network, *, chunk: int | None = None, batch: int = 1, optimizer: str = "sgd", dtype: str = "float32"
) -> Training:
    """Return what training a network by backpropagation through time takes.

    chunk: the steps of a chunk of truncated backpropagation, all of them by default. batch: the sequences of an update.
    optimizer: one of OPTIMIZERS. Raises KeyError for another.
    """
    layers = tuple(layers_of(network, chunk))
    parts = network.parts.values()
    steps = None if any(part.steps is None for part in parts) else max(part.steps or 1 for part in parts)
    kept = OPTIMIZERS[optimizer]
    gradients = sum(layer.gradients * layer.placed.copies for layer in layers)
    held = _total([(layer.held, layer.placed.copies) for layer in layers])
    size = bytes_of(dtype)
    return Training(
        network=network,
        layers=layers,
        chunk=chunk,
        batch=batch,
        optimizer=kept,
        dtype=dtype,
        gradients=gradients,
        updates=None if steps is None else -(-steps // chunk) if chunk else 1,
        states_held=_states(network, chunk),
        held=held,
        multiply_adds=_total([(layer.multiply_adds, layer.placed.copies) for layer in layers]),
        bytes=None if held is None else size * (network.params + gradients * (1 + kept.value) + batch * held),
    )


def _total(amounts: list[tuple[int | None, int]]) -> int | None:
    if any(amount is None for amount, _ in amounts):
        return None
    return sum(amount * times for amount, times in amounts if amount is not None)


def _states(network: Network, chunk: int | None) -> int | None:
    """Return T·s, truncated min(K, T)·s, s being the numbers of all states of all recurrent layers."""
    total = 0
    for placed in network.stack:
        if isinstance(placed.layer, Cell):
            steps = network.parts[placed.part].steps
            if steps is None:
                return None
            total += min(chunk or steps, steps) * sum(placed.layer.state_widths()) * placed.copies
    return total
