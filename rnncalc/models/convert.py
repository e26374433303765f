"""Weights of one framework as those of another: which arrays each is made of, and how.

No function is written for a pair of frameworks. A convention says which blocks are in each of its arrays and where
(`conventions.tensor.TensorBlock`). The steps, traced under both conventions, say whether they compute the same, and
what differs by a sign, a factor or a constant. All the rest is composed.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import isfinite
from typing import Any, NamedTuple

from rnncalc.conventions import convention, lacks
from rnncalc.conventions.rules import Convention
from rnncalc.conventions.tensor import BIASES, Direction, Role, Tensor, TensorBlock
from rnncalc.errors import Problem, RefusedError, SpecError, first
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import External, Layer, Transform
from rnncalc.layers.options import Choice, Size, Switch
from rnncalc.models.files import model
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.step.nodes import INPUT, STATE, WEIGHTS, Trace
from rnncalc.step.trace import trace

SLOPES = {"sigmoid": None, "hard_sigmoid": Fraction(1, 6), "hard_sigmoid_0.2": Fraction(1, 5)}
"""The activations a for which a(-x) = 1 - a(x), and the slopes of those that differ in their slope alone."""


class Summand(NamedTuple):
    """An array of the source, and the part of it that is added to one of the target's. factor: what multiplies it."""

    tensor: Tensor
    block: TensorBlock
    factor: Fraction


class Filling(NamedTuple):
    """A part of an array of the target: the sum of these parts of the source's, and a constant. None is zeros."""

    block: TensorBlock
    sources: tuple[Summand, ...]
    constant: Fraction


class Conversion(NamedTuple):
    """An array of the target: the layer in its place there, its tensor, and what its parts are made of.

    zeros: the biases of the source that must be zeros, because the target lacks their place.
    """

    placed: Placed
    tensor: Tensor
    fillings: tuple[Filling, ...]
    zeros: tuple[Summand, ...] = ()

    @property
    def sources(self) -> tuple[Tensor, ...]:
        """The arrays that it is made of, each once."""
        return tuple({each.tensor.name: each.tensor for one in self.fillings for each in one.sources}.values())


class Recipe(NamedTuple):
    """A network, the same under another convention, and each array of that."""

    source: Network
    target: Network
    conversions: tuple[Conversion, ...]


def recipe(network: Network, to: str) -> Recipe:
    """Return the arrays of a network under another convention, with what each is made of.

    Raises SpecError with every layer that the target does not compute as the source does, and the reason.
    """
    network = network.replace(notation=None, symbols={}) if network.notation else network
    row, problems = convention(to), list[Problem]()
    layers: dict[Layer, Layer] = {}
    for placed in network.stack:
        try:
            layer = _anywhere(placed.layer)
            layers[layer] = layers.get(layer) or _anywhere(_under(placed, network.convention, row))
        except RefusedError as refusal:
            problems.append(Problem((placed.name,), str(refusal)))
    if problems:
        raise SpecError(first(problems))
    parts = {}
    for name, part in network.parts.items():
        inner = tuple([layers[_anywhere(convention(network.convention).settled(layer))] for layer in part.layers])
        parts[name] = part._replace(layers=inner)  # the output is no cell, and stays
    target = network.with_parts(parts, convention=to)
    rows = convention(network.convention), row
    conversions = [
        conversion
        for ours, theirs in zip(network.stack, target.stack, strict=True)
        for conversion in _of_layer(ours, theirs, rows)
    ]
    return Recipe(network, target, tuple(conversions))


# What two steps compute


def _anywhere(layer: Layer) -> Layer:
    """Return a layer without the length of the sequence that it reads."""
    return layer.with_length(None) if isinstance(layer, Transform) else layer


def _under(placed: Placed, source: str, row: Convention) -> Layer:
    """Return the layer that computes the same under a convention, with the options that it needs there."""
    layer, inputs = placed.layer, placed.inputs
    if isinstance(layer, External):
        raise RefusedError("is counted elsewhere, so its arrays are not known; leave it out")
    if not row.has(layer):
        raise RefusedError(next(message for _, message in lacks(layer, row.name)))
    if not isinstance(layer, Cell):
        sizes = {
            option: layer.defaults[option]
            for option in row.cannot(layer)
            if isinstance(layer.option(option).allowed, Size)
        }
        other = layer.replace(**sizes)  # whose default may be the size: as of the keys of attention, in Keras's files
        window, at = layer.window_of(*FAR), other.window_of(*FAR)
        layer = other if sizes and (other.sizes(inputs), at) == (layer.sizes(inputs), window) else layer
        if lacking := [message for _, message in lacks(layer, row.name)]:
            raise RefusedError(lacking[0])
        ours, theirs = (each.transform(layer.kind).epsilon for each in (convention(source), row))
        if ours != theirs and placed.step and any(each.operation == "normalise" for each in placed.step.nodes):
            raise RefusedError(
                f"{source} adds {ours:g} to a variance, and {row.name} {theirs:g}; no weights make up for it"
            )
        return layer
    step, alike = trace(layer, inputs, convention(source)), list[Cell]()
    for other in _alternatives(layer, row):
        differences = difference(step, trace(other, inputs, row))
        if differences is not None and (other.bias or not any(each.constant for each in differences.values())):
            if not _unfit(other, row):
                return other
            alike.append(other)
    messages = [message for each in alike[:1] or [layer] for _, message in lacks(each, row.name)]
    raise RefusedError(messages[0] if messages else f"{row.name} computes another {layer.kind} than {source}")


FAR = 50, 100
"""A step of a long sequence, and its length."""

SUMS = "plus", "everywhere"
"""The operations that add a bias."""


def _unfit(layer: Cell, row: Convention) -> set[str]:
    """Return the options that a convention cannot express, or that only earlier versions of its framework could."""
    former = [option for option, values in row.former.items() if layer.__dict__.get(option) in values]
    return {*row.cannot(layer), *former}


def _alternatives(layer: Cell, row: Convention) -> Iterator[Cell]:
    """Yield the layer, and then others that may compute the same, those with the fewest options changed first.

    Changed are options of its step that the convention decides or cannot express, and biases may be added.
    """
    unfit, values = _unfit(layer, row), dict[str, tuple[Any, ...]]()
    for option in layer.options():
        value, allowed = getattr(layer, option), layer.option(option).allowed
        if option == "bias":
            values[option] = (value, True)[: 2 - value]
        elif option not in Cell.fields and (value is None or option in unfit):
            words = (
                allowed.words if isinstance(allowed, Choice) else (True, False) if isinstance(allowed, Switch) else ()
            )
            values[option] = (value, *(word for word in words if word != value))
    every = [dict(zip(values, each, strict=True)) for each in product(*values.values())]
    for changed in sorted(every, key=lambda each: sum(getattr(layer, option) != each[option] for option in each)):
        changed_layer = layer.replace(**changed)
        if not any(changed_layer.option_problems()):
            yield changed_layer


class Rescaling(NamedTuple):
    """How the sums of a gate differ in two steps: the second's is the first's times the factor, plus the constant."""

    factor: Fraction = Fraction(1)
    constant: Fraction = Fraction(0)


def difference(one: Trace, other: Trace) -> dict[str, Rescaling] | None:
    """Return by how much the sums of gates differ in two steps that compute the same; None for two that do not."""
    if one.gates.keys() != other.gates.keys():
        return None
    negated = {letter for letter in one.gates if one.nodes[one.gates[letter]].operation in SLOPES}
    for signs in (set(), *({letter} for letter in sorted(negated))):
        if _computed(one, signs) == _computed(other):
            break
    else:
        return None
    differences = {}
    for letter in one.gates:
        activations = [each.nodes[each.gates[letter]].operation for each in (one, other)]
        factor = Fraction(-1 if letter in signs else 1)
        if activations[0] != activations[1]:
            ours, theirs = (SLOPES.get(activation) for activation in activations)
            if ours is None or theirs is None:
                return None
            factor *= ours / theirs
        before, after = (_sum(each, letter)[1] for each in (one, other))
        differences[letter] = Rescaling(factor, factor * before - after)
    return differences


def _sum(step: Trace, letter: str) -> tuple[int, int]:
    """Return the place of the sum of a gate, and the constant that the step adds to it."""
    (place,), constant = step.nodes[step.gates[letter]].operands, 0
    while step.nodes[place].operation == "increment":
        (place,), constant = step.nodes[place].operands, constant + 1
    return place, constant


def _computed(step: Trace, negated: Iterable[str] = ()) -> Any:
    """Return what a step computes, as nested tuples, without biases; equal ones compute the same.

    negated: the gates g that are 1 - g. The activations of gates, and constants in their sums, are left out.
    """
    letters, memo = {place: letter for letter, place in step.gates.items()}, dict[int, Any]()

    def terms(place: int, operations: tuple[str, ...]) -> Iterator[int]:
        node = step.nodes[place]
        if node.operation in operations:
            for operand in node.operands:
                yield from terms(operand, operations)
        elif not (operations is SUMS and node.weights and node.weights.role in BIASES):
            yield place

    def of(place: int) -> Any:
        if place not in memo:
            memo[place] = made(place)
        return memo[place]

    def made(place: int) -> Any:
        node = step.nodes[place]
        if letter := letters.get(place):
            gate = ("gate", letter, of(_sum(step, letter)[0]))
            return ("complement", 0, gate) if letter in negated else gate
        if node.operation in (INPUT, STATE, WEIGHTS):
            return node.operation, node.letter, node.weights
        for operations in (SUMS, ("times",)):
            if node.operation in operations:
                several = sorted(map(of, terms(place, operations)), key=repr)
                return (operations[0], *several) if several[1:] else several[0]
        operands = [*map(of, node.operands)]
        if node.operation == "complement" and operands[0][0] == "complement":
            return operands[0][2]
        return (node.operation, node.number, *operands)

    return [of(place) for place in (step.output, *step.after.values())]


def _apart(step: Trace, letter: str) -> bool:
    """Return whether a gate's two biases are in sums of their own, and something else is made of these first."""
    places = [_sum(step, letter)[0]]
    for place in places:
        node = step.nodes[place]
        if node.operation in SUMS:
            places += node.operands
        elif node.operation != WEIGHTS and not step.nodes[node.operands[0]].weights:
            return True
    return False


# What each array is made of


Key = tuple[Role | None, str, str, Direction | None]


def _key(part: TensorBlock, role: Role | None = None) -> Key:
    return role or part.role, part.letter, part.vector, part.direction


def _of_layer(ours: Placed, theirs: Placed, rows: tuple[Convention, Convention]) -> Iterator[Conversion]:
    """Yield the conversion of each array of a layer. rows: the conventions of both."""
    parts = {_key(part): (tensor, part) for tensor in ours.stored for part in tensor.blocks}
    differences: Mapping[str, Rescaling] = {}
    step = ours.step if isinstance(ours.layer, Cell) else None
    if step and theirs.step:
        differences = difference(step, theirs.step) or {}
    kept, added = (Fraction(str(each.transform(ours.layer.kind).epsilon)) for each in rows)
    sides = {_key(part) for tensor in theirs.tensors for part in tensor.blocks if part.role in BIASES}
    for tensor in theirs.stored:
        fillings, zeros = [], list[Summand]()
        for part in tensor.blocks:
            differs = differences.get(part.letter, Rescaling())
            there = parts.get(_key(part))
            terms = [Summand(*there, differs.factor)] if there else []
            constant = kept - added if tensor.role is Role.RUNNING_VARIANCE else Fraction(0)
            if step and part.role in BIASES:
                other = BIASES[part.role is BIASES[0]]
                alone = _key(part, other) not in sides
                constant = differs.constant if alone or part.role is BIASES[0] else constant
                if alone and (beside := parts.get(_key(part, other))):
                    if _apart(step, part.letter):
                        zeros.append(Summand(*beside, Fraction(1)))
                    else:
                        terms.append(Summand(*beside, differs.factor))
            fillings.append(Filling(part, tuple(terms), constant))
        yield Conversion(theirs, tensor, tuple(fillings), tuple(zeros))


# Numbers


def _runs(tensor: Tensor, part: TensorBlock, placed: Placed) -> Iterator[slice]:
    """Yield the places of a part's numbers along its last axis in its tensor, for each index on those before."""
    strides = model.row_strides(tensor.shape)
    by_axis = dict(zip(part.along, strides, strict=True))  # of several axes that are one of the part's own, the last
    begin = sum([axis.size(placed.sizes) * stride for axis, stride in zip(part.starts, strides, strict=True)])
    *lengths, last = [axis.size(placed.sizes) for axis in part.axes] or [1]
    *steps, step = [by_axis[at] for at in range(len(part.axes))] or [1]
    for index in product(*map(range, lengths)):
        start = begin + sum([at * stride for at, stride in zip(index, steps, strict=True)])
        yield slice(start, start + (last - 1) * step + 1, step)


Numbers = dict[str, dict[str, "array[float]"]]
"""The numbers of arrays in float32, the last axis fastest, by layer and tensor."""


def in_order(network: Network, weights: Mapping[str, Mapping[str, Any]]) -> Numbers:
    """Return the numbers of nested lists. Raises SpecError for those that no pass can use."""
    numbers: Numbers = {}
    problems = []
    for placed in network.stack:
        for tensor in placed.stored:
            flat = model.flattened(weights[placed.name][tensor.name], len(tensor.shape))
            values = numbers.setdefault(placed.name, {})[tensor.name] = array("f", flat)
            if not all(map(isfinite, values)):
                problems.append(Problem((placed.name, tensor.name), "has numbers that are not finite in float32"))
            elif tensor.role is Role.RUNNING_VARIANCE and min(values) < 0:
                problems.append(Problem((placed.name, tensor.name), "has a variance below 0"))
    if problems:
        raise SpecError(first(problems))
    return numbers


def converted(recipe: Recipe, numbers: Numbers) -> Numbers:
    """Return the numbers of the target's arrays. numbers: those of the source's.

    Raises SpecError for each bias that is not zero and has no place, and for variances that would be below 0.
    """
    problems = [
        Problem(
            (each.placed.name, one.tensor.name),
            f"the bias of gate {one.block.letter} in it is not zero; {recipe.target.convention} has no place for it",
        )
        for each in recipe.conversions
        for one in each.zeros
        if any(
            any(numbers[each.placed.name][one.tensor.name][run]) for run in _runs(one.tensor, one.block, each.placed)
        )
    ]
    if problems:
        raise SpecError(first(problems))
    arrays: Numbers = {}
    for each in recipe.conversions:
        theirs = array("f", bytes(4 * each.tensor.params))
        for filling in each.fillings:
            sources = [numbers[each.placed.name][one.tensor.name] for one in filling.sources]
            runs = [_runs(one.tensor, one.block, each.placed) for one in filling.sources]
            factors, constant = [float(one.factor) for one in filling.sources], float(filling.constant)
            for run, *places in zip(_runs(each.tensor, filling.block, each.placed), *runs, strict=True):
                terms = [ours[place] for ours, place in zip(sources, places, strict=True)]
                for term, factor in zip(terms, factors, strict=True):
                    if factor != 1:
                        term[:] = array("f", [factor * number for number in term])
                if constant or len(terms) > 1:
                    terms = [array("f", [constant + sum(each) for each in zip(theirs[run], *terms, strict=True)])]
                if terms:
                    theirs[run] = terms[0]
        arrays.setdefault(each.placed.name, {})[each.tensor.name] = theirs
        if each.tensor.role is Role.RUNNING_VARIANCE and min(theirs) < 0:
            least = float(-each.fillings[0].constant)
            message = f"has a variance below {least:g}; {recipe.target.convention} adds so much more to a variance"
            problems.append(Problem((each.placed.name, each.sources[0].name), f"{message}; no weights make up for it"))
    if problems:
        raise SpecError(first(problems))
    return arrays
