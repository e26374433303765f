"""Pictures in TikZ, which need only the libraries that come with it: parts of documents, or documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO, assert_never

from rnncalc.formats.latex import symbol, typeset
from rnncalc.pictures.picture import (
    COLOURS,
    DASHED,
    PAGE,
    Arrow,
    Box,
    Curve,
    Dot,
    Label,
    Picture,
    Point,
    Shape,
    Style,
    edges,
    lines_of,
    with_paths,
)
from rnncalc.reports.report import PictureReport
from rnncalc.typeset.equations import Line, Term, plain_piece

ACROSS, DOWN = 0.2, 0.44
"""The size of a cell, in centimetres."""

PACKAGES = r"""\usepackage{amsmath,tikz}
\usetikzlibrary{arrows.meta}
"""
"""What a document needs in its preamble; `tikz` loads the others."""

NOTE = r"""% The preamble of a document that has this file as \input needs
{packages}% \noindent\resizebox{{\linewidth}}{{!}}{{\input{{FILE}}}} makes one picture as wide as the text.
"""

SMALL, LARGE = r"\fontsize{8}{9.5}\selectfont", r"\fontsize{10}{12}\selectfont"
"""The sizes of letters, whatever those of the document are: boxes are as wide as their text needs."""


def write(reports: Iterable[PictureReport], file: TextIO) -> None:
    """Write pictures for a document to input, or, if a report is alone, a document with a page a picture."""
    reports = [*reports]
    pictures = "\n\n".join(environment(picture) for report in reports for picture in report.pictures(PAGE))
    if any(report.standalone for report in reports):
        preamble = f"\\documentclass[border=4mm,multi=tikzpicture]{{standalone}}\n{PACKAGES}"
        file.write(f"{preamble}\\begin{{document}}\n{pictures}\n\\end{{document}}\n")
    else:
        packages = "".join(f"% {line}\n" for line in PACKAGES.splitlines())
        file.write(f"{NOTE.format(packages=packages)}{pictures}\n")


def environment(picture: Picture) -> str:
    """Return a picture as one `tikzpicture`, which defines the colours that it uses."""
    drawn = "\n".join(f"  {line}" for shape, path in with_paths(picture) for line in _shape(shape, path))
    options = f"x={ACROSS}cm, y=-{DOWN}cm, >=Latex, font=\\sffamily{SMALL}, inner sep=0pt, outer sep=0pt"
    return f"\\begin{{tikzpicture}}[{options}]\n{_colours(drawn)}{drawn}\n\\end{{tikzpicture}}"


def _colours(drawn: str) -> str:
    """Return the definitions of the colours that shapes use; those of a picture end with it."""
    used, lines = {*re.findall(r"\w+", drawn)}, []
    for style, (light, _) in COLOURS.items():
        for name, colour in zip((f"{style}fill", f"{style}line"), light, strict=True):
            if name in used:
                lines.append(f"  \\definecolor{{{name}}}{{HTML}}{{{(colour or '#ffffff')[1:].upper()}}}\n")
    return "".join(lines)


def _shape(shape: Shape, path: list[Point]) -> Iterator[str]:
    match shape:
        case Box():
            yield from _box(shape)
        case Arrow():
            colour = "input" if shape.style is Style.LAYER else shape.style
            dashed = ", densely dashed" * (shape.style in DASHED)
            look = f"{'->' if shape.head else '-'}, semithick, {colour}line{dashed}"
            yield f"\\draw[{look}] {' -- '.join(f'({x:g},{y:g})' for x, y in path)};"
        case Dot(x, y):
            yield f"\\fill ({x + 0.5},{y + 0.5}) circle[radius=0.6mm];"
        case Label():
            anchor = {"start": "base west", "middle": "base", "end": "base east"}[shape.align]
            size = {"heading": f"\\bfseries{LARGE} ", "note": "\\color{black!65}", "shape": "\\color{black!65}"}
            text = f"{size.get(shape.style, '')}{_line(shape.text)}"
            yield f"\\node[anchor={anchor}] at ({shape.anchor:g},{shape.y + 0.5 + BASE:g}) {{{text}}};"
        case Curve():
            points = " -- ".join(f"({x:.3f},{y:.3f})" for x, y in shape.points)
            thin = {Style.AXIS: "semithick", Style.ELIDED: "semithick, densely dashed"}
            yield f"\\draw[{thin.get(shape.style, 'very thick')}, {shape.style}line] {points};"
        case _:
            assert_never(shape)


def _box(box: Box) -> Iterator[str]:
    left, top, right, bottom = edges(box)
    if box.framed:
        corners = f"{min((right - left) * ACROSS, (bottom - top) * DOWN) / 2:.3f}cm" if box.round else "0.8mm"
        look = f"draw={box.style}line, fill={box.style}fill, rounded corners={corners}"
        if box.style in DASHED:
            look += ", dashed"
        yield f"\\path[{look}] ({left:g},{top:g}) rectangle ({right:g},{bottom:g});"
    for line, (x, y), heads in lines_of(box):
        strong = "\\bfseries " if heads else ""
        yield f"\\node[anchor=base] at ({x:g},{y + BASE:g}) {{{strong}{_line(line)}}};"


BASE = 0.2
"""By how much the line that letters are on is below the middle of a cell."""


def _line(line: Line) -> str:
    return "".join(
        f"${symbol(piece.letter, piece.subscript or piece.time.replace('−', '-'))}$"
        if isinstance(piece, Term)
        else typeset(plain_piece(piece))
        for piece in line
    )
