"""A model of several networks: each is counted by itself, and the model is their sum.

Knows nothing of how the networks are wired. Imported only for a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.bounds import MOST_LETTERS, MOST_NETWORKS
from rnncalc.errors import Problem, SpecError, first
from rnncalc.layers.options import Size, WholeNumber
from rnncalc.network.budget import Budget
from rnncalc.network.budget import problems_of as budget_problems
from rnncalc.network.network import Network
from rnncalc.network.parts import Expect, Part
from rnncalc.network.validation import KEYS
from rnncalc.printable import escape
from rnncalc.records import Frozen
from rnncalc.words import all_of, did_you_mean

if TYPE_CHECKING:
    from fractions import Fraction

    from rnncalc.network.stack import Placed
    from rnncalc.network.training import Update

NETWORK_NAME = r"[A-Za-z_][\w-]*"
"""The names of networks: `actor.lstm_1` is a layer of one."""


class Member(NamedTuple):
    """A network of a model.

    calls: how often one pass of the model applies it. Its parameters and gradients are counted once; its multiply-adds,
    state and saved activations so many times. own_convention: the one of its `expect`, if a flag overrides it.
    """

    network: Network
    calls: int = 1
    own_convention: str | None = None


class Model(Frozen):
    """A model of several networks by name: `Model({"actor": Member(actor), "critic": Member(critic)})`.

    Raises SpecError naming everything that is wrong with it.
    """

    networks: Mapping[str, Member]
    name: str = "model"
    source: str | None = None
    notation: str | None = None
    sizes: Mapping[str, int] | None = None
    expect: Expect | None = None
    budget: Budget | None = None
    training: Update | None = None

    def __post_init__(self) -> None:
        if wrong := first(self._problems()):
            raise SpecError(wrong)

    def _problems(self) -> Iterator[Problem]:
        names = (*self.networks,)
        if not 0 < len(names) <= MOST_NETWORKS:
            message = f"expected 1 to {MOST_NETWORKS} networks, got {len(names):,}"
            yield Problem(("networks",), message)
            return
        for name, member in self.networks.items():
            at = ("networks", escape(name))
            if not re.fullmatch(NETWORK_NAME, name):
                yield Problem(at, "expected a name of letters, digits, _ and -, which starts with a letter")
            if not isinstance(member, Member) or not isinstance(member.network, Network):
                yield Problem(at, f"expected a Member, such as Member(network, calls=2), got {member!r}")
                return
            if problem := Size().problem(member.calls):
                yield Problem((*at, "calls"), problem)
        for key in ("name", "source"):
            if (value := getattr(self, key)) is not None and (problem := KEYS[key].problem(value)):
                yield Problem((key,), problem)
        if (number := len(self.letters)) > MOST_LETTERS:
            message = f"expected at most {MOST_LETTERS} different letters, got {number}"
            yield Problem(("networks",), f"{message}; give numbers for some sizes")
        layers = [placed.full_name for placed in self.stack]
        if self.expect is not None:
            yield from self._expected(self.expect)
        if self.budget is not None:
            yield from budget_problems(self.budget, layers, names)
        if self.training is not None:
            from rnncalc.network.training import problems_of  # imported here, because few models say it

            yield from problems_of(self.training)

    def _expected(self, expect: Expect) -> Iterator[Problem]:
        for key in ("layers", "tensors"):
            if getattr(expect, key) is not None:
                yield Problem(("expect", key), "belongs to one network; write it under its own expect")
        of_networks = {f"networks.{name}": value for name, value in dict(expect.networks).items()}
        for key, value in (expect.counts | of_networks).items():
            if value is not None and (problem := WholeNumber().problem(value)):
                yield Problem(("expect", *key.split(".", 1)), problem)
        for name in dict(expect.networks):
            if name not in self.networks:
                near = did_you_mean(str(name), (*self.networks,)) or f"; the networks are {all_of([*self.networks])}"
                yield Problem(("expect", "networks", escape(str(name))), f"no network has this name{near}")

    def changed(self, change: Callable[[Network], Network]) -> Model:
        """Return the model with each network changed; what is expected of its counts stays behind."""
        members = {name: each._replace(network=change(each.network)) for name, each in self.networks.items()}
        return self.replace(networks=members, expect=None, budget=None)

    @property
    def convention(self) -> str | None:
        """The convention of all its networks; None if they differ."""
        conventions = {member.network.convention for member in self.networks.values()}
        return conventions.pop() if len(conventions) == 1 else None

    @property
    def topology_name(self) -> None:
        """The topology, which each network has for itself."""

    @property
    def rate(self) -> Fraction | float | None:
        """The steps per second of all its networks; None if they differ."""
        rates = {member.network.rate for member in self.networks.values()}
        return rates.pop() if len(rates) == 1 else None

    @cached_property
    def stack(self) -> tuple[Placed, ...]:
        """The layers of all networks in their places, network by network."""
        return self._stack("stack")

    @cached_property
    def spelled(self) -> tuple[Placed, ...]:
        """The stack to show: with the tensors of the notations, if any are named."""
        return self._stack("spelled")

    def _stack(self, key: str) -> tuple[Placed, ...]:
        return tuple(
            placed._replace(network=name, calls=member.calls)
            for name, member in self.networks.items()
            for placed in getattr(member.network, key)
        )

    @cached_property
    def parts(self) -> dict[str | None, Part]:
        """The parts of all networks, by the names of both."""
        return {
            ".".join(filter(None, (name, half))): part
            for name, member in self.networks.items()
            for half, part in member.network.parts.items()
        }

    @cached_property
    def letters(self) -> Mapping[str, Any]:
        """The letters among the sizes of all networks by name, in alphabetical order."""
        letters = {name: each for member in self.networks.values() for name, each in member.network.letters.items()}
        return {name: letters[name] for name in sorted(letters)}

    @property
    def params(self) -> int:
        """The number of parameters."""
        return sum(member.network.params for member in self.networks.values())

    @property
    def trainable(self) -> int:
        """The number of parameters that training changes."""
        return sum(member.network.trainable for member in self.networks.values())


Described = Network | Model
"""What a spec describes."""
