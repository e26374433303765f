"""What is said of a cell's biases: how many each of its gates has, on which side, and why.

Read off the gates and the convention, so that it holds for the layer at hand. Knows no kind of cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rnncalc.conventions.convention import Convention, Side
from rnncalc.conventions.layout import sides_of_biases
from rnncalc.layers.cell import Cell, Gate
from rnncalc.text import all_of


def biases(layer: Cell, gates: Sequence[Gate], convention: Convention) -> str:
    """Return a sentence on the biases of a layer that has any, with these gates."""
    arrays = convention.arrays(layer.kind)
    assert arrays is not None  # a network under a convention that lacks a cell is refused
    sides = sides_of_biases(layer, gates, arrays)
    twice = [gate for gate in gates if sides.get(gate.letter) is Side.BOTH]
    once = [gate for gate in gates if gate.letter in sides and gate not in twice]
    without = [gate for gate in gates if gate.letter not in sides]
    if not once:
        many = _many("two bias vectors", twice, without)
        where = "one after the other in one tensor" if arrays.both_biases else "on the input and on the recurrent side"
        return f"Biases: {many}, {where}; {convention.why}."
    said = _many("one bias vector", [*once, *twice], without)
    if twice:
        return f"Biases: {said}, and a second one in {_names(twice)}; {convention.why}."
    if all(sides[gate.letter] is Side.RECURRENT for gate in once):
        said += ", on the recurrent side"
    resets_after = layer.resets_after(arrays.habits.reset_after)
    return f"Biases: {said}; {_why_one(once, sides, resets_after=resets_after)}."


def _many(vectors: str, biased: Sequence[Gate], without: Sequence[Gate]) -> str:
    """Return how many bias vectors the gates have, and which of them have none."""
    if not without:
        return f"{vectors} a gate"
    return f"{vectors} each in {_names(biased)}, none in {_names(without)}"


def _why_one(gates: Sequence[Gate], sides: Mapping[str, Side], *, resets_after: bool) -> str:
    """Return why one bias a gate is enough.

    resets_after: whether a gate acts on the recurrent product of the last, and not on the state before it.
    """
    most = max(len(gate.products) for gate in gates)
    if most == 1:
        return "a gate has one product, and one bias goes with it"
    both = "two products are summed, so one bias serves both"
    summed = both if most == 2 else "products of a gate are summed, so one bias serves all"
    if not resets_after:
        return f"the {summed}"
    last = gates[-1].letter
    stands = "inside" if sides[last] is Side.RECURRENT else "outside"
    return f"the {summed}, and that of {last} stands {stands} what is multiplied by a gate"


def _names(gates: Sequence[Gate]) -> str:
    return all_of([gate.letter for gate in gates])
