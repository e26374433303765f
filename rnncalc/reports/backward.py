"""What a pass forward and back says: the gradients, what they took against what is declared, and how they shrink."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from math import isfinite, isnan, log10
from typing import Any

from rnncalc.forward.arrays import flat, shape_of
from rnncalc.forward.differences import TOLERANCE
from rnncalc.questions.backward_seen import Backward, LayerBackward
from rnncalc.questions.norms import Keeper
from rnncalc.questions.terms import Terms
from rnncalc.reports.report import DataReport, RecordReport, SheetReport
from rnncalc.reports.run import RunReport
from rnncalc.reports.sheet import BARS, Column, Row, Sheet
from rnncalc.reports.states import finite, in_rows
from rnncalc.text import plural

LOSSES = {"sum": "the sum of the outputs", "squared": "half the sum of the squared errors"}


class BackwardReport(SheetReport, DataReport, RecordReport):
    """A pass forward and back; states: whether to show what it kept of every step."""

    done: Backward
    states: bool = False

    @property
    def forward(self) -> RunReport:
        """The report of the pass forward."""
        return RunReport(self.done.run, self.states)

    @property
    def agrees(self) -> bool:
        """Whether everything is as declared."""
        return self.done.agrees

    def data(self) -> dict[str, Any]:
        """Return the object for programs: that of the pass forward, with what going back adds."""
        done, data = self.done, self.forward.data()
        back: Iterator[LayerBackward | None] = chain(done.layers, repeat(None))
        return {
            **data,
            "agrees": done.agrees,
            "loss": finite(done.loss),
            "chunk": done.chunk,
            "compared": done.compared,
            "layers": ({**layer, **self._layer_data(its)} for layer, its in zip(data["layers"], back, strict=False)),
        }

    def _layer_data(self, layer: LayerBackward | None) -> dict[str, Any]:
        if layer is None:
            return dict.fromkeys(_LAYER_KEYS)
        values = (
            {name: finite(gradient) for name, gradient in layer.went.gradients.items()},
            layer.declared.saved,
            layer.went.saved_read,
            layer.declared.backward_multiply_adds,
            layer.went.multiplications,
            finite(layer.worst_difference),
            {name: finite(error) for name, error in layer.errors.items()},
            layer.agrees and layer.ran.agrees,
        )
        data = dict(zip(_LAYER_KEYS, values, strict=True))
        return data | length_data(layer) if self.states else data

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return a row a layer."""
        header, rows = self.forward.records()
        back: Iterator[LayerBackward | None] = chain(self.done.layers, repeat(None))
        return (*header, *_NUMBERS), (_record(row, its) for row, its in zip(rows, back, strict=False))

    def sheets(self) -> list[Sheet]:
        """Return the sheets of the pass forward, what going back did, the gradients, and how long they are."""
        if not self.done.layers:
            return self.forward.sheets()
        states = (
            [sheet for layer in self.done.layers for sheet in length_sheets(layer, self.done.chunk)]
            if self.states
            else []
        )
        gradients = [self._gradient_sheet()] if self.done.weights else []
        return [*self.forward.sheets(), self._layer_sheet(), *gradients, *states]

    def _layer_sheet(self) -> Sheet:
        layers = self.done.layers
        numbers = [(layer.gradients, layer.went.saved_read, layer.went.multiplications) for layer in layers]
        return Sheet(
            columns=(
                Column("", key=True),
                Column("Layer", key=True),
                *(
                    Column(title, right=True)
                    for title in ("Gradients", "Saved activations", "Multiplications", "Difference")
                ),
            ),
            rows=[
                ("✓" if layer.agrees else "✗", layer.ran.placed.name, *its, short(layer.worst_difference))
                for layer, its in zip(layers, numbers, strict=True)
            ],
            total=("", "Total", *(sum(column) for column in zip(*numbers, strict=True)), ""),
            title="The pass back",
            subtitle=self._subtitle(),
            notes=tuple(self._notes()),
        )

    def _subtitle(self) -> str:
        done = self.done
        through = "through all steps" if done.chunk is None else f"in chunks of {plural(done.chunk, 'step')}"
        return f"from {LOSSES[done.name_of_loss]}, {done.loss:.6g}, {through}"

    def _notes(self) -> Iterator[str]:
        done = self.done
        if done.chunk is not None:
            yield "The states go on from chunk to chunk; a gradient stops where its chunk begins."
        yield from _compared(done)
        for layer in done.layers:
            yield from (f"✗ {layer.ran.placed.name}: {sentence}" for sentence in _disagreements(layer))
        if all(layer.agrees for layer in done.layers):
            yield "✓ Gradients, saved activations and multiplications agree with equations and differences."

    def _gradient_sheet(self) -> Sheet:
        truncated = any(layer.errors for layer in self.done.layers)
        error = (Column("Off by", right=True),) if truncated else ()
        rows = [
            (
                layer.ran.placed.name,
                name,
                shape_of(gradient),
                in_rows(gradient),
                *([_share(layer.errors[name])] if truncated else []),
            )
            for layer in self.done.layers
            for name, gradient in layer.went.gradients.items()
        ]
        return Sheet(
            columns=(
                Column("Layer", key=True),
                Column("Tensor", key=True),
                Column("Shape"),
                Column("Gradient"),
                *error,
            ),
            rows=rows,
            title="Gradients",
            notes=("Off by: the length of what truncation leaves out, of the full gradient's.",) if truncated else (),
        )


NOTHING = 1e-12
"""A gradient so small is rounding: beside 1 the numbers of a pass have sixteen digits."""

_NUMBERS = ("saved", "saved_read", "backward_multiply_adds", "backward_multiplications", "worst_difference")
_LAYER_KEYS = ("gradients", *_NUMBERS, "errors", "agrees")


def _record(forward: Row, layer: LayerBackward | None) -> Row:
    """Return the row of a layer: that of the pass forward, whether it agrees last, and what going back adds."""
    if layer is None:
        return (*forward, *[None] * len(_NUMBERS))
    seen, said = layer.went, layer.declared
    numbers = (said.saved, seen.saved_read, said.backward_multiply_adds, seen.multiplications)
    agrees = "true" if layer.agrees and layer.ran.agrees else "false"
    return (*forward[:-1], agrees, *numbers, finite(layer.worst_difference))


def _compared(done: Backward) -> Iterator[str]:
    """Yield what was held against finite differences, and what they cannot tell."""
    if not done.weights:
        yield "No weight is trained, so there is no gradient to hold against finite differences."
        return
    of = f"all {plural(done.weights, 'weight')}"
    if done.compared < done.weights:
        of = f"{done.compared:,} of {done.weights:,} weights, drawn by the seed, each tensor in its turn"
    yield f"Difference: the worst from central finite differences, of {of}."
    if done.kinks:
        yield f"At {done.kinks:,} of them the slope changes at once, as relu's at 0; any between both will do."
    if all(abs(number) < NOTHING for layer in done.layers for number in _all(layer)):
        yield (
            "Every gradient is 0, but for rounding: the loss does not change with the weights here, as the sum of"
            " a softmax never does; targets say more."
        )


def _disagreements(layer: LayerBackward) -> Iterator[str]:
    """Yield a sentence for each way in which going back was not what is declared of it."""
    seen, said = layer.went, layer.declared
    if not layer.shapes_agree:
        yield "the gradients do not have the shapes of its weights"
    if seen.saved_read != said.saved:
        yield f"{seen.saved_read:,} values of the pass forward were read, counted are {said.saved or 0:,}"
    if seen.multiplications != said.backward_multiply_adds:
        yield f"{seen.multiplications:,} multiplications were done, counted are {said.backward_multiply_adds or 0:,}"
    if layer.worst_difference is not None and layer.worst_difference > TOLERANCE:
        yield f"a gradient is {short(layer.worst_difference)} from its finite difference"
    if layer.worst_difference is not None and isnan(layer.worst_difference):
        yield "a gradient or its finite difference is no finite number: the pass, forward or back, goes beyond 1.8e308"


def _all(layer: LayerBackward) -> Iterator[float]:
    """Yield every gradient of a layer."""
    return chain.from_iterable(flat(gradient) for gradient in layer.went.gradients.values())


def _share(error: float | None) -> str | None:
    return None if error is None else f"{100 * error:.3g} %"


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


MOST_BARS = 60
"""Of more numbers, so many are drawn, evenly apart, the first and the last among them."""


def spark(numbers: Sequence[float | None]) -> str:
    """Return `▂▄█, from 1.2e-05 to 0.8 on a logarithmic scale`; what is 0, or no finite number, is a blank."""
    count = min(len(numbers), MOST_BARS)
    shown = [numbers[place * (len(numbers) - 1) // max(count - 1, 1)] for place in range(count)]
    drawn = [number for number in shown if number and isfinite(number)]
    if not drawn:
        return "no finite number but 0"
    least, most = min(drawn), max(drawn)
    range_ = log10(most) - log10(least)
    top = len(BARS) - 1

    def bar(number: float | None) -> str:
        if not number or not isfinite(number):
            return " "
        return BARS[round(top * (log10(number) - log10(least)) / range_) if range_ else top]

    line = "".join(map(bar, shown))
    every = "" if count == len(numbers) else f"; {count} of {len(numbers):,} steps"
    return f"{line}  from {least:.3g} to {most:.3g} on a logarithmic scale{every}"
