"""What the tests of pictures hold of any of them, and how they read the labels back out of each format."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import pairwise, product

from rnncalc.pictures.picture import (
    Arrow,
    Box,
    GridPoint,
    Label,
    Picture,
    Shape,
    Style,
    cells_along,
    dots,
    ends,
    span,
)
from rnncalc.typeset.equations import Line, plain

SVG = "{http://www.w3.org/2000/svg}"
Room = tuple[int, int, int, int]
ENDS = (Style.INPUT, Style.OUTPUT, Style.STATE)


def said(picture: Picture) -> Counter[str]:
    """Return every text of a picture."""
    return Counter(plain(line) for shape in picture.shapes for line in texts(shape))


def texts(shape: Shape) -> tuple[Line, ...]:
    """Return the lines of text of a shape."""
    match shape:
        case Box():
            return shape.lines
        case Label():
            return (shape.text,)
        case _:
            return ()


def rooms(shape: Shape) -> list[Room]:
    """Return the cells that a shape's text, or its box, takes for itself: left, top, right and bottom behind it."""
    match shape:
        case Box():
            return [(shape.x, shape.y, shape.x + shape.width, shape.y + shape.height)]
        case Label():
            return [(shape.left, shape.y, shape.left + span(shape.text), shape.y + 1)]
        case _:
            return []


def hold(picture: Picture) -> None:
    """Hold what is so of every picture: nothing overlaps or lies outside, and every arrow comes from and leads to
    something, around everything else and along no other arrow."""
    edges = Counter(
        frozenset(edge)
        for shape in picture.shapes
        if isinstance(shape, Arrow) and shape.style is not Style.AXIS
        for edge in pairwise(cells_along(shape.corners))
    )
    assert {*edges.values()} <= {1}, [edge for edge, times in edges.items() if times > 1]
    taken: dict[GridPoint, Shape] = {}
    for shape in picture.shapes:
        for left, top, right, bottom in rooms(shape):
            assert left >= 0
            assert top >= 0
            assert right <= picture.width
            assert bottom <= picture.height
            for cell in product(range(left, right), range(top, bottom)):
                assert cell not in taken, (shape, taken[cell])
                taken[cell] = shape
    for shape in picture.shapes:
        if isinstance(shape, Box):
            assert len(shape.lines) <= max(shape.height - 2, 1)
            assert all(span(line) <= shape.width for line in shape.lines)
        if isinstance(shape, Arrow) and shape.style is not Style.AXIS:
            _hold_arrow(shape, picture, taken)


def _hold_arrow(arrow: Arrow, picture: Picture, taken: dict[GridPoint, Shape]) -> None:
    for cell, beyond in zip((arrow.corners[0], arrow.corners[-1]), ends(arrow), strict=True):
        end = taken.get(beyond)
        letter = isinstance(end, Label) and end.style in ENDS  # of what comes in or goes out
        assert cell in dots(picture) or isinstance(end, Box) or letter, arrow
    for (x, y), (to_x, to_y) in pairwise(arrow.corners):
        assert (x == to_x) != (y == to_y), arrow
    for cell in cells_along(arrow.corners):
        assert cell not in taken, (arrow, taken[cell])


def svg_texts(text: str) -> Counter[str]:
    """Return every text of an SVG: letters with an index as `x_1`, as `plain` writes them."""
    root = ET.fromstring(text)
    return Counter(_text(node) for node in root.iter(f"{SVG}text"))


def _text(node: ET.Element) -> str:
    words = node.text or ""
    for part in node:
        content = part.text or ""
        words += f"_{content}" if part.get("class") == "i" else content
        words += part.tail or ""
    return words


def tikz_texts(text: str) -> Counter[str]:
    """Return every text of the nodes of a TikZ picture."""
    nodes = re.findall(r"^  \\node\[.*?\] at \(.*?\) \{(.*)\};$", text, re.MULTILINE)
    return Counter(_untypeset(node) for node in nodes)


SIGNS = {
    r"$\times$": "×",
    r"$\cdots$": "⋯",
    r"$\leftrightarrow$": "⇄",
    r"\dots{}": "…",
    r"$\to$": "→",
    r"$\circ$": "∘",
    r"$\cdot$": "·",
    r"$\zeta$": "ζ",
    r"$\nu$": "ν",
    r"$\div$": "÷",
    r"$\sigma$": "σ",
    "$-$": "−",
    **{f"$^{power}$": sign for power, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}


def _untypeset(text: str) -> str:
    text = re.sub(r"^(\\bfseries|\\fontsize\{10\}\{12\}\\selectfont|\\color\{[^}]*\}|\s)+", "", text)
    for sign, char in SIGNS.items():
        text = text.replace(sign, char)
    text = re.sub(r"\$(\w)_\{([^}]*)\}\$", r"\1_\2", text)
    text = re.sub(r"\$(\w)\$", r"\1", text)
    return re.sub(r"\\([&%$#_{}])", r"\1", text)


def bare(texts: Counter[str]) -> Counter[str]:
    """Return texts as each of the formats writes them: times without brackets, minus signs as they are typed."""
    return Counter({re.sub(r"_\(([^)]*)\)", r"_\1", text).replace("−", "-"): times for text, times in texts.items()})
