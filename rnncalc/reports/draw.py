"""The views of a network. Each is a module of `pictures/`, imported when it is needed.

A view is a function `pictures(network, only, frame)`. It returns the pictures of a network, or of the layers named in
`only`, each made for a frame, and raises RefusedError if there is nothing to draw.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from rnncalc.display import displayed
from rnncalc.errors import CallError
from rnncalc.network.network import Network
from rnncalc.questions import network_of, word
from rnncalc.reports.report import PictureReport
from rnncalc.words import not_among

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rnncalc.pictures.picture import Picture

VIEWS = {"unrolled": "rnncalc.pictures.unrolled", "cell": "rnncalc.pictures.cell", "growth": "rnncalc.pictures.growth"}
"""The views by their names, the first the default."""


@displayed("")
class Drawing(PictureReport):
    """A network, drawn.

    only: the names of the layers that are drawn, of all layers if it is empty. bare: without a title and a legend.
    standalone: whether a format for parts of documents, such as TikZ, writes a whole document.
    """

    network: Network
    view: str = next(iter(VIEWS))
    only: tuple[str, ...] = ()
    bare: bool = False
    standalone: bool = False

    def pictures(self, width: int | None = None, signs: Mapping[str, str] | None = None) -> list[Picture]:
        from rnncalc.pictures.picture import Frame  # imported only if something is drawn

        view = cast("Callable[..., list[Picture]]", import_module(VIEWS[self.view]).pictures)
        return view(self.network, self.only, Frame(width, str.maketrans({**(signs or {})}), self.bare))


def draw(network: Network, *, view: str = Drawing.view, only: str | Sequence[str] = (), bare: bool = False) -> Drawing:
    """Return a drawing of a network: `str` gives it in characters, `format(drawing, "svg")` as SVG.

    view: unrolled, cell or growth. only: the name of a layer, or several. bare: without a title and a legend.
    Raises CallError for an unknown view or layer; RefusedError, when it is shown, if there is nothing to draw.
    """
    network, view = network_of(network, letters=True), word("view", view, tuple(VIEWS))
    names = (only,) if isinstance(only, str) else tuple(only)
    if wrong := not_among(names, tuple(placed.name for placed in network.stack)):
        raise CallError(f"only: {wrong}")
    return Drawing(network, view, names, bare)
