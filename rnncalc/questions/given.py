"""Checks the arguments of a Python caller. An invalid one is refused with its cure.

The command line has checked its flags and files before, with its own messages.
"""

from __future__ import annotations

from typing import Any

from rnncalc.errors import CallError
from rnncalc.network.network import Network, in_numbers
from rnncalc.text import did_you_mean, escape, one_of


def network_of(given: object, *, letters: bool = False) -> Network:
    """Return an argument that must be a network. Raises CallError, with the way to make one, for anything else.

    letters: whether sizes may be letters; if not, raises RefusedError for them.
    """
    if isinstance(given, Network):
        return given if letters else in_numbers(given)
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        path = escape(str(given))
        raise CallError(f"expected a Network, got {path!r}; load({path!r}) reads one from a file")
    cure = "; give each by itself, as in compare(*networks)" if isinstance(given, list | tuple) else ""
    raise CallError(f"expected a Network, such as load('spec.yaml'), got {describe(given)}{cure}")


def whole(name: str, given: object, least: int = 0) -> int:
    """Return an argument that must be a whole number. Raises CallError if it is not, or too small."""
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise CallError(f"{name}: expected a whole number, {least} or more, got {describe(given)}")
    return given


def word(name: str, given: object, known: tuple[str, ...]) -> str:
    """Return an argument that must be one of some words. Raises CallError for anything else."""
    if isinstance(given, str) and given in known:
        return given
    cure = did_you_mean(given, known) if isinstance(given, str) else "; give its name as text"
    raise CallError(f"{name}: expected {one_of(known)}, got {describe(given)}{cure}")


def describe(given: object) -> str:
    """Return a caller's value on one line."""
    match given:
        case type():
            return f"the class {given.__name__}"
        case None | bool() | int() | float() | str():
            return escape(repr(given))
        case _:
            return f"a {type(given).__name__}"


def plain(given: Any) -> Any:
    """Return an array as lists, and anything else unchanged."""
    return given.tolist() if hasattr(given, "tolist") else given
