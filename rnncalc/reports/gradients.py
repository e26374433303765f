"""How gradients shrink or grow on their way back through time, said: step by step, and term by term of their sum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rnncalc.questions.backward_seen import LayerBackward
from rnncalc.questions.norms import Keeper
from rnncalc.questions.terms import Terms
from rnncalc.reports.sheet import Column, Sheet
from rnncalc.reports.spark import spark
from rnncalc.reports.states import finite
from rnncalc.text import plural


def length_data(layer: LayerBackward) -> dict[str, Any]:
    """Return the lengths for programs, by direction and state, a number a step; and the terms of each weight."""
    lengths: dict[str, dict[str, Any]] = {}
    kept: dict[str, dict[str, Any]] = {}
    for of in layer.norms:
        lengths.setdefault(of.direction, {})[of.letter] = [finite(norm) for norm in of.norms]
        if of.keeper is not None:
            by = {"gate": of.keeper.letter, "turned": of.keeper.turned}
            kept.setdefault(of.direction, {})[of.letter] = {**by, "product": [*map(finite, of.kept)]}
    return {"gradient_norms": lengths, "kept": kept, "terms": [_terms_data(of) for of in layer.terms]}


def _terms_data(of: Terms) -> dict[str, Any]:
    terms = [
        {
            "step": term.step,
            "reached": {letter: finite(number) for letter, number in term.reached.items()},
            "explicit": {letter: finite(number) for letter, number in term.explicit.items()},
            "product": finite(term.product),
            "total": finite(term.total),
        }
        for term in of.terms
    ]
    return {"tensor": of.tensor, "place": of.place, "terms": terms}


def length_sheets(layer: LayerBackward, chunk: int | None) -> Iterator[Sheet]:
    """Yield for each direction how long the gradient is with respect to each state, and for each weight its terms."""
    name, found = layer.ran.placed.name, layer.norms
    for direction in dict.fromkeys(of.direction for of in found):
        states = [of for of in found if of.direction == direction]
        both = len(found) > len(states)
        keeping = [(of, of.keeper) for of in states if of.keeper is not None]
        titles = [*(f"‖∂L/∂{of.letter}‖" for of in states), *(f"∏ {_gate(keeper)}" for _, keeper in keeping)]
        columns = [*(of.norms for of in states), *(of.kept for of, _ in keeping)]
        yield Sheet(
            columns=(Column("Step", right=True, key=True), *(Column(title, right=True) for title in titles)),
            rows=[(step, *map(short, row)) for step, row in enumerate(zip(*columns, strict=True), 1)],
            title=f"{name}: how long the gradient is at each step{f', {direction}' if both else ''}",
            notes=(
                *(f"‖∂L/∂{of.letter}‖ {spark(of.norms)}" for of in states),
                *(_kept(of.letter, keeper) for of, keeper in keeping),
            ),
        )
    for number, of in enumerate(layer.terms, 1):
        sheet = _terms_sheet(name, of)
        kept = (len(of.terms) - 1) % chunk + 1 if chunk else None
        yield sheet._replace(notes=(_of_chunk(kept),)) if number == len(layer.terms) else sheet  # once is enough


def _gate(keeper: Keeper) -> str:
    """Return what a state is multiplied with: a gate, or what the gate leaves of one."""
    return f"1−{keeper.letter}" if keeper.turned else keeper.letter


def _kept(state: str, keeper: Keeper) -> str:
    """Return what the product of a gate is."""
    gate = _gate(keeper)
    return f"∏ {gate}: the product of {gate} over the later steps, its largest number: what is left of {state}."


def _terms_sheet(name: str, of: Terms) -> Sheet:
    """Return the terms of a weight, from the last step to the first."""
    letters = [letter for letter in of.terms[0].reached if any(term.reached[letter] for term in of.terms)]
    place = f"[{', '.join(map(str, of.place))}]" if len(of.place) > 1 or len({*of.place}) else ""
    last = of.terms[0].step
    return Sheet(
        columns=(
            Column("k", right=True, key=True),
            *(Column(f"∂h_{last}/∂{letter}_k", right=True) for letter in letters),
            *(Column(f"explicit ∂{letter}_k/∂w", right=True) for letter in letters),
            Column("Product", right=True),
            Column("Running sum", right=True),
        ),
        rows=[
            (
                term.step,
                *(short(term.reached[letter]) for letter in letters),
                *(short(term.explicit[letter]) for letter in letters),
                short(term.product),
                short(term.total),
            )
            for term in of.terms
        ],
        title=f"{name}: the terms of ∂h_{last}/∂w, w = {of.tensor}{place}",
    )


def _of_chunk(kept: int | None) -> str:
    """Return what truncation keeps of the terms."""
    if kept is None:
        return "Truncated, the last chunk keeps as many terms of each weight, from the top, as it has steps."
    return f"The last chunk has {plural(kept, 'step')}, and keeps so many terms of each weight, from the top."


def short(number: float | None) -> str | None:
    """Return a number with the digits that tell it from its neighbours."""
    return None if number is None else f"{number:.6g}"
