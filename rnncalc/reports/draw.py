"""What is drawn of a network: the views, each a module of `pictures/`, imported when it is asked for.

A view is a function `pictures(network, only, width, signs)`: the pictures of a network, or of the layers named in
`only` where there are any, none wider than `width` cells where that is a number and the view can help it; `signs` are
the words that stand for letters. It raises RefusedError where there is nothing of the kind to draw.
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
"""The views by their names, the first the one that is meant where none is named."""


class Drawing(PictureReport):
    """A network, drawn."""

    network: Network
    view: str = next(iter(VIEWS))
    only: tuple[str, ...] = ()

    def pictures(self, width: int | None = None, signs: Mapping[str, str] | None = None) -> list[Picture]:
        """Return the pictures, none wider than so many cells where that can be; signs: words that stand for letters."""
        view = cast("Callable[..., list[Picture]]", import_module(VIEWS[self.view]).pictures)
        return view(self.network, self.only, width, str.maketrans({**(signs or {})}))
