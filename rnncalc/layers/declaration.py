"""Holds what a cell declares against what its step does, before any number is read off either.

This reads a step in the widths of its vectors (`widths.py`). A product that is declared and never summed, a sum of what
is not declared, a gate whose value goes nowhere, vectors of two widths where one is needed, a state that comes back in
another width: each is a DeclarationError that names the cell and the part. So is whatever else a cell raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rnncalc.errors import DeclarationError
from rnncalc.layers.cell import Cell, Form, Gate, Habits, Product
from rnncalc.layers.widths import ACTIVATIONS, Part, Vector, Widths
from rnncalc.text import escape, one_of

NO_HABITS = Habits()


def declared(layer: Cell, inputs: int) -> tuple[object, ...]:
    """Return all that a cell declares, to be compared. Raises DeclarationError where it cannot be asked."""
    with _named(layer):
        return layer.gates(inputs), layer.weights, *layer.states.items()


def check_declaration(layer: Cell, inputs: int, habits: Habits = NO_HABITS) -> None:
    """Raise DeclarationError where the step of a cell, reading `inputs` features, is not what its gates declare."""
    with _named(layer):
        _check_gates(layer, inputs)
        _check_letters(layer, inputs)
        _check_forms(layer, inputs)
        _check_widths(layer, inputs)
        _check_step(layer, Widths(layer, inputs, habits))


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


def _check_gates(layer: Cell, inputs: int) -> None:
    """Refuse gates that no tensor, formula or equation could be read off."""
    if not layer.states:
        raise _error(layer, 'it has no state, and a recurrent layer carries one; write {"h": "h"}')
    gates = layer.gates(inputs)
    if isinstance(gates, Gate) or not all(isinstance(gate, Gate) for gate in gates):
        raise _error(layer, "gates() returns no tuple of gates; write (Gate(...),)")
    for gate in gates:
        _check_products(layer, inputs, gate)
        if len(gate.letter) != 1:
            raise _error(layer, f"the gate {gate.letter!r} is not called by one letter")
        if gate.activation not in ACTIVATIONS:
            raise _error(layer, f"gate {gate.letter}: expected {one_of(ACTIVATIONS)}, got {gate.activation!r}")


def _check_products(layer: Cell, inputs: int, gate: Gate) -> None:
    if isinstance(gate.products, Product) or not all(isinstance(product, Product) for product in gate.products):
        raise _error(layer, f"gate {gate.letter}: its products are no tuple of products; write (Product(...),)")
    if not gate.products:
        raise _error(layer, f"gate {gate.letter} has no product, and a gate is a sum of products")
    reads = [product.of for product in gate.products]
    for of in reads:
        if of not in ("x", *layer.states):
            raise _error(layer, f"gate {gate.letter} reads {of}, and the states are {', '.join(layer.states)}")
        if reads.count(of) > 1:
            raise _error(layer, f"gate {gate.letter} has two products of {of}; one matrix says as much")
    if Product("x", Form.DIAGONAL) in gate.products and inputs != layer.units:
        raise _error(layer, f"gate {gate.letter} reads x unit by unit, and x has not one number for each unit")


def _check_letters(layer: Cell, inputs: int) -> None:
    """Refuse a letter of two parts: both would be counted, and the step could ask for one of them alone."""
    gates = layer.gates(inputs)
    letters = [gate.letter for gate in gates] + [weight.letter for weight in layer.weights]
    if "x" in (*letters, *layer.states):
        raise _error(layer, "a part of it is called x, which is what the layer reads; give it another letter")
    for letter in letters:
        if letters.count(letter) > 1:
            raise _error(layer, f"two of its gates and weights are called {letter}; give each a letter of its own")


def _check_forms(layer: Cell, inputs: int) -> None:
    """Refuse a matrix of gates that share it in two forms: that would be two tensors of one name."""
    forms: dict[tuple[str, str], Form] = {}
    for gate in layer.gates(inputs):
        for of, form, shared in gate.products:
            matrix = gate.letter if shared is None else shared
            if forms.setdefault((of, matrix), form) is not form:
                raise _error(layer, f"two gates read {of} through the matrix {matrix}, as a full one and as a diagonal")


def _check_widths(layer: Cell, inputs: int) -> None:
    """Refuse widths that no number is known of."""
    sizes = layer.sizes(inputs)
    for width in (*layer.states.values(), layer.output, *(width for each in layer.weights for width in each.widths)):
        if width not in sizes:
            raise layer.no_number(width, sizes)


def _check_step(layer: Cell, ops: Widths) -> None:
    """Refuse a step that does another thing than is declared."""
    start = tuple(Vector(width) for width in layer.states.values())
    handed, after = _returned(layer, layer.step(ops, Vector(ops.width_of("x")), start))
    parts = ops.expect("what the step hands on", handed, layer.output).parts
    if len(after) != len(start):
        raise _error(layer, f"the step returns {len(after)} states, and {', '.join(layer.states)} are declared")
    for (letter, declared), vector in zip(layer.states.items(), after, strict=True):
        parts |= ops.expect(f"the state {letter}", vector, declared).parts
        if letter in ops.made and ops.made[letter] is not vector:
            raise _error(layer, f"the state {letter} is not the gate {letter}; give one of them another letter")
    for what in sorted(ops.declared - ops.used):
        raise _error(layer, f"{_said(what)} is declared, and the step does not use it")
    for what in sorted(ops.declared - parts):
        raise _error(layer, f"{_said(what)} is made in the step, and reaches neither what that hands on nor a state")


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
