"""What a wrong number may be instead: another quantity of the network, or one counted wrong, by what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.answers.judgement import Mistake
from rnncalc.bounds import MOST_JUDGED
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Output
from rnncalc.letters import has_letters
from rnncalc.network.network import Network
from rnncalc.network.parts import steps_known
from rnncalc.network.stack import Placed
from rnncalc.questions.count import count, total

if TYPE_CHECKING:
    from rnncalc.questions.training import LayerTraining, Training
    from rnncalc.step.costs import OperationCounts


class Scope(NamedTuple):
    """A network, or one layer of it, whose quantities a learner's number may be.

    layers: all of the network, or the one. training: what a training step needs; None if it depends on unknown steps,
        and for many layers.
    counts: what is asked for, of each layer; the parameters by default.
    operations: returns the operations of each layer in a pass, None if they are unknown; counted at the first call.
    """

    network: Network
    layers: tuple[Placed, ...]
    training: Training | None
    counts: Sequence[Any]
    operations: Callable[[], Sequence[OperationCounts | None]]

    @classmethod
    def of(cls, network: Network) -> Scope:
        """Return a whole network."""
        stack, training = network.stack, None
        known = steps_known(network.parts) or all(placed.uses is not None for placed in stack)

        @cache
        def operations() -> Sequence[OperationCounts | None]:
            if not known:
                return [None] * len(stack)
            from rnncalc.questions.operations import pass_operations  # which few answers are about

            return pass_operations(network).layers

        if known and len(stack) <= MOST_JUDGED:
            from rnncalc.questions.training import training_of  # not needed without the number of steps

            training = training_of(network)
        return cls(network, stack, training, [placed.params for placed in stack], operations)

    def layer(self, place: int) -> Scope:
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
        counts = self.counts[place : place + 1]
        layers, operations = (self.layers[place],), lambda: self.operations()[place : place + 1]
        return self._replace(layers=layers, training=alone, counts=counts, operations=operations)


Quantity = Callable[[Scope], Any]
"""Returns a quantity; None if it is unknown."""


def _dense(scope: Scope) -> int | None:
    dense = count(scope.network).dense if len(scope.layers) == len(scope.network.stack) else None
    return dense.params if dense else None


def _as_keras_prints(scope: Scope) -> int | None:
    """Return the bytes as Keras prints them, with 1,024 bytes in a KB and two decimals, but 1,000 bytes in each KB."""
    size = _times(4, _params)(scope)
    power = 0 if has_letters(size) else (size.bit_length() - 1) // 10
    return round(size * 100 / 1024**power) * 1000**power // 100 if power else None


def _of_training(name: str) -> Quantity:
    return lambda scope: getattr(scope.training, name, None)


def _by_layer(number: Callable[[Placed, Any, Any], Any]) -> Quantity:
    """Return the sum of a number of each layer, from the layer, what is asked for of it, and the number of steps."""

    def quantity(scope: Scope) -> Any:
        parts, layers = scope.network.parts, zip(scope.layers, scope.counts, strict=True)
        return total(number(placed, count, parts[placed.part].steps or 1) for placed, count in layers)

    return quantity


def _by_operations(number: Callable[[OperationCounts], int]) -> Quantity:
    """Return the sum of a number of the operations of each layer."""
    return lambda scope: total(None if counts is None else number(counts) for counts in scope.operations())


_params = _by_layer(lambda placed, *_: placed.params)
_gradients = _by_layer(lambda placed, *_: placed.trainable)
_gradients_of_steps = _by_layer(
    lambda placed, *_: placed.trainable and (None if placed.uses is None else placed.trainable * placed.uses)
)
_multiply_adds = _by_layer(lambda placed, *_: placed.multiply_adds)


def _times(factor: int, quantity: Quantity) -> Quantity:
    """Return a multiple of a quantity, unknown if that is."""
    return lambda scope: None if (number := quantity(scope)) is None else factor * number


def _unlike(quantity: Quantity, right: Quantity) -> Quantity:
    """Return a quantity that is another one counted wrong, unknown if that is no mistake."""
    return lambda scope: None if (number := quantity(scope)) == right(scope) else number


def _one_state(scope: Scope) -> int:
    layers = [(placed, placed.layer) for placed in scope.layers]
    cells = [(placed.sizes, layer) for placed, layer in layers if isinstance(layer, Cell)]
    return sum([sizes[next(iter(layer.states.values()))] * layer.directions for sizes, layer in cells])


def _product_of_widths(scope: Scope) -> Any:
    return prod([scope.layers[0].inputs, *[placed.outputs for placed in scope.layers]]) if scope.layers[1:] else 0


def _without_gates(layer: LayerTraining, training: Training) -> int | None:
    """Return how many activations would be saved if the equations read only the input and the states, not the gates."""
    placed, steps = layer.placed, training.network.parts[layer.placed.part].steps
    if steps is None or not isinstance(placed.layer, Cell) or len(placed.layer.gates(placed.inputs)) == 1:
        return layer.saved
    return min(training.chunk or steps, steps) * (placed.inputs + sum(placed.layer.state_widths()))


def _saved_without_gates(scope: Scope) -> int | None:
    training = scope.training
    return total(_without_gates(layer, training) for layer in training.layers) if training else None


# a row is read on one line, or on two
# fmt: off
another = partial(Mistake, "quantity")
steps = partial(Mistake, "steps")

PARAMS = another("params", "is the number of parameters", _params)
MULTIPLY_ADDS = another("multiply-adds", "is the number of multiply-adds in one pass", _multiply_adds)
STATES = another("states", "is the number of values in the states of all steps", _of_training("states_carried"))
DENSE = another("dense", "is the count of the dense equivalent, which shares no weights over time", _dense)
BACKWARD = another("backward", "is the number of multiply-adds of the backward pass",
                   _of_training("backward_multiply_adds"))
NO_GATES = another(
    "no-gates", "is the number of saved activations without the gates, which the backward equations read too",
    _unlike(_saved_without_gates, _of_training("saved")))
FLOPS = another("flops", "is the number of FLOPs, which count biases and activations too",
                _by_operations(lambda counts: counts.flops))
ONE_STEP = steps("one-step", "counts one of several steps",
                 _by_layer(lambda placed, count, *_: count // (placed.uses or 1)))
NO_OUTPUT = Mistake("output layer", "no-output", "leaves out the output layer",
                    _by_layer(lambda placed, count, *_: 0 if isinstance(placed.layer, Output) else count))
OUTPUT_EACH_STEP = Mistake(
    "output layer", "output-each-step", "counts the output layer at every step; it is applied once",
    _by_layer(lambda placed, count, steps: count * steps if isinstance(
        placed.layer, Output) and placed.uses == 1 else count))
RECURRENT_TWICE = Mistake("layers", "recurrent-twice", "counts the recurrent layers twice",
                          _by_layer(lambda placed, count, *_: count * (1 + isinstance(placed.layer, Cell))))

CONFUSED: Mapping[str, Sequence[Mistake]] = {
    "params": (
        DENSE,
        Mistake("widths", "product-of-widths",
                "multiplies the widths of all layers, instead of adding up each layer's product", _product_of_widths),
        MULTIPLY_ADDS,
        another("multiply-adds-per-step", "is the number of multiply-adds in one step", _unlike(
            lambda scope: total(placed.multiply_adds_per_step for placed in scope.layers), _multiply_adds)),
        another("bytes", "is the number of bytes in float32, four for each parameter",
                _times(4, _params)),
        another("gradients", "is the number of gradients, one for each parameter that is trained", _gradients),
        another("saved", "is the number of saved activations", _of_training("saved")),
        BACKWARD,
        STATES,
        another("state", "is the number of values in the states of one step", _by_layer(
            lambda placed, *_: sum(placed.layer.state_widths()) if isinstance(placed.layer, Cell) else 0)),
        FLOPS,
        another("training-bytes", "is the number of bytes that training takes in float32", _of_training("bytes")),
        another("gradients-of-steps",
                "counts a gradient for each parameter and each step; the gradients of all steps are summed",
                _unlike(_gradients_of_steps, _gradients)),
        NO_GATES,
        another("twice-forward", "is twice the multiply-adds of one pass: its FLOPs without biases and activations",
                _unlike(_times(2, _multiply_adds), _of_training("backward_multiply_adds"))),
    ),
    "multiply-adds": (  # the mistakes in such a count are in the table
        PARAMS,
        steps("params-times-steps", "multiplies the number of parameters by the number of steps",
              _by_layer(lambda placed, _, steps: placed.params * steps)),
        another("flops", "counts a multiplication and an addition as two (FLOPs), not as one multiply-add",
                _times(2, _multiply_adds)),
        FLOPS,
        RECURRENT_TWICE,
        BACKWARD,
        DENSE,
    ),
    "flops": (
        MULTIPLY_ADDS,
        another("products-alone", "counts the matrix products alone, without biases and activations",
                _times(2, _multiply_adds)),
        Mistake("biases", "no-biases", "leaves out the additions of the biases",
                _by_operations(lambda counts: counts.flops - counts.bias_additions)),
        ONE_STEP,
        another("training", "is three times the forward pass, because a backward pass takes about two forward passes",
                _by_layer(lambda _, count, __: 3 * count)),
        OUTPUT_EACH_STEP,
        NO_OUTPUT,
        RECURRENT_TWICE,
        PARAMS,
    ),
    "bytes": (
        PARAMS,
        *(Mistake("bytes", id_, text, _times(factor, _params)) for id_, text, factor in (
            ("float16", "counts two bytes for each parameter, as in float16", 2),
            ("float64", "counts eight bytes for each parameter, as in float64", 8),
            ("bits", "is the number of bits", 32))),
        Mistake("bytes", "keras",
                "takes 1,024 bytes for a KB, as Keras prints; 1,024 bytes are a KiB, and 1,000 are a KB",
                _as_keras_prints),
    ),
    "saved": (NO_GATES._replace(subject="gates"), STATES, NO_OUTPUT, PARAMS, MULTIPLY_ADDS),
    "state": (
        Mistake("states", "one-state", "counts one state of each cell; the cells have several", _one_state),
        Mistake("states", "two-states", "counts two states of each cell; some cells have one", _by_layer(
            lambda placed, count, *_: 2 * count if isinstance(
                placed.layer, Cell) and len(placed.layer.states) == 1 else count)),
        STATES,
        another("inputs", "is the width of the input", lambda scope: scope.layers[0].inputs),
        another("outputs", "is the width of the output", lambda scope: scope.layers[-1].outputs),
        PARAMS,
    ),
}
# fmt: on
"""What a wrong number may be, by what is asked for, the likeliest first."""


def confused(asked: str, scope: Scope) -> Iterator[tuple[Any, Mistake]]:
    """Yield what a wrong number about a network or a layer may be, with its number; a few may be the correct one."""
    for row in CONFUSED[asked]:
        if number := row.change(scope):
            yield number, row
