"""Weights and inputs that a Python caller hands to `run`: dicts, lists and arrays, held against its network.

A command's come from files, which `spec/data.py` reads by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rnncalc.errors import Path, Problem, SpecError, first
from rnncalc.layers.options import Allowed
from rnncalc.network.data import Data, read_inputs, read_start, read_targets, read_weights, with_steps_of
from rnncalc.network.network import Network
from rnncalc.questions.given import plain, said
from rnncalc.text import did_you_mean, escape, keys_here, one_of


def _of_layers_with_weights(weights: object, network: Network) -> Any:
    """Return weights without the empty ones of layers that have none, such as a dropout's in a dict of all layers."""
    if not isinstance(weights, Mapping):
        return weights
    without = {placed.name for placed in network.stack if not placed.layout.own}
    return {name: of for name, of in weights.items() if of or name not in without}


def own_numbers(
    network: Network, weights: object = None, inputs: object = None, start: object = None, targets: object = None
) -> Data:
    """Return a caller's numbers in lists. Raises SpecError with everything that does not fit the network.

    Whatever has a `tolist`, as arrays have, will do for a list; inputs may stand by themselves where there are no
    halves.
    """
    reading = _Source()
    found: dict[str, Any] = {}
    if weights is not None:
        of = _of_layers_with_weights(plain(weights), network)
        found["weights"] = read_weights(reading, of, ("weights",), network)
    if inputs is not None:
        of = plain(inputs)
        by_itself = None in network.parts and isinstance(of, Mapping) and [*of] == [None]
        found["inputs"] = read_inputs(reading, of[None] if by_itself else of, ("inputs",), network)
        network = with_steps_of(network, found["inputs"])
    if start is not None:
        found["start"] = read_start(reading, plain(start), ("start",), network)
    if targets is not None:
        found["targets"] = read_targets(reading, plain(targets), ("targets",), network)
    if reading.problems:
        raise SpecError(first(reading.problems))
    return Data(**found)


class _Source:
    """Numbers in Python's own lists and mappings, or in arrays."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def note(self, node: Any, path: Path, message: str) -> None:
        """Note a problem; the path is all the place there is."""
        self.problems.append(Problem(path, message))

    def keys(self, node: Any, path: Path, known: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        """Yield the known keys of a mapping."""
        if not isinstance(node, Mapping):
            wanted = f"a dict with {one_of(known)}" if known else "nothing"
            self.note(node, path, f"expected {wanted}, got {said(node)}")
            return
        for key, value in node.items():
            if key in known:
                yield key, value
            else:
                word = str(key)
                cure = did_you_mean(word, known) or f"; {keys_here(known)}"
                self.note(node, (*path, escape(word)), f"unknown key{cure}")

    def has_keys(self, node: Any) -> bool:
        """Return whether it is a mapping."""
        return isinstance(node, Mapping)

    def items(self, node: Any) -> Sequence[Any] | None:
        """Return the items of a list, a tuple or an array."""
        node = plain(node)
        return node if isinstance(node, Sequence) and not isinstance(node, str | bytes) else None

    def value(self, node: Any, path: Path, allowed: Allowed, stand_in: Any) -> Any:
        """Return a number, one of an array's too."""
        number = plain(node)
        if not isinstance(number, int | float):
            self.note(node, path, f"expected {allowed.expected}, got {said(node)}")
        elif problem := allowed.problem(number):
            self.note(node, path, problem)
        else:
            return number
        return stand_in

    def got(self, node: Any) -> str:
        """Return what it is."""
        number = isinstance(node, int | float) and not isinstance(node, bool)
        return f"the number {node}" if number else said(node)
