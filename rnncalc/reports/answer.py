"""What `answer` says: the verdict, and for a wrong number the mistakes that give it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rnncalc.questions.answer.arithmetic import Expression, write
from rnncalc.questions.answer.grading import Answer, Judged
from rnncalc.questions.answer.search import Diagnosis
from rnncalc.questions.answer.sizes import OtherSize
from rnncalc.reports.setting import setting
from rnncalc.reports.sheet import Arithmetic, Column, Sheet, Value


class AnswerReport(NamedTuple):
    """A judged answer as data and as tables."""

    answer: Answer

    def data(self) -> dict[str, Any]:
        """Return the JSON object."""
        judged = self.answer.judged
        numbers = [each.given.number for each in judged]
        params = [each.params for each in judged]
        whole = len(judged) == 1
        return {
            "name": self.answer.network.name,
            "params": params[0] if whole else params,
            "answer": numbers[0] if whole else numbers,
            "right": self.answer.right,
            "mistakes": [_mistake(diagnosis) for each in judged for diagnosis in each.diagnoses],
            "remarks": [*self._remarks()],
        }

    def sheets(self) -> list[Sheet]:
        """Return the verdict, and for a wrong number the mistakes that give it."""
        rows: list[tuple[Value, ...]] = [
            ("✓" if each.right else "✗", each.layer or "Total", each.given.number, each.params)
            for each in self.answer.judged
        ]
        columns = (
            *(Column("", key=True), Column("Layer", key=True)),
            *(Column("Answer", right=True), Column("Right", right=True)),
        )
        verdict = "✓ Right." if self.answer.right else "✗ Not right."
        network = self.answer.network
        notes = (verdict, *self._remarks())
        return [Sheet(columns, rows, title=network.name, subtitle=setting(network), notes=notes), *self._mistakes()]

    def _remarks(self) -> Iterator[str]:
        for each in self.answer.judged:
            if text := _remark(each):
                yield text
        if first := self.answer.first_wrong:
            yield f"The first wrong layer is {first}."

    def _mistakes(self) -> Iterator[Sheet]:
        for each in self.answer.judged:
            if each.diagnoses:
                columns = (Column("The mistake", key=True), Column("Your sum"), Column("The right sum"))
                rows: list[tuple[Value, ...]] = [
                    (_sentence(diagnosis), _sum(diagnosis.yours, diagnosis.params), _sum(diagnosis.right, each.params))
                    for diagnosis in each.diagnoses
                ]
                title = f"What gives {each.given.number:,}" + (f" in {each.layer}" if each.layer else "")
                yield Sheet(columns, rows, title=title)


def _mistake(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "id": diagnosis.id,
        "text": _sentence(diagnosis),
        "params": diagnosis.params,
        "layer": diagnosis.layer,
        "arithmetic": write(diagnosis.yours),
        "right": write(diagnosis.right),
    }


def _sentence(diagnosis: Diagnosis) -> str:
    text = ", and ".join(mistake.text.format(**diagnosis.values) for mistake in diagnosis.mistakes)
    return f"{text}, in {diagnosis.layer} alone" if diagnosis.alone else text


def _sum(expression: Expression, params: int) -> Arithmetic:
    return Arithmetic(write(expression), f"{params:,}")


def _remark(judged: Judged) -> str:
    """Return what is to be said of one number beside its mistakes, or nothing."""
    given, layer = judged.given, judged.layer
    if judged.exact or judged.diagnoses:
        return ""
    if judged.right:
        return f"{given.text} is right as a rounding: exactly it is {judged.params:,}."
    if judged.is_dense:
        return "This is the count of the dense equivalent, which shares no weights over time."
    if judged.other_size:
        return f"No mistake that is known gives this number, but {_size(judged.other_size)} would."
    if judged.follows:
        return f"{layer}: {given.number:,} follows from the mistake in {judged.follows}."
    if layer:
        return f"{layer}: no mistake that is known gives {given.number:,}."
    return "No mistake that is known gives this number."


def _size(other: OtherSize) -> str:
    of = f" of the {other.part}" if other.part else ""
    what = "the input" if other.place is None else f"{other.letter} of layer {other.place + 1}"
    return f"{what}{of} = {other.size:,} in place of {other.right:,}"
