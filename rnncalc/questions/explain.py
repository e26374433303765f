"""`explain`: derives a count step by step from the tensors, with the equations that use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.conventions import NOTATIONS, convention
from rnncalc.conventions.formula import Expression, Plus, Times, arithmetic
from rnncalc.conventions.notation import Notation
from rnncalc.conventions.rules import Convention
from rnncalc.conventions.tensor import Direction, Role, Tensor
from rnncalc.display import displayed
from rnncalc.errors import CallError
from rnncalc.layers.cell import Cell, Gate
from rnncalc.layers.layer import Dense, Embedding, External, Output, Shape, Transform
from rnncalc.letters import has_letters
from rnncalc.network.flow import Attend, Delay, Last, Merge, Moves, Placement, shapes
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed, levels_of
from rnncalc.questions import describe, network_of, word
from rnncalc.questions.count import Count, count
from rnncalc.questions.dense import DenseEquivalent, dense_equivalent
from rnncalc.step.equations import (
    Equation,
    Formulas,
    KernelWindow,
    LayerFormulas,
    NamedValues,
    Symbol,
    equations,
    letter_of,
    symbol_of,
)
from rnncalc.step.layer_trace import slides
from rnncalc.step.operations import OPERATIONS
from rnncalc.step.trace import trace
from rnncalc.words import not_among

if TYPE_CHECKING:
    from rnncalc.questions.compare import Allocations
    from rnncalc.step.nodes import Trace


class StepKind(Enum):
    """The subject of a line of a derivation."""

    TENSOR = "tensor"
    ONE_BLOCK = "one block"
    BLOCKS = "blocks"
    SUM = "sum"
    DIRECTIONS = "directions"
    FORMULA = "formula"
    TOTAL = "total"


class Step(NamedTuple):
    """One line of a derivation: what is counted, its expression, and its value.

    name, role: of a tensor. gates: the letters of the gates it is about.
    sizes: the values of the letters in the expression; names: those in the names of a network's sizes, if any has one.
    """

    what: StepKind
    expression: Expression
    params: int
    sizes: Mapping[str, int] = {}
    name: str = ""
    role: Role | None = None
    gates: str = ""
    names: Mapping[str, Any] = {}


class Derivation(NamedTuple):
    """The derivation of one layer's count.

    placed: the layer. below: the layer that it reads, None for the first of a part. shape: of its input.
    row: the convention of the count, in the letters of the notation if one is named.
    context: how many numbers of its input are a context of a decoder's attention. added: whether it is a sum with one.
    level: the number of a recurrent layer among several of its part, to be written above its letters; 0 for none.
    read_level: that of the recurrent layer whose state it reads; 0 for none.
    asked: the letter of its state that attention reads before each step; empty for none.
    gates: with their functions in the layer.
    notation: the notation of the equations.
    equations: of one step; empty for a layer without equations.
    """

    placed: Placed
    below: Placed | None
    shape: Shape
    row: Convention
    gates: tuple[Gate, ...]
    notation: Notation
    equations: tuple[Equation, ...]
    steps: tuple[Step, ...]
    context: int = 0
    added: bool = False
    level: int = 0
    read_level: int = 0
    asked: str = ""

    @property
    def named(self) -> NamedValues | None:
        """The names of the values of a step; None for a layer without one."""
        placed, layer = self.placed, self.placed.layer
        if isinstance(layer, Cell):
            return Formulas(trace(layer, placed.inputs, self.row), self.notation)
        if isinstance(layer, Dense | Embedding | Transform):
            return _names(layer, placed, self.shape, self.row, self.notation)
        return None


@displayed("rnncalc.reports.explain:ExplanationReport")
class Explanation(NamedTuple):
    """The derivation of the counts of a network, or of some of its layers.

    dense: the dense equivalent; None when the number of steps is not known, sizes are letters, or only some layers are
        explained.
    """

    network: Network
    layers: tuple[Derivation, ...]
    total: Step | None
    dense: DenseEquivalent | None

    @property
    def counted(self) -> Count:
        """The counts of the whole network."""
        return count(self.network)

    @property
    def allocations(self) -> Allocations:
        """The tensors of the network under each convention."""
        from rnncalc.questions.compare import compare_conventions  # imported only for a page

        return compare_conventions(self.network)


def explain(
    network: Network, only: str | Sequence[str] = (), notation: str | None = None, *, layer_superscripts: bool = False
) -> Explanation:
    """Derive the counts of a network, or of the layers called `only`, a name or several.

    notation: how parameters are spelled in equations and tables; by default the network's own.
    layer_superscripts: whether letters have the numbers of their recurrent layers above them.
    Raises CallError for names that no layer has and for an unknown notation; SpecError for a notation that cannot
    spell the network's convention.
    """
    names = (only,) if isinstance(only, str) else only
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise CallError(f"only: expected the names of layers, such as ('output',), got {describe(only)}")
    stack = network_of(network, letters=True).stack
    if wrong := not_among([*names], tuple(placed.name for placed in stack)):
        raise CallError(f"only: {wrong}")
    if notation is not None:
        network = network.replace(notation=word("notation", notation, NOTATIONS), symbols={})
    return explain_those(network, tuple(names), layer_superscripts)


def explain_those(network: Network, only: tuple[str, ...] = (), layer_superscripts: bool = False) -> Explanation:
    """Derive the counts of the named layers. An unknown name is ignored: it may be a layer of another network."""
    below: Placed | None = None
    derivations = []
    equations_of = cache(equations)  # cells that differ only in their widths share a step, and so their equations
    row, notation = network.shown, network.spelling
    sizes = shapes(network.flow)
    moves = {move.name: move for move in network.flow if isinstance(move, Placement)}
    levels = levels_of(network.stack, least=1 if notation.above else 2) if layer_superscripts or notation.above else {}
    notation = notation.replace(above={"": "(l)", **notation.above}) if layer_superscripts else notation
    asked = {network.flow[move.later]: move.state for move in network.flow if isinstance(move, Delay)}
    for placed in network.spelled:
        if below is not None and below.part != placed.part:
            below = None
        if not only or placed.name in only:
            read = moves[placed.name].reads[0]
            level = levels.get(placed.starts[0] if placed.starts else placed.name, 0)
            one = _derivation(
                placed, None if placed.starts else below, sizes[read], row, notation.at(level), equations_of
            )
            one = one._replace(level=level, read_level=_read_level(network.flow, read, levels))
            context, added = _context(network.flow, read, sizes)
            one = one._replace(context=context, added=added, asked=asked.get(moves[placed.name], ""))
            derivations.append(one)
        if not placed.starts and not isinstance(moves[placed.name], Attend):
            below = placed
    if only:
        return Explanation(network, tuple(derivations), None, None)
    parts = [each.placed.in_letters or each.placed.params for each in derivations]
    total = Step(StepKind.TOTAL, Plus(tuple(parts)), network.params, network.letters)
    return Explanation(network, tuple(derivations), total, dense_equivalent(network))


def _read_level(moves: Moves, read: int, levels: Mapping[str, int]) -> int:
    """Return the number of the recurrent layer whose state, of one direction, is a value; 0 if it is another."""
    move = moves[moves[read].reads[0]] if isinstance(moves[read], Last) else moves[read]
    if isinstance(move, Placement) and isinstance(move.layer, Cell) and not move.layer.bidirectional:
        return levels.get(move.name, 0)
    return 0


def _context(moves: Moves, read: int, sizes: Sequence[Shape]) -> tuple[int, bool]:
    """Return how many numbers of a value are a context of attention, and whether the value is a sum with one."""
    width, added = 0, False
    while isinstance(move := moves[read], Merge) and len(move.reads) > 1:
        read, beside = move.reads
        if isinstance(moves[beside], Attend | Delay):
            added = move.how == "sum"
            width += 0 if added else sizes[beside][-1]
    alone = isinstance(move, Attend) or (isinstance(move, Delay) and not move.reads)  # in a decoder without an input
    return width + (sizes[read][-1] if alone else 0), added


def _derivation(
    placed: Placed,
    below: Placed | None,
    shape: Shape,
    row: Convention,
    notation: Notation,
    equations_of: Callable[[Trace, Notation], tuple[Equation, ...]],
) -> Derivation:
    layer = placed.layer
    if isinstance(layer, Cell):
        habits, steps = row.habits(layer.kind), tuple(_steps(placed))
        gates = tuple(gate._replace(meaning=layer.meaning(gate, habits)) for gate in layer.gates(placed.inputs))
        equations = equations_of(trace(layer, placed.inputs, row), notation)
        return Derivation(placed, below, shape, row, gates, notation, equations, steps)
    derivation = Derivation(placed, below, shape, row, (), notation.apart, (), tuple(_steps(placed)))
    match derivation.named:
        case LayerFormulas() as named if layer.time.whole or (layer.arrays and not (layer.time.ends and slides(layer))):
            return derivation._replace(equations=(*named.equations(),))
    return derivation


FAR = 10**6
"""A step far from both ends of a long sequence, where a window has no padding."""


def _names(
    layer: Dense | Embedding | Transform, placed: Placed, shape: Shape, row: Convention, notation: Notation
) -> LayerFormulas:
    """Return the letters of a layer that is no cell, for the steps of one window; steps are counted from 1.

    With a stride, the zeros at both ends depend on the remainder of T; an unknown T counts as a multiple of the stride.
    """
    stride, time = layer.every, "t" if placed.sequence or layer.time.along else ""  # it may output its last step alone
    rest = shape[0] % stride if isinstance(shape[0], int) else 0
    read = layer.window_of(FAR, 10 * FAR * stride + rest) if layer.time.along else range(FAR, FAR + 1)
    later = 1 - stride * (FAR + 1)
    apart = range(read.start + later, read.stop + later, read.step)
    step = trace(layer, placed.inputs // placed.places, row)

    def value(letter: str) -> Symbol:
        written, _, index = notation.letter(letter).partition("_")
        return Symbol(letter, time=time) if time else Symbol(written, index)

    y, x = value(layer.letter if isinstance(layer, Dense) else "y"), value("h" if isinstance(layer, Output) else "x")
    names_of = convention("textbook").transform(layer.named_as).names
    symbols = notation.of_output if isinstance(layer, Output) else notation.own(names_of)
    letters = {role: (name.partition("_")[0], name.partition("_")[2]) for role, name in symbols.items()}
    if placed.starts:
        y, x = Symbol(notation.letter(placed.starts[1]), "0"), value("v")
    computed = [(place, node) for place, node in enumerate(step.nodes) if node.operation in OPERATIONS]
    if layer.time.whole:
        alone = [place for place, node in computed if node.operation == "softmax" or place == step.output]
        names = {place: symbol_of(step, place) for place, _ in computed if place in alone or letter_of(step, place)}
    else:
        names = {place: Symbol(node.letter, time=time) for place, node in computed if node.letter}
        names.setdefault(step.output, y)
        names = {place: name.replace(axes=(step.nodes[place].width,)) for place, name in names.items()}
    widths = placed.names or (placed.sizes if any(map(has_letters, placed.sizes.values())) else {})
    sizes = {letter: str(width) for letter, width in widths.items()}
    return LayerFormulas(step, layer, KernelWindow(x, stride, apart), letters, names, sizes)


def _steps(placed: Placed) -> Iterator[Step]:
    """Yield the lines of a layer: its tensors, or one gate's tensors and the number of gates; then the directions."""
    all_tensors = placed.tensors
    tensors = [tensor for tensor in all_tensors if tensor.direction is not Direction.BACKWARD]
    alike = _alike(tensors)
    parts = []
    if alike:
        one = [tensor for tensor in tensors if tensor.role in _OF_GATES and tensor.gates == alike[0]]
        yield from (_tensor_step(tensor, placed) for tensor in one)
        gate = sum(tensor.params for tensor in one)
        yield Step(StepKind.ONE_BLOCK, Plus(tuple(tensor.params for tensor in one)), gate)
        yield Step(StepKind.BLOCKS, Times((len(alike), gate)), gate * len(alike), gates=alike)
        parts.append(gate * len(alike))
        tensors = [tensor for tensor in tensors if tensor.role not in _OF_GATES]
    for tensor in tensors:
        yield _tensor_step(tensor, placed)
        parts.append(tensor.params)
    if len(parts) > 1:
        yield Step(StepKind.SUM, Plus(tuple(parts)), sum(parts))
    if any(tensor.direction is Direction.BACKWARD for tensor in all_tensors):
        yield Step(StepKind.DIRECTIONS, Times((2, sum(parts))), placed.params)
    if len(all_tensors) > 1:
        yield Step(StepKind.FORMULA, placed.layout.params, placed.params, placed.sizes, names=placed.names)


_OF_GATES = (Role.KERNEL, Role.INPUT, Role.RECURRENT, Role.LEFT, Role.RIGHT, Role.BIAS, Role.RECURRENT_BIAS, Role.GAIN)


def _alike(tensors: list[Tensor]) -> str:
    """Return the letters of the gates if each has its own tensors and all are alike, else nothing."""
    blocks = [tensor for tensor in tensors if tensor.role in _OF_GATES]
    letters = "".join(dict.fromkeys(letter for tensor in blocks for letter in tensor.gates))
    kinds = {tuple((each.role, each.axes) for each in blocks if each.gates == letter) for letter in letters}
    apart = all(len(tensor.gates) == 1 for tensor in blocks)
    return letters if len(letters) > 1 and len(kinds) == 1 and apart else ""


def _tensor_step(tensor: Tensor, placed: Placed) -> Step:
    expression, sizes, names = arithmetic(tensor.axes), placed.sizes, placed.names
    if isinstance(placed.layer, External) and placed.layer.tensors:  # whose widths have no letters but the user's
        shape = dict(placed.layer.tensors)[tensor.name]
        written = [getattr(size, "expression", size) for size in shape]
        factors = [
            f"({size})" if isinstance(size, str) and not size.replace("_", "").isalnum() else size for size in written
        ]
        expression, sizes, names = Times((*factors,)), dict(zip(map(str, factors), shape, strict=True)), {}
    of_tensor = tensor.name, tensor.role, tensor.gates
    return Step(StepKind.TENSOR, expression, tensor.params, sizes, *of_tensor, names)
