"""The mistakes that learners make when they work a pass by hand: a table, one row each, the likeliest first.

A row yields the values in which its mistake is made, each with the words for its sentence, and with the operation, the
operands or the numbers that it has instead. The pass is done again, forwards and backwards, for all values of a layer
that have the same words, and for all values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import log
from typing import Any

from rnncalc.answers.circuit import Change, Circuit, Edit
from rnncalc.answers.judgement import Mistake
from rnncalc.conventions.tensor import Role
from rnncalc.forward.arrays import Matrix
from rnncalc.forward.tape import MatrixUse, TapeValue
from rnncalc.step.nodes import MATRICES, Weights
from rnncalc.step.operations import GRADIENT, OPERATIONS, GradientRule, product

SAME, PLUS, TIMES, MATRIX = (OPERATIONS[name] for name in ("linear", "plus", "times", "matrix"))

Values = Iterator[tuple[str, Any]]
"""Values in which a mistake is made, each with the words for {which} in its sentence, or the edits that make it."""


def _each(
    values: Callable[[Circuit], Values], every: str = "", edit: Callable[[Any], Edit] = lambda edit: edit
) -> Callable[[Circuit], Iterator[Change]]:
    """Return the changes of a row: those of the values of a layer with the same words, and of all values.

    every: the words for all. edit: returns that of a value.
    """

    def changes(circuit: Circuit) -> Iterator[Change]:
        groups: dict[tuple[str, str], list[Edit]] = {}
        for words, value in values(circuit):
            change = edit(value)
            groups.setdefault((change.value.layer.name, words), []).append(change)
        for (layer, words), edits in groups.items():
            yield Change({"which": words}, layer, edits)
        if every and len(groups) > 1:
            yield Change({"which": every}, None, [edit for edits in groups.values() for edit in edits])

    return changes


def _left_out(value: TapeValue) -> Edit:
    """Return the edit that leaves a value out of a sum."""
    return Edit(value, None, (), [0.0] * len(value.numbers))


def _passed_on(value: TapeValue) -> Edit:
    """Return the edit that leaves an operation out, and keeps its last operand."""
    return Edit(value, SAME, value.operands[-1:])


# Activations


def _activations(circuit: Circuit, name: str = "") -> Iterator[tuple[str, TapeValue]]:
    """Yield the activations, each with its function and the letter that it makes, or that of what it reads."""
    for value in circuit.nodes:
        if value.row and value.row.activations and name in ("", value.row.name):
            letter = circuit.letter(value)
            function = "activation" if letter and value.row.name != "softmax" else value.row.function
            yield f"the {function} of {letter or circuit.letter(value.operands[0]) or 'its argument'}", value


def _other_activation(name: str, other: str, circuit: Circuit) -> Values:
    for words, value in _activations(circuit, name):
        yield f" for {words.rpartition(' ')[2]}", Edit(value, OPERATIONS[other], value.operands)


# Sums


def _biases(circuit: Circuit) -> Values:
    """Yield the biases of layers, of gates, and of the two sides of gates."""
    sums = [each for each in circuit.nodes if each.row and each.row.name in ("plus", "everywhere")]
    terms = {id(each): each for value in sums for each in value.operands if each.weights is not None}
    declared = {place: each.weights.declaration for place, each in terms.items() if each.weights}
    for each in terms.values():
        yield "the bias", each
    for place, weights in declared.items():
        yield f"the bias of {circuit.spelled(weights.letter)}" if weights else "the bias", terms[place]
    recurrent = [weights is not None and weights.role is Role.RECURRENT_BIAS for weights in declared.values()]
    for each, side in zip(terms.values(), recurrent, strict=True) if any(recurrent) else ():
        yield f"the bias of the {'recurrent' if side else 'input'} side", each


def _products(circuit: Circuit) -> list[tuple[TapeValue, Weights]]:
    """Return the products of matrices in cells, each with the weights that it has."""
    products = [each for each in circuit.nodes if each.row and each.row.name in MATRICES]
    pairs = [(each, each.operands[0].numbers.declaration) for each in products]
    return [(value, declared) for value, declared in pairs if declared and declared.vector]


def _products_by_side(circuit: Circuit) -> Values:
    """Yield the products of a layer with its state, and with its input, and those of each gate."""
    for name, side in (("the recurrent product", False), ("the product with the input", True)):
        products = [(value, weights) for value, weights in _products(circuit) if (weights.vector == "x") is side]
        for value, _ in products:
            yield name, value
        for value, weights in products:
            yield f"{name} of {circuit.spelled(weights.letter)}", value


# Matrices


def _exchanged_matrices(circuit: Circuit) -> Values:
    for ways in circuit.ways.values():
        for nodes in ways:
            products = [(value, weights) for value, weights in _products(circuit) if id(value) in nodes]
            uses = {(each.letter, each.vector == "x"): value.operands[0] for value, each in products}
            for value, each in products:
                use = uses.get((each.letter, each.vector != "x"))
                if use and _shape(use) == _shape(value.operands[0]):
                    yield "", Edit(value, value.row, (use, *value.operands[1:]))


def _shape(use: TapeValue) -> tuple[int, int]:
    return len(use.numbers.rows), len(use.numbers.rows[0])


def _square(circuit: Circuit) -> Iterator[tuple[str, TapeValue]]:
    """Yield the products of square matrices, with the words for the matrix."""
    for value in circuit.nodes:
        if value.row is MATRIX and len({*_shape(value.operands[0])}) == 1 < _shape(value.operands[0])[0]:
            yield circuit.matrix(value), value


def _transposed(circuit: Circuit) -> Values:
    uses: dict[int, MatrixUse] = {}
    for words, value in _square(circuit):
        use: Any = value.operands[0]
        if id(use) not in uses:
            matrix = Matrix(use.numbers.name, use.numbers.columns, origin=use.numbers.origin)
            uses[id(use)] = MatrixUse(matrix, use.layer, use.owner)
        yield words, Edit(value, MATRIX, (uses[id(use)], *value.operands[1:]))


_AS_IT_IS = GradientRule(lambda matrix, gradient: product(matrix.rows, gradient), 0, GRADIENT)
NOT_TURNED = MATRIX.replace(gradients=(MATRIX.gradients[0], _AS_IT_IS))
"""The product with a matrix whose gradient is multiplied by the matrix instead of its transpose."""


# Gates


def _exchanged_gates(circuit: Circuit) -> Values:
    """Yield the products of gates that are summed in pairs, as in z ∘ h + (1 − z) ∘ n, each with the other's gate."""
    for node in circuit.nodes:
        if node.row is PLUS and all(each.row is TIMES for each in node.operands):
            one, other = node.operands
            first, second = (circuit.gate(each.operands[0]) for each in (one, other))
            if first and second:
                for value, instead in ((one, other), (other, one)):
                    yield f"{first} and {second}", Edit(value, TIMES, (instead.operands[0], value.operands[1]))


def _resets(circuit: Circuit) -> Iterator[tuple[TapeValue, TapeValue | None]]:
    """Yield each product of a reset gate, with that of the matrix that reads it; None if it comes after the matrix."""
    reads = {id(value.operands[1]): value for value, _ in _products(circuit)}
    for node in circuit.nodes:
        if node.row is TIMES and circuit.letter(node.operands[0]):
            terms = _terms(node.operands[1])
            after = any(each.row is MATRIX and each.operands[0].numbers.declaration for each in terms)
            if id(node) in reads or after:
                yield node, reads.get(id(node))


def _terms(value: TapeValue) -> list[TapeValue]:
    return [*value.operands] if value.row is PLUS else [value]


def _moved_reset(circuit: Circuit) -> Values:
    for value, reader in _resets(circuit):
        gate, vector = value.operands
        if reader:
            later = TapeValue([], value.layer, MATRIX, (reader.operands[0], vector))
            yield f"{circuit.letter(gate)} after the matrix instead of before", Edit(reader, TIMES, (gate, later))
            continue
        terms = _terms(vector)
        place = next(place for place, each in enumerate(terms) if each.row is MATRIX)
        matrix, state = terms[place].operands
        terms[place] = TapeValue([], value.layer, MATRIX, (matrix, TapeValue([], value.layer, TIMES, (gate, state))))
        row = PLUS if terms[1:] else SAME
        yield f"{circuit.letter(gate)} before the matrix instead of after", Edit(value, row, terms)


# Steps


_SHIFTS: Mapping[str, tuple[int, int, int]] = {
    "the step before": (1, 0, -1),
    "the next step": (1, 0, 1),
    "the first step at every step": (0, 0, 0),
    "the last step at every step": (0, 1, 0),
    "the other end of the sequence": (-1, 1, 0),
}
"""The step whose input is read instead: the factors of a step and of the last one, and a number that is added."""


def _other_input(circuit: Circuit) -> Values:
    """Yield the values of recurrent layers that read another step's input: at every step, or at one."""
    for layer, ways in circuit.inputs.items():
        for inputs in ways:
            last, places = len(inputs) - 1, range(len(inputs))
            shifts = {
                words: {at: min(max(this * at + end * last + more, 0), last) for at in places}
                for words, (this, end, more) in _SHIFTS.items()
            }
            for at in places:
                steps = [step for step in (at - 1, at + 1) if 0 <= step <= last]
                shifts |= {f"step {step + 1} at step {at + 1}": {at: step} for step in steps}
            for words, shifted in shifts.items():
                others = {id(inputs[at]): inputs[step] for at, step in shifted.items() if at != step}
                for node in circuit.nodes:
                    if node.layer.name == layer and node.row and any(id(each) in others for each in node.operands):
                        yield words, Edit(node, node.row, [others.get(id(each), each) for each in node.operands])


def _loss(circuit: Circuit) -> Iterator[Change]:
    """Yield wrong factors of the loss; ln 10 and ln 2 are those of other logarithms."""
    number, steps = sum(len(each.numbers) for each in circuit.recorded.outputs), len(circuit.recorded.outputs)
    factors = {"divides the loss by the number of steps": 1 / steps}
    if circuit.loss == "squared":
        yield Change({"which": "takes target − output instead of output − target"}, None, (), 1.0, -1.0)
        factors |= {"leaves out the factor 1/2 of the loss": 2.0, "takes the mean of the squared errors": 2 / number}
        factors |= {"divides the loss by the number of outputs": 1 / number}
    if circuit.loss == "cross_entropy":
        factors |= {f"takes the logarithm to base {base}": 1 / log(base) for base in (10, 2)}
    for words, factor in factors.items():
        yield Change({"which": words}, None, (), factor, factor)


activation = partial(Mistake, "activation")
addition = partial(Mistake, "sum")
product_of = partial(Mistake, "matrices of the product")
roles = partial(Mistake, "roles of the gates")
step_of = partial(Mistake, "step")
chain_rule = partial(Mistake, "chain rule")
σ_for_tanh, tanh_for_σ = partial(_other_activation, "tanh", "sigmoid"), partial(_other_activation, "sigmoid", "tanh")

# fmt: off
TABLE: tuple[Mistake, ...] = (
    activation("no-activation", "leaves out {which}", _each(_activations, "every activation", _passed_on)),
    addition("no-bias", "leaves out {which}", _each(_biases, "all biases", _left_out)),
    addition("no-product", "leaves out {which}", _each(_products_by_side, "", _left_out)),
    step_of("no-start", "ignores the state before the first step", _each(
        lambda circuit: (("", value) for value in circuit.starts if any(value.numbers)), "all", _left_out)),
    roles("exchanged-gates", "exchanges {which}", _each(_exchanged_gates)),
    roles("no-reset", "leaves out {which} in the candidate", _each(
        lambda circuit: ((circuit.letter(each.operands[0]), each) for each, _ in _resets(circuit)), "", _passed_on)),
    roles("moved-reset", "applies {which}", _each(_moved_reset)),
    activation("other-activation", "takes σ instead of tanh{which}", _each(σ_for_tanh, " everywhere")),
    activation("other-activation", "takes tanh instead of σ{which}", _each(tanh_for_σ, " everywhere")),
    product_of("exchanged", "exchanges the matrices of the input and of the state", _each(_exchanged_matrices)),
    product_of("transposed", "takes the transpose of {which}", _each(_transposed, "the matrices")),
    chain_rule("no-slope", "leaves out the derivative of {which}", _each(
        _activations, "every activation",
        lambda value: Edit(value, value.row.replace(gradients=SAME.gradients), value.operands))),
    chain_rule("one-step", "stops the gradient at each step", _each(
        lambda circuit: (("", value) for _, value in circuit.recorded.tape.carried), "all",
        lambda value: Edit(value, None, (), value.numbers))),
    Mistake("loss", "loss", "{which}", _loss),
    chain_rule("not-transposed", "takes {which} instead of its transpose on the way back", _each(
        _square, "", lambda value: Edit(value, NOT_TURNED, value.operands))),
    step_of("other-input", "takes the input of {which}", _each(_other_input)),
    Mistake("attention", "no-root", "leaves out the division by the root", _each(
        lambda circuit: (("", each) for each in circuit.nodes if each.row and each.row.name == "over_root"),
        "", _passed_on)),
)
# fmt: on
"""Every mistake of a pass. No sentence has a correct number, so that it may be a hint."""
