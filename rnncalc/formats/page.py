"""Pictures as a page of HTML that needs nothing else: each as SVG, below each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO
from xml.sax.saxutils import escape as escape_xml

from rnncalc.formats.places import PAGE
from rnncalc.formats.svg import ACROSS, element
from rnncalc.text import escape

if TYPE_CHECKING:
    from rnncalc.reports.report import Drawn

HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ margin: 1rem }}
.picture {{ overflow-x: auto; margin-bottom: 1rem }}
.picture svg {{ display: block; margin: auto }}
@media print {{ .picture div {{ min-width: 0 !important }} }}
</style>
"""

LEAST = 0.75
"""A picture is made smaller to this share of its size; in a window that is narrower still, it is moved."""


def write(reports: Iterable[Drawn], file: TextIO) -> None:
    """Write one page."""
    pictures = [picture for report in reports for picture in report.pictures(PAGE)]
    title = escape_xml(escape(pictures[0].title, 200)) if pictures else ""
    file.write(HEAD.format(title=title))
    for picture in pictures:
        least = round(picture.width * ACROSS * LEAST)
        inner = f'<div style="min-width:{least}px">\n{element(picture)}\n</div>'
        file.write(f'<div class="picture" tabindex="0">{inner}</div>\n')
