"""`count --training`: what a training step by backpropagation through time needs, full or truncated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.display import displayed
from rnncalc.errors import CallError, RefusedError
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import External
from rnncalc.letters import has_letters
from rnncalc.network.network import Network, in_numbers
from rnncalc.network.parts import steps_known
from rnncalc.network.stack import Placed
from rnncalc.network.training import OPTIMIZERS, Update, problems_of
from rnncalc.questions import described_of
from rnncalc.questions.backward_costs import layer_costs
from rnncalc.questions.count import Count, bytes_of, count, total

if TYPE_CHECKING:
    from rnncalc.network.model import Described


class LayerTraining(NamedTuple):
    """What the backward pass through one layer needs.

    gradients: one for each trainable parameter.
    saved: the forward values that its backward equations read, each vector once, in numbers for one sequence, in the
        chunk that saves the most. backward_multiply_adds: the multiplications in matrix products of the backward
        pass through one whole sequence. Both are None without the steps, and for a part counted elsewhere.
    """

    placed: Placed
    gradients: int
    saved: int | None
    backward_multiply_adds: int | None

    @property
    def name(self) -> str:
        """The name of the layer."""
        return self.placed.name


class Epoch(NamedTuple):
    """The work of an epoch of so many sequences: its batches, its updates, and multiply-adds; None if unknown."""

    sequences: int
    batches: int
    updates: int | None
    multiply_adds: int | None
    backward_multiply_adds: int | None


@displayed("rnncalc.reports.training:of_training")
class Training(NamedTuple):
    """What a training step needs: sums over the layers, for one sequence except the bytes.

    chunk: the steps of one backward pass, K; None for all of them. batch: the sequences of a training step.
    optimizer: one of `network.training.OPTIMIZERS`. kept: the numbers that it keeps for all parameters.
    layers: in order, the output layer last.
    updates: how many chunks a sequence has. states_carried: the size of all states of the steps of a chunk.
    gradients, saved, backward_multiply_adds: sums of the layers'; None if unknown.
    bytes: of the weights, their gradients, the optimizer's numbers and the batch's saved activations, in the `dtype`
        where a layer has none.
    epoch: the work of an epoch, if its number of sequences is given.
    """

    network: Described
    chunk: int | None
    batch: int
    optimizer: str
    dtype: str
    layers: tuple[LayerTraining, ...]
    kept: int
    updates: int | None
    states_carried: int | None
    gradients: int
    saved: int | None
    backward_multiply_adds: int | None
    bytes: int | None
    epoch: Epoch | None = None

    @property
    def params(self) -> int:
        """The number of parameters."""
        return self.network.params

    @property
    def truncated(self) -> bool:
        """Whether a sequence may have more than one chunk."""
        steps = [part.steps for part in self.network.parts.values()]
        return self.chunk is not None and any(each is None or each > self.chunk for each in steps)

    @property
    def counted(self) -> Count:
        """The counts of the network, its bytes in the same dtype."""
        return count(self.network, self.dtype)


def training(
    network: Described,
    *,
    chunk: int | None = None,
    batch: int | None = None,
    optimizer: str | None = None,
    sequences: int | None = None,
    dtype: str = "float32",
) -> Training:
    """Return what a training step by backpropagation through time needs.

    chunk: the steps of a chunk of truncated backpropagation, by default all of them. batch: how many sequences, by
    default 1. optimizer: sgd, the default, momentum or adam, which keep 0, 1 and 2 numbers per parameter. sequences: of
    an epoch. An argument that is not given is taken from the network's own `training`, if it has one. dtype: of every
    number, for `bytes`.
    Raises CallError for an invalid argument.
    """
    settings = {"chunk": chunk, "batch": batch, "optimizer": optimizer, "sequences": sequences}
    return training_of(in_numbers(described_of(network)), settings, dtype)


def training_of(network: Described, settings: Mapping[str, Any] = {}, dtype: str = "float32") -> Training:
    """Return the same for sizes that may be letters; what is counted step by step is unknown if the steps are one.

    settings: the arguments of the training step; None for those of the network.
    """
    bytes_of(dtype)
    changes = {key: setting for key, setting in settings.items() if setting is not None}
    update = (network.training or Update())._replace(**changes)
    for problem in problems_of(update):
        raise CallError(f"{problem.path[-1]}: {problem.message}")
    chunk, batch, optimizer, sequences = update
    if isinstance(network, Network):
        layers = tuple(_layers(network, chunk))
        steps = [part.steps for part in network.parts.values()]
        last = steps[-1]  # of the sequence with the loss; in an encoder-decoder the decoder's
        updates = None if None in steps or last is None else -(-last // chunk) if chunk else 1
        states = _states(network, chunk)
    else:
        each = [(training_of(member.network, settings, dtype), member.calls) for member in network.networks.values()]
        (chunk, batch, optimizer), *others = dict.fromkeys(one[1:4] for one, _ in each)
        if others:
            raise RefusedError("the networks train in different ways; give one chunk, batch and optimizer for all")
        several = [times(layer, calls) for one, calls in each for layer in one.layers]
        layers = tuple(layer._replace(placed=placed) for layer, placed in zip(several, network.stack, strict=True))
        known_updates = {one.updates for one, _ in each}
        updates = known_updates.pop() if len(known_updates) == 1 else None
        states = total(one.states_carried and calls * one.states_carried for one, calls in each)
    gradients = sum(layer.gradients for layer in layers)
    saved = total(layer.saved for layer in layers)
    backward = total(layer.backward_multiply_adds for layer in layers)
    epoch = None
    if sequences is not None:
        batches, forward = -(-sequences // batch), total(placed.multiply_adds for placed in network.stack)
        work = [one and sequences * one for one in (forward, backward)]
        epoch = Epoch(sequences, batches, updates and batches * updates, *work)
    kept = OPTIMIZERS[optimizer]
    numbers = [
        None if each.saved is None else each.placed.params + (1 + kept) * each.gradients + batch * each.saved
        for each in layers
    ]
    return Training(
        network=network,
        chunk=chunk,
        batch=batch,
        optimizer=optimizer,
        dtype=dtype,
        layers=layers,
        kept=kept * gradients,
        updates=updates,
        states_carried=states,
        gradients=gradients,
        saved=saved,
        backward_multiply_adds=backward,
        bytes=total(
            None if number is None else number * each.placed.layer.bytes_each(dtype)
            for each, number in zip(layers, numbers, strict=True)
        ),
        epoch=epoch,
    )


def times(layer: LayerTraining, calls: int) -> LayerTraining:
    """Return what a layer needs if its network is called so many times: its gradients are added up."""
    saved, work = layer.saved, layer.backward_multiply_adds
    return layer._replace(saved=saved and calls * saved, backward_multiply_adds=work and calls * work)


def _layers(network: Network, chunk: int | None) -> Iterator[LayerTraining]:
    uses = [placed.uses for placed in network.stack]
    if not steps_known(network.parts) or any(map(has_letters, uses)):
        yield from (LayerTraining(entry, entry.trainable, None, None) for entry in network.stack)
        return
    for placed, costs in zip(network.stack, layer_costs(network, chunk), strict=True):
        chunks = costs.chunks
        if isinstance(placed.layer, External) or (network.letters and chunks[1:]):  # which is the largest is unknown
            yield LayerTraining(placed, placed.trainable, None, None)
            continue
        yield LayerTraining(placed, placed.trainable, max(map(costs.saved, chunks)), costs.multiply_adds)


def _states(network: Network, chunk: int | None) -> int | None:
    """Return the size of all states of a chunk's steps: T·s, or min(K, T)·s, for each layer that carries one."""
    values = 0
    for entry in network.stack:
        steps, layer = entry.uses, entry.layer
        cell = sum(layer.state_widths()) if isinstance(layer, Cell) else 0
        state = layer.state if isinstance(layer, External) else cell
        if steps is None or state is None:
            return None
        values += min(chunk or steps, steps) * state
    return values
