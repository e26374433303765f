"""`explain --training`: derives saved activations and products of the backward pass, vector by vector."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

from rnncalc.conventions.formula import Expression, Plus, Times, value
from rnncalc.errors import Cure, RefusedError
from rnncalc.layers.cell import Cell
from rnncalc.network.parts import steps_known
from rnncalc.printable import escape
from rnncalc.questions.explain import Derivation, explain_those
from rnncalc.questions.gradient_flow import ChunkTally, layer_tallies, saved_numbers
from rnncalc.questions.training import Training
from rnncalc.step.costs import BackwardProduct, Gradient, Outputs, Tally
from rnncalc.step.equations import Equation, Formula, Formulas, LayerFormulas, NamedValues, Symbol
from rnncalc.step.gradients import gradient_equations
from rnncalc.step.nodes import INPUT, ONE, STEP

JOINED = "stacked"
"""The part of a notation that is one matrix for all that a gate reads."""


class Kind(Enum):
    """The kinds of saved vectors, in the order in which they are listed."""

    INPUT = "input"
    STATE_BEFORE = "state before a step"
    STATE = "state after the last step"
    GATE = "gate"
    OUTPUT = "output"
    OTHER = ""


class SavedLine(NamedTuple):
    """A saved vector: its kind, at how many steps, and its numbers, as arithmetic and in all.

    gate: the function of a gate, None for another vector.
    """

    kind: Kind
    formula: Formula
    expression: Expression
    number: int
    gate: str = ""


class ProductsLine(NamedTuple):
    """Equal products of the backward pass: their purpose, the matrix and the vector of each, and their number.

    gates: the letters of the matrices, if there are several; matrix: then without the letters of a gate.
    """

    gradient: Gradient
    gates: tuple[str, ...]
    matrix: Formula
    vector: Formula
    axes: tuple[str, ...]
    expression: Expression
    number: int


class TrainingDerivation(NamedTuple):
    """The derivation of one layer's numbers.

    derivation: with the equations. steps: those of the chunk that saves the most.
    letter: T, or K if a chunk has fewer steps than the sequence. formula: of the saved activations, in that letter.
    gradients: the backward equations of a step.
    """

    derivation: Derivation
    steps: int
    letter: str
    saved: tuple[SavedLine, ...]
    formula: Expression
    work: tuple[ProductsLine, ...]
    gradients: tuple[Equation, ...]


def explain_training(training: Training, only: tuple[str, ...] = ()) -> tuple[TrainingDerivation, ...]:
    """Derive the numbers of training, of the layers of these names or of all.

    Raises RefusedError if the number of steps is not known.
    """
    network = training.network
    if not steps_known(network.parts):
        raise RefusedError(f"{escape(network.name)}: the numbers of training need the number of steps", Cure.STEPS)
    layers = zip(explain_those(network).layers, layer_tallies(network, training.chunk), strict=True)
    return tuple(
        _derivation(derivation, chunks) for derivation, (placed, chunks) in layers if not only or placed.name in only
    )


def _derivation(derivation: Derivation, chunks: list[ChunkTally]) -> TrainingDerivation:
    placed = derivation.placed
    most = max(chunks, key=lambda chunk: saved_numbers(placed, chunk.tally))
    gates = [gate.letter for gate in derivation.gates]

    def order_of(line: SavedLine) -> tuple[int, int]:
        letter = line.formula.letter if isinstance(line.formula, Symbol) else ""
        return [*Kind].index(line.kind), gates.index(letter) if letter in gates else 0

    saved = sorted(_saved(derivation, most.tally), key=order_of)
    work: dict[BackwardProduct, int] = {}
    for chunk in chunks:
        for product, times in chunk.tally.work.items():
            work[product] = work.get(product, 0) + chunk.times * times
    steps, products = most.chunk.steps, tuple(_work(derivation, work))
    letter = "T" if sum(each.chunk.steps * each.times for each in chunks) == steps else "K"
    formula, gradients = _formula(most.tally, steps, letter), _gradients(derivation, chunks)
    return TrainingDerivation(derivation, steps, letter, tuple(saved), formula, products, gradients)


def _gradients(derivation: Derivation, chunks: list[ChunkTally]) -> tuple[Equation, ...]:
    """Return the backward equations of a layer that the loss reaches."""
    kinds = [each.chunk for each in chunks]
    reached = any(kind.outputs is not Outputs.NONE or kind.final_states for kind in kinds)
    if derivation.named is None or not derivation.equations or not reached:
        return ()
    x, start = any(any(kind.inputs_need) for kind in kinds), any(any(kind.starts_need) for kind in kinds)
    return gradient_equations(derivation.named, frozen=kinds[0].frozen, x=x, start=start, asked=derivation.asked)


def _saved(derivation: Derivation, tally: Tally) -> Iterator[SavedLine]:
    layer, gates = derivation.placed.layer, {gate.letter: gate.name for gate in derivation.gates}
    states, named = tuple(layer.states) if isinstance(layer, Cell) else (), derivation.named
    for (place, width), times in tally.saved.items():
        formula = _vector(named, place, (width,))
        arithmetic: Expression = times if width == ONE else _times(times, width)
        kind = _kind(formula, states, gates)
        gate = gates[formula.letter] if kind is Kind.GATE and isinstance(formula, Symbol) else ""
        yield SavedLine(kind, formula, arithmetic, value(arithmetic, derivation.placed.sizes), gate)


def _kind(formula: Formula, states: Collection[str], gates: Collection[str]) -> Kind:
    match formula:
        case Symbol("x") | Symbol("h" | "v", "", _, ("m",)):
            return Kind.INPUT
        case Symbol(letter, _, time) if letter in states:
            return Kind.STATE if time == "t" else Kind.STATE_BEFORE
        case Symbol(letter) if letter in gates:
            return Kind.GATE
        case Symbol("y"):
            return Kind.OUTPUT
        case _:
            return Kind.OTHER


def _times(number: int, *letters: str) -> Times:
    """Return the expression of a multiple of widths multiplied: one of joined vectors is a sum, of heads a product."""
    widths = [width for each in letters for width in ([Plus(tuple(each.split("+")))] if "+" in each else each)]
    return Times((number, *widths) if number != 1 else (*widths,))


def _formula(tally: Tally, steps: int, letter: str) -> Expression:
    """Return the sum in the letter of the steps: the numbers at every step, plus those saved once."""
    each: dict[tuple[str, ...], int] = {}  # by the letters of a width, none for 1
    once: dict[tuple[str, ...], int] = {}
    for vector, times in tally.saved.items():
        letters = tuple([letter for letter in (vector.width,) if letter != ONE])
        whole, rest = divmod(times, steps)
        widths, number = (once, times) if rest else (each, whole)
        widths[letters] = widths.get(letters, 0) + number

    def terms(widths: dict[tuple[str, ...], int]) -> tuple[Expression, ...]:
        ordered = sorted(widths.items(), key=lambda item: item[0] not in (("m",), ("n",)))
        return tuple([_times(number, *letters) if letters else number for letters, number in ordered])

    if steps == 1 or not each:
        return Plus(terms(each or once))
    every = terms(each)
    repeated = Times((letter, every[0] if len(every) == 1 else Plus(every)))
    return Plus((repeated, *terms(once))) if once else repeated


def _work(derivation: Derivation, work: Mapping[BackwardProduct, int]) -> Iterator[ProductsLine]:
    """Yield the products, those of like gates together: gradients of weights first, of the input first."""
    named, cell = derivation.named, isinstance(derivation.placed.layer, Cell)
    arrays = named.arrays.items() if named else ()
    gates = [(array, gate) for array, blocks in arrays for gate in blocks if len(gate) > 1]
    joined = {block: (array, gate) for array, gate in gates for block in gate}
    alike: dict[tuple[str, Gradient, Any, Any, tuple[str, ...], int], list[tuple[str, Formula, Formula]]] = {}
    for (gradient, place, axes), times in work.items():
        assert named is not None  # what multiplies has a step
        first, second = named.trace.nodes[place].operands
        weights = named.trace.nodes[first].weights
        if weights is None and gradient is Gradient.MATRIX:  # both are vectors
            gradient, first, second = Gradient.VECTOR, second, first
        matrix, vector = named.formula(first), _vector(named, second)
        read = weights.vector if cell and weights else "of a formula"
        if gradient is Gradient.MATRIX and matrix in joined:
            array, gate = joined[matrix]
            if matrix != gate[0]:
                continue  # the first counts for all
            read, matrix, axes = JOINED, array, (axes[0], "+".join(block.axes[-1] for block in gate))
        like = None if cell else matrix, None if cell and gradient is Gradient.MATRIX else vector
        key = read, gradient, *like, axes, times
        alike.setdefault(key, []).append((weights.matrix if cell and weights else "", matrix, vector))
    order = "".join(gate.letter for gate in derivation.gates)

    def order_of(key: tuple[str, Gradient, Any, Any, tuple[str, ...], int]) -> tuple[bool, bool, bool, str]:
        return not key[0], key[0] not in ("x", JOINED), key[1] is Gradient.VECTOR, key[0]

    for key in sorted(alike, key=order_of):
        read, gradient, *_, axes, times = key
        arithmetic = _times(times, *axes)
        (_, matrix, vector), *others = alike[key]
        letters: tuple[str, ...] = ()
        if others and isinstance(named, Formulas):
            arithmetic = Times((len(alike[key]), *arithmetic.factors))
            letters = tuple(sorted((each[0] for each in alike[key]), key=order.find))
            part = {"x": "input", JOINED: JOINED}.get(read, "recurrent")
            matrix = Symbol(*named.letters.of_part(part, "", read))
        number = value(arithmetic, derivation.placed.sizes)
        yield ProductsLine(gradient, letters, matrix, vector, axes, arithmetic, number)


def _vector(named: NamedValues | None, place: int, axes: tuple[str, ...] = ()) -> Formula:
    """Return the formula of a value; of the vectors of a window that at step t, with these axes."""
    assert named is not None  # what is saved or multiplied is a step's
    node = named.trace.nodes[place]
    if isinstance(named, LayerFormulas) and not named.layer.time.whole and node.operation in (INPUT, STEP):
        return named.window.x.replace(axes=() if axes == (ONE,) else axes)
    return named.formula(place)
