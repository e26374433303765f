"""Holds what a cell declares against what its step does, before any number is read off either.

This reads a step in the widths of its vectors (`widths.py`). A product that is declared and never summed, a sum of what
is not declared, a gate whose value goes nowhere, vectors of two widths where one is needed, a state that comes back in
another width: each is a DeclarationError that names the cell and the part. So is whatever else a cell raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
from typing import Any

from rnncalc.errors import DeclarationError
from rnncalc.layers.cell import Cell, Habits
from rnncalc.layers.typed import wrong
from rnncalc.layers.widths import Part, Vector, Widths
from rnncalc.text import escape

NO_HABITS = Habits()


def declared(layer: Cell, inputs: int, sizes: Mapping[str, int]) -> tuple[object, ...]:
    """Return all that a cell declares, and whether its sizes are any, to be compared with what was checked before.

    Raises DeclarationError where it cannot be asked.
    """
    with _named(layer):
        fine = all(type(size) is int and size > 0 for size in sizes.values())
        return layer.gates(inputs), layer.weights, layer.states, fine


def check_declaration(layer: Cell, inputs: int, habits: Habits = NO_HABITS) -> set[str]:
    """Return the habits that the step of a cell, reading `inputs` features, asks for.

    Raises DeclarationError where the step is not what the gates declare.
    """
    with _named(layer):
        for message in wrong(layer, inputs):
            raise _error(layer, message)
        ops = Widths(layer, inputs, habits)
        _check_step(layer, ops)
    return ops.asked


@contextmanager
def _named(layer: Cell) -> Iterator[None]:
    """Have whatever a cell raises be a DeclarationError, with the line of its file."""
    for name in ("gates", "step"):
        if getattr(type(layer), name) is getattr(Cell, name):
            raise _error(layer, f"its class has no {name}; write def {name}(...) as rnncalc/layers/gru.py does")
    try:
        yield
    except DeclarationError:
        raise
    except Exception as error:
        from os.path import basename
        from traceback import extract_tb

        own = getattr(getattr(type(layer).step, "__code__", None), "co_filename", "")  # the file of the cell
        *_, at = [None, *(frame for frame in extract_tb(error.__traceback__) if frame.filename == own)]
        where = f" ({basename(at.filename)}, line {at.lineno})" if at else ""
        raise _error(layer, f"{type(error).__name__}: {escape(str(error), 300)}{where}") from error


def _error(layer: Cell, message: str) -> DeclarationError:
    return DeclarationError(f"{layer.kind}: {message}")


def _check_step(layer: Cell, ops: Widths) -> None:
    """Refuse a step that does another thing than is declared."""
    x = Vector(ops.width_of("x"), frozenset({("", "x")}))
    start = tuple(Vector(width, frozenset({("", letter)})) for letter, width in layer.states.items())
    handed, after = _returned(layer, layer.step(ops, x, start))
    parts = ops.expect("what the step hands on", handed, layer.output).parts
    if len(after) != len(start):
        raise _error(layer, f"the step returns {len(after)} states, and {', '.join(layer.states)} are declared")
    states = dict(zip(layer.states, after, strict=True))
    for letter, vector in states.items():
        parts |= ops.expect(f"the state {letter}", vector, layer.states[letter]).parts
    _check_states(layer, ops, dict(zip(layer.states, start, strict=True)), states)
    _check_names(layer, ops, handed, states)
    for what in sorted(ops.declared - ops.used):
        raise _error(layer, f"{_said(what)} is declared, and the step does not use it")
    for what in sorted(ops.declared - parts):
        raise _error(layer, f"{_said(what)} is made in the step, and reaches neither what that hands on nor a state")


def _check_states(layer: Cell, ops: Widths, before: dict[str, Vector], after: dict[str, Vector]) -> None:
    """Refuse a step that takes one state for another, or x for a state: of one width, they are easily mixed up."""
    order = f"; the states come, and are returned, in the order {', '.join(before)}"
    for (gate, of), vector in ops.read.items():
        if ("", of) not in vector.parts and vector is not after.get(of):
            given = next((letter for letter, each in before.items() if each is vector), "")
            what = f"the state {given}" if given else f"what does not come from {of}"
            raise _error(layer, f"gate {gate} reads {of}, and the step gives it {what}{order}")
    for one, other in combinations(before, 2):
        exchanged = all(
            ("", own) not in after[own].parts and ("", its) in after[own].parts and after[own] is not before[its]
            for own, its in ((one, other), (other, one))
        )
        if exchanged:
            message = f"the state {one} is made of {other}, and not of {one}, and {other} of {one}, and not of {other}"
            raise _error(layer, f"{message}{order}")


def _check_names(layer: Cell, ops: Widths, handed: Vector, after: dict[str, Vector]) -> None:
    """Refuse two values of one name: equations, drawings and programs would take the one for the other."""
    named = {"h": handed, **after}
    if named["h"] is not handed:
        cure = "return h, (h, ...), or call the state by another letter"
        raise _error(layer, f"what the step hands on is called h, and is another value than the state h; {cure}")
    for letter, vector in named.items():
        if ops.made.get(letter, vector) is not vector:
            what = f"the state {letter}" if letter in after else "what the step hands on"
            raise _error(layer, f"gate {letter} is called as {what}, and is another value; give it another letter")


def _returned(layer: Cell, done: Any) -> tuple[Vector, tuple[Vector, ...]]:
    """Return what a step hands on, and the states after it."""
    match done:
        case (handed, tuple(after) | list(after)):
            return handed, (*after,)
    got = {type(None): "nothing", Vector: "one value"}.get(type(done), "no such pair")
    raise _error(layer, f"the step returns {got}; write return h, (h,): what it hands on, and a tuple of all states")


def _said(what: Part) -> str:
    letter, of = what
    return f"gate {letter}'s product of {of}" if of else letter
