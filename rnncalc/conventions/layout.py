"""The tensors of a layer under a convention: the one reader of conventions.

A layout is in letters and holds for every width, whatever the layer's name and neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rnncalc.conventions.formula import Expression, formula, letters
from rnncalc.conventions.rules import Array, CellArrays, Convention, Side
from rnncalc.conventions.tensor import BIASES, WAYS, Axis, Direction, Role, StackedAxis, Tensor, TensorBlock
from rnncalc.errors import DeclarationError
from rnncalc.layers.cell import Cell, Form, Gate, Product
from rnncalc.layers.layer import ONE, Embedding, External, Layer, Output
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


def shared_layout(
    layer: Layer, inputs: int, convention: Convention, stacks: Sequence[Stack] = (), step: object = None
) -> Layout:
    """Return the layout of a layer as `layout` does, made once for all layers that differ only in their widths.

    step: that of a user's cell, which may depend on its widths in any way.
    """
    key = step
    if key is None:
        key = type(layer), tuple(layer.sizes(inputs)), layer.choices()
        if isinstance(layer, Cell):  # its gates may depend on its widths: those of the package on these alone
            key = key, inputs == layer.units, inputs == 2 * layer.units
    if key not in convention.cache:
        convention.cache[key] = layout(layer, inputs, convention, stacks)
    shared: Layout = convention.cache[key]
    return shared


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
            names = [tensor.name for tensor in tensors]
            arrays = convention.arrays(layer.kind)
            twice = [name for name in names if names.count(name) > 1]
            if twice and not (arrays and arrays.has_letters):  # a trained number's and a gate's bias, say
                message = f"two of its tensors are called {twice[0]} under {convention.name}"
                raise DeclarationError(f"{layer.kind}: {message}; give one of its parts another letter")
        case External():
            shapes = [(name, tuple(map(Axis, shape))) for name, shape in layer.tensors]
            named = shapes or [("external", (Axis(1, "N"),))]
            tensors = tuple([Tensor(name, Role.EXTERNAL, None, "", axes) for name, axes in named])
            return Layout(tensors, (), "N", "N")
        case _:
            tensors, buffers = _of_arrays(layer, convention)
            if isinstance(layer, Output | Embedding) and layer.tied:
                shared, tensors = tensors[:1], tensors[1:]
    params = formula(tensors)
    return Layout(tensors, shared, params, letters(params), buffers)


def _of_arrays(layer: Layer, convention: Convention) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return the tensors of a layer's arrays, its parameters and what the framework keeps beside them."""
    kind = "output" if isinstance(layer, Output) and "output" in convention.transforms else layer.named_as
    arrays = convention.transform(kind)
    listed = kind in convention.transforms  # else each array is called by its role, unless it is named
    tensors: dict[bool, dict[str, Tensor]] = {False: {}, True: {}}
    for role, axes in layer.arrays:
        order: Sequence[int] = arrays.order
        if arrays.of_dense and len(axes) > 2:  # a convolution among the dense layers
            order = convention.transform("conv1d").order
        order = order if len(axes) == len(order) else range(len(axes))
        along: Sequence[int | None] = [*order]
        if heads := arrays.axes.get(role, ""):  # two axes, h and the next letter, are one of the layer's own
            inputs = len(heads) - 2 if heads[0] != "h" else 2
            along = [0] * len(heads) if len(axes) == 1 else [1] * inputs + [0] * (len(heads) - inputs)
        placed = tuple(map(_axis, heads or [axes[at] for at in order]))
        if arrays.rows and not role.endswith("embedding") and [*axes] != [ONE]:  # its rows are vectors already
            placed = (*placed[:-2], placed[-1], placed[-2]) if placed[1:] else (Axis(1), *placed)
        name = arrays.names[role] if listed else arrays.names.get(role, role)
        group = tensors[role in arrays.buffers]
        start, blocks = Axis(0), tuple[TensorBlock, ...]()
        if name in group:  # one tensor for several arrays, one below the other
            blocks, ((start, *others)) = group[name].blocks, group[name].axes
            placed = (start._replace(times=start.times + 1), *others)
        starts = (start, *[Axis(0)] * (len(placed) - 1))
        block = TensorBlock(None, role, "", None, tuple(map(_axis, axes)), starts, tuple(along))
        group[name] = Tensor(name, role_of_array(role, axes), None, "", placed, blocks=(*blocks, block))
    return tuple(tensors[False].values()), tuple(tensors[True].values())


def _axis(letters: str) -> Axis:
    """Return the axis of a letter, of a number, or of several widths one after the other."""
    if letters.isdecimal():
        return Axis(int(letters))
    return StackedAxis(1, letters) if "+" in letters else Axis(1, letters)


def role_of_array(role: str, axes: Sequence[str]) -> Role:
    """Return the role of an array of a layer around the cells; under a name of its own, by its axes and its end."""
    if role in _ROLES:
        return Role(role)
    if len(axes) > 1:
        return Role.EMBEDDING if role.endswith("embedding") else Role.KERNEL
    return Role.BIAS if role.endswith("bias") else Role.SCALE if role.endswith("scale") else Role.VECTOR


_ROLES = {role.value for role in Role}


def role_of(layer: Cell, product: Product) -> Role:
    """Return the role of a product's matrix; a diagonal one of a state other than the first is a peephole."""
    if product.vector == "x":
        return Role.INPUT
    first = next(iter(layer.states))
    return Role.PEEPHOLE if product.form is Form.DIAGONAL and product.vector != first else Role.RECURRENT


def width_of(layer: Cell, vector: str) -> str:
    """Return the letter of the width that a product reads."""
    return layer.x_width if vector == "x" else layer.states[vector]


def axis_of(layer: Cell, product: Product) -> str:
    """Return the letter of the axis of a product's matrix that goes along what is read; "" where it has none.

    Of a matrix of low rank that of its left factor.
    """
    if product.form is Form.CONVOLUTION:
        return "m" if product.vector == "x" else "h"
    axes = {Form.DIAGONAL: "", Form.BLOCKS: "b", Form.RANK: "r"}
    return axes[product.form] if product.form in axes else width_of(layer, product.vector)


def sides_of_biases(layer: Cell, gates: Iterable[Gate], arrays: CellArrays) -> dict[str, Side]:
    """Return the side of each gate's bias, for gates that have one."""
    biased = [gate.letter for gate in gates if gate.bias] if layer.bias else []
    if arrays.side_before is not None and not layer.resets_after(arrays.habits.reset_after):
        return dict.fromkeys(biased, arrays.side_before)
    return {letter: arrays.sides.get(letter, arrays.side) for letter in biased}


_NOWHERE = Axis(0)

Content = tuple[Role, str, str]
"""A part of an array by its role, its letters and what it multiplies."""

Axes = Sequence[tuple[str, Axis]]
"""The axes of an array, each with its word in the convention; those of a convolution's kernel are `k0` and `k1`."""


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
        gates = {gate.letter: gate for gate in layer.gates(inputs)}
        self.gates = [gates[letter] for letter in arrays.order or gates if letter in gates]
        joined = [Stack(tuple([gate.letter for gate in self.gates]), arrays.joins)] if arrays.joins else []
        self.stacks = stacks or joined

    def tensors(self) -> Iterator[Tensor]:
        """Yield the tensors of the first direction, then those of the second if it has its own."""
        arrays, two, marks = self.arrays, self.layer.bidirectional, self.convention.directions
        ways = [*zip(WAYS, marks, strict=True)] if two and marks else [(Direction.BOTH if two else WAYS[0], "")]
        for direction, mark in ways:
            self.direction, self.mark = direction, mark
            yield from self._stacked()
            yield from self._products(arrays.input, Role.INPUT)
            yield from self._products(arrays.recurrent, Role.RECURRENT)
            yield from self._biases()
            yield from self._vectors(arrays.gain, Role.GAIN, [gate.letter for gate in self.gates if gate.normalised])
            yield from self._products(arrays.peephole, Role.PEEPHOLE)
            yield from self._beside()

    def _stacked(self) -> Iterator[Tensor]:
        users: dict[str, dict[str, None]] = {}  # the gates of each matrix, in order
        for gate in self.gates:
            for each in gate.products:
                users.setdefault(_matrix(gate, each), {}).setdefault(gate.letter)
        for stack in sorted(self.stacks, key=lambda stack: [*users].index(stack.matrices[0])):
            array = self.arrays.stacked
            assert array is not None
            gates = "".join(letter for matrix in stack.matrices for letter in users[matrix])
            reads = "+".join(width_of(self.layer, vector) for vector in stack.reads)
            lengths = {"stacked": StackedAxis(1, reads), "h": Axis(len(stack.matrices), "h")}
            axes = [(word, lengths[word]) for word in array.axes.split()]
            contents = [
                (role_of(self.layer, Product(vector)), letters, vector)
                for vector in stack.reads
                for letters in stack.matrices
            ]
            yield self._tensor(array, stack.letters(len(self.gates)), "", Role.KERNEL, gates, axes, contents)

    def _products(self, array: Array | None, role: Role) -> Iterator[Tensor]:
        """Yield a tensor for each matrix of the role, or one for all gates if the array is fused."""
        stacked = {(matrix, vector) for stack in self.stacks for matrix in stack.matrices for vector in stack.reads}
        matrices: dict[tuple[str, Form], dict[str, str]] = {}  # what is read and how: the gates that use each matrix
        for gate in self.gates:
            for product in gate.products:
                letters = _matrix(gate, product)
                if role_of(self.layer, product) is role and (letters, product.vector) not in stacked:
                    uses = matrices.setdefault((product.vector, product.form), {})
                    uses[letters] = uses.get(letters, "") + gate.letter
        for (vector, form), uses in matrices.items():
            assert array is not None
            reads = axis_of(self.layer, Product(vector, form))
            places = len(self.layer.grid) if form is Form.CONVOLUTION else 0
            if form is Form.RANK:
                yield from self._factors(vector, uses)
                continue
            axes = self._axes(array, 1 if array.by_gate else len(uses), reads, places)
            for letters, gated in uses.items() if array.by_gate else [("", "".join(uses.values()))]:
                contents = [(role, matrix, vector) for matrix in ([letters] if array.by_gate else uses)]
                yield self._tensor(array, letters, vector, role, gated, axes, contents)

    def _factors(self, vector: str, uses: Mapping[str, str]) -> Iterator[Tensor]:
        """Yield the two factors of each matrix of low rank."""
        for matrix, gated in uses.items():
            for array, role in ((self.arrays.left, Role.LEFT), (self.arrays.right, Role.RIGHT)):
                assert array is not None
                axes = self._axes(array, 1, width_of(self.layer, vector))
                yield self._tensor(array, matrix, vector, role, gated, axes, [(role, matrix, vector)])

    def _biases(self) -> Iterator[Tensor]:
        arrays = self.arrays
        sides = sides_of_biases(self.layer, self.gates, arrays)
        biased = [*sides]
        if arrays.both_biases and biased and {*sides.values()} == {Side.BOTH}:
            yield from self._vectors(arrays.both_biases, Role.BIAS, biased, roles=BIASES)
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
        self,
        array: Array | None,
        role: Role,
        letters: Sequence[str],
        beside: Mapping[str, str] = {},
        roles: Sequence[Role] = (),
    ) -> Iterator[Tensor]:
        """Yield a vector for each gate, or one for all; beside: what the product of a gate reads that it belongs to.

        roles: of the vectors of each gate in one array.
        """
        if not letters or array is None:
            return  # biases may be on the other side
        if not array.by_gate:
            contents = [(each, letter, "") for each in roles or [role] for letter in letters]
            yield self._tensor(array, "", "", role, "".join(letters), self._axes(array, len(letters), ""), contents)
            return
        groups = [stack.matrices for stack in self.stacks if role in stack.biases]
        groups += [(letter,) for letter in letters if not any(letter in group for group in groups)]
        for group in groups:
            named, axes = Stack(group, ()).letters(len(self.gates)), self._axes(array, 1, "")
            axes = [(word, axis._replace(times=len(group)) if axis.letter else axis) for word, axis in axes]
            contents = [(role, letter, "") for letter in group]
            yield self._tensor(array, named, beside.get(group[0], ""), role, "".join(group), axes, contents)

    def _beside(self) -> Iterator[Tensor]:
        """Yield what is beside the gates: projections, vectors, trained numbers, learned states."""
        for weight in self.layer.weights:
            role = (Role.SCALAR, Role.VECTOR, Role.MATRIX)[len(weight.widths)]
            array = (self.arrays.scalar, self.arrays.vector, self.arrays.projection)[len(weight.widths)]
            role = Role.PROJECTION if self.layer.projects(weight) else role
            assert array is not None
            axes = self._axes(array, 1, "")
            if weight.widths:  # the array's own letters are those of a projection, or the units'
                widths = dict(zip("ph" if len(weight.widths) == 2 else "h", weight.widths, strict=True))
                axes = [(word, Axis(1, widths[axis.letter]) if axis.letter else axis) for word, axis in axes]
            yield self._tensor(array, weight.letter, "", role, "", axes, [(role, weight.letter, "")])
        if self.layer.learned_state and self.arrays.state:
            for state, width in self.layer.states.items():
                array = self.arrays.state
                axes = self._axes(array, 1, width)
                yield self._tensor(array, "", state, Role.STATE, "", axes, [(Role.STATE, state, "")])

    def _axes(self, array: Array, gates: int, reads: str, places: int = 0) -> Axes:
        """Return the axes of an array. reads: the letter of the width that is read; empty if no axis has it.

        places: how many axes of a kernel there are, before those of an array input by output, else behind them.
        """
        lengths = {
            "gates": Axis(gates, "h"),
            "2gates": Axis(2 * gates, "h"),
            "directions": Axis(self.layer.directions),
            "reads": Axis(1, reads),
            "reads|1": Axis(1, reads),
        }
        words = [word for word in array.axes.split() if word != "reads" or reads]
        axes = [(word, lengths.get(word) or _axis(word)) for word in words]
        kernel = [(f"k{place}", Axis(1, "k")) for place in range(places)]
        return [*axes, *kernel] if words[0] == "h" else [*kernel, *axes]

    def _blocks(self, axes: Axes, contents: Sequence[Content]) -> Iterator[TensorBlock]:
        """Yield the contents of an array as blocks, those of each direction if it has both."""
        words = [word for word, _ in axes]
        beside = contents[0][0] in (Role.PROJECTION, Role.MATRIX)
        out, inputs = ("p", "h") if beside else ("gates 2gates h", "m reads reads|1 stacked")
        out, inputs = (f"{out} r", inputs) if contents[0][0] is Role.RIGHT else (out, f"{inputs} r")
        if contents[0][0] is Role.STATE:
            out, inputs = "reads", ""
        places = {**dict.fromkeys(out.split(), 0), **dict.fromkeys(inputs.split(), 1), "k0": 2, "k1": 3}
        along = [places.get(word) if axis.letter else None for word, axis in axes]
        gated = next((axis.times for word, axis in axes if places.get(word) == 0), 1)
        count = len(contents) // 2 if "2gates" in words else gated
        lengths = {
            at: axis if at else axis._replace(times=1)
            for at, (_, axis) in zip(along, axes, strict=True)
            if at is not None
        }
        for way in WAYS if self.direction is Direction.BOTH else (self.direction,):
            before: list[str] = []
            for number, (role, letter, vector) in enumerate(contents):
                starts = [_NOWHERE] * len(words)
                for at, word in enumerate(words):
                    if word in ("gates", "h") and not beside:
                        starts[at] = Axis(number % count, "h")
                    elif word == "2gates":
                        starts[at] = Axis(number, "h")
                    elif word in ("2", "directions"):
                        starts[at] = Axis(number // count if word == "2" else int(way is WAYS[1]))
                    elif word == "stacked":
                        starts[at] = StackedAxis(1, "+".join(before)) if before else _NOWHERE
                        lengths[1] = Axis(1, width_of(self.layer, vector))
                        if (number + 1) % count == 0:
                            before.append(lengths[1].letter)
                widths = tuple([lengths[at] for at in sorted(lengths)])
                yield TensorBlock(role, letter, vector, way, widths, tuple(starts), tuple(along))

    def _tensor(
        self,
        array: Array,
        letters: str,
        vector: str,
        role: Role,
        gates: str,
        axes: Axes,
        contents: Sequence[Content],
    ) -> Tensor:
        """Return a tensor, named as the framework spells it, and what is around the number of a repeated layer."""
        memory = vector in ("x", next(iter(self.layer.states)))
        backward = self.direction is Direction.BACKWARD
        mark = array.marks[backward] if array.marks and self.layer.bidirectional else self.mark
        marks = {"direction": mark, "copy": "{copy}"}
        name = array.filled(letters, vector, alone=len(self.gates) == 1, memory=memory, **marks)
        name = self.convention.renamed.get(name, name)
        if "{direction}" not in array.name:
            name = f"{self.mark}{name}"
        before, copy, after = name.partition("{copy}")
        around = (before, after) if copy else None
        name, lengths = f"{before}0{after}" if copy else name, tuple([axis for _, axis in axes])
        return Tensor(name, role, self.direction, gates, lengths, (), around, tuple(self._blocks(axes, contents)))
