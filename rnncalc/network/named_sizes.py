"""Sizes with names: numbers that know their expression in a spec.

What follows from them: the formulas of a network's layers in these names, and the network with another number for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.expressions import evaluate
from rnncalc.layers.layer import Layer
from rnncalc.letters import LETTER, has_letters
from rnncalc.network.flow import Placement, flow, shapes
from rnncalc.network.parts import Part, Parts, attending, letters_of
from rnncalc.polynomial import Polynomial, letter

if TYPE_CHECKING:
    from rnncalc.network.stack import Placed


class NamedSize(int):
    """A size as a number. expression: how it is written in names of sizes, such as `2*D`."""

    expression: str

    def __new__(cls, size: int, expression: str = "") -> NamedSize:  # a copy is made of the number alone
        named = super().__new__(cls, size)
        named.expression = expression
        return named


class NamedPolynomial(Polynomial):
    """A size in letters. expression: how it is written in letters and in names of sizes, such as `D + k`."""

    expression: str


Named = NamedSize | NamedPolynomial


def named_size(size: Any, expression: str) -> Named:
    """Return a number or a polynomial that knows its expression."""
    if isinstance(size, int):
        return NamedSize(size, expression)
    named = NamedPolynomial(size.terms)
    named.expression = expression
    return named


def letters_in(expression: str) -> dict[str, Any]:
    """Return the letters in an expression by name."""
    return {name: letter(name) for name in re.findall(LETTER, expression)}


Setter = Callable[[Named], Any]
Sizes = Mapping[str, Any]
"""The value of each name: a number, or a polynomial."""


def at_size(sizes: Sizes, parts: Parts, name: str, size: int) -> tuple[Sizes, Parts]:
    """Return the sizes and parts of a network with another number for a name, and for what is made of it.

    Raises SpecError for a quotient that is then not whole.
    """
    changed: dict[str, Any] = {}  # each comes after those that it is made of

    def computed(named: Named) -> Any:
        value = evaluate(named.expression, letters_in(named.expression) | changed)
        return named_size(value, named.expression)

    each = name
    try:
        for each, value in sizes.items():
            changed[each] = size if each == name else _changed(value, computed)
        each = name  # whose value is in a layer
        return changed, _parts(parts, computed)
    except CallError as error:
        raise SpecError((Problem(("sizes", each), str(error)),)) from None


def with_names(
    stack: Iterable[Placed], sizes: Sizes, parts: Parts, topology: str, *, feedback: bool
) -> Iterator[Placed]:
    """Yield the layers of a network, the letters of each that have names with these: h is `2*D`."""
    values: dict[str, Any] = {name: letter(name) for name in letters_of(parts)} | {**sizes}

    def lettered(named: Named) -> Any:
        try:
            return evaluate(named.expression, letters_in(named.expression))
        except CallError:  # D/2 is not whole in letters
            values[f"({named.expression})"] = named
            return Polynomial({(f"({named.expression})",): 1})

    moves = flow(_parts(parts, lettered, letters=True), topology, feedback=feedback)
    widths = shapes(moves)
    placements = [move for move in moves if isinstance(move, Placement)]
    for placed, move in zip(stack, placements, strict=True):
        numbers: dict[str, Any] = move.layer.sizes(widths[move.reads[0]][-1] // placed.places)
        kept = {name for name, size in numbers.items() if has_letters(size) and size.at(values) == placed.sizes[name]}
        # A width of several letters, such as hk of heads, is no letter that a user may write, but has a name here.
        names = {name: size if name in kept else Polynomial({(name,): 1}) for name, size in numbers.items()}
        yield placed._replace(names=names if kept else {})


def multiplied_out(number: Any, sizes: Sizes) -> Any:
    """Return a polynomial in named sizes in those alone that are made of no others, divided by numbers if need be.

    Raises CallError if it is too large.
    """
    values: dict[str, Any] = {name: letter(name) for name in number.letters if name[0] != "("}
    return evaluate(str(number), _in_letters(sizes, values), whole=False)


def in_letters(sizes: Sizes, parts: Parts) -> Parts:
    """Return the parts of a network with letters for those of its named sizes that are made of no others."""
    values = _in_letters(sizes, {})
    return _parts(parts, lambda named: evaluate(named.expression, values, whole=False), letters=True)


def _in_letters(sizes: Sizes, values: dict[str, Any]) -> dict[str, Any]:
    """Add each name as a letter, or as a polynomial in the names that it is made of."""
    for name, size in sizes.items():  # each comes after those that it is made of
        values[name] = evaluate(size.expression, values, whole=False) if isinstance(size, Named) else letter(name)
    return values


def _parts(parts: Parts, setter: Setter, *, letters: bool = False) -> Parts:
    """Return the parts of a network with its named sizes changed. letters: only those that may be letters."""

    def changed(layer: Layer) -> Layer:
        values = {name: _changed(value, setter) for name, value in layer.values().items()}
        kept = (name for name in values if letters and not getattr(layer.option(name).allowed, "letters", False))
        return layer.replace(**values | {name: getattr(layer, name) for name in kept})

    halves = {
        half: Part(
            _changed(part.input, setter),
            tuple(map(changed, part.layers)),
            part.output and changed(part.output),  # type: ignore[arg-type]  # which it stays
            part.steps if letters else _changed(part.steps, setter),
            part.attention and changed(part.attention),  # type: ignore[arg-type]  # likewise
            part.initial_states,
        )
        for half, part in parts.items()
    }
    return attending(halves)


def _changed(value: Any, setter: Setter) -> Any:
    """Return a value with the named sizes in it changed."""
    if isinstance(value, Named):
        return setter(value)
    return tuple(_changed(each, setter) for each in value) if isinstance(value, tuple) else value
