"""What a Python caller hands to a question: refused in words, with the cure, where it is not what the question takes.

The command line never gets here with anything wrong; it has words of its own for flags and files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rnncalc.errors import CallError, Path, Problem, SpecError
from rnncalc.layers.options import Allowed
from rnncalc.network.data import Data, read_inputs, read_start, read_targets, read_weights, with_steps_of
from rnncalc.network.network import Network
from rnncalc.text import did_you_mean, escape, one_of

MOST_PROBLEMS = 1_000


def network_of(given: object) -> Network:
    """Return what must be a network. Raises CallError, with the way to one, where it is none."""
    if isinstance(given, Network):
        return given
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        path = escape(str(given))
        raise CallError(f"expected a Network, got {path!r}; load({path!r}) reads one from a file")
    cure = "; give each by itself, as in compare(*networks)" if isinstance(given, list | tuple) else ""
    raise CallError(f"expected a Network, such as load('spec.yaml'), got {said(given)}{cure}")


def whole(name: str, given: object, least: int = 0) -> int:
    """Return what must be a whole number. Raises CallError where it is none, or too small."""
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise CallError(f"{name}: expected a whole number, {least} or more, got {said(given)}")
    return given


def said(given: object) -> str:
    """Return a caller's value on one line."""
    match given:
        case type():
            return f"the class {given.__name__}"
        case None | bool() | int() | float() | str():
            return escape(repr(given))
        case _:
            return f"a {type(given).__name__}"


def _of_layers_with_weights(weights: object, network: Network) -> Any:
    """Return weights without the empty ones of layers that have none, such as a dropout's in a dict of all layers."""
    if not isinstance(weights, Mapping):
        return weights
    without = {placed.name for placed in network.placed if not placed.layout.own}
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
        raise SpecError(tuple(reading.problems[:MOST_PROBLEMS]))
    return Data(**found)


def plain(given: Any) -> Any:
    """Return an array as lists, and anything else as it is."""
    return given.tolist() if hasattr(given, "tolist") else given


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
            self.note(node, path, f"expected a dict with {one_of(known)}, got {said(node)}")
            return
        for key, value in node.items():
            if key in known:
                yield key, value
            else:
                word = str(key)
                cure = did_you_mean(word, known) or f"; the keys here are {one_of(known)}"
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
