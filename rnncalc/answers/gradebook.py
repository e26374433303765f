"""Grades a class: judges each student's answer to the variant that was asked. Writes no sentences."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from rnncalc.answers.forms import unmarked
from rnncalc.answers.grading import Grader
from rnncalc.answers.judgement import Answer
from rnncalc.answers.reading import Given, GivenNumber, GivenShape, read_answers
from rnncalc.bounds import MAX_BYTES, MOST_STUDENTS
from rnncalc.errors import CallError, Cure, RefusedError
from rnncalc.expressions import NUMBER
from rnncalc.printable import FORMULA, escape
from rnncalc.words import did_you_mean, one_of


class Grade(NamedTuple):
    """A student's answer, judged.

    answer: None if it cannot be judged. problem: the reason; empty if nothing was answered.
    variant_answered: the number of another variant to which a wrong answer is right.
    unanswered: the titles of the empty columns beside answers, or the layers that a single answer leaves out.
    correct: the right answer of its variant, as the exercise has it; None without an exercise.
    """

    row: StudentRow
    answer: Answer | None = None
    problem: str = ""
    variant_answered: int | None = None
    unanswered: tuple[str, ...] = ()
    correct: Any = None

    @property
    def right(self) -> bool | None:
        """Whether all answers are right; None if one cannot be read. An empty answer is wrong."""
        return self.answer.right and not self.unanswered if self.answer else None if self.problem else False

    def points(self, most: float) -> float | None:
        """Return its points, which the claims of the answer share; None if it cannot be read."""
        if self.right is None or self.variant_answered or not self.answer:
            return None if self.right is None else 0
        return self.answer.points(most, len(self.unanswered))

    @property
    def by_chance(self) -> bool:
        """Whether its first mistake is a guess."""
        wrong = self.answer.wrong if self.answer else None
        return wrong is not None and wrong.by_chance


class DecimalSign(NamedTuple):
    """The decimal sign of a column of numbers, with the first texts that show it and that are another number without.

    Both are empty if no text shows one.
    """

    sign: str
    shown: str = ""
    unsure: str = ""


def decimal_sign(texts: Sequence[str]) -> DecimalSign:
    """Return the decimal sign that most numbers of a column show: 1.600k is 1,600,000 under a comma, and else 1,600.

    1600,0 and 1.600.000 show a comma, 1.6k and 1,600,000 a point.
    """
    signs = []
    for text in texts:
        for match in re.finditer(NUMBER, text):
            gap, point = match["gap"], match["point"] or ""
            if not point and gap in (".", ",") and match["grouped"].count(gap) > 1:
                point = ".,".replace(gap, "")
            signs += [(point, text)] if point else []
    if not signs:
        return DecimalSign("")
    ((sign, _),) = Counter(sign for sign, _ in signs).most_common(1)
    unsure = (text for text in dict.fromkeys(texts) if len({*_readings(text)}) > 1)
    return DecimalSign(sign, next(text for each, text in signs if each == sign), next(unsure, ""))


def _readings(text: str) -> Iterator[tuple[Given, ...]]:
    """Yield what a text is under each decimal sign."""
    for sign in ".," if re.search("[.,][0-9]{3}", text) else "":
        with suppress(CallError):
            yield tuple(read_answers(text, decimal=sign))


class Gradebook(NamedTuple):
    """The grades of a class, in the order of the file.

    signs: the decimal sign of each column of answers.
    """

    file: AnswerFile
    grades: tuple[Grade, ...]
    signs: tuple[DecimalSign, ...] = ()

    @property
    def number_right(self) -> int:
        """How many answers are right."""
        return sum(1 for grade in self.grades if grade.right)

    def repeated(self) -> Iterator[tuple[Grade, Grade]]:
        """Yield each grade whose name was there before, with the first grade of that name."""
        first: dict[str, Grade] = {}
        for grade in self.grades:
            name = " ".join(grade.row.name.casefold().split())
            if name and first.setdefault(name, grade) is not grade:
                yield grade, first[name]


VariantOf = Callable[[Sequence[Given]], int | None]


def grade_class(
    file: AnswerFile,
    grader_of: Callable[[str], Grader],
    variant_of: VariantOf = lambda _: None,
    progress: Callable[[int], None] | None = None,
) -> Gradebook:
    """Return the grades of a class.

    grader_of: returns the grader of a variant; raises CallError if there is no such variant, RefusedError if its
    quantity is unknown. It is called once for each variant, and only one grader is in memory at a time. Equal answers
    are judged once.
    variant_of: returns the number of the variant to which answers are right, if there is one. progress: called with 1
    after each row.
    """
    signs = [decimal_sign(column) for column in zip(*(row.answers for row in file.rows), strict=True)]
    by_variant: dict[str, list[StudentRow]] = {}
    for row in file.rows:
        by_variant.setdefault(row.variant, []).append(row)
    grades: dict[StudentRow, Grade] = {}
    for variant, rows in by_variant.items():
        try:
            grader = grader_of(variant)
        except (CallError, RefusedError) as error:
            grades |= {row: Grade(row, problem=str(error)) for row in rows}
            continue
        judged: dict[tuple[tuple[str, ...], str], Grade] = {}
        for row in rows:
            if (key := (row.answers, row.problem)) not in judged:
                judged[key] = _grade(file, row, grader, variant_of, [each.sign for each in signs])
            grades[row] = judged[key]._replace(row=row, correct=grader.right_answer)
            if progress:
                progress(1)
    book = Gradebook(file, tuple(grades[row] for row in file.rows), tuple(signs))
    others = sum(1 for grade in book.grades if grade.variant_answered)
    if file.variants_by is not None and others > max(1, book.number_right):
        known = f"those of the column {escape(file.variants_by)}" if file.variants_by else "in the order of rows"
        message = f"{others:,} would be correct for another variant, and {book.number_right:,} for their own"
        raise RefusedError(f"if the variants are {known}, {message}", Cure.VARIANT_COLUMN)
    return book


def _grade(file: AnswerFile, row: StudentRow, grader: Grader, variant_of: VariantOf, signs: Sequence[str]) -> Grade:
    answers = ["" if _NOTHING.fullmatch(text) else text for text in row.answers]
    if row.problem or not any(answers):
        return Grade(row, problem=row.problem)
    try:
        texts = answers if grader.choices else unmarked(answers)
        read = [
            _read(grader.chosen(place, text), sign, grader, title) if text else []
            for place, (text, sign, title) in enumerate(zip(texts, signs, grader.titles(file.asked), strict=True))
        ]
        filled = [each for several in read for each in several]
        if all(read) or len(filled) >= len(read) or not grader.in_order(filled):
            judged = grader.judge(filled)
        else:
            judged = _judge_some([several[0] if several else None for several in read], grader)
    except CallError as error:
        return Grade(row, problem=str(error).partition("\n")[0])
    empty = [title for title, text in zip(file.asked, answers, strict=True) if not text]
    unanswered = tuple(empty if len(filled) < len(read) else grader.missing(judged.judged))
    return Grade(row, judged, "", None if judged.right or unanswered else variant_of(filled), unanswered)


def _read(text: str, decimal: str, grader: Grader, title: str) -> list[Given]:
    """Return the answers of a cell under the decimal sign of its column, or else under none: 1.200 with a point."""
    with suppress(CallError):
        return grader.read(text, decimal=decimal, title=title)
    return grader.read(text, title=title)


def _judge_some(answers: Sequence[Given | None], grader: Grader) -> Answer:
    """Judge answers among which some are missing, as if those were right."""
    filled = [each for each in answers if each]
    some = next((each for each in filled if isinstance(each, GivenShape)), GivenNumber(1))
    right = [
        GivenShape(each.plain_shape) if isinstance(each.answer, GivenShape) else GivenNumber(each.params)
        for each in grader.judgements([each or some for each in answers])
    ]
    judged = grader.judge([each or correct for each, correct in zip(answers, right, strict=True)])
    return judged.replace(judged=tuple(each for each, text in zip(judged.judged, answers, strict=True) if text))


SEPARATORS = "\t;,"
"""The separators of cells. If several fit a file equally well, the first one is used."""

SAMPLE = 50
"""How many rows are read to find the separator of a file."""

SAMPLE_OF_TEXT = 10_000
"""How many characters are read to see that a file is a spec."""

_OF_SPEC = "(?:layers|encoder|networks):"

OWN_COLUMNS = ("correct", "mistake", "feedback", "correct_answer", "points")
"""The columns that grading adds, the last two if asked. If a graded file is graded again, they are replaced."""

MOST_OTHERS = 5
"""In a column of variants at most one value in so many is none."""

VARIANT = "variant"
"""The usual title of the column of variants. Grading adds it too, if the rows are in the order of the variants."""

_NAMES = ("name", "student", "full name", "id", "e-mail", "email")
_SUMMARIES = ("overall average", "gesamtdurchschnitt")
"""The first cell of the row that Moodle writes below the students'."""

_NOTHING = re.compile(r"[?/–—−-]+|n/a", re.IGNORECASE)
_ANSWER = re.compile(r"(answer|response|result)\b.*", re.IGNORECASE)


class StudentRow(NamedTuple):
    """A row of the file.

    line: the line of the file where it begins. cells: one for each column of the file, without blanks around it.
    variant: which of several exercises was asked; empty if there is only one. problem: why it is not judged.
    """

    line: int
    cells: tuple[str, ...]
    name: str
    answers: tuple[str, ...]
    variant: str = ""
    problem: str = ""


class AnswerFile(NamedTuple):
    """A file of answers: its columns, the columns that hold answers, and the rows that are not empty.

    separator: what is between its cells. beginning: what a file for the same program begins with in UTF-8: the line
    that names the separator, if it had one, and a byte order mark unless it was UTF-8 without one.
    variants_by: the title of the column that was found for the variants; empty if they are in the order of the rows,
    None if it was named, or no variants are asked for.
    """

    columns: tuple[str, ...]
    asked: tuple[str, ...]
    rows: tuple[StudentRow, ...]
    separator: str
    beginning: str
    variants_by: str | None = None


def read_answer_file(
    data: bytes,
    names: Sequence[str] = (),
    answers: Sequence[str] = (),
    variant: str | None = None,
    *,
    variants: Sequence[str] = (),
    choices: bool = False,
) -> AnswerFile:
    """Return the rows of a file.

    names, answers, variant: the columns, by title or by number from 1. By default they are found by their usual titles;
    if there are just two columns, the first is the name and the second the answer. variants: the numbers of the
    variants of an exercise; without `variant` their column is the only one that has nothing else, and a file without
    one has its rows in their order, or all on the only one. It may have a few other values if there are more rows.
    choices: whether an answer may be a letter.
    Raises CallError if there are no rows or no such columns, RefusedError if the column of the answers is not known.
    """
    if len(data) > MAX_BYTES:
        raise CallError(f"a file of answers has at most {MAX_BYTES:,} bytes; split it")
    text, mark = _decoded(data)
    if "\0" in text:  # as in a workbook
        raise CallError("not a text file; save it as CSV")
    lines = [line for line in text[:SAMPLE_OF_TEXT].splitlines() if not re.match(r"\s*(?:#|---|\Z)", line)]
    spec = re.match("[a-z_]+:(?: |$)", "".join(lines[:1])) and any(re.match(_OF_SPEC, line) for line in lines)
    if spec or re.match(r"\s*(?:\{|\[\s*\{)", text):
        kind = "a spec;" if spec else "a JSON file; an exercise is given instead of SPEC, and"
        raise CallError(f"{kind} --from takes a CSV file with a row for each student")
    line, separator = _separator(text)
    parsed = _parsed(text.removeprefix(line), separator, line.count("\n"))
    records = [(number, [re.sub(FORMULA.format("'"), r"\1", cell) for cell in cells]) for number, cells in parsed]
    if not records:
        raise CallError("there are no rows; expected a header, such as name,answer, and a row for each student")
    ((_, first), *_) = records
    titles = _titles(first, [*names, *([variant] if variant else [])], answers, choices=choices)
    if titles is None:  # no header: the first row is a student's
        titles = [str(number + 1) for number in range(len(first))]
    else:
        del records[0]
    if records and records[-1][1][0].casefold() in _SUMMARIES:
        del records[-1]
    if len(records) > MOST_STUDENTS:
        raise CallError(f"expected at most {MOST_STUDENTS:,} rows, got {len(records):,}; split the file")
    if not records:
        raise CallError("there is a header, and no row below it")
    asked_for = [_column(titles, each, "the answer") for each in answers]
    named = [_column(titles, each, "the name") for each in names]
    replaced = OWN_COLUMNS[: None if {*OWN_COLUMNS[:3]} <= {*titles} else 4]  # a course may have points of its own
    graded = [place for place, title in enumerate(titles) if title in replaced and place not in (*asked_for, *named)]
    titled = [place for place in range(len(titles)) if place not in graded]
    while graded and titled and not titles[titled[-1]]:  # grading put it there, for cells without a title
        titled.pop()
    by = None
    if variants and not variant:
        variant = next((title for title in titles if title.casefold() == VARIANT), None)
        if not variant and variants[1:]:
            by = variant = _variant_title(titles, records, variants, {*titled} - {*asked_for, *named})
    asked = _column(titles, variant, "the variant") if variant else None
    places = asked_for or _answer_places(titles, [place for place in titled if place != asked])
    others = [place for place in titled if place not in (*places, asked)]
    usual = [place for place in others if titles[place].casefold() in _NAMES]
    named = named or [*usual, *others][:1]
    widest = max(len(cells) for _, cells in records)
    filled = {place for _, cells in records for place, cell in enumerate(cells) if cell}
    untitled = [place for place in range(widest) if place in filled and place not in (*titled, *graded)]
    titles += [""] * (widest - len(titles))
    kept = [*titled, *untitled]

    def row(line: int, cells: list[str]) -> StudentRow:
        problem, cells = "", [*cells, *[""] * (len(titles) - len(cells))]
        if more := [number for number, place in enumerate(untitled, 1) if cells[place]]:
            cure = "put a cell that contains the separator in quotes"
            problem = f"{len(titled) + more[-1]} cells, and the first row has {len(titled)}; {cure}"
        kept_cells = tuple(cells[place] for place in kept)
        name = " ".join(cells[place] for place in named)
        answered = tuple(cells[place] for place in places)
        return StudentRow(line, kept_cells, name, answered, "" if asked is None else cells[asked], problem)

    rows = tuple(row(*record) for record in records)
    if variants and asked is None:
        alone = variants[0] if len(variants) == 1 else None
        rows = tuple(each._replace(variant=alone or str(number)) for number, each in enumerate(rows, 1))
    columns = tuple(titles[place] for place in kept)
    beginning = mark + line.replace("\r", "")
    return AnswerFile(columns, tuple(titles[place] for place in places), rows, separator, beginning, by)


def _variant_title(
    titles: Sequence[str], records: Sequence[tuple[int, list[str]]], variants: Sequence[str], places: set[int]
) -> str:
    """Return the title of the column that has the numbers of variants alone; empty if the rows are in their order.

    In more rows than variants a column may also have a few other values. Raises RefusedError if several columns have
    them, or none has and there are more rows than variants.
    """
    several: dict[bool, list[str]] = {True: [], False: []}  # by whether the numbers are alone
    for place in sorted(places):
        cells = [variant_number(cell) for _, row in records for cell in row[place : place + 1] if cell]
        others = sum(cell not in variants for cell in cells)
        usual = titles[place].casefold() in _NAMES or _ANSWER.fullmatch(titles[place])
        if titles[place] and not usual and len({*cells} & {*variants}) > 1 and MOST_OTHERS * others <= len(cells):
            several[not others].append(titles[place])
    more = len(records) > len(variants)
    columns = several[True] or several[False] * more
    if columns[1:]:
        names = one_of([escape(title) for title in columns])
        raise RefusedError(f"the variant may be in the column {names}", Cure.VARIANT_COLUMN)
    if more and not columns:
        message = f"{len(records):,} rows, {len(variants):,} variants, and no column with the numbers of the variants"
        raise RefusedError(message, Cure.VARIANT_COLUMN)
    return columns[0] if columns else ""


def variant_number(text: str) -> str:
    """Return the number of a variant: 3 of `Variant 03`."""
    return text.casefold().removeprefix(VARIANT).strip().lstrip("0")


BYTE_ORDER_MARK = "\ufeff"
"""What tells a spreadsheet that a file is UTF-8."""


def _decoded(data: bytes) -> tuple[str, str]:
    """Decode a file: UTF-16 if it begins with a byte order mark, else UTF-8, else Windows-1252.

    Also return the byte order mark that its program needs in UTF-8, empty if it wrote that without one.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace"), BYTE_ORDER_MARK
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace"), BYTE_ORDER_MARK
    return text.removeprefix(BYTE_ORDER_MARK), text[:1] if text.startswith(BYTE_ORDER_MARK) else ""


def _separator(text: str) -> tuple[str, str]:
    """Return the line that names the separator, empty without one, and the separator, by default the best fitting."""
    if line := re.match(r"sep=(.)\r?\n", text):  # Excel reads this line
        return line[0], line[1]

    def fit(separator: str) -> tuple[int, int]:
        """Return how many rows have as many cells as the first, and the number of its cells."""
        sample = []
        with suppress(CallError):  # of another separator a quotation mark may seem open
            sample += [len(cells) for _, cells in islice(_parsed(text, separator, 0), SAMPLE)]
        return (0, 0) if not sample or sample[0] == 1 else (sample.count(sample[0]), sample[0])

    return "", max(SEPARATORS, key=fit)


def _parsed(text: str, separator: str, before: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, each with its line. before: how many lines of the file precede the text."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    line = before + 1
    cells: list[str] = []
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if any(cell.strip(SEPARATORS) for cell in stripped):
                yield line, stripped
            begin, line = line, before + reader.line_num + 1
        if cells and "\n" in cells[-1] and _open(text, begin - before, separator):
            raise CallError(f"line {begin}: a quotation mark is not closed")
    except csv.Error:
        raise CallError(f"line {line}: a cell is longer than {csv.field_size_limit():,} characters") from None


def _open(text: str, line: int, separator: str) -> bool:
    """Return whether the text from this line on has an unclosed quotation mark."""
    rest = islice(io.StringIO(text, newline=""), line - 1, None)
    try:
        return not [*csv.reader(rest, delimiter=separator, skipinitialspace=True, strict=True)]
    except csv.Error as error:
        return "end of data" in str(error)


def _titles(first: list[str], name: Sequence[str], answers: Sequence[str], *, choices: bool) -> list[str] | None:
    """Return the titles in the first row; None if it is a student's row, with answers in the columns of answers."""
    wanted = [*name, *answers]
    if any(word in first for word in wanted) or {*OWN_COLUMNS[:3]} <= {*first}:
        return first
    numbers = [int(word) for word in answers if word.isdecimal()] or ([2] if len(first) == 2 else [1])
    places = [number - 1 for number in numbers if 0 < number <= len(first)]
    return None if places and all(_reads(first[place], choices) for place in places) else first


def _reads(text: str, choices: bool) -> bool:
    """Return whether a text is an answer. A word with a number, such as W1 or Total 1, is a title."""
    if choices and len(text) == 1:
        return True
    try:
        several = read_answers(text)[1:]
    except CallError:
        return False
    if several and re.search(r"[^\W\d]", text) and not re.search("[:=]", text):
        return False  # Question 1, Points 2
    return not re.fullmatch(r"\s*[A-Za-z]+[_ ]?[0-9]*\s*", text)


def _column(titles: list[str], word: str, what: str) -> int:
    """Return the index of a column, by title or number. Raises CallError if no column or several match."""
    same = [place for place, title in enumerate(titles) if title == word]
    same = same or [place for place, title in enumerate(titles) if title.casefold() == word.strip().casefold()]
    if len(same) == 1:
        return same[0]
    if word.isdecimal() and 0 < int(word) <= len(titles) and not same:
        return int(word) - 1
    if same:
        numbers = one_of([str(place + 1) for place in same])
        raise CallError(f"{len(same)} columns have the title '{escape(word)}'; write the number of {what}'s: {numbers}")
    known = [escape(title) for title in titles if title] or ["1"]
    raise CallError(f"no column '{escape(word)}' for {what}; expected {one_of(known)}{did_you_mean(word, known)}")


def _answer_places(titles: list[str], among: list[int]) -> list[int]:
    """Return the indices of the columns of answers by their usual titles. Raises RefusedError if none is recognised."""
    places = [place for place in among if _ANSWER.fullmatch(titles[place])]
    if places or 1 <= len(among) <= 2:
        return places or among[-1:]
    known = one_of([escape(titles[place]) for place in among if titles[place]] or ["1"])
    raise RefusedError(f"which column has the answer? {known}", Cure.ANSWER_COLUMN)
