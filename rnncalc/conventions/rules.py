"""The rules of a convention: how a framework names, fuses, orders and orients parameters, and what it lacks.

A convention is data, one file a framework beside this one: a cell is written as another with some parts changed. It is
checked when it is built. The gates that it names are checked when a layer of their kind is first laid out, so that
unused cells are not imported. `layout.py` turns a convention into tensors.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

from rnncalc.errors import DeclarationError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell, Habits
from rnncalc.layers.layer import Dense, Embedding, External, Layer
from rnncalc.layers.options import OPTIONS
from rnncalc.records import Frozen
from rnncalc.text import all_of, did_you_mean, one_of

NONE: Mapping[str, Any] = {}


class Slot(Enum):
    """A place in a tensor's name.

    GATE: the letter of a gate, or of weights beside the gates; APART: the same, but for the one gate of a cell.
    READ: what is read, x or a state, and beside which of them a bias stands that is one of two; OTHER: the same, but
    for x and for the state that is the cell's memory.
    DIRECTION: its mark. COPY: the number of a repeated layer.
    """

    GATE = "gate"
    APART = "apart"
    READ = "read"
    OTHER = "other"
    DIRECTION = "direction"
    COPY = "copy"


class Width(Enum):
    """The length of an axis. READS is the width that a product reads; a diagonal product does not have this axis.

    READS_OR_ONE is 1 in a diagonal one. STACKED is as long as everything that a gate reads together, states and input.
    """

    UNITS = "h"
    GATED = "all gates, h each"
    INPUTS = "m"
    READS = "what is read"
    READS_OR_ONE = "what is read, or 1"
    STACKED = "all that is read"
    PROJECTED = "p"
    OUTPUTS = "n"
    VECTOR = "d"
    DIRECTIONS = "directions"
    ONE = "1"
    TWO = "2"
    TWICE_GATED = "all gates twice"


class Side(Enum):
    """The side of a gate's bias: beside the input, beside the past, or one on each side."""

    INPUT = "input"
    RECURRENT = "recurrent"
    BOTH = "both"


class Array(Frozen):
    """How tensors of one role are named and shaped.

    With the slot GATE or APART in the name, each gate has a tensor; else all gates are in one, along the axis GATED.
    """

    name: tuple[str | Slot, ...]
    axes: tuple[Width, ...]

    @property
    def by_gate(self) -> bool:
        """Whether each gate has a tensor of its own."""
        return Slot.GATE in self.name or Slot.APART in self.name

    def filled(self, gates: str, of: str, *, alone: bool = False, memory: bool = False) -> tuple[str | Slot, ...]:
        """Return the name with the letters of gates and of the vector read in it.

        alone: whether it is a cell's one gate. memory: whether what is read is x, or the state that is the memory.
        """
        given = {Slot.GATE: gates, Slot.APART: "" if alone else gates, Slot.READ: of, Slot.OTHER: "" if memory else of}
        name = tuple([given.get(piece, piece) if isinstance(piece, Slot) else piece for piece in self.name])
        if name[-1] != "":
            return name
        return ("".join([piece for piece in name if isinstance(piece, str)]).removesuffix("_"),)

    def symbol(self, gates: str = "", of: str = "", *, alone: bool = False, memory: bool = False) -> tuple[str, str]:
        """Return the name that `filled` gives as a symbol: its letter, and what stands below it."""
        name = self.filled(gates, of, alone=alone, memory=memory)
        letter, _, below = "".join([piece for piece in name if isinstance(piece, str)]).partition("_")
        return letter, below


class CellArrays(Frozen):
    """How a framework lays out one kind of cell.

    bias: of the input side; both_biases: of the two sides in one tensor. gain: of a gate whose sum is normalised.
    stacked: of all that a gate reads, where its step sums the products; `input` and `recurrent` are those of the rest.
    side: where biases stand, sides: for the gates that differ, side_before: for a GRU that resets before the product.
    order: of the gates in fused tensors, the textbook's where it is empty; peephole_order: the same of peepholes.
    only: the values it can express, of the options that it cannot express whole.
    projects_down: whether a projection must be narrower than the cell.
    """

    input: Array
    recurrent: Array
    bias: Array | None = None
    recurrent_bias: Array | None = None
    both_biases: Array | None = None
    stacked: Array | None = None
    gain: Array | None = None
    peephole: Array | None = None
    projection: Array | None = None
    vector: Array | None = None
    scalar: Array | None = None
    state: Array | None = None
    side: Side = Side.INPUT
    sides: Mapping[str, Side] = NONE
    side_before: Side | None = None
    order: str = ""
    peephole_order: str = ""
    habits: Habits = Habits()
    only: Mapping[str, tuple[object, ...]] = NONE
    projects_down: bool = False


class DenseArrays(Frozen):
    """The matrix and the bias of a dense layer."""

    kernel: Array
    bias: Array


class TransformArrays(Frozen):
    """How a framework lays out a layer around the cells.

    names: of its arrays, by role. order: of the axes of an array of several, by their places in the layer's own.
    buffers: the roles of the arrays that the framework does not count as parameters.
    only: the values that it can express, of the options that it cannot express whole. alike: options that must be
    equal. one_of: options; only one of them can differ from its default.
    epsilon: what it adds to a variance. steps_last: whether its sequences have the steps behind the features.
    """

    names: Mapping[str, str] = NONE
    order: tuple[int, ...] = ()
    buffers: tuple[str, ...] = ()
    only: Mapping[str, tuple[object, ...]] = NONE
    alike: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    epsilon: float = 1e-5
    steps_last: bool = False

    def cannot(self, layer: Layer) -> Iterator[str]:
        """Yield the options of a layer that it cannot express with the values they have."""
        values = layer.values()
        yield from (option for option, allowed in self.only.items() if values[option] not in allowed)
        if len({values[option] for option in self.alike}) > 1:
            yield next(option for option in self.alike if not values[option])
        changed = [option for option in self.one_of if values[option] != layer.defaults[option]]
        if len(changed) > 1:
            yield changed[-1]


class Returns(Frozen):
    """What a recurrent module returns, in the framework's names and order of axes.

    Axes are letters: B the batch, T the steps, W the width of one direction where there is a D or an L, of both side by
    side elsewhere; D the directions, L the directions of all layers in the module.
    sequence: the axes of any other sequence. output: the name of the output; axes: its axes.
    state: the name of a state, with {} for its letter; state_axes: its axes. Without D or L each direction has its own.
    merges: whether the module merges its two directions itself. last: whether it can return its last step alone.
    stacks: whether several equal layers are one module.
    note: how it is called; note_time_first: how it is with the steps in front, None if it cannot be.
    """

    sequence: str
    output: str
    axes: str
    state: str
    state_axes: str
    note: str
    note_time_first: str | None = None
    merges: bool = False
    last: bool = False
    stacks: bool = False


NO_FRAMEWORK: Mapping[str, tuple[object, ...]] = {
    "recurrence": ("full",),
    "reset_gate": (True,),
    "update_gate": ("keeps",),
    "output_gate": (True,),
    "coupled": (False,),
    "layer_norm": (False,),
    "projection": (None,),
    "peepholes": (False,),
    "learned_state": (False,),
}
"""The options that no framework has in its own recurrent layers, unless its row says otherwise."""

HEARD_OF = {*Cell.fields, *NO_FRAMEWORK, "activation", "reset_after", "kernel", "space"}
"""The options that the rows consider; a framework is assumed not to have any other."""


def restricted(*but: str, **others: tuple[object, ...]) -> dict[str, tuple[object, ...]]:
    """Return the options that no framework has, without those in `but`, and with others restricted too.

    Raises DeclarationError for a name in `but` that is not restricted.
    """
    for option in but:
        if option not in NO_FRAMEWORK:
            near = did_you_mean(option, [*NO_FRAMEWORK])
            raise DeclarationError(f"restricted: {option}: not restricted, so it cannot be left out{near}")
    return {**{option: values for option, values in NO_FRAMEWORK.items() if option not in but}, **others}


class Convention(Frozen):
    """One framework's layout. Raises DeclarationError, naming the part, for one that contradicts itself.

    title: how people write its name; note: its biases in a few words; why: the reason for them.
    cells: by kind, or one for every kind.
    output: the arrays of the output layer, where they differ from other dense layers'.
    directions: what marks the two directions of a bidirectional layer, in the slot of a name or else before it; None
        where both share a tensor along the axis DIRECTIONS.
    renamed: names that the framework spells in another way, with theirs.
    transforms: of the layers around the cells, by kind; those that have no weights need no entry.
    other_transforms: of all others, where each array is called by its role unless it is named; None if it lacks them.
    symbols: whether its names are symbols of mathematics, a letter and after `_` what stands below it.
    returns: the names and axes of the arrays that its recurrent modules return; None if they are unknown.
    untrained: its word for parameters that training does not change.
    """

    name: str
    title: str
    note: str
    why: str
    cells: Mapping[str, CellArrays] | CellArrays
    dense: DenseArrays
    embedding: Array
    output: DenseArrays | None = None
    directions: tuple[str, str] | None = ("forward/", "backward/")
    renamed: Mapping[str, str] = NONE
    transforms: Mapping[str, TransformArrays] = NONE
    other_transforms: TransformArrays | None = None
    symbols: bool = False
    returns: Returns | None = None
    untrained: str = "frozen"

    @property
    def made(self) -> dict[object, Any]:
        """The layouts and traces made under it, kept with it."""
        found: dict[object, Any] = self.__dict__["_made"]
        return found

    def __post_init__(self) -> None:
        self.__dict__["_made"] = {}
        for message in _problems(self):
            raise DeclarationError(f"{self.name}: {message}")

    def transform(self, kind: str) -> TransformArrays:
        """Return how it lays out a kind of layer around the cells; one without weights needs nothing said."""
        return self.transforms.get(kind) or self.other_transforms or _PLAIN

    def arrays(self, kind: str) -> CellArrays | None:
        """Return its arrays for a kind of cell, None if it lacks the kind."""
        return self.cells if isinstance(self.cells, CellArrays) else self.cells.get(kind)

    def habits(self, kind: str) -> Habits:
        """Return the differences of its cell from the textbook's that no option expresses."""
        arrays = self.arrays(kind)
        return Habits() if arrays is None else arrays.habits

    def has(self, layer: Layer) -> bool:
        """Return whether it lays out the layer's kind."""
        if isinstance(layer, Cell):
            return self.arrays(layer.kind) is not None
        built_in = isinstance(layer, Dense | Embedding | External)
        return built_in or not layer.arrays or layer.kind in self.transforms or self.other_transforms is not None

    def cannot(self, layer: Layer) -> Iterator[str]:
        """Yield the options of a layer that it cannot express with the values they have."""
        if not isinstance(layer, Cell):
            yield from self.transform(layer.kind).cannot(layer)
            return
        arrays = self.arrays(layer.kind)
        if arrays is None:
            return
        values: Mapping[str, tuple[object, ...]] = arrays.only
        if not isinstance(self.cells, CellArrays):
            unheard_of = {option: (value,) for option, value in layer.defaults.items() if option not in HEARD_OF}
            values = {**unheard_of, **values}
        yield from (
            option for option, value in layer.__dict__.items() if option in values and value not in values[option]
        )
        if self.excess(layer):
            yield "projection"

    def excess(self, layer: Layer) -> int:
        """Return by how much a projection is too wide, or 0."""
        arrays, projection = self.arrays(layer.kind), layer.__dict__.get("projection")
        if arrays is None or not arrays.projects_down or projection is None:
            return 0
        excess: int = projection - layer.__dict__["units"] + 1
        return max(0, excess)  # of letters nothing is known


_PLAIN = TransformArrays()


def _wrong_returns(returns: Returns) -> Iterator[str]:
    """Yield axes that are repeated or missing, and a name that does not tell states apart."""
    for part, needed, others in (("sequence", "BW", "T"), ("axes", "BW", "TD"), ("state_axes", "BW", "DL")):
        axes = getattr(returns, part)
        if len({*axes}) != len(axes) or not {*needed} <= {*axes} <= {*needed, *others}:
            yield f"returns: {part}: expected {needed} and any of {others}, each once, got {axes!r}"
    if "{}" not in returns.state:
        yield f"returns: state: expected a name with {{}} for the letter of the state, got {returns.state!r}"


_SIZES = {
    "input": (Width.INPUTS,),
    "recurrent": (Width.READS,),
    "bias": (),
    "recurrent_bias": (),
    "both_biases": (Width.TWO,),
    "stacked": (Width.STACKED,),
    "gain": (),
    "peephole": (),
    "projection": (Width.PROJECTED, Width.UNITS),
    "vector": (Width.UNITS,),
    "scalar": (),
    "state": (Width.READS,),
}
"""The axes of the arrays of each part, beside one of the units or of all gates."""

_GATED = ("input", "recurrent", "bias", "recurrent_bias", "both_biases", "stacked", "gain", "peephole")
"""The parts that belong to gates."""

_FUSED = (Width.GATED, Width.TWICE_GATED)

_OPTIONAL = (
    ("gain", "layer_norm", False),
    ("peephole", "peepholes", False),
    ("projection", "projection", None),
    ("state", "learned_state", False),
)
"""A part, the option that needs it, and the option's value that does not."""

_WITHOUT = {part: f"no layer may have the option {option}" for part, option, _ in _OPTIONAL}
"""Why a part that an option needs is unused."""


def _problems(convention: Convention) -> Iterator[str]:
    """Yield what is wrong with a convention; later problems may follow from the first."""
    if not isinstance(convention.title, str) or not convention.title:
        yield f"title: expected how people write its name, got {convention.title!r}"
    yield from _wrong_plain(convention)
    if isinstance(convention.cells, CellArrays):
        yield from _wrong_cell("", convention.cells, KINDS)
    else:
        for name, arrays in convention.cells.items():
            if name not in KINDS:
                yield f"{name}: no such kind{did_you_mean(name, [*KINDS])}"
            yield from _wrong_cell(f"{name}: ", arrays, (name,))
    yield from _wrong_directions(convention)
    yield from _wrong_spellings(convention)
    for name in convention.transforms:
        if name not in KINDS:
            yield f"transforms: {name}: no such kind{did_you_mean(name, [*KINDS])}"
    if convention.returns:
        yield from _wrong_returns(convention.returns)


def _wrong_plain(convention: Convention) -> Iterator[str]:
    """Yield arrays of a dense layer or an embedding with impossible axes."""
    for dense in (convention.dense, convention.output or convention.dense):
        yield from _wrong_array("dense: kernel", dense.kernel)
        yield from _wrong_array("dense: bias", dense.bias)
        if Counter(dense.kernel.axes) != Counter((Width.INPUTS, Width.OUTPUTS)):
            yield _other_axes("dense: kernel", "INPUTS and OUTPUTS, in either order", dense.kernel)
        if [axis for axis in dense.bias.axes if axis is not Width.ONE] != [Width.OUTPUTS]:
            yield _other_axes("dense: bias", "OUTPUTS", dense.bias)
        if dense.kernel.name == dense.bias.name:
            yield f"dense: kernel and bias have the same name, {dense.bias.name[0]!r}; rename one"
    yield from _wrong_array("embedding", convention.embedding)
    if convention.embedding.axes != (Width.INPUTS, Width.VECTOR):
        yield _other_axes("embedding", "INPUTS, VECTOR, a row for each token", convention.embedding)
    named = {"dense: kernel": convention.dense.kernel, "dense: bias": convention.dense.bias}
    for where, array in {**named, "embedding": convention.embedding}.items():
        if len(array.name) != 1 or isinstance(array.name[0], Slot):
            yield f"{where}: name: expected one text, got {array.name}"


def _wrong_cell(where: str, arrays: CellArrays, kinds: Iterable[str]) -> Iterator[str]:
    """Yield what is missing, unused or wrong in the arrays of a cell."""
    for part, of in _TYPES.items():
        if not isinstance(value := getattr(arrays, part), of):
            yield f"{where}{part}: expected a {of.__name__}, got {value!r}"
    for letter, side in arrays.sides.items():
        if not isinstance(side, Side):
            yield f"{where}sides: {letter}: expected a Side, got {side!r}"
    needed = needed_parts(arrays)
    for part in needed:
        if getattr(arrays, part) is None:
            yield f"{where}{part}: missing"
    for part, sizes in _SIZES.items():
        array = getattr(arrays, part)
        if array is None:
            continue
        if part not in needed and part not in ("vector", "scalar", "stacked"):
            yield f"{where}{part}: unused; {_WITHOUT.get(part, 'no gate has a bias there')}; remove it"
        yield from _wrong_array(f"{where}{part}", array)
        yield from _wrong_axes(f"{where}{part}", part, sizes, array)
    yield from _wrong_orders(where, arrays)
    yield from _wrong_only(f"{where}only", arrays.only, kinds)


_TYPES: dict[str, type] = {"side": Side, "order": str, "peephole_order": str, "sides": Mapping, "habits": Habits}


def needed_parts(arrays: CellArrays) -> list[str]:
    """Return the parts that have tensors in some layer."""
    needed = {"input", "recurrent"}
    sides = {arrays.side, *arrays.sides.values(), *([arrays.side_before] if arrays.side_before else [])}
    whole = arrays.both_biases is not None and not arrays.sides  # both sides of every gate in one tensor
    for side in sides:
        if side is Side.BOTH:
            needed |= {"both_biases"} if whole else {"bias", "recurrent_bias"}
        else:
            needed.add("bias" if side is Side.INPUT else "recurrent_bias")
    for part, option, without in _OPTIONAL:
        if arrays.only.get(option) != (without,):
            needed.add(part)
    return [part for part in _SIZES if part in needed]


def _wrong_array(where: str, array: object) -> Iterator[str]:
    """Yield wrong types in an array; Python treats text like a tuple of its letters."""
    if not isinstance(array, Array):
        yield f"{where}: expected an Array, got {array!r}"
        return
    if not isinstance(array.name, tuple) or not all(isinstance(piece, str | Slot) for piece in array.name):
        yield f"{where}: name: expected a tuple of texts and slots, got {array.name!r}"
    if not isinstance(array.axes, tuple) or not all(isinstance(axis, Width) for axis in array.axes):
        yield f"{where}: axes: expected a tuple of widths, got {array.axes!r}"


def _wrong_axes(where: str, part: str, sizes: tuple[Width, ...], array: Array) -> Iterator[str]:
    """Yield wrong axes of a cell's array; their order is free."""
    gated = part in _GATED
    if gated and array.by_gate == any(axis in array.axes for axis in _FUSED):
        yield f"{where}: its name tells the gates apart, or an axis holds them all: one of the two"
    units = Width.UNITS if array.by_gate else Width.GATED
    expected = [(*sizes, units)] if gated else [sizes]
    if part == "both_biases":
        expected.append((Width.TWICE_GATED,))
    same = {Width.READS_OR_ONE: Width.READS}
    found = Counter(same.get(axis, axis) for axis in array.axes if axis not in (Width.DIRECTIONS, Width.ONE))
    if found not in [*map(Counter, expected)]:
        said = one_of([all_of([axis.name for axis in axes or (Width.ONE,)]) for axes in expected])
        yield _other_axes(where, f"{said}, in any order" if len(expected[0]) > 1 else said, array)


def _other_axes(where: str, expected: str, array: Array) -> str:
    got = ", ".join(axis.name for axis in array.axes) or "none"
    return f"{where}: expected the axes {expected}, got {got}"


def _wrong_orders(where: str, arrays: CellArrays) -> Iterator[str]:
    """Yield an order that no tensor uses, or a gate that is in an order twice."""
    fused = [part for part in _GATED if (of := getattr(arrays, part)) and not of.by_gate]
    for part, letters, used in (
        ("order", arrays.order, fused),
        ("peephole_order", arrays.peephole_order, "peephole" in fused),
    ):
        if twice := [letter for letter in letters if letters.count(letter) > 1]:
            yield f"{where}{part}: the gate {twice[0]} stands there twice"
        if letters and not used:
            yield f"{where}{part}: unused; no tensor holds several gates in that order"


def _wrong_only(where: str, only: Mapping[str, object], kinds: Iterable[str]) -> Iterator[str]:
    """Yield an option that no layer of these kinds could have, or a value that it cannot have."""
    for option, values in only.items():
        known = OPTIONS.get(option) or next(filter(None, [kind(each).known_option(option) for each in kinds]), None)
        if known is None:
            yield f"{where}: {option}: no such option{did_you_mean(option, [*OPTIONS])}"
        elif not isinstance(values, tuple):
            yield f"{where}: {option}: expected a tuple of values, got {values!r}; write one"
        else:
            wrong = (known.allowed.problem(value) for value in values if value is not None)
            yield from (f"{where}: {option}: {problem}" for problem in wrong if problem)


def _arrays_of(convention: Convention) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of all cells, each with the names of its kind and its part."""
    cells = {"": convention.cells} if isinstance(convention.cells, CellArrays) else convention.cells
    for name, arrays in cells.items():
        for part in _SIZES:
            if array := getattr(arrays, part):
                yield f"{name}: {part}" if name else part, array


def _wrong_directions(convention: Convention) -> Iterator[str]:
    """Yield the reasons why the tensors of the two directions would share names."""
    marks = convention.directions
    if marks is not None and (not isinstance(marks, tuple) or len(marks) != 2 or marks[0] == marks[1]):
        yield f"directions: expected a tuple of two marks that differ, or None, got {marks!r}"
    for where, array in _arrays_of(convention):
        if (Width.DIRECTIONS in array.axes) == (marks is not None):
            cure = "directions marks them in names: remove the axis" if marks else "directions is None: add the axis"
            yield f"{where}: an axis DIRECTIONS holds both directions, or names tell them apart; {cure}"


def _wrong_spellings(convention: Convention) -> Iterator[str]:
    """Yield renamed names that no tensor has."""
    if not convention.renamed:
        return
    arrays = [array for _, array in _arrays_of(convention)]
    patterns = [
        "".join(re.escape(piece) if isinstance(piece, str) else "[a-z]*" for piece in array.name) for array in arrays
    ]
    for name in convention.renamed:
        if not any(re.fullmatch(pattern, name) for pattern in patterns):
            yield f"renamed: no tensor is called {name}"
