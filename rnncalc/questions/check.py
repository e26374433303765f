"""`check`: compares a network with the limits of its `expect` and `budget`, of the call, and on its growth.

Returns numbers and names, no sentences: `reports/check.py` writes those. The caller passes the place of a limit.
Comparisons use whole numbers and fractions, never floats, so a number equal to its limit passes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from math import prod
from operator import eq, ge, le
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.display import displayed
from rnncalc.errors import CallError, Path, Problem
from rnncalc.layers.options import WholeNumber
from rnncalc.network.budget import BUDGET_KEYS, BY_NAME, LAYER_LIMIT, OF_STREAM, OF_TRAINING, Budget, Quantity, Rule
from rnncalc.network.network import in_numbers
from rnncalc.network.parts import Expect, steps_known
from rnncalc.questions import described_of, word
from rnncalc.questions.count import total

if TYPE_CHECKING:
    from rnncalc.models.matching import Match, TensorCheck
    from rnncalc.network.model import Described

Number = int | Fraction
Place = tuple[int, int]
Locate = Callable[[Path], Place | None]
"""Returns the line and column of a path in a spec."""


Unknown = Enum(
    "Unknown",
    "STEPS_NOT_GIVEN STEPS_WITHIN COUNTED_ELSEWHERE NOT_QUANTIZED NO_PARAMS NOT_KNOWN_BEFORE NO_SUCH_TENSOR "
    "GROWN_FROM_NOTHING CANNOT_STREAM RATE_NOT_GIVEN",
)
"""The reason why a number is unknown."""


class Limit(NamedTuple):
    """A limit on a number, and where it is written.

    path: the keys in a spec. flag: the flag, if the limit is set in the call.
    layer: the name of the limited layer; None for a limit on the network.
    percent: for growth, relative to the earlier number.
    tensor, shape: the name of a tensor and its expected shape; `value` is then the size of that shape.
    """

    rule: Rule
    quantity: Quantity
    value: Number
    path: Path = ()
    flag: str = ""
    layer: str | None = None
    percent: bool = False
    tensor: str | None = None
    shape: tuple[int, ...] = ()


LISTED = frozenset((Quantity.MULTIPLY_ADDS, Quantity.DENSE_RATIO, *OF_STREAM))
"""What a report lists without a limit on it, beside the numbers of a count."""


class Numbers(NamedTuple):
    """The numbers of a network that may be limited; None if unknown, or not wanted."""

    params: int
    bytes: int | None = None
    multiply_adds: int | None = None
    dense_params: int | None = None
    saved: int | None = None
    backward_multiply_adds: int | None = None
    training_bytes: int | None = None
    state: int | None = None
    state_bytes: int | None = None
    multiply_adds_per_step: int | None = None
    multiply_adds_per_second: int | None = None

    @property
    def dense_ratio(self) -> Fraction | None:
        """The parameters of the dense equivalent divided by the network's; None if the network has none."""
        if not self.params or self.dense_params is None:
            return None
        return Fraction(self.dense_params, self.params)

    def amount(self, quantity: Quantity) -> Number | None:
        """Return the number of a limit."""
        number: Number | None = getattr(self, quantity.value)
        return number


class Difference(NamedTuple):
    """A number before and after; None if there is no such network, because it is new or removed."""

    before: Number | None
    after: Number | None

    @property
    def growth(self) -> Number:
        """How much more there is now."""
        return (self.after or 0) - (self.before or 0)

    @property
    def percent(self) -> Fraction | None:
        """The growth in percent of before; None if either is missing or before is 0."""
        if not self.before or self.after is None:
            return None
        return Fraction(100 * self.growth) / self.before


class LimitCheck(NamedTuple):
    """A limit, and the number that was compared with it.

    actual: the number, or its growth if that is limited; None if unknown, and `unknown` says why.
    line, column: the place of the limit, None for a flag.
    difference: the numbers before and after, if growth is limited.
    shape: the actual shape, if the shape of a tensor is limited.
    """

    limit: Limit
    actual: Number | None
    kept: bool
    unknown: Unknown | None = None
    line: int | None = None
    column: int | None = None
    difference: Difference | None = None
    shape: tuple[int, ...] = ()


class Status(Enum):
    """How it compares with a file."""

    PASSED = "passed"
    FAILED = "failed"
    BROKEN = "broken"
    UNCHECKED = "unchecked"
    REMOVED = "removed"


@displayed("rnncalc.reports.check:of_network")
class Verdict(NamedTuple):
    """The result of checking a network and its file.

    numbers: None for an invalid spec, which has problems, and for a removed file.
    limits: the limits with the network's numbers.
    expect_counts: the convention of its `expect`, if `expect` was left out because the network has another.
    model: the comparison with a model file, if there is one. places: where its inputs and layers are in the spec.
    strict: whether a file without limits fails.
    difference: the change of the parameters since the baseline, if there is one.
    """

    file: str = ""
    name: str | None = None
    convention: str | None = None
    numbers: Numbers | None = None
    limits: tuple[LimitCheck, ...] = ()
    expect_counts: str | None = None
    model: Match | None = None
    places: Mapping[Path, Place] = {}
    problems: tuple[Problem, ...] = ()
    strict: bool = False
    difference: Difference | None = None

    @property
    def checks(self) -> tuple[LimitCheck | TensorCheck, ...]:
        """All checks: of limits, and of tensors."""
        return (*self.limits, *(self.model.tensors if self.model else ()))

    @property
    def checked(self) -> bool:
        """Whether anything was checked."""
        return bool(self.limits) or self.model is not None

    @property
    def status(self) -> Status:
        """How it compares with the file."""
        if self.problems:
            return Status.BROKEN
        if self.numbers is None:
            return Status.REMOVED
        if not self.checked:
            return Status.FAILED if self.strict else Status.UNCHECKED
        return Status.PASSED if all(check.kept for check in self.checks) else Status.FAILED


def check(
    network: Described,
    limits: Iterable[Limit] = (),
    *,
    locate: Locate = lambda _: None,
    dtype: str = "float32",
    quantize: str | None = None,
    own_convention: str | None = None,
    before: Numbers | None = None,
    listed: bool = True,
) -> Verdict:
    """Check a network against its own limits and those of the call; if both limit the same number, both hold.

    A model is checked as a whole, and each of its networks against its own limits.

    quantize: a type of QUANTIZATIONS; bytes are then those of the network in this type.
    own_convention: the convention that `expect` counts; under another, `expect` is left out.
    before: the numbers of the baseline; without them, growth is not checked.
    listed: whether the verdict has numbers without a limit too, as JSON lists them.
    The verdict names no file: the caller adds it.
    """
    every, expect = [*_limits(network, [*limits])], network.expect or Expect()
    quantities = {limit.quantity for limit in every}.union(LISTED if listed else ())
    if expect.saved is not None or expect.backward_multiply_adds is not None:
        quantities.update(OF_TRAINING)
    numbers = numbers_of(network, dtype, quantities, quantize)
    members = [*network.networks.values()]
    expected = [own_convention and each.own_convention for each in members] or [own_convention]
    counted = [each.network.convention for each in members] or [network.convention]
    others = (each for each, now in zip(expected, counted, strict=True) if each not in (None, now))
    left_out = next(others, None) if network.expect else None
    checks = [] if left_out else [*_expectations(network, expect, numbers)]
    of_layers = any(limit.layer for limit in every)
    params = {placed.full_name: placed.params for placed in network.stack} if of_layers else {}
    params |= {name: member.network.params for name, member in network.networks.items()}
    for limit in every:
        number = params[limit.layer] if limit.layer else numbers.amount(limit.quantity)
        why = _why_unknown(limit.quantity, numbers, network)
        if limit.rule is not Rule.GROWTH:
            checks.append(check_number(limit, number, why))
        elif before is not None:
            checks.append(check_difference(limit, Difference(before.amount(limit.quantity), number), why))
    for number, one in enumerate(checks):
        shown = not one.kept or (listed and not one.limit.layer)  # limits of layers may be thousands
        if shown and one.limit.path and (place := locate(one.limit.path)):
            checks[number] = one._replace(line=place[0], column=place[1])
    for name, member in network.networks.items():
        counts = own_convention and member.own_convention

        def below(path: Path, name: str = name) -> Place | None:
            return locate(("networks", name, *path))

        verdict = check(
            member.network, locate=below, dtype=dtype, quantize=quantize, own_convention=counts, listed=listed
        )
        left_out = left_out or verdict.expect_counts
        for one in verdict.limits:
            limit = one.limit._replace(path=("networks", name, *one.limit.path))
            within = Unknown.STEPS_WITHIN if one.unknown is Unknown.STEPS_NOT_GIVEN else one.unknown
            checks.append(one._replace(limit=limit, unknown=within))
    return Verdict("", network.name, network.convention, numbers, tuple(checks), left_out)


def check_network(
    network: Described, *, dtype: str = "float32", quantize: str | None = None, **limits: float | str
) -> Verdict:
    """Check a network against its own `expect` and `budget`, and against these limits; both hold.

    limits: by their names in a budget, such as `max_params=1_000_000` or `max_params="1M"`. The `status` of the verdict
    is its result. Raises CallError for an unknown limit, or one that is not a number.
    """
    bounds = []
    for key, limit in limits.items():
        rule, quantity, allowed, *_ = BUDGET_KEYS[word("limit", key, tuple(BUDGET_KEYS))]
        number = allowed.number(limit) if isinstance(limit, str) and isinstance(allowed, WholeNumber) else None
        value: Any = limit if number is None else number
        if problem := allowed.problem(value):
            raise CallError(f"{key}: {problem}")
        bounds.append(Limit(rule, quantity, _exact(value), flag=key))
    return check(in_numbers(described_of(network)), bounds, dtype=dtype, quantize=quantize)


def numbers_of(
    network: Described, dtype: str, quantities: Collection[Quantity] = LISTED, quantize: str | None = None
) -> Numbers:
    """Return the numbers of a network that may be limited: those of a count, and others if they are wanted."""
    params = in_numbers(network).params
    numbers = Numbers(params, sum(placed.bytes_in(dtype) for placed in network.stack))
    if Quantity.MULTIPLY_ADDS in quantities:
        numbers = numbers._replace(multiply_adds=total(placed.multiply_adds for placed in network.stack))
    if Quantity.DENSE_RATIO in quantities:
        from rnncalc.questions.dense import dense_equivalent

        if dense := dense_equivalent(network):
            numbers = numbers._replace(dense_params=dense.params)
    if not OF_STREAM.isdisjoint(quantities):
        from rnncalc.questions.stream import stream

        running = stream(network, dtype=dtype)
        numbers = numbers._replace(**{each.value: getattr(running, each.value) for each in OF_STREAM})
    if quantize:
        from rnncalc.questions.quantized import quantized

        stored = quantized(network, quantize).total
        numbers = numbers._replace(bytes=stored.bytes, state_bytes=numbers.state and stored.state_bytes)
    if not OF_TRAINING.isdisjoint(quantities):
        from rnncalc.questions.training import training

        trained = training(network, dtype=dtype)
        backward = trained.backward_multiply_adds
        numbers = numbers._replace(saved=trained.saved, backward_multiply_adds=backward, training_bytes=trained.bytes)
    return numbers


def _expectations(network: Described, expect: Expect, numbers: Numbers) -> Iterator[LimitCheck]:
    for key, number in expect.counts.items():
        if number is not None:
            quantity = Quantity.PARAMS if key == "total" else Quantity(key)
            why = _why_unknown(quantity, numbers, network)
            yield check_number(Limit(Rule.EXACTLY, quantity, number, ("expect", key)), numbers.amount(quantity), why)
    for number, (params, placed) in enumerate(zip(expect.layers or (), network.stack, strict=False)):
        limit = Limit(Rule.EXACTLY, Quantity.PARAMS, params, ("expect", "layers", number), layer=placed.name)
        yield check_number(limit, placed.params)
    for name, params in dict(expect.networks).items():
        limit = Limit(Rule.EXACTLY, Quantity.PARAMS, params, ("expect", "networks", name), layer=name)
        yield check_number(limit, network.networks[name].network.params)
    tensors = expect.tensors or {}
    for placed in network.spelled if tensors else ():
        shapes = {tensor.name: tensor.shape for tensor in placed.tensors}
        for tensor, shape in tensors.get(placed.name, {}).items():
            path, layer = ("expect", "tensors", placed.name, tensor), placed.name
            limit = Limit(Rule.EXACTLY, Quantity.PARAMS, prod(shape), path, layer=layer, tensor=tensor, shape=shape)
            actual = shapes.get(tensor)
            if actual is None:
                yield LimitCheck(limit, None, False, Unknown.NO_SUCH_TENSOR)
            else:
                yield LimitCheck(limit, prod(actual), actual == shape, shape=actual)


def _limits(network: Described, limits: list[Limit]) -> Iterator[Limit]:
    """Yield the limits of the call and of the network's budget, key by key, those of growth last; both hold."""
    budget = network.budget or Budget()
    for key, (rule, quantity, *_) in BUDGET_KEYS.items():
        if limits:
            yield from (limit for limit in limits if (limit.rule, limit.quantity) == (rule, quantity))
        if (value := getattr(budget, key)) is not None:
            yield Limit(rule, quantity, _exact(value), ("budget", key))
    rule, quantity, *_ = LAYER_LIMIT
    for key in BY_NAME:
        for name, most in dict(getattr(budget, key)).items():
            yield Limit(rule, quantity, most, ("budget", key, name), layer=name)
    yield from (limit for limit in limits if limit.rule is Rule.GROWTH)
    for name, (value, percent) in dict(budget.max_growth).items():
        path = ("budget", "max_growth", name)
        yield Limit(Rule.GROWTH, Quantity(name), _exact(value), path, percent=percent)


def _exact(value: Fraction | float) -> Fraction | int:
    """Return a limit exactly as it was written: 4.54 is 454 hundredths, not the nearest float."""
    if isinstance(value, float):
        return Fraction(str(value))
    return value


def _why_unknown(quantity: Quantity, numbers: Numbers, network: Described) -> Unknown | None:
    if numbers.amount(quantity) is not None:
        return None
    if quantity is Quantity.DENSE_RATIO and not numbers.params:
        return Unknown.NO_PARAMS
    sources = {Quantity.BYTES: numbers.params, Quantity.STATE_BYTES: numbers.amount(Quantity.STATE)}
    if sources.get(quantity) is not None:
        return Unknown.NOT_QUANTIZED
    if quantity in OF_STREAM:
        from rnncalc.questions.stream import stream

        if stream(network).cannot:
            return Unknown.CANNOT_STREAM
        no_rate = quantity is Quantity.MULTIPLY_ADDS_PER_SECOND and network.rate is None
        return Unknown.RATE_NOT_GIVEN if no_rate else Unknown.COUNTED_ELSEWHERE
    if steps_known(network.parts):
        return Unknown.COUNTED_ELSEWHERE
    return Unknown.STEPS_WITHIN if network.networks else Unknown.STEPS_NOT_GIVEN


def check_number(limit: Limit, actual: Number | None, why: Unknown | None = None) -> LimitCheck:
    """Check a limit on a number; why: the reason if the number is unknown."""
    if actual is None:
        return LimitCheck(limit, None, False, why)
    keeps = {Rule.EXACTLY: eq, Rule.AT_MOST: le, Rule.AT_LEAST: ge}[limit.rule]
    return LimitCheck(limit, actual, keeps(actual, limit.value))


def check_difference(limit: Limit, difference: Difference, why: Unknown | None = None) -> LimitCheck:
    """Check a limit on growth; why: the reason if the number is unknown."""
    before, after = difference
    if after is None or before is None:
        return LimitCheck(limit, None, False, why if after is None else Unknown.NOT_KNOWN_BEFORE)
    growth = difference.growth
    if not limit.percent:
        return LimitCheck(limit, growth, growth <= limit.value, difference=difference)
    if growth and not before:
        return LimitCheck(limit, None, False, Unknown.GROWN_FROM_NOTHING, difference=difference)
    return LimitCheck(limit, difference.percent or 0, 100 * growth <= limit.value * before, difference=difference)
