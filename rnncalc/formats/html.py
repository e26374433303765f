"""Reports as one page that needs no network, script or font; for screens and for paper.

All text is escaped here and in `mathml.py`. The page is valid XML, so that programs can read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape as quoted
from pkgutil import get_data
from typing import TextIO

from rnncalc.formats import shortened, text_of
from rnncalc.formats.mathml import displayed, name, phrase
from rnncalc.formats.svg import ACROSS, element
from rnncalc.pictures.picture import PAGE
from rnncalc.reports.report import PictureReport, SheetReport
from rnncalc.typeset.sheet import Arithmetic, Bar, Column, Phrase, Row, Sheet, TensorName, Value

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta name="generator" content="rnncalc"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"/>
<link rel="icon" href="data:,"/>
<style>
{style}</style>
</head>
<body>
<main>
"""

_LEAST = 0.75
"""The smallest share of its size to which a picture shrinks with the window; then it scrolls."""

_SIGNS = {"✓": "yes", "✗": "no"}
"""The classes of a sign in a cell, or at the start of a note."""


def write(reports: Iterable[SheetReport | PictureReport], file: TextIO) -> None:
    """Write one page: the page of each report, else its tables, else its pictures."""
    pages = [[*(each.page() if isinstance(each, SheetReport) else each.pictures(PAGE))] for each in reports]
    titles = [piece.title for pieces in pages for piece in pieces if piece.title]
    style = (get_data(__package__, "page.css") or b"").decode()
    file.write(_HEAD.format(title=_text(titles[0] if titles else "rnncalc"), style=style))
    for pieces in pages:
        file.write("<article>\n")
        for number, piece in enumerate(pieces):
            if isinstance(piece, Sheet):
                file.writelines(_sheet(piece, 2 if number else 1))
                continue
            least = round(piece.width * ACROSS * _LEAST)
            file.write(f'<figure class="scroll" role="region" aria-label="{_text(piece.title)}" tabindex="0">\n')
            file.write(f'<div style="min-width: {least}px">\n{element(piece)}\n</div>\n</figure>\n')
        file.write("</article>\n")
    file.write("</main>\n</body>\n</html>\n")


def _sheet(sheet: Sheet, level: int) -> Iterator[str]:
    yield "<section>\n"
    if sheet.title:
        yield f"<h{level}>{_text(sheet.title)}</h{level}>\n"
    if sheet.subtitle:
        yield f'<p class="subtitle">{_text(sheet.subtitle)}</p>\n'
    if sheet.equations or sheet.work:
        yield from displayed(sheet)
    if sheet.columns:
        yield from _table(sheet)
    if sheet.notes:
        yield '<div class="notes">\n'
        for note in sheet.notes:
            yield f"<p>{phrase(note) if isinstance(note, Phrase) else _signed(_text(note))}</p>\n"
        yield "</div>\n"
    yield "</section>\n"


def _table(sheet: Sheet) -> Iterator[str]:
    """Yield a table that scrolls on a narrower page, with the keyboard too.

    On a narrow page the arithmetic of a row is below it.
    """
    label, rows = _text(sheet.title or "table"), [*shortened(sheet)]
    values = [*zip(*rows, strict=True)] or [()] * len(sheet.columns)
    below = [any(isinstance(value, Arithmetic) for value in column) for column in values]
    columns = [(each, _classes(each, under)) for each, under in zip(sheet.columns, below, strict=True)]
    beside = f' style="--beside: {below.count(False)}"' * any(below)
    yield f'<div class="scroll" role="region" aria-label="{label}" tabindex="0">\n<table{beside}>\n<thead>\n<tr>'
    yield from (f'<th scope="col"{classes}>{_text(column.title)}</th>' for column, classes in columns)
    yield "</tr>\n</thead>\n<tbody>\n"
    yield from (_row(columns, row) for row in rows)
    yield "</tbody>\n"
    if sheet.total:
        yield f"<tfoot>\n{_row(columns, sheet.total)}</tfoot>\n"
    yield "</table>\n</div>\n"


def _row(columns: Iterable[tuple[Column, str]], row: Row) -> str:
    cells = []
    for (column, classes), value in zip(columns, row, strict=True):
        tag, scope = ("th", ' scope="row"') if column.key else ("td", "")
        cells.append(f"<{tag}{scope}{classes}>{_value(value)}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>\n"


def _classes(column: Column, below: bool) -> str:
    words = "below" if below else "right" if column.right else "whole" if column.whole else ""
    return f' class="{words}"' if words else ""


def _value(value: Value) -> str:
    match value:
        case Arithmetic():
            sides = text_of(value, longest=0).split("\n")
            return " ".join(f'<span class="side">{quoted(side)}</span>' for side in sides)
        case TensorName():
            return name(value)
        case Phrase():
            return phrase(value)
        case Bar():
            broken = " broken" * (value.share > 1)
            return f'<span class="bar{broken}" style="width: {100 * min(value.share, 1):.2f}%"></span>'
        case str():
            return _signed(_text(value))
        case _:
            return quoted(text_of(value))


def _signed(text: str) -> str:
    """Return text with the sign that it starts with in its colour."""
    sign = text.partition(" ")[0]
    return f'<span class="{_SIGNS[sign]}">{sign}</span>{text[len(sign) :]}' if sign in _SIGNS else text


def _text(text: str) -> str:
    return quoted(text_of(text))
