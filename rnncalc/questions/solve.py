"""`solve`: finds the size, written `?`, that meets a budget. Exact whole numbers, time logarithmic in the size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, zip_longest
from math import ceil, floor, isqrt, lcm
from typing import NamedTuple

from rnncalc.bounds import MAX_SIZE, MOST_COUNTED, MOST_DIVISORS
from rnncalc.display import displayed
from rnncalc.errors import CallError, Cure, Problem, RefusedError, SpecError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell
from rnncalc.layers.options import DTYPES
from rnncalc.network.network import Network
from rnncalc.network.parts import OUTPUT
from rnncalc.printable import escape
from rnncalc.questions import describe, network_of, whole
from rnncalc.words import all_of

Piece = tuple[int, int]
"""The first and the last place of a range of sizes."""


@displayed("rnncalc.reports.solve:SolutionReport")
class Solution(NamedTuple):
    """The largest size within a budget, and the next size beyond it.

    budget: in parameters. exact: whether the count must equal it.
    size, params, network: the largest size that fits, its parameters and its network; None if even the smallest is
        beyond the budget.
    next_size, next_params: the next valid size and its parameters; None if there is none.
    smallest, largest: the networks of the smallest and the largest valid size.
    bytes: the budget if it was given in bytes. bytes_each: the bytes of a parameter.
    """

    budget: int
    exact: bool
    size: int | None
    params: int | None
    network: Network | None
    next_size: int | None
    next_params: int | None
    smallest: Network
    largest: Network
    bytes: int | None = None
    bytes_each: int | None = None

    @property
    def left(self) -> int | None:
        """The parameters that remain of the budget; None if no size fits."""
        return None if self.params is None else self.budget - self.params

    @property
    def left_bytes(self) -> int | None:
        """The bytes that remain of the budget; None if no size fits, or the budget is not in bytes."""
        if self.params is None or self.bytes is None or self.bytes_each is None:
            return None
        return self.bytes - self.params * self.bytes_each

    @property
    def met(self) -> bool:
        """Whether nothing remains of the budget, neither a parameter nor a byte."""
        return self.left == 0 and not self.left_bytes

    @property
    def solved(self) -> bool:
        """Whether a size fits and, if exact, meets the budget."""
        return self.size is not None and (self.met or not self.exact)


def solve(sized: Sized, budget: int, *, multiple: int = 1, exact: bool = False, bytes_each: int = 0) -> Solution:
    """Return the largest size whose network stays within a budget of parameters.

    sized: a function from a size to the network that has it: `lambda size: Network(input=4, layers=(LSTM(size),))`.
        It may raise SpecError for a size at which the network is invalid; such a size is not a solution.
    multiple: only sizes that this number divides are taken.
    exact: whether the budget must be met exactly; otherwise the solution is not `solved`.
    bytes_each: the bytes of a parameter, if the budget is in bytes.
    Raises CallError for an invalid argument; SpecError if no size makes a valid network; RefusedError if the size does
    not change the count, or if there are too many different layers to count them repeatedly.
    """
    if not callable(sized):
        cure = "such as lambda size: Network(input=4, layers=[LSTM(size)])"
        raise CallError(f"sized: expected a function from a size to a network, {cure}, got {describe(sized)}")
    whole("budget", budget)
    whole("multiple", multiple, 1)
    whole("bytes_each", bytes_each)
    sizes = TriedSizes(lambda size: network_of(sized(size)), multiple)
    return solution(sizes, budget, exact=exact, bytes_each=bytes_each)


def solution(sizes: TriedSizes, budget: int, *, exact: bool = False, bytes_each: int = 0) -> Solution:
    """Solve with these sizes to try."""
    sizes = in_groups(sizes)
    monotone = [*pieces(sizes, 0, 0), *(_divisors(sizes) or pieces(sizes, 1, MAX_SIZE // sizes.step))]
    if not monotone:
        raise _none(sizes)
    smallest, largest = monotone[0][0], monotone[-1][1]
    if bytes_each:
        types = {
            DTYPES[dtype] if (dtype := placed.layer.dtype) else bytes_each: placed.name
            for placed in sizes.sized(smallest * sizes.step).stack
            if placed.params
        }
        if len(types) > 1:
            names = all_of([*types.values()])
            message = f"{names} have different dtypes, so that bytes are not a multiple of the parameters"
            raise RefusedError(f"{message}; give the budget in parameters")
        bytes_each = next(iter(types), bytes_each)
    params = budget // bytes_each if bytes_each else budget
    if smallest < largest and len({sizes.params(end) for piece in monotone for end in piece}) == 1:
        raise RefusedError("the size does not change the number of parameters", Cure.ANOTHER_SIZE)
    met = exact and not (bytes_each and budget % bytes_each)
    best = best_place(sizes, monotone, params, met)
    if best is None:
        beyond: int | None = min((end for piece in monotone for end in piece), key=sizes.params)
    else:
        beyond = next((max(low, best + 1) for low, high in monotone if high > best), None)
    size = None if best is None else best * sizes.step
    return Solution(
        budget=params,
        exact=exact,
        size=size,
        params=None if best is None else sizes.params(best),
        network=None if size is None else sizes.sized(size),
        next_size=None if beyond is None else beyond * sizes.step,
        next_params=None if beyond is None else sizes.params(beyond),
        smallest=sizes.sized(smallest * sizes.step),
        largest=sizes.sized(largest * sizes.step),
        bytes=budget if bytes_each else None,
        bytes_each=bytes_each or None,
    )


def best_place(sizes: TriedSizes, monotone: Sequence[Piece], budget: int, exact: bool = False) -> int | None:
    """Return the largest place within the budget; if exact, the largest that meets it, if any does."""
    best: int | None = None
    for low, high in reversed(monotone):
        first, last = sizes.params(low), sizes.params(high)
        if min(first, last) > budget:
            continue
        if first <= last:
            place = _last_within(sizes, low, high, budget)
        elif not exact or first < budget:  # it falls, as that of 100 - D units
            place = high
        else:
            place = _last(low, high + 1, lambda place: sizes.params(place) >= budget)
            place = place if sizes.params(place) == budget else high
        if best is None:
            best = place
        if not exact or sizes.params(place) == budget:
            return place
    return best


def _last_within(sizes: TriedSizes, low: int, high: int, budget: int) -> int:
    """Return the last place of a piece within the budget. Its first place must be within."""
    if sizes.params(high) <= budget:
        return high
    guess = interpolation(sizes, low, high).last_within(low, high, budget)
    for place in (guess, guess + 1):  # which a polynomial needs, and no more
        if low < place < high:
            low, high = (place, high) if sizes.params(place) <= budget else (low, place)
    return _last(low, high, lambda place: sizes.params(place) <= budget)


class Interpolation(NamedTuple):
    """The polynomial through four counts of a piece: its coefficients, the plain number first, each times `scale`."""

    coefficients: tuple[int, ...]
    scale: int

    def params(self, place: int) -> int:
        """Return the parameters at a place, rounded down."""
        scaled = 0
        for factor in reversed(self.coefficients):
            scaled = scaled * place + factor
        return scaled // self.scale

    def last_within(self, low: int, high: int, budget: int) -> int:
        """Return the last place from `low` to `high` within the budget, `low` if there is none; the counts grow."""
        number, c, b, a = (*self.coefficients, 0, 0, 0)[:4]
        over = number - (budget + 1) * self.scale + 1  # at most 0 within the budget
        if not a and b > 0 and (root := c * c - 4 * b * over) >= 0:
            return min(max((isqrt(root) - c) // (2 * b), low), high)
        if not (a or b) and c > 0:
            return min(max(-over // c, low), high)
        return _last(low, high + 1, lambda place: self.params(place) <= budget)


def interpolation(sizes: TriedSizes, low: int, high: int) -> Interpolation:
    """Return the polynomial through the counts at the ends of a piece, and beside them."""
    ends = (place for place in (low, low + 1, high - 1, high) if low <= place <= high)
    points = {place: sizes.params(place) for place in ends if sizes.valid(place)}
    sums = [Fraction()] * 4
    for at, count in points.items():
        terms = [Fraction(count)]  # the polynomial that is `count` here, and 0 at the other points
        for other in points:
            if other != at:
                terms = [
                    (below - other * here) / (at - other)
                    for here, below in zip([*terms, Fraction()], [Fraction(), *terms], strict=True)
                ]
        sums = [total + term for total, term in zip_longest(sums, terms, fillvalue=Fraction())]
    scale = lcm(*[each.denominator for each in sums])
    return Interpolation(tuple(int(each * scale) for each in sums), scale)


def _none(sizes: TriedSizes) -> SpecError:
    """Return the error if every size is invalid: the problems that all sizes share, or else those of some."""
    reasons = {
        place: {str(problem): problem for problem in outcome.problems}
        for place, outcome in sizes.tried.items()
        if place and outcome.problems
    }
    first, *others = reasons.values()
    same = {message: problem for message, problem in first.items() if all(message in other for other in others)}
    if same:
        return SpecError(tuple(same.values()))
    # the size with the fewest problems, and one with a different problem, if there is one
    best, *places = sorted(reasons, key=lambda place: (len(reasons[place]), place))
    paths = {problem.path for problem in reasons[best].values()}
    apart = [place for place in places if paths.isdisjoint(problem.path for problem in reasons[place].values())]
    shown = sorted([best, *apart[:1]])
    lines = "; ".join(f"at {place * sizes.step:,}, {next(iter(reasons[place]))}" for place in shown)
    return SpecError((Problem((), f"no {sizes.what} makes a network: {lines}"),))


Sized = Callable[[int], Network]
"""Returns the network with a size for every `?`; raises SpecError if it is invalid."""


class SizePlace(NamedTuple):
    """The position of a size: its half, its layer there (None for the half itself), and its key; or its name."""

    part: str | None
    place: int | None
    key: str


def resized(network: Network, places: Sequence[SizePlace], size: int) -> Network:
    """Return the network with a size at some places. Raises SpecError if it is then invalid."""
    parts, sizes = dict(network.parts), network.sizes or {}
    for half, place, key in places:
        if half is None and place is None and key in sizes:
            from rnncalc.network.named_sizes import at_size  # imported only for named sizes

            sizes, changed = at_size(sizes, parts, key, size)
            parts.update(changed)
            continue
        part = parts[half]
        if place is not None:
            layer = part.layers[place].replace(**{key: size})
            parts[half] = part._replace(layers=(*part.layers[:place], layer, *part.layers[place + 1 :]))
        elif key == OUTPUT and part.output:
            parts[half] = part._replace(output=part.output.replace(units=size))
        elif key == "steps":
            parts[half] = part._replace(steps=size)
        elif part.attention and key in part.attention.options():
            parts[half] = part._replace(attention=part.attention.replace(**{key: size}))
        else:
            parts[half] = part._replace(input=size)
    return network.with_parts(parts, sizes)


class SizeResult(NamedTuple):
    """The result of one size: its count, or None and the problems.

    bends: for each cell whose gates change where its output is as wide as its input: the input width minus the output
    width.
    """

    params: int | None
    problems: tuple[Problem, ...]
    bends: tuple[int, ...]


class TriedSizes:
    """Sizes in steps of a number, each tried once.

    instead: the cure if that takes too long. what: the name of the sizes in messages.
    """

    def __init__(
        self, sized: Sized, step: int, instead: Cure = Cure.SIZE_OF_YOUR_OWN, what: str = "size for ?"
    ) -> None:
        self.sized = sized
        self.step = step
        self.instead = instead
        self.what = what
        self.tried: dict[int, SizeResult] = {}
        self._name, self._different = "", 0

    def at(self, place: int) -> SizeResult:
        """Return the result of the size at a place. Raises RefusedError after too many tries for such a network."""
        if place not in self.tried:
            try:
                network = self.sized(place * self.step)
            except SpecError as error:
                self.tried[place] = SizeResult(None, error.problems, ())
            else:
                self._name, self._different = escape(network.name), max(self._different, len(network.stack))
                self.tried[place] = SizeResult(network.params, (), tuple(_bends(network)))
        return self.tried[place]

    def params(self, place: int) -> int:
        """Return the count at a place with a valid network."""
        params = self.at(place).params
        assert params is not None
        return params

    def valid(self, place: int) -> bool:
        """Return whether the network at a place is valid."""
        return self.at(place).params is not None

    def reasons(self, place: int) -> set[object]:
        """Return where the network at a place is invalid, and why, without the values that are."""
        problems = self.at(place).problems
        return {reason for each in problems for reason in (each.path, str(each).partition(", got")[0])}

    def refuse_endless(self, more: int) -> None:
        """Raise RefusedError if this many more tries are too many for the number of layers."""
        tries = len(self.tried) + more
        if self._different * tries > MOST_COUNTED:
            layers = f"{self._name} has {self._different:,} different layers"
            message = f"{layers}, and to find a size counts them {tries:,} times or more"
            raise RefusedError(f"{message}, {MOST_COUNTED:,} layers in all being the most", self.instead)


def in_groups(sizes: TriedSizes) -> TriedSizes:
    """Return the sizes in steps at which nothing that divides a size has a rest; the same if nothing has.

    Those are groups and heads, which divide what their layer reads, and the divisions of named sizes.
    """
    for step in range(1, MOST_DIVISORS + 1):
        if not _has_rest(sizes, step):
            return sizes if step == 1 else TriedSizes(sizes.sized, sizes.step * step, sizes.instead, sizes.what)
    return sizes


def _divisors(sizes: TriedSizes) -> list[Piece]:
    """Return the sizes, each a piece, that divide the width of an input, if it is the size that divides."""
    if not (sizes.valid(1) and _has_rest(sizes, MAX_SIZE // sizes.step // 2)):
        return []
    widths = {entry.inputs for entry in sizes.sized(sizes.step).stack}
    lower = {(width, size) for width in widths for size in range(1, isqrt(width) + 1) if width % size == 0}
    divisors = {size for width, size in lower} | {width // size for width, size in lower}
    places = (size // sizes.step for size in sorted(divisors) if size % sizes.step == 0)
    return [(place, place) for place in places if sizes.valid(place)]


def _has_rest(sizes: TriedSizes, place: int) -> bool:
    """Return whether at a place, or at twice it, something that divides a size has a rest."""
    problems = {*sizes.at(place).problems} ^ {*sizes.at(2 * place).problems}  # the same at both has another reason
    return any(problem.rest or any(map(_is_of_groups, problem.path[-1:])) for problem in problems)


def _is_of_groups(key: str | int) -> bool:
    """Return whether a key is that of groups or heads, or of a layer whose number is its heads."""
    return key in ("groups", "heads") or (key in KINDS and kind(str(key)).number == "heads")


def pieces(sizes: TriedSizes, first: int, last: int) -> list[Piece]:
    """Return the pieces from `first` to `last`, in order: ranges with a valid network at every place."""
    spans: list[Piece] = []
    waiting = [(first, last)]
    while waiting:
        sizes.refuse_endless(len(waiting))
        low, high = waiting.pop()
        if cuts := sorted({cut for cut in _cuts(sizes, low, high) if low <= cut <= high} if low < high else ()):
            edges = sorted({low, high + 1, *cuts, *(cut + 1 for cut in cuts)})
            waiting += [(start, end - 1) for start, end in pairwise(edges)]
        elif sizes.valid(low) and sizes.valid(high):
            spans += _turned(sizes, low, high)
        elif sizes.valid(low) or sizes.valid(high):
            spans += _turned(sizes, *_valid_end(sizes, low, high))
        else:  # the middle may be valid, as that of D - 8 where 4*D is at most 10^12
            after = _without(sizes, sizes.reasons(low) - sizes.reasons(high), low, high)
            waiting += [(after, high)] * (low < high and sizes.valid(after))
    return sorted(spans)


def _turned(sizes: TriedSizes, low: int, high: int) -> Iterator[Piece]:
    """Yield the parts of a piece, each with a count that only grows or only falls: a cubic polynomial of the size."""
    (_, c, b, a), _ = interpolation(sizes, low, high)
    turns = []
    if min(a, b, c) < 0 and (root := b * b - 3 * a * c) >= 0:
        ends = [-b - isqrt(root), -b + isqrt(root)]
        turns = [end // (3 * a) for end in ends] if a else [-c // (2 * b)] if b else []
    near = {turn + beside for turn in turns for beside in (-1, 0, 1)}
    cuts = [low - 1, *sorted(turn for turn in near if low <= turn < high), high]
    yield from ((before + 1, end) for before, end in pairwise(cuts))


def _without(sizes: TriedSizes, reasons: set[object], low: int, high: int) -> int:
    """Return the first place of a piece that is invalid for none of these reasons, or its last."""
    return 1 + _last(low, high, lambda place: not reasons.isdisjoint(sizes.reasons(place)))


def _valid_end(sizes: TriedSizes, low: int, high: int) -> Piece:
    """Return the valid part of a piece, which is at one of its ends."""
    at_low = sizes.valid(low)
    last = _last(low, high, lambda place: sizes.valid(place) is at_low)
    return (low, last) if at_low else (last + 1, high)


def _last(low: int, end: int, fits: Callable[[int], bool]) -> int:
    """Return the last place before `end` that fits: `low` and those after it do, up to one."""
    while end - low > 1:
        middle = (low + end) // 2
        low, end = (middle, end) if fits(middle) else (low, middle)
    return low


def _cuts(sizes: TriedSizes, low: int, high: int) -> Iterator[int]:
    """Yield the places, extrapolated from the ends of a piece, where a problem vanishes or the count bends."""
    for here, there in ((low, low + 1), (high - 1, high)):
        one, other = sizes.at(here), sizes.at(there)
        for gaps, next_gaps in _paired(one.problems, other.problems):
            for gap, next_gap in zip(gaps, next_gaps, strict=False):
                if gap != next_gap:
                    root = here - Fraction(gap, next_gap - gap)
                    yield from (floor(root), ceil(root))
        if len(one.bends) == len(other.bends):
            for bend, next_bend in {*zip(one.bends, other.bends, strict=True)}:
                if bend != next_bend and bend % (next_bend - bend) == 0:
                    yield here - bend // (next_bend - bend)


def _paired(ones: Sequence[Problem], others: Sequence[Problem]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield the gaps of the problems that two sizes share, pair by pair."""
    by_place: dict[object, list[Problem]] = {}
    for problem in others:
        by_place.setdefault((problem.source, problem.path, len(problem.gaps)), []).append(problem)
    for problem in reversed(ones):
        if problem.gaps and (same := by_place.get((problem.source, problem.path, len(problem.gaps)))):
            yield problem.gaps, same.pop().gaps


def _bends(network: Network) -> Iterator[int]:
    bending: dict[object, bool] = {}
    for entry in network.stack:
        layer = entry.layer
        if isinstance(layer, Cell):
            for width in {layer.units, layer.directions * layer.units}:
                kind = type(layer), layer.choices(), width == layer.units
                if kind not in bending:
                    bending[kind] = layer.gates(width) != layer.gates(4 * width + 1)
                if bending[kind]:
                    yield entry.inputs - width
