"""What is said of a layer in words, beside the arithmetic of its derivation."""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.conventions.catalogue import convention
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding
from rnncalc.questions.explain import Derivation
from rnncalc.reports.biases import biases
from rnncalc.step.equations import HALF, symbols

ON_NOTATIONS = {
    "uvw": "U multiplies the input, W the state before, V is the output's matrix: the textbook's W_x, W_h and W_hy",
    "rows": "vectors are rows, so each matrix is the transpose of the textbook's and stands behind its vector",
    "stacked": "vectors are rows, the state before and the input one of them; the matrix W of a gate is the textbook's "
    "W_h and W_x, transposed, one above the other",
}
"""What is to be said of a notation that is not the textbook's."""

_NAMES = {"h": "units", "n": "units", "p": "the width of the projection", "d": "the width of a vector"}


def gates(each: Derivation) -> Iterator[str]:
    """Yield what each gate is called, and what it does."""
    for gate in each.gates:
        yield f"{gate.letter}, {gate.name}: {gate.meaning}"


def on_biases(each: Derivation) -> Iterator[str]:
    """Yield why there are as many biases as there are, the same for all layers of a kind that have any."""
    layer = each.placed.layer
    if isinstance(layer, Cell) and layer.bias:
        yield biases(layer, each.gates, convention(each.convention))


def on_notation(each: Derivation) -> Iterator[str]:
    """Yield what the letters of a notation are to the textbook's."""
    if each.equations and (told := ON_NOTATIONS.get(each.notation.name)):
        yield f"Notation: {told}."


def on_this_layer(each: Derivation) -> Iterator[str]:
    """Yield what is to be said of half an input, biases left out, a matrix counted elsewhere, and frozen parameters."""
    layer = each.placed.layer
    if any(symbol.subscript == HALF for of in each.equations for symbol in symbols(of.right)):
        units = each.placed.sizes["h"]
        first, last = (f"the {end} {units:,}" for end in ("first", "last"))
        yield f"x_half: {first} numbers of x_t in the forward direction, {last} in the backward one."
    if isinstance(layer, Cell | Dense) and not layer.bias:
        yield "Biases: none, by bias: false."
    if each.placed.shared:
        yield "The matrix is the embedding's, transposed: it is counted there, once."
    if layer.frozen:
        yield "Frozen: counted, but not trained."


def letters_of(each: Derivation) -> Iterator[str]:
    """Yield what each letter stands for, and where its value comes from."""
    placed, layer = each.placed, each.placed.layer
    if "m" in placed.sizes:
        extra = f", and {layer.extra_inputs:,} extra inputs" if layer.extra_inputs else ""
        width = placed.inputs - layer.extra_inputs
        sum_ = f"{width} + {layer.extra_inputs} = " if layer.extra_inputs else ""
        yield f"m = {sum_}{placed.inputs}: {_source(each)}{extra}"
    for letter, name in _NAMES.items():
        if letter in placed.sizes:
            yield f"{letter} = {placed.sizes[letter]}: {name}"


def _source(each: Derivation) -> str:
    """Return where the width that a layer reads comes from."""
    below = each.below
    if below is None:
        whose = f"the {each.placed.part}'s" if each.placed.part else "the network's"
        return "the vocabulary" if isinstance(each.placed.layer, Embedding) else f"{whose} input"
    of = below.layer
    if not isinstance(of, Cell) or not of.bidirectional:
        return f"what {below.name} hands on"
    joined = of.merge or "concat"
    one = below.outputs // 2 if joined == "concat" else below.outputs
    return f"what {below.name} hands on, its two directions of {one:,} joined by {joined}"
