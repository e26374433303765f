"""What a pass worked by hand says: for each layer its equations and weights, then every step with its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rnncalc.conventions.catalogue import convention
from rnncalc.conventions.tensor import WAYS
from rnncalc.layers.layer import Embedding, External
from rnncalc.questions.explain import explain
from rnncalc.questions.work import LayerWork, StepWork, Work
from rnncalc.reports.equations import Term
from rnncalc.reports.equations import written as equation
from rnncalc.reports.report import DerivationReport
from rnncalc.reports.run import outcome
from rnncalc.reports.setting import setting, title
from rnncalc.reports.sheet import EquationText, Sheet, WorkLine
from rnncalc.reports.written_work import DIGITS, matrix, numbers, written
from rnncalc.text import all_of


class WorkReport(DerivationReport):
    """A pass worked by hand."""

    work: Work

    @property
    def agrees(self) -> bool:
        """Whether every layer did what is declared of it."""
        return self.work.run.agrees

    def sheets(self) -> list[Sheet]:
        """Return the network, each layer with its weights, each step, and what came out."""
        network = self.work.run.network
        rounded = f"Fractions are rounded to {DIGITS} digits here; the pass itself computes with all of them."
        head = Sheet((), (), title=title(network), subtitle=f"worked by hand; {setting(network)}", notes=(rounded,))
        layers = [sheet for layer in self.work.layers for sheet in _layer(self.work, layer)]
        return [head, *layers, Sheet((), (), title="Outcome", notes=tuple(outcome(self.work.run)))]


def _layer(work: Work, layer: LayerWork) -> Iterator[Sheet]:
    placed = layer.placed
    if not layer.ways and not layer.steps:
        return
    (derived,) = explain(work.run.network, placed.name).layers
    letters = tuple(equation(each, placed.sizes) for each in derived.equations)
    weights = tuple(_weights(work, layer))
    head = Sheet((), (), title=placed.name, equations=letters, work=weights, notes=_said(layer))
    if not layer.ways and layer.steps[0].step is None:  # no sequence: one step, and no number for it
        yield head._replace(work=(*weights, *_step(work, layer.steps[0], "").work))
        return
    yield head
    for direction, way in zip(WAYS, layer.ways, strict=False):
        of = f"{placed.name}, {direction}" if len(layer.ways) > 1 else placed.name
        yield from (_step(work, each, f"{of}, step {each.step}") for each in way)
    both = f"{placed.name}, both directions" if layer.ways else placed.name
    for each in layer.steps:
        yield _step(work, each, both if each.step is None else f"{both}, step {each.step}")


def _step(work: Work, step: StepWork, title: str) -> Sheet:
    lines = (written(line, work.names) for line in (*step.given, *step.lines))
    return Sheet((), (), title=title, work=tuple(lines))


def _weights(work: Work, layer: LayerWork) -> Iterator[WorkLine]:
    """Yield the weights in use; of a table the rows that are looked up stand in the steps."""
    if isinstance(layer.placed.layer, Embedding):
        return
    symbols = convention(work.run.network.convention).symbols
    for name, nested in layer.weights.items():
        for place, array in _flat(name, nested):
            mark, slash, symbol = place.rpartition("/")
            letter, _, below = symbol.partition("_")
            of = (EquationText(mark + slash), Term(letter, below)) if mark else (Term(letter, below),)
            yield (*(of if symbols else (EquationText(place),)), " = ", *array)


def _flat(name: str, nested: Any) -> Iterator[tuple[str, WorkLine]]:
    """Yield a tensor as vectors and matrices; one of more axes is told by its places on the first."""
    if not isinstance(nested[0], list):
        yield name, numbers(nested)
    elif not isinstance(nested[0][0], list):
        yield name, matrix(nested)
    else:
        for place, below in enumerate(nested):
            yield from _flat(f"{name}[{place}]", below)


def _said(layer: LayerWork) -> tuple[str, ...]:
    """Return what is to be said of a layer's numbers."""
    of = layer.placed.layer
    if isinstance(of, Embedding):
        return ("E_0 is the first row of its table.",)
    if isinstance(of, External):
        return ("Counted elsewhere; these numbers are random.",)
    orders: dict[str, list[str]] = {}
    for tensor in layer.placed.tensors:
        if any(axis.times > 1 and axis.letter == "h" for axis in tensor.axes):
            orders.setdefault(", ".join(tensor.gates), []).append(tensor.name)
    first, *others = orders.items() or [("", [])]
    notes = [f"The gates lie in its tensors in the order {first[0]}."] if first[0] else []
    notes += [f"In {all_of(names)} the order is {order}." for order, names in others]
    if of.extra_inputs:
        notes.append(f"The last {of.extra_inputs} of the numbers that it reads come from elsewhere, at random.")
    return tuple(notes)
