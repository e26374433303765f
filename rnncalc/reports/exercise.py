"""The report of `exercise`: the question in words, the correct answers, and feedback on each known wrong answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any, ClassVar

from rnncalc.answers.asked import ASKED
from rnncalc.answers.exercise import DECIMALS, TOLERANCE, Answered, Exercise, ExerciseSet, Item, answered
from rnncalc.answers.judgement import Answer, Judgement
from rnncalc.conventions import convention
from rnncalc.forward.arrays import flat, shape_of
from rnncalc.layers.decoder_attention import DecoderAttention
from rnncalc.layers.layer import Embedding, External, Layer
from rnncalc.network.network import Network
from rnncalc.network.parts import Part, Topology, reads_many
from rnncalc.network.writer import spec_of
from rnncalc.questions.count import condition_of
from rnncalc.questions.work import work
from rnncalc.reports.answer import AnswerReport
from rnncalc.reports.explain import in_words
from rnncalc.reports.report import DataReport, LinkReport, QuizReport, SheetReport
from rnncalc.reports.work import WorkReport
from rnncalc.typeset.equations import Block, WorkLine, plain, plain_piece
from rnncalc.typeset.setting import biases_of, title
from rnncalc.typeset.sheet import ANSWERS, Column, Quiz, QuizAnswer, QuizQuestion, Sheet, key_columns
from rnncalc.words import all_of, bracketed, plural

QUESTIONS = {
    "total": "How many parameters does the network have?",
    "layers": "How many parameters does the layer {layer} have?",
    "tensors": "Which shape does the tensor {tensor} of the layer {layer} have?",
    "multiply-adds": "How many multiply-adds (MACs) does one pass over one sequence take?",
    "flops": "How many floating-point operations (FLOPs) does one forward pass over one sequence take?",
    "bytes": "How many bytes do the parameters take in float32?",
    "state": "How many numbers are carried from one step to the next?",
    "saved": "How many activations are saved for the backward pass over one sequence?",
    "formula": "Which formula gives the number of parameters of the network?",
}
OF_ALL = {"layers": "How many parameters does each layer have?", "tensors": "Which shape does each tensor have?"}
"""The question about all layers, or all tensors, at once."""


class ExerciseReport(SheetReport, DataReport, QuizReport):
    """Exercises as sheets, as questions of a quiz, and as data.

    sheet: whether the questions are written. key: whether the answers are written.
    """

    listed_as: ClassVar[str] = "exercises"

    exercises: tuple[Exercise, ...]
    sheet: bool = True
    key: bool = True

    def data(self) -> Iterator[dict[str, Any]]:
        for exercise in self.exercises:
            numbers, sentences = _beginning(exercise)
            layers = "; ".join([*_lines(exercise.network), *numbers])
            choices = [
                [[*each] if isinstance(each, tuple) else each for each in item.choices] for item in exercise.items
            ]
            yield {
                "variant": exercise.variant,
                "text": f"{_reading(exercise.network)} {layers}. {sentences} {_question(exercise)}",
                "spec": _spec(exercise),
                "asks": exercise.asks,
                **_of_values(exercise),
                "right_answer": exercise.right_answer,
                "choices": choices if exercise.asks in OF_ALL or exercise.data else choices[0],  # a list for each item
                "mistakes": [
                    {
                        **{key: name for key in ("layer", "tensor") if (name := getattr(item, key)) is not None},
                        "answer": wrong.value.numbers if wrong.value else _plain(answered(wrong)),
                        "feedback": feedback(exercise, wrong),
                    }
                    for item in exercise.items
                    for wrong in item.wrong
                ],
            }

    def quiz(self) -> Quiz:
        questions = tuple(chain.from_iterable(map(_questions, self.exercises)))
        heading = title(*(each.network for each in self.exercises))
        passes = [each for each in self.exercises if each.data]
        tasks = {each.variant: _task(each) for each in passes if self.sheet}
        steps = {each.variant: _worked(each).steps() for each in passes if self.key}
        return Quiz(heading, questions, self.sheet, self.key, tasks, steps)

    def sheets(self) -> list[Sheet]:
        """Return for each variant a sheet with the questions, and then, below one heading, for each the answers."""
        sheets: list[Sheet] = []
        answers: list[Sheet] = []
        for exercise in self.exercises:
            questions, title, several = [*_questions(exercise)], _title(exercise), len(exercise.items) > 1
            asked = [(each.question,) * several + (*map(each.label, each.choices),) for each in questions]
            notes = (_counting(exercise), *(line for lines in asked for line in lines))
            columns, rows = (*key_columns("Layer"), Column("What it is")), [*_layers(exercise.network)]
            head = Sheet(columns, rows, title=title, subtitle=_reading(exercise.network))
            task = (_task(exercise) if self.sheet else []) or [head]
            sheets += [head] * bool(exercise.data)
            sheets += [*task[:-1], task[-1].replace(notes=(*task[-1].notes, *notes))]
            for each in questions:
                rows = [(each.label(answer), answer.feedback) for answer in (each.right, *each.likeliest)]
                columns, subtitle = (*key_columns("Answer"), Column("Feedback")), each.question * several
                answers.append(Sheet(columns, rows, title=title, subtitle=subtitle))
                title = ""
            answers += _worked(exercise).steps() if exercise.data and self.key else []
        return [*sheets * self.sheet, *[Sheet((), (), title=ANSWERS), *answers] * self.key]


def _title(exercise: Exercise) -> str:
    return f"Variant {exercise.variant}: {_question(exercise)}"


def _question(exercise: Exercise) -> str:
    """Return the question about all that is asked for."""
    if not exercise.data:
        return OF_ALL.get(exercise.asks) or QUESTIONS[exercise.asks]
    names = [*map(_label, exercise.items)]
    return f"What {'are' if names[1:] else 'is'} {all_of(names)}?"


class ExerciseLinkReport(LinkReport):
    """A link to an exercise: the network, what varies as `--vary` takes it, the seed and the question; no answer."""

    site: str
    network: Network
    vary: tuple[str, ...]
    seed: int
    ask: str

    def link(self) -> tuple[str, dict[str, str]]:
        spec = spec_of(self.network.replace(source=None))
        shown = {"form": "yaml", "network": json.dumps(spec, ensure_ascii=False), "ask": self.ask}
        return self.site, shown | {"vary": "\n".join(self.vary), "seed": str(self.seed)}


def of_exercises(exercises: ExerciseSet) -> ExerciseReport:
    """Return the report of a set of exercises."""
    return ExerciseReport(exercises.exercises)


def _plain(answer: Answered) -> Any:
    return [*answer] if isinstance(answer, tuple) else answer


# Values of a pass


def _label(item: Item) -> str:
    """Return the name of a value, with its layer if there are several."""
    return f"{item.tensor} of {item.layer}" if item.layer else str(item.tensor)


def _worked(exercise: Exercise) -> WorkReport:
    """Return the pass of an exercise, worked by hand."""
    data: Any = exercise.data
    done = work(exercise.network, **data._asdict(), backward=exercise.loss is not None, loss=exercise.loss)
    return WorkReport(done, DECIMALS)


def _task(exercise: Exercise) -> list[Sheet]:
    """Return what a pass begins with, if values of one are asked for."""
    return _worked(exercise).task(exercise.data.inputs or {}) if exercise.data else []


def _spec(exercise: Exercise) -> dict[str, Any]:
    """Return the spec of a variant, with the numbers of a pass."""
    data = {key: each for key, each in exercise.data._asdict().items() if each is not None} if exercise.data else {}
    inputs = data.get("inputs", {})
    return spec_of(exercise.network) | data | ({"inputs": inputs[None]} if None in inputs else {})


def _of_values(exercise: Exercise) -> dict[str, Any]:
    """Return the names of the values that are asked for, and the loss of gradients."""
    names = [".".join(filter(None, (item.layer, item.tensor))) for item in exercise.items]
    return {"values": names, "loss": exercise.loss} if exercise.data else {}


def _beginning(exercise: Exercise) -> tuple[tuple[str, ...], str]:
    """Return the equations and the numbers that a pass begins with, a line for each, and what else is given."""
    task = _task(exercise)
    numbers = tuple(text for each in task for text in (*map(plain, each.equations), *map(_in_line, each.work)))
    return numbers, " ".join([*(in_words(note) for each in task for note in each.notes), _counting(exercise)])


def _in_line(line: WorkLine) -> str:
    """Return an equation on one line, a vector as a list and a matrix as that of its rows: `W = ((1, 2), (3, 4))`."""

    def text(piece: Any) -> str:
        if not isinstance(piece, Block):
            return plain_piece(piece)
        rows = [row[0] if len(row) == 1 else f"({', '.join(row)})" for row in piece.rows]
        return f"({', '.join(rows)})" if rows[1:] else rows[0]

    return "".join(map(text, line))


def _entries(question: QuizQuestion, item: Item) -> Iterator[QuizQuestion]:
    """Yield a question for each number of a value, with the wrong ones that are far enough from it."""
    pairs = zip(item.wrong, question.wrong, strict=True)
    wrong = [([*flat(each.value.numbers)], answer.feedback) for each, answer in pairs if each.value]
    shape = shape_of(item.numbers)
    for place, number in enumerate(flat(item.numbers)):
        row, column = divmod(place, shape[-1] if shape else 1)
        at = f"number {column + 1}" if len(shape) < 2 else f"the number in row {row + 1} and column {column + 1}"
        of_others = [(numbers[place], text) for numbers, text in wrong if abs(numbers[place] - number) > 2 * TOLERANCE]
        texts = {f"{other:.{DECIMALS}f}": text for other, text in reversed(of_others)}
        several = len(question.right.text.split(",")) > 1
        yield question.replace(
            group=f"{question.group} {place + 1}" if several else question.group,
            id=f"{question.id}-{place + 1}" if several else question.id,
            question=question.question.replace("What is", f"What is {at} of") if several else question.question,
            numeric=True,
            right=QuizAnswer((f"{number:.{DECIMALS}f}",), question.right.feedback),
            wrong=tuple([QuizAnswer((other,), text) for other, text in reversed(texts.items())]),
        )


def _questions(exercise: Exercise) -> Iterator[QuizQuestion]:
    numbers, sentences = _beginning(exercise)
    for number, item in enumerate(exercise.items, 1):
        answers = {answered(each): feedback(exercise, each) for each in item.wrong}
        wrong = {answer: QuizAnswer(_spellings(answer), text) for answer, text in answers.items()}
        right = QuizAnswer(_spellings(item.right), "Correct.")
        where = " ".join(part for part in (item.layer, item.tensor) if part) or exercise.asks
        asked = f"What is {_label(item)}?" if exercise.data else QUESTIONS[exercise.asks]
        question = QuizQuestion(
            title=title(exercise.network),
            group=where,
            id=f"{exercise.asks}-{number}-{exercise.variant}",
            variant=exercise.variant,
            network=_reading(exercise.network),
            layers=tuple(_lines(exercise.network)),
            convention=sentences,
            counting=_counting(exercise),
            question=asked.format(layer=item.layer, tensor=item.tensor),
            numeric=isinstance(item.right, int),
            right=right,
            wrong=tuple(wrong.values()),
            choices=tuple(right if answer == item.right else wrong[answer] for answer in item.choices),
            numbers=numbers,
            tolerance=TOLERANCE if exercise.data else 0,
        )
        yield question.replace(entries=tuple(_entries(question, item)) if exercise.data and not item.choices else ())


def _spellings(answer: Answered) -> tuple[str, ...]:
    """Return the spellings of an answer that a system that compares text accepts."""
    if isinstance(answer, int):
        return (str(answer),)
    if isinstance(answer, str):
        signs = {"·": "*", "²": "^2", "³": "^3"}
        typed = "".join(signs.get(char, char) for char in answer)
        return tuple(dict.fromkeys((answer, answer.replace(" ", ""), typed, typed.replace(" ", ""))))
    ways = [bracketed(answer), f"({','.join(map(str, answer))})"]
    if len(answer) == 1:
        return (*ways[:1], f"({answer[0]},)", str(answer[0]))
    return (*ways, *(sign.join(map(str, answer)) for sign in ("x", "×", " x ", " × ")))


def feedback(exercise: Exercise, wrong: Judgement) -> str:
    """Return the feedback on a wrong answer: the sentence of `answer` on its likeliest mistake."""
    first = wrong._replace(diagnoses=wrong.diagnoses[:1], shape=wrong.plain_shape)  # as the key has it
    quantity = "values" if exercise.data else "params"
    sentence = next(AnswerReport(Answer(exercise.network, (first,), None, quantity)).reasons())  # remarks follow
    if wrong.value:  # the whole of a matrix is not repeated beside each of its numbers
        where = f" for {wrong.tensor}{f' in {wrong.layer}' if wrong.layer else ''}"
        return f"This{sentence.partition(where)[2]}"
    return sentence


def _reading(network: Network) -> str:
    """Return sentences on what a network reads."""
    sentences = []
    for name, part in network.parts.items():
        who = f"The {name}" if name else f"A {network.topology_name} network"
        sentences.append(f"{who} reads {_input(part, network.topology_of(name))}.")
    return " ".join([*sentences, "Its layers, in order:" if len(sentences) == 1 else "Their layers, in order:"])


def _input(part: Part, topology: str) -> str:
    words = bool(part.layers) and isinstance(part.layers[0], Embedding)
    each = f"a vocabulary of {part.input:,}" if words else plural(part.input, "feature")
    if not reads_many(topology):
        reads = f"one token from {each}" if words else f"one vector of {each}"
        steps = f" and makes {plural(part.steps, 'step')}" if part.steps else ""
        return reads + (steps if topology == Topology.ONE_TO_MANY else "")
    length = plural(part.steps, "step") if part.steps else "a sequence"
    return f"{length} of tokens from {each}" if words else f"{length} of {each}{' each' if part.steps else ' per step'}"


def _layers(network: Network) -> Iterator[tuple[str, str]]:
    """Yield for each layer its name, and in words its kind, its size and its options."""
    for placed in network.stack:
        half = f"{placed.part} " if placed.part else ""
        yield f"{half}{placed.name}", ", ".join(_words(placed.layer))


def _lines(network: Network) -> Iterator[str]:
    """Yield a line for each layer."""
    return (f"{name}: {words}" for name, words in _layers(network))


def _words(layer: Layer) -> Iterator[str]:
    yield layer.title or type(layer).__name__
    if isinstance(layer, External) and layer.tensors:
        yield "with " + ", ".join(f"{name} {' × '.join(map(str, shape))}" for name, shape in layer.tensors)
    elif layer.number and (size := getattr(layer, layer.number)) is not None:
        yield _sized("filters" if layer.grid else layer.number, size)
    if isinstance(layer, DecoderAttention):  # nothing in its name says what is in it
        yield from _attention(layer)
        return
    for option in layer.options():
        value = getattr(layer, option)
        default = layer.defaults.get(option, layer)
        if option in ("name", "path", "repeat", "trainable") or (value == default and option != "kernel"):
            continue
        words = "initial state from a vector of" if option == "initial_state" else option.replace("_", " ")
        if isinstance(value, bool):
            yield words if value else f"no {words}"
        else:
            yield _sized(words, value)


def _attention(layer: DecoderAttention) -> Iterator[str]:
    """Yield what a decoder's attention has, and what reads its context, each also by default."""
    sizes = layer.sizes(0)
    if layer.heads:
        yield from (plural(layer.heads, "head"), f"keys of {sizes['d']} and values of {sizes['v']} each")
        biased = ["each projection"] if layer.bias else []
    else:
        yield from (f"score {layer.scoring}", *([_sized("units", sizes["u"])] if "u" in sizes else ()))
        if layer.scoring == "location":
            words = {"both": "the previous and the cumulative weights", "cumulative": "the cumulative weights"}
            read = words.get(layer.past or "", "the previous weights")
            yield f"{plural(sizes['f'], 'filter')} of {plural(sizes['w'], 'step')} over {read}"
        biased = layer.biased
    yield f"a bias of {all_of(biased)}" if biased else "no biases"
    yield f"query {layer.query} the step" + " of the first recurrent layer" * (layer.layer == "first")
    readers = zip(
        layer.joins, ("the first recurrent layer", f"the layer after the {layer.layer} recurrent one"), strict=True
    )
    yield f"context joined to the input of {all_of([reader for joins, reader in readers if joins])}"


def _sized(words: str, value: Any) -> str:
    """Say an option with its value: `4 heads`, `kernel 3`, `space 8 × 8`."""
    if words.endswith("s") and not isinstance(value, str | float | tuple):
        return plural(value, words.removesuffix("s"))
    return f"{words} {' × '.join(map(str, value)) if isinstance(value, tuple) else value}"


def _counting(exercise: Exercise) -> str:
    """Return how to count what is asked: the convention if it has biases, and the rule of a quantity."""
    network, quantity = exercise.network, ASKED.get(exercise.asks)
    sentences = [quantity.rule] if quantity else [f"Give {DECIMALS} decimals."] if exercise.data else []
    if not sentences or (quantity and quantity.biases):
        row = convention(network.convention)
        note, style = biases_of(network, row), "a textbook" if row.title == "textbook" else row.title
        sentences.insert(0, f"Count as in {style}{': ' * bool(note)}{note}.")
    conditions = [(placed.name, condition_of(placed)) for placed in network.stack]
    sentences += [f"In {name}, {condition.size} ≠ {condition.other}." for name, condition in conditions if condition]
    if network.notation and network.spelling.note:
        sentences.append(f"The notation is {network.notation}: {network.spelling.note}.")
    return " ".join(sentences)
