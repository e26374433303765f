"""Pictures as a page of HTML that needs nothing else: each as SVG, below each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO
from xml.sax.saxutils import escape as escape_xml

from rnncalc.formats.places import PAGE
from rnncalc.formats.svg import element
from rnncalc.text import escape

if TYPE_CHECKING:
    from rnncalc.reports.report import Drawn

HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>:root{{color-scheme:light dark}}body{{margin:1rem}}svg{{display:block;margin:0 auto 1rem}}</style>
"""


def write(reports: Iterable[Drawn], file: TextIO) -> None:
    """Write one page."""
    pictures = [picture for report in reports for picture in report.pictures(PAGE)]
    title = escape_xml(escape(pictures[0].title, 200)) if pictures else ""
    file.write(HEAD.format(title=title))
    file.writelines(f"{element(picture)}\n" for picture in pictures)
