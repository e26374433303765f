"""Reports as Markdown, with every name escaped, up to the megabyte that GitHub shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from rnncalc.formats import shortened, text_of
from rnncalc.formats.latex import displayed, inline, tensor_name
from rnncalc.reports.report import SheetReport
from rnncalc.typeset.sheet import Arithmetic, Phrase, Sheet, TensorName, Value

MOST_BYTES = 1_000_000
"""GitHub shows a job summary of at most 1 MiB, and nothing of a longer one."""

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>|#!~&@$])")
_STARTS = re.compile(r"^(\d+)(?=[.)])|^(?=[-+=])")
"""The start of a paragraph that would make it a list, or the line above it a heading."""

_LIVE = re.compile(
    r"@|://|www\.|:[\w+-]+:|#\d|\bGH-\d|(?:mailto|xmpp):|(?<![0-9a-f])(?=[a-f]*[0-9])[0-9a-f]{7,64}(?![0-9a-f])",
    re.IGNORECASE,
)
"""What GitHub links or replaces wherever it is, escaped or not: people, issues, addresses, commits, emoji."""

_TAME = re.compile(r"[A-Za-z0-9\\{}$_^(),.=+/\- ]*")
"""The characters of mathematics among words."""


def write(reports: Iterable[SheetReport], file: TextIO) -> None:
    """Write each sheet as a heading, a table and its notes, up to a size that GitHub shows."""
    left = MOST_BYTES - 200  # room for the line about missing lines
    missing = 0
    sheets = enumerate(sheet for report in reports for sheet in report.sheets())
    for line in (line for number, sheet in sheets for line in ("\n" * bool(number), *_sheet(sheet))):
        left -= len(line.encode("utf-8", "replace"))
        if left < 0:
            missing += 1
        else:
            file.write(line)
    if missing:
        file.write(f"\n… and {missing:,} more lines, left out because GitHub shows a megabyte at most.\n")


def _sheet(sheet: Sheet) -> Iterator[str]:
    if sheet.title:
        yield f"### {escaped(text_of(sheet.title))}\n\n"
    if sheet.subtitle:
        yield f"{_paragraph(sheet.subtitle)}\n\n"
    if sheet.equations or sheet.work:
        yield from (f"$$\n{equations}\n$$\n\n" for equations in displayed(sheet, "aligned"))
    if sheet.columns:
        yield _row([escaped(text_of(column.title)) for column in sheet.columns])
        yield _row(["---:" if column.right else "---" for column in sheet.columns])
    for row in shortened(sheet):
        yield _row(map(_cell, row))
    if sheet.total:
        yield _row(f"**{cell}**" if cell else "" for cell in map(_cell, sheet.total))
    for note in sheet.notes:
        yield f"\n{_paragraph(note)}\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _cell(value: Value) -> str:
    match value:
        case Arithmetic():
            return _code(text_of(value)).replace("|", r"\|")
        case TensorName():
            latex = tensor_name(value)
            return latex if _tame(latex) else _on_one_line(text_of(value))
        case Phrase():
            return _phrase(value)
        case str():
            return _on_one_line(text_of(value))
        case _:
            return text_of(value)  # numbers have nothing to escape


def _on_one_line(text: str) -> str:
    return escaped(text).replace("\n", " ")


def _phrase(phrase: Phrase) -> str:
    """Return words with mathematics among them."""
    mathematics = [inline(part) for part in phrase.parts if not isinstance(part, str)]
    text = text_of(phrase)
    if _LIVE.search(text) or not all(map(_tame, mathematics)):
        return _on_one_line(text)
    return "".join(escaped(text_of(part)) if isinstance(part, str) else mathematics.pop(0) for part in phrase.parts)


def _tame(latex: str) -> bool:
    """Return whether GitHub reads mathematics among words as LaTeX alone."""
    return bool(_TAME.fullmatch(latex)) and not _LIVE.search(latex)


def _paragraph(text: str | Phrase) -> str:
    words = _phrase(text) if isinstance(text, Phrase) else escaped(text_of(text).strip())
    return _STARTS.sub(r"\1\\", words)


def escaped(text: str) -> str:
    """Return escaped text; words that GitHub would act on even so become spans of code."""
    words = re.split(r"(\s+)", text)
    return "".join(
        _code(word).replace("|", r"\|") if _LIVE.search(word) else _ACTIVE.sub(r"\\\1", word) for word in words
    )


def _code(text: str) -> str:
    """Return a span of code: its fence is longer than any run of backticks in the text."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if text[:1] in "` " or text[-1:] in "` " else ""
    return f"{fence}{space}{text}{space}{fence}"
