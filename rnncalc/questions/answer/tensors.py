"""Judges a shape or a number for each tensor, and finds the mistakes that give a wrong one.

Each row of the table yields the wrong shapes that its mistake gives a tensor. An answer in numbers is compared with the
sizes of those shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from typing import NamedTuple

from rnncalc.conventions.formula import Times
from rnncalc.conventions.tensor import Tensor
from rnncalc.errors import CallError
from rnncalc.network.network import Network
from rnncalc.questions.answer.mistake import Values
from rnncalc.questions.answer.reading import GivenNumber, Shape
from rnncalc.questions.answer.search import Diagnosis, Reason
from rnncalc.text import all_of, escape

MOST_NAMED = 6
"""The most layers that a message names."""


class LayerTensor(NamedTuple):
    """A tensor in its layer."""

    layer: str
    tensor: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape in numbers. A vector has no axis of 1: a row or a column is right too."""
        return self.tensor.plain_shape


Tensors = tuple[LayerTensor, ...]
Answers = Sequence[GivenNumber | Shape]
WrongShape = tuple[Values, tuple[int, ...]]
"""The values for the {braces} of a mistake, and the wrong shape."""


class TensorMistake(NamedTuple):
    """A mistake about a tensor: `wrong` yields the wrong shapes of the tensor at a place."""

    id: str
    text: str
    wrong: Callable[[Tensors, int, Answers], Iterator[WrongShape]]


def tensors_of(network: Network) -> Iterator[LayerTensor]:
    """Yield all tensors of a network, as reports show them, layer by layer in the convention's order."""
    for placed in network.spelled:
        for tensor in placed.tensors:
            yield LayerTensor(placed.name, tensor)


def place_of(tensors: Tensors, name: str) -> int | None:
    """Return the index of a tensor by its name, `W_xh` or `rnn_1.W_xh`; None if there is none.

    Raises CallError if several layers have a tensor of that name.
    """
    wholes = [f"{each.layer}.{each.tensor.name}" for each in tensors]
    found = [place for place, each in enumerate(tensors) if name in (each.tensor.name, wholes[place])]
    if len(found) > 1:
        layers = [escape(tensors[place].layer) for place in found[:MOST_NAMED]]
        message = f"{escape(name)}: {all_of(layers)} have one each; write {layers[0]}.{escape(name)} for one of them"
        raise CallError(message)
    return found[0] if found else None


def number_of_tensors(network: Network) -> int:
    """Return how many tensors a network has."""
    return sum(len(placed.layout.own) for placed in network.spelled)


def diagnoses_of(tensors: Tensors, place: int, answers: Answers) -> Iterator[Diagnosis]:
    """Yield the mistakes that give a wrong answer for the tensor at a place, or else the one size that is wrong."""
    named, answer = tensors[place], answers[place]
    for table in (TENSOR_MISTAKES, SIZES_OFF):
        told: set[tuple[int, ...]] = set()
        for mistake in table:
            for values, shape in mistake.wrong(tensors, place, answers):
                if shape not in told and answer.has_shape(shape):
                    told.add(shape)
                    yours, right = Times(shape), Times(named.shape)
                    yield Diagnosis((Reason.of(mistake.id, mistake.text, values),), named.layer, None, yours, right)
        if told:
            return


def _others(tensors: Tensors, place: int) -> Iterator[tuple[int, str, LayerTensor]]:
    """Yield the other tensors, each with its place and its name; the layer is added if it is another one."""
    for at, other in enumerate(tensors):
        if at != place:
            same = other.layer == tensors[place].layer
            yield at, other.tensor.name if same else f"{other.tensor.name} of {other.layer}", other


def _transposed(tensors: Tensors, place: int, answers: Answers) -> Iterator[WrongShape]:
    yield {}, tensors[place].shape[::-1]


def _swapped(tensors: Tensors, place: int, answers: Answers) -> Iterator[WrongShape]:
    for at, name, other in _others(tensors, place):
        if answers[at].has_shape(tensors[place].shape):
            yield {"other": name}, other.shape


def _of_another(tensors: Tensors, place: int, answers: Answers) -> Iterator[WrongShape]:
    for _, name, other in _others(tensors, place):
        yield {"other": name}, other.shape


def _with_bias(tensors: Tensors, place: int, answers: Answers) -> Iterator[WrongShape]:
    if len(shape := tensors[place].shape) == 2:
        rows, columns = shape
        yield {}, (rows, columns + 1)
        yield {}, (rows + 1, columns)


def _stacked(tensors: Tensors, place: int, answers: Answers) -> Iterator[WrongShape]:
    named = tensors[place]
    for _, name, other in _others(tensors, place):
        if named.layer == other.layer and len(named.shape) == len(other.shape) == 2:
            rows, columns = (one + more for one, more in zip(named.shape, other.shape, strict=True))
            if named.shape[0] == other.shape[0]:
                yield {"other": name}, (named.shape[0], columns)
            if named.shape[1] == other.shape[1]:
                yield {"other": name}, (rows, named.shape[1])


def _all_gates(tensors: Tensors, place: int, answers: Answers) -> Iterator[WrongShape]:
    tensor = tensors[place].tensor
    gates = sum(each.layer == tensors[place].layer and _alike(each.tensor, tensor) for each in tensors)
    if len(tensor.gates) == 1 and gates > 1:
        for axis, size in enumerate(tensor.shape):
            yield {"gates": str(gates)}, (*tensor.shape[:axis], gates * size, *tensor.shape[axis + 1 :])


def _alike(one: Tensor, other: Tensor) -> bool:
    return one.role == other.role and one.direction == other.direction and len(one.gates) == 1


def _one_gate(tensors: Tensors, place: int, answers: Answers) -> Iterator[WrongShape]:
    tensor = tensors[place].tensor
    gates = len(tensor.gates)
    for axis, size in enumerate(tensor.shape):
        if gates > 1 and size % gates == 0:
            yield {"gates": str(gates)}, (*tensor.shape[:axis], size // gates, *tensor.shape[axis + 1 :])


def _many_times(tensors: Tensors, place: int, answers: Answers) -> Iterator[WrongShape]:
    shape, answer = tensors[place].shape, answers[place]
    if isinstance(answer, GivenNumber) and answer.unit == 1 and (times := answer.number // prod(shape)) > 1:
        yield {"times": f"{times:,}"}, (times, *shape)


def _size_off(axis: int, tensors: Tensors, place: int, answers: Answers) -> Iterator[WrongShape]:
    shape, answer = tensors[place].shape, answers[place]
    if isinstance(answer, Shape) and len(answer.sizes) == len(shape) > axis:
        size = answer.sizes[axis]
        if (*shape[:axis], size, *shape[axis + 1 :]) == answer.sizes:
            yield {"size": f"{size:,}", "right": f"{shape[axis]:,}"}, answer.sizes


def _axes_off(tensors: Tensors, place: int, answers: Answers) -> Iterator[WrongShape]:
    shape, answer = tensors[place].shape, answers[place]
    if isinstance(answer, Shape) and len(answer.sizes) != len(shape):
        yield {"axes": str(len(answer.sizes)), "right": str(len(shape))}, answer.sizes


TENSOR_MISTAKES = (
    TensorMistake("transposed", "is the transpose: rows and columns are the other way round here", _transposed),
    TensorMistake("swapped-tensors", "is swapped with {other}", _swapped),
    TensorMistake("other-tensor", "is that of {other}", _of_another),
    TensorMistake("bias-in-matrix", "has the bias in the matrix, and here it has a vector of its own", _with_bias),
    TensorMistake("stacked", "is stacked with {other}, and here each stands for itself", _stacked),
    TensorMistake("all-gates", "holds all {gates} blocks, and here each has a tensor of its own", _all_gates),
    TensorMistake("one-gate", "is that of one block, and here one tensor holds all {gates}", _one_gate),
)
"""Mistakes that have a reason, the likeliest first."""

SIZES_OFF = (
    TensorMistake("times-{times}", "is counted {times} times", _many_times),
    TensorMistake("rows", "has {size} instead of {right} rows", partial(_size_off, 0)),
    TensorMistake("columns", "has {size} instead of {right} columns", partial(_size_off, 1)),
    TensorMistake("axes", "has {axes} instead of {right} axes", _axes_off),
)
"""The rows that are tried if none of TENSOR_MISTAKES fits."""
