"""A cell's step, run once on symbols: a list of nodes, each an operation on earlier ones.

Taking it compares what the cell declares with what its step does, before any number follows from either: a product that
is declared and never summed, a sum of what is not declared, a gate whose value goes nowhere, vectors of two widths
where one is needed, a state that comes back in another width. Each is a DeclarationError that names the cell and the
part. Any other exception of a cell becomes one too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import combinations
from typing import Any, cast

from rnncalc.conventions.layout import axis_of, role_of, sides_of_biases, width_of
from rnncalc.conventions.rules import Convention, Side
from rnncalc.conventions.tensor import Role
from rnncalc.errors import DeclarationError, line_of
from rnncalc.layers.cell import Cell, Form, Gate, Habits, Operations, Weight
from rnncalc.layers.layer import Dense, Embedding, Layer, Shape, Transform
from rnncalc.layers.options import ACTIVATIONS, RECURRENT_ACTIVATIONS, is_size
from rnncalc.step.layer_trace import check_output, check_sizes, check_width, layer_trace, run_declared
from rnncalc.step.nodes import INPUT, MATRICES, ONE, STATE, WEIGHTS, Node, Operand, Recorder, Trace, Weights, made_of
from rnncalc.words import all_of, one_of

SIDES = (Side.INPUT, Side.RECURRENT)
NO_HABITS = Habits()
NO_SIDES: Mapping[str, Side] = {}


class Tracer(Recorder):
    """The `layers.cell.Operations` that trace a step; undeclared parts are refused."""

    protocol = Operations
    function = "the step"

    def __init__(self, layer: Cell, inputs: int, habits: Habits, sides: Mapping[str, Side]) -> None:
        super().__init__(layer.kind)
        self._layer = layer
        self._habits = habits
        self._sides = sides
        self._gates = {gate.letter: gate for gate in layer.gates(inputs)}
        self._weights = {weight.letter: weight for weight in layer.weights}
        self._products = {
            (gate.letter, product.vector): product for gate in self._gates.values() for product in gate.products
        }
        self._input = "h" if inputs == layer.units else "m"
        self._halves = inputs == 2 * layer.units
        self._used: set[tuple[str, str]] = set()
        self._values: dict[str, int] = {}
        self._sums: dict[int, list[tuple[str, str]]] = {}
        self._read: dict[tuple[str, str], int] = {}

    def __call__(self) -> Trace:
        """Run the step and return its trace."""
        layer = self._layer
        x = self._place(Node(INPUT, width=layer.x_width, letter="x"))
        before = {letter: self._place(Node(STATE, (), width, letter)) for letter, width in layer.states.items()}
        operations = cast("Operations[Operand]", self)
        returned = layer.step(operations, Operand(x), tuple(map(Operand, before.values())))
        returned_output, states = self._output_and_states(returned)
        output = self._expect("the step's output", returned_output, layer.output)
        if len(states) != len(before):
            declared = ", ".join(layer.states)
            raise self._error(f"the step returns {len(states)} states, and {declared} are declared")
        after = {
            letter: self._expect(f"the state {letter}", vector, width)
            for (letter, width), vector in zip(layer.states.items(), states, strict=True)
        }
        self._check_states(before, after)
        self._check_names(output, after)
        self._check_uses({output, *after.values()})
        return Trace((*self._nodes,), x, before, after, output, self._values, {*self._sums})

    # What a step may do

    def gate(self, letter: str, *products: Operand, **reads: Operand) -> Operand:
        terms = self._terms(letter, products, reads)
        for gate, vector in self._products:
            if gate == letter and (gate, vector) not in self._used:
                raise self._error(
                    f"gate {letter} declares a product of {vector}, and the step does not give it {vector}"
                )
        return self.through(letter, self._sum(letter, terms, reads, {_side(vector) for vector in reads} ^ {*SIDES}))

    def sum(self, letter: str, *products: Operand, **reads: Operand) -> Operand:
        return self._sum(letter, self._terms(letter, products, reads), reads)

    def through(self, letter: str, total: Operand) -> Operand:
        self._know(letter)
        place = self._expect(f"the sum of gate {letter}", total, self._layer.gate_width)
        if (letter, "") in self._used:
            raise self._error(f"the step makes gate {letter} twice")
        self._used.add((letter, ""))
        if self._gates[letter].normalised:  # the sum of the products, times its gain, and with the biases
            gain = self._place(Node(WEIGHTS, width="h", weights=Weights(Role.GAIN, letter), axes=("h",)))
            place = self._place(Node("times", (gain, self._place(Node("normalise", (place,), "h"))), "h"))
            for side in SIDES:
                place = self._add_bias(letter, side, place, normalised=True)
        if letter in self._habits.plus_one:
            place = self._place(Node("increment", (place,), self._layer.gate_width))
        value = self._place(Node(self._gates[letter].activation, (place,), self._layer.gate_width, letter))
        self._values[letter] = value
        return Operand(value)

    def has(self, letter: str) -> bool:
        return letter in self._gates

    def habit(self, name: str) -> bool:
        if name not in Habits.fields:
            raise self._error(f"the step asks for the habit {name}, and there are {all_of(Habits.fields)}")
        return bool(getattr(self._habits, name))

    def product(self, letter: str, vector: Operand) -> Operand:
        if (letter, "") in self._used:
            raise self._error(f"the step multiplies by the matrix {letter} twice")
        rows, columns = self._weight(letter, 2)
        read = self._expect(f"what the matrix {letter} reads", vector, columns)
        weights = self._place(Node(WEIGHTS, weights=Weights(Role.MATRIX, letter), axes=(rows, columns)))
        return Operand(self._place(Node("matrix", (weights, read), rows)))

    def vector(self, letter: str) -> Operand:
        axes = self._weight(letter, 1)
        return Operand(self._place(Node(WEIGHTS, width=axes[0], weights=Weights(Role.VECTOR, letter), axes=axes)))

    def scalar(self, letter: str) -> Operand:
        self._weight(letter, 0)
        number = Operand(self._place(Node(WEIGHTS, width=ONE, weights=Weights(Role.SCALAR, letter))))
        return self.activate(self._weights[letter].activation, number)

    def half(self, vector: Operand) -> Operand:
        if self._layer.directions == 1:
            return Operand(self._expect("what stands for a whole input", vector, "h"))
        place = self._vector(vector)
        if self._nodes[place].operation != INPUT or not self._halves:
            raise self._error("the step takes half of what is not x, or of an x that is not as wide as both directions")
        return Operand(self._place(Node("half", (place,), "h")))

    # The sum of a gate

    def _terms(self, letter: str, products: tuple[Operand, ...], reads: Mapping[str, Operand]) -> list[int]:
        """Return the products of a gate, each with the bias of its side if that was not added yet."""
        self._know(letter)
        if products:
            raise self._error(f"the step does not say what gate {letter} reads; write x=x, h=h and their like")
        terms: list[int] = []
        sides: set[Side] = set()
        for source, vector in reads.items():
            if (letter, source) not in self._products:
                raise self._error(
                    f"the step gives gate {letter} {source}, and gate {letter} declares no product of {source}"
                )
            if (letter, source) in self._used:
                raise self._error(f"the step sums gate {letter}'s product of {source} twice")
            read = self._expect(f"what gate {letter} reads as {source}", vector, width_of(self._layer, source))
            self._used.add((letter, source))
            self._read[letter, source] = read
            term = self._product(letter, source, read)
            if _side(source) not in sides:
                term = self._add_bias(letter, _side(source), term)
                sides.add(_side(source))
            terms.append(term)
        return terms

    def _sum(
        self, letter: str, terms: list[int], reads: Mapping[str, Operand], absent: Collection[Side] = ()
    ) -> Operand:
        """Return the sum of these terms and of the biases of the other sides."""
        if not terms:
            raise self._error(f"the step sums no product of gate {letter}")
        total = terms[0]
        for term in terms[1:]:
            total = self._place(Node("plus", (total, term), self._layer.gate_width))
        for side in SIDES:
            if side in absent:
                total = self._add_bias(letter, side, total)
        self._sums.setdefault(total, []).extend((letter, vector) for vector in reads)
        return Operand(total)

    def _product(self, letter: str, vector: str, read: int) -> int:
        product = self._products[letter, vector]
        full = product.form is not Form.DIAGONAL
        convolves = product.form is Form.CONVOLUTION
        kernel = ("k",) * len(self._layer.grid) if convolves else ()
        axes = ("h", axis_of(self._layer, product), *kernel) if full else ("h",)
        owner = letter
        if product.matrix is not None:
            alike = (gate for gate, product_of in self._products if product_of == vector)
            owner = next(gate for gate in alike if self._products[gate, vector].matrix == product.matrix)
        if product.form is Form.RANK:
            for role, out, columns in ((Role.RIGHT, "r", width_of(self._layer, vector)), (Role.LEFT, "h", "r")):
                factor = Node(WEIGHTS, weights=Weights(role, owner, vector, product.matrix), axes=(out, columns))
                read = self._place(Node("matrix", (self._place(factor), read), out))
            return read
        of_weights = Weights(role_of(self._layer, product), owner, vector, product.matrix)
        weights = self._place(Node(WEIGHTS, width="" if full else "h", weights=of_weights, axes=axes))
        operation = "convolve" if convolves else "matrix" if full else "times"
        if not full:
            self._expect(f"what gate {letter} reads unit by unit", Operand(read), "h")
        number = product.blocks if product.blocks > 1 else 0
        return self._place(Node(operation, (weights, read), self._layer.gate_width, number=number))

    def _add_bias(self, letter: str, side: Side, total: int, *, normalised: bool = False) -> int:
        """Return a sum with a gate's bias on one of its sides, if there is one, before or after it is normalised."""
        here = self._sides.get(letter)
        if here not in (side, Side.BOTH) or self._gates[letter].normalised is not normalised:
            return total
        role = Role.BIAS if side is Side.INPUT else Role.RECURRENT_BIAS
        beside = ("x" if side is Side.INPUT else "h") if here is Side.BOTH else ""
        bias = self._place(Node(WEIGHTS, width="h", weights=Weights(role, letter, beside), axes=("h",)))
        width = self._layer.gate_width
        return self._place(Node("plus" if width == "h" else "everywhere", (total, bias), width))

    # Checks

    def _width(self, letter: str) -> str:
        """Return a width by its letter; if the layer is as wide as its input, both widths are equal."""
        return self._input if letter == "m" else letter

    def _know(self, letter: str) -> None:
        if letter not in self._gates:
            declared = f"{', '.join(self._gates)} are declared" if self._gates else "gates declares none"
            raise self._error(f"the step asks for the gate {letter}, and {declared}")

    def _weight(self, letter: str, axes: int) -> tuple[str, ...]:
        weight = self._weights.get(letter)
        if weight is None or len(weight.widths) != axes:
            what = ("number", "vector", "matrix")[axes]
            raise self._error(f"the step asks for the {what} {letter}, which is not declared")
        self._used.add((letter, ""))
        return weight.widths

    def _output_and_states(self, done: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return the output of a step, and the states after it."""
        match done:
            case (output, tuple(after) | list(after)):
                return output, (*after,)
        got = {type(None): "nothing", Operand: "one value"}.get(type(done), "no such pair")
        raise self._error(f"the step returns {got}; write return h, (h,): its output, and a tuple of all states")

    def _check_states(self, before: Mapping[str, int], after: Mapping[str, int]) -> None:
        """Refuse a step that mixes up states, which is easy if they have one width."""
        order = f"; the states come, and are returned, in the order {', '.join(before)}"
        products = {
            place
            for place, node in enumerate(self._nodes)
            if node.operation in (*MATRICES, "times") and self._nodes[node.operands[0]].operation == WEIGHTS
        }
        for (gate, vector), place in self._read.items():
            carried = self._sources(place, vector, after.get(vector, -1), products)
            node = self._nodes[place]
            if vector not in carried and node.operation in (INPUT, STATE):
                what = f"{'the state ' if node.operation == STATE else ''}{node.letter}{order}"
            elif vector not in carried:
                news = (f"the new state {letter}" for letter, new in after.items() if new == place)
                cure = f"give it {vector}, or a Weight and ops.product for the other vector"
                what = f"{next(news, f'a vector that does not carry {vector}')}; {cure}"
            elif others := carried - {vector, "x"} if vector != "x" else ():
                what = f"{vector} mixed with {min(others)}{order}"
            else:
                continue
            raise self._error(f"gate {gate} reads {vector}, and the step gives it {what}")
        for one, other in combinations(before, 2):
            sources = {letter: self._sources(after[letter]) for letter in (one, other)}
            if all(
                state not in sources[state] and its in sources[state] and after[state] != before[its]
                for state, its in ((one, other), (other, one))
            ):
                what = f"the state {one} is made of {other}, and not of {one}, and {other} of {one}, and not of {other}"
                raise self._error(f"{what}{order}")

    def _sources(self, place: int, vector: str = "", new: int = -1, stop: Collection[int] = ()) -> set[str]:
        """Return the letters of x and of the states from which a value is made.

        vector: a state that is itself at the place `new`, as this step has made it.
        stop: products whose operands are left out: what a matrix makes of a state is another vector.
        """
        letters: set[str] = set()
        reached = {place}
        for each in range(place, -1, -1):
            node = self._nodes[each]
            if each in reached and each == new:
                letters.add(vector)
            elif each in reached and each not in stop:
                reached.update(node.operands)
                if node.operation in (INPUT, STATE):
                    letters.add(node.letter)
        return letters

    def _check_names(self, output: int, after: Mapping[str, int]) -> None:
        """Refuse two values with one name, which equations, pictures and programs would confuse."""
        named = {"h": output, **after}
        if named["h"] != output:
            cure = "return h, (h, ...), or call the state by another letter"
            message = "the step's output is called h, and is another value than the state h"
            raise self._error(f"{message}; {cure}")
        for letter, place in named.items():
            if self._values.get(letter, place) != place:
                what = f"the state {letter}" if letter in after else "the step's output"
                raise self._error(f"gate {letter} is called as {what}, and is another value; give it another letter")

    def _check_uses(self, ends: Collection[int]) -> None:
        """Refuse parts that are declared but not used, and values that reach neither the output nor a state."""
        declared = {*self._products, *((letter, "") for letter in (*self._gates, *self._weights))}
        for part in sorted(declared - self._used):
            raise self._error(f"{_part_name(*part)} is declared, and the step does not use it")
        reached = made_of(self._nodes, ends)
        used = {(letter, "") for letter, place in self._values.items() if place in reached}
        used |= {part for place, parts in self._sums.items() if place in reached for part in parts}
        weights = (self._nodes[place].weights for place in reached)
        beside = (Role.MATRIX, Role.VECTOR, Role.SCALAR)
        used |= {(each.letter, "") for each in weights if each and each.role in beside}
        unused = [_part_name(*part) for part in sorted(declared - used)]
        unused += [
            node.author_name
            for place, node in enumerate(self._nodes)
            if place not in reached and node.operation not in (INPUT, STATE, WEIGHTS)
        ]
        for name in unused:
            raise self._error(f"{name} is made in the step, and reaches neither its output nor a state")


def _side(vector: str) -> Side:
    """Return the side of a gate on which a vector is read."""
    return Side.INPUT if vector == "x" else Side.RECURRENT


def _part_name(letter: str, vector: str) -> str:
    return f"gate {letter}'s product of {vector}" if vector else letter


def trace(layer: Cell | Transform | Dense | Embedding, inputs: int, convention: Convention) -> Trace:
    """Return the trace of one step of a cell under a convention, or of a layer around the cells.

    Cells of the package that differ only in their widths share one trace. Raises DeclarationError if the step of a cell
    is not what it declares.
    """
    layer = convention.settled(layer)
    if not isinstance(layer, Cell):
        return layer_trace(layer, inputs)
    return _checked(layer, inputs, lambda: _of_cell(layer, inputs, convention))


def _of_cell(layer: Cell, inputs: int, convention: Convention) -> Trace:
    sizes = layer.sizes(inputs)
    fine = all(map(is_size, sizes.values()))
    declares = layer.gates(inputs), layer.weights, layer.states, fine
    traces: list[tuple[object, Trace]] = convention.cache.setdefault(
        (type(layer), tuple(sizes), layer.choices(), inputs == layer.units, inputs == 2 * layer.units), []
    )
    for declaration, trace in traces:  # usually there is one: comparing gates is faster than hashing them
        if declaration == declares:
            return trace
    arrays = convention.arrays(layer.kind)
    sides = sides_of_biases(layer, layer.gates(inputs), arrays) if arrays else NO_SIDES
    tracer = Tracer(layer, inputs, convention.habits(layer.kind), sides)
    trace = tracer()
    traces.append((declares, trace))
    return trace


def traced(layer: Cell, inputs: int, habits: Habits = NO_HABITS, sides: Mapping[str, Side] = NO_SIDES) -> Trace:
    """Return a new trace of a cell's step. Raises DeclarationError if it is not what the cell declares."""
    return _checked(layer, inputs, lambda: Tracer(layer, inputs, habits, sides)())


_PARTS: dict[str, type] = {
    "letter": str,
    "form": Form,
    "bias": bool,
    "normalised": bool,
    "products": tuple,
    "widths": tuple,
}
"""The types of the fields of gates, products and weights that decide what is counted."""


def _checked(layer: Cell, inputs: int, function: Callable[[], Trace]) -> Trace:
    """Return the trace that a function makes of a cell, after a check of what a user's cell declares."""
    if layer.of_user:
        check_cell(layer, inputs)
    return run_declared(layer, "step", function)


def check_own(layer: Layer, shape: Shape) -> None:
    """Raise DeclarationError if a user's cell or layer is not what it declares, for an input of a shape."""
    if isinstance(layer, Cell):
        check_cell(layer, shape[-1])
    elif isinstance(layer, Transform):
        check_output(layer, shape)


def check_cell(layer: Cell, inputs: int) -> None:
    """Raise DeclarationError if what a user's cell declares would be counted otherwise than its step reads it."""
    if message := run_declared(layer, "step", lambda: next(_miscounted(layer, inputs), "")):
        raise DeclarationError(f"{layer.kind}: {message}{line_of(type(layer))}")
    of_weights = [width for weight in layer.weights for width in weight.widths]
    widths = run_declared(layer, "states", lambda: ("m", "h", *layer.states.values(), layer.output, *of_weights))
    check_sizes(layer, inputs, *widths)
    check_width(layer, "output_width", Cell.output_width(layer, inputs), lambda: layer.output_width(inputs))


def _miscounted(layer: Cell, inputs: int) -> Iterator[str]:
    """Yield the declarations that would be counted otherwise than the step reads them."""
    gates = layer.gates(inputs)
    parts: list[Gate | Weight] = [*gates, *layer.weights]
    letters = [part.letter for part in parts]
    for part in parts:
        inner: tuple[Any, ...] = part.products if isinstance(part, Gate) else ()
        for each in (part, *inner):
            for field, value in each._asdict().items():
                if not isinstance(value, kind := _PARTS.get(field, object)):
                    yield f"{part.letter}: expected {kind.__name__} as {field}, got {value!r}"
                elif field == "activation" and value not in (*ACTIVATIONS, *RECURRENT_ACTIVATIONS):
                    yield f"{part.letter}: expected {one_of(ACTIVATIONS)}, got {value!r}"
        if letters.count(part.letter) > 1:
            yield f"two of its gates and weights are called {part.letter}; give each a letter of its own"
    for gate in gates:
        reads = [product.vector for product in gate.products]
        for vector in reads:
            if reads.count(vector) > 1:
                yield f"gate {gate.letter} has two products of {vector}; one matrix says as much"
