"""The mistakes that learners make when they work a pass by hand: a table, one row each, the likeliest first.

A row yields the ways in which its mistake is made in a pass. Each is a list of edits: a value of the pass, with the
operation, the operands or the numbers that it has instead. The pass is then done again, forwards and backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from rnncalc.answers.circuit import Change, Circuit, Edit
from rnncalc.answers.judgement import Mistake
from rnncalc.conventions.tensor import Role
from rnncalc.forward.arrays import Matrix
from rnncalc.forward.tape import MatrixUse, TapeValue
from rnncalc.step.nodes import MATRICES
from rnncalc.step.operations import GRADIENT, OPERATIONS, GradientRule, Operation, product

SAME, TIMES, MATRIX = OPERATIONS["linear"], OPERATIONS["times"], OPERATIONS["matrix"]
FUNCTIONS = {"tanh": "tanh", "sigmoid": "σ"}
"""The activations that are used instead of each other."""


def _zero(value: TapeValue) -> Edit:
    """Return the edit that leaves a value out of a sum."""
    return Edit(value, None, (), [0.0] * len(value.numbers))


def _whole(edits: Iterable[Edit], layer: str | None = None, **words: str) -> Iterator[Change]:
    """Yield the change of these edits, if there are any."""
    if edits := [*edits]:
        yield Change(words, layer, edits)


def _in_groups(
    values: Iterable[TapeValue],
    words: Callable[[TapeValue], dict[str, str]],
    edit: Callable[..., Edit],
) -> Iterator[Change]:
    """Yield the change of each group of values of a layer that have the same words."""
    groups: dict[tuple[Any, ...], list[TapeValue]] = {}
    for value in values:
        groups.setdefault((value.layer.name, *words(value).items()), []).append(value)
    for (layer, *items), alike in groups.items():
        yield Change(dict(items), layer, [*map(edit, alike)])


# Activations


def _activations(circuit: Circuit, *names: str) -> list[TapeValue]:
    return [
        each for each in circuit.nodes if each.row and each.row.activations and (each.row.name in names or not names)
    ]


def _what(circuit: Circuit, value: TapeValue) -> dict[str, str]:
    """Return what an activation makes: the letter of its value, or itself and that of what it reads."""
    assert value.row
    if name := circuit.letter(value):
        return {"what": f"the {'softmax' if value.row.name == 'softmax' else 'activation'} of {name}"}
    return {"what": f"the {value.row.function} of {circuit.letter(value.operands[0]) or 'its argument'}"}


def _without_activation(circuit: Circuit) -> Iterator[Change]:
    def linear(value: TapeValue) -> Edit:
        return Edit(value, SAME, value.operands)

    values = _activations(circuit)
    groups = [*_in_groups(values, partial(_what, circuit), linear)]
    yield from groups
    if len(groups) > 1:
        yield from _whole(map(linear, values), what="every activation")


def _other_activation(circuit: Circuit) -> Iterator[Change]:
    for name, other in (("tanh", "sigmoid"), ("sigmoid", "tanh")):
        values = _activations(circuit, name)

        def exchanged(value: TapeValue, row: Operation = OPERATIONS[other]) -> Edit:
            return Edit(value, row, value.operands)

        def words(value: TapeValue, name: str = name, other: str = other) -> dict[str, str]:
            what = circuit.letter(value) or circuit.letter(value.operands[0])
            return {"other": FUNCTIONS[other], "function": FUNCTIONS[name], "what": f" for {what}" if what else ""}

        groups = [*_in_groups(values, words, exchanged)]
        yield from groups
        if len(groups) > 1:
            yield from _whole(map(exchanged, values), other=FUNCTIONS[other], function=FUNCTIONS[name], what="")


def _without_slope(circuit: Circuit) -> Iterator[Change]:
    def edit(value: TapeValue) -> Edit:
        assert value.row
        return Edit(value, value.row.replace(gradients=SAME.gradients), value.operands)

    values = _activations(circuit)
    groups = [*_in_groups(values, partial(_what, circuit), edit)]
    yield from groups
    if len(groups) > 1:
        yield from _whole(map(edit, values), what="every activation")


# Biases, products and matrices


def _without_bias(circuit: Circuit) -> Iterator[Change]:
    biases = {
        id(each): each
        for node in circuit.nodes
        if node.row and node.row.name in ("plus", "everywhere")
        for each in node.operands
        if each.weights is not None
    }

    def of(value: TapeValue) -> dict[str, str]:
        declared = value.weights.declaration if value.weights else None
        return {"which": f"the bias of {circuit.spelled(declared.letter)}" if declared else "the bias"}

    def of_side(value: TapeValue) -> dict[str, str]:
        declared = value.weights.declaration if value.weights else None
        recurrent = declared and declared.role is Role.RECURRENT_BIAS
        return {"which": f"the bias of the {'recurrent' if recurrent else 'input'} side"}

    every = [*biases.values()]
    by_gate, by_side = ([*_in_groups(every, words, _zero)] for words in (of, of_side))
    by_layer = [*_in_groups(every, lambda _: {"which": "the bias"}, _zero)]
    if len(by_layer) > 1:
        yield from _whole(map(_zero, every), which="all biases")
    yield from by_layer
    yield from by_gate
    if any(each.words["which"] == "the bias of the recurrent side" for each in by_side):
        yield from by_side


def _products(circuit: Circuit) -> list[tuple[TapeValue, Any]]:
    """Return the products of matrices in cells, each with the weights that it has."""
    products = (each for each in circuit.nodes if each.row and each.row.name in MATRICES)
    pairs = ((each, each.operands[0].numbers.declaration) for each in products)
    return [(value, declared) for value, declared in pairs if declared and declared.vector]


def _without_product(circuit: Circuit) -> Iterator[Change]:
    declared = {id(value): weights for value, weights in _products(circuit)}
    for side, name in ((False, "recurrent product"), (True, "product with the input")):
        values = [value for value, weights in _products(circuit) if (weights.vector == "x") is side]
        groups = [*_in_groups(values, lambda _, name=name: {"which": f"the {name}"}, _zero)]  # type: ignore[misc]
        yield from groups

        def words(value: TapeValue, name: str = name) -> dict[str, str]:
            return {"which": f"the {name} of {circuit.spelled(declared[id(value)].letter)}"}

        yield from _in_groups(values, words, _zero)


def _exchanged_matrices(circuit: Circuit) -> Iterator[Change]:
    for layer, ways in circuit.ways.items():
        edits = []
        for nodes in ways:
            by_letter: dict[str, dict[bool, list[TapeValue]]] = {}
            for value, weights in _products(circuit):
                if id(value) in nodes:
                    by_letter.setdefault(weights.letter, {}).setdefault(weights.vector == "x", []).append(value)
            for sides in by_letter.values():
                if len(sides) == 2 and _shape(sides[True][0]) == _shape(sides[False][0]):
                    for one, other in ((True, False), (False, True)):
                        use = sides[other][0].operands[0]
                        edits += [Edit(each, each.row, (use, *each.operands[1:])) for each in sides[one]]
        yield from _whole(edits, layer)


def _shape(value: TapeValue) -> tuple[int, int]:
    rows = value.operands[0].numbers.rows
    return len(rows), len(rows[0])


def _transposed(circuit: Circuit) -> Iterator[Change]:
    uses: dict[int, MatrixUse] = {}

    def edit(value: TapeValue) -> Edit:
        use: Any = value.operands[0]
        if id(use) not in uses:
            matrix = Matrix(use.numbers.name, use.numbers.columns, origin=use.numbers.origin)
            uses[id(use)] = MatrixUse(matrix, use.layer, use.owner)
        return Edit(value, value.row, (uses[id(use)], *value.operands[1:]))

    def words(value: TapeValue) -> dict[str, str]:
        return {"which": circuit.matrix(value)}

    square = [each for each in circuit.nodes if each.row is MATRIX and _shape(each)[0] == _shape(each)[1] > 1]
    groups = [*_in_groups(square, words, edit)]
    yield from groups
    if len(groups) > 1:
        yield from _whole(map(edit, square), which="the matrices")


def _not_turned(circuit: Circuit) -> Iterator[Change]:
    rule = GradientRule(lambda matrix, gradient: product(matrix.rows, gradient), 0, GRADIENT)
    row = MATRIX.replace(gradients=(MATRIX.gradients[0], rule))
    square = [each for each in circuit.nodes if each.row is MATRIX and _shape(each)[0] == _shape(each)[1] > 1]
    yield from _in_groups(
        square, lambda value: {"which": circuit.matrix(value)}, lambda value: Edit(value, row, value.operands)
    )


# Gates


def _gated(circuit: Circuit) -> Iterator[tuple[TapeValue, TapeValue]]:
    """Yield pairs of products that are summed, each of a gate and another vector: z ∘ h + (1 − z) ∘ n."""
    for node in circuit.nodes:
        if node.row is OPERATIONS["plus"] and all(each.row is TIMES for each in node.operands):
            one, other = node.operands
            if all(circuit.gate(each.operands[0]) for each in (one, other)):
                yield one, other


def _exchanged_gates(circuit: Circuit) -> Iterator[Change]:
    groups: dict[tuple[str, str, str], list[Edit]] = {}
    for one, other in _gated(circuit):
        (gate, kept), (second, new) = one.operands, other.operands
        names = circuit.gate(gate), circuit.gate(second)
        edits = [Edit(one, TIMES, (second, kept)), Edit(other, TIMES, (gate, new))]
        groups.setdefault((one.layer.name, *names), []).extend(edits)
    for (layer, first, last), edits in groups.items():
        yield Change({"one": first, "other": last}, layer, edits)


def _resets(circuit: Circuit) -> Iterator[tuple[TapeValue, TapeValue, TapeValue, bool]]:
    """Yield each value that a reset gate makes, with the gate and what it multiplies.

    Before: whether it multiplies the state before the matrix, or else what the matrix makes of it.
    """
    reads = {id(each.operands[1]) for each, _ in _products(circuit)}
    for node in circuit.nodes:
        if node.row is not TIMES or not circuit.letter(node.operands[0]):
            continue
        gate, vector = node.operands
        parts = vector.operands if vector.row is OPERATIONS["plus"] else (vector,)
        if id(node) in reads:
            yield node, gate, vector, True
        elif any(each.row is MATRIX and each.operands[0].numbers.declaration for each in parts):
            yield node, gate, vector, False


def _without_reset(circuit: Circuit) -> Iterator[Change]:
    groups: dict[tuple[str, str], list[Edit]] = {}
    for value, gate, vector, _ in _resets(circuit):
        groups.setdefault((value.layer.name, circuit.letter(gate)), []).append(Edit(value, SAME, (vector,)))
    for (layer, gate_name), edits in groups.items():
        yield Change({"gate": gate_name}, layer, edits)


def _moved_reset(circuit: Circuit) -> Iterator[Change]:
    groups: dict[tuple[str, str, bool], list[Edit]] = {}
    for value, gate, vector, before in _resets(circuit):
        edits = groups.setdefault((value.layer.name, circuit.letter(gate), before), [])
        if before:
            for node, _ in _products(circuit):
                if node.operands[1] is value:
                    later = TapeValue([], node.layer, node.row, (node.operands[0], vector))
                    edits.append(Edit(node, TIMES, (gate, later)))
            continue
        sum_of = [*vector.operands] if vector.row is OPERATIONS["plus"] else [vector]
        place = next(at for at, each in enumerate(sum_of) if each.row is MATRIX)
        matrix, state = sum_of[place].operands
        sum_of[place] = TapeValue([], value.layer, MATRIX, (matrix, TapeValue([], value.layer, TIMES, (gate, state))))
        edits.append(Edit(value, OPERATIONS["plus"] if sum_of[1:] else SAME, sum_of))
    for (layer, gate_name, before), edits in groups.items():
        sides = ("after", "before") if before else ("before", "after")
        yield Change({"gate": gate_name, "there": sides[0], "here": sides[1]}, layer, edits)


# Steps


def _without_start(circuit: Circuit) -> Iterator[Change]:
    yield from _whole(_zero(each) for each in circuit.starts if any(each.numbers))


def _other_input(circuit: Circuit) -> Iterator[Change]:
    """Yield the changes of the inputs of a recurrent layer: another step's at every step, or at one."""
    for layer, ways in circuit.inputs.items():
        for inputs in ways:
            last = len(inputs) - 1
            shifts: list[tuple[str, Callable[[int], int]]] = [
                ("the step before", lambda at: max(at - 1, 0)),
                ("the next step", lambda at, last=last: min(at + 1, last)),  # type: ignore[misc]
                ("the first step at every step", lambda _: 0),
                ("the last step at every step", lambda _, last=last: last),  # type: ignore[misc]
                ("the other end of the sequence", lambda at, last=last: last - at),  # type: ignore[misc]
            ]
            for words, shift in shifts if last else ():
                read = {id(x): inputs[shift(at)] for at, x in enumerate(inputs)}
                yield from _whole(_reading(circuit, layer, read), layer, step=words)
            for at, x in enumerate(inputs):
                for other in (at - 1, at + 1):
                    if 0 <= other <= last:
                        edits = _reading(circuit, layer, {id(x): inputs[other]})
                        yield from _whole(edits, layer, step=f"step {other + 1} at step {at + 1}")


def _reading(circuit: Circuit, layer: str, others: dict[int, TapeValue]) -> Iterator[Edit]:
    """Yield the edits of the values of a layer that then read others."""
    for node in circuit.nodes:
        if node.layer.name == layer and node.row and any(id(each) in others for each in node.operands):
            operands = [others.get(id(each), each) for each in node.operands]
            if any(one is not other for one, other in zip(operands, node.operands, strict=True)):
                yield Edit(node, node.row, operands)


def _one_step(circuit: Circuit) -> Iterator[Change]:
    yield from _whole(Edit(value, None, (), value.numbers) for _, value in circuit.recorded.tape.carried)


# The loss


def _loss_mistakes(circuit: Circuit) -> Iterator[Change]:
    if circuit.loss == "squared":
        yield Change({"how": "leaves out the factor 1/2 of the loss"}, None, (), 2.0, 2.0)
        yield Change({"how": "takes target − output instead of output − target"}, None, (), 1.0, -1.0)
    number = sum(len(each.numbers) for each in circuit.recorded.outputs)
    if circuit.loss == "squared" and number > 1:
        yield Change({"how": "divides the sum of the loss by the number of outputs"}, None, (), 1 / number, 1 / number)
        yield Change({"how": "takes the mean of the squared errors"}, None, (), 2 / number, 2 / number)
    steps = len(circuit.recorded.outputs)
    if steps > 1:
        yield Change({"how": "divides the loss by the number of steps"}, None, (), 1 / steps, 1 / steps)


def _without_root(circuit: Circuit) -> Iterator[Change]:
    yield from _whole(
        Edit(each, SAME, each.operands) for each in circuit.nodes if each.row and each.row.name == "over_root"
    )


activation = partial(Mistake, "activation")
addition = partial(Mistake, "sum")
product_of = partial(Mistake, "matrices of the product")
gate = partial(Mistake, "roles of the gates")
step = partial(Mistake, "step")
backward = partial(Mistake, "chain rule")

# fmt: off
TABLE: tuple[Mistake, ...] = (
    activation("no-activation", "leaves out {what}", _without_activation),
    addition("no-bias", "leaves out {which}", _without_bias),
    addition("no-product", "leaves out {which}", _without_product),
    step("no-start", "ignores the state before the first step", _without_start),
    gate("exchanged-gates", "exchanges {one} and {other}", _exchanged_gates),
    gate("no-reset", "leaves out {gate} in the candidate", _without_reset),
    gate("moved-reset", "applies {gate} {there} the matrix instead of {here}", _moved_reset),
    activation("other-activation", "takes {other} instead of {function}{what}", _other_activation),
    product_of("exchanged-matrices", "exchanges the matrices of the input and of the state", _exchanged_matrices),
    product_of("transposed", "takes the transpose of {which}", _transposed),
    backward("no-slope", "leaves out the derivative of {what}", _without_slope),
    backward("one-step", "stops the gradient at each step", _one_step),
    backward("loss", "{how}", _loss_mistakes),
    backward("not-transposed", "takes {which} instead of its transpose on the way back", _not_turned),
    step("other-input", "takes the input of {step}", _other_input),
    Mistake("attention", "no-root", "leaves out the division by the root", _without_root),
)
# fmt: on
"""Every mistake of a pass. No sentence has a correct number, so that it may be a hint."""
