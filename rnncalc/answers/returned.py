"""Judges the shape of an array that a layer returns, and finds the mistakes that give a wrong one.

The batch may have any size, and so may the steps if the network does not give them; only then they may be a letter. The
size in one right shape must hold for the other shapes. The batch may be written before the steps or after them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from rnncalc.answers.judgement import AxisOrder, Diagnosis, Judgement, Mistake, sizes_off
from rnncalc.answers.reading import GivenShape
from rnncalc.conventions import CONVENTIONS, convention
from rnncalc.conventions.formula import Times
from rnncalc.errors import CallError
from rnncalc.layers.cell import Cell
from rnncalc.layers.convolution import Sliding
from rnncalc.layers.reshaping import Flatten
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.printable import escape
from rnncalc.questions.shapes import Axes, ModuleShapes, shapes
from rnncalc.words import did_you_mean, one_of

_FREE = "BT"
"""The axes that may have any size if the network does not say which: the batch and the steps."""


class ReturnedArray(NamedTuple):
    """An array that a module returns, with the sizes of its axes.

    values: those of the {braces} of the mistake that made it.
    """

    module: ModuleShapes
    name: str
    axes: str
    sizes: Axes
    values: Mapping[str, str] = {}

    @property
    def array(self) -> Axes:
        """The array without its name."""
        return {axis: self.sizes[axis] for axis in self.axes}

    @property
    def place(self) -> Placed:
        """The first layer of the module."""
        return self.module.places[0]

    @property
    def ways(self) -> int:
        """How many directions it has."""
        return self.place.layer.directions

    @property
    def layers(self) -> int:
        """How many layers its axis of layers has; 1 if it has no such axis."""
        return len(self.module.places) if "L" in self.axes else 1

    @property
    def is_output(self) -> bool:
        """Whether it is the output of the module, the first array that it returns."""
        return self.name == next(iter(self.module.returns))

    def judgement(
        self, answer: GivenShape, *, order: AxisOrder | None = None, diagnoses: tuple[Diagnosis, ...] = ()
    ) -> Judgement:
        """Return a shape compared with the array."""
        name = self.module.name
        return Judgement(name, answer, 0, self.name, diagnoses=diagnoses, returned=self.array, order=order)

    def of(self, axes: str = "", **sizes: int | None) -> ReturnedArray:
        """Return the array with these axes, by default its own, and these sizes changed."""
        return self._replace(axes=axes or self.axes, sizes={**self.sizes, **sizes})

    def without(self, axis: str, **sizes: int | None) -> ReturnedArray:
        """Return the array without an axis, and with these sizes changed."""
        return self.of(self.axes.replace(axis, ""), **sizes)

    def swapped(self, axes: str) -> ReturnedArray:
        """Return the array with two axes swapped."""
        return self.of(self.axes.translate(str.maketrans(axes, axes[::-1])))

    def fits(self, answer: GivenShape) -> bool:
        """Return whether a given shape is right for the array."""
        return len(answer.sizes) == len(self.axes) and all(map(self.has_size, self.axes, answer.sizes))

    def has_size(self, axis: str, size: int | str | None) -> bool:
        """Return whether a size is right for an axis; a letter is right for the batch, and for unknown steps."""
        right = self.sizes[axis]
        if size is not None and not isinstance(size, str):
            return right in (None, size)
        return axis == "B" or (axis == "T" and not isinstance(right, int))


def judge_returned(network: Network, answers: Sequence[GivenShape], tensors: Sequence[str]) -> Iterator[Judgement]:
    """Yield each shape compared with the array of its name. Raises CallError for a name that no module returns.

    tensors: the names of tensors, to suggest for an unknown name.
    """
    modules = shapes(network).modules if answers else ()
    called = [_arrays_called(network, modules, each, tensors) for each in answers]

    def judged(order: Sequence[int]) -> list[Judgement]:
        judgements: dict[int, Judgement] = {}
        known: dict[str, int] = {}
        for at in order:
            arrays = [array._replace(sizes={**array.sizes, **known}) for array in called[at]]
            judgements[at], axes = _judged(arrays, answers[at])
            by_axis = zip(axes, answers[at].sizes, strict=False)
            known |= {axis: size for axis, size in by_axis if axis in _FREE and isinstance(size, int)}
        return [judgements[at] for at in range(len(answers))]

    places = range(len(answers))
    # a state says which size is the batch; an output may have the steps before it
    orders = places, sorted(places, key=lambda at: "T" in called[at][0].axes)
    yield from max(map(judged, orders), key=lambda each: sum(judgement.right for judgement in each))


def is_returned(network: Network, name: str) -> bool:
    """Return whether a layer returns an array of this name."""
    return any(_plain(name) == _plain(each) for module in shapes(network).modules for each in module.returns)


def _judged(arrays: Sequence[ReturnedArray], answer: GivenShape) -> tuple[Judgement, str]:
    """Return a shape compared with the first array that it fits, and its axes; none if it is wrong."""
    for array in arrays:
        for order, written in _orders(array).items():
            if written.fits(answer):
                sizes, steps = dict(zip(written.axes, answer.sizes, strict=True)), array.module.input.get("T")
                if steps and "T" not in sizes and sizes.get("B") == steps != written.sizes["B"]:
                    order = AxisOrder.BATCH_AS_STEPS
                return array.judgement(answer, order=order), written.axes
    cells = [array for array in arrays if isinstance(array.place.layer, Cell)]
    if len(cells) != 1 and len(arrays) > 1:
        name = escape(answer.name)
        each = one_of([f"{array.place.name}.{name}" for array in arrays])
        raise CallError(f"{name}: several layers return this array; write {each}")
    array = (cells or arrays)[0]
    return array.judgement(answer, diagnoses=tuple(_diagnoses(array, answer))), ""


def _arrays_called(
    network: Network, modules: Sequence[ModuleShapes], answer: GivenShape, tensors: Sequence[str]
) -> list[ReturnedArray]:
    """Return the arrays with this name, in the order of the modules; for two directions only the first."""
    layer, _, name = answer.name.rpartition(".")
    arrays = []
    for module in modules:
        if layer and layer not in [placed.name for placed in module.places]:
            continue
        for returned, array in module.returns.items():
            if _plain(name) in (_plain(returned), _plain(returned.rpartition("/")[2])):
                arrays.append(ReturnedArray(module, returned, "".join(array), array))
                break
    if arrays:
        return arrays
    owner, owners = layer or name, [placed.name for placed in network.stack]
    if re.fullmatch("[a-z]{3}[a-z0-9_]*_[0-9]+", owner) and owner not in owners:
        raise CallError(f"{escape(owner)}: no layer has this name; expected {one_of(owners)}")
    known = list(dict.fromkeys([*tensors, *(name for module in modules for name in module.returns)]))
    title = convention(network.convention).title
    cure = (_elsewhere(name) if not layer else "") or did_you_mean(name, known)
    raise CallError(
        f"{escape(answer.name)}: no layer has or returns this under {title}; expected {one_of(known)}{cure}"
    )


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _elsewhere(name: str) -> str:
    """Return the cure for an unknown name: another convention that has an array of this name."""
    for other in CONVENTIONS:
        returns = convention(other).returns
        names = [returns.state.format(letter) for letter in "hc"] if returns else []
        if _plain(name) in map(_plain, names):
            return f"; the convention {other} has it"
    return ""


def _orders(array: ReturnedArray) -> dict[AxisOrder, ReturnedArray]:
    """Return the array in each allowed order of axes; an order that is not the usual one leads to a remark."""
    orders = {AxisOrder.USUAL: array}
    rest = array.axes.replace("B", "").replace("T", "")
    if "T" in array.axes and "B" in array.axes:
        steps_first = array.axes.index("T") < array.axes.index("B")
        other = AxisOrder.BATCH_FIRST if steps_first else AxisOrder.STEPS_FIRST
        orders[other] = array.of(("BT" if steps_first else "TB") + rest)
    elif array.axes.startswith("DB"):
        orders[AxisOrder.BATCH_FIRST] = array.of("B" + rest)  # ONNX's layout 1
    orders[AxisOrder.NO_BATCH] = array.without("B")
    return orders


def _diagnoses(array: ReturnedArray, answer: GivenShape) -> Iterator[Diagnosis]:
    """Yield the mistakes that give a wrong shape, or else the one size that is wrong."""
    mistakes = []
    for row in MISTAKES:
        for one in row.change(array):
            orders = {order: way for order, way in _orders(one).items() if order is not AxisOrder.NO_BATCH}
            if any(way.fits(answer) for way in orders.values()) and [*one.array.items()] != [*array.array.items()]:
                mistakes.append(row.filled(one.values))
                break
    yours, right = (
        Times(tuple(size for size in sizes if isinstance(size, int))) for sizes in (answer.sizes, array.array.values())
    )
    for row in mistakes or sizes_off(answer.sizes, array.axes, lambda size, axis: array.has_size(axis, size)):
        yield Diagnosis((row,), array.module.name, None, yours, right)


Wrong = Iterable[ReturnedArray]
"""The arrays that a mistake makes of one."""


def _steps(array: ReturnedArray, wrong: Callable[[int, int, int], int]) -> Wrong:
    """Yield the array of a convolution or pooling with a wrong number of steps, with and without the axis of a batch.

    wrong: returns it from the steps that are read, the window without what is padded, and the stride; 0 for none.
    """
    layer, steps = array.place.layer, array.module.input.get("T")
    if not isinstance(layer, Sliding) or not isinstance(steps, int) or array.sizes.get("T") in (None, steps):
        return
    window, stride = 1 if layer.taps[3] != "valid" else layer.span, layer.every
    if stride == 1:
        why = f"without padding, its window of {window} shortens the sequence"
    elif window in (1, stride):
        why = f"its stride of {stride} divides them"
    else:
        why = f"its window of {window} shortens the sequence, and its stride of {stride} divides it"
    values = {"steps": f"{steps:,}", "why": why, "stride": str(stride), "window": str(window)}
    if number := wrong(steps, window, stride):
        valued = array._replace(values=values)
        yield valued.of(T=number)
        yield valued.without("B", T=number)


def _not_flattened(array: ReturnedArray) -> Wrong:
    layer, steps = array.place.layer, array.module.input.get("T")
    if isinstance(layer, Flatten) and isinstance(steps, int):
        width = array.place.inputs
        yield array.of("BTW", T=steps, W=width)
        yield array.of(W=width)


def _one_direction(array: ReturnedArray) -> Wrong:
    axis = next((axis for axis in "LD" if axis in array.axes), "W" if array.is_output else "")
    if axis and array.ways > 1:
        yield array.of(array.axes, **{axis: (array.sizes[axis] or 0) // array.ways})


def _side_by_side(array: ReturnedArray) -> Wrong:
    ways, width = array.ways, array.sizes["W"] or 0
    if ways > 1 and "L" in array.axes:
        yield array.of(L=len(array.module.places), W=ways * width)
    elif ways > 1 and "D" in array.axes:
        yield array.of(D=1, W=ways * width)
        yield array.without("D", W=ways * width)
    elif ways > 1 and not array.is_output:
        yield array.of(W=ways * width)


def _apart(array: ReturnedArray) -> Wrong:
    ways = array.ways
    if ways > 1 and array.is_output and "D" not in array.axes:
        apart = {"D": ways, "W": (array.sizes["W"] or 0) // ways}
        yield array.of(array.axes.replace("W", "DW"), **apart)
        yield array.of("D" + array.axes, **apart)


def _every_step(array: ReturnedArray) -> Wrong:
    steps = array.module.input.get("T")
    if "T" not in array.axes and steps:
        rest = array.axes.replace("B", "").replace("L", "")
        yield array.of(f"BT{rest}", T=steps)


def _units_for_steps(array: ReturnedArray) -> Wrong:
    width = array.sizes["W"]
    if "T" in array.axes:
        yield array.of(T=width)
        yield array.swapped("TW")
        if steps := array.sizes["T"]:
            yield array.of(W=steps)


def _other(array: ReturnedArray) -> Wrong:
    for name, other in array.module.returns.items():
        if name != array.name and other.get("T", 1):  # an unknown number of steps would fit any size
            sizes = {axis: size for axis, size in other.items() if axis != "B"}
            yield array.of("".join(other), **sizes)._replace(values={"other": name})


def _no_projection(array: ReturnedArray) -> Wrong:
    place = array.place
    if isinstance(place.layer, Cell) and place.layer.output != "h" and place.units:
        yield array.of(W=place.units * (array.ways if array.is_output else 1))


def _all_gates(array: ReturnedArray) -> Wrong:
    place = array.place
    if isinstance(place.layer, Cell) and (gates := len(place.layer.gates(place.inputs))) > 1:
        yield array.of(W=gates * (array.sizes["W"] or 0))


# a row is read on one line, or on a few
# fmt: off
shape = partial(Mistake, "shape")

MISTAKES: tuple[Mistake, ...] = (
    shape("same-steps", "has the {steps} steps of the input; {why}",
     lambda array: _steps(array, lambda steps, *_: steps)),
    shape("no-stride", "forgets the stride of {stride}, which divides the steps", lambda array: _steps(
        array, lambda steps, window, stride: steps - window + 1 if 1 < stride < window else 0)),
    shape("not-flattened", "keeps the width of one step; flatten puts all steps side by side", _not_flattened),
    shape("no-window", "forgets that a window of {window} steps shortens the sequence", lambda array: _steps(
        array, lambda steps, window, stride: -(-steps // stride) if 1 < stride < window else 0)),
    shape("batch-first-state",
     "puts the batch first; a state keeps its layers and directions in front, also with batch_first=True",
     lambda array: [array.of("B" + array.axes.replace("B", ""))] if array.axes.startswith("L") else []),
    shape("one-direction", "forgets the second direction", _one_direction),
    shape("one-layer", "forgets the stacked layers",
     lambda array: [array.of(L=array.ways)] if array.layers > 1 else []),
    shape("one-layer-one-direction", "forgets the stacked layers and the second direction",
     lambda array: [array.of(L=1)] if array.layers > 1 and array.ways > 1 else []),
    shape("directions-side-by-side", "puts both directions side by side; here each has a row of its own",
          _side_by_side),
    shape("directions-apart", "keeps the directions apart; here they are side by side", _apart),
    shape("no-projection", "ignores the projection", _no_projection),
    shape("units-for-steps", "confuses the units with the steps", _units_for_steps),
    shape("units-for-batch", "confuses the units with the batch",
     lambda array: [array.swapped("BW")] if "B" in array.axes and "T" not in array.axes else []),
    shape("other-array", "is the shape of {other}", _other),
    shape("one-step", "has one step; here every step is returned",
     lambda array: [array.without("T")] if "T" in array.axes else []),
    shape("every-step", "has every step; here the last step alone is returned", _every_step),
    shape("input-width", "has the width of the input instead of the units",  # a flatten has none; see `_not_flattened`
     lambda array: [] if isinstance(array.place.layer, Flatten) else [array.of(W=array.place.inputs)]),
    shape("all-gates", "is as wide as all blocks of the cell", _all_gates),
    shape("no-layers-axis", "lacks the axis of layers and directions",
     lambda array: [array.without(axis) for axis in "LD" if axis in array.axes]),
)
# fmt: on
"""Mistakes that have a reason, the likeliest first, each with the function that returns wrong arrays."""
