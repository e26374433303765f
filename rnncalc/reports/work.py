"""The report of a pass worked by hand: for each layer its equations and weights, then every step with its numbers.

A value is written as its operation with numbers, then its result. Formats decide whether a vector is a column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from itertools import chain
from typing import Any, NamedTuple

from rnncalc.conventions.notation import Notation
from rnncalc.conventions.tensor import WAYS
from rnncalc.forward.tape import TapeValue, made, parts_at
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External
from rnncalc.network.flow import inputs_of
from rnncalc.questions.spelling import turned
from rnncalc.questions.work import LayerWork, StepWork, Work
from rnncalc.questions.work_backward import Variable, WeightGradient, WorkedLine
from rnncalc.reports.explain import equations, on_padding, on_parts
from rnncalc.reports.report import DerivationReport
from rnncalc.reports.run import ON_CHUNKS, ON_LOSS, confirmed, of_direction, on_no_slope, outcome
from rnncalc.step.equations import NUMBERS_OF, ROOT, Application, Formula, Symbol
from rnncalc.step.operations import ATOM, INNER, OPERATIONS, OUTER, WRITTEN, number_at
from rnncalc.typeset.equations import (
    LOSS,
    ON_DELTA,
    Block,
    Derivative,
    EquationText,
    Function,
    Term,
    WorkLine,
    WorkPiece,
    on_functions,
    raised,
    timed,
    vector,
)
from rnncalc.typeset.setting import setting, title
from rnncalc.typeset.sheet import Sheet
from rnncalc.words import all_of, plural

DIGITS = 4
"""The default number of decimals of a rounded fraction."""

decimals: ContextVar[int] = ContextVar("decimals", default=DIGITS)
"""The number of decimals in the current report; all functions that write numbers read it."""

EXACT = 1e-12
"""A fraction this near to one with few decimals counts as exact: the difference is a float's error."""

MOST_WHOLE = 2.0**53
"""From here on a float cannot hold every whole number."""


class WorkReport(DerivationReport):
    """A pass worked by hand. digits: the decimals of a fraction that is rounded."""

    work: Work
    digits: int = DIGITS

    @property
    def agrees(self) -> bool:
        return self.work.run.agrees

    def sheets(self) -> list[Sheet]:
        """Return the network, each layer with its weights, each step, and the outputs."""
        network = self.work.run.network
        rounded = f"Fractions are rounded to {plural(self.digits, 'decimal')}; the pass computes with all of them."
        head = Sheet((), (), title=title(network), subtitle=f"worked by hand; {setting(network)}", notes=(rounded,))
        last = Sheet((), (), title="Outcome", notes=(*outcome(self.work.run), *confirmed(self.work.run)))
        return [head, *self.steps(), last]

    def steps(self) -> list[Sheet]:
        """Return each layer with its weights and each step, forwards and backwards."""
        layers = (sheet for layer in self.work.layers for sheet in _layer(self.work, layer))
        return self._rounded(chain(layers, _backward(self.work)))

    def task(self, inputs: Mapping[str | None, Sequence[Any]]) -> list[Sheet]:
        """Return what the pass begins with: equations, weights, its inputs and its targets."""
        return self._rounded(_task(self.work, inputs))

    def _rounded(self, sheets: Iterable[Sheet]) -> list[Sheet]:
        """Return sheets whose numbers have the decimals of the report."""
        shown = decimals.set(self.digits)
        try:
            return [*sheets]
        finally:
            decimals.reset(shown)


def _task(work: Work, inputs: Mapping[str | None, Sequence[Any]]) -> Iterator[Sheet]:
    """Yield the equations and the weights of each layer, then what the pass reads and the targets."""
    network, lines = work.run.network, list[WorkLine]()
    rows, back = network.spelling.rows, work.backward
    yield from filter(None, (_head(work, layer) for layer in work.layers))
    for layer in work.layers:
        if isinstance(layer.derivation.placed.layer, Embedding) and layer.derivation.placed.tensors:  # its own table
            table = enumerate(layer.weights[layer.derivation.placed.tensors[0].name])
            lines += [(Term("E", str(number)), " = ", *numbers(vector, rows=rows)) for number, vector in table]
    for half, vectors in inputs.items():
        for step, x in enumerate(vectors, 1):
            owner = (EquationText(f" of the {half}"),) if half else ()
            name = timed("x", str(step) if inputs_of(network.flow)[half].sequence else "", network.spelling)
            lines.append((name, *owner, " = ", *(numbers(x, rows=rows) if isinstance(x, list) else (str(x),))))
    for step, target in enumerate(back.targets if back and back.name_of_loss != "sum" else (), 1):
        at = str(step) * (back is not None and len(back.targets) > 1)
        symbol = timed("y", at, network.spelling) if back and back.name_of_loss == "cross_entropy" else None
        lines.append((symbol or EquationText(f"target {at}".rstrip()), " = ", *numbers([*target], rows=rows)))
    cells = any(isinstance(placed.layer, Cell) and not placed.layer.learned_state for placed in network.stack)
    decoder = ", in the decoder the encoder's last ones" * bool(network.encoder)
    notes = (f"States before the first step are 0{decoder}.",) * cells + ((ON_LOSS[back.name_of_loss],) if back else ())
    yield Sheet((), (), title="Given", work=tuple(lines), notes=notes)


def _head(work: Work, layer: LayerWork) -> Sheet | None:
    """Return the equations and the weights of a layer; nothing of one that does nothing."""
    derived, placed = layer.derivation, layer.derivation.placed
    if not layer.ways and not layer.steps:
        return None
    letters = equations(derived)
    notes = (*_remarks(layer), *on_parts(derived), *on_padding(derived))
    return Sheet((), (), title=placed.name, equations=letters, work=tuple(_weights(work, layer)), notes=notes)


def _layer(work: Work, layer: LayerWork) -> Iterator[Sheet]:
    placed, head = layer.derivation.placed, _head(work, layer)
    if head is None:
        return
    if not layer.ways and layer.steps[0].step is None:  # no sequence: one step, and no number for it
        yield head.replace(work=(*head.work, *_step(work, layer.steps[0], "").work))
        return
    yield head
    for direction, way in zip(WAYS, layer.ways, strict=False):
        titled = of_direction(placed.name, direction if len(layer.ways) > 1 else None)
        yield from (_step(work, each, f"{titled}, step {each.step}") for each in way)
    both = f"{placed.name}, both directions" if layer.ways else placed.name
    for each in layer.steps:
        yield _step(work, each, both if each.step is None else f"{both}, step {each.step}")


def _backward(work: Work) -> Iterator[Sheet]:
    """Yield the loss, the gradients of each step from the last to the first, and those of the weights."""
    done = work.backward
    if done is None:
        return
    rows, lines = work.layers[-1].derivation.notation.rows, list[WorkLine]()
    slopes, classes = [each for vector in done.outputs for each in vector], done.name_of_loss == "cross_entropy"
    if done.name_of_loss == "squared":
        outputs = iter(done.summed)
        for target, error in zip(done.targets, done.outputs, strict=True):
            output = numbers([next(outputs) for _ in target], rows=rows)
            sides = (*output, " − ", *_bracketed(*numbers([*target], rows=rows)), " = ", *numbers([*error], rows=rows))
            lines.append((EquationText("output − target"), " = ", *sides))
        errors = [(*_bracketed(number(each)), "·", *_bracketed(number(each))) for each in slopes]
        value: WorkLine = ("(", *_sum(errors), ")", " / ", "2")
    elif classes:
        pairs = zip(done.summed, (each for target in done.targets for each in target), strict=True)
        logarithms = [
            (*((number(y), "·") if y != 1 else ()), Function("log"), "(", number(p), ")") for p, y in pairs if y
        ]
        value = ("−", *_sum(logarithms)) if len(logarithms) == 1 else ("−", "(", *_sum(logarithms), ")")
    else:
        value = _sum([(number(each),) for each in done.summed])
    deltas = any(line.name.letter == "delta" for step in done.steps for line in step.lines)
    letters = ("−", Term("sum"), " ", Term("y"), " ", Function("log"), " ", Term("p"), " = ") if classes else ()
    line: WorkLine = (LOSS, " = ", *letters, *value, *(() if len(value) == 1 else (" = ", number(done.loss))))
    notes = (
        ON_LOSS[done.name_of_loss],
        *[ON_DELTA] * deltas,
        *[ON_CHUNKS] * (done.chunk is not None),
        *on_no_slope(each.total for each in done.weights),
    )
    alike: dict[Variable, list[int]] = {}
    for identity, name in work.names.items():
        alike.setdefault(name._replace(layer="", direction=None), []).append(identity)
    sheets = []
    for step in done.steps:
        at = "" if step.step is None else f", step {step.step}"
        written = tuple([line for each in step.lines for line in _gradients(each, work, alike)])
        sheets.append(Sheet((), (), title=f"{of_direction(step.layer, step.direction)}{at}: gradients", work=written))
    functions = on_functions(line for sheet in sheets for line in sheet.work)
    yield Sheet((), (), title="Loss", work=(*lines, line), notes=(*notes, *functions))
    yield from sheets
    totals: dict[str, list[WorkLine]] = {}
    for each in done.weights:
        whose = of_direction(each.name.layer, each.name.direction)
        totals.setdefault(whose, []).extend(_totals(each, done.rate, work.notations[each.name.layer]))
    for whose, lines in totals.items():
        yield Sheet((), (), title=f"{whose}: gradients of its weights", work=tuple(lines))


def _totals(weights: WeightGradient, rate: float | None, notation: Notation) -> Iterator[WorkLine]:
    """Yield the gradient of an array of weights as a sum over the steps, and the updated weights."""
    updated = () if rate is None else (weights.weights, weights.updated)
    arrays = (weights.total, *updated, *(part.numbers for part in weights.parts))
    for below, (total, *lines) in _flat(weights.name.below, *map(turned, arrays) if notation.rows else arrays):
        parts = lines[len(updated) :]
        sides = [_sum(parts)] * (len(parts) > 1) + [total]
        letter = raised(Term(weights.name.letter, below), notation)
        gradient = _name(weights.name._replace(below=below), notation)
        yield (*gradient, *(piece for side in sides for piece in (" = ", *side)))
        if rate is not None:
            in_letters = (letter, " − ", number(rate), "·", *gradient)
            step = (number(rate), "·", *_bracketed(*total))
            yield (EquationText("new "), letter, " = ", *in_letters, " = ", *lines[0], " − ", *step, " = ", *lines[1])


def _gradients(line: WorkedLine, work: Work, alike: Alike) -> Iterator[WorkLine]:
    """Yield the equation of a gradient; that of a kernel has no operations, and is written matrix by matrix."""
    notation, array = work.notations[line.name.layer], line.value.numbers
    if not (isinstance(array[0], list) and isinstance(array[0][0], list)):
        yield equation(line, work.names, work.notations, _letters(line, work, alike, notation))
        return
    for below, (written,) in _flat(line.name.below, turned(array) if notation.rows else array):
        yield (*_name(line.name._replace(below=below), notation), " = ", *written)


def _bracketed(*line: WorkPiece) -> WorkLine:
    """Return numbers as they are written behind a sign."""
    return ("(", *line, ")") if _is_composed(line[0]) else line


def _is_composed(piece: WorkPiece) -> bool:
    """Return whether a piece is a number with a minus sign or a power."""
    return isinstance(piece, str) and (piece.startswith("−") or "e−" in piece or "e+" in piece)


def _step(work: Work, step: StepWork, title: str) -> Sheet:
    lines = (equation(line, work.names, work.notations) for line in (*step.known, *step.lines))
    return Sheet((), (), title=title, work=tuple(lines))


def _weights(work: Work, layer: LayerWork) -> Iterator[WorkLine]:
    """Yield the weights in use; the rows of a table are written in the steps that look them up."""
    if isinstance(layer.derivation.placed.layer, Embedding):
        return
    symbols = work.run.network.shown.symbols
    in_equations = {piece.name for line in equations(layer.derivation) for piece in line if isinstance(piece, Term)}
    for name, nested in layer.weights.items():
        for place, (array,) in _flat(name, nested):
            mark, slash, symbol = place.rpartition("/")
            if (part := re.fullmatch(r"(\w+)\[(\d+)\]", symbol)) and f"{part[1]}_1" in in_equations:
                symbol = f"{part[1]}_{int(part[2]) + 1}"  # W_1, as the equation has it, for W[0]
            letter, _, below = symbol.partition("_")
            term = raised(Term(letter, below), layer.derivation.notation)
            spelled = (EquationText(mark + slash), term) if mark else (term,)
            yield (*(spelled if symbols else (EquationText(place),)), " = ", *array)


def _flat(name: str, *arrays: Any) -> Iterator[tuple[str, list[WorkLine]]]:
    """Yield tensors of one shape as vectors and matrices; tensors with more axes are split along the first."""
    if isinstance(arrays[0][0], list) and isinstance(arrays[0][0][0], list):
        for place, below in enumerate(zip(*arrays, strict=True)):
            yield from _flat(f"{name}[{place}]", *below)
    else:
        yield name, [matrix(each) if isinstance(each[0], list) else numbers(each) for each in arrays]


def _remarks(layer: LayerWork) -> tuple[str, ...]:
    """Return the remarks on a layer's numbers."""
    placed, kind = layer.derivation.placed, layer.derivation.placed.layer
    if isinstance(kind, Embedding):
        return ("E_0 is the first row of its table.",)
    if isinstance(kind, External):
        return ("Counted elsewhere; these numbers are random.",)
    orders: dict[str, list[str]] = {}
    for tensor in placed.tensors:
        if any(axis.times > 1 and axis.letter == "h" for axis in tensor.axes):
            orders.setdefault(", ".join(tensor.gates), []).append(tensor.name)
    first, *others = orders.items() or [("", [])]
    notes = [f"The gates lie in its tensors in the order {first[0]}."] if first[0] else []
    notes += [f"In {all_of(names)} the order is {order}." for order, names in others]
    if kind.extra_inputs:
        notes.append(f"The last {kind.extra_inputs} of the numbers that it reads come from elsewhere, at random.")
    return tuple(notes)


def equation(
    line: WorkedLine, names: Mapping[int, Variable], notations: Mapping[str, Notation], in_letters: WorkLine = ()
) -> WorkLine:
    """Return `z_1 = σ(0.1·1 + 0.4·0 + 0.01) = σ(0.11) = 0.5275`; named values are written as numbers.

    notations: of the layers by name. in_letters: its first side, if it has one in letters.
    """
    notation = notations[line.name.layer]
    sides: list[WorkLine] = [_name(line.name, notation)]
    if line.same_as is not None:
        other = line.same_as
        owner = () if other.layer == line.name.layer else (EquationText(f" of {other.layer}"),)
        sides.append((*_name(other, notations[other.layer]), *owner))
    else:
        row = line.value.row
        if row and row.name == "part" and (whole := names.get(id(line.value.operands[0]))):
            in_letters = (Function(*row.before), *_name(whole, notation))
        sides += filter(None, [in_letters])
        writer = _ValueWriter(names, notation)
        writers = writer, writer._replace(arguments=True), writer._replace(applied=True)
        sides += [each.bare(line.value) for each in writers]
    array = line.value.numbers
    ((_, (written,)),) = _flat("", turned(array) if notation.rows else array)
    sides.append(written)
    different = [side for number, side in enumerate(sides) if not number or side != sides[number - 1]]
    return (*different[0], *(piece for side in different[1:] for piece in (" = ", *side)))


Alike = Mapping[Variable, Sequence[int]]
"""The identities of the values whose names differ in layer and direction alone, by the rest of the name."""


def _letters(line: WorkedLine, work: Work, alike: Alike, notation: Notation) -> WorkLine:
    """Return the operations that made a gradient, in letters; nothing if letters do not say which values are meant."""
    names = work.names

    def meant(name: Variable) -> list[int]:
        """Return the values that a letter may mean here: those of the direction, else of the layer, else of all."""
        layer, values = line.name.layer, alike[name._replace(layer="", direction=None)]
        owners = [(names[each].layer, names[each].direction) for each in values]
        distances = [(owner[0] != layer) + (owner != (layer, line.name.direction)) for owner in owners]
        return [each for each, distance in zip(values, distances, strict=True) if distance == min(distances)]

    def formula(value: TapeValue) -> Formula:
        local = work.read.get((line.name.layer, id(value)))
        name = local or (names.get(id(value)) if value is not line.value else None)
        if name and name.uses is None:
            # letters of another layer may have another number above them, or be columns beside rows
            other = (notation.above or not notation.around) and name.layer != line.name.layer
            if other or (not local and meant(name) != [id(value)]):
                raise LookupError
            time = "" if name.below or name.step is None else str(name.step)
            return Symbol(name.letter, name.below, time, gradient=name.gradient)
        return _operation(value, formula)

    try:
        return vector(formula(line.value), {}, notation)
    except LookupError:
        return ()


def _operation(value: TapeValue, formula: Callable[[TapeValue], Formula]) -> Formula:
    """Return the operation that made a value, in letters; raises LookupError if it has none that is written.

    formula: returns that of an operand.
    """
    row, operands = value.row, value.operands
    if row is None:
        raise LookupError
    match row.name:
        case "linear":
            return formula(operands[0])
        case "mix":
            return Application("plus", tuple(map(formula, _terms_of(value))))
        case "products":
            products = [Application(INNER.name, (formula(each), formula(operands[-1]))) for each in operands[:-1]]
            return Application("join", tuple(products)) if len(products) > 1 else products[0]
        case "join" | "joined" | "placing":
            parts = [formula(each) if each in operands else Symbol("0") for each in _joined_by(value)]
            return Application("join", tuple(parts))
    of_operands = tuple(map(formula, operands))
    match row.name, of_operands:
        case (("slice" | "part"), (whole,)):
            return Application(NUMBERS_OF, (Symbol("".join(row.before)), whole))
        case "number", (Symbol() as symbol,):
            below = f"{symbol.subscript or symbol.time},{row.constants[0] + 1}"
            return symbol.replace(subscript=below.lstrip(","), time="")
        case (("quotient" | "root_quotient"), (dividend,)):
            size = Symbol(str(row.constants[0]))
            return Application("over", (dividend, size if row.name == "quotient" else Application(ROOT, (size,))))
    if row in WRITTEN.values() and row.name != "mean":
        return Application(row.name, of_operands)
    if not row.function:
        raise LookupError
    return Application(row.function, of_operands)


def _name(name: Variable, notation: Notation) -> WorkLine:
    """Return a name, also of a gradient, `∂L/∂h_2`, or of the contribution of one step, `∂L/∂W_xh (step 2)`."""
    term = timed(name.letter, "" if name.step is None else str(name.step), notation)
    if name.below or name.uses is not None:
        term = raised(Term(name.letter, name.below), notation)
    at = (EquationText(f" (step {name.uses})"),) if name.uses else ()
    return (Derivative(LOSS, term) if name.gradient else term, *at)


def numbers(vector: list[float], *, rows: bool = False) -> WorkLine:
    """Return a vector of one element as a number, any other as a column or as a row."""
    texts = tuple(number(each) for each in vector)
    if len(texts) == 1:
        return (texts[0],)
    return (Block((texts,) if rows else tuple((text,) for text in texts)),)


def matrix(rows: list[list[float]]) -> WorkLine:
    """Return a matrix of one number as a number, any other by its rows."""
    texts = tuple(tuple(number(each) for each in row) for row in rows)
    return (texts[0][0],) if len(texts) == len(texts[0]) == 1 else (Block(texts),)


def number(value: float) -> str:
    """Return a number with a minus sign; a rounded fraction has all its decimals, others only those they need.

    So `0.2700` is rounded and `0.27` is exact. A number with more digits than a float has, or with none but zeros among
    the decimals, is written as a power of ten, `3.2e−06`, which formats raise.
    """
    if abs(value) >= MOST_WHOLE:
        return f"{value:.{DIGITS}g}".replace("-", "−")
    text = f"{value:.{decimals.get()}f}"
    if "." in text and abs(value - float(text)) <= EXACT:
        text = text.rstrip("0").rstrip(".")
    if float(text) == 0:
        text = f"{value:.{min(decimals.get(), 1)}e}" if abs(value) > EXACT else "0"
    return text.replace("-", "−")


_COMPOSED = 3
"""How tightly a number with a minus sign or a power binds: it needs brackets only right of a sign."""

_SUMS = ("plus", "shift")

_PARTS = ("number", "slice", "part")
"""The operations that take numbers of a vector; of one with a name they are written themselves."""


class _ValueWriter(NamedTuple):
    """Writes the expression of a value, down to the values that have names.

    arguments: whether arguments of functions are evaluated. applied: whether functions are evaluated.
    """

    names: Mapping[int, Variable]
    notation: Notation
    arguments: bool = False
    applied: bool = False

    def bare(self, value: TapeValue) -> WorkLine:
        """Return the expression of a value, whether or not it has a name."""
        row, operands = value.row, value.operands
        if row is None or self._is_evaluated(value):
            return self.numbers(value)
        if row.name in _PARTS:
            return (Function(*row.before), *self.line(operands[0], ATOM))
        if row.function:
            first, *others = (self.numbers(operand) if self.arguments else self.line(operand) for operand in operands)
            return (Function(row.function), "(", *first, *(piece for other in others for piece in (", ", *other)), ")")
        if row.before:
            return (*row.before, *_bracketed(*self.line(operands[0], row.strength + 1)))
        match row.name:
            case "linear":
                return self.line(operands[0])
            case "matrix":
                return _sum([*self._product(value)])
            case "plus" | "shift":
                return _sum(self.terms(value))
            case "dot" | "products":
                dot = row.name == "dot"
                read, vectors = (operands[0], operands[1:]) if dot else (operands[-1], operands[:-1])
                rows = [each.numbers for each in vectors]
                sign = "·" if len(rows[0]) == 1 else " "
                if self.notation.rows:
                    return (*self.line(read, ATOM), sign, *matrix([[*each] for each in zip(*rows, strict=True)]))
                return (*matrix(rows), sign, *self.line(read, ATOM))
            case "mix":
                return _sum([self.bare(term) for term in _terms_of(value)])
            case "over_root" | "quotient" | "root_quotient":
                return (*self.line(operands[0], 3), " / ", row.drawn)
            case "mean":
                return ("(", *_sum([self.line(each, 2) for each in operands]), ")", " / ", "2")
            case "join" | "joined" | "placing":
                first, *others = map(self.line, _joined_by(value))
                return ("(", *first, *(piece for other in others for piece in ("; ", *other)), ")")
            case "row":
                return self.numbers(value) if self.arguments or self.applied else (Term("E", row.drawn),)
            case "outer" | "through" | "inner":
                return self._by_hand(value)
        if not row.sign or row.name == "convolve":  # its products, place by place, are too many to write
            return self.numbers(value)
        left, right = operands
        of_one = row.program == "*" and 1 in (len(left.numbers), len(right.numbers))
        return (*self.line(left, 3), "·" if of_one else row.sign, *self.line(right, ATOM))

    def line(self, value: TapeValue, least: int = 0) -> WorkLine:
        """Return a value, or the numbers of a named value; in brackets if it binds less tightly than required."""
        value = self._itself(value)
        row = value.row
        if id(value) in self.names or row is None or self._is_evaluated(value):
            line = self.numbers(value)
            strength = _COMPOSED if _is_composed(line[0]) else ATOM
        else:
            line = self.bare(value)
            strength = row.strength if row.sign or row.before or row.name == "mean" else ATOM
            if row.name == "matrix":
                rows = value.operands[0].numbers.rows
                strength = 1 if len(rows) == 1 and len(rows[0]) > 1 else strength
        return ("(", *line, ")") if strength < least else line

    def _is_evaluated(self, value: TapeValue) -> bool:
        """Return whether the numbers of a value are written instead of its operation."""
        row = value.row
        if row and row.name in _PARTS:
            return id(value.operands[0]) in self.names
        return bool(row and row.function) and self.applied

    def _itself(self, value: TapeValue) -> TapeValue:
        """Return the operand of an unnamed value if its operation changes nothing."""
        while value.row is not None and value.row.name == "linear" and id(value) not in self.names:
            (value,) = value.operands
        return value

    def terms(self, value: TapeValue) -> list[WorkLine]:
        """Return the terms of a sum; if there is only one bias, it is last, as in the textbook."""
        parts = [*self._parts(value)]
        biases = [each for each in parts if each.weights is not None]
        others = [each.operands for each in parts if each is not biases[0]] if biases else []
        if len(biases) == 1 and all(bias and bias[0].weights is not None for bias in others):  # products of weights
            parts.remove(biases[0])
            parts += biases
        products = [each for each in parts if id(each) not in self.names and each.row and each.row.name == "matrix"]
        if self.notation.stacked and len(products) > 1:
            rest = [each for each in parts if all(each is not product for product in products)]
            return [self._stack(products), *(term for each in rest for term in self._term(each))]
        return [term for each in parts for term in self._term(each)]

    def _stack(self, products: list[TapeValue]) -> WorkLine:
        """Return several products as one: the vectors in a list, x last, and the stacked matrices."""
        names = {id(each): self.names.get(id(self._itself(each.operands[1]))) for each in products}
        products = sorted(products, key=lambda each: (name := names[id(each)]) is not None and name.letter == "x")
        read = [self._itself(each.operands[1]) for each in products]
        rows = [column for each in products for column in _columns(each)]
        if all(vector.row is None or id(vector) in self.names for vector in read):
            vectors = numbers([number for vector in read for number in vector.numbers], rows=self.notation.rows)
        else:
            sign = ", " if self.notation.rows else "; "
            vectors = ("[", *[piece for vector in read for piece in (sign, *self.line(vector))][1:], "]")
        if self.notation.rows:
            return (*vectors, " ", *matrix(rows))
        return (*matrix([[*column] for column in zip(*rows, strict=True)]), " ", *vectors)

    def numbers(self, value: TapeValue) -> WorkLine:
        """Return the numbers of a value."""
        return numbers(value.numbers, rows=self.notation.rows)

    def _by_hand(self, value: TapeValue) -> WorkLine:
        """Return δ xᵀ, Wᵀ δ or yᵀ δ; with vectors as rows, xᵀ δ, δ Wᵀ or δ yᵀ."""
        rows, outer = self.notation.rows, value.row is OUTER
        turned, other = value.operands[::-1] if outer else value.operands
        if value.row is OUTER or value.row is INNER:
            transposed = numbers(turned.numbers, rows=not rows)
        else:
            transposed = matrix(turned.numbers.rows if rows else turned.numbers.columns)
        sign = "·" if len(other.numbers) == 1 or isinstance(transposed[0], str) else " "
        if outer is rows:
            return (*transposed, sign, *self.line(other, ATOM))
        return (*self.line(other, 3), sign, *_bracketed(*transposed))

    def _parts(self, value: TapeValue) -> Iterator[TapeValue]:
        """Yield the terms of a sum, with sums within it expanded."""
        if value.row is None or value.row.name not in _SUMS:
            yield value
            return
        for each in map(self._itself, value.operands):
            yield from [each] if id(each) in self.names else self._parts(each)

    def _term(self, value: TapeValue) -> list[WorkLine]:
        """Return the terms of a value within a sum."""
        if id(value) in self.names or value.row is None or value.row.name != "matrix":
            return [self.line(value, 2)]
        return [*self._product(value)]

    def _product(self, value: TapeValue) -> Iterator[WorkLine]:
        """Yield a matrix times a vector; one row times a named vector is written out, a term for each number."""
        rows, read = value.operands[0].numbers.rows, self._itself(value.operands[1])
        evaluated = read.row is None or id(read) in self.names
        if len(rows) == 1 and evaluated:
            for weight, each in zip(rows[0], read.numbers, strict=True):
                first, second = (each, weight) if self.notation.rows else (weight, each)
                yield (number(first), "·", *_bracketed(number(second)))
            return
        vector, written = self.line(read, ATOM), matrix(_columns(value) if self.notation.rows else rows)
        by_number = isinstance(written[0], str) or (isinstance(vector[0], str) and vector[0] != "(")
        first_, second_ = (vector, written) if self.notation.rows else (written, vector)
        yield (*first_, "·" if by_number else " ", *second_)


def _terms_of(mix: TapeValue) -> list[TapeValue]:
    """Return the terms of a sum of several vectors, each a number of the first operand times one of the others."""
    weights, *vectors = mix.operands
    numbers = [made(number_at(place), weights) for place in range(len(vectors))]
    return [made(OPERATIONS["scale"], *pair) for pair in zip(numbers, vectors, strict=True)]


def _joined_by(value: TapeValue) -> list[TapeValue]:
    """Return the vectors that a value has one after the other, zeros among them."""
    vectors, stop = list[TapeValue](), 0
    for start, part in (*parts_at(value), (len(value.numbers), None)):
        vectors += [TapeValue([0.0] * (start - stop), value.layer)] * (start > stop)
        vectors += [part] if part else []
        stop = start + len(part.numbers) if part else start
    return vectors if parts_at(value) else [*value.operands]


def _columns(product: TapeValue) -> list[list[float]]:
    """Return the transposed matrix of a product."""
    return [[*column] for column in zip(*product.operands[0].numbers.rows, strict=True)]


def _sum(terms: list[WorkLine]) -> WorkLine:
    """Return terms with the signs between them; one that begins with a minus is subtracted."""
    line = terms[0]
    for term in terms[1:]:
        first, *rest = term
        if isinstance(first, str) and first.startswith("−"):
            line = (*line, " − ", first[1:], *rest)
        else:
            line = (*line, " + ", *term)
    return line
