"""Equations with the shapes below their terms, for a terminal, and in LaTeX. Knows looks, not what is meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rnncalc.reports.equations import Line, Term, plain

_LATEX_GREEK = {"zeta": r"\zeta", "nu": r"\nu"}
_LATEX_SIGNS = {" ∘ ": r" \circ ", " · ": r" \cdot ", " − ": " - ", "σ(": r"\sigma(", "tanh(": r"\tanh("}


def with_shapes(line: Line, width: int) -> Iterator[str]:
    """Yield an equation and its shapes below it, line by line, broken at its signs where it is wider than `width`."""
    above, below = "", ""
    indent = ""
    for group in _groups(line):
        top, bottom = _columns(group)
        if above.strip() and len(above) + len(top.rstrip()) > width:
            yield from (above.rstrip(), below.rstrip())
            above = below = indent
            top, bottom = top.lstrip(), bottom[len(top) - len(top.lstrip()) :]
        above, below = above + top, below + bottom
        if not indent:
            indent = " " * len(_columns(line[:2])[0])
    yield from (above.rstrip(), below.rstrip())


def _groups(line: Line) -> Iterator[Line]:
    """Yield the pieces of an equation that stay together: each from a sign to the next."""
    group: list[Term | str] = []
    for piece in line:
        if piece in (" + ", " ∘ ", " · ", " / ") and group:
            yield tuple(group)
            group = []
        group.append(piece)
    yield tuple(group)


def _columns(line: Line) -> tuple[str, str]:
    """Return pieces side by side, and their shapes, each centred below its term."""
    above, below = "", ""
    for piece in line:
        text = plain((piece,))
        shape = "×".join(map(str, piece.shape)) if isinstance(piece, Term) else ""
        width = max(len(text), len(shape))
        above, below = above + text.center(width), below + shape.center(width)
    return above, below


def aligned(lines: Iterable[Line], environment: str) -> str:
    """Return equations in LaTeX below each other, their first signs aligned."""
    body = " \\\\\n".join(f"  {latex(line)}" for line in lines)
    return f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}"


def latex(line: Line) -> str:
    """Return an equation in LaTeX, each term with its shape below, the first sign an alignment mark."""
    text = "".join(map(_latex, line))
    return text.replace(" = ", " &= ", 1)


def _latex(piece: Term | str) -> str:
    if isinstance(piece, str):
        return _LATEX_SIGNS.get(piece) or (f"\\mathrm{{{piece[:-1]}}}(" if piece[:-1].isalpha() else piece)
    letter = _LATEX_GREEK.get(piece.letter, piece.letter)
    below = piece.subscript or piece.time.replace("−", "-")
    text = f"{letter}_{{{below}}}" if below else letter
    if not piece.shape:
        return text
    shape = r" \times ".join(map(str, piece.shape))
    return f"\\underset{{{shape}}}{{{text}}}"
