"""Arrays of an ONNX graph that operators make of stored ones by moving their numbers.

Exporters slice, join and turn weights in the graph if they do not store them as their operators read them. The meaning
of each operator is that of https://onnx.ai/onnx/operators. Numbers are computed when they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from operator import add, mul, sub, truediv
from typing import Any, NamedTuple

from rnncalc.bounds import MOST_MOVED, MOST_MOVES, MOST_PACKED_READ
from rnncalc.models.files import model

ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {"Add": add, "Sub": sub, "Mul": mul, "Div": truediv}


class Value(NamedTuple):
    """An array of a graph.

    read: returns its numbers in one list. sources: how many of them are of each stored tensor; those that take part in
    all, such as a factor, are left out.
    work: how many numbers are moved to compute it. moves: how many operators do that, one after another.
    turned: the array that it is a transpose of, and the order of its axes.
    """

    shape: tuple[int, ...]
    dtype: str
    read: Callable[[], list[float]]
    sources: Mapping[str, int]
    work: int = 0
    moves: int = 0
    turned: tuple[Any, tuple[int, ...]] | None = None

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)

    def shaped(self, shape: Sequence[int]) -> Value:
        """Return the same numbers in another shape of as many."""
        return self._replace(shape=tuple(shape), turned=None)

    def whole(self) -> list[int]:
        """Return its numbers as whole ones. Raises ValueError if they are many."""
        if self.size > MOST_PACKED_READ:
            raise ValueError
        return [int(number) for number in self.read()]

    def transposed(self, order: Sequence[int] | None = None) -> Value:
        """Return it with its axes in another order, by default reversed."""
        axes = tuple(range(len(self.shape)))
        base, before = self.turned or (self, axes)
        after = tuple(before[axis] for axis in (axes[::-1] if order is None else order))
        if (*sorted(after),) != axes:
            raise ValueError
        if after == axes:
            return base
        strides = tuple(prod(base.shape[axis + 1 :]) for axis in after)
        shape = tuple(base.shape[axis] for axis in after)
        value = _made(
            shape, base.sources, lambda: model.flattened(model.strided(base.read(), shape, strides), len(shape)), base
        )
        return value._replace(turned=(base, after))


def moved(kind: str, settings: Mapping[str, Any], inputs: Sequence[Value | None], outputs: int) -> list[Value]:
    """Return the outputs of an operator that moves the numbers of known arrays; none if it does anything else.

    What does not fit its inputs, or is too much work, gives none.
    """
    if not inputs or inputs[0] is None or not (kind in _MOVES or kind in ARITHMETIC):
        return []
    if None in inputs and (kind == "Concat" or kind in ARITHMETIC):
        return []
    if max((size for each in inputs if each for size in each.shape), default=0) > MOST_MOVED:
        return []
    try:
        arrays = _MOVES.get(kind, _arithmetic(kind))(settings, inputs, outputs)
    except (ArithmeticError, IndexError, TypeError, ValueError):
        return []
    return arrays if all(each.work <= MOST_MOVED and each.moves <= MOST_MOVES for each in arrays) else []


def _made(shape: tuple[int, ...], sources: Mapping[str, int], read: Callable[[], list[float]], *inputs: Value) -> Value:
    work = prod(shape) + sum(each.work for each in inputs)
    return Value(shape, inputs[0].dtype, read, sources, work, 1 + max(each.moves for each in inputs))


def _taken(value: Value, axis: int, places: Sequence[int]) -> Value:
    """Return the given places along an axis. Raises ValueError if it is not known of which tensor they are."""
    before, many, behind = value.shape[:axis], value.shape[axis], value.shape[axis + 1 :]
    edges = {*places[:1], *places[-1:]} if isinstance(places, range) else {*places}
    distinct = len(places) if isinstance(places, range) else len({place % many for place in edges})
    if not all(-many <= place < many for place in edges) or (len(value.sources) > 1 and distinct < many):
        raise ValueError

    def read() -> list[float]:
        numbers, inner = value.read(), prod(behind)
        starts = ((row * many + place % many) * inner for row in range(prod(before)) for place in places)
        return [number for start in starts for number in numbers[start : start + inner]]

    sources = {name: count * distinct // many for name, count in value.sources.items()}
    return _made((*before, len(places), *behind), sources, read, value)


def _listed(settings: Mapping[str, Any], word: str, inputs: Sequence[Value | None], place: int) -> list[int] | None:
    """Return the whole numbers of an attribute, or of the input that newer operators have for it; None for neither."""
    if word in settings:
        return [*settings[word]]
    if place >= len(inputs):
        return None
    if (value := inputs[place]) is None:
        raise ValueError
    return value.whole()


def _axis(settings: Mapping[str, Any], usual: int, value: Value) -> int:
    (axis,) = settings.get("axis", [usual])
    if not -len(value.shape) <= axis < len(value.shape):
        raise ValueError
    return int(axis % len(value.shape))


Inputs = Sequence[Any]  # the first is a Value
Settings = Mapping[str, Any]


def _same(_settings: Settings, inputs: Inputs, _outputs: int) -> list[Value]:
    return [inputs[0]]


def _repeated(_settings: Settings, inputs: Inputs, _outputs: int) -> list[Value]:
    return [inputs[0]] if inputs[0].size > 1 else []


def _reshape(settings: Settings, inputs: Inputs, _outputs: int) -> list[Value]:
    value, sizes = inputs[0], _listed(settings, "shape", inputs, 1) or []
    sizes = [value.shape[place] if size == 0 else size for place, size in enumerate(sizes)]
    rest = prod(size for size in sizes if size != -1)
    shape = [value.size // rest if size == -1 else size for size in sizes]
    if prod(shape) != value.size or min(shape, default=1) < 1:
        raise ValueError
    return [value.shaped(shape)]


def _flatten(settings: Settings, inputs: Inputs, _outputs: int) -> list[Value]:
    value, (axis,) = inputs[0], settings.get("axis", [1])
    return [value.shaped((prod(value.shape[:axis]), prod(value.shape[axis:])))]


def _squeeze(settings: Settings, inputs: Inputs, _outputs: int) -> list[Value]:
    value, axes = inputs[0], _listed(settings, "axes", inputs, 1)
    gone = {axis % len(value.shape) for axis in axes} if axes else {*range(len(value.shape))}
    return [value.shaped([size for axis, size in enumerate(value.shape) if size != 1 or axis not in gone])]


def _unsqueeze(settings: Settings, inputs: Inputs, _outputs: int) -> list[Value]:
    value, axes = inputs[0], _listed(settings, "axes", inputs, 1) or []
    rank, sizes = len(value.shape) + len(axes), iter(value.shape)
    new = {axis % rank for axis in axes}
    return [value.shaped([1 if axis in new else next(sizes, 1) for axis in range(rank)])] if rank <= 32 else []


def _transpose(settings: Settings, inputs: Inputs, _outputs: int) -> list[Value]:
    return [inputs[0].transposed(settings.get("perm"))]


def _slice(settings: Settings, inputs: Inputs, _outputs: int) -> list[Value]:
    value = inputs[0]
    starts, ends = (_listed(settings, word, inputs, place) or [] for place, word in ((1, "starts"), (2, "ends")))
    axes = _listed(settings, "axes", inputs, 3) or [*range(len(starts))]
    steps = _listed(settings, "steps", inputs, 4) or [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        axis %= len(value.shape)
        value = _taken(value, axis, range(*slice(start, end, step).indices(value.shape[axis])))
    return [value]


def _split(settings: Settings, inputs: Inputs, outputs: int) -> list[Value]:
    value, axis = inputs[0], _axis(settings, 0, inputs[0])
    each = -(-value.shape[axis] // outputs)
    sizes = _listed(settings, "split", inputs, 1) or [each] * (outputs - 1) + [value.shape[axis] - each * (outputs - 1)]
    ends = [sum(sizes[: place + 1]) for place in range(outputs)]
    return [_taken(value, axis, range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]


def _gather(settings: Settings, inputs: Inputs, _outputs: int) -> list[Value]:
    value, places, axis = inputs[0], inputs[1], _axis(settings, 0, inputs[0])
    taken = _taken(value, axis, places.whole()) if places else None
    return [taken.shaped((*value.shape[:axis], *places.shape, *value.shape[axis + 1 :]))] if taken else []


def _concat(settings: Settings, inputs: Inputs, _outputs: int) -> list[Value]:
    first, axis = inputs[0], _axis(settings, 0, inputs[0])
    others = [each.shape[:axis] + each.shape[axis:][1:] for each in inputs]
    if any(other != others[0] for other in others):
        raise ValueError
    sources: dict[str, int] = {}
    for each in inputs:
        sources |= {name: sources.get(name, 0) + count for name, count in each.sources.items()}
    widths = [prod(each.shape[axis:]) for each in inputs]

    def read() -> list[float]:
        pairs = [(each.read(), width) for each, width in zip(inputs, widths, strict=True)]
        rows = range(prod(first.shape[:axis]))
        return [number for row in rows for numbers, width in pairs for number in numbers[row * width :][:width]]

    shape = (*first.shape[:axis], sum(each.shape[axis] for each in inputs), *first.shape[axis:][1:])
    return [_made(shape, sources, read, *inputs)]


def _arithmetic(kind: str) -> Callable[[Settings, Inputs, int], list[Value]]:
    def arrays(_settings: Settings, inputs: Inputs, _outputs: int) -> list[Value]:
        one, other = inputs
        rank = max(len(one.shape), len(other.shape))
        shapes = [(1,) * (rank - len(each.shape)) + each.shape for each in inputs]
        shape = tuple(map(max, *shapes))
        if any(size not in (1, most) for each in shapes for size, most in zip(each, shape, strict=True)):
            raise ValueError
        sources = {
            name: count
            for each in inputs
            if each.size > 1 or one.size == other.size
            for name, count in each.sources.items()
        }
        spread = [(each, each_shape) for each, each_shape in zip(inputs, shapes, strict=True)]
        return [
            _made(
                shape, sources, lambda: [*map(ARITHMETIC[kind], *(_spread(*each, shape) for each in spread))], *inputs
            )
        ]

    return arrays


def _spread(value: Value, padded: tuple[int, ...], shape: tuple[int, ...]) -> list[float]:
    """Return the numbers of an array repeated along the axes along which it has one."""
    if padded == shape:
        return value.read()
    strides = tuple(0 if size == 1 else prod(padded[axis + 1 :]) for axis, size in enumerate(padded))
    return model.flattened(model.strided(value.read(), shape, strides), len(shape))


_MOVES: Mapping[str, Callable[[Settings, Inputs, int], list[Value]]] = {
    **dict.fromkeys(("Identity", "Cast"), _same),
    **dict.fromkeys(("Expand", "Tile"), _repeated),
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": _transpose,
    "Slice": _slice,
    "Split": _split,
    "Gather": _gather,
    "Concat": _concat,
}
"""The operators that move numbers; a state is the same for each sequence of a batch that it is repeated for."""
