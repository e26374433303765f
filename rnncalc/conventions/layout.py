"""The tensors of a layer under a convention: the one reader of conventions.

A layout is in letters and holds for every width, whatever the layer's name and neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rnncalc.conventions.formula import Expression, formula, letters
from rnncalc.conventions.rules import Array, CellArrays, Convention, Side, Slot, Width
from rnncalc.conventions.tensor import Axis, Direction, Role, StackedAxis, Tensor
from rnncalc.errors import DeclarationError
from rnncalc.layers.cell import Cell, Form, Gate, Product
from rnncalc.layers.layer import ONE, Dense, Embedding, External, Layer, Output
from rnncalc.records import Frozen


class Stack(Frozen):
    """Products that a step sums, with one matrix for all of them.

    matrices: the letters of the matrix of each gate; of several gates, the matrices lie side by side.
    reads: what they multiply, one above the other.
    biases: the roles of the biases that lie side by side too; empty if each gate has its own.
    """

    matrices: tuple[str, ...]
    reads: tuple[str, ...]
    biases: tuple[Role, ...] = ()

    def letters(self, gates: int) -> str:
        """Return the letters in its name: none if it holds all gates of a cell that has several."""
        return "" if 1 < len(self.matrices) == gates else "".join(self.matrices)


class Layout(NamedTuple):
    """The tensors a layer owns, and those it shares with the layer that owns them.

    params: the number of parameters it owns; letters: the same in letters. buffers: the tensors it stores beside them.
    """

    tensors: tuple[Tensor, ...]
    shared: tuple[Tensor, ...]
    params: Expression
    letters: str
    buffers: tuple[Tensor, ...] = ()


_Undirected = tuple[tuple[str | Slot, ...], Role, str, tuple[Axis, ...]]
"""A tensor before its direction is known: its name, role, gates and axes."""


def layout(layer: Layer, inputs: int, convention: Convention, stacks: Sequence[Stack] = ()) -> Layout:
    """Return the layout of a layer that reads `inputs` features.

    stacks: the products of a cell whose matrices are joined into one.
    Raises DeclarationError for a cell with two tensors of one name.
    """
    shared: tuple[Tensor, ...] = ()
    buffers: tuple[Tensor, ...] = ()
    match layer:
        case Cell():
            tensors = tuple(CellTensors(layer, inputs, convention, stacks).tensors())
            _check_names(layer, tensors, convention)
        case Dense():
            dense = (isinstance(layer, Output) and convention.output) or convention.dense
            kernel = _plain(dense.kernel, Role.KERNEL)
            tensors = (_plain(dense.bias, Role.BIAS),) if layer.bias else ()
            tied = isinstance(layer, Output) and layer.tied
            tensors, shared = (tensors, (kernel,)) if tied else ((kernel, *tensors), ())
        case Embedding():
            tensors = (_plain(convention.embedding, Role.EMBEDDING),)
            if layer.positions is not None:
                tensors += (Tensor(convention.positions, Role.EMBEDDING, None, "", (Axis(1, "N"), Axis(1, "d"))),)
        case External():
            shapes = [(name, tuple(map(Axis, shape))) for name, shape in layer.tensors]
            named = shapes or [("external", (Axis(1, "N"),))]
            tensors = tuple([Tensor(name, Role.EXTERNAL, None, "", axes) for name, axes in named])
            return Layout(tensors, (), "N", "N")
        case _:
            tensors, buffers = _of_arrays(layer, convention)
    params = formula(tensors)
    return Layout(tensors, shared, params, letters(params), buffers)


def _check_names(layer: Cell, tensors: tuple[Tensor, ...], convention: Convention) -> None:
    """Refuse two tensors with one name, such as a gate's bias and a trained number in a cell from elsewhere."""
    names = [tensor.name for tensor in tensors]
    for name in names:
        if names.count(name) > 1:
            message = f"two of its tensors are called {name} under {convention.name}"
            raise DeclarationError(f"{layer.kind}: {message}; give one of its parts another letter")


def _of_arrays(layer: Layer, convention: Convention) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return the tensors of a layer's arrays, its parameters and what the framework keeps beside them."""
    arrays = convention.transform(layer.named_as)
    listed = layer.named_as in convention.transforms  # else each array is called by its role, unless it is named
    tensors: dict[bool, dict[str, Tensor]] = {False: {}, True: {}}
    for role, axes in layer.arrays:
        order = arrays.order if len(axes) == len(arrays.order) else range(len(axes))
        placed = tuple(map(_axis, arrays.axes.get(role, [axes[at] for at in order])))
        name = arrays.names[role] if listed else arrays.names.get(role, role)
        those = tensors[role in arrays.buffers]
        if name in those:  # one tensor for several arrays, one below the other
            (first, *others) = those[name].axes
            placed = (first._replace(times=first.times + 1), *others)
        those[name] = Tensor(name, role_of_array(role, axes), None, "", placed)
    return tuple(tensors[False].values()), tuple(tensors[True].values())


def _axis(letters: str) -> Axis:
    """Return the axis of a letter, of 1, or of several widths one after the other."""
    return Axis(1) if letters == ONE else StackedAxis(1, letters) if "+" in letters else Axis(1, letters)


def role_of_array(role: str, axes: Sequence[str]) -> Role:
    """Return the role of an array of a layer around the cells; under a name of its own, by its axes and its end."""
    if role in _ROLES:
        return Role(role)
    if len(axes) > 1:
        return Role.KERNEL
    return Role.BIAS if role.endswith("bias") else Role.SCALE if role.endswith("scale") else Role.VECTOR


_ROLES = {role.value for role in Role}


def _plain(array: Array, role: Role) -> Tensor:
    """Return the tensor of a layer that is no cell."""
    return Tensor(str(array.name[0]), role, None, "", tuple(WIDTHS[width] for width in array.axes))


def role_of(layer: Cell, product: Product) -> Role:
    """Return the role of a product's matrix; a diagonal one of a state other than the first is a peephole."""
    if product.vector == "x":
        return Role.INPUT
    first = next(iter(layer.states))
    return Role.RECURRENT if product.form is Form.FULL or product.vector == first else Role.PEEPHOLE


def width_of(layer: Cell, vector: str) -> str:
    """Return the letter of the width that a product reads."""
    return layer.x_width if vector == "x" else layer.states[vector]


def axis_of(layer: Cell, product: Product) -> str:
    """Return the letter of the axis of a product's matrix that goes along what is read; "" where it has none."""
    if product.form is Form.CONVOLUTION:
        return "m" if product.vector == "x" else "h"
    return "" if product.form is Form.DIAGONAL else width_of(layer, product.vector)


def sides_of_biases(layer: Cell, gates: Iterable[Gate], arrays: CellArrays) -> dict[str, Side]:
    """Return the side of each gate's bias, for gates that have one."""
    biased = [gate.letter for gate in gates if gate.bias] if layer.bias else []
    if arrays.side_before is not None and not layer.resets_after(arrays.habits.reset_after):
        return dict.fromkeys(biased, arrays.side_before)
    return {letter: arrays.sides.get(letter, arrays.side) for letter in biased}


WIDTHS = {
    Width.UNITS: Axis(1, "h"),
    Width.INPUTS: Axis(1, "m"),
    Width.PROJECTED: Axis(1, "p"),
    Width.OUTPUTS: Axis(1, "n"),
    Width.VECTOR: Axis(1, "d"),
    Width.ONE: Axis(1),
    Width.TWO: Axis(2),
}


def _matrix(gate: Gate, product: Product) -> str:
    return gate.letter if product.matrix is None else product.matrix


class CellTensors:
    """The tensors of one cell."""

    def __init__(self, layer: Cell, inputs: int, convention: Convention, stacks: Sequence[Stack] = ()) -> None:
        arrays = convention.arrays(layer.kind)
        assert arrays is not None  # a network refuses a kind that its convention lacks
        self.layer = layer
        self.arrays = arrays
        self.convention = convention
        self.stacks = stacks
        gates = {gate.letter: gate for gate in layer.gates(inputs)}
        self.gates = [gates[letter] for letter in arrays.order or gates if letter in gates]

    def tensors(self) -> Iterator[Tensor]:
        """Yield the tensors of the first direction, then those of the second if it has its own."""
        marks = self.convention.directions
        if marks is None:
            direction = Direction.BOTH if self.layer.bidirectional else Direction.FORWARD
            yield from self._direction("", direction)
            return
        for direction, mark in zip((Direction.FORWARD, Direction.BACKWARD), marks, strict=True):
            if direction is Direction.FORWARD or self.layer.bidirectional:
                yield from self._direction(mark if self.layer.bidirectional else "", direction)

    def _direction(self, mark: str, direction: Direction) -> Iterator[Tensor]:
        arrays = self.arrays
        parts = [
            *self._stacked(),
            *self._products(arrays.input, Role.INPUT, self.gates),
            *self._products(arrays.recurrent, Role.RECURRENT, self.gates),
            *self._biases(),
            *self._vectors(arrays.gain, Role.GAIN, [gate.letter for gate in self.gates if gate.normalised]),
            *self._products(arrays.peephole, Role.PEEPHOLE, self.gates),
            *self._beside(),
        ]
        for name, role, gates, axes in parts:
            yield self._tensor(name, role, gates, axes, mark, direction)

    def _stacked(self) -> Iterator[_Undirected]:
        users: dict[str, dict[str, None]] = {}  # the gates of each matrix, in order
        for gate in self.gates:
            for each in gate.products:
                users.setdefault(_matrix(gate, each), {}).setdefault(gate.letter)
        for stack in sorted(self.stacks, key=lambda stack: [*users].index(stack.matrices[0])):
            array = self.arrays.stacked
            assert array is not None  # no other convention has stacks
            gates = "".join(letter for matrix in stack.matrices for letter in users[matrix])
            reads = "+".join(width_of(self.layer, vector) for vector in stack.reads)
            lengths = {Width.STACKED: StackedAxis(1, reads), Width.UNITS: Axis(len(stack.matrices), "h")}
            axes = tuple(lengths.get(width) or WIDTHS[width] for width in array.axes)
            yield self._filled(array, stack.letters(len(self.gates)), ""), Role.KERNEL, gates, axes

    def _products(self, array: Array | None, role: Role, gates: Sequence[Gate]) -> Iterator[_Undirected]:
        """Yield a tensor for each matrix of the role, or one for all gates if the array is fused."""
        stacked = {(matrix, vector) for stack in self.stacks for matrix in stack.matrices for vector in stack.reads}
        matrices: dict[tuple[str, Form], dict[str, str]] = {}  # what is read and how: the gates that use each matrix
        for gate in gates:
            for product in gate.products:
                letters = _matrix(gate, product)
                if role_of(self.layer, product) is role and (letters, product.vector) not in stacked:
                    uses = matrices.setdefault((product.vector, product.form), {})
                    uses[letters] = uses.get(letters, "") + gate.letter
        for (vector, form), uses in matrices.items():
            assert array is not None
            reads = axis_of(self.layer, Product(vector, form))
            places = len(self.layer.grid) if form is Form.CONVOLUTION else 0
            if array.by_gate:
                for letters, gated in uses.items():
                    yield self._filled(array, letters, vector), role, gated, self._axes(array, 1, reads, places)
            else:
                axes = self._axes(array, len(uses), reads, places)
                yield self._filled(array, "", vector), role, "".join(uses.values()), axes

    def _biases(self) -> Iterator[_Undirected]:
        arrays = self.arrays
        sides = sides_of_biases(self.layer, self.gates, arrays)
        biased = [*sides]
        if arrays.both_biases and biased and {*sides.values()} == {Side.BOTH}:
            yield from self._vectors(arrays.both_biases, Role.BIAS, biased)
            return
        for array, role, side in (
            (arrays.bias, Role.BIAS, Side.INPUT),
            (arrays.recurrent_bias, Role.RECURRENT_BIAS, Side.RECURRENT),
        ):
            vector = "x" if side is Side.INPUT else "h"
            beside = {letter: vector if sides[letter] is Side.BOTH else "" for letter in biased}
            letters = [letter for letter in biased if sides[letter] in (side, Side.BOTH)]
            yield from self._vectors(array, role, letters, beside)

    def _vectors(
        self, array: Array | None, role: Role, letters: Sequence[str], beside: Mapping[str, str] = {}
    ) -> Iterator[_Undirected]:
        """Yield a vector for each gate, or one for all; beside: what the product of a gate reads that it belongs to."""
        if not letters or array is None:
            return  # biases may be on the other side
        if array.by_gate:
            joined = [stack for stack in self.stacks if role in stack.biases]
            for stack in joined:
                name = self._filled(array, stack.letters(len(self.gates)), beside.get(stack.matrices[0], ""))
                axes = tuple(
                    axis._replace(times=len(stack.matrices)) if axis.letter else axis
                    for axis in self._axes(array, 1, "")
                )
                yield name, role, "".join(stack.matrices), axes
            for letter in letters:
                if not any(letter in stack.matrices for stack in joined):
                    yield self._filled(array, letter, beside.get(letter, "")), role, letter, self._axes(array, 1, "")
        else:
            yield self._filled(array, "", ""), role, "".join(letters), self._axes(array, len(letters), "")

    def _beside(self) -> Iterator[_Undirected]:
        """Yield what is beside the gates: projections, vectors, trained numbers, learned states."""
        for weight in self.layer.weights:
            role = (Role.SCALAR, Role.VECTOR, Role.MATRIX)[len(weight.widths)]
            array = (self.arrays.scalar, self.arrays.vector, self.arrays.projection)[len(weight.widths)]
            role = Role.PROJECTION if self.layer.projects(weight) else role
            assert array is not None
            axes = self._axes(array, 1, "")
            if weight.widths:  # the array's own letters are those of a projection, or the units'
                widths = dict(zip("ph" if len(weight.widths) == 2 else "h", weight.widths, strict=True))
                axes = tuple(Axis(1, widths[axis.letter]) if axis.letter else axis for axis in axes)
            yield self._filled(array, weight.letter, ""), role, "", axes
        if self.layer.learned_state and self.arrays.state:
            for state, width in self.layer.states.items():
                array = self.arrays.state
                yield self._filled(array, "", state), Role.STATE, "", self._axes(array, 1, width)

    def _filled(self, array: Array, letters: str, vector: str) -> tuple[str | Slot, ...]:
        """Return a name with the gate and what it reads filled in, spelled as the framework does."""
        memory = vector in ("x", next(iter(self.layer.states)))
        name = array.filled(letters, vector, alone=len(self.gates) == 1, memory=memory)
        spelled = self.convention.renamed.get("".join(piece for piece in name if isinstance(piece, str)))
        return name if spelled is None else (spelled,)

    def _axes(self, array: Array, gates: int, reads: str, places: int = 0) -> tuple[Axis, ...]:
        """Return the axes of an array. reads: the letter of the width that is read; empty if no axis has it.

        places: how many axes of a kernel there are, before those of an array input by output, else behind them.
        """
        per_layer = {
            Width.GATED: Axis(gates, "h"),
            Width.TWICE_GATED: Axis(2 * gates, "h"),
            Width.DIRECTIONS: Axis(self.layer.directions),
            Width.READS: Axis(1, reads),
            Width.READS_OR_ONE: Axis(1, reads),
        }
        widths = (width for width in array.axes if width is not Width.READS or reads)
        axes = tuple(per_layer.get(width) or WIDTHS[width] for width in widths)
        kernel = (Axis(1, "k"),) * places
        return (*axes, *kernel) if array.axes[0] is Width.UNITS else (*kernel, *axes)

    def _tensor(
        self, name: tuple[str | Slot, ...], role: Role, gates: str, axes: tuple[Axis, ...], mark: str, way: Direction
    ) -> Tensor:
        """Return the tensor, with the mark of its direction and, where its name has one, the place of its number."""
        pieces = [mark if piece is Slot.DIRECTION else piece for piece in name]
        if Slot.DIRECTION not in name:
            pieces.insert(0, mark)
        if Slot.COPY not in pieces:
            return Tensor("".join(map(str, pieces)), role, way, gates, axes)
        place = pieces.index(Slot.COPY)
        before, after = ("".join(map(str, half)) for half in (pieces[:place], pieces[place + 1 :]))
        return Tensor(f"{before}0{after}", role, way, gates, axes, (), (before, after))
