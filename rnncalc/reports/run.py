"""The report of `run`: each layer's work beside its declaration, the outputs, and on request every state.

A backward pass adds its gradients, their distance from finite differences, and their norms step by step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from math import isfinite, isnan, log10
from typing import TYPE_CHECKING, Any

from rnncalc.conventions.tensor import WAYS, Direction
from rnncalc.forward.arrays import flat, shape_of
from rnncalc.reports.report import DataReport, RecordReport, SheetReport, fields
from rnncalc.typeset.equations import GREEK
from rnncalc.typeset.setting import one_to_many, setting, steps_of, title
from rnncalc.typeset.sheet import BARS, Column, Row, Sheet, key_columns, number_columns, total_row
from rnncalc.words import plural

if TYPE_CHECKING:
    from rnncalc.conventions.notation import Notation
    from rnncalc.forward.layer_pass import History
    from rnncalc.forward.network_pass import LayerRun
    from rnncalc.questions.backward import Backward, LayerBackward
    from rnncalc.questions.gradient_steps import WeightTerms
    from rnncalc.questions.run import Run

SHOWN_STEPS = 4


class RunReport(SheetReport, DataReport, RecordReport):
    """A forward pass.

    states: whether to show the states and gates of every step. verify: whether to show the weights read and the
    multiplications of every layer, which are shown anyway where one differs. within: the name of one of a model.
    """

    run: Run
    states: bool = False
    verify: bool = False
    within: str | None = None

    @property
    def agrees(self) -> bool:
        return self.run.agrees

    def data(self) -> dict[str, Any]:
        """Return the object for programs; a number that is not finite is null."""
        network = self.run.network
        return {
            **fields(network, "name", "convention"),
            "topology": network.topology_name,
            "steps": steps_of(network),
            "feedback": network.feedback,
            "agrees": self.run.agrees,
            "outputs": finite(self.run.outputs),
            "layers": (
                {
                    **_numbers(layer),
                    "output": finite(layer.output),
                    **fields(layer, "agrees", "reason"),
                    **(_states_data(layer) if self.states else {}),
                }
                for layer in self.run.layers
            ),
        }

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        network = self.run.network.name
        return _HEADER, ((network, *_numbers(layer).values(), layer.agrees) for layer in self.run.layers)

    def sheets(self) -> list[Sheet]:
        """Return the table of layers and, with `states`, a table of steps for each direction of each layer."""
        return ended(self.tables(), confirmed(self.run))

    def tables(self) -> list[Sheet]:
        """Return the sheets without the line that confirms the counts."""
        layers, notation = self.run.layers if self.states else (), self.run.network.spelling
        return [self._layer_sheet(), *(sheet for layer in layers for sheet in state_sheets(layer, notation))]

    def _layer_sheet(self) -> Sheet:
        layers, network = self.run.layers, self.run.network
        notes = tuple(_notes(self.run, verify=self.verify, within=self.within))
        head = Sheet((), (), title=title(network), subtitle=f"forward pass; {setting(network)}", notes=notes)
        if self.run.agrees and not self.verify:
            shapes: list[Row] = [(layer.placed.name, layer.shape) for layer in layers]
            return head.replace(columns=(*key_columns("Layer"), Column("Output shape")), rows=shapes)
        numbers = [(layer.weights, layer.weights_read, layer.multiplications) for layer in layers]
        words = (*key_columns("", "Layer"), Column("Output shape"))
        columns = (*words, *number_columns("Weights", "Weights read", "Multiplications"))
        rows = [
            ("✓" if layer.agrees else "✗", layer.placed.name, layer.shape, *its)
            for layer, its in zip(layers, numbers, strict=True)
        ]
        totals = (sum(number or 0 for number in column) for column in zip(*numbers, strict=True))
        return head.replace(columns=columns, rows=rows, total=total_row(columns, *totals))


_HEADER = (
    *("network", "name", "shape", "declared_shape", "weights", "weights_read"),
    *("multiply_adds", "multiplications", "agrees"),
)


def _numbers(layer: LayerRun) -> dict[str, Any]:
    """Return the values of a layer that JSON and CSV share."""
    placed = layer.placed
    values = (layer.weights, layer.weights_read, placed.multiply_adds, layer.multiplications)
    return dict(zip(_HEADER[1:-1], (placed.name, layer.shape, placed.output_shape, *values), strict=True))


def _notes(run: Run, *, verify: bool, within: str | None) -> Iterator[str]:
    if run.assumed_steps is not None:
        cure = f"give steps in {within} to run" if within else "-T runs"
        yield f"The number of steps is not given, so {run.assumed_steps} were run; {cure} another number."
    if later := one_to_many(run.network):
        yield later
    for layer in run.layers if verify else ():
        if layer.to_read is not None and layer.weights is not None and layer.to_read < layer.weights:
            yield f"{layer.placed.name}: the whole table is stored; a pass reads the rows it looks up."
    yield from outcome(run)


def outcome(run: Run) -> Iterator[str]:
    """Yield every difference, and the output."""
    for layer in run.layers:
        yield from (f"✗ {layer.placed.name}: {difference}" for difference in _differences(layer))
    if run.missing:
        yield f"✗ {run.missing} more layer{'s' if run.missing > 1 else ''} could not be run."
    elif last := run.layers[-1].shape:
        flat = [run.outputs] if len(last) == 1 else run.outputs
        more = "; …" if len(flat) > SHOWN_STEPS else ""
        yield f"Output: {'; '.join(map(vector, flat[:SHOWN_STEPS]))}{more}"


def confirmed(run: Run, *more: str, by: str = "the formulas") -> Iterator[str]:
    """Yield the line that confirms the counts, if nothing differs; more: what else it confirms."""
    if run.agrees:
        read = plural(sum(layer.weights_read or 0 for layer in run.layers), "weight")
        yield f"✓ {', '.join(('Shapes', f'{read} read', *more))} and multiplications: as {by} say."


def ended(sheets: list[Sheet], notes: Iterable[str]) -> list[Sheet]:
    """Return sheets with more notes below the last."""
    return [*sheets[:-1], sheets[-1].replace(notes=(*sheets[-1].notes, *notes))]


def of_direction(layer: str, direction: str | None) -> str:
    """Return a layer and one of its directions; the layer alone if it has one."""
    return layer if direction is None else f"{layer}, {direction} direction"


def _differences(layer: LayerRun) -> Iterator[str]:
    """Yield a sentence for each difference between a layer and its declaration."""
    placed = layer.placed
    if layer.reason:
        yield layer.reason
        return
    if layer.shape != placed.output_shape:
        yield f"the output has the shape {layer.shape}, and declared is {placed.output_shape}"
    if layer.weights is None:
        return
    if layer.weights != placed.params:
        yield f"weights: {layer.weights:,} there, {placed.params:,} counted"
    if layer.weights_read != layer.to_read:
        yield f"weights read: {layer.weights_read:,} of {layer.to_read:,}"
    if layer.multiplications != placed.multiply_adds:
        yield f"multiplications: {layer.multiplications:,} done, {placed.multiply_adds:,} counted"


SHOWN_NUMBERS, SHOWN_IN_TABLES = 8, 6
"""The most numbers of a vector that are shown on a line, and in a table."""

DIGITS = 6
"""The significant digits of the largest number of a column."""

_LARGE, _SMALL = 1e6, 1e-3


def state_sheets(layer: LayerRun, notation: Notation) -> Iterator[Sheet]:
    """Yield a table for each direction: inputs, states and gates of each step, and the start states."""
    for direction, trace in zip(WAYS, layer.traces, strict=False):
        backward = direction is Direction.BACKWARD
        letters = [*trace.steps[0]]
        columns = [_column(trace, letter) for letter in letters]
        start = [column[-1] if letter in trace.start else "" for letter, column in zip(letters, columns, strict=True)]
        steps = zip(*(column[:-1] for column in columns), strict=True)
        rows: list[Row] = [(step, *texts) for step, texts in enumerate(steps, 1)]
        if backward:
            rows.append((len(rows) + 1, *start))
        elif trace.start:
            rows.insert(0, (0, *start))
        titles = [GREEK.get(letter, letter) for letter in map(notation.letter, letters)]
        yield Sheet(
            columns=(Column("Step", right=True, key=True), *number_columns(*titles)),
            rows=rows,
            title=of_direction(layer.placed.name, direction if len(layer.traces) > 1 else None),
            subtitle=f"read from step {len(rows) - 1:,} to step 1; step {len(rows):,} is its start" if backward else "",
        )


def _states_data(layer: LayerRun) -> dict[str, Any]:
    """Return the states before the first step of each direction, and its steps in the order of time."""
    traces = dict(zip(WAYS, layer.traces, strict=False))
    return {
        "start": {direction: finite(trace.start) for direction, trace in traces.items()},
        "states": {direction: [*map(finite, trace.steps)] for direction, trace in traces.items()},
    }


def vector(numbers: Sequence[float], shown: int = SHOWN_NUMBERS) -> str:
    """Return the first numbers of a vector on one line."""
    return f"{' '.join(f'{number:.6g}' for number in numbers[:shown])}{' …' * (len(numbers) > shown)}"


def in_rows(nested: Any) -> str:
    """Return the first numbers of a vector or a matrix on one line, rows separated by semicolons."""
    texts: list[str] = []
    room = SHOWN_NUMBERS
    for row in _rows(nested):
        if not room:
            return f"{'; '.join(texts)}; …"
        texts.append(vector(row, room))
        if len(row) > room:
            break
        room -= len(row)
    return "; ".join(texts)


def _rows(nested: Any) -> Iterator[list[float]]:
    """Yield the vectors of a tensor."""
    if nested and isinstance(nested[0], list):
        for below in nested:
            yield from _rows(below)
    else:
        yield nested


def finite(nested: Any) -> Any:
    """Return numbers for JSON, also those in lists and dicts: None for those that are not finite."""
    if isinstance(nested, Mapping):
        return {key: finite(value) for key, value in nested.items()}
    if isinstance(nested, list):
        return [*map(finite, nested)]
    return nested if nested is None or isfinite(nested) else None


def _column(trace: History[list[float]], letter: str) -> list[str]:
    """Return the vectors of a letter as aligned texts, one for each step, the start last."""
    vectors = [step[letter] for step in trace.steps]
    vectors.append(trace.start.get(letter, []))
    shown = [numbers[:SHOWN_IN_TABLES] for numbers in vectors]
    form = _form([number for numbers in shown for number in numbers])
    texts = [[format(number + 0.0, form) for number in numbers] for numbers in shown]  # no −0
    widths = [max(map(len, places)) for places in zip(*(row for row in texts if row), strict=True)]
    return [
        " ".join(text.rjust(width) for text, width in zip(row, widths, strict=False))
        + " …" * (len(numbers) > SHOWN_IN_TABLES)
        for row, numbers in zip(texts, vectors, strict=True)
    ]


def _form(numbers: Sequence[float]) -> str:
    """Return the format of a column of numbers, with as few digits after the point as are needed."""
    most = max((abs(number) for number in numbers if isfinite(number)), default=0.0)
    if most >= _LARGE or 0 < most < _SMALL:
        return f".{DIGITS - 1}e"
    digits = DIGITS - (len(str(int(most))) if most >= 1 else 0)
    while digits and all(round(number, digits) == round(number, digits - 1) for number in numbers if isfinite(number)):
        digits -= 1
    return f".{digits}f"


ON_CHUNKS = "The states go on from chunk to chunk; a gradient stops where its chunk begins."

LOSSES = {
    "sum": "the sum of the outputs",
    "squared": "half the sum of the squared errors",
    "cross_entropy": "the cross-entropy",
}

ON_LOSS = {
    "sum": "The loss L is the sum of all outputs, so that ∂L/∂output = 1.",
    "squared": "The loss L is half the sum of (output − target)², so that ∂L/∂output = output − target.",
    "cross_entropy": "The output p is a softmax, one operation with the loss: L = −Σ y log p and δ = p − y, for the"
    " targets y and the natural logarithm.",
}


class BackwardReport(SheetReport, DataReport, RecordReport):
    """A forward and a backward pass; states, verify: as of a forward pass."""

    done: Backward
    states: bool = False
    verify: bool = False

    @property
    def forward(self) -> RunReport:
        """The report of the forward pass."""
        return RunReport(self.done.run, self.states, self.verify)

    @property
    def agrees(self) -> bool:
        return self.done.agrees

    def data(self) -> dict[str, Any]:
        """Return the object for programs: the forward pass's, with the numbers of the backward pass added."""
        done, data = self.done, self.forward.data()
        return {
            **data,
            "agrees": done.agrees,
            "loss": finite(done.loss),
            **fields(done, "chunk", "compared"),
            "layers": (
                {**ran, **self._layer_data(its)} for ran, its in zip(data["layers"], self._layers, strict=False)
            ),
        }

    def _layer_data(self, layer: LayerBackward | None) -> dict[str, Any]:
        if layer is None:
            return dict.fromkeys(("gradients", *_BACKWARD_HEADER, "errors", "agrees"))
        return {
            "gradients": finite(layer.seen.gradients),
            **_backward_numbers(layer),
            "errors": finite(layer.errors),
            "agrees": layer.agrees and layer.ran.agrees,
            **(length_data(layer) if self.states else {}),
        }

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        header, rows = self.forward.records()
        pairs = zip(rows, self._layers, strict=False)
        return (*header, *_BACKWARD_HEADER), (
            (*row[:-1], row[-1] and (its is None or its.agrees), *_backward_numbers(its).values()) for row, its in pairs
        )

    @property
    def _layers(self) -> Iterator[LayerBackward | None]:
        """The layers of the backward pass; None for a layer that it did not reach."""
        return chain(self.done.layers, repeat(None))

    def sheets(self) -> list[Sheet]:
        """Return the tables of the forward pass, and of the backward pass: its work, its gradients, their norms."""
        if not self.done.layers:
            return self.forward.sheets()
        layers = self.done.layers if self.states else ()
        notation = self.done.run.network.spelling
        states = (sheet for layer in layers for sheet in length_sheets(layer, self.done.chunk, notation))
        apart = self.done.weights and (self.verify or not self.done.agrees)
        gradients = [self._gradient_sheet()] if apart else []
        sheets = [*self.forward.tables(), self._layer_sheet(), *gradients, *states]
        saved = plural(sum(layer.seen.saved_read for layer in self.done.layers), "saved activation")
        by = "the formulas and finite differences" if self.done.compared else "the formulas"
        return ended(sheets, confirmed(self.done.run, "gradients", saved, by=by) if self.done.agrees else ())

    def _layer_sheet(self) -> Sheet:
        layers, chunk = self.done.layers, self.done.chunk
        through = "through all steps" if chunk is None else f"in chunks of {plural(chunk, 'step')}"
        head: dict[str, Any] = {
            "title": "Backward pass",
            "subtitle": f"from {LOSSES[self.done.name_of_loss]}, {self.done.loss:.6g}, {through}",
            "notes": tuple(self._notes()),
        }
        if self.done.agrees and not self.verify:
            sheet = self._gradient_sheet() if self.done.weights else Sheet((), ())
            return sheet.replace(**head | {"notes": (*sheet.notes, *head["notes"])})
        numbers = [(layer.gradients, layer.seen.saved_read, layer.seen.multiplications) for layer in layers]
        columns = (
            *key_columns("", "Layer"),
            *number_columns("Gradients", "Saved activations", "Multiplications", "Difference"),
        )
        rows = [
            ("✓" if layer.agrees else "✗", layer.ran.placed.name, *its, short(layer.worst_difference))
            for layer, its in zip(layers, numbers, strict=True)
        ]
        return Sheet(columns, rows, total_row(columns, *map(sum, zip(*numbers, strict=True)), ""), **head)

    def _notes(self) -> Iterator[str]:
        done = self.done
        if done.name_of_loss == "cross_entropy":
            yield ON_LOSS[done.name_of_loss]
        if done.chunk is not None:
            yield ON_CHUNKS
        yield from _compared(done)
        for layer in done.layers:
            yield from (f"✗ {layer.ran.placed.name}: {sentence}" for sentence in _disagreements(layer))

    def _gradient_sheet(self) -> Sheet:
        truncated = any(layer.errors for layer in self.done.layers)
        rows: list[Row] = [
            (
                *(layer.ran.placed.name, name, shape_of(gradient), in_rows(gradient)),
                *([None if (off := layer.errors[name]) is None else f"{100 * off:.3g} %"] if truncated else []),
            )
            for layer in self.done.layers
            for name, gradient in layer.seen.gradients.items()
        ]
        columns = (
            *(*key_columns("Layer", "Tensor"), Column("Shape"), Column("Gradient")),
            *number_columns(*(["Off by"] if truncated else [])),
        )
        notes = ("Off by: the norm of what truncation leaves out, over the full gradient's.",) if truncated else ()
        return Sheet(columns, rows, title="Gradients", notes=notes)


NOTHING = 1e-12
"""A smaller gradient is a rounding error: the numbers of a pass have sixteen digits."""

_BACKWARD_HEADER = ("saved", "saved_read", "backward_multiply_adds", "backward_multiplications", "worst_difference")


def _backward_numbers(layer: LayerBackward | None) -> dict[str, Any]:
    """Return the values of a layer's backward pass that JSON and CSV share."""
    if layer is None:
        return dict.fromkeys(_BACKWARD_HEADER)
    seen, declared = layer.seen, layer.declared
    numbers = (declared.saved, seen.saved_read, declared.backward_multiply_adds, seen.multiplications)
    return dict(zip(_BACKWARD_HEADER, (*numbers, finite(layer.worst_difference)), strict=True))


def _compared(done: Backward) -> Iterator[str]:
    """Yield sentences on the comparison with finite differences, and on its limits."""
    if not done.weights:
        yield "No weight is trained, so there is no gradient."
        return
    if done.compared is not None:
        which = f"all {plural(done.weights, 'weight')}"
        if done.compared < done.weights:
            which = f"{done.compared:,} of {plural(done.weights, 'weight')}, drawn by the seed, each tensor in its turn"
        yield f"Difference: largest deviation from central finite differences, of {which}."
        if done.kinks:
            jumps = f"At {done.kinks:,} of them the slope jumps, as relu's at 0"
            yield f"{jumps}; a gradient between both slopes is accepted."
    yield from on_no_slope(gradient for layer in done.layers for gradient in layer.seen.gradients.values())


def on_no_slope(gradients: Iterable[Any]) -> Iterator[str]:
    """Yield a sentence if all gradients of weights are 0."""
    numbers = [abs(number) for gradient in gradients for number in flat(gradient)]
    if numbers and max(numbers) < NOTHING:
        yield (
            "Every gradient is 0, but for rounding: the loss does not change with the weights here, as the sum of"
            " a softmax never does; targets say more."
        )


def _disagreements(layer: LayerBackward) -> Iterator[str]:
    """Yield a sentence for each difference between a backward pass and its declaration."""
    from rnncalc.forward.differences import TOLERANCE  # imported only for a backward pass

    seen, declared = layer.seen, layer.declared
    if not layer.shapes_agree:
        yield "the gradients do not have the shapes of its weights"
    if seen.saved_read != declared.saved:
        yield f"{seen.saved_read:,} saved activations were read instead of {declared.saved or 0:,}"
    if seen.multiplications != declared.backward_multiply_adds:
        yield f"{seen.multiplications:,} multiplications were done instead of {declared.backward_multiply_adds or 0:,}"
    if layer.worst_difference is not None and layer.worst_difference > TOLERANCE:
        yield f"a gradient is {short(layer.worst_difference)} from its finite difference"
    if layer.worst_difference is not None and isnan(layer.worst_difference):
        yield "a gradient or its finite difference is not a finite number: a pass, forward or backward, exceeds 1.8e308"


def length_data(layer: LayerBackward) -> dict[str, Any]:
    """Return the norms for programs, by direction and state, a number for each step; and the terms of each weight."""
    lengths: dict[str, dict[str, Any]] = {}
    kept: dict[str, dict[str, Any]] = {}
    for state in layer.norms:
        lengths.setdefault(state.direction, {})[state.letter] = [finite(norm) for norm in state.norms]
        if state.keeper is not None:
            by = {"gate": state.keeper.letter, "turned": state.keeper.turned}
            kept.setdefault(state.direction, {})[state.letter] = {**by, "product": [*map(finite, state.kept)]}
    terms = [{**weight._asdict(), "terms": [finite(term._asdict()) for term in weight.terms]} for weight in layer.terms]
    return {"gradient_norms": lengths, "kept": kept, "terms": terms}


def length_sheets(layer: LayerBackward, chunk: int | None, notation: Notation) -> Iterator[Sheet]:
    """Yield for each direction the norm of the gradient with respect to each state, and for each weight its terms."""
    name, norms = layer.ran.placed.name, layer.norms
    for direction in dict.fromkeys(norm.direction for norm in norms):
        states = [norm for norm in norms if norm.direction == direction]
        titles = [f"‖∂L/∂{notation.letter(norm.letter)}‖" for norm in states]
        columns = [norm.norms for norm in states]
        notes = [f"{letter} {spark(numbers)}" for letter, numbers in zip(titles, columns, strict=True)]
        for letter, keeper, kept in ((norm.letter, norm.keeper, norm.kept) for norm in states):
            if keeper is None:
                continue
            gate = f"{'1−' if keeper.turned else ''}{notation.letter(keeper.letter)}"
            titles.append(f"∏ {gate}")
            columns.append(kept)
            product = f"the product of {gate} over the later steps, its largest number"
            notes.append(f"∏ {gate}: {product}: what is left of {notation.letter(letter)}.")
        rows = [(step, *map(short, row)) for step, row in enumerate(zip(*columns, strict=True), 1)]
        titled = of_direction(name, direction if len(norms) > len(states) else None)
        heading, key = f"{titled}: the norm of the gradient at each step", Column("Step", right=True, key=True)
        yield Sheet((key, *number_columns(*titles)), rows, title=heading, notes=tuple(notes))
    for number, weight in enumerate(layer.terms, 1):
        sheet = _terms_sheet(name, weight, notation)
        if chunk and chunk < len(weight.terms) and number == len(layer.terms):  # once is enough
            steps = plural((len(weight.terms) - 1) % chunk + 1, "step")
            note = f"Truncated: the last chunk has {steps}, and keeps that many terms of each weight, the first ones."
            sheet = sheet.replace(notes=(note,))
        yield sheet


def _terms_sheet(name: str, weight: WeightTerms, notation: Notation) -> Sheet:
    """Return the terms of a weight, from the last step to the first."""
    letters = [letter for letter in weight.terms[0].reached if any(term.reached[letter] for term in weight.terms)]
    place = f"[{', '.join(map(str, weight.place))}]" if len(weight.place) > 1 or len({*weight.place}) else ""
    last = weight.terms[0].step
    h, *spelled = map(notation.letter, ("h", *letters))
    titles = [*(f"∂{h}_{last}/∂{letter}_k" for letter in spelled), *(f"explicit ∂{letter}_k/∂w" for letter in spelled)]
    rows: list[Row] = []
    for term in weight.terms:
        factors = [numbers[letter] for numbers in (term.reached, term.explicit) for letter in letters]
        rows.append((term.step, *map(short, (*factors, term.product, term.total))))
    columns = (Column("k", right=True, key=True), *number_columns(*titles, "Product", "Running sum"))
    return Sheet(columns, rows, title=f"{name}: the terms of ∂{h}_{last}/∂w, w = {weight.tensor}{place}")


def short(number: float | None) -> str | None:
    """Return a number with enough digits to differ from its neighbours."""
    return None if number is None else f"{number:.6g}"


MOST_BARS = 60
"""The most numbers to draw; of more, evenly spaced ones with the first and the last."""


def spark(numbers: Sequence[float | None]) -> str:
    """Return `▂▄█, from 1.2e-05 to 0.8 on a logarithmic scale`; 0 and numbers that are not finite are blanks."""
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
