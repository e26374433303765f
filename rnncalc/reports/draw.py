"""What is drawn of a network: the views, each a module of `pictures/`, imported when it is asked for.

A view is a function `pictures(network, only, frame)`: the pictures of a network, or of the layers named in `only` if
there are any, each made for a frame. It raises RefusedError if there is nothing of the kind to draw.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from rnncalc.network.network import Network
from rnncalc.reports.report import PictureReport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rnncalc.pictures.picture import Picture

VIEWS = {
    "unrolled": "rnncalc.pictures.unrolled",
    "cell": "rnncalc.pictures.cell",
    "growth": "rnncalc.pictures.growth",
}
"""The views by their names, the first the default."""


class Drawing(PictureReport):
    """A network, drawn.

    only: the names of the layers that are drawn, of all layers if it is empty. bare: without a title and a legend.
    standalone: a format of parts of documents writes a whole document.
    """

    network: Network
    view: str = next(iter(VIEWS))
    only: tuple[str, ...] = ()
    bare: bool = False
    standalone: bool = False

    def pictures(self, width: int | None = None, signs: Mapping[str, str] | None = None) -> list[Picture]:
        """Return the pictures, none wider than so many cells if that can be; signs: words that stand for letters."""
        from rnncalc.pictures.picture import Frame  # a call that draws nothing does not pay for it

        view = cast("Callable[..., list[Picture]]", import_module(VIEWS[self.view]).pictures)
        return view(self.network, self.only, Frame(width, str.maketrans({**(signs or {})}), self.bare))
