"""Pictures as a LaTeX document that draws each with TikZ, and needs none but the libraries that come with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO, assert_never

from rnncalc.formats.latex import symbol, typeset
from rnncalc.formats.pictures import COLOURS, DASHED, PAGE, Point, edges, lowest_first, path
from rnncalc.pictures.picture import Arrow, Box, Brace, Curve, Dot, Label, Picture, Shape, Style, span
from rnncalc.reports.equations import Piece, Term, plain_piece

if TYPE_CHECKING:
    from rnncalc.reports.equations import Line
    from rnncalc.reports.report import PictureReport

ACROSS, DOWN = 0.2, 0.44
"""The size of a cell, in centimetres."""

PREAMBLE = r"""\documentclass[tikz,border=4mm]{standalone}
\usepackage{amsmath}
\usetikzlibrary{arrows.meta,decorations.pathreplacing}
"""


def write(reports: Iterable[PictureReport], file: TextIO) -> None:
    """Write one document, a page a picture."""
    file.write(PREAMBLE)
    for role, (light, _) in COLOURS.items():
        fill, line = ((colour or "#ffffff").removeprefix("#").upper() for colour in light)
        file.write(f"\\definecolor{{{role}fill}}{{HTML}}{{{fill}}}\\definecolor{{{role}line}}{{HTML}}{{{line}}}\n")
    file.write("\\begin{document}\n")
    for report in reports:
        for picture in report.pictures(PAGE):
            file.write(f"{environment(picture)}\n")
    file.write("\\end{document}\n")


def environment(picture: Picture) -> str:
    """Return a picture as one `tikzpicture`, in the colours that the document defines."""
    drawn = "\n".join(f"  {line}" for shape in lowest_first(picture.shapes) for line in _shape(shape, picture))
    options = f"x={ACROSS}cm, y=-{DOWN}cm, >=Latex, font=\\sffamily\\footnotesize, inner sep=0pt, outer sep=0pt"
    return f"\\begin{{tikzpicture}}[{options}]\n{drawn}\n\\end{{tikzpicture}}"


def _shape(shape: Shape, picture: Picture) -> Iterator[str]:
    match shape:
        case Box():
            yield from _box(shape)
        case Arrow():
            yield from _arrow(path(shape, picture), shape)
        case Dot(x, y):
            yield f"\\fill ({x + 0.5},{y + 0.5}) circle[radius=0.6mm];"
        case Label():
            yield _label(shape)
        case Brace(x, y, width):
            ends = f"({x + width},{y + 0.1}) -- ({x},{y + 0.1})"
            yield f"\\draw[decorate, decoration={{brace, amplitude=2mm}}, inputline] {ends};"
            yield f"\\node[anchor=base] at ({x + width / 2},{y + 1.7}) {{{_line(shape.text)}}};"
        case Curve():
            points = " -- ".join(f"({x:.3f},{y:.3f})" for x, y in shape.points)
            thin = {Style.AXIS: "semithick", Style.ELIDED: "semithick, densely dashed"}
            yield f"\\draw[{thin.get(shape.style, 'very thick')}, {shape.style}line] {points};"
        case _:
            assert_never(shape)


def _box(box: Box) -> Iterator[str]:
    left, top, right, bottom = edges(box)
    if box.style is not Style.ELIDED or box.height > 2:
        corners = f"{min((right - left) * ACROSS, (bottom - top) * DOWN) / 2:.3f}cm" if box.round else "0.8mm"
        look = f"draw={box.style}line, fill={box.style}fill, rounded corners={corners}"
        if box.style in DASHED:
            look += ", dashed"
        yield f"\\path[{look}] ({left:g},{top:g}) rectangle ({right:g},{bottom:g});"
    x, y = (left + right) / 2, (top + bottom) / 2
    for number, line in enumerate(box.lines):
        below = y + 0.9 * (number - (len(box.lines) - 1) / 2) + BASE
        strong = "\\bfseries " if number == 0 and len(box.lines) > 1 else ""
        yield f"\\node[anchor=base] at ({x:g},{below:g}) {{{strong}{_line(line)}}};"


BASE = 0.2
"""By how much the line that letters stand on is below the middle of a cell."""


def _arrow(points: list[Point], arrow: Arrow) -> Iterator[str]:
    colour = "input" if arrow.style is Style.LAYER else arrow.style
    look = f"{'->' if arrow.head else '-'}, semithick, {colour}line{', densely dashed' * (arrow.style in DASHED)}"
    yield f"\\draw[{look}] {' -- '.join(f'({x:g},{y:g})' for x, y in points)};"


def _label(label: Label) -> str:
    left, wide = label.left, span(label.text)
    place, anchor = {
        "start": (left, "base west"),
        "middle": (label.x + 0.5, "base"),
        "end": (left + wide, "base east"),
    }[label.align]
    size = {"heading": "\\bfseries\\normalsize ", "note": "\\color{black!65}", "shape": "\\color{black!65}"}
    text = f"{size.get(label.style, '')}{_line(label.text)}"
    return f"\\node[anchor={anchor}] at ({place:g},{label.y + 0.5 + BASE:g}) {{{text}}};"


def _line(line: Line) -> str:
    return "".join(_piece(piece) for piece in line)


def _piece(piece: Piece) -> str:
    if not isinstance(piece, Term):
        return typeset(plain_piece(piece))
    return f"${symbol(piece.letter, piece.subscript or piece.time.replace('−', '-'))}$"
