"""Judges a shape or a number for each tensor, and finds the mistakes that give a wrong one.

Each row of the table yields the wrong shapes that its mistake gives a tensor. An answer in numbers is compared with the
sizes of those shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod

from rnncalc.conventions.formula import Times
from rnncalc.conventions.tensor import Tensor
from rnncalc.errors import CallError
from rnncalc.network.network import Network
from rnncalc.questions.answer.judgement import Diagnosis, Reason
from rnncalc.questions.answer.reading import GivenNumber, Shape
from rnncalc.text import all_of, escape

MOST_NAMED = 6
"""The most layers that a message names."""


Tensors = tuple[tuple[str, Tensor], ...]
"""The tensors of a network, each with the name of its layer."""

Answers = Sequence[GivenNumber | Shape]

Wrong = Iterator[tuple[Mapping[str, str], tuple[int, ...]]]
"""The values for the {braces} of a mistake, and the wrong shape."""


def tensors_of(network: Network) -> Tensors:
    """Return all tensors of a network, as reports show them, layer by layer in the convention's order."""
    return tuple((placed.name, tensor) for placed in network.spelled for tensor in placed.tensors)


def place_of(tensors: Tensors, name: str) -> int | None:
    """Return the index of a tensor by its name, `W_xh` or `rnn_1.W_xh`; None if there is none.

    Raises CallError if several layers have a tensor of that name.
    """
    places = [place for place, (layer, each) in enumerate(tensors) if name in (each.name, f"{layer}.{each.name}")]
    if len(places) > 1:
        layers = [escape(tensors[place][0]) for place in places[:MOST_NAMED]]
        message = f"{escape(name)}: {all_of(layers)} have one each; write {layers[0]}.{escape(name)} for one of them"
        raise CallError(message)
    return places[0] if places else None


def number_of_tensors(network: Network) -> int:
    """Return how many tensors a network has."""
    return sum(len(placed.layout.tensors) for placed in network.spelled)


def diagnoses_of(tensors: Tensors, place: int, answers: Answers) -> Iterator[Diagnosis]:
    """Yield the mistakes that give a wrong answer for the tensor at a place, or else the one size that is wrong."""
    layer, tensor = tensors[place]
    for table in (TENSOR_MISTAKES, SIZES_OFF):
        shapes: set[tuple[int, ...]] = set()
        for id_, text, wrong in table:
            for values, shape in wrong(tensors, place, answers):
                if shape not in shapes and answers[place].has_shape(shape):
                    shapes.add(shape)
                    yours, right = Times(shape), Times(tensor.plain_shape)
                    yield Diagnosis((Reason.of(id_, text, values),), layer, None, yours, right)
        if shapes:
            return


def _others(tensors: Tensors, place: int) -> Iterator[tuple[int, str, tuple[int, ...]]]:
    """Yield the other tensors, each with its place, its name and its shape; another layer is named too."""
    for at, (layer, other) in enumerate(tensors):
        if at != place:
            same = layer == tensors[place][0]
            yield at, other.name if same else f"{other.name} of {layer}", other.plain_shape


def _swapped(tensors: Tensors, place: int, answers: Answers) -> Wrong:
    for at, name, shape in _others(tensors, place):
        if answers[at].has_shape(tensors[place][1].plain_shape):
            yield {"other": name}, shape


def _with_bias(tensors: Tensors, place: int, answers: Answers) -> Wrong:
    if len(shape := tensors[place][1].plain_shape) == 2:
        rows, columns = shape
        yield {}, (rows, columns + 1)
        yield {}, (rows + 1, columns)


def _stacked(tensors: Tensors, place: int, answers: Answers) -> Wrong:
    layer, tensor = tensors[place]
    shape = tensor.plain_shape
    for at, name, other in _others(tensors, place):
        if tensors[at][0] == layer and len(shape) == len(other) == 2:
            if shape[0] == other[0]:
                yield {"other": name}, (shape[0], shape[1] + other[1])
            if shape[1] == other[1]:
                yield {"other": name}, (shape[0] + other[0], shape[1])


def _all_gates(tensors: Tensors, place: int, answers: Answers) -> Wrong:
    name, tensor = tensors[place]
    gates = sum(layer == name and _alike(each, tensor) for layer, each in tensors)
    if len(tensor.gates) == 1 and gates > 1:
        for axis, size in enumerate(tensor.shape):
            yield {"gates": str(gates)}, (*tensor.shape[:axis], gates * size, *tensor.shape[axis + 1 :])


def _alike(one: Tensor, other: Tensor) -> bool:
    return one.role == other.role and one.direction == other.direction and len(one.gates) == 1


def _one_gate(tensors: Tensors, place: int, answers: Answers) -> Wrong:
    _, tensor = tensors[place]
    gates = len(tensor.gates)
    for axis, size in enumerate(tensor.shape):
        if gates > 1 and size % gates == 0:
            yield {"gates": str(gates)}, (*tensor.shape[:axis], size // gates, *tensor.shape[axis + 1 :])


def _many_times(tensors: Tensors, place: int, answers: Answers) -> Wrong:
    shape, answer = tensors[place][1].plain_shape, answers[place]
    if isinstance(answer, GivenNumber) and answer.unit == 1 and (times := answer.number // prod(shape)) > 1:
        yield {"times": f"{times:,}"}, (times, *shape)


def _size_off(axis: int, tensors: Tensors, place: int, answers: Answers) -> Wrong:
    shape, answer = tensors[place][1].plain_shape, answers[place]
    if isinstance(answer, Shape) and len(answer.sizes) == len(shape) > axis:
        size = answer.sizes[axis]
        if (*shape[:axis], size, *shape[axis + 1 :]) == answer.sizes:
            yield {"size": f"{size:,}", "right": f"{shape[axis]:,}"}, answer.sizes


def _axes_off(tensors: Tensors, place: int, answers: Answers) -> Wrong:
    shape, answer = tensors[place][1].plain_shape, answers[place]
    if isinstance(answer, Shape) and len(answer.sizes) != len(shape):
        yield {"axes": str(len(answer.sizes)), "right": str(len(shape))}, answer.sizes


# fmt: off
TENSOR_MISTAKES: tuple[tuple[str, str, Callable[[Tensors, int, Answers], Wrong]], ...] = (
    ("transposed", "is the transpose: rows and columns are the other way round here",
     lambda tensors, place, answers: iter([({}, tensors[place][1].plain_shape[::-1])])),
    ("swapped-tensors", "is swapped with {other}", _swapped),
    ("other-tensor", "is that of {other}",
     lambda tensors, place, answers: (({"other": name}, shape) for _, name, shape in _others(tensors, place))),
    ("bias-in-matrix", "has the bias in the matrix, and here it has a vector of its own", _with_bias),
    ("stacked", "is stacked with {other}, and here each stands for itself", _stacked),
    ("all-gates", "holds all {gates} blocks, and here each has a tensor of its own", _all_gates),
    ("one-gate", "is that of one block, and here one tensor holds all {gates}", _one_gate),
)
# fmt: on
"""Mistakes that have a reason, the likeliest first: an id, a sentence, and the function that yields wrong shapes."""

SIZES_OFF = (
    ("times-{times}", "is counted {times} times", _many_times),
    ("rows", "has {size} instead of {right} rows", partial(_size_off, 0)),
    ("columns", "has {size} instead of {right} columns", partial(_size_off, 1)),
    ("axes", "has {axes} instead of {right} axes", _axes_off),
)
"""The rows that are tried if none of TENSOR_MISTAKES fits."""
