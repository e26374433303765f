"""The equations of a step: one for each gate and each state, computed from its trace, in any notation.

Letters are the textbook's under every convention, in the spelling of a notation. By default W_xz multiplies x in the
gate z; b_z is its bias, or b_xz and b_hz if it has one on each side. How an equation is written down is up to the
reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Union

from rnncalc.conventions.layout import Stack
from rnncalc.conventions.notation import Notation, W
from rnncalc.conventions.tensor import Role
from rnncalc.layers.layer import Layer
from rnncalc.records import Frozen
from rnncalc.step.layer_trace import array_of
from rnncalc.step.nodes import AROUND, HEADS, INPUT, ONE, STATE, STEPS, WEIGHTS, Trace, Weights
from rnncalc.step.operations import OPERATIONS

Letter = tuple[str, str]
"""A letter and its subscript."""


class Letters(NamedTuple):
    """The letters of the weights of one cell in a notation.

    memory: the letter of the state that is the cell's memory; alone: whether the cell has one gate.
    """

    notation: Notation
    memory: str
    alone: bool

    def weights(self, weights: Weights) -> Letter:
        """Return the letters of weights."""
        return self.of_part(part_of(weights.role), weights.matrix, weights.vector)

    def of_part(self, part: str, matrix: str, vector: str = "") -> Letter:
        """Return the letters of a part, from the letters of its gates and of the vector that it multiplies."""
        memory = vector in ("x", self.memory)
        return self.notation.parts[part].symbol(matrix, vector, alone=self.alone, memory=memory)


def part_of(role: Role) -> str:
    """Return the part of a convention's arrays that has the weights of a role."""
    return {Role.LEFT: "left", Role.RIGHT: "right", Role.MATRIX: "projection"}.get(role, role.value)


def letters_of(trace: Trace, notation: Notation = W) -> Letters:
    """Return the letters of the weights of a cell."""
    return Letters(notation, next(iter(trace.before)), len(trace.gates) == 1)


class Symbol(Frozen):
    """A letter with its subscript and the letters of its axes; time is `t`, `t−1` or nothing.

    An axis of several vectors one behind the other has the letters of all, with + between them.
    gradient: whether the gradient of the loss with respect to it is meant.
    """

    letter: str
    subscript: str = ""
    time: str = ""
    axes: tuple[str, ...] = ()
    gradient: bool = False


class Application(Frozen):
    """An operation of the table on symbols and other expressions; a sum has any number of terms.

    Three are not in the table: STACKED, the symbol of the joined matrix, then the products that it replaces; ROOT, the
    square root of a size; and NUMBERS_OF, a symbol that says which numbers of a vector are meant, then the vector.
    """

    operation: str
    operands: tuple[Formula, ...]


Formula = Union[Symbol, Application]  # noqa: UP007  refers to itself

STACKED, ROOT, NUMBERS_OF = "stacked", "root", "numbers of"

HALF = "half"
"""The subscript of half a vector: each direction takes one half."""


class Equation(NamedTuple):
    """The equation of a gate, a state or an output."""

    left: Symbol
    right: Formula


def equations(trace: Trace, notation: Notation = W) -> tuple[Equation, ...]:
    """Return the equations of a step, each after those it refers to."""
    writer = Formulas(trace, notation)
    return tuple(_in_order(writer.lines(), writer.parts))


def owners(trace: Trace) -> dict[int, Symbol]:
    """Return for each value of a step, by its place, the left side of the equation that computes it."""
    writer = Formulas(trace, W)
    places = {**writer.results, **writer.gates}
    symbols: dict[int, Symbol] = {}
    for equation in equations(trace):
        waiting = [places[equation.left]]
        while waiting:
            place = waiting.pop()
            if place in symbols or (place in writer.names and writer.names[place] != equation.left):
                continue  # computed by an earlier equation, or by that of the name
            symbols[place] = equation.left
            waiting += trace.nodes[place].operands
    return symbols


def stacks(trace: Trace, notation: Notation) -> list[Stack]:
    """Return the products whose matrices a notation joins."""
    if not notation.stacked:
        return []
    writer = Formulas(trace, notation)
    writer.lines()
    return [*writer.stacks]


Blocks = Sequence[Sequence[Weights]]
"""The weights that an array is made of: for each gate those of what it reads. They are side by side on columns."""


def joined_arrays(trace: Trace, notation: Notation) -> dict[Letter, Blocks]:
    """Return the arrays of a notation that are made of several of the textbook's, by their letters."""
    letters, arrays = letters_of(trace, notation), dict[Letter, Blocks]()
    declared = [node.weights for node in trace.nodes if node.weights]
    products = {(each.matrix, each.vector): each for each in declared if each.role in (Role.INPUT, Role.RECURRENT)}
    for stack in stacks(trace, notation):
        name = stack.letters(len(trace.gates))
        blocks = [[products[matrix, vector] for vector in stack.reads] for matrix in stack.matrices]
        arrays[letters.of_part("stacked", name)] = blocks
        for role in stack.biases:
            biases = {each.letter: each for each in declared if each.role is role}
            vector = biases[stack.matrices[0]].vector
            arrays[letters.of_part(part_of(role), name, vector)] = [[biases[gate]] for gate in stack.matrices]
    return arrays


SAME_LETTER = ("heads", "current", "concat", "joined")
"""The operations whose result has the letter of its operand, with other letters for what it differs with."""


def letter_of(trace: Trace, place: int) -> str:
    """Return the letter of a value of a layer; empty if it has none."""
    node = trace.nodes[place]
    return trace.nodes[node.operands[0]].letter if node.operation in SAME_LETTER else node.letter


def symbol_of(trace: Trace, place: int) -> Symbol:
    """Return the symbol of a value of a layer that reads a whole sequence, by the letter that it or its function has.

    Its subscript has what it differs with: i for heads, t, s.
    """
    node = trace.nodes[place]
    function = OPERATIONS[node.operation].function if node.operation in OPERATIONS else ""
    letter = letter_of(trace, place) or ("y" if place == trace.output else function or node.operation)
    repeats = trace.repeats[place] - {"s" if node.width == STEPS and trace.across else ""}
    letters = [each for each in "its" if each in repeats]
    return Symbol(letter, time=",".join(letters), axes=() if node.width in (STEPS, ONE) else (node.width,))


def whole_of(symbol: Any) -> Any:
    """Return the vector of a symbol's numbers at all steps s."""
    return symbol.replace(
        time=symbol.time.removesuffix("s").removesuffix(","), subscript=symbol.subscript.removesuffix(",s")
    )


def part_symbol(whole: Any, number: str, width: str = "") -> Symbol:
    """Return one of the equal parts of a symbol, by its number or a letter: a_(1,t) of a_t; width: its letter."""
    symbol: Symbol = whole.replace(time=",".join(filter(None, (number, whole.time))), axes=(width,) if width else ())
    return symbol


def within(formula: Formula) -> Iterator[Formula]:
    """Yield a formula and all that it is made of."""
    yield formula
    for each in formula.operands if isinstance(formula, Application) else ():
        yield from within(each)


MOST_TERMS = 4
"""The most kernel steps to write; of more, the first two and the last are written."""

DOTS = Symbol("⋯")


def written(steps: Sequence[int]) -> Sequence[int]:
    """Return those of the steps of a kernel that are written."""
    return steps if len(steps) <= MOST_TERMS else (*steps[:2], steps[-1])


def sum_of(steps: Sequence[int], term: Callable[[int], Formula]) -> Formula:
    """Return the sum of the terms of some steps of a kernel, with dots for those that are not written."""
    terms = [*map(term, written(steps))]
    if len(steps) > MOST_TERMS:
        terms.insert(2, DOTS)
    return Application("plus", tuple(terms)) if len(terms) > 1 else terms[0]


class KernelWindow(NamedTuple):
    """The vectors that a layer reads for the step t of its output, one for each step of its kernel.

    x: the vector at step t. stride: how many steps of the input are between two windows. apart: how many steps each
    vector is behind the stride's multiple of t.
    """

    x: Symbol
    stride: int
    apart: range

    def kernel_step(self, kernel: Any, number: int, *, in_groups: bool) -> tuple[Symbol, Symbol]:
        """Return the matrix of a step of a kernel, counted from 0, and the vector that it multiplies.

        in_groups: those of a group i.
        """
        matrix, x = str(number + 1), self.at(self.apart[number])
        if in_groups:
            return part_symbol(kernel.replace(time=matrix), "i"), part_symbol(x, "i")
        return kernel.replace(subscript=matrix), x.replace(axes=("m",))

    def at(self, apart: int) -> Symbol:
        """Return the vector so many steps behind the stride's multiple of t."""
        sign = f"{'+' if apart > 0 else '−'}{abs(apart)}" if apart else ""
        return self.x.replace(time=f"{self.stride if self.stride > 1 else ''}{self.x.time}{sign}")


class Tap(NamedTuple):
    """A step of a kernel over the weights of the past: its matrix, the numbers that it reads, and how far apart."""

    matrix: Symbol
    reads: Sequence[Symbol]
    apart: int


def symbols(formula: Formula) -> set[Symbol]:
    """Return every symbol in a formula."""
    return {each for each in within(formula) if isinstance(each, Symbol)}


class LayerFormulas(NamedTuple):
    """The formulas of the values of a layer that is no cell.

    window: the vectors that it reads. letters: of its weights, by the roles of their arrays.
    names: of its output, and of the values that have letters. In a layer that reads a whole sequence, t is the step of
    the output, s that of the sequence, and i the head: q_(i,t) is the i-th of h equal parts of q_t.
    sizes: what the network calls the letters of widths, if it has letters of its own.
    """

    trace: Trace
    layer: Layer
    window: KernelWindow
    letters: Mapping[str, Letter]
    names: Mapping[int, Symbol]
    sizes: Mapping[str, str] = {}

    @property
    def arrays(self) -> Mapping[Symbol, Sequence[Sequence[Any]]]:
        """The arrays of weights that are made of several: none."""
        return {}

    def equations(self) -> Iterator[Equation]:
        """Yield the equation of each value that has a name; of one in groups, that of a group i."""
        for place, name in self.names.items():
            node = self.trace.nodes[place]
            if not self.layer.time.whole or node.operation not in SAME_LETTER:
                left = part_symbol(name, "i") if node.in_groups else name
                left = whole_of(left) if node.operation == "softmax" else left
                yield Equation(left, self.formula(place, named=False))

    def formula(self, place: int, *, whole: bool = False, named: bool = True) -> Formula:
        """Return the formula of a value; its name if it has one and `named` is true.

        whole: of its numbers at all steps s of a sequence, instead of that at one.
        """
        node = self.trace.nodes[place]
        if named and place in self.names:
            return whole_of(self.names[place]) if whole else self.names[place]
        match node.operation:
            case "input" | "sequence" if self.layer.time.whole:
                return symbol_of(self.trace, place)
            case "state":
                return Symbol(node.letter, time="t−1" if whole else "t−1,s")
            case "input" | "step":
                x = self.window.at(self.window.apart[node.number])
                return x.replace(axes=() if node.width == ONE else (node.width,))
            case "lookup" | "row":
                table: Any = self.formula(node.operands[0])
                time = self.window.x.time
                index = f"{self.window.x.letter}_{time}".rstrip("_") if node.operation == "lookup" else time
                return table.replace(time=index, axes=(node.width,))  # type: ignore[no-any-return]
            case "weights":
                assert node.weights
                role = array_of(self.layer, node.weights)
                return Symbol(*self.letters.get(role, (role, "")), axes=() if node.axes == (ONE,) else node.axes[:2])
            case "matrix" if node.width == STEPS:  # across the steps
                return Application(
                    "matrix", (self.formula(node.operands[0]), self.formula(node.operands[1], whole=True))
                )
            case "plus" if (
                node.width == STEPS
                and self.trace.nodes[node.operands[1]].operation == WEIGHTS
                and not self.trace.across
            ):
                score, bias = map(self.formula, node.operands)
                return Application("plus", (score, bias.replace(time="s", axes=())))
            case "joined" if self.layer.time.whole:
                return self.formula(node.operands[0], whole=whole or self.trace.across)
            case "softmax":
                return Application(node.operation, (self.formula(node.operands[0], whole=True),))
            case "standardise":  # the stored numbers appear only in the name of the function
                return Application("normalise", (self.formula(node.operands[0]),))
            case "part":
                return part_symbol(self.formula(node.operands[0]), str(node.number + 1), node.width)
            case "mix":
                return Application("mix", (Symbol("sum", "s"), *map(self.formula, node.operands)))
            case "over_root":
                root = Application(ROOT, (Symbol(self.sizes.get(node.axes[0], node.axes[0])),))
                return Application("over", (self.formula(node.operands[0]), root))
            case "matrix" if (around := self.trace.nodes[node.operands[1]]).operation == AROUND:
                return sum_of(range(around.number), partial(self._product, place))
            case "matrix" if len(self.trace.nodes[node.operands[0]].axes) > 2:
                product = partial(self.window.kernel_step, self.formula(node.operands[0]), in_groups=node.in_groups)
                return sum_of(range(len(self.window.apart)), lambda step: Application("matrix", product(step)))
            case "matrix" if (read := self.trace.nodes[node.operands[1]]).operation in ("join", "concat"):
                matrix, vectors = self.formula(node.operands[0]), [*map(self.formula, read.operands)]
                if read.operation == "concat":
                    head: Any = vectors[0]
                    numbers = "1", self.sizes.get(HEADS, HEADS)
                    first, last = (head.replace(time=head.time.replace("i", number)) for number in numbers)
                    vectors = [first, DOTS, last]
                return Application(STACKED, (matrix, *[Application("matrix", (matrix, each)) for each in vectors]))
            case "plus":
                terms: list[Formula] = []
                for term in map(self.formula, node.operands):
                    is_sum = isinstance(term, Application) and term.operation == "plus"
                    terms += term.operands if isinstance(term, Application) and is_sum else (term,)
                return Application("plus", tuple(terms))
            case name:
                return Application(name, tuple(map(self.formula, node.operands)))

    def tap(self, place: int, number: int) -> Tap:
        """Return a step of a kernel over the weights of the past, counted from 0."""
        kernel, window = self.trace.nodes[place].operands
        around = self.trace.nodes[window]
        reads: list[Any] = [*map(self.formula, around.operands)]
        matrix: Any = self.formula(kernel)
        numbers = [KernelWindow(x, 1, around.apart).at(around.apart[number]) for x in reads]
        return Tap(matrix.replace(subscript=str(number + 1)), numbers, around.apart[number])

    def _product(self, place: int, number: int) -> Formula:
        """Return the product of a step of a kernel and the numbers that it reads."""
        matrix, reads, _ = self.tap(place, number)
        products = [Application("matrix", (matrix, x)) for x in reads]
        return Application(STACKED, (matrix, *products)) if len(products) > 1 else products[0]


class Formulas:
    """The formulas of the values of a step; values that have letters are symbols."""

    def __init__(self, trace: Trace, notation: Notation) -> None:
        self.trace = trace
        self.nodes = trace.nodes
        self.letters = letters_of(trace, notation)
        self.sums: dict[_Reads, dict[str, _Sum]] = {}
        self.joined: dict[tuple[str, _Reads], Stack] = {}
        self.stacks: dict[Stack, None] = {}
        self.parts: dict[Symbol, Symbol] = {}
        self.several = len(trace.gates) > 1
        self.gates = {
            Symbol(letter, time="t", axes=(self.nodes[place].width,)): place for letter, place in trace.gates.items()
        }
        ends = {**trace.after, "h": trace.output}
        self.results = {
            Symbol(letter, time="t", axes=(self.nodes[place].width,)): place for letter, place in ends.items()
        }
        self.names: dict[int, Symbol] = {}
        last_h = sorted(self.results.items(), key=lambda result: result[0].letter == "h")  # h = c is written c
        for symbol, place in (*self.gates.items(), *last_h):
            node = self.nodes[place]
            if node.operation == "linear" and self.nodes[node.operands[0]].operation in OPERATIONS:
                self.names.setdefault(node.operands[0], symbol)  # the gate's sum is its value
            elif node.operation not in (INPUT, STATE):
                self.names.setdefault(place, symbol)
        if notation.joins_gates and self.several:
            self.lines()  # which finds the sums
            self._join()

    def _join(self) -> None:
        """Join the sums of different gates that read the same vectors."""
        for vectors, sums in self.sums.items():
            if len(sums) > 1:
                roles, *others = [
                    tuple([self._weights_at(bias).role for bias in each.biases]) for each in sums.values()
                ]
                reads = tuple([self._weights(product).vector for product in next(iter(sums.values())).products])
                order = sorted(sums, key=self.letters.notation.order.find)
                stack = Stack(tuple(order), reads, roles if all(other == roles for other in others) else ())
                self.joined |= {(matrix, vectors): stack for matrix in sums}
        self.stacks = dict.fromkeys(self.joined.values())

    def _joined_lines(self) -> Iterator[Equation]:
        """Yield the equations of the sums of several gates, side by side."""
        gates = len(self.gates)
        for (matrix, vectors), stack in self.joined.items():
            if matrix == stack.matrices[0]:
                letters, width = stack.letters(gates), "+".join("h" for _ in stack.matrices)
                joined = self.sums[vectors][matrix]
                a = "a" if not letters else self.letters.notation.letter("a")
                sums = Symbol(a, self._index(letters), "t", (width,))
                self.parts |= {self._part(each): sums for each in stack.matrices}
                terms = [self._stacked(letters, joined.products, width)]
                for bias in joined.biases if stack.biases else ():
                    weights = self._weights_at(bias)
                    letter = self.letters.of_part(part_of(weights.role), letters, weights.vector)
                    terms.append(Symbol(*letter, axes=(width,)))
                yield Equation(sums, Application("plus", tuple(terms)) if len(terms) > 1 else terms[0])

    @property
    def arrays(self) -> Mapping[Symbol, Sequence[Sequence[Any]]]:
        """The arrays of weights that are made of several, and their blocks."""
        symbols = {each.weights: self.formula(place) for place, each in enumerate(self.nodes) if each.weights}
        arrays = joined_arrays(self.trace, self.letters.notation).items()
        return {Symbol(*letter): [[symbols[each] for each in gate] for gate in blocks] for letter, blocks in arrays}

    def lines(self) -> list[Equation]:
        """Return a line for each gate and for each result, behind those of gates that are joined."""
        joined = [*self._joined_lines()]
        lines = {symbol: self.formula(place, named=False) for symbol, place in self.gates.items()}
        for symbol, place in self.results.items():
            lines.setdefault(symbol, self.formula(place, named=self.names.get(place) != symbol))
        return [*joined, *(Equation(*line) for line in lines.items())]

    def formula(self, place: int, *, named: bool = True) -> Formula:
        """Return the formula of a value; its symbol if it has one and `named` is true."""
        if named and place in self.names:
            return self.names[place]
        node = self.nodes[place]
        match node.operation:
            case "input":
                return Symbol(node.letter, time="t", axes=(node.width,))
            case "state":
                return Symbol(node.letter, time="t−1", axes=(node.width,))
            case "weights":
                assert node.weights
                return Symbol(*self.letters.weights(node.weights), axes=node.axes)
            case "half":
                whole = self.nodes[node.operands[0]]
                return Symbol(whole.letter, HALF, "t", (node.width,))
            case "linear":
                return self.formula(node.operands[0], named=named)
            case "plus" | "shift" | "everywhere" | "matrix":
                terms = tuple(self._terms(place))
                return Application("plus", terms) if len(terms) > 1 else terms[0]
            case _:
                return Application(node.operation, tuple(map(self.formula, node.operands)))

    def _terms(self, place: int) -> Iterator[Formula]:
        """Yield the terms of a sum; the one bias of products is last, as in textbooks."""
        terms = [place] if self.nodes[place].operation == "matrix" else [*self._addends(place)]
        sides = (Role.BIAS, Role.RECURRENT_BIAS)
        biases = [each for each in terms if (its := self.nodes[each].weights) and its.role in sides]
        others = [each for each in terms if each not in biases]
        if self.letters.notation.stacked and (stacks := self._stacks(place, others, biases)):
            stacked = {each for _, products in stacks for each in products}
            yield from (formula for formula, _ in stacks)
            terms = [each for each in (*others, *biases) if each not in stacked]
        elif len(biases) == 1 and all(map(self._weighted, others)):
            terms = others + biases
        for each in terms:
            matrix = self.nodes[each].operation == "matrix" and (each not in self.names or each == place)
            yield self._product(each) if matrix else self.formula(each)

    def _product(self, place: int) -> Application:
        matrix, vector = self.nodes[place].operands
        weights: Any = self.formula(matrix)
        if self.nodes[place].in_groups:  # blocks along the diagonal of a matrix with zeros elsewhere
            weights = weights.replace(axes=(weights.axes[0], self.nodes[vector].width))
        return Application("matrix", (weights, self.formula(vector)))

    def _addends(self, place: int) -> Iterator[int]:
        """Yield the places of the terms of a sum; sums without a letter are expanded."""
        for each in self.nodes[place].operands:
            if self.nodes[each].operation in ("plus", "shift", "everywhere") and each not in self.names:
                yield from self._addends(each)
            else:
                yield each

    def _weighted(self, place: int) -> bool:
        """Return whether a value is weights times another."""
        operands = self.nodes[place].operands
        return bool(operands) and self.nodes[operands[0]].operation == WEIGHTS

    def _stacks(self, place: int, terms: Sequence[int], biases: Sequence[int]) -> list[tuple[Formula, Sequence[int]]]:
        """Return the formulas that replace products in a sum, each with the terms that it replaces."""
        by_matrix: dict[str, list[int]] = {}
        for each in terms:
            node = self.nodes[each]
            weights = self.nodes[node.operands[0]].weights if node.operation == "matrix" else None
            whole = weights and weights.role in (Role.INPUT, Role.RECURRENT) and not node.in_groups
            if weights and whole and (each not in self.names or each == place):
                by_matrix.setdefault(weights.matrix, []).append(each)
        stacks: list[tuple[Formula, Sequence[int]]] = []
        for matrix, products in by_matrix.items():
            products.sort(key=lambda each: self._weights(each).vector == "x")
            beside = [*biases] if len(by_matrix) == 1 else []
            vectors = tuple([self.nodes[each].operands[1] for each in products])
            if self._weights(products[0]).shared is None:
                self.sums.setdefault(vectors, {})[matrix] = _Sum(products, beside)
            if stack := self.joined.get((matrix, vectors)):
                stacks.append((self._part(matrix), [*products, *(beside if stack.biases else ())]))
            elif len(products) > 1:
                stacks.append((self._stacked(matrix, products, "h"), products))
                self.stacks.setdefault(Stack((matrix,), tuple([self._weights(each).vector for each in products])))
        return stacks

    def _stacked(self, letters: str, products: Sequence[int], width: str) -> Formula:
        """Return products as one of a matrix with these letters."""
        reads = "+".join(self.nodes[self.nodes[each].operands[0]].axes[1] for each in products)
        symbol = Symbol(*self.letters.of_part("stacked", letters), axes=(width, reads))
        return Application(STACKED, (symbol, *map(self._product, products)))

    def _part(self, matrix: str) -> Symbol:
        """Return the part of a gate in the sums of several."""
        return Symbol(self.letters.notation.letter("a"), self._index(matrix), axes=("h",))

    def _index(self, gates: str) -> str:
        return self.letters.of_part("stacked", gates)[1]

    def _weights(self, product: int) -> Weights:
        return self._weights_at(self.nodes[product].operands[0])

    def _weights_at(self, place: int) -> Weights:
        weights = self.nodes[place].weights
        assert weights is not None
        return weights


NamedValues = Formulas | LayerFormulas
"""The names of the values of a step; those in `names` have equations of their own."""


class _Sum(NamedTuple):
    """The places of the products and the biases of a gate."""

    products: Sequence[int]
    biases: Sequence[int]


_Reads = tuple[int, ...]
"""The places of the vectors that products multiply."""


def _in_order(lines: list[Equation], parts: Mapping[Symbol, Symbol]) -> Iterator[Equation]:
    """Yield the lines so that each comes after those it refers to.

    parts: the symbol that each part belongs to, for parts with a line of their own.
    """
    waiting = [*lines]
    while waiting:
        open_ = {line.left for line in waiting}
        line = next(line for line in waiting if not open_ & {parts.get(each, each) for each in symbols(line.right)})
        waiting.remove(line)
        yield line


def sizes_of(axes: Sequence[str], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return a shape in numbers."""
    return tuple(1 if axis == ONE else sum(sizes[letter] for letter in axis.split("+")) for axis in axes)
