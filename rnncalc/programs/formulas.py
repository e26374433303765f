"""The words of a framework for expressions, and what writes formulas with them, and layers that the framework lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import ClassVar

from rnncalc.conventions import convention
from rnncalc.errors import RefusedError
from rnncalc.layers.layer import Layer, Transform, bias_of, length_of
from rnncalc.network.stack import Placed
from rnncalc.programs.code import attribute
from rnncalc.programs.program import TEXTBOOK
from rnncalc.step.equations import Application, Formula, Symbol
from rnncalc.step.layer_trace import array_of, layer_trace
from rnncalc.step.nodes import INPUT, SEQUENCE, STEP, STEPS, made_of
from rnncalc.step.operations import ATOM, OPERATIONS


class Expressions:
    """The words of expressions: templates with {places}."""

    reserved: Container[str] = ()  # attributes of modules beside RESERVED, in small letters
    library: str  # the module of functions
    functions: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # functions with other names, and their further arguments
    transposed: str = "{matrix}.T"
    number: str = "{parameter}"  # a parameter read as an array
    join: str  # the function that concatenates arrays
    axis: str  # its argument for the axis
    zeros: str  # so many steps of zeros, of the batch of x

    def called(self, name: str, arguments: Iterable[str]) -> str:
        function, *others = self.functions.get(name) or (f"{self.library}.{OPERATIONS[name].program or name}",)
        return f"{function}({', '.join([*arguments, *others])})"


def dense_of(layer: Layer) -> dict[str, str]:
    """Return the names of the dense layers in a layer, by the roles of their matrices."""
    return {role: "matrix" if role == "kernel" else role for role, axes in layer.arrays if len(axes) > 1}


class FormulaWriter:
    """Writes formulas as code; `names` are the variables of formulas that have one.

    blocks: the matrices that are blocks along a diagonal, by the code of each, with their number.
    """

    def __init__(self, words: Expressions, blocks: Mapping[str, int] = {}) -> None:
        self.words = words
        self.names: dict[Formula, str] = {}
        self.blocks = blocks

    def code(self, formula: Formula) -> str:
        if formula in self.names:
            return self.names[formula]
        if isinstance(formula, Symbol) and formula.time:
            return f"{formula.letter}_{formula.subscript}" if formula.subscript else formula.letter
        if isinstance(formula, Symbol):
            name = f"self.{formula.letter}{'_' if formula.subscript else ''}{formula.subscript}"
            return name if formula.axes else self.words.number.format(parameter=name)
        row, operands = OPERATIONS[formula.operation], formula.operands
        if row.function:
            return self.words.called(row.name, map(self.code, operands))
        if row.before:
            return f"{row.program}{self.tight(operands[0], row.strength + 1)}"
        if row.name == "matrix":
            matrix, vector = operands
            if number := self.blocks.get(name := self.code(matrix)):
                return f"in_blocks({name}, {self.code(vector)}, {number})"
            return f"{self.tight(vector, ATOM)} @ {self.words.transposed.format(matrix=self.code(matrix))}"
        if row.strength == 1:
            first, *others = operands
            return " ".join([self.code(first), *(f"{row.program} {self.tight(term, 2)}" for term in others)])
        left, right = operands
        is_product = isinstance(left, Application) and left.operation == "matrix"
        return f"{self.tight(left, ATOM if is_product else row.strength)} {row.program} {self.tight(right, ATOM)}"

    def tight(self, formula: Formula, least: int) -> str:
        """Return code, in brackets if it binds less tightly than its context requires."""
        code = self.code(formula)
        if isinstance(formula, Symbol) or formula in self.names:
            return code
        return f"({code})" if OPERATIONS[formula.operation].strength < least else code


class LayerWriter:
    """Writes a layer around the cells from the nodes of its trace; steps: those of its input, None if unknown.

    An array has the batch in front, then an axis for each letter that it differs with (t, s and i of `Trace.repeats`),
    and its numbers last; of numbers for each step s, that is the axis of s.
    of_dense: whether its matrices, each with its bias, are dense layers.
    """

    def __init__(self, formulas: FormulaWriter, placed: Placed, steps: int | None, *, of_dense: bool = False) -> None:
        assert isinstance(placed.layer, Transform)
        self.layer, self.placed, self.steps = placed.layer, placed, steps
        self.trace = layer_trace(placed.layer, placed.inputs // placed.places)
        names = [attribute(tensor.name, formulas.words.reserved) for tensor in placed.tensors]
        self.attributes = dict(zip([role for role, _ in placed.layer.arrays], names, strict=True))
        self.dense = dense_of(placed.layer) if of_dense else {}
        self.causal = placed.layer.time.whole and length_of(placed.layer.window_of(0, 2)) == 1
        self.formulas, self.words = formulas, formulas.words
        self.values: list[Formula] = []
        self.taps: list[str] = []

    def lines(self) -> Iterator[str]:
        """Yield the statements that make x the output for x (batch, steps, features)."""
        if not self.layer.time.whole:
            yield from self._windows()
        names, nodes = self.formulas.names, self.trace.nodes
        uses = Counter(operand for node in nodes for operand in node.operands)
        for place, node in enumerate(nodes):
            value = self._value(place)
            if node.operation in OPERATIONS and (node.letter or uses[place] > 1) and place != self.trace.output:
                name = node.letter if node.letter.isalpha() and node.letter not in names.values() else f"value_{place}"
                yield f"{name} = {self.formulas.code(value)}"
                names[value] = name
            self.values.append(value)
        yield f"x = {self.formulas.code(self.values[self.trace.output])}"
        if self.layer.time.ends and not self.layer.time.whole:
            yield "x = x[:, 0]"

    def _windows(self) -> Iterator[str]:
        """Yield the statements that pad x, and keep the code of each step of all windows."""
        layer, words, steps, width = self.layer, self.words, self.steps or 1_000, self.placed.inputs
        shape, window = layer.output_shape((steps, width)), layer.window_of(0, steps)
        last = layer.window_of(shape[0] - 1 if len(shape) > 1 else 0, steps)[-1]
        before, after = -window[0], max(last + 1 - steps, 0)
        if self.steps is None and (layer.time.ends or (layer.every > 1 and (before or after))):
            raise RefusedError(f"{self.placed.name}: how it is padded depends on the number of steps; give steps")
        zeros = {number: words.zeros.format(x="x", steps=number, width=width) for number in (before, after)}
        parts = [zeros[before]] * (before > 0) + ["x"] + [zeros[after]] * (after > 0)
        if len(parts) > 1 and layer.skips:
            raise RefusedError(f"{self.placed.name}: the framework pools without padding alone; write padding: valid")
        if len(parts) > 1:
            yield f"x = {words.join}([{', '.join(parts)}], {words.axis}=1)"
        if before < 0:
            yield f"x = x[:, {-before}:]"
        span, every = window[-1] - window[0], f":{layer.every}" if layer.every > 1 else ""
        self.taps = [f"x[:, {tap or ''}:{tap - span or ''}{every}]" for tap in range(0, span + 1, window.step)]
        if any(node.operation in ("largest", "average") or len(node.axes) > 2 for node in self.trace.nodes):
            yield f"windows = {words.library}.stack([{', '.join(self.taps)}], {words.axis}=-1)"

    def _value(self, place: int) -> Formula:
        """Return the formula of a value: a symbol with code of its own, unless formulas have its operation."""
        node, words, sizes = self.trace.nodes[place], self.words, self.placed.sizes
        values = [self.values[operand] for operand in node.operands]
        read = [self.trace.nodes[operand] for operand in node.operands]
        first, *others = [self.formulas.tight(value, ATOM) for value in values] or [""]
        library = words.library
        match node.operation:
            case "input" | "sequence":
                code = "x"
            case "step":
                code = self.taps[node.number]
            case "weights" if node.weights:
                code = words.number.format(parameter=f"self.{self.attributes[array_of(self.layer, node.weights)]}")
            case "matrix" if name := self.dense.get(self._role(node.operands[0])):
                code = f"self.{name}({self.formulas.code(values[1])})"
            case "plus" if self._role(node.operands[1]) in map(bias_of, self.dense):
                return values[0]
            case "current" if read[0].width == STEPS:  # from an axis of its own to that of t
                read_axes = self._axes(node.operands[0])
                code = f'{library}.einsum("{read_axes}->{read_axes.replace("is", "si")}", {first})[..., None]'
            case "current" | "copy":
                return values[0]
            case "joined" if self.layer.time.whole:
                code = f'{library}.einsum("{self._axes(node.operands[0])}->{self._axes(place)}", {first})'
            case "matrix" if len(read[0].axes) > 2:
                rows, columns, taps = (sizes[letter] for letter in read[0].axes)
                vectors = f"{library}.reshape(windows, (*windows.shape[:2], {node.number}, {columns}, {taps}))"
                kernel = f"{library}.reshape({first}, ({taps}, {node.number}, {rows // node.number}, {columns}))"
                product = f'{library}.einsum("btgmk,kgnm->btgn", {vectors}, {kernel})'
                code = f"{library}.reshape({product}, (*windows.shape[:2], {rows}))"
            case "largest" | "average":
                code = f"{library}.{'amax' if node.operation == 'largest' else 'mean'}(windows, {words.axis}=-1)"
            case "part":
                start = node.number * sizes[node.width]
                code = f"{first}[..., {start}:{start + sizes[node.width]}]"
            case "heads":
                each = sizes.get(node.width, 1)
                parts = f"{sizes[read[0].width] // each}, {each}"
                code = f"{library}.reshape({first}, (*{first}.shape[:-1], {parts}))"
            case "concat":
                code = f"{library}.reshape({first}, (*{first}.shape[:-2], {sizes[node.width]}))"
            case "over_root":
                return Application("over", (values[0], self._symbol(f"{sizes[node.axes[0]]}**0.5")))
            case "dot" | "mix" if node.operation == "dot" or self._mixes(place):
                one, other, result = map(self._axes, (*node.operands, place))
                code = f'{library}.einsum("{one},{other}->{result}", {first}, {others[0]})'
            case "normalise":
                function, *_ = words.functions[node.operation]
                epsilon = convention(TEXTBOOK).transform(self.layer.kind).epsilon
                code = f"{function}({first}, epsilon={epsilon})"
            case "softmax" if node.width == STEPS and self.causal:
                later = f"{library}.tril({library}.ones_like({first})) == 0"
                code = words.called("softmax", [f'{library}.where({later}, -float("inf"), {first})'])
            case name:
                axes = {self._axes(operand) for operand in node.operands} - {"w"}
                if (OPERATIONS[name].beside and name != "matrix") or len(axes) > 1:
                    raise RefusedError(f"{self.placed.name}: no program is written with ops.{name} as it uses that")
                return Application(name, tuple(values))
        return self._symbol(code)

    def _role(self, place: int) -> str:
        """Return the role of the array that a node is, if it is one."""
        weights = self.trace.nodes[place].weights
        return array_of(self.layer, weights) if weights else ""

    def _symbol(self, code: str) -> Symbol:
        """Return a symbol that is written as code, which needs no brackets."""
        symbol = Symbol(f"code {len(self.formulas.names)}")
        self.formulas.names[symbol] = code
        return symbol

    def _mixes(self, place: int) -> bool:
        """Return whether a weighted sum is one for each step of the output, its weights zero for later steps."""
        (weights, _), trace = self.trace.nodes[place].operands, self.trace
        each = self.layer.time.ends or "t" in trace.repeats[place]
        return each and (not self.causal or trace.nodes[weights].operation == "softmax")

    def _axes(self, place: int) -> str:
        """Return a letter for each axis of a value, w for its numbers; only w if it is made of weights alone."""
        trace, width = self.trace, self.trace.nodes[place].width
        if all(trace.nodes[each].operation not in (INPUT, SEQUENCE, STEP) for each in made_of(trace.nodes, (place,))):
            return "w"
        letters, last = ("its", "") if width == STEPS else ("tsi", "w")
        return "b" + "".join(letter for letter in letters if letter in trace.repeats[place]) + last
