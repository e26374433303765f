"""The backward equations of a step, from its trace: the rule of each operation gives the gradients of its operands.

They are those of step t, in the order of a backward pass. The gradient of a state is the sum of what reads it outside
the layer, `above`, and of what the equations of step t + 1 give the state before that step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import gcd
from typing import Any

from rnncalc.conventions.tensor import STORED, Role
from rnncalc.step.equations import (
    SAME_LETTER,
    Application,
    Equation,
    Formula,
    KernelWindow,
    LayerFormulas,
    NamedValues,
    Symbol,
    part_symbol,
    sum_of,
    whole_of,
    written,
)
from rnncalc.step.nodes import AROUND, INPUT, SEQUENCE, STEPS, Trace
from rnncalc.step.operations import GRADIENT, IN_LETTERS, OF_CLASSES, OPERATIONS, RESULT, GradientRule

TAPPED = 2
"""The axes of a matrix; a convolution has one for each step of its window, and so one axis more."""

SWAPPED = {"t": "s", "s": "t"}
"""The letters of steps exchanged, those of sums too: a value at the step of the output as one of the sequence."""

OVER_TIME = "over time"
"""A sum over all steps, which is no row of the table of operations."""

EQUAL = "equal"
"""1 if two numbers are equal, else 0; it is no row either."""

ABOVE = "above"
"""The letter of the gradient that an output has from what reads it outside the layer."""

_LATER = "later"
"""The subscript of a state's gradient from the next step, until that is known."""


def gradient_equations(
    named: NamedValues,
    *,
    frozen: Collection[Role] = (),
    x: bool = True,
    start: bool = False,
    asked: str = "",
    of_classes: bool = False,
) -> tuple[Equation, ...]:
    """Return the gradients of the values that have names, of the input, of the first states and of the weights.

    frozen: the roles of weights that are not trained. x, start: whether a gradient is asked for of the input, and of
    the states before the first step, or of the sequence to which a query attends. asked: the letter of a state that
    attention reads before each step. of_classes: whether the loss is the cross-entropy of its output, a softmax.
    """
    trace, formula = named.trace, named.formula
    window: Any = named.window if isinstance(named, LayerFormulas) else None
    sequence = trace.nodes[0] if trace.nodes[0].operation == SEQUENCE else None
    apart = sequence and any(node.operation == INPUT and node.letter != sequence.letter for node in trace.nodes)
    needs = _needs(trace, frozen, x=x, sequence=start if apart else x)
    parts: dict[int, list[Formula]] = {}
    y: Any = formula(trace.output)
    later: dict[int, list[Formula]] = {}
    within: dict[int, Symbol] = {}  # what the function of a named value is applied to
    if of_classes:
        (argument,) = trace.nodes[trace.output].operands
        within[argument] = _delta(y)
        values = _OperandFormulas({RESULT: y, GRADIENT: y.replace(letter="y")})
        parts[argument] = [OF_CLASSES.written(partial(_apply, ""), values)]
    else:
        parts[trace.output] = [_derivative(y) if window else Symbol(ABOVE, time="t", axes=y.axes)]
    read = {trace.output, *trace.after.values(), *(operand for node in trace.nodes for operand in node.operands)}
    for letter, place in trace.after.items():
        if trace.before[letter] in read:
            later.setdefault(place, []).append(Symbol(letter, _LATER))
    lines: list[Equation] = []
    weights: list[Equation] = []
    carried: dict[str, Formula] = {}
    whole: set[int] = set()  # values whose gradient is that of their numbers at all steps s
    of_x: dict[int, list[Formula]] = {}  # of the vectors of a window, by the remainder of a stride
    of_groups: dict[int, list[Formula]] = {}  # of their parts that a group i reads
    for place in reversed(range(len(trace.nodes))):
        node = trace.nodes[place]
        terms = (*parts.get(place, ()), *later.get(place, ()))
        if not terms or not needs[place]:
            continue
        gradient = _sum(terms)
        match node.operation:
            case "weights":
                over_time = gradient if sequence or not y.time else _summed(gradient, "t")
                weights.insert(0, Equation(_derivative(formula(place)), over_time))
                continue
            case "state":
                carried[node.letter] = gradient
                continue
            case "input" | "current" if sequence and not (apart and node.letter):  # x_t is one of the x_s
                moved = _moved(gradient, SWAPPED)
                parts.setdefault(max(node.operands, default=0), []).append(whole_of(moved) if trace.across else moved)
                continue
            case "step":
                rest, earlier = _at(window, node.number)
                of_x.setdefault(rest, []).append(_moved(gradient, earlier))
                continue
            case "input" | "sequence":
                lines += (
                    [Equation(_derivative(formula(place)), gradient)] if gradient != _derivative(formula(place)) else []
                )
                continue
            case "lookup" | "row":  # of the vector of each word i, or of the step
                vector: Any = formula(place, named=False)
                if len(node.operands) > 1:
                    vector, word = vector.replace(time="i"), formula(node.operands[1])
                    chosen = Application("scale", (Application(EQUAL, (word, Symbol("i"))), gradient))
                    gradient = _summed(chosen, y.time)
                weights.insert(0, Equation(_derivative(vector), gradient))
                continue
        row = OPERATIONS[node.operation]
        name = named.names.get(place)
        symbol = _derivative(name) if name else within.get(place)
        if symbol is not None:
            if symbol != gradient:
                lines.append(Equation(whole_of(symbol) if place in whole else symbol, gradient))
            gradient = symbol
        if node.operation == "matrix" and (around := trace.nodes[node.operands[1]]).operation == AROUND:
            of_taps, *of_reads = _through_past(named, place, around.number, gradient)
            weights[:0] = of_taps if needs[node.operands[0]] else ()
            for operand, term in zip(around.operands, of_reads, strict=True):
                parts.setdefault(operand, []).append(term)
            continue
        if node.operation == "matrix" and len(trace.nodes[node.operands[0]].axes) > TAPPED:
            product = partial(window.kernel_step, formula(node.operands[0]), in_groups=node.in_groups)
            slope = part_symbol(gradient, "i") if node.in_groups else gradient
            through_x, of_taps = _through_kernel(product, window, slope)
            for rest, term in through_x if needs[node.operands[1]] else ():
                (of_groups if node.in_groups else of_x).setdefault(rest, []).append(term)
            weights[:0] = of_taps if needs[node.operands[0]] else ()
            continue
        softmax = sequence and node.operation == "softmax"
        if softmax:  # of the numbers of all steps s
            gradient = whole_of(gradient)
            whole.add(node.operands[0])
        if name and row.function:
            within.setdefault(node.operands[0], _delta(name))
        result = formula(place)
        values = _OperandFormulas({GRADIENT: gradient, RESULT: whole_of(result) if softmax else result})
        values |= {number: formula(operand) for number, operand in enumerate(node.operands)}
        values.widths = [trace.nodes[operand].width for operand in node.operands]
        if node.operation == "matrix" and trace.nodes[node.operands[1]].operation == "join":
            for number, operand in enumerate(trace.nodes[node.operands[1]].operands):
                values |= {0: part_of(values[0], formula(operand), number), 1: formula(operand)}
                of_part, of_operand = (rule.written(partial(_apply, ""), values) for rule in row.gradients)
                if needs[node.operands[0]]:
                    weights.insert(number, Equation(_derivative(values[0]), _summed(of_part, trace.repeats[place])))
                if needs[operand]:
                    others = trace.repeats[place] - trace.repeats[operand]
                    parts.setdefault(operand, []).append(_summed(of_operand, others))
            continue
        for operand, rule in zip(node.operands, row.gradients, strict=True):
            if needs[operand]:
                part = rule.written(partial(_apply, f"{row.function or row.name}′"), values)
                if node.operation == "over_root":
                    quotient: Any = formula(place, named=False)
                    part = Application("over", (gradient, quotient.operands[1]))
                elif node.operation == "joined" and sequence:  # a number for each step
                    part = gradient
                    whole |= {operand} if trace.across else set()
                elif sequence and trace.nodes[operand].axes == (STEPS,) and not trace.across:
                    part = whole_of(gradient)  # of a bias for each step
                elif name and node.operation in SAME_LETTER:  # the whole of the parts, or a part of the whole
                    part = _derivative(formula(operand))
                elif sequence:
                    each = trace.repeats[place].union(*[trace.repeats[other] for other in node.operands])
                    part = _summed(part, each - trace.repeats[operand] - {"s" if trace.across else ""})
                parts.setdefault(operand, []).append(part)
    for rest in of_x | of_groups:
        vector, all_of_it = window.at(rest), of_x.get(rest, [])
        if rest in of_groups:
            vector, all_of_it = part_symbol(vector, "i"), [*map(_in_group, all_of_it), *of_groups[rest]]
        lines.append(Equation(_derivative(vector), _sum(all_of_it)))
    states = {letter: _derivative(formula(trace.before[letter])) for letter in carried}
    alone = {letter: _moved(gradient, {}, states) for letter, gradient in carried.items()}
    following = {letter: _moved(gradient, {"t−1": "t", "t": "t+1"}) for letter, gradient in alone.items()}
    first = {"t−1": "0", "t": "1"}
    above = {asked: (Symbol(ABOVE, time="0"),)}
    starts = [
        Equation(_derivative(_moved(state, first)), _sum((*above.get(letter, ()), _moved(alone[letter], first))))
        for letter, state in states.items()
        if start and not window
    ]
    rights = {line.left: line.right for line in weights}
    arrays = {_derivative(array): blocks for array, blocks in named.arrays.items()}
    wholes = {_derivative(block): array for array, blocks in arrays.items() for gate in blocks for block in gate}
    shown = dict.fromkeys(wholes.get(symbol, symbol) for symbol in rights)
    of_weights = (Equation(each, rights.get(each) or _of_blocks(arrays[each], rights)) for each in shown)
    return (*(Equation(line.left, _moved(line.right, {}, following)) for line in lines), *starts, *of_weights)


def _of_blocks(blocks: Sequence[Sequence[Formula]], gradients: Mapping[Symbol, Any]) -> Formula:
    """Return the gradient of an array from the sums over steps that are those of its blocks."""
    terms = [[gradients[_derivative(block)].operands[0] for block in gate] for gate in blocks]
    over = gradients[_derivative(blocks[0][0])].operands[1]
    if not isinstance(terms[0][0], Application) or terms[0][0].operation != "outer":
        return Application(OVER_TIME, (_joined([gate[0] for gate in terms]), over))
    sides = [gate[0].operands[0] for gate in terms], [each.operands[1] for each in terms[0]]
    return Application(OVER_TIME, (Application("outer", tuple(map(_joined, sides))), over))


def _joined(formulas: Sequence[Formula]) -> Formula:
    return Application("join", tuple(formulas)) if len(formulas) > 1 else formulas[0]


def _summed(formula: Formula, letters: Collection[str]) -> Formula:
    """Return the sum of a formula over steps or heads; the formula itself without letters."""
    return Application(OVER_TIME, (formula, Symbol("sum", ",".join(sorted(letters))))) if letters else formula


def part_of(matrix: Any, read: Formula, number: int) -> Any:
    """Return the part of a matrix for one of the vectors that it reads joined, by the letter of that or its number."""
    return matrix.replace(subscript=read.letter if isinstance(read, Symbol) else str(number + 1))


def _at(window: KernelWindow, number: int) -> tuple[int, Mapping[str, str]]:
    """Return the remainder of the stride at which a window reads a vector, and the t of the window that reads x_t."""
    later, rest = divmod(window.apart[number], window.stride)
    return rest, {"t": f"t{'−' if later > 0 else '+'}{abs(later)}" if later else "t"}


def _in_group(formula: Formula) -> Formula:
    """Return the part of a gradient for a group i; of a matrix, its columns for what the group reads."""
    if isinstance(formula, Symbol):
        return part_symbol(formula, "i")
    first, *others = formula.operands
    parts = others if formula.operation == "through" else map(_in_group, others)
    return formula.replace(operands=(_in_group(first), *parts))


def _through_kernel(
    product: Callable[[int], tuple[Symbol, Symbol]], window: KernelWindow, gradient: Formula
) -> tuple[Iterable[tuple[int, Formula]], Sequence[Equation]]:
    """Return the gradients of a convolution's input, at each remainder of its stride, and of its matrices.

    product: the matrix and the vector of each step of the kernel. gradient: that of the sum of their products.
    """

    def through(number: int) -> list[Formula]:
        return _of_product(*product(number), gradient)

    def term(number: int) -> Formula:
        return _moved(through(number)[1], _at(window, number)[1])

    taps = range(len(window.apart))
    period = window.stride // gcd(window.stride, window.apart.step)  # of the taps that read the same remainder
    of_x = ((_at(window, first)[0], sum_of(taps[first::period], term)) for first in taps[:period])
    of_taps = [Equation(_derivative(product(number)[0]), _summed(through(number)[0], "t")) for number in written(taps)]
    return of_x, of_taps


def _of_product(matrix: Formula, x: Formula, gradient: Formula) -> list[Formula]:
    """Return the gradients of a matrix and of the vector that it multiplies, from that of their product."""
    values = _OperandFormulas({GRADIENT: gradient, 0: matrix, 1: x})
    return [rule.written(partial(_apply, ""), values) for rule in OPERATIONS["matrix"].gradients]


def _through_past(named: Any, place: int, number: int, gradient: Formula) -> Iterator[Any]:
    """Yield the gradients of a kernel's matrices over the weights of the past, then that of each of those.

    place: of the product, whose gradient is given. number: how many steps the kernel has.
    """
    steps = range(number)
    taps = [named.tap(place, step) for step in steps]
    yield [
        Equation(_derivative(matrix), _summed(_of_product(matrix, _joined(reads), gradient)[0], "st"))
        for matrix, reads, _ in (taps[number] for number in written(steps))
    ]
    for at, _ in enumerate(taps[0].reads):

        def term(number: int, at: int = at) -> Formula:
            matrix, reads, apart = taps[number]
            column = matrix.replace(subscript=f"{matrix.subscript},{at + 1}") if reads[1:] else matrix
            moved = {"s": f"s{'−' if apart > 0 else '+'}{abs(apart)}"} if apart else {}
            return _of_product(column, reads[at], _moved(gradient, moved))[1]

        yield sum_of(steps, term)


def _sum(terms: Iterable[Formula]) -> Formula:
    """Return a sum, its negative terms last; sums among the terms are expanded."""
    expanded = [
        each
        for term in terms
        for each in (term.operands if isinstance(term, Application) and term.operation == "plus" else (term,))
    ]
    expanded.sort(key=lambda term: isinstance(term, Application) and term.operation == "negative")
    return Application("plus", tuple(expanded)) if len(expanded) > 1 else expanded[0]


class _OperandFormulas(dict[int, Formula]):
    """The formulas from which the gradients of an operation are made, by place; widths: of its operands."""

    widths: Sequence[str] = ()

    def width(self, place: int) -> Any:
        """Return the letter of a width."""
        return Symbol(self.widths[place])


def _apply(name: str, rule: GradientRule, *operands: Formula) -> Formula:
    """Return the formula of a rule's result; name: of a function that no row writes."""
    row = IN_LETTERS.get(rule.function)
    if row is None:
        return Application(name, operands)
    return operands[0] if row.name == "linear" else Application(row.name, operands)


def _needs(trace: Trace, frozen: Collection[Role], *, x: bool, sequence: bool) -> Sequence[bool]:
    """Return for each value whether its gradient is asked for; a state's is if anything else's is."""
    trained = [node.weights and node.weights.role not in {*frozen, *STORED} for node in trace.nodes]
    needs: list[bool] = []
    for place, node in enumerate(trace.nodes):
        match node.operation:
            case "weights":
                needs.append(bool(trained[place]))
            case "state":
                needs.append(x or any(trained))
            case "sequence":
                needs.append(sequence)
            case "input" | "step":
                needs.append(x)
            case _:
                needs.append(any(needs[operand] for operand in node.operands))
    return needs


def _delta(name: Symbol) -> Symbol:
    """Return the gradient with respect to the argument of the function that makes a value."""
    return Symbol("delta", ",".join(filter(None, (name.letter, name.time))), axes=name.axes)


def _derivative(symbol: Any) -> Symbol:
    """Return the gradient with respect to a symbol."""
    derivative: Symbol = symbol.replace(gradient=True)
    return derivative


def _moved(formula: Formula, times: Mapping[str, str], later: Mapping[str, Formula] = {}) -> Formula:
    """Return a formula at another time; later: the gradients of states from the next step."""
    if isinstance(formula, Application):
        operands = [_moved(each, times, later) for each in formula.operands]
        return _sum(operands) if formula.operation == "plus" else Application(formula.operation, tuple(operands))
    if formula.subscript == _LATER:
        return later.get(formula.letter, formula)
    letter, comma, time = formula.subscript.partition(",")
    at = [",".join(times.get(each, each) for each in text.split(",")) for text in (time, formula.time)]
    if formula.letter == "sum":  # its letters are its subscript
        letter = times.get(letter, letter)
    return formula.replace(time=at[1], subscript=letter + comma + at[0])
