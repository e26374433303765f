"""Judges a shape or a number for each tensor, and finds the mistakes that give a wrong one.

Each row of the table yields the wrong shapes that its mistake gives a tensor. Then come the mistakes in a count, as a
wrong worksheet has the sizes of wrong tensors. An answer in numbers is compared with the sizes of those shapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from operator import eq
from typing import TYPE_CHECKING

from rnncalc.answers.judgement import MOST_GATES, Diagnosis, Judgement, Mistake, sizes_off
from rnncalc.answers.reading import Given, GivenNumber, GivenShape
from rnncalc.bounds import MOST_EXPLAINED
from rnncalc.conventions.formula import product
from rnncalc.conventions.tensor import BIASES, Role, Tensor
from rnncalc.errors import CallError
from rnncalc.letters import has_letters, in_ascii
from rnncalc.network.network import Network
from rnncalc.network.stack import levels_of
from rnncalc.printable import escape
from rnncalc.words import bracketed, one_of, plural

if TYPE_CHECKING:
    from rnncalc.answers.search import Search
    from rnncalc.answers.worksheet import LayerLine, Source, Worksheet

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


class TensorGrader:
    """Judges shapes and numbers of the tensors of a network, which it knows by their names and in order."""

    def __init__(self, network: Network) -> None:
        self.network, self.tensors = network, tensors_of(network)
        levels = levels_of(network.stack)
        self.places: dict[str, list[int]] = {}
        for place, (layer, each) in enumerate(self.tensors):
            above = {f"{each.name}^{levels[layer]}"} if layer in levels else set()
            for name in {each.name, f"{layer}.{each.name}", *above}:
                self.places.setdefault(name, []).append(place)

    @cached_property
    def search(self) -> Search:
        """The mistakes in a count of the network, which a wrong tensor may have too."""
        from rnncalc.answers.search import Search  # few tensors are wrong

        return Search(self.network)

    def place(self, name: str) -> int | None:
        """Return the index of a tensor by its name, `W_xh`, `rnn_1.W_xh` or `W_xh^2`, or Keras's path; None for none.

        Raises CallError if several layers have a tensor of that name.
        """
        module = re.fullmatch(r"([a-z]+)(?:[./]\w+)?[./]((?:weight|bias|kernel|recurrent_kernel)\w*)", name)
        own_name = module[2] if module else ""  # as a program calls it
        spellings = (
            name,
            name.replace("/", ".", 1),
            name.rpartition("/")[2],
            in_ascii(name),
            own_name,
            re.sub(r"\A([WUVb])(?=[a-z])", r"\1_", name),
        )
        places: list[int] = next(filter(None, map(self.places.get, spellings)), [])
        if module and places[1:]:
            kinds, called = {placed.name: placed.kind for placed in self.network.stack}, module[1]
            called = {"fc": "dense", "linear": "dense"}.get(called, called[:3])  # emb is the embedding
            of_kind = [place for place in places if kinds[self.tensors[place][0]].startswith(called)]
            places = of_kind if len(of_kind) == 1 else places
        if len(places) > 1:
            own_name = escape(own_name or name)
            each = one_of([f"{escape(self.tensors[place][0])}.{own_name}" for place in places[:MOST_NAMED]])
            raise CallError(f"{escape(name)}: several layers have this tensor; write {each}")
        return places[0] if places else None

    def is_tensor(self, name: str) -> bool:
        """Return whether a name is that of a tensor, or looks like one."""
        return self.place(name) is not None or bool(re.search(r"\A(?!.*(?:param| )|[NPnp]_).*[./_]", name))

    def in_order(self, answers: Answers) -> tuple[Judgement, ...]:
        """Judge a shape or a number for each tensor. Raises CallError for a wrong number of them."""
        tensors = self.tensors
        if not tensors:
            raise CallError("the network has no tensors; give a number")
        if len(answers) != len(tensors):
            names = [f"{escape(layer)} {tensor.name}" for layer, tensor in tensors[:MOST_NAMES]]
            names += ["..."] if len(tensors) > MOST_NAMES else []
            message = f"expected {plural(len(tensors), 'shape')}, of {', '.join(names)}, got {len(answers):,}"
            cure = "; write one with its name before it, and numbers without brackets" if len(answers) == 1 else ""
            raise CallError(f"{message}{_other_convention(self.network, len(answers)) or cure}")
        judged = []
        wrong = 0
        for place, (answer, (layer, tensor)) in enumerate(zip(answers, tensors, strict=True)):
            each = Judgement(layer, answer, tensor.params, tensor.name, tensor.shape, tensor.plain_shape)
            if not each.right:
                wrong += 1
                explained = wrong <= MOST_EXPLAINED
                diagnoses = tuple(self._diagnoses(place, answers)) if explained else ()
                each = each._replace(diagnoses=diagnoses, explained=explained)
            judged.append(each)
        return tuple(judged)

    def shapes(self, answers: Answers) -> tuple[Judgement, ...]:
        """Judge shapes, one for each tensor in order. A plain number is the shape of a vector: 20 is (20)."""
        if not any(isinstance(each, GivenShape) for each in answers):
            raise CallError("expected a shape for each matrix, such as (20, 10), got numbers")
        shapes = [GivenShape((each.number,)) if isinstance(each, GivenNumber) else each for each in answers]
        if not self.network.letters and any(has_letters(size) for each in shapes for size in each.sizes):
            raise CallError("expected shapes in numbers, as the sizes of the network are, got letters")
        return self.in_order(shapes)

    def by_name(self, answers: Answers, *, shapes: bool) -> tuple[Judgement, ...]:
        """Judge shapes and numbers by name: of single tensors, and of arrays that layers return.

        shapes: whether a matrix must have a shape.
        """
        from rnncalc.answers.returned import judge_returned  # few answers are arrays that layers return

        network, tensors = self.network, self.tensors
        places = [self.place(each.name) for each in answers]
        others = [
            each if isinstance(each, GivenShape) else GivenShape((each.number,), name=each.name)
            for each, place in zip(answers, places, strict=True)
            if place is None
        ]
        returned = judge_returned(network, others, [tensor.name for _, tensor in tensors])
        expected: list[Given] = [GivenShape(tensor.plain_shape) for _, tensor in tensors]
        for each, place in zip(answers, places, strict=True):
            if place is None:
                continue
            sizes = each.sizes if isinstance(each, GivenShape) else ()
            if shapes and not sizes and len(tensors[place][1].plain_shape) > 1:
                raise CallError(f"{escape(each.name)}: expected a shape, such as (20, 10), got a number")
            if not all(isinstance(size, int) or (network.letters and has_letters(size)) for size in sizes):
                expected_shape = "expected a shape in numbers, such as (20, 10)"
                raise CallError(f"{escape(each.name)}: {expected_shape}, got {bracketed(sizes)}")
            expected[place] = each
        judged = self.in_order(expected) if tensors else ()
        return tuple(next(returned) if place is None else judged[place] for place in places)

    def _diagnoses(self, place: int, answers: Answers) -> Iterator[Diagnosis]:
        """Yield the mistakes that give a wrong answer for the tensor at a place, or else the one size that is wrong."""
        (layer, tensor), answer = self.tensors[place], answers[place]
        sizes = answer.sizes if isinstance(answer, GivenShape) else None
        mistakes: dict[tuple[int, ...], Mistake] = {}
        for row in TENSOR_MISTAKES:
            wrong = row.change(self.tensors, place, answers)
            for values, shape in sorted(wrong, key=lambda each: each[1] != sizes):
                if shape not in mistakes and answer.has_shape(shape):
                    mistakes[shape] = row.filled(values)
        if not mistakes:
            mistakes |= self._in_count(place, answers)
        if sizes and not mistakes:
            mistakes |= zip([sizes], sizes_off(sizes, tensor.plain_shape, eq), strict=False)
        for shape, row in mistakes.items():
            yield Diagnosis((row,), layer, None, product(*shape), product(*tensor.plain_shape))

    def _in_count(self, place: int, answers: Answers) -> dict[tuple[int, ...], Mistake]:
        """Return the mistake in a count that gives a wrong answer for a tensor, with its shape; {} if there is none.

        Of several it is the one that contradicts the fewest answers for the tensors that it changes.
        """
        search, places = self.search, {line.name: place for place, line in enumerate(self.search.worksheet)}

        def shape(worksheet: Worksheet, at: int) -> tuple[int, ...]:
            """Return the shape of a tensor in a wrong worksheet; () if it is not the answer for this tensor."""
            layer, tensor = self.tensors[at]
            right, wrong = (_sizes_in(tensor, lines[places[layer]]) for lines in (search.worksheet, worksheet))
            known = wrong and tensor.plain_shape in (right, right[::-1])
            return next(filter(answers[at].has_shape, (wrong, wrong[::-1])), ()) if known else ()

        likeliest: tuple[int, tuple[int, ...], Mistake] | None = None
        for row in search.rows:
            for variant, _ in search.variants(row) if not (row.single or row.subject == "layers") else ():
                if sizes := shape(variant.worksheet, place):
                    lines = zip(search.worksheet, variant.worksheet, strict=True)
                    changed = {was.name for was, now in lines if was is not now}
                    others = [at for at, (layer, _) in enumerate(self.tensors) if layer in changed]
                    contradicted = sum([not shape(variant.worksheet, at) for at in others])
                    if likeliest is None or contradicted < likeliest[0]:
                        likeliest = contradicted, sizes, row.filled(variant.values)
        return {likeliest[1]: likeliest[2]} if likeliest else {}


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
        shapes = [tensor.plain_shape for _, tensor in tensors_of(network.replace(notation=name, symbols={}))]
        if len(shapes) == len(answers) and all(map(lambda each, shape: each.has_shape(shape), answers, shapes)):
            return name
    return None


_SOURCES: dict[Role, Source] = {Role.INPUT: "input", Role.KERNEL: "input"}
_SOURCES |= dict.fromkeys((Role.RECURRENT, Role.LEFT, Role.RIGHT), "past")


def _sizes_in(tensor: Tensor, line: LayerLine) -> tuple[int, ...]:
    """Return the sizes that a line of a worksheet gives a tensor, forwards or backwards; () if there are none."""
    gates, source = len(tensor.gates) or 1, _SOURCES.get(tensor.role)
    if tensor.role in BIASES and line.biases:
        return (gates * line.bias_size,)
    if part := line.part(tensor.role):
        first, *others = part[0][-2:] if source == "past" else part[0]  # the matrices of all gates are one part
        return (gates * first, *others)
    return (gates * line.h, line.width(source)) if source and line.width(source) else ()


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
TENSOR_MISTAKES: tuple[Mistake, ...] = (
    Mistake("shape", "transposed", "is the transpose: rows and columns are the other way round here",
            lambda tensors, place, answers: [({}, tensors[place][1].plain_shape[::-1])]),
    Mistake("shape", "swapped-tensors", "is swapped with {other}",
            lambda tensors, place, answers: [({"other": name}, shape) for at, name, shape in _others(tensors, place)
                                             if answers[at].has_shape(tensors[place][1].plain_shape)]),
    Mistake("shape", "other-tensor", "is that of {other}",
            lambda tensors, place, answers: [({"other": name}, shape) for _, name, shape in _others(tensors, place)]),
    Mistake("biases", "bias-in-matrix", "has the bias in the matrix; here the bias is a vector of its own", _with_bias),
    Mistake("shape", "stacked", "is stacked with {other}; here each is a tensor of its own", _stacked),
    Mistake("gates", "all-gates", "holds all blocks; here each block has a tensor of its own", _all_gates),
    Mistake("gates", "one-gate", "is that of one block; here one tensor holds all blocks", partial(_gates, (1,))),
    Mistake("gates", "gates-{count}", "is that of a cell with {count} blocks",
            partial(_gates, range(2, MOST_GATES + 1))),
)
# fmt: on
"""Mistakes that have a reason, the likeliest first, each with the function that yields wrong shapes.

As everywhere, no sentence has a correct number, so that it may be a hint.
"""
