"""Judges a shape or a number for each tensor, and finds the mistakes that give a wrong one.

Each row of the table yields the wrong shapes that its mistake gives a tensor. An answer in numbers is compared with the
sizes of those shapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import eq

from rnncalc.answers.judgement import Diagnosis, Judgement, Reason, sizes_off
from rnncalc.answers.mistake import MOST_GATES
from rnncalc.answers.reading import Given, GivenNumber, Shape
from rnncalc.bounds import MOST_EXPLAINED
from rnncalc.conventions.formula import Times
from rnncalc.conventions.tensor import Tensor
from rnncalc.errors import CallError
from rnncalc.letters import has_letters
from rnncalc.network.network import Network
from rnncalc.network.stack import levels_of
from rnncalc.printable import escape
from rnncalc.words import all_of, bracketed, plural

MOST_NAMES, MOST_NAMED = 12, 6
"""The most tensors, and the most layers, that a message names."""


Tensors = tuple[tuple[str, Tensor], ...]
"""The tensors of a network, each with the name of its layer."""

Answers = Sequence[Given]

Wrong = Iterator[tuple[Mapping[str, str], tuple[int, ...]]]
"""The values for the {braces} of a mistake, and the wrong shape."""


def tensors_of(network: Network) -> Tensors:
    """Return all tensors of a network, as reports show them, layer by layer in the convention's order."""
    return tuple((placed.name, tensor) for placed in network.spelled for tensor in placed.tensors)


class Names:
    """The tensors of a network by their names."""

    def __init__(self, network: Network) -> None:
        self.network, self.tensors = network, tensors_of(network)
        levels = levels_of(network.stack)
        self.tensor_places: dict[str, list[int]] = {}
        for place, (layer, each) in enumerate(self.tensors):
            above = {f"{each.name}^{levels[layer]}"} if layer in levels else set()
            for name in {each.name, f"{layer}.{each.name}", *above}:
                self.tensor_places.setdefault(name, []).append(place)

    def tensor(self, name: str) -> int | None:
        """Return the index of a tensor by its name, `W_xh`, `rnn_1.W_xh` or `W_xh^2`, or Keras's path; None for none.

        Raises CallError if several layers have a tensor of that name.
        """
        spellings = (name, name.replace("/", ".", 1), name.rpartition("/")[2])
        places: list[int] = next(filter(None, map(self.tensor_places.get, spellings)), [])
        if len(places) > 1:
            layers = [escape(self.tensors[place][0]) for place in places[:MOST_NAMED]]
            message = (
                f"{escape(name)}: {all_of(layers)} have one each; write {layers[0]}.{escape(name)} for one of them"
            )
            raise CallError(message)
        return places[0] if places else None

    def is_tensor(self, name: str) -> bool:
        """Return whether a name is that of a tensor, or looks like one."""
        return self.tensor(name) is not None or bool(re.search(r"\A(?!.*(?:param| )|[NPnp]_).*[./_]", name))


def judge_tensors(network: Network, answers: Answers) -> tuple[Judgement, ...]:
    """Judge a shape or a number for each tensor. Raises CallError for a wrong number of them."""
    tensors = tensors_of(network)
    wanted = len(tensors)
    if not tensors:
        raise CallError("there is no tensor whose shape could be given; give a number")
    if len(answers) != wanted:
        names = [f"{escape(layer)} {tensor.name}" for layer, tensor in tensors[:MOST_NAMES]]
        names += ["..."] if wanted > MOST_NAMES else []
        message = f"expected {plural(wanted, 'shape')}, of {', '.join(names)}, got {len(answers):,}"
        cure = "; write one with its name before it, and numbers without brackets" if len(answers) == 1 else ""
        raise CallError(f"{message}{_other_convention(network, len(answers)) or cure}")
    return _compare(tensors, answers)


def _compare(tensors: Tensors, answers: Answers) -> tuple[Judgement, ...]:
    judged = []
    wrong = 0
    for place, (answer, (layer, tensor)) in enumerate(zip(answers, tensors, strict=True)):
        each = Judgement(layer, answer, tensor.params, tensor.name, tensor.shape, tensor.plain_shape)
        if not each.right:
            wrong += 1
            explained = wrong <= MOST_EXPLAINED
            diagnoses = tuple(_diagnoses(tensors, place, answers)) if explained else ()
            each = each._replace(diagnoses=diagnoses, explained=explained)
        judged.append(each)
    return tuple(judged)


def _other_convention(network: Network, number: int) -> str:
    """Return the cure for a wrong number of shapes: the convention with so many tensors, if there is one."""
    from rnncalc.questions.compare import compare_conventions  # for a mistake alone

    for name, other in compare_conventions(network).networks.items():
        if other and name != network.convention and len(tensors_of(other)) == number:
            return f"; {plural(number, 'shape')} would fit the convention {name}"
    return ""


def right_in(network: Network, answers: Answers) -> str | None:
    """Return the notation, columns or rows, in which every given shape is right; None if there is none."""
    for name in ("w", "rows"):
        shapes = [tensor.plain_shape for _, tensor in tensors_of(network.replace(notation=name))]
        if len(shapes) == len(answers) and all(map(lambda each, shape: each.has_shape(shape), answers, shapes)):
            return name
    return None


def judge_shapes(network: Network, answers: Answers) -> tuple[Judgement, ...]:
    """Judge shapes, one for each tensor in order. A plain number is the shape of a vector: 20 is (20)."""
    if not any(isinstance(each, Shape) for each in answers):
        raise CallError("expected a shape for each matrix, such as (20, 10), got numbers")
    shapes = [Shape((each.number,)) if isinstance(each, GivenNumber) else each for each in answers]
    if not network.letters and any(has_letters(size) for each in shapes for size in each.sizes):
        raise CallError("expected shapes in numbers, as the sizes of the network are, got letters")
    return judge_tensors(network, shapes)


def judge_named(names: Names, answers: Answers, *, shapes: bool) -> tuple[Judgement, ...]:
    """Judge shapes and numbers by name: of single tensors, and of arrays that layers return.

    shapes: whether a matrix must have a shape.
    """
    from rnncalc.answers.returned import judge_returned  # few answers are arrays that layers return

    network, tensors = names.network, names.tensors
    places = [names.tensor(each.name) for each in answers]
    others = [
        each if isinstance(each, Shape) else Shape((each.number,), name=each.name)
        for each, place in zip(answers, places, strict=True)
        if place is None
    ]
    returned = judge_returned(network, others, [tensor.name for _, tensor in tensors])
    known: list[Given] = [Shape(tensor.plain_shape) for _, tensor in tensors]
    for each, place in zip(answers, places, strict=True):
        if place is None:
            continue
        sizes = each.sizes if isinstance(each, Shape) else ()
        if shapes and not sizes and len(tensors[place][1].plain_shape) > 1:
            raise CallError(f"{escape(each.name)}: expected a shape, such as (20, 10), got a number")
        if not all(isinstance(size, int) or (network.letters and has_letters(size)) for size in sizes):
            wanted = "expected a shape in numbers, such as (20, 10)"
            raise CallError(f"{escape(each.name)}: {wanted}, got {bracketed(sizes)}")
        known[place] = each
    judged = _compare(tensors, known)
    return tuple(next(returned) if place is None else judged[place] for place in places)


def _diagnoses(tensors: Tensors, place: int, answers: Answers) -> Iterator[Diagnosis]:
    """Yield the mistakes that give a wrong answer for the tensor at a place, or else the one size that is wrong."""
    (layer, tensor), answer = tensors[place], answers[place]
    sizes = answer.sizes if isinstance(answer, Shape) else None
    reasons: dict[tuple[int, ...], Reason] = {}
    for id_, text, wrong in TENSOR_MISTAKES:
        for values, shape in sorted(wrong(tensors, place, answers), key=lambda each: each[1] != sizes):
            if shape not in reasons and answer.has_shape(shape):
                reasons[shape] = Reason.of(id_, text, values)
    if sizes and not reasons:
        reasons |= zip([sizes], sizes_off(sizes, tensor.plain_shape, eq), strict=False)
    for shape, reason in reasons.items():
        yield Diagnosis((reason,), layer, None, Times(shape), Times(tensor.plain_shape))


def _others(tensors: Tensors, place: int) -> Iterator[tuple[int, str, tuple[int, ...]]]:
    """Yield the other tensors, each with its place, its name and its shape; another layer is named too."""
    for at, (layer, other) in enumerate(tensors):
        if at != place:
            same = layer == tensors[place][0]
            yield at, other.name if same else f"{other.name} of {layer}", other.plain_shape


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
    alike = name, tensor.role, tensor.direction, 1
    gates = sum((layer, each.role, each.direction, len(each.gates)) == alike for layer, each in tensors)
    if len(tensor.gates) == 1 and gates > 1:
        for axis, size in enumerate(tensor.shape):
            yield {}, (*tensor.shape[:axis], gates * size, *tensor.shape[axis + 1 :])


def _gates(counts: Iterable[int], tensors: Tensors, place: int, answers: Answers) -> Wrong:
    _, tensor = tensors[place]
    gates = len(tensor.gates)
    for at, (axis, size) in enumerate(zip(tensor.axes, tensor.shape, strict=True)):
        for count in counts if gates > 1 and axis.letter and axis.times % gates == 0 else ():
            yield {"count": str(count)}, (*tensor.shape[:at], count * size // gates, *tensor.shape[at + 1 :])


# fmt: off
TENSOR_MISTAKES: tuple[tuple[str, str, Callable[[Tensors, int, Answers], Wrong]], ...] = (
    ("transposed", "is the transpose: rows and columns are the other way round here",
     lambda tensors, place, answers: iter([({}, tensors[place][1].plain_shape[::-1])])),
    ("swapped-tensors", "is swapped with {other}",
     lambda tensors, place, answers: (({"other": name}, shape) for at, name, shape in _others(tensors, place)
                                      if answers[at].has_shape(tensors[place][1].plain_shape))),
    ("other-tensor", "is that of {other}",
     lambda tensors, place, answers: (({"other": name}, shape) for _, name, shape in _others(tensors, place))),
    ("bias-in-matrix", "has the bias in the matrix, and here it has a vector of its own", _with_bias),
    ("stacked", "is stacked with {other}, and here each is a tensor of its own", _stacked),
    ("all-gates", "holds all blocks, and here each has a tensor of its own", _all_gates),
    ("one-gate", "is that of one block, and here one tensor holds all", partial(_gates, (1,))),
    ("gates-{count}", "is that of a cell with {count} blocks", partial(_gates, range(2, MOST_GATES + 1))),
)
# fmt: on
"""Mistakes that have a reason, the likeliest first: an id, a sentence, and the function that yields wrong shapes.

As everywhere, no sentence has a correct number, so that it may be a hint.
"""
