"""`explain --training`: derives saved activations vector by vector, and the equations of the backward pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

from rnncalc.conventions.formula import Expression, Plus, Times, value
from rnncalc.conventions.tensor import Role
from rnncalc.errors import Cure, RefusedError
from rnncalc.forward.width_pass import SavedVector, WidthTape
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import DenseClasses, OutputClasses
from rnncalc.network.parts import steps_known
from rnncalc.printable import escape
from rnncalc.questions import network_of
from rnncalc.questions.backward_costs import LayerCosts, layer_costs
from rnncalc.questions.explain import Derivation, explain_those
from rnncalc.questions.training import Training
from rnncalc.step.equations import Equation, Formula, LayerFormulas, NamedValues, Symbol
from rnncalc.step.gradients import gradient_equations
from rnncalc.step.nodes import INPUT, ONE, STEP


class Kind(Enum):
    """The kinds of saved vectors, in the order of the list."""

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


class TrainingDerivation(NamedTuple):
    """The derivation of one layer's numbers.

    derivation: with the equations. steps: those of the chunk that saves the most.
    letter: T, or K if a chunk has fewer steps than the sequence. formula: of the saved activations, in that letter.
    multiply_adds: of the backward pass; None of a part that is counted elsewhere.
    gradients: the backward equations of a step.
    """

    derivation: Derivation
    steps: int
    letter: str
    saved: tuple[SavedLine, ...]
    formula: Expression
    multiply_adds: int | None
    gradients: tuple[Equation, ...]


def explain_training(training: Training, only: tuple[str, ...] = ()) -> tuple[TrainingDerivation, ...]:
    """Derive the numbers of training, of the layers of these names or of all.

    Raises RefusedError if the number of steps is not known.
    """
    network = network_of(training.network)
    if not steps_known(network.parts):
        raise RefusedError(f"{escape(network.name)}: the numbers of training need the number of steps", Cure.STEPS)
    layers = zip(explain_those(network).layers, training.layers, layer_costs(network, training.chunk), strict=True)
    return tuple(
        _derivation(derivation, costs, layer.backward_multiply_adds)
        for derivation, layer, costs in layers
        if not only or layer.name in only
    )


def _derivation(derivation: Derivation, costs: LayerCosts, multiply_adds: int | None) -> TrainingDerivation:
    gates = [gate.letter for gate in derivation.gates]

    def order_of(line: SavedLine) -> tuple[int, int]:
        letter = line.formula.letter if isinstance(line.formula, Symbol) else ""
        return [*Kind].index(line.kind), gates.index(letter) if letter in gates else 0

    most = max(costs.chunks, key=costs.saved)
    saved = tuple(sorted(_saved(derivation, most.saved), key=order_of))
    letter = "T" if sum(each.steps * each.times for each in costs.chunks) == most.steps else "K"
    formula, gradients = _formula(most.saved, most.steps, letter), _gradients(derivation, costs.tape)
    return TrainingDerivation(derivation, most.steps, letter, saved, formula, multiply_adds, gradients)


def _gradients(derivation: Derivation, tape: WidthTape) -> tuple[Equation, ...]:
    """Return the backward equations of a layer that the loss reaches."""
    if derivation.named is None or not derivation.equations or not tape.reached:
        return ()
    frozen = [*filter(tape.is_frozen, Role)]
    of_classes = isinstance(tape.placed.layer, DenseClasses | OutputClasses)
    asked: dict[str, Any] = {"x": tape.x, "start": tape.start, "asked": derivation.asked, "of_classes": of_classes}
    return gradient_equations(derivation.named, frozen=frozen, **asked)


def _saved(derivation: Derivation, saved: Mapping[SavedVector, int]) -> Iterator[SavedLine]:
    layer, gates = derivation.placed.layer, {gate.letter: gate.name for gate in derivation.gates}
    states, named = tuple(layer.states) if isinstance(layer, Cell) else (), derivation.named
    for (place, width), times in sorted(saved.items()):
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
        case Symbol("y" | "p"):
            return Kind.OUTPUT
        case _:
            return Kind.OTHER


def _times(number: int, *letters: str) -> Times:
    """Return the expression of a multiple of widths multiplied: one of joined vectors is a sum, of heads a product."""
    widths = [width for each in letters for width in ([Plus(tuple(each.split("+")))] if "+" in each else each)]
    return Times((number, *widths) if number != 1 else (*widths,))


def _formula(saved: Mapping[SavedVector, int], steps: int, letter: str) -> Expression:
    """Return the sum in the letter of the steps: the numbers at every step, plus those saved once."""
    each: dict[tuple[str, ...], int] = {}  # by the letters of a width, none for 1
    once: dict[tuple[str, ...], int] = {}
    for vector, times in sorted(saved.items()):
        letters = tuple([letter for letter in (vector.width,) if letter != ONE])
        whole, rest = divmod(times, steps)
        widths, number = (once, times) if rest else (each, whole)
        widths[letters] = widths.get(letters, 0) + number

    def terms(widths: dict[tuple[str, ...], int]) -> tuple[Expression, ...]:
        ordered = sorted(widths.items(), key=lambda item: {"m": 0, "n": 1, "": 3}.get("".join(item[0]), 2))
        return tuple([_times(number, *letters) if letters else number for letters, number in ordered])

    if steps == 1 or not each:
        return Plus(terms(each or once))
    every = terms(each)
    repeated = Times((letter, every[0] if len(every) == 1 else Plus(every)))
    return Plus((repeated, *terms(once))) if once else repeated


def _vector(named: NamedValues | None, place: int, axes: tuple[str, ...] = ()) -> Formula:
    """Return the formula of a value; of the vectors of a window that at step t, with these axes."""
    assert named is not None  # what is saved or multiplied is a step's
    node = named.trace.nodes[place]
    if isinstance(named, LayerFormulas) and not named.layer.time.whole and node.operation in (INPUT, STEP):
        return named.window.x.replace(axes=() if axes == (ONE,) else axes)
    return named.formula(place)
