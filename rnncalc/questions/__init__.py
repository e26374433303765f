"""The questions about a network: one file a question, each from a Network to plain numbers. `reports/` presents them.

Several questions share backward_costs, gradient_steps and price. Here are the checks of a Python caller's arguments: an
invalid one is refused with its cure. The command line has checked its flags and files before, with its own messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rnncalc.errors import CallError
from rnncalc.network.network import Network, in_numbers
from rnncalc.printable import escape
from rnncalc.records import Frozen
from rnncalc.words import did_you_mean, one_of

if TYPE_CHECKING:
    from rnncalc.network.model import Described


def network_of(value: object, *, letters: bool = False) -> Network:
    """Return an argument that must be a network. Raises CallError, with the way to make one, for anything else.

    letters: whether sizes may be letters; if not, raises RefusedError for them.
    """
    if isinstance(value, Network):
        return value if letters else in_numbers(value)
    if isinstance(value, Frozen) and hasattr(value, "networks"):  # a single network imports no models
        cure = "ask about each, as in [count(each.network) for each in model.networks.values()]"
        raise CallError(f"expected a Network, got a Model of several; {cure}")
    if isinstance(value, str) or hasattr(value, "__fspath__"):
        path = escape(str(value))
        raise CallError(f"expected a Network, got {path!r}; load({path!r}) reads one from a file")
    cure = "; give each by itself, as in compare(*networks)" if isinstance(value, list | tuple) else ""
    raise CallError(f"expected a Network, such as load('spec.yaml'), got {describe(value)}{cure}")


def described_of(value: object) -> Described:
    """Return an argument that must be a network or a model, whose sizes may be letters. Raises as `network_of` does."""
    if isinstance(value, Frozen) and hasattr(value, "networks"):
        return value  # type: ignore[return-value]  # a Network or a Model
    return network_of(value, letters=True)


def whole(name: str, value: object, least: int = 0) -> int:
    """Return an argument that must be a whole number. Raises CallError if it is not, or too small."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise CallError(f"{name}: expected a whole number, {least} or more, got {describe(value)}")
    return value


def word(name: str, value: object, known: tuple[str, ...]) -> str:
    """Return an argument that must be one of some words. Raises CallError for anything else."""
    if isinstance(value, str) and value in known:
        return value
    cure = did_you_mean(value, known) if isinstance(value, str) else "; give its name as text"
    raise CallError(f"{name}: expected {one_of(known)}, got {describe(value)}{cure}")


def describe(value: object) -> str:
    """Return a caller's value on one line."""
    match value:
        case type():
            return f"the class {value.__name__}"
        case None | bool() | int() | float() | str():
            return escape(repr(value))
        case _:
            return f"a {type(value).__name__}"


def plain(value: Any) -> Any:
    """Return an array as lists, and anything else unchanged."""
    return value.tolist() if hasattr(value, "tolist") else value
