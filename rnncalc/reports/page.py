"""What stands on a page about one network: all that is said of it, and drawn, from its layers to every convention.

Puts together what other reports say; the words are theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rnncalc.errors import RefusedError
from rnncalc.network.network import Network
from rnncalc.pictures.picture import Label, Picture, Style, moved
from rnncalc.questions.allocation import compare_conventions
from rnncalc.questions.count import count
from rnncalc.questions.explain import Explanation
from rnncalc.reports.compare import AllocationReport
from rnncalc.reports.count import CountReport
from rnncalc.reports.draw import Drawing
from rnncalc.reports.sheet import Sheet
from rnncalc.step.equations import Equation

Piece = Sheet | Picture

ACROSS = 100
"""So many cells across are read on a sheet of paper."""


def page(explanation: Explanation, layers: Iterable[Sheet], others: Iterable[Sheet]) -> Iterator[Piece]:
    """Yield what stands on the page of a whole network, or of some of its layers.

    layers: a sheet a derivation; others: what leads from the layers to the network. What is refused, because there is
    nothing to draw or too much to count, is left out, and the refusal's words stand in its place.
    """
    network = explanation.network
    if explanation.total is None:
        yield from _with_cells(explanation, layers)
        return
    yield from CountReport(count(network)).sheets()[:1]
    yield from _or_why("Unrolled in time", lambda title: _drawn(title, Drawing(network, "unrolled")))
    yield from _with_cells(explanation, layers)
    yield from others
    yield from _or_why("Growth with the steps", lambda title: _drawn(title, Drawing(network, "growth")))
    yield from _or_why("Conventions", lambda title: _conventions(title, network))


def _with_cells(explanation: Explanation, layers: Iterable[Sheet]) -> Iterator[Piece]:
    """Yield the derivations, and below the first of those that have the same equations what one step does."""
    drawn: set[tuple[Equation, ...]] = set()
    for each, sheet in zip(explanation.layers, layers, strict=True):
        yield sheet
        if each.gates and each.equations not in drawn:
            drawn.add(each.equations)
            cell = Drawing(explanation.network, "cell", (each.placed.name,))
            yield from map(_without_heading, cell.pictures(ACROSS))


def _or_why(title: str, made: Callable[[str], list[Piece]]) -> Iterator[Piece]:
    """Yield what is made below a title, or, where that is refused, why."""
    try:
        yield from made(title)
    except RefusedError as refused:
        yield Sheet(columns=(), rows=(), title=title, notes=(f"{refused}.",))


def _conventions(title: str, network: Network) -> list[Piece]:
    (sheet,) = AllocationReport(compare_conventions(network)).sheets()
    return [sheet._replace(title=title, subtitle="")]


def _drawn(title: str, drawing: Drawing) -> list[Piece]:
    head = Sheet(columns=(), rows=(), title=title)
    return [head, *(_without_heading(picture) for picture in drawing.pictures(ACROSS))]


def _without_heading(picture: Picture) -> Picture:
    """Return a picture without the line at its top that says of which network it is: the page does."""
    first, *others = picture.shapes
    if not (isinstance(first, Label) and first.style is Style.HEADING and first.y == 0):
        return picture
    shapes = tuple(moved(shape, (0, -1)) for shape in others)
    return picture._replace(shapes=shapes, height=picture.height - 1)
