"""Checks what a cell declares: types, letters, widths. Knows nothing of the step.

Python accepts text instead of a Form, and a list instead of a tuple; the count would be that of another cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from keyword import iskeyword
from typing import NamedTuple

from rnncalc.layers.cell import Cell, Form, Gate, Product, Weight
from rnncalc.layers.options import ACTIVATIONS, is_size
from rnncalc.text import one_of

_TEXT, _SWITCH = (str, "text"), (bool, "True or False")
_FIELDS: dict[type, dict[str, tuple[type | tuple[type, ...], str]]] = {
    Gate: {
        **dict.fromkeys(("letter", "activation", "name", "meaning"), _TEXT),
        **dict.fromkeys(("bias", "normalised"), _SWITCH),
    },
    Product: {"vector": _TEXT, "form": (Form, "Form.FULL or Form.DIAGONAL"), "matrix": ((str, type(None)), "text")},
    Weight: {"letter": _TEXT, "widths": (tuple, "a tuple of letters, or ()"), "name": _TEXT, "activation": _TEXT},
}
"""The types of the fields of a part; a gate's products have a message of their own."""


def wrong(layer: Cell, inputs: int) -> Iterator[str]:
    """Yield what is wrong with a cell's declarations; later problems may follow from the first."""
    for name in ("gates", "step"):
        if getattr(type(layer), name) is getattr(Cell, name):
            yield f"its class has no {name}; write def {name}(...) as rnncalc/layers/gru.py does"
    for option, default in layer.defaults.items():
        if default is not None and (problem := layer.option(option).allowed.problem(default)):
            yield f"{option}: its default is not allowed: {problem}"
    gates = layer.gates(inputs)
    yield from _wrong_tuples(layer, gates)
    for gate in gates:
        yield from _wrong_fields(f"gate {gate.letter}", gate)
        yield from _wrong_gate(layer, inputs, gate)
    for weight in layer.weights:
        yield from _wrong_fields(f"weight {weight.letter}", weight)
        if len(weight.widths) > 2:
            message = "expected two widths, of rows and of columns, or one of a vector, or none"
            yield f"weight {weight.letter}: {message}, got {weight.widths}"
        yield from _wrong_activation(f"weight {weight.letter}", weight.activation)
    yield from _wrong_letters(layer, gates)
    yield from _wrong_forms(gates)
    yield from _wrong_widths(layer, inputs)


def _wrong_tuples(layer: Cell, gates: object) -> Iterator[str]:
    if not isinstance(gates, tuple) or not all(isinstance(gate, Gate) for gate in gates):
        yield "gates() returns no tuple of gates; write (Gate(...),)"
    weights: object = layer.weights
    if not isinstance(weights, tuple) or not all(isinstance(weight, Weight) for weight in weights):
        yield "weights is no tuple of weights; write @property, and return (Weight(...),)"
    states: object = layer.states
    if not isinstance(states, Mapping) or not all(isinstance(text, str) for pair in states.items() for text in pair):
        yield 'states is no mapping of letters to letters of widths; write @property, and return {"h": "h"}'
    if not states:
        yield 'it has no state, and a recurrent layer carries one; write {"h": "h"}'


def _wrong_fields(what: str, part: NamedTuple) -> Iterator[str]:
    for name, (types, expected) in _FIELDS[type(part)].items():
        value = getattr(part, name)
        if not isinstance(value, types):
            yield f"{what}: {name}: expected {expected}, got {value!r}"


def _wrong_activation(what: str, activation: str) -> Iterator[str]:
    if activation not in ACTIVATIONS:
        yield f"{what}: expected {one_of(ACTIVATIONS)}, got {activation!r}"


def _wrong_gate(layer: Cell, inputs: int, gate: Gate) -> Iterator[str]:
    products: object = gate.products
    if not isinstance(products, tuple) or not all(isinstance(product, Product) for product in products):
        yield f"gate {gate.letter}: its products are no tuple of products; write (Product(...),)"
    if not gate.products:
        yield f"gate {gate.letter} has no product, and a gate is a sum of products"
    reads = [product.vector for product in gate.products]
    for product in gate.products:
        yield from _wrong_fields(f"gate {gate.letter}: its product of {product.vector}", product)
        if product.vector not in ("x", *layer.states):
            yield f"gate {gate.letter} reads {product.vector}, and the states are {', '.join(layer.states)}"
        if reads.count(product.vector) > 1:
            yield f"gate {gate.letter} has two products of {product.vector}; one matrix says as much"
        if product.form is Form.DIAGONAL and product.vector != "x" and layer.states[product.vector] != "h":
            yield f"gate {gate.letter} reads {product.vector} unit by unit, and that has not one number for each unit"
    if Product("x", Form.DIAGONAL) in gate.products and inputs != layer.units:
        yield f"gate {gate.letter} reads x unit by unit, and x has not one number for each unit"
    if not gate.name:
        yield f'gate {gate.letter}: it has no name; give it one, such as "update gate"'
    if len(gate.letter) != 1:
        yield f"the gate {gate.letter!r} is not called by one letter"
    yield from _wrong_activation(f"gate {gate.letter}", gate.activation)


def _wrong_letters(layer: Cell, gates: tuple[Gate, ...]) -> Iterator[str]:
    """Yield invalid letters, and letters that two parts share."""
    weights = [weight.letter for weight in layer.weights]
    parts = [*(gate.letter for gate in gates), *weights]
    if "x" in (*parts, *layer.states):
        yield "a part of it is called x, which is what the layer reads; give it another letter"
    for letter in (*parts, *layer.states):
        if not letter.isidentifier() or iskeyword(letter):
            yield f"{letter!r} is no letter that programs can be written with"
        if parts.count(letter) > 1:
            yield f"two of its gates and weights are called {letter}; give each a letter of its own"
    for letter in weights:
        if letter in ("h", *layer.states):
            yield f"a weight is called {letter}, as the output or a state; give it another letter"


def _wrong_forms(gates: tuple[Gate, ...]) -> Iterator[str]:
    """Yield a matrix that gates share in two forms: it would be two tensors with one name."""
    forms: dict[tuple[str, str], Form] = {}
    for gate in gates:
        for vector, form, shared in gate.products:
            matrix = gate.letter if shared is None else shared
            if forms.setdefault((vector, matrix), form) is not form:
                yield f"two gates read {vector} through the matrix {matrix}, as a full one and as a diagonal"


def _wrong_widths(layer: Cell, inputs: int) -> Iterator[str]:
    """Yield widths without a whole number."""
    sizes = layer.sizes(inputs)
    of_weights = (width for each in layer.weights for width in each.widths)
    for width in ("m", "h", *layer.states.values(), layer.output, *of_weights):
        if width not in sizes:
            yield layer.no_number(width, sizes)
        elif not is_size(sizes[width]):
            yield f"the width {width} is {sizes[width]!r}; sizes() gives whole numbers, 1 or more"
