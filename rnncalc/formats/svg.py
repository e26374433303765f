"""Pictures as SVG: one file, without scripts or external parts, readable in light and dark.

`element` is the picture as an element for a page. Colours are written out instead of as variables, because programs
that print SVG do not know variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape as quoted
from typing import TextIO, assert_never

from rnncalc.pictures.picture import (
    COLOURS,
    DASHED,
    MOST_OF_A_LINE,
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
    stacked,
    with_paths,
)
from rnncalc.printable import escape
from rnncalc.reports.report import DrawnReport
from rnncalc.typeset.equations import GREEK, Line, Term, plain, plain_piece

ACROSS, DOWN = 9, 20
"""The size of a cell, in pixels: no letter of the font is wider, but those that a picture counts as more than one."""

MARGIN, HEAD, LOWER = 14, 8, 4
"""Around the picture; the length of an arrow's head; by how much its own half-height, or an index, is below a line."""

INK, SOFT, PAPER = ("#1b232c", "#e6ebf0"), ("#55606c", "#aab4bf"), ("#ffffff", "#181d23")


def write(reports: Iterable[DrawnReport], file: TextIO) -> None:
    """Write the pictures below each other, as the one element that a file holds."""
    file.write(f"{element(stacked([picture for report in reports for picture in report.pictures(PAGE)]))}\n")


def element(picture: Picture) -> str:
    """Return a picture as one `<svg>` element."""
    width, height = picture.width * ACROSS + 2 * MARGIN, picture.height * DOWN + 2 * MARGIN
    drawn = "\n".join(line for shape, path in with_paths(picture) for line in _shape(shape, path))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="rnncalc" role="img" width="{width}" height="{height}" '
        f'viewBox="{-MARGIN} {-MARGIN} {width} {height}">\n'
        f"<title>{_safe(picture.title)}</title>\n<desc>{_safe(picture.description)}</desc>\n"
        f"<style>{_style()}</style>\n"
        f'<rect class="paper" x="{-MARGIN}" y="{-MARGIN}" width="{width}" height="{height}"/>\n{drawn}\n</svg>'
    )


def _style() -> str:
    rules = [
        ".rnncalc{font:13px system-ui,'Segoe UI',Roboto,Helvetica,Arial,sans-serif}",
        ".rnncalc text{white-space:pre}",
        ".rnncalc polyline{fill:none}",
        ".rnncalc .b,.rnncalc .heading{font-weight:600}.rnncalc .heading{font-size:15px}",
        ".rnncalc .m{font-family:'STIX Two Text','Times New Roman',Times,serif;font-style:italic;font-size:15px}",
        ".rnncalc .i{font-family:'STIX Two Text','Times New Roman',Times,serif;font-size:11px}",
        ".rnncalc .shape{font-size:12px}",
        ".rnncalc .line{stroke-width:1.4;stroke-linejoin:round}.rnncalc .curve{stroke-width:2.2}",
        ".rnncalc .axis.curve,.rnncalc .elided.curve{stroke-width:1.4}",
        f"{','.join(f'.rnncalc .{role}' for role in DASHED)}{{stroke-dasharray:5 3}}",
        ".rnncalc text,.rnncalc tspan{stroke:none}",
    ]
    return "".join([*rules, *_colours(0), "@media screen and (prefers-color-scheme:dark){", *_colours(1), "}"])


def _colours(dark: int) -> Iterator[str]:
    yield f".rnncalc .paper{{fill:{PAPER[dark]}}}.rnncalc text{{fill:{INK[dark]}}}"
    yield f".rnncalc .note,.rnncalc .shape{{fill:{SOFT[dark]}}}"
    for role, colours in COLOURS.items():
        fill, stroke = colours[dark]
        fill = fill or "none"
        yield f".rnncalc .box.{role}{{fill:{fill};stroke:{stroke}}}"
        yield f".rnncalc .{role}.line,.rnncalc .{role}.curve{{stroke:{stroke}}}.rnncalc .{role}.head{{fill:{stroke}}}"
    yield f".rnncalc .layer.line{{stroke:{SOFT[dark]}}}.rnncalc .layer.head{{fill:{SOFT[dark]}}}"
    yield f".rnncalc .dot{{fill:{INK[dark]}}}"


def _shape(shape: Shape, path: list[Point]) -> Iterator[str]:
    match shape:
        case Box():
            yield from _box(shape)
        case Arrow():
            yield from _arrow(path, shape)
        case Dot(x, y):
            yield f'<circle class="dot" cx="{_x(x + 0.5)}" cy="{_y(y + 0.5)}" r="3"/>'
        case Label():
            place = f'x="{_x(shape.anchor)}" y="{_y(shape.y + 0.5) + LOWER:g}" text-anchor="{shape.align}"'
            yield f'<text class="{shape.style}" {place}>{_line(shape.text)}</text>'
        case Curve():
            points = " ".join(f"{_x(x)},{_y(y)}" for x, y in shape.points)
            yield f'<polyline class="curve {shape.style}" points="{points}"/>'
        case _:
            assert_never(shape)


def _box(box: Box) -> Iterator[str]:
    left, top, right, bottom = edges(box)
    if box.framed:
        width, height = _x(right - left), _y(bottom - top)
        radius = min(width, height) / 2 if box.round else 4 if box.height > 2 else 3
        place = f'x="{_x(left)}" y="{_y(top)}" width="{width}" height="{height}" rx="{radius:g}"'
        yield f'<rect class="box {box.style}" {place}/>'
    for line, (x, y), heads in lines_of(box):
        sign = box.style is Style.OPERATION and len(plain(line)) == 1  # which is small in most fonts
        look = ' class="b"' if heads else ' font-size="18"' if sign else ""
        below = _y(y) + LOWER + 2 * sign
        yield f'<text{look} x="{_x(x)}" y="{below:g}" text-anchor="middle">{_line(line)}</text>'


def _arrow(points: list[Point], arrow: Arrow) -> Iterator[str]:
    """Yield a line, which ends within its head, and the head."""
    pixels = [(_x(x), _y(y)) for x, y in points]
    (before_x, before_y), (x, y) = pixels[-2:]
    across, down = (x > before_x) - (x < before_x), (y > before_y) - (y < before_y)
    if arrow.head:
        base_x, base_y = x - HEAD * across, y - HEAD * down
        corners = [(x, y), (base_x + LOWER * down, base_y + LOWER * across)]
        corners.append((base_x - LOWER * down, base_y - LOWER * across))
        pixels[-1] = (base_x + across, base_y + down)
    yield f'<polyline class="line {arrow.style}" points="{_points(pixels)}"/>'
    if arrow.head:
        yield f'<polygon class="head {arrow.style}" points="{_points(corners)}"/>'


def _line(line: Line) -> str:
    """Return a line of text, letters as in mathematics."""
    written, low = "", False
    for piece in line:
        raised, below = f' dy="{-LOWER}"' if low else "", ""
        if isinstance(piece, Term):
            below = piece.subscript or piece.time
            written += f'<tspan class="m"{raised}>{_safe(GREEK.get(piece.letter, piece.letter))}</tspan>'
            written += f'<tspan class="i" dy="{LOWER}">{_safe(below)}</tspan>' if below else ""
        else:
            text = _safe(plain_piece(piece))
            written += f"<tspan{raised}>{text}</tspan>" if low else text
        low = bool(below)
    return written


def _safe(text: str) -> str:
    return quoted(escape(text, MOST_OF_A_LINE), quote=False)


def _x(cells: float) -> float:
    return round(cells * ACROSS, 2)


def _y(cells: float) -> float:
    return round(cells * DOWN, 2)


def _points(pixels: list[Point]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in pixels)
