"""Other explanations of a wrong number: the other quantities of the network, such as its multiply-adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.network.network import Network
from rnncalc.network.parts import steps_known
from rnncalc.network.stack import Placed
from rnncalc.questions.count import DTYPES, count, total

if TYPE_CHECKING:
    from rnncalc.questions.training import LayerTraining, Training


class Subject(NamedTuple):
    """A network, or one layer of it, whose quantities a learner's number may be.

    layers: all of the network, or the one. training: what a training step needs; None if it depends on unknown steps.
    """

    network: Network
    layers: tuple[Placed, ...]
    training: Training | None

    @classmethod
    def of(cls, network: Network) -> Subject:
        """Return a network as a subject."""
        stack = network.stack
        if not steps_known(network.parts) and any(placed.uses is None for placed in stack):
            return cls(network, stack, None)
        from rnncalc.questions.training import training_of  # not needed without the number of steps

        return cls(network, stack, training_of(network))

    def layer(self, place: int) -> Subject:
        """Return the layer at a place; what exists for a network only is unknown."""
        alone = None
        if self.training:
            layer = self.training.layers[place]
            alone = self.training._replace(
                layers=(layer,),
                saved=layer.saved,
                backward_multiply_adds=layer.backward_multiply_adds,
                states_carried=None,
                bytes=None,
            )
        return self._replace(layers=(self.layers[place],), training=alone)


Quantity = Callable[[Subject], int | None]
"""Returns a quantity; None if it is unknown."""


def _dense(subject: Subject) -> int | None:
    dense = count(subject.network).dense if len(subject.layers) == len(subject.network.stack) else None
    return dense.params if dense else None


def _multiply_adds(subject: Subject, times: int = 1) -> int | None:
    number = total(placed.multiply_adds for placed in subject.layers)
    return None if number is None else times * number


def _multiply_adds_per_step(subject: Subject) -> int | None:
    once = total(placed.multiply_adds_per_step for placed in subject.layers)
    return None if once == _multiply_adds(subject) else once


def _of_training(name: str) -> Quantity:
    return lambda subject: getattr(subject.training, name, None)


def _without_gates(layer: LayerTraining, training: Training) -> int | None:
    """Return how many activations would be saved if the equations read only the input and the states, not the gates."""
    placed, steps = layer.placed, training.network.parts[layer.placed.part].steps
    if steps is None or not isinstance(placed.layer, Cell) or len(placed.layer.gates(placed.inputs)) == 1:
        return layer.saved
    return min(training.chunk or steps, steps) * (placed.inputs + sum(placed.layer.state_widths()))


QUANTITIES: Mapping[str, Quantity] = {
    "dense": _dense,
    "multiply-adds": _multiply_adds,
    "multiply-adds per step": _multiply_adds_per_step,
    "bytes": lambda subject: DTYPES["float32"] * sum(placed.params for placed in subject.layers),
    "gradients": lambda subject: sum(placed.trainable for placed in subject.layers),
    "saved": _of_training("saved"),
    "backward": _of_training("backward_multiply_adds"),
    "states": _of_training("states_carried"),
    "training bytes": _of_training("bytes"),
    "gradients per step": lambda subject: total(
        None if placed.uses is None else placed.trainable * placed.uses for placed in subject.layers if placed.trainable
    ),
    "saved without gates": lambda subject: (
        total(_without_gates(layer, subject.training) for layer in subject.training.layers)
        if subject.training
        else None
    ),
    "twice forward": lambda subject: _multiply_adds(subject, 2),
}
"""The functions that count what a number may be, in the order of the list."""

MISCOUNTED = {"gradients per step": "gradients", "saved without gates": "saved", "twice forward": "backward"}
"""The mistakes about training among them: each counts another quantity wrong."""


class KnownQuantity(NamedTuple):
    """A quantity of a network that a learner's number may be. right: the correct number, if it is counted wrong."""

    name: str
    number: int
    right: int | None = None


def quantities(subject: Subject, names: Iterable[str] = QUANTITIES) -> Iterator[KnownQuantity]:
    """Yield the known quantities of a network or a layer; a mistake comes with the correct number."""
    for name in names:
        number = QUANTITIES[name](subject)
        right = QUANTITIES[MISCOUNTED[name]](subject) if name in MISCOUNTED else None
        if number and number != right and not (name in MISCOUNTED and right is None):
            yield KnownQuantity(name, number, right)
