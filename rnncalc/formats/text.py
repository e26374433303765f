"""Pictures in characters, for a terminal: box characters, or ASCII if the encoding lacks them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TextIO, assert_never

from rnncalc.formats import terminal_width
from rnncalc.letters import GREEK, SUPERSCRIPTS
from rnncalc.pictures.picture import (
    MOST_OF_A_LINE,
    PAGE,
    Arrow,
    Box,
    Curve,
    Dot,
    GridPoint,
    Label,
    Picture,
    Style,
    cells_along,
    columns,
    dots,
    ends,
    lowest_first,
)
from rnncalc.printable import encodes, escape, unencodable
from rnncalc.reports.report import DrawnReport
from rnncalc.typeset.equations import Line, plain

UP, RIGHT, DOWN, LEFT = 1, 2, 4, 8
LINES = dict(enumerate(" ╵╶└╷│┌├╴┘─┴┐┤┬┼"))
"""The line characters, by the sum of the sides at which they leave a cell."""

HEADS = {(0, -1): "▲", (1, 0): "►", (0, 1): "▼", (-1, 0): "◄"}
SIDES = {(0, -1): UP, (1, 0): RIGHT, (0, 1): DOWN, (-1, 0): LEFT}
STARTS = {("─", (0, -1)): "┴", ("─", (0, 1)): "┬", ("│", (1, 0)): "├", ("│", (-1, 0)): "┤"}
"""The replacement of a frame's character at the start of an arrow."""

FRAMES = {True: (*"╭─╮│╰╯",), False: (*"┌─┐│└┘",)}
DASHED = (*"┌╌┐╎└┘",)
CURVES = {Style.RECURRENT: "═", Style.DENSE: "•", Style.AXIS: "┼", Style.ELIDED: "╎"}
ASCII = {
    **dict.fromkeys("└┌┘┐├┤┴┬┼╭╮╰╯", "+"),
    **dict.fromkeys("─╌╶╴", "-"),
    **dict.fromkeys("│╎╵╷", "|"),
    **dict(zip("▲►▼◄●═•⋯…→", "^>v<o=*~~>", strict=True)),
}
"""The ASCII replacements for the characters of pictures."""

ON_THE_LINE = str.maketrans(SUPERSCRIPTS, "0123456789")
"""The digits of a power of ten: if an encoding lacks them, 10⁹ is 1e9, which is as wide."""


def write(reports: Iterable[DrawnReport], file: TextIO) -> None:
    """Draw each picture as wide as the terminal allows; in a pipe, as wide as a page."""
    width = terminal_width() if file.isatty() else PAGE
    signs = {sign: word for sign, word in unencodable(file.encoding).items() if sign in GREEK.values()}
    for number, picture in enumerate(picture for report in reports for picture in report.pictures(width, signs)):
        if number:
            file.write("\n")
        file.writelines(f"{line}\n" for line in drawn(picture, file.encoding))


def drawn(picture: Picture, encoding: str | None = None) -> list[str]:
    """Return the lines of a picture in characters that an encoding has."""
    canvas = _Canvas(picture)
    for shape in lowest_first(picture.shapes):
        match shape:
            case Box():
                canvas.box(shape)
            case Arrow():
                canvas.arrow(shape)
            case Dot():
                canvas.put((shape.x, shape.y), "●")
            case Label():
                canvas.text((shape.left, shape.y), shape.text)
            case Curve():
                canvas.curve(shape)
            case _:
                assert_never(shape)
    canvas.leave()
    lines = ["".join(row).rstrip() for row in canvas.rows]
    if encoding is None or all(encodes(line, encoding) for line in lines):
        return lines
    return _encodable(lines, encoding)


class _Canvas:
    """The cells of a picture, each with its character; one below a wide character's second half is empty."""

    def __init__(self, picture: Picture) -> None:
        self.rows = [[" "] * picture.width for _ in range(picture.height)]
        self.dots = dots(picture)
        self.sides: dict[GridPoint, int] = {}
        self.starts: list[tuple[GridPoint, GridPoint]] = []
        self.heads: list[tuple[GridPoint, GridPoint]] = []
        self.spare: set[GridPoint] = set()

    def put(self, cell: GridPoint, char: str) -> None:
        """Put a character into a cell, if there is one."""
        x, y = cell
        if 0 <= y < len(self.rows) and 0 <= x < len(self.rows[y]):
            self.rows[y][x] = char

    def text(self, cell: GridPoint, text: Line) -> None:
        """Write from a cell to the right."""
        x, y = cell
        for char in escape(plain(text), MOST_OF_A_LINE):
            width = columns(char)
            if width == 0 and 0 < x <= len(self.rows[y]):
                self.rows[y][x - 1] += char
            elif width:
                self.put((x, y), char)
                if width == 2:
                    self.put((x + 1, y), "")
                x += width

    def box(self, box: Box) -> None:
        """Draw a frame, a bracket on either side of a single line, or, around what stands for others, nothing."""
        rows, inner = [" " * box.width] * box.height, box.width - 2
        if box.height > 2:
            corner, across, other, down, low, last = DASHED if box.style is Style.ELIDED else FRAMES[box.round]
            rows = [f"{down}{' ' * inner}{down}"] * box.height
            rows[0], rows[-1] = f"{corner}{across * inner}{other}", f"{low}{across * inner}{last}"
        for y, row in enumerate(rows, box.y):
            for x, char in enumerate(row, box.x):
                self.put((x, y), char)
        top = box.y + (box.height - len(box.lines)) // 2
        for number, line in enumerate(box.lines):
            long = columns(escape(plain(line), MOST_OF_A_LINE))
            left = box.x + (box.width - long) // 2
            if box.height < 3 and box.style is not Style.ELIDED:
                self.put((left - 1, box.y), "(" if box.round else "[")
                self.put((left + long, box.y), ")" if box.round else "]")
                beside = (x for x in range(box.x, box.x + box.width) if not left - 1 <= x <= left + long)
                self.spare.update((x, box.y) for x in beside)
            self.text((left, top + number), line)

    def arrow(self, arrow: Arrow) -> None:
        """Draw a line through its cells; it crosses or joins those drawn before."""
        start, end = ends(arrow)
        cells = [start, *cells_along(arrow.corners), end]
        for before, cell, after in zip(cells, cells[1:], cells[2:], strict=False):
            towards = [(other[0] - cell[0], other[1] - cell[1]) for other in (before, after)]
            self.sides[cell] = self.sides.get(cell, 0) | SIDES[towards[0]] | SIDES[towards[1]]
            head = arrow.head and after == end
            if head:
                self.heads.append((cell, towards[1]))
            self.put(cell, HEADS[towards[1]] if head else LINES[self.sides[cell]])
        first = cells[1]
        if first not in self.dots:  # it leaves another arrow, no frame
            self.starts.append((start, (first[0] - start[0], first[1] - start[1])))

    def curve(self, curve: Curve) -> None:
        """Draw a line as characters, one a column, and more below each other if it is steep."""
        last = int(curve.points[0][1])
        for (x, y), (to_x, to_y) in zip(curve.points, curve.points[1:], strict=False):
            for column in range(int(x), int(to_x) + 1):
                share = min(max((column + 0.5 - x) / (to_x - x), 0.0), 1.0) if to_x > x else 1.0
                row = int(y + share * (to_y - y))
                between = range(min(row, last) + 1, max(row, last))
                for each in (row, *between):
                    self.put((column, each), CURVES.get(curve.style, "•"))
                last = row

    def leave(self) -> None:
        """Open the frames where arrows leave them, and lead arrows on to brackets that have room around them."""
        for (x, y), direction in self.heads:
            while direction[0] and (x + direction[0], y) in self.spare:
                self.put((x, y), "─")
                x += direction[0]
                self.put((x, y), HEADS[direction])
        for (x, y), direction in self.starts:
            while direction[0] and (x, y) in self.spare:
                self.put((x, y), "─")
                x -= direction[0]
            if 0 <= y < len(self.rows) and 0 <= x < len(self.rows[y]):
                self.rows[y][x] = STARTS.get((self.rows[y][x], direction), self.rows[y][x])


def _encodable(lines: list[str], encoding: str) -> list[str]:
    """Return lines in characters that an encoding has, each as wide as the one that it replaces."""
    signs = {sign: other for sign, other in unencodable(encoding).items() if len(other) == 1}
    if not encodes("".join(ASCII), encoding):
        signs |= ASCII  # all of them, so that no line changes its looks on its way
    if not encodes(SUPERSCRIPTS, encoding):
        lines = [
            re.sub(f"10([{SUPERSCRIPTS}]+)", lambda power: f"1e{power[1].translate(ON_THE_LINE)}", line)
            for line in lines
        ]
    replaced = [[signs.get(char, char) for char in line] for line in lines]
    return ["".join(char if encodes(char, encoding) else "?" * columns(char) for char in line) for line in replaced]
