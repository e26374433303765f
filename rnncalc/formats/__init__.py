"""How reports are written: a module for each format, FORMATS, the list of all, and what formats for people share.

A new format is a module with `write(reports, file)` and a line in FORMATS. It is imported when it is used. Every string
that a format writes is escaped by `text_of` or `text.escape`, so that reports need not escape.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import NamedTuple, TextIO

from rnncalc.errors import CallError
from rnncalc.printable import escape
from rnncalc.reports.report import (
    CheckedReport,
    DataReport,
    DocumentReport,
    DrawnReport,
    LinkReport,
    PictureReport,
    QuizReport,
    RecordReport,
    Report,
    SheetReport,
)
from rnncalc.typeset.sheet import Arithmetic, Bar, Phrase, Row, Sheet, TensorName, Value
from rnncalc.words import bracketed, decimal, did_you_mean, one_of


class Format(NamedTuple):
    """A format: the module that writes it, and the kinds of report that it can write.

    writer: the name of the module's function, `write(reports, file)`.
    read_at_once: whether people read it on the terminal, so that failures need not be repeated on standard error.
    for_screens: whether it is written in the terminal's encoding; other formats are always UTF-8.
    suffix: the suffix of its files; several formats may share one.
    """

    module: str
    kinds: tuple[type[Report], ...]
    for_screens: bool = False
    read_at_once: bool = False
    suffix: str = ""
    writer: str = "write"

    def can_write(self, report: type) -> bool:
        """Return whether this writes reports of a class."""
        return issubclass(report, self.kinds)


FORMATS: dict[str, Format] = {
    "table": Format("rnncalc.formats.table", (SheetReport,), for_screens=True, read_at_once=True, suffix=".txt"),
    "json": Format("rnncalc.formats.json", (DataReport,), suffix=".json"),
    "csv": Format("rnncalc.formats.csv", (RecordReport,), suffix=".csv"),
    "markdown": Format("rnncalc.formats.markdown", (SheetReport,), suffix=".md"),
    "yaml": Format("rnncalc.formats.yaml", (DocumentReport,), suffix=".yaml"),
    "latex": Format("rnncalc.formats.latex", (SheetReport, QuizReport), suffix=".tex"),
    "text": Format("rnncalc.formats.text", (PictureReport,), for_screens=True, read_at_once=True, suffix=".txt"),
    "svg": Format("rnncalc.formats.svg", (DrawnReport,), suffix=".svg"),
    "tikz": Format("rnncalc.formats.tikz", (PictureReport,), suffix=".tex"),
    "html": Format("rnncalc.formats.html", (SheetReport, PictureReport), suffix=".html"),
    "gift": Format("rnncalc.formats.quizzes", (QuizReport,), writer="write_gift", suffix=".gift"),
    "moodle": Format("rnncalc.formats.quizzes", (QuizReport,), writer="write_moodle", suffix=".xml"),
    "canvas": Format("rnncalc.formats.quizzes", (QuizReport,), writer="write_canvas", suffix=".md"),
    "link": Format("rnncalc.formats.quizzes", (LinkReport,), writer="write_link", suffix=".txt"),
    "junit": Format("rnncalc.formats.checks", (CheckedReport,), writer="write_junit", suffix=".xml"),
    "gitlab": Format("rnncalc.formats.checks", (CheckedReport,), writer="write_gitlab", suffix=".json"),
    "github": Format(
        "rnncalc.formats.checks", (CheckedReport,), writer="write_github", read_at_once=True, suffix=".txt"
    ),
}
"""Every format by its name, in the order that commands offer them."""


def offered(*reports: type[Report]) -> tuple[str, ...]:
    """Return the names of the formats that can write one of these classes of report."""
    return tuple(name for name, entry in FORMATS.items() if any(map(entry.can_write, reports)))


def find(format: str) -> Format:
    """Return a format by its name. Raises CallError if there is none."""
    if format not in FORMATS:
        names = tuple(FORMATS)
        message = f"format: expected {one_of(names)}, got {escape(format)!r}{did_you_mean(format, names)}"
        raise CallError(message)
    return FORMATS[format]


def write(reports: Iterable[Report], format: str, file: TextIO) -> None:
    """Write the reports in a format to a text file.

    Raises CallError, before anything is written, for an unknown format or one that cannot write these reports.
    """
    entry = find(format)
    reports = [*reports]
    for report in reports:
        if not entry.can_write(type(report)):
            able = one_of(offered(type(report)))
            raise CallError(f"format: this report cannot be written as {format}; choose {able}")
    getattr(import_module(entry.module), entry.writer)(reports, file)


# How a value is written, which rows are shown, how wide a terminal is

BAR = 16
"""The length of a whole bar, in characters."""

MOST_ROWS = 2_001
"""Of more rows, the middle ones become one row."""

MOST_OF_A_TEXT, MOST_OF_A_SUM = 2_000, 10_000
"""Longer text is cut, in characters."""


def text_of(value: Value, *, longest: int = MOST_OF_A_SUM, bar: int = BAR) -> str:
    """Return a value as text, with every name in it escaped.

    None is a dash, an unknown number of steps the letter T. An equation that is longer than `longest`
    has two lines; a whole bar is `bar` characters long.
    """
    match value:
        case None:
            return "–"
        case int():
            return f"{value:,}"
        case float():
            return decimal(value)
        case Arithmetic():
            letters, numbers = (escape(side, MOST_OF_A_SUM) for side in (value.letters, value.numbers))
            whole = letters if letters == numbers else f"{letters} = {numbers}"
            return whole if len(whole) <= longest or letters == numbers else f"{letters}\n= {numbers}"
        case TensorName():
            return escape(value.text, MOST_OF_A_TEXT)
        case Phrase():
            from rnncalc.typeset.equations import plain_words  # few reports have phrases

            return escape(plain_words(value.parts), MOST_OF_A_TEXT)
        case Bar(share) if share > 1:
            return f"{'█' * (bar - 3)}╱╱█"
        case Bar():
            eighths = round(value.share * bar * 8)
            return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
        case tuple():
            return bracketed(value)
        case _:
            return escape(value, MOST_OF_A_TEXT)


def shortened(sheet: Sheet) -> list[Row]:
    """Return the rows; if there are too many, the first and the last ones, and one row for those between.

    That row has the sums of the columns that the total adds up.
    """
    rows = [*sheet.rows]
    if len(rows) <= MOST_ROWS:
        return rows
    head, middle, tail = rows[:20], rows[20:-20], rows[-20:]
    total = sheet.total if sheet.summed else None
    sums: list[Value] = []
    for place, column in enumerate(sheet.columns):
        numbers = [value for row in middle if isinstance(value := row[place], int)]
        summed = total and column.right and not isinstance(total[place], str)
        sums.append("" if not summed else sum(numbers) if len(numbers) == len(middle) else None)
    return [*head, (f"… {len(middle):,} more", *sums[1:]), *tail]


def terminal_width() -> int:
    """Return the width from COLUMNS, else that of the terminal, else 80."""
    import shutil  # takes 3 ms

    return shutil.get_terminal_size().columns
