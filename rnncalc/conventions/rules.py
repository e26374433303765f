"""The rules of a convention: how a framework names, fuses, orders and orients parameters, and what it lacks.

A convention is data, one file a framework beside this one: a cell is written as another with some parts changed.
`layout.py` turns a convention into tensors. `tests/conventions/test_declarations.py` finds one that is half right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any, TypeVar

from rnncalc.layers.cell import Cell, Habits
from rnncalc.layers.layer import CROSS, Layer
from rnncalc.records import Frozen

NONE: Mapping[str, Any] = {}
AnyLayer = TypeVar("AnyLayer", bound=Layer)


class Side(Enum):
    """The side of a gate's bias: beside the input, beside the past, or one on each side."""

    INPUT = "input"
    RECURRENT = "recurrent"
    BOTH = "both"


def _index(letters: Mapping[str, str], whole: bool, letter: str) -> str:
    """Return what is written for a letter in the index of weights: the index of what is written, if that has one."""
    symbol = letters.get(letter, letter)
    return symbol if whole else symbol.partition("_")[2] or symbol


class Array(Frozen):
    """How tensors of one role are named and shaped.

    name: with slots in it. {gate}: the letter of a gate, or of weights beside the gates; {apart}: the same, but for the
    one gate of a cell. {read}: what is read, x or a state, and beside which of them a bias is that is one of two;
    {other}: the same, but for x and for the state that is the cell's memory. {direction}: its mark. {copy}: the number
    of a repeated layer.
    axes: the length of each. A letter is a width, as in a formula, and a number itself; `gates` is h for each gate that
    is in the tensor, and `2gates` twice that; `reads` is the width that a product reads, and no axis of a diagonal one,
    whose `reads|1` is 1; `stacked` is as long as all that a gate reads together; `directions` is 1 or 2.
    With {gate} or {apart} in the name, each gate has a tensor; else all gates are in one, along `gates`.
    letters: a course's own, by those that the notation has: of a gate or a state, whose index is that of its weights,
    or of the whole name.
    marks: of the two directions, where they are not those of the convention.
    """

    name: str
    axes: str
    letters: Mapping[str, str] = NONE
    marks: tuple[str, str] | None = None

    @property
    def by_gate(self) -> bool:
        """Whether each gate has a tensor of its own."""
        return "{gate}" in self.name or "{apart}" in self.name

    def filled(
        self, gates: str = "", read: str = "", *, alone: bool = False, memory: bool = False, **marks: str
    ) -> str:
        """Return the name with the letters of gates and of the vector read in it, and marks in the other slots.

        alone: whether it is a cell's one gate. memory: whether what is read is x, or the state that is the memory.
        """
        whole = self.name.startswith("{")  # a state, or a weight beside the gates, by its own letter

        def name(index: Callable[[str], str]) -> str:
            gate, vector = gates if whole else "".join(map(index, gates)), index(read)
            apart, other = "" if alone else gate, "" if memory else vector
            return self.name.format(gate=gate, apart=apart, read=vector, other=other, **marks).removesuffix("_")

        plain = name(str)
        return self.letters.get(plain) or (name(partial(_index, self.letters, whole)) if self.letters else plain)

    def symbol(self, gates: str = "", read: str = "", *, alone: bool = False, memory: bool = False) -> tuple[str, str]:
        """Return the name that `filled` gives as a symbol: its letter, and what is below it."""
        letter, _, below = self.filled(gates, read, alone=alone, memory=memory).partition("_")
        return letter, below


class CellArrays(Frozen):
    """How a framework lays out one kind of cell.

    left, right: the two matrices whose product is a recurrent one of low rank.
    bias: of the input side; both_biases: of the two sides in one tensor. gain: of a gate whose sum is normalised.
    stacked: of all that a gate reads, where its step sums the products; `input` and `recurrent` are those of the rest.
    joins: what one matrix of all gates multiplies, one above the other; empty if each vector has a matrix of its own.
    side: where biases are, sides: for the gates that differ, side_before: for a GRU that resets before the product.
    order: of the gates in fused tensors, the textbook's where it is empty.
    usual: what options that a spec leaves open mean, where it is not what they mean in the textbook.
    only: the values it can express, of the options that it cannot express whole.
    projects_down: whether a projection must be narrower than the cell.
    """

    input: Array | None = None
    recurrent: Array | None = None
    left: Array | None = None
    right: Array | None = None
    bias: Array | None = None
    recurrent_bias: Array | None = None
    both_biases: Array | None = None
    stacked: Array | None = None
    joins: tuple[str, ...] = ()
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
    habits: Habits = Habits()
    usual: Mapping[str, str] = NONE
    only: Mapping[str, tuple[object, ...]] = NONE
    projects_down: bool = False

    @property
    def has_letters(self) -> bool:
        """Whether its tensors have a course's letters."""
        return any(array.letters for array in self.values().values() if isinstance(array, Array))


class TransformArrays(Frozen):
    """How a framework lays out a layer that is no cell.

    names: of its arrays, by role; arrays of one name are one tensor, one below the other. order: of the axes of an
    array of several, by their places in the layer's own. axes: of arrays whose axes are others, by role.
    buffers: the roles of the arrays that the framework does not count as parameters.
    only: the values that it can express, of the options that it cannot express whole. alike: options that must be
    equal. one_of: options; only one of them can differ from its default.
    rows: whether vectors are rows, so that matrices are transposed. of_dense: whether its matrices, each with its bias,
    are dense layers.
    epsilon: what it adds to a variance. steps_last: whether its sequences have the steps behind the features.
    """

    names: Mapping[str, str] = NONE
    order: tuple[int, ...] = ()
    axes: Mapping[str, Sequence[str]] = NONE
    buffers: tuple[str, ...] = ()
    only: Mapping[str, tuple[object, ...]] = NONE
    alike: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    rows: bool = False
    of_dense: bool = False
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


def with_heads(output: str, query: str = "m", memory: str = "m", key: str = "k") -> TransformArrays:
    """Return the arrays of attention with an axis for the heads; output: the name of the last of its projections.

    query, memory, key: the letters of the widths of what is read, and of a head's keys.
    """
    parts = {"query": "query", "key": "key", "value": "value", "output": output}
    names = {role: f"{name}/kernel" for role, name in parts.items()}
    names |= {f"{role}_bias": f"{name}/bias" for role, name in parts.items()}
    axes = {"query": f"{query}h{key}", "key": f"{memory}h{key}", "value": f"{memory}hv", "output": f"hv{query}"}
    return TransformArrays(names, axes=axes | {"query_bias": f"h{key}", "key_bias": f"h{key}", "value_bias": "hv"})


def attention_of_dense(
    weight: str, bias: str, order: tuple[int, ...] = (), convolution: tuple[str, str] | None = None
) -> dict[str, TransformArrays]:
    """Return the kinds of a decoder's attention, made of dense layers, and of a convolution if its score is location.

    weight, bias: the names in these, with {} for the layer's. convolution: those in the convolution, if they differ.
    """
    roles = ("query", "keys", "location", "score", "key", "value", "output")
    names = {role: weight.format(role) for role in roles} | {"kernel": weight.format("matrix")}
    biases = {f"{role}_bias": bias.format(role) for role in roles} | {"bias": bias.format("matrix")}
    ends = zip(("convolution", "convolution_bias"), convolution or (weight, bias), strict=True)
    names |= {role: end.format("convolution") for role, end in ends}
    biases["step_bias"] = bias.removeprefix("{}")[1:]
    arrays = TransformArrays(names | biases, order, of_dense=True)
    return dict.fromkeys(("attention", "decoder_attention", *CROSS), arrays)


class Returns(Frozen):
    """What a recurrent module returns, in the framework's names and order of axes.

    Axes are letters: B the batch, T the steps, W the width of one direction where there is a D or an L, of both side by
    side elsewhere; D the directions, L the directions of all layers in the module.
    By default the batch is in front. sequence: the axes of any other sequence. output: the name of the output; axes:
    its axes.
    state: the name of a state, with {} for its letter; state_axes: its axes. Without D or L each direction has its own.
    merges: whether the module merges its two directions itself. last: whether it can return its last step alone.
    stacks: whether several equal layers are one module.
    note: how it is called; note_time_first: how it is with the steps in front, None if it cannot be.
    """

    output: str
    state: str
    note: str
    sequence: str = "BTW"
    axes: str = "BTW"
    state_axes: str = "BW"
    note_time_first: str | None = None
    merges: bool = False
    last: bool = False
    stacks: bool = False


NO_FRAMEWORK: Mapping[str, tuple[object, ...]] = {
    "recurrence": ("full",),
    "reset_gate": (True,),
    "update_gate": (None, "keeps"),
    "output_gate": (True,),
    "coupled": (False,),
    "layer_norm": (False,),
    "projection": (None,),
    "peepholes": (False,),
    "learned_state": (False,),
}
"""The options that no framework here has in its own recurrent layers, unless its row says otherwise."""

_OF_CELLS = ("activation", "recurrent_activation", "reset_after", "kernel", "space")
CONSIDERED_OPTIONS = {*Cell.fields, *NO_FRAMEWORK, *_OF_CELLS}
"""The options that the rows consider; a framework is assumed not to have any other."""


def restricted(*but: str, **others: tuple[object, ...]) -> dict[str, tuple[object, ...]]:
    """Return the options that no framework here has, without those in `but`, and with others restricted too."""
    return {**{option: values for option, values in NO_FRAMEWORK.items() if option not in but}, **others}


class Convention(Frozen):
    """One framework's layout.

    title: how people write its name; note: its biases in a few words; why: the reason for them.
    cells: by kind, or one for every kind.
    directions: what marks the two directions of a bidirectional layer, in the slot of a name or else before it; None
        where both share a tensor along its axis `directions`.
    renamed: names that the framework spells in another way, with theirs.
    transforms: of all other layers, by kind; those that have no weights need no entry. `output` is that of the output
        layer, where it differs from other dense layers.
    other_transforms: of all others, where each array is called by its role unless it is named; None if it lacks them.
    symbols: whether its names are symbols of mathematics, a letter and after `_` what is below it.
    returns: the names and axes of the arrays that its recurrent modules return; None if they are unknown.
    untrained: its word for parameters that training does not change.
    former: values of options that only earlier versions of the framework, and so their files, have.
    """

    name: str
    title: str
    note: str
    why: str
    cells: Mapping[str, CellArrays] | CellArrays
    directions: tuple[str, str] | None = ("forward/", "backward/")
    renamed: Mapping[str, str] = NONE
    transforms: Mapping[str, TransformArrays] = NONE
    other_transforms: TransformArrays | None = None
    symbols: bool = False
    returns: Returns | None = None
    untrained: str = "frozen"
    former: Mapping[str, tuple[object, ...]] = NONE

    @property
    def cache(self) -> dict[object, Any]:
        """The layouts and traces made under it, kept with it."""
        cache: dict[object, Any] = self.__dict__["_cache"]
        return cache

    def __post_init__(self) -> None:
        self.__dict__["_cache"] = {}

    def transform(self, kind: str) -> TransformArrays:
        """Return how it lays out a kind of layer that is no cell; one without weights needs nothing said."""
        return self.transforms.get(kind) or self.other_transforms or _PLAIN

    def arrays(self, kind: str) -> CellArrays | None:
        """Return its arrays for a kind of cell, None if it lacks the kind."""
        return self.cells if isinstance(self.cells, CellArrays) else self.cells.get(kind)

    def habits(self, kind: str) -> Habits:
        """Return the differences of its cell from the textbook's that no option expresses."""
        arrays = self.arrays(kind)
        return Habits() if arrays is None else arrays.habits

    def usual(self, kind: str) -> Mapping[str, str]:
        """Return what options that a spec leaves open mean in its cells of a kind."""
        arrays = self.arrays(kind)
        return {**Cell.usual, **arrays.usual} if arrays else Cell.usual

    def settled(self, layer: AnyLayer) -> AnyLayer:
        """Return a layer with its own values for options that are left open, where they are not the textbook's."""
        arrays = self.arrays(layer.kind) if isinstance(layer, Cell) else None
        values = layer.__dict__
        usual = arrays.usual.items() if arrays else ()
        opened = {option: value for option, value in usual if option in values and values[option] is None}
        return layer.replace(**opened) if opened else layer

    def opened(self, layer: Layer) -> Layer:
        """Return a layer with its options left open that can be, and have the value that they then mean."""
        usual, defaults = self.usual(layer.kind).items(), layer.defaults
        alike = [option for option, value in usual if layer.values().get(option) == value and defaults[option] is None]
        return layer.replace(**dict.fromkeys(alike)) if alike else layer

    def has(self, layer: Layer) -> bool:
        """Return whether it lays out the layer's kind."""
        if isinstance(layer, Cell):
            return self.arrays(layer.kind) is not None
        return not layer.arrays or layer.named_as in self.transforms or self.other_transforms is not None

    def expresses(self, layer: Layer) -> bool:
        """Return whether it lays out the layer's kind, and expresses all of its options."""
        return self.has(layer) and not any(self.cannot(layer))

    def cannot(self, layer: Layer) -> Iterator[str]:
        """Yield the options of a layer that it cannot express with the values they have."""
        if not isinstance(layer, Cell):
            yield from self.transform(layer.named_as).cannot(layer)
            return
        arrays = self.arrays(layer.kind)
        if arrays is None:
            return
        values: Mapping[str, tuple[object, ...]] = arrays.only
        if not isinstance(self.cells, CellArrays):
            others = {option: (value,) for option, value in layer.defaults.items() if option not in CONSIDERED_OPTIONS}
            values = {**others, **values}
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
