"""A layer around the cells, run once on symbols: the nodes of the output vector that it makes of a window.

What a user's class declares is compared with what its `compute` does: an array that does not reach the output, a vector
of another width than declared. Each is a DeclarationError that names the file and the line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from rnncalc.conventions.layout import role_of_array
from rnncalc.conventions.tensor import STORED
from rnncalc.errors import DeclarationError, exception_text, line_of, place_of
from rnncalc.layers.layer import Dense, Embedding, Layer, LayerOperations, Output, Shape, Time, Transform, length_of
from rnncalc.layers.options import is_size
from rnncalc.step.nodes import (
    AROUND,
    INPUT,
    JOINED,
    ONE,
    SEQUENCE,
    STATE,
    STEP,
    STEPS,
    WEIGHTS,
    Node,
    Operand,
    Recorder,
    Trace,
    Weights,
    made_of,
    repeats_of,
)
from rnncalc.step.operations import OPERATIONS
from rnncalc.words import all_of, did_you_mean, one_of

T = TypeVar("T")


class WindowOperand(Operand):
    """The vectors that a layer makes one vector of; one of them is `window[0]`, the last is `window[-1]`."""

    __slots__ = ("step",)

    def __init__(self, place: int, step: Callable[[int], Operand]) -> None:
        super().__init__(place)
        self.step = step

    def __getitem__(self, index: int) -> Operand:
        return self.step(index)


class SequenceOperand(Operand):
    """Each vector of a sequence that a layer reads whole; `current` is the one at the step of its output."""

    __slots__ = ("_current",)

    def __init__(self, place: int, current: Callable[[], Operand]) -> None:
        super().__init__(place)
        self._current = current

    @property
    def current(self) -> Operand:
        """The vector at the step of the output."""
        return self._current()


class LayerTracer(Recorder):
    """The `layers.layer.LayerOperations` that trace a layer; undeclared arrays and widths that differ are refused."""

    protocol = LayerOperations
    function = "compute"

    def __init__(self, layer: Transform | Dense | Embedding, inputs: int) -> None:
        super().__init__(layer.kind)
        self._layer = layer
        self._sizes = layer.sizes(inputs)
        self._arrays = dict(layer.arrays)
        self._letters = ("h", "y") if isinstance(layer, Output) else ([*layer.vectors][-1], "")
        self._slides = slides(layer)
        self._length = length_of(layer.window_of(0, 1))
        self._before: dict[str, int] = {}
        self._after: dict[str, int] = {}

    def __call__(self) -> Trace:
        """Run the layer and return its trace."""
        whole = self._layer.time.whole
        *_, width = self._layer.vectors.values()
        x = self._place(Node(SEQUENCE if whole else INPUT, width=width, letter=self._letters[0]))
        window = SequenceOperand(x, self._current) if whole else WindowOperand(x, self._step)
        output = self._vector(self._layer.compute(self, window), "what compute returns")
        if beyond := repeats_of(self._nodes)[output] - {"t"}:
            each, cure = ("head", "ops.concat") if "i" in beyond else ("step of the sequence", "ops.mix")
            raise self._error(f"what compute returns is a value for each {each}; make one vector of them with {cure}")
        self._name_wholes()
        return Trace((*self._nodes,), x, self._before, self._after, output, {}, ())

    def _step(self, number: int) -> Operand:
        if not isinstance(number, int) or not -self._length <= number < self._length:
            raise self._error(f"compute reads window[{number!r}], and a window has {self._length}")
        return Operand(self._place(Node(STEP, (0,), "m", number=number)) if self._slides else 0)

    def _current(self) -> Operand:
        if self._layer.time.ends:
            raise self._error("compute reads the current step, and the layer outputs one vector of the whole sequence")
        letter, width = next(iter(self._layer.vectors.items()))
        return Operand(self._place(Node(INPUT, width=width, letter=letter)))

    def _vector(self, value: object, what: str = "what an operation is done with") -> int:
        if isinstance(value, WindowOperand) and self._slides:
            raise self._error(f"{what} is a whole window; take one vector of it, such as window[0]")
        return super()._vector(value, what)

    # What a layer may do

    def weight(self, role: str) -> Operand:
        if role in STORED:
            raise self._error(f"the array {role} is not trained; read it with ops.stored")
        return self._weights(role, 1)

    def stored(self, role: str) -> Operand:
        if role not in STORED:
            raise self._error(f"the array {role} is trained; read it with ops.weight, or call it {one_of(STORED)}")
        return self._weights(role, 1)

    def product(self, role: str, vector: Operand) -> Operand:
        window = isinstance(vector, WindowOperand) and self._slides
        place = vector.place if window else self._vector(vector)
        weights = self._weights(role, 3 if window else 2)
        rows, columns, *taps = self._nodes[weights.place].axes
        if taps and self._sizes.get(taps[0]) != self._length:
            raise self._error(f"a kernel of {self._sizes.get(taps[0])} steps meets windows of {self._length}")
        width = self._nodes[place].width
        groups = 1
        if self._width(width) != self._width(columns):
            groups = self._groups(rows, columns, width) if window else 0
            if not groups:
                raise self._error(f"the array {role} has columns for {columns} numbers, and {width} reach it")
        return Operand(self._place(Node("matrix", (weights.place, place), rows, number=groups)))

    def lookup(self, role: str, number: Operand | None = None) -> Operand:
        if not isinstance(self._layer, Embedding):
            raise self._error("only an embedding has ops.lookup, because it reads token numbers; use ops.product")
        table = self._weights(role, 2)
        at = () if number is None else (self._expect("what ops.lookup looks up", number, ONE),)
        width = self._nodes[table.place].axes[1]
        return Operand(self._place(Node("lookup" if at else "row", (table.place, *at), width)))

    def largest(self, window: WindowOperand) -> Operand:
        return self._of_window("largest", window, "m")

    def average(self, window: WindowOperand) -> Operand:
        return self._of_window("average", window, "m")

    def joined(self, window: Operand) -> Operand:
        if isinstance(window, WindowOperand):
            return self._of_window("joined", window, JOINED)
        self._check_sequence(window)
        return Operand(self._place(Node("joined", (self._expect("what ops.joined takes", window, ONE),), STEPS)))

    def copy(self, vector: Operand) -> Operand:
        return self._operate(OPERATIONS["copy"], vector)

    def standardise(self, vector: Operand, mean: Operand, variance: Operand) -> Operand:
        return self._operate(OPERATIONS["standardise"], vector, mean, variance)

    def current(self, sequence: Operand) -> Operand:
        self._check_sequence(sequence)
        width = self._nodes[sequence.place].width
        return Operand(self._place(Node("current", (sequence.place,), ONE if width == STEPS else width)))

    def dot(self, vector: Operand, sequence: Operand) -> Operand:
        self._check_sequence(sequence)
        width = self._nodes[self._vector(vector)].width
        return self._paired("dot", self._expect("what meets a vector in ops.dot", sequence, width), vector, STEPS)

    def mix(self, weights: Operand, sequence: Operand) -> Operand:
        self._check_sequence(sequence)
        self._expect("the weights of ops.mix", weights, STEPS)
        return self._paired("mix", sequence.place, weights, self._nodes[sequence.place].width)

    def past(self, letter: str) -> Operand:
        self._check_memory("past")
        self._before[letter] = self._place(Node(STATE, width=STEPS, letter=letter))
        return Operand(self._before[letter])

    def keep(self, letter: str, vector: Operand) -> None:
        self._after[letter] = self._expect("what ops.keep keeps", vector, STEPS)

    def around(self, role: str, *vectors: Operand) -> Operand:
        self._check_memory("around")
        weights = self._weights(role, 3)
        rows, columns, steps = self._nodes[weights.place].axes
        read = tuple([self._expect("what ops.around reads", vector, STEPS) for vector in vectors])
        window = self._place(Node(AROUND, read, columns, number=self._sizes[steps]))
        return Operand(self._place(Node("matrix", (weights.place, window), rows, number=1)))

    def _check_memory(self, name: str) -> None:
        if self._layer.time is not Time.MEMORY:
            raise self._error(f"only a decoder's attention has ops.{name}")

    def join(self, first: Operand, second: Operand, width: str) -> Operand:
        places = self._vector(first), self._vector(second)
        self._know(width)
        if sum(self._sizes[self._nodes[place].width] for place in places) != self._sizes[width]:
            raise self._error(f"the vectors of ops.join are not of {width} numbers together")
        return Operand(self._place(Node("join", places, width)))

    def over_root(self, vector: Operand, width: str) -> Operand:
        place = self._vector(vector)
        self._know(width)
        return Operand(self._place(Node("over_root", (place,), self._nodes[place].width, axes=(width,))))

    def heads(self, vector: Operand, width: str) -> Operand:
        place = self._vector(vector)
        self._know(width)
        if self._sizes.get(whole := self._nodes[place].width, 0) % self._sizes.get(width, 1):
            raise self._error(f"a vector of {whole} numbers has no parts of {width} numbers")
        return Operand(self._place(Node("heads", (place,), width)))

    def concat(self, heads: Operand, width: str) -> Operand:
        self._know(width)
        return Operand(self._place(Node("concat", (self._vector(heads),), width)))

    def name(self, letter: str, value: Operand) -> Operand:
        place = self._vector(value)
        self._nodes[place] = self._nodes[place]._replace(letter=letter)
        return value

    def part(self, vector: Operand, width: str, index: int) -> Operand:
        place = self._vector(vector)
        whole, each = self._sizes.get(self._nodes[place].width, 0), self._sizes.get(width, 1)
        parts = whole // each if whole % each == 0 and width in self._sizes else 0
        if not isinstance(index, int) or not 0 <= index < parts:
            raise self._error(f"a vector of {self._nodes[place].width} numbers has no part {index} of {width} numbers")
        return Operand(self._place(Node("part", (place,), width, number=index)))

    def _know(self, width: str) -> None:
        if width not in (*self._sizes, ONE):
            raise self._error(f"sizes gives no number for the width {width}{did_you_mean(width, [*self._sizes])}")

    def _check_sequence(self, sequence: Operand) -> None:
        if "s" not in repeats_of(self._nodes)[self._vector(sequence)]:
            raise self._error("ops.dot and ops.mix take a vector, and a value that each step of the sequence has")

    def _paired(self, name: str, sequence: int, vector: Operand, width: str) -> Operand:
        return Operand(self._place(Node(name, (vector.place, sequence), width)))

    def _of_window(self, name: str, window: object, width: str) -> Operand:
        if not isinstance(window, WindowOperand):
            raise self._error(f"ops.{name} takes the window")
        return Operand(self._place(Node(name, (window.place,), width)))

    def _weights(self, role: str, axes: int) -> Operand:
        if role not in self._arrays:
            declared = f"there are {all_of([*self._arrays])}" if self._arrays else "there is none"
            near = did_you_mean(role, [*self._arrays])
            raise self._error(f"compute reads the array {role}, which is not declared{near}; {declared}")
        letters = tuple(self._arrays[role])
        if len(letters) != axes:
            raise self._error(f"compute reads the array {role} with {axes} axes, and {len(letters)} are declared")
        reads, letter = self._letters
        kind = role_of_array(role, self._arrays[role])
        weights = Weights(kind, letter if kind.value == role else role, reads if axes > 1 else "")
        return Operand(self._place(Node(WEIGHTS, width=letters[0] if axes == 1 else "", weights=weights, axes=letters)))

    def _groups(self, rows: str, columns: str, width: str) -> int:
        """Return how many groups of a kernel's rows each read their own part of a vector; 0 if they cannot."""
        filters, part, whole = (self._sizes.get(letter, 0) for letter in (rows, columns, width))
        return whole // part if part and whole and not whole % part and not filters % (whole // part) else 0

    def _name_wholes(self) -> None:
        """Give a letter to each value that is used in parts, or made in groups; it has an equation of its own."""
        wholes = {node.operands[0] for node in self._nodes if node.operation == "part"}
        wholes |= {place for place, node in enumerate(self._nodes) if node.in_groups}
        names = {*"bhistxy", *self._sizes, *self._arrays, *[node.letter for node in self._nodes]}
        letters = [letter for letter in map(chr, range(ord("a"), ord("z") + 1)) if letter not in names]
        unnamed = [place for place in sorted(wholes) if self._nodes[place].operation in OPERATIONS]
        unnamed = [place for place in unnamed if not self._nodes[place].letter]
        for place, letter in zip(unnamed, letters, strict=False):
            self._nodes[place] = self._nodes[place]._replace(letter=letter)

    def _width(self, letter: str) -> str:
        number = self._sizes.get(letter)
        return next((each for each, size in self._sizes.items() if size == number), letter)


def slides(layer: Layer) -> bool:
    """Return whether a layer makes a vector of several vectors."""
    return layer.time.along or length_of(layer.window_of(0, 2)) > 1


def array_of(layer: Layer, weights: Weights) -> str:
    """Return the role under which a layer declares the array of some weights."""
    return next((role for role, _ in layer.arrays if role == weights.letter), weights.role.value)


@lru_cache(maxsize=1_024)
def layer_trace(layer: Transform | Dense | Embedding, inputs: int) -> Trace:
    """Return the trace of a layer around the cells.

    Raises DeclarationError if the `compute` of a user's layer is not what its class declares.
    """
    if not layer.of_user:
        return LayerTracer(layer, inputs)()
    check_sizes(layer, inputs, "m")
    if not isinstance(window := run_declared(layer, "window_of", lambda: layer.window_of(0, 1)), range):
        raise _error(layer, "window_of", f"window_of(0, 1) is {window}; return a range of steps")
    trace = run_declared(layer, "compute", lambda: LayerTracer(layer, inputs)())
    check_sizes(layer, inputs, "m", *(axis for _, axes in layer.arrays for axis in axes if axis != ONE))
    weights = (trace.nodes[place].weights for place in made_of(trace.nodes, (trace.output,)))
    reached = {array_of(layer, each) for each in weights if each}
    roles = [role for role, _ in layer.arrays]
    for role in roles:
        if role not in reached:
            message = f"the array {role} does not reach what compute returns; use the array in compute, or remove it"
            raise _error(layer, "compute", message)
        if roles.count(role) > 1:
            raise _error(layer, "arrays", f"two arrays are called {role}; give each a name of its own")
    return trace


def check_sizes(layer: Layer, inputs: int, *widths: str) -> None:
    """Raise DeclarationError unless `sizes` of a user's layer gives these widths, as numbers, and m is `inputs`."""
    sizes: Any = run_declared(layer, "sizes", lambda: layer.sizes(inputs))
    for width in widths:
        if not isinstance(sizes, Mapping) or width not in sizes:
            gives = ", ".join(map(str, sizes)) if isinstance(sizes, Mapping) else repr(sizes)
            raise _error(layer, "sizes", f"the width {width} has no number; sizes() gives {gives}")
    for width, size in sizes.items():
        if not is_size(size):
            raise _error(layer, "sizes", f"the width {width} is {size!r}; sizes() gives whole numbers, 1 or more")
    if sizes["m"] != inputs:
        raise _error(layer, "sizes", f"the width m is {sizes['m']}, and {inputs} numbers reach the layer")


def check_output(layer: Transform, shape: Shape) -> None:
    """Raise DeclarationError if a user's layer makes another width than it declares, of an input of a shape."""
    (*steps, inputs), trace = shape, layer_trace(layer, shape[-1])
    width = trace.nodes[trace.output].width
    if width != JOINED:
        numbers = layer.sizes(inputs)[width]
        check_width(layer, "output_width", numbers, lambda: layer.output_width(inputs))
    elif None not in steps:
        numbers = inputs * length_of(layer.window_of(0, *(steps or [1])))
    else:
        return
    check_width(layer, "output_shape", numbers, lambda: layer.output_shape(shape)[-1])


def check_width(layer: Layer, member: str, numbers: int, declared: Callable[[], object]) -> None:
    """Raise DeclarationError if a member of a user's class gives another width than the numbers that it makes."""
    width = run_declared(layer, member, declared)
    if not is_size(width) or width != numbers:
        raise _error(layer, member, f"it makes {numbers} numbers, and {member} says {width!r}")


def run_declared(layer: Layer, member: str, function: Callable[[], T]) -> T:
    """Return what a function returns; any exception becomes a DeclarationError with a line of the layer's file.

    member: the method of the layer's class that says which file that is, and is named if no line of it is to blame.
    """
    path = getattr(getattr(getattr(type(layer), member), "__code__", None), "co_filename", "")
    try:
        return function()
    except DeclarationError as error:
        raise DeclarationError(f"{error}{place_of(error, path) or _line(layer, member)}") from error
    except Exception as error:
        raise DeclarationError(f"{layer.kind}: {exception_text(error, path, innermost=False)}") from error


def _error(layer: Layer, member: str, message: str) -> DeclarationError:
    """Return the error of a layer's declaration, with the file and line of the member of its class."""
    return DeclarationError(f"{layer.kind}: {message}{_line(layer, member)}")


def _line(layer: Layer, member: str) -> str:
    """Return the file and line of a member of a layer's class, or of the class if it has none of its own."""
    definition: Any = vars(type(layer)).get(member)
    definition = definition.fget if isinstance(definition, property) else definition
    return line_of(definition if callable(definition) else type(layer))
