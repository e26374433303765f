"""The report of `answer`: the verdict, and for a wrong number the mistakes that give it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rnncalc.answers.judgement import Answer, AxisOrder, Diagnosis, JudgedValue, Judgement, Subject
from rnncalc.answers.reading import GivenNumber, GivenShape
from rnncalc.answers.worksheet import write
from rnncalc.bounds import MOST_EXPLAINED, MOST_JUDGED, MOST_PROBLEMS
from rnncalc.conventions.formula import Expression, Plus, Times, letters, plain, value
from rnncalc.layers.cell import Cell
from rnncalc.letters import has_letters
from rnncalc.printable import escape
from rnncalc.reports.report import DataReport, RecordReport, SheetReport
from rnncalc.typeset.setting import notation_of, setting, shape_text, title
from rnncalc.typeset.sheet import Arithmetic, Column, Row, Sheet, Value, bars_of, cell
from rnncalc.words import all_of, bracketed, in_full, plural

if TYPE_CHECKING:
    from rnncalc.answers.gradebook import Grade, Gradebook
    from rnncalc.answers.sizes import OtherSize


class AnswerReport(SheetReport, DataReport):
    """A judged answer as data and as tables.

    hint: whether a wrong answer gets a question on what is wrong, without a correct count or a calculation.
    """

    answer: Answer
    hint: bool = False

    def data(self) -> dict[str, Any]:
        judged = self.answer.judged
        answers = [
            each.answer.sizes if isinstance(each.answer, GivenShape) and not each.value else _answer(each)
            for each in judged
        ]
        params = [None if each.returned or each.value else each.params for each in judged]
        formulas = [None if each.formula is None else plain(each.formula) for each in judged]
        whole = judged[0].is_total and len(judged) == 1
        data: dict[str, Any] = {
            "name": self.answer.network.name,
            "notation": notation_of(self.answer.network),
            "of": self.answer.quantity,
            "params": params[0] if whole else params,
            "params_formula": formulas[0] if whole else formulas,
            "answer": answers[0] if whole else answers,
            "right": self.answer.right,
            "claims": [
                {
                    "label": each.label or None,
                    "right": each.right,
                    "mistake": _briefly(each, self.answer, hint=self.hint) or None,
                    "follows": each.follows,
                }
                for each in judged
            ],
            "mistakes": [self._mistake(diagnosis, each) for each in judged for diagnosis in self.diagnoses(each)],
            "remarks": [*self._remarks(), *(remark for each in judged for remark in _also(each, hint=self.hint))],
        }
        if any(each.value for each in judged):
            data["values"] = [self._value(each, each.value) for each in judged if each.value]
        if self.hint:
            del data["params"], data["params_formula"]
        return data

    def _value(self, judged: Judgement, value: JudgedValue) -> dict[str, Any]:
        """Return a value of a pass as data."""
        data = {"layer": judged.layer, "name": judged.tensor, "answer": value.numbers, "correct": value.exact}
        data |= {"right": value.right, "rounded": value.rounded, "follows": judged.follows}
        if self.hint:
            del data["correct"]
        return data

    def sheets(self) -> list[Sheet]:
        """Return the verdict, and for a wrong number the mistakes that give it; several answers are a table."""
        judged = self.answer.judged
        of_tensors = any(each.tensor for each in judged)
        of_parts = any(each.tensor and not (each.shape or each.returned) for each in judged)
        parts = "Part" if of_parts else "Returns" if judged[0].returned else "Tensor"
        parts = "Value" if judged[0].value else parts
        mistakes = [_briefly(each, self.answer, hint=self.hint, row=True) for each in judged]
        columns, rows = _table(
            (Column("", key=True), ["✓" if each.right else "✗" for each in judged]),
            (Column("Layer", key=True), [each.layer or "Total" * each.is_total for each in judged]),
            (Column(parts, key=True), [each.tensor or "" for each in judged] if of_tensors else None),
            (Column("Answer", right=True, together=True), map(_answer, judged)),
            (Column("Correct", right=True, together=True), None if self.hint else map(_right, judged)),
            (Column("Hint" if self.hint else "Mistake", together=True), mistakes if any(mistakes) else None),
        )
        network, several = self.answer.network, len(judged) > 1
        notes = (f"{'✓' if self.answer.right else '✗'} {self._verdict()}", *self._remarks(table=several))
        columns, rows = (columns, rows) if several else ((), [])
        return [Sheet(columns, rows, title=title(network), subtitle=setting(network), notes=notes), *self._mistakes()]

    def sentences(self) -> Iterator[str]:
        """Yield sentences on the answer: the verdict, the mistakes behind it, and remarks."""
        yield self._verdict()
        yield from self.reasons()

    def reasons(self) -> Iterator[str]:
        """Yield the same without the verdict."""
        for each in self.answer.judged:
            for diagnosis in self.diagnoses(each):
                _, *sums = self._row(diagnosis, each)
                more = f": {' instead of '.join(map(_in_words, sums))}" if sums else ""
                yield self._in_full(diagnosis, each, more)
            yield from _also(each, hint=self.hint)
        yield from self._remarks()

    def _verdict(self) -> str:
        """Return whether the answer is correct; for a single wrong one also the correct one, if this is no hint."""
        judged = self.answer.judged
        if self.answer.flaws:
            return f"Correct, but {all_of([*dict.fromkeys(map(_false, self.answer.flaws))])}."
        if self.answer.right:
            named = len(judged) == 1 and isinstance(judged[0].answer, GivenNumber) and _where(judged[0])
            return f"Correct: {_answer_text(judged[0])}{named}." if named else "Correct."
        if self.hint or len(judged) > 1:
            return "Wrong."
        wrong, answer = judged[0], judged[0].answer
        if isinstance(answer, GivenNumber) and answer.unit == 1 and wrong.formula is None:
            difference = f"{_difference(wrong.difference)} the correct {wrong.params:,}"
            return f"Wrong: {_answer_text(wrong)}{_where(wrong)} is {difference}."
        correct = _in_words(_right(wrong)) if wrong.formula is None else letters(wrong.formula)
        return f"Wrong: {_answer_text(wrong)}{_where(wrong)} instead of the correct {correct}."

    def diagnoses(self, judged: Judgement) -> list[Diagnosis]:
        """Return the mistakes behind a number; in a hint the first of those that it asks the same of."""
        asked: dict[str, Diagnosis] = {}
        for each in judged.diagnoses:
            asked.setdefault(self.text(each, judged) if self.hint else str(len(asked)), each)
        return [*asked.values()]

    def text(self, diagnosis: Diagnosis, judged: Judgement) -> str:
        """Return the sentence of a mistake without its subject; in a hint questions on what is wrong."""
        if not self.hint:
            return _sentence(diagnosis)
        subjects = dict.fromkeys([mistake.subject for mistake in diagnosis.mistakes])
        return " ".join([_hint(subject, self.answer.quantity) for subject in subjects])

    def _in_full(self, diagnosis: Diagnosis, judged: Judgement, more: str = "") -> str:
        """Return what an answer does wrong, or could do wrong."""
        text = self.text(diagnosis, judged)
        if self.hint:
            return _of_layer(judged, text)
        could = " may be the answer of someone who" if diagnosis.by_chance else ""
        return f"{_answer_text(judged)}{_where(judged)}{could} {text}{more}."

    def _row(self, diagnosis: Diagnosis, judged: Judgement) -> tuple[Value, ...]:
        """Return the sentence of a mistake, and the two calculations or shapes that it compares if this is no hint."""
        text = self.text(diagnosis, judged)
        if self.hint or judged.value:
            return (text,)
        if not isinstance(judged.answer, GivenNumber):
            return text, _answer(judged), _right(judged)
        return text, _sum(diagnosis.yours), _sum(diagnosis.right)

    def _remarks(self, *, table: bool = False) -> Iterator[str]:
        """Yield the sentences beside mistakes; table: without those that are in its column of mistakes."""
        yield from _rule(self.answer.quantity)
        if self.answer.quantity in ("multiply-adds", "flops") and not self.hint:
            from rnncalc.reports.counters import on_counters  # few answers are about them

            yield from on_counters(self.answer)
        for each in self.answer.judged:
            yield from _on_number(each, self.answer, hint=self.hint)
            yield from () if table else _instead(each, self.answer, hint=self.hint)
        *layers, last = self.answer.judged
        if last.is_total and not last.right and len(layers) > 1 and all(each.layer and each.right for each in layers):
            yield "Each layer is correct, and the sum is not."
        if not all(each.explained for each in self.answer.judged):
            yield f"Mistakes are looked for in the first {MOST_EXPLAINED} wrong numbers."
        if self.answer.quantity == "values":
            yield from _on_values(self.answer.judged)
        elif layers and not table and self.answer.wrong and self.answer.wrong.layer:
            yield f"The first wrong layer is {self.answer.wrong.layer}."
        if self.answer.right_in:
            yield f"Every shape is correct with --notation {self.answer.right_in}."
        if not self.hint and any(each.formula is not None for each in self.answer.judged):
            from rnncalc.reports.count import on_conditions  # needed in letters alone

            yield from on_conditions(self.answer.network.stack)

    def _mistake(self, diagnosis: Diagnosis, judged: Judgement) -> dict[str, Any]:
        """Return a mistake as data; in a hint without its id and its layer, which say more than the sentence does."""
        text, returned, by_chance = self.text(diagnosis, judged), judged.returned or judged.value, diagnosis.by_chance
        if self.hint:
            return {"text": text, "layer": judged.layer, "tensor": judged.tensor, "by_chance": by_chance}
        return {
            "id": diagnosis.id,
            "text": text,
            "params": None if returned else diagnosis.params,
            "layer": diagnosis.layer,
            "tensor": judged.tensor,
            "by_chance": by_chance,
            "arithmetic": _answer_text(judged) if returned else write(diagnosis.yours),
            "right": str(_right(judged)) if returned else write(diagnosis.right),
        }

    def _mistakes(self) -> Iterator[Sheet]:
        """Yield for each wrong number the likeliest mistake behind it, then the others, guesses last."""
        for each in self.answer.judged:
            diagnoses = sorted(self.diagnoses(each), key=lambda diagnosis: diagnosis.by_chance)
            if not diagnoses:
                continue
            first, *others = diagnoses
            how = "Hint on" if self.hint else f"How you {'could ' * first.by_chance}get"
            title = f"{how} {_answer_text(each)}{_where(each)}"
            also = (*_also(each, hint=self.hint),)
            below = also if others and not first.by_chance else ()  # what calls all of them a guess is with the first
            yield self._reasons(each, [first], title, () if below else also)
            if others:
                yield self._reasons(each, others, "Also possible", below)

    def _reasons(self, judged: Judgement, diagnoses: list[Diagnosis], title: str, notes: tuple[str, ...]) -> Sheet:
        """Return a mistake in sentences, or several in a table."""
        of_number = isinstance(judged.answer, GivenNumber)
        sums = ("Your calculation", "Correct calculation") if of_number else ("Yours", "Correct")
        rows = [self._row(diagnosis, judged) for diagnosis in diagnoses]
        if all(isinstance(value, int) for row in rows for value in row[1:]):  # no calculations; the verdict has both
            rows = [row[:1] for row in rows]
        both = [f"{word}: {_in_words(value)}" for word, value in zip(sums, rows[0][1:], strict=False)]
        if len(rows) == 1 and all(len(line) <= LONG for line in both):
            return Sheet((), (), title=title, notes=(self._in_full(diagnoses[0], judged), *both, *notes))
        columns = (Column("Mistake", key=True), *(Column(word, together=True) for word in sums[: len(rows[0]) - 1]))
        mixed = {diagnosis.by_chance for diagnosis in judged.diagnoses} == {True, False}
        guesses = [" (a guess)" * (mixed and diagnosis.by_chance) for diagnosis in diagnoses]
        marked = [(f"{row[0]}{guess}", *row[1:]) for row, guess in zip(rows, guesses, strict=True)]
        return Sheet(columns, marked, title=title, notes=notes)


def _table(*columns: tuple[Column, Iterable[Value] | None]) -> tuple[tuple[Column, ...], list[Row]]:
    """Return the columns that have values, and the rows."""
    filled = [(column, values) for column, values in columns if values is not None]
    return tuple([column for column, _ in filled]), [*zip(*[values for _, values in filled], strict=True)]


_EQUATED = "is equated with another number"
"""What is false in a correct answer with a chain of equations."""


def mistake_of(answer: Answer, *, hint: bool = False) -> str:
    """Return the first mistake of an answer in a few words; nothing if none is known.

    The layer or tensor is named if it is one of several. hint: whether it is a question on what is wrong.
    """
    wrong = answer.wrong
    if wrong is None:
        texts = [_of_layer(each, _briefly(each, answer, hint=hint, row=True)) for each in answer.flaws]
        return "; ".join(dict.fromkeys(texts))
    text = _briefly(wrong, answer, hint=hint)
    return _of_layer(wrong, text) if text else ""


def _briefly(judged: Judgement, answer: Answer, *, hint: bool, row: bool = False) -> str:
    """Return the first mistake in a number in a few words; nothing if it is correct, or none is known.

    row: whether it is for a row of a table: up to its first colon, also that none is known or that it is a guess.
    """
    if judged.right:
        return "" if judged.true else _EQUATED
    if judged.follows:
        return f"{'repeats the mistake in' if judged.repeats else 'follows from'} {judged.follows}"
    could = "could be: " * (row and judged.by_chance and not hint)
    end = "[:;]" if row else r"\Z"
    if judged.slips:
        return "goes wrong after the correct number"
    if judged.other_size:  # no single mistake gives the number, and fewer numbers are another size's than a pair's
        return could + (_hint("widths", "") if hint else f"takes {_size(judged.other_size)}")
    if row and hint and (judged.diagnoses or judged.meant):
        return f"look at the {(judged.diagnoses[0].mistakes if judged.diagnoses else judged.meant)[0].subject}"
    if judged.diagnoses:
        return could + re.split(end, AnswerReport(answer, hint=hint).text(judged.diagnoses[0], judged))[0]
    if judged.meant:
        return could + (_hint(judged.meant[0].subject, answer.quantity) if hint else judged.meant[0].text)
    if not row or not judged.explained:
        return ""
    return "rounded to one digit, too coarse to judge" if judged.number.one_digit else "no known mistake"


def _false(judged: Judgement) -> str:
    """Return what is false in a correct answer."""
    if not judged.right:
        return f"{_answer_text(judged)}{_where(judged)} is wrong"
    return "an equation is not true"


def _of_layer(judged: Judgement, text: str) -> str:
    return f"{judged.label}: {text}" if judged.label else text


def feedback_on(answer: Answer, *, hint: bool = False) -> str:
    """Return the feedback for a student: the verdict, and the likeliest mistake behind each wrong number.

    Another size is named alone, as in `mistake_of`.
    """
    judged = tuple(each._replace(diagnoses=each.diagnoses[: 0 if each.other_size else 1]) for each in answer.judged)
    return " ".join(AnswerReport(answer.replace(judged=judged), hint=hint).sentences())


LONG = 500
"""A calculation of more characters is in a table, which cuts none."""


HINT_QUESTIONS: Mapping[Subject, str] = {
    "activation": "which function is used, and on what",
    "attention": "which matrices and vectors does it have, and how wide is what it reads",
    "biases": "how many vectors does each block have, and how many numbers is each",
    "bytes": "how many does each number take",
    "chain rule": "which factors does it have at each step, and which steps does the gradient pass",
    "convention": "which framework's parameters are counted",
    "directions": "how many are there, and how wide is the output of both",
    "embedding": "which tables are there, and how many times is each counted",
    "gates": "how many blocks does the cell have, and what does each read",
    "kernel": "which places and features does a filter read",
    "loss": "what is it the sum or the mean of, and which factors and signs does it have",
    "layers": "which are counted, how many times, and what does each read",
    "normalisation": "which arrays does it have, and are they parameters",
    "output layer": "what does it read, and how many times is it counted",
    "pairs of steps": "which of them are computed, and how often",
    "parts": "which part does the label name, and which part has this number",
    "peepholes": "which gates have one, and how many numbers is it",
    "projections": "which are there, and how large is each",
    "recurrence": "what does the cell read of its past, and how large is that matrix",
    "shape": "how many axes does it have, what is each, and how long is it",
    "matrices of the product": "which matrix multiplies which vector, and which way round is it",
    "roles of the gates": "which vector does each gate multiply, and where",
    "step": "which step's input and state are read",
    "sum": "which products and biases does it have",
    "value": "is it the value that is asked for, with its sign and in its shape",
    "states": "which are there, and are they parameters",
    "steps": "which weights does each step use, and what does it read",
    "widths": "how many numbers does each layer read, and how many does it output",
}
"""What a hint asks on a subject."""


def _hint(subject: Subject, quantity: str) -> str:
    """Return what a hint says of a mistake: a question on its subject, or that the number is another quantity."""
    return _another(quantity) if subject == "quantity" else f"Look at the {subject}: {HINT_QUESTIONS[subject]}?"


def _another(quantity: str) -> str:
    names = {"params": "parameters", "flops": "FLOPs", "saved": "saved activations", "state": "numbers of the state"}
    return f"This is another quantity of the network: {names.get(quantity, quantity)} are asked for."


def _right(judged: Judgement) -> Value:
    if judged.value:
        return judged.value.correct
    if judged.returned:
        return shape_text(judged.returned)
    if judged.formula is not None:
        text = letters(judged.formula)
        return Arithmetic(text, text)
    return cell(judged.params) if isinstance(judged.answer, GivenNumber) else judged.shape


def _difference(more: int) -> str:
    return f"{abs(more):,} {'more' if more > 0 else 'less'} than"


def _in_words(value: Value) -> str:
    match value:
        case Arithmetic():
            return f"{value.letters} = {value.numbers}"
        case int():
            return f"{value:,}"
        case tuple():
            return bracketed(value)
    return str(value)


def _answer(judged: Judgement) -> int | tuple[int, ...] | str:
    if judged.value:
        return judged.value.text
    match judged.answer:
        case GivenShape(sizes) if judged.returned:
            return f"({', '.join(map(str, sizes))})"
        case GivenNumber(number, text=text):
            return text if has_letters(number) else number
        case shape:
            return shape.sizes


def _answer_text(judged: Judgement) -> str:
    answer = _answer(judged)
    return f"{answer:,}" if isinstance(answer, int) else answer if isinstance(answer, str) else bracketed(answer)


def _where(judged: Judgement) -> str:
    tensor = f" for {judged.tensor}" if judged.tensor else ""
    return f"{tensor} in {judged.layer}" if judged.layer else tensor


def _sentence(diagnosis: Diagnosis) -> str:
    text = ", and ".join(mistake.text for mistake in diagnosis.mistakes)
    if not diagnosis.alone:
        return text
    first, last = diagnosis.alone
    return f"{text}, in {first} alone" if first == last else f"{text}, in one of {first} to {last} alone"


def _sum(expression: Expression) -> Value:
    if isinstance(expression, Plus | Times):
        return Arithmetic(write(expression), f"{value(expression, {}):,}")
    return expression if isinstance(expression, int) else str(expression)


ORDERS = {
    AxisOrder.STEPS_FIRST: "correct with the steps before the batch",
    AxisOrder.BATCH_FIRST: "correct with the batch first",
    AxisOrder.NO_BATCH: "correct for one sequence without the axis of a batch",
    AxisOrder.BATCH_AS_STEPS: "correct for a batch as large as the number of steps; only the last step is returned",
}
"""The remark on a correct shape whose axes are not in the usual order."""


def _on_number(judged: Judgement, whole: Answer, *, hint: bool) -> Iterator[str]:
    """Yield the sentences on how one number is written and read."""
    answer, network = judged.number, whole.network
    if judged.order in ORDERS:
        yield f"{judged.tensor}: {_answer_text(judged)} is {ORDERS[judged.order]}."
    if answer.untrue:
        before = "; the number before it is correct" if judged.slips else ""
        yield f"In '{escape(answer.text, 200)}' the {answer.untrue} is not true{before}."
    if answer.aside:
        yield f"{escape(answer.aside)} is an order of growth; only the number is judged."
    if judged.kind:
        cell = next(placed for placed in network.stack if isinstance(placed.layer, Cell))
        yield f"{cell.name} is of the kind {cell.kind}, not {judged.kind}."
    if answer.rounding and not judged.right:
        yield f"{escape(answer.rounding, 200)} rounds {_answer_text(judged)}; {_answer_text(judged)} is judged."
    if judged.rounded:
        yield f"{answer.text} is correct, rounded{'' if hint else f': the exact number is {judged.params:,}'}."
        if answer.one_digit:
            yield "One digit is too few to tell a correct count from a wrong one; give two digits or more."
    elif answer.unit > 1 and not judged.right:
        least, most = answer.meant
        rounded = "rounded to one digit: it may be" if answer.one_digit else "read as rounded:"
        yield f"{answer.text} is {rounded} any number from {least:,} to {most:,}."
        if answer.one_digit:
            yield "One digit is too coarse to look for a mistake; give two digits or more."


def _instead(judged: Judgement, whole: Answer, *, hint: bool) -> Iterator[str]:
    """Yield the sentences on one number that has no listed mistakes."""
    network = whole.network
    if judged.follows and not (judged.value and not judged.repeats):
        how = "repeats" if judged.repeats else "follows from"
        yield f"{judged.label or 'Total'}: {_answer_text(judged)} {how} the mistake in {judged.follows}."
    elif not (judged.right or judged.slips or judged.diagnoses or judged.number.one_digit) and judged.explained:
        where = f"{judged.label}: {_answer_text(judged)}" if judged.label else "This"
        if judged.meant and hint:
            yield _of_layer(judged, _hint(judged.meant[0].subject, whole.quantity))
            return
        yield from (f"{where}{_on_rounding(judged)} {meaning.text}." for meaning in judged.meant)
        if not judged.meant:
            yield _unexplained(judged, hint=hint)
            if not hint and not judged.layer and not judged.other_size and judged.params == network.params:
                layers = sum(1 for placed in network.stack if placed.params)
                answers = "numbers" if judged.formula is None else "formulas"
                several = f"; give {layers} {answers}, one for each layer in order, to see which layer is wrong"
                more = several if 1 < layers <= MOST_JUDGED else ""
                yield f"rnncalc explain derives the correct count step by step{more}."


def _also(judged: Judgement, *, hint: bool) -> Iterator[str]:
    """Yield the sentences on one number that come after its mistakes."""
    if not judged.diagnoses:
        return
    if all(len(diagnosis.mistakes) > 1 for diagnosis in judged.diagnoses):
        number = _answer_text(judged)
        yield f"A guess: no single known mistake gives {number}; two together do, which may be a coincidence."
    elif judged.by_chance and judged.value:
        yield f"A guess: {_answer_text(judged)} is near many values that mistakes give, or has too few digits."
    elif judged.by_chance:
        yield f"A guess: known mistakes give many of the numbers near {_answer_text(judged)}."
    number = f"{_answer_text(judged)}{_on_rounding(judged)}"
    yield from (f"Also, {number} {meaning.text}." for meaning in (() if hint else judged.meant))
    if judged.other_size and not hint:
        yield in_full(f"{_size(judged.other_size)} would also give {_answer_text(judged)}")


def _on_values(judged: tuple[Judgement, ...]) -> Iterator[str]:
    """Yield what is said of several values of a pass: those that follow from wrong ones, and those that are rounded."""
    follow: dict[str, list[str]] = {}
    several = Counter(each.tensor for each in judged)

    def name(each: Judgement) -> str:
        return f"{each.layer} {each.tensor}" if each.layer and several[each.tensor] > 1 else each.tensor or ""

    for each in judged:
        if each.follows and not each.repeats:
            follow.setdefault(each.follows, []).append(name(each))
    for first, others in follow.items():
        yield f"{first} is wrong; {all_of(others)} {'follow' if others[1:] else 'follows'} from it correctly."
    rounded = [name(each) for each in judged if each.value and each.value.rounded]
    if rounded:
        yield f"{all_of(rounded)} {'are' if rounded[1:] else 'is'} correct; steps in between were rounded."
    coarse = [name(each) for each in judged if each.value and each.value.coarse]
    if coarse:
        more = f"give two digits or more of {all_of(coarse)}"
        yield f"One digit is too few to tell a correct value from a wrong one; {more}."


def _on_rounding(judged: Judgement) -> str:
    return " (rounded)" * (judged.number.unit > 1)


def _unexplained(judged: Judgement, *, hint: bool) -> str:
    text = _of_layer(judged, f"{'n' if judged.label else 'N'}o known mistake gives {_answer_text(judged)}")
    if judged.other_size and hint:
        return f"{text}. {_hint('widths', '')}"
    if judged.other_size:
        return f"{text}, but {_size(judged.other_size)} would give {judged.other_size.params:,}."
    if isinstance(judged.answer, GivenNumber) and not hint:
        if has_letters(judged.difference):
            return f"{text}; the correct formula minus this one is {-judged.difference}."
        if judged.layer:
            return f"{text}, {_difference(judged.difference)} the correct one."
    return f"{text}."


def _size(other: OtherSize) -> str:
    part, place, option = other.at
    where = f" of the {part}" if part else ""
    if place is None:
        return f"an input{where} of {other.size:,} instead of {other.right:,}"
    letter = {"units": "h", "projection": "p"}[option]
    return f"{letter} = {other.size:,} instead of {other.right:,} in layer {place + 1}{where}"


_SIGNS = {True: "✓", False: "✗", None: "?"}


def _rule(quantity: str) -> Iterator[str]:
    """Yield how a quantity is counted; parameters need no sentence."""
    if quantity not in ("params", "values"):
        from rnncalc.answers.asked import ASKED  # which few answers need

        yield ASKED[quantity].rule


class GradebookReport(SheetReport, DataReport, RecordReport):
    """The grades of a class as data, as tables, and as the rows of the file with more columns.

    hint: whether the feedback has the kind of mistake in words alone, as in the report of one answer.
    points: the most points of an answer; None if there are none.
    """

    listed_as = "grades"
    book: Gradebook
    title: str = ""
    subtitle: str = ""
    hint: bool = False
    points: float | None = None

    def data(self) -> Iterator[dict[str, Any]]:
        for grade, mistake, feedback in self._graded():
            row = grade.row
            yield {
                "row": row.line,
                "name": row.name,
                "answers": [*row.answers],
                "right": grade.right,
                "mistake": mistake or None,
                "by_chance": grade.by_chance,
                "variant_answered": grade.variant_answered,
                "feedback": feedback,
                "variant": row.variant or None,
            } | {
                **({} if self.hint else {"right_answer": grade.correct}),
                **({} if self.points is None else {"points": self._points(grade)}),
            }

    def beside(self) -> dict[str, Any]:
        """Return the quantity, how many are correct, and the mistakes by frequency."""
        mistakes = [{"text": text, "count": count} for text, count in self._frequencies()]
        return {"of": self._quantity, "number_right": self.book.number_right, "mistakes": mistakes}

    @property
    def _quantity(self) -> str:
        """What is asked for; of answers that could not be read it is not known, and there is no rule to tell."""
        return next((grade.answer.quantity for grade in self.book.grades if grade.answer), "params")

    @property
    def separator(self) -> str:
        return self.book.file.separator

    @property
    def beginning(self) -> str:
        return self.book.file.beginning

    def records(self) -> tuple[tuple[str, ...], Iterable[Row]]:
        """Return the columns and rows of the file, each with its grade."""
        from rnncalc.answers.gradebook import OWN_COLUMNS, VARIANT

        in_order = [VARIANT] * (self.book.file.variants_by == "")
        correct, mistake_, feedback_, right_answer, points = OWN_COLUMNS
        more = {right_answer: self._correct, points: self.points is not None}
        comma = self.separator == ";"  # whose spreadsheets take 1.5 for a day in May
        rows = (
            (
                *(*grade.row.cells, *[grade.row.variant for _ in in_order]),
                *("" if grade.right is None else grade.right, _in_short(grade, mistake), feedback),
                *[_correct_answer(grade)] * more[right_answer],
                *[_points_text(self._points(grade)).replace(".", "," if comma else ".")] * more[points],
            )
            for grade, mistake, feedback in self._graded()
        )
        columns = (correct, mistake_, feedback_, *(title for title in more if more[title]))
        return (*self.book.file.columns, *in_order, *columns), rows

    def _points(self, grade: Grade) -> float | None:
        """Return the points of a grade to two digits; None if it cannot be read, or there are none."""
        points = None if self.points is None else grade.points(self.points)
        return None if points is None else round(points, 2)

    @cached_property
    def _correct(self) -> bool:
        """Whether each row has the correct answer of its variant."""
        return not self.hint and any(grade.correct is not None for grade in self.book.grades)

    def sheets(self, *, feedback: bool = False) -> list[Sheet]:
        """Return the grades, and how often there are which results, points and mistakes.

        feedback: whether the feedback is in each row.
        """
        by, by_variant = self.book.file.variants_by, any(grade.row.variant for grade in self.book.grades)
        texts = max([len(text) for grade in self.book.grades for text in grade.row.answers], default=0) > LONG_CELL
        grades = self.book.grades
        mistakes = zip(grades, self._mistakes, strict=True)
        columns, rows = _table(
            (Column("", key=True), [_SIGNS[grade.right] for grade in grades]),
            (Column("Line", right=True, together=True), [grade.row.line for grade in grades]),
            (Column("Name", key=True), [grade.row.name for grade in grades]),
            (
                Column("Variant", right=True, together=True),
                [grade.row.variant for grade in grades] if by_variant else None,
            ),
            *(
                (Column(title, right=not texts, together=True), [grade.row.answers[at] for grade in grades])
                for at, title in enumerate(self.book.file.asked)
            ),
            (Column("Correct", right=True, together=True), map(_correct_answer, grades) if self._correct else None),
            (
                Column("Points", right=True, together=True),
                None if self.points is None else [_points_text(self._points(grade)) for grade in grades],
            ),
            (
                Column("First mistake", together=True),
                ["could not be read" if grade.problem else _in_short(grade, mistake) for grade, mistake in mistakes],
            ),
            (Column("Feedback"), [text for *_, text in self._graded()] if feedback else None),
        )
        results = Counter(map(_result, self.book.grades))
        points = Counter([points for points in map(self._points, self.book.grades) if points is not None])
        average = sum(points.elements()) / points.total() if points else 0
        mean = f"; {round(average, 2):g} of {self.points:g} points on average" if points else ""
        correct = f"{self.book.number_right:,} of {plural(len(self.book.grades), 'answer')} correct{mean}."
        notes = [*_rule(self._quantity), correct]
        notes += [f"Variants are those of the column {escape(by)}."] if by else []
        notes += ["The first row is graded as variant 1, the second as variant 2, and so on."] if by == "" else []
        notes += self._signs().values()
        if guesses := sum(1 for grade in self.book.grades if grade.by_chance and not grade.variant_answered):
            notes.append(f"Guesses, which are not counted below: {guesses:,}.")
        warnings = [f"Line {line}: {text}." for line, text in self.warnings()]
        notes += [
            *warnings[:MOST_PROBLEMS],
            *[f"{len(warnings) - MOST_PROBLEMS:,} more."][: len(warnings) > MOST_PROBLEMS],
        ]
        return [
            Sheet(columns, rows, title=self.title, subtitle=self.subtitle, notes=tuple(notes)),
            *_histogram("Results", "Result", [(each, results[each]) for each in RESULTS if results[each]]),
            *_histogram("Points", "Points", [(_points_text(each), points[each]) for each in sorted(points)[::-1]]),
            *_histogram("Mistakes by frequency", "Mistake", self._frequencies()),
        ]

    def page(self) -> list[Sheet]:
        """Return the tables, with the feedback in each row."""
        return self.sheets(feedback=True)

    def _signs(self) -> dict[str, str]:
        """Return what to say of a number that is read with the decimal sign of another, by its text."""
        signs = [sign for sign in self.book.signs if sign.unsure]
        verb = "is read with the decimal sign of"
        return {sign.unsure: f"{escape(sign.unsure)} {verb} {escape(sign.shown)}." for sign in signs}

    def warnings(self) -> Iterator[tuple[int, str]]:
        """Yield the warnings about single rows, each with its line."""
        for grade in self.book.grades:
            if grade.problem:
                yield grade.row.line, grade.problem
        for grade, first in self.book.repeated():
            yield grade.row.line, f"'{escape(grade.row.name)}' is in line {first.row.line} too; both are graded"

    def _graded(self) -> Iterator[tuple[Grade, str, str]]:
        """Yield each grade with the first mistake in a few words, and the feedback."""
        signs = {} if self.hint else self._signs()  # the other number may be correct
        for grade, mistake, words in zip(self.book.grades, self._mistakes, self._words(feedback_on), strict=True):
            feedback = words or (f"Not judged: {grade.problem}." if grade.problem else "No answer.")
            if grade.answer and grade.unanswered:
                text = "The rest is correct." if grade.answer.right else feedback
                feedback = f"No answer in {all_of([*map(escape, grade.unanswered)])}. {text}"
            if grade.variant_answered:
                feedback = f"Wrong: this answers variant {grade.variant_answered}."
            sentences = [sentence for text, sentence in signs.items() if text in grade.row.answers]
            yield grade, mistake, " ".join([feedback, *sentences])

    @cached_property
    def _mistakes(self) -> Sequence[str]:
        """The first mistake of each grade in a few words."""
        return [*self._words(mistake_of)]

    def _words(self, of_answer: Callable[..., str]) -> Iterator[str]:
        """Yield what is written of the answer of each grade, once for equal ones; nothing without an answer."""
        words: dict[int, str] = {}
        for grade in self.book.grades:
            if grade.answer is not None and id(grade.answer) not in words:
                words[id(grade.answer)] = of_answer(grade.answer, hint=self.hint)
            yield words.get(id(grade.answer), "")

    def _frequencies(self) -> list[tuple[str, int]]:
        """Return the first mistakes that are no guesses and make an answer wrong, the most frequent first."""
        wrong = (
            text.removeprefix(f"{grade.answer.wrong.label}: ")
            for grade, text in zip(self.book.grades, self._mistakes, strict=True)
            if grade.answer and grade.answer.wrong and not (grade.right or grade.by_chance or grade.variant_answered)
        )
        return Counter(filter(None, wrong)).most_common()


LONG_CELL = 20
"""An answer of more characters is words, which are aligned left and folded."""

RESULTS = (
    "correct",
    "correct, but not all of it",
    "incomplete",
    "wrong",
    "of another variant",
    "not read",
    "no answer",
)
"""What an answer of a class may be."""


def _result(grade: Grade) -> str:
    """Return which of RESULTS a grade is."""
    correct, flawed, incomplete, wrong, of_another, unread, empty = RESULTS
    if not grade.answer:
        return unread if grade.problem else empty
    if grade.variant_answered:
        return of_another
    if not grade.answer.right:
        return wrong
    return incomplete if grade.unanswered else flawed if grade.answer.flaws else correct


def _histogram(title: str, column: str, counts: Sequence[tuple[str, int]]) -> Iterator[Sheet]:
    """Yield a table with a bar for each number, unless there is none."""
    if counts:
        bars, scale = bars_of([count for _, count in counts])
        rows: list[Row] = [(*each, bar) for each, bar in zip(counts, bars, strict=True)]
        columns = (Column(column, key=True), Column("Students", right=True, together=True), Column("", together=True))
        yield Sheet(columns, rows, title=title, notes=scale)


def _points_text(points: float | None) -> str:
    """Return points with at most two digits; nothing without any."""
    return "" if points is None else f"{points:g}"


def _correct_answer(grade: Grade) -> str:
    """Return the correct answer of a variant as text: numbers, a formula, or shapes; empty without a variant."""
    answers = grade.correct if isinstance(grade.correct, list) else [grade.correct] * (grade.correct is not None)
    return ", ".join(bracketed(tuple(each)) if isinstance(each, list) else str(each) for each in answers)


def _in_short(grade: Grade, mistake: str) -> str:
    """Return the first mistake of a grade, a guess as a guess, or why it has none."""
    wrong = grade.answer.wrong if grade.answer else None
    if grade.variant_answered:
        return f"answers variant {grade.variant_answered}"
    if not grade.answer:
        return grade.problem or "gives no answer"
    texts = [f"{'could be: ' * grade.by_chance}{mistake}"] if mistake else []
    if wrong and not mistake:
        texts = [_of_layer(wrong, _briefly(wrong, grade.answer, hint=False, row=True))]
    if grade.unanswered:
        texts.append(f"gives no answer in {all_of([*map(escape, grade.unanswered)])}")
    return "; ".join(texts)
