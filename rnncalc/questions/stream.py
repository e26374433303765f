"""`count --stream`: the state that a network carries from step to step, and its cost per second."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from rnncalc.errors import CallError
from rnncalc.layers.layer import External
from rnncalc.layers.options import Ratio
from rnncalc.questions import describe, described_of, whole
from rnncalc.questions.count import bytes_of, total

if TYPE_CHECKING:
    from fractions import Fraction

    from rnncalc.network.model import Described


class StreamCount(NamedTuple):
    """The state that a network carries from step to step, and its cost.

    rate: input steps per second, None if not given. layers: how many numbers each layer carries; None if unknown.
    state: their sum. state_bytes: its bytes, in the `dtype` where a layer has none.
    multiply_adds_per_step: for applying each layer once. multiply_adds_per_second: rounded up; layers above a stride of
    2 run half as often. cannot: the layers that need future steps; if there are any, all numbers of the whole network
    are None. batch: the sequences that run side by side, for all of these.
    """

    network: Described
    dtype: str
    rate: Fraction | None
    layers: tuple[int | None, ...]
    state: int | None
    state_bytes: int | None
    multiply_adds_per_step: int | None
    multiply_adds_per_second: int | None
    cannot: tuple[str, ...]
    batch: int = 1


def stream(
    network: Described, rate: Fraction | float | None = None, dtype: str = "float32", batch: int = 1
) -> StreamCount:
    """Return the state and the cost of running a network step by step, for a batch of sequences.

    rate: steps per second, by default the network's. Raises CallError for an invalid rate or batch or an unknown dtype.
    """
    network, batch = described_of(network), whole("batch", batch, 1)
    bytes_of(dtype)
    if rate is not None and Ratio(above_zero=True).problem(rate):
        raise CallError(f"rate: expected a number above 0, got {describe(rate)}")
    carried_once = [placed.layer.carried(placed.inputs) for placed in network.stack]
    layers = tuple([one and batch * each.calls * one for each, one in zip(network.stack, carried_once, strict=True)])
    cannot = tuple(
        placed.full_name
        for placed, carried in zip(network.stack, layers, strict=True)
        if carried is None and not isinstance(placed.layer, External)
    )
    state = total(layers)
    work = None if cannot else total(placed.multiply_adds_per_step for placed in network.stack if not placed.once)
    exact = network.rate if rate is None else rate
    if exact is not None:
        from fractions import Fraction  # imports decimal, which only a rate needs

        exact = Fraction(str(exact))
    return StreamCount(
        network=network,
        dtype=dtype,
        rate=exact,
        layers=layers,
        state=state,
        state_bytes=total(
            None if carried is None else carried * placed.layer.bytes_each(dtype)
            for placed, carried in zip(network.stack, layers, strict=True)
        ),
        multiply_adds_per_step=work and batch * work,
        multiply_adds_per_second=None if work is None or exact is None else _a_second(network, exact, batch),
        cannot=cannot,
        batch=batch,
    )


def _a_second(network: Described, rate: Fraction, batch: int) -> int:
    """Return the multiply-adds per second at a rate of input steps. Some layers output fewer steps than they read."""
    work: Fraction | int = 0
    of_layer = rate
    place: tuple[str | None, str | None] = None, None
    for placed in network.stack:
        of_layer = of_layer if (placed.network, placed.part) == place else rate
        place = placed.network, placed.part
        of_layer /= placed.layer.every
        if of_layer.denominator > 1 and network.letters:  # a share of a letter is not rounded
            message = f"rate: in letters expected a whole number of steps per second for {placed.name}, got {of_layer}"
            raise CallError(f"{message}; give another rate, or numbers")
        times = of_layer.numerator if of_layer.denominator == 1 else of_layer
        work += times * (0 if placed.once else placed.multiply_adds_per_step or 0)
    return ceil(batch * work)
